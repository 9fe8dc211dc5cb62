// SPDX-License-Identifier: Apache-2.0
// Decodes a page-table entry (docs/spec/pte.yaml). Combinational.
//
// Contract: exactly one of pointer_o, leaf_o, and fault_o != FAULT_NONE holds. The last page of a leaf lies in device
// memory, unless the leaf is a zero page.
module pte_decode (
    input  logic [31:0] pte_i,
    input  logic        first_i,      // The entry is in a first-level table.
    input  logic [22:0] mem_pages_i,  // Device memory in pages of 4 KiB.
    output logic        pointer_o,
    output logic        leaf_o,
    output logic [ 7:0] fault_o
);
  logic rwx, zero, beyond, malformed;
  logic [21:0] ppn;

  assign rwx = pte_i[tern_spec_pkg::PTE_READ_LSB] || pte_i[tern_spec_pkg::PTE_WRITE_LSB] ||
      pte_i[tern_spec_pkg::PTE_EXEC_LSB];
  assign zero = pte_i[tern_spec_pkg::PTE_ZERO_LSB];
  assign ppn = pte_i[tern_spec_pkg::PTE_PPN_LSB+:tern_spec_pkg::PTE_PPN_W];
  // The last page of a superpage has ones in ppn[9:0], so the upper bits decide.
  assign beyond = first_i && rwx ? {1'b0, ppn[21:10]} >= mem_pages_i[22:10] : {1'b0, ppn} >= mem_pages_i;

  assign malformed = |(pte_i & ~tern_spec_pkg::PTE_MASK) || pte_i[tern_spec_pkg::PTE_ABSENT_LSB] ||
      (pte_i[tern_spec_pkg::PTE_WRITE_LSB] && !pte_i[tern_spec_pkg::PTE_READ_LSB]) ||
      (!rwx && (zero || !first_i)) ||         // A pointer is no zero page, and leads to leaves only.
      (zero ? |ppn : beyond) ||
      (first_i && rwx && |ppn[9:0]);          // Misaligned superpage.

  assign fault_o = !pte_i[tern_spec_pkg::PTE_VALID_LSB] ?
      (pte_i[tern_spec_pkg::PTE_ABSENT_LSB] ? tern_spec_pkg::FAULT_PAGE_ABSENT : tern_spec_pkg::FAULT_PAGE) :
      malformed ? tern_spec_pkg::FAULT_PTE_MALFORMED : tern_spec_pkg::FAULT_NONE;
  assign pointer_o = fault_o == tern_spec_pkg::FAULT_NONE && !rwx;
  assign leaf_o = fault_o == tern_spec_pkg::FAULT_NONE && rwx;
endmodule
