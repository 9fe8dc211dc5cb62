// SPDX-License-Identifier: Apache-2.0
// Properties of pte_cache, for any one line of one table: a look at the line gives what was put for it last or misses,
// and it misses after the line was dropped or all lines were cleared.
(* anyconst *) logic [TAG_W-1:0] f_tag;
(* anyconst *) logic [3:0] f_word;
logic f_start_q = 1'b1, f_known_q, f_look_1_q, f_look_2_q, f_known_1_q, f_known_2_q, f_clear_q;
logic [PTE_W-1:0] f_pte_q, f_pte_1_q, f_pte_2_q;
logic [LINES_LOG2-1:0] f_place;
logic [TAG_W+LINE_W-1:0] f_line;
logic [(1<<PART_LOG2)-1:0] f_bits;
logic f_valid;
assign f_place = LINES_LOG2'(f_tag[15:0]) ^ LINES_LOG2'(f_tag[38:17] << 3) ^
    {f_tag[16], (LINES_LOG2 - 1)'(f_tag[15:0] >> LINES_LOG2)};
assign f_line = lines[f_place];
assign f_bits = valid[f_place[LINES_LOG2-1:PART_LOG2]];
assign f_valid = holds_q[f_place[LINES_LOG2-1:PART_LOG2]] && f_bits[f_place[PART_LOG2-1:0]];
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  if (put_valid_i && {put_root_i, put_first_i, put_index_i} == f_tag)
    {f_known_q, f_pte_q} <= {1'b1, put_line_i[PTE_W*f_word+:PTE_W]};
  if (rst_i || clear_all_i || (drop_valid_i && {put_root_i, put_first_i, put_index_i} == f_tag)) f_known_q <= 1'b0;
  f_look_1_q <= look_valid_i && {look_root_i, look_first_i, look_index_i} == f_tag && look_word_i == f_word && !rst_i;
  {f_known_1_q, f_pte_1_q} <= {f_known_q, f_pte_q};
  f_look_2_q <= f_look_1_q && !rst_i;
  {f_known_2_q, f_pte_2_q} <= {f_known_1_q, f_pte_1_q};
  f_clear_q <= clear_all_i && !rst_i;
end
always_comb begin
  assume (rst_i == f_start_q);
  assume (1'(put_valid_i) + 2'(drop_valid_i) + 2'(clear_all_i) <= 2'd1);
  if (!f_start_q) begin
    if (put_q) assume (!drop_valid_i && !clear_all_i);
    if (drop_q || f_clear_q) assume (!put_valid_i);
    if (drop_q) assume (!clear_all_i && !look_valid_i);
    if (drop_valid_i || clear_all_i) assume (!look_valid_i && !read_valid_q);
    if (put_q && put_place_q == f_place && f_line[LINE_W+:TAG_W] == f_tag)
      assert (f_known_q && f_line[PTE_W*f_word+:PTE_W] == f_pte_q);
    if (f_valid && f_line[LINE_W+:TAG_W] == f_tag && !(drop_q && put_place_q == f_place))
      assert (f_known_q && f_line[PTE_W*f_word+:PTE_W] == f_pte_q);
    assert (!(put_q && drop_q) && !(f_clear_q && (put_q || drop_q)));
    if (f_look_1_q) begin
      assert (read_valid_q && want_q == f_tag && word_q == f_word && place_q == f_place);
      if (f_valid && read_q[LINE_W+:TAG_W] == f_tag)
        assert (f_known_1_q && read_q[PTE_W*f_word+:PTE_W] == f_pte_1_q);
    end
    if (f_look_2_q && hit_o) assert (f_known_2_q && pte_o == f_pte_2_q);
  end
end
