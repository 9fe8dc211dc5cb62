// SPDX-License-Identifier: Apache-2.0
// Properties of tlb, for any one page of one address space: a lookup gives the translation that was filled for the page
// last, or misses. A lookup misses after all translations were cleared, or after another translation of the page was
// filled.
(* anyconst *) logic [21:0] f_root;
(* anyconst *) logic [19:0] f_vpn;
logic f_start_q = 1'b1, f_known_q, f_super_q, f_covers;
logic [PTE_W-1:0] f_pte_q;
logic [ENTRIES-1:0] f_match, f_match_q;
logic f_looked_q;
assign f_covers = fill_valid_i && fill_root_i == f_root && fill_vpn_i[19:10] == f_vpn[19:10] &&
    (fill_super_i || fill_vpn_i[9:0] == f_vpn[9:0]);
always_comb
  for (int i = 0; i < ENTRIES; i++)
    f_match[i] = valid_q[i] && root_q[22*i+:22] == f_root && vpn_q[20*i+10+:10] == f_vpn[19:10] &&
        (super_q[i] || vpn_q[20*i+:10] == f_vpn[9:0]);
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_looked_q <= look_root_i == f_root && look_vpn_i == f_vpn && !rst_i && !clear_i;
  f_match_q <= match_o;
  if (f_covers) {f_known_q, f_super_q, f_pte_q} <= {1'b1, fill_super_i, fill};
  if (rst_i || clear_i) f_known_q <= 1'b0;
end
always_comb begin
  assume (rst_i == f_start_q);
  assume (!(clear_i && fill_valid_i));
  if (!f_start_q) begin
    assert ((f_match & (f_match - 1'b1)) == '0 && (f_known_q || f_match == '0));
    for (int i = 0; i < ENTRIES; i++)
      if (f_match[i]) assert (super_q[i] == f_super_q && ptes[i] == f_pte_q);
    if (look_root_i == f_root && look_vpn_i == f_vpn)
      assert ((match_o & (match_o - 1'b1)) == '0 && (f_known_q || f_covers || match_o == '0));
    if (f_looked_q && f_match_q != '0 && select_i == f_match_q)
      assert (f_known_q && entry_super_o == f_super_q && entry_pte_o[31:10] == f_pte_q[PTE_W-1-:22] &&
              {entry_pte_o[8], entry_pte_o[3:1]} == f_pte_q[3:0]);
  end
end
// Until the holder of a match is told that it is lost, the entry stays as it is.
(* anyconst *) logic [INDEX_W-1:0] f_pick;
logic f_kept_q, f_was_valid_q;
logic [PTE_W+42:0] f_was_q;
always_ff @(posedge clk_i) begin
  f_kept_q <= !rst_i && !clear_i && !lost_o[f_pick];
  f_was_valid_q <= valid_q[f_pick];
  f_was_q <= {super_q[f_pick], root_q[22*f_pick+:22], vpn_q[20*f_pick+:20], ptes[f_pick]};
end
always_comb begin
  if (!f_start_q && f_kept_q && f_was_valid_q)
    assert (valid_q[f_pick] && f_was_q == {super_q[f_pick], root_q[22*f_pick+:22], vpn_q[20*f_pick+:20],
                                           ptes[f_pick]});
end
