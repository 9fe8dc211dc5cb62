// SPDX-License-Identifier: Apache-2.0
// Bench of user_NAME: random ranges, on a memory that answers at any time and sometimes with a
// fault. Packets are stopped at random and at every cycle, and resumed in the other one of two instances, from states
// that another implementation could save, or from invalid states. executor_host checks the interface, this bench the
// results.
module tb;
  localparam int WORDS = 1 << 12;

  executor_host #(
      .LINES(WORDS / 16),  // lines of memory
      .PENDING(32),        // greatest number of requests in flight; this executor has one
      .SLOW(60),           // greatest latency of memory, in cycles
      .LATE(2),            // greatest number of requests after a stop: those of a line, one for each stream
      .QUIET(20)           // greatest number of cycles from the last answer after a stop to the end
  ) host ();
`define EXECUTOR user_NAME
`include "tests/rtl/lib/executor_pair.svh"

  int n, src, dst;  // src and dst are word indexes
  int begun;        // number of words that were complete at the start
  logic forged;     // the packet is resumed from an invalid state
  logic [31:0] key;
  logic [31:0] first[WORDS];  // initial contents of memory

  task automatic make();
    begun = 0;
    forged = 1'b0;
    host.pkt = '0;
    host.pkt[7:0] = tern_spec_pkg::PKT_USER_CALL;
    host.pkt[tern_spec_pkg::USER_UPPER_N_LSB+:32] = n;
    host.pkt[tern_spec_pkg::USER_UPPER_KEY_LSB+:32] = key;
    host.pkt[tern_spec_pkg::USER_UPPER_SRC_LSB+:32] = src * 4;
    host.pkt[tern_spec_pkg::USER_UPPER_DST_LSB+:32] = dst * 4;
    for (int i = 0; i < WORDS; i++) begin
      first[i] = $urandom;
      host.mem.data[i/16][32*(i%16)+:32] = first[i];
    end
  endtask

  task automatic compare(input string what, input int words);
    for (int i = 0; i < WORDS; i++) begin
      logic [31:0] is = host.mem.data[i/16][32*(i%16)+:32];
      logic [31:0] expected = i >= dst && i < dst + words ? first[src+i-dst] ^ key : first[i];
      if (is != expected) begin
        host.fail($sformatf("%s: word %h is %h, expected %h: n %0d src %h dst %h", what, i, is, expected, n, src, dst));
        break;
      end
    end
  endtask

  task automatic saved();
    if (host.state >= 512'(n) || |host.state[3:0]) host.fail($sformatf("state %h is no place", host.state));
    compare("stopped", int'(host.state[31:0]));
  endtask

  task automatic ended();
    int bad = -1;  // the first word of the first line that cannot be read or written
    for (int i = (n - 1) / 16; i >= begun / 16 && n > begun; i--)
      if (src / 16 + i == host.mem.bad) bad = src + 16 * i;
      else if (dst / 16 + i == host.mem.bad) bad = dst + 16 * i;
    if (forged) begin
      if (!host.fault || host.code != tern_spec_pkg::FAULT_CONTEXT_INVALID || host.va != '0)
        host.fail($sformatf("state %h of n %0d: fault %b code %0d", host.state, n, host.fault, host.code));
      compare("forged", 0);
    end else if (host.fault != (bad >= 0))
      host.fail($sformatf("fault %b, line %0d, n %0d", host.fault, host.mem.bad, n));
    else if (!host.fault) compare("ended", n);
    else if (host.code != tern_spec_pkg::FAULT_BUS_ERROR || int'(host.va) != 4 * bad ||
             host.access != (bad >= dst && src != dst ? 2'd1 : 2'd0))
      host.fail($sformatf("fault %0d access %0d at %h, not %h", host.code, host.access, host.va, 4 * bad));
  endtask

  // Goes on from a place that another executor, or the model's, may have saved.
  task automatic run_from(input int words);
    make();
    begun = words;
    for (int i = 0; i < begun; i++) host.mem.data[(dst+i)/16][32*((dst+i)%16)+:32] = first[src+i] ^ key;
    host.run_from(512'(begun));
  endtask

  // A place behind the end, or within a line; or a word of the line of state that has no name.
  task automatic run_forged();
    logic [511:0] state = '0;
    make();
    forged = 1'b1;
    case ($urandom_range(3))
      0: state[31:0] = 32'(n) + 32'd1 + 32'($urandom_range(100));
      1: state[31:0] = $urandom_range(1) == 0 ? 32'hffff_fff0 : $urandom | 32'h8000_0000;
      2: state[31:0] = n > 16 ? 32'd1 + 32'($urandom_range(14)) : 32'(n) + 32'd16;
      default: state[32+$urandom_range(479)] = 1'b1;
    endcase
    host.run_from(state);
  endtask

  task automatic choose(input int most);
    n = $urandom_range(most);
    key = $urandom;
    src = 16 * $urandom_range((WORDS / 2 - most) / 16 - 1);
    dst = $urandom_range(9) == 0 ? src : WORDS / 2 + 16 * $urandom_range((WORDS / 2 - most) / 16 - 1);
    host.mem.bad = -1;
  endtask

  initial begin
    int count;
    host.begin_test(count);
    for (int k = 0; k < count; k++) begin
      choose(k % 4 == 0 ? 500 : 60);
      if (k % 5 == 0) host.mem.bad = ($urandom_range(1) == 0 ? src : dst) / 16 + $urandom_range(n / 12 + 1);
      if (k % 7 == 1) run_forged();
      else if (k % 7 == 2) run_from(16 * $urandom_range(n / 16));
      else host.run(k % 3 == 0 ? -1 : int'($urandom_range(300)), 300, 20);
    end
    host.stop_everywhere(count, 60);
    host.end_test();
  end
endmodule
