// SPDX-License-Identifier: Apache-2.0
// Properties of lsu_fills, for fills whose list of waiters has run empty. The last waiter of such a fill is the record
// that was freed last. No other list uses this record until a waiter joins the fill, so its link to the next record may
// be written. Assumed: no fill or waiter comes before the lists of free records are filled, each is given only when
// there is room, and a fill that is being served is not free.
logic f_start_q = 1'b1;
(* hierconn *) logic [WAIT_W:0] \u_waits.f_count ;
(* hierconn *) logic [(WAIT_W<<WAIT_W)-1:0] \u_waits.f_entries ;
logic [WAIT_W:0] f_count;  // free records
logic [(WAIT_W<<WAIT_W)-1:0] f_entries;
assign f_count = \u_waits.f_count ;
assign f_entries = \u_waits.f_entries ;
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
    if (joins && !left_q) assert (f_count != '0);  // so the record is free, or it is the one that is taken now
  end
end
