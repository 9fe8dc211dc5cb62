// SPDX-License-Identifier: Apache-2.0
// Load/store unit of the SIMT executor: loads, stores and atomics of whole warps in global, private and local memory.
//
//    issue -> address -+-> coalesce -> cache <-> flight <-> memory channel
//                      |                 +-----> extract -> pieces -> writeback
//                      +-> local -----------------+
//
// Contract: iss_* takes up to one instruction a cycle. Instructions that access the same byte take effect in order of
// issue. wb_* returns a load or atomic in pieces with disjoint lanes; the last one is marked. An instruction with a
// faulting lane is dropped and reported on fault_o. kill_i drops everything but local memory and requests that memory
// may have seen. inv_i empties the L1, as does each 4096th cycle after it. scrub_* and lmem_* are those of lsu_rows.
// Latency: 10 cycles from issue to write-back for an L1 hit, 9 for local memory. Rate: one instruction a cycle if it
// needs only one line, or no bank twice.
// Freeze: while freeze_i is high (until kill_i, or until nothing is pending) no further line begins, which means that
// no access leaves lsu_coalesce. Three more instructions find room, or 31 after a kill. Once status_o.settled is high,
// only the lanes of lines that have not begun are left; pend_* gives these instructions, and after a kill a raw iss_i
// issues them again.
// Absent page: absent_o reports a refused line, with the fields of fault_o. The LSU freezes, and the line's lanes are
// pending too. pass_i, at latest with the response, names requests that memory performs; it refuses all others until
// kill_i.
// Bound of a freeze, if memory and core take one transfer a cycle: max(6 + M, 24 * LANES) + 128 + 32 cycles. First
// term: 6 requests, latency M of memory. Second: 8 local instructions. 128: 64 pieces of memory, for each of which
// local memory may wait two cycles, and which alternate with local ones. 32: the stages.
// State saved at preemption: local memory (lmem_*) and the pending instructions (pend_*); the rest has drained.
module simt_lsu #(
    parameter int LANES = 16,     // a power of two, 4 to 32
    parameter int WARPS = 16,     // a power of two, 4 to 32
    parameter int LMEM_KIB = 64,  // local memory
    parameter int L1_KIB = 16,    // capacity of the L1, KiB
    localparam int LW = $clog2(LANES),
    localparam int WW = $clog2(WARPS)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  simt_op_pkg::lsu_windows_t windows_i,  // of the dispatch
    // instructions from the core
    input  logic                iss_valid_i,
    output logic                iss_ready_o,
    input  simt_op_pkg::lsu_issue_t iss_i,
    input  logic [LANES*96-1:0] iss_operands_i,  // {cmp, data, addr}, a word for each lane
    // write-back
    output logic                wb_valid_o,
    input  logic                wb_ready_i,
    output simt_core_pkg::result_t wb_o,
    output logic [LANES*32-1:0] wb_data_o,
    // control and status
    input  logic [WARPS-1:0]    gen_i,          // generation of each warp; a launch of the warp changes it
    output simt_core_pkg::lsu_warps_t warps_o,
    input  logic                inv_i,
    input  logic                kill_i,
    output simt_op_pkg::lsu_status_t status_o,
    input  simt_op_pkg::lsu_scrub_t scrub_i,
    output logic                scrub_busy_o,
    output logic                fault_valid_o,
    output logic                absent_o,
    output simt_op_pkg::lsu_fault_t fault_o,
    output logic                ev_l1_hit_o,    // pulse: a load hit the L1 or an open fill
    output logic                ev_l1_miss_o,   // pulse: a load requested a line
    // preemption
    input  logic                freeze_i,
    output logic                pend_valid_o,
    input  logic                pend_ready_i,
    output simt_op_pkg::lsu_pending_t pend_o,
    output logic [LANES*96-1:0] pend_operands_o,  // as iss_operands_i
    input  simt_op_pkg::lsu_line_t lmem_i,
    output logic                lmem_ready_o,
    output simt_op_pkg::lsu_line_read_t lmem_o,
    // memory channel
    output logic                mem_req_valid_o,
    input  logic                mem_req_ready_i,
    output tern_pkg::mem_req_t mem_req_o,
    output logic [6:0]          mem_req_tag_o,
    input  logic                mem_rsp_valid_i,
    input  logic [6:0]          mem_rsp_tag_i,
    input  tern_pkg::mem_rsp_t mem_rsp_i,
    input  simt_op_pkg::lsu_pass_t pass_i
);
  localparam int ENTRY_W = 6;
  // A load of 16 lanes asks for up to 16 lines; at a latency of 60 cycles, 32 fills bring 22.5 of the port's 64 bytes a
  // cycle. 64 is the most that the tag can number.
  localparam int FILL_W = LANES < 16 ? 5 : 6;

  generate
    if (LANES < 4 || LANES > 32 || (1 << LW) != LANES || (1 << WW) != WARPS || L1_KIB < 1 ||
        LMEM_KIB > 64) begin : g_check
      $error("simt_lsu: parameter out of range");
    end
  endgenerate

  // ------------------------------------------------------------------ kill, start
  // A kill resets everything except local memory and the requests that memory may have seen. The free lists are filled
  // again afterwards.
  logic killed_q, flight_idle, soft_rst;
  logic [6:0] start_q;  // msb: the free lists are full
  logic [11:0] age_q;
  logic clear;

  assign soft_rst = rst_i || kill_i || killed_q;
  assign clear = inv_i || (&age_q);
  always_ff @(posedge clk_i) begin
    killed_q <= (kill_i || killed_q) && !flight_idle && !rst_i;
    start_q <= soft_rst ? '0 : start_q[6] ? start_q : start_q + 1'b1;
    age_q <= (rst_i || inv_i) ? '0 : age_q + 1'b1;  // restarts with each dispatch, so that its cycles are reproducible
  end

  // ------------------------------------------------------------------ issue
  logic entry_valid, global_room, retain_room, local_room, take;
  logic [ENTRY_W-1:0] entry, end_entry;
  logic end_valid, end_q, unused_ready;
  logic [ENTRY_W-1:0] end_entry_q;
  logic [WW:0] end_warp, end_warp_q;  // {generation, warp}

  assign iss_ready_o = start_q[6] && entry_valid && global_room && retain_room && local_room;
  assign take = iss_valid_i && iss_ready_o && !soft_rst;

  // An entry is the number of an instruction with a result, from issue to its last piece. A piece is the part of a
  // result that one line, or one pass of local memory, gives. An entry is free again one cycle after its last piece was
  // taken, when that piece is on wb_*.
  mem_fifo #(.WIDTH(ENTRY_W), .DEPTH_LOG2(ENTRY_W), .FILL(1'b1)) u_entries (
      .clk_i,
      .rst_i(soft_rst),
      .in_valid_i(end_q),
      .in_ready_o(unused_ready),
      .in_data_i(end_entry_q),
      .out_valid_o(entry_valid),
      .out_ready_i(take && iss_i.req.op != simt_op_pkg::LSU_STORE),
      .out_data_o(entry)
  );

  logic a_valid_q;
  simt_op_pkg::lsu_req_t a_q;
  logic [WW-1:0] a_warp_q;
  logic [ENTRY_W-1:0] a_entry_q;
  logic [LANES*32-1:0] a_data_q, a_cmp_q, a_addr;
  logic [LANES-1:0] a_global, a_private, a_local, a_mask;
  logic a_fault, a_result;
  logic [7:0] a_fault_code;
  logic [31:0] a_fault_va;
  logic [LW-1:0] a_fault_lane;

  always_ff @(posedge clk_i) begin
    a_valid_q <= take;
    end_q <= end_valid && !soft_rst;
    end_entry_q <= end_entry;
    end_warp_q <= end_warp;
    if (take) begin
      a_q <= iss_i.req;
      a_q.lbase <= '0;  // lsu_address maps the addresses
      a_warp_q <= iss_i.warp[WW-1:0];
      a_entry_q <= entry;
      if (iss_i.req.op != simt_op_pkg::LSU_LOAD) a_data_q <= iss_operands_i[LANES*32+:LANES*32];
      if (iss_i.req.op == simt_op_pkg::LSU_AMO) a_cmp_q <= iss_operands_i[LANES*64+:LANES*32];
    end
  end

  lsu_address #(.LANES(LANES), .WARPS(WARPS)) u_address (
      .clk_i,
      .rst_i(soft_rst),
      .stack_i(windows_i.stack_base),
      .stack_log2_i(windows_i.stack_log2),
      .local_bytes_i(windows_i.local_bytes),
      .in_valid_i(take),
      .in_raw_i(iss_i.raw),
      .in_private_i(iss_i.is_private[LANES-1:0]),
      .in_size_i(iss_i.req.size),
      .in_warp_i(iss_i.warp[WW-1:0]),
      .in_mask_i(iss_i.mask[LANES-1:0]),
      .in_addr_i(iss_operands_i[0+:LANES*32]),
      .in_lbase_i(iss_i.req.lbase),
      .out_global_o(a_global),
      .out_private_o(a_private),
      .out_local_o(a_local),
      .out_addr_o(a_addr),
      .fault_valid_o(a_fault),
      .fault_code_o(a_fault_code),
      .fault_va_o(a_fault_va),
      .fault_lane_o(a_fault_lane)
  );
  assign a_mask = a_global | a_local;
  assign a_result = |a_mask && a_q.op != simt_op_pkg::LSU_STORE;

  // ------------------------------------------------------------------ memory
  logic c_valid, c_ready, c_last, c_loading;
  simt_op_pkg::lsu_access_t c;
  logic [31:0] c_pair;
  logic [LANES-1:0] c_mask, c_merge;
  logic [LANES*6-1:0] c_offset;
  logic [LANES*32-1:0] c_data;

  // cut: a line was refused because its page is absent, so no line is begun any more.
  logic f_absent, cut, cut_q, settle, settled_q, retain_ready, unused_valid;
  logic [6:0] f_fault_tag;
  logic [5:0] c_pend_count;
  logic [LANES-1:0] c_pend_mask;
  assign cut = cut_q || f_absent;
  always_ff @(posedge clk_i) cut_q <= cut && !soft_rst;

  lsu_coalesce #(.LANES(LANES), .WARPS(WARPS), .ENTRY_W(ENTRY_W), .DEPTH_LOG2(5)) u_coalesce (
      .clk_i,
      .rst_i(soft_rst),
      .freeze_i(freeze_i || cut),
      .loading_o(c_loading),
      .settled_i(settle),
      .push_i(|a_global),
      .room_o(global_room),
      .in_i(a_q),
      .in_warp_i(a_warp_q),
      .in_entry_i(a_entry_q),
      .in_mask_i(a_global),
      .in_private_i(a_private),
      .in_addr_i(a_addr),
      .in_data_i(a_data_q),
      .in_cmp_i(a_cmp_q),
      .out_valid_o(c_valid),
      .out_ready_i(c_ready),
      .out_last_o(c_last),
      .out_o(c),
      .out_mask_o(c_mask),
      .out_merge_o(c_merge),
      .out_pair_o(c_pair),
      .out_offset_o(c_offset),
      .out_data_o(c_data),
      .pend_count_o(c_pend_count),
      .pend_valid_o(unused_valid),
      .pend_ready_i(pend_ready_i && !cut),
      .pend_mask_o(c_pend_mask)
  );

  logic [ENTRY_W-1:0] left_entry;
  logic [LANES-1:0] left_mask, note_mask, pend_mask, pend_private;
  logic [WW:0] pend_warp;  // {generation, warp}
  logic drop;
  lsu_retain #(.LANES(LANES), .WARPS(WARPS), .ENTRY_W(ENTRY_W)) u_retain (
      .clk_i,
      .rst_i(soft_rst),
      .freeze_i(freeze_i || cut),
      .room_o(retain_room),
      .crowded_o(status_o.crowded),
      .push_i(|a_global),
      .in_i(a_q),
      .in_warp_i({gen_i[a_warp_q], a_warp_q}),
      .in_entry_i(a_entry_q),
      .in_mask_i(a_global),
      .in_private_i(a_private),
      .in_addr_i(a_addr),
      .in_data_i(a_data_q),
      .in_cmp_i(a_cmp_q),
      .note_i(note),
      .note_tag_i(note_tag),
      .note_mask_i(note_mask),
      .drop_i(drop),
      .end_i(access_end),
      .pass_i(pass_i.valid),
      .pass_tag_i(pass_i.tag),
      .refuse_i(f_absent),
      .refuse_tag_i(f_fault_tag),
      .settle_i(settle),
      .cut_i(cut),
      .rest_count_i(c_pend_count),
      .rest_mask_i(c_pend_mask),
      .left_entry_o(left_entry),
      .left_mask_i(left_mask),
      .ready_o(retain_ready),
      .count_o(status_o.pending),
      .pend_valid_o,
      .pend_ready_i,
      .pend_o(pend_o.req),
      .pend_warp_o(pend_warp),
      .pend_mask_o(pend_mask),
      .pend_private_o(pend_private),
      .pend_addr_o(pend_operands_o[0+:LANES*32]),
      .pend_data_o(pend_operands_o[LANES*32+:LANES*32]),
      .pend_cmp_o(pend_operands_o[LANES*64+:LANES*32])
  );
  assign pend_o.gen = pend_warp[WW];
  assign pend_o.warp = 5'(pend_warp[WW-1:0]);
  assign pend_o.mask = 32'(pend_mask);
  assign pend_o.is_private = 32'(pend_private);

  logic write_room, request_room, note, request_write, access_end, push, fill_valid, written;
  logic [5:0] write_slot;
  logic [6:0] note_tag, push_tag;
  simt_op_pkg::lsu_note_t noted;
  logic [WW-1:0] note_warp, written_warp;
  tern_pkg::mem_req_t push_req;
  logic [511:0] fill_data, piece_line;
  logic [FILL_W-1:0] fill;
  logic credit, piece_want, piece_start, cache_idle, pieces_idle, local_idle;
  logic [ENTRY_W-1:0] piece_entry;
  logic [LANES-1:0] piece_mask;

  // Data of stores and atomics, of local memory too.
  logic c_pairs, place_free, full, l_hold, l_place;
  simt_op_pkg::lsu_step_t step;
  simt_op_pkg::lsu_bytes_t placed;
  logic [1:0] l_place_size;
  logic [LANES-1:0] l_place_mask;
  logic [LANES*(LW+2)-1:0] l_place_low;
  logic [LANES*32-1:0] l_place_data, l_placed_data;
  logic [LANES*4-1:0] l_placed_be;

  assign c_pairs = c.op == simt_op_pkg::LSU_AMO && (c.amo == tern_pkg::AMO_CAS || c.amo == tern_pkg::AMO_LR ||
      c.amo == tern_pkg::AMO_SC);
  lsu_merge #(.LANES(LANES)) u_merge (
      .clk_i,
      .rst_i(soft_rst),
      .load_i(c_valid && c_ready && c.op != simt_op_pkg::LSU_LOAD),
      .size_i(c.size),
      .mask_i(c_merge),
      .offset_i(c_offset),
      .data_i(c_data),
      .pair_i(c_pairs),
      .pair_data_i(c_pair),
      .step_i(step),
      .free_o(place_free),
      .full_o(full),
      .line_o(placed),
      .hold_o(l_hold),
      .local_valid_i(l_place),
      .local_size_i(l_place_size),
      .local_mask_i(l_place_mask),
      .local_low_i(l_place_low),
      .local_data_i(l_place_data),
      .local_data_o(l_placed_data),
      .local_be_o(l_placed_be)
  );

  lsu_cache #(.LANES(LANES), .ENTRY_W(ENTRY_W), .FILL_W(FILL_W), .L1_KIB(L1_KIB)) u_cache (
      .clk_i,
      .rst_i(soft_rst),
      .clear_i(clear),
      .in_valid_i(c_valid),
      .in_ready_o(c_ready),
      .in_last_i(c_last),
      .in_i(c),
      .in_mask_i(c_mask),
      .step_o(step),
      .place_free_i(place_free),
      .full_i(full),
      .place_i(placed),
      .cut_i(cut),
      .drop_hold_i(f_absent),
      .drop_o(drop),
      .write_room_i(write_room),
      .write_slot_i(write_slot),
      .request_room_i(request_room),
      .request_note_o(note),
      .request_write_o(request_write),
      .access_end_o(access_end),
      .note_tag_o(note_tag),
      .note_mask_o(note_mask),
      .note_o(noted),
      .request_push_o(push),
      .request_o(push_req),
      .request_tag_o(push_tag),
      .fill_valid_i(fill_valid),
      .fill_i(fill),
      .fill_data_i(fill_data),
      .piece_want_o(piece_want),
      .piece_credit_i(credit),
      .piece_start_o(piece_start),
      .piece_entry_o(piece_entry),
      .piece_mask_o(piece_mask),
      .piece_line_o(piece_line),
      .ev_hit_o(ev_l1_hit_o),
      .ev_miss_o(ev_l1_miss_o),
      .idle_o(cache_idle)
  );

  logic f_valid, written_gen;
  simt_op_pkg::lsu_fault_t f;
  assign note_warp = noted.warp[WW-1:0];

  lsu_flight #(.LANES(LANES), .WARPS(WARPS), .FILL_W(FILL_W)) u_flight (
      .clk_i,
      .rst_i(soft_rst),
      .hard_rst_i(rst_i),
      .stack_i(windows_i.stack_base),
      .stack_log2_i(windows_i.stack_log2),
      .write_room_o(write_room),
      .write_slot_o(write_slot),
      .write_i(request_write),
      .note_valid_i(note),
      .note_tag_i(note_tag),
      .note_i(noted),
      .note_gen_i(gen_i[note_warp]),
      .room_o(request_room),
      .push_i(push),
      .push_req_i(push_req),
      .push_tag_i(push_tag),
      .fill_valid_o(fill_valid),
      .fill_o(fill),
      .fill_data_o(fill_data),
      .written_o(written),
      .written_gen_o(written_gen),
      .written_warp_o(written_warp),
      .fault_valid_o(f_valid),
      .absent_o(f_absent),
      .fault_tag_o(f_fault_tag),
      .fault_o(f),
      .idle_o(flight_idle),
      .mem_req_valid_o,
      .mem_req_ready_i,
      .mem_req_o,
      .mem_req_tag_o,
      .mem_rsp_valid_i,
      .mem_rsp_tag_i,
      .mem_rsp_i
  );

  // ------------------------------------------------------------------ local memory
  logic l_credit, l_start, l_words, l_unsigned, l_store_end;
  logic [ENTRY_W-1:0] l_entry;
  logic [LANES-1:0] l_mask;
  logic [1:0] l_size;
  logic [LANES*(LW+2)-1:0] l_low;
  logic [LANES*32-1:0] l_word;
  logic [WW-1:0] l_store_warp;

  lsu_local #(.LANES(LANES), .WARPS(WARPS), .ENTRY_W(ENTRY_W), .KIB(LMEM_KIB)) u_local (
      .clk_i,
      .rst_i(soft_rst),
      .scrub_i,
      .scrub_busy_o,
      .line_i(lmem_i),
      .line_ready_o(lmem_ready_o),
      .line_o(lmem_o),
      .idle_o(local_idle),
      .push_i(|a_local),
      .room_o(local_room),
      .in_i(a_q),
      .in_warp_i(a_warp_q),
      .in_entry_i(a_entry_q),
      .in_mask_i(a_local),
      .in_addr_i(a_addr),
      .in_data_i(a_data_q),
      .in_cmp_i(a_cmp_q),
      .hold_i(l_hold),
      .place_valid_o(l_place),
      .place_size_o(l_place_size),
      .place_mask_o(l_place_mask),
      .place_low_o(l_place_low),
      .place_data_o(l_place_data),
      .placed_data_i(l_placed_data),
      .placed_be_i(l_placed_be),
      .credit_i(l_credit),
      .start_o(l_start),
      .words_valid_o(l_words),
      .words_entry_o(l_entry),
      .words_mask_o(l_mask),
      .words_size_o(l_size),
      .words_unsigned_o(l_unsigned),
      .words_low_o(l_low),
      .words_o(l_word),
      .store_end_o(l_store_end),
      .store_warp_o(l_store_warp)
  );

  // ------------------------------------------------------------------ pieces of results
  logic x_valid, x_unsigned, p_valid, p_take;
  logic [ENTRY_W-1:0] x_entry, p_entry;
  logic [LANES-1:0] x_mask, p_mask;
  logic [1:0] x_size;
  logic [LANES*2-1:0] x_byte;
  logic [LANES*32-1:0] x_word, p_data;

  lsu_extract #(.LANES(LANES), .ENTRY_W(ENTRY_W)) u_extract (
      .clk_i,
      .rst_i(soft_rst),
      .note_i(a_result),
      .note_entry_i(a_entry_q),
      .note_size_i(a_q.size),
      .note_unsigned_i(a_q.is_unsigned),
      .note_addr_i(a_addr),
      .start_i(piece_start),
      .entry_i(piece_entry),
      .mask_i(piece_mask),
      .line_i(piece_line),
      .local_valid_i(l_words),
      .local_entry_i(l_entry),
      .local_mask_i(l_mask),
      .local_size_i(l_size),
      .local_unsigned_i(l_unsigned),
      .local_low_i(l_low),
      .local_words_i(l_word),
      .words_valid_o(x_valid),
      .words_entry_o(x_entry),
      .words_mask_o(x_mask),
      .words_size_o(x_size),
      .words_unsigned_o(x_unsigned),
      .words_byte_o(x_byte),
      .words_o(x_word)
  );
  lsu_pieces #(.LANES(LANES), .ENTRY_W(ENTRY_W)) u_pieces (
      .clk_i,
      .rst_i(soft_rst),
      .idle_o(pieces_idle),
      .memory_want_i(piece_want),
      .memory_credit_o(credit),
      .memory_start_i(piece_start),
      .local_credit_o(l_credit),
      .local_start_i(l_start),
      .in_valid_i(x_valid),
      .in_entry_i(x_entry),
      .in_mask_i(x_mask),
      .in_size_i(x_size),
      .in_unsigned_i(x_unsigned),
      .in_byte_i(x_byte),
      .in_word_i(x_word),
      .out_valid_o(p_valid),
      .out_take_i(p_take),
      .out_entry_o(p_entry),
      .out_mask_o(p_mask),
      .out_data_o(p_data)
  );

  // ------------------------------------------------------------------ write-back, faults, busy
  logic [WW:0] wb_warp;  // {generation, warp}
  logic [LANES-1:0] wb_mask;
  lsu_writeback #(.LANES(LANES), .WARPS(2 * WARPS), .ENTRY_W(ENTRY_W)) u_writeback (
      .clk_i,
      .rst_i(soft_rst),
      .begin_i(a_result),
      .begin_entry_i(a_entry_q),
      .begin_warp_i({gen_i[a_warp_q], a_warp_q}),
      .begin_rd_i(a_q.rd),
      .begin_mask_i(a_mask),
      .in_valid_i(p_valid),
      .in_take_o(p_take),
      .in_entry_i(p_entry),
      .in_mask_i(p_mask),
      .in_data_i(p_data),
      .left_entry_i(left_entry),
      .left_mask_o(left_mask),
      .end_o(end_valid),
      .end_entry_o(end_entry),
      .end_warp_o(end_warp),
      .wb_valid_o,
      .wb_ready_i,
      .wb_warp_o(wb_warp),
      .wb_rd_o(wb_o.rd),
      .wb_mask_o(wb_mask),
      .wb_data_o,
      .wb_last_o(wb_o.last)
  );
  assign wb_o.warp = 5'(wb_warp[WW-1:0]);
  assign wb_o.mask = 32'(wb_mask);

  // A fault of the memory channel has priority over one of lsu_address, because its instruction is older. A fault has
  // priority over an absent page.
  logic f_first;
  assign f_first = f_valid || !a_fault;
  assign fault_valid_o = (f_valid || a_fault) && !soft_rst;
  assign absent_o = f_absent && !a_fault && !soft_rst;
  assign fault_o.code = f_first ? f.code : a_fault_code;
  assign fault_o.access = f_first ? f.access :
      a_q.op == simt_op_pkg::LSU_AMO ? 2'd3 : a_q.op == simt_op_pkg::LSU_STORE ? 2'd1 : 2'd0;
  assign fault_o.va = f_first ? f.va : a_fault_va;
  assign fault_o.pc = f_first ? f.pc : a_q.pc;
  assign fault_o.gen = f_first ? f.gen : gen_i[a_warp_q];
  assign fault_o.warp = f_first ? f.warp : 5'(a_warp_q);
  assign fault_o.lane = f_first ? f.lane : 5'(a_fault_lane);

  // Results and writes are counted by {generation, warp}. A fence waits for those of the warp's own generation. A warp
  // may be launched again once all that it has begun is noted with its generation, and nothing of the generation before
  // is left.
  // An instruction that begins is counted one cycle after it is known, since the checks of the addresses and the
  // decision in T1 come late. In that cycle counted_q shows its warp busy, so that no fence and no launch finds a gap.
  // Nothing ends before it is counted, because neither a pass of local memory, nor a line, nor memory takes less than
  // two cycles.
  logic [WARPS-1:0] busy_queue, busy_local, busy_address, busy_now, busy_before, busy, hold, counted_q;
  logic [2*WARPS-1:0] busy_result, busy_write;
  logic count_result_q, count_global_q, count_store_q, count_write_q;
  logic [WW:0] count_warp_q, count_write_warp_q;  // {generation, warp}
  always_ff @(posedge clk_i) begin
    count_result_q <= a_result && !soft_rst;
    count_global_q <= |a_global && !soft_rst;
    count_store_q <= |a_local && !a_result && !soft_rst;
    count_write_q <= request_write && !soft_rst;
    if (a_valid_q) count_warp_q <= {gen_i[a_warp_q], a_warp_q};
    if (request_write) count_write_warp_q <= {gen_i[note_warp], note_warp};
    counted_q <= soft_rst ? '0 : busy_address | (request_write ? WARPS'(1) << note_warp : '0);
  end
  lsu_pending #(.WARPS(2 * WARPS)) u_results (
      .clk_i,
      .rst_i(soft_rst),
      .begin_i(count_result_q),
      .begin_warp_i(count_warp_q),
      .end_i(end_q),
      .end_warp_i(end_warp_q),
      .busy_o(busy_result)
  );
  lsu_pending #(.WARPS(WARPS)) u_queue (
      .clk_i,
      .rst_i(soft_rst),
      .begin_i(count_global_q),
      .begin_warp_i(count_warp_q[WW-1:0]),
      .end_i(access_end),
      .end_warp_i(note_warp),
      .busy_o(busy_queue)
  );
  lsu_pending #(.WARPS(2 * WARPS)) u_writes (
      .clk_i,
      .rst_i(soft_rst),
      .begin_i(count_write_q),
      .begin_warp_i(count_write_warp_q),
      .end_i(written),
      .end_warp_i({written_gen, written_warp}),
      .busy_o(busy_write)
  );
  lsu_pending #(.WARPS(WARPS)) u_local_stores (
      .clk_i,
      .rst_i(soft_rst),
      .begin_i(count_store_q),
      .begin_warp_i(count_warp_q[WW-1:0]),
      .end_i(l_store_end),
      .end_warp_i(l_store_warp),
      .busy_o(busy_local)
  );
  assign busy_address = a_valid_q ? WARPS'(1) << a_warp_q : '0;
  always_comb begin
    busy_now    = '0;
    busy_before = '0;
    for (int w = 0; w < WARPS; w++) begin
      busy_now[w]    = gen_i[w] ? busy_result[WARPS+w] || busy_write[WARPS+w] : busy_result[w] || busy_write[w];
      busy_before[w] = gen_i[w] ? busy_result[w] || busy_write[w] : busy_result[WARPS+w] || busy_write[WARPS+w];
    end
  end
  assign busy = busy_now | busy_queue | busy_local | busy_address | counted_q;
  assign hold = busy_before | busy_queue | busy_address | counted_q;
  assign warps_o.busy = 32'(busy);
  assign warps_o.hold = 32'(hold);
  assign status_o.idle = flight_idle && (soft_rst || (cache_idle && (busy | busy_before) == '0 && !wb_valid_o));
  // A settled LSU is disturbed only by an instruction that comes (a_valid_q) or by the scrubber. Both are looked at
  // without delay. All the rest may be known one cycle late (settled_q), so that no path begins in all units.
  always_ff @(posedge clk_i)
    settled_q <= freeze_i && !soft_rst && !a_valid_q && !c_loading && cache_idle && flight_idle && !f_valid && !f_absent
        && pieces_idle && local_idle && !wb_valid_o;
  assign settle = settled_q && freeze_i && !soft_rst && !a_valid_q && !scrub_busy_o;
  assign status_o.settled = settle && retain_ready;

  logic unused;
  assign unused = &{1'b0, iss_i, wb_warp};
endmodule
