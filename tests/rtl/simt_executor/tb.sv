// SPDX-License-Identifier: Apache-2.0
// Bench of simt_executor on a memory with latency, against the functional model. bench.c has the cases and compares.
//
// Each case runs from start to end, then with stops at random times. A saved state is resumed in the same executor
// (which may have run a kernel of another process meanwhile), in one after reset, or in the model; and the executor
// resumes states of the model. States of another geometry or length must be refused. Short cases are stopped at every
// cycle. The latency of a stop is bounded. Results for x0 may not cost more than results for registers (cases used,
// unused).
//
// +only=NAME runs one case, +cycles prints counters of each, +sweep=N stops all cases at every Nth cycle, +stops=N runs
// each case N times with random stops (2 on 16 lanes, else 1).

module tb #(
    parameter int LANES = 16,
    parameter int WARPS = 16,
    parameter int LMEM_KIB = 64
);

  import "DPI-C" context function int bench_init(input int seed, input int lanes, input int warps, input string only);
  import "DPI-C" context function int bench_case(output bit [1023:0] packet, output int scrub, output string name);
  import "DPI-C" context function void bench_request(input int now, input int op, input int amo, input int exec,
                                                     input int line, input bit [511:0] wdata, input bit [63:0] be,
                                                     input int tag);
  import "DPI-C" context function int bench_response(input int now, output int tag, output int fault,
                                                     output bit [511:0] data);
  import "DPI-C" context function void bench_again();
  import "DPI-C" context function void bench_dirt(output bit [1023:0] packet);
  import "DPI-C" context function void bench_save(input bit [511:0] line);
  import "DPI-C" context function int bench_restore(output bit [511:0] line);
  import "DPI-C" context function int bench_cross();
  import "DPI-C" context function void bench_spoil(input int how);
  import "DPI-C" context function void bench_mend();
  import "DPI-C" context function int bench_cut(input int instructions);
  import "DPI-C" context function int bench_check(input int code, input int access, input int va,
                                                  input int pc, input int group, input int warp, input int lane);

  logic          clk = 1'b0, rst = 1'b1;
  logic [63:0]   now = 64'd0;
  logic          start_valid = 1'b0, start_ready, start_scrub = 1'b0, done_valid, fault_valid, stopped_valid;
  logic [1023:0] packet = '0;
  tern_pkg::exec_status_t status;
  assign {done_valid, fault_valid, stopped_valid} = {status.done, status.faulted, status.stopped};
  logic          start_resume = 1'b0, stop_req = 1'b0;
  logic [1:0]    stop_gran = 2'd0;
  logic          save_valid, save_last, save_ready = 1'b0, restore_valid = 1'b0, restore_ready, restore_last = 1'b0;
  logic [511:0]  save_data;
  bit   [511:0]  restore_data;
  logic [31:0]   dbg_pc, dbg_lanes;
  logic          req_valid, req_ready, req_exec, rsp_valid;
  tern_pkg::mem_req_t req;
  tern_pkg::mem_rsp_t rsp;
  logic [7:0]    req_tag, rsp_tag, pass_tag;
  logic          pass = 1'b0;
  logic          ev_issue, ev_stall_use, ev_stall_unit, ev_stall_idle, ev_l1_hit, ev_l1_miss, ev_ic_miss;
  logic [5:0]    ev_lanes, ev_fma;

  simt_executor #(
      .LANES(LANES), .WARPS(WARPS), .LMEM_KIB(LMEM_KIB)
  ) dut (
      .clk_i(clk), .rst_i(rst), .time_i(now), .start_valid_i(start_valid), .start_ready_o(start_ready),
      .start_i({packet, start_scrub, start_resume}), .status_o(status),
      .dbg_warp_i(6'd0), .dbg_pc_o(dbg_pc), .dbg_lanes_o(dbg_lanes), .stop_req_i(stop_req), .stop_gran_i(stop_gran),
      .save_valid_o(save_valid), .save_ready_i(save_ready), .save_o({save_last, save_data}),
      .restore_valid_i(restore_valid), .restore_ready_o(restore_ready),
      .restore_i({restore_last, restore_data}), .flush_i(1'b0), .req_valid_o(req_valid),
      .req_ready_i(req_ready), .req_o(req), .req_exec_o(req_exec),
      .req_tag_o(req_tag), .rsp_valid_i(rsp_valid), .rsp_tag_i(rsp_tag),
      .rsp_i(rsp), .pass_i(pass), .pass_tag_i(pass_tag),
      .ev_issue_o(ev_issue), .ev_lanes_o(ev_lanes),
      .ev_stall_use_o(ev_stall_use), .ev_stall_unit_o(ev_stall_unit), .ev_stall_idle_o(ev_stall_idle),
      .ev_fma_o(ev_fma), .ev_l1_hit_o(ev_l1_hit), .ev_l1_miss_o(ev_l1_miss), .ev_ic_miss_o(ev_ic_miss)
  );

  // memory, which is ready in 15 of 16 cycles
  int tag, fault;
  bit [511:0] data;

  always_ff @(posedge clk) begin
    now       <= now + 64'd1;
    req_ready <= !rst && ($urandom & 32'hf) != 0;
    if (req_valid && req_ready)
      bench_request(32'(now), 32'(req.op), 32'(req.amo), 32'(req_exec), 32'(req.line), req.wdata, req.be, 32'(req_tag));
    pass      <= req_valid && req_ready && !rst;
    pass_tag  <= req_tag;
    rsp_valid <= !rst && bench_response(32'(now), tag, fault, data) != 0;
    rsp_tag   <= 8'(tag);
    rsp.fault <= 8'(fault);
    rsp.data <= data;
  end

  // counters
  int issue, lanes_, use_, unit, idle, fma, hit, miss, imiss;

  always_ff @(posedge clk)
    if (start_valid) {issue, lanes_, use_, unit, idle, fma, hit, miss, imiss} <= '0;
    else begin
      issue <= issue + 32'(ev_issue);
      lanes_ <= lanes_ + 32'(ev_lanes);
      use_  <= use_ + 32'(ev_stall_use);
      unit  <= unit + 32'(ev_stall_unit);
      idle  <= idle + 32'(ev_stall_idle);
      fma   <= fma + 32'(ev_fma);
      hit   <= hit + 32'(ev_l1_hit);
      miss  <= miss + 32'(ev_l1_miss);
      imiss <= imiss + 32'(ev_ic_miss);
    end

  task tick;
    #5 clk = 1'b1;
    #5 clk = 1'b0;
  endtask

  // ------------------------------------------------------------------------------------------- one run
  int            seed, scrub, cycles, plain, count, limit, runs, stops, held, lines, in_lines, wait_stop,
  latency, sweep;
  int            used = 0, stop_at, stream, resume_cycles, worst_latency, worst_stream, worst_resume, step;
  string         only, name;
  bit [1023:0]   packet_bits, dirt_bits;

  // Cycles: two latencies of memory, 24 a lane for local memory, 160 for 64 write-backs, fetches and the pipeline.
  localparam int STOP_BOUND = 2 * 70 + 24 * LANES + 160;

  task reset;
    rst = 1'b1;
    repeat (4) tick;
    rst = 1'b0;
  endtask

  task start(input bit [1023:0] what, input bit clean, input bit again);
    packet = what;
    start_valid = 1'b1;
    start_scrub = clean;
    start_resume = again;
    while (!start_ready) tick;
    tick;
    start_valid = 1'b0;
  endtask

  // Waits for done, fault or stopped. Requests a stop after stop_after cycles (negative: never). again: gives the state
  // for a resume.
  task go(input int stop_after, input bit [1:0] gran, input bit again, input bit slow);
    bit taken;
    cycles = 0;
    in_lines = 0;
    latency = -1;
    resume_cycles = -1;
    wait_stop = 0;
    restore_valid = 1'b0;
    while (!done_valid && !fault_valid && !stopped_valid && cycles < limit) begin
      if (stop_after >= 0 && cycles >= stop_after) begin
        stop_req = 1'b1;
        stop_gran = (gran == 2'd3 || (gran == 2'd2 && cycles > stop_after + 300 && stop_after % 2 == 1)) ? 2'd3 : gran;
        if (stop_gran == 2'd3) wait_stop++;
      end
      if (again && !restore_valid && !restore_last && (!slow || ($urandom & 32'h3) != 0)) begin
        restore_last = bench_restore(restore_data) != 0;
        restore_valid = 1'b1;
      end
      #1 taken = restore_valid && restore_ready;
      tick;
      cycles++;
      if (taken) begin
        in_lines++;
        restore_valid = 1'b0;
        wait_stop = 0;
      end
      if (again && ev_issue && resume_cycles < 0) resume_cycles = cycles;
    end
    restore_last = 1'b0;
    latency = wait_stop;
    stop_req = 1'b0;
    if (cycles == limit) $fatal(1, "%s: no end after %0d cycles", name, cycles);
    if (restore_valid) $fatal(1, "%s: not all of the state was taken", name);
  endtask

  task take(input bit slow);
    bit last;
    lines = 0;
    stream = 0;
    last = 1'b0;
    while (!last) begin
      save_ready = !slow || ($urandom & 32'h3) != 0;
      #1 if (save_valid && save_ready) begin
        bench_save(save_data);
        lines++;
        last = save_last;
      end
      tick;
      stream++;
      if (stream > 100000) $fatal(1, "%s: the state does not end", name);
    end
    save_ready = 1'b0;
  endtask

  task check;
    if (bench_check(fault_valid ? 32'(status.fault.code) : 0, 32'(status.fault.access), status.fault.va,
                    status.fault.pc, status.fault.group[31:0], 32'(status.fault.warp), 32'(status.fault.lane)) != 0)
      report::error($sformatf("%s, first stop at %0d", name, stop_at));
    report::compared(1);
    tick;
    if (stopped_valid || save_valid || restore_ready || req_valid) $fatal(1, "%s: not quiet at the end", name);
  endtask

  // Resumes with a bad state (geometry, length) or a bad packet, which must be refused after all of the state is taken.
  task refused(input int how);
    bit [1023:0] bad;
    bad = packet_bits;
    bench_spoil(how);
    if (how == 3) begin
      bench_mend();
      bad[tern_spec_pkg::PKT_DISPATCH_GROUP_WARPS_LSB +: 8] = 8'd99;
    end
    start(bad, 1'b0, 1'b1);
    go(-1, 2'd0, 1'b1, 1'b1);
    if (!fault_valid || status.fault.code !=
        (how == 3 ? tern_spec_pkg::FAULT_PACKET_BOUNDS : tern_spec_pkg::FAULT_CONTEXT_INVALID))
      report::error($sformatf("%s: not refused (%0d)", name, how));
    report::compared(1);
    bench_mend();
    tick;
  endtask

  // Runs a case with a stop after `first` cycles, then up to `more` random ones. fast: no gaps in the streams, and no
  // kernel of another process between the pieces. again: the case begins with a resume.
  task stopped_run(input int first, input int more, input bit [1:0] gran, input bit fast, input bit again);
    bit resumes, alien;
    int at, at_refusal;
    stop_at = first;
    held = 0;
    resumes = again;
    alien = 1'b0;
    at = first;
    forever begin
      if (resumes && !fast && ($urandom & 32'h3) == 0) begin
        bench_dirt(dirt_bits);
        start(dirt_bits, 1'b1, 1'b0);
        go(-1, 2'd0, 1'b0, 1'b0);
        if (!done_valid) $fatal(1, "%s: the other process did not end", name);
        alien = 1'b1;
      end else if (resumes && !fast && ($urandom & 32'h7) == 0) reset;
      if (resumes && !fast && ($urandom & 32'h7) == 0) begin
        at_refusal = int'($urandom_range(3));
        refused(at_refusal);
      end
      start(packet_bits, alien, resumes);
      go((held > more) ? -1 : at, gran, resumes, !fast);
      alien = 1'b0;
      if (!stopped_valid) break;
      if (latency > STOP_BOUND) $fatal(1, "%s: stopped after %0d cycles", name, latency);
      take(!fast);
      stops++;
      held++;
      if (fast) begin
        if (latency > worst_latency) worst_latency = latency;
        if (stream > worst_stream) worst_stream = stream;
      end
      if (!fast && ($urandom & 32'h3) == 0) begin
        if (bench_cross() != 0) report::error($sformatf("%s: wrong in the model, stop at %0d", name, stop_at));
        report::compared(1);
      end
      resumes = 1'b1;
      at = ($urandom & 32'h7) == 0 ? 0 : int'($urandom_range(plain));
    end
    if (fast && held > 0) begin
      if (resume_cycles > worst_resume) worst_resume = resume_cycles;
    end
    check();
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("only=%s", only)) only = "";
    if (!$value$plusargs("limit=%d", limit)) limit = 4000000;
    if (!$value$plusargs("stops=%d", runs)) runs = LANES == 16 ? 2 : 1;
    if (!$value$plusargs("sweep=%d", sweep)) sweep = 0;
    $display("seed %0d", seed);
    void'($urandom(seed));
    if (bench_init(seed, LANES, WARPS, only) != 0) $fatal(1, "the bench cannot be set up");
    repeat (10) tick;
    rst = 1'b0;
    while (bench_case(packet_bits, scrub, name) != 0) begin
      stop_at = -1;
      if (scrub[0]) begin
        bench_dirt(dirt_bits);
        start(dirt_bits, 1'b1, 1'b0);
        go(-1, 2'd0, 1'b0, 1'b0);
      end
      start(packet_bits, scrub[0], 1'b0);
      go(-1, 2'd0, 1'b0, 1'b0);
      plain = cycles;
      count++;
      if ($test$plusargs("cycles")) begin
        $write("%-20s %7d cycles %7d instructions, lanes %5.2f ipc %4.2f; lost: use %0d unit %0d idle %0d; ", name,
               cycles, issue, real'(lanes_) / real'(issue), real'(issue) / real'(cycles), use_, unit, idle);
        $display("fma lanes %0d, l1 %0d hits %0d misses, ic %0d misses", fma, hit, miss, imiss);
      end
      check();
      if (name == "used") used = plain;
      if (name == "unused" && used != 0 && plain > used + used / 8)
        report::error($sformatf("unused: %0d cycles, but %0d with the results in registers", plain, used));
      for (int i = 0; i < runs && plain < 20000; i++) begin
        bench_again();
        stopped_run(int'($urandom_range(plain)), 3, ($urandom & 32'h3) == 0 ? 2'd2 : 2'd3, 1'b0, 1'b0);
      end
      if (runs > 0 && plain < 20000) begin
        if (bench_cut(1 + int'($urandom_range(plain / 2))) != 0)
          stopped_run(int'($urandom_range(plain)), 1, 2'd3, 1'b0, 1'b1);
      end
      // stops at every cycle, without gaps in the streams
      step = (sweep != 0) ? sweep : (plain < 700) ? 1 : 0;
      for (int at = 0; step != 0 && at <= plain; at += step) begin
        bench_again();
        stopped_run(at, 0, 2'd3, 1'b1, 1'b0);
      end
    end
    $display("%0d cases, %0d stops; without gaps: stop %0d at most, stream %0d, resume %0d", count, stops,
             worst_latency, worst_stream, worst_resume);
    report::pass();
  end

endmodule
