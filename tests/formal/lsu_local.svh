// SPDX-License-Identifier: Apache-2.0
// Properties of lsu_local: an instruction is done after at most 3 * LANES cycles in which it can go on, which means
// that the banks are not scrubbed, there is room for its pieces, and the crossbar is not held. Assumed: room_o was high
// in the cycle before a push, and each instruction has a lane.
logic f_start_q = 1'b1, f_room_q;
logic [7:0] f_age_q, f_rest;
logic [7:0] f_count;
logic [DEPTH_LOG2-1:0] f_at;

assign f_count = 8'((DEPTH_LOG2 + 1)'(wr_q - rd_q));
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_room_q  <= room_o && !rst_i;
  if (rst_i || load) f_age_q <= '0;
  else if (g_valid_q && !scrub_busy_o && (credit_i || g_op == simt_op_pkg::LSU_STORE) &&
           !(hold_i && g_op != simt_op_pkg::LSU_LOAD)) f_age_q <= f_age_q + 1'b1;
end
always_comb begin
  f_rest = '0;
  for (int i = 0; i < LANES; i++) f_rest = f_rest + 8'(rest_q[i]);
  f_at = '0;
  if (f_start_q) assume (rst_i);
  if (push_i) assume (f_room_q && in_mask_i != '0 && !rst_i);
  if (!f_start_q && !rst_i) begin
    // the promise
    if (g_valid_q) assert (f_age_q < 8'(3 * LANES));
    // induction
    assert (f_count <= 8'd1 << DEPTH_LOG2);
    if (f_room_q) assert (f_count < 8'd1 << DEPTH_LOG2);
    assert (hold_q != 2'd3);
    if (g_valid_q) assert (rest_q != '0 && f_age_q + 8'(hold_q) <= 8'd3 * (8'(LANES) - f_rest) + 8'd2);
    for (int i = 0; i < 1 << DEPTH_LOG2; i++) begin
      f_at = rd + DEPTH_LOG2'(i);
      if (8'(i) < f_count) assert (queue_mask[f_at] != '0);
    end
  end
end
