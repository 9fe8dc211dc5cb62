// SPDX-License-Identifier: Apache-2.0
// The single-cycle integer unit of one lane: RV32I, Zba, Zbb and the sign injections of Zfinx.
//
// Contract: combinational. op_i is simt_op_pkg::ALU_*; other codes give an unspecified result. Shift counts are
// b_i[4:0].
// State saved at preemption: none.
//
// One adder serves add, subtract and shift-add; one comparator serves comparisons, minimum and maximum. All shifts and
// rotations are one right shift of a 63-bit funnel: {high, low} >> n. A left shift by s is {a, 31'b0} >> (31 - s). Five
// separate shifters would simulate as fast but take five times the logic. Each family of operations has its own arm of
// the case, so a simulation evaluates only the family that is used.

module simt_alu (
    input  logic [5:0]  op_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic [31:0] result_o
);

  logic [2:0] family, operation;

  assign {family, operation} = op_i;

  // Adder: a + b, a - b, (a << n) + b.
  logic        subtract, flip, less;
  logic [31:0] addend;
  logic [31:0] sum;

  always_comb begin
    subtract = operation[2];
    addend   = subtract ? a_i : a_i << operation[1:0];
    sum      = addend + (b_i ^ {32{subtract}}) + {31'b0, subtract};
    // A signed comparison is an unsigned comparison with the sign bits exchanged.
    flip     = !operation[0];
    less     = {a_i[31] ^ flip, a_i[30:0]} < {b_i[31] ^ flip, b_i[30:0]};
  end

  // Shifter.
  logic        left, rotate;
  logic [62:0] funnel;
  logic [31:0] shifted;

  always_comb begin
    {left, rotate} = operation[2:1];
    funnel  = left ? {a_i, rotate ? a_i[31:1] : 31'b0}
                   : {rotate ? a_i[30:0] : {31{a_i[31] && operation[0]}}, a_i};
    shifted = 32'(funnel >> (b_i[4:0] ^ {5{left}}));
  end

  function automatic logic [5:0] leading_zeros(input logic [31:0] value);
    leading_zeros = (value[31:16] != 16'd0) ? {2'b00, simt_op_pkg::zeros16(value[31:16])}
                    : (value[15:0] != 16'd0) ? {2'b01, simt_op_pkg::zeros16(value[15:0])} : 6'd32;
  endfunction

  function automatic logic [31:0] reversed(input logic [31:0] value);
    for (int i = 0; i < 32; i++) reversed[i] = value[31 - i];
  endfunction

  // Returns one bit of the number of ones of six bits, as a table of one LUT; weight (1, 2 or 4) selects the bit.
  // ones() uses these tables in two levels: first on groups of six bits of the word, then on the bits of equal weight
  // of their counts.
  function automatic logic [63:0] ones_table(input int weight);
    for (int i = 0; i < 64; i++)
      ones_table[i] = (((i & 1) + (i >> 1 & 1) + (i >> 2 & 1) + (i >> 3 & 1) + (i >> 4 & 1) + (i >> 5 & 1)) & weight) !=
        0;
  endfunction

  localparam logic [63:0] ONES_1 = ones_table(1), ONES_2 = ones_table(2), ONES_4 = ones_table(4);

  function automatic logic [5:0] ones(input logic [31:0] value);
    logic [35:0] padded;
    logic [5:0]  by_1, by_2, by_4;
    begin
      padded = {4'b0, value};
      for (int i = 0; i < 6; i++) begin
        by_1[i] = ONES_1[padded[6*i +: 6]];
        by_2[i] = ONES_2[padded[6*i +: 6]];
        by_4[i] = ONES_4[padded[6*i +: 6]];
      end
      ones = {1'b0, ONES_4[by_4], ONES_2[by_4], ONES_1[by_4], 2'b0} + {2'b0, ONES_4[by_2], ONES_2[by_2],
                                                                       ONES_1[by_2], 1'b0}
             + {3'b0, ONES_4[by_1], ONES_2[by_1], ONES_1[by_1]};
    end
  endfunction

  logic [31:0] operand;

  always_comb begin
    operand  = b_i ^ {32{operation[2]}};
    result_o = 32'b0;
    case (family)
      simt_op_pkg::ALU_FAMILY_SUM:   result_o = sum;
      simt_op_pkg::ALU_FAMILY_SHIFT: result_o = shifted;
      simt_op_pkg::ALU_FAMILY_LESS:
        case (operation[2:1])
          2'd0:    result_o = {31'b0, less};
          2'd1:    result_o = less ? a_i : b_i;
          default: result_o = less ? b_i : a_i;
        endcase
      simt_op_pkg::ALU_FAMILY_LOGIC:
        case (operation[1:0])
          2'd0:    result_o = a_i ^ operand;
          2'd1:    result_o = a_i | operand;
          2'd2:    result_o = a_i & operand;
          default: result_o = b_i;
        endcase
      simt_op_pkg::ALU_FAMILY_COUNT:
        result_o = {26'b0, operation[1] ? ones(a_i) : leading_zeros(operation[0] ? reversed(a_i) : a_i)};
      default:
        case (op_i)
          simt_op_pkg::ALU_SEXTB:  result_o = {{24{a_i[7]}}, a_i[7:0]};
          simt_op_pkg::ALU_SEXTH:  result_o = {{16{a_i[15]}}, a_i[15:0]};
          simt_op_pkg::ALU_ZEXTH:  result_o = {16'b0, a_i[15:0]};
          simt_op_pkg::ALU_ORCB:   result_o = {{8{|a_i[31:24]}}, {8{|a_i[23:16]}}, {8{|a_i[15:8]}}, {8{|a_i[7:0]}}};
          simt_op_pkg::ALU_REV8:   result_o = {a_i[7:0], a_i[15:8], a_i[23:16], a_i[31:24]};
          simt_op_pkg::ALU_FSGNJ:  result_o = {b_i[31], a_i[30:0]};
          simt_op_pkg::ALU_FSGNJN: result_o = {!b_i[31], a_i[30:0]};
          simt_op_pkg::ALU_FSGNJX: result_o = {a_i[31] ^ b_i[31], a_i[30:0]};
          default: ;
        endcase
    endcase
  end
endmodule
