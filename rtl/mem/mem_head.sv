// SPDX-License-Identifier: Apache-2.0
// The request of one engine that waits at the gate of a memory port (mem_port).
//
// Contract: req_* is the engine's memory channel (docs/hardware/interfaces.md). A request goes through a slice, which
// offers it to the gate (out_*), with the class of mem_gate: its operation, or REFUSED if it is beyond mem_pages_i or
// an atomic that this device does not execute. A request that the gate takes is the head, until it takes the next one.
// Preemption: no state is saved; the channel of an engine is drained first.
module mem_head #(
    parameter int TAG_W   = 11,   // Bits of a tag.
    parameter bit ATOMICS = 1'b1  // 0: an atomic is refused like an access beyond memory.
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic [22:0]        mem_pages_i,
    input  logic               req_valid_i,
    output logic               req_ready_o,
    input  tern_pkg::mem_req_t req_i,
    input  logic [TAG_W-1:0]   req_tag_i,
    input  logic               rsp_valid_i,  // An answer to the engine, for the assertions.
    input  logic [TAG_W-1:0]   rsp_tag_i,
    output logic               out_valid_o,
    input  logic               out_ready_i,
    output logic [1:0]         out_class_o,
    output logic [27:0]        out_line_o,
    output tern_pkg::mem_req_t head_o,       // The member op is the class.
    output logic [TAG_W-1:0]   head_tag_o
);
  localparam logic [1:0] REFUSED = 2'd3;  // Class beside MEM_READ, MEM_WRITE, MEM_ATOMIC.

  tern_pkg::mem_req_t in, out;
  logic [TAG_W-1:0] tag;
  logic may;

  assign may = {1'b0, req_i.line[27:6]} < mem_pages_i && (ATOMICS || req_i.op != tern_pkg::MEM_ATOMIC);
  always_comb begin
    in = req_i;
    if (!may) in.op = REFUSED;
  end
  mem_slice #(.WIDTH(tern_pkg::MEM_REQ_W + TAG_W)) u_in (
      .clk_i,
      .rst_i,
      .in_valid_i(req_valid_i),
      .in_ready_o(req_ready_o),
      .in_data_i({in, req_tag_i}),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out, tag})
  );
  assign out_class_o = out.op;
  assign out_line_o = out.line;

  always_ff @(posedge clk_i) begin
    if (out_valid_o && out_ready_i) begin
      head_o <= out;
      head_tag_o <= tag;
    end
  end

  check_request #(.TAG_W(TAG_W)) u_check_req (
      .clk_i,
      .rst_i,
      .valid_i(req_valid_i),
      .ready_i(req_ready_o),
      .req_i,
      .tag_i(req_tag_i)
  );
  check_answers #(.TAG_W(TAG_W)) u_check_answers (
      .clk_i,
      .rst_i,
      .req_i(req_valid_i && req_ready_o),
      .req_tag_i,
      .rsp_i(rsp_valid_i),
      .rsp_tag_i
  );
endmodule
