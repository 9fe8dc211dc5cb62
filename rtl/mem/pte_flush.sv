// SPDX-License-Identifier: Apache-2.0
// Names the page-table lines that a flush must drop from pte_cache.
//
// Contract: valid_i, with the fields of packet tlb_flush, is held until ready_o (a pulse), while no walk is live. A
// range: drop_o names each line that can hold an entry of it, one a cycle, first those of the second level, then those
// of the first level. Everything, a whole address space, and a range of more than RANGE_LIMIT pages: clear_o is high
// once.
// Preemption: no state is saved, since a flush is never cut.
module pte_flush #(
    parameter int RANGE_LIMIT = 4096  // In pages; dropping the lines of a longer range would take too long.
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        valid_i,
    output logic        ready_o,
    input  logic        all_i,
    input  logic [19:0] first_i,
    input  logic [20:0] count_i,
    output logic        clear_o,
    output logic        drop_o,
    output logic        drop_first_o,  // The line is of the first level.
    output logic [15:0] drop_index_o
);
  logic drop_end;
  logic [15:0] last_index;
  logic [20:0] flush_last;

  assign flush_last = {1'b0, first_i} + count_i - 21'd1;
  assign clear_o = !drop_o && valid_i && (all_i || count_i == '0 || count_i > 21'(RANGE_LIMIT));
  assign last_index = flush_last[20] ? (drop_first_o ? 16'h3f : 16'hffff) :
      drop_first_o ? {10'b0, flush_last[19:14]} : flush_last[19:4];
  assign drop_end = drop_index_o == last_index;
  assign ready_o = clear_o || (drop_o && drop_first_o && drop_end);

  always_ff @(posedge clk_i) begin
    if (!drop_o) begin
      drop_o <= valid_i && !clear_o;
      drop_first_o <= 1'b0;
      drop_index_o <= first_i[19:4];
    end else begin
      drop_index_o <= drop_index_o + 16'd1;
      if (drop_end) begin
        drop_first_o <= 1'b1;
        drop_index_o <= {10'b0, first_i[19:14]};
        if (drop_first_o) drop_o <= 1'b0;
      end
    end
    if (rst_i) drop_o <= 1'b0;
  end

  logic unused;
  assign unused = &{1'b0, flush_last};

`ifdef FORMAL
  // It goes on by a line a cycle and stays in the range, so it ends. Any one page of the range: its second-level line
  // and its first-level line have been dropped, or all was cleared, when the flush is over.
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
`endif
endmodule
