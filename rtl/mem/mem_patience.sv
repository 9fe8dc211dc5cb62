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
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      one_grant_at_most: assert ((grant_i & (grant_i - 1'b1)) == '0);
      waits_and_is_not_on_hold: assert ((grant_i & ~(waits_i & ~hold_o)) == '0);
    end
  end
`endif
endmodule
