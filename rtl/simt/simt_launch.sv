// SPDX-License-Identifier: Apache-2.0
// First values of registers: clears all of them when the address space changes, and sets those of a new warp.
//
// Contract: launch_i takes a warp when ready_o; it is then written x2 (stack pointer) and x10 (arguments), its rounding mode
// and flags cleared, in write-back slots that nobody else wants (wb_*), and launched_o says that it may run. scrub_i starts
// WARPS * 32 cycles of scrub_busy_o, in which register scrub_rd_o is cleared; nothing runs then.
// State saved at preemption: none.

module simt_launch #(
    parameter int WARPS = 16,
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
    output logic [WW-1:0] wb_warp_o,
    output logic [4:0]    wb_rd_o,
    output logic [31:0]   wb_data_o,     // of a launch or the scrub
    output logic          launched_o,
    input  logic          scrub_i,
    output logic          scrub_busy_o,
    output logic [WW+4:0] scrub_rd_o
);

  logic          args_q;                // x2 is written
  logic [WW+5:0] scrub_q;               // {warp, register, busy}

  assign ready_o      = !wb_valid_o || launched_o;
  assign launched_o   = wb_valid_o && wb_ready_i && args_q;
  assign wb_rd_o      = args_q ? 5'd10 : 5'd2;
  assign wb_data_o    = scrub_busy_o ? 32'd0 : args_q ? args_i : stack_top_i;
  assign scrub_busy_o = scrub_q[0];
  assign scrub_rd_o   = scrub_q[WW+5:1];

  always_ff @(posedge clk_i) begin
    if (wb_valid_o && wb_ready_i) args_q <= !args_q;
    if (launched_o) wb_valid_o <= 1'b0;
    if (launch_i) begin
      wb_valid_o <= 1'b1;
      args_q     <= 1'b0;
      wb_warp_o  <= launch_warp_i;
    end
    if (scrub_i) scrub_q <= (WW+6)'(1);
    else if (scrub_busy_o) scrub_q <= (&scrub_q) ? '0 : scrub_q + (WW+6)'(2);
    if (rst_i) begin
      wb_valid_o <= 1'b0;
      scrub_q    <= '0;
    end
  end

endmodule
