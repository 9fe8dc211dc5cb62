// SPDX-License-Identifier: Apache-2.0
// Properties of simt_alu: the operations below give the result of their plain definition. At least one operation is
// here for each adder, shifter, comparator and counter of zeros; the others are not proved.
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
  // After the counted zeros comes a one.
  if (op_i == simt_op_pkg::ALU_CLZ)
    assert ((a_i == 32'b0) ? result_o == 32'd32
                           : result_o < 32'd32 && (a_i >> (5'd31 - result_o[4:0])) == 32'd1);
  if (op_i == simt_op_pkg::ALU_CTZ)
    assert ((a_i == 32'b0) ? result_o == 32'd32
                           : result_o < 32'd32 && (a_i << (5'd31 - result_o[4:0])) == 32'h8000_0000);
end
