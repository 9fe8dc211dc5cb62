// SPDX-License-Identifier: Apache-2.0
// Properties of lsu_retain, for any one place of the queue and any one tag. While a request of the instruction at that
// place has not passed, the instruction is there as it came. The lanes that are offered of it are exactly those that
// are left. As many instructions are offered as count_o says, the oldest first. Assumed of the units around: notes are
// of instructions that are in the queue, a request passes once, nothing moves while settle_i is high, and rest_mask_i
// and rest_count_i say what was not begun.
(* anyconst *) logic [DEPTH_LOG2-1:0] f_slot;
(* anyconst *) logic [TAG_W-1:0] f_tag;
(* anyconst *) logic [LANES-1:0] f_missing;
logic f_start_q = 1'b1, f_room_q, f_cut_q, f_settle_q, f_here, f_mine_q = 1'b0, f_owner_q, f_pass, f_scanned, f_store;
logic [CW-1:0] f_owed_q = '0;
logic [LANES-1:0] f_tag_mask_q, f_again_q, f_mask_q, f_private_q, f_want, f_rest_q;
kept_t f_meta_q;
logic [LANES*32-1:0] f_addr_q, f_data_q, f_cmp_q;
logic [DEPTH_LOG2:0] f_place;  // of f_slot, counted as wr_q is, if the place is taken
logic [5:0] f_count, f_rest;
logic f_refused_q = 1'b0;  // a line of the instruction was refused, so its request never passes
logic [DEPTH-1:0] f_some;  // some_q and left[f_slot], with what is about to enter them
logic [LANES-1:0] f_left;

