// SPDX-License-Identifier: Apache-2.0
// Properties of link_execute. Each request is answered at most once, after its end. A transfer starts only for a
// request that asks for it, and a write only with the next number. An answer fits into the room that was waited for.
// Both masters keep the rules of AXI.
logic f_started_q = 1'b0, f_owed_q, f_allowed_q;
logic f_r_read_q, f_m_read_q;            // a transfer has no answer yet
logic [1:0] f_r_taken_q, f_m_taken_q;                    // its address, its data
logic [15:0] f_puts_q;
logic f_reads;

assign f_reads = state_q == FETCH || state_q == DATA || state_q == PICK || state_q == PUT;
always_ff @(posedge clk_i) begin
  f_started_q <= 1'b1;
  if (state_q == BEGIN) f_allowed_q <= head_q[15:8] == next_q && (code == WRITE_REGISTERS || code == WRITE_MEMORY);
  if (state_q == DRAIN && in_valid_i && in_last_i) f_owed_q <= 1'b1;
  if (end_o) f_owed_q <= 1'b0;
  f_puts_q <= end_o || drop_o ? 16'd0 : f_puts_q + 16'(put_o);
  f_r_taken_q <= regs_rsp_i.b_valid && regs_rsp_ready_o.b ? 2'd0 :
      f_r_taken_q | {regs_req_o.w_valid && regs_req_ready_i.w, regs_req_o.aw_valid && regs_req_ready_i.aw};
  f_m_taken_q <= mem_rsp_i.b_valid && mem_rsp_ready_o.b ? 2'd0 :
      f_m_taken_q | {mem_req_o.w_valid && mem_req_ready_i.w, mem_req_o.aw_valid && mem_req_ready_i.aw};
  f_r_read_q <= (regs_req_o.ar_valid && regs_req_ready_i.ar) ||
      (f_r_read_q && !(regs_rsp_i.r_valid && regs_rsp_ready_o.r));
  f_m_read_q <= (mem_req_o.ar_valid && mem_req_ready_i.ar) || (f_m_read_q && !(mem_rsp_i.r_valid && mem_rsp_ready_o.r));
  if (rst_i) {f_owed_q, f_puts_q, f_r_taken_q, f_m_taken_q, f_r_read_q, f_m_read_q} <= '0;
end

check_channel #(.WIDTH(14)) f_ar (.clk_i, .rst_i, .valid_i(regs_req_o.ar_valid), .ready_i(regs_req_ready_i.ar),
                                  .data_i(regs_req_o.ar_addr));
check_channel #(.WIDTH(14)) f_aw (.clk_i, .rst_i, .valid_i(regs_req_o.aw_valid), .ready_i(regs_req_ready_i.aw),
                                  .data_i(regs_req_o.aw_addr));
check_channel #(.WIDTH(32)) f_w (.clk_i, .rst_i, .valid_i(regs_req_o.w_valid), .ready_i(regs_req_ready_i.w),
                                 .data_i(regs_req_o.w_data));
check_channel #(.WIDTH(64)) f_mar (.clk_i, .rst_i, .valid_i(mem_req_o.ar_valid), .ready_i(mem_req_ready_i.ar),
                                   .data_i(mem_req_o.ar_addr));
check_channel #(.WIDTH(64)) f_maw (.clk_i, .rst_i, .valid_i(mem_req_o.aw_valid), .ready_i(mem_req_ready_i.aw),
                                   .data_i(mem_req_o.aw_addr));
check_channel #(.WIDTH(576)) f_mw (.clk_i, .rst_i, .valid_i(mem_req_o.w_valid), .ready_i(mem_req_ready_i.w),
                                   .data_i({mem_req_o.w_strb, mem_req_o.w_data}));

