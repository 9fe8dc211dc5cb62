// SPDX-License-Identifier: Apache-2.0
// Asserts the rules of the request side of a memory channel (docs/hardware/interfaces.md), in simulation and in formal
// proofs. The module is empty in synthesis.
//
// Rules: a stalled request is stable as in check_channel. Data and byte enables are compared only for writes and
// atomics, and the atomic operation only for atomics, since other requests do not use them. op_i is one of the three
// operations.
module check_request #(
    parameter int TAG_W = 8  // Bits of the tag and of other payload that is compared with it.
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             valid_i,
    input logic             ready_i,
    input logic [      1:0] op_i,
    input logic [      3:0] amo_i,
    input logic [     27:0] line_i,
    input logic [    511:0] wdata_i,
    input logic [     63:0] be_i,
    input logic [TAG_W-1:0] tag_i
);
`ifndef SYNTHESIS
  logic live_q = 1'b0, held_q = 1'b0;  // A reset was seen; the channel was stalled.
  logic [1:0] op_q;
  logic [3:0] amo_q;
  logic [27:0] line_q;
  logic [511:0] wdata_q;
  logic [63:0] be_q;
  logic [TAG_W-1:0] tag_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    held_q <= live_q && valid_i && !ready_i && !rst_i;
    if (valid_i && !ready_i) begin
      {op_q, amo_q, line_q, tag_q} <= {op_i, amo_i, line_i, tag_i};
      if (op_i != tern_pkg::MEM_READ) {wdata_q, be_q} <= {wdata_i, be_i};
    end
    if (live_q && valid_i && !rst_i) begin
      known_operation: assert (op_i <= tern_pkg::MEM_ATOMIC);
    end
    if (held_q && !rst_i) begin
      valid_stays: assert (valid_i);
      payload_stays: assert ({op_i, line_i, tag_i} == {op_q, line_q, tag_q} &&
                             (op_q != tern_pkg::MEM_ATOMIC || amo_i == amo_q));
      if (op_q != tern_pkg::MEM_READ) begin
        data_stays: assert ({wdata_i, be_i} == {wdata_q, be_q});
      end
    end
  end
`endif
endmodule
