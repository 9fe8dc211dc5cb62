// SPDX-License-Identifier: Apache-2.0
// The program counters of all warps: the active lanes of each warp, their pc, and how control flow changes both.
//
// Contract, by stage of an instruction: F: f_pc_o is the pc of f_warp_i. D: d_mask_o has the active lanes of d_warp_i.
// R: with r_i.next the warp continues at pc + 4, and the core wakes it at once. That is not allowed with d_step_slow_o.
// Otherwise x_i in X hands over what the instruction does, and B, the cycle after, decides. wake_o: warps that can be
// issued again. simt_barrier decides when barriers open and tells which lanes can run.
//
// State saved at preemption: pc_q and depth_q for the lanes in mask_q, and the state of simt_select; look_* show them.
// After a resume a warp selects its lanes again (open_select_i), so merge_q, quantum_q, back_q and hot_q start afresh.
//
// Reconvergence is lazy. The merge pc of a warp is the lowest pc at which inactive lanes of the same call depth wait.
// As long as all active lanes have the same next pc below the merge pc, no selection is needed and no lane's own pc is
// written. A selection is made only after divergence, at the merge pc, and after a return of some lanes, an exit or a
// barrier. A warp whose runnable lanes are all active has no merge pc.
//
// Rotation: every 16th backward jump of a warp with inactive lanes gives 32 instructions to other lanes, so that a lane
// that spins on a lock cannot keep another lane from releasing it. If the active lanes have executed an atomic
// operation, as a lane that spins does, every 4th backward jump does so.

