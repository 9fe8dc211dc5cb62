// SPDX-License-Identifier: Apache-2.0
// The top module of the ULX3S board with an ECP5-85F: pads, clocks and reset around board_core.
//
// Contract: the ports are the pins of constraints/ecp5/ulx3s.lpf. The PLL makes the core clock of 50 MHz from the 25
// MHz of the board. The SDRAM clock lags the core clock by a quarter of its period (sdram_line says why). The
// parameters of the PLL are those of `ecppll -i 25 -o 50 --clkout1 50 --phase1 90` (VCO 600 MHz). The reset is active
// from configuration until the PLL has locked, and while the button FIRE 1 is pressed. The serial line has 3 Mbaud.
// Lamps: 0 blinks while the core clock runs; 1 the device has work; 2 an interrupt is pending; 3 bytes come from the
// host; 4 bytes go to the host.
module board_ulx3s #(
    parameter bit DEVICE   = 1'b1,  // The parameters are those of board_core.
    parameter int LANES    = 4,
    parameter int WARPS    = 4,
    parameter int LMEM_KIB = 16
) (
    input  logic        clk_25mhz,
    input  logic        btn1,        // Button FIRE 1, high while it is pressed.
    output logic        ftdi_rxd,    // Serial line to the host.
    input  logic        ftdi_txd,    // Serial line from the host.
    output logic [ 4:0] led,
    output logic        wifi_gpio0,  // High: the ESP32 keeps the board powered and does not drive the pins of the FPGA.
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
      .CLKI_DIV(1),
      .CLKFB_DIV(2),
      .CLKOP_ENABLE("ENABLED"),
      .CLKOP_DIV(12),
      .CLKOP_CPHASE(5),
      .CLKOP_FPHASE(0),
      .CLKOS_ENABLE("ENABLED"),
      .CLKOS_DIV(12),
      .CLKOS_CPHASE(8),
      .CLKOS_FPHASE(0),
      .FEEDBK_PATH("CLKOP"),
      .OUTDIVIDER_MUXA("DIVA"),
      .OUTDIVIDER_MUXB("DIVB"),
      .OUTDIVIDER_MUXC("DIVC"),
      .OUTDIVIDER_MUXD("DIVD"),
      .PLLRST_ENA("DISABLED"),
      .INTFB_WAKE("DISABLED"),
      .STDBY_ENABLE("DISABLED"),
      .DPHASE_SOURCE("DISABLED")
  ) u_pll (
      .CLKI(clk_25mhz),
      .CLKFB(clk),
      .CLKOP(clk),
      .CLKOS(chip_clk),
      .LOCK(locked),
      .RST(1'b0),
      .STDBY(1'b0),
      .PHASESEL0(1'b0),
      .PHASESEL1(1'b0),
      .PHASEDIR(1'b1),
      .PHASESTEP(1'b1),
      .PHASELOADREG(1'b1),
      .PLLWAKESYNC(1'b0),
      .ENCLKOP(1'b0)
  );
  // The clock leaves through the output register of its pad, like the commands.
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
      .DEVICE(DEVICE),
      .LANES(LANES),
      .WARPS(WARPS),
      .LMEM_KIB(LMEM_KIB),
      .CLOCK_HZ(CLOCK_HZ),
      .CLOCKS(50),
      .BITS(3)
  ) u_core (
      .clk_i(clk),
      .rst_i(rst_q),
      .uart_rx_i(ftdi_txd),
      .uart_tx_o(tx),
      .busy_o(busy),
      .irq_o(irq),
      .cke_o(sdram_cke),
      .cs_n_o(sdram_csn),
      .ras_n_o(sdram_rasn),
      .cas_n_o(sdram_casn),
      .we_n_o(sdram_wen),
      .ba_o(sdram_ba),
      .a_o(sdram_a),
      .dqm_o(sdram_dqm),
      .dq_o(dq),
      .dq_oe_o(oe),
      .dq_i(dq_in)
  );
endmodule
