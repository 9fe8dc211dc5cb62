// SPDX-License-Identifier: Apache-2.0
// Warps look up random instructions in one simt_icache on a memory with random latency, order and faults.
//
// Checked: each hit gives the current contents of memory, which change at each flush; each lookup is answered by a hit
// or a miss; a warp that missed is woken, or its fill faults, within a bound, and it hits after a bounded number of
// misses; a killed cache gives no answer and drains; the memory channel keeps its rules.

module harness #(
    parameter int W = 16,
    parameter int KIB = 8,
    parameter int SPAN = 16384  // bytes of code
) (
    input  logic clk_i,
    input  int   count_i,
    output logic done_o
);

  localparam int WW = $clog2(W);
  localparam int BOUND = 2000;  // greatest number of cycles from a miss to its wake

  logic          rst = 1'b1, lookup, hit, miss, fault, flush, kill, idle, ev_miss;
  logic [31:0]   pc, instr, next_instr, fault_pc;
  logic [WW-1:0] warp, fault_warp;
  logic [4:0]    fault_of;
  assign fault_warp = fault_of[WW-1:0];
  logic [W-1:0]  wake;
  logic [7:0]    fault_code;
  logic          req_valid, req_ready, rsp_valid;
  logic [27:0]   req_line;
  logic [1:0]    req_tag, rsp_tag;
  logic [511:0]  rsp_data;
  logic [7:0]    rsp_fault;

  simt_icache #(.W(W), .KIB(KIB)) u_icache (
      .clk_i, .rst_i(rst), .lookup_i({lookup, 5'(warp), pc}), .fetched_o({hit, instr, next_instr}), .miss_o(miss),
      .wake_o(wake), .fault_o({fault, fault_code, fault_pc, fault_of}), .flush_i(flush), .kill_i(kill),
      .idle_o(idle), .ev_miss_o(ev_miss), .mem_req_valid_o(req_valid), .mem_req_ready_i(req_ready),
      .mem_req_line_o(req_line), .mem_req_tag_o(req_tag), .mem_rsp_valid_i(rsp_valid), .mem_rsp_tag_i(rsp_tag),
      .mem_rsp_i({rsp_fault, rsp_data})
  );

  // memory
  int          epoch;
  logic [3:0]  pending;
  logic [27:0] pending_line[4];
  int          pending_left[4], pending_epoch[4];

  function automatic logic [31:0] word_at(input logic [31:0] address, input int when_read);
    return (address ^ 32'(when_read * 77)) * 32'h9e3779b1 + 32'(when_read);
  endfunction

  function automatic logic bad_line(input logic [9:0] line);
    return line == 10'h3ff;
  endfunction

  function automatic int pick(input int low, input int high);
    return low + int'($urandom_range(high - low));
  endfunction

  // warps
  logic        waiting[W];
  int          since[W], tries[W];
  logic [31:0] warp_pc[W];
  logic        looked;
  int          lookups, hits, requests, misses, faults, latency, busy_rate;
  logic [31:0] looked_pc;
  logic [WW-1:0] looked_warp;
  logic        stalled;
  logic [29:0] stalled_request;

  task automatic fail(input string what);
    report::error($sformatf("%m %s: warp %0d pc %h", what, looked_warp, looked_pc));
  endtask

  // Returns the next address: mostly that of the next instruction, sometimes a random one, rarely one in a line that
  // faults.
  function automatic logic [31:0] next_pc(input logic [31:0] from);
    if (pick(0, 999) == 0) return {16'h0000, 10'h3ff, 4'(pick(0, 15)), 2'b00};
    if (pick(0, 15) != 0) return (from + 32'd4) % 32'(SPAN);
    return 32'(pick(0, SPAN / 4 - 1)) * 4;
  endfunction

  task automatic drive_memory();
    logic [1:0] f;
    rsp_valid = 1'b0;
    f = 2'(pick(0, 3));
    for (int i = 0; i < 4; i++) if (pending[i]) pending_left[i]--;
    if (pending[f] && pending_left[f] <= 0) begin
      rsp_valid = 1'b1;
      rsp_tag = f;
      rsp_fault = bad_line(pending_line[f][9:0]) ? tern_spec_pkg::FAULT_PAGE : tern_spec_pkg::FAULT_NONE;
      for (int i = 0; i < 16; i++)
        rsp_data[32*i +: 32] = rsp_fault != 0 ? $urandom() : word_at({pending_line[f][25:0], 6'd0} + 32'(4 * i),
                                                                     pending_epoch[f]);
      pending[f] = 1'b0;
    end
    req_ready = pick(0, 3) != 0;
  endtask

  task automatic take_request();
    if (ev_miss) misses++;
    if (stalled && (!req_valid || stalled_request != {req_line, req_tag})) fail("request moved");
    stalled = req_valid && !req_ready;
    stalled_request = {req_line, req_tag};
    if (req_valid && req_ready) begin
      if (pending[req_tag]) fail("tag in use");
      if (req_line[27:26] != 2'b00) fail("not a virtual address");
      requests++;
      pending[req_tag] = 1'b1;
      pending_line[req_tag] = req_line;
      pending_left[req_tag] = pick(1, latency);
      pending_epoch[req_tag] = epoch;
    end
  endtask

  task automatic check_answers();
    if (looked) begin
      lookups++;
      report::compared(1);
      if (hit == miss) fail("neither hit nor miss");
      if (hit) begin
        hits++;
        if (instr != word_at(looked_pc, epoch)) fail("wrong instruction");
        if (next_instr != ((&looked_pc[5:2]) ? 32'd0 : word_at(looked_pc + 32'd4, epoch)))
          fail("wrong next instruction");
        if (tries[looked_warp] > 40) fail("too many misses");
        tries[looked_warp] = 0;
        warp_pc[looked_warp] = next_pc(looked_pc);
      end else begin
        tries[looked_warp]++;
        waiting[looked_warp] = 1'b1;
        since[looked_warp] = 0;
      end
    end else if (hit || miss) fail("answer without lookup");
    for (int w = 0; w < W; w++) begin
      if (wake[w] && !waiting[w]) fail("wake of a warp that does not wait");
      if (wake[w]) waiting[w] = 1'b0;
      if (waiting[w]) since[w]++;
      if (waiting[w] && since[w] > BOUND) fail("never woken");
    end
  endtask

  task automatic check_fault();
    if (fault) begin
      faults++;
      if (fault_code != tern_spec_pkg::FAULT_PAGE || !bad_line(fault_pc[15:6]) || fault_pc != warp_pc[fault_warp])
        fail("fault");
    end
  endtask

  task automatic restart_warps();
    for (int w = 0; w < W; w++) begin
      waiting[w] = 1'b0;
      tries[w] = 0;
      warp_pc[w] = 32'(pick(0, SPAN / 4 - 1)) * 4;
    end
  endtask

  // Flushes the cache and changes the program in memory. killed: kills first, checks that no answer comes, and drains.
  task automatic kill_and_flush(input logic killed);
    int waited;
    lookup = 1'b0;
    kill = killed;
    looked = 1'b0;
    waited = 0;
    if (killed)
      do begin
        drive_memory();
        #1;
        take_request();
        if (hit || miss) fail("answer while killed");
        @(posedge clk_i);
        #1;
        if (wake != '0 || fault) fail("answer while killed");
        waited++;
        if (waited > BOUND) fail("does not drain");
      end while (!idle && waited <= BOUND);
    kill = 1'b0;
    // without a kill, fills with old data may still be in flight
    flush = 1'b1;
    epoch++;
    drive_memory();
    #1;
    take_request();
    if (!killed) check_answers();
    @(posedge clk_i);
    #1 flush = 1'b0;
    if (killed) restart_warps();
  endtask

  task automatic step();
    looked = lookup;
    looked_pc = pc;
    looked_warp = warp;
    warp = WW'(pick(0, W - 1));
    lookup = !waiting[warp] && !(looked && looked_warp == warp) && pick(0, 7) < busy_rate;
    pc = warp_pc[warp];
    drive_memory();
    #1;
    take_request();
    check_answers();
    // the core never looks up a warp again before the answer to its last lookup
    if (lookup && waiting[warp]) fail("bench looked up a waiting warp");
    @(posedge clk_i);
    #1 check_fault();
  endtask

  initial begin
    logic was_fault;
    done_o = 1'b0;
    {lookup, flush, kill, rsp_valid, req_ready, stalled, looked} = '0;
    pending = '0;
    epoch = 1;
    {lookups, hits, requests, misses, faults} = '0;
    restart_warps();
    repeat (2) @(posedge clk_i);
    #1 rst = 1'b0;
    latency = 20;
    busy_rate = 7;
    for (int n = 0; n < count_i && !report::failed(); n++) begin
      if (n % 1000 == 0) begin
        latency = pick(1, 100);
        busy_rate = pick(1, 8);
      end
      step();
      was_fault = fault;
      if (was_fault || pick(0, 999) == 0) begin
        // wait for the answer to the last lookup
        if (!was_fault) begin
          looked = lookup;
          looked_pc = pc;
          looked_warp = warp;
          lookup = 1'b0;
          drive_memory();
          #1;
          take_request();
          check_answers();
          @(posedge clk_i);
          #1 check_fault();
          was_fault = fault;
        end
        kill_and_flush(was_fault || pick(0, 1) == 0);
      end
    end
    $display("%m %0d lookups %0d hits %0d requests %0d misses %0d faults", lookups, hits, requests, misses, faults);
    if (hits < count_i / 50 || (count_i > 100_000 && faults == 0)) fail("too little happened");
    // a fill counts as a miss even if a kill prevented its request
    if (misses < requests || misses > requests + requests / 8 + 4) fail("count of misses");
    done_o = 1'b1;
  end

endmodule
