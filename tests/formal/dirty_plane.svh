// SPDX-License-Identifier: Apache-2.0 Properties of dirty_plane, for any one page. owed_q says that the page was
// written and no access has cleared it since. While owed_q holds, the page's bit is set in the memory or in the pipe,
// an access that reports the page reports it set (no write is lost), and only an access that clears the page clears the
// bit. clean_q says that the page was neither written nor set since it was cleared. While clean_q holds, no access
// reports the page.
(* anyconst *) logic [21:0] page;
logic started_q = 1'b0, owed_q = 1'b0, clean_q = 1'b0, given_q = 1'b0, late_q = 1'b0;
logic [ADDR_W-1:0] p_word;
logic [WORD_LOG2-1:0] p_bit;
logic sets_0, asks_0, hit_1, hit_2, hit_3, p_newest, p_pending, p_mark, p_read;
assign p_word = ADDR_W'(page >> WORD_LOG2);
assign p_bit = WORD_LOG2'(page);
assign sets_0 = (take_set && set_unit_q == page) ||
    (take_acc && acc_set_i && ADDR_W'(acc_word_i) == p_word && acc_mask_i[p_bit]);
assign asks_0 = take_acc && !acc_set_i && ADDR_W'(acc_word_i) == p_word && acc_mask_i[p_bit];
assign hit_1 = valid_1_q && addr_1_q == p_word;
assign hit_2 = valid_2_q && addr_2_q == p_word;
assign hit_3 = valid_3_q && addr_3_q == p_word;
assign p_mark = marks[BLOCK_W'(page >> (WORD_LOG2 + PER_LOG2 + 6))][6'(page >> (WORD_LOG2 + PER_LOG2))];
assign p_read = plane[p_word][p_bit];
// The bit as it will be when the pipe has drained
assign p_newest = hit_2 ? new_2[p_bit] : p_read;
assign p_pending = !hit_1 || !mask_1_q[p_bit] ? p_newest : set_1_q || (p_newest && !clear_1_q);

// Accesses come line by line: next is the word that must follow while a line is open, as seen before stage 0, before
// stage 1 (o1, n1), before stage 2 (o2, n2) and behind it.
logic open_q, open_2_q, o1, o2, line_1, line_2, mine, passed;
logic [ADDR_W-1:0] next_q, next_2_q, n1, n2;
assign line_1 = valid_1_q && acc_1_q;
assign line_2 = valid_2_q && acc_2_q;
assign o2 = line_2 ? !last_2_q : open_2_q;
assign n2 = line_2 ? addr_2_q + 1'b1 : next_2_q;
assign o1 = line_1 ? !last_1_q : o2;
assign n1 = line_1 ? addr_1_q + 1'b1 : n2;
// mine: the page's line is in stage 2: its first word has passed, its last has not. passed: so has the page's word.
assign mine = open_2_q && next_2_q >> PER_LOG2 == p_word >> PER_LOG2;
assign passed = next_2_q > p_word;
always_ff @(posedge clk_i) begin
  started_q <= 1'b1;
  // given_q: a write of the page was given and has not yet entered the pipe
  given_q <= !rst_i && ((set_valid_i && set_ready_o && set_unit_i == page) || (given_q && !take_set));
  late_q <= !rst_i && given_q && !take_set;
  if (sets_0) begin
    owed_q  <= 1'b1;
    clean_q <= 1'b0;
  end else if (asks_0 && acc_clear_i) begin
    owed_q  <= 1'b0;
    clean_q <= 1'b1;
  end
  if (take_acc) begin
    open_q <= !acc_last_i;
    next_q <= ADDR_W'(acc_word_i) + 1'b1;
  end
  if (line_2) begin
    open_2_q <= o2;
    next_2_q <= n2;
  end
  if (rst_i) begin
    owed_q  <= 1'b0;
    clean_q <= 1'b0;
    open_q  <= 1'b0;
    open_2_q <= 1'b0;
  end
end
function automatic logic starts(input logic [ADDR_W-1:0] word);
  starts = (word & ADDR_W'(PER - 1)) == '0;
endfunction
function automatic logic finishes(input logic [ADDR_W-1:0] word);
  finishes = (word & ADDR_W'(PER - 1)) == ADDR_W'(PER - 1);
endfunction
// An access in stage 0 will report the bit that is pending now.
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
  assume (page < UNITS && set_unit_i < UNITS);
  assume (acc_word_i < WORDS && !(acc_set_i && acc_clear_i));
  assume (acc_first_i == starts(ADDR_W'(acc_word_i)) && acc_last_i == finishes(ADDR_W'(acc_word_i)));
  assume (open_q ? ADDR_W'(acc_word_i) == next_q : acc_first_i);
  assume (!impatient_q || clearing_q || acc_others_i);  // all planes become impatient in the same cycle
  if (started_q) begin
    // what was given is kept until it enters the pipe; at most one access goes before it
    assert (given_q == (set_q && set_unit_q == page));
    assert (!(late_q && take_acc));
    if (late_q) assert (!impatient_q);
    if (set_q) assert (set_unit_q < UNITS && !clearing_q);
    // at the report
    if (asks_2_q) assert (valid_2_q && acc_2_q && addr_2_q == p_word && mask_2_q[p_bit]);
    if (asks_2_q) assert (got_data_o[p_bit] == told_2_q);
    if (asks_1_q) assert (valid_1_q && acc_1_q && addr_1_q == p_word && mask_1_q[p_bit]);
    if (asks_1_q) assert (told_1_q == p_newest);
    // an owed bit is pending, a clean one is not, and nothing else changes the bit
    if (owed_q) assert (p_pending);
    if (clean_q) assert (!p_pending);
    // A line with a bit set has its mark. While its words are read, the mark may be away until the last word.
    if (!clearing_q && p_read && !mine) assert (p_mark);
    if (!clearing_q && p_read && mine && passed) assert (p_mark || left_q);
    // induction: what the pipe holds
    if (hit_3) assert (new_3_q[p_bit] == p_read);
    if (hit_2) assert (old_2_q[p_bit] == p_read);
    if (hit_1) assert (read_1_q[p_bit] == p_read || hit_2 || hit_3);
    if (valid_1_q && !acc_1_q) assert (set_1_q && !clear_1_q && !first_1_q && !last_1_q);
    if (valid_2_q && !acc_2_q) assert (set_2_q && !clear_2_q && !first_2_q && !last_2_q);
    if (valid_1_q) assert (addr_1_q < WORDS);
    if (valid_2_q) assert (addr_2_q < WORDS);
    if (line_1) assert (first_1_q == starts(addr_1_q) && last_1_q == finishes(addr_1_q));
    if (line_2) assert (first_2_q == starts(addr_2_q) && last_2_q == finishes(addr_2_q));
    if (line_2) assert (open_2_q ? addr_2_q == next_2_q : first_2_q);
    if (line_1) assert (o2 ? addr_1_q == n2 : first_1_q);
    assert (open_q == o1 && (!o1 || next_q == n1));
    if (open_2_q) assert (next_2_q < WORDS && !starts(next_2_q));
    if (clearing_q) assert (clear_q <= p_word || !p_read);
    if (clearing_q) assert (!valid_1_q && !valid_2_q && !owed_q && !clean_q && !open_q && !open_2_q);
  end
end
