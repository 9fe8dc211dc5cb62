// SPDX-License-Identifier: Apache-2.0
// Chooses the warp of each cycle: round robin over those that can run.
//
// Contract: wake_i adds warps (any number in a cycle); pick_valid_o / pick_warp_o is combinational and removes one.
// Warps that wait for the LSU (hold_lsu_i names one) or at a fence (hold_fence_i) come back by themselves: one a cycle,
// in turn, while the LSU has room, and when fence_busy_i of the warp is clear.
// State saved at preemption: none; a warp that can run is found again from its masks.

module simt_schedule #(
    parameter int WARPS = 16,
    localparam int WW = $clog2(WARPS)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             enable_i,
    input  logic [WARPS-1:0] wake_i,
    input  logic             hold_lsu_i,
    input  logic             hold_fence_i,
    input  logic [WW-1:0]    hold_warp_i,
    input  logic             lsu_room_i,
    input  logic [WARPS-1:0] fence_busy_i,
    output logic             pick_valid_o,
    output logic [WW-1:0]    pick_warp_o
);

  logic [WARPS-1:0] run_q, fence_q, after, one, above, lsu_wake;
  logic [WW-1:0]    lsu_q [0:WARPS-1];    // those who wait for the LSU, first come first served
  logic [WW:0]      lsu_head_q, lsu_tail_q;
  logic             lsu_take;
  logic [WARPS-1:0] mask_q;               // warps after the last one picked

  always_comb begin
    after        = run_q & mask_q;
    // x & -x is the lowest bit of x, x ^ -x all above it: of both sets, before it is known which one counts
    one          = (after != '0) ? after & -after : run_q & -run_q;
    above        = (after != '0) ? after ^ -after : run_q ^ -run_q;
    pick_warp_o  = '0;
    for (int w = 0; w < WARPS; w++) if (one[w]) pick_warp_o = pick_warp_o | WW'(w);
    pick_valid_o = run_q != '0 && enable_i;
    lsu_take     = lsu_room_i && lsu_head_q != lsu_tail_q;
    lsu_wake     = '0;
    if (lsu_take) lsu_wake[lsu_q[lsu_head_q[WW-1:0]]] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    run_q   <= (run_q | wake_i | lsu_wake | (fence_q & ~fence_busy_i)) & ~(one & {WARPS{enable_i}});
    if (lsu_take) lsu_head_q <= lsu_head_q + 1'b1;
    fence_q <= fence_q & fence_busy_i;
    if (hold_lsu_i) begin
      lsu_q[lsu_tail_q[WW-1:0]] <= hold_warp_i;
      lsu_tail_q                <= lsu_tail_q + 1'b1;
    end
    if (hold_fence_i) fence_q[hold_warp_i] <= 1'b1;
    if (pick_valid_o) mask_q <= above;
    if (rst_i) begin
      run_q   <= '0;
      fence_q <= '0;
      mask_q  <= '0;
      lsu_head_q <= '0;
      lsu_tail_q <= '0;
    end
  end

endmodule
