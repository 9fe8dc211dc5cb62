// SPDX-License-Identifier: Apache-2.0
// Lets requests of several engines into the memory ports, so that no two that could disturb each other are in flight.
//
// Requests are of a class: read, write, atomic, or refused (beyond the memory; needs nothing but an answer). Requests
// of one class never disturb each other: reads change nothing, writes of one line share an AXI id and so stay in order,
// and the atomic unit keeps order itself. Requests of different classes must not meet in the same line, for AXI knows
// no order between its channels. Contract:
//  - in: class and hash of an engine's next request; in_ready_o takes it to the head of the engine. One cycle later at
//    the earliest the head is granted: at most one read and one write or atomic a cycle, any number of refused ones.
//  - while a read, write or atomic is in flight, from its grant to its done, no other class of its hash is granted.
//  - an engine whose head waits on a hash claims it: no other engine's head gets in there until it has. There is one
//    claim, and it goes round among the heads that ever had to wait so: each gets it after ENGINES - 1 others at most.
//  - a head that waits for its port is passed by at most ENGINES - 1 reads of others, or PATIENCE + ENGINES - 1 writes
//    or atomics of others of its class. What is in flight ends: so every head is granted after a bounded time, if the
//    ready inputs come again and again while waits outputs stand.
//  - ready inputs say that a grant could be served; they depend on no grant of this cycle. rd_waits_o, wr_waits_o: a
//    read, a write would be granted if it were ready.
// The table is read one cycle ahead, with the grants of that cycle, so that grants come out of registers and one
// arbiter; and for the next request as well as for the head, so that it need not be known first which of them it will
// be. Preemption saves nothing of it: nothing is in flight then.
module mem_gate #(
    parameter int ENGINES  = 2,
    parameter int HASH_W   = 9,
    parameter int PATIENCE = 16
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    // next requests
    input  logic [       ENGINES-1:0] in_valid_i,
    output logic [       ENGINES-1:0] in_ready_o,
    input  logic [     2*ENGINES-1:0] in_class_i,
    input  logic [HASH_W*ENGINES-1:0] in_hash_i,
    // heads
    output logic [     2*ENGINES-1:0] head_class_o,
    output logic [HASH_W*ENGINES-1:0] head_hash_o,
    output logic                      rd_waits_o,
    input  logic                      rd_ready_i,
    output logic [       ENGINES-1:0] rd_grant_o,
    output logic                      wr_waits_o,
    input  logic [       ENGINES-1:0] wr_ready_i,
    input  logic                      at_ready_i,
    output logic [       ENGINES-1:0] wr_grant_o,       // a write or an atomic
    input  logic [       ENGINES-1:0] refused_ready_i,
    output logic [       ENGINES-1:0] refused_grant_o,
    // ends
    input  logic                      rd_done_valid_i,
    input  logic [        HASH_W-1:0] rd_done_hash_i,
    input  logic                      wr_done_valid_i,
    input  logic                      wr_done_atomic_i,
    input  logic [        HASH_W-1:0] wr_done_hash_i
);
  localparam logic [1:0] READ = 2'd0, WRITE = 2'd1, ATOMIC = 2'd2;  // 3: refused

  logic [ENGINES-1:0] valid_q, blocked_q, claimed_q;
  logic [ENGINES-1:0] load, fire, rd_next, rd_want, wr_next, wr_want, rd_met, want_claim, claim_grant,
    claim_q, waited_q;
  logic [ENGINES-1:0] wr_waits, wr_hold, at_waits, at_hold;
  logic [2*ENGINES-1:0] class_q;
  logic [HASH_W*ENGINES-1:0] hash_q;
  logic [HASH_W-1:0] claim_hash_q, claim_hash;
  logic [2*ENGINES-1:0] rd_busy, wr_busy, at_busy;  // of heads, then of next requests
  logic [ENGINES-1:0] is_atomic;
  logic rd_clear, wr_clear, at_clear, ready;

  assign head_class_o = class_q;
  assign head_hash_o = hash_q;
  assign fire = rd_grant_o | wr_grant_o | refused_grant_o;
  assign in_ready_o = (~valid_q | fire) & {ENGINES{ready}};
  assign load = in_valid_i & in_ready_o;
  assign ready = rd_clear && wr_clear && at_clear;

  // whether a request of this class and what is in flight in its hash would
  function automatic logic disturbs(input logic [1:0] kind, input logic rd, input logic wr, input logic at);
    disturbs = (kind != READ && rd) || (kind != WRITE && wr) || (kind != ATOMIC && at);
  endfunction

  for (genvar e = 0; e < ENGINES; e++) begin : g_engine
    logic [ENGINES-1:0] meets;
    logic head_blocked, in_blocked, claimed;
    assign is_atomic[e] = class_q[2*e+:2] == ATOMIC;
    assign head_blocked = disturbs(class_q[2*e+:2], rd_busy[e], wr_busy[e], at_busy[e]);
    assign in_blocked = disturbs(in_class_i[2*e+:2], rd_busy[ENGINES+e], wr_busy[ENGINES+e], at_busy[ENGINES+e]);
    assign claimed = |claim_q && !claim_q[e];
    for (genvar f = 0; f < ENGINES; f++) begin : g_other
      assign meets[f] = f != e && wr_next[f] && hash_q[e*HASH_W+:HASH_W] == hash_q[f*HASH_W+:HASH_W];
    end
    assign wr_next[e] = valid_q[e] && !blocked_q[e] && !claimed_q[e] && (^class_q[2*e+:2]);
    assign wr_waits[e] = wr_next[e] && !is_atomic[e];
    assign at_waits[e] = wr_next[e] && is_atomic[e];
    assign wr_want[e] = (wr_waits[e] && !wr_hold[e] && wr_ready_i[e]) || (at_waits[e] && !at_hold[e] && at_ready_i);
    assign rd_met[e] = |meets;
    assign rd_next[e] = valid_q[e] && !blocked_q[e] && !claimed_q[e] && class_q[2*e+:2] == READ;
    assign rd_want[e] = rd_next[e] && !rd_met[e] && rd_ready_i;
    assign refused_grant_o[e] = valid_q[e] && &class_q[2*e+:2] && refused_ready_i[e];
    // Having waited once is enough: between two times it may be free, but its port not.
    assign want_claim[e] = valid_q[e] && (blocked_q[e] || claimed_q[e] || (rd_next[e] && rd_met[e]) || waited_q[e]) &&
        !(&class_q[2*e+:2]);

    always_ff @(posedge clk_i) begin
      if (load[e]) begin
        class_q[2*e+:2] <= in_class_i[2*e+:2];
        hash_q[e*HASH_W+:HASH_W] <= in_hash_i[e*HASH_W+:HASH_W];
      end
      if (load[e] || valid_q[e]) begin
        blocked_q[e] <= load[e] ? in_blocked : head_blocked;
        claimed_q[e] <= claimed && (load[e] ? in_hash_i[e*HASH_W+:HASH_W] == claim_hash_q :
            hash_q[e*HASH_W+:HASH_W] == claim_hash_q);
      end
      waited_q[e] <= !load[e] && want_claim[e];
      if (load[e]) valid_q[e] <= 1'b1;
      else if (fire[e]) valid_q[e] <= 1'b0;
      if (rst_i) valid_q[e] <= 1'b0;
    end
  end

  assign rd_waits_o = |(rd_next & ~rd_met);
  assign wr_waits_o = |(wr_waits & ~wr_hold);
  mem_patience #(.N(ENGINES), .PATIENCE(PATIENCE)) u_wr_patience (
      .clk_i, .rst_i, .waits_i(wr_waits), .grant_i(wr_grant_o & wr_waits), .hold_o(wr_hold)
  );
  mem_patience #(.N(ENGINES), .PATIENCE(PATIENCE)) u_at_patience (
      .clk_i, .rst_i, .waits_i(at_waits), .grant_i(wr_grant_o & at_waits), .hold_o(at_hold)
  );
  rr_arbiter #(.N(ENGINES)) u_rd (.clk_i, .rst_i, .request_i(rd_want), .advance_i(1'b1), .grant_o(rd_grant_o));
  rr_arbiter #(.N(ENGINES)) u_wr (.clk_i, .rst_i, .request_i(wr_want), .advance_i(1'b1), .grant_o(wr_grant_o));
  rr_arbiter #(.N(ENGINES)) u_claim (
      .clk_i, .rst_i, .request_i(want_claim), .advance_i(!(|claim_q)), .grant_o(claim_grant)
  );

  always_comb begin
    claim_hash = '0;
    for (int e = 0; e < ENGINES; e++) if (claim_grant[e]) claim_hash = claim_hash | hash_q[e*HASH_W+:HASH_W];
  end

  // A claim lasts until its head gets in. It is not taken by a head that gets in just now.
  always_ff @(posedge clk_i) begin
    if (!(|claim_q)) begin
      claim_q <= claim_grant & ~fire;
      claim_hash_q <= claim_hash;
    end else if (|(claim_q & fire)) claim_q <= '0;
    if (rst_i) claim_q <= '0;
  end

  mem_hazard #(.PORTS(2 * ENGINES), .ISSUERS(ENGINES), .HASH_W(HASH_W), .COUNT_W(7)) u_rd_flight (
      .clk_i, .rst_i, .ready_o(rd_clear), .look_i({in_hash_i, hash_q}), .busy_o(rd_busy),
      .issue_i(rd_grant_o), .done_valid_i(rd_done_valid_i), .done_hash_i(rd_done_hash_i)
