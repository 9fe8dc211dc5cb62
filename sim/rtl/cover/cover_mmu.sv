// SPDX-License-Identifier: Apache-2.0
// Translation, as coverage points. Bound into mmu only by the coverage build.

module cover_mmu #(
    parameter int TLB_ENTRIES = 32
) (
    input logic                   clk_i,
    input logic                   ev_hit_o,
    input logic                   ev_miss_o,
    input logic                   a_valid_q,
    input logic                   b_valid_q,
    input logic                   b_go,
    input logic                   b_bypass_q,
    input logic                   b_exec_q,
    input logic [1:0]             b_op_q,
    input logic [7:0]             fault,
    input logic                   denied,
    input logic                   miss,
    input logic                   pass,
    input logic                   entry_super,
    input logic [31:0]            pte,
    input logic                   local_valid_q,
    input logic                   rsp_mine,
    input logic                   walk_done,
    input logic                   fill_valid,
    input logic                   fill_super,
    input logic [7:0]             walk_fault,
    input logic                   flush_valid_i,
    input logic                   flush_ready_o,
    input logic                   flush_all_i,
    input logic [20:0]            flush_count_i,
    input logic                   block_i,
    input logic                   mem_req_valid_o,
    input logic                   mem_req_ready_i,
    input logic [TLB_ENTRIES-1:0] b_match_q
);

  logic ok;
  assign ok = b_go && !b_bypass_q && pass;

  tlb_hit:              cover property (@(posedge clk_i) ev_hit_o);
  tlb_miss:             cover property (@(posedge clk_i) ev_miss_o);
  hit_4k:               cover property (@(posedge clk_i) ok && !entry_super);
  hit_4m:               cover property (@(posedge clk_i) ok && entry_super);
  hit_high_entry:       cover property (@(posedge clk_i) ok && b_match_q[TLB_ENTRIES-1]);
  fill_4k:              cover property (@(posedge clk_i) fill_valid && !fill_super);
  fill_4m:              cover property (@(posedge clk_i) fill_valid && fill_super);
  fetch_of_code:        cover property (@(posedge clk_i) ok && b_exec_q);
  atomic_passes:        cover property (@(posedge clk_i) ok && b_op_q == tern_pkg::MEM_ATOMIC);
  zero_page_read:       cover property (@(posedge clk_i) b_go && !b_bypass_q && !miss && fault == 8'd0 &&
                                        pte[tern_spec_pkg::PTE_ZERO_LSB]);
  fault_page:           cover property (@(posedge clk_i) walk_done && !fill_valid &&
                                        walk_fault == tern_spec_pkg::FAULT_PAGE);
  fault_malformed:      cover property (@(posedge clk_i) walk_done && !fill_valid &&
                                        walk_fault == tern_spec_pkg::FAULT_PTE_MALFORMED);
  fault_table_bus:      cover property (@(posedge clk_i) walk_done && !fill_valid &&
                                        walk_fault == tern_spec_pkg::FAULT_BUS_ERROR);
  denied_read:          cover property (@(posedge clk_i) b_go && !b_bypass_q && !miss && denied &&
                                        b_op_q == tern_pkg::MEM_READ && !b_exec_q);
  denied_execute:       cover property (@(posedge clk_i) b_go && !b_bypass_q && !miss && denied && b_exec_q);
  denied_write:         cover property (@(posedge clk_i) b_go && !b_bypass_q && !miss && denied &&
                                        b_op_q == tern_pkg::MEM_WRITE);
  denied_atomic:        cover property (@(posedge clk_i) b_go && !b_bypass_q && !miss && denied &&
                                        b_op_q == tern_pkg::MEM_ATOMIC);
  answer_waits:         cover property (@(posedge clk_i) local_valid_q && rsp_mine);
  queue_behind_miss:    cover property (@(posedge clk_i) a_valid_q && b_valid_q && miss);
  fabric_backpressure:  cover property (@(posedge clk_i) mem_req_valid_o && !mem_req_ready_i);
  physical:             cover property (@(posedge clk_i) b_go && b_bypass_q);
  flush_everything:     cover property (@(posedge clk_i) flush_valid_i && flush_ready_o && flush_all_i);
  flush_space:          cover property (@(posedge clk_i) flush_valid_i && flush_ready_o && !flush_all_i &&
                                        flush_count_i == '0);
  flush_range:          cover property (@(posedge clk_i) flush_valid_i && flush_ready_o && !flush_all_i &&
                                        flush_count_i != '0);
  blocked_for_reset:    cover property (@(posedge clk_i) block_i && b_valid_q);

endmodule

bind mmu cover_mmu #(.TLB_ENTRIES(TLB_ENTRIES)) u_cover (.*);
