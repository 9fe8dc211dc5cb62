// SPDX-License-Identifier: Apache-2.0
// Memory channel of the LSU: sends requests, and matches the responses to their warps and fills.
//
// Contract: push_i adds a request; room_o: there is room for one more besides one that is on its way. Reads and atomics
// use the number of their fill as tag, writes use write_slot_o (write_room_o), which write_i takes one cycle before the
// push. note_* stores what a fault of that tag would report. Responses: fill_valid_o with data; written_o for a write,
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
    input  logic               note_valid_i,
    input  logic [6:0]         note_tag_i,
    input  simt_op_pkg::lsu_note_t note_i,
    input  logic               note_gen_i,    // generation of the warp
    // requests, one cycle after the note (T2)
    output logic               room_o,
    input  logic               push_i,
    input  tern_pkg::mem_req_t push_req_i,
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
    output simt_op_pkg::lsu_fault_t fault_o,
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
  typedef struct packed {
    logic [1:0]  op;
    logic [3:0]  amo;
    logic [25:0] line;
    logic [6:0]  tag;
  } head_t;
  head_t head, first;  // of the request that is pushed; of the one that is offered
  logic [$bits(head)-1:0] queue_head[0:3];
  logic [575:0] queue_data[0:3];
  logic [2:0] wr_q, rd_q, count;
  logic [7:0] flight_q;
  logic pop;
  // Fewer than three, or four, requests were here before the last cycle's pop (popped_q). The two flags take the
  // subtraction out of the paths that begin with room_o.
  logic under_3_q, under_4_q, popped_q;

  assign room_o = under_3_q || (under_4_q && popped_q);
  assign count = wr_q - rd_q + 3'(push_i);
  assign mem_req_valid_o = wr_q != rd_q;
  assign pop = mem_req_valid_o && mem_req_ready_i;
  assign head.op = push_req_i.op;
  assign head.amo = push_req_i.amo;
  assign head.line = push_req_i.line[25:0];
  assign head.tag = push_tag_i;
  assign first = queue_head[rd_q[1:0]];
  assign mem_req_o.op = first.op;
  assign mem_req_o.amo = first.amo;
  assign mem_req_o.line = {2'b0, first.line};
  assign mem_req_tag_o = first.tag;
  assign {mem_req_o.be, mem_req_o.wdata} = queue_data[rd_q[1:0]];
  // A push may come in the first cycle of a kill; its response is then still to come.
  assign idle_o = flight_q == 8'd0 && !push_i;

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      queue_head[wr_q[1:0]] <= head;
      if (push_req_i.op != tern_pkg::MEM_READ) queue_data[wr_q[1:0]] <= {push_req_i.be, push_req_i.wdata};
      wr_q <= wr_q + 1'b1;
    end
    if (pop) rd_q <= rd_q + 1'b1;
    under_3_q <= count < 3'd3;
    under_4_q <= count < 3'd4;
    popped_q  <= pop;
    flight_q <= flight_q + 8'(push_i) - 8'(mem_rsp_valid_i);
    if (hard_rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
      {under_3_q, under_4_q, popped_q} <= 3'b110;
      flight_q <= '0;
    end
  end

  // ------------------------------------------------------------------ notes, answers
  typedef struct packed {
    logic [1:0]    access;
    logic          gen;
    logic [WW-1:0] warp;
    logic [LW-1:0] lane;
    logic          is_private;
    logic [31:0]   addr;
    logic [31:0]   pc;
  } note_t;
  note_t note, answered, fault_q;  // of the request that is decided, is answered, was refused
  logic [$bits(note)-1:0] notes[0:127];
  logic good;

  assign good = mem_rsp_valid_i && mem_rsp_i.fault == '0 && !rst_i;
  assign fill_valid_o = good && !mem_rsp_tag_i[6];
  assign fill_o = mem_rsp_tag_i[FILL_W-1:0];
  assign fill_data_o = mem_rsp_i.data;
  assign written_o = good && mem_rsp_tag_i[6];
  assign note.access = note_i.access;
  assign note.gen = note_gen_i;
  assign note.warp = note_i.warp[WW-1:0];
  assign note.lane = note_i.lane[LW-1:0];
  assign note.is_private = note_i.is_private;
  assign note.addr = note_i.addr;
  assign note.pc = note_i.pc;
  assign answered = notes[mem_rsp_tag_i];
  assign written_gen_o = answered.gen;
  assign written_warp_o = answered.warp;

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
  logic refused_q, absent_q;
  logic [7:0] code_q;
  logic [31:0] base_q, offset;

  assign offset = fault_q.addr - base_q;
  logic unused, unused_ready;
  assign unused = &{1'b0, offset[2+:LW], push_req_i.line[27:26], note_i.warp, note_i.lane};
  always_ff @(posedge clk_i) begin
    if (note_valid_i) notes[note_tag_i] <= note;
    refused_q <= mem_rsp_valid_i && mem_rsp_i.fault != '0 && mem_rsp_i.fault != tern_spec_pkg::FAULT_PAGE_ABSENT;
    absent_q <= mem_rsp_valid_i && mem_rsp_i.fault == tern_spec_pkg::FAULT_PAGE_ABSENT;
    if (mem_rsp_valid_i && mem_rsp_i.fault != '0) begin
      code_q <= mem_rsp_i.fault;
      fault_tag_o <= mem_rsp_tag_i;
      fault_q <= answered;
      base_q <= stack_i + (32'(answered.warp) << (stack_log2_i + 5'(LW)));
    end
    if (rst_i) {refused_q, absent_q} <= '0;
  end
  assign fault_valid_o = refused_q;
  assign absent_o = absent_q;
  assign fault_o.code = code_q;
  assign fault_o.access = fault_q.access;
  assign fault_o.va = fault_q.is_private && !absent_q ?
      tern_spec_pkg::WIN_PRIVATE_BASE | 32'({offset[31:2+LW], offset[1:0]}) : fault_q.addr;
  assign fault_o.pc = fault_q.pc;
  assign fault_o.gen = fault_q.gen;
  assign fault_o.warp = 5'(fault_q.warp);
  assign fault_o.lane = 5'(fault_q.lane);

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (hard_rst_i) live_q <= 1'b1;
    if (live_q && !hard_rst_i) begin
      room_as_the_pointers: assert (room_o == (3'(wr_q - rd_q) < 3'd3));
      room_for_every_request: assert (!push_i || wr_q[1:0] != rd_q[1:0] || wr_q == rd_q);
      room_for_a_write: assert (!write_i || write_room_o || rst_i);
      answer_to_a_request: assert (!mem_rsp_valid_i || flight_q != 8'd0);
    end
  end
`endif
endmodule
