// SPDX-License-Identifier: Apache-2.0
// The pipeline of the SIMT executor: issues up to one instruction of one warp per cycle, round robin between warps.
//
//    P  pick a warp        simt_schedule, simt_patience
//    F  fetch its pc       simt_warps -> simt_icache
//    D  instruction        simt_icache -> register addresses to the RAMs
//    R  decode, operands   simt_scoreboard: issue, or kill and pick again later; next pc is pc + 4 unless B decides
//    X  execute            simt_lane, div_unit; memory instructions to simt_memport
//    B  branch decision    simt_warps; ALU results to the registers
//
// Contract: launch_* launches warps, done_o reports their ends; fetch_*, fetched_i and ic_wake_i are the channel of
// simt_icache, lsu_* that of simt_lsu. fault_valid_o is a pulse per faulting instruction; fault_o has the warp's
// number in the core; its group is zero. rst_i also ends a dispatch after a fault. idle_o: no memory instruction here.
// Save: control_i.halt stops picking. Once busy_o is low and simt_lsu has settled, seen_o shows the warp or slot
// look_i.index and, one cycle after look_i.read, its register or (look_i.own) the scalars from it on.
// Resume: put_i writes state back in the order of simt_walk, launches with control_i.restoring give the rest, and then
// its select makes warps select their lanes.
// State saved at preemption: that of simt_warps, simt_csr, simt_regfile and simt_written. slot_q and lbase_q come with
// the launches; scoreboard and scheduler follow from the rest.
// Rate: a warp has one instruction in P to R. The next follows 4 cycles after a plain one and 6 after a branch, so 6
// warps fill the pipeline. No stage stalls: an instruction that cannot be issued in R is killed and picked again.

