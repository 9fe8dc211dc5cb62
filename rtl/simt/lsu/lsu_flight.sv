// SPDX-License-Identifier: Apache-2.0
// Memory channel of the LSU: sends requests, and matches the responses to their warps and fills.
//
// Contract: push_i adds a request; room_o: there is room for one more besides one that is on its way. Reads and atomics
// use the number of their fill as tag, writes use write_slot_o (write_room_o), which write_i takes one cycle before the
// push. note_i stores what a fault of that tag would report. Responses: fill_valid_o with data; written_o for a write,
// with its warp. A refused request shows only, one cycle later, as fault_valid_o or, if its page is absent, as
// absent_o; its tag (fault_tag_o) stays in use until rst_i. idle_o: all requests have been answered. rst_i clears slots
// and notes; hard_rst_i also clears the requests. Without hard_rst_i, pushed requests must leave, since a channel takes
// back nothing that it offers.
// State saved at preemption: none; it drains.
module lsu_flight #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    parameter int FILL_W = 5,  // log2 of the fills
    localparam int LW = $clog2(LANES),
    localparam int WW = $clog2(WARPS)
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               hard_rst_i,
    input  logic [31:0]        stack_i,       // base of the dispatch's private stacks
    input  logic [4:0]         stack_log2_i,  // log2 of the bytes of a lane's stack
    // notes, when an access is decided (T1)
    output logic               write_room_o,
    output logic [5:0]         write_slot_o,
    input  logic               write_i,
    input  logic               note_i,
    input  logic [6:0]         note_tag_i,
    input  logic [1:0]         note_access_i,
    input  logic               note_gen_i,
    input  logic [WW-1:0]      note_warp_i,
    input  logic [LW-1:0]      note_lane_i,
    input  logic               note_private_i,
    input  logic [31:0]        note_addr_i,
    input  logic [31:0]        note_pc_i,
    // requests, one cycle after the note (T2)
    output logic               room_o,
    input  logic               push_i,
    input  logic [1:0]         push_op_i,
    input  logic [3:0]         push_amo_i,
    input  logic [25:0]        push_line_i,
    input  logic [511:0]       push_wdata_i,
    input  logic [63:0]        push_be_i,
    input  logic [6:0]         push_tag_i,
    // responses
    output logic               fill_valid_o,
    output logic [FILL_W-1:0]  fill_o,
    output logic [511:0]       fill_data_o,
    output logic               written_o,
    output logic               written_gen_o,
    output logic [WW-1:0]      written_warp_o,
    output logic               fault_valid_o,
    output logic               absent_o,
    output logic [6:0]         fault_tag_o,
    output logic [7:0]         fault_code_o,
    output logic [1:0]         fault_access_o,
    output logic [31:0]        fault_va_o,
    output logic [31:0]        fault_pc_o,
    output logic               fault_gen_o,
    output logic [WW-1:0]      fault_warp_o,
    output logic [LW-1:0]      fault_lane_o,
    output logic               idle_o,
    // memory channel
    output logic               mem_req_valid_o,
    input  logic               mem_req_ready_i,
    output tern_pkg::mem_req_t mem_req_o,
    output logic [6:0]         mem_req_tag_o,
    input  logic               mem_rsp_valid_i,
    input  logic [6:0]         mem_rsp_tag_i,
    input  tern_pkg::mem_rsp_t mem_rsp_i
);
  // ------------------------------------------------------------------ requests
  logic [2+4+26+7-1:0] queue_head[0:3];
  logic [575:0] queue_data[0:3];
  logic [2:0] wr_q, rd_q;
  logic [7:0] flight_q;
  logic pop;

  assign room_o = 3'(wr_q - rd_q) < 3'd3;
  assign mem_req_valid_o = wr_q != rd_q;
  assign pop = mem_req_valid_o && mem_req_ready_i;
  assign {mem_req_o.op, mem_req_o.amo, mem_req_o.line[25:0], mem_req_tag_o} = queue_head[rd_q[1:0]];
  assign {mem_req_o.be, mem_req_o.wdata} = queue_data[rd_q[1:0]];
  assign mem_req_o.line[27:26] = '0;
  // A push may come in the first cycle of a kill; its response is then still to come.
  assign idle_o = flight_q == 8'd0 && !push_i;

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      queue_head[wr_q[1:0]] <= {push_op_i, push_amo_i, push_line_i, push_tag_i};
      if (push_op_i != tern_pkg::MEM_READ) queue_data[wr_q[1:0]] <= {push_be_i, push_wdata_i};
      wr_q <= wr_q + 1'b1;
    end
    if (pop) rd_q <= rd_q + 1'b1;
    flight_q <= flight_q + 8'(push_i) - 8'(mem_rsp_valid_i);
    if (hard_rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
      flight_q <= '0;
    end
  end

  // ------------------------------------------------------------------ notes, answers
  localparam int NOTE_W = 2 + 1 + WW + LW + 1 + 32 + 32;
  logic [NOTE_W-1:0] notes[0:127];
  logic good;

  assign good = mem_rsp_valid_i && mem_rsp_i.fault == '0 && !rst_i;
  assign fill_valid_o = good && !mem_rsp_tag_i[6];
  assign fill_o = mem_rsp_tag_i[FILL_W-1:0];
  assign fill_data_o = mem_rsp_i.data;
  assign written_o = good && mem_rsp_tag_i[6];
  assign {written_gen_o, written_warp_o} = notes[mem_rsp_tag_i][64+1+LW+:WW+1];

  mem_fifo #(.WIDTH(6), .DEPTH_LOG2(6), .FILL(1'b1)) u_slots (
      .clk_i,
      .rst_i,
      .in_valid_i(written_o),
      .in_ready_o(unused_ready),
      .in_data_i(mem_rsp_tag_i[5:0]),
      .out_valid_o(write_room_o),
      .out_ready_i(write_i),
      .out_data_o(write_slot_o)
  );

  // A fault reports its note, then the address that the kernel used. For the private window that address is computed
  // back from the mapped one. For an absent page the reported address is the mapped one.
  logic refused_q, absent_q, private_q;
  logic [31:0] addr_q, base_q, offset;

  assign offset = addr_q - base_q;
  logic unused_lane, unused_ready;
  assign unused_lane = |offset[2+:LW];
  always_ff @(posedge clk_i) begin
    if (note_i)
      notes[note_tag_i] <= {note_access_i, note_gen_i, note_warp_i, note_lane_i, note_private_i, note_addr_i,
                            note_pc_i};
    refused_q <= mem_rsp_valid_i && mem_rsp_i.fault != '0 && mem_rsp_i.fault != tern_spec_pkg::FAULT_PAGE_ABSENT;
    absent_q <= mem_rsp_valid_i && mem_rsp_i.fault == tern_spec_pkg::FAULT_PAGE_ABSENT;
    if (mem_rsp_valid_i && mem_rsp_i.fault != '0) begin
      fault_code_o <= mem_rsp_i.fault;
      fault_tag_o <= mem_rsp_tag_i;
      {fault_access_o, fault_gen_o, fault_warp_o, fault_lane_o, private_q, addr_q, fault_pc_o} <= notes[mem_rsp_tag_i];
      base_q <= stack_i + (32'(written_warp_o) << (stack_log2_i + 5'(LW)));
    end
    if (rst_i) {refused_q, absent_q} <= '0;
  end
  assign fault_valid_o = refused_q;
  assign absent_o = absent_q;
  assign fault_va_o = private_q && !absent_q ?
      tern_spec_pkg::WIN_PRIVATE_BASE | 32'({offset[31:2+LW], offset[1:0]}) : addr_q;

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (hard_rst_i) live_q <= 1'b1;
    if (live_q && !hard_rst_i) begin
      room_for_every_request: assert (!push_i || wr_q[1:0] != rd_q[1:0] || wr_q == rd_q);
      room_for_a_write: assert (!write_i || write_room_o || rst_i);
      answer_to_a_request: assert (!mem_rsp_valid_i || flight_q != 8'd0);
    end
  end
`endif
endmodule
