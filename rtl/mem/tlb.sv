// SPDX-License-Identifier: Apache-2.0
// First-level TLB: ENTRIES translations in flip-flops, fully associative, tagged by root table.
//
// Contract: match_o says which entry translates look_vpn_i of look_root_i, at most one bit set; used_i marks an entry
// as used. The fields of the entry chosen by select_i (one-hot, a cycle later, say) are on entry_*. fill_valid_i puts a
// translation in, over one that has not been used lately; the caller fills only what it did not find. clear_i forgets
// all. A page number is 20 bits; an entry with fill_super_i covers 4 MiB.
// Preemption saves nothing of it: translations can be looked up again.
module tlb #(
    parameter int ENTRIES = 32
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
    input  logic               clear_i
);
  localparam int INDEX_W = $clog2(ENTRIES);
  localparam int PTE_W = 22 + 4;  // page number, zero, exec, write, read

  logic [ENTRIES-1:0] valid_q, super_q, lately_q;
  logic [22*ENTRIES-1:0] root_q;
  logic [20*ENTRIES-1:0] vpn_q;
  logic [PTE_W*ENTRIES-1:0] pte_q;
  logic [INDEX_W-1:0] victim_q;
  logic [PTE_W-1:0] chosen, fill;

  for (genvar i = 0; i < ENTRIES; i++) begin : g_entry
    assign match_o[i] = valid_q[i] && root_q[22*i+:22] == look_root_i && vpn_q[20*i+10+:10] == look_vpn_i[19:10] &&
        (super_q[i] || vpn_q[20*i+:10] == look_vpn_i[9:0]);
    always_ff @(posedge clk_i) begin
      if (fill_valid_i && victim_q == INDEX_W'(i)) begin
        valid_q[i] <= 1'b1;
        super_q[i] <= fill_super_i;
        root_q[22*i+:22] <= fill_root_i;
        vpn_q[20*i+:20] <= fill_vpn_i;
        pte_q[PTE_W*i+:PTE_W] <= fill;
      end
      if (rst_i || clear_i) valid_q[i] <= 1'b0;
    end
  end

  assign fill = {fill_pte_i[31:10], fill_pte_i[8], fill_pte_i[3:1]};
  assign entry_pte_o = {chosen[PTE_W-1-:22], 1'b0, chosen[3], 4'b0, chosen[2:0], 1'b1};
  assign entry_super_o = |(select_i & super_q);
  always_comb begin
    chosen = '0;
    for (int i = 0; i < ENTRIES; i++) if (select_i[i]) chosen = chosen | pte_q[PTE_W*i+:PTE_W];
  end

  // Second chance: the victim moves on past entries that were used since it last came by.
  always_ff @(posedge clk_i) begin
    if (used_i) lately_q <= lately_q | select_i;
    if (fill_valid_i || (valid_q[victim_q] && lately_q[victim_q])) begin
      lately_q[victim_q] <= 1'b0;
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
