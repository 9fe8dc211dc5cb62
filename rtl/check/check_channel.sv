// SPDX-License-Identifier: Apache-2.0
// Asserts the rules of a valid/ready channel, in simulation and in the prover; in synthesis it is empty.
//
// Rules: valid stays until ready; the payload stays as it is meanwhile. Nothing is checked before the first reset, and
// a reset takes back what was offered. Whoever receives from a channel instantiates this, once a channel. One module
// instead of a macro or a bind: Yosys ignores bind, and the name of the instance tells the channel.
module check_channel #(
    parameter int WIDTH = 1
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             valid_i,
    input logic             ready_i,
    input logic [WIDTH-1:0] data_i
);
`ifndef SYNTHESIS
  logic live_q = 1'b0, held_q = 1'b0;  // there was a reset; the channel was stalled
  logic [WIDTH-1:0] was_q;

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
