// SPDX-License-Identifier: Apache-2.0
// Miss registers (MSHRs): the lines requested from memory, called fills, and the loads that wait for them.
//
// A fill is a line requested by a load, or an atomic operation whose old words are still to come. The waiters of a
// fill, records of an entry and its lanes, form a linked list. A fill is open while its line is what a load of now
// should see: later loads join it, and it enters the L1. A store or atomic to the line, or clearing the L1, closes it
// for good. Loads that already wait still get the older data, which is right, because they are older than the store.
//
// Contract: look_i loads a line. From the next cycle match_o tells whether an open fill has it. In that state join_i
// adds a waiter to that fill; alloc_i starts fill alloc_fill_o of the line (open if open_i) with its first waiter;
// close_i closes the matching fill. rsp_* brings the data of a fill, once. Answered fills are served in order of their
// responses. serve_valid_o offers a waiter, which serve_ready_i takes. install_valid_o offers the line to the L1, once
// at most. One cycle after either is taken, line_o is the data. A fill becomes free when it has no waiter and is closed
// or installed. A fill also becomes free after being offered to the L1 in vain for PATIENCE cycles, since otherwise a
// stream of stores would delay the fills behind it.
// State saved at preemption: none; it drains.
module lsu_fills #(
    parameter int LANES = 16,   // lanes, one work-item each
    parameter int FILL_W = 5,   // log2 of the fills
    parameter int WAIT_W = 6,   // log2 of the waiters
    parameter int ENTRY_W = 6,  // bits of an entry
    parameter int PATIENCE = 7  // cycles for which a line is offered to the L1
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               close_all_i,     // closes all fills (the L1 is cleared)
    input  logic               look_i,
    input  logic [25:0]        look_line_i,
    output logic               match_o,
    output logic               wait_room_o,     // a record for a waiter is free
    output logic               fill_room_o,     // a fill is free: alloc_fill_o
    output logic [FILL_W-1:0]  alloc_fill_o,
    input  logic               alloc_i,
    input  logic               open_i,
    input  logic               join_i,
    input  logic               close_i,
    input  logic [ENTRY_W-1:0] entry_i,         // entry of the waiter that alloc_i or join_i adds
    input  logic [LANES-1:0]   mask_i,          // lanes of that waiter
    input  logic               rsp_valid_i,
    input  logic [FILL_W-1:0]  rsp_fill_i,
    input  logic [511:0]       rsp_data_i,
    output logic               serve_valid_o,
    input  logic               serve_ready_i,
    output logic [ENTRY_W-1:0] serve_entry_o,
    output logic [LANES-1:0]   serve_mask_o,
    output logic               install_valid_o,
    input  logic               install_ready_i,
    output logic [25:0]        install_line_o,
    output logic [511:0]       line_o,
    output logic               idle_o           // no answered fill is unserved
);
  localparam int FILLS = 1 << FILL_W;
  localparam int WAITS = 1 << WAIT_W;
  localparam int PW = $clog2(PATIENCE + 1);

  logic [FILLS-1:0] open_q, match_q;
  logic [25:0] lines[0:FILLS-1];
  logic [WAIT_W-1:0] heads[0:FILLS-1];
  logic [WAIT_W-1:0] tails[0:FILLS-1];
  logic [WAIT_W-1:0] nexts[0:WAITS-1];
  logic [ENTRY_W+LANES-1:0] waits[0:WAITS-1];
  logic [511:0] data[0:FILLS-1];

  logic serve_q, left_q, installed;  // a fill is served; it has a waiter; it needs no install
  logic [FILL_W-1:0] fill_q, line_fill_q, next_fill;
  logic [PW-1:0] patience_q;
  logic [25:0] install_line_q;
  logic [WAIT_W-1:0] wait_q;
  logic next_valid, take, joins, served, last, done;
  logic unused_answered, unused_fills, unused_waits;  // always 1: these queues have room for every entry

  // ------------------------------------------------------------------ lookup
  logic [25:0] line_q;
  logic [WAIT_W-1:0] wait_id;
  logic [FILL_W-1:0] match_fill;
  logic [FILLS-1:0] hits, matched;

  assign matched = match_q & open_q;
  assign match_o = |matched;
  always_comb begin
    match_fill = '0;
    for (int f = 0; f < FILLS; f++) match_fill = match_fill | ({FILL_W{matched[f]}} & FILL_W'(f));
  end

  always_ff @(posedge clk_i) begin
    if (look_i) begin
      for (int f = 0; f < FILLS; f++) hits[f] = open_q[f] && lines[f] == look_line_i;
      // The access ahead may be starting a fill of this line in this cycle.
      if (alloc_i) hits[alloc_fill_o] = line_q == look_line_i;
      match_q <= hits;
      line_q  <= look_line_i;
    end
    if (alloc_i) begin
      lines[alloc_fill_o]  <= line_q;
      heads[alloc_fill_o]  <= wait_id;
    end
    if (alloc_i || join_i) begin
      waits[wait_id] <= {entry_i, mask_i};
      tails[alloc_i ? alloc_fill_o : match_fill] <= wait_id;
    end
    // If the list has become empty, its tail is still free: it is the record that was freed last, and none was taken
    // since.
    if (join_i) nexts[tails[match_fill]] <= wait_id;
  end

  // ------------------------------------------------------------------ serving
  assign joins = join_i && serve_q && match_fill == fill_q;
  assign serve_valid_o = serve_q && left_q;
  assign {serve_entry_o, serve_mask_o} = waits[wait_q];
  assign install_valid_o = serve_q && open_q[fill_q];
  assign install_line_o = install_line_q;
  assign served = serve_valid_o && serve_ready_i;
  assign last = served && wait_q == tails[fill_q];
  assign installed = !open_q[fill_q] || install_ready_i || patience_q == '0;
  assign done = serve_q && (last || !left_q) && !joins && installed;
  assign take = next_valid && (!serve_q || done);
  assign line_o = data[line_fill_q];
  assign idle_o = !serve_q && !next_valid;

  mem_fifo #(.WIDTH(FILL_W), .DEPTH_LOG2(FILL_W)) u_answered (
      .clk_i,
      .rst_i,
      .in_valid_i(rsp_valid_i),
      .in_ready_o(unused_answered),
      .in_data_i(rsp_fill_i),
      .out_valid_o(next_valid),
      .out_ready_i(take),
      .out_data_o(next_fill)
  );

  always_ff @(posedge clk_i) begin
    if (rsp_valid_i) data[rsp_fill_i] <= rsp_data_i;
    if (served || (install_valid_o && install_ready_i)) line_fill_q <= fill_q;
    if (take) begin
      fill_q <= next_fill;
      wait_q <= heads[next_fill];
      install_line_q <= lines[next_fill];
      left_q <= 1'b1;
      patience_q <= PW'(PATIENCE);
    end else begin
      if (serve_q && !left_q && patience_q != '0) patience_q <= patience_q - 1'b1;
      // A waiter that joins behind the last one is its successor, although the list does not show it yet.
      if (served || !left_q) wait_q <= joins && (last || !left_q) ? wait_id : nexts[wait_q];
      if (last && !joins) left_q <= 1'b0;
      if (joins) left_q <= 1'b1;
    end
    serve_q <= take || (serve_q && !done);
    if (rst_i) serve_q <= 1'b0;
  end

  // ------------------------------------------------------------------ open, free
  logic [FILLS-1:0] opens, closes;
  always_comb begin
    opens = '0;
    closes = '0;
    if (alloc_i && open_i) opens[alloc_fill_o] = 1'b1;
    if ((install_valid_o && install_ready_i) || done) closes[fill_q] = 1'b1;
    if (close_i) closes = closes | matched;
  end
  always_ff @(posedge clk_i) begin
    open_q <= (open_q & ~closes) | opens;
    if (close_all_i || rst_i) open_q <= '0;
  end

  mem_fifo #(.WIDTH(FILL_W), .DEPTH_LOG2(FILL_W), .FILL(1'b1)) u_fills (
      .clk_i,
      .rst_i,
      .in_valid_i(done),
      .in_ready_o(unused_fills),
      .in_data_i(fill_q),
      .out_valid_o(fill_room_o),
      .out_ready_i(alloc_i),
      .out_data_o(alloc_fill_o)
  );
  mem_fifo #(.WIDTH(WAIT_W), .DEPTH_LOG2(WAIT_W), .FILL(1'b1)) u_waits (
      .clk_i,
      .rst_i,
      .in_valid_i(served),
      .in_ready_o(unused_waits),
      .in_data_i(wait_q),
      .out_valid_o(wait_room_o),
      .out_ready_i(alloc_i || join_i),
      .out_data_o(wait_id)
  );

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  logic [FILLS-1:0] asked_q = '0;
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      room_for_a_fill: assert (!alloc_i || fill_room_o);
      room_for_a_waiter: assert (!(alloc_i || join_i) || wait_room_o);
      joins_a_fill: assert (!join_i || match_o);
      one_match: assert ((matched & (matched - 1'b1)) == '0);
      answer_to_a_fill: assert (!rsp_valid_i || asked_q[rsp_fill_i]);
      room_for_every_answer: assert (!rsp_valid_i || unused_answered);
    end
    if (alloc_i) asked_q[alloc_fill_o] <= 1'b1;
    if (rsp_valid_i) asked_q[rsp_fill_i] <= 1'b0;
    if (rst_i) asked_q <= '0;
  end
`endif
endmodule
