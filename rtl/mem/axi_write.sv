// SPDX-License-Identifier: Apache-2.0
// The write side of an AXI port: 16 banks, each with an id of its own and up to 2^DEPTH_LOG2 + 2 writes in flight.
//
// Contract: a write is taken when req_valid_i and req_ready_o are high; it is offered only if its bank is not full
// in this cycle or was not in the one before (bank_full_o). A bank is full while 2^DEPTH_LOG2 writes were in flight
// one cycle ago. The ring of a bank has twice as many slots, so what is offered meanwhile finds room, and neither
// bank_full_o nor its users are at the end of a deep path. After memory has answered, the write comes back once on
// rsp_*, with its page number and its META_W bits of meta. rsp_error_o: memory answered with an error. Writes to one
// line take effect in the order of the requests: they have the same bank, the bank is the AXI id, and AXI keeps the
// order of an id. All outputs towards the requester come from registers. AW and W are stable while stalled. One line
// can be written in every cycle. Answers of an id come in order, so a bank is a ring, and a slot is found by counting.
// Preemption: no state is saved; the port is drained first.
module axi_write #(
    parameter int META_W = 16,     // Bits that come back with the answer.
    parameter int ID_W = 6,        // Bits of an AXI id, at least 4.
    parameter int DEPTH_LOG2 = 4,  // log2 of the writes in flight with which a bank is full; 1 or more.
    parameter int DATA_W = 512     // Bits of a line; fewer in the proof.
) (
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic [      63:0] axi_base_i,
    input  logic              req_valid_i,
    output logic              req_ready_o,
    output logic [      15:0] bank_full_o,
    input  logic [       3:0] req_bank_i,   // Bank of req_line_i, the same for the same line.
    input  logic [      27:0] req_line_i,
    input  logic [DATA_W-1:0] req_data_i,
    input  logic [DATA_W/8-1:0] req_be_i,
    input  logic [META_W-1:0] req_meta_i,
    output logic              rsp_valid_o,
    input  logic              rsp_ready_i,
    output logic [META_W-1:0] rsp_meta_o,
    output logic [      21:0] rsp_page_o,
    output logic              rsp_error_o,
    // AXI4: AW, W and B.
    output logic              awvalid_o,
    input  logic              awready_i,
    output logic [  ID_W-1:0] awid_o,
    output logic [      63:0] awaddr_o,
    output logic              wvalid_o,
    input  logic              wready_i,
    output logic [DATA_W-1:0] wdata_o,
    output logic [DATA_W/8-1:0] wstrb_o,
    input  logic              bvalid_i,
    output logic              bready_o,
    input  logic [       3:0] bid_i,
    input  logic              berror_i     // Bit 1 of BRESP.
);
  localparam int RING_LOG2 = DEPTH_LOG2 + 1;  // log2 of the slots of a bank.
  localparam int SLOT_W = 4 + RING_LOG2;

  // Record of a write in flight.
  typedef struct packed {
    logic [META_W-1:0] meta;
    logic [21:0]       page;
  } kept_t;
  // The record of a write enters kept one cycle after the write was taken, so that the comparison of the places that
  // are written and read does not follow the choice of the write. The address of the write leaves later still.
  kept_t put_q, got;  // of the write that was taken; of the one that is answered
  logic put_valid_q;
  logic [SLOT_W-1:0] put_slot_q;
  logic [$bits(got)-1:0] kept[0:(1<<SLOT_W)-1];
  logic [16*(RING_LOG2+1)-1:0] head_q, tail_q;  // Ring pointers of each bank.
  logic aw_ready, w_ready, aw_valid, aw_take, take, b_valid, b_error, done;
  logic [3:0] aw_bank, rsp_bank;
  logic [27:0] aw_line;
  logic [SLOT_W-1:0] req_slot, rsp_slot;

  assign req_ready_o = aw_ready && w_ready;
  assign take = req_valid_i && req_ready_o;
  assign done = b_valid && (!rsp_valid_o || rsp_ready_i);
  assign req_slot = {req_bank_i, tail_q[req_bank_i*(RING_LOG2+1)+:RING_LOG2]};
  assign rsp_slot = {rsp_bank, head_q[rsp_bank*(RING_LOG2+1)+:RING_LOG2]};

  for (genvar b = 0; b < 16; b++) begin : g_bank
    logic [RING_LOG2:0] head, tail;
    logic full_q;
    assign bank_full_o[b] = full_q;
    assign head = head_q[b*(RING_LOG2+1)+:RING_LOG2+1];
    assign tail = tail_q[b*(RING_LOG2+1)+:RING_LOG2+1];
    always_ff @(posedge clk_i) begin
      full_q <= (RING_LOG2 + 1)'(tail - head) >= (RING_LOG2 + 1)'(1 << DEPTH_LOG2);
      if (take && req_bank_i == 4'(b)) tail_q[b*(RING_LOG2+1)+:RING_LOG2+1] <= tail + 1'b1;
      if (done && rsp_bank == 4'(b)) head_q[b*(RING_LOG2+1)+:RING_LOG2+1] <= head + 1'b1;
      if (rst_i) begin
        full_q <= 1'b0;
        tail_q[b*(RING_LOG2+1)+:RING_LOG2+1] <= '0;
        head_q[b*(RING_LOG2+1)+:RING_LOG2+1] <= '0;
      end
    end
  end

  mem_fifo #(.WIDTH(4 + 28), .DEPTH_LOG2(2)) u_addresses (
      .clk_i,
      .rst_i,
      .in_valid_i(take),
      .in_ready_o(aw_ready),
      .in_data_i({req_bank_i, req_line_i}),
      .out_valid_o(aw_valid),
      .out_ready_i(aw_take),
      .out_data_o({aw_bank, aw_line})
  );
  mem_fifo #(.WIDTH(DATA_W + DATA_W / 8), .DEPTH_LOG2(2)) u_data (
      .clk_i,
      .rst_i,
      .in_valid_i(take),
      .in_ready_o(w_ready),
      .in_data_i({req_data_i, req_be_i}),
      .out_valid_o(wvalid_o),
      .out_ready_i(wready_i),
      .out_data_o({wdata_o, wstrb_o})
  );

  assign got = kept[rsp_slot];

  // The address has a pipeline stage of its own for the addition.
  assign aw_take = !awvalid_o || awready_i;
  always_ff @(posedge clk_i) begin
    put_valid_q <= take;
    put_slot_q <= req_slot;
    put_q.meta <= req_meta_i;
    put_q.page <= req_line_i[27:6];
    if (put_valid_q) kept[put_slot_q] <= put_q;
    if (aw_take) begin
      awvalid_o <= aw_valid;
      if (aw_valid) begin
        awid_o   <= ID_W'(aw_bank);
        awaddr_o <= axi_base_i + {30'b0, aw_line, 6'b0};
      end
    end
    if (rst_i) awvalid_o <= 1'b0;
  end

  mem_fifo #(.WIDTH(4 + 1), .DEPTH_LOG2(2)) u_responses (
      .clk_i,
      .rst_i,
      .in_valid_i(bvalid_i),
      .in_ready_o(bready_o),
      .in_data_i({bid_i, berror_i}),
      .out_valid_o(b_valid),
      .out_ready_i(done),
      .out_data_o({rsp_bank, b_error})
  );
  always_ff @(posedge clk_i) begin
    if (!rsp_valid_o || rsp_ready_i) rsp_valid_o <= b_valid;
    if (done) begin
      rsp_meta_o <= got.meta;
      rsp_page_o <= got.page;
      rsp_error_o <= b_error;
    end
    if (rst_i) rsp_valid_o <= 1'b0;
  end

`ifndef SYNTHESIS
  check_channel #(.WIDTH(ID_W + 64)) u_check_aw (
      .clk_i,
      .rst_i,
      .valid_i(awvalid_o),
      .ready_i(awready_i),
      .data_i({awid_o, awaddr_o})
  );
  check_channel #(.WIDTH(DATA_W + DATA_W / 8)) u_check_w (
      .clk_i,
      .rst_i,
      .valid_i(wvalid_o),
      .ready_i(wready_i),
      .data_i({wdata_o, wstrb_o})
  );
  logic live_q = 1'b0;  // there was a reset
  logic [15:0] was_full_q;
  always_ff @(posedge clk_i) begin
    was_full_q <= bank_full_o;
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      no_write_to_a_full_bank: assert (!(req_valid_i && bank_full_o[req_bank_i] && was_full_q[req_bank_i]));
      answer_to_a_write: assert (!done || head_q[rsp_bank*(RING_LOG2+1)+:RING_LOG2+1] !=
                                          tail_q[rsp_bank*(RING_LOG2+1)+:RING_LOG2+1]);
    end
  end
`endif
endmodule
