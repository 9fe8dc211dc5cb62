// SPDX-License-Identifier: Apache-2.0
// Grants requests of several engines to the memory port, so that no two in flight could disturb each other.
//
// A request has a class: read, write, atomic, or refused (beyond memory; it only needs an answer). Requests of one
// class never disturb each other: reads change nothing, writes of one line share an AXI id and so stay in order, and
// the atomic unit keeps its own order. Requests of different classes must not be in flight for one line, because AXI
// has no order between its channels. Contract:
// - in_*: class and line of an engine's next request. in_ready_o takes it as the head of the engine, which is granted
//   one cycle later at the earliest: at most one read and one write or atomic a cycle, any number of refused ones.
// - While a read, write or atomic is in flight, from its grant to its done, no other class is granted for its line. If
//   several lines of a hash are in flight (mem_hazard), the same holds for all lines of that hash. Otherwise no line
//   waits for another.
// - A head that waits for a line claims its hash: until it is granted, no other engine's head is granted in that hash.
//   There is one claim, which goes round among the heads that had to wait: each gets it after at most ENGINES - 1
//   others.
// - A head that waits for its port is passed by at most ENGINES - 1 reads, or PATIENCE + ENGINES - 1 writes or atomics
//   of its class. Requests in flight end. Every head is thus granted in bounded time if the ready inputs come again and
//   again while the waits outputs are high.
// - A ready input says that a grant could be served; it depends on no grant of this cycle. rd_waits_o, wr_waits_o: a
//   read, a write would be granted if it were ready.
// The tables are read one cycle ahead, with the grants of that cycle, for the head and for the next request. Grants
// thus depend on registers and one arbiter only. A free head stays free unless a request of its line is granted before
// it.
// Preemption: no state is saved, since nothing is in flight then.
module mem_gate #(
    parameter int ENGINES  = 2,   // Number of engines.
    parameter int LINE_W   = 16,  // Bits of a line's number, or of its name.
    parameter int HASH_W   = 9,   // Low bits of it that choose an entry of the tables: its hash.
    parameter int PATIENCE = 16,  // See mem_patience.
    // Bits of the counters of a hash. At most 64 reads are in flight in it, or 18 writes of each of the 16 ids and 1
    // more, and 34 atomics.
    parameter int RD_COUNT_W = 7,
    parameter int WR_COUNT_W = 9
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    // Next request of each engine.
    input  logic [       ENGINES-1:0] in_valid_i,
    output logic [       ENGINES-1:0] in_ready_o,
    input  logic [     2*ENGINES-1:0] in_class_i,
    input  logic [LINE_W*ENGINES-1:0] in_line_i,
    // Heads and their grants.
    output logic [     2*ENGINES-1:0] head_class_o,
    output logic [HASH_W*ENGINES-1:0] head_hash_o,
    output logic                      rd_waits_o,
    input  logic                      rd_ready_i,
    output logic [       ENGINES-1:0] rd_grant_o,
    output logic                      wr_waits_o,
    input  logic [       ENGINES-1:0] wr_ready_i,
    input  logic                      at_ready_i,
    output logic [       ENGINES-1:0] wr_grant_o,       // A write or an atomic.
    input  logic [       ENGINES-1:0] refused_ready_i,
    output logic [       ENGINES-1:0] refused_grant_o,
    // Requests that end.
    input  logic                      rd_done_valid_i,
    input  logic [        HASH_W-1:0] rd_done_hash_i,
    input  logic                      wr_done_valid_i,
    input  logic [        HASH_W-1:0] wr_done_hash_i
);
  localparam logic [1:0] READ = 2'd0, WRITE = 2'd1, ATOMIC = 2'd2;  // 3 is refused.

  logic [ENGINES-1:0] valid_q, waits_q, met_q, blocked, claimed_q;  // By a request in flight (waits), by a grant (met).
  logic [ENGINES-1:0] load, fire, rd_next, rd_want, wr_next, wr_want, rd_met, want_claim, claim_grant,
    claim_q, waited_q;
  logic [ENGINES-1:0] wr_waits, wr_hold, at_waits, at_hold;
  logic [2*ENGINES-1:0] class_q;
  logic [LINE_W*ENGINES-1:0] line_q;
  logic [HASH_W-1:0] claim_hash_q, claim_hash;
  logic [ENGINES-1:0] is_atomic, granted;
  logic [2*ENGINES-1:0] rd_busy;  // Bits of the heads, then of the next requests.
  logic [4*ENGINES-1:0] wr_busy;  // For each of them: by writes, by atomics.
  logic [LINE_W-1:0] rd_line, wr_line;
  logic rd_clear, wr_clear, ready;

  assign head_class_o = class_q;
  assign blocked = waits_q | met_q;  // Two registers, since both ends of paths are deep.
  assign granted = rd_grant_o | wr_grant_o;
  assign fire = rd_grant_o | wr_grant_o | refused_grant_o;
  assign in_ready_o = (~valid_q | fire) & {ENGINES{ready}};
  assign load = in_valid_i & in_ready_o;
  assign ready = rd_clear && wr_clear;

  // Returns whether a request of this class would disturb what is in flight for its line.
  function automatic logic disturbs(input logic [1:0] kind, input logic rd, input logic wr, input logic at);
    disturbs = !(&kind) && ((kind != READ && rd) || (kind != WRITE && wr) || (kind != ATOMIC && at));
  endfunction
  // Returns whether two requests of one line must not be in flight together.
  function automatic logic excludes(input logic [1:0] one, input logic [1:0] other);
    excludes = one != other && !(&one) && !(&other);
  endfunction

  for (genvar e = 0; e < ENGINES; e++) begin : g_engine
    logic [ENGINES-1:0] in_same, in_meets, same_q, meets;  // Heads of another class for the same line.
    logic head_waits, in_waits, claimed;
    logic [1:0] kind, in_kind;
    logic [HASH_W-1:0] hash;
    assign kind = class_q[2*e+:2];
    assign hash = line_q[LINE_W*e+:HASH_W];
    assign head_hash_o[HASH_W*e+:HASH_W] = hash;
    assign is_atomic[e] = kind == ATOMIC;
    assign in_kind = in_class_i[2*e+:2];
    assign head_waits = disturbs(kind, rd_busy[e], wr_busy[2*e], wr_busy[2*e+1]);
    assign in_waits = disturbs(in_kind, rd_busy[ENGINES+e], wr_busy[2*(ENGINES+e)], wr_busy[2*(ENGINES+e)+1]);
    assign claimed = |claim_q && !claim_q[e];
    for (genvar f = 0; f < ENGINES; f++) begin : g_other
      assign in_meets[f] = in_line_i[LINE_W*e+:LINE_W] == line_q[LINE_W*f+:LINE_W] &&
          excludes(in_kind, class_q[2*f+:2]);
      assign in_same[f] = f != e && in_line_i[LINE_W*e+:LINE_W] == in_line_i[LINE_W*f+:LINE_W] &&
          excludes(in_kind, in_class_i[2*f+:2]);
      always_ff @(posedge clk_i)
        if (load[e]) same_q[f] <= load[f] ? in_same[f] : in_meets[f];
        else if (load[f]) same_q[f] <= g_engine[f].in_meets[e];
    end
    assign meets = same_q & ~(ENGINES'(1) << e);
    assign wr_next[e] = valid_q[e] && !blocked[e] && !claimed_q[e] && (^kind);
    assign wr_waits[e] = wr_next[e] && !is_atomic[e];
    assign at_waits[e] = wr_next[e] && is_atomic[e];
    assign wr_want[e] = (wr_waits[e] && !wr_hold[e] && wr_ready_i[e]) || (at_waits[e] && !at_hold[e] && at_ready_i);
    assign rd_met[e] = |(wr_next & meets);
    assign rd_next[e] = valid_q[e] && !blocked[e] && !claimed_q[e] && kind == READ;
    assign rd_want[e] = rd_next[e] && !rd_met[e] && rd_ready_i;
    assign refused_grant_o[e] = valid_q[e] && &kind && refused_ready_i[e];
    // A head that has waited once goes on wanting the claim: when its line is free, its port may not be.
    assign want_claim[e] = valid_q[e] && (blocked[e] || claimed_q[e] || (rd_next[e] && rd_met[e]) || waited_q[e]) &&
        !(&kind);

    always_ff @(posedge clk_i) begin
      if (load[e]) begin
        class_q[2*e+:2] <= in_class_i[2*e+:2];
        line_q[LINE_W*e+:LINE_W] <= in_line_i[LINE_W*e+:LINE_W];
      end
      if (load[e] || valid_q[e]) begin
        waits_q[e] <= load[e] ? in_waits : blocked[e] && head_waits;
        met_q[e] <= |(granted & (load[e] ? in_meets : meets));
        claimed_q[e] <= claimed && (load[e] ? in_line_i[LINE_W*e+:HASH_W] : hash) == claim_hash_q;
      end
      waited_q[e] <= !load[e] && want_claim[e];
      if (load[e]) valid_q[e] <= 1'b1;
      else if (fire[e]) valid_q[e] <= 1'b0;
      if (rst_i) {valid_q[e], waits_q[e], met_q[e]} <= 3'b000;
    end
  end

  assign rd_waits_o = |(rd_next & ~rd_met);
  assign wr_waits_o = |(wr_waits & ~wr_hold);
  mem_patience #(.N(ENGINES), .PATIENCE(PATIENCE)) u_wr_patience (
      .clk_i,
      .rst_i,
      .waits_i(wr_waits),
      .grant_i(wr_grant_o & wr_waits),
      .hold_o(wr_hold)
  );
  mem_patience #(.N(ENGINES), .PATIENCE(PATIENCE)) u_at_patience (
      .clk_i,
      .rst_i,
      .waits_i(at_waits),
      .grant_i(wr_grant_o & at_waits),
      .hold_o(at_hold)
  );
  rr_arbiter #(.N(ENGINES)) u_rd (
      .clk_i,
      .rst_i,
      .request_i(rd_want),
      .advance_i(1'b1),
      .grant_o(rd_grant_o)
  );
  rr_arbiter #(.N(ENGINES)) u_wr (
      .clk_i,
      .rst_i,
      .request_i(wr_want),
      .advance_i(1'b1),
      .grant_o(wr_grant_o)
  );
  rr_arbiter #(.N(ENGINES)) u_claim (
      .clk_i,
      .rst_i,
      .request_i(want_claim),
      .advance_i(!(|claim_q)),
      .grant_o(claim_grant)
  );

  always_comb begin
    claim_hash = '0;
    rd_line = '0;
    wr_line = '0;
    for (int e = 0; e < ENGINES; e++) begin
      if (claim_grant[e]) claim_hash = claim_hash | line_q[LINE_W*e+:HASH_W];
      if (rd_grant_o[e]) rd_line = rd_line | line_q[LINE_W*e+:LINE_W];
      if (wr_grant_o[e]) wr_line = wr_line | line_q[LINE_W*e+:LINE_W];
    end
  end

  // A claim lasts until its head is granted. A head that is granted in this cycle does not get the claim.
  always_ff @(posedge clk_i) begin
    if (!(|claim_q)) begin
      claim_q <= claim_grant & ~fire;
      claim_hash_q <= claim_hash;
    end else if (|(claim_q & fire)) claim_q <= '0;
    if (rst_i) claim_q <= '0;
  end

  mem_hazard #(.LOOKS(2 * ENGINES), .KINDS(1), .LINE_W(LINE_W), .HASH_W(HASH_W), .COUNT_W(RD_COUNT_W)) u_rd_flight (
      .clk_i,
      .rst_i,
      .ready_o(rd_clear),
      .look_line_i({in_line_i, line_q}),
      .busy_o(rd_busy),
      .issue_valid_i(|rd_grant_o),
      .issue_kind_i(1'b1),
      .issue_line_i(rd_line),
      .done_valid_i(rd_done_valid_i),
      .done_hash_i(rd_done_hash_i)
  );
  mem_hazard #(.LOOKS(2 * ENGINES), .KINDS(2), .LINE_W(LINE_W), .HASH_W(HASH_W), .COUNT_W(WR_COUNT_W)) u_wr_flight (
      .clk_i,
      .rst_i,
      .ready_o(wr_clear),
      .look_line_i({in_line_i, line_q}),
      .busy_o(wr_busy),
      .issue_valid_i(|wr_grant_o),
      .issue_kind_i({|(wr_grant_o & is_atomic), |(wr_grant_o & ~is_atomic)}),
      .issue_line_i(wr_line),
      .done_valid_i(wr_done_valid_i),
      .done_hash_i(wr_done_hash_i)
  );

`ifndef SYNTHESIS
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
