// SPDX-License-Identifier: Apache-2.0
// Finds the translation of a page that the TLB does not have: in the cache of page-table lines, else in memory (Sv32).
//
// Contract: start_valid_i with root and page number, held until done_o. With done_o, fault_o is FAULT_NONE and fill_*
// is the leaf, or it is the fault: what the entry says, or what memory answered to the read of it. A fault is only
// reported after the walk has been read from memory, whole: a page that was mapped since needs no flush. flush_valid_i
// with the fields of packet tlb_flush, held until flush_ready_o, while nothing is started.
// Latency: 5 cycles from the cache; one or two memory accesses otherwise. One walk at a time: a line of 16 entries
// comes with each access, so walks are rare.
// Preemption saves nothing of it.
module pte_walker #(
    parameter int CACHE_LOG2 = 9
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic [ 22:0] mem_pages_i,
    input  logic         start_valid_i,
    input  logic [ 21:0] root_i,
    input  logic [ 19:0] vpn_i,
    output logic         done_o,
    output logic [  7:0] fault_o,
    output logic         fill_valid_o,
    output logic         fill_super_o,
    output logic [ 31:0] fill_pte_o,
    input  logic         flush_valid_i,
    output logic         flush_ready_o,
    input  logic         flush_all_i,
    input  logic [ 21:0] flush_root_i,
    input  logic [ 19:0] flush_first_i,
    input  logic [ 20:0] flush_count_i,
    output logic         read_valid_o,
    input  logic         read_ready_i,
    output logic [ 27:0] read_line_o,
    input  logic         data_valid_i,
    input  logic [511:0] data_i,
    input  logic [  7:0] data_fault_i
);
  localparam logic [2:0] IDLE = 0, LOOK = 1, FOUND = 2, READ = 3, DATA = 4, DECODE = 5, DROP = 6;
  localparam int RANGE_LIMIT = 4096;  // pages; a longer range is not worth its cycles

  logic [2:0] state_q;
  logic first_q, cached_q;  // what is looked at: a first-level entry; it comes from the cache
  logic [1:0] wait_q;
  logic [31:0] pte_q;
  logic [7:0] bus_fault_q, fault;
  logic [27:0] line_q;
  logic pointer, leaf;

  // Cache
  logic hit, look, put, drop, clear_all, drop_end;
  logic [511:0] cached_line, word_line;
  logic [15:0] index, index_q, last_index;
  logic [20:0] flush_last;

  assign look = state_q == LOOK && wait_q == 2'd0;
  assign put = state_q == DATA && data_valid_i && data_fault_i == tern_spec_pkg::FAULT_NONE;
  assign drop = state_q == DROP;
  assign index = drop ? index_q : first_q ? {10'b0, vpn_i[19:14]} : vpn_i[19:4];

  pte_cache #(.LINES_LOG2(CACHE_LOG2)) u_cache (
      .clk_i, .rst_i, .look_valid_i(look), .root_i(drop ? flush_root_i : root_i), .first_i(first_q), .index_i(index),
      .hit_o(hit), .line_o(cached_line), .put_valid_i(put), .put_line_i(data_i), .drop_valid_i(drop),
      .clear_all_i(clear_all)
  );

  pte_decode u_decode (
      .pte_i(pte_q), .first_i(first_q), .mem_pages_i, .pointer_o(pointer), .leaf_o(leaf), .fault_o(fault)
  );

  // Flush: the lines of the range, second level, then first level
  assign flush_last = {1'b0, flush_first_i} + flush_count_i - 21'd1;
  assign clear_all = state_q == IDLE && flush_valid_i &&
      (flush_all_i || flush_count_i == '0 || flush_count_i > 21'(RANGE_LIMIT));
  assign last_index = flush_last[20] ? (first_q ? 16'h3f : 16'hffff) :
      first_q ? {10'b0, flush_last[19:14]} : flush_last[19:4];
  assign drop_end = index_q == last_index;
  assign flush_ready_o = clear_all || (drop && first_q && drop_end);

  // Result
  logic give_up;  // the fault is from memory, not from the cache
  assign give_up = state_q == DECODE && (bus_fault_q != tern_spec_pkg::FAULT_NONE || (!cached_q && !leaf && !pointer));
  assign fill_valid_o = state_q == DECODE && bus_fault_q == tern_spec_pkg::FAULT_NONE && leaf;
  assign fill_super_o = first_q;
  assign fill_pte_o = pte_q;
  assign done_o = give_up || fill_valid_o;
  assign fault_o = bus_fault_q != tern_spec_pkg::FAULT_NONE ? bus_fault_q : fault;

  assign read_valid_o = state_q == READ;
  assign read_line_o = line_q;
  assign word_line = state_q == FOUND ? cached_line : data_i;

  always_ff @(posedge clk_i) begin
    case (state_q)
      IDLE: begin
        first_q <= 1'b0;
        wait_q <= '0;
        bus_fault_q <= tern_spec_pkg::FAULT_NONE;
        if (start_valid_i) state_q <= LOOK;
        else if (flush_valid_i && !clear_all) begin
          index_q <= flush_first_i[19:4];
          state_q <= DROP;
        end
      end
      LOOK: begin
        wait_q <= wait_q + 2'd1;
        if (wait_q == 2'd1) state_q <= FOUND;
      end
      FOUND: begin
        wait_q <= '0;
        cached_q <= 1'b1;
        pte_q <= first_q ? word_line[32*vpn_i[13:10]+:32] : word_line[32*vpn_i[3:0]+:32];
        line_q <= {root_i, vpn_i[19:14]};
        first_q <= hit ? first_q : 1'b1;
        state_q <= hit ? DECODE : first_q ? READ : LOOK;
      end
      READ: if (read_ready_i) state_q <= DATA;
      DATA:
      if (data_valid_i) begin
        cached_q <= 1'b0;
        bus_fault_q <= data_fault_i;
        pte_q <= first_q ? word_line[32*vpn_i[13:10]+:32] : word_line[32*vpn_i[3:0]+:32];
        state_q <= DECODE;
      end
      DECODE: begin
        line_q <= {root_i, vpn_i[19:14]};
        state_q <= IDLE;
        if (!done_o && pointer) begin
          line_q <= {pte_q[31:10], vpn_i[9:4]};
          first_q <= 1'b0;
          state_q <= READ;
        end else if (!done_o) begin
          first_q <= 1'b1;
          state_q <= READ;
        end
      end
      default: begin  // DROP
        index_q <= index_q + 16'd1;
        if (drop_end) begin
          first_q <= 1'b1;
          index_q <= {10'b0, flush_first_i[19:14]};
          if (first_q) state_q <= IDLE;
        end
      end
    endcase
    if (rst_i) state_q <= IDLE;
  end

  logic unused;
  assign unused = &{1'b0, flush_last};
endmodule
