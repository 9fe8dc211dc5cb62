// SPDX-License-Identifier: Apache-2.0
// Directed tests of simt_lsu, part of module tb: cycle counts, faults, reservations, forgetting.

  // Issues n instructions back to back, base moving by `step`, and gives the cycles from the first issue to the end.
  int first_issue;
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

  task automatic throughput();
    drain();
    orderly = 1'b1;
    busy_wb_ready = 1'b1;
    delay = 60;
    inv = 1'b1;
    @(posedge clk);
    #1 inv = 1'b0;
    stream("load, whole lines, L1 misses", LOAD, 128, 0, 4, 64, 400);
    stream("load, whole lines, L1 hits", LOAD, 128, 0, 4, 64, 140);
    stream("load, one instruction, L1 hit", LOAD, 1, 0, 4, 64, 10);
    stream("load, one instruction, local", LOAD, 1, LOCAL, 4, 64, 10);
    stream("load, whole lines, private", LOAD, 128, PRIVATE, 0, 0, 300);
    stream("load, all warps one missing line", LOAD, 128, 32'h8000, 4, 0, 220);
    stream("load, a line a lane, L1 misses", LOAD, 8, 32'h9000, 64, 1024, 400);
    stream("load, a line a lane, L1 hits", LOAD, 8, 32'h9000, 64, 1024, 145);
    stream("store, whole lines", STORE, 128, 32'h4000, 4, 64, 215);
    stream("load, lines just stored", LOAD, 128, 32'h4000, 4, 64, 140);
    stream("atomic add, whole lines", AMO, 64, 32'h4000, 4, 64, 400);
    stream("atomic add, one word", AMO, 4, 32'h4000, 0, 0, 240);
    stream("local load, no conflict", LOAD, 128, LOCAL, 4, 64, 140);
    stream("local load, one word", LOAD, 128, LOCAL, 0, 4, 140);
    stream("local load, 2 lanes a bank", LOAD, 64, LOCAL, 8, 128, 140);
    stream("local load, one bank", LOAD, 8, LOCAL, 64, 4, 140);
    stream("local store, no conflict", STORE, 128, LOCAL, 4, 64, 140);
    stream("local atomic add, no conflict", AMO, 32, LOCAL, 4, 64, 110);
    stream("local atomic add, one word", AMO, 4, LOCAL, 0, 4, 210);
  endtask

  task automatic directed();
    throughput();
  endtask
