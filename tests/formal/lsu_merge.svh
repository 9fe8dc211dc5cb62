// SPDX-License-Identifier: Apache-2.0
// Properties of lsu_merge, for any one byte of a line and of the banks: it holds what the lane there wrote, is enabled
// if there was a lane, and of banks it is zero otherwise. The crossbar is free for a line in the third cycle in which
// it wants it, and a hold is for one line. Assumed: no two lanes write the byte; an access comes to T0 only when the
// one before has left it, and to T1 likewise; a go is wanted, comes with free_o, and as soon as it can; no pass of
// local memory begins while it is held.
(* anyconst *) logic [5:0] f_byte;
logic f_start_q = 1'b1, f_hold_q, f_rst_q, f_went_q, f_placed_q, f_t0_q = 1'b0, f_t1_q = 1'b0;
logic [1:0] f_wait_q = '0;
logic [1:0] f_size, f_t0_size_q, f_size_q;
logic [LANES-1:0] f_t0_mask_q, f_mask_q, f_at, f_local_at;
logic [LANES*6-1:0] f_t0_offset_q, f_offset_q;
logic [LANES*32-1:0] f_t0_data_q, f_data_q;
logic f_t0_pair_q, f_pair_q;
logic [31:0] f_t0_pair_data_q, f_pair_data_q;
logic [7:0] f_value, f_local_value, f_value_q, f_local_value_q;
logic f_other, f_other_q, f_be_q, f_local_be_q;  // the byte is in the other word of a pair
logic [15:0] f_words;
logic [5:0] f_low;

always_comb begin
  f_at = '0;
  f_local_at = '0;
  f_value = '0;
  f_local_value = '0;
  f_other = 1'b0;
  f_words = '0;
  for (int i = 0; i < LANES; i++) begin
    f_low = f_offset_q[i*6+:6] ^ f_byte;
    f_at[i] = f_mask_q[i] && (f_size_q[1] ? f_low[5:2] == '0 : f_size_q[0] ? f_low[5:1] == '0 : f_low == '0);
    if (f_at[i]) f_value = f_size_q[1] ? f_data_q[i*32+f_byte[1:0]*8+:8] :
        f_size_q[0] ? f_data_q[i*32+f_byte[0]*8+:8] : f_data_q[i*32+:8];
    if (f_pair_q && f_mask_q[i] && (f_offset_q[i*6+2+:4] ^ 4'd8) == f_byte[5:2]) f_other = 1'b1;
    if (f_mask_q[i]) f_words[f_offset_q[i*6+2+:4]] = 1'b1;
    f_low = {{(4-LW){1'b0}}, local_low_i[i*(LW+2)+:LW+2]} ^ f_byte;
    f_local_at[i] = local_mask_i[i] &&
        (local_size_i[1] ? f_low[5:2] == '0 : local_size_i[0] ? f_low[5:1] == '0 : f_low == '0);
    if (f_local_at[i]) f_local_value = local_size_i[1] ? local_data_i[i*32+f_byte[1:0]*8+:8] :
        local_size_i[0] ? local_data_i[i*32+f_byte[0]*8+:8] : local_data_i[i*32+:8];
  end
  if (f_other) f_value = f_pair_data_q[f_byte[1:0]*8+:8];
end
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_rst_q <= rst_i;
  f_hold_q <= hold_o;
  if (load_i) begin
    {f_t0_size_q, f_t0_mask_q, f_t0_offset_q, f_t0_data_q} <= {size_i, mask_i, offset_i, data_i};
    {f_t0_pair_q, f_t0_pair_data_q} <= {pair_i, pair_data_i};
  end
  if (step_i.first) begin
    {f_size_q, f_mask_q, f_offset_q, f_data_q} <= {f_t0_size_q, f_t0_mask_q, f_t0_offset_q, f_t0_data_q};
    {f_pair_q, f_pair_data_q} <= {f_t0_pair_q, f_t0_pair_data_q};
  end
  f_t0_q <= !rst_i && (load_i || (f_t0_q && !step_i.first));
  f_t1_q <= !rst_i && (step_i.first || (f_t1_q && !step_i.go));
  if (step_i.go) begin
    f_value_q <= f_value;
    f_other_q <= f_other;
    f_be_q <= f_at != '0;
  end
  if (local_valid_i) begin
    f_local_value_q <= f_local_value;
    f_local_be_q <= f_local_at != '0;
  end
  f_went_q <= !rst_i && (step_i.go || (!f_start_q && f_went_q));
  f_placed_q <= !rst_i && (local_valid_i || (!f_start_q && f_placed_q));
  f_wait_q <= rst_i || step_i.go || !step_i.want ? '0 : f_wait_q + 1'b1;
  if (f_start_q) assume (rst_i);
  if (rst_i) assume (!load_i && !step_i.first && !step_i.want && !local_valid_i);
  assume (!(load_i && f_t0_q && !step_i.first) && !(step_i.first && !f_t0_q));
  assume (!(step_i.first && f_t1_q && !step_i.go) && !(step_i.want && !f_t1_q));
  assume (step_i.go == (step_i.want && free_o));
  if (f_wait_q != '0) assume (step_i.want || rst_i);
  if (!f_start_q && f_hold_q) assume (!local_valid_i);
  if (local_valid_i) assume ((f_local_at & (f_local_at - 1'b1)) == '0);
  if (f_t1_q) assume ((f_at & (f_at - 1'b1)) == '0);
  if (f_t1_q && f_pair_q) assume (f_size_q == 2'd2 && (f_mask_q & (f_mask_q - 1'b1)) == '0);
  if (!f_start_q && !rst_i && !f_rst_q) begin
    if (f_went_q) assert (line_o.be[f_byte] == f_be_q);
    if (f_went_q && (f_be_q || f_other_q)) assert (line_o.data[f_byte*8+:8] == f_value_q);
    if (f_placed_q && f_byte < 6'(LANES * 4)) assert (local_data_o[f_byte[LW+1:0]*8+:8] == f_local_value_q &&
        local_be_o[f_byte[LW+1:0]] == f_local_be_q);
    assert (!(local_valid_i && step_i.go));
    assert (f_wait_q <= 2'd2 && hold_o == (f_wait_q != '0));
    // induction
    if (f_t0_q) assert ({t0_size_q, t0_mask_q, t0_offset_q, t0_data_q, t0_pair_q, t0_pair_data_q} ==
        {f_t0_size_q, f_t0_mask_q, f_t0_offset_q, f_t0_data_q, f_t0_pair_q, f_t0_pair_data_q});
    if (f_t1_q) assert ({size_q, mask_q, offset_q, data_q, pair_q, pair_data_q} ==
        {f_size_q, f_mask_q, f_offset_q, f_data_q, f_pair_q, f_pair_data_q});
    if (f_t1_q) assert (words_q == f_words && full_o == (f_size_q[1] && f_words == '1));
    if (f_wait_q == 2'd2) assert (f_hold_q);
  end
end
