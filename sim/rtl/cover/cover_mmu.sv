// SPDX-License-Identifier: Apache-2.0
// Translation, as coverage points. Bound into mmu only by the coverage build.

module cover_mmu #(
    parameter int TLB_ENTRIES = 32,
    parameter int WALKS = 4
) (
    input logic                   clk_i,
    input logic                   ev_hit_o,
    input logic                   ev_miss_o,
    input logic                   a_valid,
    input logic                   b_valid_q,
    input logic                   b_go,
    input logic                   b_sent,
    input logic                   b_parks,
    input logic                   b_parked,
    input logic                   b_held,
    input logic                   b_plain,
    input logic                   b_bypass_q,
    input logic                   b_exec_q,
    input tern_pkg::mem_req_t     b_req_q,
    input logic [7:0]             b_check,
    input logic [WALKS-1:0]       b_walk,
    input logic [WALKS-1:0]       b_joins,
    input logic [TLB_ENTRIES-1:0] b_match_q,
    input logic [TLB_ENTRIES-1:0] lost,
    input logic                   entry_super,
    input logic [31:0]            pte,
    input logic [WALKS-1:0]       live,
    input logic [WALKS-1:0]       done,
    input logic [WALKS-1:0]       failed,
    input logic [WALKS-1:0]       waits,
    input logic [WALKS-1:0]       pick,
    input logic [WALKS-1:0]       last,
    input logic                   open_ready,
    input logic                   room,
    input logic                   read_valid,
    input logic                   c_valid_q,
    input logic                   c_go,
    input logic                   c_load,
    input logic                   c_fill_q,
    input logic                   c_super_q,
    input logic                   c_exec,
    input logic [1:0]             c_op,
    input logic [31:0]            c_pte_q,
    input logic [7:0]             c_fault_q,
    input logic [7:0]             c_fault,
    input logic                   hold_absent_i,
    input logic                   refusing_q,
    input logic                   local_valid_q,
    input logic                   rsp_mine,
    input logic                   flush_valid_i,
    input logic                   flush_ready_o,
    input logic                   flush_all_i,
    input logic [20:0]            flush_count_i,
    input logic                   block_i,
    input logic                   mem_req_valid_o,
    input logic                   mem_req_ready_i
);

  // looked: a request leaves stage B, and the TLB has its page. ok: it goes to memory, or returns zeros.
  // waited: a request leaves stage C, and its walk is done. found: the walk found the page.
  // misses: a request in B waits for a walk, or needs one.
  logic looked, ok, waited, found, misses, writes;
  assign looked = b_sent && !b_plain && !refusing_q;
  assign ok = looked && b_check == tern_spec_pkg::FAULT_NONE;
  assign waited = c_go && !refusing_q;
  assign found = waited && c_fault_q == tern_spec_pkg::FAULT_NONE;
  assign misses = b_valid_q && b_parks && !b_held;
  assign writes = b_req_q.op != tern_pkg::MEM_READ;

  tlb_hit:              cover property (@(posedge clk_i) ev_hit_o);
  tlb_miss:             cover property (@(posedge clk_i) ev_miss_o);
  hit_4k:               cover property (@(posedge clk_i) ok && !entry_super);
  hit_4m:               cover property (@(posedge clk_i) ok && entry_super);
  hit_high_entry:       cover property (@(posedge clk_i) ok && b_match_q[TLB_ENTRIES-1]);
  fetch_of_code:        cover property (@(posedge clk_i) ok && b_exec_q);
  atomic_passes:        cover property (@(posedge clk_i) ok && b_req_q.op == tern_pkg::MEM_ATOMIC);
  zero_page_read:       cover property (@(posedge clk_i) ok && pte[tern_spec_pkg::PTE_ZERO_LSB]);
  denied_read:          cover property (@(posedge clk_i) looked && !ok && !writes && !b_exec_q);
  denied_execute:       cover property (@(posedge clk_i) looked && !ok && b_exec_q);
  denied_write:         cover property (@(posedge clk_i) looked && !ok && b_req_q.op == tern_pkg::MEM_WRITE);
  denied_atomic:        cover property (@(posedge clk_i) looked && !ok && b_req_q.op == tern_pkg::MEM_ATOMIC);
  physical:             cover property (@(posedge clk_i) b_sent && b_bypass_q);

  // while pages are being walked
  hit_passes_a_miss:    cover property (@(posedge clk_i) ok && |waits);
  opens_a_walk:         cover property (@(posedge clk_i) b_parked && b_walk == '0);
  opens_beside_another: cover property (@(posedge clk_i) b_parked && b_walk == '0 && |live);
  joins_a_walk:         cover property (@(posedge clk_i) b_parked && |(b_walk & ~done));
  joins_a_result:       cover property (@(posedge clk_i) b_parked && |(b_walk & done));
  joins_as_last_leaves: cover property (@(posedge clk_i) c_load && |(b_joins & pick & last));
  write_joins_a_walk:   cover property (@(posedge clk_i) b_parked && |b_walk && writes);
  write_held:           cover property (@(posedge clk_i) b_valid_q && b_held && !b_plain);
  all_walks_at_a_time:  cover property (@(posedge clk_i) &live);
  no_walk_free:         cover property (@(posedge clk_i) misses && b_walk == '0 && !open_ready);
  no_room_aside:        cover property (@(posedge clk_i) misses && !room);
  waits_out_a_fault:    cover property (@(posedge clk_i) misses && |(b_walk & failed));
  results_meet:         cover property (@(posedge clk_i) ((done & waits) & ((done & waits) - 1'b1)) != '0);
  waited_goes_first:    cover property (@(posedge clk_i) b_valid_q && !b_parks && !b_held && c_go);
  table_goes_first:     cover property (@(posedge clk_i) read_valid && c_valid_q);
  entry_is_replaced:    cover property (@(posedge clk_i) b_valid_q && !b_go && |(b_match_q & lost));
  queue_behind_held:    cover property (@(posedge clk_i) a_valid && b_valid_q && (b_held || misses) && !b_go);

  // and after that
  fill_4k:              cover property (@(posedge clk_i) c_fill_q && !c_super_q);
  fill_4m:              cover property (@(posedge clk_i) c_fill_q && c_super_q);
  waited_fetch:         cover property (@(posedge clk_i) found && c_exec);
  waited_atomic:        cover property (@(posedge clk_i) found && c_op == tern_pkg::MEM_ATOMIC);
  waited_zero_page:     cover property (@(posedge clk_i) found && c_fault == tern_spec_pkg::FAULT_NONE &&
                                        c_pte_q[tern_spec_pkg::PTE_ZERO_LSB]);
  waited_denied:        cover property (@(posedge clk_i) found && c_fault != tern_spec_pkg::FAULT_NONE);
  fault_page:           cover property (@(posedge clk_i) waited && c_fault_q == tern_spec_pkg::FAULT_PAGE);
  fault_malformed:      cover property (@(posedge clk_i) waited && c_fault_q == tern_spec_pkg::FAULT_PTE_MALFORMED);
  fault_table_bus:      cover property (@(posedge clk_i) waited && c_fault_q == tern_spec_pkg::FAULT_BUS_ERROR);
  page_absent:          cover property (@(posedge clk_i) waited && c_fault_q == tern_spec_pkg::FAULT_PAGE_ABSENT &&
                                        hold_absent_i);
  absent_not_held:      cover property (@(posedge clk_i) waited && c_fault_q == tern_spec_pkg::FAULT_PAGE_ABSENT &&
                                        !hold_absent_i);
  refused_behind:       cover property (@(posedge clk_i) b_sent && refusing_q && !b_plain);
  refused_aside:        cover property (@(posedge clk_i) c_go && refusing_q &&
                                        c_fault_q == tern_spec_pkg::FAULT_NONE);
  refusing_ends:        cover property (@(posedge clk_i) refusing_q && !hold_absent_i);

  answer_waits:         cover property (@(posedge clk_i) local_valid_q && rsp_mine);
  fabric_backpressure:  cover property (@(posedge clk_i) mem_req_valid_o && !mem_req_ready_i);
  flush_everything:     cover property (@(posedge clk_i) flush_valid_i && flush_ready_o && flush_all_i);
  flush_space:          cover property (@(posedge clk_i) flush_valid_i && flush_ready_o && !flush_all_i &&
                                        flush_count_i == '0);
  flush_range:          cover property (@(posedge clk_i) flush_valid_i && flush_ready_o && !flush_all_i &&
                                        flush_count_i != '0);
  blocked_for_reset:    cover property (@(posedge clk_i) block_i && b_valid_q);

  logic unused;
  assign unused = &{1'b0, pte, c_pte_q, b_req_q};

endmodule

bind mmu cover_mmu #(.TLB_ENTRIES(TLB_ENTRIES), .WALKS(WALKS)) u_cover (.*);
