// SPDX-License-Identifier: Apache-2.0
// The HW queue of an engine: at most two submissions, in order (C6).
//
// Contract: a doorbell appends data_i. The doorbell is refused if two submissions are queued, or if the indication FIFO
// cannot also hold the indication of this submission: the queued submissions and the pending_i unread indications take
// INDICATIONS entries already. Every pop thus finds room for its indication, so no unit behind the queue needs
// back-pressure. refused_o: the last doorbell was refused. The head is valid from the cycle after the doorbell until
// pop_i. A pop of an empty queue does nothing.
// Preemption: no state is saved; a preemption pops all entries. A reset of the engine discards them.
// The queue is a shift register and not a ring, so the head needs no multiplexer.
module hw_queue #(
    parameter int INDICATIONS = 4  // Entries of the indication FIFO.
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic                  closed_i,   // Every doorbell is refused.
    input  logic                  doorbell_i,
    input  tern_pkg::submission_t data_i,
    input  logic [2:0]            pending_i,  // Indications that have not been popped.
    output logic                  refused_o,
    output logic [1:0]            count_o,
    output logic                  head_valid_o,
    output tern_pkg::submission_t head_o,
    output tern_pkg::submission_t second_o,   // Valid if count_o is 2.
    input  logic                  pop_i
);
  logic [1:0] count_q;
  tern_pkg::submission_t head_q, second_q;
  logic refused_q;
  logic room, push, pop;

  generate
    if (INDICATIONS < 2 || INDICATIONS > 7) begin : g_check
      $error("hw_queue: INDICATIONS out of range");
    end
  endgenerate

  assign room = !closed_i && count_q != 2'd2 && {2'b0, count_q} + {1'b0, pending_i} < 4'(INDICATIONS);
  assign push = doorbell_i && room;
  assign pop = pop_i && count_q != 2'd0;
  assign count_o = count_q;
  assign head_valid_o = count_q != 2'd0;
  assign head_o = head_q;
  assign refused_o = refused_q;
  assign second_o = second_q;

  always_ff @(posedge clk_i) begin
    if (pop) head_q <= second_q;
    if (push) begin
      if (count_q == {1'b0, pop}) head_q <= data_i;
      else second_q <= data_i;
    end
    count_q <= count_q + {1'b0, push} - {1'b0, pop};
    if (doorbell_i) refused_q <= !room;
    if (rst_i) begin
      count_q <= 2'd0;
      refused_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      two_at_most: assert (count_q != 2'd3);
      room_for_its_indications: assert ({2'b0, count_q} + {1'b0, pending_i} <= 4'(INDICATIONS));
    end
  end
`endif
endmodule
