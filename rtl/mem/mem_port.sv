// SPDX-License-Identifier: Apache-2.0
// A memory port: it carries the requests of all engines for its lines to one AXI4 port and the answers back, and has
// the dirty plane of the lines that it writes (docs/hardware/memory.md).
//
// Contract: each engine has a memory channel (docs/hardware/interfaces.md, rules 1 to 6). An engine gets an answer only
// in the cycle after one with its rsp_room_i set. Engines share the port fairly. The channel of one engine carries one
// request a cycle; two engines together can read a line and write a line in every cycle. 64 reads and 256 writes, or a
// few more, can be in flight. An access beyond mem_pages_i, and an answer of memory with an error, is bus_error.
//
// Implementation: mem_gate grants only requests that cannot disturb those in flight. axi_read and axi_write carry them.
// Atomics go through atomic_unit, which fetches and writes lines through the same two. Answers come from two places:
// reads (r_*), and writes and atomics (c_*). The latter mark the dirty plane after memory has taken them and before
// they are answered.
// Lines that a dirty command writes (out_*) are the third user of the write port. Such a line goes in the cycle after
// one in which the others did not want the port, or when it has waited for DIRTY_PATIENCE cycles. Such a line sets no
// dirty bit and does not pass the gate, because no engine may use the target of a command while the command goes on.
// A reorder buffer in front of memory would need no gate, but would hold the data of all requests in flight.
// Preemption: no state is saved; the channel of an engine is drained first.
module mem_port #(
    parameter int ENGINES   = 2,        // Number of engines.
    parameter int TAG_W     = 11,       // Bits of a tag.
    parameter int PAGE_LOG2 = 12,       // log2 of the bytes that one dirty bit covers.
    parameter int MEM_PAGES = 1 << 20,  // Capacity of the dirty plane in pages of 4 KiB.
    parameter int DIRTY_WORD = 128,     // Bits of the dirty plane that one access reads.
    parameter int PORTS     = 1,        // Number of memory ports of the device.
    parameter int LINES_LOG2 = 2,       // log2 of the adjacent lines at one port.
    parameter int HASH_W    = 9,        // 2^HASH_W entries in a table of mem_gate.
    parameter bit ATOMICS   = 1'b1      // 0: an atomic is refused like an access beyond memory.
) (
    input  logic                                   clk_i,
    input  logic                                   rst_i,
    input  logic [22:0]                            mem_pages_i,
    input  logic [63:0]                            axi_base_i,
    // Memory channels of the engines, engine 0 lowest.
    input  logic [ENGINES-1:0]                     req_valid_i,
    output logic [ENGINES-1:0]                     req_ready_o,
    input  logic [tern_pkg::MEM_REQ_W*ENGINES-1:0] req_i,         // Vector of mem_req_t.
    input  logic [TAG_W*ENGINES-1:0]               req_tag_i,
    output logic [ENGINES-1:0]                     rsp_valid_o,
    output logic [TAG_W*ENGINES-1:0]               rsp_tag_o,
    output logic [tern_pkg::MEM_RSP_W*ENGINES-1:0] rsp_o,         // Vector of mem_rsp_t.
    output logic [ENGINES-1:0]                     ev_rd_o,
    output logic [ENGINES-1:0]                     ev_wr_o,
    input  logic [ENGINES-1:0]                     rsp_room_i,    // The engine can take an answer in the next cycle.
    // LR and SC that this port executes (reserve_*), and those of other ports, which end reservations here (forget_*).
    output logic [ENGINES-1:0]                     reserve_o,
    output logic [31:0]                            reserve_thread_o,
    input  logic [ENGINES-1:0]                     forget_i,
    input  logic [32*ENGINES-1:0]                  forget_thread_i,
    // Accesses of dirty commands (dirty_plane).
    input  logic                                   acc_valid_i,
    output logic                                   acc_ready_o,
    input  logic                                   acc_others_i,  // The planes of all other ports are ready.
    input  tern_pkg::dirty_access_t                acc_i,
    input  logic [DIRTY_WORD-1:0]                  acc_mask_i,
    output logic                                   got_valid_o,
    output logic [DIRTY_WORD-1:0]                  got_data_o,
    output logic [15:0]                            got_tag_o,
    input  logic [15:0]                            look_i,
    output logic [63:0]                            marks_o,
    // Lines that a dirty command writes, and the answers of memory.
    input  logic                                   out_valid_i,
    output logic                                   out_ready_o,
    input  tern_pkg::dirty_line_t                  out_i,
    output logic                                   done_valid_o,
    input  logic                                   done_ready_i,
    output tern_pkg::dirty_done_t                  done_o,
    // AXI4 master.
    output tern_pkg::axi_req_t                     axi_req_o,
    input  tern_pkg::axi_req_ready_t               axi_req_ready_i,
    input  tern_pkg::axi_rsp_t                     axi_rsp_i,
    output tern_pkg::axi_rsp_ready_t               axi_rsp_ready_o
);
  localparam int ENG_W = 3;
  localparam int ASKED_W = TAG_W + HASH_W, META_W = ENG_W + ASKED_W;  // Widths of asked_t and meta_t.
  localparam int DIRTY_PATIENCE = 15;  // Cycles that a line of a dirty command waits.
  localparam int DIRTY_UNITS = (MEM_PAGES + (1 << (PAGE_LOG2 - 12)) - 1) >> (PAGE_LOG2 - 12);
  localparam int PORT_W = $clog2(PORTS);
  localparam int NAME_W = HASH_W + 8;              // Bits of the name of a line in mem_gate.
  localparam int REQ_W = tern_pkg::MEM_REQ_W, RSP_W = tern_pkg::MEM_RSP_W;

  // Record of a request in flight.
  typedef struct packed {
    logic [TAG_W-1:0]  tag;
    logic [HASH_W-1:0] hash;
  } asked_t;
  typedef struct packed {
    logic [ENG_W-1:0] engine;
    asked_t           asked;
  } meta_t;
  // Record of a read in axi_read. A fetch of the atomic unit has its entry in place of the meta.
  typedef struct packed {
    logic  fetch;
    meta_t meta;
  } read_t;
  // Record of a write in axi_write. A write of the atomic unit has its record in place of asked, and a line of a dirty
  // command has its slot in place of the meta.
  typedef struct packed {
    logic  out;     // of a dirty command
    logic  atomic;
    meta_t meta;
  } write_t;

  generate
    if (HASH_W < 2 || HASH_W > 20) begin : g_check_hash
      $error("mem_port: HASH_W out of range");
    end
    if (ENGINES < 1 || ENGINES > 8 || PAGE_LOG2 < 12 || PAGE_LOG2 > 30) begin : g_check
      $error("mem_port: ENGINES or PAGE_LOG2 out of range");
    end
  endgenerate

  // Heads: the request of each engine that waits at the gate.
  logic [ENGINES-1:0] in_valid, in_ready, rd_grant, wr_grant, refused_grant, wr_ready, refused_ready;
  logic [2*ENGINES-1:0] in_class, head_class;
  logic [NAME_W*ENGINES-1:0] in_name;
  logic [HASH_W*ENGINES-1:0] head_hash;
  logic [4*ENGINES-1:0] head_bank_q;
  logic [REQ_W*ENGINES-1:0] heads;  // Vector of mem_req_t.
  logic [TAG_W*ENGINES-1:0] head_tag;
  logic [15:0] bank_full;
  logic wr_free, at_ready;

  // Returns the number of a line among those of this port: without the bits that are the same for all of them.
  function automatic logic [27:0] own(input logic [27:0] line);
    own = ((line >> (LINES_LOG2 + PORT_W)) << LINES_LOG2) | (line & 28'((1 << LINES_LOG2) - 1));
  endfunction
  // Returns the name of a line in mem_gate (docs/decisions/order-of-memory.md), an index and a rest. The index is the
  // low HASH_W bits of the number, so that no two lines of a stream share an entry. The lowest six bits of the index
  // are XORed with the next six bits of the number, so that lines at one offset of many pages do not share an entry
  // either. The rest is the XOR of all other bits, 8 at a time.
  function automatic logic [NAME_W-1:0] name(input logic [27:0] line);
    name = NAME_W'((line ^ ((line >> HASH_W) & 28'h3f)) & 28'((1 << HASH_W) - 1));
    for (int i = HASH_W; i < 28; i++) name[HASH_W+(i-HASH_W)%8] = name[HASH_W+(i-HASH_W)%8] ^ line[i];
  endfunction
  // Returns the bank of a line in axi_write.
  function automatic logic [3:0] bank(input logic [27:0] line);
    bank = 4'(own(line)) ^ 4'(own(line) >> 6);
  endfunction

  for (genvar e = 0; e < ENGINES; e++) begin : g_head
    logic [27:0] line;
    mem_head #(.TAG_W(TAG_W), .ATOMICS(ATOMICS)) u_head (
        .clk_i,
        .rst_i,
        .mem_pages_i,
        .req_valid_i(req_valid_i[e]),
        .req_ready_o(req_ready_o[e]),
        .req_i(req_i[REQ_W*e+:REQ_W]),
        .req_tag_i(req_tag_i[TAG_W*e+:TAG_W]),
        .rsp_valid_i(rsp_valid_o[e]),
        .rsp_tag_i(rsp_tag_o[TAG_W*e+:TAG_W]),
        .out_valid_o(in_valid[e]),
        .out_ready_i(in_ready[e]),
        .out_class_o(in_class[2*e+:2]),
        .out_line_o(line),
        .head_o(heads[REQ_W*e+:REQ_W]),
        .head_tag_o(head_tag[TAG_W*e+:TAG_W])
    );
    assign in_name[NAME_W*e+:NAME_W] = name(own(line));
    // The head's bank is looked up one cycle before it must not be full, which axi_write allows. The bank of the next
    // request is looked up too, because that request may become the head meanwhile (loaded_q).
    logic load, loaded_q, next_full_q, head_full_q;
    assign load = in_valid[e] && in_ready[e];
    always_ff @(posedge clk_i) begin
      if (load) head_bank_q[4*e+:4] <= bank(line);
      loaded_q <= load;
      next_full_q <= bank_full[bank(line)];
      head_full_q <= bank_full[head_bank_q[4*e+:4]];
    end
    assign wr_ready[e] = wr_free && !(loaded_q ? next_full_q : head_full_q);
  end

  logic rd_free, rd_waits, wr_waits, r_done, c_done, c_atomic;
  logic [HASH_W-1:0] r_hash, c_hash;

  mem_gate #(.ENGINES(ENGINES), .LINE_W(NAME_W), .HASH_W(HASH_W)) u_gate (
      .clk_i,
      .rst_i,
      .in_valid_i(in_valid),
      .in_ready_o(in_ready),
      .in_class_i(in_class),
      .in_line_i(in_name),
      .head_class_o(head_class),
      .head_hash_o(head_hash),
      .rd_waits_o(rd_waits),
      .rd_ready_i(rd_free),
      .rd_grant_o(rd_grant),
      .wr_waits_o(wr_waits),
      .wr_ready_i(wr_ready),
      .at_ready_i(at_ready),
      .wr_grant_o(wr_grant),
      .refused_ready_i(refused_ready),
      .refused_grant_o(refused_grant),
      .rd_done_valid_i(r_done),
      .rd_done_hash_i(r_hash),
      .wr_done_valid_i(c_done),
      .wr_done_hash_i(c_hash)
  );

  // Requests that the gate has granted.
  tern_pkg::mem_req_t head, rd_req, wr_req, atomic_req;
  meta_t head_meta, rd_meta, wr_meta;
  logic [3:0] wr_bank;
  logic wr_plain, wr_atomic;

  always_comb begin
    rd_req = '0;
    rd_meta = '0;
    wr_req = '0;
    wr_meta = '0;
    wr_bank = '0;
    wr_plain = 1'b0;
    wr_atomic = 1'b0;
    for (int e = 0; e < ENGINES; e++) begin
      head = heads[REQ_W*e+:REQ_W];
      head_meta.engine = ENG_W'(e);
      head_meta.asked.tag = head_tag[TAG_W*e+:TAG_W];
      head_meta.asked.hash = head_hash[HASH_W*e+:HASH_W];
      if (rd_grant[e]) begin
        rd_req.line = rd_req.line | head.line;
        rd_meta = rd_meta | head_meta;
      end
      if (wr_grant[e]) begin
        wr_req = wr_req | head;
        wr_meta = wr_meta | head_meta;
        wr_bank = wr_bank | head_bank_q[4*e+:4];
        wr_plain = wr_plain | head_class[2*e+:2] == tern_pkg::MEM_WRITE;
        wr_atomic = wr_atomic | head_class[2*e+:2] == tern_pkg::MEM_ATOMIC;
      end
    end
  end

  // Atomics. The atomic unit sees a plain write one cycle after its grant, before any later atomic of the line.
  logic plain_valid_q;
  logic [27:0] plain_line_q;
  logic [63:0] plain_be_q;
  logic fill_valid, line_valid, wt_valid, wt_ready, direct_valid, direct_ready, end_fault;
  logic [27:0] fill_line, wt_line;
  logic [3:0] fill_entry, wt_bank;
  logic [511:0] wt_data, end_data, r_data;
  logic [63:0] wt_be;
  logic [4:0] wt_rec, direct_rec, c_rec;
  logic [ENGINES-1:0] wt_engine, direct_engine;
  asked_t end_asked;
  logic r_error, c_error;
  read_t rd_kept, r_kept;  // of the read that goes, of the one that is answered
  logic [META_W-1:0] r_meta;

  always_ff @(posedge clk_i) begin
    plain_valid_q <= wr_plain || out_ready_o;
    if (wr_plain || out_asks) begin
      plain_line_q <= out_asks ? out_i.line : wr_req.line;
      plain_be_q <= out_asks ? '1 : wr_req.be;
    end
    if (rst_i) plain_valid_q <= 1'b0;
  end

  always_comb begin
    atomic_req = wr_req;
    atomic_req.op = tern_pkg::MEM_ATOMIC;
  end
  if (ATOMICS) begin : g_atomic
    atomic_unit #(.ENGINES(ENGINES), .META_W(ASKED_W)) u_atomic (
        .clk_i,
        .rst_i,
        .req_valid_i(wr_atomic),
        .req_ready_o(at_ready),
        .req_engine_i(wr_grant),
        .req_i(atomic_req),
        .req_meta_i(wr_meta.asked),
        .plain_valid_i(plain_valid_q),
        .plain_line_i(plain_line_q),
        .plain_be_i(plain_be_q),
        .fill_valid_o(fill_valid),
        .fill_ready_i(fill_goes),
        .fill_line_o(fill_line),
        .fill_entry_o(fill_entry),
        .line_valid_i(line_valid),
        .line_entry_i(r_meta[3:0]),
        .line_data_i(r_data),
        .line_error_i(r_error),
        .wt_valid_o(wt_valid),
        .wt_ready_i(wt_ready),
        .wt_line_o(wt_line),
        .wt_data_o(wt_data),
        .wt_be_o(wt_be),
        .wt_rec_o(wt_rec),
        .wt_engine_o(wt_engine),
        .direct_valid_o(direct_valid),
        .direct_ready_i(direct_ready),
        .direct_rec_o(direct_rec),
        .direct_engine_o(direct_engine),
        .end_rec_i(c_rec),
        .end_meta_o(end_asked),
        .end_data_o(end_data),
        .end_fault_o(end_fault),
        .end_valid_i(c_done && c_atomic),
        .end_error_i(c_error),
        .reserve_o,
        .reserve_thread_o,
        .forget_i,
        .forget_thread_i
    );
  end else begin : g_none
    assign {at_ready, fill_valid, wt_valid, direct_valid, end_fault} = '0;
    assign {fill_line, fill_entry, wt_line, wt_data, wt_be, wt_rec, wt_engine, direct_rec, direct_engine} = '0;
    assign {end_asked, end_data, reserve_o, reserve_thread_o} = '0;
    logic unused_atomic;
    assign unused_atomic = &{1'b0, plain_valid_q, plain_line_q, plain_be_q, atomic_req, wr_atomic, line_valid, wt_ready,
                             direct_ready, c_rec, forget_i, forget_thread_i};
  end

  // Reads. A fetch of the atomic unit goes first, but only one at a time while engines wait.
  logic rd_port_ready, fill_first, fill_asks, fill_goes, r_valid, r_ready;
  assign fill_asks = fill_valid && fill_first;
  assign fill_goes = fill_asks && rd_port_ready;
  assign rd_free = rd_port_ready && !fill_asks;
  mem_turn u_rd_turn (
      .clk_i,
      .rst_i,
      .waits_i(rd_waits),
      .first_goes_i(fill_goes),
      .other_goes_i(|rd_grant),
      .first_o(fill_first)
  );
  assign rd_kept.fetch = fill_asks;
  assign rd_kept.meta = fill_asks ? META_W'(fill_entry) : rd_meta;
  assign r_meta = r_kept.meta;
  axi_read #(.META_W(META_W + 1)) u_read (
      .clk_i,
      .rst_i,
      .axi_base_i,
      .req_valid_i(fill_asks || |rd_grant),
      .req_ready_o(rd_port_ready),
      .req_line_i(fill_asks ? fill_line : rd_req.line),
      .req_meta_i(rd_kept),
      .rsp_valid_o(r_valid),
      .rsp_ready_i(r_ready),
      .rsp_meta_o(r_kept),
      .rsp_data_o(r_data),
      .rsp_error_o(r_error),
      .arvalid_o(axi_req_o.ar_valid),
      .arready_i(axi_req_ready_i.ar),
      .arid_o(axi_req_o.ar_id),
      .araddr_o(axi_req_o.ar_addr),
      .rvalid_i(axi_rsp_i.r_valid),
      .rready_o(axi_rsp_ready_o.r),
      .rid_i(axi_rsp_i.r_id),
      .rdata_i(axi_rsp_i.r_data),
      .rerror_i(axi_rsp_i.r_resp[1])
  );

  // Writes. A write of the atomic unit goes first, but only one at a time while engines wait. A line of a dirty command
  // goes when neither has a write, or when it has waited.
  logic wr_port_ready, wt_first, wt_asks, b_valid, b_ready, b_error, b_out;
  write_t wr_kept, b_kept;  // of the write that goes, of the one that is answered
  meta_t wt_meta;
  logic [META_W-1:0] b_meta;
  logic [ASKED_W-1:0] b_asked;
  logic [21:0] b_page;
  // The turn of a line of a dirty command is decided a cycle before, with what is known then of its bank. A write that
  // comes in that cycle waits for this line.
  logic out_asks, out_turn_q;
  logic [3:0] out_waited_q, out_bank_q;
  assign out_ready_o = out_asks && wr_port_ready;
  assign out_asks = out_turn_q;
  assign wt_asks = wt_valid && wt_first && !out_asks;
  assign wr_free = wr_port_ready && !(wt_valid && wt_first) && !out_asks;
  assign wt_bank = bank(wt_line);
  assign wt_ready = wr_port_ready && wt_first && !out_asks && !bank_full[wt_bank];
  always_ff @(posedge clk_i) begin
    if (!out_valid_i || out_ready_o) out_waited_q <= '0;
    else if (out_waited_q != 4'(DIRTY_PATIENCE)) out_waited_q <= out_waited_q + 1'b1;
    out_bank_q <= bank(out_i.line);
    out_turn_q <= out_valid_i && !out_ready_o && !bank_full[bank(out_i.line)] &&
        (!(wt_valid || wr_waits) || out_waited_q >= 4'(DIRTY_PATIENCE - 1));
    if (rst_i) out_turn_q <= 1'b0;
  end
  mem_turn u_wr_turn (
      .clk_i,
      .rst_i,
      .waits_i(wr_waits),
      .first_goes_i(wt_valid && wt_ready),
      .other_goes_i(wr_plain),
      .first_o(wt_first)
  );
  assign wt_meta.engine = number(wt_engine);
  assign wt_meta.asked = ASKED_W'(wt_rec);
  assign wr_kept.out = out_asks;
  assign wr_kept.atomic = wt_asks;
  assign wr_kept.meta = out_asks ? META_W'(out_i.slot) : wt_asks ? wt_meta : wr_meta;
  assign b_meta = b_kept.meta;
  assign b_asked = b_kept.meta.asked;
  axi_write #(.META_W(META_W + 2)) u_write (
      .clk_i,
      .rst_i,
      .axi_base_i,
      .req_valid_i(out_asks || (wt_asks && !bank_full[wt_bank]) || wr_plain),
      .req_ready_o(wr_port_ready),
      .bank_full_o(bank_full),
      .req_bank_i(out_asks ? out_bank_q : wt_asks ? wt_bank : wr_bank),
      .req_line_i(out_asks ? out_i.line : wt_asks ? wt_line : wr_req.line),
      .req_data_i(out_asks ? out_i.data : wt_asks ? wt_data : wr_req.wdata),
      .req_be_i(out_asks ? '1 : wt_asks ? wt_be : wr_req.be),
      .req_meta_i(wr_kept),
      .rsp_valid_o(b_valid),
      .rsp_ready_i(b_ready),
      .rsp_meta_o(b_kept),
      .rsp_page_o(b_page),
      .rsp_error_o(b_error),
      .awvalid_o(axi_req_o.aw_valid),
      .awready_i(axi_req_ready_i.aw),
      .awid_o(axi_req_o.aw_id),
      .awaddr_o(axi_req_o.aw_addr),
      .wvalid_o(axi_req_o.w_valid),
      .wready_i(axi_req_ready_i.w),
      .wdata_o(axi_req_o.w_data),
      .wstrb_o(axi_req_o.w_strb),
      .bvalid_i(axi_rsp_i.b_valid),
      .bready_o(axi_rsp_ready_o.b),
      .bid_i(axi_rsp_i.b_id[3:0]),
      .berror_i(axi_rsp_i.b_resp[1])
  );

  function automatic logic [ENG_W-1:0] number(input logic [ENGINES-1:0] engine);
    number = '0;
    for (int e = 0; e < ENGINES; e++) if (engine[e]) number = number | ENG_W'(e);
  endfunction

  // Answers of writes and atomics. direct: of an atomic that wrote nothing.
  logic c_valid, c_direct, b_goes, c_last_direct_q, set_ready, c_wins, conflict, r_last_q;
  asked_t c_asked;
  logic [7:0] room;
  logic [ENG_W-1:0] b_engine, c_engine, r_engine;  // Known earlier than the rest of an atomic's meta.
  assign b_out = b_valid && b_kept.out;
  assign b_goes = b_valid && !b_out && set_ready;
  assign c_direct = direct_valid && (!b_goes || !c_last_direct_q);
  assign c_valid = direct_valid || b_goes;
  assign c_atomic = c_direct || b_kept.atomic;
  assign c_rec = c_direct ? direct_rec : b_asked[4:0];
  assign c_asked = c_atomic ? end_asked : b_kept.meta.asked;
  assign b_engine = b_kept.meta.engine;
  assign r_engine = r_kept.meta.engine;
  assign c_engine = c_direct ? number(direct_engine) : b_engine;
  assign c_hash = c_asked.hash;
  assign c_error = !c_direct && b_error;
  assign c_done = c_valid && c_wins;
  assign b_ready = (c_done && !c_direct) || (b_out && done_ready_i);
  assign done_valid_o = b_out;
  assign done_o.slot = b_meta[3:0];
  assign done_o.error = b_error;
  assign direct_ready = c_done && c_direct;

  // Answers of reads.
  assign line_valid = r_valid && r_kept.fetch;
  assign r_hash = r_kept.meta.asked.hash;
  assign r_done = r_valid && !r_kept.fetch && r_ready;

  // An answer of a read and one of c_* for the same engine alternate. Either source of c_* is compared, since it is
  // known late which of them answers.
  assign conflict = r_valid && !r_kept.fetch &&
      (c_direct ? number(direct_engine) == r_engine : b_goes && b_engine == r_engine);
  assign room = 8'(rsp_room_i);
  assign c_wins = (!conflict || r_last_q) && room[c_engine];
  assign r_ready = (!conflict || !r_last_q) && (r_kept.fetch || room[r_engine]);

  always_ff @(posedge clk_i) begin
    if (c_done) c_last_direct_q <= c_direct;
    if (conflict) r_last_q <= !r_last_q;
    if (rst_i) begin
      c_last_direct_q <= 1'b0;
      r_last_q <= 1'b0;
    end
  end

  for (genvar e = 0; e < ENGINES; e++) begin : g_rsp
    mem_answer #(.TAG_W(TAG_W)) u_answer (
        .clk_i,
        .rst_i,
        .room_i(rsp_room_i[e]),
        .r_valid_i(r_done && r_engine == ENG_W'(e)),
        .r_tag_i(r_kept.meta.asked.tag),
        .r_data_i(r_data),
        .r_error_i(r_error),
        .c_valid_i(c_done && c_engine == ENG_W'(e)),
        .c_tag_i(c_asked.tag),
        .c_atomic_i(c_atomic),
        .c_data_i(end_data),
        .c_wrote_i(!c_direct && !b_error),
        .c_fault_i(c_error || (c_atomic && end_fault)),
        .refused_valid_i(refused_grant[e]),
        .refused_ready_o(refused_ready[e]),
        .refused_tag_i(head_tag[TAG_W*e+:TAG_W]),
        .rsp_valid_o(rsp_valid_o[e]),
        .rsp_tag_o(rsp_tag_o[TAG_W*e+:TAG_W]),
        .rsp_o(rsp_o[RSP_W*e+:RSP_W]),
        .ev_rd_o(ev_rd_o[e]),
        .ev_wr_o(ev_wr_o[e])
    );
  end

  dirty_plane #(.UNITS(DIRTY_UNITS), .WORD(DIRTY_WORD), .TAG_W(16)) u_plane (
      .clk_i,
      .rst_i,
      .set_valid_i(c_done && !c_direct),
      .set_ready_o(set_ready),
      .set_unit_i(b_page >> (PAGE_LOG2 - 12)),
      .acc_valid_i,
      .acc_ready_o,
      .acc_others_i,
      .acc_first_i(acc_i.first),
      .acc_last_i(acc_i.last),
      .acc_clear_i(acc_i.clear),
      .acc_set_i(acc_i.mark),
      .acc_word_i(acc_i.word),
      .acc_mask_i,
      .acc_tag_i(acc_i.tag),
      .got_valid_o,
      .got_data_o,
      .got_tag_o,
      .look_i,
      .marks_o
  );

  logic unused;
  assign unused = &{1'b0, rd_req, wr_req, axi_rsp_i.r_resp[0], axi_rsp_i.b_resp[0], axi_rsp_i.b_id, b_meta,
                    b_asked, r_meta};
endmodule
