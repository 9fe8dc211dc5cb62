// SPDX-License-Identifier: Apache-2.0
// The link alone, for simulation: tern_link with a port for each signal of its masters.
module link_alone (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         uart_rx_i,
    output logic         uart_tx_o,
    input  logic         irq_i,
    // registers
    output logic         r_axi_awvalid_o,
    input  logic         r_axi_awready_i,
    output logic [13:0]  r_axi_awaddr_o,
    output logic         r_axi_wvalid_o,
    input  logic         r_axi_wready_i,
    output logic [31:0]  r_axi_wdata_o,
    input  logic         r_axi_bvalid_i,
    output logic         r_axi_bready_o,
    input  logic [1:0]   r_axi_bresp_i,
    output logic         r_axi_arvalid_o,
    input  logic         r_axi_arready_i,
    output logic [13:0]  r_axi_araddr_o,
    input  logic         r_axi_rvalid_i,
    output logic         r_axi_rready_o,
    input  logic [31:0]  r_axi_rdata_i,
    input  logic [1:0]   r_axi_rresp_i,
    // memory
    output logic         m_axi_arvalid_o,
    input  logic         m_axi_arready_i,
    output logic [63:0]  m_axi_araddr_o,
    input  logic         m_axi_rvalid_i,
    output logic         m_axi_rready_o,
    input  logic [511:0] m_axi_rdata_i,
    input  logic [1:0]   m_axi_rresp_i,
    output logic         m_axi_awvalid_o,
    input  logic         m_axi_awready_i,
    output logic [63:0]  m_axi_awaddr_o,
    output logic         m_axi_wvalid_o,
    input  logic         m_axi_wready_i,
    output logic [511:0] m_axi_wdata_o,
    output logic [63:0]  m_axi_wstrb_o,
    input  logic         m_axi_bvalid_i,
    output logic         m_axi_bready_o,
    input  logic [1:0]   m_axi_bresp_i
);
  tern_pkg::lite_req_t regs_req;
  tern_pkg::axi_req_ready_t regs_req_ready, mem_req_ready;
  tern_pkg::lite_rsp_t regs_rsp;
  tern_pkg::axi_rsp_ready_t regs_rsp_ready, mem_rsp_ready;
  tern_pkg::axi_req_t mem_req;
  tern_pkg::axi_rsp_t mem_rsp;

  assign {r_axi_awvalid_o, r_axi_awaddr_o} = {regs_req.aw_valid, regs_req.aw_addr};
  assign {r_axi_wvalid_o, r_axi_wdata_o} = {regs_req.w_valid, regs_req.w_data};
  assign {r_axi_arvalid_o, r_axi_araddr_o} = {regs_req.ar_valid, regs_req.ar_addr};
  assign {r_axi_rready_o, r_axi_bready_o} = {regs_rsp_ready.r, regs_rsp_ready.b};
  assign {regs_req_ready.aw, regs_req_ready.w, regs_req_ready.ar} = {r_axi_awready_i, r_axi_wready_i, r_axi_arready_i};
  assign {regs_rsp.r_valid, regs_rsp.r_data, regs_rsp.r_resp} = {r_axi_rvalid_i, r_axi_rdata_i, r_axi_rresp_i};
  assign {regs_rsp.b_valid, regs_rsp.b_resp} = {r_axi_bvalid_i, r_axi_bresp_i};

  assign {m_axi_awvalid_o, m_axi_awaddr_o} = {mem_req.aw_valid, mem_req.aw_addr};
  assign {m_axi_wvalid_o, m_axi_wdata_o, m_axi_wstrb_o} = {mem_req.w_valid, mem_req.w_data, mem_req.w_strb};
  assign {m_axi_arvalid_o, m_axi_araddr_o} = {mem_req.ar_valid, mem_req.ar_addr};
  assign {m_axi_rready_o, m_axi_bready_o} = {mem_rsp_ready.r, mem_rsp_ready.b};
  assign {mem_req_ready.aw, mem_req_ready.w, mem_req_ready.ar} = {m_axi_awready_i, m_axi_wready_i, m_axi_arready_i};
  assign {mem_rsp.r_valid, mem_rsp.r_data, mem_rsp.r_resp} = {m_axi_rvalid_i, m_axi_rdata_i, m_axi_rresp_i};
  assign {mem_rsp.b_valid, mem_rsp.b_resp} = {m_axi_bvalid_i, m_axi_bresp_i};
  assign {mem_rsp.r_id, mem_rsp.b_id} = '0;

  tern_link #(.SIMULATION(1'b1)) u_link (
      .clk_i,
      .rst_i,
      .uart_rx_i,
      .uart_tx_o,
      .irq_i,
      .regs_req_o(regs_req),
      .regs_req_ready_i(regs_req_ready),
      .regs_rsp_i(regs_rsp),
      .regs_rsp_ready_o(regs_rsp_ready),
      .mem_req_o(mem_req),
      .mem_req_ready_i(mem_req_ready),
      .mem_rsp_i(mem_rsp),
      .mem_rsp_ready_o(mem_rsp_ready)
  );

  logic unused;
  assign unused = &{1'b0, mem_req};
endmodule
