// SPDX-License-Identifier: Apache-2.0
// Decides a conditional branch of one lane.
//
// Contract: combinational. funct3_i is that of the RISC-V branch instructions; for its two unused codes taken_o is low.
// State saved at preemption: none.

module simt_branch (
    input  logic [2:0]  funct3_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic        taken_o
);

  logic less, condition;

  always_comb begin
    // A signed comparison is an unsigned comparison with the sign bits exchanged.
    less = funct3_i[1] ? a_i < b_i : {!a_i[31], a_i[30:0]} < {!b_i[31], b_i[30:0]};
    condition = funct3_i[2] ? less : a_i == b_i;
    taken_o = (condition ^ funct3_i[0]) && funct3_i[2:1] != 2'b01;
  end
endmodule
