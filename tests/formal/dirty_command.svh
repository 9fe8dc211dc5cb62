// SPDX-License-Identifier: Apache-2.0
// Properties of dirty_command, for any one page in one line of the plane, through any command.
//
// In this proof the plane is the bit of that page and what dirty_plane promises: an access finds the bit as it is when
// the access is taken, the answer comes two cycles later, and a bit that has been set for three cycles has a mark.
// dirty_deliver is cut out. The proof assumes what dirty_deliver's own proof shows: pushed lines leave in order,
// accepted or refused, with their data and tag.
//
// f_line_q says how far the page's line has come; TAKEN means that memory has accepted it. f_names_q says the same of
// the bitmap line of the current section.
//
// A command ends, because of three properties: each line is read once, each section has one line of the bitmap, and
// something changes in each cycle in which neither the plane nor memory makes the command wait.
localparam logic [2:0] UNREAD = 3'd0, READING = 3'd1, EMPTY = 3'd2, READY = 3'd3, GIVEN = 3'd4, TAKEN = 3'd5,
    REFUSED = 3'd6;
localparam int F_LW = LINE_W + PER_LOG2 + WORD_LOG2;
(* anyconst *) logic [F_LW-1:0] page;
(* anyseq *) logic f_write;  // an engine writes to the page
logic [LINE_W-1:0] p_line, p_rel, f_start;
logic [21:0] p_word;
logic [WORD_LOG2-1:0] p_bit;
logic [SECT_W-1:0] p_at, f_at_q;  // places: of the page in its line; of its bit in line_data_q
logic [PART_W-1:0] p_part, f_words_q, f_part_1_q, f_part_2_q, f_after_2, f_after_1;
logic f_started_q = 1'b0, f_set_q, f_must_q, f_bit_q, f_read_q, f_got_q, f_struck_q, f_owes_q, f_refused_q, f_named_q;
logic [1:0] f_age_q, f_names_q;  // cycles since the bit was set; the section's line: 1 in flight, 2 accepted, 3 refused
logic [2:0] f_line_q;
logic [DEPTH_LOG2:0] f_given_q, f_before_q;
logic f_take, f_mine, f_in, f_section, f_busy_q, f_ends;
logic f_valid_1_q, f_valid_2_q, f_mine_1_q, f_mine_2_q, f_told_1_q, f_told_2_q;
logic [TAG_W-1:0] f_tag_1_q, f_tag_2_q;
logic [WORD-1:0] f_mask_1_q, f_mask_2_q;
logic f_read_1, f_read_2;
logic [31:0] f_found_q;
logic [WORD_LOG2:0] f_ones;
logic [15:0] f_lines;
logic [LOOK-1:0] f_window;
logic [LINE_W-1:0] f_sections;  // of a command that is carried out
logic f_legal_q, f_legal, f_idle_q, f_runs, f_before;

assign p_line = page[F_LW-1:SECT_W];
assign p_rel = p_line - from_q;
assign p_word = 22'(page >> WORD_LOG2);
assign p_bit = page[WORD_LOG2-1:0];
assign p_at = page[SECT_W-1:0];
assign p_part = page[WORD_LOG2+:PART_W];
assign f_take = acc_valid_o && acc_ready_i;
assign f_mine = acc_word_o == p_word;
assign f_in = 33'(page) >= {1'b0, first_q} && 33'(page) < end_q;
assign f_start = from_q + (section_q << SECT_W);
assign f_section = p_line >= f_start && p_line - f_start < LINE_W'(LINE);  // the page's line is of this section
assign f_read_1 = f_valid_1_q && f_tag_1_q[TAG_W-1];
assign f_read_2 = f_valid_2_q && f_tag_2_q[TAG_W-1];
// Words of the line that is being collected: those that have come, and with those in the pipe
assign f_after_2 = f_read_2 ? f_part_2_q + 1'b1 : f_words_q;
assign f_after_1 = f_read_1 ? f_part_1_q + 1'b1 : f_after_2;
assign f_before = state_q == S_CHECK || state_q == S_SUM || state_q == S_LIMIT || state_q == S_START ||
    state_q == S_JUDGE;
