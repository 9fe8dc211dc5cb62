// SPDX-License-Identifier: Apache-2.0
// Top of the cocotb benches of user executors: two instances of the executor that the macro EXECUTOR names, each with a
// memory channel to the device's memory fabric, and the AXI4 port of the fabric as signals. Executors are started,
// stopped and resumed by lib/executor.py; lib/axi_memory.py is the memory at the port.
//
// Contract: sel names the instance that all inputs reach and whose outputs are seen. The other one is idle. An instance
// is reset by executor_rst without the fabric, so only while its memory channel is drained. `watch` has the signals
// that are read in every cycle, as one vector. Addresses are physical: nothing translates them.
module executor_axi (
    input  logic          clk,
    input  logic          rst,
    input  logic [   1:0] executor_rst,
    input  logic          sel,
    input  logic          hold,          // No request passes to the fabric that does not wait there already.
    input  logic [  22:0] mem_pages,     // Device memory in pages of 4 KiB.
    input  logic [  63:0] axi_base,      // Added to every address.
    // The executor interface.
    input  logic          start_valid,
    input  logic [1023:0] packet,
    input  logic          resume,
    input  logic          stop_req,
    input  logic [   1:0] stop_gran,
    input  logic          save_ready,
    output logic          save_last,
    output logic [ 511:0] save_data,
    input  logic          restore_valid,
    input  logic [ 511:0] restore_data,
    output logic [  41:0] fault,         // {code, access, va}
    output logic [ 127:0] watch,
    // AXI4 master.
    output logic          m_axi_arvalid,
    input  logic          m_axi_arready,
    output logic [   5:0] m_axi_arid,
    output logic [  63:0] m_axi_araddr,
    output logic [   7:0] m_axi_arlen,
    output logic [   2:0] m_axi_arsize,
    output logic [   1:0] m_axi_arburst,
    input  logic          m_axi_rvalid,
    output logic          m_axi_rready,
    input  logic [   5:0] m_axi_rid,
    input  logic [ 511:0] m_axi_rdata,
    input  logic [   1:0] m_axi_rresp,
    input  logic          m_axi_rlast,
    output logic          m_axi_awvalid,
    input  logic          m_axi_awready,
    output logic [   5:0] m_axi_awid,
    output logic [  63:0] m_axi_awaddr,
    output logic [   7:0] m_axi_awlen,
    output logic [   2:0] m_axi_awsize,
    output logic [   1:0] m_axi_awburst,
    output logic          m_axi_wvalid,
    input  logic          m_axi_wready,
    output logic [ 511:0] m_axi_wdata,
    output logic [  63:0] m_axi_wstrb,
    output logic          m_axi_wlast,
    input  logic          m_axi_bvalid,
    output logic          m_axi_bready,
    input  logic [   5:0] m_axi_bid,
    input  logic [   1:0] m_axi_bresp
);
  localparam int TAG_W = 8;

  tern_pkg::exec_cmd_t start;
  assign start = '{packet: packet, scrub: 1'b0, resume: resume};

  logic [1:0] start_ready, save_valid, restore_ready, req_valid, req_ready, rsp_valid;
  logic [1:0] passes, pass_valid, pass_ready, waits_q;  // Requests between the executors and the fabric.
  logic [2*tern_pkg::MEM_REQ_W-1:0] req;
  logic [2*tern_pkg::MEM_RSP_W-1:0] rsp;
  logic [2*TAG_W-1:0] req_tag, rsp_tag;
  tern_pkg::exec_status_t status[2];
  tern_pkg::exec_line_t save[2];
  logic [63:0] seen[2];  // `watch` of each instance; lib/executor.py has the same order.

  for (genvar d = 0; d < 2; d++) begin : g_dut
    assign passes[d] = !hold || waits_q[d];
    assign pass_valid[d] = req_valid[d] && passes[d];
    assign req_ready[d] = pass_ready[d] && passes[d];
    always_ff @(posedge clk) waits_q[d] <= pass_valid[d] && !pass_ready[d] && !rst;

    tern_pkg::mem_req_t asks;
    assign asks = req[tern_pkg::MEM_REQ_W*d+:tern_pkg::MEM_REQ_W];
    assign seen[d] = {
      start_ready[d],
      status[d].done,
      status[d].faulted,
      status[d].stopped,
      save_valid[d],
      restore_ready[d],
      req_valid[d],
      req_ready[d],
      rsp_valid[d],
      9'b0,
      req_tag[TAG_W*d+:TAG_W],
      rsp_tag[TAG_W*d+:TAG_W],
      asks.op,
      asks.line
    };

    `EXECUTOR u_executor (
        .clk_i(clk),
        .rst_i(rst || executor_rst[d]),
        .start_valid_i(start_valid && sel == d),
        .start_ready_o(start_ready[d]),
        .start_i(start),
        .status_o(status[d]),
        .stop_req_i(stop_req && sel == d),
        .stop_gran_i(stop_gran),
        .save_valid_o(save_valid[d]),
        .save_ready_i(save_ready && sel == d),
        .save_o(save[d]),
        .restore_valid_i(restore_valid && sel == d),
        .restore_ready_o(restore_ready[d]),
        .restore_i({1'b1, restore_data}),
        .req_valid_o(req_valid[d]),
        .req_ready_i(req_ready[d]),
        .req_o(req[tern_pkg::MEM_REQ_W*d+:tern_pkg::MEM_REQ_W]),
        .req_tag_o(req_tag[TAG_W*d+:TAG_W]),
        .rsp_valid_i(rsp_valid[d]),
        .rsp_tag_i(rsp_tag[TAG_W*d+:TAG_W]),
        .rsp_i(rsp[tern_pkg::MEM_RSP_W*d+:tern_pkg::MEM_RSP_W])
    );
    check_request #(.TAG_W(TAG_W)) u_check_req (
        .clk_i(clk),
        .rst_i(rst || executor_rst[d]),
        .valid_i(req_valid[d]),
        .ready_i(req_ready[d]),
        .req_i(asks),
        .tag_i(req_tag[TAG_W*d+:TAG_W])
    );
    check_channel #(.WIDTH($bits(tern_pkg::exec_line_t))) u_check_save (
        .clk_i(clk),
        .rst_i(rst || executor_rst[d]),
        .valid_i(save_valid[d]),
        .ready_i(save_ready && sel == d),
        .data_i(save[d])
    );
  end
  assign watch = {seen[1], seen[0]};
  assign fault = {status[sel].fault.code, status[sel].fault.access, status[sel].fault.va};
  assign {save_last, save_data} = save[sel];

  tern_pkg::axi_req_t axi_req;
  tern_pkg::axi_req_ready_t axi_req_ready;
  tern_pkg::axi_rsp_t axi_rsp;
  tern_pkg::axi_rsp_ready_t axi_rsp_ready;

  /* verilator lint_off PINCONNECTEMPTY */
  mem_fabric #(.ENGINES(2), .TAG_W(TAG_W), .MEM_PAGES(256), .PORTS(1)) u_fabric (
      .clk_i(clk),
      .rst_i(rst),
      .mem_pages_i(mem_pages),
      .axi_base_i(axi_base),
      .req_valid_i(pass_valid),
      .req_ready_o(pass_ready),
      .req_i(req),
      .req_tag_i(req_tag),
      .rsp_valid_o(rsp_valid),
      .rsp_tag_o(rsp_tag),
      .rsp_o(rsp),
      .ev_rd_o(),
      .ev_wr_o(),
      .dirty_valid_i(1'b0),
      .dirty_op_i(2'b0),
      .dirty_first_i(32'b0),
      .dirty_count_i(32'b0),
      .dirty_target_i(64'b0),
      .dirty_busy_o(),
      .dirty_error_o(),
      .dirty_bus_error_o(),
      .dirty_found_o(),
      .axi_req_o(axi_req),
      .axi_req_ready_i(axi_req_ready),
      .axi_rsp_i(axi_rsp),
      .axi_rsp_ready_o(axi_rsp_ready)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  axi_port #(.ID_W(6)) u_axi (
      .req_i(axi_req),
      .req_ready_o(axi_req_ready),
      .rsp_o(axi_rsp),
      .rsp_ready_i(axi_rsp_ready),
      .arvalid_o(m_axi_arvalid),
      .arready_i(m_axi_arready),
      .arid_o(m_axi_arid),
      .araddr_o(m_axi_araddr),
      .arlen_o(m_axi_arlen),
      .arsize_o(m_axi_arsize),
      .arburst_o(m_axi_arburst),
      .rvalid_i(m_axi_rvalid),
      .rready_o(m_axi_rready),
      .rid_i(m_axi_rid),
      .rdata_i(m_axi_rdata),
      .rresp_i(m_axi_rresp),
      .rlast_i(m_axi_rlast),
      .awvalid_o(m_axi_awvalid),
      .awready_i(m_axi_awready),
      .awid_o(m_axi_awid),
      .awaddr_o(m_axi_awaddr),
      .awlen_o(m_axi_awlen),
      .awsize_o(m_axi_awsize),
      .awburst_o(m_axi_awburst),
      .wvalid_o(m_axi_wvalid),
      .wready_i(m_axi_wready),
      .wdata_o(m_axi_wdata),
      .wstrb_o(m_axi_wstrb),
      .wlast_o(m_axi_wlast),
      .bvalid_i(m_axi_bvalid),
      .bready_o(m_axi_bready),
      .bid_i(m_axi_bid),
      .bresp_i(m_axi_bresp)
  );
endmodule
