// SPDX-License-Identifier: Apache-2.0
// A first-in first-out queue of 2^DEPTH_LOG2 entries in distributed memory.
//
// Contract: an entry is offered one cycle after it was taken. In each cycle one entry can enter and one can leave.
// in_ready_o and out_valid_o are registers, so no combinational path leads from one side to the other, and no path
// begins with a comparison of the pointers. After reset the queue is empty. With FILL it instead puts in the numbers
// 0, 1, 2 ... by itself, as a list of free slots. This takes 2^DEPTH_LOG2 cycles, in which nothing may be put in;
// numbers that are there already can be taken (out_valid_o).
// Preemption: no state is saved; a queue of the memory system is drained first.
module mem_fifo #(
    parameter int WIDTH = 8,       // Bits of an entry.
    parameter int DEPTH_LOG2 = 1,  // log2 of the entries.
    parameter bit FILL = 1'b0      // The queue is filled with 0, 1, 2 ... after reset.
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [WIDTH-1:0] in_data_i,
    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [WIDTH-1:0] out_data_o
);
  logic [WIDTH-1:0] mem[0:(1<<DEPTH_LOG2)-1];
  logic [DEPTH_LOG2:0] wr_q, rd_q;
  logic filling_q, ready_q, valid_q, puts, gets;

  assign in_ready_o = ready_q;
  assign out_valid_o = valid_q;
  assign out_data_o = mem[rd_q[DEPTH_LOG2-1:0]];
  assign puts = filling_q || (in_valid_i && ready_q);
  assign gets = valid_q && out_ready_i;

  always_ff @(posedge clk_i) begin
    if (filling_q) mem[wr_q[DEPTH_LOG2-1:0]] <= WIDTH'(wr_q);
    else if (in_valid_i && ready_q) mem[wr_q[DEPTH_LOG2-1:0]] <= in_data_i;
    if (puts) wr_q <= wr_q + 1'b1;
    if (filling_q && &wr_q[DEPTH_LOG2-1:0]) filling_q <= 1'b0;
    if (gets) rd_q <= rd_q + 1'b1;
    if (puts != gets) begin
      ready_q <= gets || wr_q + 1'b1 != {~rd_q[DEPTH_LOG2], rd_q[DEPTH_LOG2-1:0]};
      valid_q <= puts || wr_q != rd_q + 1'b1;
    end
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
      ready_q <= 1'b1;
      valid_q <= 1'b0;
      filling_q <= FILL;
    end
  end

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      gets_back_what_it_gave: assert (!(FILL && in_valid_i && (filling_q || !ready_q)));
    end
  end
`endif
endmodule
