// SPDX-License-Identifier: Apache-2.0
// Makes lines of the destination from lines of the source: rotates each by the distance of the two, and joins
// neighbours.
//
// Contract: a step has a destination line (emit_i, with address and byte enables), or only loads a source line (emit_i
// low). With load_i a new source line comes on data_i one cycle after the step (the read port of read_ring). Source
// lines are rotated up by rotate_i bytes. Bytes from split_i on then come from the newest source line, the bytes below
// it from the one before. A step is taken when ready_o is high. Lines leave in order, one for each step with emit_i.
// idle_o: no step is inside.
// Example: a row starts at byte 40 of its source line and at byte 8 of its destination line. rotate_i and split_i are
// (8 - 40) mod 64 = 32. Bytes 8 to 31 of the destination line are bytes 40 to 63 of the first source line; bytes 32 to
// 63 are bytes 0 to 31 of the second one.
// Preemption: no state is saved; at a stop the mover drains the pipeline.
// There are three stages: fetch, rotate, join. The rotation takes 6 levels of multiplexers. A funnel shifter over both
// lines at once would take one level more on twice the bits.
module mover_align (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         valid_i,
    output logic         ready_o,
    input  logic         load_i,
    input  logic         emit_i,
    input  logic [  5:0] rotate_i,
    input  logic [  5:0] split_i,
    input  logic [ 27:0] line_i,
    input  logic [  5:0] start_i,
    input  logic [ 63:0] be_i,
    input  logic [511:0] data_i,
    output logic         idle_o,
    output logic         valid_o,
    input  logic         ready_i,
    output logic [ 27:0] line_o,
    output logic [  5:0] start_o,
    output logic [511:0] data_o,
    output logic [ 63:0] be_o
);
  logic a_valid_q, a_load_q, a_emit_q, b_valid_q, b_load_q, b_emit_q, c_valid_q, move;
  logic [5:0] a_rotate_q, a_split_q, b_split_q, a_start_q, b_start_q, c_start_q;
  logic [27:0] a_line_q, b_line_q, c_line_q;
  logic [63:0] a_be_q, b_be_q, c_be_q;
  logic [511:0] b_data_q, old_q, c_data_q, turn;

  assign move = !c_valid_q || ready_i;
  assign ready_o = move;
  assign idle_o = !a_valid_q && !b_valid_q && !c_valid_q;
  assign valid_o = c_valid_q;
  assign line_o = c_line_q;
  assign start_o = c_start_q;
  assign data_o = c_data_q;
  assign be_o = c_be_q;

  always_ff @(posedge clk_i) begin
    if (move) begin
      a_valid_q <= valid_i;
      if (valid_i) begin
        a_load_q <= load_i;
        a_emit_q <= emit_i;
        a_rotate_q <= rotate_i;
        a_split_q <= split_i;
        a_line_q <= line_i;
        a_start_q <= start_i;
        a_be_q <= be_i;
      end
      b_valid_q <= a_valid_q;
      if (a_valid_q) begin
        b_load_q <= a_load_q;
        b_emit_q <= a_emit_q;
        b_split_q <= a_split_q;
        b_line_q <= a_line_q;
        b_start_q <= a_start_q;
        b_be_q <= a_be_q;
        turn = data_i;
        if (a_rotate_q[5]) turn = {turn[255:0], turn[511:256]};
        if (a_rotate_q[4]) turn = {turn[383:0], turn[511:384]};
        if (a_rotate_q[3]) turn = {turn[447:0], turn[511:448]};
        if (a_rotate_q[2]) turn = {turn[479:0], turn[511:480]};
        if (a_rotate_q[1]) turn = {turn[495:0], turn[511:496]};
        if (a_rotate_q[0]) turn = {turn[503:0], turn[511:504]};
        b_data_q <= turn;
      end
      c_valid_q <= b_valid_q && b_emit_q;
      if (b_valid_q) begin
        if (b_load_q) old_q <= b_data_q;
        c_line_q <= b_line_q;
        c_start_q <= b_start_q;
        c_be_q <= b_be_q;
        for (int i = 0; i < 64; i++) c_data_q[8*i+:8] <= 6'(i) >= b_split_q ? b_data_q[8*i+:8] : old_q[8*i+:8];
      end
    end
    if (rst_i) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
    end
  end
endmodule
