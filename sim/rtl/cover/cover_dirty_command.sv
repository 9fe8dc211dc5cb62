// SPDX-License-Identifier: Apache-2.0
// Commands of the dirty plane, as coverage points. Bound into dirty_command only by the coverage build.

module cover_dirty_command (
    input logic clk_i,
    input logic cmd_valid_i,
    input logic busy_o,
    input logic error_o,
    input logic bus_error_o,
    input logic wr_valid_o,
    input logic wr_ready_i
);

  refused:            cover property (@(posedge clk_i) !busy_o && error_o);
  command_while_busy: cover property (@(posedge clk_i) cmd_valid_i && busy_o);
  result_written:     cover property (@(posedge clk_i) wr_valid_o && wr_ready_i);
  result_waits:       cover property (@(posedge clk_i) wr_valid_o && !wr_ready_i);
  result_refused:     cover property (@(posedge clk_i) bus_error_o);

endmodule

bind dirty_command cover_dirty_command u_cover (.*);
