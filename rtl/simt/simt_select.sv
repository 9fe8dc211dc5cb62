// SPDX-License-Identifier: Apache-2.0
// Reconvergence: selects the lanes of a warp that run next, when its lanes do not all have the same pc.
//
// Contract: write_pc_i and write_depth_i store pc and call depth of lanes: of those that stop running together, or of
// all in a resume. req_i, while ready_o, requests a selection for a warp. While it is worked on, work_elig_i must be
// the lanes of work_warp_o that can run, and work_running_i those that ran before. res_valid_o gives the result: the
// lanes (res_mask_o) that have the greatest call depth and among these the lowest pc (res_pc_o). res_merge_o is the
// next higher pc at that depth, where the selected lanes must stop so that others can join them (all ones: none).
// res_full_o: they are all that can run. With req_rotate_i (rotation), instead the lanes are selected that have pc and
// depth of the next lane in turn among those that did not run. The caller changes nothing of a warp between request and
// result. The result comes GROUPS + 4 cycles after the request, where a group is 4 lanes, and the next request is
// accepted GROUPS cycles after it; a rotation takes 2 * GROUPS + 7 cycles, and nothing else is accepted meanwhile.
// With look_i while busy_o is low, look_* shows the lanes of look_warp_i. Example: lanes 0 and 1 at depth 1, pc 0x40;
// lane 2 at depth 1, pc 0x60; lane 3 at depth 0, pc 0x10. Lanes 0 and 1 are selected, and res_merge_o is 0x60.
//
// State saved at preemption: pc_q, depth_q, turn_q.
//
// One group a cycle is read and goes through three stages: its pairs, their join, and the join with the groups before
// it. A tree of all lanes would accept a request a cycle, with four times the comparators. Greatest depth
// first lets a callee finish before other lanes of its callers continue. Lowest pc first fits compilers, which place
// joins at higher pcs.

