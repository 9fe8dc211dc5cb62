// SPDX-License-Identifier: Apache-2.0
// Properties of mem_patience, for any one requester. f_passed_q counts the grants to others while it waits, f_more_q
// those of them since it has been late, and f_again_q says who got the latter: nobody twice. This holds as long as the
// grants keep the contract, which the proof of the module that grants shows.
(* anyconst *) logic [$clog2(N)-1:0] f_pick;
logic f_start_q = 1'b1, f_legal_q = 1'b1, f_legal, f_late;
assign f_legal = (grant_i & (grant_i - 1'b1)) == '0 && (grant_i & ~(waits_i & ~hold_o)) == '0;
logic [7:0] f_passed_q, f_more_q, f_members;
logic [N-1:0] f_again_q;
assign f_late = passed_q[W*f_pick+:W] == W'(PATIENCE);
always_comb begin
  f_members = '0;
  for (int e = 0; e < N; e++) f_members = f_members + 8'(f_again_q[e]);
end
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  if (!f_start_q && !f_legal) f_legal_q <= 1'b0;
  if (rst_i || !waits_i[f_pick] || grant_i[f_pick]) {f_passed_q, f_more_q, f_again_q} <= '0;
  else if (|grant_i) begin
    f_passed_q <= f_passed_q + 1'b1;
    if (f_late) f_more_q <= f_more_q + 1'b1;
    if (f_late) f_again_q <= f_again_q | grant_i;
  end
end
always_comb begin
  assume (rst_i == f_start_q);
  assume (f_pick < N);
  if (!f_start_q && f_legal_q) begin
    assert (f_passed_q <= 8'(PATIENCE + N - 1));  // the contract
    // induction
    assert ((only_q & (only_q - 1'b1)) == '0);
    assert (f_late ? f_passed_q == 8'(PATIENCE) + f_more_q : f_passed_q == 8'(passed_q[W*f_pick+:W]) &&
            f_more_q == '0);
    assert (f_more_q == f_members && !f_again_q[f_pick]);
    if (f_more_q != '0) assert (|only_q);
    if (only_q[f_pick]) assert (f_late);
    for (int e = 0; e < N; e++) begin
      assert (passed_q[W*e+:W] <= W'(PATIENCE));
      if (only_q[e]) assert (passed_q[W*e+:W] == W'(PATIENCE));
      if (f_again_q[e]) assert (8'(passed_q[W*e+:W]) < f_more_q);
    end
  end
end
