// SPDX-License-Identifier: Apache-2.0
// Properties of rr_arbiter, for any one requester. f_passed_q counts the grants to others since the requester was last
// served, or last did not ask while others did. Each of these grants brings its turn nearer: f_before requesters come
// before it.
(* anyconst *) logic [(N > 1 ? $clog2(N) : 1)-1:0] f_pick;
logic f_start_q = 1'b1;
logic [7:0] f_passed_q, f_before;
always_comb begin
  f_before = '0;
  for (int i = 0; i < N; i++)
    f_before = f_before + 8'(turn_q[f_pick] ? turn_q[i] && i < f_pick : turn_q[i] || i < f_pick);
end
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  if (rst_i || grant_o[f_pick] || (|request_i && !request_i[f_pick])) f_passed_q <= '0;
  else if (|grant_o && advance_i) f_passed_q <= f_passed_q + 1'b1;
end
always_comb begin
  assume (rst_i == f_start_q);
  assume (f_pick < N);
  assert ((grant_o & (grant_o - 1'b1)) == '0 && (grant_o & ~request_i) == '0 && |grant_o == |request_i);
  if (!f_start_q) begin
    assert ((~turn_q & (~turn_q + 1'b1)) == '0);
    assert (f_passed_q <= 8'(N - 1) && f_passed_q + f_before <= 8'(N - 1));
  end
end
