// SPDX-License-Identifier: Apache-2.0
// Bench of mmu against an independent reference walk, over random page tables: valid, absent and malformed entries,
// superpages, zero pages, and tables that memory cannot read. Root and bypass change from request to request. Requests
// to one line keep their order during page walks, also if two addresses translate to that line. Between rounds the
// tables change: an entry that faulted becomes valid without a flush; any other change is followed by a flush of its
// range. The bench prints the throughput of a stream and of random pages.
module tb #(
    parameter int WALKS = 4,
    parameter int SLOTS = 16,
    parameter int ENTRIES = 16,
    parameter int CACHE_LOG2 = 5
);
  localparam int TAG_W = 6, TAGS = 1 << TAG_W, QUEUE = TAGS + WALKS, PAGES = 4096, LINES = PAGES * 64,
      ROOTS = 4, TABLES = 24;

  logic clk = 0, rst = 1;
  always #5 clk = !clk;
  int now = 0;

  logic [21:0] root_ppn = '0;
  logic bypass = 0, block = 0, busy, ev_hit, ev_miss, flush_valid = 0, flush_ready, flush_all = 0;
  logic [21:0] flush_root = '0;
  logic [19:0] flush_first = '0;
  logic [20:0] flush_count = '0;
  logic req_valid = 0, req_ready, req_exec = 0, rsp_valid;
  tern_pkg::mem_req_t req = '0, mem_req;
  tern_pkg::mem_rsp_t rsp, mem_rsp = '0;
  logic [TAG_W-1:0] req_tag = '0, rsp_tag;
  logic mem_valid, mem_ready = 0, mem_rsp_valid = 0;
  logic [TAG_W:0] mem_tag, mem_rsp_tag = '0;

  logic hold = 0, pass;
  logic [TAG_W-1:0] pass_tag;

  mmu #(
      .TAG_W(TAG_W), .TLB_ENTRIES(ENTRIES), .CACHE_LOG2(CACHE_LOG2), .WALKS(WALKS), .SLOTS(SLOTS)
  ) dut (
      .clk_i(clk), .rst_i(rst), .root_ppn_i(root_ppn), .bypass_i(bypass), .block_i(block), .mem_pages_i(23'(PAGES)),
      .hold_absent_i(hold), .pass_o(pass), .pass_tag_o(pass_tag),
      .busy_o(busy), .ev_hit_o(ev_hit), .ev_miss_o(ev_miss), .flush_valid_i(flush_valid), .flush_ready_o(flush_ready),
      .flush_all_i(flush_all), .flush_root_i(flush_root), .flush_first_i(flush_first), .flush_count_i(flush_count),
      .req_valid_i(req_valid), .req_ready_o(req_ready), .req_i(req), .req_exec_i(req_exec),
      .req_tag_i(req_tag), .rsp_valid_o(rsp_valid), .rsp_tag_o(rsp_tag), .rsp_o(rsp), .mem_req_valid_o(mem_valid),
      .mem_req_ready_i(mem_ready), .mem_req_o(mem_req), .mem_req_tag_o(mem_tag), .mem_rsp_valid_i(mem_rsp_valid),
      .mem_rsp_tag_i(mem_rsp_tag), .mem_rsp_i(mem_rsp)
  );

  logic [511:0] mem[0:LINES-1];
  bit broken[0:LINES-1];  // reads fail

  typedef enum int {PAUSE, RANDOM, STREAM, SCATTER} mode_t;
  mode_t mode = PAUSE;
  bit draining = 0;

  // requests in flight, by tag
  bit p_busy[0:TAGS-1], p_pass[0:TAGS-1], p_sent[0:TAGS-1];
  bit p_fits[0:TAGS-1], p_told[0:TAGS-1];  // fits: the translation permits it; told: pass_o has reported it
  int p_order[0:TAGS-1];
  logic [22:0] p_space[0:TAGS-1];  // {bypass, root}
  logic [7:0] p_fault[0:TAGS-1];
  logic [27:0] p_virtual[0:TAGS-1], p_line[0:TAGS-1];
  logic [1:0] p_op[0:TAGS-1];
  logic [3:0] p_amo[0:TAGS-1];
  logic [511:0] p_wdata[0:TAGS-1], p_data[0:TAGS-1];
  logic [63:0] p_be[0:TAGS-1];
  int in_flight = 0, answered = 0, order = 0, hits = 0, misses = 0, walks = 0;
  bit refusing = 0;  // a page was absent while hold_absent_i is set; all later requests are refused
  int refused = 0, swept = 0;
  int fault_count[0:255], zeros = 0, passed = 0, supers = 0;

  // ---- reference walk
  function automatic logic [31:0] word_at(logic [21:0] page, logic [9:0] index);
    logic [511:0] line;
    line = mem[{page, index[9:4]}];
    return line[32*index[3:0]+:32];
  endfunction

  function automatic logic bad_line(logic [21:0] page, logic [9:0] index);
    return int'(page) >= PAGES || broken[int'({page, index[9:4]})%LINES];
  endfunction

  // Returns {zero, fault, physical page}.
  function automatic logic [30:0] walk(logic [21:0] root, logic [19:0] vpn, logic [1:0] op, logic exec);
    logic [31:0] pte;
    logic [7:0] fault;
    logic [21:0] ppn;
    logic super_;
    int last;
    fault = 0;
    super_ = 0;
    ppn = 0;
    pte = 0;
    if (bad_line(root, vpn[19:10])) fault = tern_spec_pkg::FAULT_BUS_ERROR;
    else begin
      pte = word_at(root, vpn[19:10]);
      if (!pte[0]) fault = pte[9] ? tern_spec_pkg::FAULT_PAGE_ABSENT : tern_spec_pkg::FAULT_PAGE;
      else if ((pte & 32'h2f0) != 0 || pte[3:1] == 3'b010 || pte[3:1] == 3'b110)
        fault = tern_spec_pkg::FAULT_PTE_MALFORMED;
      else if (pte[3:1] == 0) begin
        if (pte[8] || pte[31:10] >= PAGES) fault = tern_spec_pkg::FAULT_PTE_MALFORMED;
        else if (bad_line(pte[31:10], vpn[9:0])) fault = tern_spec_pkg::FAULT_BUS_ERROR;
        else begin
          pte = word_at(pte[31:10], vpn[9:0]);
          if (!pte[0]) fault = pte[9] ? tern_spec_pkg::FAULT_PAGE_ABSENT : tern_spec_pkg::FAULT_PAGE;
          else if ((pte & 32'h2f0) != 0 || pte[3:1] == 3'b010 || pte[3:1] == 3'b110 || pte[3:1] == 0)
            fault = tern_spec_pkg::FAULT_PTE_MALFORMED;
        end
      end else super_ = 1;
    end
    if (fault == 0) begin
      ppn = pte[31:10];
      last = int'(ppn) + (super_ ? 1023 : 0);
      if (pte[8] ? ppn != 0 : (last >= PAGES || (super_ && ppn % 1024 != 0)))
        fault = tern_spec_pkg::FAULT_PTE_MALFORMED;
      else if (op == tern_pkg::MEM_READ ? !(exec ? pte[3] : pte[1]) : (!pte[2] || pte[8]))
        fault = tern_spec_pkg::FAULT_PROTECTION;
      if (super_) ppn = ppn + 22'(vpn[9:0]);
    end
    if (fault == 0 && super_) supers++;
    return {pte[8], fault, ppn};
  endfunction

  // ---- random tables: pages 1 to ROOTS are roots, the next TABLES are second-level tables, the others are data
  function automatic logic [31:0] random_pte(logic first);
    logic [31:0] pte;
    logic [2:0] xwr;
    int k;
    case ($urandom_range(5))
      0: xwr = 3'b001;
      1: xwr = 3'b101;
      2: xwr = 3'b100;
      default: xwr = 3'b111;
    endcase
    if ($urandom_range(1) == 0) xwr = 3'b011;
    pte = {22'(ROOTS + TABLES + 1 + $urandom_range(PAGES - ROOTS - TABLES - 2)), 6'b0, xwr, 1'b1};
    k = int'($urandom_range(99));
    if (first && k < 84) pte = {22'(ROOTS + 1 + $urandom_range(TABLES - 1)), 10'b1};
    else if (first && k < 94) pte = {12'($urandom_range(4)), 10'b0, 6'b0, xwr, 1'b1};
    else if (first && k < 97) pte = {22'd0, 1'b0, 1'b1, 4'b0, xwr, 1'b1};  // zero superpage
    case (k)
      0, 16, 17, 18: {pte[9], pte[0]} = 2'b10;
      1: pte = $urandom_range(1) == 0 ? 0 : pte & ~32'd1;
      2: pte[4+$urandom_range(3)] = 1;
      3: pte[9] = 1;
      4: pte[3:1] = 3'b010;
      5: pte[31:10] = 22'(PAGES);
      6: pte[31:10] = '1;
      7: pte[3:1] = 3'b000;
      8: pte[3:1] = 3'b110;
      9: pte[8] = 1;
      10, 11, 12, 13, 14, 15: if (!first) pte = {22'd0, 1'b0, 1'b1, 4'b0, xwr, 1'b1};
      default: ;
    endcase
    return pte;
  endfunction

  task automatic put_pte(int page, int index, logic [31:0] pte);
    mem[page*64+index/16][32*(index%16)+:32] = pte;
  endtask

  localparam int FEW = 6;  // number of first-level entries in use
  function automatic logic [19:0] random_vpn();
    logic [9:0] high, low;
    high = 10'($urandom_range(FEW - 1));
    if (high == 10'd5) high = 10'd1023;
    low = $urandom_range(3) != 0 ? 10'($urandom_range(3)) : 10'($urandom);
    return {high, low};
  endfunction

  // ---- client
  function automatic logic [511:0] random_line();
    logic [511:0] x;
    for (int i = 0; i < 16; i++) x[32*i+:32] = $urandom;
    return x;
  endfunction

  int tag, stream = 0, at_near;
  logic [19:0] near_vpn[0:7];  // recently used pages
  logic [21:0] near_root[0:7];
  task automatic choose();
    bit idle;
    tag = int'($urandom_range(TAGS - 1));
    for (int i = 0; i < TAGS && p_busy[tag]; i++) tag = (tag + 1) % TAGS;
    idle = p_busy[tag] || draining || mode == PAUSE || (mode == RANDOM && $urandom_range(7) == 0);
    req_valid <= !idle;
    if (!idle) begin
      p_busy[tag] = 1;
      req_tag <= TAG_W'(tag);
      req.amo <= 4'($urandom_range(9));
      req_exec <= 0;
      req.wdata <= random_line();
      req.be <= {$urandom, $urandom};
      bypass <= 0;
      if (mode == RANDOM) begin
        req.op <= 2'($urandom_range(2));
        req_exec <= $urandom_range(3) == 0;
        if ($urandom_range(3) == 0) begin
          near_vpn[stream%8] = random_vpn();
          near_root[stream%8] = 22'(1 + $urandom_range(ROOTS - 1));
          stream++;
        end
        at_near = int'($urandom_range(7));
        req.line <= {2'b0, near_vpn[at_near], 6'($urandom_range(3))};
        root_ppn <= near_root[at_near];
        if ($urandom_range(99) == 0) root_ppn <= 22'(PAGES);
        if ($urandom_range(99) == 0) req.line[27:26] <= 2'($urandom_range(3));
        if ($urandom_range(15) == 0) begin
          bypass <= 1;
          req.line <= 28'($urandom);
        end
      end else begin
        req.op <= tern_pkg::MEM_READ;
        root_ppn <= 22'd1;
        stream++;
        req.line <= 28'(mode == STREAM ? stream % (256 * 64) : int'($urandom_range(256 * 64 - 1)));
      end
    end
  endtask

  task automatic accept();
    int t;
    logic [7:0] fault;
    logic [21:0] ppn;
    logic zero;
    if (block) $fatal(1, "accepted while blocked");
    t = int'(req_tag);
    {zero, fault, ppn} = walk(root_ppn, req.line[25:6], req.op, req_exec);
    if (req.line[27:26] != 0) fault = tern_spec_pkg::FAULT_PAGE;
    if (bypass) begin
      fault = 0;
      zero = 0;
    end
    fault_count[fault]++;
    if (fault == 0 && zero) zeros++;
    p_pass[t] = fault == 0 && !zero;
    if (p_pass[t]) passed++;
    p_sent[t] = 0;
    p_fits[t] = fault == 0;
    p_told[t] = 0;
    p_fault[t] = fault;
    p_virtual[t] = req.line;
    p_space[t] = {bypass, root_ppn};
    p_line[t] = bypass ? req.line : {ppn, req.line[5:0]};
    p_op[t] = req.op;
    p_amo[t] = req.amo;
    p_wdata[t] = req.wdata;
    p_be[t] = req.be;
    p_data[t] = '0;
    p_order[t] = order;
    order++;
    in_flight++;
  endtask

  task automatic told();
    int t;
    t = int'(pass_tag);
    if (!p_busy[t] || p_told[t] || !p_fits[t] || (refusing && !p_space[t][22]))
      $fatal(1, "line %h passes: busy %0d, told %0d, fits %0d, refusing %0d", p_virtual[t], p_busy[t], p_told[t],
             p_fits[t], refusing);
    p_told[t] = 1;
  endtask

  task automatic check();
    int t;
    t = int'(rsp_tag);
    report::compared(1);
    if (!p_busy[t]) $fatal(1, "answer to nobody");
    if (hold && rsp.fault == tern_spec_pkg::FAULT_PAGE_ABSENT && !p_told[t]) begin
      if (!refusing && p_fault[t] != rsp.fault) $fatal(1, "line %h refused though no page was absent", p_virtual[t]);
      refusing = 1;
      refused++;
      swept += int'(p_fault[t] != rsp.fault);
      p_busy[t] = 0;
      in_flight--;
      answered++;
      return;
    end
    if (refusing && !p_told[t]) $fatal(1, "line %h is not refused behind an absent page", p_virtual[t]);
    if (p_told[t] != p_fits[t]) $fatal(1, "line %h: told %0d that it passes", p_virtual[t], p_told[t]);
    if (rsp.fault != p_fault[t])
      $fatal(1, "line %h op %0d: fault %0d, not %0d", p_virtual[t], p_op[t], rsp.fault, p_fault[t]);
    if (p_pass[t] && !p_sent[t]) $fatal(1, "line %h answered without memory", p_virtual[t]);
    if (p_fault[t] == 0 && rsp.data != p_data[t]) $fatal(1, "line %h: wrong data", p_virtual[t]);
    p_busy[t] = 0;
    in_flight--;
    answered++;
  endtask

  // ---- memory: answers in any order
  int q_due[0:QUEUE-1], latency = 20, spread = 60, at;
  bit q_busy[0:QUEUE-1];
  logic [TAG_W:0] q_tag[0:QUEUE-1];
  logic [511:0] q_data[0:QUEUE-1];
  logic [7:0] q_fault[0:QUEUE-1];

  task automatic memory();
    int t, slot;
    if (mem_valid && mem_ready) begin
      t = int'(mem_tag[TAG_W-1:0]);
      slot = mem_tag[TAG_W] ? TAGS + t : t;
      if (q_busy[slot]) $fatal(1, "tag %0h twice in flight", mem_tag);
      q_busy[slot] = 1;
      q_tag[slot] = mem_tag;
      q_due[slot] = now + latency + int'($urandom_range(spread));
      q_data[slot] = random_line();
      q_fault[slot] = 0;
      if (mem_tag[TAG_W]) begin
        walks++;
        if (mem_req.op != tern_pkg::MEM_READ) $fatal(1, "the walker writes");
        if (int'(mem_req.line) >= LINES) q_fault[slot] = tern_spec_pkg::FAULT_BUS_ERROR;
        else if (broken[mem_req.line]) q_fault[slot] = tern_spec_pkg::FAULT_BUS_ERROR;
        else q_data[slot] = mem[mem_req.line];
      end else begin
        if (!p_busy[t] || !p_pass[t] || p_sent[t]) $fatal(1, "line %h passed on", p_virtual[t]);
        if (mem_req.line != p_line[t] || mem_req.op != p_op[t])
          $fatal(1, "line %h became %h, not %h", p_virtual[t], mem_req.line, p_line[t]);
        if (p_op[t] != tern_pkg::MEM_READ && (mem_req.wdata != p_wdata[t] || mem_req.be != p_be[t]))
          $fatal(1, "payload differs");
        if (p_op[t] == tern_pkg::MEM_ATOMIC && mem_req.amo != p_amo[t]) $fatal(1, "amo differs");
        for (int i = 0; i < TAGS; i++)
          if (p_busy[i] && p_pass[i] && !p_sent[i] && p_virtual[i] == p_virtual[t] && p_space[i] == p_space[t] &&
              p_order[i] < p_order[t] && i != t && !(req_valid && int'(req_tag) == i))
            $fatal(1, "line %h out of order", p_virtual[t]);
        if (p_op[t] != tern_pkg::MEM_READ)  // requests to the same line by another address
          for (int i = 0; i < TAGS; i++)
            if (p_busy[i] && p_pass[i] && !p_sent[i] && p_line[i] == p_line[t] && p_order[i] < p_order[t] && i != t &&
                !(req_valid && int'(req_tag) == i))
              $fatal(1, "a write to line %h passes a request by another address", mem_req.line);
        p_sent[t] = 1;
        p_data[t] = q_data[slot];
        if ($urandom_range(63) == 0 && mode == RANDOM) begin
          q_fault[slot] = tern_spec_pkg::FAULT_BUS_ERROR;
          p_fault[t] = tern_spec_pkg::FAULT_BUS_ERROR;
        end
      end
    end
    mem_ready <= mode != RANDOM || $urandom_range(3) != 0;
    mem_rsp_valid <= 0;
    at = int'($urandom_range(QUEUE - 1));
    for (int i = 0; i < QUEUE; i++) if (!(q_busy[at] && q_due[at] <= now)) at = (at + 1) % QUEUE;
    if (q_busy[at] && q_due[at] <= now) begin
      q_busy[at] = 0;
      mem_rsp_valid <= 1;
      mem_rsp_tag <= q_tag[at];
      mem_rsp.data <= q_data[at];
      mem_rsp.fault <= q_fault[at];
    end
  endtask

  always @(posedge clk) if (!rst) begin
    now++;
    if (busy != (in_flight != 0)) $fatal(1, "busy is %0d with %0d in flight", busy, in_flight);
    if (pass) told();
    if (rsp_valid) check();
    if (req_valid && req_ready) accept();
    memory();
    if (!req_valid || req_ready) choose();
    block <= mode == RANDOM && (block ? $urandom_range(3) != 0 : $urandom_range(49) == 0);
    hits += int'(ev_hit);
    misses += int'(ev_miss);
  end

  int since, started, h, m, w;
  task automatic phase(mode_t what, int cycles, string name);
    since = answered;
    h = hits;
    m = misses;
    w = walks;
    mode = what;
    repeat (cycles) @(posedge clk);
    $display("%-28s %6d cycles, %5.3f answers a cycle, %0d hits, %0d misses, %0d page-table reads", name, cycles,
             real'(answered - since) / cycles, hits - h, misses - m, walks - w);
    draining = 1;
    started = now;
    while (in_flight != 0 || req_valid) begin
      @(posedge clk);
      if (now - started > 5000) $fatal(1, "requests are not answered");
    end
    mode = PAUSE;
    draining = 0;
  endtask

  task automatic flush(bit all, int root, int from, int count);
    @(negedge clk);  // driven between the clock edges, so that there is no race
    flush_all = all;
    flush_root = 22'(root);
    flush_first = 20'(from);
    flush_count = 21'(count);
    flush_valid = 1;
    started = now;
    #1 while (!flush_ready) begin
      @(negedge clk);
      if (now - started > 10000) $fatal(1, "flush does not end");
    end
    @(negedge clk) flush_valid = 0;
    @(posedge clk);
  endtask

  // Changes one entry, and flushes its translations. only_faults: changes it only if each access to it faulted, without
  // a flush.
  int page, index, root, high;
  logic [31:0] old;
  bit was_fault;
  logic [19:0] vpn;
  logic [7:0] f;
  task automatic change(bit first, bit only_faults);
    vpn = random_vpn();
    root = 1 + int'($urandom_range(ROOTS - 1));
    page = root;
    index = int'(vpn[19:10]);
    if (!first) begin
      page = ROOTS + 1 + int'($urandom_range(TABLES - 1));
      index = int'(vpn[9:0]);
    end
    old = word_at(22'(page), 10'(index));
    was_fault = !old[0] || old[9] || |old[7:4];
    if (!only_faults || was_fault) put_pte(page, index, random_pte(first));
    if (!only_faults) begin
      if (first) case ($urandom_range(2))
        0: flush(0, root, int'(vpn) & ~1023, 1024);
        1: flush(0, root, 0, 0);
        default: flush(1, 0, 0, 0);
      endcase
      else begin  // in each address space, for each first-level entry that points to the table
        for (int r = 1; r <= ROOTS; r++) for (int i = 0; i < FEW; i++) begin
          high = i == 5 ? 1023 : i;
          old = word_at(22'(r), 10'(high));
          if (old[3:0] == 1 && int'(old[31:10]) == page)
            flush(0, r, high * 1024 + index - int'($urandom_range(index > 20 ? 20 : index)), 21);
        end
      end
    end
  endtask

  int seed = 1, rounds = 12;
  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("rounds=%d", rounds)) rounds = 12;
    $display("seed %0d", seed);
    void'($urandom(seed));
    for (int p = 1; p <= ROOTS + TABLES; p++) for (int i = 0; i < 1024; i++) put_pte(p, i, random_pte(p <= ROOTS));
    broken[2*64] = seed % 2 == 0;
    broken[(ROOTS+3)*64+5] = 1;
    repeat (4) @(posedge clk);
    rst <= 0;
    for (int i = 0; i < rounds; i++) begin
      spread = i % 2 == 0 ? 20 : 0;
      latency = i % 3 * 5;
      phase(RANDOM, 2500, "random");
      for (int j = 0; j < 100; j++) change($urandom_range(7) == 0, 1);
      phase(RANDOM, 1500, "after new mappings");
      for (int j = 0; j < 40; j++) change($urandom_range(7) == 0, 0);
      for (int j = 0; j < 20; j++) begin
        @(negedge clk) hold = 1;
        phase(RANDOM, 40 + int'($urandom_range(60)), "until an absent page");
        @(negedge clk) hold = 0;
        refusing = 0;
      end
    end
    $display("  refused %0d, of these with their pages there %0d", refused, swept);
    if (refused - swept < 50 || swept < 100) $fatal(1, "too little was refused");
    for (int i = 0; i < 256; i++) if (fault_count[i] != 0) $display("  fault %0d: %0d", i, fault_count[i]);
    $display("  zeros %0d, passed %0d, in superpages %0d", zeros, passed, supers);
    if (zeros < 10 || passed < 1000 || supers < 10) $fatal(1, "too little was tried");
    // root 1 maps the first 256 pages to themselves
    put_pte(1, 0, {22'(ROOTS + 1), 10'b1});
    broken[64] = 0;
    for (int i = 0; i < 256; i++) put_pte(ROOTS + 1, i, {22'(i), 10'b111});
    flush(1, 0, 0, 0);
    latency = 40;
    spread = 0;
    phase(STREAM, 8000, "stream of 128 pages");
    phase(SCATTER, 8000, "random lines of 256 pages");
    report::pass();
  end
endmodule
