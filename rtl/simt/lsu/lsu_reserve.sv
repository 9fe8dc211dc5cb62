// SPDX-License-Identifier: Apache-2.0
// Reservation of LR and SC in local memory: one reservation, of one hardware thread for one word.
//
// Contract: bank_i (one-hot) and row_i name the word. With lr_i the thread takes the reservation, unless another thread
// holds one that is younger than 2^HOLD_LOG2 cycles; without this protection, threads in lockstep would take it from
// each other, and no SC would succeed. holds_o: the thread holds it for this word; sc_i gives it up. Every write of the
// word (wr_*) ends it.
// State saved at preemption: none; an SC after a resume may fail, as the architecture allows.
module lsu_reserve #(
    parameter int BANKS = 16,     // banks of local memory
    parameter int ROW_W = 10,     // bits of a row
    parameter int THREAD_W = 8,   // bits of a hardware thread
    parameter int HOLD_LOG2 = 13  // log2 of the cycles that a reservation is safe
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  logic [BANKS-1:0]       bank_i,
    input  logic [ROW_W-1:0]       row_i,
    input  logic [THREAD_W-1:0]    thread_i,
    input  logic                   lr_i,
    input  logic                   sc_i,
    output logic                   holds_o,
    input  logic [BANKS-1:0]       wr_bank_i,
    input  logic [BANKS*ROW_W-1:0] wr_row_i
);
  logic valid_q, same_thread, lost;
  logic [BANKS-1:0] bank_q;
  logic [ROW_W-1:0] row_q, wr_row;
  logic [THREAD_W-1:0] thread_q;
  logic [HOLD_LOG2:0] age_q;  // msb: old enough for another thread to take

  assign same_thread = thread_q == thread_i;
  assign holds_o = valid_q && same_thread && bank_q == bank_i && row_q == row_i;
  assign lost = valid_q && |(bank_q & wr_bank_i) && row_q == wr_row;

  always_comb begin
    wr_row = '0;
    if (valid_q && |wr_bank_i)
      for (int b = 0; b < BANKS; b++) wr_row = wr_row | ({ROW_W{bank_q[b]}} & wr_row_i[b*ROW_W+:ROW_W]);
  end

  always_ff @(posedge clk_i) begin
    if (valid_q && !age_q[HOLD_LOG2]) age_q <= age_q + 1'b1;
    if (lost || (sc_i && same_thread)) valid_q <= 1'b0;
    if (lr_i && (!valid_q || same_thread || age_q[HOLD_LOG2])) begin
      valid_q <= 1'b1;
      bank_q <= bank_i;
      row_q <= row_i;
      thread_q <= thread_i;
      age_q <= '0;
    end
    if (rst_i) valid_q <= 1'b0;
  end
endmodule
