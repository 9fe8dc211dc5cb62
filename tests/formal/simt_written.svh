// SPDX-License-Identifier: Apache-2.0
// Properties of simt_written, for any one register of one warp and any one lane, whose memory starts with any contents.
// An operand reads the last write in which the lane took part, or the value that was restored, or zero if there was
// neither since the warp's launch. The same value is saved, as a vector or with the registers that hold one value in
// all lanes.
//
// Assumed of simt_core: F is one cycle before D; x0 is not written; a warp is not launched while it has an instruction
// in F to R or a write to come; a restore finds the pipeline empty, and puts masks first; while it is quiet, nothing is
// launched or restored, and no warp ends. Assumed of simt_lane: it writes its memory as f_ram_q does.
localparam int LW = $clog2(LANES);
(* anyconst *) logic [WW-1:0] f_warp;
(* anyconst *) logic [4:0]    f_reg;
(* hierconn *) logic [WW+4:0] \u_scalars.f_rd ;
(* hierconn *) logic [WIDTH-1:0] \u_scalars.f_value ;
(* hierconn *) logic \u_scalars.f_given ;
logic [WIDTH-1:0] f_held;
logic             f_given;
assign \u_scalars.f_rd = {f_warp, f_reg};
assign f_held  = \u_scalars.f_value ;
assign f_given = \u_scalars.f_given ;
(* anyconst *) logic [LW-1:0] f_lane;
(* anyseq *) logic [LANES-1:0] f_mask_in;
logic [WIDTH-1:0] f_ram_q, f_zero_q, f_value_q, f_read_q, f_expect_q;      // f_zero_q: memory of lane 0
logic [2:0]    f_asked_q = '0;
logic          f_here, f_active, f_put, f_after, f_has, f_same, f_done;
logic          f_ready_q = 1'b0, f_known_q = 1'b0, f_piped_q = 1'b0, f_first_q = 1'b1, f_quiet_q = 1'b0;
logic [WARPS-1:0] f_live_q;
logic [WW-1:0] f_d_warp_q;
logic [WW+4:0] f_next_q;

assign f_here   = write_i && rd_i == {f_warp, f_reg};
assign f_active = f_mask_in[f_lane];
assign f_put    = put_scalars_i && put_warp_i == f_warp && put_first_i == {f_reg[4:LW], LW'(0)};
assign f_after  = after_q && after_rd_q == {f_warp, f_reg};
assign f_has    = !fresh_q[f_warp] && mask_q[f_warp][f_reg];
assign f_same   = same_q[f_warp][f_reg];
assign f_done   = quiet_i && (ready_o || (gather_q && at_q > f_warp));

always_ff @(posedge clk_i) begin
  f_first_q  <= 1'b0;
  f_quiet_q  <= quiet_i;
  f_ready_q  <= ready_o;
  f_next_q   <= look_next_i;
  f_live_q   <= live_i;
  f_d_warp_q <= f_warp_i;
  // a restored value finds nothing in F
  f_piped_q <= f_known_q && !put_mask_i && !f_put && !(write_i && run_rd_i != rd_i);
  if (f_here && (f_active || first_o)) f_ram_q <= f_active ? data_i[WIDTH*f_lane +: WIDTH] : first_value_o;
  if (f_here && (f_mask_in[0] || first_o)) f_zero_q <= f_mask_in[0] ? data_i[WIDTH-1:0] : first_value_o;
  if (f_here && f_active) f_value_q <= data_i[WIDTH*f_lane +: WIDTH];
  if (read_i) begin
    f_read_q   <= f_ram_q;
    f_expect_q <= f_value_q;
    f_asked_q  <= {3{f_piped_q && d_warp_i == f_warp}} & {rs3_i == f_reg, rs2_i == f_reg, rs1_i == f_reg};
  end
  if (put_mask_i || (clear_i && clear_warp_i == f_warp)) begin
    f_known_q <= 1'b1;
    f_value_q <= '0;
    f_asked_q <= '0;
  end
  if (f_put) begin
    if (!f_has) f_value_q <= (f_reg == 5'd0) ? '0 : put_vector_i[WIDTH*f_reg[LW-1:0] +: WIDTH];
    f_asked_q <= '0;
  end
end

always_comb begin
  assume (rst_i || !f_first_q);
  assume (d_warp_i == f_d_warp_q);
  assume (!write_i || rd_i[4:0] != 5'd0);
  assume (full_i == &f_mask_in);
  assume (!clear_i || (clear_warp_i != f_warp_i && clear_warp_i != d_warp_i && !(write_i && warp == clear_warp_i)));
  assume (!(put_mask_i || put_scalars_i) || !(write_i || clear_i || read_i));
  assume (!(put_mask_i && put_scalars_i));
  assume (!put_scalars_i || put_first_i[LW-1:0] == '0);
  assume (!quiet_i || !(clear_i || put_mask_i || put_scalars_i));
  assume (!(quiet_i && f_quiet_q) || live_i == f_live_q);
  assume (!look_i || !read_i);
  assume ({look_warp_i, look_first_i} == f_next_q);
  assume (look_ram_i[WIDTH*f_reg[LW-1:0] +: WIDTH] == f_zero_q);
  for (int k = 0; k < 3; k++)
    if (f_asked_q[k]) assert ((has_o[k] ? f_read_q : value_o[WIDTH*k +: WIDTH]) == f_expect_q);
  // what is saved
  if (f_known_q && quiet_i && ready_o && f_ready_q && live_i[f_warp] && look_i && look_warp_i == f_warp
      && look_first_i == {f_reg[4:LW], LW'(0)}) begin
    if (masks_o[32*f_warp + f_reg]) assert (f_has && look_vector_o[WIDTH*f_reg[LW-1:0] +: WIDTH] == '0);
    else
      assert ((scalars_o[VECTORS*f_warp + f_reg / LANES] ? look_vector_o[WIDTH*f_reg[LW-1:0] +: WIDTH] : '0)
              == f_value_q);
  end
  if (f_known_q && quiet_i && ready_o && masks_o[32*f_warp + f_reg]) assert (live_i[f_warp]);
  // all lanes are told to be equal only when they are
  if (f_known_q && f_has && f_same && !f_after) assert (f_ram_q == f_zero_q);
  // induction
  if (f_known_q && f_after && full_q)
    assert (f_ram_q == data_q[WIDTH*f_lane +: WIDTH] && f_zero_q == data_q[WIDTH-1:0]);
  if (f_known_q && f_after) assert (f_has);
  if (f_known_q) assert ((f_has ? f_ram_q : f_held) == f_value_q);
  if (!f_given) assert (f_held == '0);
  if (f_piped_q && f_d_warp_q == f_warp) assert (f_known_q && d_mask_q[f_reg] == f_has);
  if (f_known_q && f_reg == 5'd0) assert (!f_has && f_value_q == '0);
  if (f_asked_q != '0) assert (f_known_q);
  if (!f_first_q && (ready_o || gather_q)) assert (!after_q && f_quiet_q);
  if (!f_first_q) assert (!(ready_o && gather_q));
  if (f_known_q && !f_first_q && f_done) begin
    assert (masks_o[32*f_warp + f_reg] == (live_i[f_warp] && f_has && !f_same));
    assert (!(live_i[f_warp] && (f_has ? f_same : f_given)) || scalars_o[VECTORS*f_warp + f_reg / LANES]);
  end
end
