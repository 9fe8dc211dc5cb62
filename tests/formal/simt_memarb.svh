// SPDX-License-Identifier: Apache-2.0
// Properties of simt_memarb: a request that is offered stays as it is while it is stalled, if the LSU and the
// instruction cache keep that rule on their sides, and neither side is passed for ever.
logic f_start_q = 1'b1, f_stalled_q = 1'b0, f_lsu_q = 1'b0, f_ic_q = 1'b0;
logic [2:0] f_lsu_passed_q = '0, f_ic_passed_q = '0;
logic [8:0] f_was_q;
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_stalled_q <= req_valid_o && !req_ready_i && !rst_i;
  f_was_q <= {req_exec_o, req_tag_o};
  f_lsu_q <= lsu_valid_i && !lsu_ready_o && !rst_i;
  f_ic_q <= ic_valid_i && !ic_ready_o && !rst_i;
  if (rst_i || !lsu_valid_i || lsu_ready_o) f_lsu_passed_q <= '0;
  else if (ic_valid_i && ic_ready_o) f_lsu_passed_q <= f_lsu_passed_q + 1'b1;
  if (rst_i || !ic_valid_i || ic_ready_o) f_ic_passed_q <= '0;
  else if (lsu_valid_i && lsu_ready_o) f_ic_passed_q <= f_ic_passed_q + 1'b1;
end
logic [6:0] f_lsu_tag_q;
logic [1:0] f_ic_tag_q;
always_ff @(posedge clk_i) {f_lsu_tag_q, f_ic_tag_q} <= {lsu_tag_i, ic_tag_i};
always_comb begin
  assume (rst_i == f_start_q);
  if (f_lsu_q) assume (lsu_valid_i && lsu_tag_i == f_lsu_tag_q);
  if (f_ic_q) assume (ic_valid_i && ic_tag_i == f_ic_tag_q);
  if (!f_start_q) begin
    if (f_stalled_q) assert (req_valid_o && {req_exec_o, req_tag_o} == f_was_q);
    assert (f_lsu_passed_q <= 3'd3 && f_lsu_passed_q == {1'b0, passed_q});
    assert (f_ic_passed_q <= 3'd1 && !(f_ic_passed_q != '0 && (hold_q || passed_q != '0)));
    assert (!(lsu_ready_o && ic_ready_o));
    if (hold_q) assert (f_lsu_q);
    if (passed_q != '0) assert (f_lsu_q);
  end
end
