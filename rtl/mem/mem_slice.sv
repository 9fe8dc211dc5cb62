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

`ifdef FORMAL
  // The f_pick-th entry to come in, whichever, is the f_pick-th to go out, and is what came in.
  (* anyconst *) logic [7:0] f_pick;
  logic f_start_q = 1'b1;
  logic [7:0] f_in_q, f_out_q;
  logic [WIDTH-1:0] f_data_q, f_data;
  assign f_data = in_valid_i && in_ready_o && f_in_q == f_pick ? in_data_i : f_data_q;
  always_ff @(posedge clk_i) begin
    f_start_q <= 1'b0;
    f_data_q <= f_data;
    if (in_valid_i && in_ready_o) f_in_q <= f_in_q + 1'b1;
    if (out_valid_o && out_ready_i) f_out_q <= f_out_q + 1'b1;
    if (rst_i) {f_in_q, f_out_q} <= '0;
  end
  always_comb begin
    assume (rst_i == f_start_q);
    assume (!(&f_in_q));  // one round of the counters
    if (!f_start_q) begin
      assert (f_in_q - f_out_q == 8'(valid_q) + 8'(aside_q) && !(aside_q && !valid_q));
      assert (in_ready_o == (f_in_q - f_out_q != 8'd2) && out_valid_o == (f_in_q != f_out_q));
      if (aside_q && f_out_q + 1'b1 == f_pick) assert (aside_data_q == f_data_q);
      if (out_valid_o && f_out_q == f_pick) assert (out_data_o == f_data_q);
    end
  end
`endif
endmodule
