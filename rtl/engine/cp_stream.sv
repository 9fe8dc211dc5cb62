// SPDX-License-Identifier: Apache-2.0
// Moves an executor's state between its streams and the context-save area, a line a cycle, with 64 requests in flight.
// The state follows the list of pages in the area (docs/spec/context.yaml) and lies in the pages that the list names.
//
// Contract: start_i begins a save (save_i) or a restore; page_i is the first page of the area. All accesses are
// physical.
// Save: the lines of the save stream are written, up to its last one. When memory has taken that one, sent_o holds, and
// the header may be written without waiting for answers. lines_o counts the lines.
// Restore: lines_i lines are read ahead from the cycle on in which go_i rises; it stays high. The restore stream hands
// the lines over in order, once restore_i holds. given_o: the last line has been taken.
// The list is requested first. Memory answers while the rest of the first page moves, so the list costs only one
// request for each of its lines. A restore whose lines are all in the first page does not read the list.
// Example: with LIST_LINES = 1 the first page has the header in line 0, the list in line 1 and 62 lines of state; entry
// 0 of the list names the page of the next 64 lines.
// fault_o with code_o: an answer was a fault, or the entry of a page that is needed names no page (context_invalid). A
// save goes on to its end, without the lines that have no page. A restore stops before such a line.
// clear_i (a level) gives a restore up. settled_o: all requests have been answered. The outputs hold until the next
// start or clear. While this unit makes requests, the command processor opens its memory channel to no other unit.
// The unit does not know the layout of the state, which only the executor knows.
// Preemption: no state of this unit is saved.
module cp_stream #(
    parameter int FLIGHT_LOG2 = 6,  // log2 of the requests in flight; at most 6, the width of the tag.
    parameter int LIST_LINES  = 1,  // Lines of the list, 0 to 7.
    parameter int PAGE_LOG2   = 6   // log2 of the lines of a page; less than 6 in the proof only.
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
    // Streams of the executor.
    input  logic         save_valid_i,
    output logic         save_ready_o,
    input  logic [511:0] save_data_i,
    input  logic         save_last_i,
    output logic         restore_valid_o,
    input  logic         restore_ready_i,
    output logic [511:0] restore_data_o,
    output logic         restore_last_o,
    // Memory channel.
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic         req_write_o,
    output logic [ 27:0] req_line_o,
    output logic [511:0] req_wdata_o,
    output logic [  6:0] req_tag_o,      // Bit 6 is set for a line of the list.
    input  logic         rsp_valid_i,
    input  logic [  6:0] rsp_tag_i,
    input  logic [511:0] rsp_data_i,
    input  logic [  7:0] rsp_fault_i
);
  localparam int ROW_W = LIST_LINES > 1 ? $clog2(LIST_LINES) : 1;
  localparam logic [9:0] NAMES_A_PAGE = 10'(1 << tern_spec_pkg::PTE_VALID_LSB | 1 << tern_spec_pkg::PTE_READ_LSB |
                                            1 << tern_spec_pkg::PTE_WRITE_LSB);
  localparam logic [PAGE_LOG2-1:0] LISTED = PAGE_LOG2'(LIST_LINES);

  logic [22+PAGE_LOG2-1:0] line_q;  // Line that is requested next.
  logic here_q, lost_q;             // here: its page is known; lost: its entry names no page.
  logic [15:0] left_q;              // Restore: lines that are not requested yet.
  logic write_q, ask, bad_q, accepted, passed, rsp_state;
  logic [7:0] code_q;

  // The list is requested before the state. The module keeps the page of each entry, and whether the entry names none.
  // The entry of the next page is looked up ahead.
  logic [16*23-1:0] list[0:(1<<ROW_W)-1];
  logic [16*23-1:0] row, line_of_list;
  logic [(1<<ROW_W)-1:0] listed_q;
  logic [2:0] list_left_q, list_owed_q;
  logic [ROW_W+3:0] entry_q;  // Entry that is looked up next.
  logic [22:0] next_q;
  logic next_valid_q, ask_list, rsp_list, turns;

  assign ask_list = list_left_q != '0 && (write_q || go_i);
  assign rsp_list = rsp_valid_i && rsp_tag_i[6];
  assign row = list[entry_q[4+:ROW_W]];
  assign turns = !here_q || (accepted && &line_q[PAGE_LOG2-1:0]);
  always_comb
    for (int i = 0; i < 16; i++)
      line_of_list[23*i+:23] = {rsp_data_i[32*i+:10] != NAMES_A_PAGE, rsp_data_i[32*i+10+:22]};

  // Save: a line waits in data_q for memory. Nobody needs to tell the answers of writes apart, so writes in flight are
  // only counted.
  logic taking_q, wait_q, sent_q, take, dropped;
  logic [15:0] lines_q;
  logic [FLIGHT_LOG2:0] flight_q;
  logic [511:0] data_q;

  assign accepted = req_valid_o && req_ready_i;
  assign dropped = wait_q && lost_q;
  assign passed = (accepted && !ask_list) || dropped;
  assign rsp_state = rsp_valid_i && !rsp_tag_i[6];
  assign save_ready_o = taking_q && !flight_q[FLIGHT_LOG2] && (!wait_q || passed);
  assign take = save_valid_i && save_ready_o;

  // Restore: a line waits behind the ring for the executor.
  logic full, drained, ring_clear, out_valid, out_last, pop, have_q, last_q, given_q;
  logic [FLIGHT_LOG2-1:0] ring_tag;
  logic [7:0] out_fault;
  logic restore_bad, no_page;

  read_ring #(.DEPTH_LOG2(FLIGHT_LOG2), .META_W(1)) u_ring (
      .clk_i,
      .rst_i,
      .clear_i(ring_clear),
      .full_o(full),
      .drained_o(drained),
      .alloc_i(passed && !write_q),
      .alloc_tag_o(ring_tag),
      .meta_i(left_q == 16'd1),
      .rsp_valid_i(rsp_state && !write_q),
      .rsp_tag_i(rsp_tag_i[FLIGHT_LOG2-1:0]),
      .rsp_data_i,
      .rsp_fault_i,
      .out_valid_o(out_valid),
      .out_meta_o(out_last),
      .out_fault_o(out_fault),
      .pop_i(pop),
      .data_o(restore_data_o)
  );
  assign no_page = lost_q && left_q != '0 && drained && !out_valid;  // All lines before that one have left the ring.
  assign restore_bad = restore_i && (no_page || (out_valid && |out_fault));
  assign pop = restore_i && out_valid && !(|out_fault) && (!have_q || restore_ready_i);
  assign ring_clear = clear_i && settled_o;

  assign ask = left_q != '0 && list_left_q == '0 && !full && go_i && here_q && !lost_q;
  assign req_valid_o = ask_list || (write_q ? wait_q && here_q && !lost_q : ask);
  assign req_write_o = write_q && !ask_list;
  assign req_line_o = 28'(line_q);
  assign req_wdata_o = data_q;
  assign req_tag_o = ask_list ? {1'b1, 6'(line_q[PAGE_LOG2-1:0] - 1'b1)} :
      {1'b0, write_q ? 6'(line_q) : 6'(ring_tag)};

  assign sent_o = sent_q;
  assign given_o = given_q && list_owed_q == '0;
  assign settled_o = !taking_q && !wait_q && flight_q == '0 && !req_valid_o && list_owed_q == '0 && drained;
  assign lines_o = lines_q;
  assign fault_o = bad_q || restore_bad;
  assign code_o = bad_q ? code_q : no_page ? tern_spec_pkg::FAULT_CONTEXT_INVALID : out_fault;
  assign restore_valid_o = have_q;
  assign restore_last_o = last_q;

  always_ff @(posedge clk_i) begin
    // The next line of a page, or the first line of the next page.
    if (accepted) line_q <= line_q + 1'b1;
    if (accepted && &line_q[PAGE_LOG2-1:0]) here_q <= 1'b0;
    if (next_valid_q && turns) begin
      line_q <= {next_q[21:0], PAGE_LOG2'(0)};
      {here_q, lost_q} <= {1'b1, next_q[22]};
      next_valid_q <= 1'b0;
    end else if (!next_valid_q && listed_q[entry_q[4+:ROW_W]]) begin
      next_q <= row[23*entry_q[3:0]+:23];
      next_valid_q <= 1'b1;
      entry_q <= entry_q + 1'b1;
    end

    if (accepted && ask_list) list_left_q <= list_left_q - 1'b1;
    list_owed_q <= list_owed_q + 3'(accepted && ask_list) - 3'(rsp_list);
    if (rsp_list) begin
      list[rsp_tag_i[ROW_W-1:0]] <= line_of_list;
      listed_q[rsp_tag_i[ROW_W-1:0]] <= 1'b1;
    end

    if (passed && write_q) begin
      wait_q <= 1'b0;
      if (!taking_q) sent_q <= 1'b1;
    end
    if (take) begin
      wait_q <= 1'b1;
      data_q <= save_data_i;
      lines_q <= lines_q + 1'b1;
      if (save_last_i) taking_q <= 1'b0;
    end
    flight_q <= flight_q + (FLIGHT_LOG2 + 1)'(take) - (FLIGHT_LOG2 + 1)'(dropped) -
        (FLIGHT_LOG2 + 1)'(rsp_state && write_q);
    if (dropped && !bad_q) {bad_q, code_q} <= {1'b1, tern_spec_pkg::FAULT_CONTEXT_INVALID};
    if (rsp_valid_i && (write_q || rsp_list) && |rsp_fault_i) {bad_q, code_q} <= {1'b1, rsp_fault_i};

    if (passed && !write_q) left_q <= left_q - 1'b1;
    if (pop) begin
      have_q <= 1'b1;
      last_q <= out_last;
    end else if (restore_ready_i) have_q <= 1'b0;
    if (have_q && restore_ready_i && last_q) given_q <= 1'b1;

    if (start_i) begin
      write_q <= save_i;
      taking_q <= save_i;
      line_q <= {page_i, PAGE_LOG2'(1)};
      {here_q, lost_q, next_valid_q} <= 3'b100;
      listed_q <= '0;
      entry_q <= '0;
      list_left_q <= 3'(LIST_LINES);
      if (!save_i && lines_i < 16'(1 << PAGE_LOG2) - 16'(LIST_LINES)) begin  // All lines are in the first page.
        line_q <= {page_i, LISTED + 1'b1};
        list_left_q <= '0;
      end
      left_q <= save_i ? '0 : lines_i;
      lines_q <= '0;
      sent_q <= 1'b0;
      given_q <= 1'b0;
      bad_q <= 1'b0;
    end
    if (clear_i) begin  // A request that is on offer is still made.
      left_q <= {15'b0, ask && !write_q && !req_ready_i};
      list_left_q <= {2'b0, ask_list && !req_ready_i};
      have_q <= 1'b0;
      lines_q <= '0;
      bad_q <= 1'b0;
    end
    if (rst_i) begin
      {write_q, taking_q, wait_q, sent_q, have_q, given_q, bad_q, here_q, lost_q, next_valid_q} <= '0;
      {list_left_q, list_owed_q} <= '0;
      listed_q <= '0;
      left_q <= '0;
      flight_q <= '0;
      lines_q <= '0;
    end
  end
endmodule
