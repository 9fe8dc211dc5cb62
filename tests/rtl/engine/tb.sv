// SPDX-License-Identifier: Apache-2.0
// Bench of the engine's control path through the registers of a whole engine with test executors (executors.sv).
//
// First a short packet of each executor is stopped at every cycle, and again at some cycle of its resume; latencies are
// printed and bounded. In the random part contexts submit buffers of random packets for `count` rounds. The buffers are
// preempted at all granularities, reset and resumed, with memory errors and changed save areas. Checked: each
// indication comes once, in order, with a possible value; a waiting buffer is cancelled; each line of each packet is
// written exactly once over all stops; each memory fault is indicated; a reset ends in bounded time without requests in
// flight, and the engine runs afterwards.
module tb;
  localparam int CONTEXTS = 6, PACKETS = 6, SAVE_LINES = 200;
  localparam int PATIENCE = 40000;
  import tern_spec_pkg::*;

  logic clk = 1'b0, rst = 1'b1, fast = 1'b1;
  logic reg_write = 1'b0, irq, idle;
  logic [9:0] reg_addr = '0;
  logic [31:0] reg_wdata = '0, reg_rdata;
  logic [63:0] now = 64'd1;
  logic req_valid, req_ready, rsp_valid;
  tern_pkg::mem_req_t req;
  tern_pkg::mem_rsp_t rsp;
  logic [10:0] req_tag, rsp_tag;

  engine #(.SAVE_LINES(SAVE_LINES), .GATE(1'b1)) dut (
      .clk_i(clk), .rst_i(rst), .time_i(now), .mem_pages_i(23'd1024), .reg_write_i(reg_write), .reg_addr_i(reg_addr),
      .reg_wdata_i(reg_wdata), .reg_rdata_o(reg_rdata), .irq_o(irq), .idle_o(idle), .ev_rd_i(1'b0), .ev_wr_i(1'b0),
      .mem_req_valid_o(req_valid), .mem_req_ready_i(req_ready), .mem_req_o(req), .mem_req_tag_o(req_tag),
      .mem_rsp_valid_i(rsp_valid), .mem_rsp_tag_i(rsp_tag), .mem_rsp_i(rsp)
  );
  plain_memory mem (
      .clk_i(clk), .rst_i(rst), .fast_i(fast), .req_valid_i(req_valid), .req_ready_o(req_ready), .req_i(req),
      .req_tag_i(req_tag), .rsp_valid_o(rsp_valid), .rsp_tag_o(rsp_tag), .rsp_o(rsp)
  );
  always #20 clk = ~clk;
  always @(posedge clk) now <= now + 1'b1;

  int seed, rounds, cycle = 0;
  int stopped_at, told_at, begun_at, given_at;  // cycle of: stop, indication, doorbell, last restored line
  always @(posedge clk) begin
    cycle <= cycle + 1;
    if (|dut.exec_stopped) stopped_at = cycle;
    if (dut.u_cp.x_dropped) dropped = 1'b1;
    if (dut.ind_valid) begin
      told_at = cycle;
      if (dropped) faulted_fence.delete(dut.head.fence[31:0]);  // a dropped restore need not report its bad line
      dropped = 1'b0;
      if (dut.mmu_busy) fail("indicated, but memory owes an answer");
      tally[SPILLED] += dut.u_cp.x_bad;
      tally[IN_VAIN] += dut.u_cp.ind_o.fault.code != 0 && in_vain;
    end
    in_vain <= dut.u_cp.state_q == 4'd15 && !dut.u_cp.x_settled;
    tally[DROPPED] += dut.u_cp.x_dropped;
    tally[LOST] += dut.u_cp.x_lost;
    if (dut.reset_request && !dut.resetting) begin
      tally[RESET_SAVE] += dut.u_cp.u_execute.state_q == 3'd4;
      tally[RESET_RESTORE] += dut.u_cp.u_execute.state_q == 3'd2;
    end
    if (dut.doorbell) begun_at = cycle;
    if (restoring && dut.u_cp.u_execute.given) given_at = cycle;
    restoring <= dut.u_cp.u_execute.state_q == 3'd2;
  end
  logic restoring = 1'b0, in_vain = 1'b0, dropped = 1'b0;

  // Context c has 64 pages from page 64 * (c + 1) on. +0: fence; +1: buffer; from +2 on a page for each packet's lines;
  // from +32 on the save area, whose pages are in the order of `place`. Pages 1 and 2 are root tables.
  function automatic int page(input int c); return 64 * (c + 1); endfunction
  function automatic int fence_line(input int c); return 64 * page(c); endfunction
  function automatic int buffer_line(input int c); return 64 * (page(c) + 1); endfunction
  function automatic int out_line(input int c, input int p); return 64 * (page(c) + 2 + p); endfunction
  function automatic int save_line(input int c); return 64 * (page(c) + 32); endfunction
  function automatic int place(input int k); return k == 0 ? 0 : k == 1 ? 3 : k == 2 ? 1 : 6; endfunction
  // Line n of the state, from 1 on. The state follows the header and a line of the page list.
  function automatic int state_line(input int c, n); return save_line(c) + 64 * place((n + 1) / 64) + (n + 1) % 64;
  endfunction

  typedef enum {NOP, DISPATCH, COPY, USER, SIGNAL, WAIT, STAMP, BARRIER, BROKEN} kind_t;
  kind_t kind[CONTEXTS][PACKETS];
  int packets[CONTEXTS], steps[CONTEXTS][PACKETS], start[CONTEXTS][PACKETS+1];
  logic [31:0] mark[CONTEXTS][PACKETS];   // seed of an executor's packet
  // changed: the bench has changed the context's save area; listed: it has changed the page list of that area
  logic saved[CONTEXTS], queued[CONTEXTS], changed[CONTEXTS], listed[CONTEXTS];
  int at[CONTEXTS], executor[CONTEXTS], at_root[CONTEXTS];     // offset, executor of the saved header; root table

  // Submissions that have not been indicated, oldest first
  int sub_context[$], sub_fence[$];
  logic sub_may_stop[$], sub_cancelled[$];
  int fences = 1;
  int faulted_fence[int];                   // by fence: the line that memory refused
  // Events that are counted; each must occur often enough.
  typedef enum {COMPLETED, CANCELLED, BETWEEN, INSIDE, FAULTED, RESETS, DROPPED, LOST, SPILLED, IN_VAIN, RESET_SAVE,
                RESET_RESTORE, UNLISTED,
    THINGS} thing_t;
  int tally[THINGS] = '{default: 0};

  task automatic fail(input string why);
    $fatal(1, "cycle %0d: %s", cycle, why);
  endtask

  // Register writes are posted. go() issues one a cycle, waits for `pause` cycles, and reads the status registers.
  logic [9:0] post_addr[$];
  logic [31:0] post_data[$];
  int pause = 0;
  localparam int SEEN = 7;
  logic [31:0] seen[SEEN];
  logic [31:0] status;

  function automatic void post(input logic [13:0] addr, input logic [31:0] data);
    post_addr.push_back(addr[9:0]);
    post_data.push_back(data);
  endfunction
  task automatic go();
    while (post_addr.size() != 0) begin
      reg_write = 1'b1;
      reg_addr = post_addr.pop_front();
      reg_wdata = post_data.pop_front();
      @(negedge clk) reg_write = 1'b0;
    end
    repeat (pause) @(negedge clk);
    pause = 1;
    for (int i = 0; i < SEEN; i++) begin
      reg_addr = i == 0 ? REG_ENGINE_STATUS[9:0] : i == 1 ? REG_ENGINE_IND_INFO[9:0] : i == 2
        ? REG_ENGINE_IND_FENCE_LO[9:0] :
          i == 3 ? REG_ENGINE_IND_VA[9:0] : i == 4 ? REG_ENGINE_IND_OFFSET[9:0] : i == 5
            ? REG_ENGINE_IND_BEGIN_LO[9:0] :
          REG_ENGINE_IND_BEGIN_HI[9:0];
      @(negedge clk); seen[i] = reg_rdata;
    end
    status = seen[0];
  endtask

  // Builds context c with n packets. If only >= 0, the first is of this kind and the others are nops.
  task automatic build(input int c, input int n, input int only, input int length);
    int line = buffer_line(c);
    packets[c] = n;
    for (int i = fence_line(c); i < save_line(c) + 7 * 64; i++) begin
      mem.data[i] = '0;
      mem.writes[i] = 0;
    end
    for (int i = 0; i < 7 * 64; i++) for (int w = 0; w < 16; w++) mem.data[save_line(c)+i][32*w+:32] = $urandom;
    for (int k = 1; k < 4; k++) mem.data[save_line(c)+1][32*(k-1)+:32] = {22'(page(c) + 32 + place(k)), 10'd7};
    for (int p = 0; p < n; p++) begin
      logic [1023:0] l = '0;
      int two = 0;
      logic [31:0] base = 64 * out_line(c, p);
      kind[c][p] = only >= 0 && p == 0 ? kind_t'(only) : only >= 0 ? NOP : kind_t'($urandom_range(7));
      if (only < 0 && $urandom_range(60) == 0) kind[c][p] = BROKEN;
      steps[c][p] = length >= 0 ? length : $urandom_range(63);
      mark[c][p] = $urandom;
      mark[c][p][4] = only < 0 && $urandom_range(40) == 0;
      start[c][p] = 64 * (line - buffer_line(c));
      case (kind[c][p])
        NOP: l[7:0] = PKT_NOP;
        BARRIER: l[7:0] = PKT_BARRIER;
        BROKEN: l[7:0] = 8'h77;
        DISPATCH: begin
          l[7:0] = PKT_DISPATCH;
          {l[159:128], l[95:64], l[63:32]} = {steps[c][p], mark[c][p], base};
        end
        COPY: begin
          l[7:0] = PKT_COPY;
          {l[191:160], l[127:96], l[63:32]} = {steps[c][p], mark[c][p], base};
        end
        USER: begin
          l[7:0] = PKT_USER_CALL;
          l[607:512] = {steps[c][p], mark[c][p], base};
        end
        SIGNAL, STAMP: begin
          l[7:0] = kind[c][p] == SIGNAL ? PKT_FENCE_SIGNAL : PKT_TIMESTAMP;
          l[63:32] = base;
          if (kind[c][p] == SIGNAL) {l[159:96], l[37:35]} = {~mark[c][p], mark[c][p], mark[c][p][2:0]};
        end
        default: begin
          l[7:0] = PKT_FENCE_WAIT;
          l[63:32] = 64 * fence_line(c);
          l[127:96] = 32'd1;
        end
      endcase
      two = kind[c][p] == DISPATCH || kind[c][p] == USER;
      l[15:8] = 8'(1 + two);
      mem.data[line] = l[511:0];
      if (two != 0) mem.data[line+1] = l[1023:512];
      line += 1 + two;
    end
    start[c][n] = 64 * (line - buffer_line(c));
    at_root[c] = 1 + $urandom_range(1);
    {saved[c], queued[c], changed[c], listed[c], anew[c]} = '0;
    at[c] = 0;
    executor[c] = 0;
  endtask
  function automatic logic [511:0] signal(input logic [31:0] m); return 512'({~m, m}) << {m[2:0], 6'b0}; endfunction
  function automatic int executor_of(input kind_t k); return k == DISPATCH ? 1 : k == COPY ? 2 : k == USER ? 3 : 0;
  endfunction

  // Packets before offset `to` must have run once. The one at `to` may have begun if inside_too; later ones must not.
  task automatic check_work(input int c, input int to, input logic inside_too);
    for (int p = 0; p < packets[c]; p++) begin
      int line = out_line(c, p), n = 0;
      logic over = start[c][p] < to, here = start[c][p] == to && inside_too;
      case (kind[c][p])
        DISPATCH, COPY, USER: begin
          for (int k = 0; k < 64; k++) begin
            if (mem.writes[line+k] > 1) fail($sformatf("line %0d of packet %0d is written twice", k, p));
            n += mem.writes[line+k];
            if (mem.writes[line+k] != 0 && (mem.data[line+k] != {8{mark[c][p], k}} || k >= steps[c][p] || n != k + 1))
              fail($sformatf("line %0d of packet %0d is wrong", k, p));
          end
          if (over ? n != steps[c][p] : !here && n != 0)
            fail($sformatf("packet %0d: %0d of %0d lines", p, n, steps[c][p]));
        end
        SIGNAL, STAMP: begin
          if (mem.writes[line] != (over ? 1 : 0)) fail($sformatf("packet %0d: %0d writes", p, mem.writes[line]));
          if (over && kind[c][p] == SIGNAL && mem.data[line] != signal(mark[c][p])) fail("signal");
        end
        default: ;
      endcase
    end
  endtask

  // Commands, whose result the next read of the status shows
  int asked = -1;            // context whose doorbell has been rung
  logic stops = 1'b0, resets = 1'b0;
  logic was_stopping = 1'b0;
  task automatic submit(input int c);
    was_stopping = status[REG_ENGINE_STATUS_STOPPING_LSB];
    post(REG_ENGINE_SUB_FENCE_LO, fences);
    post(REG_ENGINE_SUB_BUFFER_LO, 64 * buffer_line(c));
    post(REG_ENGINE_SUB_SIZE, start[c][packets[c]]);
    post(REG_ENGINE_SUB_ROOT, at_root[c]);
    post(REG_ENGINE_SUB_SAVE, page(c) + 32);
    post(REG_ENGINE_SUB_FLAGS, saved[c] ? 32'd2 : 32'd0);
    post(REG_ENGINE_SUB_DOORBELL, 1);
    pause = 2;
    asked = c;
  endtask
  task automatic preempt(input int gran);
    post(REG_ENGINE_COMMAND, 2 | gran << 2);
    foreach (sub_may_stop[i]) sub_may_stop[i] = 1'b1;
    stops = 1'b1;
    pause = 2;
  endtask
  task automatic commands();
    if (asked >= 0 && !status[REG_ENGINE_STATUS_REFUSED_LSB]) begin
      sub_context.push_back(asked);
      sub_fence.push_back(fences);
      sub_may_stop.push_back(was_stopping || status[REG_ENGINE_STATUS_STOPPING_LSB]);
      sub_cancelled.push_back(1'b0);
      queued[asked] = 1'b1;
      fences++;
    end
    asked = -1;
    if (stops && status[1:0] == 2'd2) sub_cancelled[sub_cancelled.size()-1] = 1'b1;
    stops = 1'b0;
  endtask

  // Takes the oldest indication, if there is one
  task automatic take();
    logic [31:0] info, fence, va, offset;
    logic began;
    int c, to;
    logic [511:0] h;
    if (status[10:8] != 0) begin
      if (!irq) fail("an indication without interrupt");
      {info, fence, va, offset} = {seen[1], seen[2], seen[3], seen[4]};
      began = {seen[6], seen[5]} != 0;
      post(REG_ENGINE_IND_POP, 1);
      if (sub_fence.size() == 0 || fence != sub_fence[0]) fail($sformatf("fence %0d was not expected", fence));
      c = sub_context[0];
      to = int'(offset);
      h = mem.data[save_line(c)];
      queued[c] = 1'b0;
      if (sub_cancelled[0] && (info[1:0] != 2'd2 || began)) fail("what waited has not been cancelled");
      if (faulted_fence.exists(fence) && info[1:0] != 2'd3) fail("a fault of memory has been lost");
      if (changed[c] && info[1:0] == 2'd1) fail("a changed save area went through");
      case (info[1:0])
        2'd1: begin
          if (mem.in_flight != 0 && sub_fence.size() == 1) fail("completed, but memory is at work");
          check_work(c, start[c][packets[c]], 1'b0);
          tally[COMPLETED]++;
          anew[c] = 1'b1;
        end
        2'd2: begin
          if (!sub_may_stop[0]) fail("preempted, but nobody asked");
          if (!began) begin
            if (to != 0) fail("never began, but has an offset");
            tally[CANCELLED]++;
          end else begin
            int p = 0;
            while (p < packets[c] && start[c][p] != to) p++;
            if (p == packets[c]) fail("cut where no packet is");
            if (!changed[c]) begin
              if (h[31:0] != CTX_MAGIC_VALUE || h[63:32] != 32'd1 || h[95:64] != offset || |h[127:104] || |h[511:160])
                fail("the header is wrong");
              if (h[103:96] != 0 && int'(h[103:96]) != executor_of(kind[c][p])) fail("not this packet's executor");
              if ((h[103:96] != 0) != (h[159:128] != 0) || h[159:128] >= SAVE_LINES) fail("lines of state");
              check_work(c, to, h[103:96] != 0);
              if (h[103:96] != 0) tally[INSIDE]++;
              else tally[BETWEEN]++;
              executor[c] = int'(h[103:96]);
              at[c] = to;
              saved[c] = 1'b1;
            end else if (to != at[c]) fail("a changed save area went on");
          end
        end
        2'd3: begin
          int p = 0;
          logic good = 1'b0;
          while (p < packets[c] && start[c][p] != to) p++;
          tally[FAULTED]++;
          case (info[15:8])
            FAULT_CONTEXT_INVALID: begin
              good = changed[c] && saved[c] && va == (listed[c] ? 32'(64 * save_line(c)) : 32'd0);
              tally[UNLISTED] += listed[c];
            end
            FAULT_PACKET_UNKNOWN: good = p < packets[c] && kind[c][p] == BROKEN;
            FAULT_EXECUTOR: good = p < packets[c] && executor_of(kind[c][p]) != 0 && va == mark[c][p] && mark[c][p][4];
            FAULT_BUS_ERROR:
            if (faulted_fence.exists(fence))
              good = va == (faulted_fence[fence] >= save_line(c) ? 32'(64 * save_line(c)) :
                            32'(64 * out_line(c, 0)) + (kind[c][p] == SIGNAL ? 32'(8 * mark[c][p][2:0]) : 0));
            default: ;
          endcase
          if (!good) fail($sformatf("fault %h at %h, offset %0d", info[15:8], va, to));
          anew[c] = 1'b1;
        end
        default: fail("an indication of nothing");
      endcase
      report::compared(1);
      void'(sub_context.pop_front());
      void'(sub_fence.pop_front());
      void'(sub_may_stop.pop_front());
      void'(sub_cancelled.pop_front());
    end
  endtask

  // When a reset is over, the bench takes the indications that it has left. All other buffers are lost.
  task automatic after_reset();
    if (status[REG_ENGINE_STATUS_RESET_LSB]) begin
      if (cycle - reset_at > 2000) fail("the reset does not end");
    end else begin
      if (status[3:0] != 0 || !idle || mem.in_flight != 0) fail("something is left after a reset");
      if (status[10:8] == 0) begin
        foreach (sub_context[i]) anew[sub_context[i]] = 1'b1;
        sub_context.delete();
        sub_fence.delete();
        sub_may_stop.delete();
        sub_cancelled.delete();
        tally[RESETS]++;
        resets = 1'b0;
      end
    end
  endtask
  task automatic reset_engine();
    post(REG_ENGINE_COMMAND, 1);
    pause = 3;
    resets = 1'b1;
    reset_at = cycle;
  endtask
  int reset_at;
  logic anew[CONTEXTS];  // to be built

  // Changes a save area, as another process could.
  task automatic meddle(input int c);
    int l = save_line(c);
    int what = mem.data[l][159:128] > 62 && $urandom_range(3) != 0 ? 8 : $urandom_range(7);
    case (what)
      0: mem.data[l][7:0] = ~mem.data[l][7:0];
      1: mem.data[l][33] = 1'b1;
      2: mem.data[l][103:96] = 8'((executor[c] + 1) % 4);
      3: mem.data[l][104+$urandom_range(23)] = 1'b1;
      4: mem.data[l][159:128] = executor[c] != 0 && $urandom_range(1) != 0 ? 32'd0 : 32'd200 + $urandom_range(100000);
      5: mem.data[l][159:128] = mem.data[l][159:128] + 1;
      6: mem.data[l][160+$urandom_range(351)] = 1'b1;
      8: begin  // the page list, in an area of more than one page
        int bit_ = $urandom_range(9);
        mem.data[l+1][bit_] = !mem.data[l+1][bit_];
        listed[c] = 1'b1;
      end
      default:
      if (executor[c] != 0) begin
        int line = state_line(c, 1 + $urandom_range(mem.data[l][159:128] - 1)), bit_ = 128 + $urandom_range(383);
        mem.data[line][bit_] = !mem.data[line][bit_];
      end else mem.data[l][95:64] = start[c][packets[c]];
    endcase
    changed[c] = 1'b1;
  endtask

  always @(posedge clk)
    if (mem.faults != told_faults) begin
      told_faults = mem.faults;
      faulted_fence[dut.head.fence[31:0]] = mem.bad;
    end
  int told_faults = 0;

  // Stops one packet of each executor x at every cycle. Each resume is stopped once, then runs to the end.
  int x = int'(DISPATCH), cut_at = -1, phase = 0, cuts, length, preempt_at, worst_save, worst_wait,
    worst_restore, tallied;
  task automatic every_cycle();
    if (queued[0] && phase == 1) begin
      phase = 2;
      preempt_at = cycle;
      preempt(cuts == 0 ? 3 : 2 + cut_at % 2);
    end else if (!queued[0]) begin
      if (phase == 2 && stopped_at >= 0 && saved[0]) begin
        int lines = mem.data[save_line(0)][159:128];
        if (told_at - stopped_at - lines > worst_save) worst_save = told_at - stopped_at - lines;
        if (cuts == 0 && told_at - preempt_at - lines > worst_wait) worst_wait = told_at - preempt_at - lines;
      end
      if (phase == 3 && cuts != 0 && given_at >= begun_at) begin
        int lines = mem.data[save_line(0)][159:128];
        if (given_at - begun_at - lines > worst_restore) worst_restore = given_at - begun_at - lines;
      end
      if (phase != 0) cuts++;
      if (phase == 0 || tally[COMPLETED] != tallied) begin  // the next cycle to stop at
        if (cut_at < 0 && phase != 0) length = told_at - begun_at;
        if (phase != 0) cut_at++;
        if (cut_at > length) begin
          $display(
            "executor %0d: %0d cycles; and a cycle a line: stopped to indicated %0d, request to indicated %0d, %s %0d",
                   x, length, worst_save, worst_wait, "doorbell to restored", worst_restore);
          // 60: memory's latency. Save: once. Preemption: also requests in flight. Restore: header, packet, walks.
          if (worst_save > 60 + 20 || worst_wait > 3 * 60 || worst_restore > 5 * 60) fail("too slow");
          {worst_save, worst_wait, worst_restore, length} = '0;
          x++;
          cut_at = -1;
        end
        build(0, 2, x, 24);
        at_root[0] = 1;
        cuts = 0;
        tallied = tally[COMPLETED];
      end
      if (cuts > 3) fail("does not complete");
      submit(0);
      stopped_at = -1;
      phase = 3;
      if (cut_at >= 0 && cuts < 2) begin
        phase = 1;
        pause = 2 + (cuts == 0 ? cut_at : cut_at * 37 % (length + 100));
      end
    end else if (cycle - begun_at > PATIENCE) fail("no indication");
  endtask

  task automatic dump(input logic [13:0] addr, input logic [31:0] expected);
    @(negedge clk) reg_addr = addr[9:0];
    @(negedge clk);
    if (reg_rdata != expected) fail($sformatf("register %h reads %h", addr, reg_rdata));
  endtask

  int since_stop = 0;
  logic aim = 1'b0;  // request a reset during the next save or restore
  task automatic at_random();
    int c = $urandom_range(CONTEXTS - 1), w = $urandom_range(3);
    case ($urandom_range(15))
      0, 1, 2, 3:
      if (!queued[c]) begin
        if (saved[c] && !changed[c] && $urandom_range(mem.data[save_line(c)][159:128] > 62 ? 3 : 25) == 0) meddle(c);
        if (executor[c] != 0 && $urandom_range(7) == 0) mem.bad = save_line(c) + 1 + $urandom_range(40);
        submit(c);
      end
      4, 5: if (sub_fence.size() != 0) preempt($urandom_range(3));
      6: preempt(3);
      7: mem.data[fence_line(c)][63:0] = 64'd5;
      8: if ($urandom_range(7) == 0)
        mem.bad = w == 0 ? -1 : w == 1 ? out_line(c, 0) : save_line(c) + $urandom_range(w == 2 ? 3 : 100);
      9: if ($urandom_range(8) == 0) reset_engine();
      10: aim = $urandom_range(3) == 0;
      11: pause = 1 + $urandom_range(400);
      default: pause = 1 + $urandom_range(30);
    endcase
    if (aim && asked < 0 && !stops && !resets && dut.u_cp.u_execute.state_q inside {3'd2, 3'd4, 3'd5}) begin
      pause = 0;
      post_addr.delete();
      post_data.delete();
      reset_engine();
      aim = 1'b0;
    end
    if (status[1:0] > 2'd2) fail("three are queued");
    if (!status[REG_ENGINE_STATUS_STOPPING_LSB]) since_stop = cycle;
    if (cycle - since_stop > PATIENCE) fail("the request is lost");
    // A request to stop at the end of a buffer would never end if that buffer waits for its fence: stop it at once.
    if (status[REG_ENGINE_STATUS_STOPPING_LSB] && cycle - since_stop > 4000 && asked < 0 && !resets) preempt(3);
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", rounds)) rounds = 60000;
    $display("seed %0d", seed);
    void'($urandom(seed));
    repeat (4) @(negedge clk);
    rst = 1'b0;
    repeat (4) @(negedge clk);
    for (int r = 1; r <= 2; r++) mem.data[64*r][31:0] = 32'h0000000f;  // identity of 4 MiB at 0, all rights
    for (int c = 0; c < CONTEXTS; c++) begin
      anew[c] = 1'b1;
      queued[c] = 1'b0;
    end
    for (int n = 0; n < rounds || sub_fence.size() != 0 || resets || post_addr.size() != 0; ) begin
      logic directed = x <= int'(USER);
      go();
      commands();
      if (resets) after_reset();
      if (status[10:8] != 0 && (directed || resets || n >= rounds || $urandom_range(2) != 0)) take();
      for (int c = 0; c < CONTEXTS; c++) if (anew[c] && !directed) build(c, 1 + $urandom_range(PACKETS - 1), -1, -1);
      if (directed) every_cycle();
      else if (!resets && post_addr.size() == 0) begin
        if (n % 64 == 0) fast = $urandom_range(3) == 0;
        if (n < rounds) at_random();
        else begin
          mem.bad = -1;
          for (int c = 0; c < CONTEXTS; c++) mem.data[fence_line(c)][63:0] = 64'd5;
          if (cycle - begun_at > PATIENCE) fail("no indication at the end");
        end
        n++;
      end
    end
    repeat (10) @(negedge clk);
    if (!idle) fail("not idle at the end");
    // The registers that a crash dump reads, with two buffers, of which the first waits for its fence.
    for (int c = 0; c < 2; c++) begin
      build(c, 2, int'(WAIT), 0);
      submit(c);
      go();
      commands();
    end
    post(REG_ENGINE_DBG_WARP, 9);
    pause = 300;
    go();
    dump(REG_ENGINE_RUN_FENCE_LO, fences - 2);
    dump(REG_ENGINE_RUN_FENCE_HI, 0);
    dump(REG_ENGINE_RUN_OFFSET, 0);
    dump(REG_ENGINE_RUN_PACKET, 32'h100 + PKT_FENCE_WAIT);
    dump(REG_ENGINE_NEXT_FENCE_LO, fences - 1);
    dump(REG_ENGINE_NEXT_FENCE_HI, 0);
    dump(REG_ENGINE_DBG_WARP, 9);
    dump(REG_ENGINE_DBG_PC, 5 * 64 + 9);
    dump(REG_ENGINE_DBG_LANES, 6 * 64 + 9);
    reset_engine();
    while (resets) begin
      go();
      after_reset();
    end
    dump(REG_ENGINE_RUN_FENCE_LO, 0);
    dump(REG_ENGINE_NEXT_FENCE_LO, 0);
    begin
      thing_t t = t.first();
      for (int i = 0; i < THINGS; i++) begin
        $display("%s: %0d", t.name(), tally[i]);
        if (tally[i] < rounds / (i < RESETS ? 600 : 20000)) fail("too little of it");
        t = t.next();
      end
    end
    report::pass();
  end
endmodule