always_comb begin
  assume (f_started_q || rst_i);
  // slaves answer only what they were asked; an answer stays until it is taken (rvalid: for the byte multiplexer)
  if (!f_r_read_q) assume (!regs_rsp_i.r_valid);
  if (!f_m_read_q) assume (!mem_rsp_i.r_valid);
  if (f_r_taken_q != 2'd3) assume (!regs_rsp_i.b_valid);
  if (f_m_taken_q != 2'd3) assume (!mem_rsp_i.b_valid);
  if (state_q == PICK || state_q == PUT) assume (memory_q ? mem_rsp_i.r_valid : regs_rsp_i.r_valid);
  if (f_started_q && !rst_i) begin
    // answers
    assert (f_owed_q == (state_q == ROOM || state_q == ANSWER || state_q == IDENTIFY || state_q == FINISH || f_reads));
    assert (!end_o || f_owed_q);
    assert (put_o + end_o + drop_o <= 2'd1);
    assert (!(put_o || end_o || drop_o) || f_owed_q);
    // its size
    if (!f_owed_q || state_q == ROOM) assert (f_puts_q == 16'd0);
    if (state_q != HEAD && state_q != ANSWER && state_q != IDENTIFY && state_q != FINISH) assert (index_q == 4'd0);
    if (state_q == ANSWER) assert (f_puts_q == 16'(index_q) && index_q < 4'd4);
    if (state_q == IDENTIFY) assert (f_puts_q == 16'd4 + 16'(index_q) && index_q < 4'd12);
    if (f_reads) assert (f_puts_q + 16'(left_q) == 16'd4 + head_q[31:16] && left_q != 10'd0 && index_q == 4'd0);
    if (f_reads || f_owed_q) assert (f_puts_q <= 16'(LIMIT) + 16'd4);
    if (sound_q && !hello_q && state_q != HEAD && state_q != DECIDE) begin
      assert (head_q[31:16] != 16'd0 && head_q[31:16] <= 16'(LIMIT));
      assert (16'(left_q) <= head_q[31:16]);
    end
    if (state_q == DRAIN || state_q == ROOM || state_q == ANSWER || state_q == IDENTIFY) begin
      assert (sound_q || status_q != 3'd0);
      if (!write_q && !hello_q && status_q == 3'd0) assert (16'(left_q) == head_q[31:16]);
    end
    if (state_q == BEGIN && sound_q && !hello_q) assert (16'(left_q) == head_q[31:16]);
    if (state_q == BEGIN) assert (status_q == 3'd0);
    // transfers are asked for
    assert (!(f_reads && (write_q || hello_q || status_q != 3'd0 || !sound_q)));
    if (state_q != HEAD && state_q != DECIDE) begin
      assert (!sound_q || (code >= HELLO && code <= WRITE_MEMORY));
      assert (hello_q == (code == HELLO) && write_q == (code == WRITE_REGISTERS || code == WRITE_MEMORY));
      assert (memory_q == (code == READ_MEMORY || code == WRITE_MEMORY));
    end
    if (state_q == GATHER || state_q == ADDRESS || state_q == RESPONSE) assert (f_allowed_q && write_q && sound_q);
    if (state_q == BEGIN) assert (age_q == 8'(next_q - head_q[15:8]));
    if (regs_req_o.aw_valid || regs_req_o.w_valid) assert (f_allowed_q && code == WRITE_REGISTERS);
    if (mem_req_o.aw_valid || mem_req_o.w_valid) assert (f_allowed_q && code == WRITE_MEMORY);
    if (regs_req_o.ar_valid) assert (code == READ_REGISTERS);
    if (mem_req_o.ar_valid) assert (code == READ_MEMORY);
    if (write_q && status_q == 3'd0 && (state_q == DRAIN || f_owed_q)) assert (f_allowed_q || hello_q);
    // one at a time
    assert (f_r_read_q == (!memory_q && (state_q == DATA || state_q == PICK || state_q == PUT)) || state_q == DECIDE);
    if (f_r_read_q || f_m_read_q) assert (state_q == DATA || state_q == PICK || state_q == PUT);
    if (f_m_read_q) assert (memory_q);
    if (f_r_read_q) assert (!memory_q);
    if (f_r_taken_q != 2'd0) assert (!memory_q && (state_q == ADDRESS || state_q == RESPONSE));
    if (f_m_taken_q != 2'd0) assert (memory_q && (state_q == ADDRESS || state_q == RESPONSE));
    if (state_q == ADDRESS) assert ((memory_q ? f_m_taken_q : f_r_taken_q) == {!data_q, !address_q});
    if (state_q == GATHER) assert (address_q && data_q);
    if (state_q == RESPONSE) assert ((memory_q ? f_m_taken_q : f_r_taken_q) == 2'd3);
  end
end
