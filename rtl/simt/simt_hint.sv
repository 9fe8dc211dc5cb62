// SPDX-License-Identifier: Apache-2.0
// Predicts which registers the next instruction of a warp uses, from a partial decode.
//
// Contract: combinational. use_o has a bit each for {rd, rs3, rs2, rs1}. The prediction may be wrong: a bit that is set
// in error makes the warp wait longer than necessary; a missing bit lets the instruction be killed in R and issued
// again. memory_o: the instruction is a load, store or atomic. An opcode of zero stands for no instruction and uses
// nothing.
// State saved at preemption: none.
//
// Issue slots are the scarcest resource of the core. Without the prediction, every use of the result of a load or a
// float instruction would take one issue slot only to find that the result is not there.

module simt_hint (
    input  logic [6:0] opcode_i,
    input  logic [4:0] rd_i,
    input  logic [4:0] rs1_i,
    input  logic [4:0] rs2_i,
    output logic [3:0] use_o,
    output logic       memory_o
);

  logic [3:0] use_fields;

  always_comb begin
    memory_o = 1'b0;
    case (opcode_i[6:2])
      5'h00: begin  // loads
        use_fields = 4'b1001;
        memory_o   = opcode_i[1:0] == 2'b11;
      end
      5'h08: begin  // stores
        use_fields = 4'b0011;
        memory_o   = 1'b1;
      end
      5'h0b: begin  // atomics
        use_fields = 4'b1011;
        memory_o   = 1'b1;
      end
      5'h18:                      use_fields = 4'b0011;  // branches
      5'h04, 5'h19, 5'h1c:        use_fields = 4'b1001;  // immediate operations, jalr, system
      5'h05, 5'h0d, 5'h1b:        use_fields = 4'b1000;  // auipc, lui, jal
      5'h0c, 5'h14:               use_fields = 4'b1011;  // register operations
      5'h10, 5'h11, 5'h12, 5'h13: use_fields = 4'b1111;  // fused multiply-add
      default:                    use_fields = 4'b0000;
    endcase
    use_o = use_fields & {rd_i != 5'd0, 1'b1, rs2_i != 5'd0, rs1_i != 5'd0} & {4{opcode_i[0]}};
  end

endmodule
