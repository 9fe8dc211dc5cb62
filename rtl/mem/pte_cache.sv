// SPDX-License-Identifier: Apache-2.0
// Second-level TLB and walk cache in one: a direct-mapped cache of page-table lines (16 entries each), tagged by root,
// level and index.
//
// Contract: look_valid_i looks up a line by root, level and index, and a word of it. hit_o and pte_o come two cycles
// later. The index is the upper bits of the page number: 16 bits for a second-level line, 6 bits for a first-level one.
// Page 0x12345 has word 5 of second-level line 0x1234 and word 8 of first-level line 4. put_valid_i stores a line.
// drop_valid_i invalidates the line of put_* and whatever else has its place. clear_all_i invalidates everything. Put,
// drop and clear come neither in one cycle nor in successive cycles, except put after put and drop after drop. No
// look-up is in flight at a clear, and none begins before the second cycle after a drop.
// The cache holds lines and not translations. One memory access thus brings 16 neighbours, so a stream of pages walks
// once in 16 pages. First-level lines are the walk cache, and superpages need no logic of their own.
// The lines are in block RAM, with a valid bit for each in LUT memory. A flip-flop for each group of lines tells
// whether the group's valid bits hold, so that all lines can be invalidated at once. A valid bit is written a cycle
// after its line, and read a cycle after it. The reader must not trust an entry that faults, since memory may have
// changed.
// Preemption: no state is saved.
module pte_cache #(
    parameter int LINES_LOG2 = 10,  // log2 of the lines, at least 2.
    parameter int PTE_W = 32        // Bits of an entry; fewer in the proof.
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         look_valid_i,
    input  logic [ 21:0] look_root_i,
    input  logic         look_first_i,  // The line is of the first level.
    input  logic [ 15:0] look_index_i,
    input  logic [  3:0] look_word_i,
    output logic         hit_o,
    output logic [PTE_W-1:0] pte_o,
    input  logic         put_valid_i,
    input  logic         drop_valid_i,
    input  logic [ 21:0] put_root_i,
    input  logic         put_first_i,
    input  logic [ 15:0] put_index_i,
    input  logic [16*PTE_W-1:0] put_line_i,
    input  logic         clear_all_i
);
  localparam int TAG_W = 22 + 1 + 16, LINE_W = 16 * PTE_W;
  localparam int PART_LOG2 = LINES_LOG2 > 4 ? 4 : LINES_LOG2 - 1;  // log2 of the lines of a group.
  localparam int GROUP_W = LINES_LOG2 - PART_LOG2;

  logic [TAG_W+LINE_W-1:0] lines[0:(1<<LINES_LOG2)-1];
  (* ram_style = "distributed" *) logic [(1<<PART_LOG2)-1:0] valid[0:(1<<GROUP_W)-1];
  logic [(1<<GROUP_W)-1:0] holds_q;  // The valid bits of a group hold; else all of them are 0.
  logic [(1<<PART_LOG2)-1:0] read_valid, put_valid, put_bit;
  logic [GROUP_W-1:0] read_group, put_group;
  logic [LINES_LOG2-1:0] look_place, place_q, put_place, put_place_q;
  logic [TAG_W+LINE_W-1:0] read_q;
  logic read_valid_q, put_q, drop_q;
  logic [TAG_W-1:0] want_q;
  logic [3:0] word_q;

  assign look_place = LINES_LOG2'(look_index_i) ^ LINES_LOG2'(look_root_i << 3) ^
      {look_first_i, (LINES_LOG2 - 1)'(look_index_i >> LINES_LOG2)};
  assign put_place = LINES_LOG2'(put_index_i) ^ LINES_LOG2'(put_root_i << 3) ^
      {put_first_i, (LINES_LOG2 - 1)'(put_index_i >> LINES_LOG2)};

  assign read_group = place_q[LINES_LOG2-1:PART_LOG2];
  assign put_group = put_place_q[LINES_LOG2-1:PART_LOG2];
  assign read_valid = valid[read_group];
  assign put_valid = valid[put_group] & {(1 << PART_LOG2) {holds_q[put_group]}};
  assign put_bit = (1 << PART_LOG2)'(1) << put_place_q[PART_LOG2-1:0];

  always_ff @(posedge clk_i) begin
    read_valid_q <= look_valid_i;
    if (look_valid_i) begin
      read_q <= lines[look_place];
      place_q <= look_place;
      want_q <= {look_root_i, look_first_i, look_index_i};
      word_q <= look_word_i;
    end
    if (read_valid_q) begin
      hit_o <= holds_q[read_group] && read_valid[place_q[PART_LOG2-1:0]] && read_q[LINE_W+:TAG_W] == want_q;
      pte_o <= read_q[PTE_W*word_q+:PTE_W];
    end
    if (put_valid_i) lines[put_place] <= {put_root_i, put_first_i, put_index_i, put_line_i};
    put_place_q <= put_place;
    put_q <= put_valid_i && !rst_i;
    drop_q <= drop_valid_i && !rst_i;
    if (put_q || drop_q) begin
      valid[put_group] <= drop_q ? put_valid & ~put_bit : put_valid | put_bit;
      holds_q[put_group] <= 1'b1;
    end
    if (rst_i || clear_all_i) holds_q <= '0;
    if (rst_i) read_valid_q <= 1'b0;
  end
endmodule
