// SPDX-License-Identifier: Apache-2.0
// The datapath of one lane: operands, arithmetic, and the selection of the result that is written to the registers.
//
// Contract, by stage of an instruction: D: read_i with the register addresses. R: r_i.issue selects and latches the
// operands. X: x_i starts a unit; addr_o, taken_o and the operands a_o, b_o, c_o are combinational. B and later:
// write-back. wb_i.sel (simt_core_pkg::WB_*) names the unit whose result is written in this cycle; simt_writeback
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
    input  simt_core_pkg::lane_r_t r_i,
    // X: execution
    input  simt_core_pkg::lane_x_t x_i,
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
    input  simt_core_pkg::lane_wb_t wb_i,
    input  logic          wb_active_i,   // this lane takes part in the write
    output logic [31:0]   wb_data_o,
    input  logic [31:0]   cvt_data_i,
    input  logic [1:0]    cvt_flags_i,   // {NV, NX}
    input  logic [31:0]   div_data_i,
    input  logic [4:0]    div_flags_i,
    input  logic [31:0]   lsu_data_i,    // result of the LSU, or a register that a resume brings back
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
      .part_warp_i(r_i.warp[WW-1:0]),
      .part_sel_i(r_i.part),
      .part_o,
      .frm_warp_i(x_i.warp[WW-1:0]),
      .frm_o(frm),
      .write_i(wb_i.write && (wb_active_i || wb_i.first)),
      .rd_i({wb_i.warp[WW-1:0], wb_i.rd}),
      .data_i(wb_active_i ? wb_data : wb_i.value),
      .flag_or_i(wb_flag_or && wb_active_i),
      .flags_i(wb_flags),
      .fflags_set_i(wb_i.fflags_set && wb_active_i),
      .frm_set_i(wb_i.frm_set && wb_active_i),
      .fcsr_i((fcsr_q & {8{wb_i.sel == simt_core_pkg::WB_FCSR}}) |
          (lsu_data_i[tern_spec_pkg::CTX_SIMT_LANE_FFLAGS_LSB +: 8] & {8{wb_i.sel == simt_core_pkg::WB_STATE}})),
      .launch_i,
      .launch_warp_i,
      .launch_lid_i
  );

  // R: operands
  logic [31:0] a_q, b_q, c_q;

  assign rs1    = r_i.has[0] ? ram1 : r_i.value[31:0];
  assign rs2    = r_i.has[1] ? ram2 : r_i.value[63:32];
  assign rs3    = r_i.has[2] ? ram3 : r_i.value[95:64];
  assign rs1_o  = ram1;
  assign wb_data_o = wb_data;

  always_ff @(posedge clk_i)
    if (r_i.issue) begin
      a_q <= r_i.a_scalar ? r_i.scalar_a : rs1;
      case (r_i.bsel)
        simt_core_pkg::B_RS2:  b_q <= rs2;
        simt_core_pkg::B_PART: b_q <= {22'b0, part_o};
        default:               b_q <= r_i.scalar_b;
      endcase
      case (r_i.csel)
        simt_core_pkg::C_RS3: c_q <= rs3;
        simt_core_pkg::C_RS2: c_q <= rs2;
        default:              c_q <= {rs1[31] ^ rs2[31], 31'b0};
      endcase
    end

  assign a_o    = a_q;
  assign b_o    = b_q;
  assign c_o    = c_q;
  assign addr_o = a_q + x_i.imm;
  assign rm_o   = (x_i.funct3 == 3'd7) ? frm : x_i.funct3;

  // X: units.
  logic [31:0] alu, alu_q, late_q, mul, fma;
  logic        invalid, invalid_q, late_invalid_q;
  logic [4:0]  fma_flags;

  simt_alu u_alu (
      .op_i(x_i.op),
      .a_i(a_q),
      .b_i(b_q),
      .result_o(alu),
      .invalid_o(invalid),
      .taken_o
  );

  int_mul u_mul (
      .clk_i,
      .valid_i(x_i.mul),
      .op_i(x_i.op[1:0]),
      .a_i(a_q),
      .b_i(b_q),
      .result_o(mul)
  );

  fp_fma u_fma (
      .clk_i,
      .valid_i(x_i.fma),
      .a_i(a_q),
      .b_i(b_q),
      .c_i(c_q),
      .neg_prod_i(x_i.neg_prod),
      .neg_add_i(x_i.neg_add),
      .rm_i(rm_o),
      .result_o(fma),
      .flags_o(fma_flags)
  );

  logic [7:0] fcsr_new;

  always_comb
    case (x_i.csr_op)
      2'd2:    fcsr_new = b_q[7:0] | a_q[7:0];
      2'd3:    fcsr_new = b_q[7:0] & ~a_q[7:0];
      default: fcsr_new = a_q[7:0];
    endcase

  always_ff @(posedge clk_i) begin
    if (x_i.alu) {alu_q, invalid_q} <= {alu, invalid};
    if (b_late_i) {late_q, late_invalid_q} <= {alu_q, invalid_q};
    if (x_i.fcsr) fcsr_q <= x_i.csr_frm ? {fcsr_new[2:0], 5'b0} : fcsr_new;
  end

  // write-back
  always_comb begin
    wb_flags   = fma_flags;
    wb_flag_or = 1'b0;
    case (wb_i.sel)
      simt_core_pkg::WB_ALU, simt_core_pkg::WB_FCSR: begin
        wb_data    = alu_q;
        wb_flags   = {invalid_q, 4'b0};
        wb_flag_or = invalid_q;
      end
      simt_core_pkg::WB_ALU_LATE: begin
        wb_data    = late_q;
        wb_flags   = {late_invalid_q, 4'b0};
        wb_flag_or = late_invalid_q;
      end
      simt_core_pkg::WB_MUL:      wb_data = mul;
      simt_core_pkg::WB_CVT: begin
        wb_data    = cvt_data_i;
        wb_flags   = {cvt_flags_i[1], 3'b0, cvt_flags_i[0]};
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
      default:               wb_data = wb_i.launch;
    endcase
  end

endmodule
