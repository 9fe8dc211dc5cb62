// SPDX-License-Identifier: Apache-2.0
// Conflicts between requests of the engines, as coverage points. Bound into mem_gate only by the coverage build.
// Heads, classes and claims are those of the header of mem_gate.

module cover_gate #(
    parameter int ENGINES = 2
) (
    input logic                 clk_i,
    input logic [ENGINES-1:0]   valid_q,
    input logic [ENGINES-1:0]   blocked,
    input logic [ENGINES-1:0]   claimed_q,
    input logic [ENGINES-1:0]   rd_want,
    input logic [ENGINES-1:0]   rd_next,
    input logic [ENGINES-1:0]   wr_want,
    input logic [ENGINES-1:0]   rd_met,
    input logic [ENGINES-1:0]   refused_grant_o,
    input logic [ENGINES-1:0]   rd_grant_o,
    input logic [ENGINES-1:0]   wr_grant_o,
    input logic [ENGINES-1:0]   claim_q,
    input logic [2*ENGINES-1:0] class_q
);

  logic [2:0] waits;                 // {atomic, write, read}: a head of this class waits for a request in flight
  always_comb begin
    waits = '0;
    for (int e = 0; e < ENGINES; e++)
      if (valid_q[e] && blocked[e] && !(&class_q[2*e +: 2])) waits[class_q[2*e +: 2]] = 1'b1;
  end

  read_waits_for_write:  cover property (@(posedge clk_i) waits[0]);
  write_waits:           cover property (@(posedge clk_i) waits[1]);
  atomic_waits:          cover property (@(posedge clk_i) waits[2]);
  claim:                 cover property (@(posedge clk_i) |claim_q);
  claimed_by_other:      cover property (@(posedge clk_i) |(valid_q & claimed_q));
  both_read:             cover property (@(posedge clk_i) &rd_want[1:0]);
  both_write:            cover property (@(posedge clk_i) &wr_want[1:0]);
  read_meets_write:      cover property (@(posedge clk_i) |(rd_next & rd_met));
  read_and_write_at_once:cover property (@(posedge clk_i) |rd_grant_o && |wr_grant_o);
  beyond_memory:         cover property (@(posedge clk_i) |refused_grant_o);

endmodule

bind mem_gate cover_gate #(.ENGINES(ENGINES)) u_cover (.*);
