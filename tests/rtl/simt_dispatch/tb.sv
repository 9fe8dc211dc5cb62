// SPDX-License-Identifier: Apache-2.0
// Bench of simt_dispatch and simt_dispatch_check in three sizes at once: default, small and widest (harness.sv).

module tb;

  logic       clk = 1'b0;
  int         seed, count;
  logic [2:0] done;

  harness #(.L(16), .W(16)) u_default (.clk_i(clk), .count_i(count), .done_o(done[0]));
  harness #(.L(8), .W(4)) u_small (.clk_i(clk), .count_i(count), .done_o(done[1]));
  harness #(.L(32), .W(32)) u_wide (.clk_i(clk), .count_i(count), .done_o(done[2]));

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 100;
    $display("seed %0d", seed);
    void'($urandom(seed));
    while (done != 3'b111) begin
      #5 clk = 1'b1;
      #5 clk = 1'b0;
    end
    report::pass();
  end

endmodule
