// SPDX-License-Identifier: Apache-2.0
// Preemption of simt_lsu, part of module tb: freeze at any cycle, read the pending instructions, kill, issue again.

  // ------------------------------------------------------------------ instructions that were issued, by pc
  localparam int LOG = 1024;
  logic [2:0] log_op[LOG];
  logic [3:0] log_amo[LOG];
  logic [1:0] log_size[LOG];
  logic log_unsigned[LOG], log_gen[LOG];
  logic [4:0] log_rd[LOG];
  logic [WW-1:0] log_warp[LOG];
  logic [31:0] log_pc[LOG];
  logic [L-1:0] log_mask[LOG], log_private[LOG];
  logic [L*32-1:0] log_addr[LOG], log_data[LOG], log_cmp[LOG];

  logic preempting = 1'b0, put_away = 1'b0;  // put_away: the bench has the pending instructions
  int freeze_in = 0, extra = 0, most_pending = 0, preemptions = 0, replayed = 0, most_settling = 0;
  int froze_at = 0, last_taken = 0;  // cycle of the freeze; cycle of the freeze or the last instruction taken after it
  logic offered = 1'b0, launching = 1'b0, froze = 1'b0;
  logic [16+WW+2*L+32-1:0] offer_q;
  logic [L*96-1:0] offer_data_q;

  task automatic note_issued();
    int e;
    logic [31:0] va;
    e = int'(iss_pc >> 2) % LOG;
    log_gen[e] = gen[iss_warp];
    if (iss_raw) return;
    {log_op[e], log_amo[e], log_size[e], log_unsigned[e], log_rd[e], log_warp[e], log_pc[e]} =
        {iss_op, iss_amo, iss_size, iss_unsigned, iss_rd, iss_warp, iss_pc};
    log_data[e] = iss_data;
    log_cmp[e] = iss_cmp;
    for (int i = 0; i < L; i++) begin
      va = iss_addr[i*32+:32];
      log_private[e][i] = &va[31:28];
      log_mask[e][i] = iss_mask[i] && va[31:28] != 4'he;
      log_addr[e][i*32+:32] = !(&va[31:28]) ? va :
          stack + (int'(iss_warp) << (STACK_LOG2 + LW)) + (int'(va[27:2]) * L + i) * 4 + int'(va[1:0]);
    end
  endtask

  // Each cycle: records the instruction that is issued, raises freeze_i after freeze_in cycles, launches warps, checks
  // the channel of pending instructions.
  task automatic watch_preemption();
    if (absent && !kill) begin
      if (!cut) check_request();
      cut = 1'b1;
      if (!freeze && freeze_in == 0) freeze_in = 1 + bench_random::next() % 3;
    end
    if (iss_valid && iss_ready && !kill) begin
      note_issued();
      last_taken = cycle;
      if (freeze) extra++;
    end
    // launches warps that have no instruction in flight and issue none in this cycle
    if (launching && bench_random::next() % 8 == 0)
      for (int w = 0; w < W; w++)
        if (!launch_hold[w] && !(iss_valid && int'(iss_warp) == w) && bench_random::next() % 4 == 0) gen[w] <= !gen[w];
    launching = preempting && !put_away && !kill;
    if (settled && (wb_valid || mem_req_valid || mem_rsp_valid || fault_valid)) error("settled, but something goes on");
    if (settled && pend_valid != (pend_count != '0) && !(cut && !pend_valid))
      error("what is pending is not offered at once");
    if (settled && !freeze) error("settled though not frozen");
    if (pend_valid && !settled) error("something is offered before all has settled");
    if (int'(pend_count) > (cut ? 31 : 8)) error($sformatf("%0d instructions are pending", pend_count));
    // the executor takes no pending instruction while the core still issues one
    if (offered && freeze && !kill &&
        (!pend_valid || offer_q != pending_head() || offer_data_q != {pend_addr, pend_data, pend_cmp}))
      error($sformatf("a pending instruction changed before it was taken: %b %h %h", pend_valid, offer_q,
                      pending_head()));
    offered = pend_valid && !pend_ready && !(iss_valid && iss_ready);
    offer_q = pending_head();
    offer_data_q = {pend_addr, pend_data, pend_cmp};
    if (freeze && !froze) {last_taken, froze_at} = {cycle, cycle};
    froze = freeze;
    if (freeze_in != 0) begin
      freeze_in--;
      if (freeze_in == 0) begin
        freeze <= 1'b1;
        extra = 0;
      end
    end
  endtask

  function automatic logic [16+WW+2*L+32-1:0] pending_head();
    return {pend_op, pend_amo, pend_size, pend_unsigned, pend_rd, pend_gen, pend_warp, pend_mask,
            pend_private, pend_pc};
  endfunction

  // ------------------------------------------------------------------ pending instructions
  int saved = 0;
  logic [2:0] saved_op[64];
  logic [3:0] saved_amo[64];
  logic [1:0] saved_size[64];
  logic saved_unsigned[64];
  logic [4:0] saved_rd[64];
  logic [WW-1:0] saved_warp[64];
  logic [31:0] saved_pc[64];
  logic [L-1:0] saved_mask[64], saved_private[64];
  logic [L*32-1:0] saved_addr[64], saved_data[64], saved_cmp[64];

  // Checks the offered record: its lanes have the values that were issued, and none of them has had its result.
  task automatic check_record();
    int e, slot;
    logic good;
    e = int'(pend_pc >> 2) % LOG;
    slot = int'(pend_warp) * 32 + int'(pend_rd);
    good = {log_op[e], log_amo[e], log_size[e], log_unsigned[e], log_rd[e], log_warp[e], log_pc[e], log_gen[e]} ==
        {pend_op, pend_amo, pend_size, pend_unsigned, pend_rd, pend_warp, pend_pc, pend_gen};
    if (pend_mask == '0 || (pend_mask & ~log_mask[e]) != 0 || pend_private != (pend_mask & log_private[e])) good = 1'b0;
    for (int i = 0; i < L; i++) if (pend_mask[i]) begin
      if (pend_addr[i*32+:32] != log_addr[e][i*32+:32]) good = 1'b0;
      if (pend_op != LOAD && pend_data[i*32+:32] != log_data[e][i*32+:32]) good = 1'b0;
      if (pend_op == AMO && pend_cmp[i*32+:32] != log_cmp[e][i*32+:32]) good = 1'b0;
    end
    if (!good) error($sformatf("pending record of pc %h, warp %0d x%0d mask %h is wrong", pend_pc, pend_warp, pend_rd,
                               pend_mask));
    if (pend_op != STORE && (!expected[slot] || exp_left[slot] != pend_mask))
      error($sformatf("warp %0d x%0d waits for lanes %h, but %h are pending", pend_warp, pend_rd, exp_left[slot],
                      pend_mask));
    if (saved != 0 && pend_pc <= saved_pc[saved-1]) error("pending instructions out of order");
  endtask

  task automatic settle();
    int limit;
    limit = orderly && busy_wb_ready ? settle_limit() + (cut ? 40 : 0) : 3000;
    while (!settled && cycle - last_taken <= limit + 1) @(posedge clk);
    #1;
    if (!settled) error($sformatf("not settled after %0d cycles", limit));
  endtask

  // Returns the bound of simt_lsu's header. The bench's memory has a latency of delay_i + 4.
  function automatic int settle_limit();
    int memory_time, local_time;
    memory_time = 6 + delay + 4;
    local_time = 24 * L;
    return (memory_time > local_time ? memory_time : local_time) + 128 + 32;
  endfunction

  task automatic read_pending();
    int count, results_pending, waited;
    count = int'(pend_count);
    if (cut && count > most_cut) most_cut = count;
    if (!cut && count > most_pending) most_pending = count;
    saved = 0;
    results_pending = 0;
    waited = 0;
    while (saved < count && !report::failed()) begin
      waited++;
      if (waited > 1000) error("what is pending is not offered");
      pend_ready = bench_random::next() % 2 == 0;
      @(posedge clk);
      if (!pend_valid && !cut) error("fewer instructions are pending than said");
      if (pend_ready && pend_valid) begin
        check_record();
        {saved_op[saved], saved_amo[saved], saved_size[saved], saved_unsigned[saved], saved_rd[saved],
         saved_warp[saved], saved_pc[saved]} = {pend_op, pend_amo, pend_size, pend_unsigned, pend_rd,
                                                pend_warp, pend_pc};
        {saved_mask[saved], saved_private[saved]} = {pend_mask, pend_private};
        {saved_addr[saved], saved_data[saved], saved_cmp[saved]} = {pend_addr, pend_data, pend_cmp};
        if (pend_op != STORE) results_pending++;
        saved++;
      end
      #1 pend_ready = 1'b0;
    end
    if (pend_valid || pend_count != '0) error("more instructions are pending than said");
    if (under_way != results_pending)
      error($sformatf("%0d results are missing, %0d pending", under_way, results_pending));
  endtask

  task automatic kill_saved();
    put_away = 1'b1;
    kill = 1'b1;
    @(posedge clk);
    #1 kill = 1'b0;
    freeze = 1'b0;
    do @(posedge clk); while (!idle);
    #1;
    if (warp_busy != '0 || launch_hold != '0 || pend_count != '0) error("something is left after a kill");
  endtask

  task automatic replay();
    for (int k = 0; k < saved; k++) begin
      {iss_op, iss_amo, iss_size, iss_unsigned, iss_rd, iss_warp, iss_pc} =
          {saved_op[k], saved_amo[k], saved_size[k], saved_unsigned[k], saved_rd[k], saved_warp[k], saved_pc[k]};
      iss_raw = 1'b1;
      iss_mask = saved_mask[k];
      iss_private = saved_private[k];
      for (int i = 0; i < L; i++) begin  // random values in lanes that are not pending
        iss_addr[i*32+:32] = iss_mask[i] ? saved_addr[k][i*32+:32] : bench_random::next();
        iss_data[i*32+:32] = iss_mask[i] && iss_op != LOAD ? saved_data[k][i*32+:32] : bench_random::next();
        iss_cmp[i*32+:32] = iss_mask[i] && iss_op == AMO ? saved_cmp[k][i*32+:32] : bench_random::next();
      end
      iss_lbase = 17'(bench_random::next());
      offer();
    end
    iss_raw = 1'b0;
    iss_private = L'(bench_random::next());
    put_away = 1'b0;
    replayed += saved;
  endtask

  // Performs a preemption once freeze_i is set: waits until the LSU has settled and, unless there was a fault, reads
  // the pending instructions, kills, and issues them again. This is a process because Verilator would copy a task to
  // each of its calls.
  typedef enum {THAW, PENDING, LOCAL_TOO} how_t;
  logic preempt_call = 1'b0;
  how_t how;
  int more;  // instructions that the core still issues after the freeze

  initial forever begin
    wait (preempt_call);
    while (extra < more) begin
      random_instruction();
      issue();
    end
    settle();
    preemptions++;
    if (how == THAW && !cut) begin  // ends the freeze without a kill, until a page is requested
      freeze = 1'b0;
      do @(posedge clk); while (!idle && !cut);
      #1;
    end else if (!fault_seen) begin
      if (how == LOCAL_TOO) save_local();
      read_pending();
      kill_saved();
      if (how == LOCAL_TOO) begin
        for (int line = 0; line < LMEM / 64; line++) swap_line(line);
        zero_local();
        for (int line = 0; line < LMEM / 64; line++) begin
          swap_line(line);
          move_line(line, 1'b1);
        end
      end
      if (cut) bring();
      replay();
    end
    preempt_call = 1'b0;
  end

  task automatic preempt(input how_t h, input int m);
    how = h;
    more = m;
    preempt_call = 1'b1;
    wait (!preempt_call);
  endtask

  task automatic random_preemption();
    int r;
    r = bench_random::next() % 16;
    preempt(r == 0 ? THAW : r == 1 ? LOCAL_TOO : PENDING, bench_random::next() % 4);
    catch_up();
    // the next preemption may come before the instructions of this one have ended
    if (preempting && bench_random::next() % 4 == 0) freeze_in = 1 + bench_random::next() % 10;
  endtask

  // Waits while the LSU is full or has requested a page; the core issues nothing then.
  task automatic catch_up();
    while (crowded || cut) begin
      @(posedge clk);
      #1;
      if (freeze) preempt(PENDING, 0);
    end
  endtask

  task automatic stop_preempting();
    preempting = 1'b0;
    if (!cut) freeze_in = 0;
    if (freeze) random_preemption();
  endtask

  // ------------------------------------------------------------------ absent pages
  logic cut = 1'b0, evicting = 1'b0;  // cut: a page request since the last kill; evicting: random pages become absent
  int requests = 0, most_cut = 0, wanted = 0;

  // Checks that a page request names a lane of an instruction that was issued, and records its page.
  task automatic check_request();
    int e, a;
    e = int'(fault_pc >> 2) % LOG;
    requests++;
    a = int'(fault_va);
    wanted = a / 4096;
    if (fault_code != tern_spec_pkg::FAULT_PAGE_ABSENT || fault_valid || log_pc[e] != fault_pc ||
        log_warp[e] != fault_warp || !log_mask[e][fault_lane] || log_addr[e][int'(fault_lane)*32+:32] != a ||
        fault_access != (log_op[e] == AMO ? 2'd3 : 2'(log_op[e])))
      error($sformatf("page request %0d of pc %h lane %0d at %h is wrong", fault_code, fault_pc, fault_lane, fault_va));
  endtask

  // Makes the requested page present. If it was present (memory had refused another page first), makes all present.
  // Other pages may become absent.
  task automatic bring();
    logic all;
    all = !u_memory.absent[wanted];
    for (int p = 0; p < LINES / 64; p++)
      if (all || p == wanted) u_memory.absent[p] = 1'b0;
      else if (evicting && bench_random::next() % 64 == 0) u_memory.absent[p] = 1'b1;
    u_memory.refusing = 1'b0;
    cut = 1'b0;
  endtask

  // Makes random pages absent from now on, or all pages present.
  task automatic evict(input logic on);
    evicting = on;
    drain_requests();
    for (int p = 0; p < LINES / 64; p++) u_memory.absent[p] = on && bench_random::next() % 4 == 0;
  endtask

  // Waits until the LSU is idle, and makes pages present as they are requested.
  task automatic drain_requests();
    do begin
      @(posedge clk);
      #1;
      if (freeze) preempt(PENDING, 0);
    end while (!idle || cut);
  endtask

  // ------------------------------------------------------------------ local memory by lines
  logic [7:0] aside[LMEM];
  int line_wait[$];
  int got_lines = 0;

  function automatic logic [511:0] line_of(input int line);
    logic [511:0] v;
    for (int b = 0; b < 64; b++) v[b*8+:8] = ref_local[line*64+b];
    return v;
  endfunction

  // Exchanges a line of the reference with the saved one, so that the reference has the contents of the device.
  task automatic swap_line(input int line);
    logic [7:0] v;
    for (int b = 0; b < 64; b++) begin
      v = aside[line*64+b];
      aside[line*64+b] = ref_local[line*64+b];
      ref_local[line*64+b] = v;
    end
  endtask

  always @(posedge clk) if (lmem_valid) begin
    int line;
    got_lines++;
    if (line_wait.size() == 0) error("a line that nobody asked for");
    else begin
      line = line_wait.pop_front();
      if (lmem_rdata != line_of(line)) error($sformatf("line %0d of local memory is %h", line, lmem_rdata));
    end
  end

  task automatic move_line(input int line, input logic write);
    lmem_line = 10'(line);
    lmem_read = !write;
    lmem_write = write;
    lmem_wdata = line_of(line);
    do @(posedge clk); while (!lmem_ready);
    if (!write) line_wait.push_back(line);
    #1 lmem_read = 1'b0;
    lmem_write = 1'b0;
    lmem_line = 10'(bench_random::next());
    lmem_wdata = {16{bench_random::next()}};
  endtask

  task automatic lines_come();
    repeat (3) @(posedge clk);
    #1;
    if (line_wait.size() != 0) error("lines of local memory are missing");
  endtask

  task automatic save_local();
    int start;
    start = cycle;
    for (int line = 0; line < LMEM / 64; line++) move_line(line, 1'b0);
    if (cycle - start != LMEM / 64 * (L < 16 ? 16 / L : 1)) error($sformatf("%0d cycles for all lines", cycle - start));
    lines_come();
  endtask

  task automatic lines_of_local();
    int line;
    logic write;
    drain();
    for (int n = 0; n < 2000; n++) begin
      line = bench_random::next() % (LMEM / 64);
      if (n % 4 != 0) line = line % 8;
      write = 1'(bench_random::next());
      if (write) begin
        lines_come();
        for (int b = 0; b < 64; b++) ref_local[line*64+b] = 8'(bench_random::next());
      end
      move_line(line, write);
      if (bench_random::next() % 4 == 0) begin
        @(posedge clk);
        #1;
      end
    end
    lines_come();
    save_local();
    check_memory();
  endtask

  task automatic ranges();
    int first, past;
    for (int n = 0; n < 40; n++) begin
      first = bench_random::next() % (LMEM / 64);
      past = bench_random::next() % (LMEM / 64 + 1);
      if (n % 2 == 0) past = first + bench_random::next() % 5;
      if (past > LMEM / 64) past = LMEM / 64;
      drain();
      zero_local(first, past);
      save_local();
      if (n % 4 == 0) for (int line = 0; line < LMEM / 64; line++) begin
        for (int b = 0; b < 64; b++) ref_local[line*64+b] = 8'(bench_random::next());
        move_line(line, 1'b1);
      end
    end
    check_memory();
  endtask

  // ------------------------------------------------------------------ faults, time
  // A line that faults during a freeze is reported before the LSU has settled. If its request had not begun, the fault
  // comes after the instruction is issued again.
  task automatic frozen_faults();
    int after, late;
    late = 0;
    orderly = 1'b1;
    for (int n = 0; n < 60; n++) begin
      after = bench_random::next() % (2 * L);
      delay = bench_random::next() % 20;
      drain();
      plain(3'(n % 3), n % W, 7, 32'h400, 64);
      iss_amo = tern_pkg::AMO_ADD;
      if (n % 2 == 0) iss_addr[(L-1)*32+:32] = BYTES + 32'h40;
      else begin
        for (int i = 0; i < L - 1; i++) iss_addr[i*32+:32] = 32'h400 + i * 64;
        stack = BYTES - 32'h40;
        iss_addr[(L-1)*32+:32] = PRIVATE + 32'h3c;
      end
      issue();
      repeat (after) @(posedge clk);
      #1 freeze = 1'b1;
      lenient = 1'b1;
      saved = 0;
      preempt(PENDING, 0);
      if (!fault_seen) begin
        late++;
        if (saved != 1 || !saved_mask[0][L-1]) error("an instruction that would fault is lost");
        for (int k = 0; k < 400 && !fault_seen; k++) @(posedge clk);
      end
      if (!fault_seen) error("no fault");
      else if (seen_code != tern_spec_pkg::FAULT_PAGE || seen_pc != pc - 4 || seen_lane != LW'(L - 1) ||
               seen_warp != WW'(n % W) || seen_va != (n % 2 == 0 ? BYTES + 32'h40 : PRIVATE + 32'h3c) ||
               seen_access != (n % 3 == 2 ? 2'd3 : 2'(n % 3)))
        error($sformatf("fault %0d at %h of pc %h lane %0d", seen_code, seen_va, seen_pc, seen_lane));
      killed();
      lenient = 1'b0;
      freeze = 1'b0;
      stack = 32'h10000;
      zero_local();
    end
    orderly = 1'b0;
    if (late < 10 || late > 50) error("faults fall on one side of the freeze only");
  endtask

  // The LSU must settle within the bound of its header, with the slowest sequences for memory and for local memory.
  task automatic drain_bound();
    orderly = 1'b1;
    busy_wb_ready = 1'b1;
    for (int n = 0; n < 40; n++) begin
      delay = 20 * (n % 5);
      drain();
      extra = 0;
      for (int k = 0; extra < 3; k++) begin
        if (n % 2 == 0) begin
          plain(k % 4 == 3 ? STORE : LOAD, k % W, 1 + k / W, bench_random::next() % 1024 * 64, 64);
          for (int i = 0; i < L; i++) iss_addr[i*32+:32] = iss_addr[i*32+:32] % BYTES;
        end else begin
          plain(AMO, k % W, 1 + k / W, LOCAL + 32'h40, 0);
          iss_amo = tern_pkg::AMO_CAS;
        end
        issue();
        if (k == n % 8 + 1) begin
          freeze = 1'b1;
          extra = 0;
        end
      end
      how = PENDING;
      more = 0;
      preempt_call = 1'b1;
      while (!settled) @(posedge clk);
      if (cycle - froze_at > settle_limit()) error($sformatf("settled %0d cycles after the freeze", cycle - froze_at));
      if (cycle - froze_at > most_settling) most_settling = cycle - froze_at;
      wait (!preempt_call);
      drain();
    end
    orderly = 1'b0;
    $display("%0d preemptions, %0d instructions issued again, at most %0d cycles to settle", preemptions, replayed,
             most_settling);
  endtask
