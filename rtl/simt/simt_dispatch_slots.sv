// SPDX-License-Identifier: Apache-2.0
// Tracks which group slots are in use and how many warps of each have not ended.
//
// Contract: free_valid_o and free_slot_o, from registers, name a free slot below count_i. free_valid_o is low in the
// cycle after take_valid_i and valid again two cycles after it. take_valid_i takes a slot: the named one, or, when a
// dispatch is resumed, any other free one. start_valid_i then tells once the number of warps of its group. Each of
// these warps ends once, by done_valid_i with its slot. clear_i frees all slots. idle_o: no slot is in use.
// State saved at preemption: none; the counts follow from the warps that are saved.

module simt_dispatch_slots #(
    parameter int W = 16,  // warps, and so the largest number of slots
    localparam int WW = $clog2(W)
) (
    input  logic          clk_i,
    input  logic          rst_i,
    input  logic          clear_i,
    input  logic [WW:0]   count_i,
    input  logic          take_valid_i,
    input  logic [WW-1:0] take_slot_i,
    input  logic          start_valid_i,
    input  logic [WW-1:0] start_slot_i,
    input  logic [WW:0]   start_warps_i,
    input  logic          done_valid_i,
    input  logic [WW-1:0] done_slot_i,
    output logic          free_valid_o,
    output logic [WW-1:0] free_slot_o,
    output logic [W-1:0]  busy_o,
    output logic          idle_o
);

  logic [W-1:0]        busy_q;
  logic [W*(WW+1)-1:0] left_q;  // warps of each slot that have not ended, valid once its group has started
  logic                free;
  logic [WW-1:0]       lowest;

  assign busy_o = busy_q;
  assign idle_o = busy_q == '0;

  always_comb begin
    free   = 1'b0;
    lowest = '0;
    for (int i = W - 1; i >= 0; i--)
      if (!busy_q[i] && (WW+1)'(i) < count_i) begin
        free   = 1'b1;
        lowest = WW'(i);
      end
  end

  always_ff @(posedge clk_i) begin
    free_slot_o  <= lowest;
    free_valid_o <= free && !take_valid_i && !clear_i && !rst_i;
    for (int i = 0; i < W; i++)
      if (start_valid_i && start_slot_i == WW'(i)) left_q[(WW+1)*i +: WW+1] <= start_warps_i;
      else if (done_valid_i && done_slot_i == WW'(i)) left_q[(WW+1)*i +: WW+1] <= left_q[(WW+1)*i +: WW+1] - (WW+1)'(1);

    for (int i = 0; i < W; i++)
      if (rst_i || clear_i) busy_q[i] <= 1'b0;
      else if (take_valid_i && take_slot_i == WW'(i)) busy_q[i] <= 1'b1;
      else if (done_valid_i && done_slot_i == WW'(i) && left_q[(WW+1)*i +: WW+1] == (WW+1)'(1)) busy_q[i] <= 1'b0;
  end

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i && !clear_i) begin
      takes_a_free_slot: assert (!take_valid_i || !busy_q[take_slot_i]);
      starts_a_taken_slot: assert (!start_valid_i || busy_q[start_slot_i]);
      ends_a_taken_slot: assert (!done_valid_i || (busy_q[done_slot_i] && left_q[(WW+1)*done_slot_i +: WW+1] != '0));
    end
  end
`endif
endmodule
