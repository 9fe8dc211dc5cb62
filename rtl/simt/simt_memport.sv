// SPDX-License-Identifier: Apache-2.0
// Queue of two memory instructions between the core and the LSU.
//
// Contract: in_valid_i cannot be refused. The core reads room_o in R, two cycles before the instruction is in the
// queue; room_o accounts for an instruction that is in X meanwhile. The output is a channel to simt_lsu: its payload is
// stable until it is taken. holds_o: the warps that have an instruction here.
// State saved at preemption: none; it drains.
//
// The LSU's ready comes late in a cycle. The queue turns it into a decision in R, where an instruction can still be
// killed and issued again. With one entry the core could issue a memory instruction only every other cycle.

module simt_memport #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    output logic                  room_o,
    output logic [WARPS-1:0]      holds_o,
    input  logic                  in_valid_i,
    input  simt_op_pkg::lsu_req_t in_i,
    input  logic [WW-1:0]         in_warp_i,
    input  logic [LANES-1:0]      in_mask_i,
    input  logic [LANES*32-1:0]   in_addr_i,
    input  logic [LANES*32-1:0]   in_data_i,
    input  logic [LANES*32-1:0]   in_cmp_i,
    output logic                  out_valid_o,
    input  logic                  out_ready_i,
    output simt_op_pkg::lsu_req_t out_o,
    output logic [WW-1:0]         out_warp_o,
    output logic [LANES-1:0]      out_mask_o,
    output logic [LANES*32-1:0]   out_addr_o,
    output logic [LANES*32-1:0]   out_data_o,
    output logic [LANES*32-1:0]   out_cmp_o
);

  localparam int CW = WW + $bits(in_i) + LANES;

  logic                full0_q, full1_q;    // entry 0 is the head
  logic [CW-1:0]       in_control, control0_q, control1_q;
  logic [LANES*32-1:0] addr0_q, addr1_q, data0_q, data1_q, cmp0_q, cmp1_q;
  logic                take;
  logic [WW-1:0]       warp1;

  assign in_control = {in_warp_i, in_i, in_mask_i};
  assign {out_warp_o, out_o, out_mask_o} = control0_q;
  assign out_valid_o = full0_q;
  assign out_addr_o  = addr0_q;
  assign out_data_o  = data0_q;
  assign out_cmp_o   = cmp0_q;
  assign warp1       = control1_q[CW-1 -: WW];
  assign take        = full0_q && out_ready_i;
  // Room for an instruction in R, besides the one in X.
  assign room_o      = !full1_q && (!in_valid_i || !full0_q || take);

  always_comb begin
    holds_o = '0;
    if (in_valid_i) holds_o[in_warp_i] = 1'b1;
    if (full0_q) holds_o[out_warp_o] = 1'b1;
    if (full1_q) holds_o[warp1] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (take && full1_q) begin
      control0_q <= control1_q;
      addr0_q    <= addr1_q;
      data0_q    <= data1_q;
      cmp0_q     <= cmp1_q;
    end else if (in_valid_i && (!full0_q || take)) begin
      control0_q <= in_control;
      addr0_q    <= in_addr_i;
      if (in_i.op != simt_op_pkg::LSU_LOAD) data0_q <= in_data_i;
      if (in_i.op == simt_op_pkg::LSU_AMO) cmp0_q <= in_cmp_i;
    end
    if (in_valid_i && full0_q && !(take && !full1_q)) begin
      control1_q <= in_control;
      addr1_q    <= in_addr_i;
      if (in_i.op != simt_op_pkg::LSU_LOAD) data1_q <= in_data_i;
      if (in_i.op == simt_op_pkg::LSU_AMO) cmp1_q <= in_cmp_i;
    end
    full0_q <= (full0_q && !take) || full1_q || in_valid_i;
    full1_q <= (full1_q && !take) || (in_valid_i && full0_q && !(take && !full1_q));
    if (rst_i) begin
      full0_q <= 1'b0;
      full1_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      room_was_asked_for: assert (!(in_valid_i && full1_q && !take));
    end
  end
`endif

endmodule
