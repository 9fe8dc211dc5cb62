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
  localparam int MEM_PAGES = 1 << (2 + ROW_W + COL_W + 1 - 12);

  logic idle, irq;
  always_ff @(posedge clk_i) begin
    busy_o <= !idle;
    irq_o <= irq;
  end

  // AXI4-Lite of the registers, from the link to the device.
  tern_pkg::lite_req_t r_req;
  tern_pkg::axi_req_ready_t r_req_ready;
  tern_pkg::lite_rsp_t r_rsp;
  tern_pkg::axi_rsp_ready_t r_rsp_ready;
  // AXI4 of memory: d_ is from the device, l_ from the link.
  tern_pkg::axi_req_t d_req, l_req;
  tern_pkg::axi_req_ready_t d_req_ready, l_req_ready;
  tern_pkg::axi_rsp_t d_rsp, l_rsp;
  tern_pkg::axi_rsp_ready_t d_rsp_ready, l_rsp_ready;

  if (DEVICE) begin : g_device
    // Length, size and burst are constants: each transfer is one beat of full width.
    logic [7:0] arlen, awlen;
    logic [2:0] arsize, awsize;
    logic [1:0] arburst, awburst;
    logic wlast, unused_beat;
    assign unused_beat = &{1'b0, arlen, awlen, arsize, awsize, arburst, awburst, wlast};
    tern_top #(
        .ENGINES(1),
        .LANES(LANES),
        .WARPS(WARPS),
        .LMEM_KIB(LMEM_KIB),
        .MEM_PAGES(MEM_PAGES),
        .CLOCK_HZ(CLOCK_HZ),
        .HASH_W(5),
        .EXAMPLES(1'b1)
    ) u_device (
        .clk_i,
        .rst_i,
        .mem_pages_i(23'(MEM_PAGES)),
        .axi_base_i('0),
        .irq_o(irq),
        .idle_o(idle),
        .s_axi_awvalid_i(r_req.aw_valid),
        .s_axi_awready_o(r_req_ready.aw),
        .s_axi_awaddr_i(r_req.aw_addr),
        .s_axi_wvalid_i(r_req.w_valid),
        .s_axi_wready_o(r_req_ready.w),
        .s_axi_wdata_i(r_req.w_data),
        .s_axi_bvalid_o(r_rsp.b_valid),
        .s_axi_bready_i(r_rsp_ready.b),
        .s_axi_bresp_o(r_rsp.b_resp),
        .s_axi_arvalid_i(r_req.ar_valid),
        .s_axi_arready_o(r_req_ready.ar),
        .s_axi_araddr_i(r_req.ar_addr),
        .s_axi_rvalid_o(r_rsp.r_valid),
        .s_axi_rready_i(r_rsp_ready.r),
        .s_axi_rdata_o(r_rsp.r_data),
        .s_axi_rresp_o(r_rsp.r_resp),
        .m_axi_arvalid_o(d_req.ar_valid),
        .m_axi_arready_i(d_req_ready.ar),
        .m_axi_arid_o(d_req.ar_id),
        .m_axi_araddr_o(d_req.ar_addr),
        .m_axi_arlen_o(arlen),
        .m_axi_arsize_o(arsize),
        .m_axi_arburst_o(arburst),
        .m_axi_rvalid_i(d_rsp.r_valid),
        .m_axi_rready_o(d_rsp_ready.r),
        .m_axi_rid_i(d_rsp.r_id),
        .m_axi_rdata_i(d_rsp.r_data),
        .m_axi_rresp_i(d_rsp.r_resp),
        .m_axi_rlast_i(1'b1),
        .m_axi_awvalid_o(d_req.aw_valid),
        .m_axi_awready_i(d_req_ready.aw),
        .m_axi_awid_o(d_req.aw_id),
        .m_axi_awaddr_o(d_req.aw_addr),
        .m_axi_awlen_o(awlen),
        .m_axi_awsize_o(awsize),
        .m_axi_awburst_o(awburst),
        .m_axi_wvalid_o(d_req.w_valid),
        .m_axi_wready_i(d_req_ready.w),
        .m_axi_wdata_o(d_req.w_data),
        .m_axi_wstrb_o(d_req.w_strb),
        .m_axi_wlast_o(wlast),
        .m_axi_bvalid_i(d_rsp.b_valid),
        .m_axi_bready_o(d_rsp_ready.b),
        .m_axi_bid_i(d_rsp.b_id),
        .m_axi_bresp_i(d_rsp.b_resp)
    );
  end else begin : g_none
    logic b_q, r_q, write;
    assign write = r_req.aw_valid && r_req.w_valid && !b_q;
    assign {r_req_ready.aw, r_req_ready.w, r_req_ready.ar} = {write, write, !r_q};
    assign {r_rsp.b_valid, r_rsp.r_valid} = {b_q, r_q};
    assign {r_rsp.b_resp, r_rsp.r_resp} = 4'b1111;
    assign r_rsp.r_data = '1;
    assign {idle, irq} = 2'b10;
    always_ff @(posedge clk_i) begin
      b_q <= !rst_i && (write || (b_q && !r_rsp_ready.b));
      r_q <= !rst_i && ((r_req.ar_valid && !r_q) || (r_q && !r_rsp_ready.r));
    end
    assign d_req = '0;
    assign d_rsp_ready = '0;
    logic unused_none;
    assign unused_none = &{1'b0, r_req, d_req_ready, d_rsp};
  end

  tern_link #(.CLOCKS(CLOCKS), .BITS(BITS), .SIMULATION(SIMULATION)) u_link (
      .clk_i,
      .rst_i,
      .uart_rx_i,
      .uart_tx_o,
      .irq_i(irq),
      .regs_req_o(r_req),
      .regs_req_ready_i(r_req_ready),
      .regs_rsp_i(r_rsp),
      .regs_rsp_ready_o(r_rsp_ready),
      .mem_req_o(l_req),
      .mem_req_ready_i(l_req_ready),
      .mem_rsp_i(l_rsp),
      .mem_rsp_ready_o(l_rsp_ready)
  );

  board_memory #(.CLOCK_HZ(CLOCK_HZ), .ROW_W(ROW_W), .COL_W(COL_W), .START_NS(START_NS)) u_memory (
      .clk_i,
      .rst_i,
      .d_req_i(d_req),
      .d_req_ready_o(d_req_ready),
      .d_rsp_o(d_rsp),
      .d_rsp_ready_i(d_rsp_ready),
      .l_req_i(l_req),
      .l_req_ready_o(l_req_ready),
      .l_rsp_o(l_rsp),
      .l_rsp_ready_i(l_rsp_ready),
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
endmodule
