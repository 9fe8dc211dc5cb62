// SPDX-License-Identifier: Apache-2.0
// The dirty-bitplane, as coverage points. Bound into dirty_plane only by the coverage build.

module cover_dirty (
    input logic clk_i,
    input logic set_valid_i,
    input logic set_ready_o,
    input logic acc_valid_i,
    input logic acc_clear_i,
    input logic acc_set_i,
    input logic impatient_q
);

  bit_set:            cover property (@(posedge clk_i) set_valid_i && set_ready_o);
  set_waits_for_query:cover property (@(posedge clk_i) set_valid_i && !set_ready_o);
  query:              cover property (@(posedge clk_i) acc_valid_i && !acc_clear_i && !acc_set_i);
  query_clear:        cover property (@(posedge clk_i) acc_valid_i && acc_clear_i);
  set_again:          cover property (@(posedge clk_i) acc_valid_i && acc_set_i);
  set_beside_clear:   cover property (@(posedge clk_i) acc_valid_i && acc_clear_i && set_valid_i);
  query_impatient:    cover property (@(posedge clk_i) impatient_q);

endmodule

bind dirty_plane cover_dirty u_cover (.*);
