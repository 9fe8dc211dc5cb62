// SPDX-License-Identifier: Apache-2.0
// Bench of simt_alu and int_mul against C and the host's floating point: random and corner operands; random gaps for
// the multiplier. +count=N: operations in all. +floats: only operations on floats, N of each.

module tb;

  import "DPI-C" function void int_seed(input int seed);
  import "DPI-C" function int int_operand();
  import "DPI-C" function int alu_operation(input int number);
  import "DPI-C" function int alu_float(input int number);
  import "DPI-C" function int alu_reference(input int op, input int a, input int b);
  import "DPI-C" function int alu_invalid(input int op, input int a, input int b);
  import "DPI-C" function int alu_taken(input int op, input int a, input int b);
  import "DPI-C" function void alu_operands(input int op, output int a, output int b);
  import "DPI-C" function int mul_reference(input int op, input int a, input int b);

  localparam int LATENCY = simt_op_pkg::MUL_LATENCY;

  logic        clk = 1'b0;
  logic        mul_valid;
  logic [5:0]  op;
  logic [31:0] choice, alu_result, mul_result;
  logic        invalid, taken, branch;
  int          a, b;

  simt_alu u_alu (.op_i(op), .a_i(a), .b_i(b), .result_o(alu_result), .invalid_o(invalid), .taken_o(taken));
  int_mul u_mul (.clk_i(clk), .valid_i(mul_valid), .op_i(choice[10:9]), .a_i(a), .b_i(b), .result_o(mul_result));

  int          seed, count;
  logic        floats;
  logic        valid[LATENCY + 1];
  logic [31:0] expected[LATENCY + 1];

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 1_000_000;
    floats = $test$plusargs("floats") != 0;
    if (floats) count *= 6;
    $display("seed %0d", seed);
    int_seed(seed);
    for (int k = 0; k <= LATENCY; k++) valid[k] = 1'b0;
    for (int i = 0; i < count; i++) begin
      choice = int_operand() ^ (int_operand() << 3);
      op = 6'(floats ? alu_float(i) : alu_operation({18'b0, choice[13:0]}));
      alu_operands({26'b0, op}, a, b);
      branch = op[5:3] == simt_op_pkg::ALU_FAMILY_BRANCH;
      mul_valid = choice[13:11] != 3'd0;
      for (int k = LATENCY; k > 0; k--) begin
        valid[k] = valid[k-1];
        expected[k] = expected[k-1];
      end
      valid[0] = mul_valid;
      expected[0] = mul_reference({30'b0, choice[10:9]}, a, b);
      #1;
      report::compared(valid[LATENCY] ? 3 : 2);
      if (!branch && alu_result != alu_reference({26'b0, op}, a, b))
        report::error($sformatf("alu op %o a %h b %h gives %h", op, a, b, alu_result));
      if (!branch && invalid != (alu_invalid({26'b0, op}, a, b) != 0))
        report::error($sformatf("alu op %o a %h b %h: invalid %b", op, a, b, invalid));
      if (branch && taken != (alu_taken({26'b0, op}, a, b) != 0))
        report::error($sformatf("branch %0d a %h b %h gives %b", op[2:0], a, b, taken));
      if (valid[LATENCY] && mul_result != expected[LATENCY])
        report::error($sformatf("mul gives %h for %h", mul_result, expected[LATENCY]));
      clk = 1'b1;
      #1 clk = 1'b0;
    end
    report::pass();
  end

endmodule
