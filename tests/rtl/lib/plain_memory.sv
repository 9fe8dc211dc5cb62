// SPDX-License-Identifier: Apache-2.0
// Memory behind a channel without atomics. A request takes effect when it is accepted. Answers come later, in any
// order; with fast_i after 60 cycles, in order, one a cycle. Line `bad` and all lines from LINES on answer bus_error.
// The run ends if a stalled request changes. `writes` counts the writes of each line.
module plain_memory #(
    parameter int LINES = 65536,
    parameter int TAG_W = 11,
    parameter int PENDING = 256,  // greatest number of requests in flight
    parameter int SLOW = 300,     // greatest latency of a quarter of the answers, in cycles; others take at most 60
    parameter bit UNIQUE = 1'b0   // no tag may be used while it is in flight
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             fast_i,
    input  logic             req_valid_i,
    output logic             req_ready_o,
    input  tern_pkg::mem_req_t req_i,
    input  logic [TAG_W-1:0] req_tag_i,
    output logic             rsp_valid_o,
    output logic [TAG_W-1:0] rsp_tag_o,
    output tern_pkg::mem_rsp_t rsp_o
);
  localparam int LINE_W = $clog2(LINES);
  logic [511:0] data[LINES];
  int writes[LINES];
  int bad = -1;      // this line answers with a fault
  int faults = 0;    // answers with a fault

  logic used[PENDING], p_fault[PENDING];
  int due[PENDING];
  logic [TAG_W-1:0] tag[PENDING];
  logic [511:0] answer[PENDING];
  int cycle = 0;
  int in_flight = 0;  // requests that were accepted and not answered
  logic ready = 1'b0, stalled_q = 1'b0;
  logic [605+TAG_W:0] held_q, now;
  assign req_ready_o = ready;
  assign now = {req_i.op, req_i.line, req_tag_i, req_i.op == tern_pkg::MEM_WRITE ? {req_i.wdata, req_i.be} : 576'b0};

  initial
    for (int i = 0; i < LINES; i++) begin
      data[i] = '0;
      writes[i] = 0;
    end
  initial for (int i = 0; i < PENDING; i++) used[i] = 1'b0;

  task automatic take();
    int slot = -1;
    for (int i = 0; i < PENDING; i++) if (!used[i]) slot = i;
    if (slot < 0) $fatal(1, "too much in flight");
    for (int i = 0; i < PENDING; i++)
      if (UNIQUE && used[i] && tag[i] == req_tag_i) $fatal(1, "tag %h is in flight", req_tag_i);
    used[slot] = 1'b1;
    tag[slot] = req_tag_i;
    due[slot] = cycle + (fast_i ? 60 : 1 + $urandom_range($urandom_range(3) == 0 ? SLOW : 60));
    p_fault[slot] = req_i.line >= LINES || int'(req_i.line) == bad;
    answer[slot] = {16{32'hdeadbeef}};
    if (p_fault[slot]) faults++;
    else if (req_i.op == tern_pkg::MEM_READ) answer[slot] = data[req_i.line[LINE_W-1:0]];
    else begin
      for (int b = 0; b < 64; b++) if (req_i.be[b]) data[req_i.line[LINE_W-1:0]][8*b+:8] = req_i.wdata[8*b+:8];
      writes[req_i.line[LINE_W-1:0]]++;
    end
  endtask

  always @(posedge clk_i) begin
    int first = $urandom_range(PENDING - 1), pick = -1;
    logic taken;
    if (stalled_q && (!req_valid_i || now != held_q)) $fatal(1, "a stalled request changed");
    stalled_q <= req_valid_i && !req_ready_o && !rst_i;
    held_q <= now;
    rsp_valid_o <= 1'b0;
    taken = req_valid_i && req_ready_o && !rst_i;
    if (taken) take();
    for (int n = 0; n < PENDING; n++) begin
      int i = (first + n) % PENDING;
      if (used[i] && due[i] <= cycle && (pick < 0 || (fast_i && due[i] < due[pick]))) pick = i;
    end
    if (pick >= 0) begin
      rsp_valid_o <= 1'b1;
      rsp_tag_o <= tag[pick];
      rsp_o.data <= answer[pick];
      rsp_o.fault <= p_fault[pick] ? tern_spec_pkg::FAULT_BUS_ERROR : 8'd0;
      used[pick] = 1'b0;
    end
    in_flight <= in_flight + 32'(taken) - 32'(pick >= 0);
    ready <= fast_i || $urandom_range(3) != 0;
    cycle <= cycle + 1;
  end
endmodule
