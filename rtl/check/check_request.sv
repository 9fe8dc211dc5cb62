// SPDX-License-Identifier: Apache-2.0
// Asserts the rules of the request side of a memory channel (docs/hardware/interfaces.md), in simulation and in formal
// proofs. The module is empty in synthesis.
//
// Rules: a stalled request is stable as in check_channel. Data and byte enables are compared only for writes and
// atomics, and the atomic operation only for atomics, since other requests do not use them. The operation is one of the
// three operations.
module check_request #(
    parameter int TAG_W = 8  // Bits of the tag and of other payload that is compared with it.
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               valid_i,
    input  logic               ready_i,
    input  tern_pkg::mem_req_t req_i,
    input  logic [TAG_W-1:0]   tag_i
);
`ifndef SYNTHESIS
  logic live_q = 1'b0, held_q = 1'b0;  // A reset was seen; the channel was stalled.
  tern_pkg::mem_req_t req_q;
  logic [TAG_W-1:0] tag_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    held_q <= live_q && valid_i && !ready_i && !rst_i;
    if (valid_i && !ready_i) begin
      req_q <= req_i;
      tag_q <= tag_i;
    end
    if (live_q && valid_i && !rst_i) begin
      known_operation: assert (req_i.op <= tern_pkg::MEM_ATOMIC);
    end
    if (held_q && !rst_i) begin
      valid_stays: assert (valid_i);
      payload_stays: assert ({req_i.op, req_i.line, tag_i} == {req_q.op, req_q.line, tag_q} &&
                             (req_q.op != tern_pkg::MEM_ATOMIC || req_i.amo == req_q.amo));
      if (req_q.op != tern_pkg::MEM_READ) begin
        data_stays: assert ({req_i.wdata, req_i.be} == {req_q.wdata, req_q.be});
      end
    end
  end
`endif
endmodule
