// SPDX-License-Identifier: Apache-2.0
// Property module: every warp whose instruction was refused goes on after a bounded number of the others'
// instructions. Scheduler, patience and memory port are joined as in simt_core; what the instructions are, what sleeps,
// misses and wakes, and when the LSU takes something, is arbitrary.
//
// Places: until its instruction is issued a warp is in one of: run, F, D, R, the queue for the LSU, kept and not woken
// yet, a fence, or asleep (for a result, its instruction, a branch decision, or because it was never launched).
//
// Refused by a unit, or missed twice: others' instructions, at most PASS in each turn, WARPS turns. From when the warp
// alone may be picked, it issues or waits for the LSU after STEPS cycles, not counting what no other warp can take from
// it: a result, a fence, its line of instructions (simt_icache keeps it until it was looked up), a unit that is busy.
//
// Held for the LSU: after 2 * EPOCH cycles, with at most one instruction each, it is late. A late warp comes into the
// queue once more at most. The warp leaves the queue after 2 * WARPS memory instructions of others. From then on none
// of the others' is taken until its own is, and it finds no room once more at most. While it can run, WARPS - 1 picks
// of others come before its own, counted anew after a pick of a warp that patience prefers, which needs PATIENCE
// instructions.
//
// These bounds are in instructions. There is none in cycles, because lsu_ready_i may stay low for ever here: when the
// LSU takes an instruction depends on its fills, its queue for local memory, the MMU and the answers of memory, which
// would all have to be part of the proof. Co-verification bounds the cycles of whole cases (docs/verification.md).
module simt_turns #(
    parameter int WARPS = 4,
    parameter int PATIENCE = 2,
    parameter int EPOCH = 4,
    localparam int WW = $clog2(WARPS)
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic [WARPS-1:0] wakes_i,     // of those that are asleep
    input logic             hit_i,       // D
    input logic             memory_i,    // R: it goes to the LSU
    input logic             refused_i,   // R: another unit is busy
    input logic             fence_i,     // R: it waits at a fence
    input logic [WARPS-1:0] busy_i,      // what the warp began is not done
    input logic             sleeps_i,    // R: it is killed, and waits for a result
    input logic             goes_on_i,   // R: its successor comes at once
    input logic             after_i,     // R: and that goes to the LSU
    input logic             lsu_ready_i
);
  localparam int LATE = 5;                    // P, F, D, R, X
  localparam int PASS = PATIENCE + LATE;
  localparam int STEPS = LATE;

  logic [WARPS-1:0] wake, allow, run, fence, waits, seen, asleep_q, in_lsu, unused_holds;
  logic [WARPS-1:0] mask, held, before, late, keep;
  logic [WW*WARPS-1:0] queue;
  logic [WW:0] queued;
  logic [WW-1:0] pick_warp, f_warp_q, d_warp_q, r_warp_q, x_warp_q, turn, unused_warp;
  logic [$clog2(PATIENCE+1)-1:0] passed;
  logic [$clog2(EPOCH)-1:0] epoch;
  logic pick_valid, f_valid_q, d_valid_q, r_valid_q, x_valid_q, x_memory_q, x_refused_q, x_held_q;
  logic room, keeps, kept, parked, go, hold, hold_fence, issue, retry, killed, misses, offered, unused;
  logic [1:0] port, rd;
  logic [3:0] full;
  logic live_q = 1'b0;

  simt_schedule #(.WARPS(WARPS), .EPOCH(EPOCH)) u_schedule (
      .clk_i, .rst_i, .enable_i(1'b1), .wake_i(wake), .issue_i(issue), .hold_lsu_i(hold), .hold_fence_i(hold_fence),
      .hold_warp_i(r_warp_q), .lsu_room_i(room), .fence_busy_i(busy_i), .allow_i(allow), .lsu_keep_o(keeps),
      .pick_valid_o(pick_valid), .pick_warp_o(pick_warp)
  );
  simt_patience #(.WARPS(WARPS), .PATIENCE(PATIENCE)) u_patience (
      .clk_i, .rst_i, .refused_i(x_refused_q), .issued_i(x_valid_q), .held_i(x_held_q), .warp_i(x_warp_q),
      .missed_i(misses), .miss_warp_i(d_warp_q), .allow_o(allow)
  );
  simt_memport #(.LANES(1), .WARPS(WARPS)) u_memport (
      .clk_i,
      .rst_i,
      .room_o(room),
      .holds_o(unused_holds),
      .in_valid_i(x_valid_q && x_memory_q),
      .in_i('0),
      .in_warp_i(x_warp_q),
      .in_mask_i('0),
      .in_addr_i('0),
      .in_data_i('0),
      .in_cmp_i('0),
      .out_valid_o(offered),
      .out_ready_i(lsu_ready_i),
      .out_o(),
      .out_warp_o(unused_warp),
      .out_mask_o(),
      .out_addr_o(),
      .out_data_o(),
      .out_cmp_o()
  );
  assign unused = &{1'b0, unused_holds, unused_warp};

  // what is inside them
  (* hierconn *) logic [WARPS-1:0] \u_schedule.run_q , \u_schedule.fence_q , \u_schedule.mask_q , \u_schedule.held_q ,
      \u_schedule.before_q , \u_schedule.late_q , \u_schedule.keep_q , \u_patience.waits_q , \u_patience.missed_q ;
  (* hierconn *) logic [WW*WARPS-1:0] \u_schedule.f_lsu ;
  (* hierconn *) logic [WW:0] \u_schedule.f_lsu_count ;
  (* hierconn *) logic [WW-1:0] \u_patience.turn_q ;
  (* hierconn *) logic [$clog2(PATIENCE+1)-1:0] \u_patience.passed_q ;
  (* hierconn *) logic [$clog2(EPOCH)-1:0] \u_schedule.epoch_q ;
  (* hierconn *) logic \u_schedule.kept_q , \u_schedule.parked_q ;
  (* hierconn *) logic [3:0] \u_memport.full_q ;
  (* hierconn *) logic [1:0] \u_memport.wr_q , \u_memport.rd_q ;
  assign {run, fence, mask} = {\u_schedule.run_q , \u_schedule.fence_q , \u_schedule.mask_q };
  assign {held, before, late} = {\u_schedule.held_q , \u_schedule.before_q , \u_schedule.late_q };
  assign {keep, kept, parked} = {\u_schedule.keep_q , \u_schedule.kept_q , \u_schedule.parked_q };
  assign {queue, queued, epoch} = {\u_schedule.f_lsu , \u_schedule.f_lsu_count , \u_schedule.epoch_q };
  assign {waits, seen} = {\u_patience.waits_q , \u_patience.missed_q };
  assign {turn, passed} = {\u_patience.turn_q , \u_patience.passed_q };
  assign {full, rd} = {\u_memport.full_q , \u_memport.rd_q };
  assign port = \u_memport.wr_q - \u_memport.rd_q ;

  // the pipeline, as in simt_core
  assign misses = d_valid_q && !hit_i;
  assign killed = r_valid_q && sleeps_i;
  assign go     = room && !keeps;
  assign hold_fence = r_valid_q && !sleeps_i && fence_i;
  assign issue  = r_valid_q && !sleeps_i && !fence_i && !(memory_i ? !go : refused_i);
  assign retry  = r_valid_q && !sleeps_i && !fence_i && !memory_i && refused_i;
  assign hold   = (issue && goes_on_i && after_i && !go) || (r_valid_q && !sleeps_i && !fence_i && memory_i && !go);
  always_comb begin
    wake = wakes_i & asleep_q;
    if (retry || (issue && goes_on_i && !(after_i && !go))) wake[r_warp_q] = 1'b1;
  end
  always_ff @(posedge clk_i) begin
    live_q      <= 1'b1;
    f_valid_q   <= pick_valid && !rst_i;
    f_warp_q    <= pick_warp;
    d_valid_q   <= f_valid_q && !rst_i;
    d_warp_q    <= f_warp_q;
    r_valid_q   <= d_valid_q && hit_i && !rst_i;
    r_warp_q    <= d_warp_q;
    x_valid_q   <= issue && !rst_i;
    x_refused_q <= retry && !rst_i;
    x_held_q    <= hold && !rst_i;
    x_memory_q  <= memory_i;
    x_warp_q    <= r_warp_q;
    asleep_q    <= asleep_q & ~wakes_i;
    if (misses) asleep_q[d_warp_q] <= 1'b1;
    if (killed || (issue && !goes_on_i)) asleep_q[r_warp_q] <= 1'b1;
    if (rst_i) asleep_q <= '1;
  end

  // any one warp; lost_q: from when it was refused by a unit, or missed twice, until its next instruction goes on or
  // waits for the LSU
  (* anyconst *) logic [WW-1:0] pick;
  logic [7:0] passed_q, turn_passed_q, alone_q, place, flight, at, age_q, queue_passed_q, picks_q, distance;
  logic [WW-1:0] ahead;
  logic [3:0] places;
  logic [1:0] again_q, missing_q;
  logic own, restricted, missed_q, lost_q, x_ends;

  assign x_ends = x_valid_q || x_held_q;
  assign ahead = pick - turn;
  assign own = asleep_q[turn] || fence[turn] || (misses && d_warp_q == turn) ||
      (r_valid_q && r_warp_q == turn && (sleeps_i || fence_i || (refused_i && !memory_i)));
  assign restricted = allow != '1;
  always_ff @(posedge clk_i) begin
    if (rst_i || (x_ends && x_warp_q == pick)) missed_q <= 1'b0;
    else if (misses && d_warp_q == pick) missed_q <= 1'b1;
    if (x_refused_q && x_warp_q == pick) lost_q <= 1'b1;
    else if (x_ends && x_warp_q == pick) lost_q <= 1'b0;
    else if (misses && d_warp_q == pick && missed_q) lost_q <= 1'b1;
    if (rst_i) lost_q <= 1'b0;
    if (rst_i || !lost_q || (x_ends && x_warp_q == pick)) passed_q <= '0;
    else if (x_valid_q) passed_q <= passed_q + 1'b1;
    // others' instructions since this turn began
    if (rst_i || !waits[turn] || (x_ends && x_warp_q == turn)) turn_passed_q <= '0;
    else if (x_valid_q) turn_passed_q <= turn_passed_q + 1'b1;
    // steps for which it has been alone, since it last waited for what is its own
    if (rst_i || !restricted || (x_ends && x_warp_q == turn) || own) alone_q <= '0;
    else alone_q <= alone_q + 1'b1;

    // cycles since it was held for the LSU
    if (rst_i || !held[pick] || (issue && r_warp_q == pick)) age_q <= '0;
    else if (age_q != '1) age_q <= age_q + 1'b1;
    // how often it has come into the queue since it was late, and for how many memory instructions of others it stays
    if (rst_i || !late[pick] || (issue && r_warp_q == pick)) again_q <= '0;
    else if (hold && r_warp_q == pick && !keep[pick] && again_q != '1) again_q <= again_q + 1'b1;
    if (rst_i || !in_lsu[pick]) queue_passed_q <= '0;
    else if (issue && memory_i) queue_passed_q <= queue_passed_q + 1'b1;
    // how often the room that is kept for it was missing
    if (rst_i || !keep[pick] || (issue && r_warp_q == pick)) missing_q <= '0;
    else if (hold && missing_q != '1) missing_q <= missing_q + 2'(r_warp_q == pick);
    // picks of others, since it can run or since one was preferred
    if (rst_i || !run[pick] || restricted || (pick_valid && pick_warp == pick)) picks_q <= '0;
    else if (pick_valid) picks_q <= picks_q + 1'b1;
  end

  always_comb begin
    in_lsu = '0;
    at = '0;
    for (int i = WARPS - 1; i >= 0; i--)
      if (i < 32'(queued)) begin
        in_lsu[queue[WW*i +: WW]] = 1'b1;
        if (queue[WW*i +: WW] == pick) at = 8'(i);
      end
    flight = 8'(x_valid_q && x_warp_q != turn) + 8'(r_valid_q && r_warp_q != turn) +
        8'(d_valid_q && d_warp_q != turn) + 8'(f_valid_q && f_warp_q != turn);
    place = x_ends && x_warp_q == turn ? 8'd0 : r_valid_q && r_warp_q == turn ? 8'd1 :
        d_valid_q && d_warp_q == turn ? 8'd2 : f_valid_q && f_warp_q == turn ? 8'd3 : 8'd4;
    // warps that may be picked before it
    distance = '0;
    for (int w = 0; w < WARPS; w++)
      if (mask[pick] ? w < 32'(pick) && mask[w] : mask[w] || w < 32'(pick)) distance = distance + 1'b1;
  end

  always_comb begin
    places = '0;
    assume (rst_i == !live_q);
    if (live_q) begin
      assert (waits[pick] == lost_q && seen[pick] == missed_q);
      // the promises: of units and misses
      assert (passed_q < 8'(WARPS * (PASS + 1)));
      assert (alone_q <= 8'(STEPS));
      // of the LSU
      if (age_q >= 8'(2 * EPOCH)) assert (late[pick]);
      assert (again_q <= 2'd1);
      assert (queue_passed_q < 8'(2 * WARPS));
      if (keep[pick] && issue && memory_i) assert (r_warp_q == pick);
      assert (missing_q <= 2'd1);
      assert (picks_q < 8'(WARPS));

      // induction
      for (int w = 0; w < WARPS; w++) begin
        places = 4'(run[w]) + 4'(fence[w]) + 4'(asleep_q[w]) + 4'(f_valid_q && f_warp_q == WW'(w)) +
            4'(d_valid_q && d_warp_q == WW'(w)) + 4'(r_valid_q && r_warp_q == WW'(w)) +
            4'(kept && parked && keep[w]);
        for (int i = 0; i < WARPS; i++)
          if (i < 32'(queued)) places = places + 4'(queue[WW*i +: WW] == WW'(w));
        assert (places == 4'd1);
        if (waits[w] && (in_lsu[w] || (kept && parked && keep[w]))) assert (x_held_q && x_warp_q == WW'(w));
      end
      assert (32'(queued) <= WARPS && !(x_refused_q && (x_ends || !run[x_warp_q])));
      assert (offered == (port != '0));
      assert (!(port == 2'd3 && x_valid_q && x_memory_q));
      for (int i = 0; i < 4; i++) assert (full[i] == (2'(2'(i) - rd) < port));
      assert (passed_q <= 8'(WARPS - 1 - 32'(ahead)) * 8'(PASS + 1) + turn_passed_q);
      assert (turn_passed_q <= 8'(PASS) && 32'(passed) <= PATIENCE);
      if (restricted) begin
        assert (allow == WARPS'(1) << turn && waits[turn] && 32'(passed) == PATIENCE);
        assert (turn_passed_q + flight <= 8'(PASS));
        assert (alone_q + place <= 8'(STEPS));
      end else begin
        assert (turn_passed_q == 8'(passed) && alone_q == '0);
      end

      assert (kept == (keep != '0) && (keep & (keep - 1'b1)) == '0);
      assert ((keep & ~late) == '0 && (late & ~held) == '0 && (before & ~held) == '0 && (keep & in_lsu) == '0);
      if (held[pick] && !late[pick]) assert (age_q <= 8'(epoch) + (before[pick] ? 8'(EPOCH) : 8'd0));
      if (!held[pick]) assert (age_q == '0);
      if (in_lsu[pick]) assert (held[pick]);
      if (again_q != '0) assert (late[pick] && (in_lsu[pick] || keep[pick]));
      if (in_lsu[pick]) assert (queue_passed_q + 8'd2 * at + 8'(kept) < 8'(2 * WARPS - 1));
      if (missing_q != '0) assert (keep[pick] && !(x_valid_q && x_memory_q));
      if (missing_q != '0 && !parked) assert (room);
      if (run[pick] && !restricted) assert (picks_q + distance < 8'(WARPS));
      if (!run[pick]) assert (picks_q == '0);
      assert ((~mask & (~mask + 1'b1)) == '0);   // all warps from one on
    end
  end
endmodule
