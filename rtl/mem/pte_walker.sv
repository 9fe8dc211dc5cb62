// SPDX-License-Identifier: Apache-2.0
// Page walks, WALKS at a time: translations that the TLB does not have, from pte_cache, else from memory (Sv32).
//
// Contract: near_o: the walks for page near_vpn_i of near_root_i. open_valid_i, with open_ready_o, begins walk
// open_walk_o (one-hot) for open_vpn_i of open_root_i. While look_valid_i says that a request may open a walk for them,
// the cache is read ahead. live_o: the walk has begun and not ended. done_o: it is live and its result is there.
// result_* belong to walk pick_i (one-hot, or none): the leaf if result_fault_o is FAULT_NONE, else the fault of the
// entry, or that of memory. result_new_o: the result is a leaf that take_i has not taken before.
// join_i: a request waits for this walk from now on. empty_i: no request does any more. waits_o: one does. A walk that
// is done and that no request waits for ends a cycle later, when the TLB has its result, unless a request joins. The
// caller opens one walk for a page, so misses of a page share it. A fault is reported only after the entry has been
// read from memory, so a page that has been mapped since needs no flush.
// flush_* are the fields of packet tlb_flush, held until flush_ready_o, while no walk is live and look_valid_i is low.
// Latency: 3 cycles from the cache, else one or two memory accesses. A walk waits for at most WALKS - 1 others at the
// cache and at memory (rr_arbiter). An answer of memory names its walk; each walk has at most one access in flight.
// Preemption: no state is saved.
module pte_walker #(
    parameter int WALKS = 4,        // Page walks at a time.
    parameter int CACHE_LOG2 = 10,  // log2 of the page-table lines kept.
    localparam int NW = WALKS > 1 ? $clog2(WALKS) : 1
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic [     22:0] mem_pages_i,
    input  logic [     21:0] near_root_i,
    input  logic [     19:0] near_vpn_i,
    output logic [WALKS-1:0] near_o,
    input  logic             look_valid_i,
    input  logic             open_valid_i,
    output logic             open_ready_o,
    output logic [WALKS-1:0] open_walk_o,
    input  logic [     21:0] open_root_i,
    input  logic [     19:0] open_vpn_i,
    output logic [WALKS-1:0] live_o,
    output logic [WALKS-1:0] done_o,
    output logic [WALKS-1:0] failed_o,        // The walk is done, with a fault.
    input  logic [WALKS-1:0] pick_i,
    input  logic             take_i,
    output logic [     21:0] result_root_o,
    output logic [     19:0] result_vpn_o,
    output logic             result_super_o,
    output logic [     31:0] result_pte_o,
    output logic [      7:0] result_fault_o,
    output logic             result_new_o,
    input  logic [WALKS-1:0] empty_i,
    input  logic [WALKS-1:0] join_i,
    output logic [WALKS-1:0] waits_o,
    input  logic             flush_valid_i,
    output logic             flush_ready_o,
    input  logic             flush_all_i,
    input  logic [     21:0] flush_root_i,
    input  logic [     19:0] flush_first_i,
    input  logic [     20:0] flush_count_i,
    output logic             read_valid_o,
    input  logic             read_ready_i,
    output logic [     27:0] read_line_o,
    output logic [   NW-1:0] read_walk_o,
    input  logic             data_valid_i,
    input  logic [   NW-1:0] data_walk_i,
    input  logic [    511:0] data_i,
    input  logic [      7:0] data_fault_i
);
  // States are one-hot: whether a walk wants something is known without a comparison.
  localparam logic [5:0] FREE = 6'd1, LOOK = 6'd2, LOOKED = 6'd4, READ = 6'd8, ASKED = 6'd16, DONE = 6'd32;

  logic [6*WALKS-1:0] state_q;
  logic [WALKS-1:0] first_q, taken_q;  // first_q: the walk is at the first level.
  logic [22*WALKS-1:0] root_q, ppn_q;  // ppn_q: of the second-level table, then of the page.
  logic [20*WALKS-1:0] vpn_q;
  logic [10*WALKS-1:0] low_q;          // The lower bits of the leaf.
  logic [8*WALKS-1:0] fault_q;

  logic [WALKS-1:0] wants_look, wants_read, look_grant, read_grant, free;
  for (genvar w = 0; w < WALKS; w++) begin : g_walk
    assign near_o[w] = live_o[w] && root_q[22*w+:22] == near_root_i && vpn_q[20*w+:20] == near_vpn_i;
    assign free[w] = state_q[6*w];
    assign live_o[w] = !state_q[6*w];
    assign done_o[w] = state_q[6*w+5];
    assign failed_o[w] = done_o[w] && fault_q[8*w+:8] != tern_spec_pkg::FAULT_NONE;
    assign wants_look[w] = state_q[6*w+1];
    assign wants_read[w] = state_q[6*w+3];
  end
  assign open_ready_o = |free;
  assign open_walk_o = free & (~free + 1'b1);

  // The cache: it is looked up for a walk that wants it, else for the request that may open a walk.
  logic look, hit, put, drop, drop_first, clear;
  logic [3:0] look_word;
  logic [WALKS-1:0] look_1_q, look_2_q;
  logic [21:0] look_root, data_root;
  logic [19:0] look_vpn, data_vpn;
  logic look_first, data_first;
  logic [15:0] look_index, data_index, drop_index;
  logic [31:0] cached, read_pte_q;

  rr_arbiter #(.N(WALKS)) u_look (
      .clk_i,
      .rst_i,
      .request_i(wants_look),
      .advance_i(1'b1),
      .grant_o(look_grant)
  );
  always_comb begin
    look_root = wants_look == '0 ? open_root_i : '0;
    look_vpn = wants_look == '0 ? open_vpn_i : '0;
    for (int w = 0; w < WALKS; w++)
      if (look_grant[w]) begin
        look_root = look_root | root_q[22*w+:22];
        look_vpn = look_vpn | vpn_q[20*w+:20];
      end
  end
  assign look_first = |(look_grant & first_q);
  assign look = wants_look != '0 || look_valid_i;
  assign look_word = look_first ? look_vpn[13:10] : look_vpn[3:0];
  assign put = data_valid_i && data_fault_i == tern_spec_pkg::FAULT_NONE;
  assign look_index = look_first ? {10'b0, look_vpn[19:14]} : look_vpn[19:4];

  pte_cache #(.LINES_LOG2(CACHE_LOG2)) u_cache (
      .clk_i,
      .rst_i,
      .look_valid_i(look),
      .look_root_i(look_root),
      .look_first_i(look_first),
      .look_index_i(look_index),
      .look_word_i(look_word),
      .hit_o(hit),
      .pte_o(cached),
      .put_valid_i(put),
      .drop_valid_i(drop),
      .put_root_i(drop ? flush_root_i : data_root),
      .put_first_i(drop ? drop_first : data_first),
      .put_index_i(drop ? drop_index : data_index),
      .put_line_i(data_i),
      .clear_all_i(clear)
  );
  pte_flush u_flush (
      .clk_i,
      .rst_i,
      .valid_i(flush_valid_i),
      .ready_o(flush_ready_o),
      .all_i(flush_all_i),
      .first_i(flush_first_i),
      .count_i(flush_count_i),
      .clear_o(clear),
      .drop_o(drop),
      .drop_first_o(drop_first),
      .drop_index_o(drop_index)
  );

  // Memory.
  logic [WALKS-1:0] data_walk, data_q;
  logic [7:0] data_fault_q;
  logic data_first_q;
  logic [3:0] data_word;
  rr_arbiter #(.N(WALKS)) u_read (
      .clk_i,
      .rst_i,
      .request_i(wants_read),
      .advance_i(read_ready_i),
      .grant_o(read_grant)
  );
  assign read_valid_o = |wants_read;
  always_comb begin
    read_line_o = '0;
    read_walk_o = '0;
    data_root = '0;
    data_vpn = '0;
    for (int w = 0; w < WALKS; w++) begin
      data_walk[w] = data_valid_i && data_walk_i == NW'(w);
      if (read_grant[w]) begin
        read_line_o = read_line_o | (first_q[w] ? {root_q[22*w+:22], vpn_q[20*w+14+:6]} :
                                     {ppn_q[22*w+:22], vpn_q[20*w+4+:6]});
        read_walk_o = read_walk_o | NW'(w);
      end
      if (data_walk_i == NW'(w)) begin
        data_root = data_root | root_q[22*w+:22];
        data_vpn = data_vpn | vpn_q[20*w+:20];
      end
    end
  end
  assign data_first = first_q[data_walk_i];
  assign data_word = data_first ? data_vpn[13:10] : data_vpn[3:0];
  assign data_index = data_first ? {10'b0, data_vpn[19:14]} : data_vpn[19:4];

  always_ff @(posedge clk_i) begin
    if (look) look_1_q <= wants_look != '0 ? look_grant : open_valid_i ? open_walk_o : '0;
    else look_1_q <= '0;
    look_2_q <= look_1_q;
    data_q <= data_walk;
    if (data_valid_i) begin
      read_pte_q <= data_i[32*data_word+:32];
      data_first_q <= data_first;
      data_fault_q <= data_fault_i;
    end
    if (rst_i) {look_1_q, look_2_q, data_q} <= '0;
  end

  // The decoded entry: from the cache, and from memory.
  logic looked_first, c_pointer, c_leaf, m_pointer, m_leaf, bus;
  logic [7:0] m_fault, c_fault;
  assign looked_first = |(look_2_q & first_q);
  assign bus = data_fault_q != tern_spec_pkg::FAULT_NONE;
  pte_decode u_cached (
      .pte_i(cached),
      .first_i(looked_first),
      .mem_pages_i,
      .pointer_o(c_pointer),
      .leaf_o(c_leaf),
      .fault_o(c_fault)
  );
  pte_decode u_read_pte (
      .pte_i(read_pte_q),
      .first_i(data_first_q),
      .mem_pages_i,
      .pointer_o(m_pointer),
      .leaf_o(m_leaf),
      .fault_o(m_fault)
  );

  always_ff @(posedge clk_i) begin
    for (int w = 0; w < WALKS; w++) begin
      if (open_valid_i && open_walk_o[w]) begin
        state_q[6*w+:6] <= wants_look == '0 ? LOOKED : LOOK;
        first_q[w] <= 1'b0;
        taken_q[w] <= 1'b0;
        root_q[22*w+:22] <= open_root_i;
        vpn_q[20*w+:20] <= open_vpn_i;
      end
      if (look_grant[w]) state_q[6*w+:6] <= LOOKED;
      if (look_2_q[w]) begin
        {ppn_q[22*w+:22], low_q[10*w+:10]} <= cached;
        fault_q[8*w+:8] <= tern_spec_pkg::FAULT_NONE;
        if (hit && c_leaf) state_q[6*w+:6] <= DONE;
        else if (!hit && !first_q[w]) state_q[6*w+:6] <= LOOK;
        else state_q[6*w+:6] <= READ;
        first_q[w] <= !(hit && (c_pointer || (c_leaf && !first_q[w])));
      end
      if (read_grant[w] && read_ready_i) state_q[6*w+:6] <= ASKED;
      if (data_q[w]) begin
        {ppn_q[22*w+:22], low_q[10*w+:10]} <= read_pte_q;
        fault_q[8*w+:8] <= bus ? data_fault_q : m_fault;
        state_q[6*w+:6] <= !bus && m_pointer ? READ : DONE;
        if (!bus && m_pointer) first_q[w] <= 1'b0;
      end
      if (take_i && pick_i[w]) taken_q[w] <= 1'b1;
      if (join_i[w]) waits_o[w] <= 1'b1;
      else if (empty_i[w]) waits_o[w] <= 1'b0;
      if (done_o[w] && !waits_o[w] && !join_i[w]) state_q[6*w+:6] <= FREE;
      if (rst_i) state_q[6*w+:6] <= FREE;
      if (rst_i) waits_o[w] <= 1'b0;
    end
  end

  always_comb begin
    result_root_o = '0;
    result_vpn_o = '0;
    result_pte_o = '0;
    result_fault_o = '0;
    for (int w = 0; w < WALKS; w++)
      if (pick_i[w]) begin
        result_root_o = result_root_o | root_q[22*w+:22];
        result_vpn_o = result_vpn_o | vpn_q[20*w+:20];
        result_pte_o = result_pte_o | {ppn_q[22*w+:22], low_q[10*w+:10]};
        result_fault_o = result_fault_o | fault_q[8*w+:8];
      end
  end
  assign result_super_o = |(pick_i & first_q);
  assign result_new_o = |(pick_i & ~taken_q & ~failed_o);

  logic unused;
  assign unused = &{1'b0, c_fault, m_leaf, state_q};
endmodule
