// SPDX-License-Identifier: Apache-2.0
// Properties of simt_walk, for any state, any warp or slot in it and any register: each line that context.yaml asks for
// comes once, in its place, and no other line comes. A vector with two lines is counted at the first one. Assumed: the
// state does not change during a walk, a step is taken only of a line that is shown, and a walk begins only when none
// is in progress.
(* anyconst *) logic [WARPS-1:0] f_slots, f_live;
(* anyconst *) logic [4:0] f_pending;
(* anyconst *) logic [10:0] f_lines;
(* anyconst *) logic [WW-1:0] f_pick;
(* anyconst *) logic [31:0] f_regs;      // registers of the chosen warp
(* anyconst *) logic [VECTORS-1:0] f_scalars;
(* anyconst *) logic [4:0] f_reg;
logic f_start_q = 1'b1, f_walked_q, f_now, f_in_slots, f_in_warps, f_later;
logic [1:0] f_slot_q, f_lanes_q, f_pcs_q, f_vector_q, f_reg_q;  // how often the line came
logic [10:0] f_local_q;
logic [4:0] f_records_q;
logic f_want_slot, f_want_warp, f_want_vector, f_want_reg;
logic [WARPS-1:0] f_above;
logic [31:0] f_regs_above;
logic [VECTORS-1:0] f_vectors_above;

