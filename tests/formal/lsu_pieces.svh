// SPDX-License-Identifier: Apache-2.0
// Properties of lsu_pieces: the pieces that are announced fit into the queue, and those of memory and those of local
// memory come in different cycles. While a piece of memory waits, one local piece starts at most, and with two places
// it starts in the third cycle at latest. While local memory has no credit, one piece of memory starts at most, and
// with a place it has credit in the third cycle at latest. Assumed: a piece starts only with its credit; memory wants
// what it starts, wants it until it starts, and starts if it can; pieces come as long after they started as the
// contract says.
logic f_start_q = 1'b1, f_in, f_want_q = 1'b0;
logic [2:0] f_memory_q = '0;  // pieces of memory that started one, two and three cycles ago
logic [3:0] f_local_q = '0;   // pieces of local memory, one to four cycles ago
logic [1:0] f_memory_waits_q = '0, f_local_waits_q = '0;  // cycles, since there was credit, in which places were left
logic [1:0] f_memory_behind_q = '0, f_local_behind_q = '0;  // pieces of the other kind that started meanwhile
logic [4:0] f_flying;

assign f_in = f_memory_q[2] || f_local_q[3];
assign f_flying = 5'(f_memory_q[0]) + 5'(f_memory_q[1]) + 5'(f_memory_q[2]) + 5'(f_local_q[0]) + 5'(f_local_q[1]) +
    5'(f_local_q[2]) + 5'(f_local_q[3]);
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_memory_q <= rst_i ? '0 : {f_memory_q[1:0], memory_start_i};
  f_local_q <= rst_i ? '0 : {f_local_q[2:0], local_start_i};
  f_want_q <= memory_want_i && !memory_start_i && !rst_i;
  f_memory_waits_q <= rst_i || memory_credit_o || !memory_want_i ? '0 : f_memory_waits_q + 2'(credit_q > 5'd1);
  f_local_waits_q <= rst_i || local_credit_o ? '0 : f_local_waits_q + 2'(credit_q != '0);
  f_memory_behind_q <= rst_i || memory_start_i || !memory_want_i ? '0 : f_memory_behind_q + 2'(local_start_i);
  f_local_behind_q <= rst_i || local_credit_o ? '0 : f_local_behind_q + 2'(memory_start_i);
  if (f_start_q) assume (rst_i);
  assume (in_valid_i == f_in);
  assume (!(rst_i && (memory_start_i || local_start_i)));
  assume (!memory_start_i || (memory_credit_o && memory_want_i));
  assume (!local_start_i || local_credit_o);
  assume (!out_take_i || out_valid_o);
  if (f_want_q) assume (memory_want_i || rst_i);
  if (memory_want_i && memory_credit_o && !rst_i) assume (memory_start_i);
  if (!f_start_q && !rst_i) begin
    // the promises
    assert (!(f_memory_q[2] && f_local_q[3]));
    assert (!in_valid_i || count_q < 5'd16);
    assert (f_memory_waits_q <= 2'd2 && f_local_waits_q <= 2'd2);
    assert (f_memory_behind_q <= 2'd1 && f_local_behind_q <= 2'd1);
    assert (idle_o == (count_q == '0 && f_flying == '0));
    // induction
    assert (credit_q + count_q + f_flying == 5'd16 && credit_q <= 5'd16 && count_q <= 5'd16);
    assert (local_q == f_local_q[0] && waits_q == (f_want_q && last_q) && (!local_q || last_q));
    if (f_want_q) assert (f_memory_behind_q == 2'd0 || last_q);
    if (f_local_behind_q != '0) assert (!last_q);
    if (!f_want_q) assert (f_memory_waits_q == '0 && f_memory_behind_q == '0);
    if (f_memory_waits_q == 2'd1) assert (last_q);
    if (f_memory_waits_q == 2'd2) assert (waits_q && !local_q);
    if (f_local_waits_q == 2'd1) assert (!local_q || credit_q == '0);
    if (f_local_waits_q == 2'd1 && last_q) assert (waits_q && credit_q != '0);
    if (f_local_waits_q == 2'd2) assert (!last_q);
    assert (!(f_memory_q[0] && f_local_q[1]) && !(f_memory_q[1] && f_local_q[2]));
  end
end
