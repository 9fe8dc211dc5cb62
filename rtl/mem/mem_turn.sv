// SPDX-License-Identifier: Apache-2.0
// Decides which of two sides may use a port: a first side, which has priority, and another side, which must not starve.
//
// Contract: the first side uses the port only while first_o is high. The other side uses it only while first_o is low,
// or when the first side has nothing to send. After a transfer of the first side while the other one waited (waits_i),
// first_o is low until the other side has sent (other_goes_i) or no longer waits. The first side thus never passes a
// waiting other side twice. first_o changes one cycle after its cause. While only one side is busy, no cycle is lost.
// With plain alternation the first side would wait for an idle other side.
// Preemption: no state is saved; the module only decides an order.
module mem_turn (
    input  logic clk_i,
    input  logic rst_i,
    input  logic waits_i,       // The other side has something to send.
    input  logic first_goes_i,
    input  logic other_goes_i,
    output logic first_o
);
  always_ff @(posedge clk_i) begin
    if (other_goes_i || !waits_i) first_o <= 1'b1;
    else if (first_goes_i) first_o <= 1'b0;
    if (rst_i) first_o <= 1'b1;
  end

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      first_only_if_open: assert (!(first_goes_i && !first_o));
      one_side_at_most: assert (!(first_goes_i && other_goes_i));
      other_waits_before_it_goes: assert (!(other_goes_i && !waits_i));
    end
  end
`endif
endmodule
