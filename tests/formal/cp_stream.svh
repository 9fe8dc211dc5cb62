// SPDX-License-Identifier: Apache-2.0
// Properties of cp_stream, for any one line of the state, the f_pick-th, and any one entry of the list of pages, the
// f_entry-th.
//
// The proof counts the lines that were requested (f_asked_q) and the lines that passed the executor's side
// (f_passed_q). A save writes each line once, in order. A restore hands over each line once, in order, and none from
// the first faulted line on. The lines of the page that the entry stands for go where the entry says, or nowhere if it
// names no page; they do so within two cycles after memory has given the entry.
//
// Assumed of cp_execute: it starts a job only when the last one has ended or was given up and everything is settled;
// go_i and clear_i stay; the state has no more lines than the list has pages for. A reset comes only when memory owes
// no answer.
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
logic [2:0] f_is;                                       // the chosen line: shown, answered, in the ring
logic f_gave_q, f_last_q, f_state, f_there, f_wait, f_rsp_state;
// Lines of the list that were requested; that are unanswered; the line of the chosen entry has come; the entry; for how
// many cycles the entry has been needed
logic [2:0] f_list_asked_q, f_list_owes;
logic [LIST_LINES-1:0] f_list_owed_q;
logic f_known_q, f_unlisted_q;
logic [22:0] f_value_q;
logic [1:0] f_late_q;

(* hierconn *) logic \u_ring.f_pick , \u_ring.f_contract , \u_ring.f_shown_q , \u_ring.f_live_q , \u_ring.f_answered_q ;
(* hierconn *) logic [FLIGHT_LOG2:0] \u_ring.f_count_q , \u_ring.f_ahead_q , \u_ring.head_q ;
(* hierconn *) logic [DEPTH-1:0] \u_ring.f_owed_q , \u_ring.f_metas ;
(* hierconn *) logic [FLIGHT_LOG2-1:0] \u_ring.f_tag_q ;
(* hierconn *) logic [7:0] \u_ring.f_fault_q ;
(* hierconn *) logic [511:0] \u_ring.f_data_q ;
assign \u_ring.f_pick = f_picked;
assign {f_count, f_ahead} = {\u_ring.f_count_q , \u_ring.f_ahead_q };
assign f_head = \u_ring.head_q [FLIGHT_LOG2-1:0];
assign {f_ring_owed, f_metas} = {\u_ring.f_owed_q , \u_ring.f_metas };
assign f_is = {\u_ring.f_shown_q , \u_ring.f_live_q && \u_ring.f_answered_q , \u_ring.f_live_q };
assign {f_ring_tag, f_ring_fault, f_ring_data} = {\u_ring.f_tag_q , \u_ring.f_fault_q , \u_ring.f_data_q };

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
    if (!rst_i) assert (\u_ring.f_contract );  // what the ring asks of its owner and of memory
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
