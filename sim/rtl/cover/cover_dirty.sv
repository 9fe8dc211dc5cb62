// SPDX-License-Identifier: Apache-2.0
// The dirty-bitplane, as coverage points. Bound into dirty_plane only by the coverage build.

module cover_dirty (
    input logic clk_i,
    input logic set_valid_i,
    input logic set_ready_o,
    input logic cmd_valid_i,
    input logic busy_o,
    input logic copying_q,
    input logic clears_q,
    input logic refuse,
    input logic impatient_q
);

  bit_set:            cover property (@(posedge clk_i) set_valid_i && set_ready_o);
  set_waits_for_query:cover property (@(posedge clk_i) set_valid_i && !set_ready_o);
  query:              cover property (@(posedge clk_i) copying_q && !clears_q);
  query_clear:        cover property (@(posedge clk_i) copying_q && clears_q);
  set_beside_clear:   cover property (@(posedge clk_i) copying_q && clears_q && set_valid_i);
  refused:            cover property (@(posedge clk_i) cmd_valid_i && refuse);
  command_while_busy: cover property (@(posedge clk_i) cmd_valid_i && busy_o);
  query_impatient:    cover property (@(posedge clk_i) impatient_q);

endmodule

bind dirty_plane cover_dirty u_cover (.*);
