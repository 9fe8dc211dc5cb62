// SPDX-License-Identifier: Apache-2.0
// Bench of hw_queue and indication_fifo, connected as in the engine: random operations, compared with two SystemVerilog
// queues.
module tb;
  logic clk = 1'b0, rst = 1'b1, engine_rst = 1'b0, closed = 1'b0, doorbell = 1'b0, pop = 1'b0, read = 1'b0;
  logic [31:0] data, head, ind_head;
  logic refused, head_valid, ind_valid, push;
  logic [1:0] count;
  logic [2:0] pending;
  int seed, cycles, doorbells, refusals, ends, resets;
  logic [31:0] queued[$], indicated[$];
  logic room;

  assign push = pop && head_valid && !engine_rst;
  hw_queue #(.WIDTH(32), .INDICATIONS(4)) u_queue (
      .clk_i(clk), .rst_i(rst || engine_rst), .closed_i(closed), .doorbell_i(doorbell), .data_i(data),
      .pending_i(pending), .refused_o(refused), .count_o(count), .head_valid_o(head_valid), .head_o(head), .pop_i(push)
  );
  indication_fifo #(.WIDTH(32), .DEPTH_LOG2(2)) u_ind (
      .clk_i(clk), .rst_i(rst), .push_i(push), .data_i(head), .count_o(pending), .head_valid_o(ind_valid),
      .head_o(ind_head), .pop_i(read)
  );

  task automatic check(input logic ok, input string what);
    report::compared(1);
    if (!ok) $fatal(1, "cycle %0d: %s", cycles, what);
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    $display("seed %0d", seed);
    void'($urandom(seed));
    repeat (3) begin
      #5 clk = 1'b1;
      #5 clk = 1'b0;
    end
    rst = 1'b0;
    for (cycles = 0; cycles < 200000; cycles++) begin
      // the mix of operations changes, so that both queues become full and empty
      int phase = cycles / 100 % 4;
      doorbell = $urandom_range(phase == 0 ? 1 : 5) == 0;
      pop = $urandom_range(phase == 1 ? 1 : 5) == 0;
      read = $urandom_range(phase == 2 ? 1 : 7) == 0;
      closed = $urandom_range(30) == 0;
      engine_rst = $urandom_range(200) == 0;
      data = $urandom;
      #1;
      check(int'(count) == queued.size() && int'(pending) == indicated.size(), "count");
      check(head_valid == (queued.size() != 0) && ind_valid == (indicated.size() != 0), "valid");
      if (queued.size() != 0) check(head == queued[0], "head");
      if (indicated.size() != 0) check(ind_head == indicated[0], "indication");
      room = !closed && queued.size() < 2 && queued.size() + indicated.size() < 4;
      if (read && indicated.size() != 0) void'(indicated.pop_front());
      if (engine_rst) begin
        queued.delete();
        resets++;
      end else begin
        if (push) begin
          indicated.push_back(queued.pop_front());
          ends++;
        end
        if (doorbell) doorbells++;
        if (doorbell && room) queued.push_back(data);
        if (doorbell && !room) refusals++;
      end
      #4 clk = 1'b1;
      #1;
      if (doorbell && !engine_rst) check(refused == !room, "refused");
      #4 clk = 1'b0;
    end
    check(refusals > 1000 && ends > 1000 && resets > 100, "too little happened");
    $display("%0d doorbells, %0d refused, %0d ended, %0d resets", doorbells, refusals, ends, resets);
    report::pass();
  end
endmodule
