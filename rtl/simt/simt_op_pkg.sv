// SPDX-License-Identifier: Apache-2.0
// Operation codes between the SIMT decoder and its execution units.

package simt_op_pkg;

  /* verilator lint_off UNUSEDPARAM */

  // simt_alu: one cycle
  localparam logic [5:0] ALU_ADD = 6'd0;
  localparam logic [5:0] ALU_SUB = 6'd1;
  localparam logic [5:0] ALU_SLL = 6'd2;
  localparam logic [5:0] ALU_SLT = 6'd3;
  localparam logic [5:0] ALU_SLTU = 6'd4;
  localparam logic [5:0] ALU_XOR = 6'd5;
  localparam logic [5:0] ALU_SRL = 6'd6;
  localparam logic [5:0] ALU_SRA = 6'd7;
  localparam logic [5:0] ALU_OR = 6'd8;
  localparam logic [5:0] ALU_AND = 6'd9;
  localparam logic [5:0] ALU_PASS_B = 6'd10;   // lui, auipc, link address, csr
  localparam logic [5:0] ALU_SH1ADD = 6'd11;   // Zba
  localparam logic [5:0] ALU_SH2ADD = 6'd12;
  localparam logic [5:0] ALU_SH3ADD = 6'd13;
  localparam logic [5:0] ALU_ANDN = 6'd14;     // Zbb
  localparam logic [5:0] ALU_ORN = 6'd15;
  localparam logic [5:0] ALU_XNOR = 6'd16;
  localparam logic [5:0] ALU_CLZ = 6'd17;
  localparam logic [5:0] ALU_CTZ = 6'd18;
  localparam logic [5:0] ALU_CPOP = 6'd19;
  localparam logic [5:0] ALU_MAX = 6'd20;
  localparam logic [5:0] ALU_MAXU = 6'd21;
  localparam logic [5:0] ALU_MIN = 6'd22;
  localparam logic [5:0] ALU_MINU = 6'd23;
  localparam logic [5:0] ALU_SEXTB = 6'd24;
  localparam logic [5:0] ALU_SEXTH = 6'd25;
  localparam logic [5:0] ALU_ZEXTH = 6'd26;
  localparam logic [5:0] ALU_ROL = 6'd27;
  localparam logic [5:0] ALU_ROR = 6'd28;
  localparam logic [5:0] ALU_ORCB = 6'd29;
  localparam logic [5:0] ALU_REV8 = 6'd30;
  localparam logic [5:0] ALU_FSGNJ = 6'd31;    // Zfinx operations that are plain bit work
  localparam logic [5:0] ALU_FSGNJN = 6'd32;
  localparam logic [5:0] ALU_FSGNJX = 6'd33;

  // int_mul: pipelined
  localparam logic [1:0] MUL_LOW = 2'd0;
  localparam logic [1:0] MUL_H = 2'd1;
  localparam logic [1:0] MUL_HSU = 2'd2;
  localparam logic [1:0] MUL_HU = 2'd3;
  localparam int MUL_LATENCY = 3;

  // fp_fma: pipelined; add = a * 1 + b and multiply = a * b + (-0 or +0 by sign) are prepared by the decoder's caller
  localparam int FMA_LATENCY = 7;

  // fp_misc: pipelined
  localparam logic [3:0] FPM_MIN = 4'd0;
  localparam logic [3:0] FPM_MAX = 4'd1;
  localparam logic [3:0] FPM_EQ = 4'd2;
  localparam logic [3:0] FPM_LT = 4'd3;
  localparam logic [3:0] FPM_LE = 4'd4;
  localparam logic [3:0] FPM_CLASS = 4'd5;
  localparam logic [3:0] FPM_CVT_W_S = 4'd6;
  localparam logic [3:0] FPM_CVT_WU_S = 4'd7;
  localparam logic [3:0] FPM_CVT_S_W = 4'd8;
  localparam logic [3:0] FPM_CVT_S_WU = 4'd9;
  localparam int FPM_LATENCY = 3;

  // div_unit: iterative
  localparam logic [2:0] DIV_DIV = 3'd0;
  localparam logic [2:0] DIV_DIVU = 3'd1;
  localparam logic [2:0] DIV_REM = 3'd2;
  localparam logic [2:0] DIV_REMU = 3'd3;
  localparam logic [2:0] DIV_FDIV = 3'd4;
  localparam logic [2:0] DIV_FSQRT = 3'd5;

  // simt_lsu
  localparam logic [2:0] LSU_LOAD = 3'd0;
  localparam logic [2:0] LSU_STORE = 3'd1;
  localparam logic [2:0] LSU_AMO = 3'd2;

  // classes of stop granularity, rounding modes: as in the RISC-V and Tern specifications
  localparam logic [2:0] RM_RNE = 3'd0;
  localparam logic [2:0] RM_RTZ = 3'd1;
  localparam logic [2:0] RM_RDN = 3'd2;
  localparam logic [2:0] RM_RUP = 3'd3;
  localparam logic [2:0] RM_RMM = 3'd4;

  /* verilator lint_on UNUSEDPARAM */

endpackage
