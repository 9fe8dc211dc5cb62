// SPDX-License-Identifier: Apache-2.0
// Formats the state of a warp's lanes as docs/spec/context.yaml defines it: a vector of simt_lane and a vector of pcs.
//
// Contract: combinational. Pc and call depth of lanes that run together are those of the warp (simt_flow); of other
// lanes they come from simt_select. The words of lanes that are not live are zero, except for the field turn in lane 0.
// State saved at preemption: none of its own.

module simt_look #(
    parameter int LANES = 16,  // lanes, one work-item each
    localparam int LW = $clog2(LANES)
) (
    input  logic [LANES-1:0]    live_i,
    input  logic [LANES-1:0]    waiting_i,
    input  logic [LANES-1:0]    running_i,
    input  logic [31:0]         pc_i,
    input  logic [7:0]          depth_i,
    input  logic [LANES*32-1:0] lane_pc_i,
    input  logic [LANES*8-1:0]  lane_depth_i,
    input  logic [LANES*10-1:0] fcsr_i,          // {2'b0, frm, fflags} of each lane
    input  logic [LW-1:0]       turn_i,          // next lane of a rotation
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
        // The eight bits are fflags and, above them, frm.
        lanes_o[32*i + tern_spec_pkg::CTX_SIMT_LANE_FFLAGS_LSB +: 8]  = fcsr_i[10*i +: 8];
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
