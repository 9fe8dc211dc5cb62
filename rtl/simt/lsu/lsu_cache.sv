// SPDX-License-Identifier: Apache-2.0
// L1 cache and request stage of the LSU: takes accesses to lines, gives requests to memory and pieces for the lanes.
//
//    in -> T0: look up tag and fills -> T1: decide -> T2: read or write the data, push the request
//
// Contract: in_* is a channel. Accesses take effect in order: in T1 each sees the effects of all earlier ones, and T2
// never stalls. A load that hits starts a piece (piece_*; needs piece_credit_i). One that misses joins an open fill
// (miss register) or requests the line. A store writes through, updates the line if the L1 has it, installs it if the
// store writes all 64 bytes, and closes the fill. An atomic removes the line from the L1. The data of stores and
// atomics are in lsu_merge, which step_o leads through the stages. Answered fills are served before hits; they enter
// the L1 when no store or atomic leaves T1. clear_i empties the L1. request_note_o is in T1, request_push_o in T2. No
// response of memory ever waits here, because every fill has a place for its data. With cut_i no access takes effect
// any more; accesses in the stages leave T1 with drop_o, unless drop_hold_i.
// State saved at preemption: none; it drains.
module lsu_cache #(
    parameter int LANES = 16,   // lanes, one work-item each
    parameter int ENTRY_W = 6,  // bits of an entry
    parameter int FILL_W = 5,   // log2 of the fills
    parameter int L1_KIB = 16   // capacity of the L1, KiB
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                clear_i,
    // accesses
    input  logic                in_valid_i,
    output logic                in_ready_o,
    input  logic                in_last_i,
    input  simt_op_pkg::lsu_access_t in_i,
    input  logic [LANES-1:0]    in_mask_i,
    // data of stores and atomics (lsu_merge)
    output simt_op_pkg::lsu_step_t step_o,
    input  logic                place_free_i,
    input  logic                full_i,         // the store in T1 writes all 64 bytes
    input  simt_op_pkg::lsu_bytes_t place_i,
    // after a refused line (lsu_retain)
    input  logic                cut_i,
    input  logic                drop_hold_i,
    output logic                drop_o,         // with access_end_o, note_mask_o: a dropped access
    // requests to memory
    input  logic                write_room_i,   // a write slot is free: write_slot_i
    input  logic [5:0]          write_slot_i,
    input  logic                request_room_i,  // lsu_flight takes a request
    output logic                request_note_o,
    output logic                request_write_o,
    output logic                access_end_o,   // the last line of its instruction, with note_*
    output logic [6:0]          note_tag_o,
    output logic [LANES-1:0]    note_mask_o,
    output simt_op_pkg::lsu_note_t note_o,
    output logic                request_push_o,
    output tern_pkg::mem_req_t  request_o,
    output logic [6:0]          request_tag_o,
    // responses of memory, as fills
    input  logic                fill_valid_i,
    input  logic [FILL_W-1:0]   fill_i,
    input  logic [511:0]        fill_data_i,
    // pieces for the lanes
    output logic                piece_want_o,   // a piece could start
    input  logic                piece_credit_i,
    output logic                piece_start_o,
    output logic [ENTRY_W-1:0]  piece_entry_o,
    output logic [LANES-1:0]    piece_mask_o,
    output logic [511:0]        piece_line_o,   // two cycles after piece_start_o
    output logic                ev_hit_o,       // pulse: a load hit the L1 or an open fill
    output logic                ev_miss_o,      // pulse: a load requested a line
    output logic                idle_o          // no access is in the stages
);
  localparam int LINES = L1_KIB * 16;
  localparam int IW = $clog2(LINES);

  // ------------------------------------------------------------------ T0
  logic t0_valid_q, t0_last_q;
  simt_op_pkg::lsu_access_t t0_q;
  logic [LANES-1:0] t0_mask_q;
  logic t0_go, t1_go, t1_valid_q, t0_load;

  assign in_ready_o = !t0_valid_q || t0_go;
  assign t0_load = in_valid_i && in_ready_o;
  always_ff @(posedge clk_i) begin
    if (t0_load) begin
      t0_last_q <= in_last_i;
      t0_q <= in_i;
      t0_mask_q <= in_mask_i;
    end
    if (in_ready_o) t0_valid_q <= in_valid_i;
    if (rst_i) t0_valid_q <= 1'b0;
  end
  assign t0_go = t0_valid_q && (!t1_valid_q || t1_go);

  // ------------------------------------------------------------------ T1
  logic t1_last_q;
  simt_op_pkg::lsu_access_t t1_q;
  logic [LANES-1:0] t1_mask_q;
  logic load, store, amo, load_go, store_go, amo_go, hit, match, wait_room, fill_room, alloc, joins,
    serve_valid, serve;
  logic install_valid, install;
  logic [FILL_W-1:0] alloc_fill;
  logic [IW-1:0] index, install_index;
  logic [25:0] install_line;
  logic [ENTRY_W-1:0] serve_entry;
  logic [LANES-1:0] serve_mask;

  always_ff @(posedge clk_i) begin
    if (t0_go) begin
      t1_last_q <= t0_last_q;
      t1_q <= t0_q;
      t1_mask_q <= t0_mask_q;
    end
    t1_valid_q <= t0_go || (t1_valid_q && !t1_go);
    if (rst_i) t1_valid_q <= 1'b0;
  end

  logic t1_live;
  assign t1_live = t1_valid_q && !cut_i;
  assign load = t1_live && t1_q.op == simt_op_pkg::LSU_LOAD;
  assign store = t1_live && t1_q.op == simt_op_pkg::LSU_STORE;
  assign amo = t1_live && t1_q.op == simt_op_pkg::LSU_AMO;
  assign drop_o = t1_valid_q && cut_i && !drop_hold_i;
  assign serve = serve_valid && piece_credit_i;
  // store_go, amo_go and load_go are separate, because load_go is known late and the write port of the tags does not
  // depend on it.
  assign step_o.first = t0_go && t0_q.op != simt_op_pkg::LSU_LOAD;
  assign step_o.want = request_room_i && ((store && write_room_i) || (amo && fill_room && wait_room));
  assign step_o.go = store_go || amo_go;
  assign store_go = store && write_room_i && request_room_i && place_free_i;
  assign amo_go = amo && fill_room && wait_room && request_room_i && place_free_i;
  assign load_go = load && (hit ? piece_credit_i && !serve_valid : wait_room &&
                            (match || (fill_room && request_room_i)));
  assign t1_go = store_go || amo_go || load_go || drop_o;
  // Tags and data have one write port each. An atomic that waits for a free fill must not keep the other fills from
  // ending.
  assign install = install_valid && !store_go && !amo_go;

  assign joins = load_go && !hit && match;
  assign alloc = amo_go || (load_go && !hit && !match);
  assign request_write_o = store_go;
  assign access_end_o = t1_go && t1_last_q;
  assign request_note_o = request_write_o || alloc;
  assign note_tag_o = store ? {1'b1, write_slot_i} : 7'(alloc_fill);
  assign note_mask_o = t1_mask_q;
  assign note_o.access = store ? 2'd1 : amo ? 2'd3 : 2'd0;
  assign note_o.warp = t1_q.warp;
  assign note_o.lane = t1_q.lane;
  assign note_o.is_private = t1_q.is_private;
  assign note_o.addr = t1_q.addr;
  assign note_o.pc = t1_q.pc;
  assign ev_miss_o = alloc && load;
  assign ev_hit_o = load_go && (hit || match);
  assign piece_want_o = serve_valid || (load && hit);
  assign piece_start_o = serve || (load_go && hit);
  assign piece_entry_o = serve ? serve_entry : ENTRY_W'(t1_q.entry);
  assign piece_mask_o = serve ? serve_mask : t1_mask_q;

  lsu_tags #(.LINES(LINES)) u_tags (
      .clk_i,
      .clear_i(clear_i || rst_i),
      .look_i(t0_go),
      .look_line_i(t0_q.addr[31:6]),
      .hit_o(hit),
      .index_o(index),
      .own_i((store_go && full_i) || (amo_go && hit)),
      .own_set_i(!amo),
      .put_i(install),
      .put_line_i(install_line),
      .put_index_o(install_index)
  );

  logic [511:0] fill_line;
  logic fills_idle;
  lsu_fills #(.LANES(LANES), .FILL_W(FILL_W), .ENTRY_W(ENTRY_W)) u_fills (
      .clk_i,
      .rst_i,
      .close_all_i(clear_i),
      .look_i(t0_go),
      .look_line_i(t0_q.addr[31:6]),
      .match_o(match),
      .wait_room_o(wait_room),
      .fill_room_o(fill_room),
      .alloc_fill_o(alloc_fill),
      .alloc_i(alloc),
      .open_i(load),
      .join_i(joins),
      .close_i(store_go || amo_go),
      .entry_i(ENTRY_W'(t1_q.entry)),
      .mask_i(t1_mask_q),
      .rsp_valid_i(fill_valid_i),
      .rsp_fill_i(fill_i),
      .rsp_data_i(fill_data_i),
      .serve_valid_o(serve_valid),
      .serve_ready_i(serve),
      .serve_entry_o(serve_entry),
      .serve_mask_o(serve_mask),
      .install_valid_o(install_valid),
      .install_ready_i(install),
      .install_line_o(install_line),
      .line_o(fill_line),
      .idle_o(fills_idle)
  );

  // ------------------------------------------------------------------ T2
  logic t2_hit_q, t2_serve_q, t2_write_q, t2_install_q, x_serve_q;
  logic [IW-1:0] t2_index_q, t2_write_index_q;
  logic [1:0] t2_op_q;
  logic [3:0] t2_amo_q;
  logic [25:0] t2_line_q;
  logic [511:0] l1_line, x_line_q, write_data;

  always_ff @(posedge clk_i) begin
    request_push_o <= request_note_o && !rst_i;
    t2_hit_q <= load_go && hit && !rst_i;
    t2_serve_q <= serve && !rst_i;
    t2_install_q <= install && !rst_i;
    t2_write_q <= request_write_o && (hit || full_i) && !rst_i;
    if (t1_go) begin
      t2_index_q <= index;
      t2_op_q <= store ? tern_pkg::MEM_WRITE : amo ? tern_pkg::MEM_ATOMIC : tern_pkg::MEM_READ;
      t2_amo_q <= amo ? t1_q.amo : '0;
      t2_line_q <= t1_q.addr[31:6];
      request_tag_o <= note_tag_o;
    end
    t2_write_index_q <= install ? install_index : index;
    x_serve_q <= t2_serve_q;
    if (t2_serve_q) x_line_q <= fill_line;
  end

  assign request_o.op = t2_op_q;
  assign request_o.amo = t2_amo_q;
  assign request_o.line = {2'b0, t2_line_q};
  assign request_o.wdata = place_i.data;
  assign request_o.be = place_i.be;
  assign write_data = t2_install_q ? fill_line : place_i.data;
  lsu_lines #(.LINES(LINES)) u_lines (
      .clk_i,
      .read_i(t2_hit_q),
      .read_index_i(t2_index_q),
      .read_data_o(l1_line),
      .write_i(t2_install_q || t2_write_q),
      .write_index_i(t2_write_index_q),
      .write_be_i(place_i.be | {64{t2_install_q}}),
      .write_data_i(write_data)
  );
  assign piece_line_o = x_serve_q ? x_line_q : l1_line;
  assign idle_o = !t0_valid_q && !t1_valid_q && !request_push_o && fills_idle;

  logic unused;
  assign unused = &{1'b0, t0_q.size, t1_q.size};
endmodule
