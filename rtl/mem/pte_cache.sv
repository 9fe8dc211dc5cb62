// SPDX-License-Identifier: Apache-2.0
// Second-level TLB and walk cache in one: lines of page tables (16 entries each), tagged by root, level and address.
//
// Contract: look_valid_i with root, level and index of a line (index: the upper bits of the page number: 16 of them
// for a second-level line, 6 for a first-level one); hit_o and line_o come two cycles later. put_valid_i stores a line.
// clear_all_i forgets everything at once, drop_valid_i this line and whatever else shares its place. One of
// look, put, drop, clear at a time.
// Caching lines instead of translations: one memory access brings 16 neighbours, so a stream of pages walks once in 16;
// first-level lines are the walk cache; superpages need nothing of their own. Direct-mapped: valid bits in flip-flops,
// the rest block RAM. The reader must not trust an entry that faults: it may have been filled in memory since.
// Preemption saves nothing of it.
module pte_cache #(
    parameter int LINES_LOG2 = 9
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         look_valid_i,
    input  logic [ 21:0] root_i,
    input  logic         first_i,       // a first-level line
    input  logic [ 15:0] index_i,
    output logic         hit_o,
    output logic [511:0] line_o,
    input  logic         put_valid_i,
    input  logic [511:0] put_line_i,
    input  logic         drop_valid_i,
    input  logic         clear_all_i
);
  localparam int TAG_W = 22 + 1 + 16;

  logic [TAG_W+511:0] lines[0:(1<<LINES_LOG2)-1];
  logic [(1<<LINES_LOG2)-1:0] valid_q;
  logic [LINES_LOG2-1:0] place;
  logic [TAG_W+511:0] read_q;
  logic read_valid_q, valid_2_q;
  logic [TAG_W-1:0] tag, want_q;

  assign tag = {root_i, first_i, index_i};
  assign place = LINES_LOG2'(index_i) ^ LINES_LOG2'(root_i << 3) ^ {first_i, (LINES_LOG2 - 1)'(index_i >> LINES_LOG2)};

  always_ff @(posedge clk_i) begin
    read_valid_q <= look_valid_i;
    if (look_valid_i) begin
      read_q <= lines[place];
      valid_2_q <= valid_q[place];
      want_q <= tag;
    end
    if (read_valid_q) begin
      hit_o  <= valid_2_q && read_q[512+:TAG_W] == want_q;
      line_o <= read_q[511:0];
    end
    if (put_valid_i) begin
      lines[place] <= {tag, put_line_i};
      valid_q[place] <= 1'b1;
    end
    if (drop_valid_i) valid_q[place] <= 1'b0;
    if (rst_i || clear_all_i) valid_q <= '0;
    if (rst_i) read_valid_q <= 1'b0;
  end
endmodule
