// SPDX-License-Identifier: Apache-2.0
// The single-cycle integer unit of one lane: RV32I, Zba, Zbb and the sign injections of Zfinx.
//
// Contract: combinational; op_i is simt_op_pkg::ALU_*; another op_i gives zero. Shift counts use b_i[4:0] only.
// State saved at preemption: none.
//
// One adder serves add, subtract, compare, minimum and shift-add. All shifts and rotations are one right shift of a
// 63-bit funnel: {high, low} >> n, where a left shift by s is {a, 31'b0} >> (31 - s). Five separate shifters would
// simulate as fast but take five times the logic. Count instructions sit in their own arm of the case, so simulation
// evaluates them only when they are asked for.

module simt_alu (
    input  logic [5:0]  op_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic [31:0] result_o
);

  // adder: a + b, a - b, (a << n) + b
  logic        subtract;
  logic [31:0] addend;
  logic [32:0] sum;
  logic        less, less_u;

  always_comb begin
    subtract = !(op_i == simt_op_pkg::ALU_ADD || op_i == simt_op_pkg::ALU_SH1ADD || op_i == simt_op_pkg::ALU_SH2ADD
                 || op_i == simt_op_pkg::ALU_SH3ADD);
    case (op_i)
      simt_op_pkg::ALU_SH1ADD: addend = {a_i[30:0], 1'b0};
      simt_op_pkg::ALU_SH2ADD: addend = {a_i[29:0], 2'b0};
      simt_op_pkg::ALU_SH3ADD: addend = {a_i[28:0], 3'b0};
      default:                 addend = a_i;
    endcase
    sum    = {1'b0, addend} + {1'b0, b_i ^ {32{subtract}}} + {32'b0, subtract};
    less_u = !sum[32];
    less   = (a_i[31] != b_i[31]) ? a_i[31] : less_u;
  end

  // shifter
  logic        left;
  logic [62:0] funnel;
  logic [31:0] shifted;

  always_comb begin
    left = op_i == simt_op_pkg::ALU_SLL || op_i == simt_op_pkg::ALU_ROL;
    case (op_i)
      simt_op_pkg::ALU_SLL: funnel = {a_i, 31'b0};
      simt_op_pkg::ALU_ROL: funnel = {a_i, a_i[31:1]};
      simt_op_pkg::ALU_ROR: funnel = {a_i[30:0], a_i};
      simt_op_pkg::ALU_SRA: funnel = {{31{a_i[31]}}, a_i};
      default:              funnel = {31'b0, a_i};
    endcase
    shifted = 32'(funnel >> (b_i[4:0] ^ {5{left}}));
  end

  // leading zeros, 16, 8, 4, 2 and 1 at a time
  function logic [5:0] leading_zeros(input logic [31:0] value);
    logic [31:0] x;
    logic [4:0]  n;
    begin
      x = value;
      n[4] = x[31:16] == 16'b0;
      if (n[4]) x = {x[15:0], 16'b0};
      n[3] = x[31:24] == 8'b0;
      if (n[3]) x = {x[23:0], 8'b0};
      n[2] = x[31:28] == 4'b0;
      if (n[2]) x = {x[27:0], 4'b0};
      n[1] = x[31:30] == 2'b0;
      if (n[1]) x = {x[29:0], 2'b0};
      n[0] = !x[31];
      leading_zeros = (value == 32'b0) ? 6'd32 : {1'b0, n};
    end
  endfunction

  function logic [5:0] ones(input logic [31:0] value);
    logic [31:0] x;
    begin
      x = (value & 32'h5555_5555) + ((value >> 1) & 32'h5555_5555);
      x = (x & 32'h3333_3333) + ((x >> 2) & 32'h3333_3333);
      x = (x & 32'h0f0f_0f0f) + ((x >> 4) & 32'h0f0f_0f0f);
      ones = x[5:0] + x[13:8] + x[21:16] + x[29:24];
    end
  endfunction

  function logic [31:0] reversed(input logic [31:0] value);
    for (int i = 0; i < 32; i++) reversed[i] = value[31 - i];
  endfunction

  always_comb begin
    case (op_i)
      simt_op_pkg::ALU_ADD, simt_op_pkg::ALU_SUB,
      simt_op_pkg::ALU_SH1ADD, simt_op_pkg::ALU_SH2ADD,
      simt_op_pkg::ALU_SH3ADD: result_o = sum[31:0];
      simt_op_pkg::ALU_SLL, simt_op_pkg::ALU_SRL,
      simt_op_pkg::ALU_SRA, simt_op_pkg::ALU_ROL,
      simt_op_pkg::ALU_ROR:    result_o = shifted;
      simt_op_pkg::ALU_SLT:    result_o = {31'b0, less};
      simt_op_pkg::ALU_SLTU:   result_o = {31'b0, less_u};
      simt_op_pkg::ALU_XOR:    result_o = a_i ^ b_i;
      simt_op_pkg::ALU_OR:     result_o = a_i | b_i;
      simt_op_pkg::ALU_AND:    result_o = a_i & b_i;
      simt_op_pkg::ALU_PASS_B: result_o = b_i;
      simt_op_pkg::ALU_ANDN:   result_o = a_i & ~b_i;
      simt_op_pkg::ALU_ORN:    result_o = a_i | ~b_i;
      simt_op_pkg::ALU_XNOR:   result_o = ~(a_i ^ b_i);
      simt_op_pkg::ALU_CLZ:    result_o = {26'b0, leading_zeros(a_i)};
      simt_op_pkg::ALU_CTZ:    result_o = {26'b0, leading_zeros(reversed(a_i))};
      simt_op_pkg::ALU_CPOP:   result_o = {26'b0, ones(a_i)};
      simt_op_pkg::ALU_MAX:    result_o = less ? b_i : a_i;
      simt_op_pkg::ALU_MAXU:   result_o = less_u ? b_i : a_i;
      simt_op_pkg::ALU_MIN:    result_o = less ? a_i : b_i;
      simt_op_pkg::ALU_MINU:   result_o = less_u ? a_i : b_i;
      simt_op_pkg::ALU_SEXTB:  result_o = {{24{a_i[7]}}, a_i[7:0]};
      simt_op_pkg::ALU_SEXTH:  result_o = {{16{a_i[15]}}, a_i[15:0]};
      simt_op_pkg::ALU_ZEXTH:  result_o = {16'b0, a_i[15:0]};
      simt_op_pkg::ALU_ORCB:   result_o = {{8{|a_i[31:24]}}, {8{|a_i[23:16]}}, {8{|a_i[15:8]}}, {8{|a_i[7:0]}}};
      simt_op_pkg::ALU_REV8:   result_o = {a_i[7:0], a_i[15:8], a_i[23:16], a_i[31:24]};
      simt_op_pkg::ALU_FSGNJ:  result_o = {b_i[31], a_i[30:0]};
      simt_op_pkg::ALU_FSGNJN: result_o = {!b_i[31], a_i[30:0]};
      simt_op_pkg::ALU_FSGNJX: result_o = {a_i[31] ^ b_i[31], a_i[30:0]};
      default:                 result_o = 32'b0;
    endcase
  end

`ifdef FORMAL
  // against the plain definitions
  logic [31:0] expected;

  always_comb begin
    expected = result_o;
    case (op_i)
      simt_op_pkg::ALU_ADD:    expected = a_i + b_i;
      simt_op_pkg::ALU_SUB:    expected = a_i - b_i;
      simt_op_pkg::ALU_SH3ADD: expected = (a_i << 3) + b_i;
      simt_op_pkg::ALU_SLL:    expected = a_i << b_i[4:0];
      simt_op_pkg::ALU_SRL:    expected = a_i >> b_i[4:0];
      simt_op_pkg::ALU_SRA:    expected = $signed(a_i) >>> b_i[4:0];
      simt_op_pkg::ALU_ROL:    expected = (a_i << b_i[4:0]) | (a_i >> (6'd32 - {1'b0, b_i[4:0]}));
      simt_op_pkg::ALU_ROR:    expected = (a_i >> b_i[4:0]) | (a_i << (6'd32 - {1'b0, b_i[4:0]}));
      simt_op_pkg::ALU_SLT:    expected = {31'b0, $signed(a_i) < $signed(b_i)};
      simt_op_pkg::ALU_SLTU:   expected = {31'b0, a_i < b_i};
      simt_op_pkg::ALU_MAX:    expected = ($signed(a_i) < $signed(b_i)) ? b_i : a_i;
      simt_op_pkg::ALU_MINU:   expected = (a_i < b_i) ? a_i : b_i;
      default: ;
    endcase
    assert (result_o == expected);
    // the bit after the zeros is one, all before it are zero
    if (op_i == simt_op_pkg::ALU_CLZ)
      assert ((a_i == 32'b0) ? result_o == 32'd32
                             : result_o < 32'd32 && (a_i >> (5'd31 - result_o[4:0])) == 32'd1);
    if (op_i == simt_op_pkg::ALU_CTZ)
      assert ((a_i == 32'b0) ? result_o == 32'd32
                             : result_o < 32'd32 && (a_i << (5'd31 - result_o[4:0])) == 32'h8000_0000);
  end
`endif

endmodule
