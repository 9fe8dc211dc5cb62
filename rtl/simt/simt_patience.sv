// SPDX-License-Identifier: Apache-2.0
// Bounds how often other warps pass a warp whose instruction was refused.
//
// Contract: refused_i: an instruction of warp_i was not issued, because a unit other than the LSU was busy. issued_i:
// an instruction of warp_i was issued. held_i: an instruction of warp_i waits for the LSU; simt_schedule has the queue
// of these. missed_i: the instruction of miss_warp_i missed in the instruction cache; from the second miss since the
// last issue of the warp on, that counts as refused. A refused warp waits until an instruction of it is issued or is
// held for the LSU.
// The waiting warps take turns, in the order of their numbers. allow_o names all warps until PATIENCE instructions of
// others have been issued in one turn; then it names only the warp that has the turn. Up to five more may be in P, F,
// D, R and X by then, so at most WARPS * (PATIENCE + 6) instructions of others pass a waiting warp.
// State saved at preemption: none.
//
// A unit that becomes free is taken by the warp that is in R next. With 16 warps in lockstep that can be another warp
// each time, without end. A warp that alone may be picked cannot lose again, whatever it waits for. This costs nothing
// until a warp has been passed PATIENCE times. mem_patience does not fit here: it counts for each requester by itself
// and needs the grant and the hold in the same cycle.

module simt_patience #(
    parameter int WARPS = 16,      // hardware warps
    parameter int PATIENCE = 512,  // instructions of others in a turn
    localparam int WW = $clog2(WARPS)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             refused_i,
    input  logic             issued_i,
    input  logic             held_i,
    input  logic [WW-1:0]    warp_i,
    input  logic             missed_i,
    input  logic [WW-1:0]    miss_warp_i,
    output logic [WARPS-1:0] allow_o
);

  localparam int CW = $clog2(PATIENCE + 1);  // width of a count up to PATIENCE

  logic [WARPS-1:0] waits_q, missed_q;
  logic [WW-1:0]    turn_q;
  logic [CW-1:0]    passed_q;
  logic             ends, served;

  assign ends   = issued_i || held_i;
  assign served = !waits_q[turn_q] || (ends && warp_i == turn_q);

  always_ff @(posedge clk_i) begin
    if (missed_i) begin
      missed_q[miss_warp_i] <= 1'b1;
      if (missed_q[miss_warp_i]) waits_q[miss_warp_i] <= 1'b1;
    end
    if (ends) begin
      missed_q[warp_i] <= 1'b0;
      waits_q[warp_i]  <= 1'b0;
    end
    if (refused_i) waits_q[warp_i] <= 1'b1;
    if (served) turn_q <= turn_q + 1'b1;
    if (served) passed_q <= '0;
    else if (issued_i && passed_q != CW'(PATIENCE)) passed_q <= passed_q + 1'b1;
    allow_o <= (served || passed_q != CW'(PATIENCE)) ? '1 : WARPS'(1) << turn_q;
    if (rst_i) begin
      missed_q <= '0;
      waits_q  <= '0;
      turn_q   <= '0;
      passed_q <= '0;
      allow_o  <= '1;
    end
  end
endmodule
