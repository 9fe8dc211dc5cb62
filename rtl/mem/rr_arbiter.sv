// SPDX-License-Identifier: Apache-2.0
// Round-robin arbiter for N requesters.
//
// Contract: grant_o has exactly one bit set if a bit of request_i is set, else none. The first requester at or after
// the turn wins; after the highest comes the lowest. With advance_i the turn moves behind the winner, so a requester
// that stays waits for at most N - 1 others. The turn is the only state.
module rr_arbiter #(
    parameter int N = 2  // Number of requesters.
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic [N-1:0] request_i,
    input  logic         advance_i,
    output logic [N-1:0] grant_o
);
  logic [N-1:0] turn_q;  // Bit i: requester i is at or after the turn.
  logic [N-1:0] first;  // Requesters at or after the turn.

  // Each requester finds out by itself that none is before it. No carry runs from one to the next, since requests come
  // late.
  assign first = request_i & turn_q;
  for (genvar i = 0; i < N; i++) begin : g_grant
    localparam logic [N-1:0] BELOW = N'((1 << i) - 1);
    assign grant_o[i] = request_i[i] && (turn_q[i] ? (first & BELOW) == '0 : (first | (request_i & BELOW)) == '0);
  end

  always_ff @(posedge clk_i) begin
    // The bits above the winner.
    if (advance_i && |request_i) turn_q <= ~(grant_o | (grant_o - 1'b1));
    if (rst_i) turn_q <= '1;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      grants_one_at_most: assert ((grant_o & (grant_o - 1'b1)) == '0);
      grants_who_asks: assert ((grant_o & ~request_i) == '0 && (request_i == '0 || grant_o != '0));
    end
`endif
endmodule
