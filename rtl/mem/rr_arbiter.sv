// SPDX-License-Identifier: Apache-2.0
// Round-robin choice of one among N requests, without state of its own but the turn.
//
// Contract: grant_o has exactly one bit set if a bit of request_i is set, else none; the first requester at or after
// the turn wins. With advance_i the turn moves behind the winner, so a steady requester waits for N - 1 others at most.
module rr_arbiter #(
    parameter int N = 2
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic [N-1:0] request_i,
    input  logic         advance_i,
    output logic [N-1:0] grant_o
);
  logic [N-1:0] turn_q;  // bit i: i is at or after the turn
  logic [N-1:0] first, lowest;

  // x & -x isolates the lowest set bit.
  assign first   = request_i & turn_q;
  assign lowest  = |first ? first : request_i;
  assign grant_o = lowest & (~lowest + 1'b1);

  always_ff @(posedge clk_i) begin
    // The bits above the winner.
    if (advance_i && |request_i) turn_q <= ~(grant_o | (grant_o - 1'b1));
    if (rst_i) turn_q <= '1;
  end
endmodule
