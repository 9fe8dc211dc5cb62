// SPDX-License-Identifier: Apache-2.0
// A PLL of the ECP5 as a black box for lint and elaboration: synth_ecp5 replaces it by its own cell of this name.
// Lattice TN1263 describes the PLL. Only the parameters and ports that a board uses are declared.
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
