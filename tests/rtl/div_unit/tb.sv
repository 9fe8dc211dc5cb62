// SPDX-License-Identifier: Apache-2.0
// Bench of div_unit against C: all operations and rounding modes, random masks and back pressure. The result must come
// in exactly the promised number of cycles (promised below): the unit divides groups of D lanes one after the other,
// skips groups without an active lane, and skips leading zeros. +count=N: at least N vectors of each of the six
// operations.

module tb;

  import "DPI-C" function void div_seed(input int seed);
  import "DPI-C" function int div_random(input int bound);
  import "DPI-C" function void div_next(input int op, output int a, output int b, output int rm, output int result,
                                        output int flags);

  parameter int L = 16;
  parameter int D = 4;
  localparam int OPS = 6;

  logic            clk = 1'b0, rst = 1'b1;
  logic            in_valid, in_ready, out_valid, out_ready;
  logic [2:0]      op;
  logic [L*3-1:0]  rm;
  logic [L*32-1:0] a, b, data;
  logic [L*5-1:0]  flags;
  logic [L-1:0]    mask;

  div_unit #(.L(L), .D(D)) u_div (
      .clk_i(clk), .rst_i(rst), .in_valid_i(in_valid), .in_ready_o(in_ready), .in_op_i(op), .in_rm_i(rm), .in_a_i(a),
      .in_b_i(b), .in_mask_i(mask), .out_valid_o(out_valid), .out_ready_i(out_ready), .out_data_o(data),
      .out_flags_o(flags)
  );

  task automatic cycle();
    #1 clk = 1'b1;
    #1 clk = 1'b0;
  endtask

  int          seed, count, latency, least;
  int          vectors[OPS];
  logic [31:0] want[L];
  logic [4:0]  want_flags[L];
  logic [31:0] operand_a[L], operand_b[L];
  logic [2:0]  mode[L];

  task automatic start();
    int va, vb, vrm, vresult, vflags;
    op = (op == 3'(OPS - 1)) ? 3'd0 : op + 3'd1;
    mask = L'(div_random(1 << L));
    if (div_random(4) != 0) mask = ~(mask & L'(div_random(1 << L)));
    for (int t = 0; t < L / D; t++) if (div_random(4) == 0) mask[D*t +: D] = '0;
    vectors[op] += $countones(mask);
    for (int i = 0; i < L; i++) begin
      div_next({29'b0, op}, va, vb, vrm, vresult, vflags);
      operand_a[i] = va;
      operand_b[i] = vb;
      mode[i] = vrm[2:0];
      a[32*i +: 32] = va;
      b[32*i +: 32] = vb;
      rm[3*i +: 3] = vrm[2:0];
      want[i] = vresult;
      want_flags[i] = vflags[4:0];
    end
    in_valid = 1'b1;
    #1;
    while (!in_ready) cycle();
    cycle();
    in_valid = 1'b0;
    {a, b, rm} = {L*67{1'b1}};
  endtask

  // The cycles from the operands to the result. Each group of D lanes with an active lane takes the time of its longest
  // dividend.
  function automatic int promised();
    int cycles, zeros, least_zeros;
    logic [31:0] magnitude;
    logic any;
    cycles = 6;
    any = 1'b0;
    for (int t = 0; t < L / D; t++) begin
      least_zeros = 29;
      if (mask[D*t +: D] == '0) continue;
      any = 1'b1;
      for (int i = D * t; i < D * t + D; i++) begin
        if (!mask[i]) continue;
        magnitude = ((op == 3'd0 || op == 3'd2) && operand_a[i][31]) ? -operand_a[i] : operand_a[i];
        zeros = 0;
        while (zeros < 32 && !magnitude[31 - zeros]) zeros++;
        if (operand_b[i] == 32'd0) zeros = 0;
        if (zeros < least_zeros) least_zeros = zeros;
      end
      cycles += op[2] ? 14 : 17 - least_zeros / 2;
    end
    return any ? cycles : 0;
  endfunction

  task automatic check();
    report::compared($countones(mask));
    for (int i = 0; i < L; i++)
      if (mask[i] && {data[32*i +: 32], flags[5*i +: 5]} != {want[i], want_flags[i]})
        report::error($sformatf("op %0d rm %0d a %h b %h gives %h flags %b, not %h %b", op, mode[i], operand_a[i],
                                operand_b[i], data[32*i +: 32], flags[5*i +: 5], want[i], want_flags[i]));
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 100_000;
    op = '0;
    least = 0;
    foreach (vectors[i]) vectors[i] = 0;
    $display("seed %0d", seed);
    div_seed(seed);
    in_valid = 1'b0;
    out_ready = 1'b0;
    cycle();
    rst = 1'b0;
    while (least < count) begin
      start();
      least = vectors[0];
      foreach (vectors[i]) if (vectors[i] < least) least = vectors[i];
      latency = 1;
      while (!out_valid && latency < 100) begin
        cycle();
        latency++;
      end
      if (mask != '0 && latency != promised())
        report::error($sformatf("op %0d took %0d cycles, not %0d", op, latency, promised()));
      check();
      for (int wait_cycles = div_random(4); wait_cycles > 0; wait_cycles--) begin
        cycle();
        check();
        if (!out_valid) report::error("the result is gone before it is taken");
      end
      out_ready = 1'b1;
      cycle();
      out_ready = 1'b0;
    end
    $display("%0d vectors of each of %0d operations, or more", least, OPS);
    report::pass();
  end

endmodule
