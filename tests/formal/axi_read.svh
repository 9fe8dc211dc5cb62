// SPDX-License-Identifier: Apache-2.0
// Properties of axi_read: AR stays as it is until the slave takes it.
logic started_q = 1'b0, held_q = 1'b0;
logic [ID_W+127:0] was_q;
always_ff @(posedge clk_i) begin
  started_q <= 1'b1;
  held_q <= arvalid_o && !arready_i && !rst_i;
  was_q <= {axi_base_i, arid_o, araddr_o};
end
always_comb begin
  assume (rst_i == !started_q);
  if (started_q) assume (axi_base_i == was_q[ID_W+127:ID_W+64]);
  if (started_q && held_q) assert (arvalid_o && {arid_o, araddr_o} == was_q[ID_W+63:0]);
end
