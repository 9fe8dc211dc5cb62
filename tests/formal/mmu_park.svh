// SPDX-License-Identifier: Apache-2.0
// Properties of mmu_park. The proof numbers the requests of each walk as they are put. The numbers in a list have no
// gap and no double, the head of the list is the oldest request, and each request leads to the next one. Requests are
// therefore taken once each, in the order in which they were put. The slot of a request holds what was put until it is
// freed. Assumed: the caller keeps the contract.
localparam int F_NW = WALKS > 1 ? $clog2(WALKS) : 1;
(* anyconst *) logic [SW-1:0] f_slot;
logic f_start_q = 1'b1;
logic [SLOTS-1:0] f_listed_q, f_taken_q;
logic [F_NW*SLOTS-1:0] f_walk_q;
logic [4*SLOTS-1:0] f_number_q;
logic [4*WALKS-1:0] f_puts_q, f_takes_q;
logic [F_NW-1:0] f_w, f_put_w, f_pick_w;
logic [SW-1:0] f_next;
logic [WIDTH-1:0] f_data_q;
always_comb begin
  f_put_w = '0;
  f_pick_w = '0;
  for (int w = 0; w < WALKS; w++) begin
    if (put_walk_i[w]) f_put_w = F_NW'(w);
    if (pick_i[w]) f_pick_w = F_NW'(w);
  end
end
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  if (put_valid_i) begin
    f_listed_q[next_q] <= 1'b1;
    f_walk_q[F_NW*next_q+:F_NW] <= f_put_w;
    f_number_q[4*next_q+:4] <= f_puts_q[4*f_put_w+:4];
    f_puts_q[4*f_put_w+:4] <= f_puts_q[4*f_put_w+:4] + 1'b1;
    if (next_q == f_slot) f_data_q <= put_data_i;
  end
  if (take_i && |pick_i) begin
    f_listed_q[pick_slot_o] <= 1'b0;
    f_taken_q[pick_slot_o] <= 1'b1;
    f_takes_q[4*f_pick_w+:4] <= f_takes_q[4*f_pick_w+:4] + 1'b1;
  end
  if (free_i) f_taken_q[read_slot_i] <= 1'b0;
  if (rst_i) {f_listed_q, f_taken_q, f_puts_q, f_takes_q} <= '0;
end
always_comb begin
  f_w = '0;
  f_next = '0;
  assume (rst_i == f_start_q);
  assume ((put_walk_i & (put_walk_i - 1'b1)) == '0 && (pick_i & (pick_i - 1'b1)) == '0);
  if (!f_start_q) begin
    if (put_valid_i)
      assume (room_o && |put_walk_i && put_first_i == (f_puts_q[4*f_put_w+:4] == f_takes_q[4*f_put_w+:4]));
    if (|pick_i) assume (f_puts_q[4*f_pick_w+:4] != f_takes_q[4*f_pick_w+:4]);
    if (free_i) assume (f_taken_q[read_slot_i]);
    assert ((f_listed_q & f_taken_q) == '0 && ((f_listed_q | f_taken_q) & ~used_q) == '0);
    if (room_o) assert (used_q[next_q] && !f_listed_q[next_q] && !f_taken_q[next_q]);
    for (int w = 0; w < WALKS; w++)
      if (f_puts_q[4*w+:4] != f_takes_q[4*w+:4]) begin
        f_next = head_q[SW*w+:SW];
        assert (f_listed_q[f_next] && f_walk_q[F_NW*f_next+:F_NW] == F_NW'(w) &&
                f_number_q[4*f_next+:4] == f_takes_q[4*w+:4]);
        f_next = tail_q[SW*w+:SW];
        assert (f_listed_q[f_next] && f_walk_q[F_NW*f_next+:F_NW] == F_NW'(w) &&
                f_number_q[4*f_next+:4] == f_puts_q[4*w+:4] - 4'd1);
        assert (last_o[w] == (f_puts_q[4*w+:4] - f_takes_q[4*w+:4] == 4'd1));
      end
    for (int s = 0; s < SLOTS; s++)
      if (f_listed_q[s]) begin
        f_w = f_walk_q[F_NW*s+:F_NW];
        assert (f_number_q[4*s+:4] - f_takes_q[4*f_w+:4] < f_puts_q[4*f_w+:4] - f_takes_q[4*f_w+:4]);
        f_next = follows[s];
        if (f_number_q[4*s+:4] != f_puts_q[4*f_w+:4] - 4'd1)
          assert (f_listed_q[f_next] && f_walk_q[F_NW*f_next+:F_NW] == f_w &&
                  f_number_q[4*f_next+:4] == f_number_q[4*s+:4] + 4'd1);
        for (int t = 0; t < s; t++)
          if (f_listed_q[t] && f_walk_q[F_NW*t+:F_NW] == f_w) assert (f_number_q[4*t+:4] != f_number_q[4*s+:4]);
      end
    if (|pick_i)
      assert (f_listed_q[pick_slot_o] && f_walk_q[F_NW*pick_slot_o+:F_NW] == f_pick_w &&
              f_number_q[4*pick_slot_o+:4] == f_takes_q[4*f_pick_w+:4]);
    if (f_listed_q[f_slot] || f_taken_q[f_slot]) begin
      assert (slots[f_slot] == f_data_q);
      if (read_slot_i == f_slot) assert (read_data_o == f_data_q);
    end
  end
end
