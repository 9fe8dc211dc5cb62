// SPDX-License-Identifier: Apache-2.0
// Properties of link_deframe: a frame ends only with a right check sequence, and only if each of its bytes arrived
// whole and was taken. Assumed: bytes are 20 cycles apart, as on a line with 4 cycles a bit. link_crc is cut out. The
// proof assumes what link_crc's own proof shows: it is ready 8 cycles after a byte, and its value stays.
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
