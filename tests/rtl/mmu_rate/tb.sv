// SPDX-License-Identifier: Apache-2.0
// Bench of the cost of TLB misses: mmu with the parameters of an engine, and a memory that answers after 60 cycles, one
// line a cycle. Measured are single misses, from the cycle in which the request is accepted to the cycle in which it is
// offered to memory; hits behind misses; and random reads over 64 MiB, 32 in flight, in pages of 4 KiB and of 4 MiB.
// All figures repeat exactly. A figure beyond its bound ends the bench.
module tb;
  localparam int TAG_W = 10, LATENCY = 60, FLIGHT = 32, PAGES = 32768;
  localparam int ROOT_SMALL = 1, ROOT_LARGE = 2, TABLES = 3;

  logic clk = 0, rst = 1;
  always #5 clk = !clk;

  logic [21:0] root = '0;
  logic flush = 0, flush_ready, req_valid = 0, req_ready, rsp_valid, mem_valid, mem_rsp_valid, busy, ev_hit, ev_miss;
  tern_pkg::mem_req_t req, mem_req;
  tern_pkg::mem_rsp_t rsp, mem_rsp;
  logic [27:0] line = '0;
  logic [TAG_W-1:0] tag = '0, rsp_tag;
  logic [TAG_W:0] mem_tag, mem_rsp_tag;
  assign req = {tern_pkg::MEM_READ, 4'b0, line, 512'b0, 64'b0};

  mmu #(.TAG_W(TAG_W)) dut (
      .clk_i(clk), .rst_i(rst), .root_ppn_i(root), .bypass_i(1'b0), .block_i(1'b0),
      .hold_absent_i(1'b0), .pass_o(), .pass_tag_o(), .mem_pages_i(23'(PAGES)),
      .busy_o(busy), .ev_hit_o(ev_hit), .ev_miss_o(ev_miss), .flush_valid_i(flush), .flush_ready_o(flush_ready),
      .flush_all_i(1'b1), .flush_root_i('0), .flush_first_i('0), .flush_count_i('0), .req_valid_i(req_valid),
      .req_ready_o(req_ready), .req_i(req), .req_exec_i(1'b0), .req_tag_i(tag), .rsp_valid_o(rsp_valid),
      .rsp_tag_o(rsp_tag), .rsp_o(rsp), .mem_req_valid_o(mem_valid), .mem_req_ready_i(1'b1), .mem_req_o(mem_req),
      .mem_req_tag_o(mem_tag), .mem_rsp_valid_i(mem_rsp_valid), .mem_rsp_tag_i(mem_rsp_tag), .mem_rsp_i(mem_rsp)
  );

  // Page tables: one root maps 64 MiB in small pages, the other in large ones. Both are identity mappings.
  function automatic logic [511:0] contents(logic [27:0] at);
    int page, entry;
    contents = '0;
    page = int'(at[27:6]);
    for (int i = 0; i < 16; i++) begin
      entry = int'(at[5:0]) * 16 + i;
      if (page == ROOT_SMALL && entry < 16) contents[32*i+:32] = {22'(TABLES + entry), 10'h001};
      if (page == ROOT_LARGE && entry < 16) contents[32*i+:32] = {12'(entry), 10'h0, 10'h007};
      if (page >= TABLES && page < TABLES + 16) contents[32*i+:32] = {22'((page - TABLES) * 1024 + entry), 10'h007};
    end
  endfunction

  logic [LATENCY-2:0] pipe_valid = '0;  // with the registers at both ends the latency is LATENCY
  logic [TAG_W:0] pipe_tag[0:LATENCY-2];
  logic [27:0] pipe_line[0:LATENCY-2];
  int now = 0, answers = 0, reads = 0, sent = 0, sent_at[0:1023], own[0:1023];
  always @(posedge clk) begin
    now++;
    pipe_valid <= {pipe_valid[LATENCY-3:0], mem_valid};
    pipe_tag[0] <= mem_tag;
    pipe_line[0] <= mem_req.line;
    for (int i = 1; i < LATENCY - 1; i++) begin
      pipe_tag[i] <= pipe_tag[i-1];
      pipe_line[i] <= pipe_line[i-1];
    end
    mem_rsp_valid <= pipe_valid[LATENCY-2];
    mem_rsp_tag <= pipe_tag[LATENCY-2];
    mem_rsp.fault <= '0;
    mem_rsp.data <= contents(pipe_line[LATENCY-2]);
    if (mem_valid && mem_tag[TAG_W]) reads++;
    if (mem_valid && !mem_tag[TAG_W]) begin
      if (mem_req.line != pipe_expect[mem_tag[TAG_W-1:0]])
        $fatal(1, "line %h, not %h", mem_req.line, pipe_expect[mem_tag]);
      own[mem_tag[TAG_W-1:0]] = now;
    end
    if (rsp_valid) begin
      if (rsp.fault != '0) $fatal(1, "a fault");
      answers++;
      in_use[rsp_tag] = 0;
    end
    if (req_valid && req_ready) begin
      sent_at[tag] = now;
      sent++;
    end
  end
  logic [27:0] pipe_expect[0:1023];
  bit in_use[0:1023];

  task automatic flush_all();
    @(negedge clk) flush = 1;
    #1 while (!flush_ready) @(negedge clk);
    @(negedge clk) flush = 0;
  endtask

  // Offers one read and waits until it is accepted.
  task automatic ask(int t, int where, int what);
    @(negedge clk);
    req_valid = 1;
    tag = TAG_W'(t);
    line = 28'(what);
    root = 22'(where);
    pipe_expect[t] = line;
    in_use[t] = 1;
    #1 while (!req_ready) begin
      @(negedge clk);
      #1;
    end
    @(posedge clk);
    #1 req_valid = 0;
  endtask

  task automatic settle();
    while (busy || req_valid) @(negedge clk);
  endtask

  task automatic bound(string what, int is, int most);
    report::compared(1);
    $display("%-58s %6d", what, is);
    if (is > most) $fatal(1, "more than %0d", most);
  endtask

  int cycles[0:1], began, from;
  logic [31:0] x;
  task automatic scatter(int where, int count, output int took);
    int t, in_flight;
    bit found;
    x = 32'd12345;
    began = now;
    from = answers;
    sent = 0;
    for (int n = 0; n < count; n++) begin
      found = 0;
      while (!found) begin  // FLIGHT reads in flight, like the LSU
        for (int i = 0; i < FLIGHT && !found; i++)
          if (!in_use[i]) begin
            t = i;
            found = 1;
          end
        if (!found) @(negedge clk);
      end
      x = x ^ (x << 13);
      x = x ^ (x >> 17);
      x = x ^ (x << 5);
      ask(t, where, int'(x[19:0]));
    end
    settle();
    took = now - began;
  endtask

  initial begin
    repeat (4) @(posedge clk);
    rst <= 0;
    repeat (4) @(posedge clk);
    ask(0, ROOT_SMALL, 64 * 1);
    settle();
    bound("miss, nothing cached: cycles to memory", own[0] - sent_at[0], 3 + 2 * (LATENCY + 15));
    ask(1, ROOT_SMALL, 64 * 1);
    settle();
    bound("hit", own[1] - sent_at[1], 3);
    ask(2, ROOT_SMALL, 64 * 2);
    settle();
    bound("miss, the second level's line is cached", own[2] - sent_at[2], 8);
    ask(3, ROOT_SMALL, 64 * 40);
    settle();
    bound("miss, the first level's line is cached", own[3] - sent_at[3], LATENCY * 3 / 2);
    ask(4, ROOT_LARGE, 64 * 40);
    settle();
    ask(5, ROOT_SMALL, 64 * 40);
    settle();
    bound("hit, after another address space's", own[5] - sent_at[5], 3);
    // a hit behind four misses that read memory and a fifth miss of one of their pages
    for (int i = 0; i < 4; i++) ask(10 + i, ROOT_SMALL, 64 * (80 + 16 * i));
    ask(14, ROOT_SMALL, 64 * 80 + 1);
    ask(15, ROOT_SMALL, 64 * 1 + 5);
    settle();
    bound("hit behind four misses and a fifth request, since the first", own[15] - sent_at[10], 20);
    bound("second miss of a page, after the first", own[14] - own[10], 4);
    // random reads
    flush_all();
    scatter(ROOT_LARGE, 4000, cycles[0]);
    flush_all();
    scatter(ROOT_LARGE, 20000, cycles[0]);
    bound("20000 random reads over 64 MiB, 4 MiB pages: cycles", cycles[0], 50000);
    flush_all();
    reads = 0;
    scatter(ROOT_SMALL, 20000, cycles[1]);
    bound("the same, 4 KiB pages, from empty caches", cycles[1], cycles[0] * 5 / 2);
    bound("  page-table reads", reads, 20000);
    reads = 0;
    scatter(ROOT_SMALL, 20000, cycles[1]);
    bound("the same again", cycles[1], cycles[0] * 5 / 2);
    bound("  page-table reads", reads, 20000);
    report::pass();
  end
endmodule
