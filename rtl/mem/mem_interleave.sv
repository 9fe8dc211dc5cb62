// SPDX-License-Identifier: Apache-2.0
// Connects the memory channel of one engine to several memory ports: each request goes to the port of its line, and the
// answers of all ports come back one a cycle.
//
// Contract: req_port_i depends on the line only. Requests for one port keep their order, and so do answers of one port.
// Between ports there is no order, and none is required (docs/hardware/interfaces.md, rules 1 and 4), since lines of
// two ports are two lines. LR and SC are the exception: an LR or SC waits until the engine's requests at all other
// ports have been answered, so that reservations end in program order (atomic_reserve). A port answers only in the
// cycle after one with its port_room_o set. Answers wait in a queue for each port. The queues take turns; ev_* come
// with the answers. One queue for all ports would need as many write ports.
// Preemption: no state is saved; the channel is drained first.
module mem_interleave #(
    parameter int PORTS      = 2,    // Number of ports: a power of two, at least 2.
    parameter int TAG_W      = 11,   // Bits of a tag.
    parameter int DATA_W     = 512,  // Bits of a line; fewer in the proof.
    parameter int DEPTH_LOG2 = 4     // log2 of the answers of a port that can wait.
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // Memory channel of the engine.
    input  logic                   req_valid_i,
    output logic                   req_ready_o,
    input  logic [            1:0] req_op_i,
    input  logic [            3:0] req_amo_i,
    input  logic [$clog2(PORTS)-1:0] req_port_i,  // Port of the line.
    output logic                   rsp_valid_o,
    output logic [      TAG_W-1:0] rsp_tag_o,
    output logic [     DATA_W-1:0] rsp_data_o,
    output logic [            7:0] rsp_fault_o,
    output logic                   ev_rd_o,
    output logic                   ev_wr_o,
    // Memory ports. The rest of a request goes to all of them.
    output logic [      PORTS-1:0] port_valid_o,
    input  logic [      PORTS-1:0] port_ready_i,
    output logic [      PORTS-1:0] port_room_o,
    input  logic [      PORTS-1:0] port_rsp_valid_i,
    input  logic [TAG_W*PORTS-1:0] port_rsp_tag_i,
    input  logic [DATA_W*PORTS-1:0] port_rsp_data_i,
    input  logic [    8*PORTS-1:0] port_rsp_fault_i,
    input  logic [      PORTS-1:0] port_ev_rd_i,
    input  logic [      PORTS-1:0] port_ev_wr_i
);
  localparam int PORT_W = $clog2(PORTS);
  localparam int WIDTH = TAG_W + DATA_W + 8 + 2;
  localparam int FLIGHT_W = 10;  // A port holds fewer than 2^10 requests of an engine.

  generate
    if (PORTS < 2 || PORTS != 1 << PORT_W) begin : g_check_ports
      $error("mem_interleave: PORTS must be a power of two, 2 or more");
    end
  endgenerate

  logic [PORTS-1:0] chosen, busy, waits, grant;
  logic [WIDTH*PORTS-1:0] answers;
  logic [WIDTH-1:0] answer;
  logic reserves, goes;

  assign chosen = PORTS'(1) << req_port_i;
  assign reserves = req_op_i == tern_pkg::MEM_ATOMIC &&
      (req_amo_i == tern_pkg::AMO_LR || req_amo_i == tern_pkg::AMO_SC);
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
        .clk_i, .rst_i, .in_valid_i(port_rsp_valid_i[p]), .in_ready_o(has_room),
        .in_data_i({port_ev_rd_i[p], port_ev_wr_i[p], port_rsp_fault_i[8*p+:8], port_rsp_tag_i[TAG_W*p+:TAG_W],
                    port_rsp_data_i[DATA_W*p+:DATA_W]}),
        .out_valid_o(waits[p]), .out_ready_i(grant[p]), .out_data_o(answers[WIDTH*p+:WIDTH])
    );
    logic unused;
    assign unused = has_room;
`ifndef SYNTHESIS
    logic live_q = 1'b0;  // there was a reset
    always_ff @(posedge clk_i) begin
      if (rst_i) live_q <= 1'b1;
      if (live_q && !rst_i) room_for_an_answer: assert (has_room || !port_rsp_valid_i[p]);
    end
`endif
  end

  rr_arbiter #(.N(PORTS)) u_turn (.clk_i, .rst_i, .request_i(waits), .advance_i(1'b1), .grant_o(grant));

  always_comb begin
    answer = '0;
    for (int p = 0; p < PORTS; p++) if (grant[p]) answer = answer | answers[WIDTH*p+:WIDTH];
  end

  always_ff @(posedge clk_i) begin
    rsp_valid_o <= |grant && !rst_i;
    ev_rd_o <= answer[WIDTH-1] && !rst_i;
    ev_wr_o <= answer[WIDTH-2] && !rst_i;
    if (|grant) {rsp_fault_o, rsp_tag_o, rsp_data_o} <= answer[WIDTH-3:0];
  end
endmodule
