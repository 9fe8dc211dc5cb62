// SPDX-License-Identifier: Apache-2.0
// The lanes of a warp as docs/spec/context.yaml lays them out: a vector of simt_lane and one of pcs.
//
// Contract: combinational. Of lanes that run together pc and depth are those of the warp (simt_flow), of the others
// what simt_select holds; lanes that are not live are zero, but for the turn in lane 0.
// State saved at preemption: none of its own.

module simt_look #(
    parameter int LANES = 16,
    localparam int LW = $clog2(LANES)
) (
    input  logic [LANES-1:0]    live_i,
    input  logic [LANES-1:0]    waiting_i,
    input  logic [LANES-1:0]    running_i,
    input  logic [31:0]         pc_i,
    input  logic [7:0]          depth_i,
    input  logic [LANES*32-1:0] lane_pc_i,
    input  logic [LANES*8-1:0]  lane_depth_i,
    input  logic [LANES*10-1:0] fcsr_i,
    input  logic [LW-1:0]       turn_i,
    output logic [LANES*32-1:0] lanes_o,
    output logic [LANES*32-1:0] pcs_o
);

  always_comb begin
    lanes_o = '0;
    pcs_o   = '0;
    for (int i = 0; i < LANES; i++)
      if (live_i[i]) begin
        lanes_o[32*i + tern_spec_pkg::CTX_SIMT_LANE_LIVE_LSB]         = 1'b1;
        lanes_o[32*i + tern_spec_pkg::CTX_SIMT_LANE_WAITING_LSB]      = waiting_i[i];
        lanes_o[32*i + tern_spec_pkg::CTX_SIMT_LANE_DEPTH_LSB +: 8]   = running_i[i] ? depth_i : lane_depth_i[8*i +: 8];
        lanes_o[32*i + tern_spec_pkg::CTX_SIMT_LANE_FFLAGS_LSB +: 8]  = fcsr_i[10*i +: 8];   // and frm above them
        pcs_o[32*i +: 32] = running_i[i] ? pc_i : lane_pc_i[32*i +: 32];
      end
    lanes_o[tern_spec_pkg::CTX_SIMT_LANE_TURN_LSB +: 8] = 8'(turn_i);
  end

  logic unused;

  always_comb begin
    unused = 1'b0;
    for (int i = 0; i < LANES; i++) unused = unused || (&{1'b0, fcsr_i[10*i + 8 +: 2]});
  end

endmodule
