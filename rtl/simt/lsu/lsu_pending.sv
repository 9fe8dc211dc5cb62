// SPDX-License-Identifier: Apache-2.0
// Counts the operations of each warp that have begun and not ended.
//
// Contract: begin_i and end_i count up and down, also in the same cycle. busy_o, a register, has the bits of warps with
// a count above zero. At most 2^COUNT_W - 1 operations of a warp are open at a time.
// State saved at preemption: none; all counts are zero after a drain.
module lsu_pending #(
    parameter int WARPS = 16,   // warps, or {generation, warp}
    parameter int COUNT_W = 7,  // bits of a count
    localparam int WW = $clog2(WARPS)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             begin_i,
    input  logic [WW-1:0]    begin_warp_i,
    input  logic             end_i,
    input  logic [WW-1:0]    end_warp_i,
    output logic [WARPS-1:0] busy_o
);
  logic [COUNT_W-1:0] count_q[0:WARPS-1];

  always_ff @(posedge clk_i) begin
    if (!(begin_i && end_i && begin_warp_i == end_warp_i)) begin
      if (begin_i) begin
        count_q[begin_warp_i] <= (busy_o[begin_warp_i] ? count_q[begin_warp_i] : '0) + 1'b1;
        busy_o[begin_warp_i]  <= 1'b1;
      end
      if (end_i) begin
        count_q[end_warp_i] <= count_q[end_warp_i] - 1'b1;
        if (count_q[end_warp_i] == COUNT_W'(1)) busy_o[end_warp_i] <= 1'b0;
      end
    end
    if (rst_i) busy_o <= '0;
  end
endmodule
