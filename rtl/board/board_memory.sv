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
    parameter int ROW_W    = 13,
    parameter int COL_W    = 9,
    parameter int START_NS = 200000
) (
    input  logic            clk_i,
    input  logic            rst_i,
    // AXI4 slave of the device.
    input  tern_pkg::axi_req_t       d_req_i,
    output tern_pkg::axi_req_ready_t d_req_ready_o,
    output tern_pkg::axi_rsp_t       d_rsp_o,
    input  tern_pkg::axi_rsp_ready_t d_rsp_ready_i,
    // AXI4 slave of the link. The link has at most one transfer in flight, so it needs no id.
    input  tern_pkg::axi_req_t       l_req_i,
    output tern_pkg::axi_req_ready_t l_req_ready_o,
    output tern_pkg::axi_rsp_t       l_rsp_o,
    input  tern_pkg::axi_rsp_ready_t l_rsp_ready_i,
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
  logic [5:0] id_q;
  logic bad_q, bad, begin_it, room, answered, taken;
  logic [511:0] rdata;

  assign asks = {l_req_i.aw_valid && l_req_i.w_valid, l_req_i.ar_valid,
                 d_req_i.aw_valid && d_req_i.w_valid, d_req_i.ar_valid};
  assign begin_it = state_q == S_IDLE && room && |asks;
  assign addr = ({64{grant[0]}} & d_req_i.ar_addr) | ({64{grant[1]}} & d_req_i.aw_addr) |
                ({64{grant[2]}} & l_req_i.ar_addr) | ({64{grant[3]}} & l_req_i.aw_addr);
  assign bad = addr[63:LINE_W+6] != '0;

  rr_arbiter #(.N(4)) u_turn (
      .clk_i,
      .rst_i,
      .request_i(asks),
      .advance_i(begin_it),
      .grant_o(grant)
  );

  assign d_req_ready_o.ar = begin_it && grant[0];
  assign {d_req_ready_o.aw, d_req_ready_o.w} = {2{begin_it && grant[1]}};
  assign l_req_ready_o.ar = begin_it && grant[2];
  assign {l_req_ready_o.aw, l_req_ready_o.w} = {2{begin_it && grant[3]}};

  assign answer = state_q == S_ANSWER ? at_q : '0;
  assign {l_rsp_o.b_valid, l_rsp_o.r_valid, d_rsp_o.b_valid, d_rsp_o.r_valid} = answer;
  assign taken = |(answer & {l_rsp_ready_i.b, l_rsp_ready_i.r, d_rsp_ready_i.b, d_rsp_ready_i.r});
  assign {d_rsp_o.r_id, d_rsp_o.b_id} = {2{id_q}};
  assign {l_rsp_o.r_id, l_rsp_o.b_id} = '0;
  assign {d_rsp_o.r_resp, d_rsp_o.b_resp, l_rsp_o.r_resp, l_rsp_o.b_resp} = {4{bad_q, 1'b0}};
  assign d_rsp_o.r_data = rdata;
  assign l_rsp_o.r_data = rdata;

  always_ff @(posedge clk_i) begin
    case (state_q)
      S_IDLE:
      if (begin_it) begin
        state_q <= bad ? S_ANSWER : S_WAIT;
        at_q <= grant;
        bad_q <= bad;
        id_q <= grant[1] ? d_req_i.aw_id : d_req_i.ar_id;
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
      .req_wdata_i(grant[3] ? l_req_i.w_data : d_req_i.w_data),
      .req_be_i(grant[3] ? l_req_i.w_strb : d_req_i.w_strb),
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
  assign unused = &{1'b0, addr[5:0], l_req_i};
endmodule
