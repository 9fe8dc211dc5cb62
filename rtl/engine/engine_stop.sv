// SPDX-License-Identifier: Apache-2.0
// The preemption request of an engine: held from the command until the HW queue is empty (P2, P3, P4).
//
// Contract: preempt_i (a pulse) with gran_i raises stop_o with gran_o if a submission is queued (queued_i). Both hold
// until nothing is queued, so the submission behind the buffer that is cut is cancelled too. Meanwhile a request of
// finer granularity replaces gran_o, and one of coarser granularity changes nothing. A request that finds the queue
// empty is dropped, because there is nothing to stop. request_i (a pulse): the buffer at the head has been cut because
// a page is absent. The effect is that of a preemption of the finest granularity.
// Preemption: no state is saved.
module engine_stop (
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       preempt_i,
    input  logic [1:0] gran_i,
    input  logic       request_i,
    input  logic       queued_i,
    output logic       stop_o,
    output logic [1:0] gran_o
);
  logic stop_q;
  logic [1:0] gran_q;

  assign stop_o = stop_q;
  assign gran_o = gran_q;

  always_ff @(posedge clk_i) begin
    if (preempt_i && (!stop_q || gran_i > gran_q)) gran_q <= gran_i;
    if (request_i) gran_q <= 2'd3;
    stop_q <= (stop_q || preempt_i || request_i) && queued_i;
    if (rst_i) stop_q <= 1'b0;
  end
endmodule
