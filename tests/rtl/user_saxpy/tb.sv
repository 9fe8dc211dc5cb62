// SPDX-License-Identifier: Apache-2.0
// Bench of user_saxpy: random streams of integers, whose results are exact, on a memory that answers in any order and
// sometimes with a fault. Packets are stopped at random and at every cycle, and resumed in the other one of two
// instances, from states that another implementation could save, or from invalid states.
module tb;
  localparam int WORDS = 1 << 12;

  executor_host #(.LINES(WORDS / 16), .PENDING(32), .SLOW(300), .LATE(4), .QUIET(20)) host ();
`define EXECUTOR user_saxpy
`include "tests/rtl/lib/executor_pair.svh"

  always @(posedge host.clk)
    if (host.req_valid && !host.rst && host.req.op != 2'd0)
      for (int w = 0; w < 16; w++)
        if (host.req.be[4*w+:4] != 4'hf && host.req.be[4*w+:4] != 4'h0) $fatal(1, "part of a word");

  function automatic [31:0] to_float(input int n);
    int m = n < 0 ? -n : n, e = 150;
    if (n == 0) return '0;
    while (m < 1 << 23) begin
      m <<= 1;
      e--;
    end
    return {n < 0, 8'(e), 23'(m)};
  endfunction

  // The current streams; x and y are word indexes
  int n, a, x, y;
  int begun;         // number of elements that were complete at the start
  logic forged;      // the packet is resumed from an invalid state
  int number[WORDS]; // initial contents of memory

  task automatic make();
    begun = 0;
    forged = 1'b0;
    host.pkt = '0;
    host.pkt[7:0] = tern_spec_pkg::PKT_USER_CALL;
    host.pkt[tern_spec_pkg::PKT_USER_CALL_PAYLOAD_LSB+:128] = {y * 4, x * 4, to_float(a), n};
    for (int i = 0; i < WORDS; i++) begin
      number[i] = int'($urandom_range(2000)) - 1000;
      host.mem.data[i/16][32*(i%16)+:32] = to_float(number[i]);
    end
  endtask

  function automatic [31:0] result(input int i);
    return to_float(a * number[x+i] + number[y+i]);
  endfunction

  task automatic compare(input string what, input int elements);
    for (int i = 0; i < WORDS; i++) begin
      logic [31:0] is = host.mem.data[i/16][32*(i%16)+:32];
      logic [31:0] expected = i >= y && i < y + elements ? result(i - y) : to_float(number[i]);
      if (is != expected) begin
        host.fail($sformatf("%s: word %h is %h, expected %h: n %0d x %h y %h", what, i, is, expected, n, x, y));
        break;
      end
    end
  endtask

  task automatic saved();
    if (host.state >= 512'(n)) host.fail($sformatf("state %h is no place", host.state));
    compare("stopped", int'(host.state[31:0]));
  endtask

  task automatic ended();
    int touched = -1;  // first word of a stream that is in the bad line
    for (int i = n - 1; i >= begun; i--) if ((x + i) / 16 == host.mem.bad) touched = x + i;
    for (int i = n - 1; i >= begun; i--) if ((y + i) / 16 == host.mem.bad) touched = y + i;
    if (forged) begin
      if (!host.fault || host.code != tern_spec_pkg::FAULT_CONTEXT_INVALID || host.va != '0)
        host.fail($sformatf("state %h of n %0d: fault %b code %0d", host.state, n, host.fault, host.code));
      compare("forged", 0);
    end else if (host.fault != (touched >= 0))
      host.fail($sformatf("fault %b, line %0d, n %0d x %h y %h", host.fault, host.mem.bad, n, x, y));
    else if (!host.fault) compare("ended", n);
    else if (host.code != tern_spec_pkg::FAULT_BUS_ERROR || host.access != 2'd0 || host.va / 64 != host.mem.bad ||
             (!host.resume && int'(host.va) != 4 * touched))
      host.fail($sformatf("fault %0d access %0d at %h, not %h", host.code, host.access, host.va, 4 * touched));
  endtask

  // Resumes from a state after so many elements, which another implementation may have saved.
  task automatic run_from(input int elements);
    make();
    begun = elements;
    for (int i = 0; i < begun; i++) host.mem.data[(y+i)/16][32*((y+i)%16)+:32] = result(i);
    host.run_from(512'(begun));
  endtask

  // Resumes from an invalid state: a position beyond the end, near or far, also so far that n minus the position wraps
  // to a small number; or a reserved bit that is set.
  task automatic run_forged();
    logic [511:0] state = '0;
    make();
    forged = 1'b1;
    case ($urandom_range(3))
      0: state[31:0] = 32'(n) + 32'd1 + 32'($urandom_range(100));
      1: state[31:0] = $urandom | 32'h8000_0000;
      2: state[31:0] = 32'hffff_ffff - 32'($urandom_range(100));
      default: state[32+$urandom_range(479)] = 1'b1;
    endcase
    host.run_from(state);
  endtask

  task automatic choose(input int most);
    n = $urandom_range(most);
    a = int'($urandom_range(200)) - 100;
    x = $urandom_range(WORDS / 2 - most);
    y = $urandom_range(9) == 0 ? x : WORDS / 2 + $urandom_range(WORDS / 2 - most);
    host.mem.bad = -1;
  endtask

  initial begin
    int count;
    host.begin_test(count);
    for (int k = 0; k < count; k++) begin
      choose(k % 4 == 0 ? 500 : 60);
      if (k % 5 == 0) host.mem.bad = ($urandom_range(1) == 0 ? x : y) / 16 + $urandom_range(n / 12 + 1);
      if (k % 7 == 1) run_forged();
      else if (k % 3 != 0) host.run($urandom_range(300), 300, 20);
      else if (k % 2 == 0) host.run(-1, 0, 0);
      else run_from($urandom_range(n));
    end
    host.stop_everywhere(count, 60);
    host.end_test();
  end
endmodule
