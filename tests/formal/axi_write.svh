// SPDX-License-Identifier: Apache-2.0
// Properties of axi_write: AW and W stay as they are until the slave takes them. bank_full_o says which banks had as
// many writes in flight, one cycle ago, as they may. Two more come at most, so no ring overflows.
logic started_q = 1'b0, aw_held_q = 1'b0, w_held_q = 1'b0;
logic [ID_W+63:0] aw_was_q;
logic [DATA_W+DATA_W/8-1:0] w_was_q;
logic [16*(RING_LOG2+1)-1:0] f_count, f_count_q;
logic [15:0] f_full_q;
for (genvar b = 0; b < 16; b++) begin : g_count
  assign f_count[b*(RING_LOG2+1)+:RING_LOG2+1] =
      tail_q[b*(RING_LOG2+1)+:RING_LOG2+1] - head_q[b*(RING_LOG2+1)+:RING_LOG2+1];
end
always_ff @(posedge clk_i) begin
  started_q <= 1'b1;
  f_count_q <= rst_i ? '0 : f_count;
  f_full_q <= rst_i ? '0 : bank_full_o;
  aw_held_q <= awvalid_o && !awready_i && !rst_i;
  w_held_q <= wvalid_o && !wready_i && !rst_i;
  aw_was_q <= {awid_o, awaddr_o};
  w_was_q <= {wdata_o, wstrb_o};
end
always_comb begin
  assume (rst_i == !started_q);
  assume (!(req_valid_i && bank_full_o[req_bank_i] && f_full_q[req_bank_i]));
  assume (!(done && f_count[rsp_bank*(RING_LOG2+1)+:RING_LOG2+1] == '0));  // memory answers what is in flight
  for (int b = 0; b < 16; b++)
    if (started_q) begin
      assert (f_count[b*(RING_LOG2+1)+:RING_LOG2+1] <= (RING_LOG2 + 1)'((1 << DEPTH_LOG2) + 2));
      assert (bank_full_o[b] == (f_count_q[b*(RING_LOG2+1)+:RING_LOG2+1] >= (RING_LOG2 + 1)'(1 << DEPTH_LOG2)));
    end
  if (started_q && aw_held_q) assert (awvalid_o && {awid_o, awaddr_o} == aw_was_q);
  if (started_q && w_held_q) assert (wvalid_o && {wdata_o, wstrb_o} == w_was_q);
end