assign f_runs = state_q != S_IDLE && !f_before;
assign f_ends = got_last && got_tag_i[LINE_W-1:0] == p_rel;
// A legal command, as the contract of dirty_command defines it
assign f_sections = LINE_W'((to_q - from_q) >> SECT_W) + 1'b1;
always_comb begin
  f_lines = empty_q ? '0 : (16'(end_q) - 16'd1) / 16'(LINE) - 16'(first_q) / 16'(LINE) + 16'd1;
  f_legal = op_q != 2'd0 && 16'(end_q) <= 16'(mem_pages_i) && (op_q == COUNT || (target_q[5:0] == '0 &&
      16'(target_q >> 6) + (f_lines + 16'(LINE - 1)) / 16'(LINE) + f_lines <= 16'(mem_pages_i) * 16'd64));
end

always_comb begin
  f_ones = '0;
  for (int i = 0; i < WORD; i++) f_ones = f_ones + (WORD_LOG2 + 1)'(got_data_i[i]);
end
always_ff @(posedge clk_i) begin
  f_started_q <= 1'b1;
  f_busy_q <= busy_o && !rst_i;
  // the plane
  if (f_write || (f_take && f_mine && acc_mask_o[p_bit] && acc_set_o)) f_set_q <= 1'b1;
  else if (f_take && f_mine && acc_mask_o[p_bit] && acc_clear_o) f_set_q <= 1'b0;
  f_age_q <= !f_set_q ? 2'd1 : f_age_q == 2'd3 ? 2'd3 : f_age_q + 1'b1;
  f_valid_1_q <= f_take;
  f_tag_1_q <= acc_tag_o;
  f_mask_1_q <= acc_mask_o;
  f_mine_1_q <= f_mine;
  f_told_1_q <= f_set_q;
  f_part_1_q <= part_q;
  {f_valid_2_q, f_tag_2_q, f_mask_2_q, f_mine_2_q, f_told_2_q, f_part_2_q} <=
      {f_valid_1_q, f_tag_1_q, f_mask_1_q, f_mine_1_q, f_told_1_q, f_part_1_q};
  // the command
  if (state_q == S_START) f_legal_q <= f_legal;
  // A write whose answer was seen before the command may enter the plane two cycles later (dirty_plane)
  if (f_write && (state_q == S_CHECK || state_q == S_SUM)) f_must_q <= 1'b1;
  if (state_q == S_IDLE && cmd_valid_i) begin
    f_must_q <= f_set_q || f_write;
    {f_bit_q, f_read_q, f_got_q, f_line_q, f_refused_q, f_owes_q, f_named_q, f_found_q} <= '0;
  end
  if (state_q == S_START || state_q == S_NEXT) f_names_q <= 2'd0;
  // the page's word, and its line
  if (f_take && state_q == S_READ && line_q == p_line) f_line_q <= READING;
  if (f_take && state_q == S_READ && f_mine) begin
    f_read_q <= 1'b1;
    f_bit_q <= f_set_q && f_in;
  end
  if (got) begin
    f_words_q <= got_last ? '0 : f_words_q + 1'b1;
    f_at_q <= f_mine_2_q ? SECT_W'(LINE - WORD) + SECT_W'(p_bit) : f_at_q - SECT_W'(WORD);
    if (f_mine_2_q) f_got_q <= 1'b1;
    f_found_q <= f_found_q + 32'(f_ones);
  end
  if (f_ends) f_line_q <= ends ? EMPTY : READY;
  if (push_line_q && got_rel_q == p_rel) begin
    f_line_q <= GIVEN;
    f_before_q <= f_given_q - {{DEPTH_LOG2{1'b0}}, retire || drop};
  end else if (f_line_q == GIVEN && (retire || drop)) begin
    f_before_q <= f_before_q - 1'b1;
    if (f_before_q == '0) f_line_q <= retire ? TAKEN : REFUSED;
  end
  f_struck_q <= state_q == S_RESTORE && f_line_q == GIVEN && f_before_q == '0 && !drop;
  f_given_q <= f_given_q + {{DEPTH_LOG2{1'b0}}, push_line_q || push_names} - {{DEPTH_LOG2{1'b0}}, retire || drop};
  if (drop) f_refused_q <= 1'b1;
  if (push_names) f_names_q <= 2'd1;
  if (f_names_q == 2'd1 && (retire || drop)) begin
    f_names_q <= retire ? 2'd2 : 2'd3;
    if (f_section) {f_named_q, f_owes_q} <= {retire && f_line_q == TAKEN, !retire && f_line_q == TAKEN};
  end
  if (rst_i) {f_valid_1_q, f_valid_2_q, f_set_q, f_words_q, f_given_q, f_names_q, f_struck_q} <= '0;
  if (rst_i) {f_line_q, f_got_q, f_read_q} <= '0;
end

// For the property that the command makes progress
logic f_still_q;
logic [LOOK-1:0] f_was_marks_q;
logic [3:0] f_was_state_q;
logic [LINE_W-1:0] f_was_line_q;
logic [PART_W+DEPTH_LOG2+2:0] f_was_q;
always_ff @(posedge clk_i) begin
  f_still_q <= !rst_i && busy_o && !(acc_valid_o && !acc_ready_i) && !(f_given_q != '0 && !retire && !failed) &&
      !f_valid_1_q && !f_valid_2_q && !push_line_q;
  f_was_marks_q <= marks_q;
  f_was_state_q <= state_q;
  f_was_line_q <= line_q;
  f_was_q <= {part_q, under_way_q, settle_q};
end
logic [22:0] f_pages_q;
logic f_failed_q;
logic [33:0] f_told_q;
always_ff @(posedge clk_i) begin
  f_pages_q <= mem_pages_i;
  f_failed_q <= failed && !drop && !rst_i;
  f_idle_q <= state_q == S_IDLE && !rst_i;
  f_told_q <= {error_o, bus_error_o, found_o};
end

always_comb begin
  f_window = '0;
  for (int i = 0; i < LOOK; i++)
    f_window[i] = {line_q[LINE_W-1:LOOK_LOG2], LOOK_LOG2'(i)} >= f_start &&
        {line_q[LINE_W-1:LOOK_LOG2], LOOK_LOG2'(i)} <= bound_q;
  assume (rst_i == !f_started_q);
  assume (mem_pages_i <= 23'(UNITS) && (!f_started_q || mem_pages_i == f_pages_q));
  // Small numbers only, legal or not: tests/rtl/dirty compares numbers with more bits
  assume (cmd_first_i < 32'(2 * UNITS) && cmd_count_i < 32'(2 * UNITS) && cmd_target_i < 64'(8192 * UNITS));
  if (f_started_q) begin
    // the plane
    assume (!(f_write && f_take));
    assume (got_valid_i == f_valid_2_q);
    assume (!f_valid_2_q || (got_tag_i == f_tag_2_q && (got_data_i & ~f_mask_2_q) == '0));
    if (f_valid_2_q && f_mine_2_q) assume (got_data_i[p_bit] == (f_told_2_q && f_mask_2_q[p_bit]));
    if (f_set_q && f_age_q == 2'd3 && f_line_q == UNREAD && look_o == 16'(p_line >> LOOK_LOG2))
      assume (marks_i[LOOK_LOG2'(p_line)]);
    // dirty_deliver
    assume (!retire || (f_given_q != '0 && !failed));
    assume (!failed || f_given_q != '0);
    assume (!f_failed_q || failed);
    if (failed && f_names_q != 2'd1) begin
      assume (failed_tag >= section_q << SECT_W && failed_tag - (section_q << SECT_W) < LINE_W'(LINE));
      assume ((failed_tag == p_rel) == (f_line_q == GIVEN && f_before_q == '0));
      if (failed_tag == p_rel) assume (failed_data[p_at] == f_bit_q);
    end
  end
end

always_comb begin
  if (f_started_q) begin
    // A line is read once, in one piece. Memory gets it once, at the place that was asked for, with the page's bit in
    // its place. The section's line names it exactly if memory has accepted it.
    if (f_take && state_q == S_READ && line_q == p_line && acc_first_o) assert (f_line_q == UNREAD);
    if (f_take && state_q == S_READ && f_mine) assert (!f_read_q && acc_mask_o[p_bit] == f_in);
    if (push_line_q) assert (!push_names && op_q != COUNT && (got_rel_q == p_rel) == (f_line_q == READY));
    if (push_line_q)
      assert (push_at == target_q[33:6] + 28'(f_sections) + 28'(got_rel_q) && got_rel_q <= to_q - from_q);
    if (push_line_q) assert (got_rel_q >= section_q << SECT_W && got_rel_q - (section_q << SECT_W) < LINE_W'(LINE));
    if (push_line_q && got_rel_q == p_rel) assert (push_data[p_at] == f_bit_q && push_data != '0);
    if (push_names) assert (push_at == target_q[33:6] + 28'(section_q) && section_q < f_sections && f_names_q == '0);
    if (push_names && f_section) assert (push_data[p_rel[SECT_W-1:0]] == (f_line_q == TAKEN));
    if (push_line_q || push_names) assert (!f_given_q[DEPTH_LOG2]);
    if (drop) assert (failed);
    // A bit is set again only if it was found, and its line was refused or is not named by the section's line
    if (f_take && state_q == S_RESTORE && f_mine) assert (f_line_q == GIVEN && acc_mask_o[p_bit] == f_bit_q);
    if (f_take && state_q == S_REMARK && f_mine)
      assert (f_names_q == 2'd3 && f_line_q == TAKEN && acc_mask_o[p_bit] == f_in);
    // At the end each bit that was set when the command came has been found. A bit that was taken out of the plane is
    // in the result or in the plane again. The count and the flags are right and stay until the next command.
    if (f_busy_q && !busy_o) begin
      assert (error_o == !f_legal_q && bus_error_o == (f_legal_q && f_refused_q) && found_o == f_found_q);
      if (f_legal_q && f_in && f_must_q) assert (f_read_q && f_bit_q);
      if (f_legal_q && f_bit_q && op_q == CLEAR) assert ((f_line_q == TAKEN && f_named_q) || f_set_q);
      if (f_legal_q && f_bit_q && op_q != COUNT && !f_refused_q) assert (f_line_q == TAKEN && f_named_q);
      if (!f_legal_q) assert (f_line_q == UNREAD && f_found_q == '0);
    end
    if (f_idle_q) assert (state_q == S_IDLE ? f_told_q == {error_o, bus_error_o, found_o} : state_q == S_CHECK);
    if (state_q == S_IDLE || f_before) assert (!acc_valid_o && f_given_q == '0);
    // Something changes unless the plane or memory makes the command wait
    if (f_still_q)
      assert ({f_was_state_q, f_was_line_q, f_was_marks_q, f_was_q} !=
              {state_q, line_q, marks_q, part_q, under_way_q, settle_q});
  end
end

// For the induction: what the states mean
logic f_last_1, f_last_2, f_remarks, f_collects, f_blocks, f_behind, f_ahead, f_marked;
logic [LINE_W-1:0] f_rel_1, f_rel_2;
assign {f_last_1, f_rel_1} = f_tag_1_q[TAG_W-2:0];
assign {f_last_2, f_rel_2} = f_tag_2_q[TAG_W-2:0];
assign f_collects = state_q == S_LOOK || state_q == S_PICK || state_q == S_READ || state_q == S_RESTORE ||
    state_q == S_DRAIN;
assign f_remarks = state_q == S_NAMED || state_q == S_REMARK;
assign f_blocks = f_runs && state_q != S_COUNT;
assign f_marked = p_line >> LOOK_LOG2 == line_q >> LOOK_LOG2 && marks_q[LOOK_LOG2'(p_line)];
// The page's line may have been visited; it may still be visited
always_comb begin
  case (state_q)
    S_LOOK: {f_behind, f_ahead} = {p_line < line_q, p_line >= line_q};
    S_PICK, S_READ, S_RESTORE: begin
      f_behind = p_line <= bound_q && p_line >> LOOK_LOG2 <= line_q >> LOOK_LOG2 && !f_marked;
      f_ahead = p_line > bound_q || p_line >> LOOK_LOG2 > line_q >> LOOK_LOG2 || f_marked;
    end
    S_COUNT: {f_behind, f_ahead} = 2'b10;
    default: {f_behind, f_ahead} = {p_line <= bound_q, p_line > bound_q};
  endcase
end
always_comb begin
  if (f_started_q) begin
    assert (state_q == S_COUNT || state_q == S_IDLE || settle_q == '0);
    // the command
    if (state_q != S_IDLE)
      assert (first_q < 32'(2 * UNITS) && end_q < 33'(4 * UNITS) && target_q < 64'(8192 * UNITS));
    if (state_q != S_IDLE) assert (end_q >= {1'b0, first_q} && empty_q == (end_q == {1'b0, first_q}));
    if (state_q == S_LIMIT || state_q == S_START || state_q == S_JUDGE)
      assert (count_q == count && sections_q == LINE_W'((32'(count) + LINE - 1) >> SECT_W));
    if (state_q == S_START || state_q == S_JUDGE)
      assert (beyond_q == 33'(target_q >> 6) + (empty_q ? '0 : 33'(sections_q) + 33'(count_q)));
    if (state_q == S_JUDGE) begin
      assert (over_q == (op_q != COUNT && beyond_q > {4'b0, mem_pages_i, 6'b0}));
      assert (f_legal_q == f_legal && section_q == '0 && line_q == from_q && part_q == '0 && !bus_error_o);
      assert (bound_q == (to_q - from_q < LINE_W'(LINE) ? to_q : from_q + LINE_W'(LINE - 1)));
      assert (names_at_q == target_q[33:6] && lines_at_q == target_q[33:6] + 28'(sections_q));
      assert (names_q == '0 && f_names_q == '0 && found_o == '0);
    end
    if (f_runs || (f_before && state_q != S_CHECK)) begin
      assert (from_q == LINE_W'(first_q >> SECT_W) && to_q == LINE_W'((end_q - 33'd1) >> SECT_W));
      assert (last_q == 22'(end_q - 33'd1) && (bad_q || end_q <= units));
      assert (bad_q == (op_q == 2'd0 || end_q > units || (op_q != COUNT && (target_q[5:0] != '0 || |target_q[63:34]))));
    end
    if (f_runs) assert (f_legal_q && end_q <= 33'(UNITS) && !error_o && bus_error_o == f_refused_q);
    if (f_blocks) begin
      assert (!empty_q && section_q <= (to_q - from_q) >> SECT_W);
      assert (bound_q == (to_q - f_start < LINE_W'(LINE) ? to_q : f_start + LINE_W'(LINE - 1)));
      assert (names_at_q == target_q[33:6] && lines_at_q == target_q[33:6] + 28'(f_sections));
      if (f_collects || f_remarks) assert (line_q >= f_start && line_q <= bound_q);
      if (f_collects && state_q != S_LOOK) assert ((marks_q & ~f_window) == '0);
      if (state_q == S_DRAIN) assert (marks_q == '0 && last_block);
      if (state_q == S_READ) assert (!marks_q[line_q[LOOK_LOG2-1:0]]);
    end
    // words in the pipe
    assert (f_runs || (!f_read_1 && !f_read_2 && !push_line_q && under_way_q == '0 && !counted_q && f_words_q == '0));
    assert (f_collects || (!f_read_1 && !f_read_2 && !push_line_q && !counted_q));
    if (state_q != S_READ || part_q == '0) assert (f_after_1 == '0);
    if (f_runs && state_q != S_RESTORE && state_q != S_REMARK) assert (part_q == (state_q == S_READ ? f_after_1 : '0));
    if (f_read_1) begin
      assert (f_part_1_q == f_after_2 && f_last_1 == (f_part_1_q == PART_W'(PER - 1)));
      assert (f_rel_1 <= bound_q - from_q && f_rel_1 >= section_q << SECT_W);
      assert (f_mine_1_q == (f_rel_1 == p_rel && f_part_1_q == p_part));
      if (f_mine_1_q) assert (f_mask_1_q[p_bit] == f_in && (f_told_1_q && f_in) == f_bit_q);
      if (f_rel_1 == p_rel) assert (f_line_q == READING);
      if (!f_last_1) assert (f_rel_1 == rel);
      if (f_part_1_q == '0 && f_rel_1 == p_rel) assert (!f_read_2 || f_rel_2 != p_rel);
    end
    if (f_read_2) begin
      assert (f_part_2_q == f_words_q && f_last_2 == (f_part_2_q == PART_W'(PER - 1)));
      assert (f_rel_2 <= bound_q - from_q && f_rel_2 >= section_q << SECT_W);
      assert (f_mine_2_q == (f_rel_2 == p_rel && f_part_2_q == p_part));
      if (f_mine_2_q) assert (f_mask_2_q[p_bit] == f_in && (f_told_2_q && f_in) == f_bit_q);
      if (f_rel_2 == p_rel) assert (f_line_q == READING);
      if (!f_last_2) assert (f_rel_2 == (f_read_1 ? f_rel_1 : rel));
    end
    if (f_words_q != '0) assert (got_rel_q == (f_read_2 ? f_rel_2 : f_read_1 ? f_rel_1 : rel));
    if (f_words_q == '0) assert (!any_q);
    if (any_q) assert (line_data_q >> (LINE - WORD * 32'(f_words_q)) != '0);
    if (push_line_q) assert (got_rel_q <= bound_q - from_q);
    // lines under way
    assert (f_given_q <= (DEPTH_LOG2 + 1)'(1 << DEPTH_LOG2) && under_way_q <= (DEPTH_LOG2 + 1)'(1 << DEPTH_LOG2));
    assert (8'(under_way_q) == 8'(f_given_q) + 8'(push_line_q) + 8'(f_read_1 && f_last_1) + 8'(f_read_2 && f_last_2) +
            8'(state_q == S_READ && part_q != '0));
    if (state_q == S_READ && part_q == '0) assert (!under_way_q[DEPTH_LOG2]);
    if (!f_collects) assert (f_given_q == (DEPTH_LOG2 + 1)'(state_q == S_NAMES));
    if (op_q == COUNT && f_runs) assert (f_given_q == '0);
    if (f_runs) assert ((f_names_q == 2'd1) == (state_q == S_NAMES));
    if (f_collects) assert (f_names_q == 2'd0);
    if (f_remarks) assert (f_names_q == 2'd3 && op_q == CLEAR);
    if (state_q == S_NAMED) assert (part_q == '0);
    if (state_q == S_REMARK) assert (named_q == names_q[rel[SECT_W-1:0]]);
    if (state_q == S_NEXT) assert ((f_names_q == 2'd0) == (op_q == COUNT));
    if (f_names_q == 2'd3 && f_runs) assert (f_refused_q);
    if (state_q == S_RESTORE) assert (failed);
    // the page's line
    if (f_runs) begin
      if (f_line_q != UNREAD) assert (p_line >= from_q && p_line <= to_q);
      if (state_q == S_READ && line_q == p_line) assert (f_line_q == (part_q == '0 ? UNREAD : READING));
      else begin
        if (f_line_q != UNREAD) assert (f_behind);
        if (f_line_q == UNREAD && f_must_q && f_in) assert (f_ahead);
      end
      if (f_line_q == READING || f_line_q == READY || f_line_q == GIVEN) assert (f_section && f_collects);
      if (f_line_q == READING)
        assert ((state_q == S_READ && line_q == p_line && part_q != '0) || (f_read_1 && f_last_1 && f_rel_1 == p_rel) ||
                (f_read_2 && f_last_2 && f_rel_2 == p_rel));
      assert (f_line_q != 3'd7 && (f_line_q == READY) == (push_line_q && got_rel_q == p_rel));
      assert (f_read_q == (f_line_q != UNREAD && !(state_q == S_READ && line_q == p_line && part_q <= p_part)));
      if (f_line_q == READING) begin
        assert (f_got_q == (f_read_q && !(f_read_1 && f_mine_1_q) && !(f_read_2 && f_mine_2_q)));
        if (f_got_q) begin
          assert (f_words_q > p_part && got_rel_q == p_rel);
          assert (f_at_q == SECT_W'(LINE - WORD * (32'(f_words_q) - 32'(p_part))) + SECT_W'(p_bit));
          assert (line_data_q[f_at_q] == f_bit_q && (any_q || !f_bit_q));
        end
      end
      if (f_line_q == UNREAD) assert (!f_got_q);
      if (f_line_q == GIVEN) assert (f_before_q < f_given_q);
      if (f_line_q == EMPTY && f_bit_q) assert (op_q == COUNT);
      if (f_line_q == REFUSED) assert (f_refused_q && (f_set_q || !f_bit_q));
      if (op_q == COUNT) assert (f_line_q == UNREAD || f_line_q == READING || f_line_q == EMPTY);
      if (f_struck_q) assert (state_q == S_RESTORE && f_line_q == GIVEN && f_before_q == '0);
      if (state_q == S_RESTORE) begin
        assert ((failed_line_q == p_line) == (f_line_q == GIVEN && f_before_q == '0));
        if (failed_line_q == p_line && part_q > p_part && f_bit_q) assert (f_set_q);
      end
      if (f_blocks && f_section)
        assert (names_q[p_rel[SECT_W-1:0]] == (f_line_q == TAKEN || (f_line_q == GIVEN && !f_struck_q)));
      // its section's line of the bitmap
      if (f_blocks && f_section) assert (f_named_q == (f_line_q == TAKEN && f_names_q == 2'd2));
      if (f_blocks && f_section) assert (f_owes_q == (f_line_q == TAKEN && f_names_q == 2'd3));
      if (f_line_q == TAKEN && (state_q == S_COUNT || !f_section)) assert (f_named_q != f_owes_q);
      if (f_owes_q) assert (f_refused_q && f_line_q == TAKEN);
      if (f_owes_q && f_bit_q && op_q == CLEAR &&
          !(f_remarks && f_section && (line_q < p_line || (line_q == p_line && part_q <= p_part))))
        assert (f_set_q);
      if (f_named_q) assert (f_line_q == TAKEN);
      if (state_q == S_REMARK && part_q != '0) assert (named_q);
      // its bit
      if (!f_read_q) assert (!f_bit_q);
      if (f_bit_q) assert (f_in);
      if (f_read_q && f_must_q && f_in) assert (f_bit_q);
      assert (f_found_q == found_o + (counted_q ? sum : 32'd0));
    end
    if (!f_read_q && f_must_q && state_q != S_IDLE)
      assert (f_set_q && f_age_q >= (state_q == S_JUDGE || f_runs ? 2'd3 : state_q == S_START ? 2'd2 : 2'd1));
    if (f_set_q) assert (f_age_q != '0);
    if (f_before)
      assert (f_line_q == UNREAD && !f_read_q && !f_got_q && !f_bit_q && !f_refused_q && f_found_q == '0 &&
              !f_named_q && !f_owes_q && !f_struck_q && f_names_q != 2'd1);
    if (state_q == S_IDLE) assert (f_names_q != 2'd1 && !f_struck_q && f_given_q == '0);
  end
end
