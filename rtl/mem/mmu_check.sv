// SPDX-License-Identifier: Apache-2.0
// Decides whether a translation permits an access (docs/spec/pte.yaml, A5). Combinational.
//
// Contract: pte_i is a valid leaf. fault_o is FAULT_NONE or FAULT_PROTECTION. An atomic needs the right to read and to
// write. A zero page is never written.
module mmu_check (
    input  logic [ 1:0] op_i,
    input  logic        exec_i,
    input  logic [31:0] pte_i,
    output logic [ 7:0] fault_o
);
  logic denied;
  assign denied = op_i == tern_pkg::MEM_READ ?
      !(exec_i ? pte_i[tern_spec_pkg::PTE_EXEC_LSB] : pte_i[tern_spec_pkg::PTE_READ_LSB]) :
      !pte_i[tern_spec_pkg::PTE_WRITE_LSB] || pte_i[tern_spec_pkg::PTE_ZERO_LSB] ||
      (op_i == tern_pkg::MEM_ATOMIC && !pte_i[tern_spec_pkg::PTE_READ_LSB]);
  assign fault_o = denied ? tern_spec_pkg::FAULT_PROTECTION : tern_spec_pkg::FAULT_NONE;

  logic unused;
  assign unused = &{1'b0, pte_i};
endmodule
