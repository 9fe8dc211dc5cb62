// SPDX-License-Identifier: Apache-2.0
// Which work-items of each warp are alive, which wait at a barrier, and when a group's barrier opens.
//
// Contract: arrive_i / exit_i (from simt_flow's B) add mask_i of warp_i; whole_i says that no lane of the warp is left to
// run. A barrier opens when every live work-item of the group waits (the exited count as arrived): open_o, two cycles after
// the last arrival, names the warps that must choose their lanes anew. done_o: the warp has ended. elig_*_o are the lanes
// of a warp that can run.
// State saved at preemption: live_q, waiting_q, blocked_q, member_q.
//
// Only the group of the warp that has just stopped can open, so one group is looked at in a cycle instead of all of them.

module simt_barrier #(
    parameter int LANES = 16,
    parameter int WARPS = 16,
    localparam int WW = $clog2(WARPS)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             launch_i,
    input  logic [WW-1:0]    launch_warp_i,
    input  logic [WW-1:0]    launch_slot_i,
    input  logic [LANES-1:0] launch_mask_i,
    input  logic             launch_first_i,
    input  logic [WW:0]      launch_nwarps_i,
    input  logic             arrive_i,
    input  logic             exit_i,
    input  logic [WW-1:0]    warp_i,
    input  logic [LANES-1:0] mask_i,
    input  logic             whole_i,
    output logic [WARPS-1:0] open_o,
    output logic             done_o,
    output logic [WW-1:0]    done_warp_o,
    input  logic [WW-1:0]    work_warp_i,
    output logic [LANES-1:0] work_elig_o,
    input  logic [WW-1:0]    res_warp_i,
    output logic [LANES-1:0] res_elig_o
);

  logic [LANES-1:0] live_q [0:WARPS-1];
  logic [LANES-1:0] waiting_q [0:WARPS-1];
  logic [WARPS-1:0] some_q;                  // waiting_q is not empty
  logic [WARPS-1:0] blocked_q;               // nobody of the warp can run
  logic [WARPS-1:0] member_q [0:WARPS-1];    // by group slot: its warps
  logic [WW-1:0]    slot_q [0:WARPS-1];

  assign work_elig_o = live_q[work_warp_i] & ~waiting_q[work_warp_i];
  assign res_elig_o  = live_q[res_warp_i] & ~waiting_q[res_warp_i];

  logic             check_q;
  logic [WW-1:0]    check_slot_q;
  logic [WARPS-1:0] group, fresh;

  always_comb begin
    group  = member_q[check_slot_q];
    open_o = '0;
    if (check_q && (group & ~blocked_q) == '0) open_o = group & some_q;
    fresh = ~({WARPS{1'b1}} << launch_nwarps_i) << launch_warp_i;
  end

  always_ff @(posedge clk_i) begin
    check_q      <= (arrive_i || exit_i) && whole_i && !rst_i;
    check_slot_q <= slot_q[warp_i];
    done_o       <= exit_i && whole_i && !some_q[warp_i] && !rst_i;
    done_warp_o  <= warp_i;

    if (open_o != '0)
      for (int w = 0; w < WARPS; w++)
        if (open_o[w]) begin
          waiting_q[w] <= '0;
          some_q[w]    <= 1'b0;
          blocked_q[w] <= 1'b0;
        end
    if (arrive_i) begin
      waiting_q[warp_i] <= waiting_q[warp_i] | mask_i;
      some_q[warp_i]    <= 1'b1;
    end
    if (exit_i) live_q[warp_i] <= live_q[warp_i] & ~mask_i;
    if ((arrive_i || exit_i) && whole_i) blocked_q[warp_i] <= 1'b1;
    if (launch_i) begin
      if (launch_first_i) begin
        member_q[launch_slot_i] <= fresh;
        for (int w = 0; w < WARPS; w++) if (fresh[w]) blocked_q[w] <= 1'b0;
      end
      live_q[launch_warp_i]    <= launch_mask_i;
      waiting_q[launch_warp_i] <= '0;
      some_q[launch_warp_i]    <= 1'b0;
      slot_q[launch_warp_i]    <= launch_slot_i;
    end
    if (rst_i) begin
      some_q    <= '0;
      blocked_q <= '0;
      for (int w = 0; w < WARPS; w++) member_q[w] <= '0;
    end
  end

endmodule
