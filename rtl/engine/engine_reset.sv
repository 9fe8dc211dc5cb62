// SPDX-License-Identifier: Apache-2.0
// Resets one engine without disturbing memory or other engines (F3).
//
// Contract: request_i (a pulse) begins. block_o stops new requests at the MMU. When drain_busy_i is low, all accepted
// requests have been answered. rst_o then resets everything inside the engine for one cycle, and busy_o falls. A reset
// always ends, because memory answers every request. rst_i, the reset of the device, has the same effect without
// draining, because memory is reset with it. No answer can reach a client that has been reset since its request, so
// executors need no reset protocol of their own.
module engine_reset (
    input  logic clk_i,
    input  logic rst_i,
    input  logic request_i,
    input  logic drain_busy_i,
    output logic block_o,
    output logic rst_o,
    output logic busy_o
);
  logic blocking_q, rst_q;

  assign block_o = blocking_q;
  assign rst_o = rst_q;
  assign busy_o = blocking_q || rst_q;

  always_ff @(posedge clk_i) begin
    if (request_i && !rst_q) blocking_q <= 1'b1;
    rst_q <= blocking_q && !drain_busy_i && !rst_q;
    if (rst_q) blocking_q <= 1'b0;
    if (rst_i) begin
      blocking_q <= 1'b0;
      rst_q <= 1'b1;
    end
  end
endmodule
