// SPDX-License-Identifier: Apache-2.0
// Pipeline events of the SIMT core, as coverage points. Bound into simt_core only by the coverage build.
// The stages d, r and x of the names are those of the header of simt_core; r_next and r_after_* concern the instruction
// at pc + 4.

module cover_core #(
    parameter int WARPS = 16
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             d_valid_q,
    input logic             d_hit,
    input simt_core_pkg::fetch_fault_t fetch_fault_i,
    input logic             r_valid_q,
    input logic             r_faulty,
    input logic             r_hazard,
    input logic             r_sleep,
    input logic             r_stall,
    input logic             r_wait,
    input logic             r_issue,
    input logic             r_next,
    input logic             r_after_sleep,
    input logic             r_after_hold,
    input logic [2:0]       r_unit,
    input logic             r_fcsr,
    input logic             r_late,
    input logic             hold_lsu,
    input logic             hold_fence,
    input logic             x_valid_q,
    input logic             div_valid,
    input logic             div_ready,
    input logic             lsu_wb_valid_i,
    input logic             lsu_wb_ready_o,
    input simt_core_pkg::result_t lsu_wb_i,
    input logic             launch,
    input logic             launch_valid_i,
    input logic             launch_ready_o,
    input logic             launch_wb,
    input logic             launch_taken,
    input simt_core_pkg::warp_end_t done_o,
    input logic             fault_valid_o,
    input logic             pick_valid,
    input logic [WARPS-1:0] present,
    input simt_core_pkg::control_t control_i,
    input simt_core_pkg::launch_t launch_i,
    input logic             wb_write,
    input logic             wb_first,
    input simt_core_pkg::mark_t mark_i
);

  logic checked;
  assign checked = r_valid_q && !r_faulty && !rst_i;

  icache_miss_kills:     cover property (@(posedge clk_i) d_valid_q && !d_hit);
  fetch_fault:           cover property (@(posedge clk_i) fetch_fault_i.valid);
  back_to_back:          cover property (@(posedge clk_i) r_issue && x_valid_q);
  hazard_sleeps:         cover property (@(posedge clk_i) checked && r_hazard && r_sleep);
  hazard_retries:        cover property (@(posedge clk_i) checked && r_hazard && !r_sleep);
  stall_alu_port:        cover property (@(posedge clk_i) checked && !r_hazard && r_stall &&
                                         r_unit == simt_core_pkg::UNIT_ALU);
  stall_mul_port:        cover property (@(posedge clk_i) checked && !r_hazard && r_stall &&
                                         r_unit == simt_core_pkg::UNIT_MUL);
  stall_convert:         cover property (@(posedge clk_i) checked && !r_hazard && r_stall &&
                                         r_unit == simt_core_pkg::UNIT_CVT);
  stall_div_busy:        cover property (@(posedge clk_i) checked && !r_hazard && r_stall &&
                                         r_unit == simt_core_pkg::UNIT_DIV);
  stall_lsu_room:        cover property (@(posedge clk_i) hold_lsu && checked && r_unit == simt_core_pkg::UNIT_LSU);
  next_sleep_predicted:  cover property (@(posedge clk_i) r_next && r_after_sleep);
  next_hold_predicted:   cover property (@(posedge clk_i) r_next && !r_after_sleep && r_after_hold);
  next_continues:        cover property (@(posedge clk_i) r_next && !r_after_sleep && !r_after_hold);
  fence_waits:           cover property (@(posedge clk_i) hold_fence);
  fence_passes:          cover property (@(posedge clk_i) r_issue && !r_wait && r_unit == simt_core_pkg::UNIT_NONE);
  alu_result_late:       cover property (@(posedge clk_i) r_issue && r_late && r_unit == simt_core_pkg::UNIT_ALU);
  fcsr_access:           cover property (@(posedge clk_i) r_issue && r_fcsr);
  div_result_waits:      cover property (@(posedge clk_i) div_valid && !div_ready);
  load_result_waits:     cover property (@(posedge clk_i) lsu_wb_valid_i && !lsu_wb_ready_o);
  load_in_pieces:        cover property (@(posedge clk_i) lsu_wb_valid_i && lsu_wb_ready_o && !lsu_wb_i.last);
  load_and_div_meet:     cover property (@(posedge clk_i) lsu_wb_valid_i && div_valid);
  launch_beside_running: cover property (@(posedge clk_i) launch && present != '0);
  launch_waits:          cover property (@(posedge clk_i) launch_valid_i && !launch_ready_o);
  launch_write_waits:    cover property (@(posedge clk_i) launch_wb && !launch_taken);
  warp_ends:             cover property (@(posedge clk_i) done_o.valid);
  instruction_fault:     cover property (@(posedge clk_i) fault_valid_o);
  first_write:           cover property (@(posedge clk_i) wb_write && wb_first);
  halt_during_issue:     cover property (@(posedge clk_i) control_i.halt && r_issue);
  halt_during_lsu_hold:  cover property (@(posedge clk_i) control_i.halt && hold_lsu);
  live_warp_restored:    cover property (@(posedge clk_i) launch && launch_i.live);
  ended_warp_restored:   cover property (@(posedge clk_i) launch && launch_i.ended);
  launch_in_restore:     cover property (@(posedge clk_i) launch && control_i.restoring && !launch_i.live &&
                                         !launch_i.ended);
  load_restored:         cover property (@(posedge clk_i) mark_i.valid);
  no_warp_ready:         cover property (@(posedge clk_i) present != '0 && !pick_valid);

endmodule

bind simt_core cover_core #(.WARPS(WARPS)) u_cover (.*);
