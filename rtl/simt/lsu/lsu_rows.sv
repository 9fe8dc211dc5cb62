// SPDX-License-Identifier: Apache-2.0
// Access to local memory by rows of its banks: zeroes ranges of lines, and reads and writes single lines of 64 bytes.
//
// Contract: scrub_i starts zeroing the lines from scrub_first_i up to but not including scrub_end_i, one row a cycle.
// scrub_busy_o is high meanwhile, and stays low for an empty range. line_read_i or line_write_i with line_ready_o is an
// access, one a cycle; with fewer than 16 lanes an access takes 16 / LANES cycles, in which the request is held.
// line_valid_o brings read data, in order, three cycles after line_ready_o. row_* goes to the stage before the banks,
// which gives words_i two cycles later. rst_i ends a scrub.
// State saved at preemption: none; this module is how local memory is saved and restored.
//
// The unit is a row, not a line, because the banks are as wide as the lanes: a row is part of a line, one line or two.
module lsu_rows #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int RW = 10,     // bits of a row
    localparam int PW = LANES < 16 ? $clog2(16 / LANES) : 1  // bits of the number of a row within a line
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                scrub_i,
    input  logic [10:0]         scrub_first_i,
    input  logic [10:0]         scrub_end_i,
    output logic                scrub_busy_o,
    input  logic                line_read_i,
    input  logic                line_write_i,
    input  logic [9:0]          line_i,
    input  logic [511:0]        line_wdata_i,
    output logic                line_ready_o,
    output logic                line_valid_o,
    output logic [511:0]        line_rdata_o,
    output logic                row_valid_o,
    output logic                row_write_o,
    output logic [RW-1:0]       row_o,
    output logic [LANES-1:0]    row_bank_o,
    output logic [LANES*32-1:0] row_data_o,
    input  logic [LANES*32-1:0] words_i
);
  // ------------------------------------------------------------------ scrub: rows next_q to end_q - 1
  logic [10+PW:0] first, past, next_q, end_q;
  logic [LANES-1:0] scrub_bank, line_bank;

  always_ff @(posedge clk_i) begin
    if (scrub_busy_o) next_q <= next_q + 1'b1;
    else if (scrub_i) begin
      next_q <= first;
      end_q  <= past;
    end
    scrub_busy_o <= scrub_busy_o ? next_q + 1'b1 != end_q : scrub_i && scrub_first_i < scrub_end_i;
    if (rst_i) scrub_busy_o <= 1'b0;
  end

  // ------------------------------------------------------------------ lines
  logic access, last, read1_q, read2_q, last1_q, last2_q;
  logic [RW-1:0] line_row;
  logic [LANES*32-1:0] line_data;
  logic [511:0] got;

  assign access = (line_read_i || line_write_i) && !scrub_busy_o && !rst_i;
  assign line_ready_o = !scrub_busy_o && !rst_i && last;
  always_ff @(posedge clk_i) begin
    read1_q <= access && !line_write_i;
    read2_q <= read1_q && !rst_i;
    last1_q <= last;
    last2_q <= last1_q;
    line_valid_o <= read2_q && last2_q && !rst_i;
    if (read2_q) line_rdata_o <= got;
  end

  assign row_valid_o = scrub_busy_o || access;
  assign row_write_o = scrub_busy_o || line_write_i;
  assign row_o = scrub_busy_o ? next_q[RW-1:0] : line_row;
  assign row_bank_o = scrub_busy_o ? scrub_bank : line_bank;
  assign row_data_o = scrub_busy_o ? '0 : line_data;

  // ------------------------------------------------------------------ rows and lines
  generate
    if (LANES < 16) begin : g_part
      logic [PW-1:0] part_q;  // next row of the line
      always_ff @(posedge clk_i) part_q <= access ? part_q + 1'b1 : '0;
      assign first = {scrub_first_i, PW'(0)};
      assign past = {scrub_end_i, PW'(0)};
      assign scrub_bank = '1;
      assign last = &part_q;
      assign line_row = RW'({line_i, part_q});
      assign line_bank = '1;
      assign line_data = line_wdata_i[LANES*32*part_q +: LANES*32];
      assign got = {words_i, line_rdata_o[511:LANES*32]};
    end else if (LANES == 16) begin : g_whole
      assign first = {1'b0, scrub_first_i};
      assign past = {1'b0, scrub_end_i};
      assign scrub_bank = '1;
      assign last = 1'b1;
      assign line_row = RW'(line_i);
      assign line_bank = '1;
      assign line_data = line_wdata_i;
      assign got = words_i;
    end else begin : g_double
      // skip_q: the first row has no lower line. short_q: the last row has no upper line. high1_q, high2_q: the access
      // is to the upper line of its row, one and two cycles later.
      logic skip_q, short_q, high1_q, high2_q;
      always_ff @(posedge clk_i) begin
        if (scrub_busy_o) skip_q <= 1'b0;
        else begin
          skip_q  <= scrub_first_i[0];
          short_q <= scrub_end_i[0];
        end
        high1_q <= line_i[0];
        high2_q <= high1_q;
      end
      assign first = {2'b0, scrub_first_i[10:1]};
      assign past = {2'b0, scrub_end_i[10:1]} + 12'(scrub_end_i[0]);
      assign scrub_bank = {{16{!(short_q && next_q + 1'b1 == end_q)}}, {16{!skip_q}}};
      assign last = 1'b1;
      assign line_row = RW'(line_i[9:1]);
      assign line_bank = {{16{line_i[0]}}, {16{!line_i[0]}}};
      assign line_data = {2{line_wdata_i}};
      assign got = high2_q ? words_i[LANES*32-1-:512] : words_i[511:0];
    end
  endgenerate
endmodule
