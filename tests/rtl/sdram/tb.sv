// SPDX-License-Identifier: Apache-2.0
// Bench of the SDRAM controller (sdram_line) with a model of the chip that checks the times of its data sheet. Lines
// are written in part or whole and read back, at random addresses and with random pauses, and compared with an array.
// The chip's clock and data have the delays of the board: the chip's edge comes `lag` after the controller's; data
// change T_OH to T_AC after the chip's edge, and are wrong in between. +count=N requests (default 4000), +seed=N.
// Two plusargs must make the bench fail: +lag=PS with a lag that the board does not have (0, 12000), and
// +fault=refresh, with which the chip gets no refresh command.
`timescale 1ps / 1ps
module tb;
  localparam int ROW_W = 11, COL_W = 8, LINES = 1 << (ROW_W + COL_W - 3), LINE_W = ROW_W + COL_W - 3;
  localparam int PERIOD = 20000, PIN = 3000, T_AC = 6000, T_OH = 2500;
  int lag = PERIOD / 4;

  logic clk = 0, chip_clk = 0, rst = 1;
  always #(PERIOD / 2) clk = !clk;

  logic valid = 0, ready, write = 0, rsp_valid, cke, cs_n, ras_n, cas_n, we_n, dq_oe, chip_oe;
  logic [LINE_W-1:0] line = '0;
  logic [511:0] wdata = '0, rdata;
  logic [63:0] be = '0;
  logic [1:0] ba, dqm;
  logic [ROW_W-1:0] a;
  logic [15:0] dq, chip_dq, chip_pin, dq_in;
  string fault = "";

  sdram_line #(.CLOCK_HZ(50000000), .ROW_W(ROW_W), .COL_W(COL_W), .START_NS(200000)) dut (
      .clk_i(clk), .rst_i(rst), .req_valid_i(valid), .req_ready_o(ready), .req_write_i(write), .req_line_i(line),
      .req_wdata_i(wdata), .req_be_i(be), .rsp_valid_o(rsp_valid), .rsp_data_o(rdata), .cke_o(cke), .cs_n_o(cs_n),
      .ras_n_o(ras_n), .cas_n_o(cas_n), .we_n_o(we_n), .ba_o(ba), .a_o(a), .dqm_o(dqm), .dq_o(dq), .dq_oe_o(dq_oe),
      .dq_i(dq_in)
  );
  // Commands and the chip's clock have the same delay to the chip. Data of a read are delayed by PIN in each direction.
  logic [31:0] pins, held;
  assign pins = {cke, cs_n, ras_n, cas_n, we_n, ba, dqm, dq, dq_oe, 6'b0};
  logic [ROW_W-1:0] a_held;
  always @(posedge clk) begin
    #(lag) held = pins;
    a_held = a;
    chip_clk = 1;
    #(PERIOD / 2 - 1000) chip_clk = 0;
  end
  sdram_chip #(.ROW_W(ROW_W), .COL_W(COL_W), .PERIOD_PS(PERIOD)) chip (
      .clk_i(chip_clk), .cke_i(held[31]), .cs_n_i(held[30] || (fault == "refresh" && held[29:27] == 3'b001 &&
                                                                chip.started == 100)),
      .ras_n_i(held[29]), .cas_n_i(held[28]), .we_n_i(held[27]), .ba_i(held[26:25]), .a_i(a_held),
      .dqm_i(held[24:23]), .dq_i(held[22:7]), .dq_driven_i(held[6]), .dq_o(chip_dq), .dq_oe_o(chip_oe)
  );
  always @(posedge chip_clk) begin
    #(T_OH) chip_pin = ~chip_dq;
    #(T_AC - T_OH) chip_pin = chip_dq;
  end
  always @(chip_pin) dq_in <= #(2 * PIN) chip_pin;

  logic [511:0] model[0:LINES-1];
  bit known[0:LINES-1];
  int seed, count, done = 0, cycles = 0;
  always @(posedge clk) cycles++;

  task automatic fill();
    for (int i = 0; i < 16; i++) wdata[32*i+:32] = $urandom;
  endtask

  task automatic request(input bit w, input int l, input logic [63:0] bytes);
    int waited = 0;
    @(negedge clk);
    valid = 1;
    write = w;
    line = LINE_W'(l);
    be = bytes;
    fill();
    while (!ready) begin
      @(negedge clk);
      waited++;
      if (waited > 12000) $fatal(1, "a request is not taken");
    end
    if (w) begin
      for (int i = 0; i < 64; i++) if (bytes[i]) model[l][8*i+:8] = wdata[8*i+:8];
      known[l] |= bytes == '1;
    end
    @(negedge clk) valid = 0;
    fill();  // data after the request must not be written
    waited = 0;
    while (!rsp_valid) begin
      @(negedge clk);
      waited++;
      if (waited > 60) $fatal(1, "a request is not answered");
    end
    report::compared(1);
    if (!w && rdata !== model[l]) $fatal(1, "line %0d: %h instead of %h", l, rdata, model[l]);
    done++;
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 4000;
    if (!$value$plusargs("fault=%s", fault)) fault = "";
    void'($value$plusargs("lag=%d", lag));
    $display("seed %0d", seed);
    void'($urandom(seed));
    repeat (4) @(negedge clk);
    rst = 0;
    // both ends of the address range, then random lines
    request(1, 0, '1);
    request(1, LINES - 1, '1);
    request(0, 0, '0);
    request(0, LINES - 1, '0);
    while (done < count) begin
      automatic int l = int'($urandom_range(15)) * (LINES / 16) + int'($urandom_range(31));
      automatic logic [63:0] bytes = $urandom_range(1) != 0 ? '1 : {$urandom, $urandom};
      if (!known[l]) request(1, l, '1);
      else if ($urandom_range(1) != 0) request(1, l, bytes);
      else request(0, l, '0);
      if ($urandom_range(19) == 0) repeat (int'($urandom_range(1200))) @(negedge clk);
    end
    if (chip.reads < longint'(count) * 4 || chip.refreshes < (cycles - 10000) / 391)
      $fatal(1, "%0d reads, %0d refreshes: too few", chip.reads, chip.refreshes);
    $display("%0d requests, %0d refreshes in %0d cycles", done, chip.refreshes, cycles);
    report::pass();
  end
endmodule
