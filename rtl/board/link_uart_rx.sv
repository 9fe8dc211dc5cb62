// SPDX-License-Identifier: Apache-2.0
// Receives bytes of a serial line: a start bit, 8 data bits from the lowest on, a stop bit.
//
// Contract: CLOCKS clock cycles are BITS bits of the line, and at least 4 cycles a bit; each bit is sampled in its
// middle, to the cycle. valid_o: a cycle for each byte, with it in data_o; error_o instead of it: the stop bit was
// low (noise, or the line is broken). The line is asynchronous to the clock. A fraction instead of a divider: 25 MHz
// and 3 Mbaud are 25 cycles for 3 bits, and 8 for each were 4 % wrong.
module link_uart_rx #(
    parameter int CLOCKS = 25,
    parameter int BITS   = 3
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

  logic [1:0] line_q = 2'b11;  // synchronised: [1]
  logic [W-1:0] phase_q;
  logic busy_q, wait_q, tick;  // wait: until the line is high again
  logic [3:0] bit_q;           // 0: start, 1 to 8: data, 9: stop
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
