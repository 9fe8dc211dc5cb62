// SPDX-License-Identifier: Apache-2.0
// Properties of simt_branch: the decision of each condition is that of its plain definition.
logic expected;

always_comb begin
  case (funct3_i)
    3'd0:    expected = a_i == b_i;
    3'd1:    expected = a_i != b_i;
    3'd4:    expected = $signed(a_i) < $signed(b_i);
    3'd5:    expected = $signed(a_i) >= $signed(b_i);
    3'd6:    expected = a_i < b_i;
    3'd7:    expected = a_i >= b_i;
    default: expected = 1'b0;
  endcase
  assert (taken_o == expected);
end
