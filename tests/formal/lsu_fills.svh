// SPDX-License-Identifier: Apache-2.0
  // The last waiter of a fill whose list has run empty is the record that was freed last: no other list has it until
  // a waiter joins this one, so its next may be written. Assumed: nothing comes before the lists of free ones are
  // filled, room is asked, and a fill that is served is not free.
`ifdef FORMAL
  logic f_start_q = 1'b1;
  logic [WAIT_W-1:0] f_newest;
  logic [WAIT_W:0] f_filled_q;  // cycles since the reset, up to WAITS

  always_ff @(posedge clk_i) begin
    f_start_q <= 1'b0;
    if (rst_i) f_filled_q <= '0;
    else if (!f_filled_q[WAIT_W]) f_filled_q <= f_filled_q + 1'b1;
  end
  always_comb begin
    f_newest = '0;
    for (int i = 0; i < WAITS; i++) if (f_count == (WAIT_W + 1)'(i + 1)) f_newest = f_entries[WAIT_W*i +: WAIT_W];
    assume (rst_i == f_start_q);
    if (alloc_i || join_i || rsp_valid_i) assume (f_filled_q[WAIT_W]);
    if (alloc_i || join_i) assume (wait_room_o);
    assume (!(alloc_i && join_i) && !(alloc_i && serve_q && alloc_fill_o == fill_q));
    if (!f_start_q) begin
      if (!f_filled_q[WAIT_W]) assert (!serve_q && !next_valid && f_count == f_filled_q);
      assert (f_filled_q <= (WAIT_W + 1)'(WAITS));
      if (serve_q && !left_q && f_count != '0) assert (f_newest == tails[fill_q]);
      if (joins && !left_q) assert (f_count != '0);  // so it is among the free ones, or the one that is taken now
    end
  end
`endif
