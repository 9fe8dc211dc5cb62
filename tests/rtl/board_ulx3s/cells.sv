// SPDX-License-Identifier: Apache-2.0
// Simulation models of the ECP5 cells that board_ulx3s uses:
//   - the PLL, in the settings of board_ulx3s: 50 MHz, and 50 MHz a quarter of a period later;
//   - the output register of a clock's pad;
//   - pads, because Verilator does not accept those of Yosys' models.
`timescale 1ps / 1ps
module EHXPLLL #(
    parameter int CLKI_DIV = 1, CLKFB_DIV = 1, CLKOP_DIV = 8, CLKOS_DIV = 8, CLKOP_CPHASE = 0, CLKOP_FPHASE = 0,
    CLKOS_CPHASE = 0, CLKOS_FPHASE = 0,
    parameter CLKOP_ENABLE = "", CLKOS_ENABLE = "", FEEDBK_PATH = "", OUTDIVIDER_MUXA = "", OUTDIVIDER_MUXB = "",
    OUTDIVIDER_MUXC = "", OUTDIVIDER_MUXD = "", PLLRST_ENA = "", INTFB_WAKE = "", STDBY_ENABLE = "",
    DPHASE_SOURCE = ""
) (
    input logic CLKI, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP,
    output logic CLKOP, CLKOS, LOCK
);
  // PERIOD of CLKOP, in ps: 40 ns of CLKI, through the dividers of CLKI and of the feedback
  localparam int PERIOD = 40000 * CLKI_DIV / CLKFB_DIV;
  localparam int SHIFT = PERIOD * (CLKOS_CPHASE - CLKOP_CPHASE) / CLKOP_DIV;
  int cycles = 0;
  initial begin
    CLKOP = 0;
    CLKOS = 0;
    LOCK = 0;
    if (PERIOD != 20000 || SHIFT != 5000 || CLKOS_DIV != CLKOP_DIV || FEEDBK_PATH != "CLKOP")
      $fatal(1, "the PLL is set to another clock");
  end
  always @(posedge CLKI) begin
    cycles <= cycles + 1;
    LOCK <= cycles > 50;
  end
  always #(PERIOD / 2) CLKOP = !CLKOP;
  always @(CLKOP) CLKOS <= #(SHIFT) CLKOP;
endmodule

module ODDRX1F (
    input logic SCLK, RST, D0, D1,
    output logic Q
);
  assign Q = SCLK ? D0 : D1;
endmodule

`ifdef NETLIST
module TRELLIS_IO #(
    parameter DIR = "INPUT"
) (
    inout  wire  B,
    input  logic I, T,
    output logic O
);
  if (DIR == "BIDIR") begin : g_both
    assign B = T ? 1'bz : I;
  end else if (DIR == "OUTPUT") begin : g_out
    assign B = I;
  end
  assign O = B;
endmodule
`else
module BB (
    inout  wire  B,
    input  logic I, T,
    output logic O
);
  assign B = T ? 1'bz : I;
  assign O = B;
endmodule
`endif