module simt_flow #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS),
    localparam int LW = $clog2(LANES)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    // launch of a warp
    input  logic                launch_now_i,
    input  simt_core_pkg::launch_t launch_i,
    input  logic [31:0]         launch_pc_i,
    // F, D, R
    input  logic [WW-1:0]       f_warp_i,
    output logic [31:0]         f_pc_o,
    input  logic [WW-1:0]       d_warp_i,
    input  logic [31:0]         d_pc4_i,
    output logic [LANES-1:0]    d_mask_o,
    output logic                d_step_slow_o,   // pc + 4 also needs a decision in B
    output logic                d_quantum_end_o, // last instruction of the quantum of a rotation
    input  logic [WW-1:0]       fetch_warp_i,    // warp of a failed fetch
    output logic [LANES-1:0]    fetch_mask_o,    // active lanes of that warp
    input  simt_core_pkg::flow_r_t r_i,
    // X
    input  simt_core_pkg::flow_x_t x_i,
    input  logic [LANES-1:0]    x_taken_i,       // lanes whose branch is taken
    input  logic [LANES*32-1:0] x_jump_i,        // target of jalr in each lane
    // B: decisions
    output simt_core_pkg::flow_b_t b_o,
    output logic [LANES-1:0]    b_misaligned_o,  // lanes whose target is not a multiple of 4
    output logic [31:0]         b_misaligned_va_o,  // target of the lowest of these lanes
    // lanes that can run: live, and not waiting at a barrier
    output logic [WW-1:0]       work_warp_o,
    input  logic [LANES-1:0]    work_elig_i,
    // a barrier has opened, or a resume
    input  logic [WARPS-1:0]    open_select_i,   // these warps select their lanes
    input  logic [WARPS-1:0]    open_whole_i,    // all lanes of these warps go on behind the barrier
    // to the scheduler
    output logic [WARPS-1:0]    wake_o,
    // save and restore
    output logic                busy_o,          // an instruction is in B, or a selection is not finished
    input  simt_core_pkg::look_t look_i,         // active only while busy_o is low
    output logic [31:0]         look_pc_o,       // of the warp, at any time
    output logic [LANES-1:0]    look_mask_o,     // at any time
    output logic [7:0]          look_depth_o,    // at any time
    output logic [LANES*32-1:0] look_lane_pc_o,
    output logic [LANES*8-1:0]  look_lane_depth_o,
    output logic [LW-1:0]       look_turn_o,
    input  simt_core_pkg::put_t put_i
);

  localparam logic [31:0] NONE = 32'hffff_ffff;
  localparam logic [3:0] ROTATE_EVERY = 4'd15, ROTATE_HOT = 4'd3;   // backward jumps, minus one
  localparam logic [5:0] ROTATE_QUANTUM = 6'd32;

  logic [31:0]      pc_q [0:WARPS-1];       // pc of the active lanes
  logic [LANES-1:0] mask_q [0:WARPS-1];     // the active lanes
  logic [7:0]       depth_q [0:WARPS-1];    // call depth of the active lanes
  logic [31:0]      merge_q [0:WARPS-1];    // merge pc: lowest pc of inactive lanes of this depth; or NONE
  logic [WARPS-1:0] full_q;                 // warps whose runnable lanes are all active
  logic [5:0]       quantum_q [0:WARPS-1];  // instructions left in the quantum of a rotation
  logic [3:0]       back_q [0:WARPS-1];     // backward jumps since the last rotation
  logic [WARPS-1:0] hot_q;                  // atomic operation executed since the last rotation

  logic [WW-1:0]    launch_warp, look_warp, r_warp, x_warp;
  logic [LANES-1:0] x_mask;
  assign launch_warp = launch_i.warp[WW-1:0];
  assign look_warp   = look_i.index[WW-1:0];
  assign r_warp      = r_i.warp[WW-1:0];
  assign x_warp      = x_i.warp[WW-1:0];
  assign x_mask      = x_i.mask[LANES-1:0];

  // F, D
  assign f_pc_o          = pc_q[f_warp_i];
  assign d_mask_o        = mask_q[d_warp_i];
  assign fetch_mask_o    = mask_q[fetch_warp_i];
  assign d_quantum_end_o = quantum_q[d_warp_i] == 6'd1;
  assign d_step_slow_o   = d_pc4_i == merge_q[d_warp_i] || d_quantum_end_o;

  assign look_pc_o       = pc_q[look_warp];
  assign look_mask_o     = mask_q[look_warp];
  assign look_depth_o    = depth_q[look_warp];
  assign busy_o          = b_valid_q || wait_q != '0 || select_busy;

  // X to B
  logic                b_valid_q, b_call_q, b_return_q, b_quantum_end_q, b_backward_q;
  simt_core_pkg::flow_e b_flow_q;
  logic [WW-1:0]       b_warp_q;
  logic [LANES-1:0]    b_mask_q, b_taken_q;
  logic [31:0]         b_target_q, b_pc_q, b_pc4_q;
  logic [LANES*32-1:0] b_jump_q;

  always_ff @(posedge clk_i) begin
    b_valid_q <= x_i.valid && !rst_i;
    if (x_i.valid) begin
      b_flow_q        <= x_i.flow;
      b_warp_q        <= x_warp;
      b_mask_q        <= x_mask;
      b_taken_q       <= (x_i.flow == simt_core_pkg::FLOW_BRANCH) ? x_taken_i & x_mask
                       : (x_i.flow == simt_core_pkg::FLOW_JAL || x_i.flow == simt_core_pkg::FLOW_JALR) ? x_mask : '0;
      b_target_q      <= (x_i.flow == simt_core_pkg::FLOW_JALR) ? {x_i.lead_jump[31:1], 1'b0} : x_i.target;
      b_pc_q          <= x_i.pc;
      b_pc4_q         <= x_i.pc + 32'd4;
      b_quantum_end_q <= x_i.quantum_end;
      b_call_q        <= x_i.call;
      b_return_q      <= x_i.returns;
      b_backward_q    <= ((x_i.flow == simt_core_pkg::FLOW_JALR) ? x_i.lead_jump : x_i.target) <= x_i.pc;
      if (x_i.flow == simt_core_pkg::FLOW_JALR) b_jump_q <= x_jump_i;
    end
  end

  // B. fast: all active lanes continue at `next`, without a selection. park: the lanes' own pcs are written. select: a
  // selection is requested. A whole warp at a barrier needs none: it goes on at `next` when the barrier opens.
  logic                jump, uniform, full, in_quantum, rotate, fast, park, select;
  logic                taken, below_taken, below_next, barrier, ends;
  logic [31:0]         next, merge;
  logic [7:0]          depth, depth_next;
  logic [LANES*32-1:0] park_pc;

  always_comb begin
    uniform        = b_taken_q == '0 || b_taken_q == b_mask_q;
    park_pc        = '0;
    b_misaligned_o = '0;
    b_misaligned_va_o = b_target_q;
    if (b_valid_q) begin
      if (b_flow_q == simt_core_pkg::FLOW_JALR) begin
        for (int i = LANES - 1; i >= 0; i--) begin
          park_pc[32*i +: 32] = {b_jump_q[32*i+1 +: 31], 1'b0};
          if (b_mask_q[i] && b_jump_q[32*i+1 +: 31] != b_target_q[31:1]) uniform = 1'b0;
          b_misaligned_o[i] = b_mask_q[i] && b_jump_q[32*i+1];
          if (b_misaligned_o[i]) b_misaligned_va_o = park_pc[32*i +: 32];
        end
      end else begin
        for (int i = 0; i < LANES; i++) park_pc[32*i +: 32] = b_taken_q[i] ? b_target_q : b_pc4_q;
        if (b_target_q[1]) b_misaligned_o = b_taken_q;
      end
    end
  end

  always_comb begin
    jump       = b_flow_q == simt_core_pkg::FLOW_BRANCH || b_flow_q == simt_core_pkg::FLOW_JAL
                 || b_flow_q == simt_core_pkg::FLOW_JALR;
    merge      = merge_q[b_warp_q];
    below_taken = b_target_q < merge;   // both are compared before it is known which one counts
    below_next  = b_pc4_q < merge;
    full       = full_q[b_warp_q];
    in_quantum = quantum_q[b_warp_q] != 6'd0;
    depth      = depth_q[b_warp_q];
    depth_next = (b_call_q && depth != 8'hff) ? depth + 8'd1 : (b_return_q && depth != 8'd0) ? depth - 8'd1 : depth;
    taken      = b_taken_q != '0;
    next       = taken ? b_target_q : b_pc4_q;
    rotate     = jump && !full && !in_quantum && !b_quantum_end_q && b_backward_q && taken
                 && back_q[b_warp_q] >= (hot_q[b_warp_q] ? ROTATE_HOT : ROTATE_EVERY);
    fast       = jump && uniform && !b_quantum_end_q && !rotate
                 && (full || in_quantum || b_call_q || (!b_return_q && (taken ? below_taken : below_next)));
    barrier    = b_valid_q && b_flow_q == simt_core_pkg::FLOW_BARRIER;
    ends       = b_valid_q && b_flow_q == simt_core_pkg::FLOW_EXIT;
    park       = b_valid_q && !fast && !ends;
    select     = b_valid_q && !fast && !((barrier || ends) && full);
  end

  assign b_o.barrier = barrier;
  assign b_o.ends    = ends;
  assign b_o.whole   = full;
  assign b_o.warp    = 5'(b_warp_q);
  assign b_o.mask    = 32'(b_mask_q);
  assign b_o.pc      = b_pc_q;

  // Selection. Warps in wait_q wait for one and get it in turn; an instruction in B passes by if there is none.
  logic [WARPS-1:0] wait_q, rotate_q, later, one, taken_one;
  logic             select_ready, select_busy, pass;
  logic [WW-1:0]    wait_warp, last_q;

  always_comb begin
    later     = wait_q & ({WARPS{1'b1}} << last_q << 1);
    one       = (later != '0) ? later & -later : wait_q & -wait_q;
    wait_warp = '0;
    for (int w = 0; w < WARPS; w++) if (one[w]) wait_warp = wait_warp | WW'(w);
    pass      = wait_q == '0 && select_ready;
    taken_one = select_ready ? one : '0;
  end

  always_ff @(posedge clk_i) begin
    wait_q <= (wait_q & ~taken_one) | open_select_i;
    if (select && !pass) begin
      wait_q[b_warp_q]   <= 1'b1;
      rotate_q[b_warp_q] <= rotate;
    end
    if (select_ready && wait_q != '0) last_q <= wait_warp;
    if (rst_i) begin
      wait_q <= '0;
      last_q <= '0;
    end
    for (int w = 0; w < WARPS; w++) if (rst_i || open_select_i[w]) rotate_q[w] <= 1'b0;
  end

  logic             res_valid, res_rotate, res_full;
  logic [WW-1:0]    res_warp;
  logic [LANES-1:0] res_mask, write_pc, write_depth;
  logic [31:0]      res_pc, res_merge;
  logic [7:0]       res_depth;

  // Pc and depth of lanes: of those that park, or of all in a resume.
  logic                put_lanes, put_pcs;
  logic [LANES*8-1:0]  lane_depth;
  logic [LANES*32-1:0] lane_pc;

  always_comb begin
    put_lanes   = put_i.valid && put_i.kind == simt_core_pkg::LINE_LANES;
    put_pcs     = put_i.valid && put_i.kind == simt_core_pkg::LINE_PCS;
    write_pc    = put_pcs ? '1 : park ? b_mask_q : '0;
    write_depth = put_lanes ? '1 : park ? b_mask_q : '0;
    lane_pc     = put_pcs ? put_i.words[LANES*32-1:0] : park_pc;
    for (int i = 0; i < LANES; i++)
      lane_depth[8*i +: 8] = put_lanes ? put_i.words[32*i + tern_spec_pkg::CTX_SIMT_LANE_DEPTH_LSB +: 8] : depth_next;
  end

  simt_select #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_select (
      .clk_i,
      .rst_i,
      .write_warp_i((put_lanes || put_pcs) ? put_i.index[WW-1:0] : b_warp_q),
      .write_pc_i(write_pc),
      .pc_i(lane_pc),
      .write_depth_i(write_depth),
      .depth_i(lane_depth),
      .write_turn_i(put_lanes),
      .turn_i(put_i.words[tern_spec_pkg::CTX_SIMT_LANE_TURN_LSB +: LW]),
      .ready_o(select_ready),
      .req_i(select || wait_q != '0),
      .req_warp_i(wait_q != '0 ? wait_warp : b_warp_q),
      .req_rotate_i(wait_q != '0 ? rotate_q[wait_warp] : rotate),
      .work_warp_o,
      .work_elig_i,
      .work_running_i(mask_q[work_warp_o]),
      .res_valid_o(res_valid),
      .res_warp_o(res_warp),
      .res_pc_o(res_pc),
      .res_depth_o(res_depth),
      .res_mask_o(res_mask),
      .res_full_o(res_full),
      .res_merge_o(res_merge),
      .res_rotate_o(res_rotate),
      .busy_o(select_busy),
      .look_i(look_i.active),
      .look_warp_i(look_warp),
      .look_pc_o(look_lane_pc_o),
      .look_depth_o(look_lane_depth_o),
      .look_turn_o
  );

  always_ff @(posedge clk_i) begin
    if (r_i.issue && quantum_q[r_warp] != 6'd0) quantum_q[r_warp] <= quantum_q[r_warp] - 6'd1;
    if (r_i.next) pc_q[r_warp] <= r_i.pc4;
    if (x_i.atomic && !full_q[x_warp]) hot_q[x_warp] <= 1'b1;
    if (b_valid_q) begin
      if (fast || barrier) pc_q[b_warp_q] <= next;
      if (fast) begin
        depth_q[b_warp_q] <= depth_next;
        if (b_call_q) merge_q[b_warp_q] <= NONE;
      end
      if (jump && !full && b_backward_q && b_taken_q != '0 && !in_quantum)
        back_q[b_warp_q] <= rotate ? 4'd0 : back_q[b_warp_q] + 4'd1;
      if (rotate) hot_q[b_warp_q] <= 1'b0;
    end
    if (res_valid) begin
      pc_q[res_warp]      <= res_pc;
      depth_q[res_warp]   <= res_depth;
      mask_q[res_warp]    <= res_mask;
      merge_q[res_warp]   <= res_merge;
      full_q[res_warp]    <= res_full;
      quantum_q[res_warp] <= res_rotate ? ROTATE_QUANTUM : 6'd0;
    end
    if (launch_now_i) begin
      pc_q[launch_warp]      <= launch_pc_i;
      depth_q[launch_warp]   <= 8'd0;
      mask_q[launch_warp]    <= launch_i.mask[LANES-1:0];
      merge_q[launch_warp]   <= NONE;
      full_q[launch_warp]    <= 1'b1;
      quantum_q[launch_warp] <= 6'd0;
      back_q[launch_warp]    <= 4'd0;
      hot_q[launch_warp]     <= 1'b0;
    end
  end

  always_comb begin
    wake_o = open_whole_i;
    if (b_valid_q && fast) wake_o[b_warp_q] = 1'b1;
    if (res_valid) wake_o[res_warp] = 1'b1;
  end

endmodule
