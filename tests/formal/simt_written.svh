// SPDX-License-Identifier: Apache-2.0
// Properties of simt_written, for any one register of one warp and any one lane, whose memory starts with any contents.
// An operand reads the last write in which the lane took part, or the value that was restored, or zero if there was
// neither since the warp's launch. The same value is saved with the registers that hold one value in all lanes.
//
// Assumed of simt_core: F is one cycle before D; x0 is not written; a warp is not launched while it has an instruction
// in F to R or a write to come; a restore finds the pipeline empty. Assumed of simt_lane: it writes its memory as
// f_ram_q does.
localparam int LW = $clog2(LANES);
(* anyconst *) logic [WW-1:0] f_warp;
(* anyconst *) logic [4:0]    f_reg;
(* hierconn *) logic [WW+4:0] \u_scalars.f_rd ;
(* hierconn *) logic [WIDTH-1:0] \u_scalars.f_value ;
logic [WIDTH-1:0] f_held;
assign \u_scalars.f_rd = {f_warp, f_reg};
assign f_held = \u_scalars.f_value ;
(* anyconst *) logic [LW-1:0] f_lane;
(* anyseq *) logic [LANES-1:0] f_mask_in;
logic [WIDTH-1:0] f_ram_q, f_zero_q, f_value_q, f_read_q, f_expect_q;      // f_zero_q: memory of lane 0
logic [2:0]    f_asked_q = '0;
logic          f_here, f_active, f_put, f_after, f_known_q = 1'b0, f_piped_q = 1'b0, f_begun_q = 1'b0;

assign f_here   = write_i && rd_i == {f_warp, f_reg};
assign f_active = f_mask_in[f_lane];
assign f_put    = put_scalars_i && put_warp_i == f_warp && put_first_i == {f_reg[4:LW], LW'(0)};
assign f_after  = after_q && after_rd_q == {f_warp, f_reg};

always_ff @(posedge clk_i) begin
  // a restored value finds nothing in F
  f_piped_q <= f_known_q && !put_masks_i && !f_put && !(write_i && run_rd_i != rd_i);
  if (f_here && (f_active || first_o)) f_ram_q <= f_active ? data_i[WIDTH*f_lane +: WIDTH] : first_value_o;
  if (f_here && (f_mask_in[0] || first_o)) f_zero_q <= f_mask_in[0] ? data_i[WIDTH-1:0] : first_value_o;
  if (f_here && f_active) begin
    f_value_q <= data_i[WIDTH*f_lane +: WIDTH];
    f_known_q <= f_begun_q;
  end
  if (read_i) begin
    f_read_q   <= f_ram_q;
    f_expect_q <= f_value_q;
    f_asked_q  <= {3{f_piped_q && d_warp_i == f_warp}} & {rs3_i == f_reg, rs2_i == f_reg, rs1_i == f_reg};
  end
  if (clear_i && clear_warp_i == f_warp) begin
    f_known_q <= 1'b1;
    f_value_q <= '0;
    f_asked_q <= '0;
  end
  if (put_masks_i || (clear_i && clear_warp_i == f_warp)) f_begun_q <= 1'b1;
  if (put_masks_i) begin
    f_known_q <= f_reg == 5'd0 || !put_line_i[32*f_warp + f_reg];
    f_value_q <= '0;
    f_asked_q <= '0;
  end
  if (f_put) begin
    f_known_q <= f_begun_q && !mask_q[f_warp][f_reg];
    f_value_q <= (f_reg == 5'd0) ? '0 : put_vector_i[WIDTH*f_reg[LW-1:0] +: WIDTH];
    f_asked_q <= '0;
  end
end

logic [WW-1:0] f_d_warp_q;
always_ff @(posedge clk_i) f_d_warp_q <= f_warp_i;

always_comb begin
  assume (d_warp_i == f_d_warp_q);
  assume (!write_i || rd_i[4:0] != 5'd0);
  assume (full_i == &f_mask_in);
  assume (!clear_i || (clear_warp_i != f_warp_i && clear_warp_i != d_warp_i && !(write_i && warp == clear_warp_i)));
  assume (!(put_masks_i || put_scalars_i) || !(write_i || clear_i || read_i));
  assume (!(put_masks_i && (put_scalars_i || put_second_i)));   // one at a time, since there are few warps
  assume (!put_scalars_i || put_first_i[LW-1:0] == '0);
  assume (f_lane != f_reg[LW-1:0] || look_ram_i[WIDTH*f_lane +: WIDTH] == f_ram_q);
  for (int k = 0; k < 3; k++)
    if (f_asked_q[k]) assert ((has_o[k] ? f_read_q : value_o[WIDTH*k +: WIDTH]) == f_expect_q);
  if (f_known_q && !f_after && f_lane == f_reg[LW-1:0] && look_warp_i == f_warp &&
      look_first_i == {f_reg[4:LW], LW'(0)}
      && !masks_o[32*f_warp + f_reg])
    assert ((scalars_o[VECTORS*f_warp + f_reg / LANES] ? look_vector_o[WIDTH*f_lane +: WIDTH] : '0) == f_value_q);
  // all lanes are told to be equal only when they are
  if (f_begun_q && mask_q[f_warp][f_reg] && same_q[f_warp][f_reg] && !f_after) assert (f_ram_q == f_zero_q);
  // induction
  if (f_begun_q && f_after && full_q)
    assert (f_ram_q == data_q[WIDTH*f_lane +: WIDTH] && f_zero_q == data_q[WIDTH-1:0]);
  if (f_begun_q && f_after) assert (mask_q[f_warp][f_reg]);
  if (f_known_q) assert ((mask_q[f_warp][f_reg] ? f_ram_q : f_held) == f_value_q);
  if (f_piped_q && f_d_warp_q == f_warp) assert (f_known_q && d_mask_q[f_reg] == mask_q[f_warp][f_reg]);
  if (f_known_q) assert (f_begun_q);
  if (f_known_q && f_reg == 5'd0) assert (f_value_q == '0);
  if (f_asked_q != '0) assert (f_known_q);
end
