// SPDX-License-Identifier: Apache-2.0
// The logic of a board without its pads and clocks: the device, the link to the host, and the memory that both share.
//
// Contract: there is one clock of CLOCK_HZ. BITS bits of the serial line take CLOCKS cycles. The pins of one SDR SDRAM
// chip are those of sdram_line. Device memory is the whole chip, from address 0 on. busy_o and irq_o drive lamps.
// DEVICE = 0 leaves the device out, to bring up a board. Link, clocks and memory then work, and register accesses are
// answered with DECERR.
module board_core #(
    parameter bit DEVICE   = 1'b1,  // The board has the device.
    parameter int LANES    = 4,     // LANES, WARPS and LMEM_KIB are those of tern_top.
    parameter int WARPS    = 4,
    parameter int LMEM_KIB = 16,
    parameter int CLOCK_HZ = 50000000,  // Clock frequency in Hz.
    parameter int CLOCKS   = 50,        // Clock cycles of BITS bits of the serial line.
    parameter int BITS     = 3,         // Bits of the serial line in CLOCKS cycles.
    parameter int ROW_W    = 13,        // Bits of a row address of the chip.
    parameter int COL_W    = 9,         // Bits of a column address of the chip.
    parameter int START_NS = 200000,    // Time that the chip needs after power-on, in ns.
    parameter bit SIMULATION = 1'b0     // See tern_link.
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             uart_rx_i,
    output logic             uart_tx_o,
    output logic             busy_o,  // The device has work.
    output logic             irq_o,   // The interrupt of the device is pending.
    output logic             cke_o,
    output logic             cs_n_o,
    output logic             ras_n_o,
    output logic             cas_n_o,
    output logic             we_n_o,
    output logic [      1:0] ba_o,
    output logic [ROW_W-1:0] a_o,
    output logic [      1:0] dqm_o,
    output logic [     15:0] dq_o,
    output logic             dq_oe_o,
    input  logic [     15:0] dq_i
);
  localparam int ID_W = 6;
  localparam int MEM_PAGES = 1 << (2 + ROW_W + COL_W + 1 - 12);

  logic idle, irq;
  always_ff @(posedge clk_i) begin
    busy_o <= !idle;
    irq_o <= irq;
  end

  // AXI4-Lite channel of the registers, from the link to the device.
  logic r_awvalid, r_awready, r_wvalid, r_wready, r_bvalid, r_bready, r_arvalid, r_arready, r_rvalid, r_rready;
  logic [13:0] r_awaddr, r_araddr;
  logic [31:0] r_wdata, r_rdata;
  logic [1:0] r_bresp, r_rresp;
  // AXI4 channels of memory: d_ is from the device, l_ from the link.
  logic d_arvalid, d_arready, d_rvalid, d_rready, d_awvalid, d_awready, d_wvalid, d_wready, d_wlast, d_bvalid, d_bready;
  logic [ID_W-1:0] d_arid, d_rid, d_awid, d_bid;
  logic [63:0] d_araddr, d_awaddr, d_wstrb;
  logic [511:0] d_rdata, d_wdata;
  logic [7:0] d_arlen, d_awlen;
  logic [2:0] d_arsize, d_awsize;
  logic [1:0] d_arburst, d_awburst, d_rresp, d_bresp;
  logic l_arvalid, l_arready, l_rvalid, l_rready, l_awvalid, l_awready, l_wvalid, l_wready, l_wlast, l_bvalid, l_bready;
  logic [ID_W-1:0] l_arid, l_awid;
  logic [63:0] l_araddr, l_awaddr, l_wstrb;
  logic [511:0] l_rdata, l_wdata;
  logic [7:0] l_arlen, l_awlen;
  logic [2:0] l_arsize, l_awsize;
  logic [1:0] l_arburst, l_awburst, l_rresp, l_bresp;

  if (DEVICE) begin : g_device
    tern_top #(
        .ENGINES(1),
        .LANES(LANES),
        .WARPS(WARPS),
        .LMEM_KIB(LMEM_KIB),
        .MEM_PAGES(MEM_PAGES),
        .ID_W(ID_W),
        .CLOCK_HZ(CLOCK_HZ),
        .HASH_W(5)
    ) u_device (
        .clk_i,
        .rst_i,
        .mem_pages_i(23'(MEM_PAGES)),
        .axi_base_i('0),
        .irq_o(irq),
        .idle_o(idle),
        .s_axi_awvalid_i(r_awvalid),
        .s_axi_awready_o(r_awready),
        .s_axi_awaddr_i(r_awaddr),
        .s_axi_wvalid_i(r_wvalid),
        .s_axi_wready_o(r_wready),
        .s_axi_wdata_i(r_wdata),
        .s_axi_bvalid_o(r_bvalid),
        .s_axi_bready_i(r_bready),
        .s_axi_bresp_o(r_bresp),
        .s_axi_arvalid_i(r_arvalid),
        .s_axi_arready_o(r_arready),
        .s_axi_araddr_i(r_araddr),
        .s_axi_rvalid_o(r_rvalid),
        .s_axi_rready_i(r_rready),
        .s_axi_rdata_o(r_rdata),
        .s_axi_rresp_o(r_rresp),
        .m_axi_arvalid_o(d_arvalid),
        .m_axi_arready_i(d_arready),
        .m_axi_arid_o(d_arid),
        .m_axi_araddr_o(d_araddr),
        .m_axi_arlen_o(d_arlen),
        .m_axi_arsize_o(d_arsize),
        .m_axi_arburst_o(d_arburst),
        .m_axi_rvalid_i(d_rvalid),
        .m_axi_rready_o(d_rready),
        .m_axi_rid_i(d_rid),
        .m_axi_rdata_i(d_rdata),
        .m_axi_rresp_i(d_rresp),
        .m_axi_rlast_i(1'b1),
        .m_axi_awvalid_o(d_awvalid),
        .m_axi_awready_i(d_awready),
        .m_axi_awid_o(d_awid),
        .m_axi_awaddr_o(d_awaddr),
        .m_axi_awlen_o(d_awlen),
        .m_axi_awsize_o(d_awsize),
        .m_axi_awburst_o(d_awburst),
        .m_axi_wvalid_o(d_wvalid),
        .m_axi_wready_i(d_wready),
        .m_axi_wdata_o(d_wdata),
        .m_axi_wstrb_o(d_wstrb),
        .m_axi_wlast_o(d_wlast),
        .m_axi_bvalid_i(d_bvalid),
        .m_axi_bready_o(d_bready),
        .m_axi_bid_i(d_bid),
        .m_axi_bresp_i(d_bresp)
    );
  end else begin : g_none
    logic b_q, r_q;
    assign r_awready = r_awvalid && r_wvalid && !b_q;
    assign r_wready = r_awready;
    assign r_arready = !r_q;
    assign {r_bvalid, r_rvalid} = {b_q, r_q};
    assign {r_bresp, r_rresp} = 4'b1111;
    assign r_rdata = '1;
    assign {idle, irq} = 2'b10;
    always_ff @(posedge clk_i) begin
      b_q <= !rst_i && (r_awready || (b_q && !r_bready));
      r_q <= !rst_i && ((r_arvalid && r_arready) || (r_q && !r_rready));
    end
    assign {d_arvalid, d_rready, d_awvalid, d_wvalid, d_bready, d_wlast} = '0;
    assign {d_arid, d_awid, d_araddr, d_awaddr, d_wstrb, d_wdata} = '0;
    assign {d_arlen, d_awlen, d_arsize, d_awsize, d_arburst, d_awburst} = '0;
    logic unused_none;
    assign unused_none = &{1'b0, r_awaddr, r_araddr, r_wdata, d_arready, d_awready, d_wready, d_rvalid, d_bvalid, d_rid,
                           d_bid, d_rdata, d_rresp, d_bresp};
  end

  tern_link #(.CLOCKS(CLOCKS), .BITS(BITS), .ID_W(ID_W), .SIMULATION(SIMULATION)) u_link (
      .clk_i,
      .rst_i,
      .uart_rx_i,
      .uart_tx_o,
      .irq_i(irq),
      .r_axi_awvalid_o(r_awvalid),
      .r_axi_awready_i(r_awready),
      .r_axi_awaddr_o(r_awaddr),
      .r_axi_wvalid_o(r_wvalid),
      .r_axi_wready_i(r_wready),
      .r_axi_wdata_o(r_wdata),
      .r_axi_bvalid_i(r_bvalid),
      .r_axi_bready_o(r_bready),
      .r_axi_bresp_i(r_bresp),
      .r_axi_arvalid_o(r_arvalid),
      .r_axi_arready_i(r_arready),
      .r_axi_araddr_o(r_araddr),
      .r_axi_rvalid_i(r_rvalid),
      .r_axi_rready_o(r_rready),
      .r_axi_rdata_i(r_rdata),
      .r_axi_rresp_i(r_rresp),
      .m_axi_arvalid_o(l_arvalid),
      .m_axi_arready_i(l_arready),
      .m_axi_arid_o(l_arid),
      .m_axi_araddr_o(l_araddr),
      .m_axi_arlen_o(l_arlen),
      .m_axi_arsize_o(l_arsize),
      .m_axi_arburst_o(l_arburst),
      .m_axi_rvalid_i(l_rvalid),
      .m_axi_rready_o(l_rready),
      .m_axi_rdata_i(l_rdata),
      .m_axi_rresp_i(l_rresp),
      .m_axi_awvalid_o(l_awvalid),
      .m_axi_awready_i(l_awready),
      .m_axi_awid_o(l_awid),
      .m_axi_awaddr_o(l_awaddr),
      .m_axi_awlen_o(l_awlen),
      .m_axi_awsize_o(l_awsize),
      .m_axi_awburst_o(l_awburst),
      .m_axi_wvalid_o(l_wvalid),
      .m_axi_wready_i(l_wready),
      .m_axi_wdata_o(l_wdata),
      .m_axi_wstrb_o(l_wstrb),
      .m_axi_wlast_o(l_wlast),
      .m_axi_bvalid_i(l_bvalid),
      .m_axi_bready_o(l_bready),
      .m_axi_bresp_i(l_bresp)
  );

  board_memory #(.CLOCK_HZ(CLOCK_HZ), .ID_W(ID_W), .ROW_W(ROW_W), .COL_W(COL_W), .START_NS(START_NS)) u_memory (
      .clk_i,
      .rst_i,
      .d_arvalid_i(d_arvalid),
      .d_arready_o(d_arready),
      .d_arid_i(d_arid),
      .d_araddr_i(d_araddr),
      .d_rvalid_o(d_rvalid),
      .d_rready_i(d_rready),
      .d_rid_o(d_rid),
      .d_rdata_o(d_rdata),
      .d_rresp_o(d_rresp),
      .d_awvalid_i(d_awvalid),
      .d_awready_o(d_awready),
      .d_awid_i(d_awid),
      .d_awaddr_i(d_awaddr),
      .d_wvalid_i(d_wvalid),
      .d_wready_o(d_wready),
      .d_wdata_i(d_wdata),
      .d_wstrb_i(d_wstrb),
      .d_bvalid_o(d_bvalid),
      .d_bready_i(d_bready),
      .d_bid_o(d_bid),
      .d_bresp_o(d_bresp),
      .l_arvalid_i(l_arvalid),
      .l_arready_o(l_arready),
      .l_araddr_i(l_araddr),
      .l_rvalid_o(l_rvalid),
      .l_rready_i(l_rready),
      .l_rdata_o(l_rdata),
      .l_rresp_o(l_rresp),
      .l_awvalid_i(l_awvalid),
      .l_awready_o(l_awready),
      .l_awaddr_i(l_awaddr),
      .l_wvalid_i(l_wvalid),
      .l_wready_o(l_wready),
      .l_wdata_i(l_wdata),
      .l_wstrb_i(l_wstrb),
      .l_bvalid_o(l_bvalid),
      .l_bready_i(l_bready),
      .l_bresp_o(l_bresp),
      .cke_o,
      .cs_n_o,
      .ras_n_o,
      .cas_n_o,
      .we_n_o,
      .ba_o,
      .a_o,
      .dqm_o,
      .dq_o,
      .dq_oe_o,
      .dq_i
  );

  // Both masters make only INCR transfers of one beat of full width.
  logic unused;
  assign unused = &{1'b0, d_arlen, d_awlen, d_arsize, d_awsize, d_arburst, d_awburst, d_wlast, l_arlen, l_awlen,
                    l_arsize, l_awsize, l_arburst, l_awburst, l_wlast, l_arid, l_awid};
endmodule
