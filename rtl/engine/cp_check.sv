// SPDX-License-Identifier: Apache-2.0
// Decides whether a packet may run.
//
// Contract: check_i begins the check of packet_i. done_o is a pulse three cycles later. From then until the next check
// fault_o is the fault code, zero if the packet is well formed. Of several faults the first in this order is reported:
// unknown opcode, length or header bits, privilege, end of the buffer, fault of fetching the second line
// (second_fault_i), reserved bits, bounds. A dispatch is checked here for reserved bits only. The SIMT executor checks
// the geometry, whose limits it knows. second_o: the fault is that of fetching the second line. executor_o: the
// executor of the packet, coded as in the header of a save area; none stands for the command processor itself.
// Preemption: no state is saved.
module cp_check #(
    parameter bit SIMT = 1'b1,  // The engine has a SIMT executor; else a dispatch is an unknown opcode.
    parameter int USERS = tern_spec_pkg::USER_EXECUTORS  // User executors of the engine, those of the first ids.
) (
    input  logic          clk_i,
    input  logic          check_i,
    input  logic [1023:0] packet_i,
    input  logic          paging_i,    // The packet is in a paging buffer.
    input  logic          fits_two_i,  // At least two lines are left in the buffer.
    input  logic [7:0]    second_fault_i,
    output logic          done_o,
    output logic [7:0]    fault_o,
    output logic          second_o,
    output logic [1:0]    executor_o
);
  // The packet, as each of those of which fields are checked here.
  tern_spec_pkg::pkt_header_t header;
  tern_spec_pkg::pkt_copy_t copy;
  tern_spec_pkg::pkt_user_call_t user_call;
  tern_spec_pkg::pkt_pte_update_t pte_update;
  tern_spec_pkg::pkt_pte_copy_t pte_copy;
  tern_spec_pkg::pkt_tlb_flush_t tlb_flush;
  logic unused;
  assign header = packet_i[31:0];
  assign copy = packet_i[511:0];
  assign user_call = packet_i;
  assign pte_update = packet_i[511:0];
  assign pte_copy = packet_i[511:0];
  assign tlb_flush = packet_i[511:0];
  assign unused = &{1'b0, copy, user_call, pte_update, pte_copy, tlb_flush};

  // First cycle: each rule by itself, and the parts of the bounds.
  logic [7:0] opcode, lines;
  logic [1023:0] mask;
  logic [63:0] stray;
  logic known, privileged;
  logic [1:0] executor, executor_q;
  logic unknown_q, length_q, privileged_q, cut_q, two_q, check_q;
  logic [63:0] stray_q;

  logic [11:0] address, source;  // Offsets in their pages, in bytes.
  logic [10:0] count;
  logic high;
  logic [11:0] source_end_q, address_end_q;  // Ends in their tables, in entries.
  logic high_q, source_high_q, none_q, eight_q, four_q, address_four_q, user_q, flush_q;
  logic [7:0] opcode_q;

  always_ff @(posedge clk_i) begin
    check_q <= check_i;
    if (check_i) begin
      opcode = header.opcode;
      known = 1'b1;
      lines = 8'd1;
      privileged = 1'b0;
      executor = 2'(tern_spec_pkg::CTX_EXECUTOR_NONE);
      mask = '0;
      case (opcode)
        tern_spec_pkg::PKT_NOP: begin
          lines = tern_spec_pkg::PKT_NOP_LINES;
          mask = tern_spec_pkg::PKT_NOP_MASK;
        end
        tern_spec_pkg::PKT_DISPATCH: begin
          lines = tern_spec_pkg::PKT_DISPATCH_LINES;
          mask = tern_spec_pkg::PKT_DISPATCH_MASK;
          executor = 2'(tern_spec_pkg::CTX_EXECUTOR_SIMT);
          known = SIMT;
        end
        tern_spec_pkg::PKT_COPY: begin
          lines = tern_spec_pkg::PKT_COPY_LINES;
          mask = tern_spec_pkg::PKT_COPY_MASK;
          executor = 2'(tern_spec_pkg::CTX_EXECUTOR_MOVER);
        end
        tern_spec_pkg::PKT_FILL: begin
          lines = tern_spec_pkg::PKT_FILL_LINES;
          mask = tern_spec_pkg::PKT_FILL_MASK;
          executor = 2'(tern_spec_pkg::CTX_EXECUTOR_MOVER);
        end
        tern_spec_pkg::PKT_FENCE_SIGNAL: begin
          lines = tern_spec_pkg::PKT_FENCE_SIGNAL_LINES;
          mask = tern_spec_pkg::PKT_FENCE_SIGNAL_MASK;
        end
        tern_spec_pkg::PKT_FENCE_WAIT: begin
          lines = tern_spec_pkg::PKT_FENCE_WAIT_LINES;
          mask = tern_spec_pkg::PKT_FENCE_WAIT_MASK;
        end
        tern_spec_pkg::PKT_TIMESTAMP: begin
          lines = tern_spec_pkg::PKT_TIMESTAMP_LINES;
          mask = tern_spec_pkg::PKT_TIMESTAMP_MASK;
        end
        tern_spec_pkg::PKT_BARRIER: begin
          lines = tern_spec_pkg::PKT_BARRIER_LINES;
          mask = tern_spec_pkg::PKT_BARRIER_MASK;
        end
        tern_spec_pkg::PKT_USER_CALL: begin
          lines = tern_spec_pkg::PKT_USER_CALL_LINES;
          mask = tern_spec_pkg::PKT_USER_CALL_MASK;
          executor = 2'(tern_spec_pkg::CTX_EXECUTOR_USER);
        end
        tern_spec_pkg::PKT_PTE_UPDATE: begin
          lines = tern_spec_pkg::PKT_PTE_UPDATE_LINES;
          mask = tern_spec_pkg::PKT_PTE_UPDATE_MASK;
          privileged = 1'b1;
        end
        tern_spec_pkg::PKT_PTE_COPY: begin
          lines = tern_spec_pkg::PKT_PTE_COPY_LINES;
          mask = tern_spec_pkg::PKT_PTE_COPY_MASK;
          executor = 2'(tern_spec_pkg::CTX_EXECUTOR_MOVER);
          privileged = 1'b1;
        end
        tern_spec_pkg::PKT_TLB_FLUSH: begin
          lines = tern_spec_pkg::PKT_TLB_FLUSH_LINES;
          mask = tern_spec_pkg::PKT_TLB_FLUSH_MASK;
          privileged = 1'b1;
        end
        tern_spec_pkg::PKT_CONTEXT_INIT: begin
          lines = tern_spec_pkg::PKT_CONTEXT_INIT_LINES;
          mask = tern_spec_pkg::PKT_CONTEXT_INIT_MASK;
          privileged = 1'b1;
        end
        default: known = 1'b0;
      endcase
      mask = packet_i & ~mask;
      if (lines == 8'd1) mask[1023:512] = '0;  // The second line belongs to the next packet.
      for (int i = 0; i < 64; i++) stray[i] = |mask[16*i+:16];

      // Most packets have an address in words 1 and 2: pte_update its table, copy and pte_copy their source.
      source = copy.src_lo[11:0];
      address = copy.dst_lo[11:0];
      high = !paging_i && |copy.src_hi;
      count = opcode == tern_spec_pkg::PKT_PTE_COPY ? pte_copy.count :
          pte_update.count;
      opcode_q <= opcode;
      executor_q <= executor;
      source_end_q <= {2'b0, source[11:2]} + {1'b0, count};
      address_end_q <= {2'b0, address[11:2]} + {1'b0, count};
      source_high_q <= high;
      high_q <= !paging_i && |copy.dst_hi;
      none_q <= count == '0;
      four_q <= |source[1:0];
      eight_q <= |source[2:0];
      address_four_q <= |address[1:0];
      user_q <= USERS == 0 || user_call.executor > 8'((USERS == 0 ? 1 : USERS) - 1);
      flush_q <= tlb_flush.all && |{tlb_flush.root, tlb_flush.first, tlb_flush.count};

      unknown_q <= !known;
      length_q <= header.lines != lines || |header.reserved_16;
      privileged_q <= privileged && !paging_i;
      two_q <= lines == 8'd2;
      cut_q <= lines == 8'd2 && !fits_two_i;
      stray_q <= stray;
    end
  end

  // Second cycle: bounds and reserved bits as a whole. Third cycle: the first fault in the order of the contract.
  logic bounds_q, some_stray_q, check2_q, done_q, second_q, source_out, address_out;
  logic [7:0] fault_q;

  assign source_out = none_q || four_q || source_end_q > 12'd1024;
  assign address_out = address_four_q || address_end_q > 12'd1024;
  assign done_o = done_q;
  assign fault_o = fault_q;
  assign second_o = second_q;
  assign executor_o = executor_q;

  always_ff @(posedge clk_i) begin
    check2_q <= check_q;
    done_q <= check2_q;
    if (check_q) begin
      some_stray_q <= |stray_q;
      case (opcode_q)
        tern_spec_pkg::PKT_COPY: bounds_q <= source_high_q || high_q;
        tern_spec_pkg::PKT_FILL: bounds_q <= source_high_q;
        tern_spec_pkg::PKT_FENCE_SIGNAL, tern_spec_pkg::PKT_FENCE_WAIT, tern_spec_pkg::PKT_TIMESTAMP:
        bounds_q <= source_high_q || eight_q;
        tern_spec_pkg::PKT_USER_CALL: bounds_q <= user_q;
        tern_spec_pkg::PKT_PTE_UPDATE: bounds_q <= source_out;
        tern_spec_pkg::PKT_PTE_COPY: bounds_q <= source_out || address_out;
        tern_spec_pkg::PKT_TLB_FLUSH: bounds_q <= flush_q;
        default: bounds_q <= 1'b0;
      endcase
    end
    if (check2_q) begin
      second_q <= 1'b0;
      if (unknown_q) fault_q <= tern_spec_pkg::FAULT_PACKET_UNKNOWN;
      else if (length_q) fault_q <= tern_spec_pkg::FAULT_PACKET_RESERVED;
      else if (privileged_q) fault_q <= tern_spec_pkg::FAULT_PACKET_PRIVILEGED;
      else if (cut_q) fault_q <= tern_spec_pkg::FAULT_BUFFER_MALFORMED;
      else if (two_q && |second_fault_i) begin
        fault_q <= second_fault_i;
        second_q <= 1'b1;
      end else if (some_stray_q) fault_q <= tern_spec_pkg::FAULT_PACKET_RESERVED;
      else if (bounds_q) fault_q <= tern_spec_pkg::FAULT_PACKET_BOUNDS;
      else fault_q <= tern_spec_pkg::FAULT_NONE;
    end
  end
endmodule
