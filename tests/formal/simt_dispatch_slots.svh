// SPDX-License-Identifier: Apache-2.0
// Properties of simt_dispatch_slots, for any one slot: it is never given to two groups, and it is busy exactly from
// when a group takes it until the group's last warp ends. The proof counts the warps of the group that have not ended.
(* anyconst *) logic [WW-1:0] slot;
(* anyseq *) logic f_back;   // a group of a preempted dispatch takes its own slot again
logic        seen_q = 1'b0;
logic        waiting_q;
logic [WW:0] given_q, count_q;

always_ff @(posedge clk_i) begin
  seen_q  <= 1'b1;
  count_q <= count_i;
  if (rst_i || clear_i) begin
    given_q   <= '0;
    waiting_q <= 1'b0;
  end else begin
    if (take_valid_i && take_slot_i == slot) waiting_q <= 1'b1;
    if (start_valid_i && start_slot_i == slot) begin
      waiting_q <= 1'b0;
      given_q   <= start_warps_i;
    end else if (done_valid_i && done_slot_i == slot) given_q <= given_q - (WW+1)'(1);
  end
end

always_comb begin
  assume (rst_i == !seen_q);
  assume (!seen_q || count_i == count_q);
  assume (!take_valid_i || (free_valid_o && take_slot_i == free_slot_o)
          || (f_back && !(take_slot_i == slot && (waiting_q || given_q != '0))));
  assume (!start_valid_i || (start_warps_i != '0 && start_warps_i <= (WW+1)'(W)));
  assume (!start_valid_i || start_slot_i != slot || waiting_q);
  assume (!done_valid_i || done_slot_i != slot || given_q != '0);
  if (seen_q) begin
    // never given twice, busy exactly from taken to the last end, the count is right
    assert (!(take_valid_i && take_slot_i == slot && (waiting_q || given_q != '0)));
    assert (!(waiting_q && given_q != '0));
    assert (busy_q[slot] == (waiting_q || given_q != '0));
    assert (given_q == '0 || left_q[(WW+1)*slot +: WW+1] == given_q);
    assert (!free_valid_o || !busy_q[free_slot_o]);
    assert (!free_valid_o || {1'b0, free_slot_o} < count_q);
    assert (!idle_o || (given_q == '0 && !waiting_q));
  end
end
