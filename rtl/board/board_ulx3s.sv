// SPDX-License-Identifier: Apache-2.0
// The top of the ULX3S board with an ECP5-85F: pads, clocks, reset; board_core is the rest.
//
// Contract: the pins of constraints/ecp5/ulx3s.lpf. The PLL makes 50 MHz out of the board's 25 MHz; the SDRAM's clock
// lags the core's by a quarter of its period (sdram_line says why). Reset: from configuration until the PLL has
// locked, and while the button FIRE 1 is held. The numbers of the PLL are those of `ecppll -i 25 -o 50 --clkout1 50
// --phase1 90` (VCO 600 MHz). Serial line: 3 Mbaud.
// Lamps: 0 memory clock lives, 1 the device works, 2 an interrupt waits, 3 bytes from the host, 4 bytes to the host.
module board_ulx3s #(
    parameter bit DEVICE   = 1'b1,  // see board_core
    parameter int LANES    = 4,
    parameter int WARPS    = 4,
    parameter int LMEM_KIB = 16
) (
    input  logic        clk_25mhz,
    input  logic        btn1,        // FIRE 1, high while it is pressed
    output logic        ftdi_rxd,    // to the host
    input  logic        ftdi_txd,    // from the host
    output logic [ 4:0] led,
    output logic        wifi_gpio0,  // high: the ESP32 keeps the board powered and off the FPGA's pins
    output logic        sdram_clk,
    output logic        sdram_cke,
    output logic        sdram_csn,
    output logic        sdram_rasn,
    output logic        sdram_casn,
    output logic        sdram_wen,
    output logic [ 1:0] sdram_ba,
    output logic [12:0] sdram_a,
    output logic [ 1:0] sdram_dqm,
    inout  wire  [15:0] sdram_d
);
  localparam int CLOCK_HZ = 50000000;

  logic clk, chip_clk, locked, busy, irq, oe;
  logic [15:0] dq, dq_in;
  logic [24:0] alive_q = '0;
  logic [1:0] lock_q = '0, press_q = '0;
  logic [7:0] hold_q = '0;
  logic rst_q = 1'b1;

  (* ICP_CURRENT = "12", LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *)
  EHXPLLL #(
      .CLKI_DIV(1), .CLKFB_DIV(2), .CLKOP_ENABLE("ENABLED"), .CLKOP_DIV(12), .CLKOP_CPHASE(5), .CLKOP_FPHASE(0),
      .CLKOS_ENABLE("ENABLED"), .CLKOS_DIV(12), .CLKOS_CPHASE(8), .CLKOS_FPHASE(0), .FEEDBK_PATH("CLKOP"),
      .OUTDIVIDER_MUXA("DIVA"), .OUTDIVIDER_MUXB("DIVB"), .OUTDIVIDER_MUXC("DIVC"), .OUTDIVIDER_MUXD("DIVD"),
      .PLLRST_ENA("DISABLED"), .INTFB_WAKE("DISABLED"), .STDBY_ENABLE("DISABLED"), .DPHASE_SOURCE("DISABLED")
  ) u_pll (
      .CLKI(clk_25mhz), .CLKFB(clk), .CLKOP(clk), .CLKOS(chip_clk), .LOCK(locked), .RST(1'b0), .STDBY(1'b0),
      .PHASESEL0(1'b0), .PHASESEL1(1'b0), .PHASEDIR(1'b1), .PHASESTEP(1'b1), .PHASELOADREG(1'b1),
      .PLLWAKESYNC(1'b0), .ENCLKOP(1'b0)
  );
  // the clock leaves through a pad's register, like the commands
  ODDRX1F u_clock (.SCLK(chip_clk), .RST(1'b0), .D0(1'b1), .D1(1'b0), .Q(sdram_clk));

  always_ff @(posedge clk) begin
    lock_q <= {lock_q[0], locked};
    press_q <= {press_q[0], btn1};
    hold_q <= !lock_q[1] || press_q[1] ? '0 : &hold_q ? hold_q : hold_q + 1'b1;
    rst_q <= !(&hold_q);
    alive_q <= alive_q + 1'b1;
  end

  logic rx_q, tx;
  always_ff @(posedge clk) rx_q <= ftdi_txd;
  assign ftdi_rxd = tx;
  assign led = {!tx, !rx_q, irq, busy, alive_q[24]};
  assign wifi_gpio0 = 1'b1;
  for (genvar i = 0; i < 16; i++) begin : g_pad
    BB u_pad (.B(sdram_d[i]), .I(dq[i]), .T(!oe), .O(dq_in[i]));
  end

  board_core #(
      .DEVICE(DEVICE), .LANES(LANES), .WARPS(WARPS), .LMEM_KIB(LMEM_KIB), .CLOCK_HZ(CLOCK_HZ), .CLOCKS(50), .BITS(3)
  ) u_core (
      .clk_i(clk), .rst_i(rst_q), .uart_rx_i(ftdi_txd), .uart_tx_o(tx), .busy_o(busy), .irq_o(irq), .cke_o(sdram_cke),
      .cs_n_o(sdram_csn), .ras_n_o(sdram_rasn), .cas_n_o(sdram_casn), .we_n_o(sdram_wen), .ba_o(sdram_ba),
      .a_o(sdram_a), .dqm_o(sdram_dqm), .dq_o(dq), .dq_oe_o(oe), .dq_i(dq_in)
  );
endmodule
