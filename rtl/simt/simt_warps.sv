// SPDX-License-Identifier: Apache-2.0
// Control-flow state of all warps: pcs and active lanes (simt_flow), barriers and ends (simt_barrier), and the format
// of both in the state of a stopped executor (simt_look).
//
// Contract: that of simt_flow and simt_barrier, which this module connects. Stage B of simt_flow passes arrivals and
// exits to simt_barrier, and a barrier that opens makes its warps go on or select their lanes. While look_i is active,
// look_slot_o, look_lanes_o and look_pcs_o show its slot or warp; look_pc_o and look_running_o are valid at any time.
// put_i writes slots and warps back. select_i makes warps that can run select their lanes.
// State saved at preemption: that of the two modules.

module simt_warps #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS),
    localparam int LW = $clog2(LANES)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    // launches and ends of warps
    input  logic                launch_now_i,     // launch_i takes place
    input  logic                launch_valid_i,   // launch_i is the launch that comes next
    input  simt_core_pkg::launch_t launch_i,
    input  logic [31:0]         launch_pc_i,
    output simt_core_pkg::warp_end_t done_o,
    output logic [WARPS-1:0]    present_o,        // warps that have been launched and have not ended
    // F, D, R
    input  logic [WW-1:0]       f_warp_i,
    output logic [31:0]         f_pc_o,
    input  logic [WW-1:0]       fetch_warp_i,
    output logic [LANES-1:0]    fetch_mask_o,
    input  logic [WW-1:0]       d_warp_i,
    input  logic [31:0]         d_pc4_i,
    output logic [LANES-1:0]    d_mask_o,
    output logic                d_step_slow_o,
    output logic                d_quantum_end_o,
    input  simt_core_pkg::flow_r_t r_i,
    // X
    input  simt_core_pkg::flow_x_t x_i,
    input  logic [LANES-1:0]    x_taken_i,
    input  logic [LANES*32-1:0] x_jump_i,
    // B and later
    output logic [LANES-1:0]    b_misaligned_o,
    output logic [31:0]         b_misaligned_va_o,
    output logic                stuck_o,
    output simt_core_pkg::waits_t waits_o,        // with stuck_o
    output logic [WARPS-1:0]    wake_o,
    output logic                busy_o,
    // save and restore
    input  logic                restoring_i,
    input  logic [WARPS-1:0]    select_i,
    input  simt_core_pkg::look_t look_i,
    input  logic [95:0]         look_group_i,     // group of the slot, from simt_csr
    input  logic [95:0]         look_base_i,
    input  logic [LANES*10-1:0] look_fcsr_i,      // frm and fflags of the warp's lanes
    output logic [255:0]        look_slot_o,
    output logic [LANES*32-1:0] look_lanes_o,
    output logic [LANES*32-1:0] look_pcs_o,
    output logic [31:0]         look_pc_o,
    output logic [LANES-1:0]    look_running_o,
    input  simt_core_pkg::put_t put_i
);

  simt_core_pkg::flow_b_t b;
  logic [WW-1:0]       work_warp;
  logic [LANES-1:0]    work_elig, look_mask, look_live, look_waiting;
  logic [WW-1:0]       look_index;
  logic [WARPS-1:0]    open, whole, blocked;
  logic                look_waits, look_parts;
  logic [7:0]          look_depth;
  logic [LANES*32-1:0] look_lane_pc;
  logic [LANES*8-1:0]  look_lane_depth;
  logic [LW-1:0]       look_turn;

  simt_flow #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_flow (
      .clk_i,
      .rst_i,
      .launch_now_i,
      .launch_i,
      .launch_pc_i,
      .f_warp_i,
      .f_pc_o,
      .fetch_warp_i,
      .fetch_mask_o,
      .d_warp_i,
      .d_pc4_i,
      .d_mask_o,
      .d_step_slow_o,
      .d_quantum_end_o,
      .r_i,
      .x_i,
      .x_taken_i,
      .x_jump_i,
      .b_o(b),
      .b_misaligned_o,
      .b_misaligned_va_o,
      .work_warp_o(work_warp),
      .work_elig_i(work_elig),
      .open_select_i((open & ~whole) | (select_i & ~blocked)),
      .open_whole_i(open & whole),
      .wake_o,
      .busy_o,
      .look_i,
      .look_pc_o,
      .look_mask_o(look_mask),
      .look_depth_o(look_depth),
      .look_lane_pc_o(look_lane_pc),
      .look_lane_depth_o(look_lane_depth),
      .look_turn_o(look_turn),
      .put_i
  );

  simt_barrier #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_barrier (
      .clk_i,
      .rst_i,
      .launch_now_i,
      .launch_i,
      .arrive_i(b.barrier),
      .exit_i(b.ends),
      .warp_i(b.warp[WW-1:0]),
      .mask_i(b.mask[LANES-1:0]),
      .pc_i(b.pc),
      .whole_i(b.whole),
      .open_o(open),
      .whole_o(whole),
      .stuck_o,
      .waits_o,
      .done_o,
      .work_warp_i(work_warp),
      .work_elig_o(work_elig),
      .restoring_i,
      .blocked_o(blocked),
      .look_i,
      .look_live_o(look_live),
      .look_waiting_o(look_waiting),
      .put_i
  );

  simt_look #(
      .LANES(LANES)
  ) u_look (
      .live_i(look_live),
      .waiting_i(look_waiting),
      .running_i(look_running_o),
      .pc_i(look_pc_o),
      .depth_i(look_depth),
      .lane_pc_i(look_lane_pc),
      .lane_depth_i(look_lane_depth),
      .fcsr_i(look_fcsr_i),
      .turn_i(look_turn),
      .lanes_o(look_lanes_o),
      .pcs_o(look_pcs_o)
  );

  always_ff @(posedge clk_i) begin
    if (done_o.valid) present_o[done_o.warp[WW-1:0]] <= 1'b0;
    if (launch_now_i && !launch_i.ended) present_o[launch_i.warp[WW-1:0]] <= 1'b1;
    if (rst_i) present_o <= '0;
  end

  assign look_index     = look_i.index[WW-1:0];
  assign look_running_o = look_mask & look_live & ~look_waiting;

  // A slot whose group has no launched warp yet holds the barrier state of an earlier group.
  always_comb begin
    look_waits  = waits_o.any && !(launch_valid_i && launch_i.first && launch_i.slot[WW-1:0] == look_index);
    look_parts  = waits_o.parted && !(launch_valid_i && launch_i.first && launch_i.slot[WW-1:0] == look_index);
    look_slot_o = {64'd0, look_base_i, look_group_i};
    look_slot_o[tern_spec_pkg::CTX_SIMT_SLOT_ANY_LSB]    = look_waits;
    look_slot_o[tern_spec_pkg::CTX_SIMT_SLOT_PARTED_LSB] = look_parts;
    if (look_waits) begin
      look_slot_o[tern_spec_pkg::CTX_SIMT_SLOT_LANE_LSB +: 5]        = waits_o.lane;
      look_slot_o[tern_spec_pkg::CTX_SIMT_SLOT_WARP_LSB +: 5]        = waits_o.warp;
      look_slot_o[tern_spec_pkg::CTX_SIMT_SLOT_BARRIER_PC_LSB +: 32] = waits_o.pc;
    end
  end

endmodule
