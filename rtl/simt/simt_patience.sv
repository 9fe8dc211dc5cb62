// SPDX-License-Identifier: Apache-2.0
// Keeps warps from passing for ever one whose instruction was refused.
//
// Contract: refused_i: an instruction of warp_i was not taken (no room at the LSU, a unit busy), or the one behind it
// will not be; issued_i: an instruction of warp_i went on; both: it went on, and the one behind it is refused.
// missed_i: the instruction of miss_warp_i was not in the cache; from the second time on that counts as refused. A
// refused warp waits until its next instruction goes on. Warps that wait have turns, by number. After PATIENCE
// instructions of others in one turn, allow_o, otherwise all, names the warp whose turn it is alone. Five more may be
// on their way by then (P, F, D, R, X), so at most WARPS * (PATIENCE + 6) instructions of others pass one that waits.
// State saved at preemption: none.
//
// A warp that is woken for room in the LSU comes through P, F, D and R, and one that was never held up may take the
// room meanwhile: with 16 warps that can happen each time anew, as all comes in step. Once it alone is picked it
// cannot lose again, whatever it waits for. Room that is kept for each warp that was woken would stay empty for four
// cycles each time; this costs nothing until a warp has been passed often. mem_patience counts for each requester by
// itself, and asks that a grant and a hold be in the same cycle.

module simt_patience #(
    parameter int WARPS = 16,
    parameter int PATIENCE = 64,
    localparam int WW = $clog2(WARPS)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             refused_i,
    input  logic             issued_i,
    input  logic [WW-1:0]    warp_i,
    input  logic             missed_i,
    input  logic [WW-1:0]    miss_warp_i,
    output logic [WARPS-1:0] allow_o
`ifdef FORMAL
    , output logic [WARPS-1:0]                f_waits_o
    , output logic [WARPS-1:0]                f_missed_o
    , output logic [WW-1:0]                   f_turn_o
    , output logic [$clog2(PATIENCE + 1)-1:0] f_passed_o
`endif
);

  localparam int CW = $clog2(PATIENCE + 1);

  logic [WARPS-1:0] waits_q, missed_q;
  logic [WW-1:0]    turn_q;
  logic [CW-1:0]    passed_q;
  logic             served;

  assign served = !waits_q[turn_q] || (issued_i && warp_i == turn_q);

`ifdef FORMAL
  assign {f_waits_o, f_missed_o, f_turn_o, f_passed_o} = {waits_q, missed_q, turn_q, passed_q};
`endif

  always_ff @(posedge clk_i) begin
    if (missed_i) begin
      missed_q[miss_warp_i] <= 1'b1;
      if (missed_q[miss_warp_i]) waits_q[miss_warp_i] <= 1'b1;
    end
    if (issued_i) begin
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
