// SPDX-License-Identifier: Apache-2.0
// Bench of simt_convert against the host's floating point: random and corner operands, all operations, a rounding mode
// for each lane, flags, and as little time between two conversions as the unit allows, or more. +count=N: vectors of
// each of the four operations.

module tb;

  import "DPI-C" function void convert_seed(input int seed);
  import "DPI-C" function void convert_next(input int op, output int a, output int rm, output int result,
                                           output int flags);

  localparam int OPS = 4;
  localparam int LATENCY = simt_op_pkg::CVT_LATENCY;

  logic         clk = 1'b0;
  logic         rst, start, busy;
  logic [1:0]   op;
  logic [11:0]  rm;
  logic [127:0] a, data;
  logic [7:0]   flags;

  simt_convert u_convert (
      .clk_i(clk), .rst_i(rst), .start_i(start), .op_i(op), .rm_i(rm), .a_i(a), .busy_o(busy), .data_o(data),
      .flags_o(flags)
  );

  int           seed, count, gap, one_a, one_rm, one_result, one_flags;
  logic         free;
  logic [127:0] operands, want;
  logic [11:0]  modes;
  logic [7:0]   want_flags;
  logic         valid[LATENCY + 1];
  logic [277:0] history[LATENCY + 1];  // a, rm, op, results, flags
  logic [277:0] h;

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 250_000;
    $display("seed %0d", seed);
    convert_seed(seed);
    gap = 0;
    for (int k = 0; k <= LATENCY; k++) valid[k] = 1'b0;
    start = 1'b0;
    rst = 1'b1;
    #1 clk = 1'b1;
    #1 clk = 1'b0;
    rst = 1'b0;
    free = 1'b1;
    for (int i = 0; i < count + LATENCY; i += 32'(start || i >= count)) begin
      gap = (gap * 1103515245 + 12345) ^ one_a;
      start = free && i < count && gap[9:8] != 2'd0;
      op = 2'(i);
      for (int l = 0; l < 4; l++) begin
        if (start) convert_next({30'b0, op}, one_a, one_rm, one_result, one_flags);
        else one_a = gap;
        operands[32*l +: 32] = one_a;
        modes[3*l +: 3] = one_rm[2:0];
        want[32*l +: 32] = one_result;
        want_flags[2*l +: 2] = {one_flags[4], one_flags[0]};
        if (start && one_flags[3:1] != 3'd0) report::error("the reference raises another flag");
      end
      a = operands;
      rm = modes;
      for (int k = LATENCY; k > 0; k--) begin
        valid[k] = valid[k-1];
        history[k] = history[k-1];
      end
      valid[0] = start;
      history[0] = {a, rm, op, want, want_flags};
      #1;
      h = history[LATENCY];
      if (valid[LATENCY])
        for (int l = 0; l < 4; l++) begin
          report::compared(1);
          if ({data[32*l +: 32], flags[2*l +: 2]} != {h[8 + 32*l +: 32], h[2*l +: 2]})
            report::error($sformatf("lane %0d a %h op %0d rm %0d gives %h flags %b, not %h %b", l, h[150 + 32*l +: 32],
                                    h[137:136], h[138 + 3*l +: 3], data[32*l +: 32], flags[2*l +: 2],
                                    h[8 + 32*l +: 32], h[2*l +: 2]));
        end
      report::compared(1);
      if (busy != (valid[0] || valid[1] || valid[2])) report::error("busy is not as promised");
      free = !busy;
      clk = 1'b1;
      #1 clk = 1'b0;
    end
    $display("%0d vectors of each of %0d operations", count, OPS);
    report::pass();
  end

endmodule
