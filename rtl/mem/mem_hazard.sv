// SPDX-License-Identifier: Apache-2.0
// Which lines have requests of one class in flight: for each hash of a line, the number issued and the number done.
//
// Contract: busy_o[p] is set if a request with hash look_i[p] is in flight or is issued in this very cycle; it may be
// set two cycles too long, one of which cuts the path from what ends to the table. issue_i[p], of one of the first
// ISSUERS ports at most: a request with its hash is issued. At most 2^COUNT_W - 1 requests of a hash are in flight.
// ready_o is low after reset while the table is cleared; nothing is looked up or issued before.
// Two tables that are each written by one event alone, instead of one that counts up and down: a memory with one write
// port serves, and lines that share a hash only wait for each other. Comparing addresses of all requests in flight
// would be exact, at 128 comparators of 28 bits for each port.
// Preemption saves nothing of it: nothing is in flight then.
module mem_hazard #(
    parameter int PORTS   = 2,
    parameter int ISSUERS = 2,
    parameter int HASH_W  = 9,
    parameter int COUNT_W = 7
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    output logic                    ready_o,
    input  logic [PORTS*HASH_W-1:0] look_i,
    output logic [       PORTS-1:0] busy_o,
    input  logic [     ISSUERS-1:0] issue_i,
    input  logic                    done_valid_i,
    input  logic [      HASH_W-1:0] done_hash_i
`ifdef FORMAL
    ,
    input  logic [      HASH_W-1:0] watch_i,  // the hash that the proof watches
    output logic [     COUNT_W-1:0] watch_count_o
`endif
);
  logic [COUNT_W-1:0] issued[0:(1<<HASH_W)-1];
  logic [COUNT_W-1:0] done[0:(1<<HASH_W)-1];
  logic done_q;
  logic [HASH_W-1:0] done_hash_q;
  logic [HASH_W:0] clear_q;  // next entry to clear; msb: all clear

  assign ready_o = clear_q[HASH_W];

  logic [PORTS*COUNT_W-1:0] count;  // issued, by port
  for (genvar p = 0; p < PORTS; p++) begin : g_look
    logic [HASH_W-1:0] hash;
    logic [ISSUERS-1:0] same;  // compared before it is known who issues
    assign hash = look_i[p*HASH_W+:HASH_W];
    for (genvar i = 0; i < ISSUERS; i++) begin : g_same
      assign same[i] = look_i[i*HASH_W+:HASH_W] == hash;
    end
    assign count[p*COUNT_W+:COUNT_W] = issued[hash];
    assign busy_o[p] = issued[hash] != done[hash] || |(issue_i & same);
  end

  logic [HASH_W-1:0] issue_hash;
  logic [COUNT_W-1:0] issue_count;
  always_comb begin
    issue_hash = '0;
    issue_count = '0;
    for (int p = 0; p < ISSUERS; p++)
      if (issue_i[p]) begin
        issue_hash = issue_hash | look_i[p*HASH_W+:HASH_W];
        issue_count = issue_count | (count[p*COUNT_W+:COUNT_W] + 1'b1);
      end
  end

  always_ff @(posedge clk_i) begin
    if (!ready_o) issued[clear_q[HASH_W-1:0]] <= '0;
    else if (|issue_i) issued[issue_hash] <= issue_count;
    if (!ready_o) done[clear_q[HASH_W-1:0]] <= '0;
    else if (done_q) done[done_hash_q] <= done[done_hash_q] + 1'b1;
    done_q <= done_valid_i && !rst_i;
    done_hash_q <= done_hash_i;
    if (!ready_o) clear_q <= clear_q + 1'b1;
    if (rst_i) clear_q <= '0;
  end

`ifdef FORMAL
  assign watch_count_o = issued[watch_i] - done[watch_i] - COUNT_W'(done_q && done_hash_q == watch_i);
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always_comb if (started_q && !ready_o && clear_q > {1'b0, watch_i}) assert (watch_count_o == '0);
`endif

`ifdef FORMAL
`elsif SYNTHESIS
`else
  // For simulation: the prover assumes it of what ends at mem_gate.
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i && done_valid_i) begin
      what_ends_was_in_flight: assert (ready_o && issued[done_hash_i] != COUNT_W'(done[done_hash_i] +
                                       COUNT_W'(done_q && done_hash_q == done_hash_i)));
    end
  end
`endif
endmodule
