// SPDX-License-Identifier: Apache-2.0
// Connects the physical memory channels of all engines to PORTS AXI4 memory ports (docs/hardware/memory.md).
//
// Contract: each engine has a memory channel (docs/hardware/interfaces.md, rules 1 to 6), and each port keeps the
// contract of mem_port. The port of a byte is (address >> INTERLEAVE_LOG2) modulo PORTS: with two ports and
// INTERLEAVE_LOG2 = 8, bytes 0 to 255 are at port 0 and bytes 256 to 511 at port 1. A line is read and written at its
// port only, at its own address. With one port each channel is connected directly to mem_port.
// A dirty command acts on all ports. Each access reads and changes the same word in the planes of all ports in the same
// cycle, so a page has one state, whichever ports its lines belong to.
// Preemption: no state is saved; the channel of an engine is drained first.
module mem_fabric #(
    parameter int ENGINES   = 2,        // Number of engines.
    parameter int TAG_W     = 11,       // Bits of a tag.
    parameter int PAGE_LOG2 = 12,       // log2 of the bytes that one dirty bit covers.
    parameter int MEM_PAGES = 1 << 20,  // Capacity of the dirty plane in pages of 4 KiB.
    parameter int DIRTY_WORD = 128,     // Bits of the dirty plane that one access reads.
    parameter int PORTS     = 1,        // Number of memory ports: 1, 2 or 4.
    parameter int INTERLEAVE_LOG2 = 8,  // log2 of the adjacent bytes at one port.
    parameter int HASH_W    = 9,        // 2^HASH_W entries in each in-flight table of a port.
    parameter bit ATOMICS   = 1'b1      // 0: an atomic is answered with bus_error.
) (
    input  logic                                   clk_i,
    input  logic                                   rst_i,
    input  logic [22:0]                            mem_pages_i,  // Device memory in pages of 4 KiB.
    input  logic [63:0]                            axi_base_i,   // Added to every address.
    // Memory channels of the engines, engine 0 lowest.
    input  logic [ENGINES-1:0]                     req_valid_i,
    output logic [ENGINES-1:0]                     req_ready_o,
    input  logic [tern_pkg::MEM_REQ_W*ENGINES-1:0] req_i,        // Vector of mem_req_t.
    input  logic [TAG_W*ENGINES-1:0]               req_tag_i,
    output logic [ENGINES-1:0]                     rsp_valid_o,
    output logic [TAG_W*ENGINES-1:0]               rsp_tag_o,
    output logic [tern_pkg::MEM_RSP_W*ENGINES-1:0] rsp_o,        // Vector of mem_rsp_t.
    output logic [ENGINES-1:0]                     ev_rd_o,      // Pulse: a line was read for this engine.
    output logic [ENGINES-1:0]                     ev_wr_o,      // Pulse: a line was written for this engine.
    // Registers dirty.*; dirty_valid_i is a pulse that begins a command.
    input  logic                                   dirty_valid_i,
    input  logic [1:0]                             dirty_op_i,
    input  logic [31:0]                            dirty_first_i,
    input  logic [31:0]                            dirty_count_i,
    input  logic [63:0]                            dirty_target_i,
    output logic                                   dirty_busy_o,
    output logic                                   dirty_error_o,
    output logic                                   dirty_bus_error_o,
    output logic [31:0]                            dirty_found_o,
    // AXI4 masters, port 0 lowest: vectors of axi_req_t, axi_req_ready_t, axi_rsp_t and axi_rsp_ready_t.
    output logic [tern_pkg::AXI_REQ_W*PORTS-1:0]   axi_req_o,
    input  logic [3*PORTS-1:0]                     axi_req_ready_i,
    input  logic [tern_pkg::AXI_RSP_W*PORTS-1:0]   axi_rsp_i,
    output logic [2*PORTS-1:0]                     axi_rsp_ready_o
);
  localparam int DIRTY_UNITS = (MEM_PAGES + (1 << (PAGE_LOG2 - 12)) - 1) >> (PAGE_LOG2 - 12);
  localparam int DIRTY_TAG_W = 16;
  localparam int LINES_LOG2 = INTERLEAVE_LOG2 - 6;
  localparam int REQ_W = tern_pkg::MEM_REQ_W, RSP_W = tern_pkg::MEM_RSP_W;
  localparam int AXI_REQ_W = tern_pkg::AXI_REQ_W, AXI_RSP_W = tern_pkg::AXI_RSP_W;
  localparam int ALL = PORTS * ENGINES;  // Engine e at port p has index p * ENGINES + e.

  generate
    if (PORTS != 1 && PORTS != 2 && PORTS != 4) begin : g_check_ports
      $error("mem_fabric: PORTS must be 1, 2 or 4");
    end
    if (INTERLEAVE_LOG2 < 6 || INTERLEAVE_LOG2 > 30) begin : g_check_interleave
      $error("mem_fabric: INTERLEAVE_LOG2 out of range");
    end
  endgenerate

  logic [ALL-1:0] port_valid, port_ready, port_room, port_rsp_valid, port_ev_rd, port_ev_wr;
  logic [TAG_W*ALL-1:0] port_rsp_tag;
  logic [RSP_W*ALL-1:0] port_rsp;

  // LR and SC that a port executes. The other ports see them in the next cycle.
  logic [ALL-1:0] reserve, reserve_q;
  logic [32*PORTS-1:0] reserve_thread, reserve_thread_q;

  // Dirty commands: accesses to the planes (acc*, got_*), and lines that are written (out*, line_done*).
  logic acc_valid;
  tern_pkg::dirty_access_t acc;
  logic [DIRTY_WORD-1:0] acc_mask, got_data;
  logic [15:0] look;
  logic [63:0] marks;
  logic out_valid, done_valid;
  tern_pkg::dirty_line_t out;
  tern_pkg::dirty_done_t done;
  logic [PORTS-1:0] acc_ready, got_valid, out_to, out_ready, line_done, line_done_ready;
  logic [DIRTY_WORD*PORTS-1:0] port_got;
  logic [DIRTY_TAG_W*PORTS-1:0] got_tag;
  logic [64*PORTS-1:0] port_marks;
  logic [5*PORTS-1:0] port_done;  // Vector of dirty_done_t.

  always_ff @(posedge clk_i) begin
    reserve_q <= reserve;
    reserve_thread_q <= reserve_thread;
    if (rst_i) reserve_q <= '0;
  end

  for (genvar p = 0; p < PORTS; p++) begin : g_port
    logic [ENGINES-1:0] forget;
    logic [32*ENGINES-1:0] forget_thread;
    always_comb begin  // An engine has LR and SC in flight at one port only.
      forget = '0;
      forget_thread = '0;
      for (int q = 0; q < PORTS; q++)
        for (int e = 0; e < ENGINES; e++)
          if (q != p && reserve_q[q*ENGINES+e]) begin
            forget[e] = 1'b1;
            forget_thread[32*e+:32] = forget_thread[32*e+:32] | reserve_thread_q[32*q+:32];
          end
    end

    mem_port #(
        .ENGINES(ENGINES),
        .TAG_W(TAG_W),
        .PAGE_LOG2(PAGE_LOG2),
        .MEM_PAGES(MEM_PAGES),
        .DIRTY_WORD(DIRTY_WORD),
        .PORTS(PORTS),
        .LINES_LOG2(LINES_LOG2),
        .HASH_W(HASH_W),
        .ATOMICS(ATOMICS)
    ) u_port (
        .clk_i,
        .rst_i,
        .mem_pages_i,
        .axi_base_i,
        .req_valid_i(port_valid[ENGINES*p+:ENGINES]),
        .req_ready_o(port_ready[ENGINES*p+:ENGINES]),
        .req_i,
        .req_tag_i,
        .rsp_valid_o(port_rsp_valid[ENGINES*p+:ENGINES]),
        .rsp_tag_o(port_rsp_tag[TAG_W*ENGINES*p+:TAG_W*ENGINES]),
        .rsp_o(port_rsp[RSP_W*ENGINES*p+:RSP_W*ENGINES]),
        .ev_rd_o(port_ev_rd[ENGINES*p+:ENGINES]),
        .ev_wr_o(port_ev_wr[ENGINES*p+:ENGINES]),
        .rsp_room_i(port_room[ENGINES*p+:ENGINES]),
        .reserve_o(reserve[ENGINES*p+:ENGINES]),
        .reserve_thread_o(reserve_thread[32*p+:32]),
        .forget_i(forget),
        .forget_thread_i(forget_thread),
        .acc_valid_i(acc_valid),
        .acc_ready_o(acc_ready[p]),
        .acc_others_i(&(acc_ready | PORTS'(1 << p))),
        .acc_i(acc),
        .acc_mask_i(acc_mask),
        .got_valid_o(got_valid[p]),
        .got_data_o(port_got[DIRTY_WORD*p+:DIRTY_WORD]),
        .got_tag_o(got_tag[DIRTY_TAG_W*p+:DIRTY_TAG_W]),
        .look_i(look),
        .marks_o(port_marks[64*p+:64]),
        .out_valid_i(out_valid && out_to[p]),
        .out_ready_o(out_ready[p]),
        .out_i(out),
        .done_valid_o(line_done[p]),
        .done_ready_i(line_done_ready[p]),
        .done_o(port_done[5*p+:5]),
        .axi_req_o(axi_req_o[AXI_REQ_W*p+:AXI_REQ_W]),
        .axi_req_ready_i(axi_req_ready_i[3*p+:3]),
        .axi_rsp_i(axi_rsp_i[AXI_RSP_W*p+:AXI_RSP_W]),
        .axi_rsp_ready_o(axi_rsp_ready_o[2*p+:2])
    );
    // One answer for a written line is passed on in a cycle, that of the lowest port first.
    assign line_done_ready[p] = (line_done & PORTS'((1 << p) - 1)) == '0;
  end

  if (PORTS == 1) begin : g_straight
    assign port_valid = req_valid_i;
    assign req_ready_o = port_ready;
    assign port_room = '1;
    assign rsp_valid_o = port_rsp_valid;
    assign rsp_tag_o = port_rsp_tag;
    assign rsp_o = port_rsp;
    assign ev_rd_o = port_ev_rd;
    assign ev_wr_o = port_ev_wr;
    assign out_to = 1'b1;
  end else begin : g_interleave
    assign out_to = PORTS'(1) << out.line[LINES_LOG2+:$clog2(PORTS)];
    for (genvar e = 0; e < ENGINES; e++) begin : g_engine
      logic [PORTS-1:0] valid, ready, room, got, rd, wr;
      logic [TAG_W*PORTS-1:0] tag;
      logic [RSP_W*PORTS-1:0] rsp;
      for (genvar p = 0; p < PORTS; p++) begin : g_port
        localparam int AT = p * ENGINES + e;
        assign port_valid[AT] = valid[p];
        assign ready[p] = port_ready[AT];
        assign port_room[AT] = room[p];
        assign {got[p], rd[p], wr[p]} = {port_rsp_valid[AT], port_ev_rd[AT], port_ev_wr[AT]};
        assign tag[TAG_W*p+:TAG_W] = port_rsp_tag[TAG_W*AT+:TAG_W];
        assign rsp[RSP_W*p+:RSP_W] = port_rsp[RSP_W*AT+:RSP_W];
      end
      mem_interleave #(.PORTS(PORTS), .LINES_LOG2(LINES_LOG2), .TAG_W(TAG_W)) u_interleave (
          .clk_i,
          .rst_i,
          .req_valid_i(req_valid_i[e]),
          .req_ready_o(req_ready_o[e]),
          .req_i(req_i[REQ_W*e+:REQ_W]),
          .rsp_valid_o(rsp_valid_o[e]),
          .rsp_tag_o(rsp_tag_o[TAG_W*e+:TAG_W]),
          .rsp_o(rsp_o[RSP_W*e+:RSP_W]),
          .ev_rd_o(ev_rd_o[e]),
          .ev_wr_o(ev_wr_o[e]),
          .port_valid_o(valid),
          .port_ready_i(ready),
          .port_room_o(room),
          .port_rsp_valid_i(got),
          .port_rsp_tag_i(tag),
          .port_rsp_i(rsp),
          .port_ev_rd_i(rd),
          .port_ev_wr_i(wr)
      );
      check_request #(.TAG_W(TAG_W)) u_check_req (
          .clk_i,
          .rst_i,
          .valid_i(req_valid_i[e]),
          .ready_i(req_ready_o[e]),
          .req_i(req_i[REQ_W*e+:REQ_W]),
          .tag_i(req_tag_i[TAG_W*e+:TAG_W])
      );
      check_answers #(.TAG_W(TAG_W)) u_check_answers (
          .clk_i,
          .rst_i,
          .req_i(req_valid_i[e] && req_ready_o[e]),
          .req_tag_i(req_tag_i[TAG_W*e+:TAG_W]),
          .rsp_i(rsp_valid_o[e]),
          .rsp_tag_i(rsp_tag_o[TAG_W*e+:TAG_W])
      );
    end
  end

  // All planes are accessed in the same cycle, so their results come in the same cycle. A page is dirty if one of the
  // planes says so.
  always_comb begin
    got_data = '0;
    marks = '0;
    done = '0;
    for (int p = 0; p < PORTS; p++) begin
      got_data = got_data | port_got[DIRTY_WORD*p+:DIRTY_WORD];
      marks = marks | port_marks[64*p+:64];
      if (line_done[p] && line_done_ready[p]) done = done | port_done[5*p+:5];
    end
  end
  assign done_valid = |line_done;

  dirty_command #(.UNITS(DIRTY_UNITS), .WORD(DIRTY_WORD), .PAGE_LOG2(PAGE_LOG2), .TAG_W(DIRTY_TAG_W)) u_dirty (
      .clk_i,
      .rst_i,
      .mem_pages_i,
      .cmd_valid_i(dirty_valid_i),
      .cmd_op_i(dirty_op_i),
      .cmd_first_i(dirty_first_i),
      .cmd_count_i(dirty_count_i),
      .cmd_target_i(dirty_target_i),
      .busy_o(dirty_busy_o),
      .error_o(dirty_error_o),
      .bus_error_o(dirty_bus_error_o),
      .found_o(dirty_found_o),
      .acc_valid_o(acc_valid),
      .acc_ready_i(&acc_ready),
      .acc_first_o(acc.first),
      .acc_last_o(acc.last),
      .acc_clear_o(acc.clear),
      .acc_set_o(acc.mark),
      .acc_word_o(acc.word),
      .acc_mask_o(acc_mask),
      .acc_tag_o(acc.tag),
      .got_valid_i(got_valid[0]),
      .got_data_i(got_data),
      .got_tag_i(got_tag[DIRTY_TAG_W-1:0]),
      .look_o(look),
      .marks_i(marks),
      .wr_valid_o(out_valid),
      .wr_ready_i(|(out_to & out_ready)),
      .wr_line_o(out.line),
      .wr_data_o(out.data),
      .wr_slot_o(out.slot),
      .done_valid_i(done_valid),
      .done_slot_i(done.slot),
      .done_error_i(done.error)
  );

  if (PORTS > 1) begin : g_unused
    logic unused;
    assign unused = &{1'b0, got_valid, got_tag};
  end
endmodule
