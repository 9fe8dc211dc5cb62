// SPDX-License-Identifier: Apache-2.0
// Properties of engine_counters, for any one counter: a read returns the sum of all that was added, in every cycle.
// While a carry waits for its turn, the low bits hold no more than can be added between two turns.
(* anyconst *) logic [3:0] f_pick;
logic f_start_q = 1'b1;
logic [COUNT_W-1:0] f_sum_q;
logic [3:0] f_away;  // cycles until its turn
logic [5:0] f_add;
logic [LOW_W-1:0] f_low;
assign f_away = f_pick >= turn_q ? f_pick - turn_q : f_pick + 4'(N) - turn_q;
assign f_add = add_q[6*f_pick+:6];
assign f_low = low_q[LOW_W*f_pick+:LOW_W];
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_sum_q <= rst_i ? '0 : f_sum_q + COUNT_W'(f_add);
end
always_comb begin
  assume (rst_i == f_start_q);
  assume (f_pick < 4'(N));
  if (!f_start_q) begin
    assert (turn_q < 4'(N));
    assert (f_low == f_sum_q[LOW_W-1:0]);
    assert ((known_q[f_pick] ? high[f_pick] : '0) + HIGH_W'(carry_q[f_pick]) == f_sum_q[COUNT_W-1:LOW_W]);
    if (known_q[f_pick]) assert (next[f_pick] == high[f_pick] + 1'b1);
    if (carry_q[f_pick]) assert (f_low < {4'(N) - f_away, 6'b0});
    if (select_i == {1'b0, f_pick}) assert (read_o == f_sum_q);
    if (select_i >= 5'(N)) assert (read_o == '0);
  end
end
