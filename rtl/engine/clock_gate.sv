// SPDX-License-Identifier: Apache-2.0
// Stops the clock of a block that has nothing to do.
//
// Contract: with GATE, clk_o has those edges of clk_i before which enable_i was high; enable_i comes from registers of
// clk_i. Without GATE, clk_o is clk_i. A simulator evaluates nothing of a block whose clock is stopped, and an ASIC
// saves power. An FPGA leaves GATE off, because its clock nets have no gates in the logic. The latch lets the enable
// change only while the clock is low, so clk_o has no glitches.
module clock_gate #(
    parameter bit GATE = 1'b0  // The clock is gated.
) (
    input  logic clk_i,
    input  logic enable_i,
    output logic clk_o
);
  generate
    if (GATE) begin : g_gate
      logic open;
      always_latch if (!clk_i) open = enable_i;
      assign clk_o = clk_i && open;
    end else begin : g_wire
      logic unused;
      assign unused = enable_i;
      assign clk_o = clk_i;
    end
  endgenerate
endmodule
