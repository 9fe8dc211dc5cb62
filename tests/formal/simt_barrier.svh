// SPDX-License-Identifier: Apache-2.0
// Properties of simt_barrier, for any two work-items a and b of any group slot. When a barrier lets a go on, both wait
// at one pc and neither has ended. A stuck barrier names its lowest pc and the first work-item there.
//
// Assumed of simt_flow and simt_dispatch: only a work-item that can run arrives or ends; whole_i is right; a warp or
// slot is launched anew only when nobody is left in it; slots share no warps. The slots of the next dispatch may lie
// differently, but then nobody of this dispatch is left.
(* anyconst *) logic [WW+LW-1:0] f_a, f_b;
(* anyconst *) logic [WW-1:0] f_slot;
logic f_started_q = 1'b0;
// Of b and a: its warp is of the group; its warp is launched; it exists; has ended; waits; ended or came to wait in
// the last cycle
logic [1:0] f_in_q = '0, f_sent_q = '0, f_live_q = '0, f_ended_q = '0, f_waits_q = '0, f_new_q = '0;
logic [63:0] f_pc_q;
logic f_event;
logic [LANES-1:0] f_elig;

assign f_event = arrive_i || exit_i;
assign f_elig = live_q[warp_i] & ~waiting_q[warp_i];

always_ff @(posedge clk_i) f_started_q <= 1'b1;

always_comb begin
  assume (rst_i == !f_started_q);
  assume (!restoring_i && !launch_i.live && !put_i.valid && !look_i.active);  // no resume
  assume (!(arrive_i && exit_i));
  assume (!f_event || (mask_i != '0 && (mask_i & ~f_elig) == '0 && whole_i == ((f_elig & ~mask_i) == '0)));
  assume (!f_event || member_q[slot_q[warp_i]][warp_i]);
  if (rst_i) assume (!f_event && !launch_now_i);
  assume (f_a != f_b);
  for (int t = 0; t < WARPS; t++)
    assume (!(launch_now_i && launch_i.first) || launch_slot == WW'(t) || (fresh & member_q[t]) == '0);
end

for (genvar x = 0; x < 2; x++) begin : g_item
  logic [WW-1:0] warp;
  logic [LW-1:0] lane;
  logic anew, here;  // a new group takes its slot or warp; takes both
  assign {warp, lane} = (x == 0) ? f_a : f_b;
  assign anew = launch_now_i && launch_i.first && (launch_slot == f_slot || fresh[warp]);
  assign here = anew && launch_slot == f_slot && fresh[warp];

  always_ff @(posedge clk_i) begin
    f_new_q[x] <= 1'b0;
    if (f_event && warp_i == warp && mask_i[lane] && f_live_q[x]) begin
      f_new_q[x] <= 1'b1;
      if (exit_i) f_ended_q[x] <= 1'b1;
      else begin
        f_waits_q[x] <= 1'b1;
        f_pc_q[32*x +: 32] <= pc_i;
      end
    end
    if (open_o[warp] && f_live_q[x]) f_waits_q[x] <= 1'b0;
    if (anew) begin
      f_in_q[x]    <= here;
      f_sent_q[x]  <= 1'b0;
      f_live_q[x]  <= 1'b0;
      f_ended_q[x] <= 1'b0;
      f_waits_q[x] <= 1'b0;
    end
    if (launch_now_i && launch_warp == warp && (here || (f_in_q[x] && !anew))) begin
      f_sent_q[x] <= 1'b1;
      f_live_q[x] <= launch_i.mask[lane];
    end
  end

  always_comb begin
    // launches: each warp once, of its own group, whose slot and warps are free
    if (f_in_q[x]) assume (!anew || (f_sent_q[x] && (f_ended_q[x] || !f_live_q[x])));
    if (launch_now_i && launch_i.first) assume (fresh[launch_warp]);
    if (launch_now_i && !launch_i.first && launch_warp == warp)
      assume (f_in_q[x] ? !f_sent_q[x] && launch_slot == f_slot : launch_slot != f_slot);
    // events: of launched warps
    if (f_in_q[x] && f_event && warp_i == warp) assume (f_sent_q[x]);
    if (f_started_q && !rst_i) begin
      // the contract
      if (f_live_q[0] && f_in_q[1] && open_o[f_a[WW+LW-1:LW]]) begin
        assert (f_sent_q[1] && f_waits_q[0] && !f_ended_q[0]);
        assert (!f_live_q[1] || (f_waits_q[1] && !f_ended_q[1] && f_pc_q[31:0] == f_pc_q[63:32]));
      end
      if (stuck_o && stuck_at_q == f_slot && f_live_q[x] && f_waits_q[x])
        assert ({waits_o.pc, waits_o.warp[WW-1:0], waits_o.lane[LW-1:0]} <= {f_pc_q[32*x +: 32], warp, lane});
      // for the induction: what the slot remembers
      assert (!(f_sent_q[x] && !f_in_q[x]) && !(f_live_q[x] && !f_sent_q[x]));
      assert (!((f_waits_q[x] || f_ended_q[x]) && !f_live_q[x]) && !(f_waits_q[x] && f_ended_q[x]));
      for (int t = 0; t < WARPS; t++) if (f_in_q[x]) assert (member_q[t][warp] == (f_slot == WW'(t)));
      if (f_in_q[x] && !f_sent_q[x]) assert (!blocked_q[warp]);
      if (f_live_q[x]) assert (live_q[warp][lane] == !f_ended_q[x] && waiting_q[warp][lane] == f_waits_q[x]);
      if (f_sent_q[x]) assert (slot_q[warp] == f_slot &&
                               (!blocked_q[warp] || (live_q[warp] & ~waiting_q[warp]) == '0));
      if (f_waits_q[x]) assert (some_q[warp]);
      if (f_new_q[x] && f_waits_q[x])
        assert (arrive_q && at_q == f_slot && arrive_pc_q == f_pc_q[32*x +: 32] && arrive_item_q <= {warp, lane});
      if (f_new_q[x] && f_ended_q[x]) assert (exit_q && at_q == f_slot);
      if (!f_new_q[x] && f_ended_q[x]) assert (parted_q[f_slot]);
      if (!f_new_q[x] && f_waits_q[x])
        assert (any_q[f_slot] && {pc_q[f_slot], first_q[f_slot]} <= {f_pc_q[32*x +: 32], warp, lane}
                && (parted_q[f_slot] || pc_q[f_slot] == f_pc_q[32*x +: 32]));
    end
  end
end
