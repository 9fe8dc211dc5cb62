// SPDX-License-Identifier: Apache-2.0
// Queue of three memory instructions between the core and the LSU.
//
// Contract: in_valid_i cannot be refused. The core reads room_o in R, two cycles before the instruction is in the
// queue; room_o accounts for an instruction that is in X meanwhile. The output is a channel to simt_lsu: its payload is
// stable until it is taken. holds_o: the warps that have an instruction here.
// State saved at preemption: none; it drains.
//
// The LSU's ready comes late in a cycle. The queue turns it into a decision in R, where an instruction can still be
// killed and issued again. room_o comes from registers only, so it counts an instruction as here that the LSU takes in
// the same cycle. With one in X and one that is being taken, the third place lets the core issue a memory instruction
// every cycle.

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

  localparam int CW = $bits(in_i) + LANES;

  // One of the four places of the memories is always free.
  (* ram_style = "distributed" *) logic [CW-1:0] controls [0:3];
  (* ram_style = "distributed" *) logic [LANES*32-1:0] addrs [0:3];
  (* ram_style = "distributed" *) logic [LANES*32-1:0] datas [0:3];
  (* ram_style = "distributed" *) logic [LANES*32-1:0] cmps [0:3];
  logic [4*WW-1:0] warps_q;
  logic [3:0]      full_q;
  logic [1:0]      wr_q, rd_q, count;
  logic            take;

  assign {out_o, out_mask_o} = controls[rd_q];
  assign out_valid_o = full_q[rd_q];
  assign out_warp_o  = warps_q[WW*rd_q +: WW];
  assign out_addr_o  = addrs[rd_q];
  assign out_data_o  = datas[rd_q];
  assign out_cmp_o   = cmps[rd_q];
  assign take        = out_valid_o && out_ready_i;
  assign count       = wr_q - rd_q;
  // Room for an instruction in R, besides the one in X.
  assign room_o      = count != 2'd3 && !(count == 2'd2 && in_valid_i);

  always_comb begin
    holds_o = '0;
    if (in_valid_i) holds_o[in_warp_i] = 1'b1;
    for (int i = 0; i < 4; i++) if (full_q[i]) holds_o[warps_q[WW*i +: WW]] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      full_q[rd_q] <= 1'b0;
      rd_q         <= rd_q + 2'd1;
    end
    if (in_valid_i) begin
      controls[wr_q]         <= {in_i, in_mask_i};
      warps_q[WW*wr_q +: WW] <= in_warp_i;
      addrs[wr_q]            <= in_addr_i;
      if (in_i.op != simt_op_pkg::LSU_LOAD) datas[wr_q] <= in_data_i;
      if (in_i.op == simt_op_pkg::LSU_AMO) cmps[wr_q] <= in_cmp_i;
      full_q[wr_q]           <= 1'b1;
      wr_q                   <= wr_q + 2'd1;
    end
    if (rst_i) begin
      full_q <= '0;
      wr_q   <= '0;
      rd_q   <= '0;
    end
  end

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      room_was_asked_for: assert (!(in_valid_i && count == 2'd3));
    end
  end
`endif

endmodule
