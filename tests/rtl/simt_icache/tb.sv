// SPDX-License-Identifier: Apache-2.0
// Bench of simt_icache in two sizes: the default with code twice as large, and a tiny one, where most warps conflict.

module tb;

  logic       clk = 1'b0;
  int         seed, count;
  logic [1:0] done;

  harness u_default (.clk_i(clk), .count_i(count), .done_o(done[0]));
  harness #(.W(8), .KIB(1), .SPAN(8192)) u_tiny (.clk_i(clk), .count_i(count), .done_o(done[1]));

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 500_000;
    $display("seed %0d", seed);
    void'($urandom(seed));
    while (done != 2'b11) begin
      #5 clk = 1'b1;
      #5 clk = 1'b0;
    end
    report::pass();
  end

endmodule
