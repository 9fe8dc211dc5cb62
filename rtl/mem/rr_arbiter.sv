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

`ifdef FORMAL
  // One requester, whichever: f_passed_q counts the grants of others since it was served last, or did not ask while
  // others did. Each brings the turn nearer: f_before of those before it are left.
  (* anyconst *) logic [(N > 1 ? $clog2(N) : 1)-1:0] f_pick;
  logic f_start_q = 1'b1;
  logic [7:0] f_passed_q, f_before;
  always_comb begin
    f_before = '0;
    for (int i = 0; i < N; i++)
      f_before = f_before + 8'(turn_q[f_pick] ? turn_q[i] && i < f_pick : turn_q[i] || i < f_pick);
  end
  always_ff @(posedge clk_i) begin
    f_start_q <= 1'b0;
    if (rst_i || grant_o[f_pick] || (|request_i && !request_i[f_pick])) f_passed_q <= '0;
    else if (|grant_o && advance_i) f_passed_q <= f_passed_q + 1'b1;
  end
  always_comb begin
    assume (rst_i == f_start_q);
    assume (f_pick < N);
    assert ((grant_o & (grant_o - 1'b1)) == '0 && (grant_o & ~request_i) == '0 && |grant_o == |request_i);
    if (!f_start_q) begin
      assert ((~turn_q & (~turn_q + 1'b1)) == '0);
      assert (f_passed_q <= 8'(N - 1) && f_passed_q + f_before <= 8'(N - 1));
    end
  end
`endif

`ifdef FORMAL
`elsif SYNTHESIS
`else
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      grants_one_at_most: assert ((grant_o & (grant_o - 1'b1)) == '0);
      grants_who_asks: assert ((grant_o & ~request_i) == '0 && (request_i == '0 || grant_o != '0));
    end
`endif
endmodule
