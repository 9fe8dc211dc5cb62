// SPDX-License-Identifier: Apache-2.0
// Properties of simt_alu: the operations below give the result of their plain definition. At least one operation is
// here for each adder, shifter, comparator and counter of zeros, and all that compare; the others are not proved.
logic [31:0] expected;
logic        condition, nv, one_nan, both_nan, signals, float_equal, float_less;

// The order of two numbers, from their signs and magnitudes.
always_comb begin
  one_nan     = a_i[30:0] > 31'h7f80_0000 || b_i[30:0] > 31'h7f80_0000;
  both_nan       = a_i[30:0] > 31'h7f80_0000 && b_i[30:0] > 31'h7f80_0000;
  signals     = (a_i[30:0] > 31'h7f80_0000 && !a_i[22]) || (b_i[30:0] > 31'h7f80_0000 && !b_i[22]);
  float_equal = a_i == b_i || {a_i[30:0], b_i[30:0]} == 62'b0;
  case ({a_i[31], b_i[31]})
    2'b00:   float_less = a_i[30:0] < b_i[30:0];
    2'b01:   float_less = 1'b0;
    2'b10:   float_less = 1'b1;
    default: float_less = b_i[30:0] < a_i[30:0];
  endcase
end

always_comb begin
  expected  = result_o;
  condition = taken_o;
  nv        = invalid_o && op_i[5:3] == simt_op_pkg::ALU_FAMILY_FLOAT;
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
    simt_op_pkg::ALU_MIN:    expected = ($signed(a_i) < $signed(b_i)) ? a_i : b_i;
    simt_op_pkg::ALU_MAX:    expected = ($signed(a_i) < $signed(b_i)) ? b_i : a_i;
    simt_op_pkg::ALU_MINU:   expected = (a_i < b_i) ? a_i : b_i;
    simt_op_pkg::ALU_MAXU:   expected = (a_i < b_i) ? b_i : a_i;
    simt_op_pkg::ALU_FEQ: begin
      expected = {31'b0, float_equal && !one_nan};
      nv       = signals;
    end
    simt_op_pkg::ALU_FLT: begin
      expected = {31'b0, float_less && !float_equal && !one_nan};
      nv       = one_nan;
    end
    simt_op_pkg::ALU_FLE: begin
      expected = {31'b0, (float_less || float_equal) && !one_nan};
      nv       = one_nan;
    end
    simt_op_pkg::ALU_FMIN, simt_op_pkg::ALU_FMAX: begin
      expected = both_nan ? 32'h7fc0_0000
                 : one_nan ? (a_i[30:0] > 31'h7f80_0000 ? b_i : a_i)
                 : (float_less == (op_i == simt_op_pkg::ALU_FMIN)) ? a_i : b_i;
      nv       = signals;
    end
    simt_op_pkg::ALU_FCLASS: nv = 1'b0;
    {simt_op_pkg::ALU_FAMILY_BRANCH, 3'd0}: condition = a_i == b_i;
    {simt_op_pkg::ALU_FAMILY_BRANCH, 3'd1}: condition = a_i != b_i;
    {simt_op_pkg::ALU_FAMILY_BRANCH, 3'd4}: condition = $signed(a_i) < $signed(b_i);
    {simt_op_pkg::ALU_FAMILY_BRANCH, 3'd5}: condition = $signed(a_i) >= $signed(b_i);
    {simt_op_pkg::ALU_FAMILY_BRANCH, 3'd6}: condition = a_i < b_i;
    {simt_op_pkg::ALU_FAMILY_BRANCH, 3'd7}: condition = a_i >= b_i;
    default: ;
  endcase
  assert (result_o == expected);
  assert (taken_o == condition);
  assert (invalid_o == nv);
  // After the counted zeros comes a one.
  if (op_i == simt_op_pkg::ALU_CLZ)
    assert ((a_i == 32'b0) ? result_o == 32'd32
                           : result_o < 32'd32 && (a_i >> (5'd31 - result_o[4:0])) == 32'd1);
  if (op_i == simt_op_pkg::ALU_CTZ)
    assert ((a_i == 32'b0) ? result_o == 32'd32
                           : result_o < 32'd32 && (a_i << (5'd31 - result_o[4:0])) == 32'h8000_0000);
end
