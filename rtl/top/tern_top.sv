// SPDX-License-Identifier: Apache-2.0
// The Tern device: registers, engines and memory fabric.
//
// Contract: the device has one clock, one AXI4-Lite slave with an aperture of 16 KiB, PORTS AXI4 masters of 512 bits,
// and one interrupt, which is a level. The signals of the masters lie side by side in vectors, port 0 lowest.
// mem_fabric describes which addresses each port serves. The ports are signals and not structs, because AXI4 and the
// packagers of FPGA tools know them by these names. Device memory is mem_pages_i pages of 4 KiB from address
// axi_base_i on. Both inputs are constant after reset. idle_o is high when no engine has work; then only the device
// time changes until the next register access.
// Preemption: command_processor describes what is saved.
module tern_top #(
    parameter int ENGINES    = 2,                // Number of engines, 1 to 8.
    parameter int LANES      = 16,               // Work-items of a warp: 4, 8, 16, 32; 0: no SIMT executor, no atomics.
    parameter int WARPS      = 16,               // Warps of an engine: 4, 8, 16 or 32.
    parameter int LMEM_KIB   = 64,               // Local memory of an engine in KiB.
    parameter int DIVIDERS   = (LANES + 3) / 4,  // Dividers of an engine, shared by the lanes; divides LANES.
    parameter int MEM_PAGES  = 1 << 20,          // Capacity of the dirty plane in pages of 4 KiB.
    parameter int PAGE_LOG2  = 12,               // log2 of the bytes that one dirty bit covers.
    parameter int ID_W       = 6,                // Bits of an AXI id.
    parameter int CLOCK_HZ   = 250000000,        // Nominal clock frequency in Hz. Timestamps count its cycles.
    parameter bit SINGLE_USE = 1'b0,             // The device has one address space only (rule A2).
    parameter bit MEM_CLEAR  = 1'b0,             // Memory reads zero after power-on.
    parameter bit GATE       = 1'b0,             // The clocks of idle executors stop, for simulation or an ASIC.
    parameter int PORTS      = 1,                // Number of memory ports: 1, 2 or 4.
    parameter int HASH_W     = 9,                // 2^HASH_W entries in each in-flight table of a memory port.
    parameter bit EXAMPLES   = 1'b0              // Engines have the user executors that are examples, too.
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic [22:0]           mem_pages_i,  // Device memory in pages of 4 KiB.
    input  logic [63:0]           axi_base_i,   // AXI address of device memory; a multiple of 4096.
    output logic                  irq_o,        // Some enabled engine has an indication.
    output logic                  idle_o,
    // AXI4-Lite slave
    input  logic                  s_axi_awvalid_i,
    output logic                  s_axi_awready_o,
    input  logic [13:0]           s_axi_awaddr_i,
    input  logic                  s_axi_wvalid_i,
    output logic                  s_axi_wready_o,
    input  logic [31:0]           s_axi_wdata_i,
    output logic                  s_axi_bvalid_o,
    input  logic                  s_axi_bready_i,
    output logic [1:0]            s_axi_bresp_o,
    input  logic                  s_axi_arvalid_i,
    output logic                  s_axi_arready_o,
    input  logic [13:0]           s_axi_araddr_i,
    output logic                  s_axi_rvalid_o,
    input  logic                  s_axi_rready_i,
    output logic [31:0]           s_axi_rdata_o,
    output logic [1:0]            s_axi_rresp_o,
    // AXI4 masters
    output logic [PORTS-1:0]      m_axi_arvalid_o,
    input  logic [PORTS-1:0]      m_axi_arready_i,
    output logic [ID_W*PORTS-1:0] m_axi_arid_o,
    output logic [64*PORTS-1:0]   m_axi_araddr_o,
    output logic [8*PORTS-1:0]    m_axi_arlen_o,
    output logic [3*PORTS-1:0]    m_axi_arsize_o,
    output logic [2*PORTS-1:0]    m_axi_arburst_o,
    input  logic [PORTS-1:0]      m_axi_rvalid_i,
    output logic [PORTS-1:0]      m_axi_rready_o,
    input  logic [ID_W*PORTS-1:0] m_axi_rid_i,
    input  logic [512*PORTS-1:0]  m_axi_rdata_i,
    input  logic [2*PORTS-1:0]    m_axi_rresp_i,
    input  logic [PORTS-1:0]      m_axi_rlast_i,
    output logic [PORTS-1:0]      m_axi_awvalid_o,
    input  logic [PORTS-1:0]      m_axi_awready_i,
    output logic [ID_W*PORTS-1:0] m_axi_awid_o,
    output logic [64*PORTS-1:0]   m_axi_awaddr_o,
    output logic [8*PORTS-1:0]    m_axi_awlen_o,
    output logic [3*PORTS-1:0]    m_axi_awsize_o,
    output logic [2*PORTS-1:0]    m_axi_awburst_o,
    output logic [PORTS-1:0]      m_axi_wvalid_o,
    input  logic [PORTS-1:0]      m_axi_wready_i,
    output logic [512*PORTS-1:0]  m_axi_wdata_o,
    output logic [64*PORTS-1:0]   m_axi_wstrb_o,
    output logic [PORTS-1:0]      m_axi_wlast_o,
    input  logic [PORTS-1:0]      m_axi_bvalid_i,
    output logic [PORTS-1:0]      m_axi_bready_o,
    input  logic [ID_W*PORTS-1:0] m_axi_bid_i,
    input  logic [2*PORTS-1:0]    m_axi_bresp_i
);
  localparam int TAG_W = 11;
  localparam int USERS = tern_spec_pkg::USER_EXECUTORS - (EXAMPLES ? 0 : tern_spec_pkg::USER_EXAMPLES);
  localparam int VECTOR = (LANES + 15) / 16;  // Lines of a vector, which has one word for each lane.
  // Lines of the header and of the largest executor state (docs/spec/context.yaml). The terms are: header and
  // simt_head, register masks, slots, local memory, warps, unfinished memory instructions.
  localparam int STATE_LINES = LANES == 0 ? 2 :  // State of the mover or a user executor.
      2 + (WARPS + 15) / 16 + WARPS + LMEM_KIB * 16 + WARPS * (33 + 32 / (LANES == 0 ? 1 : LANES)) * VECTOR +
      31 * (1 + 3 * VECTOR);
  // The list of pages has an entry for each page but the first, 16 entries a line. A line of the list thus makes room
  // for 16 pages of 64 lines, one of which it takes itself.
  localparam int SAVE_LINES = STATE_LINES + (STATE_LINES > 64 ? (STATE_LINES - 64 + 1022) / 1023 : 0);

  generate
    if (ENGINES < 1 || ENGINES > 8) begin : g_engines
      $error("tern_top: ENGINES is 1 to 8");
    end
    if (LANES != 0 && LANES != 4 && LANES != 8 && LANES != 16 && LANES != 32) begin : g_lanes
      $error("tern_top: LANES is 0, 4, 8, 16 or 32");
    end
    if (LANES != 0 && WARPS != 4 && WARPS != 8 && WARPS != 16 && WARPS != 32) begin : g_warps
      $error("tern_top: WARPS is 4, 8, 16 or 32");
    end
    if (LANES != 0 && WARPS > 4 * LANES) begin : g_threads
      $error("tern_top: WARPS is at most four times LANES");
    end
    if (LANES != 0 && (LMEM_KIB < 1 || LMEM_KIB > 64 || (LMEM_KIB & (LMEM_KIB - 1)) != 0)) begin : g_lmem
      $error("tern_top: LMEM_KIB is a power of two, 1 to 64");
    end
    if (LANES != 0 && (DIVIDERS < 1 || LANES % (DIVIDERS < 1 ? 1 : DIVIDERS) != 0)) begin : g_dividers
      $error("tern_top: DIVIDERS divides LANES");
    end
    if (MEM_PAGES < 1 || MEM_PAGES > 1 << 22) begin : g_pages
      $error("tern_top: MEM_PAGES is 1 to 2^22");
    end
    if (PAGE_LOG2 < 12 || PAGE_LOG2 > 30) begin : g_page
      $error("tern_top: PAGE_LOG2 is 12 to 30");
    end
    if (ID_W < 6) begin : g_id
      $error("tern_top: ID_W is at least 6");
    end
    if (CLOCK_HZ < 1) begin : g_clock
      $error("tern_top: CLOCK_HZ is at least 1");
    end
    if (PORTS != 1 && PORTS != 2 && PORTS != 4) begin : g_ports
      $error("tern_top: PORTS is 1, 2 or 4");
    end
    if (HASH_W < 2 || HASH_W > 20) begin : g_hash
      $error("tern_top: HASH_W is 2 to 20");
    end
  endgenerate

  logic [ENGINES-1:0] reg_write, irq, idle, ev_rd, ev_wr, req_valid, req_ready, rsp_valid;
  logic [9:0] reg_addr;
  logic [31:0] reg_wdata, dirty_first, dirty_count, dirty_found;
  logic [32*ENGINES-1:0] reg_rdata;
  logic [63:0] now, dirty_target;
  logic dirty_valid, dirty_busy, dirty_error, dirty_bus_error;
  logic [1:0] dirty_op;
  logic [tern_pkg::MEM_REQ_W*ENGINES-1:0] req;
  logic [tern_pkg::MEM_RSP_W*ENGINES-1:0] rsp;
  logic [TAG_W*ENGINES-1:0] req_tag, rsp_tag;
  logic [tern_pkg::AXI_REQ_W*PORTS-1:0] axi_req;
  logic [tern_pkg::AXI_RSP_W*PORTS-1:0] axi_rsp;
  logic [3*PORTS-1:0] axi_req_ready;
  logic [2*PORTS-1:0] axi_rsp_ready;

  assign idle_o = &idle && !dirty_valid && !dirty_busy;
  assign s_axi_bresp_o = 2'd0;
  assign s_axi_rresp_o = 2'd0;

  tern_regs #(
      .ENGINES(ENGINES),
      .LANES(LANES),
      .WARPS(LANES > 0 ? WARPS : 0),
      .LMEM_KIB(LANES > 0 ? LMEM_KIB : 0),
      .USERS(USERS),
      .SAVE_LINES(SAVE_LINES),
      .PAGE_LOG2(PAGE_LOG2),
      .CLOCK_HZ(CLOCK_HZ),
      .PORTS(PORTS),
      .SINGLE_USE(SINGLE_USE),
      .MEM_CLEAR(MEM_CLEAR)
  ) u_regs (
      .clk_i,
      .rst_i,
      .mem_pages_i,
      .awvalid_i(s_axi_awvalid_i),
      .awready_o(s_axi_awready_o),
      .awaddr_i(s_axi_awaddr_i),
      .wvalid_i(s_axi_wvalid_i),
      .wready_o(s_axi_wready_o),
      .wdata_i(s_axi_wdata_i),
      .bvalid_o(s_axi_bvalid_o),
      .bready_i(s_axi_bready_i),
      .arvalid_i(s_axi_arvalid_i),
      .arready_o(s_axi_arready_o),
      .araddr_i(s_axi_araddr_i),
      .rvalid_o(s_axi_rvalid_o),
      .rready_i(s_axi_rready_i),
      .rdata_o(s_axi_rdata_o),
      .reg_write_o(reg_write),
      .reg_addr_o(reg_addr),
      .reg_wdata_o(reg_wdata),
      .reg_rdata_i(reg_rdata),
      .irq_i(irq),
      .irq_o,
      .time_o(now),
      .dirty_valid_o(dirty_valid),
      .dirty_op_o(dirty_op),
      .dirty_first_o(dirty_first),
      .dirty_count_o(dirty_count),
      .dirty_target_o(dirty_target),
      .dirty_busy_i(dirty_busy),
      .dirty_error_i(dirty_error),
      .dirty_bus_error_i(dirty_bus_error),
      .dirty_found_i(dirty_found)
  );

  for (genvar e = 0; e < ENGINES; e++) begin : g_engine
    engine #(
        .LANES(LANES),
        .WARPS(WARPS),
        .LMEM_KIB(LMEM_KIB),
        .DIVIDERS(DIVIDERS),
        .USERS(USERS),
        .SAVE_LINES(SAVE_LINES),
        .TAG_W(TAG_W),
        .GATE(GATE)
    ) u_engine (
        .clk_i,
        .rst_i,
        .time_i(now),
        .mem_pages_i,
        .reg_write_i(reg_write[e]),
        .reg_addr_i(reg_addr),
        .reg_wdata_i(reg_wdata),
        .reg_rdata_o(reg_rdata[32*e+:32]),
        .irq_o(irq[e]),
        .idle_o(idle[e]),
        .ev_rd_i(ev_rd[e]),
        .ev_wr_i(ev_wr[e]),
        .mem_req_valid_o(req_valid[e]),
        .mem_req_ready_i(req_ready[e]),
        .mem_req_o(req[tern_pkg::MEM_REQ_W*e+:tern_pkg::MEM_REQ_W]),
        .mem_req_tag_o(req_tag[TAG_W*e+:TAG_W]),
        .mem_rsp_valid_i(rsp_valid[e]),
        .mem_rsp_tag_i(rsp_tag[TAG_W*e+:TAG_W]),
        .mem_rsp_i(rsp[tern_pkg::MEM_RSP_W*e+:tern_pkg::MEM_RSP_W])
    );
  end

  mem_fabric #(
      .ENGINES(ENGINES),
      .TAG_W(TAG_W),
      .PAGE_LOG2(PAGE_LOG2),
      .MEM_PAGES(MEM_PAGES),
      .PORTS(PORTS),
      .HASH_W(HASH_W),
      .ATOMICS(LANES > 0)
  ) u_fabric (
      .clk_i,
      .rst_i,
      .mem_pages_i,
      .axi_base_i,
      .req_valid_i(req_valid),
      .req_ready_o(req_ready),
      .req_i(req),
      .req_tag_i(req_tag),
      .rsp_valid_o(rsp_valid),
      .rsp_tag_o(rsp_tag),
      .rsp_o(rsp),
      .ev_rd_o(ev_rd),
      .ev_wr_o(ev_wr),
      .dirty_valid_i(dirty_valid),
      .dirty_op_i(dirty_op),
      .dirty_first_i(dirty_first),
      .dirty_count_i(dirty_count),
      .dirty_target_i(dirty_target),
      .dirty_busy_o(dirty_busy),
      .dirty_error_o(dirty_error),
      .dirty_bus_error_o(dirty_bus_error),
      .dirty_found_o(dirty_found),
      .axi_req_o(axi_req),
      .axi_req_ready_i(axi_req_ready),
      .axi_rsp_i(axi_rsp),
      .axi_rsp_ready_o(axi_rsp_ready)
  );

  for (genvar p = 0; p < PORTS; p++) begin : g_port
    axi_port #(.ID_W(ID_W)) u_axi (
        .req_i(axi_req[tern_pkg::AXI_REQ_W*p+:tern_pkg::AXI_REQ_W]),
        .req_ready_o(axi_req_ready[3*p+:3]),
        .rsp_o(axi_rsp[tern_pkg::AXI_RSP_W*p+:tern_pkg::AXI_RSP_W]),
        .rsp_ready_i(axi_rsp_ready[2*p+:2]),
        .arvalid_o(m_axi_arvalid_o[p]),
        .arready_i(m_axi_arready_i[p]),
        .arid_o(m_axi_arid_o[ID_W*p+:ID_W]),
        .araddr_o(m_axi_araddr_o[64*p+:64]),
        .arlen_o(m_axi_arlen_o[8*p+:8]),
        .arsize_o(m_axi_arsize_o[3*p+:3]),
        .arburst_o(m_axi_arburst_o[2*p+:2]),
        .rvalid_i(m_axi_rvalid_i[p]),
        .rready_o(m_axi_rready_o[p]),
        .rid_i(m_axi_rid_i[ID_W*p+:ID_W]),
        .rdata_i(m_axi_rdata_i[512*p+:512]),
        .rresp_i(m_axi_rresp_i[2*p+:2]),
        .rlast_i(m_axi_rlast_i[p]),
        .awvalid_o(m_axi_awvalid_o[p]),
        .awready_i(m_axi_awready_i[p]),
        .awid_o(m_axi_awid_o[ID_W*p+:ID_W]),
        .awaddr_o(m_axi_awaddr_o[64*p+:64]),
        .awlen_o(m_axi_awlen_o[8*p+:8]),
        .awsize_o(m_axi_awsize_o[3*p+:3]),
        .awburst_o(m_axi_awburst_o[2*p+:2]),
        .wvalid_o(m_axi_wvalid_o[p]),
        .wready_i(m_axi_wready_i[p]),
        .wdata_o(m_axi_wdata_o[512*p+:512]),
        .wstrb_o(m_axi_wstrb_o[64*p+:64]),
        .wlast_o(m_axi_wlast_o[p]),
        .bvalid_i(m_axi_bvalid_i[p]),
        .bready_o(m_axi_bready_o[p]),
        .bid_i(m_axi_bid_i[ID_W*p+:ID_W]),
        .bresp_i(m_axi_bresp_i[2*p+:2])
    );
  end
endmodule
