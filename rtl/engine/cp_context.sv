// SPDX-License-Identifier: Apache-2.0
// The header of a context-save area (docs/spec/context.yaml): marks the area empty, writes a saved header, reads it
// back.
//
// Contract: start_i begins, with op_i and the first page of the area. A save also takes the offset of the packet to run
// next or to go on with, the executor that was cut in it (0: none), and the number of lines of its state. done_o ends
// the operation, or fault_o with fault_code_o. The fault is an error of memory; or, in a load, context_invalid, if the
// area holds no saved context, has a reserved bit set, or has a number of lines that no executor can have. After a load
// offset_o, executor_o and lines_o are the saved values. All outputs stay until the next start. All accesses are
// physical.
// Preemption: this header, one line, is all that is saved of the command processor itself.
module cp_context #(
    parameter int SAVE_LINES = 64  // Lines of the area without its list, the header included.
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         start_i,
    input  logic [  1:0] op_i,    // 0: mark empty, 1: save, 2: load.
    input  logic [ 21:0] page_i,  // Physical page number.
    input  logic [ 31:0] offset_i,
    input  logic [  1:0] executor_i,
    input  logic [ 15:0] lines_i,
    output logic         done_o,
    output logic         fault_o,
    output logic [  7:0] fault_code_o,
    output logic [ 31:0] offset_o,
    output logic [  1:0] executor_o,
    output logic [ 15:0] lines_o,
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic         req_write_o,
    output logic [ 27:0] req_line_o,
    output logic [511:0] req_wdata_o,
    input  logic         rsp_valid_i,
    input  logic [511:0] rsp_data_i,
    input  logic [  7:0] rsp_fault_i
);
  localparam logic [1:0] OP_INIT = 2'd0, OP_SAVE = 2'd1;  // 2 is a load.

  logic ask_q, answer_q, check_q, done_q, fault_q;
  logic [1:0] op_q;
  logic [21:0] page_q;
  logic [31:0] offset_q;
  logic [7:0] code_q;
  logic [1:0] executor_q;
  logic [15:0] lines_q;
  logic magic_q, saved_q, stray_q, sound;

  assign done_o = done_q;
  assign fault_o = fault_q;
  assign fault_code_o = code_q;
  assign offset_o = offset_q;
  assign executor_o = executor_q;
  assign lines_o = lines_q;
  assign req_valid_o = ask_q;
  assign req_write_o = op_q == OP_INIT || op_q == OP_SAVE;
  assign req_line_o = {page_q, 6'b0};

  always_comb begin
    req_wdata_o = '0;
    req_wdata_o[tern_spec_pkg::CTX_MAGIC_LSB+:32] = tern_spec_pkg::CTX_MAGIC_VALUE;
    req_wdata_o[tern_spec_pkg::CTX_STATE_LSB+:2] =
        op_q == OP_SAVE ? tern_spec_pkg::CTX_STATE_SAVED : tern_spec_pkg::CTX_STATE_EMPTY;
    req_wdata_o[tern_spec_pkg::CTX_OFFSET_LSB+:32] = op_q == OP_SAVE ? offset_q : '0;
    if (op_q == OP_SAVE) begin
      req_wdata_o[tern_spec_pkg::CTX_EXECUTOR_LSB+:8] = {6'b0, executor_q};
      req_wdata_o[tern_spec_pkg::CTX_LINES_LSB+:16] = lines_q;
    end
  end

  assign sound = magic_q && saved_q && !stray_q && (|lines_q) == (|executor_q) && lines_q < 16'(SAVE_LINES);

  always_ff @(posedge clk_i) begin
    check_q <= 1'b0;
    if (start_i) begin
      done_q <= 1'b0;
      fault_q <= 1'b0;
      ask_q <= 1'b1;
      op_q <= op_i;
      page_q <= page_i;
      offset_q <= offset_i;
      executor_q <= executor_i;
      lines_q <= lines_i;
    end
    if (ask_q && req_ready_i) begin
      ask_q <= 1'b0;
      answer_q <= 1'b1;
    end
    if (answer_q && rsp_valid_i) begin
      answer_q <= 1'b0;
      code_q <= rsp_fault_i;
      fault_q <= |rsp_fault_i;
      done_q <= !(|rsp_fault_i) && req_write_o;
      check_q <= !(|rsp_fault_i) && !req_write_o;
      magic_q <= rsp_data_i[tern_spec_pkg::CTX_MAGIC_LSB+:32] == tern_spec_pkg::CTX_MAGIC_VALUE;
      saved_q <= rsp_data_i[tern_spec_pkg::CTX_STATE_LSB+:32] == {30'b0, tern_spec_pkg::CTX_STATE_SAVED};
      stray_q <= |rsp_data_i[511:tern_spec_pkg::CTX_LINES_LSB+16] ||
          |rsp_data_i[tern_spec_pkg::CTX_LINES_LSB-1:tern_spec_pkg::CTX_EXECUTOR_LSB+2];
      if (!req_write_o) begin
        offset_q <= rsp_data_i[tern_spec_pkg::CTX_OFFSET_LSB+:32];
        executor_q <= rsp_data_i[tern_spec_pkg::CTX_EXECUTOR_LSB+:2];
        lines_q <= rsp_data_i[tern_spec_pkg::CTX_LINES_LSB+:16];
      end
    end
    if (check_q) begin
      done_q <= sound;
      fault_q <= !sound;
      code_q <= tern_spec_pkg::FAULT_CONTEXT_INVALID;
    end
    if (rst_i) begin
      ask_q <= 1'b0;
      answer_q <= 1'b0;
      check_q <= 1'b0;
      done_q <= 1'b0;
      fault_q <= 1'b0;
    end
  end
endmodule
