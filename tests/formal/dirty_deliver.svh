// SPDX-License-Identifier: Apache-2.0
// Properties of dirty_deliver. Each line is offered to memory once, in the slot, at the place and with the data of its
// push. A line leaves after memory's answer and as the answer says, the oldest line first. A slot that can make
// progress makes it.
//
// The proof counts the lines that were pushed and those that left. For each slot, sent means that memory has the line
// and owes an answer, wrote that memory got the line since its push, and refused that memory answered with an error.
// Assumed: the user keeps the contract, and memory answers only what it was given.
localparam int F_W = DEPTH_LOG2 + 1;
(* anyconst *) logic [DEPTH_LOG2-1:0] f_slot;
logic f_started_q = 1'b0, f_could_q = 1'b0, f_due_q = 1'b0;
logic [F_W-1:0] f_pushes_q, f_left_q, f_number_q, f_live, f_gone, f_sends;
logic [DEPTH-1:0] f_sent_q, f_wrote_q, f_refused_q;
logic [LINE+28+TAG_W-1:0] f_line_q;
logic [DEPTH_LOG2-1:0] f_head, f_at;
assign f_live = f_pushes_q - f_left_q;
assign f_head = f_left_q[DEPTH_LOG2-1:0];
assign f_sends = send_q - head_q;
assign f_gone = f_number_q - f_left_q;  // how many lines before that of f_slot are in the ring
always_ff @(posedge clk_i) begin
  f_started_q <= 1'b1;
  f_could_q <= !rst_i && f_live != f_sends && !failed_o && (!wr_valid_o || wr_ready_i);
  f_due_q <= !rst_i && f_live != '0 && f_wrote_q[f_head] && !f_sent_q[f_head] && !retire_o && !drop_i;
  if (push_i) begin
    f_pushes_q <= f_pushes_q + 1'b1;
    f_wrote_q[f_pushes_q[DEPTH_LOG2-1:0]] <= 1'b0;
    if (f_pushes_q[DEPTH_LOG2-1:0] == f_slot) begin
      f_number_q <= f_pushes_q;
      f_line_q <= {push_tag_i, push_at_i, push_data_i};
    end
  end
  if (wr_valid_o && wr_ready_i) begin
    f_sent_q[wr_slot_o] <= 1'b1;
    f_wrote_q[wr_slot_o] <= 1'b1;
  end
  if (done_valid_i) begin
    f_sent_q[done_slot_i] <= 1'b0;
    f_refused_q[done_slot_i] <= done_error_i;
  end
  if (retire_o || drop_i) f_left_q <= f_left_q + 1'b1;
  if (rst_i) {f_pushes_q, f_left_q} <= '0;
  if (rst_i) {f_sent_q, f_wrote_q} <= '0;
end
always_comb begin
  f_at = '0;
  assume (rst_i == !f_started_q);
  if (f_started_q) begin
    assume (!push_i || !f_live[DEPTH_LOG2]);
    assume (!drop_i || failed_o);
    assume (!done_valid_i || f_sent_q[done_slot_i]);
    // what is offered, once; what leaves, and why
    if (wr_valid_o) assert (!f_sent_q[wr_slot_o] && !f_wrote_q[wr_slot_o]);
    if (wr_valid_o && wr_slot_o == f_slot)
      assert (f_gone < f_live && {wr_line_o, wr_data_o} == {f_line_q[LINE+:28], f_line_q[LINE-1:0]});
    assert (!(retire_o && failed_o));
    if (retire_o || failed_o)
      assert (f_live != '0 && f_wrote_q[f_head] && !f_sent_q[f_head] && f_refused_q[f_head] == failed_o);
    if (failed_o && f_head == f_slot)
      assert ({failed_tag_o, failed_data_o} == {f_line_q[LINE+28+:TAG_W], f_line_q[LINE-1:0]});
    if (f_could_q) assert (wr_valid_o);
    if (f_due_q) assert (retire_o || failed_o);
    // induction: places in the ring
    assert (tail_q == f_pushes_q && head_q == f_left_q && f_sends <= f_live && f_live <= F_W'(DEPTH));
    for (int s = 0; s < DEPTH; s++) begin
      f_at = DEPTH_LOG2'(s) - f_head;
      if (f_sent_q[s]) assert (f_wrote_q[s] && !done_q[s] && {1'b0, f_at} < f_sends);
      if (wr_valid_o && wr_slot_o == DEPTH_LOG2'(s)) assert (!done_q[s] && {1'b0, f_at} == f_sends - 1'b1);
      if ({1'b0, f_at} < f_live && {1'b0, f_at} >= f_sends) assert (!f_wrote_q[s] && !done_q[s]);
      if ({1'b0, f_at} < f_sends && !(wr_valid_o && wr_slot_o == DEPTH_LOG2'(s)))
        assert (f_wrote_q[s] && (f_sent_q[s] || (done_q[s] && error_q[s] == f_refused_q[s])));
    end
    f_at = f_slot - f_head;
    if ({1'b0, f_at} < f_live) assert (f_gone == {1'b0, f_at} && lines[f_slot] == f_line_q);
  end
end
