// SPDX-License-Identifier: Apache-2.0
// A controller of one SDR SDRAM chip of 16 bits: it reads and writes lines of 64 bytes, refreshes the chip and
// initialises it.
//
// Contract: a request is taken when req_valid_i and req_ready_o are high. One pulse of rsp_valid_o answers it, a read
// with its data in rsp_data_o. The next request is taken after the answer. Bytes whose req_be_i is low are not written.
// A line is 32 columns of one row: the controller activates the row, sends one column command a cycle (burst length 1)
// and precharges with the last one. A line takes 32 cycles and about 10 cycles of waiting. Refreshes have priority over
// requests, so every row is refreshed within 64 ms whatever the load. After reset the chip is initialised (200 us); no
// request is taken before.
//
// All signals of the pins go through the registers of their pads (syn_useioff). Only the output enable of the data pins
// takes longer, so it changes a cycle before the first data. The clock of the chip lags clk_i by a quarter of a period.
// The chip therefore samples a command in the cycle after its stage here, and the data of a read come back SAMPLE
// cycles after that stage. The timing parameters are those of the slowest grade of common chips (-7: IS42S16160G,
// AS4C16M16SA, W9825G6KH).
// Rows are not kept open: a line is as long as eight bursts, and a row holds only 16 lines.
module sdram_line #(
    parameter int CLOCK_HZ = 50000000,  // Clock frequency in Hz, 16 to 66 MHz.
    parameter int ROW_W    = 13,        // Bits of a row address, at least 11.
    parameter int COL_W    = 9,         // Bits of a column address, 5 to 10.
    parameter int START_NS = 200000,    // Time that the chip needs after power-on, in ns; less in simulation.
    localparam int LINE_W  = 2 + ROW_W + COL_W - 5
) (
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic              req_valid_i,
    output logic              req_ready_o,
    input  logic              req_write_i,
    input  logic [LINE_W-1:0] req_line_i,    // {row, bank, line in the row}.
    input  logic [     511:0] req_wdata_i,
    input  logic [      63:0] req_be_i,
    output logic              rsp_valid_o,
    output logic [     511:0] rsp_data_o,
    // Pins of the chip.
    (* syn_useioff *) output logic             cke_o,
    output logic              cs_n_o,
    (* syn_useioff *) output logic             ras_n_o,
    (* syn_useioff *) output logic             cas_n_o,
    (* syn_useioff *) output logic             we_n_o,
    (* syn_useioff *) output logic [      1:0] ba_o,
    (* syn_useioff *) output logic [ROW_W-1:0] a_o,
    (* syn_useioff *) output logic [      1:0] dqm_o,
    (* syn_useioff *) output logic [     15:0] dq_o,
    output logic              dq_oe_o,
    input  logic [      15:0] dq_i
);
  localparam int CAS = 2;  // CAS latency in cycles.
  localparam int SAMPLE = CAS + 1;  // Cycles from the stage of a read command to its data in dq_q.
  localparam int KHZ = CLOCK_HZ / 1000;
  // Timing parameters of the chip in cycles, rounded up from ns.
  localparam int T_RCD = KHZ < 48000 ? 2 : (21 * KHZ + 999999) / 1000000;  // One cycle turns the data pins.
  localparam int T_RP = (21 * KHZ + 999999) / 1000000;
  localparam int T_RFC = (70 * KHZ + 999999) / 1000000;
  localparam int T_WR = 2 + (15 * KHZ + 999999) / 1000000;  // Cycles from the command with the last data.
  localparam int T_MRD = 2;
  localparam int T_AFTER = T_WR + T_RP > SAMPLE + 1 ? T_WR + T_RP : SAMPLE + 1;
  localparam int T_START = START_NS / 1000 * KHZ / 1000;
  // 8192 rows in 64 ms. A refresh waits for the request in progress, for which 64 cycles are subtracted.
  localparam int T_REFRESH = 64 * KHZ / 8192 - 64;
  localparam int WAIT_W = $clog2(T_START + 16);
  localparam int REFRESH_W = $clog2(T_REFRESH + 1);

  generate
    if (COL_W < 5 || COL_W > 10 || ROW_W < 11 || CLOCK_HZ < 16000000 || CLOCK_HZ > 66000000) begin : g_check
      $error("sdram_line: COL_W, ROW_W or CLOCK_HZ out of range");
    end
  endgenerate

  // Commands: {ras_n, cas_n, we_n}.
  localparam logic [2:0] NOP = 3'b111, ACTIVATE = 3'b011, READ = 3'b101, WRITE = 3'b100, PRECHARGE = 3'b010,
                         REFRESH = 3'b001, MODE = 3'b000;
  // States. START waits for the power of the chip, CLOSE precharges all banks, REFRESH refreshes a row, MODE sets the
  // mode register. ROW activates the row of a request, COLUMN sends its 32 column commands, AFTER waits for the
  // precharge or for the last data of a read.
  localparam logic [2:0] S_START = 3'd0, S_CLOSE = 3'd1, S_REFRESH = 3'd2, S_MODE = 3'd3, S_IDLE = 3'd4, S_ROW = 3'd5,
                         S_COLUMN = 3'd6, S_AFTER = 3'd7;

  logic [2:0] state_q;
  logic [WAIT_W-1:0] wait_q;
  logic [3:0] starts_q;  // Refreshes of the initialisation that are left, the current one included.
  logic [REFRESH_W-1:0] age_q;  // Cycles to the next refresh.
  logic due_q, write_q, take, waited;
  logic [4:0] column_q;
  logic [LINE_W-1:0] line_q;
  logic [511:0] data_q;
  logic [63:0] be_q;
  logic [SAMPLE-1:0] coming_q;  // Reads whose data have not arrived, by cycle.
  (* syn_useioff *) logic [15:0] dq_q;

  assign waited = wait_q == '0;
  assign req_ready_o = state_q == S_IDLE && waited && !due_q;
  assign take = req_valid_i && req_ready_o;
  assign rsp_valid_o = state_q == S_AFTER && waited;
  assign rsp_data_o = data_q;
  assign cs_n_o = 1'b0;

  // ------------------------------------------------------------------ states: wait_q counts down, then the next step
  always_ff @(posedge clk_i) begin
    if (!waited) wait_q <= wait_q - 1'b1;
    else begin
      case (state_q)
        S_START: state_q <= S_CLOSE;
        S_CLOSE: begin
          state_q <= S_REFRESH;
          wait_q <= WAIT_W'(T_RP - 1);
        end
        S_REFRESH: begin
          wait_q <= WAIT_W'(T_RFC - 1);
          state_q <= starts_q > 4'd1 ? S_REFRESH : starts_q == 4'd1 ? S_MODE : S_IDLE;
          if (starts_q != '0) starts_q <= starts_q - 1'b1;
        end
        S_MODE: begin
          wait_q <= WAIT_W'(T_MRD - 1);
          state_q <= S_IDLE;
        end
        S_IDLE: begin
          if (due_q) state_q <= S_REFRESH;
          else if (take) state_q <= S_ROW;
        end
        S_ROW: begin
          state_q <= S_COLUMN;
          wait_q <= WAIT_W'(T_RCD - 1);
        end
        S_COLUMN:
        if (&column_q) begin
          state_q <= S_AFTER;
          wait_q <= WAIT_W'(T_AFTER - 1);
        end
        default: state_q <= S_IDLE;
      endcase
    end
    if (rst_i) begin
      state_q <= S_START;
      wait_q <= WAIT_W'(T_START);
      starts_q <= 4'd8;
    end
  end

  // ------------------------------------------------------------------ refresh
  always_ff @(posedge clk_i) begin
    age_q <= age_q == '0 ? REFRESH_W'(T_REFRESH) : age_q - 1'b1;
    if (age_q == '0) due_q <= 1'b1;
    else if (state_q == S_REFRESH && waited) due_q <= 1'b0;
    if (rst_i) begin
      age_q <= REFRESH_W'(T_REFRESH);
      due_q <= 1'b0;
    end
  end

  // ------------------------------------------------------------------ data
  logic column;
  assign column = state_q == S_COLUMN && waited;
  always_ff @(posedge clk_i) begin
    dq_q <= dq_i;
    coming_q <= {coming_q[SAMPLE-2:0], column && !write_q};
    if (take) begin
      line_q <= req_line_i;
      write_q <= req_write_i;
      column_q <= '0;
      be_q <= req_be_i;
    end
    if (column) begin
      column_q <= column_q + 1'b1;
      be_q <= {2'b0, be_q[63:2]};
    end
    if (take) data_q <= req_wdata_i;
    else if (coming_q[SAMPLE-1] || (column && write_q)) data_q <= {dq_q, data_q[511:16]};
    if (rst_i) coming_q <= '0;
  end

  // ------------------------------------------------------------------ pins
  always_ff @(posedge clk_i) begin
    {ras_n_o, cas_n_o, we_n_o} <= NOP;
    dqm_o <= 2'b00;
    dq_oe_o <= write_q && state_q == S_COLUMN;
    dq_o <= data_q[15:0];
    // Each register gets a new value in every cycle, since the register of a pad has no feedback path to hold one.
    ba_o <= state_q == S_MODE ? '0 : line_q[COL_W-4:COL_W-5];
    a_o <= '0;
    if (waited)
      case (state_q)
        S_CLOSE: begin
          {ras_n_o, cas_n_o, we_n_o} <= PRECHARGE;
          a_o <= '1;  // Bit 10: all banks.
        end
        S_REFRESH: {ras_n_o, cas_n_o, we_n_o} <= REFRESH;
        S_MODE: begin
          {ras_n_o, cas_n_o, we_n_o} <= MODE;
          a_o <= ROW_W'(CAS << 4);  // Burst length 1.
        end
        S_ROW: begin
          {ras_n_o, cas_n_o, we_n_o} <= ACTIVATE;
          a_o <= line_q[LINE_W-1-:ROW_W];
        end
        S_COLUMN: begin
          {ras_n_o, cas_n_o, we_n_o} <= write_q ? WRITE : READ;
          a_o <= ROW_W'({line_q[COL_W-6:0], column_q});
          a_o[10] <= &column_q;  // Precharge with the last column.
          if (write_q) dqm_o <= ~be_q[1:0];
        end
        default: ;
      endcase
    if (rst_i) {ras_n_o, cas_n_o, we_n_o} <= NOP;
    if (rst_i) dq_oe_o <= 1'b0;
    cke_o <= !rst_i;
  end
endmodule
