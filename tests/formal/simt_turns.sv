// SPDX-License-Identifier: Apache-2.0
// Property module: every warp whose instruction was refused goes on after a bounded number of the others'
// instructions, and in bounded time. Scheduler, patience and memory port are joined as in simt_core; what the
// instructions are, what sleeps, misses and wakes, and when the LSU takes something, is arbitrary.
//
// Places: until its instruction is issued a warp is in one of: run, F, D, R, the queue for the LSU, a fence, or asleep
// (for a result, its instruction, a branch decision, or because it was never launched). Bound of others: PASS in each
// turn, WARPS turns. Bound of time: from when one warp alone may be picked, STEPS cycles in which the LSU does not
// refuse what the port offers (lsu_coalesce, lsu_local), and in which it does not wait for what no other warp can take
// from it while it is alone: a result, a fence, its line of instructions (simt_icache keeps it until it was looked
// up), another unit. After each of those they are counted anew.
module simt_turns #(
    parameter int WARPS = 4,
    parameter int PATIENCE = 2,
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
  localparam int STEPS = 2 * LATE + 2 + WARPS + 5;

  logic [WARPS-1:0] wake, allow, run, fence, waits, seen, asleep_q, in_lsu, unused_holds;
  logic [WW*WARPS-1:0] queue;
  logic [WW:0] queued;
  logic [WW-1:0] pick_warp, f_warp_q, d_warp_q, r_warp_q, x_warp_q, turn, unused_warp;
  logic [$clog2(PATIENCE+1)-1:0] passed;
  logic pick_valid, f_valid_q, d_valid_q, r_valid_q, x_valid_q, x_memory_q, x_refused_q;
  logic room, hold, hold_fence, issue, retry, killed, misses, offered, alone, unused;
  logic [1:0] port;
  logic live_q = 1'b0;

  simt_schedule #(.WARPS(WARPS)) u_schedule (
      .clk_i, .rst_i, .enable_i(1'b1), .wake_i(wake), .hold_lsu_i(hold), .hold_fence_i(hold_fence),
      .hold_warp_i(r_warp_q), .lsu_room_i(room), .fence_busy_i(busy_i), .allow_i(allow), .pick_valid_o(pick_valid),
      .pick_warp_o(pick_warp),
      .f_run_o(run), .f_fence_o(fence), .f_lsu_o(queue), .f_lsu_count_o(queued)
  );
  simt_patience #(.WARPS(WARPS), .PATIENCE(PATIENCE)) u_patience (
      .clk_i, .rst_i, .refused_i(x_refused_q), .issued_i(x_valid_q), .warp_i(x_warp_q), .missed_i(misses),
      .miss_warp_i(d_warp_q), .allow_o(allow), .f_waits_o(waits), .f_turn_o(turn), .f_passed_o(passed),
      .f_missed_o(seen)
  );
  simt_memport #(.LANES(1), .WARPS(WARPS)) u_memport (
      .clk_i, .rst_i, .room_o(room), .holds_o(unused_holds), .in_valid_i(x_valid_q && x_memory_q), .in_op_i('0),
      .in_amo_i('0), .in_size_i('0), .in_unsigned_i('0), .in_warp_i(x_warp_q), .in_rd_i('0), .in_mask_i('0),
      .in_pc_i('0), .in_lbase_i('0), .in_addr_i('0), .in_data_i('0), .in_cmp_i('0), .out_valid_o(offered),
      .out_ready_i(lsu_ready_i), .out_op_o(), .out_amo_o(), .out_size_o(), .out_unsigned_o(), .out_warp_o(unused_warp),
      .out_rd_o(), .out_mask_o(), .out_pc_o(), .out_lbase_o(), .out_addr_o(), .out_data_o(), .out_cmp_o(),
      .f_count_o(port)
  );
  assign unused = &{1'b0, unused_holds, unused_warp};

  // the pipeline, as in simt_core
  assign misses = d_valid_q && !hit_i;
  assign killed = r_valid_q && sleeps_i;
  assign hold_fence = r_valid_q && !sleeps_i && fence_i;
  assign issue  = r_valid_q && !sleeps_i && !fence_i && !(memory_i ? !room : refused_i);
  assign retry  = r_valid_q && !sleeps_i && !fence_i && !memory_i && refused_i;
  assign hold   = (issue && goes_on_i && after_i && !room) || (r_valid_q && !sleeps_i && !fence_i && memory_i && !room);
  always_comb begin
    wake = wakes_i & asleep_q;
    if (retry || (issue && goes_on_i && !(after_i && !room))) wake[r_warp_q] = 1'b1;
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
    x_refused_q <= (hold || retry) && !rst_i;
    x_memory_q  <= memory_i;
    x_warp_q    <= r_warp_q;
    asleep_q    <= asleep_q & ~wakes_i;
    if (misses) asleep_q[d_warp_q] <= 1'b1;
    if (killed || (issue && !goes_on_i)) asleep_q[r_warp_q] <= 1'b1;
    if (rst_i) asleep_q <= '1;
  end

  // any one warp; lost_q: from when it was refused, or missed twice, until its next instruction is issued
  (* anyconst *) logic [WW-1:0] pick;
  logic [7:0] passed_q, turn_passed_q, alone_q, drain, rank, place, at, flight;
  logic [WW-1:0] ahead;
  logic [3:0] places;
  logic own, restricted, missed_q, lost_q;

  assign ahead = pick - turn;
  assign own = asleep_q[turn] || fence[turn] || (misses && d_warp_q == turn) ||
      (r_valid_q && r_warp_q == turn && (sleeps_i || fence_i || (refused_i && !memory_i)));
  assign restricted = allow != '1;
  always_ff @(posedge clk_i) begin
    if (rst_i || (x_valid_q && x_warp_q == pick)) missed_q <= 1'b0;
    else if (misses && d_warp_q == pick) missed_q <= 1'b1;
    if (x_refused_q && x_warp_q == pick) lost_q <= 1'b1;
    else if (x_valid_q && x_warp_q == pick) lost_q <= 1'b0;
    else if (misses && d_warp_q == pick && missed_q) lost_q <= 1'b1;
    if (rst_i) lost_q <= 1'b0;
    if (rst_i || !lost_q || (x_valid_q && x_warp_q == pick)) passed_q <= '0;
    else if (x_valid_q) passed_q <= passed_q + 1'b1;
    // others' instructions since this turn began
    if (rst_i || !waits[turn] || (x_valid_q && x_warp_q == turn)) turn_passed_q <= '0;
    else if (x_valid_q) turn_passed_q <= turn_passed_q + 1'b1;
    // steps for which it has been alone, since it last waited for what is its own
    if (rst_i || !restricted || (x_valid_q && x_warp_q == turn) || own) alone_q <= '0;
    else if (lsu_ready_i || !offered) alone_q <= alone_q + 1'b1;
  end

  always_comb begin
    in_lsu = '0;
    at = '0;
    for (int i = WARPS - 1; i >= 0; i--)
      if (i < 32'(queued)) begin
        in_lsu[queue[WW*i +: WW]] = 1'b1;
        if (queue[WW*i +: WW] == turn) at = 8'(i);
      end
    // how long others are still on their way
    drain = x_valid_q ? 8'd1 : 8'd0;
    if (r_valid_q && r_warp_q != turn) drain = 8'd2;
    if (d_valid_q && d_warp_q != turn) drain = 8'd3;
    if (f_valid_q && f_warp_q != turn) drain = 8'd4;
    flight = 8'(x_valid_q && x_warp_q != turn) + 8'(r_valid_q && r_warp_q != turn) +
        8'(d_valid_q && d_warp_q != turn) + 8'(f_valid_q && f_warp_q != turn);
    alone = drain == '0 && !port[1];
    place = in_lsu[turn] ? at + 8'd5 : r_valid_q && r_warp_q == turn ? 8'd1 :
        d_valid_q && d_warp_q == turn ? 8'd2 : f_valid_q && f_warp_q == turn ? 8'd3 : 8'd4;
    rank = x_valid_q && x_warp_q == turn ? 8'd0 : alone ? place : 8'd2 * drain + 8'(port) + 8'(WARPS + 4);
  end

  always_comb begin
    places = '0;
    assume (rst_i == !live_q);
    if (live_q) begin
      assert (waits[pick] == lost_q && seen[pick] == missed_q);
      // the promises
      assert (passed_q < 8'(WARPS * (PASS + 1)));
      assert (alone_q <= 8'(STEPS));

      // induction
      for (int w = 0; w < WARPS; w++) begin
        places = 4'(run[w]) + 4'(fence[w]) + 4'(asleep_q[w]) + 4'(f_valid_q && f_warp_q == WW'(w)) +
            4'(d_valid_q && d_warp_q == WW'(w)) + 4'(r_valid_q && r_warp_q == WW'(w));
        for (int i = 0; i < WARPS; i++)
          if (i < 32'(queued)) places = places + 4'(queue[WW*i +: WW] == WW'(w));
        assert (places == 4'd1);
      end
      assert (32'(queued) <= WARPS);
      assert (port != 2'd3 && offered == (port != '0));
      assert (!(port[1] && x_valid_q && x_memory_q && !lsu_ready_i));
      assert (passed_q <= 8'(WARPS - 1 - 32'(ahead)) * 8'(PASS + 1) + turn_passed_q);
      assert (turn_passed_q <= 8'(PASS) && 32'(passed) <= PATIENCE);
      if (restricted) begin
        assert (allow == WARPS'(1) << turn && waits[turn] && 32'(passed) == PATIENCE);
        assert (turn_passed_q + flight <= 8'(PASS));
        assert (alone_q + rank <= 8'(STEPS));
      end else begin
        assert (turn_passed_q == 8'(passed) && alone_q == '0);
      end
    end
  end
endmodule
