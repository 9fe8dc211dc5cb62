// SPDX-License-Identifier: Apache-2.0
// The value f_value that simt_scalars holds of the register f_rd, which the properties of simt_written choose
// (tests/formal/simt_written.svh), and whether its vector has been given.
logic [WW+4:0] f_rd;
logic [WIDTH-1:0] f_value;
logic f_given;
assign f_given = given_q[AW'(f_rd >> LW)];
assign f_value = word(vector_q[AW'(f_rd >> LW)], f_given, f_rd[LW-1:0]);