assign f_now = step_i && !second_q && index_q == f_pick;
assign f_want_slot = f_slots[f_pick];
assign f_want_warp = f_live[f_pick];
assign f_want_vector = f_want_warp && f_scalars[f_reg % VECTORS];
assign f_want_reg = f_want_warp && f_regs[f_reg] && f_reg != '0;
assign f_above = ({WARPS{1'b1}} << index_q) << 1;
assign f_regs_above = (32'hffff_ffff << rd_q) << 1;
assign f_vectors_above = ({VECTORS{1'b1}} << (rd_q / LANES)) << 1;
assign f_in_slots = kind_q == simt_core_pkg::LINE_SLOT || kind_q == simt_core_pkg::LINE_LOCAL;
assign f_in_warps = kind_q >= simt_core_pkg::LINE_LANES && kind_q <= simt_core_pkg::LINE_REG;
assign f_later = kind_q >= simt_core_pkg::LINE_PENDING;

always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  if (f_now) begin
    if (kind_q == simt_core_pkg::LINE_SLOT) f_slot_q <= f_slot_q + 1'b1;
    if (kind_q == simt_core_pkg::LINE_LOCAL) f_local_q <= f_local_q + 1'b1;
    if (kind_q == simt_core_pkg::LINE_LANES) f_lanes_q <= f_lanes_q + 1'b1;
    if (kind_q == simt_core_pkg::LINE_PCS) f_pcs_q <= f_pcs_q + 1'b1;
    if (kind_q == simt_core_pkg::LINE_SCALARS && rd_q == 5'((f_reg % VECTORS) * LANES))
      f_vector_q <= f_vector_q + 1'b1;
    if (kind_q == simt_core_pkg::LINE_REG && rd_q == f_reg) f_reg_q <= f_reg_q + 1'b1;
  end
  if (step_i && kind_q == simt_core_pkg::LINE_PENDING) f_records_q <= f_records_q + 1'b1;
  f_walked_q <= step_i && walk_o.last && !rst_i;
  if (start_i) {f_slot_q, f_local_q, f_lanes_q, f_pcs_q, f_vector_q, f_reg_q, f_records_q} <= '0;
end

always_comb begin
  assume (rst_i || !f_start_q);
  assume (!start_i || kind_q == simt_core_pkg::LINE_END);
  assume (!step_i || walk_o.valid);
  assume (f_pending <= 5'd31 && f_lines <= 11'(1024 / WARPS) && local_lines_i == f_lines);
  if (kind_q != simt_core_pkg::LINE_HEAD && kind_q != simt_core_pkg::LINE_END)
    assume (slots_i == f_slots && live_i == f_live && pending_i == f_pending);
  if (index_q == f_pick) assume (regs_i == f_regs && scalars_i == f_scalars);

  if (!f_start_q) begin
    // at the end each line has come, once
    if (f_walked_q) begin
      assert (kind_q == simt_core_pkg::LINE_END);
      assert (f_slot_q == 2'(f_want_slot) && f_local_q == (f_want_slot ? f_lines : '0));
      assert (f_lanes_q == 2'(f_want_warp) && f_pcs_q == f_lanes_q);
      assert (f_vector_q == 2'(f_want_vector) && f_reg_q == 2'(f_want_reg) && f_records_q == f_pending);
    end
    // lines of local memory are the slot's own, in order
    if (walk_o.valid && kind_q == simt_core_pkg::LINE_LOCAL && index_q == f_pick)
      assert (line_q == 10'(11'(f_pick) * f_lines + f_local_q));

    // induction: what has come of each section, before, in and behind it
    if (kind_q == simt_core_pkg::LINE_HEAD || kind_q == simt_core_pkg::LINE_MASKS)
      assert ({f_slot_q, f_local_q, f_lanes_q, f_pcs_q, f_vector_q, f_reg_q, f_records_q} == '0 && !second_q &&
              !place_q);
    if (kind_q == simt_core_pkg::LINE_HEAD) assert (index_q == '0);
    if (f_in_slots) begin
      assert (f_slots[index_q] && left_q == (f_slots & f_above) && {f_lanes_q, f_pcs_q, f_vector_q, f_reg_q} == '0 &&
              !second_q);
      assert (f_slot_q == 2'(f_want_slot && (kind_q == simt_core_pkg::LINE_LOCAL || f_pick < index_q)));
    end
    if (kind_q == simt_core_pkg::LINE_SLOT) assert (f_local_q == '0 && !place_q);
    if (kind_q == simt_core_pkg::LINE_LOCAL) begin
      assert (count_q != '0 && count_q <= f_lines && (!place_q || count_q == f_lines));
      assert (f_local_q == (!f_want_slot || f_pick > index_q ? '0 : f_pick < index_q ? f_lines : f_lines - count_q));
      if (!place_q) assert (line_q == 10'(11'(index_q) * f_lines + f_lines - count_q));
    end
    if (f_in_warps || f_later) begin
      if (f_in_warps || f_walked_q || kind_q != simt_core_pkg::LINE_END)
        assert (f_slot_q == 2'(f_want_slot) && f_local_q == (f_want_slot ? f_lines : '0) && !place_q);
    end
    if (f_in_warps) begin
      assert (f_live[index_q] && left_q == (f_live & f_above));
      assert (f_lanes_q == 2'(f_want_warp && (f_pick < index_q || (f_pick == index_q &&
          (kind_q != simt_core_pkg::LINE_LANES || second_q)))));
      assert (f_pcs_q == 2'(f_want_warp && (f_pick < index_q || (f_pick == index_q &&
          (kind_q > simt_core_pkg::LINE_PCS || (kind_q == simt_core_pkg::LINE_PCS && second_q))))));
      assert (f_vector_q == 2'(f_want_vector && (f_pick < index_q || (f_pick == index_q &&
          (kind_q == simt_core_pkg::LINE_REG || (kind_q == simt_core_pkg::LINE_SCALARS &&
          (rd_q / LANES > f_reg % VECTORS || (rd_q / LANES == f_reg % VECTORS && second_q))))))));
      assert (f_reg_q == 2'(f_want_reg &&
                            (f_pick < index_q || (f_pick == index_q && kind_q == simt_core_pkg::LINE_REG &&
          (rd_q > f_reg || (rd_q == f_reg && second_q))))));
      if (f_pick == index_q) begin
        if (kind_q == simt_core_pkg::LINE_PCS) assert (scalars_q == f_scalars);
        if (kind_q == simt_core_pkg::LINE_SCALARS)
          assert (scalars_q == (f_scalars & f_vectors_above) && f_scalars[rd_q / LANES] && rd_q % LANES == '0);
        if (kind_q == simt_core_pkg::LINE_PCS || kind_q == simt_core_pkg::LINE_SCALARS)
          assert (regs_q == {f_regs[31:1], 1'b0});
        if (kind_q == simt_core_pkg::LINE_REG)
          assert (regs_q == (f_regs & f_regs_above) && f_regs[rd_q] && rd_q != '0);
      end
      if (kind_q == simt_core_pkg::LINE_REG) assert (scalars_q == '0);
    end
    if (kind_q >= simt_core_pkg::LINE_SLOT && kind_q < simt_core_pkg::LINE_PENDING)
      assert (f_records_q == '0 && (pending_q == f_pending));
    if (f_later && kind_q != simt_core_pkg::LINE_END) begin
      assert (f_lanes_q == 2'(f_want_warp) && f_pcs_q == f_lanes_q && f_vector_q == 2'(f_want_vector) &&
              f_reg_q == 2'(f_want_reg));
      assert (pending_q != '0 && pending_q <= f_pending);
      assert (6'(f_records_q) + 6'(pending_q) == 6'(f_pending) + 6'(kind_q != simt_core_pkg::LINE_PENDING));
    end
    assert (kind_q <= simt_core_pkg::LINE_END);
    if (kind_q != simt_core_pkg::LINE_END) assert (LAST_PART || !second_q);
    if (kind_q == simt_core_pkg::LINE_PENDING) assert (!second_q);
  end
end
