// SPDX-License-Identifier: Apache-2.0
// Properties of mem_gate, for any one line: requests of two classes are never in flight together. The proof counts the
// line's requests of each class, and the requests of all other lines with the same hash. rd_of and wr_of say that the
// request that ends is of the line, and wr_of_at that it is an atomic.
(* anyconst *) logic [LINE_W-1:0] watch;
(* anyseq *) logic rd_of, wr_of, wr_of_at;
logic [RD_COUNT_W-1:0] rd_count;
logic [WR_COUNT_W-1:0] wr_count;
logic [1:0] wr_kinds;
logic rd_kinds, rd_mixed, rd_mine, wr_mixed, wr_mine;
logic started_q = 1'b0;
logic [RD_COUNT_W-1:0] rd_flight_q = '0, rd_others_q = '0;
logic [WR_COUNT_W-1:0] wr_flight_q = '0, at_flight_q = '0, wr_others_q = '0;
logic [4:0] ends, begins, fresh;  // from bit 4: other lines' writes, other lines' reads, atomic, write, read
logic [1:0] rd_new;
logic [2:0] wr_new;
(* hierconn *) logic [LINE_W-1:0] \u_rd_flight.watch , \u_wr_flight.watch ;
(* hierconn *) logic [RD_COUNT_W-1:0] \u_rd_flight.watch_count ;
(* hierconn *) logic [WR_COUNT_W-1:0] \u_wr_flight.watch_count ;
(* hierconn *) logic \u_rd_flight.watch_kinds , \u_rd_flight.watch_mixed , \u_rd_flight.watch_mine ;
(* hierconn *) logic [1:0] \u_wr_flight.watch_kinds ;
(* hierconn *) logic \u_wr_flight.watch_mixed , \u_wr_flight.watch_mine ;
(* hierconn *) logic [1:0] \u_rd_flight.watch_new ;
(* hierconn *) logic [2:0] \u_wr_flight.watch_new ;
assign \u_rd_flight.watch = watch;
assign \u_wr_flight.watch = watch;
assign {rd_count, rd_kinds, rd_mixed, rd_mine, rd_new} =
    {\u_rd_flight.watch_count , \u_rd_flight.watch_kinds , \u_rd_flight.watch_mixed , \u_rd_flight.watch_mine ,
     \u_rd_flight.watch_new };
assign {wr_count, wr_kinds, wr_mixed, wr_mine, wr_new} =
    {\u_wr_flight.watch_count , \u_wr_flight.watch_kinds , \u_wr_flight.watch_mixed , \u_wr_flight.watch_mine ,
     \u_wr_flight.watch_new };