`ifdef FORMAL
      , .watch_i(watch), .watch_count_o(rd_count)
`endif
  );
  mem_hazard #(.PORTS(2 * ENGINES), .ISSUERS(ENGINES), .HASH_W(HASH_W), .COUNT_W(9)) u_wr_flight (
      .clk_i, .rst_i, .ready_o(wr_clear), .look_i({in_hash_i, hash_q}), .busy_o(wr_busy),
      .issue_i(wr_grant_o & ~is_atomic),
      .done_valid_i(wr_done_valid_i && !wr_done_atomic_i), .done_hash_i(wr_done_hash_i)
`ifdef FORMAL
      , .watch_i(watch), .watch_count_o(wr_count)
`endif
  );
  mem_hazard #(.PORTS(2 * ENGINES), .ISSUERS(ENGINES), .HASH_W(HASH_W), .COUNT_W(7)) u_at_flight (
      .clk_i, .rst_i, .ready_o(at_clear), .look_i({in_hash_i, hash_q}), .busy_o(at_busy),
      .issue_i(wr_grant_o & is_atomic),
      .done_valid_i(wr_done_valid_i && wr_done_atomic_i), .done_hash_i(wr_done_hash_i)
`ifdef FORMAL
      , .watch_i(watch), .watch_count_o(at_count)
`endif
  );

