// SPDX-License-Identifier: Apache-2.0
// Tracks which work-items of each warp are live and which wait at a barrier, and decides when a group's barrier opens
// or can never open.
//
// Contract: arrive_i (at the barrier at pc_i) and exit_i, from stage B of simt_flow, concern the lanes mask_i of
// warp_i. whole_i: no other lane of the warp can run. done_o: the warp has ended. work_elig_o are the lanes of a warp
// that can run.
// When no work-item of a group can run and at least one waits, there are two cases. If all of them wait, at one pc,
// open_o names the group's warps that have waiting lanes, in the cycle after the last arrival; these must select their
// lanes again, except those in whole_o. Otherwise stuck_o follows one cycle later still, with the lowest pc at which
// any work-item waits and the first work-item there.
//
// State saved at preemption: live_q and waiting_q (look_*); for each group slot any_q, parted_q, pc_q, first_q. put_i
// writes them back, before or after the launches with restoring_i, which give the remaining state. Such a launch
// changes nothing of a warp that is live, and marks one that has ended as ended.
//
// Only the group of the warp that has just stopped can open, so the logic examines one group in a cycle. A barrier that
// cannot open (a work-item has ended, or two wait at different pcs) stays so, because no work-item leaves a barrier
// before it opens. One bit (parted) therefore records it, and no comparison of all waiting work-items is needed.

