// SPDX-License-Identifier: Apache-2.0
// Bounds how often requesters that share a resource pass one of them.
//
// Contract: waits_i[e]: requester e waits, whether or not it could be served now. grant_i: the requester that is
// served, at most one, of those that wait and are not on hold (hold_o). A waiting requester is passed by at most
// PATIENCE + N - 1 grants of others. After PATIENCE of them all others are put on hold until it is served or no longer
// waits. If several requesters have waited that long, the lowest one comes first.
// An arbiter alone has no such bound, since it chooses among those that can be served now. A requester that seldom can
// be, because its bank of writes is full, may find each of its chances taken. Strict turns would stop all requesters
// for one full bank.
// Preemption: no state is saved; the module only decides an order.
module mem_patience #(
    parameter int N = 2,         // Number of requesters.
    parameter int PATIENCE = 16  // Grants of others before these are put on hold; more than N.
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic [N-1:0] waits_i,
    input  logic [N-1:0] grant_i,
    output logic [N-1:0] hold_o
);
  localparam int W = $clog2(PATIENCE + 1);

  generate
    if (PATIENCE <= N) begin : g_check
      $error("mem_patience: PATIENCE must be more than N");
    end
  endgenerate

  logic [W*N-1:0] passed_q;  // Grants of others that each requester has seen while it waits.
  logic [N-1:0] only_q, late;  // only: the one for which all others are on hold.

  for (genvar e = 0; e < N; e++) begin : g_requester
    logic [W-1:0] passed;
    assign passed = passed_q[W*e+:W];
    assign late[e] = waits_i[e] && !grant_i[e] && passed == W'(PATIENCE);
    assign hold_o[e] = |(only_q & ~(N'(1) << e));
    always_ff @(posedge clk_i) begin
      if (!waits_i[e] || grant_i[e]) passed_q[W*e+:W] <= '0;
      else if (|grant_i && passed != W'(PATIENCE)) passed_q[W*e+:W] <= passed + 1'b1;
      if (rst_i) passed_q[W*e+:W] <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    only_q <= late & (~late + 1'b1);
    if (rst_i) only_q <= '0;
  end

`ifndef SYNTHESIS
`ifndef FORMAL
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      one_grant_at_most: assert ((grant_i & (grant_i - 1'b1)) == '0);
      waits_and_is_not_on_hold: assert ((grant_i & ~(waits_i & ~hold_o)) == '0);
    end
  end
`endif
`endif

`ifdef FORMAL
  // One requester, whichever: f_passed_q counts the grants that passed it, f_more_q those since it has been late, and
  // f_again_q says who got those: nobody twice. All this as long as the grants are as the contract says, which the
  // proof of whatever uses the module shows.
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
      assert (f_passed_q <= 8'(PATIENCE + N - 1));  // the promise
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
`endif
endmodule
