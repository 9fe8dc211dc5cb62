// SPDX-License-Identifier: Apache-2.0
// A board for simulation: board_core and its SDRAM chip, with the serial line as its only pins.
//
// There are two differences from board_ulx3s. All logic has one clock of 25 MHz, so that a byte of the line takes half
// the cycles that it takes at 50 MHz. The chip has 64 MiB, which the driver's tests need. The chip's clock lags by half
// a period, which costs nothing: both edges are evaluated anyway.
module board_chip (
    input  logic clk_i,
    input  logic rst_i,
    input  logic uart_rx_i,
    output logic uart_tx_o,
    output logic irq_o
);
  localparam int CLOCK_HZ = 25000000;
  localparam int START_NS = 200000;
  localparam int COL_W = 10;

  logic busy, cke, cs_n, ras_n, cas_n, we_n, driven, chip_drives;
  logic [1:0] ba, dqm;
  logic [12:0] a;
  logic [15:0] dq, chip_dq;

  board_core #(
      .CLOCK_HZ(CLOCK_HZ), .CLOCKS(25), .BITS(3), .COL_W(COL_W), .START_NS(START_NS), .SIMULATION(1'b1)
  ) u_core (
      .clk_i, .rst_i, .uart_rx_i, .uart_tx_o, .busy_o(busy), .irq_o, .cke_o(cke), .cs_n_o(cs_n), .ras_n_o(ras_n),
      .cas_n_o(cas_n), .we_n_o(we_n), .ba_o(ba), .a_o(a), .dqm_o(dqm), .dq_o(dq), .dq_oe_o(driven), .dq_i(chip_dq)
  );

  sdram_chip #(.COL_W(COL_W), .PERIOD_PS(40000), .START_NS(START_NS - 10000)) u_chip (
      .clk_i(!clk_i), .cke_i(cke), .cs_n_i(cs_n), .ras_n_i(ras_n), .cas_n_i(cas_n), .we_n_i(we_n), .ba_i(ba),
      .a_i(a), .dqm_i(dqm), .dq_i(dq), .dq_driven_i(!we_n), .dq_o(chip_dq), .dq_oe_o(chip_drives)
  );

  logic unused;
  assign unused = &{1'b0, busy, driven, chip_drives};
endmodule
