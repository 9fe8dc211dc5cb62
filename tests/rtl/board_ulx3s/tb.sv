// SPDX-License-Identifier: Apache-2.0
// Bench of board_ulx3s at its pins: a host on the serial line, which uses the frames of docs/board.md, and an SDRAM
// chip. The host sends a hello, writes blocks of memory at random addresses, reads them back, and reads a register. The
// top has no device (DEVICE = 0). With NETLIST defined, the netlist of Yosys for ECP5 replaces the RTL
// (tests/rtl/netlist). +count=N blocks (default 4), +seed=N.
`timescale 1ps / 1ps
module tb;
  localparam int BIT = 333333;  // ps: 3 Mbaud

  logic clk = 0, tx, rx = 1, wifi, chip_clk, cke, cs_n, ras_n, cas_n, we_n, chip_oe;
  always #20000 clk = !clk;
  logic [4:0] led;
  logic [1:0] ba, dqm;
  logic [12:0] a;
  logic [15:0] chip_dq;
  wire [15:0] d;

  board_ulx3s
`ifndef NETLIST
  #(.DEVICE(1'b0))
`endif
  dut (
      .clk_25mhz(clk), .btn1(1'b0), .ftdi_rxd(tx), .ftdi_txd(rx), .led(led), .wifi_gpio0(wifi), .sdram_clk(chip_clk),
      .sdram_cke(cke), .sdram_csn(cs_n), .sdram_rasn(ras_n), .sdram_casn(cas_n), .sdram_wen(we_n), .sdram_ba(ba),
      .sdram_a(a), .sdram_dqm(dqm), .sdram_d(d)
  );
  sdram_chip #(.PERIOD_PS(20000), .START_NS(190000)) chip (
      .clk_i(chip_clk), .cke_i(cke), .cs_n_i(cs_n), .ras_n_i(ras_n), .cas_n_i(cas_n), .we_n_i(we_n), .ba_i(ba),
      .a_i(a), .dqm_i(dqm), .dq_i(d), .dq_driven_i(!we_n), .dq_o(chip_dq), .dq_oe_o(chip_oe)
  );
  assign d = chip_oe ? chip_dq : 16'hzzzz;

  // ------------------------------------------------------------------ the serial line
  logic [7:0] got[0:4095];
  int got_n = 0;
  always @(negedge tx) begin
    logic [7:0] b;
    #(BIT + BIT / 2);
    for (int i = 0; i < 8; i++) begin
      b[i] = tx;
      #(BIT);
    end
    if (!tx) $fatal(1, "no stop bit");
    got[got_n] = b;
    got_n++;
  end

  task automatic send(input logic [7:0] b);
    rx = 0;
    #(BIT);
    for (int i = 0; i < 8; i++) begin
      rx = b[i];
      #(BIT);
    end
    rx = 1;
    #(BIT);
  endtask

  function automatic logic [31:0] check(input logic [31:0] crc, input logic [7:0] b);
    check = crc ^ {24'b0, b};
    for (int i = 0; i < 8; i++) check = {1'b0, check[31:1]} ^ (check[0] ? 32'hedb88320 : 32'b0);
  endfunction

  task automatic send_escaped(input logic [7:0] b);
    if (b == 8'h7e || b == 8'h7d) begin
      send(8'h7d);
      send(b ^ 8'h20);
    end else send(b);
  endtask

  // ------------------------------------------------------------------ requests
  logic [7:0] data[0:1023], answer[0:1023];
  logic [7:0] number = 8'h7d;
  int answer_n;

  task automatic request(input logic [7:0] command, input int n, input logic [31:0] addr, input bit with_data,
                         input logic [7:0] status);
    logic [31:0] crc = '1;
    logic [7:0] head[0:7];
    int waited = 0, at = 0;
    bit escape = 0;
    number++;
    head[0] = command;
    head[1] = number;
    head[2] = 8'(n);
    head[3] = 8'(n >> 8);
    for (int i = 0; i < 4; i++) head[4+i] = addr[8*i+:8];
    got_n = 0;
    send(8'h7e);
    for (int i = 0; i < 8; i++) begin
      crc = check(crc, head[i]);
      send_escaped(head[i]);
    end
    for (int i = 0; i < n && with_data; i++) begin
      crc = check(crc, data[i]);
      send_escaped(data[i]);
    end
    crc = ~crc;
    for (int i = 0; i < 4; i++) send_escaped(crc[8*i+:8]);
    send(8'h7e);
    // the answer is the bytes between two flags, of which the second is not adjacent to the first
    while (!(got_n > 4 && got[got_n-1] == 8'h7e)) begin
      #(BIT);
      waited++;
      if (waited > 30000) $fatal(1, "no answer to command %0d", command);
    end
    crc = '1;
    answer_n = 0;
    for (at = 0; at < got_n; at++)
      if (got[at] == 8'h7d) escape = 1;
      else if (got[at] != 8'h7e) begin
        answer[answer_n] = escape ? got[at] ^ 8'h20 : got[at];
        escape = 0;
        crc = check(crc, answer[answer_n]);
        answer_n++;
      end
    report::compared(1);
    if (crc != 32'hdebb20e3) $fatal(1, "an answer with a wrong check sequence");
    answer_n -= 4;
    if (answer[0] != (command | 8'h80) || answer[1] != number) $fatal(1, "an answer to another request");
    if ((answer[2] & 8'h07) != status) $fatal(1, "command %0d: status %0d instead of %0d", command, answer[2], status);
  endtask

  int seed, count;
  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 4;
    $display("seed %0d", seed);
    void'($urandom(seed));
    #(260000 * 1000);  // 260 us: reset, and the start of the chip
    request(1, 0, 32'h12345678, 0, 0);
    if (answer[4] != 8'h54 || answer[5] != 8'h4c) $fatal(1, "a hello from somebody else");
    for (int i = 0; i < count; i++) begin
      automatic logic [31:0] addr = {7'b0, 25'($urandom)};
      automatic int n = 1 + int'($urandom_range(150));
      if (int'(addr) + n > 1 << 25) addr = 32'(1 << 25) - 32'(n);
      for (int k = 0; k < n; k++) data[k] = 8'($urandom);
      request(5, n, addr, 1, 0);
      request(4, n, addr, 0, 0);
      if (answer_n != 4 + n) $fatal(1, "%0d bytes instead of %0d", answer_n - 4, n);
      for (int k = 0; k < n; k++)
        if (answer[4+k] != data[k]) $fatal(1, "byte %0d of %h: %h instead of %h", k, addr, answer[4+k], data[k]);
    end
    request(4, 4, 32'h02000000, 0, 4);  // behind the chip
    request(2, 4, 32'h0, 0, 4);         // a register of the device, which this top does not have
    $display("%0d blocks, %0d column reads, %0d writes, %0d refreshes", count, chip.reads, chip.writes, chip.refreshes);
    report::pass();
  end

  logic unused;
  assign unused = &{1'b0, led, wifi};
endmodule
