// SPDX-License-Identifier: Apache-2.0
// Moves an executor's state between its streams and the context-save area: lines 1 on of it, one a cycle, 64 in flight.
//
// Contract: start_i with page_i begins. save_i: what comes on the save stream is written, up to its last line;
// then sent_o holds, and the header may follow without waiting for answers; lines_o counts. Else lines_i lines are
// read ahead as soon as go_i holds (it stays then), and handed over on the restore stream, in order, once
// restore_i holds; given_o: the last one has been taken. fault_o and code_o: an answer said so; a save goes on to
// its end, a restore stops before that line. clear_i (a level) gives a restore up. settled_o: all that was asked
// has been answered. All until the next start or clear. The command processor opens its memory channel to this
// unit alone while it asks. All accesses are physical. Preemption saves nothing of it. It knows no layout: what
// the lines mean is the executor's affair.
module cp_stream #(
    parameter int FLIGHT_LOG2 = 6  // requests in flight; at most 6, the width of the tag
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
    // executor
    input  logic         save_valid_i,
    output logic         save_ready_o,
    input  logic [511:0] save_data_i,
    input  logic         save_last_i,
    output logic         restore_valid_o,
    input  logic         restore_ready_i,
    output logic [511:0] restore_data_o,
    output logic         restore_last_o,
    // memory
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic         req_write_o,
    output logic [ 27:0] req_line_o,
    output logic [511:0] req_wdata_o,
    output logic [  5:0] req_tag_o,
    input  logic         rsp_valid_i,
    input  logic [  5:0] rsp_tag_i,
    input  logic [511:0] rsp_data_i,
    input  logic [  7:0] rsp_fault_i
);
  logic [27:0] line_q;   // to ask for next
  logic [15:0] left_q;   // of a restore: lines to ask for
  logic write_q, ask, bad_q;
  logic [7:0] code_q;

  // Save: a line waits here for memory. Writes are told apart by nobody, so they are only counted.
  logic taking_q, wait_q, sent_q, take, accepted;
  logic [15:0] lines_q;
  logic [FLIGHT_LOG2:0] flight_q;
  logic [511:0] data_q;

  assign accepted = req_valid_o && req_ready_i;
  assign save_ready_o = taking_q && !flight_q[FLIGHT_LOG2] && (!wait_q || req_ready_i);
  assign take = save_valid_i && save_ready_o;

  // Restore: a line waits behind the ring for the executor.
  logic full, drained, ring_clear, out_valid, out_last, pop, have_q, last_q, given_q;
  logic [FLIGHT_LOG2-1:0] ring_tag;
  logic [7:0] out_fault;
  logic restore_bad;

  read_ring #(.DEPTH_LOG2(FLIGHT_LOG2), .META_W(1)) u_ring (
      .clk_i, .rst_i, .clear_i(ring_clear), .full_o(full), .drained_o(drained), .alloc_i(accepted && !write_q),
      .alloc_tag_o(ring_tag), .meta_i(left_q == 16'd1), .rsp_valid_i(rsp_valid_i && !write_q),
      .rsp_tag_i(rsp_tag_i[FLIGHT_LOG2-1:0]), .rsp_data_i, .rsp_fault_i, .out_valid_o(out_valid), .out_meta_o(out_last),
      .out_fault_o(out_fault), .pop_i(pop), .data_o(restore_data_o)
`ifdef FORMAL
      , .f_pick_i(f_picked), .f_count_o(f_count), .f_head_o(f_head), .f_owed_o(f_ring_owed), .f_metas_o(f_metas),
      .f_is_o(f_is),
      .f_ahead_o(f_ahead), .f_tag_o(f_ring_tag), .f_fault_o(f_ring_fault), .f_data_o(f_ring_data)
`endif
  );
  assign restore_bad = restore_i && out_valid && |out_fault;
  assign pop = restore_i && out_valid && !(|out_fault) && (!have_q || restore_ready_i);
  assign ring_clear = clear_i && settled_o;

  assign ask = left_q != '0 && !full && go_i;
  assign req_valid_o = write_q ? wait_q : ask;
  assign req_write_o = write_q;
  assign req_line_o = line_q;
  assign req_wdata_o = data_q;
  assign req_tag_o = write_q ? line_q[5:0] : 6'(ring_tag);

  assign sent_o = sent_q;
  assign given_o = given_q;
  assign settled_o = !taking_q && !wait_q && flight_q == '0 && !(ask && !write_q) && drained;
  assign lines_o = lines_q;
  assign fault_o = bad_q || restore_bad;
  assign code_o = write_q ? code_q : out_fault;
  assign restore_valid_o = have_q;
  assign restore_last_o = last_q;

  always_ff @(posedge clk_i) begin
    if (accepted) line_q <= line_q + 1'b1;

    if (accepted && write_q) begin
      wait_q <= 1'b0;
      if (!taking_q) sent_q <= 1'b1;
    end
    if (take) begin
      wait_q <= 1'b1;
      data_q <= save_data_i;
      lines_q <= lines_q + 1'b1;
      if (save_last_i) taking_q <= 1'b0;
    end
    if (take != (rsp_valid_i && write_q)) flight_q <= take ? flight_q + 1'b1 : flight_q - 1'b1;
    if (rsp_valid_i && write_q && |rsp_fault_i) begin
      bad_q <= 1'b1;
      code_q <= rsp_fault_i;
    end

    if (accepted && !write_q) left_q <= left_q - 1'b1;
    if (pop) begin
      have_q <= 1'b1;
      last_q <= out_last;
    end else if (restore_ready_i) have_q <= 1'b0;
    if (have_q && restore_ready_i && last_q) given_q <= 1'b1;

    if (start_i) begin
      write_q <= save_i;
      taking_q <= save_i;
      line_q <= {page_i, 6'd1};
      left_q <= save_i ? '0 : lines_i;
      lines_q <= '0;
      sent_q <= 1'b0;
      given_q <= 1'b0;
      bad_q <= 1'b0;
    end
    if (clear_i) begin  // what is offered is asked yet
      left_q <= {15'b0, ask && !write_q && !req_ready_i};
      have_q <= 1'b0;
      lines_q <= '0;
      bad_q <= 1'b0;
    end
    if (rst_i) begin
      {write_q, taking_q, wait_q, sent_q, have_q, given_q, bad_q} <= '0;
      left_q <= '0;
      flight_q <= '0;
      lines_q <= '0;
    end
  end

`ifdef FORMAL
  // Any one line, the f_pick-th of the state, and how many lines have been asked for and have passed the executor's
  // side: of a save each is written once, in order; of a restore each is handed over once, in order, none from the
  // first faulted one on. Assumed of cp_execute: a start when the last job has ended or has been given up, and all is
  // settled; go_i and clear_i stay; a reset when memory owes nothing.
  localparam int DEPTH = 1 << FLIGHT_LOG2;
  localparam logic [1:0] J_NONE = 2'd0, J_SAVE = 2'd1, J_RESTORE = 2'd2, J_GIVEN_UP = 2'd3;
  (* anyconst *) logic [15:0] f_pick;
  logic f_start_q = 1'b1, f_picked, f_going_q, f_clearing_q, f_ended_q, f_bad_q, f_held_q, f_offered_q, f_asked_it_q,
    f_has_it_q;
  logic [1:0] f_job_q;
  logic [15:0] f_size_q, f_asked_q, f_passed_q, f_popped, f_next, f_under_way;
  logic [21:0] f_page_q;
  logic [FLIGHT_LOG2:0] f_owes_q, f_count, f_ahead;       // writes that are unanswered
  logic [DEPTH-1:0] f_owed_q, f_ring_owed, f_metas;       // reads, by tag
  logic [FLIGHT_LOG2-1:0] f_tag_q, f_ring_tag, f_head;
  logic [7:0] f_code_q, f_fault_q, f_ring_fault;
  logic [511:0] f_data_q, f_ring_data;
  logic [34:0] f_was_q;
  logic [2:0] f_is;                                       // of that line: shown, answered, in the ring
  logic f_gave_q, f_last_q;

  assign f_next = f_asked_q + 1'b1;
  assign f_picked = accepted && f_next == f_pick;
  assign f_popped = f_passed_q + 16'(have_q);
  assign f_under_way = 16'(f_owes_q) + 16'(wait_q);

  always_ff @(posedge clk_i) begin
    f_start_q <= 1'b0;
    f_clearing_q <= clear_i && !settled_o && !rst_i;
    f_going_q <= go_i && f_job_q[1] && !start_i && !(clear_i && settled_o) && !rst_i;
    f_held_q <= req_valid_o && !req_ready_i && !rst_i;
    f_was_q <= {req_write_o, req_line_o, req_tag_o};
    f_gave_q <= restore_valid_o && !restore_ready_i && !clear_i && !rst_i;
    f_last_q <= restore_last_o;
    f_offered_q <= (f_job_q == J_GIVEN_UP ? f_offered_q : req_valid_o) && !req_ready_i;

    if (accepted) f_asked_q <= f_next;
    if (accepted && !req_write_o) f_owed_q[req_tag_o[FLIGHT_LOG2-1:0]] <= 1'b1;
    if (rsp_valid_i && f_job_q != J_SAVE) f_owed_q[rsp_tag_i[FLIGHT_LOG2-1:0]] <= 1'b0;
    f_owes_q <= f_owes_q + (FLIGHT_LOG2 + 1)'(accepted && req_write_o) -
      (FLIGHT_LOG2 + 1)'(rsp_valid_i && f_job_q == J_SAVE);
    if (rsp_valid_i && f_job_q == J_SAVE && |rsp_fault_i) {f_bad_q, f_code_q} <= {1'b1, rsp_fault_i};
    if ((save_valid_i && save_ready_o) || (restore_valid_o && restore_ready_i)) f_passed_q <= f_passed_q + 1'b1;
    if (save_valid_i && save_ready_o) begin
      f_ended_q <= save_last_i;
      if (f_passed_q + 1'b1 == f_pick) f_data_q <= save_data_i;
    end
    if (f_picked && f_job_q == J_RESTORE) {f_asked_it_q, f_tag_q} <= {1'b1, req_tag_o[FLIGHT_LOG2-1:0]};
    if (rsp_valid_i && f_job_q == J_RESTORE && f_asked_it_q && !f_has_it_q && rsp_tag_i == 6'(f_tag_q))
      {f_has_it_q, f_fault_q, f_data_q} <= {1'b1, rsp_fault_i, rsp_data_i};

    if (start_i) begin
      f_job_q <= save_i ? J_SAVE : J_RESTORE;
      {f_size_q, f_page_q} <= {lines_i, page_i};
      {f_asked_q, f_passed_q, f_ended_q, f_bad_q, f_asked_it_q, f_has_it_q} <= '0;
    end
    if (clear_i) f_job_q <= settled_o ? J_NONE : J_GIVEN_UP;
    if (rst_i) {f_job_q, f_owes_q} <= '0;
    if (rst_i) f_owed_q <= '0;
  end

  always_comb begin
    assume (f_start_q ? rst_i : !rst_i || (f_owed_q == '0 && f_owes_q == '0));
    assume (!(clear_i && f_job_q == J_SAVE && !(sent_o && settled_o)));
    assume (!f_clearing_q || clear_i);
    assume (!f_going_q || go_i);
    assume (!rsp_valid_i || (f_job_q == J_SAVE ? f_owes_q != '0 :
        rsp_tag_i < 7'(DEPTH) && f_owed_q[rsp_tag_i[FLIGHT_LOG2-1:0]]));
    if (start_i) begin
      assume (settled_o && !clear_i && (save_i || lines_i != '0));
      assume (f_job_q == J_NONE || (f_job_q == J_SAVE && sent_o) || (f_job_q == J_RESTORE && given_o));
    end
    assume (!(f_job_q == J_SAVE && &f_passed_q));  // no state is that large

    if (!f_start_q) begin
      // requests
      if (req_valid_o) assert (f_job_q != J_NONE && req_write_o == (f_job_q == J_SAVE));
      if (req_valid_o) assert (req_line_o == {f_page_q, 6'b1} + 28'(f_asked_q));
      if (req_valid_o && !req_write_o)
        assert (f_asked_q < f_size_q && req_tag_o < 7'(DEPTH) && !f_owed_q[req_tag_o[FLIGHT_LOG2-1:0]]);
      if (f_held_q) assert (req_valid_o && f_was_q == {req_write_o, req_line_o, req_tag_o});
      assert (settled_o == (f_owes_q == '0 && f_owed_q == '0 && !req_valid_o && !(f_job_q == J_SAVE && !sent_o)));
      assert (f_under_way <= 16'(DEPTH));

      // a save
      if (f_job_q == J_SAVE) begin
        assert (f_passed_q == f_asked_q + 16'(req_valid_o) && f_asked_q <= f_passed_q);
        if (req_valid_o && f_next == f_pick) assert (req_wdata_o == f_data_q);
        assert (sent_o == (f_ended_q && !req_valid_o));
        assert (save_ready_o == (!f_ended_q && f_under_way != 16'(DEPTH) && (!req_valid_o || req_ready_i)));
        assert (fault_o == f_bad_q && (!f_bad_q || code_o == f_code_q));
        assert (!restore_valid_o && f_owed_q == '0);
      end else assert (!save_ready_o && f_owes_q == '0);
      assert (lines_o == (f_job_q == J_SAVE ? f_passed_q : 16'd0));

      // a restore
      if (f_job_q == J_RESTORE) begin
        assert (given_o == (f_passed_q == f_size_q) && !(given_o && restore_valid_o));
        assert (f_popped <= f_asked_q && f_asked_q <= f_size_q && f_size_q != '0);
        assert (req_valid_o == (f_asked_q != f_size_q && go_i && f_asked_q != f_popped + 16'(DEPTH)));
        if (restore_valid_o) assert (restore_last_o == (f_passed_q + 1'b1 == f_size_q));
        if (restore_valid_o && f_passed_q + 1'b1 == f_pick)
          assert (f_has_it_q && f_fault_q == '0 && restore_data_o == f_data_q);
        if (f_has_it_q && |f_fault_q) assert (f_popped < f_pick);
        if (fault_o) assert (restore_i && code_o != '0);
        if (f_popped + 1'b1 == f_pick && restore_i)
          assert (fault_o == (f_has_it_q && |f_fault_q) && (!fault_o || code_o == f_fault_q));
        if (f_gave_q) assert (restore_valid_o && restore_last_o == f_last_q);
      end
      if (f_job_q == J_GIVEN_UP) assert (req_valid_o == f_offered_q && !restore_valid_o);
      if (f_job_q == J_NONE) assert (!restore_valid_o && !fault_o && settled_o);

      // induction: where all of this is kept
      assert (taking_q == (f_job_q == J_SAVE && !f_ended_q) && 16'(flight_q) == f_under_way && f_owed_q == f_ring_owed);
      if (f_job_q != J_SAVE) assert (!wait_q && !bad_q);
      if (f_job_q != J_NONE) assert (write_q == (f_job_q == J_SAVE) && line_q == {f_page_q, 6'b1} + 28'(f_asked_q));
      case (f_job_q)
        J_RESTORE: assert (left_q + f_asked_q == f_size_q && f_popped + 16'(f_count) == f_asked_q);
        J_GIVEN_UP: assert (left_q == 16'(f_offered_q) && f_clearing_q && (!f_offered_q || f_going_q));
        default: assert (left_q == '0 && f_count == '0 && !have_q);
      endcase
      if (f_job_q == J_RESTORE) begin
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
