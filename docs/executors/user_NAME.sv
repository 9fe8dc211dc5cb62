// SPDX-License-Identifier: Apache-2.0
// The user executor NAME: dst[i] = src[i] ^ key, a line of 16 words at a time.
//
// Arguments and state: docs/spec/executors/NAME.yaml. Contract: the executor interface
// (docs/hardware/interfaces.md). One request is in flight at most. Preemption saves the number of words that are
// done: between two lines, all words before that place are in memory and none behind it is. A restored state that no
// stop can have saved is a fault.
module user_NAME (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  logic                   start_valid_i,
    output logic                   start_ready_o,
    input  tern_pkg::exec_cmd_t    start_i,
    output tern_pkg::exec_status_t status_o,
    input  logic                   stop_req_i,
    input  logic [1:0]             stop_gran_i,
    output logic                   save_valid_o,
    input  logic                   save_ready_i,
    output tern_pkg::exec_line_t   save_o,
    input  logic                   restore_valid_i,
    output logic                   restore_ready_o,
    input  tern_pkg::exec_line_t   restore_i,
    output logic                   req_valid_o,
    input  logic                   req_ready_i,
    output tern_pkg::mem_req_t     req_o,
    output logic [7:0]             req_tag_o,
    input  logic                   rsp_valid_i,
    input  logic [7:0]             rsp_tag_i,
    input  tern_pkg::mem_rsp_t     rsp_i
);
  localparam logic [2:0] S_IDLE = 3'd0, S_RESTORE = 3'd1, S_CHECK = 3'd2, S_NEXT = 3'd3, S_ASK = 3'd4, S_WAIT = 3'd5,
      S_SAVE = 3'd6;
  localparam int STATE = tern_spec_pkg::USER_UPPER_STATE_DONE_LSB;

  logic [2:0] state_q;
  logic [31:0] n_q, key_q, src_q, dst_q, place_q, left;  // place: words that are done
  logic [511:0] line_q;
  logic write_q, done_q, fault_q, stopped_q, refused, extra_q, lost;
  logic [7:0] code_q;
  logic [1:0] access_q;
  logic [31:0] va_q, address;
  logic unused;

  assign unused = &{1'b0, start_i, rsp_tag_i, stop_gran_i[0], address[5:0]};
  assign start_ready_o = state_q == S_IDLE;
  always_comb begin
    status_o = '0;
    status_o.done = done_q;
    status_o.faulted = fault_q;
    status_o.stopped = stopped_q;
    status_o.fault.code = code_q;
    status_o.fault.access = access_q;
    status_o.fault.va = va_q;
  end
  assign restore_ready_o = state_q == S_RESTORE;
  assign save_valid_o = state_q == S_SAVE;
  assign save_o.last = 1'b1;
  always_comb begin
    save_o.data = '0;
    save_o.data[STATE+:32] = place_q;
  end

  assign refused = |src_q[5:0] || |dst_q[5:0] || |n_q[31:30];
  assign left = n_q - place_q;
  // A restored state is invalid if its place is none at which the executor stops (lost), or if a word is set that the
  // description does not name (extra_q).
  assign lost = place_q > n_q || (|place_q[3:0] && place_q != n_q);

  // Memory: a read of a line, then a write of what it becomes
  assign address = (write_q ? dst_q : src_q) + {place_q[29:0], 2'b0};
  assign req_valid_o = state_q == S_ASK;
  assign req_o.amo = '0;
  assign req_o.op = write_q ? tern_pkg::MEM_WRITE : tern_pkg::MEM_READ;
  assign req_o.line = {2'b0, address[31:6]};
  assign req_o.wdata = line_q;
  assign req_tag_o = '0;
  for (genvar w = 0; w < 16; w++) begin : g_be
    assign req_o.be[4*w+:4] = {4{left > 32'(w)}};
  end

  always_ff @(posedge clk_i) begin
    done_q <= 1'b0;
    fault_q <= 1'b0;
    stopped_q <= 1'b0;
    case (state_q)
      S_IDLE:
      if (start_valid_i) begin
        n_q <= start_i.packet[tern_spec_pkg::USER_UPPER_N_LSB+:32];
        key_q <= start_i.packet[tern_spec_pkg::USER_UPPER_KEY_LSB+:32];
        src_q <= start_i.packet[tern_spec_pkg::USER_UPPER_SRC_LSB+:32];
        dst_q <= start_i.packet[tern_spec_pkg::USER_UPPER_DST_LSB+:32];
        place_q <= '0;
        extra_q <= 1'b0;
        state_q <= start_i.resume ? S_RESTORE : S_CHECK;
      end
      S_RESTORE:
      if (restore_valid_i) begin
        place_q <= restore_i.data[STATE+:32];
        extra_q <= |(restore_i.data & ~(512'hffff_ffff << STATE));
        if (restore_i.last) state_q <= S_CHECK;
      end
      S_CHECK: begin
        code_q <= refused && !extra_q ? tern_spec_pkg::FAULT_EXECUTOR : tern_spec_pkg::FAULT_CONTEXT_INVALID;
        access_q <= 2'd0;
        va_q <= extra_q ? '0 : |src_q[5:0] ? src_q : |dst_q[5:0] ? dst_q : '0;
        fault_q <= refused || lost || extra_q;
        state_q <= refused || lost || extra_q ? S_IDLE : S_NEXT;
      end
      S_NEXT: begin  // between two lines: here it ends, or stops
        write_q <= 1'b0;
        if (place_q == n_q) begin
          done_q <= 1'b1;
          state_q <= S_IDLE;
        end else if (stop_req_i && stop_gran_i[1]) begin
          stopped_q <= 1'b1;
          state_q <= S_SAVE;
        end else state_q <= S_ASK;
      end
      S_ASK: if (req_ready_i) state_q <= S_WAIT;
      S_WAIT:
      if (rsp_valid_i) begin
        line_q <= rsp_i.data ^ {16{key_q}};
        write_q <= 1'b1;
        code_q <= rsp_i.fault;
        access_q <= write_q ? 2'd1 : 2'd0;
        va_q <= address;
        fault_q <= |rsp_i.fault;
        if (write_q) place_q <= place_q + (left < 32'd16 ? left : 32'd16);
        state_q <= |rsp_i.fault ? S_IDLE : write_q ? S_NEXT : S_ASK;
      end
      default: if (save_ready_i) state_q <= S_IDLE;
    endcase
    if (rst_i) begin
      state_q <= S_IDLE;
      done_q <= 1'b0;
      fault_q <= 1'b0;
      stopped_q <= 1'b0;
    end
  end
endmodule
