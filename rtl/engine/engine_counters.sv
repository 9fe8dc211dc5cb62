// SPDX-License-Identifier: Apache-2.0
// The performance counters of an engine, 64 bits each, in the order of the registers cnt_busy ... cnt_wr_lines.
//
// Contract: each counter counts its event since the reset of the device; a reset of the engine does not change it.
// read_o is the counter that select_i names, zero beyond the last one. Software reads the high half before and after
// the low half, because the counter may carry in between.
// Preemption: no state is saved; the driver takes differences.
// Fourteen adders and registers of 64 bits would be large. Therefore only the low bits of each counter have an adder of
// their own. One more adder carries into the high bits, which are in LUT memory, of one counter a cycle in turn. The
// memory holds the high bits and the high bits plus one, so a counter whose carry is pending is read correctly.
module engine_counters #(
    parameter int COUNT_W = 64  // Bits of a counter; fewer in the proof.
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               ev_busy_i,
    input  logic               ev_issue_i,
    input  logic        [ 5:0] ev_lanes_i,  // Lanes of the instruction that is issued.
    input  logic               ev_stall_use_i,
    input  logic               ev_stall_unit_i,
    input  logic               ev_stall_idle_i,
    input  logic        [ 5:0] ev_fma_i,
    input  logic               ev_l1_hit_i,
    input  logic               ev_l1_miss_i,
    input  logic               ev_ic_miss_i,
    input  logic               ev_tlb_hit_i,
    input  logic               ev_tlb_miss_i,
    input  logic               ev_rd_i,
    input  logic               ev_wr_i,
    input  logic        [ 4:0] select_i,
    output logic [COUNT_W-1:0] read_o
);
  // A counter grows by at most 14 * 63 between two of its turns, so at most one carry is pending.
  localparam int N = 14, LOW_W = 10, HIGH_W = COUNT_W - LOW_W;

  logic [6*N-1:0] add_q;  // Registered, because the sources are far away.
  logic [LOW_W*N-1:0] low_q;
  logic [(LOW_W+1)*N-1:0] sum;
  // carry: a carry is pending. known: high and next are valid; else they are 0 and 1.
  logic [N-1:0] carry_q, known_q;
  (* ram_style = "distributed" *) logic [HIGH_W-1:0] high[0:15], next[0:15];
  logic [HIGH_W-1:0] read_high, read_next, carried;
  logic [3:0] turn_q, which;
  logic exists;

  assign exists = select_i < 5'(N);
  assign which = exists ? select_i[3:0] : '0;
  assign read_high = known_q[which] ? high[which] : '0;
  assign read_next = known_q[which] ? next[which] : HIGH_W'(1);
  assign read_o = exists ? {carry_q[which] ? read_next : read_high, low_q[LOW_W*which+:LOW_W]} : '0;
  assign carried = known_q[turn_q] ? next[turn_q] : HIGH_W'(1);
  always_comb
    for (int i = 0; i < N; i++)
      sum[(LOW_W+1)*i+:LOW_W+1] = {1'b0, low_q[LOW_W*i+:LOW_W]} + (LOW_W + 1)'(add_q[6*i+:6]);

  always_ff @(posedge clk_i) begin
    add_q <= {5'b0, ev_wr_i, 5'b0, ev_rd_i, 5'b0, ev_tlb_miss_i, 5'b0, ev_tlb_hit_i, 5'b0, ev_ic_miss_i,
              5'b0, ev_l1_miss_i, 5'b0, ev_l1_hit_i, ev_fma_i, 5'b0, ev_stall_idle_i, 5'b0, ev_stall_unit_i,
              5'b0, ev_stall_use_i, ev_lanes_i, 5'b0, ev_issue_i, 5'b0, ev_busy_i};
    turn_q <= turn_q == 4'(N - 1) ? '0 : turn_q + 1'b1;
    if (carry_q[turn_q]) begin
      high[turn_q] <= carried;
      next[turn_q] <= carried + 1'b1;
      known_q[turn_q] <= 1'b1;
    end
    for (int i = 0; i < N; i++) begin
      low_q[LOW_W*i+:LOW_W] <= sum[(LOW_W+1)*i+:LOW_W];
      carry_q[i] <= sum[(LOW_W+1)*i+LOW_W] || (carry_q[i] && turn_q != 4'(i));
    end
    if (rst_i) begin
      add_q <= '0;
      low_q <= '0;
      carry_q <= '0;
      known_q <= '0;
      turn_q <= '0;
    end
  end
endmodule