assign f_place = done_q + (DEPTH_LOG2 + 1)'(DEPTH_LOG2'(f_slot - done));
assign f_here = (DEPTH_LOG2 + 1)'(f_place - done_q) < here;
assign f_pass = pass_i && slots[pass_tag_i] == f_slot;
assign f_store = f_meta_q.op == simt_op_pkg::LSU_STORE;
assign f_rest = 6'((DEPTH_LOG2 + 1)'(wr_q - (cut_i ? begun_q : at_q)));
// The instruction was looked at since settle_i rose
assign f_scanned = cut_i && f_settle_q && f_here && (looked_q || (DEPTH_LOG2 + 1)'(f_place - done_q) <
                                                     (DEPTH_LOG2 + 1)'(at_q - done_q));
always_comb begin
  f_some = some_q;
  if (find_q) f_some[slot_q] = again != '0;
  f_left = find_q && slot_q == f_slot ? again : some_q[f_slot] ? left[f_slot] : '0;
  f_want = '0;
  if (f_place == begun_q && rest_count_i != '0) f_want = rest_mask_i;
  else if ((DEPTH_LOG2 + 1)'(f_place - done_q) >= (DEPTH_LOG2 + 1)'(begun_q - done_q)) f_want = f_mask_q;
  f_want = f_store ? f_want | f_again_q : f_owner_q ? f_missing : '0;
  f_count = '0;
  for (int s = 0; s < DEPTH; s++)
    if (looked_q ? (DEPTH_LOG2 + 1)'(s) < (DEPTH_LOG2 + 1)'(wr_q - at_q) && f_some[DEPTH_LOG2'(at + s)]
                 : (DEPTH_LOG2 + 1)'(s) < (DEPTH_LOG2 + 1)'(at_q - done_q) && f_some[DEPTH_LOG2'(done + s)])
      f_count = f_count + 1'b1;
end
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_room_q <= room_o && !rst_i;
  f_cut_q <= cut_i && !rst_i;
  f_settle_q <= settle_i && !rst_i;
  f_rest_q <= rest_mask_i;
  if (push_i && wr == f_slot) begin
    f_meta_q <= in;
    {f_mask_q, f_private_q} <= {in_mask_i, in_private_i};
    {f_addr_q, f_data_q, f_cmp_q} <= {in_addr_i, in_data_i, in_cmp_i};
    f_again_q <= '0;
    f_owner_q <= 1'b1;
  end else if (push_i && in.op != simt_op_pkg::LSU_STORE && in.entry == f_meta_q.entry)
    f_owner_q <= 1'b0;
  if (refuse_i && refuse_tag_i[TAG_W-1] && slots[refuse_tag_i] == f_slot)
    f_again_q <= f_again_q | lanes[refuse_tag_i[TAG_W-2:0]];
  if (drop_i && begun == f_slot) f_again_q <= f_again_q | note_mask_i;
  if (look && at == f_slot && f_store) f_again_q <= f_want;
  if (note_i && note_tag_i == f_tag) {f_mine_q, f_tag_mask_q} <= {begun == f_slot, note_mask_i};
  else if (pass_i && pass_tag_i == f_tag) f_mine_q <= 1'b0;
  f_owed_q <= f_owed_q + CW'(note_i && begun == f_slot) - CW'(f_pass);
  if (refuse_i && slots[refuse_tag_i] == f_slot) f_refused_q <= 1'b1;
  if (rst_i) {f_mine_q, f_owed_q, f_refused_q} <= '0;
end
always_comb begin
  assume (rst_i == f_start_q && !(rst_i && settle_i));
  if (push_i) assume (!rst_i && f_room_q && in_mask_i != '0);
  if (note_i || drop_i || end_i) assume (begun_q != wr_q && !(note_i && drop_i));
  if (note_i && begun == f_slot) assume (f_owed_q < CW'(LANES));
  if (note_i && note_tag_i == f_tag) assume (!f_mine_q);
  // a pass of another tag leaves the count of this one's request
  if (f_pass) assume (f_owed_q > CW'(f_mine_q && pass_tag_i != f_tag) && f_owed_q > CW'(f_refused_q));
  if (refuse_i && slots[refuse_tag_i] == f_slot) assume (f_owed_q > CW'(f_pass));
  if (f_cut_q) assume (cut_i);
  if (refuse_i) assume (cut_i && !drop_i);
  if (refuse_i && refuse_tag_i[TAG_W-1]) assume (slots[refuse_tag_i] != f_slot || f_here);
  if (drop_i) assume (cut_i);
  if (settle_i) begin
    assume (!(push_i || note_i || drop_i || end_i || pass_i || refuse_i) && freeze_i);
    assume (rest_count_i == f_rest);
    assume (cut_i == f_cut_q);
    if (f_settle_q) assume (rest_mask_i == f_rest_q);
    if (left_entry_o == f_meta_q.entry) assume (left_mask_i == f_missing);
  end
  if (!f_start_q) begin
    assert (here <= (DEPTH_LOG2 + 1)'(DEPTH) && (DEPTH_LOG2 + 1)'(begun_q - done_q) <= here);
    if (f_room_q) assert (here < (DEPTH_LOG2 + 1)'(DEPTH));
    assert (owed_q[CW*f_slot+:CW] == f_owed_q + CW'(pass_q && pass_slot_q == f_slot));
    assert (f_owed_q <= CW'(LANES));
    if (!f_here || (DEPTH_LOG2 + 1)'(f_place - done_q) > (DEPTH_LOG2 + 1)'(begun_q - done_q))
      assert (owed_q[CW*f_slot+:CW] == '0);
    if (f_mine_q) assert (f_here && f_owed_q != '0 && slots[f_tag] == f_slot &&
                          (!f_tag[TAG_W-1] || lanes[f_tag[TAG_W-2:0]] == f_tag_mask_q));
    if (f_here) begin
      assert (metas[f_slot] == f_meta_q && masks[f_slot] == {f_private_q, f_mask_q} && addrs[f_slot] == f_addr_q);
      if (f_meta_q.op != simt_op_pkg::LSU_LOAD) assert (datas[f_slot] == f_data_q);
      if (f_meta_q.op == simt_op_pkg::LSU_AMO) assert (cmps[f_slot] == f_cmp_q);
      if (f_store) assert (f_left == f_again_q);
      else assert ((owners[f_meta_q.entry] == f_slot) == f_owner_q);
    end
    if (f_scanned && settle_i) assert (f_some[f_slot] == (f_want != '0) && f_left == f_want);
    if (f_refused_q) assert (f_here && f_owed_q != '0 && cut_i);
    if (find_q && slot_q == f_slot) assert (f_here && f_cut_q);
    if (look_q) assert (find_q && f_settle_q && !looked_q && slot_q == DEPTH_LOG2'(at_q - 1'b1));
    if (find_q && f_settle_q) assert (look_q);
    // what is offered
    if (!f_settle_q) assert (!looked_q && at_q == (f_cut_q ? done_q : begun_q));
    assert ((DEPTH_LOG2 + 1)'(at_q - done_q) <= here && (f_cut_q || !looked_q));
    if (f_cut_q || !f_settle_q) assert (count_q + 6'(look_q && again != '0) == (f_settle_q ? f_count : '0));
    if (!f_cut_q) assert ((DEPTH_LOG2 + 1)'(at_q - begun_q) <= (DEPTH_LOG2 + 1)'(wr_q - begun_q));
    if (settle_i && f_here && at_q == f_place) begin
      if (cut_i && looked_q) assert (pend_valid_o == (f_want != '0) && (!pend_valid_o || pend_mask_o == f_want));
      if (!cut_i) assert (pend_valid_o && pend_mask_o == (at_q == begun_q ? rest_mask_i : f_mask_q));
      if (pend_valid_o) begin
        assert (pend_o.op == f_meta_q.op && pend_o.amo == f_meta_q.amo && pend_o.size == f_meta_q.size);
        assert (pend_o.is_unsigned == f_meta_q.is_unsigned && pend_o.rd == f_meta_q.rd && pend_o.pc == f_meta_q.pc);
        assert (pend_warp_o == f_meta_q.warp && pend_addr_o == f_addr_q);
        assert (pend_private_o == (f_private_q & pend_mask_o));
      end
    end
  end
end
