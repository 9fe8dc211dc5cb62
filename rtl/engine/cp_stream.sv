// SPDX-License-Identifier: Apache-2.0
// Moves an executor's state between its streams and the context-save area, a line a cycle, with 64 requests in flight.
// The state follows the list of pages in the area (docs/spec/context.yaml) and lies in the pages that the list names.
//
// Contract: start_i begins a save (save_i) or a restore; page_i is the first page of the area. All accesses are
// physical.
// Save: the lines of the save stream are written, up to its last one. When memory has taken that one, sent_o holds, and
// the header may be written without waiting for answers. lines_o counts the lines.
// Restore: lines_i lines are read ahead from the cycle on in which go_i rises; it stays high. The restore stream hands
// the lines over in order, once restore_i holds. given_o: the last line has been taken.
// The list is requested first. Memory answers while the rest of the first page moves, so the list costs only one
// request for each of its lines. A restore whose lines are all in the first page does not read the list.
// Example: with LIST_LINES = 1 the first page has the header in line 0, the list in line 1 and 62 lines of state; entry
// 0 of the list names the page of the next 64 lines.
// fault_o with code_o: an answer was a fault, or the entry of a page that is needed names no page (context_invalid). A
// save goes on to its end, without the lines that have no page. A restore stops before such a line.
// clear_i (a level) gives a restore up. settled_o: all requests have been answered. The outputs hold until the next
// start or clear. While this unit makes requests, the command processor opens its memory channel to no other unit.
// The unit does not know the layout of the state, which only the executor knows.
// Preemption: no state of this unit is saved.
module cp_stream #(
    parameter int FLIGHT_LOG2 = 6,  // log2 of the requests in flight; at most 6, the width of the tag.
    parameter int LIST_LINES  = 1,  // Lines of the list, 0 to 7.
    parameter int PAGE_LOG2   = 6   // log2 of the lines of a page; less than 6 in the proof only.
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         start_i,
    input  logic         save_i,
    input  logic [ 21:0] page_i,
    input  logic [ 15:0] lines_i,
    input  logic         go_i,
    input  logic         restore_i,
    input  logic         clear_i,
    output logic         sent_o,
    output logic         given_o,
    output logic         settled_o,
    output logic [ 15:0] lines_o,
    output logic         fault_o,
    output logic [  7:0] code_o,
    // Streams of the executor.
    input  logic         save_valid_i,
    output logic         save_ready_o,
    input  logic [511:0] save_data_i,
    input  logic         save_last_i,
    output logic         restore_valid_o,
    input  logic         restore_ready_i,
    output logic [511:0] restore_data_o,
    output logic         restore_last_o,
    // Memory channel.
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic         req_write_o,
    output logic [ 27:0] req_line_o,
    output logic [511:0] req_wdata_o,
    output logic [  6:0] req_tag_o,      // Bit 6 is set for a line of the list.
    input  logic         rsp_valid_i,
    input  logic [  6:0] rsp_tag_i,
    input  logic [511:0] rsp_data_i,
    input  logic [  7:0] rsp_fault_i
);
  localparam int ROW_W = LIST_LINES > 1 ? $clog2(LIST_LINES) : 1;
  localparam logic [9:0] NAMES_A_PAGE = 10'(1 << tern_spec_pkg::PTE_VALID_LSB | 1 << tern_spec_pkg::PTE_READ_LSB |
                                            1 << tern_spec_pkg::PTE_WRITE_LSB);
  localparam logic [PAGE_LOG2-1:0] LISTED = PAGE_LOG2'(LIST_LINES);

  logic [22+PAGE_LOG2-1:0] line_q;  // Line that is requested next.
  logic here_q, lost_q;             // here: its page is known; lost: its entry names no page.
  logic [15:0] left_q;              // Restore: lines that are not requested yet.
  logic write_q, ask, bad_q, accepted, passed, rsp_state;
  logic [7:0] code_q;

  // The list is requested before the state. The module keeps the page of each entry, and whether the entry names none.
  // The entry of the next page is looked up ahead.
  logic [16*23-1:0] list[0:(1<<ROW_W)-1];
  logic [16*23-1:0] row, line_of_list;
  logic [(1<<ROW_W)-1:0] listed_q;
  logic [2:0] list_left_q, list_owed_q;
  logic [ROW_W+3:0] entry_q;  // Entry that is looked up next.
  logic [22:0] next_q;
  logic next_valid_q, ask_list, rsp_list, turns;

  assign ask_list = list_left_q != '0 && (write_q || go_i);
  assign rsp_list = rsp_valid_i && rsp_tag_i[6];
  assign row = list[entry_q[4+:ROW_W]];
  assign turns = !here_q || (accepted && &line_q[PAGE_LOG2-1:0]);
  always_comb
    for (int i = 0; i < 16; i++)
      line_of_list[23*i+:23] = {rsp_data_i[32*i+:10] != NAMES_A_PAGE, rsp_data_i[32*i+10+:22]};

  // Save: a line waits in data_q for memory. Nobody needs to tell the answers of writes apart, so writes in flight are
  // only counted.
  logic taking_q, wait_q, sent_q, take, dropped;
  logic [15:0] lines_q;
  logic [FLIGHT_LOG2:0] flight_q;
  logic [511:0] data_q;

  assign accepted = req_valid_o && req_ready_i;
  assign dropped = wait_q && lost_q;
  assign passed = (accepted && !ask_list) || dropped;
  assign rsp_state = rsp_valid_i && !rsp_tag_i[6];
  assign save_ready_o = taking_q && !flight_q[FLIGHT_LOG2] && (!wait_q || passed);
  assign take = save_valid_i && save_ready_o;

  // Restore: a line waits behind the ring for the executor.
  logic full, drained, ring_clear, out_valid, out_last, pop, have_q, last_q, given_q;
  logic [FLIGHT_LOG2-1:0] ring_tag;
  logic [7:0] out_fault;
  logic restore_bad, no_page;

  read_ring #(.DEPTH_LOG2(FLIGHT_LOG2), .META_W(1)) u_ring (
      .clk_i, .rst_i, .clear_i(ring_clear), .full_o(full), .drained_o(drained), .alloc_i(passed && !write_q),
      .alloc_tag_o(ring_tag), .meta_i(left_q == 16'd1), .rsp_valid_i(rsp_state && !write_q),
      .rsp_tag_i(rsp_tag_i[FLIGHT_LOG2-1:0]), .rsp_data_i, .rsp_fault_i, .out_valid_o(out_valid), .out_meta_o(out_last),
      .out_fault_o(out_fault), .pop_i(pop), .data_o(restore_data_o)
`ifdef FORMAL
      , .f_pick_i(f_picked), .f_count_o(f_count), .f_head_o(f_head), .f_owed_o(f_ring_owed), .f_metas_o(f_metas),
      .f_is_o(f_is),
      .f_ahead_o(f_ahead), .f_tag_o(f_ring_tag), .f_fault_o(f_ring_fault), .f_data_o(f_ring_data)
`endif
  );
  assign no_page = lost_q && left_q != '0 && drained && !out_valid;  // All lines before that one have left the ring.
  assign restore_bad = restore_i && (no_page || (out_valid && |out_fault));
  assign pop = restore_i && out_valid && !(|out_fault) && (!have_q || restore_ready_i);
  assign ring_clear = clear_i && settled_o;

  assign ask = left_q != '0 && list_left_q == '0 && !full && go_i && here_q && !lost_q;
  assign req_valid_o = ask_list || (write_q ? wait_q && here_q && !lost_q : ask);
  assign req_write_o = write_q && !ask_list;
  assign req_line_o = 28'(line_q);
  assign req_wdata_o = data_q;
  assign req_tag_o = ask_list ? {1'b1, 6'(line_q[PAGE_LOG2-1:0] - 1'b1)} :
      {1'b0, write_q ? 6'(line_q) : 6'(ring_tag)};

  assign sent_o = sent_q;
  assign given_o = given_q && list_owed_q == '0;
  assign settled_o = !taking_q && !wait_q && flight_q == '0 && !req_valid_o && list_owed_q == '0 && drained;
  assign lines_o = lines_q;
  assign fault_o = bad_q || restore_bad;
  assign code_o = bad_q ? code_q : no_page ? tern_spec_pkg::FAULT_CONTEXT_INVALID : out_fault;
  assign restore_valid_o = have_q;
  assign restore_last_o = last_q;

  always_ff @(posedge clk_i) begin
    // The next line of a page, or the first line of the next page.
    if (accepted) line_q <= line_q + 1'b1;
    if (accepted && &line_q[PAGE_LOG2-1:0]) here_q <= 1'b0;
    if (next_valid_q && turns) begin
      line_q <= {next_q[21:0], PAGE_LOG2'(0)};
      {here_q, lost_q} <= {1'b1, next_q[22]};
      next_valid_q <= 1'b0;
    end else if (!next_valid_q && listed_q[entry_q[4+:ROW_W]]) begin
      next_q <= row[23*entry_q[3:0]+:23];
      next_valid_q <= 1'b1;
      entry_q <= entry_q + 1'b1;
    end

    if (accepted && ask_list) list_left_q <= list_left_q - 1'b1;
    list_owed_q <= list_owed_q + 3'(accepted && ask_list) - 3'(rsp_list);
    if (rsp_list) begin
      list[rsp_tag_i[ROW_W-1:0]] <= line_of_list;
      listed_q[rsp_tag_i[ROW_W-1:0]] <= 1'b1;
    end

    if (passed && write_q) begin
      wait_q <= 1'b0;
      if (!taking_q) sent_q <= 1'b1;
    end
    if (take) begin
      wait_q <= 1'b1;
      data_q <= save_data_i;
      lines_q <= lines_q + 1'b1;
      if (save_last_i) taking_q <= 1'b0;
    end
    flight_q <= flight_q + (FLIGHT_LOG2 + 1)'(take) - (FLIGHT_LOG2 + 1)'(dropped) -
        (FLIGHT_LOG2 + 1)'(rsp_state && write_q);
    if (dropped && !bad_q) {bad_q, code_q} <= {1'b1, tern_spec_pkg::FAULT_CONTEXT_INVALID};
    if (rsp_valid_i && (write_q || rsp_list) && |rsp_fault_i) {bad_q, code_q} <= {1'b1, rsp_fault_i};

    if (passed && !write_q) left_q <= left_q - 1'b1;
    if (pop) begin
      have_q <= 1'b1;
      last_q <= out_last;
    end else if (restore_ready_i) have_q <= 1'b0;
    if (have_q && restore_ready_i && last_q) given_q <= 1'b1;

    if (start_i) begin
      write_q <= save_i;
      taking_q <= save_i;
      line_q <= {page_i, PAGE_LOG2'(1)};
      {here_q, lost_q, next_valid_q} <= 3'b100;
      listed_q <= '0;
      entry_q <= '0;
      list_left_q <= 3'(LIST_LINES);
      if (!save_i && lines_i < 16'(1 << PAGE_LOG2) - 16'(LIST_LINES)) begin  // All lines are in the first page.
        line_q <= {page_i, LISTED + 1'b1};
        list_left_q <= '0;
      end
      left_q <= save_i ? '0 : lines_i;
      lines_q <= '0;
      sent_q <= 1'b0;
      given_q <= 1'b0;
      bad_q <= 1'b0;
    end
    if (clear_i) begin  // A request that is on offer is still made.
      left_q <= {15'b0, ask && !write_q && !req_ready_i};
      list_left_q <= {2'b0, ask_list && !req_ready_i};
      have_q <= 1'b0;
      lines_q <= '0;
      bad_q <= 1'b0;
    end
    if (rst_i) begin
      {write_q, taking_q, wait_q, sent_q, have_q, given_q, bad_q, here_q, lost_q, next_valid_q} <= '0;
      {list_left_q, list_owed_q} <= '0;
      listed_q <= '0;
      left_q <= '0;
      flight_q <= '0;
      lines_q <= '0;
    end
  end

`ifdef FORMAL
  // Any one line, the f_pick-th of the state, and how many lines have been asked for and have passed the executor's
  // side: of a save each is written once, in order; of a restore each is handed over once, in order, none from the
  // first faulted one on. Any one entry of the list, the f_entry-th: the lines of the page after so many others go
  // where it says, or nowhere, soon after memory has given it. Assumed of cp_execute: a start when the last job has
  // ended or has been given up, and all is settled; go_i and clear_i stay; a reset when memory owes nothing; no more
  // lines than the list has pages for.
  localparam int DEPTH = 1 << FLIGHT_LOG2, CAPACITY = ((16 * LIST_LINES + 1) << PAGE_LOG2) - 1 - LIST_LINES;
  localparam logic [1:0] J_NONE = 2'd0, J_SAVE = 2'd1, J_RESTORE = 2'd2, J_GIVEN_UP = 2'd3;
  (* anyconst *) logic [15:0] f_pick;
  (* anyconst *) logic [ROW_W+3:0] f_entry;
  logic f_start_q = 1'b1, f_picked, f_going_q, f_clearing_q, f_ended_q, f_bad_q, f_held_q, f_offered_q, f_asked_it_q,
    f_has_it_q;
  logic [1:0] f_job_q;
  logic [15:0] f_size_q, f_asked_q, f_passed_q, f_dropped_q, f_popped, f_next, f_under_way, f_pos, f_at;
  logic [21:0] f_page_q;
  logic [FLIGHT_LOG2:0] f_owes_q, f_count, f_ahead;       // writes that are unanswered
  logic [DEPTH-1:0] f_owed_q, f_ring_owed, f_metas;       // reads, by tag
  logic [FLIGHT_LOG2-1:0] f_tag_q, f_ring_tag, f_head;
  logic [7:0] f_code_q, f_fault_q, f_ring_fault;
  logic [511:0] f_data_q, f_ring_data;
  logic [35:0] f_was_q;
  logic [2:0] f_is;                                       // of that line: shown, answered, in the ring
  logic f_gave_q, f_last_q, f_state, f_there, f_wait, f_rsp_state;
  // the list: lines of it that were asked for, are unanswered; that entry's line has come, and says this; how long ago
  logic [2:0] f_list_asked_q, f_list_owes;
  logic [LIST_LINES-1:0] f_list_owed_q;
  logic f_known_q, f_unlisted_q;
  logic [22:0] f_value_q;
  logic [1:0] f_late_q;

  assign f_next = f_asked_q + 1'b1;
  assign f_rsp_state = rsp_valid_i && !rsp_tag_i[6];
  assign f_state = req_valid_o && !req_tag_o[6];
  assign f_picked = f_state && req_ready_i && f_next == f_pick;
  assign f_popped = f_passed_q + 16'(have_q);
  assign f_wait = f_job_q == J_SAVE && f_passed_q != f_asked_q + f_dropped_q;
  assign f_under_way = 16'(f_owes_q) + 16'(f_wait);
  assign f_pos = f_asked_q + 16'(1 + LIST_LINES);         // in the area: header, list, state
  assign f_at = f_pos >> PAGE_LOG2;
  assign f_there = f_at == 16'(f_entry) + 1'b1;           // the page of that entry is the one to ask in next

  always_ff @(posedge clk_i) begin
    f_start_q <= 1'b0;
    f_clearing_q <= clear_i && !settled_o && !rst_i;
    f_going_q <= go_i && f_job_q[1] && !start_i && !(clear_i && settled_o) && !rst_i;
    f_held_q <= req_valid_o && !req_ready_i && !rst_i;
    f_was_q <= {req_write_o, req_line_o, req_tag_o};
    f_gave_q <= restore_valid_o && !restore_ready_i && !clear_i && !rst_i;
    f_last_q <= restore_last_o;
    f_offered_q <= (f_job_q == J_GIVEN_UP ? f_offered_q : req_valid_o) && !req_ready_i;
    f_late_q <= ^f_job_q && f_known_q && f_there && !here_q && !(start_i || clear_i || rst_i) ? f_late_q + 1'b1 : '0;

    if (f_state && req_ready_i) f_asked_q <= f_next;
    if (f_state && req_ready_i && !req_write_o) f_owed_q[req_tag_o[FLIGHT_LOG2-1:0]] <= 1'b1;
    if (f_rsp_state && f_job_q != J_SAVE) f_owed_q[rsp_tag_i[FLIGHT_LOG2-1:0]] <= 1'b0;
    f_owes_q <= f_owes_q + (FLIGHT_LOG2 + 1)'(accepted && req_write_o) -
      (FLIGHT_LOG2 + 1)'(f_rsp_state && f_job_q == J_SAVE);
    if (dropped) f_dropped_q <= f_dropped_q + 1'b1;
    if (dropped && !f_bad_q) {f_bad_q, f_code_q} <= {1'b1, tern_spec_pkg::FAULT_CONTEXT_INVALID};
    if (rsp_valid_i && (f_job_q == J_SAVE || rsp_list) && |rsp_fault_i) {f_bad_q, f_code_q} <= {1'b1, rsp_fault_i};
    if ((save_valid_i && save_ready_o) || (restore_valid_o && restore_ready_i)) f_passed_q <= f_passed_q + 1'b1;
    if (save_valid_i && save_ready_o) begin
      f_ended_q <= save_last_i;
      if (f_passed_q + 1'b1 == f_pick) f_data_q <= save_data_i;
    end
    if (f_picked && f_job_q == J_RESTORE) {f_asked_it_q, f_tag_q} <= {1'b1, req_tag_o[FLIGHT_LOG2-1:0]};
    if (f_rsp_state && f_job_q == J_RESTORE && f_asked_it_q && !f_has_it_q && rsp_tag_i[5:0] == 6'(f_tag_q))
      {f_has_it_q, f_fault_q, f_data_q} <= {1'b1, rsp_fault_i, rsp_data_i};

    if (accepted && !f_state) begin
      f_list_asked_q <= f_list_asked_q + 1'b1;
      f_list_owed_q[req_tag_o[ROW_W-1:0]] <= 1'b1;
    end
    if (rsp_list) f_list_owed_q[rsp_tag_i[ROW_W-1:0]] <= 1'b0;
    if (rsp_list && 32'(rsp_tag_i[5:0]) == 32'(f_entry >> 4))
      {f_known_q, f_value_q} <= {1'b1, rsp_data_i[32*f_entry[3:0]+:10] != 10'd7, rsp_data_i[32*f_entry[3:0]+10+:22]};

    if (start_i) begin
      f_job_q <= save_i ? J_SAVE : J_RESTORE;
      {f_size_q, f_page_q} <= {lines_i, page_i};
      {f_asked_q, f_passed_q, f_dropped_q, f_ended_q, f_bad_q, f_asked_it_q, f_has_it_q} <= '0;
      {f_known_q, f_list_asked_q} <= '0;
      f_unlisted_q <= !save_i && 32'(lines_i) + 1 + LIST_LINES <= 1 << PAGE_LOG2;
    end
    if (clear_i) f_job_q <= settled_o ? J_NONE : J_GIVEN_UP;
    if (rst_i) {f_job_q, f_owes_q} <= '0;
    if (rst_i) {f_owed_q, f_list_owed_q} <= '0;
  end

  always_comb begin
    assume (f_start_q ? rst_i : !rst_i || (f_owed_q == '0 && f_owes_q == '0 && f_list_owed_q == '0));
    assume (!(clear_i && f_job_q == J_SAVE && !(sent_o && settled_o)));
    assume (!f_clearing_q || clear_i);
    assume (!f_going_q || go_i);
    assume (!rsp_list || (rsp_tag_i[5:0] < 6'(LIST_LINES) && f_list_owed_q[rsp_tag_i[ROW_W-1:0]]));
    assume (!f_rsp_state || (f_job_q == J_SAVE ? f_owes_q != '0 :
        rsp_tag_i[5:0] < 7'(DEPTH) && f_owed_q[rsp_tag_i[FLIGHT_LOG2-1:0]]));
    if (start_i) begin
      assume (settled_o && !clear_i && (save_i || (lines_i != '0 && 32'(lines_i) <= CAPACITY)));
      assume (f_job_q == J_NONE || (f_job_q == J_SAVE && sent_o) || (f_job_q == J_RESTORE && given_o));
    end
    assume (!(f_job_q == J_SAVE && 32'(f_passed_q) > CAPACITY));
    f_list_owes = '0;
    for (int i = 0; i < LIST_LINES; i++) f_list_owes = f_list_owes + 3'(f_list_owed_q[i]);

    if (!f_start_q) begin
      // requests
      if (req_valid_o) assert (f_job_q != J_NONE && req_write_o == (f_job_q == J_SAVE && f_state));
      if (req_valid_o && !f_state) begin
        assert (req_line_o == 28'({f_page_q, PAGE_LOG2'(1)}) + 28'(f_list_asked_q));
        assert (req_tag_o == 7'h40 + 7'(f_list_asked_q) && f_list_asked_q < 3'(LIST_LINES) && f_asked_q == '0);
        assert (!f_list_owed_q[req_tag_o[ROW_W-1:0]]);
      end
      if (f_state) begin
        if (f_at == '0) assert (req_line_o == 28'({f_page_q, PAGE_LOG2'(f_pos)}));
        if (f_there) assert (f_known_q && !f_value_q[22] && req_line_o == 28'({f_value_q[21:0], PAGE_LOG2'(f_pos)}));
      end
      if (dropped && f_there) assert (f_known_q && f_value_q[22]);
      if (dropped) assert (f_at != '0);
      if (f_wait && lost_q) assert (dropped);
      assert (f_late_q <= 2'd2);
      if (f_state && !req_write_o)
        assert (f_asked_q < f_size_q && req_tag_o < 7'(DEPTH) && !f_owed_q[req_tag_o[FLIGHT_LOG2-1:0]]);
      if (f_held_q) assert (req_valid_o && f_was_q == {req_write_o, req_line_o, req_tag_o});
      assert (settled_o == (f_owes_q == '0 && f_owed_q == '0 && f_list_owed_q == '0 && !req_valid_o &&
                            !(f_job_q == J_SAVE && !sent_o)));
      assert (f_under_way <= 16'(DEPTH));

      // a save
      if (f_job_q == J_SAVE) begin
        assert (f_passed_q == f_asked_q + f_dropped_q + 16'(wait_q) && f_asked_q <= f_passed_q);
        assert (req_valid_o == (f_list_asked_q != 3'(LIST_LINES) || (f_wait && here_q && !lost_q)));
        if (f_wait && !lost_q && f_next == f_pick) assert (req_wdata_o == f_data_q);
        assert (sent_o == (f_ended_q && !f_wait));
        assert (save_ready_o == (!f_ended_q && f_under_way != 16'(DEPTH) &&
                                 (!f_wait || dropped || (f_state && req_ready_i))));
        assert (fault_o == f_bad_q && (!f_bad_q || code_o == f_code_q));
        if (f_dropped_q != '0) assert (f_bad_q && lost_q);
        assert (!restore_valid_o && f_owed_q == '0);
      end else assert (!save_ready_o && f_owes_q == '0);
      assert (lines_o == (f_job_q == J_SAVE ? f_passed_q : 16'd0));

      // a restore
      if (f_job_q == J_RESTORE) begin
        assert (given_o == (f_passed_q == f_size_q && f_list_owed_q == '0) && !(given_o && restore_valid_o));
        assert (f_popped <= f_asked_q && f_asked_q <= f_size_q && f_size_q != '0);
        assert (req_valid_o == (go_i && (list_left_q != '0 || (f_asked_q != f_size_q && here_q && !lost_q &&
                                                               f_asked_q != f_popped + 16'(DEPTH)))));
        if (restore_valid_o) assert (restore_last_o == (f_passed_q + 1'b1 == f_size_q));
        if (restore_valid_o && f_passed_q + 1'b1 == f_pick)
          assert (f_has_it_q && f_fault_q == '0 && restore_data_o == f_data_q);
        if (f_has_it_q && |f_fault_q) assert (f_popped < f_pick);
        if (fault_o) assert ((restore_i || f_bad_q) && code_o != '0);
        if (f_bad_q) assert (fault_o && code_o == f_code_q);
        else if (f_popped + 1'b1 == f_pick && restore_i) begin
          if (f_popped != f_asked_q)
            assert (fault_o == (f_has_it_q && |f_fault_q) && (!fault_o || code_o == f_fault_q));
          else assert (fault_o == (lost_q && f_pick <= f_size_q) &&
                       (!fault_o || code_o == tern_spec_pkg::FAULT_CONTEXT_INVALID));
        end
        if (f_gave_q) assert (restore_valid_o && restore_last_o == f_last_q);
      end
      if (f_job_q == J_GIVEN_UP) assert (req_valid_o == f_offered_q && !restore_valid_o);
      if (f_job_q == J_NONE) assert (!restore_valid_o && !fault_o && settled_o);

      // induction: where all of this is kept
      assert (taking_q == (f_job_q == J_SAVE && !f_ended_q) && 16'(flight_q) == f_under_way && f_owed_q == f_ring_owed);
      if (f_job_q != J_SAVE) assert (!wait_q);
      if (!f_job_q[0]) assert (bad_q == (f_job_q == J_RESTORE && f_bad_q) && (!bad_q || |f_code_q));
      if (f_job_q == J_GIVEN_UP) assert (!bad_q);
      if (f_job_q == J_SAVE && f_bad_q) assert (|f_code_q);
      if (f_job_q != J_NONE) assert (write_q == (f_job_q == J_SAVE) && f_passed_q <= 16'(CAPACITY));
      case (f_job_q)
        J_RESTORE: assert (left_q + f_asked_q == f_size_q && f_popped + 16'(f_count) == f_asked_q);
        J_GIVEN_UP: assert (left_q + 16'(list_left_q) == 16'(f_offered_q) && f_clearing_q &&
                            (!f_offered_q || f_going_q));
        default: assert (left_q == '0 && f_count == '0 && !have_q);
      endcase
      assert (list_owed_q == f_list_owes);
      if (f_job_q == J_NONE) assert (list_left_q == '0);
      if (f_job_q != J_NONE) begin
        assert (f_size_q <= 16'(CAPACITY) || f_job_q == J_SAVE);
        if (f_job_q != J_GIVEN_UP) assert (list_left_q == (f_unlisted_q ? 3'd0 : 3'(LIST_LINES) - f_list_asked_q));
        assert (f_list_asked_q <= 3'(LIST_LINES) && (!f_unlisted_q || f_list_asked_q == '0));
        if (f_job_q == J_SAVE) assert (!f_unlisted_q);
        else assert (f_unlisted_q == (32'(f_size_q) + 1 + LIST_LINES <= 1 << PAGE_LOG2));
        for (int i = 0; i < 1 << ROW_W; i++)
          assert (listed_q[i] == (32'(f_list_asked_q) > i && i < LIST_LINES && !f_list_owed_q[i % LIST_LINES]));
        for (int i = 0; i < LIST_LINES; i++) if (f_list_owed_q[i]) assert (32'(f_list_asked_q) > i);
        if (f_asked_q != '0) assert (list_left_q == '0);
        assert (f_known_q == listed_q[f_entry[4+:ROW_W]]);
        if (f_known_q) assert (list[f_entry[4+:ROW_W]][23*f_entry[3:0]+:23] == f_value_q);
        assert (entry_q == (ROW_W + 4)'(f_at - 16'(!here_q) + 16'(next_valid_q)));
        if (next_valid_q && entry_q == f_entry + 1'b1) assert (f_known_q && next_q == f_value_q);
        if (here_q && f_at != '0) assert (line_q[PAGE_LOG2-1:0] == PAGE_LOG2'(f_pos));
        if (!here_q) assert (f_at != '0 && !lost_q && PAGE_LOG2'(f_pos) == '0);
        if (f_at == '0 && f_unlisted_q) assert (line_q == {f_page_q, PAGE_LOG2'(f_pos)});
        if (f_at == '0 && !f_unlisted_q)
          assert (line_q == {f_page_q, PAGE_LOG2'(1)} + 28'(f_list_asked_q) + 28'(f_asked_q));
        if (f_at == '0) assert (here_q && !lost_q);
        if (f_there && here_q) assert (f_known_q && {lost_q, line_q} == {f_value_q, PAGE_LOG2'(f_pos)});
        if (^f_job_q && f_late_q != '0 && !here_q) assert (next_valid_q && f_late_q == 2'd1);
      end
      if (f_job_q == J_GIVEN_UP && list_left_q != '0) begin
        assert (f_asked_q == '0 && f_list_asked_q < 3'(LIST_LINES) && !f_list_owed_q[f_list_asked_q[ROW_W-1:0]]);
        assert (here_q && line_q == {f_page_q, PAGE_LOG2'(1)} + 28'(f_list_asked_q));
      end
      if (f_job_q == J_GIVEN_UP && left_q != '0) assert (here_q && !lost_q && list_left_q == '0);
      if (f_job_q == J_RESTORE) begin
        assert (given_q == (f_passed_q == f_size_q));
        for (int i = 0; i < DEPTH; i++)
          if (i < 32'(f_count))
            assert (f_metas[FLIGHT_LOG2'(32'(f_head) + i)] == (f_popped + 16'(i) + 1'b1 == f_size_q));
        if (f_held_q) assert (f_going_q);
        assert (f_asked_it_q == (f_pick != '0 && f_pick <= f_asked_q) && (f_asked_it_q || !f_has_it_q));
        assert (f_is[0] == (f_asked_it_q && f_popped < f_pick));
        if (f_is[0]) assert (f_popped + 16'(f_ahead) + 1'b1 == f_pick && f_ring_tag == f_tag_q &&
                             f_is[1] == f_has_it_q);
        if (f_asked_it_q && !f_is[0]) assert (f_has_it_q && f_fault_q == '0);
        if (f_has_it_q) assert (f_ring_fault == f_fault_q && f_ring_data == f_data_q);
        if (have_q && f_popped == f_pick) assert (f_is[2]);
      end
    end
  end
`endif
endmodule
