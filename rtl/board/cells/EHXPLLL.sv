// SPDX-License-Identifier: Apache-2.0
// A PLL of the ECP5, as a name with pins: what it does is the vendor's (Lattice TN1263) and the tools'. Only for lint
// and elaboration; synth_ecp5 puts its own in this place. The defaults are those of the pins that are used.
(* blackbox *)
module EHXPLLL #(
    parameter CLKI_DIV = 1, CLKFB_DIV = 1, CLKOP_DIV = 8, CLKOS_DIV = 8,
    parameter CLKOP_CPHASE = 0, CLKOP_FPHASE = 0, CLKOS_CPHASE = 0, CLKOS_FPHASE = 0,
    parameter CLKOP_ENABLE = "ENABLED", CLKOS_ENABLE = "DISABLED", FEEDBK_PATH = "CLKOP",
    parameter OUTDIVIDER_MUXA = "DIVA", OUTDIVIDER_MUXB = "DIVB", OUTDIVIDER_MUXC = "DIVC", OUTDIVIDER_MUXD = "DIVD",
    parameter PLLRST_ENA = "DISABLED", INTFB_WAKE = "DISABLED", STDBY_ENABLE = "DISABLED", DPHASE_SOURCE = "DISABLED"
) (
    input  CLKI, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP,
    output CLKOP, CLKOS, LOCK
);
endmodule
