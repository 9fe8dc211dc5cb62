// SPDX-License-Identifier: Apache-2.0
// Asserts the rules of a valid/ready channel, in simulation and in formal proofs. The module is empty in synthesis.
//
// Rules: valid stays high until ready is high, and the payload does not change meanwhile. Nothing is checked before the
// first reset. A reset withdraws what was offered.
// The receiver of a channel instantiates this module once for each channel. A module is used instead of a macro or a
// bind, because Yosys ignores bind and because the name of the instance identifies the channel.
module check_channel #(
    parameter int WIDTH = 1  // Bits of the payload.
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             valid_i,
    input logic             ready_i,
    input logic [WIDTH-1:0] data_i
);
`ifndef SYNTHESIS
  logic live_q = 1'b0, held_q = 1'b0;  // A reset was seen; the channel was stalled.
  logic [WIDTH-1:0] was_q;  // Payload of the stalled cycle.

  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    held_q <= live_q && valid_i && !ready_i && !rst_i;
    if (valid_i && !ready_i) was_q <= data_i;
    if (held_q && !rst_i) begin
      valid_stays: assert (valid_i);
      payload_stays: assert (data_i == was_q);
    end
  end
`endif
endmodule
