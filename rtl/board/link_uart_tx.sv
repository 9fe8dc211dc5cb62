// SPDX-License-Identifier: Apache-2.0
// Sends bytes on a serial line: a start bit, 8 data bits, lowest first, and a stop bit.
//
// Contract: BITS bits of the line take CLOCKS clock cycles. A byte is taken when valid_i and ready_o are high. Bytes
// that are offered without a pause are sent without one. tx_o comes from a register and is high when nothing is sent.
module link_uart_tx #(
    parameter int CLOCKS = 25,  // Clock cycles of BITS bits.
    parameter int BITS   = 3    // Bits in CLOCKS clock cycles.
) (
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       valid_i,
    output logic       ready_o,
    input  logic [7:0] data_i,
    output logic       tx_o
);
  localparam int W = $clog2(CLOCKS + BITS);

  logic [W-1:0] phase_q;  // Part of the current bit that has passed, in units of 1 / BITS cycle.
  logic [3:0] left_q;  // Bits behind the one on the line; the stop bit is the last.
  logic [8:0] data_q;
  logic busy_q, tick;

  assign tick = phase_q >= W'(CLOCKS - BITS);
  assign ready_o = !busy_q || (tick && left_q == 4'd0);

  always_ff @(posedge clk_i) begin
    phase_q <= !busy_q ? '0 : tick ? phase_q - W'(CLOCKS - BITS) : phase_q + W'(BITS);
    if (busy_q && tick) begin
      {data_q, tx_o} <= {1'b1, data_q};
      left_q <= left_q - 1'b1;
      busy_q <= left_q != 4'd0;
    end
    if (valid_i && ready_o) begin
      {data_q, tx_o} <= {1'b1, data_i, 1'b0};
      left_q <= 4'd9;
      busy_q <= 1'b1;
    end
    if (rst_i) begin
      tx_o <= 1'b1;
      busy_q <= 1'b0;
    end
  end
endmodule
