// SPDX-License-Identifier: Apache-2.0
// Moves an executor's state between its streams and the context-save area: lines 1 on of it, one a cycle, 64 in flight.
//
// Contract: start_i with page_i begins. save_i: what comes on the save stream is written, up to its last line; then sent_o
// holds, and the header may follow without waiting for answers; lines_o counts. Else lines_i lines are read ahead as soon
// as go_i holds (it stays then), and handed over on the restore stream, in order, once restore_i holds; given_o: the last
// one has been taken. fault_o and code_o: an answer said so; a save goes on to its end, a restore stops before that line.
// clear_i (a level) gives a restore up. settled_o: all that was asked has been answered. All until the next start or clear.
// The command processor opens its memory channel to this unit alone while it asks. All accesses are physical.
// Preemption saves nothing of it. It knows no layout: what the lines mean is the executor's affair.
module cp_stream #(
    parameter int FLIGHT_LOG2 = 6  // requests in flight; at most 6, the width of the tag
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         start_i,
    input  logic         save_i,
    input  logic [ 21:0] page_i,
    input  logic [ 15:0] lines_i,
    input  logic         go_i,
    input  logic         restore_i,
    input  logic         clear_i,
    output logic         sent_o,
    output logic         given_o,
    output logic         settled_o,
    output logic [ 15:0] lines_o,
    output logic         fault_o,
    output logic [  7:0] code_o,
    // executor
    input  logic         save_valid_i,
    output logic         save_ready_o,
    input  logic [511:0] save_data_i,
    input  logic         save_last_i,
    output logic         restore_valid_o,
    input  logic         restore_ready_i,
    output logic [511:0] restore_data_o,
    output logic         restore_last_o,
    // memory
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic         req_write_o,
    output logic [ 27:0] req_line_o,
    output logic [511:0] req_wdata_o,
    output logic [  5:0] req_tag_o,
    input  logic         rsp_valid_i,
    input  logic [  5:0] rsp_tag_i,
    input  logic [511:0] rsp_data_i,
    input  logic [  7:0] rsp_fault_i
);
  logic [27:0] line_q;   // to ask for next
  logic [15:0] left_q;   // of a restore: lines to ask for
  logic write_q, ask, bad_q;
  logic [7:0] code_q;

  // Save: a line waits here for memory. Writes are told apart by nobody, so they are only counted.
  logic taking_q, wait_q, sent_q, take, accepted;
  logic [15:0] lines_q;
  logic [FLIGHT_LOG2:0] flight_q;
  logic [511:0] data_q;

  assign accepted = req_valid_o && req_ready_i;
  assign save_ready_o = taking_q && !flight_q[FLIGHT_LOG2] && (!wait_q || req_ready_i);
  assign take = save_valid_i && save_ready_o;

  // Restore: a line waits behind the ring for the executor.
  logic full, drained, ring_clear, out_valid, out_last, pop, have_q, last_q, given_q;
  logic [FLIGHT_LOG2-1:0] ring_tag;
  logic [7:0] out_fault;
  logic restore_bad;

  read_ring #(.DEPTH_LOG2(FLIGHT_LOG2), .META_W(1)) u_ring (
      .clk_i, .rst_i, .clear_i(ring_clear), .full_o(full), .drained_o(drained), .alloc_i(accepted && !write_q),
      .alloc_tag_o(ring_tag), .meta_i(left_q == 16'd1), .rsp_valid_i(rsp_valid_i && !write_q),
      .rsp_tag_i(rsp_tag_i[FLIGHT_LOG2-1:0]), .rsp_data_i, .rsp_fault_i, .out_valid_o(out_valid), .out_meta_o(out_last),
      .out_fault_o(out_fault), .pop_i(pop), .data_o(restore_data_o)
  );
  assign restore_bad = restore_i && out_valid && |out_fault;
  assign pop = restore_i && out_valid && !(|out_fault) && (!have_q || restore_ready_i);
  assign ring_clear = clear_i && settled_o;

  assign ask = left_q != '0 && !full && go_i;
  assign req_valid_o = write_q ? wait_q : ask;
  assign req_write_o = write_q;
  assign req_line_o = line_q;
  assign req_wdata_o = data_q;
  assign req_tag_o = write_q ? line_q[5:0] : 6'(ring_tag);

  assign sent_o = sent_q;
  assign given_o = given_q;
  assign settled_o = !taking_q && !wait_q && flight_q == '0 && !(ask && !write_q) && drained;
  assign lines_o = lines_q;
  assign fault_o = bad_q || restore_bad;
  assign code_o = write_q ? code_q : out_fault;
  assign restore_valid_o = have_q;
  assign restore_last_o = last_q;

  always_ff @(posedge clk_i) begin
    if (accepted) line_q <= line_q + 1'b1;

    if (accepted && write_q) begin
      wait_q <= 1'b0;
      if (!taking_q) sent_q <= 1'b1;
    end
    if (take) begin
      wait_q <= 1'b1;
      data_q <= save_data_i;
      lines_q <= lines_q + 1'b1;
      if (save_last_i) taking_q <= 1'b0;
    end
    if (take != (rsp_valid_i && write_q)) flight_q <= take ? flight_q + 1'b1 : flight_q - 1'b1;
    if (rsp_valid_i && write_q && |rsp_fault_i) begin
      bad_q <= 1'b1;
      code_q <= rsp_fault_i;
    end

    if (accepted && !write_q) left_q <= left_q - 1'b1;
    if (pop) begin
      have_q <= 1'b1;
      last_q <= out_last;
    end else if (restore_ready_i) have_q <= 1'b0;
    if (have_q && restore_ready_i && last_q) given_q <= 1'b1;

    if (start_i) begin
      write_q <= save_i;
      taking_q <= save_i;
      line_q <= {page_i, 6'd1};
      left_q <= save_i ? '0 : lines_i;
      lines_q <= '0;
      sent_q <= 1'b0;
      given_q <= 1'b0;
      bad_q <= 1'b0;
    end
    if (clear_i) begin  // what is offered is asked yet
      left_q <= {15'b0, ask && !write_q && !req_ready_i};
      have_q <= 1'b0;
      lines_q <= '0;
      bad_q <= 1'b0;
    end
    if (rst_i) begin
      {write_q, taking_q, wait_q, sent_q, have_q, given_q, bad_q} <= '0;
      left_q <= '0;
      flight_q <= '0;
      lines_q <= '0;
    end
  end
endmodule
