// SPDX-License-Identifier: Apache-2.0
// Simulation model of an SDR SDRAM chip: 4 banks of 2^ROW_W rows of 2^COL_W words of 16 bits, burst length 1, CAS
// latency 2 or 3. The run ends if a command violates a time or an order of the data sheet (IS42S16160G-7), if there are
// too few refreshes, or if both sides drive the data pins.
//
// clk_i is the clock at the chip's pin, which lags the controller's clock by part of a period. Data of a read change
// after edge CAS - 1 after the command; dq_oe_o is set while the chip drives them. The model has LINES lines of 64
// bytes.
module sdram_chip #(
    parameter int ROW_W = 13,
    parameter int COL_W = 9,
    parameter int LINES = 1 << (ROW_W + COL_W - 3),
    parameter int PERIOD_PS = 20000,
    parameter int START_NS = 200000
) (
    input  logic             clk_i,
    input  logic             cke_i,
    input  logic             cs_n_i,
    input  logic             ras_n_i,
    input  logic             cas_n_i,
    input  logic             we_n_i,
    input  logic [      1:0] ba_i,
    input  logic [ROW_W-1:0] a_i,
    input  logic [      1:0] dqm_i,
    input  logic [     15:0] dq_i,
    input  logic             dq_driven_i,  // by the controller
    output logic [     15:0] dq_o,
    output logic             dq_oe_o
);
  localparam int T_RCD = 20000, T_RP = 20000, T_RAS = 45000, T_RC = 67500, T_RFC = 67500, T_WR = 15000, T_RRD = 14000;
  localparam longint REFRESH_PS = 7812500;  // average period: 8192 rows in 64 ms

  logic [511:0] mem[0:LINES-1];
  longint now = 0, opened[0:3], closed[0:3], written[0:3], refreshed = 0, last_open = -1000000000;
  longint begun = 0;
  int refreshes = 0, cas = 0, started = 0;  // started: 1 after precharge, +1 a refresh, 100 in use
  logic open[0:3];
  logic [ROW_W-1:0] row[0:3];
  logic [15:0] out[0:3];
  logic [3:0] out_valid = '0;
  longint reads = 0, writes = 0;

  initial for (int b = 0; b < 4; b++) begin
    open[b] = 0;
    opened[b] = -1000000000;
    closed[b] = -1000000000;
    written[b] = -1000000000;
  end

  // Returns the line of 64 bytes that contains an address.
  function automatic int line_of(input logic [1:0] bank, input logic [ROW_W-1:0] r, input logic [COL_W-1:0] c);
    line_of = (int'(r) << (COL_W - 3)) | (int'(bank) << (COL_W - 5)) | int'(c >> 5);
  endfunction

  task automatic broken(input string what);
    $display("sdram_chip: %s at %0d ps", what, now);
    $fatal(1, "the SDRAM's rules are broken");
  endtask

  task automatic close(input logic [1:0] b, input longint when_ps);
    if (open[b] && when_ps - opened[b] < T_RAS) broken("precharge before tRAS");
    open[b] = 0;
    closed[b] = when_ps;
  endtask

  logic [COL_W-1:0] column;
  int line, word;
  assign column = a_i[COL_W-1:0];

  always @(posedge clk_i) begin
    now += longint'(PERIOD_PS);
    out_valid = {1'b0, out_valid[3:1]};
    for (int i = 0; i < 3; i++) out[i] = out[i+1];
    if (cke_i && !cs_n_i) case ({ras_n_i, cas_n_i, we_n_i})
      3'b111: ;
      3'b011: begin
        if (started != 100) broken("activate before the start is over");
        if (open[ba_i]) broken("activate of an open bank");
        if (now - closed[ba_i] < T_RP) broken("activate before tRP");
        if (now - opened[ba_i] < T_RC) broken("activate before tRC");
        if (now - last_open < T_RRD) broken("activate before tRRD");
        if (refreshes > 0 && now - refreshed < T_RFC) broken("activate before tRFC");
        open[ba_i] = 1;
        row[ba_i] = a_i;
        opened[ba_i] = now;
        last_open = now;
      end
      3'b101, 3'b100: begin
        if (!open[ba_i]) broken("column of a closed bank");
        if (now - opened[ba_i] < T_RCD) broken("column before tRCD");
        line = line_of(ba_i, row[ba_i], column);
        word = int'(column[4:0]);
        if (line >= LINES) broken("address outside of what the model keeps");
        if (we_n_i) begin
          out[cas-1] = mem[line][16*word+:16];
          out_valid[cas-1] = 1;
          if (dq_driven_i) broken("the controller drives while it reads");
          if (dqm_i != '0) broken("a read is masked");
          reads++;
        end else begin
          if (!dq_driven_i) broken("a write without data");
          if (out_valid != '0) broken("a write while data of a read come");
          if (!dqm_i[0]) mem[line][16*word+:8] = dq_i[7:0];
          if (!dqm_i[1]) mem[line][16*word+8+:8] = dq_i[15:8];
          written[ba_i] = now;
          writes++;
        end
        // auto-precharge, which begins tWR after the last data of a write
        if (a_i[10]) close(ba_i, we_n_i ? now : now + longint'(T_WR));
      end
      3'b010: begin
        for (int b = 0; b < 4; b++) if (a_i[10] || ba_i == 2'(b)) begin
          if (now - written[b] < T_WR) broken("precharge before tWR");
          close(2'(b), now);
        end
        if (started == 0) begin
          if (now < longint'(START_NS) * 1000) broken("the first command comes too early");
          started = 1;
        end
      end
      3'b001: begin
        for (int b = 0; b < 4; b++) begin
          if (open[b]) broken("refresh of an open bank");
          if (now - closed[b] < T_RP) broken("refresh before tRP");
        end
        if (started == 0) broken("refresh before precharge");
        if (refreshes > 0 && now - refreshed < T_RFC) broken("refresh before tRFC");
        refreshed = now;
        refreshes++;
        if (started < 100) started++;
      end
      3'b000: begin
        if (started < 3) broken("mode before two refreshes");
        if (now - refreshed < T_RFC) broken("mode before tRFC");
        if (a_i[2:0] != 0 || a_i[3] || !(a_i[6:4] inside {3'd2, 3'd3})) broken("a mode that this model does not know");
        cas = int'(a_i[6:4]);
        started = 100;
        begun = now - longint'(refreshes) * REFRESH_PS;
      end
      default: broken("burst stop");
    endcase
    // refreshes may be late by 8 periods, but their number must be right
    if (started == 100 && now - begun > longint'(refreshes + 8) * REFRESH_PS) broken("too few refreshes");
    dq_oe_o <= out_valid[0];
    dq_o <= out_valid[0] ? out[0] : 16'hdead;
  end
  always @(negedge clk_i) if (dq_driven_i && dq_oe_o) broken("both sides drive the data pins");
endmodule
