// SPDX-License-Identifier: Apache-2.0
// The MMU of one engine: memory channel in with virtual addresses, out with physical ones (docs/hardware/memory.md).
//
// Contract: the memory channel of interfaces.md on both sides. A request that may not be done (A5) is answered with its
// fault and never reaches memory; a read of a zero page is answered with zeros. One request a cycle on hits, in order,
// three cycles to the fabric; a miss holds up those behind it. Root table and bypass come with each request.
// Stages: A takes and looks up, B checks, then the output register. In B the request waits for a walk, and is
// looked up again.
// Tags by root table, not by a small address-space number: nobody has to hand out numbers, and nothing is flushed at a
// switch. Permissions are checked at each use, so the TLB holds what the page says, not what somebody was allowed.
// Preemption saves nothing of it: the engine drains it; translations can be looked up again.
module mmu #(
    parameter int TAG_W = 10,
    parameter int TLB_ENTRIES = 32,
    parameter int CACHE_LOG2 = 9  // lines of page tables kept: 64 bytes, 16 translations each
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic [     21:0] root_ppn_i,
    input  logic             bypass_i,
    input  logic             block_i,
    input  logic [     22:0] mem_pages_i,
    output logic             busy_o,
    output logic             ev_hit_o,
    output logic             ev_miss_o,
    input  logic             flush_valid_i,
    output logic             flush_ready_o,
    input  logic             flush_all_i,
    input  logic [     21:0] flush_root_i,
    input  logic [     19:0] flush_first_i,
    input  logic [     20:0] flush_count_i,
    // client
    input  logic             req_valid_i,
    output logic             req_ready_o,
    input  logic [      1:0] req_op_i,
    input  logic [      3:0] req_amo_i,
    input  logic             req_exec_i,
    input  logic [     27:0] req_line_i,
    input  logic [    511:0] req_wdata_i,
    input  logic [     63:0] req_be_i,
    input  logic [TAG_W-1:0] req_tag_i,
    output logic             rsp_valid_o,
    output logic [TAG_W-1:0] rsp_tag_o,
    output logic [    511:0] rsp_data_o,
    output logic [      7:0] rsp_fault_o,
    // fabric
    output logic             mem_req_valid_o,
    input  logic             mem_req_ready_i,
    output logic [      1:0] mem_req_op_o,
    output logic [      3:0] mem_req_amo_o,
    output logic [     27:0] mem_req_line_o,
    output logic [    511:0] mem_req_wdata_o,
    output logic [     63:0] mem_req_be_o,
    output logic [  TAG_W:0] mem_req_tag_o,
    input  logic             mem_rsp_valid_i,
    input  logic [  TAG_W:0] mem_rsp_tag_i,
    input  logic [    511:0] mem_rsp_data_i,
    input  logic [      7:0] mem_rsp_fault_i
);
  // Stage A
  logic a_valid_q, a_exec_q, a_bypass_q, a_go;
  logic [1:0] a_op_q;
  logic [3:0] a_amo_q;
  logic [27:0] a_line_q;
  logic [511:0] a_wdata_q;
  logic [63:0] a_be_q;
  logic [TAG_W-1:0] a_tag_q;
  logic [21:0] a_root_q;

  // Stage B
  logic b_valid_q, b_exec_q, b_bypass_q, b_go;
  logic [1:0] b_op_q;
  logic [3:0] b_amo_q;
  logic [27:0] b_line_q;
  logic [511:0] b_wdata_q;
  logic [63:0] b_be_q;
  logic [TAG_W-1:0] b_tag_q;
  logic [21:0] b_root_q;
  logic b_again_q;  // look up again: the walk has filled the TLB
  logic b_new_q;    // first cycle, for the counters
  logic [7:0] b_fault_q;  // of the walk
  logic [TLB_ENTRIES-1:0] b_match_q;

  // TLB
  logic [TLB_ENTRIES-1:0] match;
  logic entry_super, miss, pass, local_answer, denied;
  logic [31:0] pte;
  logic [7:0] fault;
  logic walk_done, fill_valid, fill_super;
  logic [7:0] walk_fault;
  logic [31:0] fill_pte;

  tlb #(.ENTRIES(TLB_ENTRIES)) u_tlb (
      .clk_i, .rst_i, .look_root_i(b_again_q ? b_root_q : a_root_q),
      .look_vpn_i(b_again_q ? b_line_q[25:6] : a_line_q[25:6]), .match_o(match), .select_i(b_match_q), .used_i(b_go),
      .entry_super_o(entry_super), .entry_pte_o(pte), .fill_valid_i(fill_valid), .fill_root_i(b_root_q),
      .fill_vpn_i(b_line_q[25:6]), .fill_super_i(fill_super), .fill_pte_i(fill_pte),
      .clear_i(flush_valid_i && flush_ready_o)
  );

  // What becomes of the request in B
  assign denied = b_op_q == tern_pkg::MEM_READ ?
      !(b_exec_q ? pte[tern_spec_pkg::PTE_EXEC_LSB] : pte[tern_spec_pkg::PTE_READ_LSB]) :
      !pte[tern_spec_pkg::PTE_WRITE_LSB] || pte[tern_spec_pkg::PTE_ZERO_LSB] ||
      (b_op_q == tern_pkg::MEM_ATOMIC && !pte[tern_spec_pkg::PTE_READ_LSB]);
  always_comb begin
    fault = b_fault_q;
    miss = 1'b0;
    if (b_bypass_q) fault = tern_spec_pkg::FAULT_NONE;
    else if (|b_line_q[27:26]) fault = tern_spec_pkg::FAULT_PAGE;
    else if (b_fault_q == tern_spec_pkg::FAULT_NONE) begin
      miss = !(|b_match_q);
      if (!miss && denied) fault = tern_spec_pkg::FAULT_PROTECTION;
    end
  end
  assign local_answer = fault != tern_spec_pkg::FAULT_NONE || (!b_bypass_q && pte[tern_spec_pkg::PTE_ZERO_LSB]);
  assign pass = !miss && !local_answer;

  // Local answers wait for a cycle in which the fabric does not answer; nothing passes meanwhile, so there will be one.
  logic local_valid_q, local_go, rsp_mine;
  logic [TAG_W-1:0] local_tag_q;
  logic [7:0] local_fault_q;
  assign rsp_mine = mem_rsp_valid_i && !mem_rsp_tag_i[TAG_W];
  assign local_go = !local_valid_q || !rsp_mine;
  assign b_go = b_valid_q && !miss && !b_again_q && local_go && (!pass || !mem_req_valid_o || mem_req_ready_i);
  assign a_go = a_valid_q && (!b_valid_q || b_go);
  assign req_ready_o = (!a_valid_q || a_go) && !block_i && !flush_valid_i;

  always_ff @(posedge clk_i) begin
    if (!a_valid_q || a_go) a_valid_q <= req_valid_i && req_ready_o;
    if (req_valid_i && req_ready_o) begin
      a_op_q <= req_op_i;
      a_amo_q <= req_amo_i;
      a_exec_q <= req_exec_i;
      a_line_q <= req_line_i;
      a_wdata_q <= req_wdata_i;
      a_be_q <= req_be_i;
      a_tag_q <= req_tag_i;
      a_root_q <= root_ppn_i;
      a_bypass_q <= bypass_i;
    end
    if (!b_valid_q || b_go) b_valid_q <= a_valid_q;
    b_new_q <= a_go;
    if (a_go) begin
      b_op_q <= a_op_q;
      b_amo_q <= a_amo_q;
      b_exec_q <= a_exec_q;
      b_line_q <= a_line_q;
      b_wdata_q <= a_wdata_q;
      b_be_q <= a_be_q;
      b_tag_q <= a_tag_q;
      b_root_q <= a_root_q;
      b_bypass_q <= a_bypass_q;
      b_match_q <= match;
      b_fault_q <= tern_spec_pkg::FAULT_NONE;
    end else if (b_again_q) b_match_q <= match;
    else if (walk_done) b_fault_q <= fill_valid ? tern_spec_pkg::FAULT_NONE : walk_fault;
    b_again_q <= fill_valid;
    if (local_go) local_valid_q <= b_go && local_answer;
    if (b_go && local_answer) begin
      local_tag_q <= b_tag_q;
      local_fault_q <= fault;
    end
    if (rst_i) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
      b_again_q <= 1'b0;
      b_new_q <= 1'b0;
      local_valid_q <= 1'b0;
    end
  end
  assign ev_hit_o = b_valid_q && b_new_q && !b_bypass_q && !miss;
  assign ev_miss_o = b_valid_q && b_new_q && miss;

  // Walker. It reads while the request in B waits, so the two share the output register without a choice.
  logic read_valid, read_ready;
  logic [27:0] read_line;
  assign read_ready = !mem_req_valid_o || mem_req_ready_i;
  pte_walker #(.CACHE_LOG2(CACHE_LOG2)) u_walker (
      .clk_i, .rst_i, .mem_pages_i, .start_valid_i(b_valid_q && miss && !b_again_q), .root_i(b_root_q),
      .vpn_i(b_line_q[25:6]), .done_o(walk_done), .fault_o(walk_fault), .fill_valid_o(fill_valid),
      .fill_super_o(fill_super), .fill_pte_o(fill_pte), .flush_valid_i(flush_valid_i && !a_valid_q && !b_valid_q),
      .flush_ready_o, .flush_all_i, .flush_root_i, .flush_first_i, .flush_count_i, .read_valid_o(read_valid),
      .read_ready_i(read_ready), .read_line_o(read_line), .data_valid_i(mem_rsp_valid_i && mem_rsp_tag_i[TAG_W]),
      .data_i(mem_rsp_data_i), .data_fault_i(mem_rsp_fault_i)
  );

  always_ff @(posedge clk_i) begin
    if (read_ready) mem_req_valid_o <= (b_go && pass) || read_valid;
    if (read_ready && read_valid) begin
      mem_req_op_o <= tern_pkg::MEM_READ;
      mem_req_line_o <= read_line;
      mem_req_tag_o <= {1'b1, TAG_W'(0)};
    end else if (b_go && pass) begin
      mem_req_op_o <= b_op_q;
      mem_req_amo_o <= b_amo_q;
      mem_req_line_o <= b_bypass_q ? b_line_q :
          {pte[31:20], entry_super ? b_line_q[15:6] : pte[19:10], b_line_q[5:0]};
      mem_req_wdata_o <= b_wdata_q;
      mem_req_be_o <= b_be_q;
      mem_req_tag_o <= {1'b0, b_tag_q};
    end
    if (rst_i) mem_req_valid_o <= 1'b0;
  end

  // Answers
  assign rsp_valid_o = rsp_mine || local_valid_q;
  assign rsp_tag_o = rsp_mine ? mem_rsp_tag_i[TAG_W-1:0] : local_tag_q;
  assign rsp_fault_o = rsp_mine ? mem_rsp_fault_i : local_fault_q;
  assign rsp_data_o = rsp_mine ? mem_rsp_data_i : '0;

  logic [TAG_W:0] in_flight_q;
  assign busy_o = |in_flight_q;
  always_ff @(posedge clk_i) begin
    if (req_valid_i && req_ready_o && !rsp_valid_o) in_flight_q <= in_flight_q + 1'b1;
    if (!(req_valid_i && req_ready_o) && rsp_valid_o) in_flight_q <= in_flight_q - 1'b1;
    if (rst_i) in_flight_q <= '0;
  end

  logic unused;
  assign unused = &{1'b0, pte};

  check_request #(.TAG_W(TAG_W + 2)) u_check_req (
      .clk_i, .rst_i, .valid_i(req_valid_i), .ready_i(req_ready_o), .op_i(req_op_i), .amo_i(req_amo_i),
      .line_i(req_line_i), .wdata_i(req_wdata_i), .be_i(req_be_i), .tag_i({req_exec_i, bypass_i, req_tag_i})
  );
  check_answers #(.TAG_W(TAG_W)) u_check_answers (
      .clk_i, .rst_i, .req_i(req_valid_i && req_ready_o), .req_tag_i, .rsp_i(rsp_valid_o), .rsp_tag_i(rsp_tag_o)
  );
endmodule
