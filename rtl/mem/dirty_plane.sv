// SPDX-License-Identifier: Apache-2.0
// The dirty-bitplane of a memory port: a bit for each page (D1-D3). Every write sets the bit of its page, and the
// accesses of dirty_command read and change words of bits. Each line of LINE bits has a mark, so that a command need
// not read a line without one.
//
// Contract: an access that is taken two or more cycles after set_valid_i and set_ready_o finds the page written. A
// write is marked after memory has taken it: if it were marked earlier, a query_clear between the two would lose it.
// The write is answered one cycle after it was given here, so an access that follows the answer finds it. An access
// reports the bits of a word within its mask two cycles later, and clears or sets them in the same operation. An access
// is taken in a cycle without a write, or when it has waited for PATIENCE cycles. The accesses to a line come together,
// the first word with acc_first_i, the last one with acc_last_i. Between two lines, a line without a mark has no bit
// set, except by writes of the last five cycles. After an access to a line it has a mark only if it has a bit set.
// After reset the plane clears itself; set_ready_o is low meanwhile.
//
// Implementation: a read-modify-write pipeline of three stages takes one access a cycle. The memory blocks thus need
// one read port and one write port. A word that is still in the pipeline is forwarded, so writes to one page follow
// each other without a gap. Marks change in the stage that writes the words, so both change in the same order.
// Preemption: no state is saved; the plane belongs to the memory and not to a context.
module dirty_plane #(
    parameter int UNITS    = 1 << 20,  // Bits of the plane: one for each page.
    parameter int LINE     = 512,      // Bits of a line, which has one mark.
    parameter int WORD     = 128,      // Bits of a word; divides LINE.
    parameter int TAG_W    = 1,        // Bits of the tag of an access.
    parameter int PATIENCE = 15        // Cycles after which an access goes before writes.
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             set_valid_i,
    output logic             set_ready_o,
    input  logic [     21:0] set_unit_i,
    // Accesses of dirty_command.
    input  logic             acc_valid_i,
    output logic             acc_ready_o,
    input  logic             acc_others_i,  // Planes that are accessed together with this one are ready, too.
    input  logic             acc_first_i,   // First word of its line.
    input  logic             acc_last_i,    // Last word of its line.
    input  logic             acc_clear_i,
    input  logic             acc_set_i,
    input  logic [     21:0] acc_word_i,
    input  logic [ WORD-1:0] acc_mask_i,
    input  logic [TAG_W-1:0] acc_tag_i,
    output logic             got_valid_o,
    output logic [ WORD-1:0] got_data_o,
    output logic [TAG_W-1:0] got_tag_o,
    // Marks of the lines 64 * look_i to 64 * look_i + 63, combinationally.
    input  logic [     15:0] look_i,
    output logic [     63:0] marks_o
);
  localparam int LINES = (UNITS + LINE - 1) / LINE;
  localparam int PER = LINE / WORD;  // Words of a line.
  localparam int WORDS = LINES * PER;
  localparam int BLOCKS = (LINES + 63) / 64;
  localparam int WORD_LOG2 = $clog2(WORD);
  localparam int PER_LOG2 = $clog2(PER);
  localparam int ADDR_W = WORDS > 1 ? $clog2(WORDS) : 1;
  localparam int BLOCK_W = BLOCKS > 1 ? $clog2(BLOCKS) : 1;
  localparam int WAIT_W = $clog2(PATIENCE + 1);

  generate
    if (UNITS < 1 || UNITS > (1 << 22) || WORD < 2 || WORD != 1 << WORD_LOG2 || PER != 1 << PER_LOG2) begin : g_check
      $error("dirty_plane: UNITS, LINE or WORD out of range");
    end
  endgenerate

  logic [WORD-1:0] plane[0:WORDS-1];
  logic [63:0] marks[0:BLOCKS-1];

  // The plane is cleared after reset.
  logic clearing_q;
  logic [ADDR_W-1:0] clear_q;

  always_ff @(posedge clk_i) begin
    if (clearing_q) clear_q <= clear_q + 1'b1;
    if (clear_q == ADDR_W'(WORDS - 1)) clearing_q <= 1'b0;
    if (rst_i) begin
      clearing_q <= 1'b1;
      clear_q <= '0;
    end
  end

  // A write waits in set_q for one cycle, or two if an access goes first, because it comes late and accesses must know
  // early whether they go.
  logic set_q;
  logic [21:0] set_unit_q;

  // Stage 0: a write goes first, unless an access has waited for PATIENCE cycles. Memory is read.
  logic [WAIT_W-1:0] waited_q;
  logic impatient_q, take_set, take_acc;
  logic [ADDR_W-1:0] addr_0, set_word;
  logic [WORD-1:0] set_mask;

  assign set_word = ADDR_W'(set_unit_q >> WORD_LOG2);
  assign set_mask = WORD'(1) << WORD_LOG2'(set_unit_q);
  assign set_ready_o = !clearing_q && (!set_q || !impatient_q);
  assign acc_ready_o = !clearing_q && (!set_q || impatient_q);
  assign take_set = set_q && !impatient_q;
  assign take_acc = acc_valid_i && acc_ready_o && acc_others_i;
  assign addr_0 = take_acc ? ADDR_W'(acc_word_i) : set_word;

  always_ff @(posedge clk_i) begin
    set_q <= (set_valid_i && set_ready_o) || (set_q && !take_set);
    if (set_valid_i && set_ready_o) set_unit_q <= set_unit_i;
    if (rst_i) set_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (take_acc || !acc_valid_i) {impatient_q, waited_q} <= '0;
    else if (!impatient_q) begin
      impatient_q <= waited_q == WAIT_W'(PATIENCE - 1);
      waited_q <= waited_q + 1'b1;
    end
    if (rst_i) {impatient_q, waited_q} <= '0;
  end

  // Stage 1: forward a word that is newer than the one read. Stage 2: modify and write. Stage 3 has the word written
  // last.
  logic valid_1_q, valid_2_q, valid_3_q, acc_1_q, acc_2_q, set_1_q, set_2_q, clear_1_q, clear_2_q;
  logic first_1_q, first_2_q, last_1_q, last_2_q;
  logic [ADDR_W-1:0] addr_1_q, addr_2_q, addr_3_q;
  logic [WORD-1:0] read_1_q, mask_1_q, old_2_q, mask_2_q, new_2, new_3_q;
  logic [TAG_W-1:0] tag_1_q, tag_2_q;

  assign new_2 = set_2_q ? old_2_q | mask_2_q : clear_2_q ? old_2_q & ~mask_2_q : old_2_q;
  assign got_valid_o = valid_2_q && acc_2_q;
  assign got_data_o = old_2_q & mask_2_q;
  assign got_tag_o = tag_2_q;

  always_ff @(posedge clk_i) begin
    valid_1_q <= take_set || take_acc;
    if (take_set || take_acc) begin
      read_1_q <= plane[addr_0];
      addr_1_q <= addr_0;
      acc_1_q <= take_acc;
      set_1_q <= take_set || acc_set_i;
      clear_1_q <= take_acc && acc_clear_i;
      first_1_q <= take_acc && acc_first_i;
      last_1_q <= take_acc && acc_last_i;
      mask_1_q <= take_acc ? acc_mask_i : set_mask;
      tag_1_q <= acc_tag_i;
    end
    valid_2_q <= valid_1_q;
    if (valid_1_q) begin
      old_2_q <= valid_2_q && addr_2_q == addr_1_q ? new_2 : valid_3_q && addr_3_q == addr_1_q ? new_3_q : read_1_q;
      addr_2_q <= addr_1_q;
      acc_2_q <= acc_1_q;
      set_2_q <= set_1_q;
      clear_2_q <= clear_1_q;
      first_2_q <= first_1_q;
      last_2_q <= last_1_q;
      mask_2_q <= mask_1_q;
      tag_2_q <= tag_1_q;
    end
    valid_3_q <= valid_2_q;
    if (valid_2_q) begin
      addr_3_q <= addr_2_q;
      new_3_q <= new_2;
    end
    if (clearing_q) plane[clear_q] <= '0;
    else if (valid_2_q) plane[addr_2_q] <= new_2;
    if (rst_i) begin
      valid_1_q <= 1'b0;
      valid_2_q <= 1'b0;
      valid_3_q <= 1'b0;
    end
  end

  // Marks. A write sets the mark of its line. The first access to a line clears the mark, and the last one sets it
  // again if any word of the line has a bit set after its access.
  logic left_q, left;  // A bit is set in the words before this one; or in this one.
  logic [BLOCK_W-1:0] block_2;
  logic [63:0] mark_2;
  assign block_2 = BLOCK_W'(addr_2_q >> (PER_LOG2 + 6));
  assign mark_2 = 64'd1 << 6'(addr_2_q >> PER_LOG2);
  assign left = (left_q && !first_2_q) || new_2 != '0;
  assign marks_o = look_i < 16'(BLOCKS) ? marks[BLOCK_W'(look_i)] : '0;

  always_ff @(posedge clk_i) begin
    if (got_valid_o) left_q <= left;
    if (clearing_q) begin
      if ({1'b0, clear_q} < (ADDR_W + 1)'(BLOCKS)) marks[BLOCK_W'(clear_q)] <= '0;
    end else if (valid_2_q)
      marks[block_2] <= (marks[block_2] & ~(first_2_q ? mark_2 : '0)) |
          (!acc_2_q || (last_2_q && left) ? mark_2 : '0);
  end

  logic unused;
  assign unused = &{1'b0, acc_word_i};
endmodule
