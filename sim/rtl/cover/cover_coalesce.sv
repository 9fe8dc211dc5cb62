// SPDX-License-Identifier: Apache-2.0
// Distribution of lanes over lines, as coverage points. Bound into lsu_coalesce only by the coverage build.

module cover_coalesce #(
    parameter int LANES = 16
) (
    input logic             clk_i,
    input logic             out_valid_o,
    input logic             out_ready_i,
    input logic             out_last_o,
    input simt_op_pkg::lsu_access_t out_o,
    input logic [LANES-1:0] out_mask_o,
    input logic [LANES-1:0] rest_q,
    input logic [LANES-1:0] blocked,
    input logic [LANES-1:0] shadow,
    input logic             single,
    input logic             room_o,
    input logic             push_i
);

  logic go, unused;
  assign go = out_valid_o && out_ready_i;
  assign unused = &{1'b0, out_o};  // Most fields are not covered.

  load_one_line:         cover property (@(posedge clk_i) go && out_o.op == simt_op_pkg::LSU_LOAD && out_last_o);
  load_many_lines:       cover property (@(posedge clk_i) go && out_o.op == simt_op_pkg::LSU_LOAD && !out_last_o);
  load_one_lane_a_line:  cover property (@(posedge clk_i) go && out_o.op == simt_op_pkg::LSU_LOAD && !out_last_o &&
                                         (out_mask_o & (out_mask_o - 1'b1)) == '0);
  store_one_line:        cover property (@(posedge clk_i) go && out_o.op == simt_op_pkg::LSU_STORE && out_last_o);
  store_many_lines:      cover property (@(posedge clk_i) go && out_o.op == simt_op_pkg::LSU_STORE && !out_last_o);
  store_same_address:    cover property (@(posedge clk_i) go && out_o.op == simt_op_pkg::LSU_STORE &&
                                         (shadow & out_mask_o) != '0);
  store_bytes:           cover property (@(posedge clk_i) go && out_o.op == simt_op_pkg::LSU_STORE &&
                                         out_o.size == 2'd0);
  store_halves:          cover property (@(posedge clk_i) go && out_o.op == simt_op_pkg::LSU_STORE &&
                                         out_o.size == 2'd1);
  private_window:        cover property (@(posedge clk_i) go && out_o.is_private);
  atomic_together:       cover property (@(posedge clk_i) go && out_o.op == simt_op_pkg::LSU_AMO && !single &&
                                         (out_mask_o & (out_mask_o - 1'b1)) != '0);
  atomic_same_address:   cover property (@(posedge clk_i) go && out_o.op == simt_op_pkg::LSU_AMO &&
                                         (blocked & rest_q) != '0);
  atomic_one_by_one:     cover property (@(posedge clk_i) go && single && !out_last_o);
  waits_for_cache:       cover property (@(posedge clk_i) out_valid_o && !out_ready_i);
  queue_full:            cover property (@(posedge clk_i) !room_o);
  queue_push_when_busy:  cover property (@(posedge clk_i) push_i && out_valid_o);

endmodule

bind lsu_coalesce cover_coalesce #(.LANES(LANES)) u_cover (.*);
