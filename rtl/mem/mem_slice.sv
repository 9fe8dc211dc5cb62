// SPDX-License-Identifier: Apache-2.0
// A queue of two entries whose output is a register, for places where the logic behind it has no level to spare, or
// where a pipeline stage is needed anyway.
//
// Contract: that of mem_fifo with DEPTH_LOG2 = 1, cycle by cycle. mem_fifo reads its output from a memory, which is one
// level of logic. Here the multiplexer is in front of the register, for twice the multiplexers.
// Preemption: no state is saved; a channel of the memory system is drained first.
module mem_slice #(
    parameter int WIDTH = 8  // Bits of an entry.
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
  logic valid_q, aside_q, moves;  // valid: data_q is an entry; aside: aside_data_q is one.
  logic [WIDTH-1:0] data_q, aside_data_q;

  assign in_ready_o = !aside_q;
  assign out_valid_o = valid_q;
  assign out_data_o = data_q;
  assign moves = !valid_q || out_ready_i;

  always_ff @(posedge clk_i) begin
    if (moves) begin
      valid_q <= aside_q || in_valid_i;
      if (aside_q || in_valid_i) data_q <= aside_q ? aside_data_q : in_data_i;
    end
    aside_q <= !moves && (aside_q || in_valid_i);
    if (in_valid_i && !aside_q) aside_data_q <= in_data_i;
    if (rst_i) {valid_q, aside_q} <= '0;
  end
endmodule