assign fresh = {wr_new[2], rd_new[1], wr_new[1:0], rd_new[0]};  // was granted a cycle ago
assign ends[0] = rd_done_valid_i && rd_done_hash_i == watch[HASH_W-1:0] && rd_of;
assign ends[1] = wr_done_valid_i && wr_done_hash_i == watch[HASH_W-1:0] && wr_of && !wr_of_at;
assign ends[2] = wr_done_valid_i && wr_done_hash_i == watch[HASH_W-1:0] && wr_of && wr_of_at;
assign ends[3] = rd_done_valid_i && rd_done_hash_i == watch[HASH_W-1:0] && !rd_of;
assign ends[4] = wr_done_valid_i && wr_done_hash_i == watch[HASH_W-1:0] && !wr_of;
// Counted from the grants alone
logic [5*ENGINES-1:0] begin_of;
// The holder of the claim and those that wanted it, a cycle ago. The holder is the next to be granted in its hash. A
// head that wants the claim wants it until it is granted.
logic [ENGINES-1:0] holder_q, wanted_q;
for (genvar e = 0; e < ENGINES; e++) begin : g_proof
  logic mine, other, claims;
  logic [1:0] kind;
  assign mine = line_q[LINE_W*e+:LINE_W] == watch;
  assign other = !mine && line_q[LINE_W*e+:HASH_W] == watch[HASH_W-1:0];
  assign claims = line_q[LINE_W*e+:HASH_W] == claim_hash_q;
  assign kind = class_q[2*e+:2];
  assign begin_of[5*e+:5] = {wr_grant_o[e] && other, rd_grant_o[e] && other, wr_grant_o[e] && mine && kind == ATOMIC,
                             wr_grant_o[e] && mine && kind == WRITE, rd_grant_o[e] && mine};
  always_comb begin
    if (started_q && valid_q[e] && |(holder_q & ~(ENGINES'(1) << e))) begin
      assert (claimed_q[e] == claims);
      assert (!(rd_grant_o[e] || wr_grant_o[e]) || !claims);
    end
    for (int f = 0; f < ENGINES; f++)
      if (started_q && f != e && valid_q[e] && valid_q[f])
        assert (g_engine[e].meets[f] == (line_q[LINE_W*e+:LINE_W] == line_q[LINE_W*f+:LINE_W] &&
                                           excludes(kind, class_q[2*f+:2])));
    if (started_q && rd_grant_o[e]) assert (valid_q[e] && kind == READ && rd_ready_i);
    if (started_q && wr_grant_o[e])
      assert (valid_q[e] && (kind == WRITE ? wr_ready_i[e] : kind == ATOMIC && at_ready_i));
    if (started_q) assert (!blocked[e] || (valid_q[e] && !(&kind)));  // a refused request waits for nothing
    if (started_q && ready && valid_q[e] && !blocked[e] && mine) begin
      assert (kind == READ || &kind || rd_flight_q == '0);
      assert (kind == WRITE || &kind || wr_flight_q == '0);
      assert (kind == ATOMIC || &kind || at_flight_q == '0);
    end
  end
end
always_comb begin
  begins = '0;
  for (int e = 0; e < ENGINES; e++) begins = begins | begin_of[5*e+:5];
end
always_ff @(posedge clk_i) begin
  started_q <= 1'b1;
  holder_q <= claim_q & ~fire & {ENGINES{!rst_i}};
  wanted_q <= want_claim & ~fire & {ENGINES{!rst_i}};
  rd_flight_q <= rd_flight_q + RD_COUNT_W'(begins[0]) - RD_COUNT_W'(ends[0]);
  wr_flight_q <= wr_flight_q + WR_COUNT_W'(begins[1]) - WR_COUNT_W'(ends[1]);
  at_flight_q <= at_flight_q + WR_COUNT_W'(begins[2]) - WR_COUNT_W'(ends[2]);
  rd_others_q <= rd_others_q + RD_COUNT_W'(begins[3]) - RD_COUNT_W'(ends[3]);
  wr_others_q <= wr_others_q + WR_COUNT_W'(begins[4]) - WR_COUNT_W'(ends[4]);
  if (rst_i) begin
    rd_flight_q <= '0;
    wr_flight_q <= '0;
    at_flight_q <= '0;
    rd_others_q <= '0;
    wr_others_q <= '0;
  end
end
logic [RD_COUNT_W:0] rd_all;
logic [WR_COUNT_W+1:0] wr_all;
assign rd_all = {1'b0, rd_flight_q} + {1'b0, rd_others_q};
assign wr_all = {2'b0, wr_flight_q} + {2'b0, at_flight_q} + {2'b0, wr_others_q};
always_comb begin
  assume (rst_i == !started_q);
  // only what is in flight ends, and not in the cycle after its grant
  assume (!ends[0] || rd_flight_q > RD_COUNT_W'(fresh[0]));
  assume (!ends[1] || wr_flight_q > WR_COUNT_W'(fresh[1]));
  assume (!ends[2] || at_flight_q > WR_COUNT_W'(fresh[2]));
  assume (!ends[3] || rd_others_q > RD_COUNT_W'(fresh[3]));
  assume (!ends[4] || wr_others_q > WR_COUNT_W'(fresh[4]));
  if (!started_q) assume (!rd_done_valid_i && !wr_done_valid_i);
  if (!ready) assume (!rd_done_valid_i && !wr_done_valid_i);
  if (&rd_all[RD_COUNT_W-1:0]) assume (!rd_ready_i);  // no more than can be counted
  if (&wr_all[WR_COUNT_W-1:0]) assume (wr_ready_i == '0 && !at_ready_i);
  if (started_q) begin
    assert ((wanted_q & ~want_claim) == '0 && (claim_q & (claim_q - 1'b1)) == '0 && (holder_q & ~claim_q) == '0);
    assert ((wr_grant_o & ((wr_waits & wr_hold) | (at_waits & at_hold))) == '0);
    assert ((rd_grant_o & (rd_grant_o - 1'b1)) == '0 && (wr_grant_o & (wr_grant_o - 1'b1)) == '0);
    assert ((rd_flight_q == '0) + (wr_flight_q == '0) + (at_flight_q == '0) >= 2'd2);
    // the tables
    assert (!rd_all[RD_COUNT_W] && wr_all[WR_COUNT_W+1:WR_COUNT_W] == 2'd0);
    assert (rd_flight_q >= RD_COUNT_W'(fresh[0]) && wr_flight_q >= WR_COUNT_W'(fresh[1]) &&
            at_flight_q >= WR_COUNT_W'(fresh[2]) && rd_others_q >= RD_COUNT_W'(fresh[3]) &&
            wr_others_q >= WR_COUNT_W'(fresh[4]));
    if (rd_clear) assert (rd_count == rd_all[RD_COUNT_W-1:0] - RD_COUNT_W'(fresh[0] || fresh[3]));
    if (wr_clear) assert (wr_count == wr_all[WR_COUNT_W-1:0] - WR_COUNT_W'(|{fresh[4], fresh[2:1]}));
    if (rd_flight_q > RD_COUNT_W'(fresh[0])) assert (rd_kinds && (rd_mixed || rd_mine));
    if (rd_others_q > RD_COUNT_W'(fresh[3])) assert (rd_mixed || !rd_mine);
    if (wr_flight_q > WR_COUNT_W'(fresh[1])) assert (wr_kinds[0] && (wr_mixed || wr_mine));
    if (at_flight_q > WR_COUNT_W'(fresh[2])) assert (wr_kinds[1] && (wr_mixed || wr_mine));
    if (wr_others_q > WR_COUNT_W'(fresh[4])) assert (wr_mixed || !wr_mine);
    if (!ready) assert (valid_q == '0 && rd_all == '0 && wr_all == '0 && fresh == '0);
  end
end
