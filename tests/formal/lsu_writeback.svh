// SPDX-License-Identifier: Apache-2.0
// Properties of lsu_writeback, for any one entry: each lane is written back once, and the entry ends once, with its
// last lane. Assumed of the units around: an entry begins only when it is free, and pieces are of lanes that the entry
// still misses.
(* anyconst *) logic [ENTRY_W-1:0] f_entry;
logic f_reset_q = 1'b1, f_live_q = 1'b0, f_held_q = 1'b0, f_mine_q = 1'b0, f_last_q, f_mine;
logic [LANES-1:0] f_left_q = '0, f_mask_q;
logic [WW+4:0] f_who_q;
assign f_mine = take && end_entry_o == f_entry;
always_ff @(posedge clk_i) begin
  f_reset_q <= 1'b0;
  if (begin_i && begin_entry_i == f_entry) begin
    f_live_q <= 1'b1;
    f_left_q <= begin_mask_i;
    f_who_q  <= {begin_warp_i, begin_rd_i};
  end else if (f_mine) begin
    f_left_q <= f_left_q & ~in_mask_i;
    if (end_o) f_live_q <= 1'b0;
  end
  f_held_q <= wb_valid_o && !wb_ready_i && !rst_i;
  f_mine_q <= f_mine;
  f_mask_q <= wb_mask_o;
  f_last_q <= wb_last_o;
  assume (rst_i == f_reset_q);
  if (rst_i) assume (!begin_i && !in_valid_i);
  if (begin_i) assume (begin_mask_i != '0 && !(begin_entry_i == f_entry && f_live_q));
  if (begin_i) assume (!(in_valid_i && in_entry_i == begin_entry_i));
  if (in_valid_i && in_entry_i == f_entry) assume (f_live_q && in_mask_i != '0 && (in_mask_i & ~f_left_q) == '0);
  if (!rst_i) begin
    assert (in_take_o == take && (!in_take_o || in_valid_i) && (!end_o || take));
    if (f_mine) assert (end_o == ((f_left_q & ~in_mask_i) == '0));
    assert (f_live_q == (f_left_q != '0));
    if (f_live_q) assert ((begun[f_entry] ^ taken[f_entry]) == f_left_q && who[f_entry] == f_who_q);
    if (f_live_q && left_entry_i == f_entry) assert (left_mask_o == f_left_q);
    if (f_mine) assert (end_warp_o == f_who_q[5+:WW]);
    if (f_mine_q) assert (wb_valid_o && {wb_warp_o, wb_rd_o} == f_who_q && wb_last_o == !f_live_q);
    if (f_held_q) assert (wb_valid_o && wb_mask_o == f_mask_q && wb_last_o == f_last_q);
    assert (take || !(in_valid_i && (!wb_valid_o || wb_ready_i)));
  end
end
