// SPDX-License-Identifier: Apache-2.0
// user_saxpy: random streams of whole numbers, whose results are exact, over a memory that answers in any order and sometimes
// with a fault; stopped at random and at every cycle and resumed in the other one of two instances, or resumed behind
// elements where this executor does not stop.
module tb;
  localparam int WORDS = 1 << 12;
  localparam int LINES = WORDS / 16;
  localparam int PENDING = 32;

  logic clk = 1'b0, rst = 1'b1;
  logic sel = 1'b0, start_valid = 1'b0, resume = 1'b0, start_ready, done, fault;  // sel: the instance at work
  logic [1023:0] pkt;
  logic [7:0] code;
  logic [1:0] access;
  logic [31:0] va;
  logic req_valid, req_ready = 1'b0, rsp_valid = 1'b0;
  logic [1:0] op;
  logic [27:0] line;
  logic [511:0] wdata, rsp_data;
  logic [63:0] be;
  logic [7:0] tag, rsp_tag, rsp_fault;
  logic stop_req = 1'b0, stopped, save_valid, save_ready = 1'b0, save_last, restore_valid = 1'b0, restore_ready;
  logic [1:0] stop_gran = 2'd0;
  logic [511:0] save_data, restore_data;

  logic [1:0] a_start_ready, a_done, a_fault, a_req_valid, a_stopped, a_save_valid, a_save_last, a_restore_ready;
  logic [7:0] a_code[2], a_tag[2];
  logic [1:0] a_access[2], a_op[2];
  logic [31:0] a_va[2];
  logic [27:0] a_line[2];
  logic [511:0] a_wdata[2], a_save_data[2];
  logic [63:0] a_be[2];

  for (genvar d = 0; d < 2; d++) begin : g_dut
    user_saxpy dut (
        .clk_i(clk), .rst_i(rst), .start_valid_i(start_valid && sel == d), .start_ready_o(a_start_ready[d]),
        .start_packet_i(pkt), .start_resume_i(resume), .done_valid_o(a_done[d]), .fault_valid_o(a_fault[d]),
        .fault_code_o(a_code[d]), .fault_access_o(a_access[d]), .fault_va_o(a_va[d]),
        .stop_req_i(stop_req && sel == d), .stop_gran_i(stop_gran), .stopped_valid_o(a_stopped[d]),
        .save_valid_o(a_save_valid[d]), .save_ready_i(save_ready && sel == d), .save_data_o(a_save_data[d]),
        .save_last_o(a_save_last[d]), .restore_valid_i(restore_valid && sel == d), .restore_ready_o(a_restore_ready[d]),
        .restore_data_i(restore_data), .restore_last_i(1'b1), .req_valid_o(a_req_valid[d]),
        .req_ready_i(req_ready && sel == d), .req_op_o(a_op[d]), .req_line_o(a_line[d]), .req_wdata_o(a_wdata[d]),
        .req_be_o(a_be[d]), .req_tag_o(a_tag[d]), .rsp_valid_i(rsp_valid && sel == d), .rsp_tag_i(rsp_tag),
        .rsp_data_i(rsp_data), .rsp_fault_i(rsp_fault)
    );
  end
  assign {start_ready, done, fault, req_valid} = {a_start_ready[sel], a_done[sel], a_fault[sel], a_req_valid[sel]};
  assign {stopped, save_valid, save_last} = {a_stopped[sel], a_save_valid[sel], a_save_last[sel]};
  assign restore_ready = a_restore_ready[sel];
  assign {code, access, va, save_data} = {a_code[sel], a_access[sel], a_va[sel], a_save_data[sel]};
  assign {op, line, wdata, be, tag} = {a_op[sel], a_line[sel], a_wdata[sel], a_be[sel], a_tag[sel]};

  logic [31:0] mem[WORDS], prior[WORDS], expected[WORDS];
  int number[WORDS];  // of prior
  int seed, count, cycle, errors, in_flight, stops, late, quiet;  // late: requests since the stop; quiet: cycles without any
  int bad_line;                                                   // answers with a fault
  logic sharp;                                                    // only stops at once

  // Memory: takes effect on acceptance, answers later.
  logic [7:0] p_tag[PENDING], p_fault[PENDING];
  logic [511:0] p_data[PENDING];
  int p_due[PENDING];
  logic p_used[PENDING];
  logic stalled_q = 1'b0;
  logic [613:0] request_q;

  task automatic take();
    int slot = -1;
    for (int i = 0; i < PENDING; i++) if (!p_used[i]) slot = i;
    if (slot < 0) $fatal(1, "more in flight than tags");
    for (int i = 0; i < PENDING; i++) if (p_used[i] && p_tag[i] == tag) $fatal(1, "tag %h is in flight", tag);
    if (int'(line) >= LINES) $fatal(1, "line %h is outside of everything", line);
    p_used[slot] = 1'b1;
    p_tag[slot] = tag;
    p_due[slot] = cycle + 1 + $urandom_range(60);
    p_fault[slot] = int'(line) == bad_line ? 8'd1 : 8'd0;
    p_data[slot] = {16{32'hdeadbeef}};
    if (p_fault[slot] == 0)
      for (int w = 0; w < 16; w++)
        if (op == 2'd0) p_data[slot][32*w+:32] = mem[16*int'(line)+w];
        else if (be[4*w+:4] == 4'hf) mem[16*int'(line)+w] = wdata[32*w+:32];
        else if (be[4*w+:4] != 4'h0) $fatal(1, "part of a word");
    in_flight++;
  endtask

  always @(posedge clk) begin
    int first = $urandom_range(PENDING - 1), pick = -1;
    if (stalled_q && !rst && (!req_valid || request_q[613:576] != {op, line, tag} ||
        (op == 2'd1 && request_q[575:0] != {be, wdata}))) $fatal(1, "a stalled request changed");
    stalled_q <= req_valid && !req_ready;
    request_q <= {op, line, tag, be, wdata};
    if (a_req_valid[!sel] && !rst) $fatal(1, "the other one asks memory");
    if (req_valid && req_ready && !rst) begin
      take();
      late++;
    end
    if (!(stop_req && stop_gran[1])) late = 0;
    if (late > 4) $fatal(1, "goes on after the stop");
    quiet = in_flight == 0 && !rsp_valid && !req_valid && !restore_ready && stop_req && stop_gran[1] ? quiet + 1 : 0;
    if (quiet > 20) $fatal(1, "does not stop when all is answered");
    rsp_valid <= 1'b0;
    for (int k = 0; k < PENDING; k++) begin
      int i = (first + k) % PENDING;
      if (p_used[i] && p_due[i] <= cycle && pick < 0) pick = i;
    end
    if (pick >= 0) begin
      rsp_valid <= 1'b1;
      rsp_tag <= p_tag[pick];
      rsp_data <= p_data[pick];
      rsp_fault <= p_fault[pick];
      p_used[pick] = 1'b0;
      in_flight--;
    end
    req_ready <= $urandom_range(3) != 0;
    cycle <= cycle + 1;
    if ((done || fault || stopped) && in_flight != 0) $fatal(1, "ended with %0d requests in flight", in_flight);
  end

  function automatic [31:0] to_float(input int n);
    int m = n < 0 ? -n : n, e = 150;
    if (n == 0) return '0;
    while (m < 1 << 23) begin
      m <<= 1;
      e--;
    end
    return {n < 0, 8'(e), 23'(m)};
  endfunction

  // The streams at hand, in words
  int n, a, x, y;

  task automatic make();
    pkt = '0;
    pkt[7:0] = tern_spec_pkg::PKT_USER_CALL;
    pkt[tern_spec_pkg::PKT_USER_CALL_PAYLOAD_LSB+:128] = {y * 4, x * 4, to_float(a), n};
    for (int i = 0; i < WORDS; i++) begin
      number[i] = int'($urandom_range(2000)) - 1000;
      mem[i] = to_float(number[i]);
    end
    prior = mem;
  endtask

  task automatic compare(input string what, input int elements);
    expected = prior;
    for (int i = 0; i < elements; i++) expected[y+i] = to_float(a * number[x+i] + number[y+i]);
    for (int i = 0; i < WORDS; i++)
      if (mem[i] != expected[i]) begin
        errors++;
        $display("%s: word %h is %h, expected %h: n %0d x %h y %h", what, i, mem[i], expected[i], n, x, y);
        break;
      end
    if (errors > 5) $fatal(1, "too many errors");
  endtask

  // Starts or resumes, and asks to stop after `after` cycles (never, if negative); until it has ended or stopped.
  task automatic go(input int after, output logic was_stopped);
    int begun;
    @(negedge clk) start_valid = 1'b1;
    while (!start_ready) @(negedge clk);
    begun = cycle;
    @(negedge clk) start_valid = 1'b0;
    if (resume) begin
      stop_req = after == 0;  // in the restore stream: takes effect after it
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
    if (stopped && !(stop_req && stop_gran[1])) $fatal(1, "stops by itself");
    stop_req = 1'b0;
    was_stopped = stopped;
  endtask

  // Takes the state of a stopped one, and looks that it is the place up to which memory is written.
  task automatic save();
    while ($urandom_range(2) != 0) @(negedge clk);
    save_ready = 1'b1;
    while (!save_valid) @(posedge clk);
    if (!save_last) $fatal(1, "more than a line of state");
    restore_data = save_data;
    @(negedge clk) save_ready = 1'b0;
    if (!start_ready) $fatal(1, "not idle after its state");
    if (restore_data >= 512'(n)) begin
      errors++;
      $display("state %h is no place", restore_data);
    end
    compare("stopped", int'(restore_data[31:0]));
    stops++;
  endtask

  task automatic ended(input int from);
    int touched = -1;  // the first word of the bad line that is in a stream
    for (int i = n - 1; i >= from; i--) if ((x + i) / 16 == bad_line) touched = x + i;
    for (int i = n - 1; i >= from; i--) if ((y + i) / 16 == bad_line) touched = y + i;
    if (fault != (touched >= 0)) begin
      errors++;
      $display("fault %b, line %0d, n %0d x %h y %h", fault, bad_line, n, x, y);
    end else if (!fault) compare("ended", n);
    else if (code != 8'd1 || access != 2'd0 || va / 64 != bad_line || (!resume && int'(va) != 4 * touched)) begin
      errors++;
      $display("fault %0d access %0d at %h, not %h", code, access, va, 4 * touched);
    end
  endtask

  // Each piece in the other instance. The first stop after `first` cycles, further ones after up to `most`.
  task automatic run(input int first, input int most, input int pieces);
    logic again;
    int left = pieces;
    make();
    go(first, again);
    while (again) begin
      save();
      sel = !sel;
      resume = 1'b1;
      left--;
      go(left > 0 && $urandom_range(9) != 0 ? $urandom_range(most) : -1, again);
    end
    ended(0);
    resume = 1'b0;
  endtask

  // Goes on from a place that another executor, or the model's, may have saved.
  task automatic run_from(input int elements);
    logic unused;
    make();
    for (int i = 0; i < elements; i++) mem[y+i] = to_float(a * number[x+i] + number[y+i]);
    restore_data = 512'(elements);
    resume = 1'b1;
    go(-1, unused);
    ended(elements);
    resume = 1'b0;
  endtask

  task automatic choose(input int most);
    n = $urandom_range(most);
    a = int'($urandom_range(200)) - 100;
    x = $urandom_range(WORDS / 2 - most);
    y = $urandom_range(9) == 0 ? x : WORDS / 2 + $urandom_range(WORDS / 2 - most);
    bad_line = -1;
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 1000;
    $display("seed %0d", seed);
    void'($urandom(seed));
    for (int i = 0; i < PENDING; i++) p_used[i] = 1'b0;
    sharp = 1'b0;
    repeat (4) @(negedge clk);
    rst = 1'b0;
    for (int k = 0; k < count; k++) begin
      choose(k % 4 == 0 ? 500 : 60);
      if (k % 5 == 0) bad_line = ($urandom_range(1) == 0 ? x : y) / 16 + $urandom_range(n / 12 + 1);
      if (k % 3 != 0) run($urandom_range(300), 300, 20);
      else if (k % 2 == 0) run(-1, 0, 0);
      else run_from($urandom_range(n));
    end
    $display("%0d stops at random", stops);
    if (stops < count / 4) $fatal(1, "hardly ever stopped");
    sharp = 1'b1;
    for (int k = 0; k < count / 50; k++) begin
      choose(60);
      stops = 0;
      for (int at = 0; at == 0 || stops == at; at++) run(at, 0, 1);
    end
    if (errors != 0) $fatal(1, "%0d errors", errors);
    $display("PASS");
    $finish;
  end

  always #5 clk = ~clk;
endmodule
