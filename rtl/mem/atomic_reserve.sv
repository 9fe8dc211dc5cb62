// SPDX-License-Identifier: Apache-2.0
// The reservations of LR and SC: one for each engine, held by a hardware thread for a word.
//
// Contract: lr_i gives the thread the reservation of its engine, unless another thread of the engine holds one that is
// younger than 2^HOLD_LOG2 cycles. Threads that take the reservation from each other in lockstep would otherwise never
// store. That time is longer than one LR and one SC of all threads of an engine take, 1,024 threads with 32 lanes and
// 32 warps. holds_o: the thread holds the reservation for this word. sc_i gives it up. Every write to a word, by any
// engine, ends all reservations for it: wr_words_i are the words that an atomic writes (an SC that stores, too),
// plain_* those of a plain write.
// Preemption: no state is saved; an SC after a resume may fail.
module atomic_reserve #(
    parameter int ENGINES = 2,    // Number of engines.
    parameter int HOLD_LOG2 = 13  // log2 of the cycles for which a reservation cannot be taken over.
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic [ENGINES-1:0] engine_i,        // One-hot.
    input  logic [       27:0] line_i,
    input  logic [       15:0] word_i,          // One-hot for LR and SC.
    input  logic [       31:0] thread_i,
    input  logic               lr_i,
    input  logic               sc_i,
    output logic               holds_o,
    input  logic [       15:0] wr_words_i,      // Words of line_i; zero: nothing is written.
    input  logic               plain_valid_i,
    input  logic [       27:0] plain_line_i,
    input  logic [       15:0] plain_words_i,
    input  logic [ENGINES-1:0] forget_i,        // The thread of an engine has an LR or SC at another port.
    input  logic [32*ENGINES-1:0] forget_thread_i
);
  logic [ENGINES-1:0] holds;
  assign holds_o = |holds;

  for (genvar e = 0; e < ENGINES; e++) begin : g_engine
    logic valid_q, same_thread;
    logic [27:0] line_q;
    logic [15:0] word_q;
    logic [31:0] thread_q;
    logic [HOLD_LOG2:0] age_q;  // Top bit: old enough to be taken over.
    assign same_thread = thread_q == thread_i;
    assign holds[e] = valid_q && engine_i[e] && same_thread && line_q == line_i && word_q == word_i;

    always_ff @(posedge clk_i) begin
      if (valid_q) begin
        if (!age_q[HOLD_LOG2]) age_q <= age_q + 1'b1;
        if (line_q == line_i && |(word_q & wr_words_i)) valid_q <= 1'b0;
        if (plain_valid_i && line_q == plain_line_i && |(word_q & plain_words_i)) valid_q <= 1'b0;
        if (sc_i && engine_i[e] && same_thread) valid_q <= 1'b0;
        if (forget_i[e] && thread_q == forget_thread_i[32*e+:32]) valid_q <= 1'b0;
      end
      if (lr_i && engine_i[e] && (!valid_q || same_thread || age_q[HOLD_LOG2])) begin
        valid_q <= 1'b1;
        line_q <= line_i;
        word_q <= word_i;
        thread_q <= thread_i;
        if (!valid_q || !same_thread) age_q <= '0;
      end
      if (rst_i) valid_q <= 1'b0;
    end
  end
endmodule
