// SPDX-License-Identifier: Apache-2.0
// The memory of a board: an AXI4 port for the device and one for the link in front of one SDRAM chip.
//
// Contract: two AXI4 slaves of 512 bits. A transfer is one full, aligned line (64 bytes); the device and the link make
// no other.
// One transfer is in progress at a time. Readers and writers of both ports are served round robin, so a transfer waits
// for at most three others. A write is answered when the chip has its data. A transfer outside the chip is answered
// with SLVERR and has no effect. R data come from a register of the controller, which keeps them until R is taken.
module board_memory #(
    parameter int CLOCK_HZ = 50000000,  // The parameters are those of sdram_line.
    parameter int ID_W     = 6,         // Bits of an AXI id of the device.
    parameter int ROW_W    = 13,
    parameter int COL_W    = 9,
    parameter int START_NS = 200000
) (
    input  logic            clk_i,
    input  logic            rst_i,
    // AXI4 slave of the device.
    input  logic            d_arvalid_i,
    output logic            d_arready_o,
    input  logic [ID_W-1:0] d_arid_i,
    input  logic [    63:0] d_araddr_i,
    output logic            d_rvalid_o,
    input  logic            d_rready_i,
    output logic [ID_W-1:0] d_rid_o,
    output logic [   511:0] d_rdata_o,
    output logic [     1:0] d_rresp_o,
    input  logic            d_awvalid_i,
    output logic            d_awready_o,
    input  logic [ID_W-1:0] d_awid_i,
    input  logic [    63:0] d_awaddr_i,
    input  logic            d_wvalid_i,
    output logic            d_wready_o,
    input  logic [   511:0] d_wdata_i,
    input  logic [    63:0] d_wstrb_i,
    output logic            d_bvalid_o,
    input  logic            d_bready_i,
    output logic [ID_W-1:0] d_bid_o,
    output logic [     1:0] d_bresp_o,
    // AXI4 slave of the link. The link has at most one transfer in flight, so it needs no id.
    input  logic            l_arvalid_i,
    output logic            l_arready_o,
    input  logic [    63:0] l_araddr_i,
    output logic            l_rvalid_o,
    input  logic            l_rready_i,
    output logic [   511:0] l_rdata_o,
    output logic [     1:0] l_rresp_o,
    input  logic            l_awvalid_i,
    output logic            l_awready_o,
    input  logic [    63:0] l_awaddr_i,
    input  logic            l_wvalid_i,
    output logic            l_wready_o,
    input  logic [   511:0] l_wdata_i,
    input  logic [    63:0] l_wstrb_i,
    output logic            l_bvalid_o,
    input  logic            l_bready_i,
    output logic [     1:0] l_bresp_o,
    // Pins of the chip.
    output logic            cke_o,
    output logic            cs_n_o,
    output logic            ras_n_o,
    output logic            cas_n_o,
    output logic            we_n_o,
    output logic [     1:0] ba_o,
    output logic [ROW_W-1:0] a_o,
    output logic [     1:0] dqm_o,
    output logic [    15:0] dq_o,
    output logic            dq_oe_o,
    input  logic [    15:0] dq_i
);
  localparam int LINE_W = 2 + ROW_W + COL_W - 5;
  // States. IDLE takes a transfer, WAIT waits for the controller, ANSWER waits for ready of R or B.
  localparam logic [1:0] S_IDLE = 2'd0, S_WAIT = 2'd1, S_ANSWER = 2'd2;

  logic [1:0] state_q;
  // Requests, the granted one, the one in progress, valid of R or B: {link write, link read, device write, device
  // read}.
  logic [3:0] asks, grant, at_q, answer;
  logic [63:0] addr;
  logic [ID_W-1:0] id_q;
  logic bad_q, bad, begin_it, room, answered, taken;
  logic [511:0] rdata;

  assign asks = {l_awvalid_i && l_wvalid_i, l_arvalid_i, d_awvalid_i && d_wvalid_i, d_arvalid_i};
  assign begin_it = state_q == S_IDLE && room && |asks;
  assign addr = ({64{grant[0]}} & d_araddr_i) | ({64{grant[1]}} & d_awaddr_i) | ({64{grant[2]}} & l_araddr_i) |
                ({64{grant[3]}} & l_awaddr_i);
  assign bad = addr[63:LINE_W+6] != '0;

  rr_arbiter #(.N(4)) u_turn (
      .clk_i,
      .rst_i,
      .request_i(asks),
      .advance_i(begin_it),
      .grant_o(grant)
  );

  assign d_arready_o = begin_it && grant[0];
  assign {d_awready_o, d_wready_o} = {2{begin_it && grant[1]}};
  assign l_arready_o = begin_it && grant[2];
  assign {l_awready_o, l_wready_o} = {2{begin_it && grant[3]}};

  assign answer = state_q == S_ANSWER ? at_q : '0;
  assign {l_bvalid_o, l_rvalid_o, d_bvalid_o, d_rvalid_o} = answer;
  assign taken = |(answer & {l_bready_i, l_rready_i, d_bready_i, d_rready_i});
  assign {d_rid_o, d_bid_o} = {2{id_q}};
  assign {d_rresp_o, d_bresp_o, l_rresp_o, l_bresp_o} = {4{bad_q, 1'b0}};
  assign d_rdata_o = rdata;
  assign l_rdata_o = rdata;

  always_ff @(posedge clk_i) begin
    case (state_q)
      S_IDLE:
      if (begin_it) begin
        state_q <= bad ? S_ANSWER : S_WAIT;
        at_q <= grant;
        bad_q <= bad;
        id_q <= grant[1] ? d_awid_i : d_arid_i;
      end
      S_WAIT: if (answered) state_q <= S_ANSWER;
      default: if (taken) state_q <= S_IDLE;
    endcase
    if (rst_i) state_q <= S_IDLE;
  end

  sdram_line #(.CLOCK_HZ(CLOCK_HZ), .ROW_W(ROW_W), .COL_W(COL_W), .START_NS(START_NS)) u_sdram (
      .clk_i,
      .rst_i,
      .req_valid_i(begin_it && !bad),
      .req_ready_o(room),
      .req_write_i(grant[1] || grant[3]),
      .req_line_i(addr[LINE_W+5:6]),
      .req_wdata_i(grant[3] ? l_wdata_i : d_wdata_i),
      .req_be_i(grant[3] ? l_wstrb_i : d_wstrb_i),
      .rsp_valid_o(answered),
      .rsp_data_o(rdata),
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

  logic unused;
  assign unused = &{1'b0, addr[5:0]};
endmodule
