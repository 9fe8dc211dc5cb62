// SPDX-License-Identifier: Apache-2.0
// State of one lane for all warps: 32 registers each, local id, rounding mode (frm) and floating-point flags (fflags).
//
// Contract: read_i in cycle t gives rs1_o and rs2_o in cycle t + 1, held until the next read; third_i does so for
// rs3_o. Reads from t + 1 on see a write of cycle t. Registers that have not been written hold unspecified values;
// simt_written tells which ones these are. part_o and frm_o are combinational. Flags change only at a write-back, so
// that one write port serves all units: flag_or_i adds flags_i to them, fflags_set_i replaces them.
// State saved at preemption: the registers (through read port 1), frm_q, fflags_q; lid_q is computed again at a resume.
//
// Three copies of the registers in three block RAMs give three read ports. One RAM that is read three times would need
// a clock three times as fast, and flip-flops would cost 16,000 per lane.

module simt_regfile #(
    parameter int LANE = 0,    // number of this lane
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS)
) (
    input  logic          clk_i,
    // read
    input  logic          read_i,
    input  logic          third_i,
    input  logic [WW+4:0] rs1_i,         // {warp, register}
    input  logic [WW+4:0] rs2_i,
    input  logic [WW+4:0] rs3_i,
    output logic [31:0]   rs1_o,
    output logic [31:0]   rs2_o,
    output logic [31:0]   rs3_o,
    // the lane's part of a CSR
    input  logic [WW-1:0] part_warp_i,
    input  simt_core_pkg::part_e part_sel_i,
    output logic [9:0]    part_o,
    input  logic [WW-1:0] frm_warp_i,
    output logic [2:0]    frm_o,
    // write
    input  logic          write_i,
    input  logic [WW+4:0] rd_i,
    input  logic [31:0]   data_i,
    input  logic          flag_or_i,
    input  logic [4:0]    flags_i,
    input  logic          fflags_set_i,
    input  logic          frm_set_i,
    input  logic [7:0]    fcsr_i,            // {frm, fflags}
    // launch
    input  logic          launch_i,
    input  logic [WW-1:0] launch_warp_i,
    input  logic [29:0]   launch_lid_i   // {z, y, x}
);

  (* ram_style = "block" *) logic [31:0] copy1_q [0:WARPS*32-1];
  (* ram_style = "block" *) logic [31:0] copy2_q [0:WARPS*32-1];
  (* ram_style = "block" *) logic [31:0] copy3_q [0:WARPS*32-1];
  logic [29:0] lid_q [0:WARPS-1];
  logic [2:0]  frm_q [0:WARPS-1];
  logic [4:0]  fflags_q [0:WARPS-1];

  always_ff @(posedge clk_i) begin
    if (write_i) copy1_q[rd_i] <= data_i;
    if (read_i) rs1_o <= copy1_q[rs1_i];
  end

  always_ff @(posedge clk_i) begin
    if (write_i) copy2_q[rd_i] <= data_i;
    if (read_i) rs2_o <= copy2_q[rs2_i];
  end

  always_ff @(posedge clk_i) begin
    if (write_i) copy3_q[rd_i] <= data_i;
    if (third_i) rs3_o <= copy3_q[rs3_i];
  end

  logic [WW-1:0] warp;
  assign warp = rd_i[WW+4:5];

  always_ff @(posedge clk_i) begin
    if (launch_i) lid_q[launch_warp_i] <= launch_lid_i;
    if (flag_or_i) fflags_q[warp] <= fflags_q[warp] | flags_i;
    else if (fflags_set_i) fflags_q[warp] <= fcsr_i[4:0];
    if (frm_set_i) frm_q[warp] <= fcsr_i[7:5];
  end

  assign frm_o = frm_q[frm_warp_i];

  always_comb
    case (part_sel_i)
      simt_core_pkg::PART_ID_X:   part_o = lid_q[part_warp_i][9:0];
      simt_core_pkg::PART_ID_Y:   part_o = lid_q[part_warp_i][19:10];
      simt_core_pkg::PART_ID_Z:   part_o = lid_q[part_warp_i][29:20];
      simt_core_pkg::PART_FFLAGS: part_o = {5'b0, fflags_q[part_warp_i]};
      simt_core_pkg::PART_FRM:    part_o = {7'b0, frm_q[part_warp_i]};
      simt_core_pkg::PART_FCSR:   part_o = {2'b0, frm_q[part_warp_i], fflags_q[part_warp_i]};
      simt_core_pkg::PART_LANE:   part_o = 10'(LANE);
      default:                    part_o = 10'd0;
    endcase

endmodule