module simt_barrier #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS),
    localparam int LW = $clog2(LANES)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             launch_now_i,       // launch_i takes place
    input  simt_core_pkg::launch_t launch_i,
    input  logic             arrive_i,
    input  logic             exit_i,
    input  logic [WW-1:0]    warp_i,
    input  logic [LANES-1:0] mask_i,
    input  logic [31:0]      pc_i,
    input  logic             whole_i,
    output logic [WARPS-1:0] open_o,
    output logic [WARPS-1:0] whole_o,            // warps whose live lanes have come to the barrier at once
    output logic             stuck_o,
    output simt_core_pkg::waits_t waits_o,       // with stuck_o; while look_i is active, of the slot that it names
    output simt_core_pkg::warp_end_t done_o,
    input  logic [WW-1:0]    work_warp_i,
    output logic [LANES-1:0] work_elig_o,
    // save and restore
    input  logic             restoring_i,
    output logic [WARPS-1:0] blocked_o,          // warps without a lane that can run
    input  simt_core_pkg::look_t look_i,         // active: stuck_o is not in use
    output logic [LANES-1:0] look_live_o,        // of the warp that look_i names
    output logic [LANES-1:0] look_waiting_o,
    input  simt_core_pkg::put_t put_i
);

  logic [LANES-1:0] live_q [0:WARPS-1];
  logic [LANES-1:0] waiting_q [0:WARPS-1];
  logic [WARPS-1:0] some_q;                  // warps with a waiting lane
  logic [WARPS-1:0] blocked_q;               // warps without a lane that can run
  logic [WARPS-1:0] whole_q;                 // with some_q: all live lanes came at once, and not by a resume
  logic [WW-1:0]    slot_q [0:WARPS-1];
  // State of each group slot.
  logic [WARPS-1:0] member_q [0:WARPS-1];    // warps of the group
  logic [WARPS-1:0] any_q;                   // some work-item waits
  logic [WARPS-1:0] parted_q;                // the group's barrier cannot open any more
  logic [31:0]      pc_q [0:WARPS-1];        // lowest pc at which a work-item waits
  logic [WW+LW-1:0] first_q [0:WARPS-1];     // {warp, lane} of the first work-item that waits at pc_q

  logic [WW-1:0]    launch_warp, launch_slot, look_index;
  assign launch_warp = launch_i.warp[WW-1:0];
  assign launch_slot = launch_i.slot[WW-1:0];
  assign look_index  = look_i.index[WW-1:0];

  assign work_elig_o = live_q[work_warp_i] & ~waiting_q[work_warp_i];

  // The cycle after an arrival or exit: update of the group, and whether no work-item of it can run.
  logic             arrive_q, exit_q, check_q, parted, quiet, stuck_q;
  logic [WW-1:0]    at_q, stuck_at_q;
  logic [31:0]      arrive_pc_q;
  logic [WW+LW-1:0] arrive_item_q;
  logic [LW-1:0]    lane;
  logic [WARPS-1:0] group, fresh;

  always_comb begin
    lane = '0;
    if (arrive_i) for (int i = LANES - 1; i >= 0; i--) if (mask_i[i]) lane = LW'(i);
    group  = member_q[at_q];
    quiet  = check_q && (group & ~blocked_q) == '0;
    parted = parted_q[at_q] || exit_q || (arrive_q && any_q[at_q] && arrive_pc_q != pc_q[at_q]);
    open_o = '0;
    if (quiet && !parted) open_o = group & some_q;
    fresh = ~({WARPS{1'b1}} << launch_i.nwarps[WW:0]) << launch_warp;
  end

  logic [WW-1:0]    at;
  logic [WW+LW-1:0] first;

  assign stuck_o        = stuck_q;
  assign at             = look_i.active ? look_index : stuck_at_q;
  assign first          = first_q[at];
  assign waits_o.any    = any_q[at];
  assign waits_o.parted = parted_q[at];
  assign waits_o.pc     = pc_q[at];
  assign waits_o.warp   = 5'(first[WW+LW-1:LW]);
  assign waits_o.lane   = 5'(first[LW-1:0]);
  assign blocked_o      = blocked_q;
  assign whole_o        = whole_q;
  assign look_live_o    = live_q[look_index];
  assign look_waiting_o = live_q[look_index] & waiting_q[look_index];

  // Writes of a resume.
  logic             put_lanes, put_slot;
  logic [WW-1:0]    put_index;
  logic [LANES-1:0] put_live, put_waiting;
  logic [WW+LW-1:0] put_first;
  assign put_lanes = put_i.valid && put_i.kind == simt_core_pkg::LINE_LANES;
  assign put_slot  = put_i.valid && put_i.kind == simt_core_pkg::LINE_SLOT;
  assign put_index = put_i.index[WW-1:0];
  assign put_first = {put_i.line[tern_spec_pkg::CTX_SIMT_SLOT_WARP_LSB +: WW],
                      put_i.line[tern_spec_pkg::CTX_SIMT_SLOT_LANE_LSB +: LW]};
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_put
      assign put_live[i]    = put_i.words[32*i + tern_spec_pkg::CTX_SIMT_LANE_LIVE_LSB];
      assign put_waiting[i] = put_i.words[32*i + tern_spec_pkg::CTX_SIMT_LANE_WAITING_LSB];
    end
  endgenerate

  always_ff @(posedge clk_i) begin
    arrive_q      <= arrive_i && !rst_i;
    exit_q        <= exit_i && !rst_i;
    check_q       <= (arrive_i || exit_i) && whole_i && !rst_i;
    at_q          <= slot_q[warp_i];
    arrive_pc_q   <= pc_i;
    arrive_item_q <= {warp_i, lane};
    stuck_q       <= quiet && parted && (any_q[at_q] || arrive_q) && !rst_i;
    stuck_at_q    <= at_q;
    done_o.valid  <= exit_i && whole_i && !some_q[warp_i] && !rst_i;
    done_o.warp   <= 5'(warp_i);

    if (arrive_q) begin
      any_q[at_q] <= open_o == '0;
      if (!any_q[at_q] || {arrive_pc_q, arrive_item_q} < {pc_q[at_q], first_q[at_q]}) begin
        pc_q[at_q]    <= arrive_pc_q;
        first_q[at_q] <= arrive_item_q;
      end
    end
    if (arrive_q || exit_q) parted_q[at_q] <= parted;

    if (open_o != '0)
      for (int w = 0; w < WARPS; w++)
        if (open_o[w]) begin
          waiting_q[w] <= '0;
          some_q[w]    <= 1'b0;
          blocked_q[w] <= 1'b0;
        end
    if (arrive_i) begin
      waiting_q[warp_i] <= waiting_q[warp_i] | mask_i;
      some_q[warp_i]    <= 1'b1;
      whole_q[warp_i]   <= whole_i && !some_q[warp_i];
    end
    if (exit_i) live_q[warp_i] <= live_q[warp_i] & ~mask_i;
    if ((arrive_i || exit_i) && whole_i) blocked_q[warp_i] <= 1'b1;
    if (launch_now_i) begin
      if (launch_i.first) begin
        member_q[launch_slot] <= fresh;
        if (!restoring_i) begin
          any_q[launch_slot]    <= 1'b0;
          parted_q[launch_slot] <= 1'b0;
          for (int w = 0; w < WARPS; w++) if (fresh[w]) blocked_q[w] <= 1'b0;
        end
      end
      slot_q[launch_warp] <= launch_slot;
      if (!launch_i.live) begin
        live_q[launch_warp]    <= launch_i.mask[LANES-1:0];
        waiting_q[launch_warp] <= '0;
        some_q[launch_warp]    <= 1'b0;
        if (restoring_i) blocked_q[launch_warp] <= launch_i.ended;
      end
    end
    if (put_lanes) begin
      live_q[put_index]    <= put_live;
      waiting_q[put_index] <= put_waiting;
      some_q[put_index]    <= put_waiting != '0;
      whole_q[put_index]   <= 1'b0;
      blocked_q[put_index] <= (put_live & ~put_waiting) == '0;
    end
    if (put_slot) begin
      any_q[put_index]    <= put_i.line[tern_spec_pkg::CTX_SIMT_SLOT_ANY_LSB];
      parted_q[put_index] <= put_i.line[tern_spec_pkg::CTX_SIMT_SLOT_PARTED_LSB];
      pc_q[put_index]     <= put_i.line[tern_spec_pkg::CTX_SIMT_SLOT_BARRIER_PC_LSB +: 32];
      first_q[put_index]  <= put_first;
    end
    if (rst_i) begin
      some_q    <= '0;
      blocked_q <= '0;
      for (int w = 0; w < WARPS; w++) member_q[w] <= '0;
    end
  end
endmodule
