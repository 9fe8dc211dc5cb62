// SPDX-License-Identifier: Apache-2.0
// The read side of an AXI port: up to 64 lines in flight, each with an id of its own, so that memory may answer in any
// order.
//
// Contract: a request is taken when req_valid_i and req_ready_o are high. The line comes back once on rsp_*, with the
// META_W bits of meta of its request. rsp_error_o: memory answered with an error. req_ready_o comes from registers. AR
// is stable while stalled. One line can be requested in every cycle. The id is the index of the slot that keeps the
// meta bits. Free slots wait in a queue, because a ring of slots would stall behind the slowest read.
// Preemption: no state is saved; the port is drained first.
module axi_read #(
    parameter int META_W = 16,  // Bits that come back with the line.
    parameter int ID_W   = 6,   // Bits of an AXI id, at least 6.
    parameter int DATA_W = 512  // Bits of a line; fewer in the proof.
) (
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic [      63:0] axi_base_i,
    input  logic              req_valid_i,
    output logic              req_ready_o,
    input  logic [      27:0] req_line_i,
    input  logic [META_W-1:0] req_meta_i,
    output logic              rsp_valid_o,
    input  logic              rsp_ready_i,
    output logic [META_W-1:0] rsp_meta_o,
    output logic [DATA_W-1:0] rsp_data_o,
    output logic              rsp_error_o,
    // AXI4: AR and R.
    output logic              arvalid_o,
    input  logic              arready_i,
    output logic [  ID_W-1:0] arid_o,
    output logic [      63:0] araddr_o,
    input  logic              rvalid_i,
    output logic              rready_o,
    input  logic [       5:0] rid_i,
    input  logic [DATA_W-1:0] rdata_i,
    input  logic              rerror_i  // Bit 1 of RRESP.
);
  localparam int SLOT_W = 6;

  logic [META_W-1:0] meta[0:(1<<SLOT_W)-1];
  logic slot_valid, queue_ready, queue_valid, ar_take;
  logic [SLOT_W-1:0] slot, queue_slot, rsp_slot;
  logic [27:0] queue_line;

  assign req_ready_o = slot_valid && queue_ready;

  mem_fifo #(.WIDTH(SLOT_W), .DEPTH_LOG2(SLOT_W), .FILL(1'b1)) u_free (
      .clk_i,
      .rst_i,
      .in_valid_i(rsp_valid_o && rsp_ready_i),
      .in_ready_o(has_room),
      .in_data_i(rsp_slot),
      .out_valid_o(slot_valid),
      .out_ready_i(req_valid_i && queue_ready),
      .out_data_o(slot)
  );

  mem_fifo #(.WIDTH(SLOT_W + 28), .DEPTH_LOG2(2)) u_requests (
      .clk_i,
      .rst_i,
      .in_valid_i(req_valid_i && slot_valid),
      .in_ready_o(queue_ready),
      .in_data_i({slot, req_line_i}),
      .out_valid_o(queue_valid),
      .out_ready_i(ar_take),
      .out_data_o({queue_slot, queue_line})
  );

  // The address has a pipeline stage of its own for the addition.
  assign ar_take = !arvalid_o || arready_i;
  always_ff @(posedge clk_i) begin
    if (req_valid_i && req_ready_o) meta[slot] <= req_meta_i;
    if (ar_take) begin
      arvalid_o <= queue_valid;
      if (queue_valid) begin
        arid_o   <= ID_W'(queue_slot);
        araddr_o <= axi_base_i + {30'b0, queue_line, 6'b0};
      end
    end
    if (rst_i) arvalid_o <= 1'b0;
  end

  mem_fifo #(.WIDTH(SLOT_W + 1 + DATA_W), .DEPTH_LOG2(2)) u_responses (
      .clk_i,
      .rst_i,
      .in_valid_i(rvalid_i),
      .in_ready_o(rready_o),
      .in_data_i({rid_i, rerror_i, rdata_i}),
      .out_valid_o(rsp_valid_o),
      .out_ready_i(rsp_ready_i),
      .out_data_o({rsp_slot, rsp_error_o, rsp_data_o})
  );
  assign rsp_meta_o = meta[rsp_slot];

  logic has_room, unused;  // has_room is always high: there is room for every slot.
  assign unused = has_room;

`ifndef SYNTHESIS
  check_channel #(.WIDTH(ID_W + 64)) u_check_ar (
      .clk_i,
      .rst_i,
      .valid_i(arvalid_o),
      .ready_i(arready_i),
      .data_i({arid_o, araddr_o})
  );
  // For simulation: the prover has neither memory's promise nor the slots' history.
  logic live_q = 1'b0;  // there was a reset
  logic [(1<<SLOT_W)-1:0] asked_q = '0;
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      if (rvalid_i && rready_o) begin
        answer_to_a_read: assert (asked_q[rid_i]);
        asked_q[rid_i] <= 1'b0;
      end
      if (arvalid_o && arready_i) begin
        id_is_free: assert (!asked_q[arid_o[SLOT_W-1:0]]);
        asked_q[arid_o[SLOT_W-1:0]] <= 1'b1;
      end
      room_for_every_slot: assert (has_room || !(rsp_valid_o && rsp_ready_i));
    end
    if (rst_i) asked_q <= '0;
  end
`endif
endmodule