module simt_core #(
    parameter int LANES = 16, WARPS = 16, DIVIDERS = (LANES + 3) / 4,
    localparam int WW = $clog2(WARPS), LW = $clog2(LANES)
) (
    input  logic                clk_i, rst_i,
    input  tern_spec_pkg::pkt_dispatch_t packet_i,        // dispatch packet, stable while it runs
    input  logic [63:0]         time_i,          // device time, cycles since reset
    output logic                idle_o,
    // launches and ends of warps
    input  logic                launch_valid_i,
    output logic                launch_ready_o,
    input  simt_core_pkg::launch_t launch_i,
    input  logic [LANES*30-1:0] launch_lid_i,    // local ids {z, y, x} of each lane, 10 bits each
    output simt_core_pkg::warp_end_t done_o,
    // instruction cache
    output simt_core_pkg::fetch_t fetch_o,
    input  simt_core_pkg::fetched_t fetched_i,
    input  simt_core_pkg::fetch_fault_t fetch_fault_i,
    input  logic [WARPS-1:0]    ic_wake_i,
    // load/store unit
    output logic                lsu_valid_o,
    input  logic                lsu_ready_i,
    output simt_op_pkg::lsu_req_t lsu_o,
    output logic [WW-1:0]       lsu_warp_o,
    output logic [LANES-1:0]    lsu_mask_o,
    output logic [LANES*96-1:0] lsu_operands_o,  // {cmp, data, addr}, a word for each lane
    input  logic                lsu_wb_valid_i,
    output logic                lsu_wb_ready_o,
    input  simt_core_pkg::result_t lsu_wb_i,
    input  logic [LANES*32-1:0] lsu_wb_data_i,
    input  simt_core_pkg::lsu_warps_t lsu_warps_i,
    output logic                lsu_inv_o,
    // faults of instructions
    output logic                fault_valid_o,
    output tern_pkg::fault_t    fault_o,
    // save and restore
    input  simt_core_pkg::control_t control_i,
    output logic                busy_o,
    output simt_core_pkg::kept_t kept_o,
    input  simt_core_pkg::look_t look_i,
    output simt_core_pkg::seen_t seen_o,
    input  simt_core_pkg::put_t put_i,
    input  simt_core_pkg::mark_t mark_i,
    output simt_core_pkg::events_t ev_o
);

  // ------------------------------------------------------------------------------------ save and restore
  logic [WW-1:0]       look_index, put_index;
  logic [WW+4:0]       look_rd;
  logic [LANES-1:0]    look_running;
  logic [LANES*32-1:0] look_lanes, look_pcs, look_scalars, look_regs, put_vector;
  logic [WARPS-1:0]    present;
  logic [WARPS*32-1:0] masks;
  logic [WARPS*32/LANES-1:0] scalars;
  logic [2:0]          quiet_q;
  assign look_index     = look_i.index[WW-1:0];
  assign look_rd        = {look_i.warp[WW-1:0], look_i.rd};
  assign seen_o.running = 32'(look_running);
  assign seen_o.lanes   = 1024'(look_lanes);
  assign seen_o.pcs     = 1024'(look_pcs);
  assign seen_o.scalars = 1024'(look_scalars);
  assign seen_o.regs    = 1024'(look_regs);
  assign kept_o.masks   = 1024'(masks);
  assign kept_o.scalars = 128'(scalars);
  assign kept_o.present = 32'(present);
  assign put_index      = put_i.index[WW-1:0];
  assign put_vector     = put_i.words[LANES*32-1:0];

  // A warp is out of `present` two cycles after its last instruction.
  always_ff @(posedge clk_i)
    quiet_q <= rst_i ? '0 : {quiet_q[1:0], control_i.halt && !control_i.restoring && !busy_o};

  // ------------------------------------------------------------------------------------------------- P
  logic             pick_valid;
  logic [WW-1:0]    pick_warp;
  logic [WARPS-1:0] wake, flow_wake, sb_wake, holds, allow, lsu_busy, lsu_hold;
  assign lsu_busy = lsu_warps_i.busy[WARPS-1:0];
  assign lsu_hold = lsu_warps_i.hold[WARPS-1:0];
  logic             lsu_room, lsu_keep, port_room, hold_lsu, hold_fence, retry, launched;

  simt_schedule #(.WARPS(WARPS)) u_schedule (
      .clk_i,
      .rst_i,
      .enable_i(!control_i.halt),
      .wake_i(wake),
      .issue_i(r_issue),
      .hold_lsu_i(hold_lsu),
      .hold_fence_i(hold_fence),
      .hold_warp_i(r_warp_q),
      .lsu_room_i(lsu_room),
      .fence_busy_i(lsu_busy | holds),
      .allow_i(allow),
      .lsu_keep_o(lsu_keep),
      .pick_valid_o(pick_valid),
      .pick_warp_o(pick_warp)
  );

  simt_patience #(.WARPS(WARPS)) u_patience (
      .clk_i,
      .rst_i,
      .refused_i(x_refused_q),
      .issued_i(x_valid_q),
      .held_i(x_held_q),
      .warp_i(x_warp_q),
      .missed_i(d_valid_q && !d_hit),
      .miss_warp_i(d_warp_q),
      .allow_o(allow)
  );

  // ------------------------------------------------------------------------------------------------- F
  logic          f_valid_q;
  logic [WW-1:0] f_warp_q;
  logic [31:0]   f_pc;
  always_ff @(posedge clk_i) begin
    f_valid_q <= pick_valid && !rst_i;
    f_warp_q  <= pick_warp;
  end

  assign fetch_o.valid = f_valid_q;
  assign fetch_o.warp  = 5'(f_warp_q);
  assign fetch_o.pc    = f_pc;

  // ------------------------------------------------------------------------------------------------- D
  logic             d_valid_q, d_hit, d_atomic, d_third, d_step_slow, d_quantum_end;
  logic [WW-1:0]    d_warp_q;
  logic [31:0]      d_pc_q, d_pc4, d_instr;
  logic [LANES-1:0] d_mask;
  logic [WW+4:0]    d_rs1, d_rs2, d_rs3;
  always_ff @(posedge clk_i) begin
    d_valid_q <= f_valid_q && !rst_i;
    d_warp_q  <= f_warp_q;
    d_pc_q    <= f_pc;
  end

  always_comb begin
    d_instr  = fetched_i.instr;
    d_hit    = d_valid_q && fetched_i.hit;
    d_pc4    = d_pc_q + 32'd4;
    d_atomic = d_instr[6:0] == 7'h2f;
    d_third  = d_hit && (d_atomic || d_instr[6:4] == 3'b100);
    d_rs1    = {d_warp_q, d_instr[19:15]};
    d_rs2    = {d_warp_q, d_instr[24:20]};
    d_rs3    = {d_warp_q, d_atomic ? d_instr[11:7] : d_instr[31:27]};
  end

  // ------------------------------------------------------------------------------------------------- R
  logic             r_valid_q, r_step_slow_q, r_quantum_end_q;
  logic [WW-1:0]    r_warp_q, r_slot;
  logic [31:0]      r_pc_q, r_pc4_q, r_instr_q, r_after_q;
  logic [2:0]       r_has;
  logic [95:0]      r_value;
  logic [LANES-1:0] r_mask_q;
  always_ff @(posedge clk_i) begin
    r_valid_q <= d_hit && !rst_i;
    if (d_hit) begin
      r_warp_q        <= d_warp_q;
      r_pc_q          <= d_pc_q;
      r_pc4_q         <= d_pc4;
      r_instr_q       <= d_instr;
      r_after_q       <= fetched_i.next;
      r_mask_q        <= d_mask;
      r_step_slow_q   <= d_step_slow;
      r_quantum_end_q <= d_quantum_end;
    end
  end

  simt_written #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_written (
      .clk_i,
      .rst_i,
      .clear_i(launch && !launch_i.live),
      .clear_warp_i(launch_warp),
      .write_i(wb_write),
      .rd_i({wb_warp, wb_rd}),
      .run_rd_i({ends.warp[WW-1:0], ends.rd}),
      .full_i(&wb_mask),
      .data_i(wb_data),
      .first_o(wb_first),
      .first_value_o(wb_value),
      .f_warp_i(f_warp_q),
      .d_warp_i(d_warp_q),
      .read_i(d_hit),
      .rs1_i(d_rs1[4:0]),
      .rs2_i(d_rs2[4:0]),
      .rs3_i(d_rs3[4:0]),
      .has_o(r_has),
      .value_o(r_value),
      .put_mask_i(put_i.valid && put_i.kind == simt_core_pkg::LINE_MASKS),
      .put_word_i(put_i.mask),
      .put_scalars_i(put_i.valid && put_i.kind == simt_core_pkg::LINE_SCALARS),
      .put_warp_i(put_index),
      .put_first_i(put_i.rd),
      .put_vector_i(put_vector),
      .quiet_i(&quiet_q),
      .live_i(present),
      .ready_o(kept_o.ready),
      .masks_o(masks),
      .scalars_o(scalars),
      .look_i(look_i.active),
      .look_next_i(look_rd),
      .look_warp_i(look_index),
      .look_first_i(look_i.first),
      .look_ram_i(look_regs),
      .look_vector_o(look_scalars)
  );

  simt_core_pkg::unit_e r_unit;
  simt_core_pkg::flow_e r_flow;
  simt_core_pkg::bsel_e r_bsel;
  simt_core_pkg::csel_e r_csel;
  simt_core_pkg::part_e r_part;
  simt_core_pkg::wb_e r_sel;
  logic [5:0]  r_op;
  logic [31:0] r_imm, r_shared, r_scalar_a, r_scalar_b, r_target;
  logic        r_use1, r_use2, r_use3, r_dest, r_drain, r_neg_prod, r_neg_add, r_rounds, r_csr, r_csr_write, r_csr_ok;
  logic        r_fence, r_call, r_return, r_fcsr, r_late, r_hazard, r_sleep, r_stall, r_wait, r_faulty, r_issue, r_next;
  logic        r_books, r_pends, r_result, r_kept;
  logic [3:0]  r_amo;
  logic [4:0]  r_rd;
  logic [7:0]  r_decode_fault, r_fault;
  logic        alu_ok, alu_late, mul_ok, fma_ok;

  simt_decode u_decode (
      .instr_i(r_instr_q),
      .unit_o(r_unit),
      .op_o(r_op),
      .flow_o(r_flow),
      .imm_o(r_imm),
      .use_rs1_o(r_use1),
      .use_rs2_o(r_use2),
      .use_rs3_o(r_use3),
      .dest_o(r_dest),
      .drain_o(r_drain),
      .bsel_o(r_bsel),
      .csel_o(r_csel),
      .neg_prod_o(r_neg_prod),
      .neg_add_o(r_neg_add),
      .rounds_o(r_rounds),
      .amo_o(r_amo),
      .csr_o(r_csr),
      .csr_write_o(r_csr_write),
      .fence_o(r_fence),
      .call_o(r_call),
      .return_o(r_return),
      .fault_o(r_decode_fault)
  );

  simt_csr #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_csr (
      .clk_i,
      .packet_i,
      .time_i,
      .valid_i(r_valid_q && r_csr),
      .number_i(r_instr_q[31:20]),
      .write_i(r_csr_write),
      .warp_i(r_warp_q),
      .slot_i(look_i.active ? look_index : r_slot),
      .ok_o(r_csr_ok),
      .shared_o(r_shared),
      .part_o(r_part),
      .launch_i(launch_valid_i),
      .launch_slot_i(launch_i.slot[WW-1:0]),
      .launch_group_i(launch_i.group),
      .launch_base_i(launch_i.base),
      .launch_size_i(launch_i.size),
      .group_o(look_group),
      .base_o(look_base),
      .put_slot_i(put_slot),
      .put_index_i(put_index),
      .put_slot_data_i(put_i.line[191:0])
  );

  logic [3:0] r_after_use;
  logic       r_after_memory, r_after_sleep, r_after_hold, unused;
  assign unused = &{1'b0, r_after_q};      // simt_hint does not read all of its fields

  simt_hint u_hint (
      .opcode_i(r_after_q[6:0]),
      .rd_i(r_after_q[11:7]),
      .rs1_i(r_after_q[19:15]),
      .rs2_i(r_after_q[24:20]),
      .use_o(r_after_use),
      .memory_o(r_after_memory)
  );

  simt_scoreboard #(.WARPS(WARPS)) u_scoreboard (
      .clk_i,
      .rst_i,
      .d_warp_i(d_warp_q),
      .chk_valid_i(r_valid_q && !r_faulty),
      .chk_warp_i(r_warp_q),
      .chk_rs1_i(r_instr_q[19:15]),
      .chk_rs2_i(r_instr_q[24:20]),
      .chk_rd_i(r_rd),
      .chk_rs3_i(r_instr_q[6] ? r_instr_q[31:27] : r_rd),
      .chk_use_i({r_dest, r_use3, r_use2 && r_instr_q[24:20] != 5'd0, r_use1 && r_instr_q[19:15] != 5'd0}),
      .chk_all_i(r_drain),
      .hazard_o(r_hazard),
      .sleep_o(r_sleep),
      .set_i(r_pends),
      .sets_i(r_result),
      .set_fixed_i(r_sel != simt_core_pkg::WB_ANY),
      .nxt_valid_i(r_next),
      .nxt_rs1_i(r_after_q[19:15]),
      .nxt_rs2_i(r_after_q[24:20]),
      .nxt_rs3_i(r_after_q[31:27]),
      .nxt_rd_i(r_after_q[11:7]),
      .nxt_use_i(r_after_use),
      .next_sleep_o(r_after_sleep),
      .soon_i(soon.valid),
      .soon_warp_i(soon.warp[WW-1:0]),
      .soon_rd_i(soon.rd),
      .wb_i(ends.valid),
      .wb_warp_i(ends.warp[WW-1:0]),
      .wb_rd_i(ends.rd),
      .wake_o(sb_wake),
      .put_i(mark_i.valid),
      .put_warp_i(mark_i.warp[WW-1:0]),
      .put_rd_i(mark_i.rd)
  );

  always_comb begin
    r_rd     = r_instr_q[11:7];
    r_fault  = (r_csr && !r_csr_ok) ? tern_spec_pkg::FAULT_ILLEGAL_INSTRUCTION : r_decode_fault;
    r_faulty = r_fault != tern_spec_pkg::FAULT_NONE;
    r_fcsr   = r_csr && r_drain;
    r_late   = alu_late && !r_fcsr;
    r_sel    = simt_core_pkg::WB_ANY;
    r_stall  = 1'b0;
    case (r_unit)
      simt_core_pkg::UNIT_ALU: begin
        r_sel   = r_fcsr ? simt_core_pkg::WB_FCSR : r_late ? simt_core_pkg::WB_ALU_LATE : simt_core_pkg::WB_ALU;
        r_stall = r_dest && (!alu_ok || (r_fcsr && alu_late));
      end
      simt_core_pkg::UNIT_MUL: begin
        r_sel   = simt_core_pkg::WB_MUL;
        r_stall = !mul_ok;
      end
      simt_core_pkg::UNIT_CVT: begin
        r_sel   = simt_core_pkg::WB_CVT;
        r_stall = !fma_ok || cvt_busy[0];
      end
      simt_core_pkg::UNIT_FMA: begin
        r_sel   = simt_core_pkg::WB_FMA;
        r_stall = !fma_ok;
      end
      simt_core_pkg::UNIT_DIV: r_stall = div_busy;
      simt_core_pkg::UNIT_LSU: r_stall = !lsu_room;
      default: ;
    endcase
    r_wait     = r_fence && (lsu_busy[r_warp_q] || holds[r_warp_q]);
    r_kept     = r_unit == simt_core_pkg::UNIT_LSU && lsu_keep;
    r_issue    = r_valid_q && !r_faulty && !r_hazard && !r_kept && !r_wait && !r_stall;
    r_next     = r_issue && r_flow == simt_core_pkg::FLOW_NEXT && !r_step_slow_q;
    r_books    = r_issue && r_sel != simt_core_pkg::WB_ANY && r_dest;
    r_result   = r_dest && !(r_unit == simt_core_pkg::UNIT_ALU && !r_late);
    r_pends    = r_issue && r_result;
    retry      = r_valid_q && !r_faulty && (r_hazard ? !r_sleep : r_stall && r_unit != simt_core_pkg::UNIT_LSU);
    hold_fence = r_valid_q && !r_faulty && !r_hazard && r_wait;
    r_target   = r_pc_q + r_imm;
    r_scalar_a = r_fcsr ? {27'd0, r_instr_q[19:15]} : r_shared;
    case (r_bsel)
      simt_core_pkg::B_PC_IMM: r_scalar_b = r_target;
      simt_core_pkg::B_PC_4:   r_scalar_b = r_pc4_q;
      simt_core_pkg::B_ONE:    r_scalar_b = 32'h3f80_0000;
      default:                 r_scalar_b = r_imm;
    endcase
  end

  // Where the result goes.
  simt_core_pkg::result_t r_to;
  assign r_to.warp = 5'(r_warp_q);
  assign r_to.rd   = r_rd;
  assign r_to.mask = 32'(r_mask_q);
  assign r_to.last = 1'b1;

  always_comb begin
    r_after_hold = r_after_memory && (!lsu_room || lsu_keep);
    hold_lsu     = (r_next && !r_after_sleep && r_after_hold) ||
      (r_valid_q && !r_faulty && !r_hazard && (r_kept || (r_stall && r_unit == simt_core_pkg::UNIT_LSU)));
    wake = flow_wake | sb_wake | ic_wake_i;
    if (r_next && !r_after_sleep && !r_after_hold) wake[r_warp_q] = 1'b1;
    if (retry) wake[r_warp_q] = 1'b1;
    if (launched) wake[launch_to.warp[WW-1:0]] = 1'b1;
  end

  // ------------------------------------------------------------------------------------------------- X
  logic                x_valid_q, x_flow_valid_q, x_late_q, x_rounds_q, x_call_q, x_return_q, x_neg_prod_q, x_neg_add_q;
  logic                x_quantum_end_q, x_fcsr_q, x_fcsr_write_q, x_refused_q, x_held_q;
  simt_core_pkg::unit_e x_unit_q;
  simt_core_pkg::flow_e x_flow_q;
  logic [2:0]          x_funct3_q;
  logic [5:0]          x_op_q;
  logic [WW-1:0]       x_warp_q;
  logic [LANES-1:0]    x_mask_q, x_taken, x_bad_rm;
  logic [31:0]         x_imm_q, x_pc_q, x_target_q, x_lead_jump;
  logic [16:0]         x_lbase_q;
  logic [4:0]          x_rd_q;
  logic [3:0]          x_amo_q;
  logic [1:0]          x_csr_number_q;
  logic [LW-1:0]       x_lead;
  logic [LANES*32-1:0] x_a, x_b, x_c, x_addr;
  logic [LANES*3-1:0]  x_rm;
  // A fence empties the L1 from X, as r_issue is late in its cycle. That is early enough: the next instruction of the
  // warp is in R at least four cycles after the fence. A warp that learns of the fence by a barrier or by a flag in
  // memory is later still. The L1 looks up no line of these warps before. Tags and open fills are cleared together,
  // whatever begins or enters the L1 in that cycle, so no line that was requested before the fence stays or enters.
  // Fences wait for all accesses of their warp, so none of these is in the L1's stages.
  always_ff @(posedge clk_i) lsu_inv_o <= r_issue && r_fence;

  always_ff @(posedge clk_i) begin
    x_valid_q      <= r_issue && !rst_i;
    x_flow_valid_q <= r_issue && !r_next && !rst_i;
    x_refused_q    <= retry && !r_hazard && !rst_i;
    x_held_q       <= hold_lsu && !rst_i;
    if (r_valid_q) begin
      x_unit_q        <= (r_unit == simt_core_pkg::UNIT_ALU && !r_dest) ? simt_core_pkg::UNIT_NONE : r_unit;
      x_flow_q        <= r_flow;
      x_op_q          <= r_op;
      x_funct3_q      <= r_instr_q[14:12];
      x_warp_q        <= r_warp_q;
      x_mask_q        <= r_mask_q;
      x_imm_q         <= r_imm;
      x_pc_q          <= r_pc_q;
      x_target_q      <= r_target;
      x_lbase_q       <= lbase_q[r_warp_q];
      x_rd_q          <= r_rd;
      x_amo_q         <= r_amo;
      x_late_q        <= r_late;
      x_rounds_q      <= r_rounds;
      x_call_q        <= r_call;
      x_return_q      <= r_return;
      x_neg_prod_q    <= r_neg_prod;
      x_neg_add_q     <= r_neg_add;
      x_quantum_end_q <= r_quantum_end_q;
      x_fcsr_q        <= r_fcsr;
      x_fcsr_write_q  <= r_csr_write;
      x_csr_number_q  <= r_instr_q[21:20];
    end
  end

  always_comb begin
    x_bad_rm = '0; x_lead = '0; x_lead_jump = '0;
    if (x_valid_q && x_rounds_q) for (int i = 0; i < LANES; i++) x_bad_rm[i] = x_mask_q[i] && x_rm[3*i +: 3] > 3'd4;
    if (x_valid_q && x_flow_q == simt_core_pkg::FLOW_JALR) begin
      for (int i = LANES - 1; i >= 0; i--) if (x_mask_q[i]) x_lead = LW'(i);
      x_lead_jump = x_addr[32*x_lead +: 32];
    end
  end

  simt_op_pkg::lsu_req_t x_memory;
  assign x_memory.op          = x_op_q[2:0];
  assign x_memory.amo         = x_amo_q;
  assign x_memory.size        = x_funct3_q[1:0];
  assign x_memory.is_unsigned = x_funct3_q[2];
  assign x_memory.rd          = x_rd_q;
  assign x_memory.pc          = x_pc_q;
  assign x_memory.lbase       = x_lbase_q;
  simt_memport #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_memport (
      .clk_i,
      .rst_i,
      .room_o(port_room),
      .holds_o(holds),
      .in_valid_i(x_valid_q && x_unit_q == simt_core_pkg::UNIT_LSU),
      .in_i(x_memory),
      .in_warp_i(x_warp_q),
      .in_mask_i(x_mask_q),
      .in_addr_i(x_addr),
      .in_data_i(x_b),
      .in_cmp_i(x_c),
      .out_valid_o(lsu_valid_o),
      .out_ready_i(lsu_ready_i),
      .out_o(lsu_o),
      .out_warp_o(lsu_warp_o),
      .out_mask_o(lsu_mask_o),
      .out_addr_o(lsu_operands_o[0 +: LANES*32]),
      .out_data_o(lsu_operands_o[LANES*32 +: LANES*32]),
      .out_cmp_o(lsu_operands_o[LANES*64 +: LANES*32])
  );

  assign lsu_room = port_room && !control_i.halt;     // in a stop, simt_lsu has room only for what R has issued
  assign idle_o   = !lsu_valid_o && !(x_valid_q && x_unit_q == simt_core_pkg::UNIT_LSU);

  // Divider.
  logic                div_valid, div_ready, div_busy;
  logic [LANES*32-1:0] div_data;
  logic [LANES*5-1:0]  div_flags;
  simt_core_pkg::result_t div_to;

  simt_divide #(
      .LANES(LANES),
      .DIVIDERS(DIVIDERS)
  ) u_divide (
      .clk_i,
      .rst_i,
      .book_i(r_issue && r_unit == simt_core_pkg::UNIT_DIV),
      .book_to_i(r_to),
      .busy_o(div_busy),
      .in_valid_i(x_valid_q && x_unit_q == simt_core_pkg::UNIT_DIV),
      .in_op_i(x_op_q[2:0]),
      .in_rm_i(x_rm),
      .in_a_i(x_a),
      .in_b_i(x_b),
      .in_mask_i(x_mask_q),
      .out_valid_o(div_valid),
      .out_ready_i(div_ready),
      .out_data_o(div_data),
      .out_flags_o(div_flags),
      .out_o(div_to)
  );

  // Conversions.
  logic [LANES/4-1:0]  cvt_busy, unused_busy;   // the same in all
  logic [LANES*32-1:0] cvt_data;
  logic [LANES*2-1:0]  cvt_flags;

  assign unused_busy = cvt_busy;
  generate
    for (genvar i = 0; i < LANES / 4; i++) begin : g_convert
      simt_convert u_convert (
          .clk_i,
          .rst_i,
          .start_i(x_valid_q && x_unit_q == simt_core_pkg::UNIT_CVT),
          .op_i(x_op_q[1:0]),
          .rm_i(x_rm[12*i +: 12]),
          .a_i(x_a[128*i +: 128]),
          .busy_o(cvt_busy[i]),
          .data_o(cvt_data[128*i +: 128]),
          .flags_o(cvt_flags[8*i +: 8])
      );
    end
  endgenerate

  // ---------------------------------------------------------------------------------------------- launch
  logic          launch, launch_free, launch_wb, launch_taken, launch_new, launch_may_q;
  logic [WW-1:0] launch_warp;
  simt_core_pkg::result_t launch_to;
  simt_core_pkg::lane_wb_t lane_wb;
  logic [31:0]   stack_top;
  logic [WW-1:0] slot_q [0:WARPS-1];
  logic [16:0]   lbase_q [0:WARPS-1];

  assign launch_warp    = launch_i.warp[WW-1:0];
  assign launch_new     = !launch_i.live && !launch_i.ended;
  assign launch_ready_o = control_i.launch_ok && launch_free && (!launch_new || launch_may_q);
  assign launch    = launch_valid_i && launch_ready_o;
  assign r_slot    = slot_q[r_warp_q];
  assign stack_top = tern_spec_pkg::WIN_PRIVATE_BASE
                     + (32'd1 << packet_i.stack_log2);

  simt_launch #(
      .WARPS(WARPS)
  ) u_launch (
      .clk_i,
      .rst_i,
      .args_i(packet_i.args),
      .stack_top_i(stack_top),
      .launch_i(launch && launch_new),
      .ready_o(launch_free),
      .launch_warp_i(launch_warp),
      .wb_valid_o(launch_wb),
      .wb_ready_i(launch_taken),
      .wb_o(launch_to),
      .wb_data_o(lane_wb.launch),
      .launched_o(launched)
  );

  // A new launch waits until no instruction of the warp's last launch is held. That is looked up in the cycle before,
  // in which the same warp was on offer with leave to be launched. The answer is then still true: a warp that has ended
  // issues nothing, and the instructions that a resume gives to the LSU come only without that leave. A new launch
  // takes two cycles (simt_launch), so only the first warp of a group waits for the lookup.
  always_ff @(posedge clk_i)
    launch_may_q <= launch_valid_i && control_i.launch_ok && !launch && !holds[launch_warp] && !lsu_hold[launch_warp]
                    && !rst_i;

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      launches_when_nothing_is_held: assert (!(launch && launch_new && (holds[launch_warp] || lsu_hold[launch_warp])));
    end
  end
