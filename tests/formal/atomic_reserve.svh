// SPDX-License-Identifier: Apache-2.0
// Properties of atomic_reserve, for each engine: a thread that took the reservation keeps it from other threads for
// 2^HOLD_LOG2 cycles, and each write to its word ends it.
logic f_started_q = 1'b0;
always_ff @(posedge clk_i) f_started_q <= 1'b1;
always_comb assume (rst_i == !f_started_q);

for (genvar e = 0; e < ENGINES; e++) begin : g_proof
  logic f_valid_q, f_written_q, f_lr_q, f_taken;
  logic [31:0] f_thread_q;
  logic [HOLD_LOG2:0] f_held, f_held_q;  // cycles since the thread took the reservation, up to 2^HOLD_LOG2
  assign f_taken = !f_valid_q || g_engine[e].thread_q != f_thread_q;
  assign f_held = f_taken ? '0 : f_held_q + (HOLD_LOG2 + 1)'(!f_held_q[HOLD_LOG2]);
  always_ff @(posedge clk_i) begin
    f_valid_q <= g_engine[e].valid_q && !rst_i;
    f_thread_q <= g_engine[e].thread_q;
    f_held_q <= f_held;
    f_lr_q <= lr_i && engine_i[e];
    f_written_q <= (g_engine[e].line_q == line_i && (g_engine[e].word_q & wr_words_i) != '0) ||
        (plain_valid_i && g_engine[e].line_q == plain_line_i && (g_engine[e].word_q & plain_words_i) != '0);
  end
  always_comb
    if (f_started_q && g_engine[e].valid_q) begin
      assert (f_held == g_engine[e].age_q);
      assert (!f_valid_q || !f_taken || f_held_q[HOLD_LOG2]);
      assert (!f_valid_q || !f_written_q || f_lr_q);
    end
end
