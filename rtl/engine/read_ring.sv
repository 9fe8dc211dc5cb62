// SPDX-License-Identifier: Apache-2.0
// Puts the lines of a read stream back into order: 2^DEPTH_LOG2 reads in flight, answered in any order.
//
// Contract: alloc_i announces a read that memory accepts, with tag alloc_tag_o; there is room unless full_o is high.
// meta_i is kept with the read. out_valid_o: the oldest read has been answered, and its meta and fault are shown. pop_i
// (only with out_valid_o) removes it. The line is then on data_o from the next cycle on, until the cycle of the next
// pop. drained_o: every read has been answered. clear_i (only with drained_o) discards all reads.
// Preemption: no state is saved. The owner waits until drained_o, and reads again after the resume.
// The data are in a block RAM with a registered read port, so a pop needs no wide multiplexer.
module read_ring #(
    parameter int DEPTH_LOG2 = 3,  // log2 of the reads in flight.
    parameter int META_W     = 1
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic                  clear_i,
    output logic                  full_o,
    output logic                  drained_o,
    input  logic                  alloc_i,
    output logic [DEPTH_LOG2-1:0] alloc_tag_o,
    input  logic [    META_W-1:0] meta_i,
    input  logic                  rsp_valid_i,
    input  logic [DEPTH_LOG2-1:0] rsp_tag_i,
    input  logic [         511:0] rsp_data_i,
    input  logic [           7:0] rsp_fault_i,
    output logic                  out_valid_o,
    output logic [    META_W-1:0] out_meta_o,
    output logic [           7:0] out_fault_o,
    input  logic                  pop_i,
    output logic [         511:0] data_o
);
  localparam int DEPTH = 1 << DEPTH_LOG2;

  logic [511:0] data[0:DEPTH-1];
  logic [META_W-1:0] meta[0:DEPTH-1];
  logic [7:0] fault[0:DEPTH-1];
  logic [DEPTH-1:0] done_q;
  logic [DEPTH_LOG2:0] head_q, tail_q, flight_q;
  logic [511:0] data_q;

  assign full_o = tail_q == {~head_q[DEPTH_LOG2], head_q[DEPTH_LOG2-1:0]};
  assign drained_o = flight_q == '0;
  assign alloc_tag_o = tail_q[DEPTH_LOG2-1:0];
  assign out_valid_o = done_q[head_q[DEPTH_LOG2-1:0]];
  assign out_meta_o = meta[head_q[DEPTH_LOG2-1:0]];
  assign out_fault_o = fault[head_q[DEPTH_LOG2-1:0]];
  assign data_o = data_q;

  always_ff @(posedge clk_i) begin
    if (alloc_i) begin
      meta[tail_q[DEPTH_LOG2-1:0]] <= meta_i;
      tail_q <= tail_q + 1'b1;
    end
    if (rsp_valid_i) begin
      data[rsp_tag_i] <= rsp_data_i;
      fault[rsp_tag_i] <= rsp_fault_i;
      done_q[rsp_tag_i] <= 1'b1;
    end
    if (pop_i) begin
      data_q <= data[head_q[DEPTH_LOG2-1:0]];
      done_q[head_q[DEPTH_LOG2-1:0]] <= 1'b0;
      head_q <= head_q + 1'b1;
    end
    if (alloc_i != rsp_valid_i) flight_q <= alloc_i ? flight_q + 1'b1 : flight_q - 1'b1;
    if (rst_i || clear_i) begin
      done_q <= '0;
      head_q <= '0;
      tail_q <= '0;
      flight_q <= '0;
    end
  end

`ifndef SYNTHESIS
  // The contract, for simulation; the prover has its own account of it in tests/formal/read_ring.svh.
  logic live_q = 1'b0;  // there was a reset
  logic [DEPTH-1:0] owed_q = '0;
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      room_for_every_read: assert (!(alloc_i && (full_o || clear_i)));
      pops_what_is_there: assert (!pop_i || out_valid_o);
      clears_when_drained: assert (!clear_i || drained_o);
      answer_to_a_read: assert (!rsp_valid_i || owed_q[rsp_tag_i]);
    end
    if (rsp_valid_i) owed_q[rsp_tag_i] <= 1'b0;
    if (alloc_i) owed_q[alloc_tag_o] <= 1'b1;
    if (rst_i || clear_i) owed_q <= '0;
  end
`endif
endmodule
