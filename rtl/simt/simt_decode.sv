// SPDX-License-Identifier: Apache-2.0
// Decodes an instruction word of RV32IMA_Zfinx_Zba_Zbb, amocas.w, Zicsr and Tern's custom-0 instructions into control
// signals.
//
// Contract: combinational. fault_o is not FAULT_NONE for an illegal word, ecall and ebreak; flow_o is then FLOW_FAULT
// and unit_o is UNIT_NONE. This module accepts every CSR number; simt_csr knows which ones exist.
// State saved at preemption: none.
//
// dest_o: the instruction takes a write-back slot and a scoreboard bit. Floating-point instructions that raise flags do
// so even with rd = x0. A load or atomic with rd = x0 is handled like a store: only a fence waits for it.

module simt_decode (
    input  logic [31:0] instr_i,
    output simt_core_pkg::unit_e unit_o,
    output logic [5:0]  op_o,         // code of the unit: ALU_*, MUL_*, CVT_*, DIV_*, LSU_*
    output simt_core_pkg::flow_e flow_o,
    output logic [31:0] imm_o,
    output logic        use_rs1_o,
    output logic        use_rs2_o,
    output logic        use_rs3_o,    // uses rs3, or rd as a source (amocas)
    output logic        dest_o,
    output logic        drain_o,      // waits until no register of the warp has a pending result
    output simt_core_pkg::bsel_e bsel_o,
    output simt_core_pkg::csel_e csel_o,
    output logic        neg_prod_o,   // the FMA negates the product
    output logic        neg_add_o,    // the FMA negates the third operand
    output logic        rounds_o,     // depends on the rounding mode
    output logic [3:0]  amo_o,        // tern_pkg::AMO_*
    output logic        csr_o,        // accesses a CSR
    output logic        csr_write_o,  // writes that CSR
    output logic        fence_o,      // any fence
    output logic        call_o,       // jal or jalr with rd = ra
    output logic        return_o,     // jalr to ra with rd = x0
    output logic [7:0]  fault_o       // tern_spec_pkg::FAULT_*
);

  logic [6:0] opcode, funct7;
  logic [2:0] funct3;
  logic [4:0] rd, rs1, rs2;
  logic       rounded;      // the rounding-mode field is legal
  logic       legal;

  assign opcode = instr_i[6:0];
  assign funct7 = instr_i[31:25];
  assign funct3 = instr_i[14:12];
  assign rd     = instr_i[11:7];
  assign rs1    = instr_i[19:15];
  assign rs2    = instr_i[24:20];
  assign rounded = funct3 < 3'd5 || funct3 == 3'd7;

  // Immediates.
  always_comb
    case (opcode)
      7'h37, 7'h17: imm_o = {instr_i[31:12], 12'b0};
      7'h6f:        imm_o = {{12{instr_i[31]}}, instr_i[19:12], instr_i[20], instr_i[30:21], 1'b0};
      7'h63:        imm_o = {{20{instr_i[31]}}, instr_i[7], instr_i[30:25], instr_i[11:8], 1'b0};
      7'h23:        imm_o = {{20{instr_i[31]}}, instr_i[31:25], instr_i[11:7]};
      7'h2f:        imm_o = 32'b0;
      default:      imm_o = {{20{instr_i[31]}}, instr_i[31:20]};
    endcase

  // Operations of the ALU on two registers (op_reg) and on register and immediate (op_imm). ok_*: the word is legal.
  logic [5:0] op_reg, op_imm;
  logic       ok_reg, ok_imm;

  always_comb begin
    ok_reg = 1'b1;
    op_reg = simt_op_pkg::ALU_ADD;
    case ({funct7, funct3})
      {7'h00, 3'd0}: op_reg = simt_op_pkg::ALU_ADD;
      {7'h00, 3'd1}: op_reg = simt_op_pkg::ALU_SLL;
      {7'h00, 3'd2}: op_reg = simt_op_pkg::ALU_SLT;
      {7'h00, 3'd3}: op_reg = simt_op_pkg::ALU_SLTU;
      {7'h00, 3'd4}: op_reg = simt_op_pkg::ALU_XOR;
      {7'h00, 3'd5}: op_reg = simt_op_pkg::ALU_SRL;
      {7'h00, 3'd6}: op_reg = simt_op_pkg::ALU_OR;
      {7'h00, 3'd7}: op_reg = simt_op_pkg::ALU_AND;
      {7'h20, 3'd0}: op_reg = simt_op_pkg::ALU_SUB;
      {7'h20, 3'd4}: op_reg = simt_op_pkg::ALU_XNOR;
      {7'h20, 3'd5}: op_reg = simt_op_pkg::ALU_SRA;
      {7'h20, 3'd6}: op_reg = simt_op_pkg::ALU_ORN;
      {7'h20, 3'd7}: op_reg = simt_op_pkg::ALU_ANDN;
      {7'h10, 3'd2}: op_reg = simt_op_pkg::ALU_SH1ADD;
      {7'h10, 3'd4}: op_reg = simt_op_pkg::ALU_SH2ADD;
      {7'h10, 3'd6}: op_reg = simt_op_pkg::ALU_SH3ADD;
      {7'h05, 3'd4}: op_reg = simt_op_pkg::ALU_MIN;
      {7'h05, 3'd5}: op_reg = simt_op_pkg::ALU_MINU;
      {7'h05, 3'd6}: op_reg = simt_op_pkg::ALU_MAX;
      {7'h05, 3'd7}: op_reg = simt_op_pkg::ALU_MAXU;
      {7'h30, 3'd1}: op_reg = simt_op_pkg::ALU_ROL;
      {7'h30, 3'd5}: op_reg = simt_op_pkg::ALU_ROR;
      {7'h04, 3'd4}: begin
        op_reg = simt_op_pkg::ALU_ZEXTH;
        ok_reg = rs2 == 5'd0;
      end
      default: ok_reg = 1'b0;
    endcase
  end

  always_comb begin
    ok_imm = 1'b1;
    op_imm = simt_op_pkg::ALU_ADD;
    case (funct3)
      3'd0: op_imm = simt_op_pkg::ALU_ADD;
      3'd2: op_imm = simt_op_pkg::ALU_SLT;
      3'd3: op_imm = simt_op_pkg::ALU_SLTU;
      3'd4: op_imm = simt_op_pkg::ALU_XOR;
      3'd6: op_imm = simt_op_pkg::ALU_OR;
      3'd7: op_imm = simt_op_pkg::ALU_AND;
      3'd1:
        case (funct7)
          7'h00: op_imm = simt_op_pkg::ALU_SLL;
          7'h30:
            case (rs2)
              5'd0: op_imm = simt_op_pkg::ALU_CLZ;
              5'd1: op_imm = simt_op_pkg::ALU_CTZ;
              5'd2: op_imm = simt_op_pkg::ALU_CPOP;
              5'd4: op_imm = simt_op_pkg::ALU_SEXTB;
              5'd5: op_imm = simt_op_pkg::ALU_SEXTH;
              default: ok_imm = 1'b0;
            endcase
          default: ok_imm = 1'b0;
        endcase
      default:
        case (funct7)
          7'h00: op_imm = simt_op_pkg::ALU_SRL;
          7'h20: op_imm = simt_op_pkg::ALU_SRA;
          7'h30: op_imm = simt_op_pkg::ALU_ROR;
          7'h14: begin
            op_imm = simt_op_pkg::ALU_ORCB;
            ok_imm = rs2 == 5'd7;
          end
          7'h34: begin
            op_imm = simt_op_pkg::ALU_REV8;
            ok_imm = rs2 == 5'd24;
          end
          default: ok_imm = 1'b0;
        endcase
    endcase
  end

  // Atomic operations.
  logic ok_amo;

  always_comb begin
    ok_amo = funct3 == 3'd2;
    amo_o  = tern_pkg::AMO_ADD;
    case (instr_i[31:27])
      5'd0:  amo_o = tern_pkg::AMO_ADD;
      5'd1:  amo_o = tern_pkg::AMO_SWAP;
      5'd2: begin
        amo_o  = tern_pkg::AMO_LR;
        ok_amo = funct3 == 3'd2 && rs2 == 5'd0;
      end
      5'd3:  amo_o = tern_pkg::AMO_SC;
      5'd4:  amo_o = tern_pkg::AMO_XOR;
      5'd5:  amo_o = tern_pkg::AMO_CAS;
      5'd8:  amo_o = tern_pkg::AMO_OR;
      5'd12: amo_o = tern_pkg::AMO_AND;
      5'd16: amo_o = tern_pkg::AMO_MIN;
      5'd20: amo_o = tern_pkg::AMO_MAX;
      5'd24: amo_o = tern_pkg::AMO_MINU;
      5'd28: amo_o = tern_pkg::AMO_MAXU;
      default: ok_amo = 1'b0;
    endcase
  end

  // Floating-point operations (opcode 0x53).
  simt_core_pkg::unit_e unit_fp;
  logic [5:0] op_fp;
  logic       ok_fp, rounds_fp, quiet_fp;    // quiet: raises no flag

  always_comb begin
    unit_fp   = simt_core_pkg::UNIT_CVT;
    op_fp     = 6'd0;
    ok_fp     = 1'b0;
    rounds_fp = 1'b0;
    quiet_fp  = 1'b0;
    case (funct7)
      7'h00, 7'h04, 7'h08: begin
        unit_fp   = simt_core_pkg::UNIT_FMA;
        rounds_fp = 1'b1;
        ok_fp     = rounded;
      end
      7'h0c: begin
        unit_fp   = simt_core_pkg::UNIT_DIV;
        op_fp     = {3'b0, simt_op_pkg::DIV_FDIV};
        rounds_fp = 1'b1;
        ok_fp     = rounded;
      end
      7'h2c: begin
        unit_fp   = simt_core_pkg::UNIT_DIV;
        op_fp     = {3'b0, simt_op_pkg::DIV_FSQRT};
        rounds_fp = 1'b1;
        ok_fp     = rounded && rs2 == 5'd0;
      end
      7'h10: begin
        unit_fp  = simt_core_pkg::UNIT_ALU;
        op_fp    = (funct3 == 3'd0) ? simt_op_pkg::ALU_FSGNJ : (funct3 == 3'd1) ? simt_op_pkg::ALU_FSGNJN
                 : simt_op_pkg::ALU_FSGNJX;
        ok_fp    = funct3 < 3'd3;
        quiet_fp = 1'b1;
      end
      7'h14: begin
        unit_fp = simt_core_pkg::UNIT_ALU;
        op_fp   = funct3[0] ? simt_op_pkg::ALU_FMAX : simt_op_pkg::ALU_FMIN;
        ok_fp   = funct3 < 3'd2;
      end
      7'h50: begin
        unit_fp = simt_core_pkg::UNIT_ALU;
        op_fp   = (funct3 == 3'd2) ? simt_op_pkg::ALU_FEQ : (funct3 == 3'd1) ? simt_op_pkg::ALU_FLT
                : simt_op_pkg::ALU_FLE;
        ok_fp   = funct3 < 3'd3;
      end
      7'h60: begin
        op_fp     = {4'b0, rs2[0] ? simt_op_pkg::CVT_WU_S : simt_op_pkg::CVT_W_S};
        rounds_fp = 1'b1;
        ok_fp     = rounded && rs2[4:1] == 4'd0;
      end
      7'h68: begin
        op_fp     = {4'b0, rs2[0] ? simt_op_pkg::CVT_S_WU : simt_op_pkg::CVT_S_W};
        rounds_fp = 1'b1;
        ok_fp     = rounded && rs2[4:1] == 4'd0;
      end
      7'h70: begin
        unit_fp  = simt_core_pkg::UNIT_ALU;
        op_fp    = simt_op_pkg::ALU_FCLASS;
        ok_fp    = funct3 == 3'd1 && rs2 == 5'd0;
        quiet_fp = 1'b1;
      end
      default: ;
    endcase
  end

  always_comb begin
    unit_o      = simt_core_pkg::UNIT_NONE;
    op_o        = simt_op_pkg::ALU_ADD;
    flow_o      = simt_core_pkg::FLOW_NEXT;
    use_rs1_o   = 1'b0;
    use_rs2_o   = 1'b0;
    use_rs3_o   = 1'b0;
    dest_o      = 1'b0;
    drain_o     = 1'b0;
    bsel_o      = simt_core_pkg::B_RS2;
    csel_o      = simt_core_pkg::C_RS3;
    neg_prod_o  = 1'b0;
    neg_add_o   = 1'b0;
    rounds_o    = 1'b0;
    csr_o       = 1'b0;
    csr_write_o = 1'b0;
    fence_o     = 1'b0;
    call_o      = 1'b0;
    return_o    = 1'b0;
    fault_o     = tern_spec_pkg::FAULT_NONE;
    legal       = 1'b1;
    case (opcode)
      7'h37, 7'h17: begin  // lui, auipc
        unit_o = simt_core_pkg::UNIT_ALU;
        op_o   = simt_op_pkg::ALU_PASS_B;
        bsel_o = opcode[5] ? simt_core_pkg::B_IMM : simt_core_pkg::B_PC_IMM;
        dest_o = rd != 5'd0;
      end
      7'h6f, 7'h67: begin  // jal, jalr
        unit_o    = simt_core_pkg::UNIT_ALU;
        op_o      = simt_op_pkg::ALU_PASS_B;
        bsel_o    = simt_core_pkg::B_PC_4;
        dest_o    = rd != 5'd0;
        use_rs1_o = !opcode[3];
        flow_o    = opcode[3] ? simt_core_pkg::FLOW_JAL : simt_core_pkg::FLOW_JALR;
        call_o    = rd == 5'd1;
        return_o  = !opcode[3] && rd == 5'd0 && rs1 == 5'd1;
        legal     = opcode[3] || funct3 == 3'd0;
      end
      7'h63: begin  // branches
        flow_o    = simt_core_pkg::FLOW_BRANCH;
        op_o      = {simt_op_pkg::ALU_FAMILY_BRANCH, funct3};
        use_rs1_o = 1'b1;
        use_rs2_o = 1'b1;
        legal     = funct3[2:1] != 2'b01;
      end
      7'h03: begin  // loads
        unit_o    = simt_core_pkg::UNIT_LSU;
        op_o      = {3'b0, simt_op_pkg::LSU_LOAD};
        use_rs1_o = 1'b1;
        dest_o    = rd != 5'd0;
        legal     = funct3 != 3'd3 && funct3 < 3'd6;
      end
      7'h23: begin  // stores
        unit_o    = simt_core_pkg::UNIT_LSU;
        op_o      = {3'b0, simt_op_pkg::LSU_STORE};
        use_rs1_o = 1'b1;
        use_rs2_o = 1'b1;
        legal     = funct3 < 3'd3;
      end
      7'h2f: begin  // atomics
        unit_o    = simt_core_pkg::UNIT_LSU;
        op_o      = {3'b0, simt_op_pkg::LSU_AMO};
        use_rs1_o = 1'b1;
        use_rs2_o = 1'b1;
        use_rs3_o = amo_o == tern_pkg::AMO_CAS;
        dest_o    = rd != 5'd0;
        legal     = ok_amo;
      end
      7'h13: begin
        unit_o    = simt_core_pkg::UNIT_ALU;
        op_o      = op_imm;
        bsel_o    = simt_core_pkg::B_IMM;
        use_rs1_o = 1'b1;
        dest_o    = rd != 5'd0;
        legal     = ok_imm;
      end
      7'h33: begin
        use_rs1_o = 1'b1;
        use_rs2_o = 1'b1;
        dest_o    = rd != 5'd0;
        if (funct7 == 7'h01) begin
          unit_o = funct3[2] ? simt_core_pkg::UNIT_DIV : simt_core_pkg::UNIT_MUL;
          op_o   = {4'b0, funct3[1:0]};   // MUL_* and DIV_* have the order of funct3
        end else begin
          unit_o = simt_core_pkg::UNIT_ALU;
          op_o   = op_reg;
          legal  = ok_reg;
        end
        if (rd == 5'd0) unit_o = simt_core_pkg::UNIT_NONE;
      end
      7'h0f: begin
        fence_o = 1'b1;
        legal   = funct3 < 3'd2;
      end
      7'h73: begin
        unit_o      = simt_core_pkg::UNIT_ALU;
        csr_o       = 1'b1;
        csr_write_o = funct3[1:0] == 2'd1 || rs1 != 5'd0;
        bsel_o      = simt_core_pkg::B_PART;
        use_rs1_o   = !funct3[2] && rs1 != 5'd0;
        drain_o     = instr_i[31:22] == 10'd0;      // fflags, frm, fcsr
        op_o        = drain_o ? simt_op_pkg::ALU_PASS_B : simt_op_pkg::ALU_ADD;
        dest_o      = drain_o || rd != 5'd0;
        legal       = funct3[1:0] != 2'd0;
        if (instr_i == 32'h0000_0073 || instr_i == 32'h0010_0073) fault_o = tern_spec_pkg::FAULT_ENVIRONMENT_CALL;
      end
      7'h43, 7'h47, 7'h4b, 7'h4f: begin
        unit_o     = simt_core_pkg::UNIT_FMA;
        use_rs1_o  = 1'b1;
        use_rs2_o  = 1'b1;
        use_rs3_o  = 1'b1;
        dest_o     = 1'b1;
        rounds_o   = 1'b1;
        neg_prod_o = opcode[3];
        neg_add_o  = opcode[2];
        legal      = rounded && funct7[1:0] == 2'd0;
      end
      7'h53: begin
        unit_o    = unit_fp;
        op_o      = op_fp;
        use_rs1_o = 1'b1;
        use_rs2_o = 1'b1;
        dest_o    = !quiet_fp || rd != 5'd0;
        rounds_o  = rounds_fp;
        legal     = ok_fp;
        if (unit_fp == simt_core_pkg::UNIT_FMA) begin  // a * 1 + b, a * 1 - b, a * b + 0
          bsel_o    = funct7[3] ? simt_core_pkg::B_RS2 : simt_core_pkg::B_ONE;
          csel_o    = funct7[3] ? simt_core_pkg::C_ZERO : simt_core_pkg::C_RS2;
          neg_add_o = funct7[2];
        end
      end
      7'h0b: begin
        flow_o  = (funct3 == tern_spec_pkg::CUSTOM_EXIT) ? simt_core_pkg::FLOW_EXIT : simt_core_pkg::FLOW_BARRIER;
        drain_o = funct3 == tern_spec_pkg::CUSTOM_EXIT;
        legal   = {instr_i[31:15], instr_i[11:7]} == 22'd0
                  && (funct3 == tern_spec_pkg::CUSTOM_EXIT || funct3 == tern_spec_pkg::CUSTOM_BARRIER);
      end
      default: legal = 1'b0;
    endcase
    if (!legal && fault_o == tern_spec_pkg::FAULT_NONE) fault_o = tern_spec_pkg::FAULT_ILLEGAL_INSTRUCTION;
    if (fault_o != tern_spec_pkg::FAULT_NONE) begin
      unit_o  = simt_core_pkg::UNIT_NONE;
      flow_o  = simt_core_pkg::FLOW_FAULT;
      dest_o  = 1'b0;
      drain_o = 1'b0;
      fence_o = 1'b0;
      csr_o   = 1'b0;
    end
  end

endmodule
