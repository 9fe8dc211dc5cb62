// SPDX-License-Identifier: Apache-2.0
// The dirty-bitplane: one bit per 2^PAGE_LOG2 bytes of device memory (D1-D3), set by every write, read and cleared by
// commands of the dirty register block.
//
// Contract: set_valid_i and set_ready_o: from now on the page counts as written; every command that reads the bit later
// finds it, and it stays until a query_clear of a range with this page has reported it. A write is marked after memory
// has taken it and before it is answered: marked earlier, a query_clear between the two would lose it. A command copies
// one word of 32 bits in each cycle in which no write comes, or when it has waited for PATIENCE cycles; it clears a
// word's bits in the same access that reports them. After reset the plane clears itself, and set_ready_o is low until
// then. One access a cycle, three stages, read-modify-write: one set of memory blocks with one read and one write port.
// A word that is still in the pipe is forwarded, so writes to one page follow each other without a gap. Preemption
// saves nothing of it: the plane belongs to the memory, not to a context.
module dirty_plane #(
    parameter int MEM_PAGES = 1 << 20,  // 4 KiB pages that there is room for
    parameter int PAGE_LOG2 = 12,
    parameter int PATIENCE  = 15
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic [22:0] mem_pages_i,   // 4 KiB pages of the device
    input  logic        set_valid_i,
    output logic        set_ready_o,
    input  logic [21:0] set_page_i,    // 4 KiB page
    input  logic        cmd_valid_i,   // pulse; ignored while busy
    input  logic [ 1:0] cmd_op_i,
    input  logic [31:0] cmd_first_i,
    input  logic [31:0] cmd_count_i,
    output logic        busy_o,
    output logic        error_o,
    input  logic [ 8:0] window_addr_i,
    output logic [31:0] window_data_o  // one cycle later
);
  localparam int UNITS = (MEM_PAGES + (1 << (PAGE_LOG2 - 12)) - 1) >> (PAGE_LOG2 - 12);  // bits of the plane
  localparam int WORDS = (UNITS + 31) / 32;
  localparam int ADDR_W = WORDS > 1 ? $clog2(WORDS) : 1;

  generate
    if (PAGE_LOG2 < 12 || PAGE_LOG2 > 30 || MEM_PAGES < 1 || MEM_PAGES > (1 << 22)) begin : g_check
      $error("dirty_plane: PAGE_LOG2 or MEM_PAGES out of range");
    end
  endgenerate

  logic [31:0] plane[0:WORDS-1];
  logic [31:0] window[0:511];

  // Clearing after reset
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

  // Command: words [word_q, last_word_q] of the plane, to window words slot_q and on
  logic copying_q, clears_q, take_query, refuse;
  logic [ADDR_W-1:0] word_q, last_word_q;
  logic [8:0] slot_q;
  logic [9:0] window_words_q;  // that hold the last result; the others read zero
  logic [4:0] first_bit_q, last_bit_q;
  logic [31:0] range, units;
  logic [32:0] range_end;

  assign units = ({9'b0, mem_pages_i} + 32'((1 << (PAGE_LOG2 - 12)) - 1)) >> (PAGE_LOG2 - 12);
  assign range_end = {1'b0, cmd_first_i} + {1'b0, cmd_count_i};
  assign refuse = (cmd_op_i != 2'd1 && cmd_op_i != 2'd2) || cmd_count_i > 32'd8192 || range_end > {1'b0, units};
  assign range = (slot_q == '0 ? 32'hffffffff << first_bit_q : 32'hffffffff) &
      (word_q == last_word_q ? 32'hffffffff >> ~last_bit_q : 32'hffffffff);

  always_ff @(posedge clk_i) begin
    if (cmd_valid_i && !busy_o) begin
      error_o <= refuse;
      if (!refuse) begin
        copying_q <= cmd_count_i != '0;
        clears_q <= cmd_op_i == 2'd2;
        word_q <= ADDR_W'(cmd_first_i >> 5);
        last_word_q <= ADDR_W'((range_end - 33'd1) >> 5);
        first_bit_q <= cmd_first_i[4:0];
        last_bit_q <= 5'(range_end - 33'd1);
        slot_q <= '0;
        window_words_q <= '0;
      end
    end
    if (take_query) begin
      copying_q <= word_q != last_word_q;
      word_q <= word_q + 1'b1;
      slot_q <= slot_q + 1'b1;
      window_words_q <= {1'b0, slot_q} + 10'd1;
    end
    if (rst_i) begin
      copying_q <= 1'b0;
      error_o <= 1'b0;
      window_words_q <= '0;
    end
  end

  // Stage 0: writes first, unless the query has lost its patience. Memory is read.
  logic [$clog2(PATIENCE+1)-1:0] waited_q;
  logic impatient_q, take_set;
  logic [ADDR_W-1:0] addr_0;
  logic [21:0] set_unit;

  assign set_unit = set_page_i >> (PAGE_LOG2 - 12);
  assign set_ready_o = !clearing_q && !impatient_q;
  assign take_set = set_valid_i && set_ready_o;
  assign take_query = copying_q && !clearing_q && (!set_valid_i || impatient_q);
  assign addr_0 = take_query ? word_q : ADDR_W'(set_unit >> 5);

  always_ff @(posedge clk_i) begin
    if (take_query || !copying_q) {impatient_q, waited_q} <= '0;
    else if (!impatient_q) begin
      impatient_q <= waited_q == ($clog2(PATIENCE + 1))'(PATIENCE - 1);
      waited_q <= waited_q + 1'b1;
    end
    if (rst_i) {impatient_q, waited_q} <= '0;
  end

  // Stage 1: forward what is newer than what was read. Stage 2: modify, write. Stage 3: what was written last.
  logic valid_1_q, valid_2_q, valid_3_q, query_1_q, query_2_q;
  logic [ADDR_W-1:0] addr_1_q, addr_2_q, addr_3_q;
  logic [31:0] read_1_q, set_1_q, range_1_q, clear_1_q;
  logic [31:0] old_2_q, set_2_q, range_2_q, clear_2_q, new_2, new_3_q;
  logic [8:0] slot_1_q, slot_2_q;

  assign new_2 = (old_2_q & ~clear_2_q) | set_2_q;
  assign busy_o = copying_q || (valid_1_q && query_1_q) || (valid_2_q && query_2_q);

  always_ff @(posedge clk_i) begin
    valid_1_q <= take_set || take_query;
    if (take_set || take_query) begin
      read_1_q <= plane[addr_0];
      addr_1_q <= addr_0;
      query_1_q <= take_query;
      slot_1_q <= slot_q;
      set_1_q <= take_set ? 32'd1 << set_unit[4:0] : '0;
      range_1_q <= range;
      clear_1_q <= take_query && clears_q ? range : '0;
    end
    valid_2_q <= valid_1_q;
    if (valid_1_q) begin
      old_2_q <= valid_2_q && addr_2_q == addr_1_q ? new_2 : valid_3_q && addr_3_q == addr_1_q ? new_3_q : read_1_q;
      addr_2_q <= addr_1_q;
      query_2_q <= query_1_q;
      slot_2_q <= slot_1_q;
      set_2_q <= set_1_q;
      range_2_q <= range_1_q;
      clear_2_q <= clear_1_q;
    end
    valid_3_q <= valid_2_q;
    if (valid_2_q) begin
      addr_3_q <= addr_2_q;
      new_3_q <= new_2;
      if (query_2_q) window[slot_2_q] <= old_2_q & range_2_q;
    end
    if (clearing_q) plane[clear_q] <= '0;
    else if (valid_2_q) plane[addr_2_q] <= new_2;
    if (rst_i) begin
      valid_1_q <= 1'b0;
      valid_2_q <= 1'b0;
      valid_3_q <= 1'b0;
    end
  end

  // Window
  logic [31:0] window_q;
  logic blank_q;
  assign window_data_o = blank_q ? '0 : window_q;
  always_ff @(posedge clk_i) begin
    window_q <= window[window_addr_i];
    blank_q  <= {1'b0, window_addr_i} >= window_words_q;
  end

`ifdef FORMAL
  // One page, whichever: owed_q says that it was written and no query_clear has reported it since. Then its bit is in
  // the memory or in the pipe, the report of a query_clear contains it (no write is lost), and only such a report takes
  // it away. clean_q says that it was not written since it was cleared: then it is not reported.
  (* anyconst *) logic [21:0] page;
  logic started_q = 1'b0, owed_q = 1'b0, clean_q = 1'b0;
  logic [ADDR_W-1:0] p_word;
  logic [4:0] p_bit;
  logic sets_0, asks_0, hit_1, hit_2, hit_3, p_newest, p_pending;
  assign p_word = ADDR_W'(page >> (PAGE_LOG2 - 12) >> 5);
  assign p_bit = 5'(page >> (PAGE_LOG2 - 12));
  assign sets_0 = take_set && set_unit == page >> (PAGE_LOG2 - 12);
  assign asks_0 = take_query && word_q == p_word && range[p_bit];
  assign hit_1 = valid_1_q && addr_1_q == p_word;
  assign hit_2 = valid_2_q && addr_2_q == p_word;
  assign hit_3 = valid_3_q && addr_3_q == p_word;
  // The bit as it will be when the pipe has drained
  assign p_newest = hit_2 ? new_2[p_bit] : plane[p_word][p_bit];
  assign p_pending = hit_1 ? (p_newest && !clear_1_q[p_bit]) || set_1_q[p_bit] : p_newest;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (sets_0) begin
      owed_q  <= 1'b1;
      clean_q <= 1'b0;
    end else if (asks_0 && clears_q) begin
      owed_q  <= 1'b0;
      clean_q <= 1'b1;
    end
    if (rst_i) begin
      owed_q  <= 1'b0;
      clean_q <= 1'b0;
    end
  end
  // What the query in stage 0 will report is what is pending now.
  logic asks_1_q, asks_2_q, told_1_q, told_2_q;
  always_ff @(posedge clk_i) begin
    asks_1_q <= asks_0;
    told_1_q <= p_pending;
    asks_2_q <= asks_1_q;
    told_2_q <= told_1_q;
    if (rst_i) begin
      asks_1_q <= 1'b0;
      asks_2_q <= 1'b0;
    end
  end
  always_comb begin
    assume (rst_i == !started_q);
    assume (page >> (PAGE_LOG2 - 12) < UNITS);
    assume ({1'b0, set_page_i} < mem_pages_i && mem_pages_i <= 23'(MEM_PAGES));
    if (started_q) begin
      // at the report
      if (asks_2_q) assert (valid_2_q && query_2_q && addr_2_q == p_word && range_2_q[p_bit]);
      if (asks_2_q) assert (old_2_q[p_bit] == told_2_q);
      if (asks_1_q) assert (valid_1_q && query_1_q && addr_1_q == p_word && range_1_q[p_bit]);
      if (asks_1_q) assert (told_1_q == p_newest);
      // what is owed is pending, what is clean is not; nothing else changes the bit
      if (owed_q) assert (p_pending);
      if (clean_q) assert (!p_pending);
      // induction: what the pipe holds
      if (hit_3) assert (new_3_q[p_bit] == plane[p_word][p_bit]);
      if (hit_2) assert (old_2_q[p_bit] == plane[p_word][p_bit]);
      if (hit_1) assert (read_1_q[p_bit] == plane[p_word][p_bit] || hit_2 || hit_3);
      if (valid_1_q && hit_1 && set_1_q[p_bit]) assert (!query_1_q);
      if (clearing_q) assert (!valid_1_q && !valid_2_q && !owed_q && !clean_q);
    end
  end
`endif
endmodule
