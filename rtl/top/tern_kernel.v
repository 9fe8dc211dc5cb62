// SPDX-License-Identifier: Apache-2.0
// tern_top with the port names that Vitis expects of an RTL kernel with user-managed control (user_managed): ap_clk,
// ap_rst_n, s_axi_control, m_axi_gmem, interrupt.
//
// Contract: that of tern_top. Device memory is MEM_PAGES pages of 4 KiB from address MEM_BASE of the card on. MEM_BASE
// is a parameter and not a register, because any process that can write the registers could then move device memory.
// The module is plain Verilog because the packager accepts no other top module. The reset is registered here because
// ap_rst_n has a large fan-out.
`default_nettype none
module tern_kernel #(
    // tern_top describes the parameters of the same name.
    parameter ENGINES   = 2,
    parameter LANES     = 16,
    parameter WARPS     = 16,
    parameter LMEM_KIB  = 64,
    parameter MEM_PAGES = 1048576,      // Device memory in pages of 4 KiB.
    parameter [63:0] MEM_BASE = 64'd0,  // Address of device memory in the address map of the card.
    parameter CLOCK_HZ  = 250000000
) (
    input  wire         ap_clk,
    input  wire         ap_rst_n,
    output wire         interrupt,  // Level; Vitis requires this name.
    // AXI4-Lite slave
    input  wire         s_axi_control_awvalid,
    output wire         s_axi_control_awready,
    input  wire [ 13:0] s_axi_control_awaddr,
    input  wire         s_axi_control_wvalid,
    output wire         s_axi_control_wready,
    input  wire [ 31:0] s_axi_control_wdata,
    input  wire [  3:0] s_axi_control_wstrb,
    output wire         s_axi_control_bvalid,
    input  wire         s_axi_control_bready,
    output wire [  1:0] s_axi_control_bresp,
    input  wire         s_axi_control_arvalid,
    output wire         s_axi_control_arready,
    input  wire [ 13:0] s_axi_control_araddr,
    output wire         s_axi_control_rvalid,
    input  wire         s_axi_control_rready,
    output wire [ 31:0] s_axi_control_rdata,
    output wire [  1:0] s_axi_control_rresp,
    // AXI4 master
    output wire         m_axi_gmem_awvalid,
    input  wire         m_axi_gmem_awready,
    output wire [  5:0] m_axi_gmem_awid,
    output wire [ 63:0] m_axi_gmem_awaddr,
    output wire [  7:0] m_axi_gmem_awlen,
    output wire [  2:0] m_axi_gmem_awsize,
    output wire [  1:0] m_axi_gmem_awburst,
    output wire         m_axi_gmem_wvalid,
    input  wire         m_axi_gmem_wready,
    output wire [511:0] m_axi_gmem_wdata,
    output wire [ 63:0] m_axi_gmem_wstrb,
    output wire         m_axi_gmem_wlast,
    input  wire         m_axi_gmem_bvalid,
    output wire         m_axi_gmem_bready,
    input  wire [  5:0] m_axi_gmem_bid,
    input  wire [  1:0] m_axi_gmem_bresp,
    output wire         m_axi_gmem_arvalid,
    input  wire         m_axi_gmem_arready,
    output wire [  5:0] m_axi_gmem_arid,
    output wire [ 63:0] m_axi_gmem_araddr,
    output wire [  7:0] m_axi_gmem_arlen,
    output wire [  2:0] m_axi_gmem_arsize,
    output wire [  1:0] m_axi_gmem_arburst,
    input  wire         m_axi_gmem_rvalid,
    output wire         m_axi_gmem_rready,
    input  wire [  5:0] m_axi_gmem_rid,
    input  wire [511:0] m_axi_gmem_rdata,
    input  wire [  1:0] m_axi_gmem_rresp,
    input  wire         m_axi_gmem_rlast
);
  reg rst_q;
  always @(posedge ap_clk) rst_q <= !ap_rst_n;

  wire idle, unused;
  // The device ignores the write strobes: a register write takes all four bytes.
  assign unused = &{1'b0, s_axi_control_wstrb, idle};

  tern_top #(
      .ENGINES(ENGINES),
      .LANES(LANES),
      .WARPS(WARPS),
      .LMEM_KIB(LMEM_KIB),
      .MEM_PAGES(MEM_PAGES),
      .CLOCK_HZ(CLOCK_HZ)
  ) u_top (
      .clk_i(ap_clk),
      .rst_i(rst_q),
      .mem_pages_i(MEM_PAGES[22:0]),
      .axi_base_i(MEM_BASE),
      .irq_o(interrupt),
      .idle_o(idle),
      .s_axi_awvalid_i(s_axi_control_awvalid),
      .s_axi_awready_o(s_axi_control_awready),
      .s_axi_awaddr_i(s_axi_control_awaddr),
      .s_axi_wvalid_i(s_axi_control_wvalid),
      .s_axi_wready_o(s_axi_control_wready),
      .s_axi_wdata_i(s_axi_control_wdata),
      .s_axi_bvalid_o(s_axi_control_bvalid),
      .s_axi_bready_i(s_axi_control_bready),
      .s_axi_bresp_o(s_axi_control_bresp),
      .s_axi_arvalid_i(s_axi_control_arvalid),
      .s_axi_arready_o(s_axi_control_arready),
      .s_axi_araddr_i(s_axi_control_araddr),
      .s_axi_rvalid_o(s_axi_control_rvalid),
      .s_axi_rready_i(s_axi_control_rready),
      .s_axi_rdata_o(s_axi_control_rdata),
      .s_axi_rresp_o(s_axi_control_rresp),
      .m_axi_arvalid_o(m_axi_gmem_arvalid),
      .m_axi_arready_i(m_axi_gmem_arready),
      .m_axi_arid_o(m_axi_gmem_arid),
      .m_axi_araddr_o(m_axi_gmem_araddr),
      .m_axi_arlen_o(m_axi_gmem_arlen),
      .m_axi_arsize_o(m_axi_gmem_arsize),
      .m_axi_arburst_o(m_axi_gmem_arburst),
      .m_axi_rvalid_i(m_axi_gmem_rvalid),
      .m_axi_rready_o(m_axi_gmem_rready),
      .m_axi_rid_i(m_axi_gmem_rid),
      .m_axi_rdata_i(m_axi_gmem_rdata),
      .m_axi_rresp_i(m_axi_gmem_rresp),
      .m_axi_rlast_i(m_axi_gmem_rlast),
      .m_axi_awvalid_o(m_axi_gmem_awvalid),
      .m_axi_awready_i(m_axi_gmem_awready),
      .m_axi_awid_o(m_axi_gmem_awid),
      .m_axi_awaddr_o(m_axi_gmem_awaddr),
      .m_axi_awlen_o(m_axi_gmem_awlen),
      .m_axi_awsize_o(m_axi_gmem_awsize),
      .m_axi_awburst_o(m_axi_gmem_awburst),
      .m_axi_wvalid_o(m_axi_gmem_wvalid),
      .m_axi_wready_i(m_axi_gmem_wready),
      .m_axi_wdata_o(m_axi_gmem_wdata),
      .m_axi_wstrb_o(m_axi_gmem_wstrb),
      .m_axi_wlast_o(m_axi_gmem_wlast),
      .m_axi_bvalid_i(m_axi_gmem_bvalid),
      .m_axi_bready_o(m_axi_gmem_bready),
      .m_axi_bid_i(m_axi_gmem_bid),
      .m_axi_bresp_i(m_axi_gmem_bresp)
  );
endmodule
`default_nettype wire
