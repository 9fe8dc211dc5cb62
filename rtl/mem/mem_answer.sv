// SPDX-License-Identifier: Apache-2.0
// The answers of a memory port to one engine (mem_port).
//
// Contract: r_valid_i is the answer of a read, c_valid_i that of a write or an atomic; at most one of them comes in a
// cycle, and only if room_i is high. refused_valid_i is a request that the gate has refused; it is taken if
// refused_ready_o is high, and answered with bus_error in a cycle that has no other answer. Each answer is on rsp_*,
// with ev_*, one cycle later.
// Preemption: no state is saved; the channel of an engine is drained first.
module mem_answer #(
    parameter int TAG_W = 11  // Bits of a tag.
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               room_i,
    // Answer of a read.
    input  logic               r_valid_i,
    input  logic [TAG_W-1:0]   r_tag_i,
    input  logic [511:0]       r_data_i,
    input  logic               r_error_i,
    // Answer of a write or an atomic.
    input  logic               c_valid_i,
    input  logic [TAG_W-1:0]   c_tag_i,
    input  logic               c_atomic_i,  // c_data_i has the old words.
    input  logic [511:0]       c_data_i,
    input  logic               c_wrote_i,   // Memory has written a line.
    input  logic               c_fault_i,
    // Request that the gate has refused.
    input  logic               refused_valid_i,
    output logic               refused_ready_o,
    input  logic [TAG_W-1:0]   refused_tag_i,
    output logic               rsp_valid_o,
    output logic [TAG_W-1:0]   rsp_tag_o,
    output tern_pkg::mem_rsp_t rsp_o,
    output logic               ev_rd_o,     // Pulse: a line was read.
    output logic               ev_wr_o      // Pulse: a line was written.
);
  logic refused, refused_goes;
  logic [TAG_W-1:0] refused_tag;

  // The answer of a refused request waits until the engine gets no other.
  assign refused_goes = !r_valid_i && !c_valid_i && room_i;
  mem_fifo #(.WIDTH(TAG_W), .DEPTH_LOG2(1)) u_refused (
      .clk_i,
      .rst_i,
      .in_valid_i(refused_valid_i),
      .in_ready_o(refused_ready_o),
      .in_data_i(refused_tag_i),
      .out_valid_o(refused),
      .out_ready_i(refused_goes),
      .out_data_o(refused_tag)
  );
  always_ff @(posedge clk_i) begin
    rsp_valid_o <= r_valid_i || c_valid_i || (refused && refused_goes);
    ev_rd_o <= r_valid_i && !r_error_i;
    ev_wr_o <= c_valid_i && c_wrote_i;
    if (r_valid_i) begin
      rsp_tag_o <= r_tag_i;
      rsp_o.data <= r_data_i;
      rsp_o.fault <= r_error_i ? tern_spec_pkg::FAULT_BUS_ERROR : tern_spec_pkg::FAULT_NONE;
    end else if (c_valid_i) begin
      rsp_tag_o <= c_tag_i;
      if (c_atomic_i) rsp_o.data <= c_data_i;
      rsp_o.fault <= c_fault_i ? tern_spec_pkg::FAULT_BUS_ERROR : tern_spec_pkg::FAULT_NONE;
    end else if (refused) begin
      rsp_tag_o <= refused_tag;
      rsp_o.fault <= tern_spec_pkg::FAULT_BUS_ERROR;
    end
    if (rst_i) begin
      rsp_valid_o <= 1'b0;
      ev_rd_o <= 1'b0;
      ev_wr_o <= 1'b0;
    end
  end
endmodule
