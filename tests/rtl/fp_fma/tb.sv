// SPDX-License-Identifier: Apache-2.0
// Bench of fp_fma against the host's fused multiply-add: random and corner operands, all rounding modes, flags, gaps in
// the pipeline. +count=N: vectors of each of the seven operations.

module tb;

  import "DPI-C" function void fma_seed(input int seed);
  import "DPI-C" function void fma_next(output int a, output int b, output int c, output int control,
                                        output int result, output int flags);

  localparam int OPS = 7;
  localparam int LATENCY = simt_op_pkg::FMA_LATENCY;

  logic        clk = 1'b0;
  logic        in_valid;
  logic [31:0] result;
  logic [4:0]  flags;
  int          a, b, c, control, want, want_flags;

  fp_fma u_fma (
      .clk_i(clk), .valid_i(in_valid), .a_i(a), .b_i(b), .c_i(c), .neg_prod_i(control[4]), .neg_add_i(control[3]),
      .rm_i(control[2:0]), .result_o(result), .flags_o(flags)
  );

  int           seed, count, gap;
  logic         valid[LATENCY + 1];
  logic [164:0] history[LATENCY + 1];  // a, b, c, control, result, flags
  logic [164:0] h;

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 150_000;
    $display("seed %0d", seed);
    fma_seed(seed);
    gap = 0;
    for (int k = 0; k <= LATENCY; k++) valid[k] = 1'b0;
    for (int i = 0; i < count * OPS + LATENCY; i += 32'(in_valid || i >= count * OPS)) begin
      gap = (gap * 1103515245 + 12345) ^ a;
      in_valid = i < count * OPS && gap[10:8] != 3'd0;
      if (in_valid) fma_next(a, b, c, control, want, want_flags);
      else a = gap;
      for (int k = LATENCY; k > 0; k--) begin
        valid[k] = valid[k-1];
        history[k] = history[k-1];
      end
      valid[0] = in_valid;
      history[0] = {a, b, c, control, want, want_flags[4:0]};
      #1;
      h = history[LATENCY];
      if (valid[LATENCY]) begin
        report::compared(1);
        if ({result, flags} != h[36:0])
          report::error($sformatf("a %h b %h c %h control %b gives %h flags %b, not %h %b", h[164:133], h[132:101],
                                  h[100:69], h[41:37], result, flags, h[36:5], h[4:0]));
      end
      clk = 1'b1;
      #1 clk = 1'b0;
    end
    $display("%0d vectors of each of %0d operations", count, OPS);
    report::pass();
  end

endmodule
