// SPDX-License-Identifier: Apache-2.0
// Arbiter that puts the LSU and the instruction cache of an executor on one memory channel.
//
// Contract: the memory channel of docs/hardware/interfaces.md on all three sides. Bit 7 of a tag is set for the
// instruction cache and clear for the LSU. The instruction cache has priority, because a warp without instructions can
// do nothing else. Bounds: at most three of its requests pass a waiting request of the LSU, and at most one request of
// the LSU passes one of the instruction cache.
// State saved at preemption: none; the channel drains.

module simt_memarb (
    input  logic               clk_i,
    input  logic               rst_i,
    // LSU
    input  logic               lsu_valid_i,
    output logic               lsu_ready_o,
    input  tern_pkg::mem_req_t lsu_req_i,
    input  logic [6:0]         lsu_tag_i,
    output logic               lsu_rsp_o,
    // instruction cache
    input  logic               ic_valid_i,
    output logic               ic_ready_o,
    input  logic [27:0]        ic_line_i,
    input  logic [1:0]         ic_tag_i,
    output logic               ic_rsp_o,
    // both
    output logic               req_valid_o,
    input  logic               req_ready_i,
    output tern_pkg::mem_req_t req_o,
    output logic               req_exec_o,  // an instruction fetch: needs X instead of R
    output logic [7:0]         req_tag_o,
    input  logic               rsp_valid_i,
    input  logic               rsp_ic_i     // bit 7 of the response's tag
);

  logic       hold_q;      // a stalled request of the LSU stays on the channel
  logic [1:0] passed_q;    // requests that have passed the one of the LSU
  logic       pick_ic;

  always_ff @(posedge clk_i) begin
    hold_q <= lsu_valid_i && !pick_ic && !req_ready_i && !rst_i;
    if (rst_i || !lsu_valid_i || lsu_ready_o) passed_q <= 2'd0;
    else if (ic_valid_i && ic_ready_o) passed_q <= passed_q + 2'd1;
  end

  always_comb begin
    pick_ic     = ic_valid_i && !hold_q && passed_q != 2'd3;
    req_valid_o = ic_valid_i || lsu_valid_i;
    req_exec_o  = pick_ic;
    req_o       = lsu_req_i;
    if (pick_ic) begin
      req_o.op   = tern_pkg::MEM_READ;
      req_o.line = ic_line_i;
      req_o.be   = '1;
    end
    req_tag_o   = pick_ic ? {1'b1, 5'd0, ic_tag_i} : {1'b0, lsu_tag_i};
    ic_ready_o  = req_ready_i && pick_ic;
    lsu_ready_o = req_ready_i && !pick_ic;
    ic_rsp_o    = rsp_valid_i && rsp_ic_i;
    lsu_rsp_o   = rsp_valid_i && !rsp_ic_i;
  end

`ifndef SYNTHESIS
  check_request #(.TAG_W(7)) u_check_lsu (
      .clk_i,
      .rst_i,
      .valid_i(lsu_valid_i),
      .ready_i(lsu_ready_o),
      .req_i(lsu_req_i),
      .tag_i(lsu_tag_i)
  );
  check_channel #(.WIDTH(28 + 2)) u_check_icache (
      .clk_i,
      .rst_i,
      .valid_i(ic_valid_i),
      .ready_i(ic_ready_o),
      .data_i({ic_line_i, ic_tag_i})
  );
`endif
endmodule
