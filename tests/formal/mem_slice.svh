// SPDX-License-Identifier: Apache-2.0
// Properties of mem_slice, for any one entry: entry f_pick, counted from 0 in the order of arrival, is the entry f_pick
// that leaves, with unchanged data. f_in_q and f_out_q count the entries that have arrived and left.
(* anyconst *) logic [7:0] f_pick;
logic f_start_q = 1'b1;
logic [7:0] f_in_q, f_out_q;
logic [WIDTH-1:0] f_data_q, f_data;
assign f_data = in_valid_i && in_ready_o && f_in_q == f_pick ? in_data_i : f_data_q;
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_data_q <= f_data;
  if (in_valid_i && in_ready_o) f_in_q <= f_in_q + 1'b1;
  if (out_valid_o && out_ready_i) f_out_q <= f_out_q + 1'b1;
  if (rst_i) {f_in_q, f_out_q} <= '0;
end
always_comb begin
  assume (rst_i == f_start_q);
  assume (!(&f_in_q));  // the counters do not wrap
  if (!f_start_q) begin
    assert (f_in_q - f_out_q == 8'(valid_q) + 8'(aside_q) && !(aside_q && !valid_q));
    assert (in_ready_o == (f_in_q - f_out_q != 8'd2) && out_valid_o == (f_in_q != f_out_q));
    if (aside_q && f_out_q + 1'b1 == f_pick) assert (aside_data_q == f_data_q);
    if (out_valid_o && f_out_q == f_pick) assert (out_data_o == f_data_q);
  end
end
