// SPDX-License-Identifier: Apache-2.0
// A variable that a loop with delays has changed has its new value after the loop. Tested are the ways in which a loop
// ends, and changes in the loop and in a task that it calls. Verilator 5.006 uses the value from before the loop in all
// of these cases if its optimization V3Life is on.
module tb;
  logic clk = 1'b0;
  int in_task, broken_off, in_branch, by_while;

  task automatic step(input int i);
    if (i == 30) in_task++;
    #1 clk = !clk;
  endtask

  task automatic seen(input string what, input int times);
    report::compared(1);
    if (times != 1) report::error($sformatf("%s: %0d", what, times));
  endtask

  initial begin
    in_task = 0;
    broken_off = 0;
    in_branch = 0;
    by_while = 0;
    for (int i = 0; i < 100; i++) begin
      if (i == 30) broken_off++;
      if (broken_off > 5) break;
      #1 clk = !clk;
    end
    for (int i = 0; i < 100; i++)
      if (i % 2 == 0) begin
        if (i == 30) in_branch++;
        #1 clk = !clk;
      end
    for (int i = 0; i < 100; i++) step(i);
    while ($time < 1000) begin
      if ($time == 500) by_while++;
      #1 clk = !clk;
    end
    seen("a loop that can be left", broken_off);
    seen("a branch", in_branch);
    seen("a task", in_task);
    seen("a while loop", by_while);
    report::pass();
  end
endmodule
