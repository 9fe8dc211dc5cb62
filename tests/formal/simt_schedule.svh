// SPDX-License-Identifier: Apache-2.0
// The warps that wait in simt_schedule for the LSU, the first one in the lowest bits, for the proof simt_turns.
logic [WW*WARPS-1:0] f_lsu;
logic [WW:0] f_lsu_count;
logic [WW-1:0] f_at;
always_comb begin
  f_lsu_count = lsu_tail_q - lsu_head_q;
  for (int i = 0; i < WARPS; i++) begin
    f_at = lsu_head_q[WW-1:0] + WW'(i);
    f_lsu[WW*i +: WW] = lsu_q[f_at];
  end
end
