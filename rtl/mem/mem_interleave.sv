// SPDX-License-Identifier: Apache-2.0
// Connects the memory channel of one engine to several memory ports: each request goes to the port of its line, and the
// answers of all ports come back one a cycle.
//
// Contract: the port of a request depends on its line only. Requests for one port keep their order, and so do answers
// of one port. Between ports there is no order, and none is required (docs/hardware/interfaces.md, rules 1 and 4),
// since lines of two ports are two lines. LR and SC are the exception: an LR or SC waits until the engine's requests at
// all other ports have been answered, so that reservations end in program order (atomic_reserve). A port answers only
// in the cycle after one with its port_room_o set. Answers wait in a queue for each port. The queues take turns; ev_*
// come with the answers. One queue for all ports would need as many write ports.
// Preemption: no state is saved; the channel is drained first.
module mem_interleave #(
    parameter int PORTS      = 2,    // Number of ports: a power of two, at least 2.
    parameter int LINES_LOG2 = 2,    // log2 of the adjacent lines at one port.
    parameter int TAG_W      = 11,   // Bits of a tag.
    parameter int RSP_W      = tern_pkg::MEM_RSP_W,  // Bits of an answer; fewer in the proof.
    parameter int DEPTH_LOG2 = 4     // log2 of the answers of a port that can wait.
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // Memory channel of the engine.
    input  logic                   req_valid_i,
    output logic                   req_ready_o,
    input  tern_pkg::mem_req_t     req_i,
    output logic                   rsp_valid_o,
    output logic [TAG_W-1:0]       rsp_tag_o,
    output logic [RSP_W-1:0]       rsp_o,  // mem_rsp_t
    output logic                   ev_rd_o,
    output logic                   ev_wr_o,
    // Memory ports. The rest of a request goes to all of them.
    output logic [PORTS-1:0]       port_valid_o,
    input  logic [PORTS-1:0]       port_ready_i,
    output logic [PORTS-1:0]       port_room_o,
    input  logic [PORTS-1:0]       port_rsp_valid_i,
    input  logic [TAG_W*PORTS-1:0] port_rsp_tag_i,
    input  logic [RSP_W*PORTS-1:0] port_rsp_i,
    input  logic [PORTS-1:0]       port_ev_rd_i,
    input  logic [PORTS-1:0]       port_ev_wr_i
);
  localparam int PORT_W = $clog2(PORTS);
  localparam int WIDTH = TAG_W + RSP_W + 2;
  localparam int FLIGHT_W = 10;  // A port holds fewer than 2^10 requests of an engine.

  generate
    if (PORTS < 2 || PORTS != 1 << PORT_W) begin : g_check_ports
      $error("mem_interleave: PORTS must be a power of two, 2 or more");
    end
  endgenerate

  logic [PORTS-1:0] chosen, busy, waits, grant;
  logic [WIDTH*PORTS-1:0] answers;
  logic [WIDTH-1:0] answer;
  logic [PORT_W-1:0] to;  // The port of the line.
  logic reserves, goes, unused;

  assign unused = &{1'b0, req_i};
  assign to = req_i.line[LINES_LOG2+:PORT_W];
  assign chosen = PORTS'(1) << to;
  assign reserves = req_i.op == tern_pkg::MEM_ATOMIC &&
      (req_i.amo == tern_pkg::AMO_LR || req_i.amo == tern_pkg::AMO_SC);
  assign goes = !reserves || (busy & ~chosen) == '0;
  assign port_valid_o = chosen & {PORTS{req_valid_i && goes}};
  assign req_ready_o = goes && |(chosen & port_ready_i);

  for (genvar p = 0; p < PORTS; p++) begin : g_port
    logic [FLIGHT_W-1:0] flight_q;    // Requests that are accepted and not answered.
    logic [DEPTH_LOG2:0] count_q, count;  // Answers that wait.
    logic room_q, busy_q, taken, has_room;  // busy: a request is in flight; falls a cycle late.

    assign taken = port_valid_o[p] && port_ready_i[p];
    assign busy[p] = busy_q;
    assign port_room_o[p] = room_q;
    assign count = count_q + (DEPTH_LOG2 + 1)'(port_rsp_valid_i[p]) - (DEPTH_LOG2 + 1)'(grant[p]);

    always_ff @(posedge clk_i) begin
      flight_q <= flight_q + FLIGHT_W'(taken) - FLIGHT_W'(grant[p]);
      busy_q <= flight_q != '0 || taken;
      count_q <= count;
      room_q <= count <= (DEPTH_LOG2 + 1)'((1 << DEPTH_LOG2) - 2);
      if (rst_i) begin
        flight_q <= '0;
        busy_q <= 1'b0;
        count_q <= '0;
        room_q <= 1'b0;
      end
    end

    mem_fifo #(.WIDTH(WIDTH), .DEPTH_LOG2(DEPTH_LOG2)) u_answers (
        .clk_i,
        .rst_i,
        .in_valid_i(port_rsp_valid_i[p]),
        .in_ready_o(has_room),
        .in_data_i({port_ev_rd_i[p], port_ev_wr_i[p], port_rsp_tag_i[TAG_W*p+:TAG_W], port_rsp_i[RSP_W*p+:RSP_W]}),
        .out_valid_o(waits[p]),
        .out_ready_i(grant[p]),
        .out_data_o(answers[WIDTH*p+:WIDTH])
    );
    logic unused_room;
    assign unused_room = has_room;
`ifndef SYNTHESIS
    logic live_q = 1'b0;  // there was a reset
    always_ff @(posedge clk_i) begin
      if (rst_i) live_q <= 1'b1;
      if (live_q && !rst_i) room_for_an_answer: assert (has_room || !port_rsp_valid_i[p]);
    end
`endif
  end

  rr_arbiter #(.N(PORTS)) u_turn (
      .clk_i,
      .rst_i,
      .request_i(waits),
      .advance_i(1'b1),
      .grant_o(grant)
  );

  always_comb begin
    answer = '0;
    for (int p = 0; p < PORTS; p++) if (grant[p]) answer = answer | answers[WIDTH*p+:WIDTH];
  end

  always_ff @(posedge clk_i) begin
    rsp_valid_o <= |grant && !rst_i;
    ev_rd_o <= answer[WIDTH-1] && !rst_i;
    ev_wr_o <= answer[WIDTH-2] && !rst_i;
    if (|grant) {rsp_tag_o, rsp_o} <= answer[WIDTH-3:0];
  end
endmodule