module simt_select #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS),
    localparam int LW = $clog2(LANES)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic [WW-1:0]       write_warp_i,
    input  logic [LANES-1:0]    write_pc_i,      // these lanes
    input  logic [LANES*32-1:0] pc_i,
    input  logic [LANES-1:0]    write_depth_i,   // these lanes
    input  logic [LANES*8-1:0]  depth_i,
    input  logic                write_turn_i,
    input  logic [LW-1:0]       turn_i,
    output logic                ready_o,
    input  logic                req_i,
    input  logic [WW-1:0]       req_warp_i,
    input  logic                req_rotate_i,
    output logic [WW-1:0]       work_warp_o,
    input  logic [LANES-1:0]    work_elig_i,
    input  logic [LANES-1:0]    work_running_i,
    output logic                res_valid_o,
    output logic [WW-1:0]       res_warp_o,
    output logic [31:0]         res_pc_o,
    output logic [7:0]          res_depth_o,
    output logic [LANES-1:0]    res_mask_o,
    output logic                res_full_o,
    output logic [31:0]         res_merge_o,
    output logic                res_rotate_o,    // the selection is a rotation
    output logic                busy_o,
    // save
    input  logic                look_i,
    input  logic [WW-1:0]       look_warp_i,
    output logic [LANES*32-1:0] look_pc_o,
    output logic [LANES*8-1:0]  look_depth_o,
    output logic [LW-1:0]       look_turn_o
);

  localparam logic [31:0] NONE = 32'hffff_ffff;
  localparam int GROUPS = LANES / 4;
  localparam int GW = (GROUPS > 1) ? $clog2(GROUPS) : 1;

  // The request: in turn_find_q the next lane in turn is found; in work_q the lanes of group group_q are read. The
  // second pass of a rotation, check_q, finds the lanes at the selected pc and depth.
  logic          work_q, turn_find_q, check_q, rotate_q, last, accept, begin_turn;
  logic [GW-1:0] group_q;
  logic [WW-1:0] warp_q;

  // Stages behind it: the lanes of a group, its pairs, the group, all groups up to it.
  logic          lanes_q, pairs_q, four_q, all_q;
  logic [GW-1:0] lanes_group_q, pairs_group_q, four_group_q;
  logic [WW-1:0] lanes_warp_q, pairs_warp_q, four_warp_q, all_warp_q;
  logic          compare_q, checked_q;       // second pass: lanes of a group are there; all have been compared

  assign last        = group_q == GW'(GROUPS - 1);
  assign ready_o     = !turn_find_q && !rotate_q && (!work_q || last);
  assign accept      = req_i && ready_o;
  assign begin_turn  = turn_find_q && !lanes_q && !pairs_q && !four_q;      // the selection before it leaves the stages
  assign work_warp_o = look_i ? look_warp_i : warp_q;
  assign busy_o      = turn_find_q || work_q || rotate_q || lanes_q || pairs_q || four_q || all_q;

  always_ff @(posedge clk_i) begin
    turn_find_q <= (accept && req_rotate_i) || (turn_find_q && !begin_turn);
    work_q      <= (accept && !req_rotate_i) || begin_turn || (work_q && !last);
    check_q     <= (all_q && rotate_q) || (check_q && !last);
    compare_q   <= check_q;
    checked_q   <= compare_q && lanes_group_q == GW'(GROUPS - 1);
    if (work_q || check_q) group_q <= last ? '0 : group_q + 1'b1;
    if (accept) warp_q <= req_warp_i;
    if (begin_turn) rotate_q <= 1'b1;
    if (checked_q) rotate_q <= 1'b0;
    lanes_q       <= work_q;
    lanes_group_q <= group_q;
    lanes_warp_q  <= warp_q;
    pairs_q       <= lanes_q;
    pairs_group_q <= lanes_group_q;
    pairs_warp_q  <= lanes_warp_q;
    four_q        <= pairs_q;
    four_group_q  <= pairs_group_q;
    four_warp_q   <= pairs_warp_q;
    all_q         <= four_q && four_group_q == GW'(GROUPS - 1);
    all_warp_q    <= four_warp_q;
    if (rst_i) begin
      {turn_find_q, work_q, check_q, compare_q, checked_q, rotate_q} <= '0;
      {lanes_q, pairs_q, four_q, all_q} <= '0;
      group_q <= '0;
    end
  end

  // Pc and call depth at which each lane continues.
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      logic [31:0] pc_q [0:WARPS-1];
      logic [7:0]  depth_q [0:WARPS-1];

      always_ff @(posedge clk_i) if (write_pc_i[i]) pc_q[write_warp_i] <= pc_i[32*i +: 32];
      always_ff @(posedge clk_i) if (write_depth_i[i]) depth_q[write_warp_i] <= depth_i[8*i +: 8];

      assign look_pc_o[32*i +: 32]  = pc_q[work_warp_o];
      assign look_depth_o[8*i +: 8] = depth_q[work_warp_o];
    end
  endgenerate

  // The next lane in turn: the first lane that did not run, at or after the turn; if there is none, the first of all
  // that did not run. x & -x is the lowest set bit of x.
  logic [LW-1:0]    turn_q [0:WARPS-1];
  logic [LANES-1:0] others_q, later_q, leads, valid;
  logic [LW-1:0]    leader;

  assign look_turn_o = turn_q[work_warp_o];

  always_comb begin
    leads  = (later_q != '0) ? later_q & -later_q : others_q & -others_q;
    if (others_q == '0) leads[0] = 1'b1;
    leader = '0;
    for (int i = 0; i < LANES; i++) if (leads[i]) leader = leader | LW'(i);
    valid  = rotate_q ? leads : work_elig_i;
  end

  always_ff @(posedge clk_i) begin
    if (turn_find_q) begin
      others_q <= work_elig_i & ~work_running_i;
      later_q  <= work_elig_i & ~work_running_i & ({LANES{1'b1}} << turn_q[warp_q]);
    end
    if (all_q && rotate_q) turn_q[warp_q] <= leader + 1'b1;
    if (write_turn_i) turn_q[write_warp_i] <= turn_i;
    if (rst_i) for (int w = 0; w < WARPS; w++) turn_q[w] <= '0;
  end

  // The lanes of the group, as a tree of two-way multiplexers.
  logic [LANES*32-1:0] rest_pc;
  logic [LANES*8-1:0]  rest_depth;
  logic [LANES-1:0]    rest_valid, rest_elig;
  logic [127:0]        group_pc_q;
  logic [31:0]         group_depth_q;
  logic [3:0]          here_q, can_q, same;        // valid; able to run; at the selected pc and depth

  always_comb begin
    rest_pc    = look_pc_o;
    rest_depth = look_depth_o;
    rest_valid = valid;
    rest_elig  = work_elig_i;
    for (int k = GW - 1; k >= 0; k--)
      if (group_q[k]) begin
        rest_pc    = rest_pc >> (128 << k);
        rest_depth = rest_depth >> (32 << k);
        rest_valid = rest_valid >> (4 << k);
        rest_elig  = rest_elig >> (4 << k);
      end
    for (int i = 0; i < 4; i++)
      same[i] = group_pc_q[32*i +: 32] == all_c_q.low && group_depth_q[8*i +: 8] == all_c_q.depth;
  end

  always_ff @(posedge clk_i)
    if (work_q || check_q) begin
      group_pc_q    <= rest_pc[127:0];
      group_depth_q <= rest_depth[31:0];
      here_q        <= rest_valid[3:0];
      can_q         <= rest_elig[3:0];
    end

  simt_core_pkg::candidate_t pair0, pair1, pair0_q, pair1_q, four, four_c_q, all, all_c_q, so_far;
  logic [1:0]       mask0, mask1;
  logic [3:0]       pairs_mask_q, four_mask, four_mask_q;
  logic [LANES-1:0] all_mask_q, all_mask;
  logic             take0, take1, take_so_far, take_four, full_q;

  simt_core_pkg::candidate_t lane0, lane1, lane2, lane3;
  assign lane0 = {here_q[0], 1'b1, group_depth_q[0 +: 8], group_pc_q[0 +: 32], NONE};
  assign lane1 = {here_q[1], 1'b1, group_depth_q[8 +: 8], group_pc_q[32 +: 32], NONE};
  assign lane2 = {here_q[2], 1'b1, group_depth_q[16 +: 8], group_pc_q[64 +: 32], NONE};
  assign lane3 = {here_q[3], 1'b1, group_depth_q[24 +: 8], group_pc_q[96 +: 32], NONE};

  simt_select_node u_pair0 (
      .a_i(lane0),
      .b_i(lane1),
      .both_o(pair0),
      .take_a_o(mask0[0]),
      .take_b_o(mask0[1])
  );

  simt_select_node u_pair1 (
      .a_i(lane2),
      .b_i(lane3),
      .both_o(pair1),
      .take_a_o(mask1[0]),
      .take_b_o(mask1[1])
  );

  simt_select_node u_four (
      .a_i(pair0_q),
      .b_i(pair1_q),
      .both_o(four),
      .take_a_o(take0),
      .take_b_o(take1)
  );

  simt_select_node u_all (
      .a_i(so_far),
      .b_i(four_c_q),
      .both_o(all),
      .take_a_o(take_so_far),
      .take_b_o(take_four)
  );

  always_comb begin
    so_far       = all_c_q;
    so_far.valid = all_c_q.valid && four_group_q != '0;
    four_mask    = {pairs_mask_q[3:2] & {2{take1}}, pairs_mask_q[1:0] & {2{take0}}};
    all_mask     = all_mask_q & {LANES{take_so_far}};
    for (int g = 0; g < GROUPS; g++)
      if (four_group_q == GW'(g)) all_mask[4*g +: 4] = four_mask_q & {4{take_four}};
  end

  always_ff @(posedge clk_i) begin
    if (lanes_q) begin
      pair0_q      <= pair0;
      pair1_q      <= pair1;
      pairs_mask_q <= {mask1, mask0};
    end
    if (pairs_q) begin
      four_c_q    <= four;
      four_mask_q <= four_mask;
    end
    if (four_q) begin
      all_c_q    <= all;
      all_mask_q <= all_mask;
    end
    if (compare_q) begin
      full_q <= (full_q || lanes_group_q == '0) && (can_q & ~same) == '0;
      for (int g = 0; g < GROUPS; g++) if (lanes_group_q == GW'(g)) all_mask_q[4*g +: 4] <= can_q & same;
    end
  end

  assign res_valid_o  = rotate_q ? checked_q && all_c_q.valid : all_q && all_c_q.valid;
  assign res_warp_o   = all_warp_q;
  assign res_pc_o     = all_c_q.low;
  assign res_depth_o  = all_c_q.depth;
  assign res_mask_o   = all_mask_q;
  assign res_full_o   = rotate_q ? full_q : all_c_q.whole;
  assign res_merge_o  = rotate_q ? NONE : all_c_q.next;
  assign res_rotate_o = rotate_q;

endmodule
