// SPDX-License-Identifier: Apache-2.0
// Directed tests of simt_lsu, part of module tb: cycle counts, faults, reservations, invalidation of the L1.

  // Issues n instructions back to back, with `base` increased by `step` each, and bounds the cycles from the first
  // issue to the end.
  task automatic stream(input string what, input logic [2:0] op, input int n, input logic [31:0] base, input int stride,
                        input int step, input int at_most);
    int start, spent;
    drain();
    for (int k = 0; k < n; k++) begin
      plain(op, k % W, 1 + (k / W) % 31, base + k * step, stride);
      iss_amo = tern_pkg::AMO_ADD;
      if (op != STORE) begin
        while (expected[int'(iss_warp)*32+int'(iss_rd)]) begin
          @(posedge clk);
          #1;
        end
      end
      issue();
      if (k == 0) start = cycle;
    end
    if (op == STORE) begin
      drain();
      last_wb = cycle;
    end else drain();
    spent = last_wb - start;
    $display("%-44s %4d instructions %5d cycles", what, n, spent);
    if (spent > at_most) error($sformatf("%s: more than %0d cycles", what, at_most));
  endtask

  // Empties the L1 at a time at which it does not invalidate itself soon.
  task automatic fresh();
    drain();
    do @(posedge clk); while (dut.age_q > 12'd3000);
    #1;
    pulse_inv();
  endtask

  task automatic throughput();
    drain();
    orderly = 1'b1;
    busy_wb_ready = 1'b1;
    delay = 60;
    fresh();
    stream("load, whole lines, L1 misses", LOAD, 128, 0, 4, 64, 400);
    stream("load, whole lines, L1 hits", LOAD, 128, 0, 4, 64, 140);
    stream("load, one instruction, L1 hit", LOAD, 1, 0, 4, 64, 10);
    stream("load, one instruction, local", LOAD, 1, LOCAL, 4, 64, 10);
    stream("load, whole lines, private", LOAD, 128, PRIVATE, 0, 0, 300);
    fresh();
    stream("load, all warps one missing line", LOAD, 128, 32'h8000, 4, 0, 220);
    stream("load, a line a lane, L1 misses", LOAD, 8, 32'h9000, 64, 1024, 400);
    stream("load, a line a lane, L1 hits", LOAD, 8, 32'h9000, 64, 1024, 145);
    fresh();
    stream("store, whole lines", STORE, 128, 32'h4000, 4, 64, 215);
    stream("load, lines just stored", LOAD, 128, 32'h4000, 4, 64, 140);
    stream("atomic add, whole lines", AMO, 64, 32'h4000, 4, 64, 400);
    stream("atomic add, one word", AMO, 4, 32'h4000, 0, 0, 240);
    stream("local load, no conflict", LOAD, 128, LOCAL, 4, 64, 140);
    stream("local load, one word", LOAD, 128, LOCAL, 0, 4, 140);
    stream("local load, 2 lanes a bank", LOAD, 64, LOCAL, 8, 128, 140);
    stream("local load, one bank", LOAD, 8, LOCAL, 64, 4, 140);
    stream("local store, no conflict", STORE, 128, LOCAL, 4, 64, 140);
    stream("local atomic add, a bank a lane", AMO, 32, LOCAL, 4, 64, 140);  // 4 units
    stream("local atomic add, one word", AMO, 4, LOCAL, 0, 4, 75);
  endtask

  // Issues the instruction in iss_*, which must fault. After a kill the LSU must work again.
  task automatic faults(input string what, input logic [7:0] code, input logic [1:0] access, input int lane);
    logic [31:0] va, at;
    va = iss_addr[lane*32+:32];
    at = pc;
    issue();
    for (int n = 0; n < 400 && !fault_seen; n++) @(posedge clk);
    if (!fault_seen) error({what, ": no fault"});
    else if (seen_code != code || seen_access != access || seen_va != va || seen_pc != at || seen_warp != iss_warp ||
             seen_lane != LW'(lane))
      error($sformatf("%s: code %0d access %0d va %h pc %h warp %0d lane %0d", what, seen_code, seen_access,
                      seen_va, seen_pc, seen_warp, seen_lane));
    killed();
    stack = 32'h10000;
    zero_local();
    random_round(50, 1'b0);
    drain();
    if (fault_seen) error({what, ": a fault after the kill"});
  endtask

  task automatic all_faults();
    for (int op = 0; op < 3; op++) begin
      logic [1:0] access;
      access = op == 2 ? 2'd3 : 2'(op);
      plain(3'(op), 5, 3, 32'h400, 4);
      iss_addr[5%L*32+:32] += 2;
      iss_addr[7%L*32+:32] += 1;
      faults("word at 2", tern_spec_pkg::FAULT_MISALIGNED, access, 5 % L);
      plain(3'(op), 2, 3, LOCAL, 4);
      iss_addr[6%L*32+:32] = LOCAL + 1 + int'(local_bytes);
      faults("misaligned beyond local memory", tern_spec_pkg::FAULT_MISALIGNED, access, 6 % L);
      plain(3'(op), 1, 3, LOCAL, 4);
      iss_addr[3*32+:32] = LOCAL + int'(local_bytes);
      iss_addr[0+:32] = LOCAL + 2 * int'(local_bytes);
      iss_mask[0] = 1'b0;  // an inactive lane does not fault
      iss_lbase = local_bytes;
      faults("first byte beyond local memory", tern_spec_pkg::FAULT_LOCAL_OVERRUN, access, 3);
      plain(3'(op), 3, 3, PRIVATE, 0);
      for (int i = 0; i < L; i++) iss_addr[i*32+:32] = PRIVATE + (1 << STACK_LOG2) - (i == 4 % L ? 0 : 4);
      faults("first byte beyond private memory", tern_spec_pkg::FAULT_STACK_OVERFLOW, access, 4 % L);
      plain(3'(op), 4, 3, 32'h400, 4);
      iss_addr[7%L*32+:32] = BYTES + 32'h104;
      faults("line without page", tern_spec_pkg::FAULT_PAGE, access, 7 % L);
      stack = BYTES + 32'h40;
      plain(3'(op), 2, 3, PRIVATE + 32'h34, 0);
      iss_addr[0+:32] = 32'h800;
      faults("stack without page", tern_spec_pkg::FAULT_PAGE, access, 1);
    end
    plain(STORE, 5, 3, 32'h400, 4);
    iss_size = 2'd1;
    iss_addr[7%L*32+:32] += 1;
    faults("half at 1", tern_spec_pkg::FAULT_MISALIGNED, 2'd1, 7 % L);
  endtask

  // Runs one atomic of one lane, whose result is then in `result`.
  task automatic one(input logic [3:0] amo, input int warp, input int lane, input logic [31:0] at,
                     input logic [31:0] value);
    plain(AMO, warp, 9, at, 0);
    iss_amo = amo;
    iss_mask = L'(1) << lane;
    iss_data[lane*32+:32] = value;
    issue();
    drain();
  endtask

  task automatic reservations(input logic [31:0] at);
    logic in_local;
    int unsigned a, done, turns;
    logic [L-1:0] todo[2];
    logic [L*32-1:0] seen;
    in_local = at[31:28] == 4'he;
    a = in_local ? at[27:0] : at;
    lenient = 1'b1;
    repeat (8300) @(posedge clk);  // reservations of the random streams have expired (HOLD_LOG2 of lsu_reserve)
    #1;
    one(tern_pkg::AMO_SC, 1, 2, at, 32'd1);
    if (result[2*32+:32] != 1) error("SC without LR stores");
    one(tern_pkg::AMO_LR, 1, 2, at, 32'd0);
    if (result[2*32+:32] != peek(in_local, a, 2)) error("LR reads wrong");
    one(tern_pkg::AMO_SC, 1, 2, at + 4, 32'd1);
    if (result[2*32+:32] != 1) error("SC to another word stores");
    one(tern_pkg::AMO_LR, 1, 2, at, 32'd0);
    one(tern_pkg::AMO_SC, 1, 3, at, 32'd1);
    if (result[3*32+:32] != 1) error("SC of another lane stores");
    one(tern_pkg::AMO_SC, 2, 2, at, 32'd1);
    if (result[2*32+:32] != 1) error("SC of another warp stores");
    one(tern_pkg::AMO_SC, 1, 2, at, 32'h12345678);
    if (result[2*32+:32] != 0) error("SC after LR does not store");
    poke(in_local, a, 2, 32'h12345678);
    one(tern_pkg::AMO_SC, 1, 2, at, 32'd1);
    if (result[2*32+:32] != 1) error("a second SC stores");
    one(tern_pkg::AMO_LR, 1, 2, at, 32'd0);
    plain(STORE, 3, 0, at, 4);
    issue();
    drain();
    one(tern_pkg::AMO_SC, 1, 2, at, 32'd1);
    if (result[2*32+:32] != 1) error("SC after a store to the word stores");
    one(tern_pkg::AMO_LR, 1, 2, at, 32'd0);
    one(tern_pkg::AMO_ADD, 3, 1, at, 32'd5);
    one(tern_pkg::AMO_SC, 1, 2, at, 32'd1);
    if (result[2*32+:32] != 1) error("SC after an atomic to the word stores");
    one(tern_pkg::AMO_LR, 1, 2, at, 32'd0);
    plain(STORE, 3, 0, at + 64, 4);
    issue();
    drain();
    one(tern_pkg::AMO_SC, 1, 2, at, 32'd7);
    if (result[2*32+:32] != 0) error("a store elsewhere takes the reservation");
    poke(in_local, a, 2, 32'd7);

    // All lanes of two warps increment one word with LR and SC, in lockstep. Each lane must succeed.
    todo[0] = '1;
    todo[1] = '1;
    done = 0;
    for (turns = 0; turns < 400 && (todo[0] != 0 || todo[1] != 0); turns++) begin
      int w;
      w = turns % 2;
      if (todo[w] == 0) continue;
      plain(AMO, w, 9, at, 0);
      iss_amo = tern_pkg::AMO_LR;
      iss_mask = todo[w];
      issue();
      drain();
      seen = result;
      plain(AMO, w, 9, at, 0);
      iss_amo = tern_pkg::AMO_SC;
      iss_mask = todo[w];
      for (int i = 0; i < L; i++) iss_data[i*32+:32] = seen[i*32+:32] + 1;
      issue();
      drain();
      for (int i = 0; i < L; i++) if (todo[w][i] && result[i*32+:32] == 0) begin
        poke(in_local, a, 2, peek(in_local, a, 2) + 1);
        todo[w][i] = 1'b0;
        done++;
      end
    end
    if (done != 2 * L) error($sformatf("LR/SC loops: %0d of %0d lanes got through", done, 2 * L));
    lenient = 1'b0;
    check_memory();
    if (peek(in_local, a, 2) != 32'(7 + 2 * L)) error("LR/SC counted wrong");
  endtask

  // Writes a word in memory, as another engine would.
  task automatic others_write(input int unsigned a);
    logic [31:0] v;
    v = bench_random::next();
    poke(1'b0, a, 2, v);
    for (int b = 0; b < 4; b++) u_memory.bytes[a+b] = v[b*8+:8];
  endtask

  task automatic pulse_inv();
    inv = 1'b1;
    @(posedge clk);
    #1 inv = 1'b0;
  endtask

  task automatic forgetting();
    int start;
    logic [31:0] old;
    drain();
    while (dut.age_q > 12'd3000) @(posedge clk);
    pulse_inv();
    plain(LOAD, 0, 1, 32'h3000, 4);
    issue();
    drain();
    old = result[31:0];
    others_write(32'h3000);
    lenient = 1'b1;
    issue();
    drain();
    if (result[31:0] != old) error("the L1 does not keep a line");
    // without an invalidation, a load must return the new value after at most 4096 cycles
    start = cycle;
    do begin
      issue();
      drain();
    end while (result[31:0] == old && cycle - start < 5000);
    lenient = 1'b0;
    if (cycle - start > 4200) error("the L1 keeps a line for too long");
    others_write(32'h3000);
    pulse_inv();
    issue();
    drain();
    // a fill that is in flight during an invalidation may not put the old line into the L1
    for (int unordered = 0; unordered < 2; unordered++)
      for (int k = 0; k < 100; k++) begin
        orderly = unordered == 0;
        delay = unordered == 0 ? 40 : 0;
        pulse_inv();
        lenient = 1'b1;
        plain(LOAD, 0, 1, 32'h3000, 4);
        issue();
        repeat (k) @(posedge clk);
        #1;
        others_write(32'h3000);
        pulse_inv();
        do @(posedge clk); while (under_way != 0);
        #1 lenient = 1'b0;
        plain(LOAD, 1, 1, 32'h3000, 4);
        issue();
        drain();
      end
  endtask

  task automatic directed();
    delay = 10;
    orderly = 1'b1;  // of several lines that fault, the one that was requested first is answered first
    all_faults();
    orderly = 1'b0;
    reservations(LOCAL + 32'h200);
    reservations(32'h3000);
    forgetting();
    check_memory();
    lines_of_local();
    ranges();
    frozen_faults();
    drain_bound();
    if (L == 16) throughput();
  endtask
