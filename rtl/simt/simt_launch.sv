// SPDX-License-Identifier: Apache-2.0
// Writes the initial registers of a launched warp.
//
// Contract: launch_i takes a warp in a cycle with ready_o. The unit then writes x2 (stack pointer) and x10 (argument
// block) of all lanes, clears frm and fflags, and pulses launched_o with the last of these writes: the warp may run.
// All these writes use write-back slots that no instruction has booked (wb_*).
// State saved at preemption: none; the unit drains in two write-backs.

module simt_launch #(
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS)
) (
    input  logic          clk_i,
    input  logic          rst_i,
    input  logic [31:0]   args_i,
    input  logic [31:0]   stack_top_i,
    input  logic          launch_i,
    output logic          ready_o,
    input  logic [WW-1:0] launch_warp_i,
    output logic          wb_valid_o,
    input  logic          wb_ready_i,
    output simt_core_pkg::result_t wb_o,
    output logic [31:0]   wb_data_o,
    output logic          launched_o
);

  logic          args_q;                // x2 is written and x10 is next
  logic [WW-1:0] warp_q;

  assign ready_o      = !wb_valid_o || launched_o;
  assign launched_o   = wb_valid_o && wb_ready_i && args_q;
  assign wb_o.warp    = 5'(warp_q);
  assign wb_o.rd      = args_q ? 5'd10 : 5'd2;
  assign wb_o.mask    = '1;
  assign wb_o.last    = 1'b1;
  assign wb_data_o    = args_q ? args_i : stack_top_i;

  always_ff @(posedge clk_i) begin
    if (wb_valid_o && wb_ready_i) args_q <= !args_q;
    if (launched_o) wb_valid_o <= 1'b0;
    if (launch_i) begin
      wb_valid_o <= 1'b1;
      args_q     <= 1'b0;
      warp_q     <= launch_warp_i;
    end
    if (rst_i) wb_valid_o <= 1'b0;
  end

endmodule
