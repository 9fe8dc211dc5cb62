// SPDX-License-Identifier: Apache-2.0
// Zeroes the local memory that a dispatch can reach and that another process may have used.
//
// Contract: forget_i: the address space has changed, so no local memory counts as clean. When the packet is known,
// need_o tells combinationally whether anything has to be zeroed; start_i then zeroes it by scrub_* of lsu_rows, except
// for the group slots in keep_i, whose contents are restored. busy_o is high until the end. kill_i ends the operation
// early; then no local memory counts as clean.
// State saved at preemption: none.
//
// Only the range [0, clean_q) of lines is known to hold no data of another process. Kernels without local memory, which
// are most kernels, never wait.

module simt_scrub #(
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             kill_i,
    input  logic             forget_i,
    input  logic [WW:0]      slots_i,
    input  logic [10:0]      lines_i,       // lines of local memory of a slot
    output logic             need_o,
    input  logic             start_i,
    input  logic [WARPS-1:0] keep_i,
    output logic             busy_o,
    output logic             scrub_o,
    output logic [10:0]      scrub_first_o,
    output logic [10:0]      scrub_end_o,
    input  logic             scrub_busy_i
);

  logic [10:0] clean_q, total_q, first_q, past;
  logic [WW:0] slot_q;
  logic        busy_q, wait_q;

  assign need_o        = total_q > clean_q;
  assign busy_o        = busy_q;
  assign past          = first_q + lines_i;
  assign scrub_first_o = (first_q < clean_q) ? clean_q : first_q;
  assign scrub_end_o   = past;
  assign scrub_o       = busy_q && !wait_q && !scrub_busy_i && slot_q != slots_i && past > clean_q &&
    !keep_i[slot_q[WW-1:0]];

  // One slot after another. wait_q: the cycle before scrub_busy_i is valid.
  always_ff @(posedge clk_i) begin
    total_q <= 11'(slots_i) * lines_i;
    wait_q  <= scrub_o;
    if (busy_q && !wait_q && !scrub_busy_i) begin
      slot_q  <= slot_q + 1'b1;
      first_q <= past;
      if (slot_q == slots_i) begin
        busy_q <= 1'b0;
        if (need_o) clean_q <= total_q;
      end
    end
    if (start_i) begin
      busy_q  <= 1'b1;
      slot_q  <= '0;
      first_q <= '0;
    end
    if (forget_i || rst_i || (kill_i && busy_q)) clean_q <= '0;
    if (rst_i || kill_i) busy_q <= 1'b0;
  end

endmodule
