// SPDX-License-Identifier: Apache-2.0
// Bench of mem_fabric against a reference, with a memory that reorders, stalls and fails. PORTS memory ports: 1 here, 2
// and 4 in mem_fabric_2 and mem_fabric_4. Three engines:
//   - random phases: engine e owns the lines with line % 3 == e, and all engines share hashes, banks, the atomic buffer
//     and response ports. Requests of one engine to one line take effect in order (rule 4), so all data are checked;
//   - shared phases: all engines add 1 to the same words, also with LR and SC; no old value may be returned twice;
//   - last phases: the lines per cycle are printed.
// Dirty commands run in the random phases, and memory refuses some writes. Without atomics (ATOMICS = 0,
// mem_fabric_plain) each atomic is refused and changes nothing.
module tb #(
    parameter int PORTS = 1, HASH_W = 9,
    parameter bit ATOMICS = 1'b1
);
  localparam int N = 3, TAG_W = 8, LINES = 16384, ERR_RD = LINES - 128, ERR_WR = LINES - 64;
  localparam int PAGES = LINES / 64, SHARED = PORTS == 1 ? 24 : 128;  // the first lines are shared
  localparam int RESULT = ERR_RD - 64;             // a page that only dirty commands write
  localparam longint BASE = 64'h40_0000_0000;

  logic clk = 0, rst = 1;
  always #5 clk = !clk;

  logic [N-1:0] req_valid = '0, req_ready, rsp_valid, ev_rd, ev_wr;
  tern_pkg::mem_req_t [N-1:0] req;
  tern_pkg::mem_rsp_t [N-1:0] rsp;
  logic [TAG_W*N-1:0] req_tag, rsp_tag;
  logic dirty_valid = 0, dirty_busy, dirty_error, dirty_bus_error;
  logic [1:0] dirty_op = 0;
  logic [31:0] dirty_first = 0, dirty_count = 0, dirty_found;
  logic [63:0] dirty_target = 0;
  // signals of four ports; those from PORTS on are idle
  logic [3:0] arvalid, arready, rvalid, rready, awvalid, awready, wvalid, wready, bvalid, bready, wlast;
  logic [4*6-1:0] arid, rid, awid, bid;
  logic [4*64-1:0] araddr, awaddr, wstrb;
  logic [4*512-1:0] rdata, wdata;
  logic [4*2-1:0] rresp, bresp, arburst, awburst;
  logic [4*8-1:0] arlen, awlen;
  logic [4*3-1:0] arsize, awsize;
  tern_pkg::axi_req_t [PORTS-1:0] axi_req;
  tern_pkg::axi_req_ready_t [PORTS-1:0] axi_req_ready;
  tern_pkg::axi_rsp_t [PORTS-1:0] axi_rsp;
  tern_pkg::axi_rsp_ready_t [PORTS-1:0] axi_rsp_ready;
  int latency = 20, spread = 100, stall = 40;

  mem_fabric #(.ENGINES(N), .TAG_W(TAG_W), .MEM_PAGES(1024), .PORTS(PORTS), .HASH_W(HASH_W), .ATOMICS(ATOMICS)) dut (
      .clk_i(clk), .rst_i(rst), .mem_pages_i(23'(PAGES)), .axi_base_i(BASE), .req_valid_i(req_valid),
      .req_ready_o(req_ready), .req_i(req),
      .req_tag_i(req_tag), .rsp_valid_o(rsp_valid), .rsp_tag_o(rsp_tag), .rsp_o(rsp),
      .ev_rd_o(ev_rd), .ev_wr_o(ev_wr), .dirty_valid_i(dirty_valid), .dirty_op_i(dirty_op),
      .dirty_first_i(dirty_first), .dirty_count_i(dirty_count), .dirty_target_i(dirty_target),
      .dirty_busy_o(dirty_busy), .dirty_error_o(dirty_error), .dirty_bus_error_o(dirty_bus_error),
      .dirty_found_o(dirty_found),
      .axi_req_o(axi_req), .axi_req_ready_i(axi_req_ready), .axi_rsp_i(axi_rsp), .axi_rsp_ready_o(axi_rsp_ready)
  );
  for (genvar p = 0; p < PORTS; p++) begin : g_axi
    axi_port u_axi (
        .req_i(axi_req[p]), .req_ready_o(axi_req_ready[p]), .rsp_o(axi_rsp[p]), .rsp_ready_i(axi_rsp_ready[p]),
        .arvalid_o(arvalid[p]), .arready_i(arready[p]), .arid_o(arid[6*p+:6]), .araddr_o(araddr[64*p+:64]),
        .arlen_o(arlen[8*p+:8]), .arsize_o(arsize[3*p+:3]), .arburst_o(arburst[2*p+:2]), .rvalid_i(rvalid[p]),
        .rready_o(rready[p]), .rid_i(rid[6*p+:6]), .rdata_i(rdata[512*p+:512]), .rresp_i(rresp[2*p+:2]),
        .rlast_i(1'b1), .awvalid_o(awvalid[p]), .awready_i(awready[p]), .awid_o(awid[6*p+:6]),
        .awaddr_o(awaddr[64*p+:64]), .awlen_o(awlen[8*p+:8]), .awsize_o(awsize[3*p+:3]), .awburst_o(awburst[2*p+:2]),
        .wvalid_o(wvalid[p]), .wready_i(wready[p]), .wdata_o(wdata[512*p+:512]), .wstrb_o(wstrb[64*p+:64]),
        .wlast_o(wlast[p]), .bvalid_i(bvalid[p]), .bready_o(bready[p]), .bid_i(bid[6*p+:6]), .bresp_i(bresp[2*p+:2])
    );
  end
  axi_memory #(.LINES(LINES), .ERR_RD(ERR_RD), .ERR_WR(ERR_WR), .BASE(BASE), .PORT(0), .PORTS(PORTS)) memory (
      .clk_i(clk), .rst_i(rst), .latency_i(latency), .spread_i(spread), .stall_i(stall), .arvalid_i(arvalid[0]),
      .arready_o(arready[0]), .arid_i(arid[6*0+:6]), .araddr_i(araddr[64*0+:64]), .rvalid_o(rvalid[0]),
      .rready_i(rready[0]), .rid_o(rid[6*0+:6]), .rdata_o(rdata[512*0+:512]), .rresp_o(rresp[2*0+:2]),
      .awvalid_i(awvalid[0]), .awready_o(awready[0]), .awid_i(awid[6*0+:6]), .awaddr_i(awaddr[64*0+:64]),
      .wvalid_i(wvalid[0]), .wready_o(wready[0]), .wdata_i(wdata[512*0+:512]), .wstrb_i(wstrb[64*0+:64]),
      .bvalid_o(bvalid[0]), .bready_i(bready[0]), .bid_o(bid[6*0+:6]), .bresp_o(bresp[2*0+:2])
  );
  axi_memory #(.LINES(LINES), .ERR_RD(ERR_RD), .ERR_WR(ERR_WR), .BASE(BASE), .PORT(1), .PORTS(PORTS)) memory_1 (
      .clk_i(clk && PORTS > 1), .rst_i(rst), .latency_i(latency), .spread_i(spread), .stall_i(stall),
      .arvalid_i(arvalid[1]), .arready_o(arready[1]), .arid_i(arid[6*1+:6]), .araddr_i(araddr[64*1+:64]),
      .rvalid_o(rvalid[1]), .rready_i(rready[1]), .rid_o(rid[6*1+:6]), .rdata_o(rdata[512*1+:512]),
      .rresp_o(rresp[2*1+:2]), .awvalid_i(awvalid[1]), .awready_o(awready[1]), .awid_i(awid[6*1+:6]),
      .awaddr_i(awaddr[64*1+:64]), .wvalid_i(wvalid[1]), .wready_o(wready[1]), .wdata_i(wdata[512*1+:512]),
      .wstrb_i(wstrb[64*1+:64]), .bvalid_o(bvalid[1]), .bready_i(bready[1]), .bid_o(bid[6*1+:6]),
      .bresp_o(bresp[2*1+:2])
  );
  axi_memory #(.LINES(LINES), .ERR_RD(ERR_RD), .ERR_WR(ERR_WR), .BASE(BASE), .PORT(2), .PORTS(PORTS)) memory_2 (
      .clk_i(clk && PORTS > 2), .rst_i(rst), .latency_i(latency), .spread_i(spread), .stall_i(stall),
      .arvalid_i(arvalid[2]), .arready_o(arready[2]), .arid_i(arid[6*2+:6]), .araddr_i(araddr[64*2+:64]),
      .rvalid_o(rvalid[2]), .rready_i(rready[2]), .rid_o(rid[6*2+:6]), .rdata_o(rdata[512*2+:512]),
      .rresp_o(rresp[2*2+:2]), .awvalid_i(awvalid[2]), .awready_o(awready[2]), .awid_i(awid[6*2+:6]),
      .awaddr_i(awaddr[64*2+:64]), .wvalid_i(wvalid[2]), .wready_o(wready[2]), .wdata_i(wdata[512*2+:512]),
      .wstrb_i(wstrb[64*2+:64]), .bvalid_o(bvalid[2]), .bready_i(bready[2]), .bid_o(bid[6*2+:6]),
      .bresp_o(bresp[2*2+:2])
  );
  axi_memory #(.LINES(LINES), .ERR_RD(ERR_RD), .ERR_WR(ERR_WR), .BASE(BASE), .PORT(3), .PORTS(PORTS)) memory_3 (
      .clk_i(clk && PORTS > 3), .rst_i(rst), .latency_i(latency), .spread_i(spread), .stall_i(stall),
      .arvalid_i(arvalid[3]), .arready_o(arready[3]), .arid_i(arid[6*3+:6]), .araddr_i(araddr[64*3+:64]),
      .rvalid_o(rvalid[3]), .rready_i(rready[3]), .rid_o(rid[6*3+:6]), .rdata_o(rdata[512*3+:512]),
      .rresp_o(rresp[2*3+:2]), .awvalid_i(awvalid[3]), .awready_o(awready[3]), .awid_i(awid[6*3+:6]),
      .awaddr_i(awaddr[64*3+:64]), .wvalid_i(wvalid[3]), .wready_o(wready[3]), .wdata_i(wdata[512*3+:512]),
      .wstrb_i(wstrb[64*3+:64]), .bvalid_o(bvalid[3]), .bready_i(bready[3]), .bid_o(bid[6*3+:6]),
      .bresp_o(bresp[2*3+:2])
  );

  function automatic int port_of(int line);
    return line / 4 % PORTS;
  endfunction

  // The contents of a line in memory, and the cycle in which the last write to it took effect
  function automatic logic [511:0] held(int line);
    case (port_of(line))
      0: return memory.mem[line];
      1: return memory_1.mem[line];
      2: return memory_2.mem[line];
      default: return memory_3.mem[line];
    endcase
  endfunction
  function automatic int counter(int line);
    logic [511:0] data;
    data = held(line);
    return int'(data[31:0]);
  endfunction
  function automatic int effect_time(int line);
    case (port_of(line))
      0: return memory.effect_time[line];
      1: return memory_1.effect_time[line];
      2: return memory_2.effect_time[line];
      default: return memory_3.effect_time[line];
    endcase
  endfunction
  task automatic put(int line, logic [511:0] data);
    case (port_of(line))
      0: memory.mem[line] = data;
      1: memory_1.mem[line] = data;
      2: memory_2.mem[line] = data;
      default: memory_3.mem[line] = data;
    endcase
  endtask

  typedef enum int {PAUSE, RANDOM, TICKETS, LOCKS, READS, ALL_READ, READS_WRITES, HOT, SPREAD, ONE} mode_t;
  mode_t mode = PAUSE;

  // Reference
  logic [511:0] ref_mem[0:LINES-1];
  bit has_reservation[0:N-1];
  // requests in flight, by engine and tag; the answer must have p_data where p_mask is set
  bit p_busy[0:N-1][0:(1<<TAG_W)-1], p_fault[0:N-1][0:(1<<TAG_W)-1], p_maybe_fault[0:N-1][0:(1<<TAG_W)-1];
  logic [1:0] p_op[0:N-1][0:(1<<TAG_W)-1];
  logic [3:0] p_amo[0:N-1][0:(1<<TAG_W)-1];
  int p_line[0:N-1][0:(1<<TAG_W)-1], p_accepted[0:N-1][0:(1<<TAG_W)-1];
  logic [511:0] p_data[0:N-1][0:(1<<TAG_W)-1], p_mask[0:N-1][0:(1<<TAG_W)-1];
  int in_flight[0:N-1], answered[0:N-1], longest;
  int next_line[0:N-1];
  bit ticket_seen[0:SHARED-1][0:65535];
  int tickets[0:SHARED-1];
  int stored[0:SHARED-1];
  int lock_state[0:N-1];  // 0: LR next, 1: LR in flight, 2: SC next, 3: SC in flight, 4: LR of another line in flight
  bit lock_lost[0:N-1], p_extra[0:N-1][0:(1<<TAG_W)-1];
  int lost;               // number of SC after an LR of another line
  int lock_line[0:N-1];
  logic [31:0] lock_old[0:N-1];
  int counted_rd, counted_wr;

  function automatic logic [511:0] random_line();
    logic [511:0] x;
    for (int i = 0; i < 16; i++) x[32*i+:32] = $urandom;
    return x;
  endfunction

  function automatic logic [31:0] amo_new(int amo, logic [31:0] old, logic [31:0] x, logic [31:0] expect_);
    case (amo)
      0: return x;
      1: return old + x;
      2: return old ^ x;
      3: return old & x;
      4: return old | x;
      5: return $signed(old) < $signed(x) ? old : x;
      6: return $signed(old) > $signed(x) ? old : x;
      7: return old < x ? old : x;
      8: return old > x ? old : x;
      9: return old == expect_ ? x : old;
      default: $fatal(1, "no reference for %0d", amo);
    endcase
    return 0;
  endfunction

  int r;

  task automatic choose(int e);
    int tag, line, w;
    logic [1:0] op;
    logic [3:0] amo;
    logic [63:0] be;
    logic [511:0] data;
    logic idle, extra;
    tag = int'($urandom_range((1 << TAG_W) - 1));
    for (int i = 0; i < 8 && p_busy[e][tag]; i++) tag = (tag + 37) % (1 << TAG_W);
    idle = p_busy[e][tag];
    line = 0;
    op = 0;
    amo = 0;
    be = '0;
    data = '0;
    case (mode)
      RANDOM: begin
        idle |= $urandom_range(7) == 0;
        r = int'($urandom_range(99));
        if (r < 50) line = SHARED + N * int'($urandom_range(20)) + e;
        else if (r < 60) line = SHARED + N * int'($urandom_range(20)) * 512 + e;  // same hash
        else if (r < 95) line = SHARED + N * int'($urandom_range((LINES - SHARED) / N - 1)) + e;
        else if (r < 97) line = LINES - 1 - int'($urandom_range(127));
        else if (r < 98) line = LINES + int'($urandom_range(1 << 26));
        else line = (1 << 28) - 1 - int'($urandom_range(1000));
        while (line < LINES && line % N != e) line++;
        if (line >= RESULT && line < ERR_RD) line -= 64 * N;
        if (line >= LINES - N && line < LINES) line = SHARED + N + e - (SHARED % N);
        r = int'($urandom_range(9));
        op = r < 4 ? tern_pkg::MEM_READ : r < 7 ? tern_pkg::MEM_WRITE : tern_pkg::MEM_ATOMIC;
        data = random_line();
        be = {$urandom, $urandom} | ($urandom_range(3) == 0 ? '1 : '0);
        if (op == tern_pkg::MEM_ATOMIC) begin
          amo = 4'($urandom_range(9));
          for (int i = 0; i < 16; i++) be[4*i+:4] = {4{$urandom_range(3) == 0}};
          if (amo == tern_pkg::AMO_CAS) begin
            w = int'($urandom_range(15));
            be = 64'hf << (4 * w);
            if (line < LINES && $urandom_range(1) == 0) data[32*(w^8)+:32] = ref_mem[line][32*w+:32];
          end
        end
      end
      TICKETS: begin  // +1 on a shared word
        line = int'($urandom_range(SHARED / 2 - 1));
        op = $urandom_range(4) == 0 ? tern_pkg::MEM_READ : tern_pkg::MEM_ATOMIC;
        amo = tern_pkg::AMO_ADD;
        data = 512'd1;
        be = 64'hf;
      end
      LOCKS: begin  // +1 with LR and SC, one thread per engine
        // Sometimes an LR of another line is sent before the SC, which then must not store.
        idle |= lock_state[e] == 1 || lock_state[e] == 3 || lock_state[e] == 4;
        line = SHARED / 2 + (PORTS == 1 ? 1 : 20) * int'($urandom_range(3));
        extra = !idle && lock_state[e] == 2 && !lock_lost[e] && line != lock_line[e] && $urandom_range(3) == 0;
        if (lock_state[e] == 0 || extra) amo = tern_pkg::AMO_LR;
        if (lock_state[e] == 0) begin
          lock_line[e] = line;
          lock_lost[e] = 0;
        end else if (!extra) begin
          amo = tern_pkg::AMO_SC;
          data[31:0] = lock_old[e] + 1;
        end
        if (!extra) line = lock_line[e];
        op = tern_pkg::MEM_ATOMIC;
        data[32*8+:32] = 32'(e);
        be = 64'hf;
        if (!idle && !draining) begin
          p_extra[e][tag] = extra;
          if (!extra) lock_state[e]++;
          else begin
            lock_lost[e] = 1;
            if ($urandom_range(1) == 0) lock_state[e] = 4;
          end
        end
      end
      READS: begin
        if (!idle) next_line[e]++;
        line = SHARED + next_line[e] % (ERR_RD - SHARED);
        op = tern_pkg::MEM_READ;
        idle |= e != 0;
      end
      ALL_READ: begin
        if (!idle) next_line[e]++;
        line = SHARED + (e * 4096 + next_line[e]) % (RESULT - SHARED);
        op = tern_pkg::MEM_READ;
      end
      READS_WRITES: begin
        if (!idle) next_line[e]++;
        line = SHARED + (e * 4096 + next_line[e]) % (ERR_RD - SHARED);
        op = e == 0 ? tern_pkg::MEM_READ : tern_pkg::MEM_WRITE;
        be = '1;
        idle |= e == 2;
      end
      HOT, SPREAD: begin
        line = mode == HOT ? 0 : int'($urandom_range(15));
        op = tern_pkg::MEM_ATOMIC;
        amo = tern_pkg::AMO_ADD;
        be = 64'hf;
      end
      ONE: begin  // a single write
        line = SHARED + 4 * next_line[e];
        op = tern_pkg::MEM_WRITE;
        data = random_line();
        be = '1;
        idle |= e != 0 || one_sent;
        if (!idle) one_sent = 1;
      end
      default: idle = 1;
    endcase
    idle |= draining;
    req_valid[e] <= !idle;
    if (!idle) begin
      req[e].op <= op;
      req[e].amo <= amo;
      req[e].line <= 28'(line);
      req[e].wdata <= data;
      req[e].be <= be;
      req_tag[TAG_W*e+:TAG_W] <= TAG_W'(tag);
      p_busy[e][tag] = 1;
    end
  endtask

  // Records an accepted request and its expected answer.
  task automatic accept(int e);
    int tag, line;
    logic [63:0] be;
    logic [511:0] old, x;
    bit known, refused;
    tag = int'(req_tag[TAG_W*e+:TAG_W]);
    line = int'(req[e].line);
    be = req[e].be;
    x = req[e].wdata;
    in_flight[e]++;
    p_op[e][tag] = req[e].op;
    p_amo[e][tag] = req[e].amo;
    p_line[e][tag] = line;
    p_mask[e][tag] = '0;
    refused = !ATOMICS && req[e].op == tern_pkg::MEM_ATOMIC;
    p_fault[e][tag] = refused || line >= ERR_WR || (line >= ERR_RD && req[e].op == tern_pkg::MEM_WRITE);
    // Atomics that wait for a line whose write-through has failed may get a fault or data.
    p_maybe_fault[e][tag] = !refused && line >= ERR_RD && line < ERR_WR && req[e].op == tern_pkg::MEM_ATOMIC;
    p_accepted[e][tag] = memory.now;
    old = line < LINES ? ref_mem[line] : '0;
    p_data[e][tag] = old;
    known = !refused && mode != TICKETS && mode != LOCKS && line < ERR_WR && !p_maybe_fault[e][tag] &&
      (mode == RANDOM || line >= SHARED);
    if (known) case (req[e].op)
      tern_pkg::MEM_READ: p_mask[e][tag] = '1;
      tern_pkg::MEM_WRITE: if (line < ERR_RD) for (int b = 0; b < 64; b++) if (be[b]) ref_mem[line][8*b+:8] = x[8*b+:8];
      default:
      for (int w = 0; w < 16; w++) if (be[4*w]) begin
        p_mask[e][tag][32*w+:32] = '1;
        ref_mem[line][32*w+:32] = amo_new(int'(req[e].amo), old[32*w+:32], x[32*w+:32], x[32*(w^8)+:32]);
      end
    endcase
  endtask

  task automatic check(int e);
    int tag, t;
    logic [511:0] data;
    tag = int'(rsp_tag[TAG_W*e+:TAG_W]);
    data = rsp[e].data;
    report::compared(1);
    if (!p_busy[e][tag]) $fatal(1, "engine %0d: answer to nobody, tag %0d", e, tag);
    if (!p_maybe_fault[e][tag] && rsp[e].fault != (p_fault[e][tag] ? tern_spec_pkg::FAULT_BUS_ERROR : 8'd0))
      $fatal(1, "engine %0d: line %0h op %0d fault %0d, not %0d", e, p_line[e][tag], p_op[e][tag], rsp[e].fault,
             p_fault[e][tag]);
    if (rsp[e].fault == 0 && ((data ^ p_data[e][tag]) & p_mask[e][tag]) != 0)
      $fatal(1, "engine %0d: line %0h op %0d amo %0d\n%h, not\n%h, where\n%h", e, p_line[e][tag], p_op[e][tag],
             p_amo[e][tag], data, p_data[e][tag], p_mask[e][tag]);
    if (p_op[e][tag] == tern_pkg::MEM_WRITE && !p_fault[e][tag] &&
        effect_time(p_line[e][tag]) < p_accepted[e][tag])
      $fatal(1, "write of %0h answered before memory had it", p_line[e][tag]);
    if (mode == TICKETS && p_op[e][tag] == tern_pkg::MEM_ATOMIC) begin
      t = int'(data[31:0]);
      if (t < 0 || t > 65535 || ticket_seen[p_line[e][tag]][t])
        $fatal(1, "line %0d: ticket %0d twice", p_line[e][tag], t);
      ticket_seen[p_line[e][tag]][t] = 1;
      tickets[p_line[e][tag]]++;
    end
    if (mode == LOCKS) begin
      if (p_extra[e][tag]) begin
        if (lock_state[e] == 4) lock_state[e] = 2;
      end else begin
        lock_old[e] = data[31:0];
        if (lock_state[e] == 3 && data[31:0] > 1) $fatal(1, "SC returned %0d", data[31:0]);
        if (lock_state[e] == 3 && data[31:0] == 0) stored[p_line[e][tag]]++;
        if (lock_state[e] == 3 && data[31:0] == 0 && lock_lost[e])
          $fatal(1, "engine %0d: SC of line %0d stored, after an LR of another line", e, p_line[e][tag]);
        if (lock_state[e] == 3) lost += int'(lock_lost[e]);
        lock_state[e] = (lock_state[e] + 1) % 4;
      end
    end
    if (memory.now - p_accepted[e][tag] > longest) longest = memory.now - p_accepted[e][tag];
    p_busy[e][tag] = 0;
    in_flight[e]--;
    answered[e]++;
  endtask

  // Dirty commands run beside the traffic. A page that is written after the end of its last report must be reported
  // later.
  int report_end[0:PAGES-1], queries = 0, refused_queries = 0;
  bit query_run = 0, query_busy = 0;

  task automatic query(int first, int count);
    int line, found;
    logic [511:0] names, pages;
    bit bad;
    bad = $urandom_range(9) == 0;  // memory refuses both lines of the result
    line = bad ? ERR_RD + 10 : RESULT + int'($urandom_range(62));
    if (!bad) put(line, '0);
    dirty_valid <= 1;
    dirty_op <= 2'd2;
    dirty_first <= 32'(first);
    dirty_count <= 32'(count);
    dirty_target <= 64'(line) * 64;
    @(posedge clk);
    dirty_valid <= 0;
    @(posedge clk);
    while (dirty_busy) @(posedge clk);
    if (dirty_error || dirty_bus_error != (bad && count != 0)) $fatal(1, "dirty command: error, bus error");
    found = 0;
    if (!bad && count != 0) begin
      names = held(line);
      pages = held(line + 1);
      if (names > 512'd1) $fatal(1, "bitmap is %h", names);
      if (names[0]) for (int page = 0; page < 512; page++) if (pages[page]) begin
        if (page < first || page >= first + count) $fatal(1, "page %0d reported, not in %0d, %0d", page, first, count);
        if (page == RESULT / 64) $fatal(1, "the result's own page is reported");
        report_end[page] = memory.now;
        found++;
      end
      if (int'(dirty_found) != found) $fatal(1, "%0d pages found, %0d reported", dirty_found, found);
    end
    queries++;
    if (bad) refused_queries++;
  endtask

  // Without traffic, all written pages must have been reported, and no page is dirty afterwards.
  task automatic all_reported();
    int since;
    query_run = 0;
    while (query_busy) @(posedge clk);
    do begin  // until memory has accepted the result
      since = refused_queries;
      query(0, PAGES);
    end while (refused_queries != since);
    for (int l = 0; l < ERR_RD; l++) if (l < RESULT && effect_time(l) > report_end[l/64])
      $fatal(1, "page %0d: written at %0d, last reported %0d", l / 64, effect_time(l), report_end[l/64]);
    since = memory.now;
    query(0, PAGES);
    for (int i = 0; i < PAGES; i++) if (report_end[i] > since) $fatal(1, "page %0d reported twice", i);
  endtask

  int first;
  initial forever begin
    @(posedge clk);
    if (query_run) begin
      query_busy = 1;
      first = int'($urandom_range(PAGES - 1));
      query(first, int'($urandom_range(PAGES - first)));
      query_busy = 0;
      repeat (int'($urandom_range(200))) @(posedge clk);
    end
  end

  always @(posedge clk) if (!rst) begin
    for (int e = 0; e < N; e++) begin
      if (rsp_valid[e]) check(e);
      if (req_valid[e] && req_ready[e]) accept(e);
      if (!req_valid[e] || req_ready[e]) choose(e);
      counted_rd += int'(ev_rd[e]);
      counted_wr += int'(ev_wr[e]);
    end
  end

  task automatic phase(mode_t m, int cycles, string name);
    int since, start, answers, rd, wr;
    since = answered[0] + answered[1] + answered[2];
    rd = counted_rd;
    wr = counted_wr;
    mode = m;
    repeat (cycles) @(posedge clk);
    answers = answered[0] + answered[1] + answered[2] - since;
    $display("%-44s %6d cycles, %5.2f answers, %5.2f lines read, %5.2f written a cycle", name, cycles,
             real'(answers) / cycles, real'(counted_rd - rd) / cycles, real'(counted_wr - wr) / cycles);
    start = memory.now;
    draining = 1;
    while (in_flight[0] + in_flight[1] + in_flight[2] != 0 || |req_valid) begin
      @(posedge clk);
      if (memory.now - start > 20000) $fatal(1, "requests are not answered");
    end
    draining = 0;
    mode = PAUSE;
  endtask
  bit draining = 0, one_sent, bursts = 0;

  // With a latency that falls, answers to requests of many cycles come together.
  always @(posedge clk) if (bursts) latency = latency > 4 ? latency - 1 : 300;

  int seed = 1, rounds = 3, total, last, at;
  // Ends of loops below, as variables because Verilator would unroll a loop with a constant end and copy its tasks.
  int shared = SHARED, alone = 2 * PORTS;
  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("rounds=%d", rounds)) rounds = 3;
    $display("seed %0d", seed);
    void'($urandom(seed));
    for (int i = 0; i < LINES; i++) begin
      ref_mem[i] = i < SHARED ? '0 : random_line();
      put(i, ref_mem[i]);
    end
    repeat (4) @(posedge clk);
    rst <= 0;
    for (int i = 0; i < rounds; i++) begin
      latency = i % 3 == 2 ? 0 : 20;
      spread = i % 3 == 1 ? 400 : 60;
      stall = i % 3 == 0 ? 0 : 60;
      query_run = 1;
      phase(RANDOM, 6000, "random");
      all_reported();
      for (int l = SHARED; l < RESULT; l++) if (held(l) != ref_mem[l]) $fatal(1, "memory differs at line %0h", l);
      if (!ATOMICS) continue;
      for (int l = 0; l < shared; l++) for (int t = 0; t < 65536; t++) ticket_seen[l][t] = 0;
      for (int l = 0; l < shared; l++) begin
        put(l, '0);
        tickets[l] = 0;
        stored[l] = 0;
      end
      rst <= 1;  // empties the atomic buffer
      repeat (2) @(posedge clk);
      rst <= 0;
      phase(TICKETS, 4000, "tickets: reads and adds, shared lines");
      for (int l = 0; l < shared / 2; l++) if (counter(l) != tickets[l])
        $fatal(1, "line %0d: %0d, not %0d", l, counter(l), tickets[l]);
      for (int e = 0; e < N; e++) lock_state[e] = 0;
      phase(LOCKS, 6000, "LR and SC");
      total = 0;
      for (int l = shared / 2; l < shared; l++) begin
        if (counter(l) != stored[l])
          $fatal(1, "line %0d: %0d stored, not %0d", l, counter(l), stored[l]);
        total += stored[l];
      end
      if (total < 10) $fatal(1, "SC never succeeds");
      if (lost < 10) $fatal(1, "no LR of another line before an SC");
      $display("  %0d of the SC succeeded; %0d came after another LR", total, lost);
    end
    latency = 60;
    spread = 0;
    stall = 0;
    all_reported();
    for (int i = 0; i < alone; i++) begin  // pages that a single port has written; each port in turn
      next_line[0] = 65 * i;
      one_sent = 0;
      phase(ONE, 20, "one write");
      all_reported();
    end
    bursts = 1;
    phase(READS, 4000, "one engine reads a stream, answered in bursts");
    bursts = 0;
    latency = 60;
    phase(READS, 4000, "one engine reads a stream");
    last = memory.now;
    query(0, PAGES);
    for (int i = 0; i < PAGES; i++) if (report_end[i] > last) $fatal(1, "page %0d reported, but only read", i);
    phase(READS_WRITES, 4000, "one reads, one writes a stream");
    at = counted_rd;
    phase(ALL_READ, 4000, "all three read streams");
    if (PORTS > 1 && counted_rd - at < 4000 * 19 / 10) $fatal(1, "%0d ports carry no more than one", PORTS);
    if (ATOMICS) phase(HOT, 4000, "atomics, one line");
    if (ATOMICS) phase(SPREAD, 4000, "atomics, 16 lines");
    $display("in flight at most %0d reads, %0d writes; longest wait %0d; %0d dirty queries, %0d refused",
             memory.most_reads, memory.most_writes, longest, queries, refused_queries);
    report::pass();
  end
endmodule
