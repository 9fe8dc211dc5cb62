// SPDX-License-Identifier: Apache-2.0
// The datapath of one lane: operands, arithmetic, and the selection of the result that is written to the registers.
//
// Contract, by stage of an instruction: D: read_i with the register addresses. R: issue_i selects and latches the
// operands. X: x_* start a unit; addr_o, taken_o and the operands a_o, b_o, c_o are combinational. B and later:
// write-back. wb_sel_i (simt_core_pkg::WB_*) names the unit whose result is written in this cycle; simt_writeback
// defines when each unit may write.
// State saved at preemption: that of simt_regfile; the rest drains.
//
// Every unit reads the operand registers directly and starts by a valid of its own, so an idle unit neither toggles nor
// costs simulation time.

module simt_lane #(
    parameter int LANE = 0,    // number of this lane
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS)
) (
    input  logic          clk_i,
    // D: registers
    input  logic          read_i,
    input  logic          third_i,           // also reads rs3
    input  logic [WW+4:0] rs1_i,
    input  logic [WW+4:0] rs2_i,
    input  logic [WW+4:0] rs3_i,
    // R: operands
    input  logic          issue_i,
    input  logic [2:0]    r_has_i,       // rs3, rs2, rs1 have been written, so the RAM holds them
    input  logic [95:0]   r_value_i,     // values of rs3, rs2, rs1 where r_has_i is clear
    input  logic [WW-1:0] r_warp_i,
    input  logic          r_a_scalar_i,  // the first operand is r_scalar_a_i
    input  logic [31:0]   r_scalar_a_i,
    input  logic [2:0]    r_bsel_i,
    input  logic [31:0]   r_scalar_b_i,
    input  logic [1:0]    r_csel_i,
    input  logic [2:0]    r_part_sel_i,
    // X: execution
    input  logic [WW-1:0] x_warp_i,
    input  logic          x_alu_i,
    input  logic          x_mul_i,
    input  logic          x_misc_i,
    input  logic          x_fma_i,
    input  logic [5:0]    x_op_i,
    input  logic [2:0]    x_funct3_i,
    input  logic [31:0]   x_imm_i,
    input  logic          x_neg_prod_i,
    input  logic          x_neg_add_i,
    input  logic          x_fcsr_i,      // the instruction writes fflags, frm or fcsr
    input  logic [1:0]    x_csr_op_i,    // 1 swap, 2 set, 3 clear
    input  logic          x_csr_frm_i,   // the operand is a value for frm
    output logic [31:0]   a_o,
    output logic [31:0]   b_o,
    output logic [31:0]   c_o,
    output logic [31:0]   addr_o,
    output logic          taken_o,
    output logic [2:0]    rm_o,              // rounding mode of the instruction; above 4: invalid
    output logic [31:0]   rs1_o,         // register rs1 as read from the RAM
    output logic [9:0]    part_o,            // the lane's part of a CSR
    // write-back
    input  logic          b_late_i,      // keeps the result of the ALU for one more cycle
    input  logic [3:0]    wb_sel_i,
    input  logic          wb_write_i,
    input  logic          wb_active_i,   // this lane takes part in the write
    input  logic          wb_first_i,    // first write of the register since the launch
    input  logic [31:0]   wb_value_i,    // value for a lane that takes no part in that first write
    input  logic [WW+4:0] wb_rd_i,
    output logic [31:0]   wb_data_o,
    input  logic          wb_fflags_set_i,
    input  logic          wb_frm_set_i,
    input  logic [31:0]   div_data_i,
    input  logic [4:0]    div_flags_i,
    input  logic [31:0]   lsu_data_i,    // result of the LSU, or a register that a resume brings back
    input  logic [31:0]   scalar_data_i, // value of a launch
    // launch
    input  logic          launch_i,
    input  logic [WW-1:0] launch_warp_i,
    input  logic [29:0]   launch_lid_i
);

  logic [31:0] ram1, ram2, ram3, rs1, rs2, rs3;
  logic [2:0]  frm;
  logic [31:0] wb_data;
  logic [4:0]  wb_flags;
  logic        wb_flag_or;
  logic [7:0]  fcsr_q;

  simt_regfile #(
      .LANE(LANE),
      .WARPS(WARPS)
  ) u_regfile (
      .clk_i,
      .read_i,
      .third_i,
      .rs1_i,
      .rs2_i,
      .rs3_i,
      .rs1_o(ram1),
      .rs2_o(ram2),
      .rs3_o(ram3),
      .part_warp_i(r_warp_i),
      .part_sel_i(r_part_sel_i),
      .part_o,
      .frm_warp_i(x_warp_i),
      .frm_o(frm),
      .write_i(wb_write_i && (wb_active_i || wb_first_i)),
      .rd_i(wb_rd_i),
      .data_i(wb_active_i ? wb_data : wb_value_i),
      .flag_or_i(wb_flag_or && wb_active_i),
      .flags_i(wb_flags),
      .fflags_set_i(wb_fflags_set_i && wb_active_i),
      .frm_set_i(wb_frm_set_i && wb_active_i),
      .fcsr_i((fcsr_q & {8{wb_sel_i == simt_core_pkg::WB_FCSR}}) |
          (lsu_data_i[tern_spec_pkg::CTX_SIMT_LANE_FFLAGS_LSB +: 8] & {8{wb_sel_i == simt_core_pkg::WB_STATE}})),
      .launch_i,
      .launch_warp_i,
      .launch_lid_i
  );

  // R: operands
  logic [31:0] a_q, b_q, c_q;

  assign rs1    = r_has_i[0] ? ram1 : r_value_i[31:0];
  assign rs2    = r_has_i[1] ? ram2 : r_value_i[63:32];
  assign rs3    = r_has_i[2] ? ram3 : r_value_i[95:64];
  assign rs1_o  = ram1;
  assign wb_data_o = wb_data;

  always_ff @(posedge clk_i)
    if (issue_i) begin
      a_q <= r_a_scalar_i ? r_scalar_a_i : rs1;
      case (r_bsel_i)
        simt_core_pkg::B_RS2:  b_q <= rs2;
        simt_core_pkg::B_PART: b_q <= {22'b0, part_o};
        default:               b_q <= r_scalar_b_i;
      endcase
      case (r_csel_i)
        simt_core_pkg::C_RS3: c_q <= rs3;
        simt_core_pkg::C_RS2: c_q <= rs2;
        default:              c_q <= {rs1[31] ^ rs2[31], 31'b0};
      endcase
    end

  assign a_o    = a_q;
  assign b_o    = b_q;
  assign c_o    = c_q;
  assign addr_o = a_q + x_imm_i;
  assign rm_o   = (x_funct3_i == 3'd7) ? frm : x_funct3_i;

  // X: units.
  logic [31:0] alu, alu_q, late_q, mul, misc, fma;
  logic [4:0]  misc_flags, fma_flags;

  simt_alu u_alu (
      .op_i(x_op_i),
      .a_i(a_q),
      .b_i(b_q),
      .result_o(alu)
  );

  simt_branch u_branch (
      .funct3_i(x_funct3_i),
      .a_i(a_q),
      .b_i(b_q),
      .taken_o
  );

  int_mul u_mul (
      .clk_i,
      .valid_i(x_mul_i),
      .op_i(x_op_i[1:0]),
      .a_i(a_q),
      .b_i(b_q),
      .result_o(mul)
  );

  fp_misc u_misc (
      .clk_i,
      .valid_i(x_misc_i),
      .op_i(x_op_i[3:0]),
      .rm_i(rm_o),
      .a_i(a_q),
      .b_i(b_q),
      .result_o(misc),
      .flags_o(misc_flags)
  );

  fp_fma u_fma (
      .clk_i,
      .valid_i(x_fma_i),
      .a_i(a_q),
      .b_i(b_q),
      .c_i(c_q),
      .neg_prod_i(x_neg_prod_i),
      .neg_add_i(x_neg_add_i),
      .rm_i(rm_o),
      .result_o(fma),
      .flags_o(fma_flags)
  );

  logic [7:0] fcsr_new;

  always_comb
    case (x_csr_op_i)
      2'd2:    fcsr_new = b_q[7:0] | a_q[7:0];
      2'd3:    fcsr_new = b_q[7:0] & ~a_q[7:0];
      default: fcsr_new = a_q[7:0];
    endcase

  always_ff @(posedge clk_i) begin
    if (x_alu_i) alu_q <= alu;
    if (b_late_i) late_q <= alu_q;
    if (x_fcsr_i) fcsr_q <= x_csr_frm_i ? {fcsr_new[2:0], 5'b0} : fcsr_new;
  end

  // write-back
  always_comb begin
    wb_flags   = fma_flags;
    wb_flag_or = 1'b0;
    case (wb_sel_i)
      simt_core_pkg::WB_ALU, simt_core_pkg::WB_FCSR: wb_data = alu_q;
      simt_core_pkg::WB_ALU_LATE: wb_data = late_q;
      simt_core_pkg::WB_MUL:      wb_data = mul;
      simt_core_pkg::WB_MISC: begin
        wb_data    = misc;
        wb_flags   = misc_flags;
        wb_flag_or = 1'b1;
      end
      simt_core_pkg::WB_FMA: begin
        wb_data    = fma;
        wb_flag_or = 1'b1;
      end
      simt_core_pkg::WB_DIV: begin
        wb_data    = div_data_i;
        wb_flags   = div_flags_i;
        wb_flag_or = 1'b1;
      end
      simt_core_pkg::WB_LSU, simt_core_pkg::WB_PUT: wb_data = lsu_data_i;
      default:               wb_data = scalar_data_i;
    endcase
  end

endmodule
