// SPDX-License-Identifier: Apache-2.0
// Common part of the benches of executors that save one line of state. This module drives two instances, of which one
// runs, on a plain_memory: it starts them, stops them at a given cycle, takes the state and resumes in the other
// instance, with random pauses on all channels. The run ends if an instance breaks the contract of an executor: if it
// does not stop in time, ends twice or with requests in flight, or requests memory while it is idle.
// The bench `tb` contains the instances (executor_pair.svh; instance d uses element d of the arrays), and tasks that
// this module calls: choose(n) chooses random work of at most n, make() builds the packet and the initial memory,
// saved() checks `state` and memory after a stop, ended() checks memory after the end.
module executor_host #(
    parameter int LINES,
    parameter int PENDING,  // greatest number of requests in flight
    parameter int SLOW,     // greatest latency of memory, in cycles
    parameter int LATE,     // greatest number of requests after a stop
    parameter int QUIET     // greatest number of cycles from the last answer after a stop to the end
);
  logic clk = 1'b0, rst = 1'b1;
  logic sel = 1'b0, start_valid = 1'b0, resume = 1'b0, start_ready, done, fault;  // sel: the instance that runs
  logic [1023:0] pkt;
  logic [7:0] code;
  logic [1:0] access;
  logic [31:0] va;
  logic req_valid, req_ready, rsp_valid;
  tern_pkg::mem_req_t req;
  tern_pkg::mem_rsp_t rsp;
  logic [7:0] tag, rsp_tag;
  logic stop_req = 1'b0, stopped, save_valid, save_ready = 1'b0, save_last, restore_valid = 1'b0, restore_ready;
  logic [1:0] stop_gran = 2'd0;
  logic [511:0] save_data, state;

  logic [1:0] a_start_ready, a_req_valid, a_save_valid, a_restore_ready;
  logic [7:0] a_tag[2];
  tern_pkg::exec_cmd_t cmd;
  tern_pkg::exec_status_t a_status[2], status;
  tern_pkg::exec_line_t a_save[2];
  tern_pkg::mem_req_t a_req[2];
  assign cmd = {pkt, 1'b0, resume};
  assign status = a_status[sel];
  assign {start_ready, req_valid, save_valid} = {a_start_ready[sel], a_req_valid[sel], a_save_valid[sel]};
  assign {done, fault, stopped} = {status.done, status.faulted, status.stopped};
  assign {code, access, va} = {status.fault.code, status.fault.access, status.fault.va};
  assign restore_ready = a_restore_ready[sel];
  assign {save_last, save_data} = a_save[sel];
  assign {req, tag} = {a_req[sel], a_tag[sel]};

  logic fast = 1'b0;   // memory has a constant latency and is always ready
  logic sharp = 1'b0;  // all stops are immediate
  int cycle = 0, stops = 0;
  int late, quiet;     // since the stop: requests; cycles without requests in flight

  plain_memory #(.LINES(LINES), .TAG_W(8), .PENDING(PENDING), .SLOW(SLOW), .UNIQUE(1'b1)) mem (
      .clk_i(clk), .rst_i(rst), .fast_i(fast), .req_valid_i(req_valid), .req_ready_o(req_ready), .req_i(req),
      .req_tag_i(tag), .rsp_valid_o(rsp_valid), .rsp_tag_o(rsp_tag), .rsp_o(rsp)
  );

  always @(posedge clk) if (!rst) begin
    cycle <= cycle + 1;
    if (a_req_valid[!sel]) $fatal(1, "the other one asks memory");
    if (req_valid && int'(req.line) >= LINES) $fatal(1, "line %h is outside of everything", req.line);
    if ((done || fault || stopped) && (mem.in_flight != 0 || req_valid))
      $fatal(1, "ended with %0d requests in flight", mem.in_flight);
    late = !(stop_req && stop_gran[1]) ? 0 : req_valid && req_ready ? late + 1 : late;
    if (late > LATE) $fatal(1, "goes on after the stop");
    quiet = stop_req && stop_gran[1] && mem.in_flight == 0 && !restore_ready ? quiet + 1 : 0;
    if (quiet > QUIET) $fatal(1, "does not stop when all is answered");
  end
  always #5 clk = ~clk;

  task automatic fail(input string why);
    report::error(why);
  endtask

  // Starts or resumes, requests a stop after `after` cycles (negative: never), and waits for the end or the stop.
  task automatic go(input int after, output logic was_stopped);
    int begun;
    @(negedge clk) start_valid = 1'b1;
    while (!start_ready) @(negedge clk);
    begun = cycle;
    @(negedge clk) start_valid = 1'b0;
    if (resume) begin
      stop_req = after == 0;  // a stop during the restore stream takes effect after it
      stop_gran = 2'd3;
      while ($urandom_range(2) != 0) @(negedge clk);
      restore_valid = 1'b1;
      @(posedge clk) if (!restore_ready) $fatal(1, "takes no state");
      @(negedge clk) restore_valid = 1'b0;
    end
    while (!done && !fault && !stopped) begin
      if (after >= 0 && cycle - begun >= after) begin
        if (!stop_req) stop_gran = {sharp, 1'b0} | 2'($urandom);
        else if (!stop_gran[1] && $urandom_range(20) == 0) stop_gran = {1'b1, 1'($urandom)};
        stop_req = 1'b1;
      end
      @(negedge clk);
      if (cycle - begun > 100000) $fatal(1, "does not end");
    end
    if (32'(done) + 32'(fault) + 32'(stopped) != 1) $fatal(1, "more than one end");
    if (stopped && !stop_req) $fatal(1, "stops by itself");
    if (stopped && !stop_gran[1]) $fatal(1, "stops between packets only");
    stop_req = 1'b0;
    was_stopped = stopped;
  endtask

  task automatic save();
    while ($urandom_range(2) != 0) @(negedge clk);
    save_ready = 1'b1;
    while (!save_valid) @(posedge clk);
    if (!save_last) $fatal(1, "more than a line of state");
    state = save_data;
    @(negedge clk) save_ready = 1'b0;
    if (!start_ready) $fatal(1, "not idle after its state");
    stops++;
  endtask

  // Runs a packet in up to `pieces` + 1 pieces, alternately in the two instances. The first stop comes after `first`
  // cycles, later ones after at most `most` cycles.
  task automatic run(input int first, input int most, input int pieces);
    logic again;
    int left = pieces;
    resume = 1'b0;
    tb.make();
    go(first, again);
    while (again) begin
      save();
      report::compared(1);
      tb.saved();
      sel = !sel;
      resume = 1'b1;
      left--;
      go(left > 0 && $urandom_range(9) != 0 ? $urandom_range(most) : -1, again);
    end
    report::compared(1);
    tb.ended();
  endtask

  // Runs the rest of a packet from a state that another implementation may have saved.
  task automatic run_from(input logic [511:0] from);
    logic unused;
    state = from;
    resume = 1'b1;
    go(-1, unused);
    report::compared(1);
    tb.ended();
  endtask

  // Runs the packet once for each of its cycles, and stops it at that cycle.
  task automatic run_stopped_everywhere();
    sharp = 1'b1;
    stops = 0;
    for (int at = 0; at == 0 || stops == at; at++) run(at, 0, 1);
    sharp = 1'b0;
  endtask

  task automatic begin_test(output int count);
    int seed;
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 1000;
    $display("seed %0d", seed);
    void'($urandom(seed));
    repeat (4) @(negedge clk);
    rst = 1'b0;
  endtask

  // Checks that at least a quarter of `count` runs were stopped, then stops a few more packets, of at most `most`, at
  // every cycle.
  task automatic stop_everywhere(input int count, input int most);
    $display("%0d stops at random", stops);
    if (stops < count / 4) $fatal(1, "hardly ever stopped");
    mem.bad = -1;
    for (int n = 0; n < count / 50; n++) begin
      tb.choose(most);
      run_stopped_everywhere();
    end
  endtask

  task automatic end_test();
    report::pass();
  endtask
endmodule
