// SPDX-License-Identifier: Apache-2.0
// The box of a copy, fill or pte_copy packet, and the position of the mover in it.
//
// Contract: start_i takes the box of packet_i, with the position at its beginning. restore_i sets another position:
// restore_line_i is a mover_state (docs/spec/context.yaml). save_line_o is always the mover_state of the current
// position. step_i moves the position by one destination line: by bytes_i, or to the next row if the line ends its row
// (row_ends_i). over_o: nothing is left, or the box was empty. A fill has no source. The source address of a fill is 0
// and does not move. The distance by which bytes are rotated is therefore that of the pattern and the row.
// Preemption saves what this module holds in addition to the packet. The rest of the mover's state follows from it.
module mover_place (
    input  logic          clk_i,
    input  logic          start_i,
    input  logic [1023:0] packet_i,
    input  logic          restore_i,
    input  logic [511:0]  restore_line_i,
    input  logic          step_i,
    input  logic [6:0]    bytes_i,          // Bytes of the destination line that belong to the row.
    input  logic          row_ends_i,
    output logic [511:0]  save_line_o,
    output logic          over_o,
    output logic          fill_o,
    output logic [511:0]  pattern_o,
    output logic [31:0]   width_o,          // Bytes of a row.
    output logic [31:0]   rows_o,           // Rows of a slice.
    output logic [31:0]   src_row_pitch_o,  // Bytes from row to row, from slice to slice.
    output logic [31:0]   src_slice_pitch_o,
    output logic [31:0]   dst_row_pitch_o,
    output logic [31:0]   dst_slice_pitch_o,
    output logic [31:0]   slices_left_o,    // Slices left, this one included.
    output logic [31:0]   rows_left_o,      // Rows left in the slice, this one included.
    output logic [31:0]   left_o,           // Bytes left in the row.
    output logic [31:0]   skip_o,           // Bytes of the first row that were done before the start or restore.
    output logic [33:0]   src_row_o,        // First byte of the row, of the slice.
    output logic [33:0]   src_slice_o,
    output logic [33:0]   dst_row_o,
    output logic [33:0]   dst_slice_o
);
  logic fill_q, slice_ends, is_fill, is_ptes;
  logic [511:0] pattern_q;
  logic [31:0] width_q, rows_q, src_row_pitch_q, src_slice_pitch_q, dst_row_pitch_q, dst_slice_pitch_q;
  logic [31:0] slices_left_q, rows_left_q, left_q, skip_q, width, rows;
  logic [33:0] src_row_q, src_slice_q, dst_row_q, dst_slice_q, src, dst, next_src, next_dst;
  logic [7:0] opcode;
  logic unused;

  // The packet, as each of those that the mover runs.
  tern_spec_pkg::pkt_fill_t fill;
  tern_spec_pkg::pkt_copy_t copy;
  tern_spec_pkg::pkt_pte_copy_t pte_copy;
  assign fill = packet_i;
  assign copy = packet_i[511:0];
  assign pte_copy = packet_i[511:0];
  assign unused = &{1'b0, fill, copy, pte_copy, restore_line_i};

  assign fill_o = fill_q;
  assign pattern_o = pattern_q;
  assign width_o = width_q;
  assign rows_o = rows_q;
  assign src_row_pitch_o = src_row_pitch_q;
  assign src_slice_pitch_o = src_slice_pitch_q;
  assign dst_row_pitch_o = dst_row_pitch_q;
  assign dst_slice_pitch_o = dst_slice_pitch_q;
  assign slices_left_o = slices_left_q;
  assign rows_left_o = rows_left_q;
  assign left_o = left_q;
  assign skip_o = skip_q;
  assign src_row_o = src_row_q;
  assign src_slice_o = src_slice_q;
  assign dst_row_o = dst_row_q;
  assign dst_slice_o = dst_slice_q;
  assign over_o = slices_left_q == '0 || rows_left_q == '0 || left_q == '0;

  always_comb begin
    save_line_o = '0;
    save_line_o[tern_spec_pkg::CTX_MOVER_STATE_SLICES_LEFT_LSB+:32] = slices_left_q;
    save_line_o[tern_spec_pkg::CTX_MOVER_STATE_ROWS_LEFT_LSB+:32] = rows_left_q;
    save_line_o[tern_spec_pkg::CTX_MOVER_STATE_LEFT_LSB+:32] = left_q;
    save_line_o[tern_spec_pkg::CTX_MOVER_STATE_SRC_ROW_LO_LSB+:34] = src_row_q;
    save_line_o[tern_spec_pkg::CTX_MOVER_STATE_SRC_SLICE_LO_LSB+:34] = src_slice_q;
    save_line_o[tern_spec_pkg::CTX_MOVER_STATE_DST_ROW_LO_LSB+:34] = dst_row_q;
    save_line_o[tern_spec_pkg::CTX_MOVER_STATE_DST_SLICE_LO_LSB+:34] = dst_slice_q;
  end

  assign opcode = fill.opcode;
  assign is_fill = opcode == tern_spec_pkg::PKT_FILL;
  assign is_ptes = opcode == tern_spec_pkg::PKT_PTE_COPY;
  assign width = is_fill ? fill.width :
      is_ptes ? {19'b0, pte_copy.count, 2'b0} :
      copy.width;
  assign rows = is_fill ? fill.rows :
      is_ptes ? 32'd1 : copy.rows;
  assign src = is_fill ? '0 : {copy.src_hi, copy.src_lo};
  assign dst = is_fill ? {fill.dst_hi, fill.dst_lo} :
      {copy.dst_hi, copy.dst_lo};

  assign slice_ends = rows_left_q == 32'd1;
  assign next_src = slice_ends ? src_slice_q + {2'b0, src_slice_pitch_q} : src_row_q + {2'b0, src_row_pitch_q};
  assign next_dst = slice_ends ? dst_slice_q + {2'b0, dst_slice_pitch_q} : dst_row_q + {2'b0, dst_row_pitch_q};

  always_ff @(posedge clk_i) begin
    if (step_i && !row_ends_i) left_q <= left_q - {25'b0, bytes_i};
    if (step_i && row_ends_i) begin
      left_q <= width_q;
      rows_left_q <= slice_ends ? rows_q : rows_left_q - 1'b1;
      if (!fill_q) src_row_q <= next_src;
      dst_row_q <= next_dst;
      if (slice_ends) begin
        slices_left_q <= slices_left_q - 1'b1;
        if (!fill_q) src_slice_q <= next_src;
        dst_slice_q <= next_dst;
      end
    end
    if (start_i) begin
      fill_q <= is_fill;
      pattern_q <= fill.pattern;
      width_q <= width;
      rows_q <= rows;
      src_row_pitch_q <= copy.src_row;
      src_slice_pitch_q <= copy.src_slice;
      dst_row_pitch_q <= is_fill ? fill.dst_row :
          copy.dst_row;
      dst_slice_pitch_q <= is_fill ? fill.dst_slice :
          copy.dst_slice;
      slices_left_q <= is_fill ? fill.slices :
          is_ptes ? 32'd1 : copy.slices;
      rows_left_q <= rows;
      left_q <= width;
      skip_q <= '0;
      src_row_q <= src;
      src_slice_q <= src;
      dst_row_q <= dst;
      dst_slice_q <= dst;
    end
    if (restore_i) begin
      slices_left_q <= restore_line_i[tern_spec_pkg::CTX_MOVER_STATE_SLICES_LEFT_LSB+:32];
      rows_left_q <= restore_line_i[tern_spec_pkg::CTX_MOVER_STATE_ROWS_LEFT_LSB+:32];
      left_q <= restore_line_i[tern_spec_pkg::CTX_MOVER_STATE_LEFT_LSB+:32];
      skip_q <= width_q - restore_line_i[tern_spec_pkg::CTX_MOVER_STATE_LEFT_LSB+:32];
      src_row_q <= restore_line_i[tern_spec_pkg::CTX_MOVER_STATE_SRC_ROW_LO_LSB+:34];
      src_slice_q <= restore_line_i[tern_spec_pkg::CTX_MOVER_STATE_SRC_SLICE_LO_LSB+:34];
      dst_row_q <= restore_line_i[tern_spec_pkg::CTX_MOVER_STATE_DST_ROW_LO_LSB+:34];
      dst_slice_q <= restore_line_i[tern_spec_pkg::CTX_MOVER_STATE_DST_SLICE_LO_LSB+:34];
    end
  end
endmodule
