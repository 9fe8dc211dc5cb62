// SPDX-License-Identifier: Apache-2.0
// Fetches a packet: its line, and the line after it if the buffer has one, both at once.
//
// Contract: start_i begins a fetch. line_i is the address of the packet in lines; second_i is high if the buffer has a
// line after it. done_o is a pulse. From then until the next start packet_o holds both lines, an absent second one as
// zero, and fault_o the fault codes of both, that of the second line in the upper half. The caller ignores the second
// line's fault if the packet has one line. A packet is fetched only after the one before it has ended, since that one
// may write it.
// Preemption: no state is saved; a resume fetches the packet again.
module cp_fetch (
    input  logic          clk_i,
    input  logic          rst_i,
    input  logic          start_i,
    input  logic [  27:0] line_i,
    input  logic          second_i,
    output logic          done_o,
    output logic [1023:0] packet_o,
    output logic [  15:0] fault_o,
    output logic          req_valid_o,
    input  logic          req_ready_i,
    output logic [  27:0] req_line_o,
    output logic          req_tag_o,
    input  logic          rsp_valid_i,
    input  logic          rsp_tag_i,
    input  logic [ 511:0] rsp_data_i,
    input  logic [   7:0] rsp_fault_i
);
  logic active_q, done_q;
  logic [1:0] ask_q, wait_q;  // Lines that are not requested yet; lines that have not come.
  logic [27:0] line_q;
  logic [1023:0] packet_q;
  logic [15:0] fault_q;

  assign req_valid_o = |ask_q;
  assign req_tag_o = !ask_q[0];
  assign req_line_o = line_q;
  assign done_o = done_q;
  assign packet_o = packet_q;
  assign fault_o = fault_q;

  always_ff @(posedge clk_i) begin
    done_q <= 1'b0;
    if (start_i) begin
      active_q <= 1'b1;
      ask_q <= {second_i, 1'b1};
      wait_q <= {second_i, 1'b1};
      line_q <= line_i;
      fault_q <= '0;
      if (!second_i) packet_q[1023:512] <= '0;
    end
    if (|ask_q && req_ready_i) begin
      if (ask_q[0]) ask_q[0] <= 1'b0;
      else ask_q[1] <= 1'b0;
      line_q <= line_q + 1'b1;
    end
    if (rsp_valid_i && active_q) begin
      if (rsp_tag_i) begin
        packet_q[1023:512] <= rsp_data_i;
        fault_q[15:8] <= rsp_fault_i;
      end else begin
        packet_q[511:0] <= rsp_data_i;
        fault_q[7:0] <= rsp_fault_i;
      end
      wait_q[rsp_tag_i] <= 1'b0;
      if (!wait_q[!rsp_tag_i]) begin
        active_q <= 1'b0;
        done_q <= 1'b1;
      end
    end
    if (rst_i) begin
      active_q <= 1'b0;
      done_q <= 1'b0;
      ask_q <= '0;
      wait_q <= '0;
    end
  end
endmodule
