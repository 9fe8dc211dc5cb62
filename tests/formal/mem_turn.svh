// SPDX-License-Identifier: Apache-2.0
// Properties of mem_turn: the first side sends at most once while the other waits. Assumed: the contract of its user.
logic f_start_q = 1'b1;
logic [1:0] f_passed_q;  // transfers of the first side since the other one began to wait or last sent
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  if (rst_i || other_goes_i || !waits_i) f_passed_q <= '0;
  else if (first_goes_i) f_passed_q <= f_passed_q + 1'b1;
end
always_comb begin
  assume (rst_i == f_start_q);
  assume (!(first_goes_i && !first_o) && !(first_goes_i && other_goes_i));
  if (!f_start_q) begin
    assert (f_passed_q <= 2'd1);
    assert (first_o == (f_passed_q == '0));
  end
end
