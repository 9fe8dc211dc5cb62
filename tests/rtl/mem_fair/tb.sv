// SPDX-License-Identifier: Apache-2.0
// Bench of the fairness of mem_fabric: a request's wait is bounded for any traffic of the other engines.
//
// Each of three engines has a kind of traffic. For each slow memory of a list, random combinations run, and those that
// once starved an engine. The wait is counted from the cycle in which the request is offered to its answer. The bound
// (limit) follows from the memory: the number of requests that can precede this one, times the memory's period a
// request. mem_fabric's bench checks the data.
module tb;
  localparam int N = 3, TAG_W = 8, LINES = 16384;

  logic clk = 0, rst = 1;
  always #5 clk = !clk;

  logic [N-1:0] req_valid = '0, req_ready, rsp_valid, ev_rd, ev_wr;
  tern_pkg::mem_req_t [N-1:0] req = '0;
  tern_pkg::mem_rsp_t [N-1:0] rsp;
  logic [TAG_W*N-1:0] req_tag, rsp_tag;
  logic dirty_busy, dirty_error, dirty_bus_error;
  logic [31:0] dirty_found;
  logic arvalid, arready, rvalid, rready, awvalid, awready, wvalid, wready, bvalid, bready, wlast;
  logic [5:0] arid, rid, awid, bid;
  logic [63:0] araddr, awaddr, wstrb;
  logic [511:0] rdata, wdata;
  logic [1:0] rresp, bresp, arburst, awburst;
  logic [7:0] arlen, awlen;
  logic [2:0] arsize, awsize;
  tern_pkg::axi_req_t axi_req;
  tern_pkg::axi_req_ready_t axi_req_ready;
  tern_pkg::axi_rsp_t axi_rsp;
  tern_pkg::axi_rsp_ready_t axi_rsp_ready;
  int latency, spread;

  mem_fabric #(.ENGINES(N), .TAG_W(TAG_W), .MEM_PAGES(1024)) dut (
      .clk_i(clk), .rst_i(rst), .mem_pages_i(23'(LINES / 64)), .axi_base_i('0), .req_valid_i(req_valid),
      .req_ready_o(req_ready), .req_i(req),
      .req_tag_i(req_tag), .rsp_valid_o(rsp_valid), .rsp_tag_o(rsp_tag), .rsp_o(rsp),
      .ev_rd_o(ev_rd), .ev_wr_o(ev_wr), .dirty_valid_i(1'b0), .dirty_op_i('0),
      .dirty_first_i('0), .dirty_count_i('0), .dirty_target_i('0), .dirty_busy_o(dirty_busy),
      .dirty_error_o(dirty_error), .dirty_bus_error_o(dirty_bus_error), .dirty_found_o(dirty_found),
      .axi_req_o(axi_req), .axi_req_ready_i(axi_req_ready), .axi_rsp_i(axi_rsp), .axi_rsp_ready_o(axi_rsp_ready)
  );
  axi_port u_axi (
      .req_i(axi_req), .req_ready_o(axi_req_ready), .rsp_o(axi_rsp), .rsp_ready_i(axi_rsp_ready),
      .arvalid_o(arvalid), .arready_i(arready),
      .arid_o(arid), .araddr_o(araddr), .arlen_o(arlen), .arsize_o(arsize),
      .arburst_o(arburst), .rvalid_i(rvalid), .rready_o(rready), .rid_i(rid),
      .rdata_i(rdata), .rresp_i(rresp), .rlast_i(1'b1), .awvalid_o(awvalid),
      .awready_i(awready), .awid_o(awid), .awaddr_o(awaddr), .awlen_o(awlen),
      .awsize_o(awsize), .awburst_o(awburst), .wvalid_o(wvalid), .wready_i(wready),
      .wdata_o(wdata), .wstrb_o(wstrb), .wlast_o(wlast), .bvalid_i(bvalid),
      .bready_o(bready), .bid_i(bid), .bresp_i(bresp)
  );
  axi_memory #(.LINES(LINES)) memory (
      .clk_i(clk), .rst_i(rst), .latency_i(latency), .spread_i(spread), .stall_i(0), .arvalid_i(arvalid),
      .arready_o(arready), .arid_i(arid), .araddr_i(araddr), .rvalid_o(rvalid), .rready_i(rready), .rid_o(rid),
      .rdata_o(rdata), .rresp_o(rresp), .awvalid_i(awvalid), .awready_o(awready), .awid_i(awid), .awaddr_i(awaddr),
      .wvalid_i(wvalid), .wready_o(wready), .wdata_i(wdata), .wstrb_i(wstrb), .bvalid_o(bvalid), .bready_i(bready),
      .bid_o(bid), .bresp_o(bresp)
  );

  // HOT, SPREAD, MISSES: atomics on one line, on 16, on new ones. BANK: writes of one id. WALK: one read at a time.
  // SAME: all operations on four lines. SPARSE: a write in 64 cycles.
  typedef enum int {NONE, HOT, SPREAD, MISSES, WRITES, BANK, READS, WALK, SAME, SPARSE, KINDS} kind_t;
  kind_t kind[0:N-1];
  bit stop = 1;
  int offered[0:N-1][0:(1<<TAG_W)-1], in_flight[0:N-1], count[0:N-1], answered[0:N-1], longest[0:N-1];
  bit busy[0:N-1][0:(1<<TAG_W)-1];

  task automatic choose(int e);
    int line, tag, random;
    logic [1:0] op;
    bit idle;
    tag = count[e] % (1 << TAG_W);
    idle = stop || busy[e][tag];
    random = int'($urandom);
    op = tern_pkg::MEM_WRITE;
    line = 0;
    case (kind[e])
      HOT: op = tern_pkg::MEM_ATOMIC;
      SPREAD: begin
        op = tern_pkg::MEM_ATOMIC;
        line = random & 15;
      end
      MISSES: begin
        op = tern_pkg::MEM_ATOMIC;
        line = e * 4096 + count[e] % 4096;
      end
      WRITES: line = e * 4096 + count[e] % 4096;
      BANK: line = e * 4096 + 1024 * (count[e] % 4);  // the bank of line 0
      READS: begin
        op = tern_pkg::MEM_READ;
        line = e * 4096 + count[e] % 4096;
      end
      WALK: begin
        op = tern_pkg::MEM_READ;
        line = e * 4096 + random % 2048;
        if (line < 0) line = -line;
        idle |= in_flight[e] != 0 || req_valid[e];
      end
      SAME: begin
        op = random[9:8] == 2'd3 ? tern_pkg::MEM_READ : random[9:8];
        line = int'(random[1:0]);
      end
      SPARSE: begin
        line = e * 4096 + 1024 * (random & 3);
        idle |= random[15:10] != 0;
      end
      default: idle = 1;
    endcase
    req_valid[e] <= !idle;
    if (!idle) begin
      req[e].op <= op;
      req[e].amo <= tern_pkg::AMO_ADD;
      req[e].line <= 28'(line);
      req[e].wdata[31:0] <= 1;
      req[e].be <= op == tern_pkg::MEM_ATOMIC ? 64'hf : '1;
      req_tag[TAG_W*e+:TAG_W] <= TAG_W'(tag);
      busy[e][tag] = 1;
      offered[e][tag] = memory.now;
      in_flight[e]++;
      count[e]++;
    end
  endtask

  always @(posedge clk) if (!rst) for (int e = 0; e < N; e++) begin
    if (rsp_valid[e]) begin
      automatic int tag = int'(rsp_tag[TAG_W*e+:TAG_W]);
      report::compared(1);
      if (!busy[e][tag]) $fatal(1, "engine %0d: answer to nobody, tag %0d", e, tag);
      if (rsp[e].fault != 0) $fatal(1, "engine %0d: fault", e);
      if (memory.now - offered[e][tag] > longest[e]) longest[e] = memory.now - offered[e][tag];
      busy[e][tag] = 0;
      in_flight[e]--;
      answered[e]++;
    end
    if (!req_valid[e] || req_ready[e]) choose(e);
  end

  int seed = 1, rounds = 6, worst, limit, period;
  string slow;

  // A request that is not answered at the end of the phase counts with its age.
  task automatic phase(int cycles);
    for (int e = 0; e < N; e++) {longest[e], answered[e]} = '0;
    stop = 0;
    repeat (cycles) @(posedge clk);
    for (int e = 0; e < N; e++) for (int t = 0; t < 1 << TAG_W; t++)
      if (busy[e][t] && memory.now - offered[e][t] > longest[e]) longest[e] = memory.now - offered[e][t];
    stop = 1;
    for (int e = 0; e < N; e++) begin
      if (longest[e] > worst) worst = longest[e];
      if (longest[e] > limit) $fatal(1, "%s: engine %0d of %s, %s, %s waited for %0d cycles, at most %0d are right",
                                     slow, e, kind[0].name(), kind[1].name(), kind[2].name(), longest[e], limit);
    end
    for (int i = 0; in_flight[0] + in_flight[1] + in_flight[2] != 0; i++) begin
      @(posedge clk);
      if (i > 20000) $fatal(1, "requests are not answered");
    end
  endtask

  task automatic combinations(string name, int ar, int aw, int w, int reads, int writes, int every, int pause,
                              int answer);
    slow = name;
    memory.ar_every = ar;
    memory.aw_every = aw;
    memory.w_every = w;
    memory.most_of_reads = reads;
    memory.most_of_writes = writes;
    memory.pause_every = every;
    memory.pause_for = pause;
    latency = answer;
    spread = answer;
    worst = 0;
    period = ar > aw ? ar : aw;
    if (w > period) period = w;
    if (2 * answer / reads > period) period = 2 * answer / reads;
    if (2 * answer / writes > period) period = 2 * answer / writes;
    limit = 4 * 2 * answer + 200 * period + 64;
    if (every != 0) limit += 4 * pause;
    kind = '{HOT, WRITES, NONE};
    phase(2 * limit);
    kind = '{HOT, SPARSE, BANK};
    phase(2 * limit);
    kind = '{MISSES, WALK, READS};
    phase(2 * limit);
    kind = '{SPREAD, WRITES, BANK};
    phase(2 * limit);
    for (int i = 0; i < rounds; i++) begin
      for (int e = 0; e < N; e++) kind[e] = kind_t'(1 + int'($urandom_range(int'(KINDS) - 2)));
      phase(2 * limit);
    end
    $display("%-32s longest wait %5d cycles, at most %5d are right", name, worst, limit);
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("rounds=%d", rounds)) rounds = 6;
    $display("seed %0d", seed);
    void'($urandom(seed));
    for (int i = 0; i < LINES; i++) memory.mem[i] = '0;
    repeat (4) @(posedge clk);
    rst <= 0;
    repeat (2200) @(posedge clk);  // mem_fabric clears its tables after reset
    combinations("one write in 6 cycles", 1, 6, 6, 64, 512, 0, 0, 30);
    combinations("addresses slow, data quick", 1, 8, 1, 64, 512, 0, 0, 30);
    combinations("one read in 6 cycles", 6, 1, 1, 64, 512, 0, 0, 30);
    combinations("8 writes in flight", 1, 1, 1, 64, 8, 0, 0, 30);
    combinations("4 reads, 4 writes in flight", 1, 1, 1, 4, 4, 0, 0, 60);
    combinations("pauses of 300 cycles", 1, 1, 1, 64, 512, 1000, 300, 30);
    combinations("as quick as can be", 1, 1, 1, 64, 512, 0, 0, 4);
    report::pass();
  end
endmodule
