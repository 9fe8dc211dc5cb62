// SPDX-License-Identifier: Apache-2.0
// The signals of an AXI4 master as other tools name them, for one memory port. Combinational.
//
// Contract: inside the device a port is an axi_req_t and an axi_rsp_t of tern_pkg, each with a ready for each of its
// channels. Every transfer is one beat of 64 bytes, so length, size, burst and the last beat are constants.
// Preemption: no state.
module axi_port #(
    parameter int ID_W = 6  // Bits of an AXI id, at least 6.
) (
    input  tern_pkg::axi_req_t       req_i,
    output tern_pkg::axi_req_ready_t req_ready_o,
    output tern_pkg::axi_rsp_t       rsp_o,
    input  tern_pkg::axi_rsp_ready_t rsp_ready_i,
    // AXI4 master.
    output logic                     arvalid_o,
    input  logic                     arready_i,
    output logic [ID_W-1:0]          arid_o,
    output logic [63:0]              araddr_o,
    output logic [7:0]               arlen_o,
    output logic [2:0]               arsize_o,
    output logic [1:0]               arburst_o,
    input  logic                     rvalid_i,
    output logic                     rready_o,
    input  logic [ID_W-1:0]          rid_i,
    input  logic [511:0]             rdata_i,
    input  logic [1:0]               rresp_i,
    input  logic                     rlast_i,
    output logic                     awvalid_o,
    input  logic                     awready_i,
    output logic [ID_W-1:0]          awid_o,
    output logic [63:0]              awaddr_o,
    output logic [7:0]               awlen_o,
    output logic [2:0]               awsize_o,
    output logic [1:0]               awburst_o,
    output logic                     wvalid_o,
    input  logic                     wready_i,
    output logic [511:0]             wdata_o,
    output logic [63:0]              wstrb_o,
    output logic                     wlast_o,
    input  logic                     bvalid_i,
    output logic                     bready_o,
    input  logic [ID_W-1:0]          bid_i,
    input  logic [1:0]               bresp_i
);
  assign arvalid_o = req_i.ar_valid;
  assign arid_o = ID_W'(req_i.ar_id);
  assign araddr_o = req_i.ar_addr;
  assign {arlen_o, arsize_o, arburst_o} = {8'd0, 3'd6, 2'd1};
  assign awvalid_o = req_i.aw_valid;
  assign awid_o = ID_W'(req_i.aw_id);
  assign awaddr_o = req_i.aw_addr;
  assign {awlen_o, awsize_o, awburst_o} = {8'd0, 3'd6, 2'd1};
  assign wvalid_o = req_i.w_valid;
  assign wdata_o = req_i.w_data;
  assign wstrb_o = req_i.w_strb;
  assign wlast_o = 1'b1;
  assign req_ready_o.ar = arready_i;
  assign req_ready_o.aw = awready_i;
  assign req_ready_o.w = wready_i;

  assign rsp_o.r_valid = rvalid_i;
  assign rsp_o.r_id = rid_i[5:0];
  assign rsp_o.r_data = rdata_i;
  assign rsp_o.r_resp = rresp_i;
  assign rsp_o.b_valid = bvalid_i;
  assign rsp_o.b_id = bid_i[5:0];
  assign rsp_o.b_resp = bresp_i;
  assign rready_o = rsp_ready_i.r;
  assign bready_o = rsp_ready_i.b;

  logic unused;
  assign unused = &{1'b0, rlast_i, rid_i, bid_i};
endmodule
