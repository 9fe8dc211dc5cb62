// SPDX-License-Identifier: Apache-2.0
// Bench of hw_queue and indication_fifo, connected as in the engine: random operations, compared with two SystemVerilog
// queues.
module tb;
  logic clk = 1'b0, rst = 1'b1, engine_rst = 1'b0, closed = 1'b0, doorbell = 1'b0, pop = 1'b0, read = 1'b0;
  tern_pkg::submission_t data, head, second;
  tern_pkg::indication_t ind, ind_head;
  logic refused, head_valid, ind_valid, push;
  logic [1:0] count;
  logic [2:0] pending;
  int seed, cycles, doorbells, refusals, ends, resets;
  tern_pkg::submission_t queued[$];
  tern_pkg::indication_t indicated[$];
  logic [223:0] random;
  logic room;

  assign push = pop && head_valid && !engine_rst;
  // An indication of random words and of the fence of its submission.
  always_comb begin
    ind = {$bits(ind) {1'b1}};
    ind.fault.group[63:0] = head.buffer;
    ind.offset = head.size;
    ind.fence = head.fence;
  end
  hw_queue #(.INDICATIONS(4)) u_queue (
      .clk_i(clk),
      .rst_i(rst || engine_rst),
      .closed_i(closed),
      .doorbell_i(doorbell),
      .data_i(data),
      .pending_i(pending),
      .refused_o(refused),
      .count_o(count),
      .head_valid_o(head_valid),
      .head_o(head),
      .second_o(second),
      .pop_i(push)
  );
  indication_fifo #(.WIDTH($bits(ind)), .DEPTH_LOG2(2)) u_ind (
      .clk_i(clk),
      .rst_i(rst),
      .push_i(push),
      .data_i(ind),
      .count_o(pending),
      .head_valid_o(ind_valid),
      .head_o(ind_head),
      .pop_i(read)
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
      for (int i = 0; i < 7; i++) random = {random[191:0], $urandom};
      data = random[206:0];
      #1;
      check(int'(count) == queued.size() && int'(pending) == indicated.size(), "count");
      check(head_valid == (queued.size() != 0) && ind_valid == (indicated.size() != 0), "valid");
      if (queued.size() != 0) check(head == queued[0], "head");
      if (queued.size() == 2) check(second == queued[1], "second");
      if (indicated.size() != 0) check(ind_head == indicated[0], "indication");
      room = !closed && queued.size() < 2 && queued.size() + indicated.size() < 4;
      if (read && indicated.size() != 0) void'(indicated.pop_front());
      if (engine_rst) begin
        queued.delete();
        resets++;
      end else begin
        if (push) begin
          indicated.push_back(ind);
          void'(queued.pop_front());
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
