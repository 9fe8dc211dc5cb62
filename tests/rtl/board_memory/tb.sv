// SPDX-License-Identifier: Apache-2.0
// Bench of board_memory: two masters read and write lines at the same time, with random strobes, ids and pauses.
// Checked:
//   - a read returns what was written: each master has lines of its own; of the shared lines, one master writes;
//   - an address behind the chip gives an error and changes nothing;
//   - at most three other transfers begin before a transfer that waits;
//   - each transfer is answered once, with its id, within the time of four transfers and a refresh.
// +count=N reads and as many writes a master, +seed=N.
module tb;
  localparam int ROW_W = 11, COL_W = 8, LINES = 1 << (ROW_W + COL_W - 3), ID_W = 6;
  localparam int BOUND = 4 * 60 + 400;  // cycles; 400 is the chip's start, which is longer than a refresh

  logic clk = 0, rst = 1;
  always #10 clk = !clk;

  logic [1:0] arvalid, arready, rvalid, rready, awvalid, awready, wvalid, wready, bvalid, bready;
  logic [ID_W-1:0] arid[2], awid[2], rid, bid;
  logic [63:0] araddr[2], awaddr[2], wstrb[2];
  logic [511:0] wdata[2], rdata[2];
  logic [1:0] rresp[2], bresp[2];
  logic cke, cs_n, ras_n, cas_n, we_n, oe, chip_oe;
  logic [1:0] ba, dqm;
  logic [ROW_W-1:0] a;
  logic [15:0] dq, chip_dq;

  tern_pkg::axi_req_t [1:0] req;
  tern_pkg::axi_req_ready_t [1:0] req_ready;
  tern_pkg::axi_rsp_t [1:0] rsp;
  tern_pkg::axi_rsp_ready_t [1:0] rsp_ready;
  for (genvar m = 0; m < 2; m++) begin : g_port
    assign req[m].ar_valid = arvalid[m];
    assign req[m].ar_id = arid[m];
    assign req[m].ar_addr = araddr[m];
    assign req[m].aw_valid = awvalid[m];
    assign req[m].aw_id = awid[m];
    assign req[m].aw_addr = awaddr[m];
    assign req[m].w_valid = wvalid[m];
    assign req[m].w_data = wdata[m];
    assign req[m].w_strb = wstrb[m];
    assign {arready[m], awready[m], wready[m]} = {req_ready[m].ar, req_ready[m].aw, req_ready[m].w};
    assign {rvalid[m], rdata[m], rresp[m]} = {rsp[m].r_valid, rsp[m].r_data, rsp[m].r_resp};
    assign {bvalid[m], bresp[m]} = {rsp[m].b_valid, rsp[m].b_resp};
    assign rsp_ready[m].r = rready[m];
    assign rsp_ready[m].b = bready[m];
  end
  assign rid = rsp[0].r_id;
  assign bid = rsp[0].b_id;

  board_memory #(.CLOCK_HZ(50000000), .ROW_W(ROW_W), .COL_W(COL_W), .START_NS(2000)) dut (
      .clk_i(clk), .rst_i(rst), .d_req_i(req[0]), .d_req_ready_o(req_ready[0]), .d_rsp_o(rsp[0]),
      .d_rsp_ready_i(rsp_ready[0]), .l_req_i(req[1]), .l_req_ready_o(req_ready[1]), .l_rsp_o(rsp[1]),
      .l_rsp_ready_i(rsp_ready[1]), .cke_o(cke), .cs_n_o(cs_n), .ras_n_o(ras_n), .cas_n_o(cas_n), .we_n_o(we_n),
      .ba_o(ba), .a_o(a), .dqm_o(dqm), .dq_o(dq), .dq_oe_o(oe), .dq_i(chip_dq)
  );
  sdram_chip #(.ROW_W(ROW_W), .COL_W(COL_W), .PERIOD_PS(20000), .START_NS(1900)) chip (
      .clk_i(!clk), .cke_i(cke), .cs_n_i(cs_n), .ras_n_i(ras_n), .cas_n_i(cas_n), .we_n_i(we_n), .ba_i(ba), .a_i(a),
      .dqm_i(dqm), .dq_i(dq), .dq_driven_i(oe), .dq_o(chip_dq), .dq_oe_o(chip_oe)
  );

  int seed, count, reads[2], writes[2], refused[2];

  // The contents that each line has had, by the number of writes. A read that overlaps writes of its line may return
  // any of these contents: from the last write that was complete when the read began, to the last write that had begun
  // when the read ended.
  logic [511:0] states[64][16];
  int begun[64];
  bit known[64], writing[64];

  // Master 0 writes lines 0 to 15, and reads these and 32 to 47; master 1 writes and reads 16 to 47.
  for (genvar m = 0; m < 2; m++) begin : g_reader
    typedef enum int {IDLE, ASKS, WAITS} state_t;
    state_t state = IDLE;
    int k, first, age;
    bit behind, found;
    logic [63:0] at;
    logic [ID_W-1:0] id;

    always @(posedge clk) begin
      rready[m] <= state == WAITS && $urandom_range(1) != 0 && !(rvalid[m] && rready[m]);
      age <= age + 1;
      case (state)
        IDLE: if (!rst && reads[m] < count && $urandom_range(15) != 0) begin
          behind = $urandom_range(15) == 0;
          k = int'($urandom_range(15)) + (m == 0 ? 32 * int'($urandom_range(1)) : 16 + 16 * int'($urandom_range(1)));
          at = 64'(k * (LINES / 64)) << 6;
          if (behind) at |= 64'(LINES) << 6 << $urandom_range(40);
          first = begun[k] - int'(writing[k]);
          id = ID_W'($urandom);
          araddr[m] <= at;
          arid[m] <= id;
          arvalid[m] <= 1;
          age <= 0;
          state <= ASKS;
        end
        ASKS: if (arready[m]) begin
          arvalid[m] <= 0;
          araddr[m] <= '1;
          age <= 0;
          state <= WAITS;
        end
        default: if (rvalid[m] && rready[m]) begin
          if (m == 0 && rid != id) $fatal(1, "answer with id %0d instead of %0d", rid, id);
          if (rresp[m] != (behind ? 2'd2 : 2'd0)) $fatal(1, "master %0d: rresp %0d", m, rresp[m]);
          found = behind || !known[k];
          for (int i = first; i <= begun[k]; i++) found |= rdata[m] === states[k][i%16];
          if (!found) $fatal(1, "master %0d, line %0d: %h instead of %h", m, k, rdata[m], states[k][begun[k]%16]);
          reads[m]++;
          report::compared(1);
          refused[m] += int'(behind);
          state <= IDLE;
        end
      endcase
      if (rvalid[m] && state != WAITS) $fatal(1, "data for nothing");
      if (state != IDLE && age > BOUND) $fatal(1, "a read of master %0d waits for %0d cycles", m, age);
      if (rst) {arvalid[m], rready[m]} <= '0;
    end
  end

  for (genvar m = 0; m < 2; m++) begin : g_writer
    typedef enum int {IDLE, ASKS, WAITS} state_t;
    state_t state = IDLE;
    int k, age;
    bit behind;
    logic [511:0] next;
    logic [63:0] at;
    logic [ID_W-1:0] id;

    always @(posedge clk) begin
      bready[m] <= state == WAITS && $urandom_range(1) != 0 && !(bvalid[m] && bready[m]);
      age <= age + 1;
      case (state)
        IDLE: if (!rst && writes[m] < count && $urandom_range(15) != 0) begin
          behind = $urandom_range(15) == 0;
          k = m * 16 + int'($urandom_range(m == 0 ? 15 : 31));
          at = 64'(k * (LINES / 64)) << 6;
          if (behind) at |= 64'(LINES) << 6 << $urandom_range(40);
          next = states[k][begun[k]%16];
          id = ID_W'($urandom);
          wstrb[m] <= '1;
          if (known[k] && $urandom_range(1) != 0) wstrb[m] <= {$urandom, $urandom};
          for (int i = 0; i < 16; i++) wdata[m][32*i+:32] <= $urandom;
          awaddr[m] <= at;
          awid[m] <= id;
          awvalid[m] <= $urandom_range(1) != 0;
          age <= 0;
          state <= ASKS;
        end
        ASKS: begin
          // the address may come before the data, or after the data
          if (!awvalid[m]) awvalid[m] <= wvalid[m] || $urandom_range(1) != 0;
          if (!wvalid[m]) wvalid[m] <= awvalid[m] || $urandom_range(1) != 0;
          if (!writing[k] && !behind) begin
            for (int i = 0; i < 64; i++) if (wstrb[m][i]) next[8*i+:8] = wdata[m][8*i+:8];
            begun[k]++;
            states[k][begun[k]%16] = next;
            writing[k] = 1;
          end
          if ((awvalid[m] && awready[m]) != (wvalid[m] && wready[m])) $fatal(1, "address and data not at once");
          if (awvalid[m] && awready[m]) begin
            awvalid[m] <= 0;
            wvalid[m] <= 0;
            awaddr[m] <= '1;
            age <= 0;
            known[k] |= &wstrb[m] && !behind;
            wdata[m] <= '1;
            wstrb[m] <= '1;
            state <= WAITS;
          end
        end
        default: if (bvalid[m] && bready[m]) begin
          if (m == 0 && bid != id) $fatal(1, "answer with id %0d instead of %0d", bid, id);
          if (bresp[m] != (behind ? 2'd2 : 2'd0)) $fatal(1, "master %0d: bresp %0d", m, bresp[m]);
          if (!behind) writing[k] = 0;
          writes[m]++;
          report::compared(1);
          refused[m] += int'(behind);
          state <= IDLE;
        end
      endcase
      if (bvalid[m] && state != WAITS) $fatal(1, "an answer to nothing");
      if (state != IDLE && age > BOUND) $fatal(1, "a write of master %0d waits for %0d cycles", m, age);
      if (rst) {awvalid[m], wvalid[m], bready[m]} <= '0;
    end
  end

  // The number of other transfers that have begun while a transfer waits. The module promises at most 3; 3 must occur.
  logic [3:0] asks, begins;
  int others[4], most;
  assign asks = {awvalid[1] && wvalid[1], arvalid[1], awvalid[0] && wvalid[0], arvalid[0]};
  assign begins = asks & {awready[1], arready[1], awready[0], arready[0]};
  always @(posedge clk)
    for (int i = 0; i < 4; i++) begin
      if (others[i] > 3) $fatal(1, "requester %0d has seen %0d others begin", i, others[i]);
      if (others[i] > most) most = others[i];
      others[i] = !asks[i] || begins[i] ? 0 : others[i] + $countones(begins);
    end

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 1000;
    $display("seed %0d", seed);
    void'($urandom(seed));
    repeat (4) @(negedge clk);
    rst = 0;
    while (reads[0] < count || reads[1] < count || writes[0] < count || writes[1] < count) @(negedge clk);
    if (refused[0] < count / 20 || refused[1] < count / 20) $fatal(1, "hardly any error");
    if (most < 3) $fatal(1, "nobody had to wait for more than %0d others", most);
    $display("%0d transfers, %0d and %0d behind the chip", 4 * count, refused[0], refused[1]);
    report::pass();
  end
endmodule
