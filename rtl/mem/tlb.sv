// SPDX-License-Identifier: Apache-2.0
// First-level TLB: ENTRIES translations, fully associative, tagged by root table. The tags are in flip-flops, the
// contents of the page-table entries in LUT memory.
//
// Contract: match_o tells which entry translates look_vpn_i of look_root_i from the next cycle on; at most one bit is
// set. entry_* are the fields of the entry that select_i (one-hot, a cycle later) chooses, and mean nothing if it
// chooses none. used_i marks that entry as used. fill_valid_i writes a translation over an entry that has not been used
// lately, and removes every entry that covers one of its pages. lost_o are the entries that it replaces or removes; the
// holder of an earlier match must clear their bits. clear_i removes all entries, but not in the cycle of a fill. A
// virtual page number has 20 bits; an entry with fill_super_i covers 4 MiB.
// Two walks may bring the same superpage. Since a fill removes what overlaps, a match is unique, whoever fills.
// Preemption: no state is saved; translations can be looked up again.
module tlb #(
    parameter int ENTRIES = 32  // Number of entries.
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic [       21:0] look_root_i,
    input  logic [       19:0] look_vpn_i,
    output logic [ENTRIES-1:0] match_o,
    input  logic [ENTRIES-1:0] select_i,
    input  logic               used_i,
    output logic               entry_super_o,
    output logic [       31:0] entry_pte_o,
    input  logic               fill_valid_i,
    input  logic [       21:0] fill_root_i,
    input  logic [       19:0] fill_vpn_i,
    input  logic               fill_super_i,
    input  logic [       31:0] fill_pte_i,
    output logic [ENTRIES-1:0] lost_o,
    input  logic               clear_i
);
  localparam int INDEX_W = $clog2(ENTRIES);
  localparam int PTE_W = 22 + 4;  // Page number, zero, exec, write, read.

  logic [ENTRIES-1:0] valid_q, super_q, lately_q;
  logic [22*ENTRIES-1:0] root_q;
  logic [20*ENTRIES-1:0] vpn_q;
  (* ram_style = "distributed" *) logic [PTE_W-1:0] ptes[0:ENTRIES-1];
  logic [INDEX_W-1:0] victim_q, chosen_index;
  logic [PTE_W-1:0] chosen, fill;

  // A look-up sees the fill of the same cycle.
  logic fits;
  logic [ENTRIES-1:0] found;
  assign fits = fill_root_i == look_root_i && fill_vpn_i[19:10] == look_vpn_i[19:10] &&
      (fill_super_i || fill_vpn_i[9:0] == look_vpn_i[9:0]);
  for (genvar i = 0; i < ENTRIES; i++) begin : g_entry
    logic overlap;
    assign found[i] = valid_q[i] && root_q[22*i+:22] == look_root_i && vpn_q[20*i+10+:10] == look_vpn_i[19:10] &&
        (super_q[i] || vpn_q[20*i+:10] == look_vpn_i[9:0]);
    assign match_o[i] = lost_o[i] ? fits && victim_q == INDEX_W'(i) : found[i];
    assign overlap = root_q[22*i+:22] == fill_root_i && vpn_q[20*i+10+:10] == fill_vpn_i[19:10] &&
        (super_q[i] || fill_super_i || vpn_q[20*i+:10] == fill_vpn_i[9:0]);
    assign lost_o[i] = fill_valid_i && (overlap || victim_q == INDEX_W'(i));
    always_ff @(posedge clk_i) begin
      if (fill_valid_i && victim_q == INDEX_W'(i)) begin
        super_q[i] <= fill_super_i;
        root_q[22*i+:22] <= fill_root_i;
        vpn_q[20*i+:20] <= fill_vpn_i;
      end
      if (lost_o[i]) valid_q[i] <= victim_q == INDEX_W'(i);
      if (rst_i || clear_i) valid_q[i] <= 1'b0;
    end
  end

  assign fill = {fill_pte_i[31:10], fill_pte_i[8], fill_pte_i[3:1]};
  assign entry_pte_o = {chosen[PTE_W-1-:22], 1'b0, chosen[3], 4'b0, chosen[2:0], 1'b1};
  assign entry_super_o = |(select_i & super_q);
  assign chosen = ptes[chosen_index];
  always_comb begin
    chosen_index = '0;
    for (int i = 0; i < ENTRIES; i++) if (select_i[i]) chosen_index = chosen_index | INDEX_W'(i);
  end
  always_ff @(posedge clk_i) if (fill_valid_i) ptes[victim_q] <= fill;

  // Second chance: the victim pointer passes entries that have been filled or used since it last passed them.
  always_ff @(posedge clk_i) begin
    if (used_i) lately_q <= lately_q | select_i;
    if (fill_valid_i || (valid_q[victim_q] && lately_q[victim_q])) begin
      lately_q[victim_q] <= fill_valid_i;
      victim_q <= victim_q + 1'b1;
    end
    if (rst_i) begin
      lately_q <= '0;
      victim_q <= '0;
    end
  end

  logic unused;
  assign unused = &{1'b0, fill_pte_i};
endmodule
