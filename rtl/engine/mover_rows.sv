// SPDX-License-Identifier: Apache-2.0
// Walks over a box of bytes line by line: rows of `width` bytes, `rows` rows in a slice, and a number of slices.
//
// Contract: load_i takes the box, of which no size may be zero, and the position in it at which the walk begins: the
// addresses of row and slice, the rest of both, and the bytes of the first row that are skipped. The sizes and pitches
// (width_i and below) stay constant during the walk. Lines then come out in order, one a cycle, with rising addresses
// within a row: the line, the offset of its first byte in the row (start_o), its bytes in the row (be_o), and whether
// it is the first or last line of the row. active_o falls after the last line. Addresses wrap at 34 bits.
// Preemption: no state is saved; the walk begins again at the position of the mover.
// When a row ends, the address of the next row is one addition away, so rows follow each other without a gap.
module mover_rows (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        load_i,
    input  logic        stop_i,         // Ends the walk.
    input  logic [33:0] row_i,          // First byte of the row.
    input  logic [33:0] slice_i,        // First byte of the slice.
    input  logic [31:0] skip_i,         // Bytes of the first row that are skipped.
    input  logic [31:0] left_i,         // Bytes left in the first row.
    input  logic [31:0] rows_left_i,    // Rows left in the first slice.
    input  logic [31:0] slices_left_i,  // Slices left.
    input  logic [31:0] width_i,        // Bytes of a row.
    input  logic [31:0] rows_i,         // Rows of a slice.
    input  logic [31:0] row_pitch_i,    // Bytes from row to row.
    input  logic [31:0] slice_pitch_i,  // Bytes from slice to slice.
    output logic        active_o,       // A line is left or on offer.
    output logic        valid_o,
    input  logic        ready_i,
    output logic [27:0] line_o,
    output logic [ 5:0] start_o,
    output logic [63:0] be_o,
    output logic        first_o,
    output logic        last_o
);
  logic active_q, first_q, valid_q, out_first_q, out_last_q;
  logic [33:0] at_q, row_q, slice_q, next_row, next_slice;
  logic [31:0] left_q, row_left_q, slice_left_q;
  logic [27:0] line_q;
  logic [5:0] start_q;
  logic [6:0] room;
  logic [7:0] row_end;  // Offset behind the last byte of the row, if it ends in this line.
  logic [63:0] above, below;
  logic [63:0] be_q;
  logic row_ends, slice_ends, box_ends;

  assign active_o = active_q || valid_q;
  assign valid_o = valid_q;
  assign line_o = line_q;
  assign start_o = start_q;
  assign be_o = be_q;
  assign first_o = out_first_q;
  assign last_o = out_last_q;

  assign room = 7'd64 - {1'b0, at_q[5:0]};
  assign row_end = {2'b0, at_q[5:0]} + {1'b0, left_q[6:0]};
  assign row_ends = left_q[31:7] == '0 && row_end <= 8'd64;
  assign above = 64'hffff_ffff_ffff_ffff << at_q[5:0];
  assign below = row_end[6] ? '1 : ~(64'hffff_ffff_ffff_ffff << row_end[5:0]);
  assign slice_ends = row_left_q == 32'd1;
  assign box_ends = row_ends && slice_ends && slice_left_q == 32'd1;
  assign next_row = row_q + {2'b0, row_pitch_i};
  assign next_slice = slice_q + {2'b0, slice_pitch_i};

  always_ff @(posedge clk_i) begin
    if (active_q && (!valid_q || ready_i)) begin
      line_q <= at_q[33:6];
      start_q <= at_q[5:0];
      be_q <= row_ends ? above & below : above;
      out_first_q <= first_q;
      out_last_q <= row_ends;
      first_q <= row_ends;
      if (!row_ends) begin
        at_q <= {at_q[33:6] + 1'b1, 6'b0};
        left_q <= left_q - {25'b0, room};
      end else begin
        left_q <= width_i;
        row_left_q <= slice_ends ? rows_i : row_left_q - 1'b1;
        if (slice_ends) begin
          slice_left_q <= slice_left_q - 1'b1;
          slice_q <= next_slice;
        end
        row_q <= slice_ends ? next_slice : next_row;
        at_q <= slice_ends ? next_slice : next_row;
      end
      active_q <= !box_ends;
    end
    if (active_q) valid_q <= 1'b1;
    else if (ready_i) valid_q <= 1'b0;
    if (load_i) begin
      active_q <= 1'b1;
      first_q <= 1'b1;
      at_q <= row_i + {2'b0, skip_i};
      row_q <= row_i;
      slice_q <= slice_i;
      left_q <= left_i;
      row_left_q <= rows_left_i;
      slice_left_q <= slices_left_i;
    end
    if (rst_i || stop_i) begin
      active_q <= 1'b0;
      valid_q <= 1'b0;
    end
  end
endmodule
