// SPDX-License-Identifier: Apache-2.0
// Bench of fp_misc against the host's floating point: random and corner operands, all operations and rounding modes,
// flags, gaps in the pipeline. +count=N: vectors of each of the four operations.

module tb;

  import "DPI-C" function void misc_seed(input int seed);
  import "DPI-C" function void misc_next(output int a, output int op, output int rm,
                                        output int result, output int flags);

  localparam int OPS = 4;
  localparam int LATENCY = simt_op_pkg::FPM_LATENCY;

  logic        clk = 1'b0;
  logic        in_valid;
  logic [31:0] result;
  logic [4:0]  flags;
  int          a, op, rm, want, want_flags;

  fp_misc u_misc (
      .clk_i(clk), .valid_i(in_valid), .op_i(op[1:0]), .rm_i(rm[2:0]), .a_i(a), .result_o(result),
      .flags_o(flags)
  );

  int           seed, count, gap;
  logic         valid[LATENCY + 1];
  logic [132:0] history[LATENCY + 1];  // a, op, rm, result, flags
  logic [132:0] h;

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 250_000;
    $display("seed %0d", seed);
    misc_seed(seed);
    gap = 0;
    for (int k = 0; k <= LATENCY; k++) valid[k] = 1'b0;
    for (int i = 0; i < count * OPS + LATENCY; i += 32'(in_valid || i >= count * OPS)) begin
      gap = (gap * 1103515245 + 12345) ^ a;
      in_valid = i < count * OPS && gap[10:8] != 3'd0;
      if (in_valid) misc_next(a, op, rm, want, want_flags);
      else a = gap;
      for (int k = LATENCY; k > 0; k--) begin
        valid[k] = valid[k-1];
        history[k] = history[k-1];
      end
      valid[0] = in_valid;
      history[0] = {a, op, rm, want, want_flags[4:0]};
      #1;
      h = history[LATENCY];
      if (valid[LATENCY]) begin
        report::compared(1);
        if ({result, flags} != h[36:0])
          report::error($sformatf("a %h op %0d rm %0d gives %h flags %b, not %h %b", h[132:101], h[70:69], h[39:37], result, flags, h[36:5], h[4:0]));
      end
      clk = 1'b1;
      #1 clk = 1'b0;
    end
    $display("%0d vectors of each of %0d operations", count, OPS);
    report::pass();
  end

endmodule
