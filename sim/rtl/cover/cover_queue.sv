// SPDX-License-Identifier: Apache-2.0
// The HW queue, as coverage points. Bound into hw_queue only by the coverage build.

module cover_queue (
    input logic       clk_i,
    input logic       closed_i,
    input logic       doorbell_i,
    input logic       room,
    input logic       push,
    input logic       pop,
    input logic [1:0] count_q,
    input logic [2:0] pending_i
);

  second_place:         cover property (@(posedge clk_i) push && count_q == 2'd1);
  push_and_pop:         cover property (@(posedge clk_i) push && pop);
  refused_queue_full:   cover property (@(posedge clk_i) doorbell_i && !room && count_q == 2'd2);
  refused_indications:  cover property (@(posedge clk_i) doorbell_i && !room && count_q != 2'd2 && !closed_i);
  refused_in_reset:     cover property (@(posedge clk_i) doorbell_i && closed_i);
  indications_pending:  cover property (@(posedge clk_i) pending_i >= 3'd2);

endmodule

bind hw_queue cover_queue u_cover (.*);
