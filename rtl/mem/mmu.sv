// SPDX-License-Identifier: Apache-2.0
// The MMU of one engine: a memory channel with virtual addresses in, one with physical addresses out
// (docs/hardware/memory.md).
//
// Contract: both sides are memory channels (docs/hardware/interfaces.md). A request that is not permitted (A5) is
// answered with its fault and does not reach memory. A read of a zero page is answered with zeros. One request is
// accepted a cycle; a hit is at the fabric after three cycles. A miss waits aside (mmu_park) for its page walk
// (pte_walker), and the requests behind it go on. A request for a page that is being walked waits for the same walk, so
// requests for one page keep their order. A write or an atomic waits until no request waits for another page. If no
// slot or no walk is free, the requests behind wait. root_ppn_i and bypass_i are sampled with each request. Once a page
// was absent while hold_absent_i is high, every translated request is refused as if its page were absent, until
// hold_absent_i falls. pass_o, at latest with the answer: the request of pass_tag_o will be carried out.
// Implementation: stage A accepts and looks up, stage B checks, and stage C has a request whose walk is done. Stage A
// has room for two requests, so req_ready_o does not depend on whether its request moves on, which is known late. The
// output register takes page-table reads first, then C, then B. The former two come from requests that have been in B,
// so B waits for few of them.
// TLB entries are tagged by root table and not by an address-space number: nobody has to assign numbers, and a switch
// of the address space flushes nothing. Permissions are checked at each use, so the TLB holds what the page-table entry
// says and not what a request was allowed.
// Preemption: no state is saved. The engine drains the MMU, and translations can be looked up again.
module mmu #(
    parameter int TAG_W = 10,        // Bits of a tag of the client.
    parameter int TLB_ENTRIES = 32,  // Entries of the first-level TLB.
    parameter int CACHE_LOG2 = 10,   // log2 of the page-table lines kept, of 16 translations each.
    parameter int WALKS = 4,         // Page walks at a time.
    parameter int SLOTS = 16         // Requests that wait for walks.
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic [21:0]        root_ppn_i,     // Page number of the root page table.
    input  logic               bypass_i,       // The address is physical.
    input  logic               block_i,        // No request is accepted.
    input  logic               hold_absent_i,  // After one absent page every request is refused as absent.
    input  logic [22:0]        mem_pages_i,
    output logic               busy_o,
    output logic               ev_hit_o,
    output logic               ev_miss_o,
    input  logic               flush_valid_i,
    output logic               flush_ready_o,
    input  logic               flush_all_i,
    input  logic [21:0]        flush_root_i,
    input  logic [19:0]        flush_first_i,
    input  logic [20:0]        flush_count_i,
    // Memory channel of the client.
    input  logic               req_valid_i,
    output logic               req_ready_o,
    input  tern_pkg::mem_req_t req_i,
    input  logic               req_exec_i,     // An instruction fetch: needs X instead of R.
    input  logic [TAG_W-1:0]   req_tag_i,
    output logic               pass_o,
    output logic [TAG_W-1:0]   pass_tag_o,
    output logic               rsp_valid_o,
    output logic [TAG_W-1:0]   rsp_tag_o,
    output tern_pkg::mem_rsp_t rsp_o,
    // Memory channel of the fabric; the top bit of a tag marks a page-table read.
    output logic               mem_req_valid_o,
    input  logic               mem_req_ready_i,
    output tern_pkg::mem_req_t mem_req_o,
    output logic [TAG_W:0]     mem_req_tag_o,
    input  logic               mem_rsp_valid_i,
    input  logic [TAG_W:0]     mem_rsp_tag_i,
    input  tern_pkg::mem_rsp_t mem_rsp_i
);
  // Stage A.
  logic a_valid, a_exec, a_bypass, a_go, a_ready, a_take, wide_valid, wide_ready;
  tern_pkg::mem_req_t a_req;
  logic [TAG_W-1:0] a_tag;
  logic [21:0] a_root;

  // Stage B.
  logic b_valid_q, b_exec_q, b_bypass_q, b_go;
  tern_pkg::mem_req_t b_req_q;
  logic [TAG_W-1:0] b_tag_q;
  logic [21:0] b_root_q;
  logic b_new_q;  // First cycle in B, for the counters.
  logic [TLB_ENTRIES-1:0] b_match_q;
  logic [WALKS-1:0] b_walk_q;  // Walks of the same page, when the request came here.

  // Stage C: a request whose walk is done.
  localparam int SW = $clog2(SLOTS), NW = WALKS > 1 ? $clog2(WALKS) : 1;
  logic c_valid_q, c_fill_q, c_super_q, c_exec, c_go, c_load;
  logic [SW-1:0] c_slot_q;
  logic [21:0] c_root_q;
  logic [19:0] c_vpn_q;
  logic [31:0] c_pte_q;
  logic [7:0] c_fault_q;
  logic [1:0] c_op;
  logic [3:0] c_amo;
  logic [5:0] c_offset;
  logic [511:0] c_wdata;
  logic [63:0] c_be;
  logic [TAG_W-1:0] c_tag;

  // TLB.
  logic [TLB_ENTRIES-1:0] match, lost;
  logic entry_super;
  logic [31:0] pte;

  tlb #(.ENTRIES(TLB_ENTRIES)) u_tlb (
      .clk_i,
      .rst_i,
      .look_root_i(a_root),
      .look_vpn_i(a_req.line[25:6]),
      .match_o(match),
      .select_i(b_match_q),
      .used_i(b_go),
      .entry_super_o(entry_super),
      .entry_pte_o(pte),
      .fill_valid_i(c_fill_q),
      .fill_root_i(c_root_q),
      .fill_vpn_i(c_vpn_q),
      .fill_super_i(c_super_q),
      .fill_pte_i(c_pte_q),
      .lost_o(lost),
      .clear_i(flush_valid_i && flush_ready_o)
  );

  // Walks, and the requests that wait for them.
  localparam int PARK_W = 2 + 4 + 1 + 6 + 512 + 64 + TAG_W;
  logic [WALKS-1:0] near, live, done, failed, open_walk, pick, last, waits, b_walk, b_target, b_joins;
  logic [SW-1:0] pick_slot;
  logic open_ready, room, read_valid, read_ready, result_super, result_new;
  logic [27:0] read_line;
  logic [NW-1:0] read_walk;
  logic [21:0] result_root;
  logic [19:0] result_vpn;
  logic [31:0] result_pte;
  logic [7:0] result_fault;
  logic b_plain, b_parks, b_held, b_parked, b_sent, send_ready, local_go;

  pte_walker #(.WALKS(WALKS), .CACHE_LOG2(CACHE_LOG2)) u_walker (
      .clk_i,
      .rst_i,
      .mem_pages_i,
      .near_root_i(a_root),
      .near_vpn_i(a_req.line[25:6]),
      .near_o(near),
      .look_valid_i(b_valid_q),
      .open_valid_i(b_parked && b_walk == '0),
      .open_ready_o(open_ready),
      .open_walk_o(open_walk),
      .open_root_i(b_root_q),
      .open_vpn_i(b_req_q.line[25:6]),
      .live_o(live),
      .done_o(done),
      .failed_o(failed),
      .pick_i(pick),
      .take_i(c_load),
      .result_root_o(result_root),
      .result_vpn_o(result_vpn),
      .result_super_o(result_super),
      .result_pte_o(result_pte),
      .result_fault_o(result_fault),
      .result_new_o(result_new),
      .empty_i(pick & last & {WALKS{c_load}} & ~b_joins),
      .join_i(b_joins),
      .waits_o(waits),
      .flush_valid_i(flush_valid_i && !a_valid && !b_valid_q && !c_valid_q && live == '0),
      .flush_ready_o,
      .flush_all_i,
      .flush_root_i,
      .flush_first_i,
      .flush_count_i,
      .read_valid_o(read_valid),
      .read_ready_i(read_ready),
      .read_line_o(read_line),
      .read_walk_o(read_walk),
      .data_valid_i(mem_rsp_valid_i && mem_rsp_tag_i[TAG_W]),
      .data_walk_i(mem_rsp_tag_i[NW-1:0]),
      .data_i(mem_rsp_i.data),
      .data_fault_i(mem_rsp_i.fault)
  );
  mmu_park #(.WIDTH(PARK_W), .SLOTS(SLOTS), .WALKS(WALKS)) u_park (
      .clk_i,
      .rst_i,
      .room_o(room),
      .put_valid_i(b_parked),
      .put_walk_i(b_target),
      .put_first_i((b_target & waits) == '0),
      .put_data_i({b_req_q.op, b_req_q.amo, b_exec_q, b_req_q.line[5:0], b_req_q.wdata, b_req_q.be, b_tag_q}),
      .pick_i(pick),
      .take_i(c_load),
      .pick_slot_o(pick_slot),
      .last_o(last),
      .read_slot_i(c_slot_q),
      .read_data_o({c_op, c_amo, c_exec, c_offset, c_wdata, c_be, c_tag}),
      .free_i(c_go)
  );
  rr_arbiter #(.N(WALKS)) u_drain (
      .clk_i,
      .rst_i,
      .request_i(done & waits),
      .advance_i(c_load),
      .grant_o(pick)
  );
  assign c_load = !c_valid_q || c_go;

  // After an absent page: requests behind the refused one must not be carried out before it.
  logic refusing_q, b_local, c_local, b_miss;
  logic [7:0] b_fault, c_fault, b_check, c_check;
  always_ff @(posedge clk_i) begin
    refusing_q <= hold_absent_i && !rst_i &&
        (refusing_q || (c_go && c_fault == tern_spec_pkg::FAULT_PAGE_ABSENT));
    pass_o <= ((c_go && c_fault == tern_spec_pkg::FAULT_NONE) || (b_sent && b_fault == tern_spec_pkg::FAULT_NONE)) &&
        !rst_i;
    pass_tag_o <= c_valid_q ? c_tag : b_tag_q;
  end

  // Decisions for the requests in B and C. No request joins a walk that found a fault, since the page may be mapped by
  // now.
  mmu_check u_b_check (
      .op_i(b_req_q.op),
      .exec_i(b_exec_q),
      .pte_i(pte),
      .fault_o(b_check)
  );
  mmu_check u_c_check (
      .op_i(c_op),
      .exec_i(c_exec),
      .pte_i(c_pte_q),
      .fault_o(c_check)
  );
  assign b_plain = b_bypass_q || |b_req_q.line[27:26];
  assign b_miss = !b_plain && !(|b_match_q);
  assign b_walk = b_walk_q & live;
  assign b_target = |b_walk ? b_walk : open_walk;
  assign b_joins = b_target & {WALKS{b_parked}};
  assign b_parks = (b_miss || (!b_plain && |b_walk)) && !refusing_q;
  // A write or an atomic does not pass a request that waits: two virtual addresses may be one line of memory, and a
  // load must not see a store behind it.
  assign b_held = b_req_q.op != tern_pkg::MEM_READ && |(live & (b_plain ? '1 : ~b_walk_q));
  assign b_parked = b_valid_q && b_parks && !b_held && room && (|b_walk ? !(|(b_walk & failed)) : open_ready);
  assign b_fault = b_bypass_q ? tern_spec_pkg::FAULT_NONE : refusing_q ? tern_spec_pkg::FAULT_PAGE_ABSENT :
      |b_req_q.line[27:26] ? tern_spec_pkg::FAULT_PAGE : b_check;
  assign b_local = b_fault != tern_spec_pkg::FAULT_NONE || (!b_bypass_q && pte[tern_spec_pkg::PTE_ZERO_LSB]);
  assign c_fault = refusing_q ? tern_spec_pkg::FAULT_PAGE_ABSENT :
      c_fault_q != tern_spec_pkg::FAULT_NONE ? c_fault_q : c_check;
  assign c_local = c_fault != tern_spec_pkg::FAULT_NONE || c_pte_q[tern_spec_pkg::PTE_ZERO_LSB];

  // Local answers, of faults and zero pages, wait for a cycle in which the fabric does not answer. Meanwhile no request
  // goes to the fabric, so there will be such a cycle. B and C go only if both ways are free, since it is known late
  // which of them they take.
  logic local_valid_q, rsp_mine;
  logic [TAG_W-1:0] local_tag_q;
  logic [7:0] local_fault_q;
  assign rsp_mine = mem_rsp_valid_i && !mem_rsp_tag_i[TAG_W];
  assign local_go = !local_valid_q || !rsp_mine;
  assign read_ready = !mem_req_valid_o || mem_req_ready_i;
  assign send_ready = read_ready && !read_valid && local_go;
  assign c_go = c_valid_q && send_ready;
  assign b_sent = b_valid_q && !b_parks && !b_held && !c_valid_q && send_ready;
  assign b_go = b_sent || b_parked;
  assign a_go = a_valid && (!b_valid_q || b_go);
  assign req_ready_o = a_ready && !block_i && !flush_valid_i;
  assign a_take = req_valid_i && req_ready_o;

  // The lookup needs its address early in a cycle, so that comes from registers. Data only go on to stage B and lie in
  // a memory. Both queues take and give their entries together.
  mem_slice #(.WIDTH(2 + 4 + 28 + 1 + TAG_W + 22 + 1)) u_a (
      .clk_i,
      .rst_i,
      .in_valid_i(a_take),
      .in_ready_o(a_ready),
      .in_data_i({req_i.op, req_i.amo, req_i.line, req_exec_i, req_tag_i, root_ppn_i, bypass_i}),
      .out_valid_o(a_valid),
      .out_ready_i(a_go),
      .out_data_o({a_req.op, a_req.amo, a_req.line, a_exec, a_tag, a_root, a_bypass})
  );
  mem_fifo #(.WIDTH(512 + 64), .DEPTH_LOG2(1)) u_a_data (
      .clk_i,
      .rst_i,
      .in_valid_i(a_take),
      .in_ready_o(wide_ready),
      .in_data_i({req_i.wdata, req_i.be}),
      .out_valid_o(wide_valid),
      .out_ready_i(a_go),
      .out_data_o({a_req.wdata, a_req.be})
  );

  always_ff @(posedge clk_i) begin
    if (!b_valid_q || b_go) b_valid_q <= a_valid;
    b_new_q <= a_go;
    b_match_q <= a_go ? match : b_match_q & ~lost;
    if (a_go) begin
      b_req_q <= a_req;
      b_exec_q <= a_exec;
      b_tag_q <= a_tag;
      b_root_q <= a_root;
      b_bypass_q <= a_bypass;
      b_walk_q <= near;
      if (b_parked && {a_root, a_req.line[25:6]} == {b_root_q, b_req_q.line[25:6]}) b_walk_q <= near | b_target;
    end
    if (c_load) begin
      c_valid_q <= |(done & waits);
      c_slot_q <= pick_slot;
      c_root_q <= result_root;
      c_vpn_q <= result_vpn;
      c_pte_q <= result_pte;
      c_super_q <= result_super;
      c_fault_q <= result_fault;
    end
    c_fill_q <= c_load && result_new;
    if (local_go) local_valid_q <= (c_go && c_local) || (b_sent && b_local);
    if (local_go && c_valid_q) begin
      local_tag_q <= c_tag;
      local_fault_q <= c_fault;
    end else if (local_go) begin
      local_tag_q <= b_tag_q;
      local_fault_q <= b_fault;
    end
    if (rst_i) begin
      b_valid_q <= 1'b0;
      b_new_q <= 1'b0;
      c_valid_q <= 1'b0;
      c_fill_q <= 1'b0;
      local_valid_q <= 1'b0;
    end
  end
  assign ev_hit_o = b_valid_q && b_new_q && !b_bypass_q && !b_miss;
  assign ev_miss_o = b_valid_q && b_new_q && b_miss;

  always_ff @(posedge clk_i) begin
    if (read_ready) mem_req_valid_o <= read_valid || (c_go && !c_local) || (b_sent && !b_local);
    if (read_ready && read_valid) begin
      mem_req_o.op <= tern_pkg::MEM_READ;
      mem_req_o.line <= read_line;
      mem_req_tag_o <= {1'b1, TAG_W'(read_walk)};
    end else if (c_go) begin
      mem_req_o.op <= c_op;
      mem_req_o.amo <= c_amo;
      mem_req_o.line <= {c_pte_q[31:20], c_super_q ? c_vpn_q[9:0] : c_pte_q[19:10], c_offset};
      mem_req_o.wdata <= c_wdata;
      mem_req_o.be <= c_be;
      mem_req_tag_o <= {1'b0, c_tag};
    end else if (b_sent) begin
      mem_req_o <= b_req_q;
      if (!b_bypass_q)
        mem_req_o.line <= {pte[31:20], entry_super ? b_req_q.line[15:6] : pte[19:10], b_req_q.line[5:0]};
      mem_req_tag_o <= {1'b0, b_tag_q};
    end
    if (rst_i) mem_req_valid_o <= 1'b0;
  end

  // Answers.
  assign rsp_valid_o = rsp_mine || local_valid_q;
  assign rsp_tag_o = rsp_mine ? mem_rsp_tag_i[TAG_W-1:0] : local_tag_q;
  assign rsp_o.fault = rsp_mine ? mem_rsp_i.fault : local_fault_q;
  assign rsp_o.data = rsp_mine ? mem_rsp_i.data : '0;

  // Requests are counted a cycle late. No request is answered in the cycle after it was accepted.
  logic [TAG_W:0] in_flight_q;
  logic accepted_q;
  assign busy_o = |in_flight_q || accepted_q;
  always_ff @(posedge clk_i) begin
    accepted_q <= a_take;
    if (accepted_q && !rsp_valid_o) in_flight_q <= in_flight_q + 1'b1;
    if (!accepted_q && rsp_valid_o) in_flight_q <= in_flight_q - 1'b1;
    if (rst_i) begin
      in_flight_q <= '0;
      accepted_q <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, pte, c_pte_q, wide_valid, wide_ready};

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // There was a reset.
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      data_with_their_request: assert (wide_valid == a_valid && wide_ready == a_ready);
    end
  end
`endif

  check_request #(.TAG_W(TAG_W + 2)) u_check_req (
      .clk_i,
      .rst_i,
      .valid_i(req_valid_i),
      .ready_i(req_ready_o),
      .req_i,
      .tag_i({req_exec_i, bypass_i, req_tag_i})
  );
  check_answers #(.TAG_W(TAG_W)) u_check_answers (
      .clk_i,
      .rst_i,
      .req_i(req_valid_i && req_ready_o),
      .req_tag_i,
      .rsp_i(rsp_valid_o),
      .rsp_tag_i(rsp_tag_o)
  );
endmodule
