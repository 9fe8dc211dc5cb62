// SPDX-License-Identifier: Apache-2.0
// Requests to stop, as coverage points. Bound into engine_stop only by the coverage build.

module cover_stop (
    input logic       clk_i,
    input logic       preempt_i,
    input logic [1:0] gran_i,
    input logic       request_i,
    input logic       queued_i,
    input logic       stop_q,
    input logic [1:0] gran_q
);

  begins:              cover property (@(posedge clk_i) preempt_i && !stop_q && queued_i);
  finds_nothing:       cover property (@(posedge clk_i) preempt_i && !stop_q && !queued_i);
  finer:               cover property (@(posedge clk_i) preempt_i && stop_q && gran_i > gran_q);
  not_finer:           cover property (@(posedge clk_i) preempt_i && stop_q && gran_i <= gran_q);
  ends:                cover property (@(posedge clk_i) stop_q && !queued_i);
  page_request:        cover property (@(posedge clk_i) request_i && !stop_q);
  page_request_inside: cover property (@(posedge clk_i) request_i && stop_q);

endmodule

bind engine_stop cover_stop u_cover (.*);
