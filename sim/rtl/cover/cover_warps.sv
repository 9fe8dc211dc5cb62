// SPDX-License-Identifier: Apache-2.0
// Barriers and ends of warps, as coverage points. Bound into simt_warps only by the coverage build.
// b: lanes of a warp reach a barrier or end; b.whole: no other lane of the warp can run. open: warps whose barrier
// opens. look_*: state is read for a save. blocked: warps with no lane that can run.

module cover_warps #(
    parameter int WARPS = 16
) (
    input logic             clk_i,
    input logic [WARPS-1:0] open,
    input simt_core_pkg::flow_b_t b,
    input simt_core_pkg::look_t look_i,
    input logic             look_waits,
    input logic [WARPS-1:0] select_i,
    input logic [WARPS-1:0] blocked
);

  barrier_part_arrives:  cover property (@(posedge clk_i) b.barrier && !b.whole);
  barrier_whole_arrives: cover property (@(posedge clk_i) b.barrier && b.whole);
  barrier_opens_one:     cover property (@(posedge clk_i) open != '0 && (open & (open - 1'b1)) == '0);
  barrier_opens_many:    cover property (@(posedge clk_i) (open & (open - 1'b1)) != '0);
  exit_of_a_part:        cover property (@(posedge clk_i) b.ends && !b.whole);
  barrier_is_saved:      cover property (@(posedge clk_i) look_i.active && look_waits);
  blocked_is_restored:   cover property (@(posedge clk_i) (select_i & blocked) != '0);

endmodule

bind simt_warps cover_warps #(.WARPS(WARPS)) u_cover (.*);
