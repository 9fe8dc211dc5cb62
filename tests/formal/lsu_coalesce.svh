// SPDX-License-Identifier: Apache-2.0
// Properties of lsu_coalesce, for any one instruction, the f_pick-th. Each of its lanes is served once, by one line
// access or as pending, and instructions are served in order, whatever freeze_i does. The highest of a store's lanes at
// one address is the one that is merged. Assumed: room_o was high in the cycle before a push, and each instruction has
// a lane. A reset may come at any time.
(* anyconst *) logic [3:0] f_pick;
logic f_start_q = 1'b1, f_room_q, f_held_q = 1'b0, f_thawed_q = 1'b1, f_live, f_mine, f_same, f_kept, f_won;
logic [3:0] f_number_q = '0, f_behind;  // number of the next instruction; how many came since the chosen one, with it
logic [LANES-1:0] f_below, f_mask_q, f_private_q, f_left_q = '0, f_done;
logic [LANES*32-1:0] f_addr_q, f_data_q, f_cmp_q;
common_t f_meta_q;
logic [2:0] f_op;
logic [DEPTH_LOG2:0] f_count;
logic [DEPTH_LOG2-1:0] f_at;

assign f_op = f_meta_q.op;
assign f_count = wr_q - rd_q;
assign f_behind = f_number_q - f_pick;
assign f_live = f_left_q != '0;
assign f_mine = f_live && f_behind == 4'(f_count) + 4'd1;  // the chosen instruction is being served
assign f_at = DEPTH_LOG2'(4'(wr_q) - f_behind);
assign f_done = go ? out_mask_o : took ? pend_mask_o : '0;
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_room_q <= room_o && !rst_i;
  f_thawed_q <= rst_i || (f_thawed_q && !freeze_i);
  f_held_q <= pend_valid_o && !pend_ready_i && !rst_i;
  if (push_i) f_number_q <= f_number_q + 1'b1;
  if (push_i && f_number_q == f_pick) begin
    {f_private_q, f_mask_q, f_left_q} <= {in_private_i, in_mask_i, in_mask_i};
    {f_addr_q, f_data_q, f_cmp_q} <= {in_addr_i, in_data_i, in_cmp_i};
    f_meta_q <= in;
  end else if (f_mine) f_left_q <= f_left_q & ~f_done;
  if (rst_i) begin
    f_left_q <= '0;
    f_number_q <= '0;
  end
end
always_comb begin
  f_same = 1'b1;  // the stored comparisons of pairs of lanes are those of the addresses
  f_kept = 1'b1;  // a store's lanes at one address stay together
  f_below = '0;   // lanes of an access that have a higher lane there at their address
  for (int i = 0; i < LANES; i++) begin
    for (int j = i + 1; j < LANES; j++) begin
      if (f_op != simt_op_pkg::LSU_LOAD &&
          same_q[i*LANES+j] != (f_addr_q[i*32+:PLACE_W] == f_addr_q[j*32+:PLACE_W])) f_same = 1'b0;
      if (f_mask_q[i] && f_mask_q[j] && f_addr_q[i*32+6+:26] == f_addr_q[j*32+6+:26] && f_left_q[i] != f_left_q[j])
        f_kept = 1'b0;
      if (out_mask_o[j] && f_addr_q[i*32+:32] == f_addr_q[j*32+:32]) f_below[i] = 1'b1;
    end
  end
  f_won = out_merge_o == (out_mask_o & ~f_below);  // the highest lane at each address is merged
end
always_ff @(posedge clk_i) begin
  if (f_start_q) assume (rst_i);
  if (loading_o) assume (!settled_i);
  if (push_i) assume (f_room_q && in_mask_i != '0 && !rst_i);
  if (!f_start_q && !rst_i) begin
    assert (f_count <= (DEPTH_LOG2 + 1)'(1 << DEPTH_LOG2));
    if (f_thawed_q) assert (4'(f_count) + 4'(f_room_q) <= 4'(NORMAL) + 4'(room_o));
    if (f_room_q) assert (f_count < (DEPTH_LOG2 + 1)'(1 << DEPTH_LOG2));
    assert (pend_count_o == 6'(f_count) + 6'(valid_q));
    assert (!(out_valid_o && freeze_i) && !(pend_valid_o && !(freeze_i && settled_i)));
    if (freeze_i && settled_i) assert (pend_valid_o == (pend_count_o != '0));
    if (f_held_q && freeze_i && settled_i) assert (pend_valid_o);
    // the instruction is where its number says as long as lanes are left, and no longer
    assert (f_live == (f_behind != '0 && f_behind <= 4'(f_count) + 4'(valid_q)));
    assert ((f_left_q & ~f_mask_q) == '0);
    if (f_live && !f_mine) assert (f_left_q == f_mask_q && queue_mask[f_at] == {f_private_q, f_mask_q} &&
        queue_addr[f_at] == f_addr_q && queue_meta[f_at] == f_meta_q &&
        (f_op == simt_op_pkg::LSU_LOAD || queue_data[f_at] == f_data_q) &&
        (f_op != simt_op_pkg::LSU_AMO || queue_cmp[f_at] == f_cmp_q));
    if (f_mine) begin
      assert (valid_q && rest_q == f_left_q && meta_q == f_meta_q && addr_q == f_addr_q &&
              private_q == f_private_q && f_same);
      if (f_op != simt_op_pkg::LSU_LOAD) assert (data_q == f_data_q);
      if (rest_q != '0) assert (lead_q == (rest_q & (~rest_q + 1'b1)));
      for (int i = 0; i < LANES; i++) if (lead_q[i]) assert (lead_addr_q == f_addr_q[i*32+:32]);
      if (f_op == simt_op_pkg::LSU_AMO) assert (cmp_q == f_cmp_q);
      if (go) assert (out_mask_o != '0 && (out_mask_o & ~f_left_q) == '0 &&
                      out_last_o == ((f_left_q & ~out_mask_o) == '0));
      if (go) for (int i = 0; i < LANES; i++)
        if (out_mask_o[i]) assert (f_addr_q[i*32+6+:26] == out_o.addr[31:6] &&
                                   out_offset_o[i*6+:6] == f_addr_q[i*32+:6]);
      if (go && f_op != simt_op_pkg::LSU_AMO) for (int i = 0; i < LANES; i++)
        if (f_left_q[i] && !out_mask_o[i]) assert (f_addr_q[i*32+6+:26] != out_o.addr[31:6]);
      if (go && f_op == simt_op_pkg::LSU_AMO) for (int i = 0; i < LANES; i++) for (int j = i + 1; j < LANES; j++)
        if (f_left_q[i] && out_mask_o[j]) assert (f_addr_q[i*32+:32] != f_addr_q[j*32+:32]);
      if (took) assert (pend_mask_o == f_left_q);
      if (f_op == simt_op_pkg::LSU_STORE) assert (f_kept && (!go || f_won));
    end
  end
end
