// SPDX-License-Identifier: Apache-2.0
// Divergence and reconvergence, as coverage points. Bound into simt_flow only by the coverage build.

module cover_flow #(
    parameter int WARPS = 16
) (
    input logic             clk_i,
    input logic             b_valid_q,
    input logic             b_call_q,
    input logic             b_return_q,
    input logic             b_quantum_end_q,
    input logic             b_backward_q,
    input logic [2:0]       b_flow_q,
    input logic             jump,
    input logic             uniform,
    input logic             full,
    input logic             in_quantum,
    input logic             rotate,
    input logic             fast,
    input logic             select,
    input logic [7:0]       depth,
    input logic [WARPS-1:0] wait_q,
    input logic [WARPS-1:0] open_select_i,
    input logic [WARPS-1:0] open_whole_i,
    input logic             pass,
    input logic             barrier,
    input logic             res_valid,
    input logic [31:0]      res_merge,
    input logic             d_step_slow_o,
    input logic             d_quantum_end_o
);

  logic branch;
  assign branch = b_valid_q && jump;

  uniform_full:            cover property (@(posedge clk_i) branch && uniform && full && fast);
  uniform_part:            cover property (@(posedge clk_i) branch && uniform && !full && fast);
  diverges_full:           cover property (@(posedge clk_i) branch && !uniform && full);
  diverges_again:          cover property (@(posedge clk_i) branch && !uniform && !full);
  jalr_diverges:           cover property (@(posedge clk_i) branch && !uniform && b_flow_q == simt_core_pkg::FLOW_JALR);
  backward_part:           cover property (@(posedge clk_i) branch && !full && b_backward_q);
  call_full:               cover property (@(posedge clk_i) branch && b_call_q && full);
  call_part:               cover property (@(posedge clk_i) branch && b_call_q && !full);
  return_full:             cover property (@(posedge clk_i) branch && b_return_q && full);
  return_part:             cover property (@(posedge clk_i) branch && b_return_q && !full);
  call_deep:               cover property (@(posedge clk_i) branch && depth >= 8'd3);
  rotation:                cover property (@(posedge clk_i) b_valid_q && rotate);
  rotation_ends:           cover property (@(posedge clk_i) b_valid_q && b_quantum_end_q);
  branch_while_rotated:    cover property (@(posedge clk_i) branch && in_quantum);
  merge_point_reached:     cover property (@(posedge clk_i) d_step_slow_o && !d_quantum_end_o);
  choice_with_merge:       cover property (@(posedge clk_i) res_valid && res_merge != 32'hffff_ffff);
  choice_without_merge:    cover property (@(posedge clk_i) res_valid && res_merge == 32'hffff_ffff);
  barrier_opens_whole:     cover property (@(posedge clk_i) open_whole_i != '0);
  barrier_opens_parts:     cover property (@(posedge clk_i) open_select_i != '0);
  barrier_in_part:         cover property (@(posedge clk_i) barrier && !full);
  selection_at_once:       cover property (@(posedge clk_i) select && pass);
  selection_waits:         cover property (@(posedge clk_i) select && !pass);
  several_wait:            cover property (@(posedge clk_i) (wait_q & (wait_q - 1'b1)) != '0);

endmodule

bind simt_flow cover_flow #(.WARPS(WARPS)) u_cover (.*);
