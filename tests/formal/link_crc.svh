// SPDX-License-Identifier: Apache-2.0 Properties of link_crc: ready_o is high 8 cycles after a byte, and crc_o then
// stays until the next byte or frame. That crc_o is the right value is not proved here: the test board.link checks it
// with each frame.
logic f_started_q = 1'b0, f_rest_q;
logic [3:0] f_since_q;
logic [31:0] f_crc_q;
always_ff @(posedge clk_i) begin
  f_started_q <= 1'b1;
  f_since_q <= valid_i ? 4'd0 : f_since_q == 4'd8 ? f_since_q : f_since_q + 1'b1;
  f_rest_q <= ready_o && !clear_i && !rst_i;
  f_crc_q <= crc_o;
  if (rst_i) f_since_q <= 4'd8;
end
always_comb begin
  assume (f_started_q || rst_i);
  if (f_started_q && !rst_i) begin
    assert (f_since_q <= 4'd8 && left_q == 4'd8 - f_since_q);
    if (f_since_q == 4'd8) assert (ready_o);
    if (f_rest_q) assert (crc_o == f_crc_q);
  end
end
