// SPDX-License-Identifier: Apache-2.0
// Properties of link_ring, for any one byte: it comes out only after its frame has ended, then once and as it was put,
// and never if its frame was dropped.
localparam logic [1:0] F_NONE = 2'd0, F_PUT = 2'd1, F_ENDED = 2'd2, F_OUT = 2'd3;
(* anyseq *) logic f_pick;
logic f_started_q = 1'b0, f_fetch, f_drop_q;
logic [1:0] f_state_q;
logic [DEPTH_LOG2-1:0] f_at_q, f_used;
logic [7:0] f_data_q;

assign f_fetch = (!valid_o || ready_i) && rd_q != end_q;
assign f_used = wr_q - rd_q;
always_ff @(posedge clk_i) begin
  f_started_q <= 1'b1;
  f_drop_q <= drop_i && !rst_i;
  if (f_state_q == F_NONE && f_pick && put_i && !full_o) begin
    f_state_q <= F_PUT;
    f_at_q <= wr_q;
    f_data_q <= data_i;
  end
  if (f_state_q == F_PUT && drop_i) f_state_q <= F_NONE;
  if (f_state_q == F_PUT && end_i && !full_o) f_state_q <= F_ENDED;
  if (f_state_q == F_ENDED && f_fetch && rd_q == f_at_q) f_state_q <= F_OUT;
  if (f_state_q == F_OUT && ready_i) f_state_q <= F_NONE;
  if (rst_i) f_state_q <= F_NONE;
end
always_comb begin
  assume (f_started_q || rst_i);
  assume (put_i + end_i + drop_i <= 2'd1);
  if (f_started_q && !rst_i) begin
    assert (used_q >= f_used);
    if (f_drop_q) assert (wr_q == end_q);
    assert (end_q - rd_q <= f_used);
    if (room_o) assert (f_used + DEPTH_LOG2'(ROOM) < DEPTH_LOG2'((1 << DEPTH_LOG2) - 1));
    if (f_state_q == F_PUT) begin
      assert (f_at_q - end_q < wr_q - end_q && f_at_q - rd_q < f_used);
      assert (!(f_fetch && rd_q == f_at_q));
    end
    if (f_state_q == F_ENDED) assert (f_at_q - rd_q < end_q - rd_q);
    if (f_state_q == F_PUT || f_state_q == F_ENDED) assert (mem[f_at_q] == {1'b0, f_data_q});
    if (f_state_q == F_OUT) assert (valid_o && !last_o && data_o == f_data_q && rd_q == f_at_q + 1'b1);
  end
end
