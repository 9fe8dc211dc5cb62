// SPDX-License-Identifier: Apache-2.0
// Stops the clock of a block that has nothing to do.
//
// Contract: with GATE, clk_o has the edges of clk_i before which enable_i was high; enable_i comes from registers of
// clk_i. Without, clk_o is clk_i. A simulator then evaluates nothing of an idle block, which is most of the time of an
// idle executor; an ASIC saves power; an FPGA leaves GATE off, since its clock nets have no gates in the logic. The
// latch is what keeps the gate free of glitches: the enable moves only while the clock is low.
module clock_gate #(
    parameter bit GATE = 1'b0
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
