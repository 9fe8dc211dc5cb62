// SPDX-License-Identifier: Apache-2.0
// Properties of pte_walker, for any one page of one address space, whose table entries in memory are f_first and
// f_second. A walk for that page ends with the leaf that these entries are, with the fault that one of them is, or with
// memory's error, and with nothing else. Assumed: memory answers with these entries or an error, and the cache with
// what was put into it (tests/formal/pte_walker_cache.sv stands for the cache).
(* anyconst *) logic [21:0] f_root;
(* anyconst *) logic [19:0] f_vpn;
(* anyconst *) logic [31:0] f_first, f_second;
(* anyconst *) logic [22:0] f_pages;
localparam int F_FIRST = 0, F_SECOND = 1;
logic f_pointer, f_first_leaf, f_second_pointer, f_second_leaf;
logic [7:0] f_first_fault, f_second_fault;
pte_decode u_f_first (
    .pte_i(f_first), .first_i(1'b1), .mem_pages_i(f_pages), .pointer_o(f_pointer), .leaf_o(f_first_leaf),
    .fault_o(f_first_fault)
);
pte_decode u_f_second (
    .pte_i(f_second), .first_i(1'b0), .mem_pages_i(f_pages), .pointer_o(f_second_pointer), .leaf_o(f_second_leaf),
    .fault_o(f_second_fault)
);
logic f_start_q = 1'b1;
logic [28*WALKS-1:0] f_line_q;  // what each walk has asked memory for
logic [27:0] f_first_line, f_second_line, f_line;
logic [1:0] f_look, f_look_1_q, f_look_2_q;  // a look at the page's entries
logic [WALKS-1:0] f_table, f_page, f_good;   // walks for a page of the same table, and for this page
assign f_first_line = {f_root, f_vpn[19:14]};
assign f_second_line = {f_first[31:10], f_vpn[9:4]};
assign f_line = f_line_q[28*data_walk_i+:28];
assign f_look[F_FIRST] = look && look_root == f_root && look_first && look_index == {10'b0, f_vpn[19:14]} &&
    look_word == f_vpn[13:10];
assign f_look[F_SECOND] = look && look_root == f_root && !look_first && look_index == f_vpn[19:4] &&
    look_word == f_vpn[3:0];
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_look_1_q <= rst_i ? '0 : f_look;
  f_look_2_q <= rst_i ? '0 : f_look_1_q;
  if (read_valid_o && read_ready_i) f_line_q[28*read_walk_o+:28] <= read_line_o;
end
always_comb begin
  assume (rst_i == f_start_q);
  assume (mem_pages_i == f_pages);
  if (f_first_line == f_second_line && f_vpn[13:10] == f_vpn[3:0]) assume (f_first == f_second);
  for (int w = 0; w < WALKS; w++) begin
    f_table[w] = live_o[w] && root_q[22*w+:22] == f_root && vpn_q[20*w+10+:10] == f_vpn[19:10];
    f_page[w] = f_table[w] && vpn_q[20*w+:10] == f_vpn[9:0];
    f_good[w] = first_q[w] ? f_first_leaf && {ppn_q[22*w+:22], low_q[10*w+:10]} == f_first :
        f_pointer && f_second_leaf && {ppn_q[22*w+:22], low_q[10*w+:10]} == f_second;
  end
  if (!f_start_q) begin
    // the callers
    if (open_valid_i) assume (open_ready_o && look_valid_i);
    assume ((pick_i & (pick_i - 1'b1)) == '0 && (pick_i & ~(done_o & waits_o)) == '0);
    assume ((join_i & ~(live_o | (open_walk_o & {WALKS{open_valid_i}}))) == '0 && (empty_i & ~pick_i) == '0);
    if (flush_valid_i) assume (live_o == '0 && !look_valid_i);
    if (drop || clear) assume (flush_valid_i);  // pte_flush is cut out
    // memory
    if (data_valid_i) begin
      assume (state_q[6*data_walk_i+:6] == ASKED && !data_q[data_walk_i]);
      assume (data_fault_i == tern_spec_pkg::FAULT_NONE || data_fault_i == tern_spec_pkg::FAULT_BUS_ERROR);
      if (data_fault_i == tern_spec_pkg::FAULT_NONE && f_line == f_first_line)
        assume (data_i[32*f_vpn[13:10]+:32] == f_first);
      if (data_fault_i == tern_spec_pkg::FAULT_NONE && f_pointer && f_line == f_second_line)
        assume (data_i[32*f_vpn[3:0]+:32] == f_second);
    end
    // the cache gives what was put
    if (hit && f_look_2_q[F_FIRST]) assume (cached == f_first);
    if (hit && f_look_2_q[F_SECOND]) assume (f_pointer && cached == f_second);
    if (put && data_root == f_root && data_first && data_index == {10'b0, f_vpn[19:14]})
      assert (data_i[32*f_vpn[13:10]+:32] == f_first);
    if (put && data_root == f_root && !data_first && data_index == f_vpn[19:4])
      assert (f_pointer && data_i[32*f_vpn[3:0]+:32] == f_second);
    assert (!(put && (drop || clear)));
    // each walk is where its state says
    assert ((look_1_q & (look_1_q - 1'b1)) == '0 && (look_2_q & (look_2_q - 1'b1)) == '0);
    assert ((data_q & (data_q - 1'b1)) == '0 && (waits_o & ~live_o) == '0);
    for (int w = 0; w < WALKS; w++) begin
      assert (state_q[6*w+:6] != '0 && (state_q[6*w+:6] & (state_q[6*w+:6] - 1'b1)) == '0);
      assert ((state_q[6*w+:6] == LOOKED) == (look_1_q[w] || look_2_q[w]) && !(look_1_q[w] && look_2_q[w]));
      if (data_q[w]) assert (state_q[6*w+:6] == ASKED && data_first_q == first_q[w]);
      if (f_table[w] && look_1_q[w] && first_q[w]) assert (f_look_1_q[F_FIRST]);
      if (f_page[w] && look_1_q[w] && !first_q[w]) assert (f_look_1_q[F_SECOND]);
      if (f_table[w] && look_2_q[w] && first_q[w]) assert (f_look_2_q[F_FIRST]);
      if (f_page[w] && look_2_q[w] && !first_q[w]) assert (f_look_2_q[F_SECOND]);
      if (f_table[w] && wants_read[w] && !first_q[w])
        assert (f_pointer && ppn_q[22*w+:22] == f_first[31:10]);
      if (f_table[w] && state_q[6*w+:6] == ASKED && !first_q[w]) assert (f_pointer);
      if (state_q[6*w+:6] == ASKED && first_q[w])
        assert (f_line_q[28*w+:28] == {root_q[22*w+:22], vpn_q[20*w+14+:6]});
      if (f_table[w] && state_q[6*w+:6] == ASKED && !first_q[w])
        assert (f_line_q[28*w+:28] == {f_first[31:10], vpn_q[20*w+4+:6]});
      if (data_q[w] && !bus && f_table[w] && first_q[w]) assert (read_pte_q == f_first);
      if (data_q[w] && !bus && f_page[w] && !first_q[w]) assert (read_pte_q == f_second);
      if (data_q[w]) assert (!bus || data_fault_q == tern_spec_pkg::FAULT_BUS_ERROR);
      if (f_page[w] && done_o[w]) begin
        if (failed_o[w])
          assert (fault_q[8*w+:8] == tern_spec_pkg::FAULT_BUS_ERROR || fault_q[8*w+:8] == f_first_fault ||
                  (f_pointer && fault_q[8*w+:8] == f_second_fault));
        else assert (f_good[w]);
      end
    end
    // what the caller is told
    if (|pick_i && result_root_o == f_root && result_vpn_o == f_vpn) begin
      if (result_fault_o == tern_spec_pkg::FAULT_NONE)
        assert (result_super_o ? f_first_leaf && result_pte_o == f_first :
                f_pointer && f_second_leaf && result_pte_o == f_second);
      else assert (!result_new_o);
      if (result_fault_o == tern_spec_pkg::FAULT_PAGE)
        assert (f_first_fault == tern_spec_pkg::FAULT_PAGE ||
                (f_pointer && f_second_fault == tern_spec_pkg::FAULT_PAGE));
    end
  end
end
