// SPDX-License-Identifier: Apache-2.0
// Records which lines have requests in flight, of KINDS kinds. A table has an entry for each hash, which is the low
// HASH_W bits of a line: the number of requests issued, the number done, and the line and the kinds that they are of.
//
// Contract: busy_o[KINDS*l+k] is high if a request of kind k for line look_line_i[l] has been in flight for a cycle or
// more; a request that is issued in this cycle is not seen yet. busy_o may be high for two cycles too long; one of them
// comes from a register between done_* and the table. While requests for several lines of one hash are in flight, it
// may be high for any line of that hash and any of their kinds. Requests of one line are all of one kind. issue_*: one
// request a cycle, of the kind whose bit is set. done_*: a request of this hash ends, two cycles after its issue or
// later. At most 2^COUNT_W - 1 requests of a hash are in flight. ready_o is low after reset while the table is cleared;
// nothing is looked up or issued before. docs/decisions/order-of-memory.md compares this table with its alternatives.
// Instead of one memory that counts up and down there are two, each of which is written by one event. Each thus needs
// one write port only.
// Preemption: no state is saved, since nothing is in flight then.
module mem_hazard #(
    parameter int LOOKS   = 4,   // Lines that are looked up in a cycle.
    parameter int KINDS   = 1,   // Kinds of requests.
    parameter int LINE_W  = 16,  // Bits of a line's number, or of its name.
    parameter int HASH_W  = 8,   // Low bits of it that choose an entry.
    parameter int COUNT_W = 7    // Bits of a counter.
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    output logic                      ready_o,
    input  logic [  LINE_W*LOOKS-1:0] look_line_i,
    output logic [   KINDS*LOOKS-1:0] busy_o,
    input  logic                      issue_valid_i,
    input  logic [         KINDS-1:0] issue_kind_i,
    input  logic [        LINE_W-1:0] issue_line_i,
    input  logic                      done_valid_i,
    input  logic [        HASH_W-1:0] done_hash_i
);
  localparam int TAG_W = LINE_W - HASH_W;

  // Entry of a hash: {kinds in flight, they are of several lines, the line issued last, number of requests issued}.
  logic [KINDS+TAG_W+COUNT_W:0] issued[0:(1<<HASH_W)-1];
  logic [COUNT_W-1:0] done[0:(1<<HASH_W)-1];  // Number of requests done, of each hash.
  logic done_q;
  logic [HASH_W-1:0] done_hash_q;
  logic [HASH_W:0] clear_q;  // Next entry to clear; top bit: all are clear.

  assign ready_o = clear_q[HASH_W];

  // A request enters the table one cycle after its issue.
  logic issue_q, mixed, empty;
  logic [KINDS-1:0] issue_kind_q, kinds;
  logic [LINE_W-1:0] issue_line_q;
  logic [TAG_W-1:0] tag;
  logic [COUNT_W-1:0] count;
  assign {kinds, mixed, tag, count} = issued[issue_line_q[HASH_W-1:0]];
  assign empty = count == done[issue_line_q[HASH_W-1:0]];

  for (genvar l = 0; l < LOOKS; l++) begin : g_look
    logic [LINE_W-1:0] line;
    logic [KINDS-1:0] of;
    logic several, now;
    logic [TAG_W-1:0] last;
    logic [COUNT_W-1:0] number;
    assign line = look_line_i[LINE_W*l+:LINE_W];
    assign {of, several, last, number} = issued[line[HASH_W-1:0]];
    assign now = issue_q && issue_line_q == line;
    for (genvar k = 0; k < KINDS; k++) begin : g_kind
      assign busy_o[KINDS*l+k] = (number != done[line[HASH_W-1:0]] && (several || last == line[LINE_W-1:HASH_W]) &&
                                  (KINDS == 1 || of[k])) || (now && issue_kind_q[k]);
    end
  end

  always_ff @(posedge clk_i) begin
    issue_q <= issue_valid_i && !rst_i;
    issue_kind_q <= issue_kind_i;
    issue_line_q <= issue_line_i;
    if (!ready_o) issued[clear_q[HASH_W-1:0]] <= '0;
    else if (issue_q)
      issued[issue_line_q[HASH_W-1:0]] <= {empty ? issue_kind_q : kinds | issue_kind_q,
                                          !empty && (mixed || tag != issue_line_q[LINE_W-1:HASH_W]),
                                          issue_line_q[LINE_W-1:HASH_W], count + 1'b1};
    if (!ready_o) done[clear_q[HASH_W-1:0]] <= '0;
    else if (done_q) done[done_hash_q] <= done[done_hash_q] + 1'b1;
    done_q <= done_valid_i && !rst_i;
    done_hash_q <= done_hash_i;
    if (!ready_o) clear_q <= clear_q + 1'b1;
    if (rst_i) clear_q <= '0;
  end

`ifndef SYNTHESIS
  // For simulation: the prover assumes it of what ends at mem_gate.
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i && done_valid_i) begin
      what_ends_was_in_flight: assert (ready_o && COUNT_W'(issued[done_hash_i]) != COUNT_W'(done[done_hash_i] +
                                       COUNT_W'(done_q && done_hash_q == done_hash_i)));
    end
  end
`endif
endmodule
