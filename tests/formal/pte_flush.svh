// SPDX-License-Identifier: Apache-2.0
// Properties of pte_flush. A flush goes on by one line a cycle and stays in its range, so it ends. For any one page of
// the range: when the flush is over, the second-level line and the first-level line of the page have been dropped, or
// all lines were cleared.
(* anyconst *) logic [19:0] f_page;
logic f_start_q = 1'b1, f_second_q, f_first_q, f_inside, f_valid_q;
logic [42:0] f_fields_q, f_fields;
assign f_fields = {all_i, first_i, count_i};
assign f_inside = f_page >= first_i && {1'b0, f_page} < {1'b0, first_i} + count_i;
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_valid_q <= valid_i && !ready_o && !rst_i;
  f_fields_q <= f_fields;
  if (drop_o && !drop_first_o && drop_index_o == f_page[19:4]) f_second_q <= 1'b1;
  if (drop_o && drop_first_o && drop_index_o == {10'b0, f_page[19:14]}) f_first_q <= 1'b1;
  if (rst_i || ready_o || !valid_i) {f_second_q, f_first_q} <= '0;
end
always_comb begin
  assume (rst_i == f_start_q);
  if (!f_start_q) begin
    if (f_valid_q) assume (valid_i && f_fields == f_fields_q);
    assume ({1'b0, first_i} + count_i <= 21'h100000);
    if (drop_o) begin
      assert (f_valid_q && !all_i && count_i != '0 && count_i <= 21'(RANGE_LIMIT));
      if (!drop_first_o) assert (drop_index_o >= first_i[19:4] && drop_index_o <= flush_last[19:4]);
      if (drop_first_o)
        assert (drop_index_o >= {10'b0, first_i[19:14]} && drop_index_o <= {10'b0, flush_last[19:14]});
      if (f_inside && (drop_first_o || drop_index_o > f_page[19:4])) assert (f_second_q);
      if (f_inside && drop_first_o && drop_index_o > {10'b0, f_page[19:14]}) assert (f_first_q);
    end
    if (ready_o && !clear_o && f_inside) begin
      assert (f_second_q && (f_first_q || drop_index_o == {10'b0, f_page[19:14]}));
    end
    if (valid_i && !drop_o && f_inside) assert (clear_o || !ready_o);
  end
end