`endif

  always_ff @(posedge clk_i)
    if (launch) begin
      slot_q[launch_warp]  <= launch_i.slot[WW-1:0];
      lbase_q[launch_warp] <= launch_i.lbase;
    end

  // ------------------------------------------------------------------------------------------ write-back
  logic [3:0]       wb_sel;
  simt_core_pkg::mark_t ends, soon;
  logic             wb_write, wb_first, wb_busy, b_late_q, b_fflags_q, b_frm_q, put_slot, put_lanes,
    put_reg;
  logic [WW-1:0]    wb_warp;
  logic [4:0]       wb_rd;
  logic [LANES-1:0] wb_mask;
  logic [31:0]      wb_value;
  logic [LANES*32-1:0] wb_data;

  simt_writeback #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_writeback (
      .clk_i,
      .rst_i,
      .alu_ok_o(alu_ok),
      .alu_late_o(alu_late),
      .mul_ok_o(mul_ok),
      .fma_ok_o(fma_ok),
      .book_i(r_books),
      .book_sel_i(r_sel),
      .book_to_i(r_to),
      .launch_valid_i(launch_wb),
      .launch_ready_o(launch_taken),
      .launch_i(launch_to),
      .div_valid_i(div_valid),
      .div_ready_o(div_ready),
      .div_i(div_to),
      .lsu_valid_i(lsu_wb_valid_i),
      .lsu_ready_o(lsu_wb_ready_o),
      .lsu_i(lsu_wb_i),
      .put_i(put_reg),
      .put_state_i(put_lanes),
      .put_rd_i({put_index, put_lanes ? 5'd0 : put_i.rd}),
      .busy_o(wb_busy),
      .wb_sel_o(wb_sel),
      .wb_write_o(wb_write),
      .ends_o(ends),
      .wb_warp_o(wb_warp),
      .wb_rd_o(wb_rd),
      .wb_mask_o(wb_mask),
      .soon_o(soon)
  );

  always_comb begin
    put_slot  = put_i.valid && put_i.kind == simt_core_pkg::LINE_SLOT;
    put_lanes = put_i.valid && put_i.kind == simt_core_pkg::LINE_LANES;
    put_reg   = put_i.valid && put_i.kind == simt_core_pkg::LINE_REG;
    busy_o    = f_valid_q || d_valid_q || r_valid_q || x_valid_q || flow_busy || wb_busy || div_busy || !launch_free
                || lsu_valid_o;
  end

  always_ff @(posedge clk_i) begin
    b_late_q   <= x_valid_q && x_unit_q == simt_core_pkg::UNIT_ALU && x_late_q;
    b_fflags_q <= x_fcsr_q && x_fcsr_write_q && x_csr_number_q[0];
    b_frm_q    <= x_fcsr_q && x_fcsr_write_q && x_csr_number_q[1];
  end

  // --------------------------------------------------------------------------------------------- lanes
  simt_core_pkg::lane_r_t lane_r;
  assign lane_r.issue    = r_issue;
  assign lane_r.warp     = look_i.active ? look_i.index : 5'(r_warp_q);
  assign lane_r.bsel     = r_bsel;
  assign lane_r.csel     = r_csel;
  assign lane_r.part     = look_i.active ? simt_core_pkg::PART_FCSR : r_part;
  assign lane_r.has      = r_has;
  assign lane_r.a_scalar = r_csr && (r_instr_q[14] || !r_fcsr);
  assign lane_r.value    = r_value;
  assign lane_r.scalar_a = r_scalar_a;
  assign lane_r.scalar_b = r_scalar_b;

  simt_core_pkg::lane_x_t lane_x;
  assign lane_x.alu      = x_valid_q && x_unit_q == simt_core_pkg::UNIT_ALU;
  assign lane_x.mul      = x_valid_q && x_unit_q == simt_core_pkg::UNIT_MUL;
  assign lane_x.fma      = x_valid_q && x_unit_q == simt_core_pkg::UNIT_FMA;
  assign lane_x.fcsr     = x_valid_q && x_fcsr_q;
  assign lane_x.csr_op   = x_funct3_q[1:0];
  assign lane_x.csr_frm  = x_csr_number_q == 2'd2;
  assign lane_x.op       = x_op_q;
  assign lane_x.funct3   = x_funct3_q;
  assign lane_x.neg_prod = x_neg_prod_q;
  assign lane_x.neg_add  = x_neg_add_q;
  assign lane_x.warp     = 5'(x_warp_q);
  assign lane_x.imm      = x_imm_q;

  assign lane_wb.sel        = wb_sel;
  assign lane_wb.write      = wb_write;
  assign lane_wb.fflags_set = wb_sel == simt_core_pkg::WB_LAUNCH || put_lanes ||
                              (wb_sel == simt_core_pkg::WB_FCSR && b_fflags_q);
  assign lane_wb.frm_set    = wb_sel == simt_core_pkg::WB_LAUNCH || put_lanes ||
                              (wb_sel == simt_core_pkg::WB_FCSR && b_frm_q);
  assign lane_wb.first      = wb_first;
  assign lane_wb.warp       = 5'(wb_warp);
  assign lane_wb.rd         = wb_rd;
  assign lane_wb.value      = wb_value;

  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      simt_lane #(
          .LANE(i),
          .WARPS(WARPS)
      ) u_lane (
          .clk_i,
          .read_i(d_hit || look_i.read),
          .third_i(d_third),
          .rs1_i(!look_i.read ? d_rs1 : look_i.own ? {look_rd[WW+4:LW], LW'(i)} : look_rd),
          .rs2_i(d_rs2),
          .rs3_i(d_rs3),
          .r_i(lane_r),
          .x_i(lane_x),
          .a_o(x_a[32*i +: 32]),
          .b_o(x_b[32*i +: 32]),
          .c_o(x_c[32*i +: 32]),
          .addr_o(x_addr[32*i +: 32]),
          .taken_o(x_taken[i]),
          .rm_o(x_rm[3*i +: 3]),
          .rs1_o(look_regs[32*i +: 32]),
          .part_o(look_fcsr[10*i +: 10]),
          .b_late_i(b_late_q),
          .wb_i(lane_wb),
          .wb_active_i(wb_mask[i]),
          .wb_data_o(wb_data[32*i +: 32]),
          .cvt_data_i(cvt_data[32*i +: 32]),
          .cvt_flags_i(cvt_flags[2*i +: 2]),
          .div_data_i(div_data[32*i +: 32]),
          .div_flags_i(div_flags[5*i +: 5]),
          .lsu_data_i(put_i.valid ? put_vector[32*i +: 32] : lsu_wb_data_i[32*i +: 32]),
          .launch_i(launch),
          .launch_warp_i(launch_warp),
          .launch_lid_i(launch_lid_i[30*i +: 30])
      );
    end
  endgenerate

  // ------------------------------------------------------------------------------------- B: flow, barriers
  logic [LANES-1:0]    b_misaligned, fetch_mask;
  logic [31:0]         b_misaligned_va;
  logic                stuck, flow_busy;
  simt_core_pkg::waits_t waits;
  logic [95:0]         look_group, look_base;
  logic [LANES*10-1:0] look_fcsr;

  simt_core_pkg::flow_r_t flow_r;
  assign flow_r.issue = r_issue;
  assign flow_r.next  = r_next;
  assign flow_r.warp  = 5'(r_warp_q);
  assign flow_r.pc4   = r_pc4_q;

  simt_core_pkg::flow_x_t flow_x;
  assign flow_x.valid       = x_flow_valid_q;
  assign flow_x.atomic      = x_valid_q && x_unit_q == simt_core_pkg::UNIT_LSU &&
                              x_op_q[2:0] == simt_op_pkg::LSU_AMO;
  assign flow_x.flow        = x_flow_q;
  assign flow_x.quantum_end = x_quantum_end_q;
  assign flow_x.call        = x_call_q;
  assign flow_x.returns     = x_return_q;
  assign flow_x.warp        = 5'(x_warp_q);
  assign flow_x.mask        = 32'(x_mask_q);
  assign flow_x.pc          = x_pc_q;
  assign flow_x.target      = x_target_q;
  assign flow_x.lead_jump   = x_lead_jump;

  simt_warps #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_warps (
      .clk_i,
      .rst_i,
      .launch_now_i(launch),
      .launch_valid_i,
      .launch_i,
      .launch_pc_i(packet_i.entry),
      .done_o,
      .present_o(present),
      .f_warp_i(f_warp_q),
      .f_pc_o(f_pc),
      .fetch_warp_i(fetch_fault_i.warp[WW-1:0]),
      .fetch_mask_o(fetch_mask),
      .d_warp_i(d_warp_q),
      .d_pc4_i(d_pc4),
      .d_mask_o(d_mask),
      .d_step_slow_o(d_step_slow),
      .d_quantum_end_o(d_quantum_end),
      .r_i(flow_r),
      .x_i(flow_x),
      .x_taken_i(x_taken),
      .x_jump_i(x_addr),
      .b_misaligned_o(b_misaligned),
      .b_misaligned_va_o(b_misaligned_va),
      .stuck_o(stuck),
      .waits_o(waits),
      .wake_o(flow_wake),
      .busy_o(flow_busy),
      .restoring_i(control_i.restoring),
      .select_i(control_i.select[WARPS-1:0]),
      .look_i,
      .look_group_i(look_group),
      .look_base_i(look_base),
      .look_fcsr_i(look_fcsr),
      .look_slot_o(seen_o.slot),
      .look_lanes_o(look_lanes),
      .look_pcs_o(look_pcs),
      .look_pc_o(seen_o.pc),
      .look_running_o(look_running),
      .put_i
  );

  // -------------------------------------------------------------------------------------------- faults
  simt_fault #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_fault (
      .clk_i,
      .rst_i,
      .r_fault_i(r_valid_q ? r_fault : tern_spec_pkg::FAULT_NONE),
      .x_warp_i(x_warp_q),
      .x_pc_i(x_pc_q),
      .x_mask_i(x_mask_q),
      .x_bad_rm_i(x_bad_rm),
      .b_misaligned_i(b_misaligned),
      .b_misaligned_va_i(b_misaligned_va),
      .fetch_i(fetch_fault_i),
      .fetch_mask_i(fetch_mask),
      .barrier_i(stuck),
      .waits_i(waits),
      .fault_valid_o,
      .fault_o
  );

  // -------------------------------------------------------------------------------------------- events
  simt_events #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_events (
      .clk_i,
      .present_i(control_i.halt ? '0 : present),
      .pick_valid_i(pick_valid),
      .use_i(r_valid_q && !r_faulty && (r_hazard || r_wait)),
      .unit_i(r_valid_q && !r_faulty && !r_hazard && r_stall),
      .x_valid_i(x_valid_q),
      .x_fma_i(x_unit_q == simt_core_pkg::UNIT_FMA),
      .x_mask_i(x_mask_q),
      .ev_o
  );
endmodule