`ifdef FORMAL
  // One hash, whichever: requests of two classes are never in flight together.
  (* anyconst *) logic [HASH_W-1:0] watch;
  logic [6:0] rd_count, at_count;
  logic [8:0] wr_count;
  logic started_q = 1'b0;
  logic [8:0] rd_flight_q = '0, wr_flight_q = '0, at_flight_q = '0;
  logic rd_end, wr_end, at_end;
  assign rd_end = rd_done_valid_i && rd_done_hash_i == watch;
  assign wr_end = wr_done_valid_i && !wr_done_atomic_i && wr_done_hash_i == watch;
  assign at_end = wr_done_valid_i && wr_done_atomic_i && wr_done_hash_i == watch;
  // Seen from outside, by what is granted
  logic [ENGINES-1:0] rd_begins, wr_begins, at_begins;
  // A claim: whose it was a cycle ago, and who wanted it then. Its holder comes next in its hash, and a head that wants
  // the claim wants it until it gets in.
  logic [ENGINES-1:0] holder_q, wanted_q;
  for (genvar e = 0; e < ENGINES; e++) begin : g_proof
    logic mine;
    logic [1:0] kind;
    assign mine = hash_q[e*HASH_W+:HASH_W] == watch;
    assign kind = class_q[2*e+:2];
    assign rd_begins[e] = rd_grant_o[e] && mine;
    assign wr_begins[e] = wr_grant_o[e] && mine && kind == WRITE;
    assign at_begins[e] = wr_grant_o[e] && mine && kind == ATOMIC;
    always_comb begin
      if (started_q && valid_q[e] && |(holder_q & ~(ENGINES'(1) << e))) begin
        assert (claimed_q[e] == (hash_q[e*HASH_W+:HASH_W] == claim_hash_q));
        assert (!(rd_grant_o[e] || wr_grant_o[e]) || hash_q[e*HASH_W+:HASH_W] != claim_hash_q);
      end
      if (started_q && rd_grant_o[e]) assert (valid_q[e] && kind == READ && rd_ready_i);
      if (started_q && wr_grant_o[e])
        assert (valid_q[e] && (kind == WRITE ? wr_ready_i[e] : kind == ATOMIC && at_ready_i));
      if (started_q && ready && valid_q[e] && !blocked_q[e] && mine) begin
        assert (kind == READ || &kind || rd_flight_q == '0);
        assert (kind == WRITE || &kind || wr_flight_q == '0);
        assert (kind == ATOMIC || &kind || at_flight_q == '0);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    holder_q <= claim_q & ~fire & {ENGINES{!rst_i}};
    wanted_q <= want_claim & ~fire & {ENGINES{!rst_i}};
    rd_flight_q <= rd_flight_q + {8'b0, |rd_begins} - {8'b0, rd_end};
    wr_flight_q <= wr_flight_q + {8'b0, |wr_begins} - {8'b0, wr_end};
    at_flight_q <= at_flight_q + {8'b0, |at_begins} - {8'b0, at_end};
    if (rst_i) begin
      rd_flight_q <= '0;
      wr_flight_q <= '0;
      at_flight_q <= '0;
    end
  end
  always_comb begin
    assume (rst_i == !started_q);
    assume (!rd_end || rd_flight_q != '0);  // only what is in flight ends
    assume (!wr_end || wr_flight_q != '0);
    assume (!at_end || at_flight_q != '0);
    if (!started_q) assume (!rd_done_valid_i && !wr_done_valid_i);
    if (!ready) assume (!rd_done_valid_i && !wr_done_valid_i);
    if (rd_flight_q >= 9'd64) assume (!rd_ready_i);  // as many as there are slots
    if (wr_flight_q >= 9'd256) assume (wr_ready_i == '0);
    if (at_flight_q >= 9'd64) assume (!at_ready_i);
    if (started_q) begin
      assert ((wanted_q & ~want_claim) == '0 && (claim_q & (claim_q - 1'b1)) == '0 && (holder_q & ~claim_q) == '0);
      assert ((wr_grant_o & ((wr_waits & wr_hold) | (at_waits & at_hold))) == '0);
      assert ((rd_grant_o & (rd_grant_o - 1'b1)) == '0 && (wr_grant_o & (wr_grant_o - 1'b1)) == '0);
      assert ((rd_flight_q == '0) + (wr_flight_q == '0) + (at_flight_q == '0) >= 2'd2);
      assert (rd_flight_q <= 9'd64 && wr_flight_q <= 9'd256 && at_flight_q <= 9'd64);
      if (rd_clear) assert ({2'b0, rd_count} == rd_flight_q);
      if (wr_clear) assert (wr_count == wr_flight_q);
      if (at_clear) assert ({2'b0, at_count} == at_flight_q);
      if (!ready) assert (valid_q == '0 && rd_flight_q == '0 && wr_flight_q == '0 && at_flight_q == '0);
    end
  end
`endif

`ifdef FORMAL
`elsif SYNTHESIS
`else
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      one_read_at_most: assert ((rd_grant_o & (rd_grant_o - 1'b1)) == '0);
      one_write_at_most: assert ((wr_grant_o & (wr_grant_o - 1'b1)) == '0);
      grants_a_head: assert ((fire & ~valid_q) == '0);
      grants_when_ready: assert ((rd_grant_o == '0 || rd_ready_i) && (wr_grant_o & ~wr_ready_i & ~is_atomic) == '0 &&
                                 ((wr_grant_o & is_atomic) == '0 || at_ready_i) &&
                                 (refused_grant_o & ~refused_ready_i) == '0);
    end
  end
`endif
endmodule
