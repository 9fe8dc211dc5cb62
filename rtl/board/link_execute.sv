// SPDX-License-Identifier: Apache-2.0
// Executes the requests of the host and answers them (docs/board.md describes the frames).
//
// Contract: requests come from one link_ring, and answers go to another one. A request with the number that follows the
// number of the last one is executed. With one of the 127 numbers before, a read is executed again and a write is not.
// With any other number nothing is executed. Each request of 8 bytes or more has one answer, a shorter one has none.
// Each AXI master has at most one transfer in flight. An answer is complete only when all transfers of its request have
// been answered.
// Preemption: no state is saved, because the link is not part of the device.
module link_execute #(
    parameter int LIMIT  = 960,      // Largest number of data bytes of a read or a write.
    parameter int WINDOW = 2047,     // Bytes of requests that may wait, as the answer to a hello says.
    parameter bit SIMULATION = 1'b0  // See tern_link.
) (
    input  logic            clk_i,
    input  logic            rst_i,
    input  logic            irq_i,  // Interrupt, a level: every answer carries it.
    // Requests.
    input  logic            in_valid_i,
    output logic            in_ready_o,
    input  logic            in_last_i,
    input  logic [     7:0] in_data_i,
    // Answers.
    output logic            put_o,
    output logic [     7:0] data_o,
    output logic            end_o,
    output logic            drop_o,
    input  logic            room_i,
    // AXI4-Lite master for the registers.
    output tern_pkg::lite_req_t      regs_req_o,
    input  tern_pkg::axi_req_ready_t regs_req_ready_i,
    input  tern_pkg::lite_rsp_t      regs_rsp_i,
    output tern_pkg::axi_rsp_ready_t regs_rsp_ready_o,
    // AXI4 master for the memory.
    output tern_pkg::axi_req_t       mem_req_o,
    input  tern_pkg::axi_req_ready_t mem_req_ready_i,
    input  tern_pkg::axi_rsp_t       mem_rsp_i,
    output tern_pkg::axi_rsp_ready_t mem_rsp_ready_o
);
  localparam logic [7:0] HELLO = 8'd1, READ_REGISTERS = 8'd2, WRITE_REGISTERS = 8'd3, READ_MEMORY = 8'd4,
                         WRITE_MEMORY = 8'd5;
  localparam logic [2:0] DONE = 3'd0, REPEATED = 3'd1, SEQUENCE = 3'd2, MALFORMED = 3'd3, BUS = 3'd4;
  localparam logic [95:0] IDENTITY = {32'd0, 16'(LIMIT), 16'(WINDOW), 7'd0, SIMULATION, 8'd1, 8'h4c, 8'h54};
  typedef enum logic [3:0] {
    HEAD,     // Receives the 8 bytes of a request.
    DECIDE,   // Decides in two steps what is done.
    BEGIN,
    GATHER,    // Write: receives the bytes of a line or a register.
    ADDRESS,   // Write: sends address and data of the transfer.
    RESPONSE,  // Write: waits for its response.
    DRAIN,     // Drops the rest of the request.
    ROOM,      // Waits for room for the answer.
    ANSWER,    // Puts the first 4 bytes of the answer.
    IDENTIFY,  // Hello: puts the identity.
    FETCH,     // Read: sends the address of a line or a register.
    DATA,      // Read: waits for its data.
    PICK,      // Read: puts its bytes, two cycles each.
    PUT,
    FINISH  // Ends the answer.
  } state_e;

  state_e state_q;
  logic [63:0] head_q;  // {address, count, number, command}.
  logic [2:0] head_count_q;
  logic [7:0] next_q, age_q, pick_q, code;
  logic [2:0] status_q;
  logic bus_q;               // A transfer since the hello was answered with an error.
  logic hello_q, write_q, memory_q, sound_q;
  logic [31:0] cursor_q;     // Address of the transfer, or of the next byte that is read.
  logic [5:0] position_q;    // Offset in its line of the next byte that is written.
  logic [9:0] left_q;        // Data bytes of the request that are left.
  logic [511:0] line_q;      // Data of a write; bytes are shifted in from above.
  logic [63:0] strobe_q;
  logic address_q, data_q;   // Address, data of a write transfer have not been taken yet.
  logic short_q;             // A write has fewer bytes than its count says.
  logic [3:0] index_q;  // Byte of the answer or of the identity.
  logic take, shift, unit_end, bus_valid, bus_error, last_byte, response_valid, response_error;
  logic [7:0] answer, identity, read_byte;
  logic [511:0] line;
  logic [31:0] word;

  assign code = head_q[7:0];
  assign unit_end = memory_q ? &cursor_q[5:0] : &cursor_q[1:0];
  assign last_byte = left_q == 10'd1;

  // Requests from the ring.
  assign take = left_q != 10'd0 && cursor_q[5:0] == position_q;
  assign shift = state_q == GATHER && (!take || (in_valid_i && !in_last_i));
  assign in_ready_o = state_q == HEAD || state_q == DRAIN || (state_q == GATHER && take && !in_last_i);

  // AXI transfers.
  assign regs_req_o.aw_valid = state_q == ADDRESS && !memory_q && address_q;
  assign regs_req_o.w_valid = state_q == ADDRESS && !memory_q && data_q;
  assign regs_req_o.aw_addr = {cursor_q[13:2], 2'd0};
  assign regs_req_o.w_data = line_q[511:480];
  assign regs_rsp_ready_o.b = state_q == RESPONSE && !memory_q;
  assign regs_req_o.ar_valid = state_q == FETCH && !memory_q;
  assign regs_req_o.ar_addr = {cursor_q[13:2], 2'd0};
  assign mem_req_o.aw_valid = state_q == ADDRESS && memory_q && address_q;
  assign mem_req_o.w_valid = state_q == ADDRESS && memory_q && data_q;
  assign mem_req_o.aw_addr = {32'd0, cursor_q[31:6], 6'd0};
  assign mem_req_o.w_data = line_q;
  assign mem_req_o.w_strb = strobe_q;
  assign mem_rsp_ready_o.b = state_q == RESPONSE && memory_q;
  assign mem_req_o.ar_valid = state_q == FETCH && memory_q;
  assign mem_req_o.ar_addr = {32'd0, cursor_q[31:6], 6'd0};
  assign {mem_req_o.ar_id, mem_req_o.aw_id} = '0;
  assign bus_valid = memory_q ? mem_rsp_i.r_valid : regs_rsp_i.r_valid;
  assign bus_error = (memory_q ? mem_rsp_i.r_resp : regs_rsp_i.r_resp) != 2'd0;
  assign response_valid = memory_q ? mem_rsp_i.b_valid : regs_rsp_i.b_valid;
  assign response_error = (memory_q ? mem_rsp_i.b_resp : regs_rsp_i.b_resp) != 2'd0;
  assign line = mem_rsp_i.r_data;
  assign word = regs_rsp_i.r_data;
  // Read data stay on the bus until their last byte has been put.
  assign regs_rsp_ready_o.r = !memory_q &&
      ((state_q == PUT && (unit_end || last_byte)) || (state_q == DATA && bus_error));
  assign mem_rsp_ready_o.r = memory_q &&
      ((state_q == PUT && (unit_end || last_byte)) || (state_q == DATA && bus_error));
  assign read_byte = memory_q ? line[8*cursor_q[5:0]+:8] : word[8*cursor_q[1:0]+:8];

  // Answers into the ring.
  always_comb begin
    case (index_q[1:0])
      2'd0: answer = {1'b1, code[6:0]};
      2'd1: answer = head_q[15:8];
      2'd2: answer = {irq_i, bus_q, 3'd0, status_q};
      default: answer = next_q;
    endcase
    identity = IDENTITY[8*index_q+:8] | (index_q[3] ? head_q[32+8*index_q[1:0]+:8] : 8'd0);
    put_o = state_q == ANSWER || state_q == IDENTIFY || state_q == PUT;
    data_o = state_q == ANSWER ? answer : state_q == IDENTIFY ? identity : pick_q;
    end_o = state_q == FINISH;
    drop_o = state_q == DATA && bus_valid && bus_error;
  end

  always_ff @(posedge clk_i) begin
    if (shift) begin
      line_q <= {in_data_i, line_q[511:8]};
      strobe_q <= {take, strobe_q[63:1]};
      if (take) begin
        position_q <= position_q + 1'b1;
        left_q <= left_q - 1'b1;
      end
    end
    if ((shift && !unit_end) || state_q == PUT || (state_q == RESPONSE && response_valid)) cursor_q <= cursor_q + 1'b1;
    if (state_q == PUT) left_q <= left_q - 1'b1;
    pick_q <= read_byte;
    age_q <= next_q - head_q[15:8];

    case (state_q)
      HEAD: begin
        if (in_valid_i) begin
          head_q <= {in_data_i, head_q[63:8]};
          head_count_q <= in_last_i ? 3'd0 : head_count_q + 1'b1;
          if (&head_count_q && !in_last_i) state_q <= DECIDE;
        end
        short_q <= 1'b0;
        status_q <= DONE;
        index_q <= 4'd0;
      end
      DECIDE: begin
        hello_q <= code == HELLO;
        write_q <= code == WRITE_REGISTERS || code == WRITE_MEMORY;
        memory_q <= code == READ_MEMORY || code == WRITE_MEMORY;
        sound_q <= code == HELLO || ((code == READ_MEMORY || code == WRITE_MEMORY
                                      || ((code == READ_REGISTERS || code == WRITE_REGISTERS)
                                          && head_q[63:46] == 18'd0 && head_q[33:32] == 2'd0 && head_q[17:16] == 2'd0))
                                     && head_q[31:16] != 16'd0 && head_q[31:16] <= 16'(LIMIT));
        cursor_q <= {head_q[63:38], code == WRITE_MEMORY ? 6'd0 : head_q[37:32]};
        position_q <= head_q[37:32];
        left_q <= head_q[25:16];
        state_q <= BEGIN;
      end
      BEGIN: begin
        address_q <= 1'b1;
        data_q <= 1'b1;
        state_q <= DRAIN;
        if (hello_q) begin
          next_q <= head_q[15:8] + 1'b1;
          bus_q <= 1'b0;
        end else if (age_q != 8'd0) status_q <= age_q[7] ? SEQUENCE : write_q ? REPEATED : sound_q ? DONE : MALFORMED;
        else begin
          next_q <= next_q + 1'b1;
          if (!sound_q) status_q <= MALFORMED;
          else if (write_q) state_q <= GATHER;
        end
      end
      GATHER: begin
        if (take && in_valid_i && in_last_i) begin
          short_q <= 1'b1;
          state_q <= DRAIN;
        end else if (shift && unit_end) state_q <= ADDRESS;
      end
      ADDRESS: begin
        if (memory_q ? mem_req_ready_i.aw : regs_req_ready_i.aw) address_q <= 1'b0;
        if (memory_q ? mem_req_ready_i.w : regs_req_ready_i.w) data_q <= 1'b0;
        if (!address_q && !data_q) state_q <= RESPONSE;
      end
      RESPONSE: begin
        address_q <= 1'b1;
        data_q <= 1'b1;
        if (response_valid) state_q <= left_q == 10'd0 || response_error ? DRAIN : GATHER;
        if (response_valid && response_error) begin
          status_q <= BUS;
          bus_q <= 1'b1;
        end
      end
      DRAIN: begin
        if (in_valid_i && in_last_i) begin
          state_q <= ROOM;
          if (short_q) status_q <= MALFORMED;
        end else if (in_valid_i && status_q == DONE) status_q <= MALFORMED;  // The request is too long.
      end
      ROOM: if (room_i) state_q <= ANSWER;
      ANSWER: begin
        index_q <= index_q[1:0] == 2'd3 ? 4'd0 : index_q + 1'b1;
        if (index_q[1:0] == 2'd3)
          state_q <= status_q != DONE || write_q ? FINISH : hello_q ? IDENTIFY : FETCH;
      end
      IDENTIFY: begin
        index_q <= index_q + 1'b1;
        if (index_q == 4'd11) state_q <= FINISH;
      end
      FETCH: if (memory_q ? mem_req_ready_i.ar : regs_req_ready_i.ar) state_q <= DATA;
      DATA: begin
        if (bus_valid) state_q <= bus_error ? ANSWER : PICK;
        if (bus_valid && bus_error) begin
          status_q <= BUS;
          bus_q <= 1'b1;
        end
      end
      PICK: state_q <= PUT;
      PUT: state_q <= last_byte ? FINISH : unit_end ? FETCH : PICK;
      default: state_q <= HEAD;
    endcase
    if (rst_i) begin
      state_q <= HEAD;
      head_count_q <= 3'd0;
      next_q <= 8'd0;
      bus_q <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, mem_rsp_i.r_id, mem_rsp_i.b_id};
endmodule
