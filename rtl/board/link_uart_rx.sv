// SPDX-License-Identifier: Apache-2.0
// Receives bytes from a serial line: a start bit, 8 data bits, lowest first, and a stop bit.
//
// Contract: BITS bits of the line take CLOCKS clock cycles, at least 4 cycles a bit. Each bit is sampled in its middle,
// exact to a cycle. valid_o is high for one cycle for each byte, which is in data_o. If the stop bit is low, because of
// noise or a broken line, error_o is high instead. The line may be asynchronous to the clock.
// A ratio of two integers is used instead of an integer divider: at 25 MHz and 3 Mbaud 3 bits take 25 cycles, and 8
// cycles for each bit would be 4 % wrong.
module link_uart_rx #(
    parameter int CLOCKS = 25,  // Clock cycles of BITS bits.
    parameter int BITS   = 3    // Bits in CLOCKS clock cycles.
) (
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       rx_i,
    output logic       valid_o,
    output logic       error_o,
    output logic [7:0] data_o
);
  localparam int W = $clog2(CLOCKS + BITS);
  generate
    if (BITS < 1 || CLOCKS < 4 * BITS) begin : g_check
      $error("link_uart_rx: fewer than 4 clock cycles a bit");
    end
  endgenerate

  logic [1:0] line_q = 2'b11;  // Synchroniser; bit 1 is the synchronised line.
  logic [W-1:0] phase_q;  // Part of the current bit that has passed, in units of 1 / BITS cycle.
  logic busy_q, wait_q, tick;  // wait_q: wait until the line is high again.
  logic [3:0] bit_q;           // 0: start bit, 1 to 8: data bits, 9: stop bit.
  logic [7:0] data_q;

  assign tick = phase_q >= W'(CLOCKS - BITS);
  assign data_o = data_q;

  always_ff @(posedge clk_i) begin
    line_q <= {line_q[0], rx_i};
    valid_o <= 1'b0;
    error_o <= 1'b0;
    phase_q <= tick ? phase_q - W'(CLOCKS - BITS) : phase_q + W'(BITS);
    if (!busy_q) begin
      bit_q <= 4'd0;
      phase_q <= W'(CLOCKS / 2);
      wait_q <= wait_q && !line_q[1];
      busy_q <= !line_q[1] && !wait_q;
    end else if (tick) begin
      bit_q <= bit_q + 1'b1;
      if (bit_q == 4'd0) busy_q <= !line_q[1];
      else if (bit_q == 4'd9) begin
        busy_q <= 1'b0;
        wait_q <= !line_q[1];
        valid_o <= line_q[1];
        error_o <= !line_q[1];
      end else data_q <= {line_q[1], data_q[7:1]};
    end
    if (rst_i) begin
      busy_q <= 1'b0;
      wait_q <= 1'b0;
      valid_o <= 1'b0;
      error_o <= 1'b0;
    end
  end
endmodule
