// SPDX-License-Identifier: Apache-2.0
// Bench of check_channel, check_request and check_answers: random traffic on a memory channel that keeps every rule,
// with resets. No assertion of the checkers may fail. +break=N breaks one rule once, in cycle 500 or soon after.
module tb;
  logic clk = 1'b0, rst = 1'b1, valid = 1'b0, ready = 1'b0, rsp = 1'b0;
  logic [1:0] op = '0;
  logic [3:0] amo = '0, tag = '0, rsp_tag = '0;
  logic [27:0] line = '0;
  logic [511:0] wdata = '0;
  logic [63:0] be = '0;
  int seed, fault, cycles, accepted, stalls, resets, answers;
  int owed[16];
  logic stalled, broken = 1'b0;

  check_channel #(.WIDTH(30)) u_channel (.clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_i(ready),
                                         .data_i({op, line}));
  check_request #(.TAG_W(4)) u_request (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_i(ready),
      .req_i({op, amo, line, wdata, be}), .tag_i(tag)
  );
  check_answers #(.TAG_W(4)) u_answers (
      .clk_i(clk), .rst_i(rst), .req_i(valid && ready), .req_tag_i(tag), .rsp_i(rsp), .rsp_tag_i(rsp_tag)
  );

  function automatic int owes();
    owes = 0;
    for (int t = 0; t < 16; t++) owes += owed[t];
  endfunction

  task automatic new_request();
    op = 2'($urandom_range(2));
    line = 28'($urandom);
    tag = 4'($urandom);
  endtask

  // Changes fields that have no meaning in this request: data and byte enables of a read, amo if it is no atomic. These
  // may change at any time.
  task automatic drift();
    if (op == 2'd0 || !stalled) begin
      wdata[31:0] = $urandom;
      be[31:0] = $urandom;
    end
    if (op != 2'd2 || !stalled) amo = 4'($urandom);
  endtask

  // Breaks a rule in this cycle if it can be broken now.
  task automatic break_one();
    if (fault == 0 || broken || cycles < 500) return;
    broken = 1'b1;
    case (fault)
      1: if (stalled) valid = 1'b0; else broken = 1'b0;
      2: if (stalled) line[27] = !line[27]; else broken = 1'b0;
      4: if (stalled) tag[3] = !tag[3]; else broken = 1'b0;
      5: if (stalled && op == 2'd1) wdata[511] = !wdata[511]; else broken = 1'b0;
      6: if (valid && !stalled) op = 2'd3; else broken = 1'b0;
      7: if (owed[3] == 0) {rsp, rsp_tag} = {1'b1, 4'd3}; else broken = 1'b0;
      8: if (owes() > 1) {rst, valid, rsp} = 3'b100; else broken = 1'b0;
      default: $fatal(1, "no such fault");
    endcase
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("break=%d", fault)) fault = 0;
    $display("seed %0d", seed);
    void'($urandom(seed));
    for (cycles = 0; cycles < 20000; cycles++) begin
      stalled = valid && !ready && !rst;
      rst = cycles < 3 || (owes() == 0 && !rsp && $urandom_range(2) == 0);
      if (rst) valid = 1'b0;
      else if (!stalled) begin
        valid = $urandom_range(2) != 0;
        if (valid) new_request();
      end
      drift();
      ready = $urandom_range(3) != 0;
      rsp_tag = 4'($urandom);
      rsp = !rst && owed[rsp_tag] != 0 && $urandom_range(7) != 0;
      break_one();
      #5 clk = 1'b1;
      resets += int'(rst);
      stalls += int'(stalled);
      if (rsp) begin
        owed[rsp_tag]--;
        answers++;
        report::compared(1);
      end
      if (valid && ready && !rst) begin
        owed[tag]++;
        accepted++;
        report::compared(1);
      end
      #5 clk = 1'b0;
      // all requests are answered from time to time, so that a reset is allowed
      while (cycles % 100 == 99 && owes() != 0) begin
        if (ready) valid = 1'b0;
        {ready, rst} = 2'b00;
        for (int t = 0; t < 16; t++) if (owed[t] != 0) rsp_tag = 4'(t);
        rsp = 1'b1;
        #5 clk = 1'b1;
        owed[rsp_tag]--;
        #5 clk = 1'b0;
        rsp = 1'b0;
      end
    end
    if (fault != 0) $fatal(1, "fault %0d was not noticed", fault);
    if (accepted < 5000 || stalls < 1000 || resets < 20 || answers < 1000) $fatal(1, "too little happened");
    $display("%0d requests, %0d stalls, %0d answers, %0d resets", accepted, stalls, answers, resets);
    report::pass();
  end
endmodule
