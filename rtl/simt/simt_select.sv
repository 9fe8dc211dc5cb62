// SPDX-License-Identifier: Apache-2.0
// Reconvergence: selects the lanes of a warp that run next, when its lanes do not all have the same pc.
//
// Contract: park_i stores pc and call depth of lanes that stop running together. req_i requests a selection for a warp,
// one request a cycle. In the next cycle work_warp_o names that warp; work_elig_i must be its lanes that can run, and
// work_running_i those that ran before. LW + 3 cycles after the request, res_valid_o gives the result: the lanes
// (res_mask_o) that have the greatest call depth and among these the lowest pc (res_pc_o). res_merge_o is the next
// higher pc at that depth, where the selected lanes must stop so that others can join them (all ones: none). With
// req_rotate_i (rotation), instead the lanes are selected that have pc and depth of the next lane in turn among those
// that did not run. The caller changes nothing of a warp between request and result.
// With look_i while busy_o is low, look_* shows the lanes of look_warp_i. put_depth_i (depths and turn) and put_pc_i
// write all lanes of a warp at once, from a vector of simt_lane or of pcs. Example: lanes 0 and 1 at depth 1, pc 0x40;
// lane 2 at depth 1, pc 0x60; lane 3 at depth 0, pc 0x10. Lanes 0 and 1 are selected, and res_merge_o is 0x60.
//
// State saved at preemption: pc_q, depth_q, turn_q.
//
// A tree finds the two lowest distinct pcs at the greatest depth in one pass, one level a cycle. A node has five
// comparators instead of one, but there is no second pass, and no stage has more than 8 levels of logic. Greatest depth
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
    input  logic                park_i,
    input  logic [WW-1:0]       park_warp_i,
    input  logic [LANES-1:0]    park_mask_i,
    input  logic [LANES*32-1:0] park_pc_i,
    input  logic [7:0]          park_depth_i,
    input  logic                req_i,
    input  logic [WW-1:0]       req_warp_i,
    input  logic                req_rotate_i,
    output logic [WW-1:0]       work_warp_o,
    input  logic [LANES-1:0]    work_elig_i,
    input  logic [LANES-1:0]    work_running_i,
    output logic                res_valid_o,
    output logic [WW-1:0]       res_warp_o,
    input  logic [LANES-1:0]    res_elig_i,    // lanes of res_warp_o that can run
    output logic [31:0]         res_pc_o,
    output logic [7:0]          res_depth_o,
    output logic [LANES-1:0]    res_mask_o,
    output logic [31:0]         res_merge_o,
    output logic                res_rotate_o,    // the selection is a rotation
    // save and restore
    output logic                busy_o,
    input  logic                look_i,
    input  logic [WW-1:0]       look_warp_i,
    output logic [LANES*32-1:0] look_pc_o,
    output logic [LANES*8-1:0]  look_depth_o,
    output logic [LW-1:0]       look_turn_o,
    input  logic                put_depth_i,
    input  logic                put_pc_i,
    input  logic [WW-1:0]       put_warp_i,
    input  logic [LANES*32-1:0] put_data_i
);

  localparam logic [31:0] NONE = 32'hffff_ffff;

  logic          work_valid_q, work_rotate_q;
  logic [WW-1:0] work_warp_q;
  logic [LW:0]   stage_q;             // bit k: level k of the tree holds a selection
  logic [WW-1:0] warp_q [0:LW];
  logic [LW:0]   rotate_q;

  // Pc and call depth at which each lane continues.
  logic [LANES*32-1:0] work_pc, res_pc;
  logic [LANES*8-1:0]  work_depth, res_depth;
  logic [WW-1:0]       write_warp;

  assign write_warp   = (put_pc_i || put_depth_i) ? put_warp_i : park_warp_i;
  assign busy_o       = work_valid_q || stage_q != '0;
  assign look_pc_o    = work_pc;
  assign look_depth_o = work_depth;

  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      logic [31:0] pc_q [0:WARPS-1];
      logic [7:0]  depth_q [0:WARPS-1];

      always_ff @(posedge clk_i)
        if (put_pc_i || (park_i && park_mask_i[i]))
          pc_q[write_warp] <= put_pc_i ? put_data_i[32*i +: 32] : park_pc_i[32*i +: 32];

      always_ff @(posedge clk_i)
        if (put_depth_i || (park_i && park_mask_i[i]))
          depth_q[write_warp] <= put_depth_i ? put_data_i[32*i + tern_spec_pkg::CTX_SIMT_LANE_DEPTH_LSB +: 8]
                                             : park_depth_i;

      always_comb begin
        work_pc[32*i +: 32]  = 32'd0;
        work_depth[8*i +: 8] = 8'd0;
        if (work_valid_q || look_i) begin
          work_pc[32*i +: 32]  = pc_q[work_warp_o];
          work_depth[8*i +: 8] = depth_q[work_warp_o];
        end
        res_pc[32*i +: 32]  = 32'd0;
        res_depth[8*i +: 8] = 8'd0;
        if (stage_q[0]) begin
          res_pc[32*i +: 32]  = pc_q[res_warp_o];
          res_depth[8*i +: 8] = depth_q[res_warp_o];
        end
      end
    end
  endgenerate

  // The request, and the next lane in turn.
  logic [LW-1:0]   turn_q [0:WARPS-1];
  logic [LANES-1:0] others_q, later_q, leads;
  logic [LW-1:0]   leader;

  assign work_warp_o = look_i ? look_warp_i : work_warp_q;
  assign look_turn_o = turn_q[work_warp_o];

  // The next lane in turn, one cycle after the lanes are read: the first lane that did not run, at or after the turn;
  // if there is none, the first of all that did not run. x & -x is the lowest set bit of x.
  always_comb begin
    leads  = (later_q != '0) ? later_q & -later_q : others_q & -others_q;
    if (others_q == '0) leads[0] = 1'b1;
    leader = '0;
    for (int i = 0; i < LANES; i++) if (leads[i]) leader = leader | LW'(i);
  end

  always_ff @(posedge clk_i) begin
    work_valid_q  <= req_i && !rst_i;
    work_warp_q   <= req_warp_i;
    work_rotate_q <= req_rotate_i;
    if (work_valid_q && work_rotate_q) begin
      others_q <= work_elig_i & ~work_running_i;
      later_q  <= work_elig_i & ~work_running_i & ({LANES{1'b1}} << turn_q[work_warp_q]);
    end
    if (stage_q[LW] && rotate_q[LW]) turn_q[warp_q[LW]] <= leader + 1'b1;
    if (put_depth_i) turn_q[put_warp_i] <= put_data_i[tern_spec_pkg::CTX_SIMT_LANE_TURN_LSB +: LW];
    if (rst_i) for (int w = 0; w < WARPS; w++) turn_q[w] <= '0;
  end

  // The tree: node n has children 2n and 2n + 1. Node 1 is the root. Level k has the nodes 2^k to 2^(k+1) - 1.
  always_ff @(posedge clk_i) begin
    stage_q <= rst_i ? '0 : {work_valid_q, stage_q[LW:1]};
    if (work_valid_q) begin
      warp_q[LW]   <= work_warp_q;
      rotate_q[LW] <= work_rotate_q;
    end
    for (int k = 0; k < LW; k++)
      if (stage_q[k + 1]) begin
        warp_q[k]   <= warp_q[k + 1];
        rotate_q[k] <= rotate_q[k + 1];
      end
  end

  generate
    for (genvar n = 1; n < 2 * LANES; n++) begin : g_node
      logic        valid_q, valid;
      logic [7:0]  depth_q;
      logic [31:0] low_q, next_q;             // the two lowest distinct pcs at that depth

      if (n >= LANES) begin : g_leaf
        assign valid = rotate_q[LW] ? leads[n - LANES] : valid_q;
        always_ff @(posedge clk_i)
          if (work_valid_q) begin
            valid_q <= work_elig_i[n - LANES];
            depth_q <= work_depth[8*(n - LANES) +: 8];
            low_q   <= work_pc[32*(n - LANES) +: 32];
            next_q  <= NONE;
          end
      end else begin : g_inner
        assign valid = valid_q;
        localparam int LEVEL = $clog2(n + 1) - 1;

        logic        valid_a, valid_b;
        logic [7:0]  depth_a, depth_b;
        logic [31:0] low_a, low_b, next_a, next_b;

        assign valid_a = g_node[2*n].valid;
        assign depth_a = g_node[2*n].depth_q;
        assign low_a   = g_node[2*n].low_q;
        assign next_a  = g_node[2*n].next_q;
        assign valid_b = g_node[2*n+1].valid;
        assign depth_b = g_node[2*n+1].depth_q;
        assign low_b   = g_node[2*n+1].low_q;
        assign next_b  = g_node[2*n+1].next_q;

        always_ff @(posedge clk_i)
          if (stage_q[LEVEL + 1]) begin
            valid_q <= valid_a || valid_b;
            if (!valid_b || (valid_a && depth_a > depth_b)) begin
              depth_q <= depth_a;
              low_q   <= low_a;
              next_q  <= next_a;
            end else if (!valid_a || depth_a < depth_b) begin
              depth_q <= depth_b;
              low_q   <= low_b;
              next_q  <= next_b;
            end else begin
              depth_q <= depth_a;
              if (low_a < low_b) begin
                low_q  <= low_a;
                next_q <= (next_a < low_b) ? next_a : low_b;
              end else if (low_a > low_b) begin
                low_q  <= low_b;
                next_q <= (next_b < low_a) ? next_b : low_a;
              end else begin
                low_q  <= low_a;
                next_q <= (next_a < next_b) ? next_a : next_b;
              end
            end
          end
      end
    end
  endgenerate

  // Lanes that have depth and pc of the root.
  assign res_valid_o  = stage_q[0] && g_node[1].valid;
  assign res_warp_o   = warp_q[0];
  assign res_pc_o     = g_node[1].low_q;
  assign res_depth_o  = g_node[1].depth_q;
  assign res_merge_o  = rotate_q[0] ? NONE : g_node[1].next_q;
  assign res_rotate_o = rotate_q[0];

  always_comb begin
    res_mask_o = '0;
    if (stage_q[0])
      for (int i = 0; i < LANES; i++)
        res_mask_o[i] = res_elig_i[i] && res_pc[32*i +: 32] == g_node[1].low_q &&
          res_depth[8*i +: 8] == g_node[1].depth_q;
  end

endmodule
