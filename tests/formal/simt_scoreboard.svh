// SPDX-License-Identifier: Apache-2.0
// Properties of simt_scoreboard, for any one register of any one warp, whatever the memories hold at first. R sees of
// it what a flip-flop would hold that is set and cleared by itself; and hazards, sleep and wake-ups are those that
// follow from the bits of all registers in R.
//
// Assumed of simt_core: an instruction in R was in D one cycle before, and there was no reset in that cycle; a warp has
// one instruction in D and R; an instruction with a hazard is not issued. A write of a result of fixed latency comes
// after soon_*, which announces no other results. put_i comes while D and R are empty, for one register at a time, and
// the result is written later than in the next two cycles.
(* anyconst *) logic [WW-1:0] f_warp;
(* anyconst *) logic [4:0]    f_reg;
logic          f_pend_q, f_far_q;       // the register has a pending result; it has not been announced
logic          f_loose_q;               // its last result is one that is not announced
logic          f_asleep_q, f_any_q;     // the warp sleeps; any write wakes it
logic [4:0]    f_until_q;               // register at whose write it wakes
logic          f_clear_q, f_pend, f_far, f_d_pend, f_d_far, f_wake, f_begun_q = 1'b0;
logic          f_set_q, f_rst_q;
logic [WW-1:0] f_d_warp_q, f_set_warp_q;
logic [2:0]    f_put_q;                 // put_i one, two and three cycles ago
logic          f_is_set, f_is_soon, f_is_wb, f_is_put, f_put_one;

always_comb begin
  f_is_set  = set_i && {chk_warp_i, chk_rd_i} == {f_warp, f_reg};
  f_is_soon = soon_i && {soon_warp_i, soon_rd_i} == {f_warp, f_reg};
  f_is_wb   = wb_i && {wb_warp_i, wb_rd_i} == {f_warp, f_reg};
  f_is_put  = put_i && {put_warp_i, put_rd_i} == {f_warp, f_reg};
  f_put_one = (put_q || put_now_q) && {put_warp_q, put_rd_q} == {f_warp, f_reg};
  f_d_pend  = f_pend_q && !f_clear_q;
  f_d_far   = f_far_q && !f_is_soon && !f_is_wb;
  f_wake    = f_asleep_q && ((soon_i && soon_warp_i == f_warp && (f_any_q || f_until_q == soon_rd_i))
                             || (wb_i && wb_warp_i == f_warp && (f_any_q || f_until_q == wb_rd_i)));
end

// The answers in R.
logic [3:0] f_hit, f_apart, f_one, f_nxt_hit, f_nxt_apart, f_nxt_one, f_nxt_new;
logic [4:0] f_blocker, f_nxt_blocker;
logic       f_soon, f_wb, f_hazard, f_sleep, f_next_sleep;

