// SPDX-License-Identifier: Apache-2.0
// The page-table walk, as coverage points. Bound into pte_walker only by the coverage build.

module cover_walker (
    input logic       clk_i,
    input logic [2:0] state_q,
    input logic       hit,
    input logic       first_q,
    input logic       cached_q,
    input logic       done_o,
    input logic       pointer,
    input logic       read_valid_o,
    input logic       read_ready_i
);

  second_level_cached: cover property (@(posedge clk_i) state_q == 3'd2 && hit && !first_q);
  first_level_cached:  cover property (@(posedge clk_i) state_q == 3'd2 && hit && first_q);
  nothing_cached:      cover property (@(posedge clk_i) state_q == 3'd2 && !hit && first_q);
  stale_line_reread:   cover property (@(posedge clk_i) state_q == 3'd5 && !done_o && !pointer && cached_q);
  goes_down:           cover property (@(posedge clk_i) state_q == 3'd5 && !done_o && pointer);
  read_waits:          cover property (@(posedge clk_i) read_valid_o && !read_ready_i);
  drops_lines:         cover property (@(posedge clk_i) state_q == 3'd6);

endmodule

bind pte_walker cover_walker u_cover (.*);
