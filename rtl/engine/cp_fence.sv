// SPDX-License-Identifier: Apache-2.0
// Writes, or waits for, a 64-bit value in memory (S3): packets fence_signal, timestamp and fence_wait.
//
// Contract: start_i begins, with address and value. With wait_i the unit waits until the value in memory, unsigned, is
// at least value_i; otherwise it writes value_i. One pulse ends the packet: done_o; or fault_o with fault_code_o (the
// caller knows access and address); or stopped_o, if stop_i (a level) is high in a wait that is not satisfied (P7). A
// wait reads memory again POLL cycles after each answer.
// Preemption: no state is saved; a resumed wait begins anew.
module cp_fence #(
    parameter int POLL = 32  // Cycles from an answer to the next read; a power of two, at least 2.
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         start_i,
    input  logic         wait_i,
    input  logic [ 30:0] address_i,     // Address in units of 8 bytes.
    input  logic [ 63:0] value_i,
    input  logic         stop_i,
    output logic         done_o,
    output logic         stopped_o,
    output logic         fault_o,
    output logic [  7:0] fault_code_o,
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic         req_write_o,
    output logic [ 27:0] req_line_o,
    output logic [511:0] req_wdata_o,
    output logic [ 63:0] req_be_o,
    input  logic         rsp_valid_i,
    input  logic [511:0] rsp_data_i,
    input  logic [  7:0] rsp_fault_i
);
  // States. ASK makes the request, ANSWER waits for memory, COMPARE looks at the value, PAUSE waits for POLL cycles.
  localparam logic [2:0] S_IDLE = 3'd0, S_ASK = 3'd1, S_ANSWER = 3'd2, S_COMPARE = 3'd3, S_PAUSE = 3'd4;

  generate
    if (POLL < 2 || (POLL & (POLL - 1)) != 0) begin : g_check
      $error("cp_fence: POLL is a power of two, at least 2");
    end
  endgenerate

  logic [2:0] state_q;
  logic wait_q, done_q, stopped_q, fault_q;
  logic [30:0] address_q;  // Address in units of 8 bytes.
  logic [63:0] value_q, seen_q;
  logic [7:0] code_q;
  logic [$clog2(POLL)-1:0] pause_q;

  assign done_o = done_q;
  assign stopped_o = stopped_q;
  assign fault_o = fault_q;
  assign fault_code_o = code_q;
  assign req_valid_o = state_q == S_ASK;
  assign req_write_o = !wait_q;
  assign req_line_o = address_q[30:3];
  assign req_wdata_o = {8{value_q}};
  assign req_be_o = 64'hff << {address_q[2:0], 3'b0};

  always_ff @(posedge clk_i) begin
    done_q <= 1'b0;
    stopped_q <= 1'b0;
    fault_q <= 1'b0;
    case (state_q)
      S_IDLE:
      if (start_i) begin
        wait_q <= wait_i;
        address_q <= address_i;
        value_q <= value_i;
        state_q <= S_ASK;
      end
      S_ASK: if (req_ready_i) state_q <= S_ANSWER;
      S_ANSWER:
      if (rsp_valid_i) begin
        code_q <= rsp_fault_i;
        seen_q <= rsp_data_i[{address_q[2:0], 6'b0}+:64];
        fault_q <= |rsp_fault_i;
        done_q <= !(|rsp_fault_i) && !wait_q;
        state_q <= wait_q && !(|rsp_fault_i) ? S_COMPARE : S_IDLE;
      end
      S_COMPARE: begin
        done_q <= seen_q >= value_q;
        state_q <= seen_q >= value_q ? S_IDLE : S_PAUSE;
        pause_q <= '1;
      end
      S_PAUSE: begin
        pause_q <= pause_q - 1'b1;
        stopped_q <= stop_i;
        if (stop_i) state_q <= S_IDLE;
        else if (pause_q == '0) state_q <= S_ASK;
      end
      default: state_q <= S_IDLE;
    endcase
    if (rst_i) begin
      state_q <= S_IDLE;
      done_q <= 1'b0;
      stopped_q <= 1'b0;
      fault_q <= 1'b0;
    end
  end
endmodule
