// SPDX-License-Identifier: Apache-2.0
// Operation codes that the SIMT decoder (simt_decode) passes to the execution units, and latencies of these units.

package simt_op_pkg;

  /* verilator lint_off UNUSEDPARAM */

  // simt_alu: one cycle. Bits 5:3 of a code are its family. Within a family, bits 2:0 control the unit directly.
  localparam logic [2:0] ALU_FAMILY_SUM = 3'd0;  // bit 2: subtract
  localparam logic [5:0] ALU_ADD = 6'o00;
  localparam logic [5:0] ALU_SH1ADD = 6'o01;
  localparam logic [5:0] ALU_SH2ADD = 6'o02;
  localparam logic [5:0] ALU_SH3ADD = 6'o03;
  localparam logic [5:0] ALU_SUB = 6'o04;
  localparam logic [2:0] ALU_FAMILY_LESS = 3'd1;  // bit 0: unsigned
  localparam logic [5:0] ALU_SLT = 6'o10;
  localparam logic [5:0] ALU_SLTU = 6'o11;
  localparam logic [5:0] ALU_MIN = 6'o12;
  localparam logic [5:0] ALU_MINU = 6'o13;
  localparam logic [5:0] ALU_MAX = 6'o14;
  localparam logic [5:0] ALU_MAXU = 6'o15;
  localparam logic [2:0] ALU_FAMILY_SHIFT = 3'd2;  // bit 2: left, bit 1: rotate, bit 0: arithmetic
  localparam logic [5:0] ALU_SRL = 6'o20;
  localparam logic [5:0] ALU_SRA = 6'o21;
  localparam logic [5:0] ALU_ROR = 6'o22;
  localparam logic [5:0] ALU_SLL = 6'o24;
  localparam logic [5:0] ALU_ROL = 6'o26;
  localparam logic [2:0] ALU_FAMILY_LOGIC = 3'd3;  // bit 2: invert b; pass_b: lui, auipc, link address, CSR
  localparam logic [5:0] ALU_XOR = 6'o30;
  localparam logic [5:0] ALU_OR = 6'o31;
  localparam logic [5:0] ALU_AND = 6'o32;
  localparam logic [5:0] ALU_PASS_B = 6'o33;
  localparam logic [5:0] ALU_XNOR = 6'o34;
  localparam logic [5:0] ALU_ORN = 6'o35;
  localparam logic [5:0] ALU_ANDN = 6'o36;
  localparam logic [2:0] ALU_FAMILY_COUNT = 3'd4;
  localparam logic [5:0] ALU_CLZ = 6'o40;
  localparam logic [5:0] ALU_CTZ = 6'o41;
  localparam logic [5:0] ALU_CPOP = 6'o42;
  localparam logic [2:0] ALU_FAMILY_BYTES = 3'd5;  // also sign injection
  localparam logic [5:0] ALU_SEXTB = 6'o50;
  localparam logic [5:0] ALU_SEXTH = 6'o51;
  localparam logic [5:0] ALU_ZEXTH = 6'o52;
  localparam logic [5:0] ALU_ORCB = 6'o53;
  localparam logic [5:0] ALU_REV8 = 6'o54;
  localparam logic [5:0] ALU_FSGNJ = 6'o55;
  localparam logic [5:0] ALU_FSGNJN = 6'o56;
  localparam logic [5:0] ALU_FSGNJX = 6'o57;
  localparam logic [2:0] ALU_FAMILY_FLOAT = 3'd6;  // bit 1: comparison, where bit 2: not of equality, bit 0: strict
  localparam logic [5:0] ALU_FMIN = 6'o60;
  localparam logic [5:0] ALU_FMAX = 6'o61;
  localparam logic [5:0] ALU_FEQ = 6'o62;
  localparam logic [5:0] ALU_FCLASS = 6'o64;
  localparam logic [5:0] ALU_FLE = 6'o66;
  localparam logic [5:0] ALU_FLT = 6'o67;
  localparam logic [2:0] ALU_FAMILY_BRANCH = 3'd7;  // bits 2:0: funct3

  // int_mul: pipelined; MUL_LATENCY cycles from operands to result.
  localparam logic [1:0] MUL_LOW = 2'd0;
  localparam logic [1:0] MUL_H = 2'd1;
  localparam logic [1:0] MUL_HSU = 2'd2;
  localparam logic [1:0] MUL_HU = 2'd3;
  localparam int MUL_LATENCY = 3;

  // fp_fma: pipelined; FMA_LATENCY cycles. The core makes additions and multiplications of it by its choice of
  // operands: a + b is a * 1.0 + b, and a * b is a * b + 0, where the zero has the sign of the product.
  localparam int FMA_LATENCY = 7;

  // simt_convert: one fp_convert for four lanes; CVT_LATENCY cycles.
  localparam logic [1:0] CVT_W_S = 2'd0;  // bit 1: to a float, bit 0: unsigned
  localparam logic [1:0] CVT_WU_S = 2'd1;
  localparam logic [1:0] CVT_S_W = 2'd2;
  localparam logic [1:0] CVT_S_WU = 2'd3;
  localparam int CVT_STAGES = 4;               // of fp_convert
  localparam int CVT_LATENCY = CVT_STAGES + 3;  // until the fourth lane is done

  // div_unit: iterative; its header gives the number of cycles.
  localparam logic [2:0] DIV_DIV = 3'd0;
  localparam logic [2:0] DIV_DIVU = 3'd1;
  localparam logic [2:0] DIV_REM = 3'd2;
  localparam logic [2:0] DIV_REMU = 3'd3;
  localparam logic [2:0] DIV_FDIV = 3'd4;
  localparam logic [2:0] DIV_FSQRT = 3'd5;

  // simt_lsu: memory instructions; their latency is variable.
  localparam logic [2:0] LSU_LOAD = 3'd0;
  localparam logic [2:0] LSU_STORE = 3'd1;
  localparam logic [2:0] LSU_AMO = 3'd2;

  // A memory instruction, but for what has a width that depends on the geometry: its warp, and the mask, the addresses
  // and the operands of its lanes.
  typedef struct packed {
    logic [2:0]  op;           // LSU_*
    logic [3:0]  amo;          // tern_pkg::AMO_*
    logic [1:0]  size;         // log2 of the bytes that a lane accesses
    logic        is_unsigned;  // The result is not sign-extended.
    logic [4:0]  rd;
    logic [31:0] pc;           // for a fault
    logic [16:0] lbase;        // first byte of the group's local memory
  } lsu_req_t;

  // A memory instruction of the core, or one that a resume brings back (raw). Addresses and operands are ports beside
  // it. Here and below the numbers of warp, entry and lane, and masks of lanes, have the width of the largest geometry.
  typedef struct packed {
    lsu_req_t    req;
    logic        raw;         // The addresses are already mapped: windows are not checked.
    logic [4:0]  warp;
    logic [31:0] mask;
    logic [31:0] is_private;  // with raw: lanes that came from the private window
  } lsu_issue_t;

  // An instruction that is not finished, or what is left of it. lbase is zero: the addresses are mapped.
  typedef struct packed {
    lsu_req_t    req;
    logic        gen;         // generation of the warp
    logic [4:0]  warp;
    logic [31:0] mask;
    logic [31:0] is_private;
  } lsu_pending_t;

  // Private and local memory of a dispatch.
  typedef struct packed {
    logic [31:0] stack_base;   // of the private stacks
    logic [4:0]  stack_log2;   // log2 of the bytes of a lane's stack
    logic [16:0] local_bytes;  // local memory of a group
  } lsu_windows_t;

  typedef struct packed {
    logic       idle;      // no access is unfinished
    logic       settled;   // while frozen: what is pending does not change any more
    logic       crowded;   // too many are pending for room to be promised
    logic [5:0] pending;   // number of pending instructions
  } lsu_status_t;

  // Zeroes lines of local memory.
  typedef struct packed {
    logic        valid;
    logic [10:0] first;
    logic [10:0] past;     // the line behind the last one
  } lsu_scrub_t;

  // An access to a line of local memory, and what was read.
  typedef struct packed {
    logic         read;
    logic         write;
    logic [9:0]   line;
    logic [511:0] data;
  } lsu_line_t;
  typedef struct packed {
    logic         valid;
    logic [511:0] data;
  } lsu_line_read_t;

  // Steps of the data of a store or atomic, from lsu_cache to lsu_merge.
  typedef struct packed {
    logic first;  // from T0 to T1
    logic want;   // could leave T1
    logic go;     // leaves T1
  } lsu_step_t;

  // Bytes of a line, and which of them are meant.
  typedef struct packed {
    logic [511:0] data;
    logic [63:0]  be;
  } lsu_bytes_t;

  // Memory will perform the request of this tag: its page is not absent.
  typedef struct packed {
    logic       valid;
    logic [6:0] tag;
  } lsu_pass_t;

  // An access to one line, from lsu_coalesce to lsu_cache, but for what each lane has.
  typedef struct packed {
    logic [2:0]  op;          // as in lsu_req_t
    logic [3:0]  amo;
    logic [1:0]  size;
    logic [4:0]  warp;
    logic [5:0]  entry;
    logic [4:0]  lane;        // the leader
    logic        is_private;  // The leader's address came from the private window.
    logic [31:0] addr;        // of the leader
    logic [31:0] pc;
  } lsu_access_t;

  // Part of a request that lsu_flight keeps for a fault.
  typedef struct packed {
    logic [1:0]  access;      // 0 read, 1 write, 3 atomic (docs/spec/registers.yaml)
    logic [4:0]  warp;
    logic [4:0]  lane;
    logic        is_private;
    logic [31:0] addr;
    logic [31:0] pc;
  } lsu_note_t;

  // A fault, or an access whose page is absent.
  typedef struct packed {
    logic [7:0]  code;        // FAULT_*
    logic [1:0]  access;
    logic [31:0] va;
    logic [31:0] pc;
    logic        gen;         // generation of the warp
    logic [4:0]  warp;
    logic [4:0]  lane;
  } lsu_fault_t;

  // Rounding modes (frm) of the RISC-V specification.
  localparam logic [2:0] RM_RNE = 3'd0;
  localparam logic [2:0] RM_RTZ = 3'd1;
  localparam logic [2:0] RM_RDN = 3'd2;
  localparam logic [2:0] RM_RUP = 3'd3;
  localparam logic [2:0] RM_RMM = 3'd4;

  /* verilator lint_on UNUSEDPARAM */

  // Returns the number of leading zeros of 16 bits that are not all zero. The four nibbles are examined in parallel, so
  // the function is three LUTs deep.
  function automatic logic [3:0] zeros16(input logic [15:0] value);
    logic [3:1] any;
    logic [7:0] inner;
    begin
      for (int i = 0; i < 4; i++) begin
        if (i > 0) any[i] = value[4*i +: 4] != 4'd0;
        inner[2*i +: 2] = {value[4*i+2 +: 2] == 2'd0, !value[4*i+3] && (value[4*i+2] || !value[4*i+1])};
      end
      zeros16[3:2] = any[3] ? 2'd0 : any[2] ? 2'd1 : any[1] ? 2'd2 : 2'd3;
      zeros16[1:0] = any[3] ? inner[7:6] : any[2] ? inner[5:4] : any[1] ? inner[3:2] : inner[1:0];
    end
  endfunction

endpackage