always_comb begin
  f_soon   = soon_i && soon_warp_i == chk_warp_i;
  f_wb     = wb_i && wb_warp_i == chk_warp_i;
  f_hit    = chk_use_i & {pend[chk_rd_i], pend[chk_rs3_i], pend[chk_rs2_i], pend[chk_rs1_i]};
  f_apart  = {far[chk_rd_i], far[chk_rs3_i], far[chk_rs2_i], far[chk_rs1_i]};
  f_one    = f_hit & (~f_hit + 4'd1);
  f_hazard = f_hit != 4'd0 || (chk_all_i && pend != 32'd0);
  f_sleep  = !f_soon && !f_wb && (chk_all_i ? far != 32'd0 : f_hit == 4'd0 ? f_apart[3] : (f_one & f_apart) != 4'd0);
  f_blocker = f_hit[0] ? chk_rs1_i : f_hit[1] ? chk_rs2_i : f_hit[2] ? chk_rs3_i : chk_rd_i;
  f_nxt_hit = nxt_use_i & {pend[nxt_rd_i], pend[nxt_rs3_i], pend[nxt_rs2_i], pend[nxt_rs1_i]};
  f_nxt_new = nxt_use_i & {4{sets_i}}
              & {nxt_rd_i == chk_rd_i, nxt_rs3_i == chk_rd_i, nxt_rs2_i == chk_rd_i, nxt_rs1_i == chk_rd_i};
  f_nxt_apart = {far[nxt_rd_i] && !(f_soon && soon_rd_i == nxt_rd_i) && !(f_wb && wb_rd_i == nxt_rd_i),
                 far[nxt_rs3_i] && !(f_soon && soon_rd_i == nxt_rs3_i) && !(f_wb && wb_rd_i == nxt_rs3_i),
                 far[nxt_rs2_i] && !(f_soon && soon_rd_i == nxt_rs2_i) && !(f_wb && wb_rd_i == nxt_rs2_i),
                 far[nxt_rs1_i] && !(f_soon && soon_rd_i == nxt_rs1_i) && !(f_wb && wb_rd_i == nxt_rs1_i)};
  f_nxt_one = f_nxt_hit & (~f_nxt_hit + 4'd1);
  f_nxt_blocker = (f_nxt_new != 4'd0) ? chk_rd_i : f_nxt_hit[0] ? nxt_rs1_i : f_nxt_hit[1] ? nxt_rs2_i
                  : f_nxt_hit[2] ? nxt_rs3_i : nxt_rd_i;
  f_next_sleep = f_nxt_new != 4'd0 || (f_nxt_one & f_nxt_apart) != 4'd0;
end

always_ff @(posedge clk_i) begin
  f_pend       <= f_d_pend;
  f_far        <= f_d_far;
  f_d_warp_q   <= d_warp_i;
  f_rst_q      <= rst_i;
  f_set_q      <= set_i && !rst_i;
  f_set_warp_q <= chk_warp_i;
  f_put_q      <= rst_i ? 3'd0 : {f_put_q[1:0], put_i};
  f_clear_q    <= f_is_wb && !rst_i;
  if (f_is_soon || f_is_wb) f_far_q <= 1'b0;
  if (f_clear_q) f_pend_q <= 1'b0;
  if (f_is_set || f_is_put) begin
    f_pend_q  <= 1'b1;
    f_far_q   <= 1'b1;
    f_loose_q <= f_is_put || !set_fixed_i;
  end
  f_asleep_q <= f_asleep_q && !f_wake;
  if (chk_warp_i == f_warp) begin
    if (chk_valid_i && f_hazard && f_sleep) {f_asleep_q, f_any_q, f_until_q} <= {1'b1, chk_all_i, f_blocker};
    if (nxt_valid_i && f_next_sleep) {f_asleep_q, f_any_q, f_until_q} <= {2'b10, f_nxt_blocker};
  end
  if (rst_i) {f_begun_q, f_asleep_q, f_pend_q, f_far_q} <= 4'b1000;
end

always_comb begin
  assume (f_begun_q || rst_i);
  assume (!(chk_valid_i || nxt_valid_i || set_i) || (chk_warp_i == f_d_warp_q && !f_rst_q));
  assume (!set_i || (chk_valid_i && chk_use_i[3] && sets_i && !f_hazard && !(f_set_q && f_set_warp_q == chk_warp_i)));
  assume (!nxt_valid_i || (chk_valid_i && !f_hazard));
  assume (!(f_is_set && f_is_wb));
  assume (!(f_is_wb && f_far_q && !f_loose_q));
  assume (!(f_is_soon && f_pend_q && f_loose_q));
  // a resume
  assume (!(put_i || f_put_q != 3'd0) || !(chk_valid_i || nxt_valid_i || set_i));
  assume (!(put_i && f_put_q[0]));
  assume (!(f_is_put && f_pend_q));
  assume (!((f_is_put || f_put_one) && (f_is_wb || f_is_soon)));

  if (f_begun_q) begin
    if (chk_valid_i && f_d_warp_q == f_warp) assert (pend[f_reg] == f_pend && far[f_reg] == f_far);
    if (chk_valid_i) assert (hazard_o == f_hazard);
    if (chk_valid_i && f_hazard) assert (sleep_o == f_sleep);
    if (nxt_valid_i) assert (next_sleep_o == f_next_sleep);
    assert (wake_o[f_warp] == f_wake);
  end
end

// Induction: what the bits of the memories mean. A row in R is that of its memory until its instruction changes it.
logic [31:0] f_begun, f_ended, f_fixed, f_told, f_loose;
logic        f_dut_pend, f_dut_fixed, f_row;
always_comb begin
  f_begun = begun_q[f_warp];
  f_ended = ended_q[f_warp];
  f_fixed = fixed_q[f_warp];
  f_told  = told_q[f_warp];
  f_loose = loose_q[f_warp];
  f_dut_pend  = !empty_q[f_warp] && f_begun[f_reg] != f_ended[f_reg];
  f_dut_fixed = !empty_q[f_warp] && f_fixed[f_reg] != f_told[f_reg];
  f_row = f_put_q == 3'd0 && !f_rst_q && f_d_warp_q == f_warp;
  if (f_begun_q) begin
    assert (f_clear_q == (clear_q && {clear_warp_q, clear_rd_q} == {f_warp, f_reg}));
    assert (asleep_q[f_warp] == f_asleep_q);
    if (f_asleep_q) assert (until_q[f_warp][5] == f_any_q && (f_any_q || until_q[f_warp][4:0] == f_until_q));
    assert (put_q == f_put_q[0] && put_now_q == f_put_q[1] && !(f_put_q[0] && f_put_q[1]));
    assert (!(f_put_one && (f_dut_pend || f_clear_q)));
    assert (f_pend_q == (f_dut_pend || f_put_one));
    assert (f_far_q == (f_dut_fixed || (f_dut_pend && f_loose[f_reg] && !f_clear_q) || f_put_one));
    assert (!(f_dut_fixed && (f_loose[f_reg] || !f_dut_pend || f_clear_q)));
    if (f_dut_pend) assert (f_loose[f_reg] == f_loose_q);
    if (f_put_one) assert (f_loose_q);
    if (f_row) assert (pend[f_reg] == f_pend && far[f_reg] == f_far);
    if (f_row && !(f_set_q && f_set_warp_q == f_warp)) assert (pend[f_reg] == f_dut_pend);
    if ((f_row && !(f_set_q && f_set_warp_q == f_warp)) || (put_now_q && put_warp_q == f_warp))
      assert (begun[f_reg] == (empty_q[f_warp] ? f_ended[f_reg] : f_begun[f_reg])
              && fixed[f_reg] == (empty_q[f_warp] ? f_told[f_reg] : f_fixed[f_reg])
              && loose[f_reg] == f_loose[f_reg]);
  end
end
