// SPDX-License-Identifier: Apache-2.0
// Writes page-table entries: packet pte_update (A4).
//
// Contract: start_i begins, with the physical address of the first entry, the number of entries, the value of the first
// one, and the step from one to the next. All entries are in one 4 KiB table (cp_check). When all writes have been
// answered, one pulse ends the packet: done_o, or fault_o with fault_code_o and fault_va_o, the lowest entry that was
// not written. One entry is made a cycle, and up to 64 lines are in flight. A full table takes about 1,100 cycles, the
// latency of memory included, with one adder instead of sixteen.
// Preemption: no state is saved, since the packet ends by itself in bounded time.
module cp_pte (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         start_i,
    input  logic [ 31:0] table_i,  // Address of the first entry, in units of 4 bytes.
    input  logic [ 10:0] count_i,  // Entries, 1 to 1024.
    input  logic [ 31:0] pte_i,    // First entry.
    input  logic [ 31:0] step_i,   // Added from entry to entry.
    output logic         done_o,
    output logic         fault_o,
    output logic [  7:0] fault_code_o,
    output logic [ 31:0] fault_va_o,
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic [ 27:0] req_line_o,
    output logic [511:0] req_wdata_o,
    output logic [ 63:0] req_be_o,
    output logic [  5:0] req_tag_o,     // Line of the table.
    input  logic         rsp_valid_i,
    input  logic [  5:0] rsp_tag_i,
    input  logic [  7:0] rsp_fault_i
);
  logic active_q, done_q, fault_q, bad_q, send_q;
  logic [21:0] page_q;
  logic [9:0] entry_q, first_q;
  logic [10:0] left_q;
  logic [31:0] pte_q, step_q;
  logic [511:0] line_q;
  logic [63:0] be_q;
  logic [6:0] flight_q;
  logic [7:0] code_q;
  logic [5:0] bad_line_q, send_line_q;
  logic take, line_ends;

  assign line_ends = &entry_q[3:0] || left_q == 11'd1;
  assign take = active_q && left_q != '0 && !send_q;

  assign done_o = done_q;
  assign fault_o = fault_q;
  assign fault_code_o = code_q;
  assign fault_va_o = bad_line_q == first_q[9:4] ? {page_q[19:0], first_q, 2'b0} : {page_q[19:0], bad_line_q, 6'b0};
  assign req_valid_o = send_q;
  assign req_line_o = {page_q, send_line_q};
  assign req_wdata_o = line_q;
  assign req_be_o = be_q;
  assign req_tag_o = send_line_q;

  always_ff @(posedge clk_i) begin
    done_q <= 1'b0;
    fault_q <= 1'b0;
    if (start_i) begin
      active_q <= 1'b1;
      bad_q <= 1'b0;
      page_q <= table_i[31:10];
      entry_q <= table_i[9:0];
      first_q <= table_i[9:0];
      left_q <= count_i;
      pte_q <= pte_i;
      step_q <= step_i;
      be_q <= '0;
    end
    if (send_q && req_ready_i) begin
      send_q <= 1'b0;
      be_q <= '0;
    end
    if (take) begin
      for (int i = 0; i < 16; i++)  // Each word has an enable, since a shift would be deeper.
        if (entry_q[3:0] == 4'(i)) begin
          line_q[32*i+:32] <= pte_q;
          be_q[4*i+:4] <= 4'hf;
        end
      pte_q <= pte_q + step_q;
      entry_q <= entry_q + 1'b1;
      left_q <= left_q - 1'b1;
      send_q <= line_ends;
      send_line_q <= entry_q[9:4];
    end
    if ((send_q && req_ready_i) != rsp_valid_i) flight_q <= rsp_valid_i ? flight_q - 1'b1 : flight_q + 1'b1;
    if (rsp_valid_i && |rsp_fault_i && (!bad_q || rsp_tag_i < bad_line_q)) begin
      bad_q <= 1'b1;
      bad_line_q <= rsp_tag_i;
      code_q <= rsp_fault_i;
    end
    if (active_q && left_q == '0 && !send_q && flight_q == '0) begin
      active_q <= 1'b0;
      done_q <= !bad_q;
      fault_q <= bad_q;
    end
    if (rst_i) begin
      active_q <= 1'b0;
      send_q <= 1'b0;
      done_q <= 1'b0;
      fault_q <= 1'b0;
      flight_q <= '0;
      left_q <= '0;
    end
  end
endmodule
