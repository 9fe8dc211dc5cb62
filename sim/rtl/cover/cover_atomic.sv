// SPDX-License-Identifier: Apache-2.0
// Atomics next to memory, as coverage points. Bound into atomic_unit only by the coverage build.

module cover_atomic (
    input logic clk_i,
    input logic t_valid_q,
    input logic t_go,
    input logic hit,
    input logic enter,
    input logic req_valid_i,
    input logic req_ready_o,
    input logic plain_valid_i
);

  line_kept:          cover property (@(posedge clk_i) t_valid_q && t_go && hit);
  line_enters:        cover property (@(posedge clk_i) t_valid_q && enter);
  waits_for_a_line:   cover property (@(posedge clk_i) t_valid_q && !t_go);
  request_waits:      cover property (@(posedge clk_i) t_valid_q && !req_ready_o);
  back_to_back:       cover property (@(posedge clk_i) t_valid_q && req_valid_i && req_ready_o);
  write_beside:       cover property (@(posedge clk_i) plain_valid_i && t_valid_q);

endmodule

bind atomic_unit cover_atomic u_cover (.*);
