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
endmodule
