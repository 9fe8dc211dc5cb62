// SPDX-License-Identifier: Apache-2.0
// Bench of simt_lsu against a byte-accurate reference that applies instructions in the order of issue: random streams
// of many warps on a memory that reorders, with kills and preemptions; then directed tests of faults, reservations,
// invalidation of the L1, access to local memory by lines, scrub, and cycle counts. Atomics on local memory go to one
// word, to a bank for each lane, and to random words, beside loads and stores. All old values are compared, and the
// cycles are bounded.
//
// +seed=N, +count=N (instructions a round), +rounds=N.

module tb #(
    parameter int L = 16,
    parameter int W = 16
);
  localparam int LW = $clog2(L), WW = $clog2(W);
  localparam int LINES = 2048, BYTES = LINES * 64, LMEM = 65536;
  localparam int STACK_LOG2 = 6;
  localparam logic [2:0] LOAD = simt_op_pkg::LSU_LOAD, STORE = simt_op_pkg::LSU_STORE, AMO = simt_op_pkg::LSU_AMO;
  localparam logic [31:0] LOCAL = tern_spec_pkg::WIN_LOCAL_BASE, PRIVATE = tern_spec_pkg::WIN_PRIVATE_BASE;

  logic clk = 1'b0, rst = 1'b1;
  always #5 clk = ~clk;

  logic iss_valid = 1'b0, iss_ready, iss_unsigned, iss_raw = 1'b0;
  logic [2:0] iss_op;
  logic [3:0] iss_amo;
  logic [1:0] iss_size;
  logic [WW-1:0] iss_warp;
  logic [4:0] iss_rd;
  logic [L-1:0] iss_mask, iss_private = '0;
  logic [L*32-1:0] iss_addr, iss_data, iss_cmp;
  logic [31:0] iss_pc;
  logic [16:0] iss_lbase, local_bytes = 17'd8192;
  logic wb_valid, wb_ready = 1'b1, wb_last;
  logic [WW-1:0] wb_warp;
  logic [4:0] wb_rd;
  logic [L-1:0] wb_mask;
  logic [L*32-1:0] wb_data;
  logic [W-1:0] warp_busy, launch_hold, gen = '0;
  logic inv = 1'b0, kill = 1'b0, idle, scrub = 1'b0, scrub_busy;
  logic fault_valid, absent, crowded, ev_hit, ev_miss, pass;
  logic [6:0] pass_tag;
  logic [10:0] scrub_first = '0, scrub_end = 11'd1024;
  logic freeze = 1'b0, settled, pend_valid, pend_ready = 1'b0, pend_unsigned, pend_gen;
  logic [5:0] pend_count;
  logic [3:0] pend_amo;
  logic [2:0] pend_op;
  logic [1:0] pend_size;
  logic [4:0] pend_rd;
  logic [WW-1:0] pend_warp;
  logic [L-1:0] pend_mask, pend_private;
  logic [31:0] pend_pc;
  logic [L*32-1:0] pend_addr, pend_data, pend_cmp;
  logic lmem_read = 1'b0, lmem_write = 1'b0, lmem_ready, lmem_valid;
  logic [9:0] lmem_line = '0;
  logic [511:0] lmem_wdata = '0, lmem_rdata;
  logic [7:0] fault_code;
  logic [1:0] fault_access;
  logic [31:0] fault_va, fault_pc;
  logic [WW-1:0] fault_warp;
  logic [LW-1:0] fault_lane;
  logic mem_req_valid, mem_req_ready, mem_rsp_valid;
  tern_pkg::mem_req_t mem_req;
  tern_pkg::mem_rsp_t mem_rsp;
  logic [6:0] mem_req_tag, mem_rsp_tag;
  int delay = 0;
  logic [31:0] stack = 32'h10000;
  logic orderly = 1'b0;

  simt_op_pkg::lsu_issue_t iss;
  simt_op_pkg::lsu_pending_t pend;
  simt_op_pkg::lsu_windows_t windows;
  simt_op_pkg::lsu_status_t status;
  simt_op_pkg::lsu_scrub_t scrubs;
  simt_op_pkg::lsu_line_t line;
  simt_op_pkg::lsu_line_read_t line_read;
  simt_op_pkg::lsu_pass_t passes;
  simt_op_pkg::lsu_fault_t fault;
  simt_core_pkg::result_t wb;
  simt_core_pkg::lsu_warps_t warps;
  always_comb begin
    iss.req.op = iss_op;
    iss.req.amo = iss_amo;
    iss.req.size = iss_size;
    iss.req.is_unsigned = iss_unsigned;
    iss.req.rd = iss_rd;
    iss.req.pc = iss_pc;
    iss.req.lbase = iss_lbase;
    iss.raw = iss_raw;
    iss.warp = 5'(iss_warp);
    iss.mask = 32'(iss_mask);
    iss.is_private = 32'(iss_private);
    windows.stack_base = stack;
    windows.stack_log2 = 5'(STACK_LOG2);
    windows.local_bytes = local_bytes;
    scrubs.valid = scrub;
    scrubs.first = scrub_first;
    scrubs.past = scrub_end;
    line.read = lmem_read;
    line.write = lmem_write;
    line.line = lmem_line;
    line.data = lmem_wdata;
    passes.valid = pass;
    passes.tag = pass_tag;
  end
  always_comb begin
    pend_op = pend.req.op;
    pend_amo = pend.req.amo;
    pend_size = pend.req.size;
    pend_unsigned = pend.req.is_unsigned;
    pend_rd = pend.req.rd;
    pend_pc = pend.req.pc;
    pend_gen = pend.gen;
    pend_warp = pend.warp[WW-1:0];
    pend_mask = pend.mask[L-1:0];
    pend_private = pend.is_private[L-1:0];
    wb_warp = wb.warp[WW-1:0];
    wb_rd = wb.rd;
    wb_mask = wb.mask[L-1:0];
    wb_last = wb.last;
    warp_busy = warps.busy[W-1:0];
    launch_hold = warps.hold[W-1:0];
    idle = status.idle;
    settled = status.settled;
    crowded = status.crowded;
    pend_count = status.pending;
    lmem_valid = line_read.valid;
    lmem_rdata = line_read.data;
    fault_code = fault.code;
    fault_access = fault.access;
    fault_va = fault.va;
    fault_pc = fault.pc;
    fault_warp = fault.warp[WW-1:0];
    fault_lane = fault.lane[LW-1:0];
  end
  simt_lsu #(.LANES(L), .WARPS(W)) dut (
      .clk_i(clk), .rst_i(rst), .windows_i(windows), .iss_valid_i(iss_valid), .iss_ready_o(iss_ready), .iss_i(iss),
      .iss_operands_i({iss_cmp, iss_data, iss_addr}), .wb_valid_o(wb_valid), .wb_ready_i(wb_ready), .wb_o(wb),
      .wb_data_o(wb_data), .gen_i(gen), .warps_o(warps), .inv_i(inv), .kill_i(kill), .status_o(status),
      .freeze_i(freeze), .pend_valid_o(pend_valid), .pend_ready_i(pend_ready), .pend_o(pend),
      .pend_operands_o({pend_cmp, pend_data, pend_addr}), .lmem_i(line), .lmem_ready_o(lmem_ready),
      .lmem_o(line_read), .scrub_i(scrubs), .scrub_busy_o(scrub_busy), .fault_valid_o(fault_valid), .absent_o(absent),
      .fault_o(fault), .pass_i(passes), .ev_l1_hit_o(ev_hit), .ev_l1_miss_o(ev_miss),
      .mem_req_valid_o(mem_req_valid), .mem_req_ready_i(mem_req_ready), .mem_req_o(mem_req),
      .mem_req_tag_o(mem_req_tag), .mem_rsp_valid_i(mem_rsp_valid), .mem_rsp_tag_i(mem_rsp_tag), .mem_rsp_i(mem_rsp)
  );
  memory #(.LINES(LINES)) u_memory (
      .clk_i(clk), .rst_i(rst), .delay_i(delay), .orderly_i(orderly), .req_valid_i(mem_req_valid),
      .req_ready_o(mem_req_ready), .req_op_i(mem_req.op), .req_amo_i(mem_req.amo), .req_line_i(mem_req.line),
      .req_wdata_i(mem_req.wdata), .req_be_i(mem_req.be), .req_tag_i(mem_req_tag), .rsp_valid_o(mem_rsp_valid),
      .rsp_tag_o(mem_rsp_tag), .rsp_data_o(mem_rsp.data), .rsp_fault_o(mem_rsp.fault), .pass_o(pass),
      .pass_tag_o(pass_tag)
  );

  // ------------------------------------------------------------------ reference
  logic [7:0] ref_mem[0:BYTES-1];
  logic [7:0] ref_local[0:LMEM-1];
  logic expected[W*32];            // by {warp, register}: its result is pending
  logic [L-1:0] exp_left[W*32];
  logic [L*32-1:0] exp_data[W*32];
  logic [L*32-1:0] exp_addr[W*32];
  logic [8:0] exp_op[W*32];
  logic lenient = 1'b0;            // results are not compared here, for tests that check `result` themselves
  int under_way = 0, cycle = 0, hits = 0, misses = 0, results = 0, last_wb = 0, last_move = 0;
  logic fault_seen = 1'b0;
  logic [7:0] seen_code;
  logic [1:0] seen_access;
  logic [31:0] seen_va, seen_pc;
  logic [WW-1:0] seen_warp;
  logic [LW-1:0] seen_lane;
  logic [L*32-1:0] result;         // by lane: data of the last write-back

  task automatic error(input string what);
    report::error($sformatf("cycle %0d: %s", cycle, what));
  endtask

  function automatic logic [31:0] peek(input logic in_local, input int unsigned a, input int size);
    logic [31:0] v = '0;
    for (int b = 0; b < (1 << size); b++) v[b*8+:8] = in_local ? ref_local[a+b] : ref_mem[a+b];
    return v;
  endfunction

  task automatic poke(input logic in_local, input int unsigned a, input int size, input logic [31:0] v);
    for (int b = 0; b < (1 << size); b++)
      if (in_local) ref_local[a+b] = v[b*8+:8];
      else ref_mem[a+b] = v[b*8+:8];
  endtask

  task automatic apply();
    int unsigned a, slot;
    logic in_local;
    logic [31:0] v, va;
    slot = int'(iss_warp) * 32 + int'(iss_rd);
    for (int i = 0; i < L; i++) if (iss_mask[i]) begin
      va = iss_addr[i*32+:32];
      in_local = va[31:28] == 4'he;
      a = in_local ? va[27:0] + iss_lbase : &va[31:28] ?
          stack + (int'(iss_warp) << (STACK_LOG2 + LW)) + (int'(va[27:2]) * L + i) * 4 + int'(va[1:0]) : va;
      v = peek(in_local, a, iss_size);
      if (iss_op == LOAD && !iss_unsigned) v = iss_size == 0 ? {{24{v[7]}}, v[7:0]} : iss_size == 1
        ? {{16{v[15]}}, v[15:0]} : v;
      if (iss_op != STORE) exp_data[slot][i*32+:32] = v;
      if (iss_op == STORE) poke(in_local, a, iss_size, iss_data[i*32+:32]);
      else if (iss_op == AMO) begin
        if (iss_amo == tern_pkg::AMO_CAS) begin
          if (v == iss_cmp[i*32+:32]) poke(in_local, a, 2, iss_data[i*32+:32]);
        end else if (iss_amo != tern_pkg::AMO_LR && iss_amo != tern_pkg::AMO_SC)
          poke(in_local, a, 2, u_memory.amo_value(iss_amo, v, iss_data[i*32+:32]));
      end
    end
    if (iss_op != STORE) begin
      expected[slot] = 1'b1;
      exp_left[slot] = iss_mask;
      exp_addr[slot] = iss_addr;
      exp_op[slot] = {iss_op, iss_amo, iss_size};
      under_way++;
    end
  endtask

  // ------------------------------------------------------------------ checks in each cycle
  logic took = 1'b0;
  logic [WW-1:0] took_warp;
  logic stalled = 1'b0, busy_wb_ready = 1'b1;
  logic [L*32+L+WW+6-1:0] wb_q;
  always @(posedge clk) if (!rst) begin
    int slot;
    cycle++;
    hits += int'(ev_hit);
    misses += int'(ev_miss);
    if (took && !kill && !warp_busy[took_warp]) error("a warp is not busy right after its instruction");
    took = iss_valid && iss_ready;
    took_warp = iss_warp;
    if (idle && !kill && !put_away && under_way != 0) error("idle with results missing");
    if (iss_valid && iss_ready && !kill && !iss_raw) apply();
    watch_preemption();
    if (fault_valid && !fault_seen) begin
      fault_seen = 1'b1;
      {seen_code, seen_access, seen_va, seen_pc, seen_warp, seen_lane} =
          {fault_code, fault_access, fault_va, fault_pc, fault_warp, fault_lane};
    end
    if (stalled && !kill && (!wb_valid || wb_q != {wb_data, wb_mask, wb_warp, wb_rd, wb_last}))
      error("write-back changed while stalled");
    stalled = wb_valid && !wb_ready && !kill;
    wb_q = {wb_data, wb_mask, wb_warp, wb_rd, wb_last};
    if (wb_valid && wb_ready && !kill) begin
      slot = int'(wb_warp) * 32 + int'(wb_rd);
      last_wb = cycle;
      if (!expected[slot] || (wb_mask & ~exp_left[slot]) != 0)
        error($sformatf("unexpected write-back of warp %0d x%0d mask %h", wb_warp, wb_rd, wb_mask));
      for (int i = 0; i < L; i++) if (wb_mask[i]) begin
        result[i*32+:32] = wb_data[i*32+:32];
        report::compared(1);
        if (!lenient && wb_data[i*32+:32] != exp_data[slot][i*32+:32])
          error($sformatf("warp %0d x%0d lane %0d: %h, not %h, op %0d amo %0d size %0d at %h", wb_warp, wb_rd, i,
                          wb_data[i*32+:32], exp_data[slot][i*32+:32], exp_op[slot][8:6], exp_op[slot][5:2],
                          exp_op[slot][1:0], exp_addr[slot][i*32+:32]));
      end
      exp_left[slot] &= ~wb_mask;
      if (wb_last != (exp_left[slot] == 0)) error("wb_last is wrong");
      if (wb_last) begin
        expected[slot] = 1'b0;
        under_way--;
        results++;
      end
    end
    if ((warp_busy | launch_hold) == 0 && (mem_req_valid || mem_rsp_valid) && !kill)
      error("memory works for a warp that is not busy");
    if (iss_valid && iss_ready || wb_valid && wb_ready || mem_req_valid && mem_req_ready ||
        (warp_busy | launch_hold) == 0 || settled) last_move = cycle;
    if (cycle - last_move > 600) error("nothing moves");
    wb_ready <= busy_wb_ready || bench_random::next() % 3 != 0;
  end

  // ------------------------------------------------------------------ instructions
  int pc = 32'h1000;
  // Offers the instruction in the iss_* variables until it is taken.
  task automatic issue();
    iss_pc = pc;
    pc += 4;
    iss_raw = 1'b0;
    offer();
  endtask

  task automatic offer();
    iss_valid = 1'b1;
    do @(posedge clk); while (!iss_ready);
    #1 iss_valid = 1'b0;
  endtask

  task automatic plain(input logic [2:0] op, input int unsigned warp, input int unsigned rd, input logic [31:0] base,
                       input int stride);
    iss_op = op;
    iss_amo = '0;
    iss_size = 2'd2;
    iss_unsigned = 1'b0;
    iss_warp = WW'(warp);
    iss_rd = 5'(rd);
    iss_mask = '1;
    iss_lbase = '0;
    for (int i = 0; i < L; i++) begin
      iss_addr[i*32+:32] = base + i * stride;
      iss_data[i*32+:32] = bench_random::next();
      iss_cmp[i*32+:32] = bench_random::next();
    end
  endtask

  task automatic drain();
    do @(posedge clk); while (!idle);
    #1;
    if (under_way != 0) error($sformatf("%0d results are missing", under_way));
    if (warp_busy != 0) error("a warp is busy though all is idle");
  endtask

  task automatic random_instruction();
    int unsigned kind, hot, a, slot;
    logic mixed;
    iss_warp = WW'(bench_random::next());
    iss_op = 3'(bench_random::next() % 8);
    iss_op = iss_op < 4 ? LOAD : iss_op < 7 ? STORE : AMO;
    iss_amo = 4'(bench_random::next() % 11);  // all but SC
    iss_size = iss_op == AMO ? 2'd2 : 2'(bench_random::next() % 8);
    if (iss_size == 2'd3) iss_size = 2'd2;
    iss_unsigned = 1'(bench_random::next());
    do iss_mask = L'(bench_random::next()) | L'(bench_random::next()); while (iss_mask == 0);
    if (bench_random::next() % 2 == 0) iss_mask = '1;
    iss_lbase = 17'(int'(iss_warp) % 4 * int'(local_bytes));
    kind = bench_random::next() % 14;
    hot = bench_random::next() % BYTES;
    if (bench_random::next() % 2 == 0) hot = (bench_random::next() % 16) * 64 + 32'h3000;
    mixed = bench_random::next() % 10 == 0;
    for (int i = 0; i < L; i++) begin
      if (mixed) kind = bench_random::next() % 14;
      case (kind)
        0, 1, 2: a = (hot & ~63) + (i << iss_size);
        3: a = 32'h3000 + bench_random::next() % 1024;
        4: a = bench_random::next() % BYTES;
        5: a = hot;
        6: a = hot + i * 64;
        7, 8: a = PRIVATE + (hot >> 6) % 64;
        9: a = PRIVATE + bench_random::next() % 64;
        10: a = LOCAL + hot % 1024 + (i << iss_size);
        11: a = LOCAL + bench_random::next() % (mixed ? 32'd8192 : 32'd256);
        12: a = LOCAL + hot % 1024;
        default: a = LOCAL + (hot % 512 + i * (4 << (hot % 5))) % 8192;
      endcase
      if (a < 32'he0000000) a = a % BYTES;
      iss_addr[i*32+:32] = a & ~((1 << iss_size) - 1);
      iss_data[i*32+:32] = bench_random::next() % 4 == 0 ? bench_random::next() % 4 : bench_random::next();
      iss_cmp[i*32+:32] = bench_random::next() % 4;
    end
    iss_rd = 5'(bench_random::next());
    if (iss_op != STORE) begin
      for (int n = 0; n < 600; n++) begin  // waits for a register without a pending result
        if (!expected[int'(iss_warp)*32+int'(iss_rd)]) break;
        iss_rd = iss_rd + 1'b1;
        if (n % 32 == 31) @(posedge clk);
      end
      slot = int'(iss_warp) * 32 + int'(iss_rd);
      if (expected[slot]) error("no register becomes free");
    end
  endtask

  task automatic check_memory();
    int wrong = 0;
    for (int a = 0; a < BYTES; a++) if (ref_mem[a] !== u_memory.bytes[a]) begin
      if (wrong < 4) $display("memory %h: %h, not %h", a, u_memory.bytes[a], ref_mem[a]);
      wrong++;
    end
    if (wrong != 0) error($sformatf("%0d wrong bytes in memory", wrong));
    for (int a = 0; a < LMEM; a += L * 4) begin
      plain(LOAD, 0, 1 + (a / (L * 4)) % 31, LOCAL, 4);
      iss_lbase = 17'(a);
      do @(posedge clk); while (expected[iss_rd]);
      #1;
      issue();
    end
    drain();
  endtask

  task automatic zero_local(input int first = 0, input int past = LMEM / 64);
    int start;
    scrub_first = 11'(first);
    scrub_end = 11'(past);
    scrub = 1'b1;
    @(posedge clk);
    #1 scrub = 1'b0;
    start = cycle;
    do @(posedge clk); while (scrub_busy);
    #1;
    // one cycle a row, and one cycle for the bench to see the end
    if (cycle - start > (past > first ? (past - first) * 16 / L + 2 : 1)) error("scrub takes too long");
    for (int a = first * 64; a < past * 64; a++) ref_local[a] = '0;
  endtask

  // Kills the LSU, and sets the reference to the contents of memory.
  task automatic killed();
    int start = cycle;
    kill = 1'b1;
    iss_valid = 1'b0;
    @(posedge clk);
    do @(posedge clk); while (!idle);
    if (cycle - start > 3000) error("kill takes too long");
    #1 kill = 1'b0;
    for (int s = 0; s < W * 32; s++) expected[s] = 1'b0;
    under_way = 0;
    fault_seen = 1'b0;
    for (int a = 0; a < BYTES; a++) ref_mem[a] = u_memory.bytes[a];
  endtask

  task automatic random_round(input int count, input logic gaps);
    for (int n = 0; n < count; n++) begin
      random_instruction();
      issue();
      while (gaps && bench_random::next() % 3 == 0) @(posedge clk);
      if (gaps) #1;
      if (freeze) random_preemption();
      else if (preempting && freeze_in == 0 && bench_random::next() % 40 == 0)
        freeze_in = 1 + bench_random::next() % 40;
      if (bench_random::next() % 200 == 0) begin
        inv = 1'b1;
        @(posedge clk);
        #1 inv = 1'b0;
      end
    end
  endtask

  `include "tests/rtl/simt_lsu/preempt.svh"
  `include "tests/rtl/simt_lsu/directed.svh"

  int seed, count, rounds;
  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 3000;
    if (!$value$plusargs("rounds=%d", rounds)) rounds = 8;
    $display("seed %0d", seed);
    bench_random::start(seed);
    for (int a = 0; a < BYTES; a++) begin
      u_memory.bytes[a] = 8'(bench_random::next());
      ref_mem[a] = u_memory.bytes[a];
    end
    for (int s = 0; s < W * 32; s++) expected[s] = 1'b0;
    repeat (4) @(posedge clk);
    #1 rst = 1'b0;
    zero_local();
    for (int r = 0; r < rounds; r++) begin
      delay = r % 3 == 0 ? 0 : bench_random::next() % 60;
      orderly = r % 4 == 3;
      busy_wb_ready = r % 2 == 0 || r % 8 == 7;
      preempting = r != 0;
      if (r % 4 >= 2) evict(1'b1);
      random_round(count, r % 2 == 1);
      stop_preempting();
      evict(1'b0);
      $display("round %0d: cycle %0d, delay %0d, %0d requests", r, cycle, delay, u_memory.accepted);
      if (r % 3 == 2) begin  // kill during instructions, and during a preemption
        freeze = 1'b1;
        repeat (bench_random::next() % 30) @(posedge clk);
        killed();
        freeze = 1'b0;
        zero_local();
      end else begin
        drain();
        check_memory();
      end
      if (fault_seen) error($sformatf("fault %0d at %h of pc %h", seen_code, seen_va, seen_pc));
    end
    $display("random: %0d results in %0d cycles, %0d hits, %0d misses", results, cycle, hits, misses);
    if (most_pending != 8 || most_cut < 9)
      error($sformatf("at most %0d instructions were pending at once, %0d after a refusal", most_pending, most_cut));
    if (requests < 20) error("few page requests");
    $display("%0d page requests, %0d refusals", requests, u_memory.refused);
    directed();
    report::pass();
  end

  initial begin
    repeat (20) #100000000;
    $fatal(1, "no end");
  end
endmodule
