// SPDX-License-Identifier: Apache-2.0
// A frame ends only with a right check sequence, and if each of its bytes arrived whole and was taken: these stand
// inside link_deframe for the prover (tests/formal/link_deframe.proof). Bytes are 20 cycles apart, as a line of 4
// cycles a bit has them; only what the ring has room for is put. link_crc is left out; by its own proof it is ready
// 8 cycles after a byte, and stays as it is.
logic f_started_q = 1'b0, f_wrong_q;
logic [4:0] f_gap_q;
logic [31:0] f_crc_q;
always_ff @(posedge clk_i) begin
  f_crc_q <= crc;
  f_started_q <= 1'b1;
  f_gap_q <= valid_i || error_i ? 5'd0 : f_gap_q == 5'd20 ? f_gap_q : f_gap_q + 1'b1;
  f_wrong_q <= !flag && (f_wrong_q || error_i || (content && count_q[2] && full_i));
  if (rst_i) {f_gap_q, f_wrong_q} <= '0;
end
always_comb begin
  assume (f_started_q || rst_i);
  if (f_gap_q != 5'd20) assume (!valid_i && !error_i);
  assume (!(valid_i && error_i));
  if (f_started_q && !rst_i) begin
    assert (f_gap_q <= 5'd20 && count_q <= 3'd4);
    assert (!f_wrong_q || bad_q);
    if (f_gap_q > 5'd8) assume (crc_ready);
    if (f_gap_q > 5'd9) assume (crc == f_crc_q);
    if (f_gap_q == 5'd20 && good_q) assert (crc == GOOD && count_q[2] && !escape_q && !bad_q);
    if (end_o) assert (crc == GOOD && count_q[2] && !escape_q && !f_wrong_q);
    assert (!(end_o && drop_o) && !(put_o && (end_o || drop_o)));
    assert (!flag || end_o || drop_o);
    assert (!(put_o && full_i));
  end
end
