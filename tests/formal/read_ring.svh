// SPDX-License-Identifier: Apache-2.0
// Properties of read_ring, for any one read, which f_pick chooses when it is made. The chosen read leaves the ring when
// it has been answered and all reads before it have left, with its own meta, fault and line. No other read has its tag
// meanwhile. f_contract: memory and the owner of the ring keep the contract of read_ring.sv. The proof read_ring
// assumes that (tests/formal/read_ring_alone.svh); the proof cp_stream shows it for the owner cp_stream. Assumed: a
// reset comes only when nothing is in flight.
logic f_start_q = 1'b1, f_live_q, f_answered_q, f_shown_q, f_contract, f_pick;
logic [DEPTH_LOG2:0] f_count_q, f_ahead_q, f_owes;  // Reads in the ring, before the chosen one, unanswered.
logic [DEPTH-1:0] f_owed_q;
logic [DEPTH_LOG2-1:0] f_tag_q;
logic [META_W-1:0] f_meta_q;
logic [7:0] f_fault_q;
logic [511:0] f_data_q;
logic [(META_W<<DEPTH_LOG2)-1:0] f_metas;

assign f_contract = !(alloc_i && (full_o || clear_i)) && !(pop_i && !out_valid_o) && !(clear_i && !drained_o) &&
    !(rsp_valid_i && !f_owed_q[rsp_tag_i]);

always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_count_q <= f_count_q + (DEPTH_LOG2 + 1)'(alloc_i) - (DEPTH_LOG2 + 1)'(pop_i);
  if (rsp_valid_i) f_owed_q[rsp_tag_i] <= 1'b0;
  if (alloc_i) f_owed_q[alloc_tag_o] <= 1'b1;
  if (pop_i) f_shown_q <= f_live_q && f_ahead_q == '0;
  if (pop_i && f_live_q) begin
    f_ahead_q <= f_ahead_q - 1'b1;
    f_live_q <= f_ahead_q != '0;
  end
  if (rsp_valid_i && rsp_tag_i == f_tag_q && f_live_q) {f_answered_q, f_fault_q, f_data_q} <= {1'b1, rsp_fault_i,
    rsp_data_i};
  if (alloc_i && f_pick && !f_live_q) begin
    {f_live_q, f_answered_q, f_tag_q, f_meta_q} <= {2'b10, alloc_tag_o, meta_i};
    f_ahead_q <= f_count_q - (DEPTH_LOG2 + 1)'(pop_i);
    f_shown_q <= 1'b0;
  end
  if (rst_i || clear_i) {f_live_q, f_count_q} <= '0;
  if (rst_i || clear_i) f_owed_q <= '0;
  if (rst_i) f_shown_q <= 1'b0;
end

always_comb begin
  assume (f_start_q ? rst_i : !rst_i || f_owed_q == '0);
  f_owes = '0;
  for (int i = 0; i < DEPTH; i++) begin
    f_owes = f_owes + (DEPTH_LOG2 + 1)'(f_owed_q[i]);
    f_metas[META_W*i+:META_W] = meta[i];
    if (!f_start_q)  // A slot is free, or its read is unanswered (owed) or answered (done).
      assert ({f_owed_q[i], done_q[i]} ==
              (DEPTH_LOG2'(i - 32'(head_q)) >= f_count_q ? 2'b00 : done_q[i] ? 2'b01 : 2'b10));
  end
  if (!f_start_q) begin
    assert (f_count_q <= (DEPTH_LOG2 + 1)'(DEPTH) && tail_q - head_q == f_count_q && flight_q == f_owes);
    assert (full_o == f_count_q[DEPTH_LOG2] && drained_o == (f_owed_q == '0));
    if (out_valid_o) assert (f_count_q != '0);
    if (f_live_q) begin
      assert (f_ahead_q < f_count_q && f_tag_q == DEPTH_LOG2'(head_q + f_ahead_q) &&
              f_owed_q[f_tag_q] != f_answered_q);
      assert (!(alloc_i && alloc_tag_o == f_tag_q) && meta[f_tag_q] == f_meta_q);
      if (f_answered_q) assert (fault[f_tag_q] == f_fault_q && data[f_tag_q] == f_data_q);
      if (f_ahead_q == '0) assert (out_valid_o == f_answered_q);
      if (f_ahead_q == '0 && out_valid_o) assert (out_meta_o == f_meta_q && out_fault_o == f_fault_q);
    end
    if (f_shown_q) assert (!f_live_q && data_o == f_data_q);
  end
end
