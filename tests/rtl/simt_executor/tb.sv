// SPDX-License-Identifier: Apache-2.0
// simt_executor on a memory with latency, case by case against the functional model (bench.c decides what runs and what is
// right). +only=NAME runs one case, +cycles prints counters for each.

module tb #(
    parameter int LANES = 16,
    parameter int WARPS = 16
);

  import "DPI-C" context function int bench_init(input int seed, input int lanes, input int warps, input string only);
  import "DPI-C" context function int bench_case(output bit [1023:0] packet, output int scrub, output string name);
  import "DPI-C" context function void bench_request(input int now, input int op, input int amo, input int exec, input int line,
                                                     input bit [511:0] wdata, input bit [63:0] be, input int tag);
  import "DPI-C" context function int bench_response(input int now, output int tag, output int fault,
                                                     output bit [511:0] data);
  import "DPI-C" context function int bench_check(input int cycles, input int code, input int access, input int va,
                                                  input int pc, input int group, input int warp, input int lane);

  logic          clk = 1'b0, rst = 1'b1;
  logic [63:0]   now = 64'd0;
  logic          start_valid = 1'b0, start_ready, start_scrub = 1'b0, done_valid, fault_valid, stopped_valid;
  logic [1023:0] packet = '0;
  logic [7:0]    fault_code;
  logic [1:0]    fault_access;
  logic [31:0]   fault_va, fault_pc;
  logic [95:0]   fault_group;
  logic [5:0]    fault_warp, fault_lane;
  logic          save_valid, save_last, restore_ready;
  logic [511:0]  save_data;
  logic          req_valid, req_ready, req_exec, rsp_valid;
  logic [1:0]    req_op;
  logic [3:0]    req_amo;
  logic [27:0]   req_line;
  logic [511:0]  req_wdata, rsp_data;
  logic [63:0]   req_be;
  logic [7:0]    req_tag, rsp_tag, rsp_fault;
  logic          ev_issue, ev_stall_use, ev_stall_unit, ev_stall_idle, ev_l1_hit, ev_l1_miss, ev_ic_miss;
  logic [5:0]    ev_lanes, ev_fma;

  simt_executor #(
      .LANES(LANES), .WARPS(WARPS)
  ) dut (
      .clk_i(clk), .rst_i(rst), .time_i(now), .start_valid_i(start_valid), .start_ready_o(start_ready),
      .start_packet_i(packet), .start_scrub_i(start_scrub), .start_resume_i(1'b0), .done_valid_o(done_valid),
      .fault_valid_o(fault_valid), .fault_code_o(fault_code), .fault_access_o(fault_access), .fault_va_o(fault_va),
      .fault_pc_o(fault_pc), .fault_group_o(fault_group), .fault_warp_o(fault_warp), .fault_lane_o(fault_lane), .stop_req_i(1'b0), .stop_gran_i(2'd0),
      .stopped_valid_o(stopped_valid), .save_valid_o(save_valid), .save_ready_i(1'b0), .save_data_o(save_data),
      .save_last_o(save_last), .restore_valid_i(1'b0), .restore_ready_o(restore_ready), .restore_data_i('0),
      .restore_last_i(1'b0), .flush_i(1'b0), .req_valid_o(req_valid), .req_ready_i(req_ready), .req_op_o(req_op),
      .req_amo_o(req_amo), .req_exec_o(req_exec), .req_line_o(req_line), .req_wdata_o(req_wdata), .req_be_o(req_be),
      .req_tag_o(req_tag), .rsp_valid_i(rsp_valid), .rsp_tag_i(rsp_tag), .rsp_data_i(rsp_data), .rsp_fault_i(rsp_fault),
      .ev_issue_o(ev_issue), .ev_lanes_o(ev_lanes), .ev_stall_use_o(ev_stall_use), .ev_stall_unit_o(ev_stall_unit),
      .ev_stall_idle_o(ev_stall_idle), .ev_fma_o(ev_fma), .ev_l1_hit_o(ev_l1_hit), .ev_l1_miss_o(ev_l1_miss),
      .ev_ic_miss_o(ev_ic_miss)
  );

  // memory: takes a request in 15 of 16 cycles
  int tag, fault;
  bit [511:0] data;

  always_ff @(posedge clk) begin
    now       <= now + 64'd1;
    req_ready <= !rst && ($urandom & 32'hf) != 0;
    if (req_valid && req_ready)
      bench_request(32'(now), 32'(req_op), 32'(req_amo), 32'(req_exec), 32'(req_line), req_wdata, req_be, 32'(req_tag));
    rsp_valid <= !rst && bench_response(32'(now), tag, fault, data) != 0;
    rsp_tag   <= 8'(tag);
    rsp_fault <= 8'(fault);
    rsp_data  <= data;
  end

  // counters
  int issue, lanes, use_, unit, idle, fma, hit, miss, imiss;

  always_ff @(posedge clk)
    if (start_valid) {issue, lanes, use_, unit, idle, fma, hit, miss, imiss} <= '0;
    else begin
      issue <= issue + 32'(ev_issue);
      lanes <= lanes + 32'(ev_lanes);
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

  int    seed, scrub, cycles, errors, count, limit;
  string only, name;

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("only=%s", only)) only = "";
    if (!$value$plusargs("limit=%d", limit)) limit = 4000000;
    $display("seed %0d", seed);
    void'($urandom(seed));
    if (bench_init(seed, LANES, WARPS, only) != 0) $fatal(1, "the bench cannot be set up");
    repeat (10) tick;
    rst = 1'b0;
    while (bench_case(packet, scrub, name) != 0) begin
      start_valid = 1'b1;
      start_scrub = scrub[0];
      while (!start_ready) tick;
      tick;
      start_valid = 1'b0;
      cycles = 0;
      while (!done_valid && !fault_valid && cycles < limit) begin
        tick;
        cycles++;
      end
      count++;
      if (cycles == limit) $fatal(1, "%s: no end after %0d cycles", name, cycles);
      if (stopped_valid || save_valid || restore_ready || req_valid) $fatal(1, "%s: not quiet at the end", name);
      if (bench_check(cycles, fault_valid ? 32'(fault_code) : 0, 32'(fault_access), fault_va, fault_pc, fault_group[31:0],
                      32'(fault_warp), 32'(fault_lane)) != 0) begin
        $display("%s: WRONG", name);
        errors++;
      end
      if ($test$plusargs("cycles"))
        $display("%-20s %7d cycles %7d instructions, lanes %5.2f ipc %4.2f; lost: use %0d unit %0d idle %0d; fma lanes %0d, l1 %0d hits %0d misses, ic %0d misses",
                 name, cycles, issue, real'(lanes) / real'(issue), real'(issue) / real'(cycles), use_, unit, idle, fma, hit,
                 miss, imiss);
      tick;
    end
    if (errors != 0 || count == 0) $fatal(1, "%0d of %0d cases are wrong", errors, count);
    $display("%0d cases", count);
    $display("PASS");
    $finish;
  end

endmodule
