// SPDX-License-Identifier: Apache-2.0
// The operation of an atomic on one word. Combinational.
//
// Contract: new_o is the result of operation amo_i for the word old_i and the operand. write_o: the result is to be
// written. CAS writes if old_i equals expect_i. SC writes if store_i is high, which says that it holds its reservation.
// LR writes nothing.
module atomic_alu (
    input  logic [ 3:0] amo_i,
    input  logic [31:0] old_i,
    input  logic [31:0] operand_i,
    input  logic [31:0] expect_i,
    input  logic        store_i,
    output logic [31:0] new_o,
    output logic        write_o
);
  logic below;  // old_i < operand_i; a signed comparison inverts the sign bits.
  logic signed_op;
  assign signed_op = amo_i == tern_pkg::AMO_MIN || amo_i == tern_pkg::AMO_MAX;
  assign below = {old_i[31] ^ signed_op, old_i[30:0]} < {operand_i[31] ^ signed_op, operand_i[30:0]};

  always_comb begin
    write_o = 1'b1;
    new_o   = operand_i;
    case (amo_i)
      tern_pkg::AMO_ADD: new_o = old_i + operand_i;
      tern_pkg::AMO_XOR: new_o = old_i ^ operand_i;
      tern_pkg::AMO_AND: new_o = old_i & operand_i;
      tern_pkg::AMO_OR: new_o = old_i | operand_i;
      tern_pkg::AMO_MIN, tern_pkg::AMO_MINU: new_o = below ? old_i : operand_i;
      tern_pkg::AMO_MAX, tern_pkg::AMO_MAXU: new_o = below ? operand_i : old_i;
      tern_pkg::AMO_CAS: write_o = old_i == expect_i;
      tern_pkg::AMO_LR: write_o = 1'b0;
      tern_pkg::AMO_SC: write_o = store_i;
      default: ;  // AMO_SWAP.
    endcase
  end
endmodule
