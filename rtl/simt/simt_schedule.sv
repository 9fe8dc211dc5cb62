// SPDX-License-Identifier: Apache-2.0
// Chooses the warp of each cycle: round robin over the warps that can run.
//
// Contract: wake_i adds warps to those that can run, any number in a cycle. pick_valid_o and pick_warp_o are
// combinational and remove the picked warp. Only warps in allow_i are picked, and none while enable_i is low.
// hold_lsu_i: hold_warp_i waits for room in the LSU, in a queue. hold_fence_i: hold_warp_i waits at a fence. These
// warps need no wake_i: while the LSU has room, the first of the queue can run again, one warp a cycle; a warp at a
// fence can when its bit of fence_busy_i is low. issue_i: an instruction of hold_warp_i is issued; if hold_lsu_i is
// high in the same cycle, the instruction behind it is the one that waits.
//
// A warp that is woken for room in the LSU passes P, F, D and R before it uses the room, and another warp may take it
// meanwhile. A warp that has been held for EPOCH to 2 * EPOCH cycles without issuing an instruction is late. When a
// late warp is the first of the queue, the room is kept for it until its instruction is issued: lsu_keep_o,
// combinational from hold_warp_i, then tells every other warp that there is no room. Kept room stays unused for at
// least four cycles, so keeping it for every woken warp would halve the rate of memory instructions that need one line
// each.
//
// State saved at preemption: none; a resume finds the warps that can run from their lanes.

module simt_schedule #(
    parameter int WARPS = 16,    // hardware warps
    parameter int EPOCH = 1024,  // cycles; a power of two
    localparam int WW = $clog2(WARPS)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             enable_i,
    input  logic [WARPS-1:0] wake_i,
    input  logic             issue_i,
    input  logic             hold_lsu_i,
    input  logic             hold_fence_i,
    input  logic [WW-1:0]    hold_warp_i,
    input  logic             lsu_room_i,     // the LSU has room for an instruction
    input  logic [WARPS-1:0] fence_busy_i,
    input  logic [WARPS-1:0] allow_i,
    output logic             lsu_keep_o,
    output logic             pick_valid_o,
    output logic [WW-1:0]    pick_warp_o
);

  logic [WARPS-1:0] run_q, fence_q, ready, after, one, above, lsu_wake;
  logic [WW-1:0]    lsu_q [0:WARPS-1];    // queue of warps that wait for the LSU
  logic [WW:0]      lsu_head_q, lsu_tail_q;
  logic [WW-1:0]    lsu_first;
  logic             lsu_waits, lsu_take, lsu_push;
  logic [WARPS-1:0] held_q, before_q, late_q;   // held since its last issue; since before this epoch; late
  logic [$clog2(EPOCH)-1:0] epoch_q;
  logic [WARPS-1:0] keep_q;               // the warp that the room in the LSU is kept for, one-hot
  logic             kept_q, parked_q;     // keep_q names a warp; that warp has not been woken yet
  logic [WARPS-1:0] mask_q;               // warps above the last one picked

  always_comb begin
    ready        = run_q & allow_i;
    after        = ready & mask_q;
    // x & -x is the lowest set bit of x, and x ^ -x are all bits above it. Both are computed for both sets, before it
    // is known which set counts.
    one          = (after != '0) ? after & -after : ready & -ready;
    above        = (after != '0) ? after ^ -after : ready ^ -ready;
    pick_warp_o  = '0;
    for (int w = 0; w < WARPS; w++) if (one[w]) pick_warp_o = pick_warp_o | WW'(w);
    pick_valid_o = ready != '0 && enable_i;
    lsu_waits    = lsu_head_q != lsu_tail_q;
    lsu_first    = lsu_q[lsu_head_q[WW-1:0]];
    lsu_take     = lsu_waits && !kept_q && (lsu_room_i || late_q[lsu_first]);
    lsu_wake     = '0;
    lsu_wake[lsu_first] = lsu_waits;
    lsu_wake     = (kept_q ? keep_q & {WARPS{parked_q}} : lsu_wake) & {WARPS{lsu_room_i}};
    lsu_keep_o   = kept_q && !keep_q[hold_warp_i];
    lsu_push     = hold_lsu_i && (issue_i || !keep_q[hold_warp_i]);
  end

  always_ff @(posedge clk_i) begin
    run_q   <= (run_q | wake_i | lsu_wake | (fence_q & ~fence_busy_i)) & ~(one & {WARPS{enable_i}});
    if (lsu_take) lsu_head_q <= lsu_head_q + 1'b1;
    fence_q <= fence_q & fence_busy_i;
    epoch_q <= epoch_q + 1'b1;
    if (epoch_q == '1) begin
      before_q <= held_q;
      late_q   <= late_q | (held_q & before_q);
    end
    if (issue_i) begin
      held_q[hold_warp_i]   <= 1'b0;
      before_q[hold_warp_i] <= 1'b0;
      late_q[hold_warp_i]   <= 1'b0;
    end
    if (hold_lsu_i) held_q[hold_warp_i] <= 1'b1;
    if (kept_q) begin
      parked_q <= (parked_q && !lsu_room_i) || (hold_lsu_i && keep_q[hold_warp_i]);
      if (issue_i && keep_q[hold_warp_i]) {kept_q, keep_q} <= '0;
    end else if (lsu_take && late_q[lsu_first]) begin
      keep_q   <= WARPS'(1) << lsu_first;
      kept_q   <= 1'b1;
      parked_q <= !lsu_room_i;
    end
    if (lsu_push) begin
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
      held_q     <= '0;
      before_q   <= '0;
      late_q     <= '0;
      epoch_q    <= '0;
      keep_q     <= '0;
      kept_q     <= 1'b0;
    end
  end
endmodule
