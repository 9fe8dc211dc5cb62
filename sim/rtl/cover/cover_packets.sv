// SPDX-License-Identifier: Apache-2.0
// Packets, faults and preemption, as coverage points. Bound into command_processor only by the coverage build.

module cover_packets (
    input  logic                   clk_i,
    input  logic [3:0]             state_q,
    input  logic                   begins_q,
    input  logic [7:0]             opcode,
    input  logic                   cut,
    input  logic                   stop_i,
    input  logic                   head_valid_i,
    input  tern_pkg::submission_t  head_i,
    input  logic [1:0]             kind_q,
    input  logic [7:0]            fault_q,
    input  logic                   fence_stopped,
    input  tern_pkg::exec_status_t exec_status_i,
    input  tern_pkg::exec_cmd_t    exec_cmd_o,
    input  logic                   restores_q,
    input  logic [1:0]             number,
    input  tern_pkg::exec_control_t exec_o,
    input  logic                   x_saved,
    input  logic                   x_lost,
    input  logic                   x_dropped,
    input  logic                   x_settled,
    input  logic [31:0]            offset_q
);
  localparam logic [3:0] S_IDLE = 4'd0, S_BEGIN = 4'd1, S_BOUNDARY = 4'd3, S_DECIDE = 4'd7, S_EXEC = 4'd9,
    S_FENCE = 4'd10, S_INDICATE = 4'd15;

  logic runs, ends, refused, unused;
  assign unused = &{1'b0, head_i, exec_status_i, exec_cmd_o, exec_o};  // Most fields are not covered.
  assign runs = state_q == S_DECIDE;
  assign ends = state_q == S_INDICATE;
  assign refused = ends && kind_q == tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_FAULTED;

  packet_nop:        cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_NOP);
  packet_dispatch:   cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_DISPATCH);
  packet_copy:       cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_COPY);
  packet_fill:       cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_FILL);
  packet_signal:     cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_FENCE_SIGNAL);
  packet_wait:       cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_FENCE_WAIT);
  packet_timestamp:  cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_TIMESTAMP);
  packet_barrier:    cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_BARRIER);
  packet_user_call:  cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_USER_CALL);
  packet_pte_update: cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_PTE_UPDATE);
  packet_pte_copy:   cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_PTE_COPY);
  packet_tlb_flush:  cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_TLB_FLUSH);
  packet_init:       cover property (@(posedge clk_i) runs && opcode == tern_spec_pkg::PKT_CONTEXT_INIT);
  in_paging_buffer:  cover property (@(posedge clk_i) runs && head_i.paging);
  null_submission:   cover property (@(posedge clk_i) state_q == S_BEGIN && head_i.is_null);
  resumed:           cover property (@(posedge clk_i) state_q == S_BEGIN && head_i.resume);
  resumed_inside:    cover property (@(posedge clk_i) state_q == S_BOUNDARY && head_i.resume && offset_q != '0);
  cut_between:       cover property (@(posedge clk_i) state_q == S_BOUNDARY && cut);
  cut_in_a_wait:     cover property (@(posedge clk_i) state_q == S_FENCE && fence_stopped);
  stop_while_running:cover property (@(posedge clk_i) state_q == S_EXEC && stop_i);
  stop_at_a_packet:  cover property (@(posedge clk_i) state_q == S_EXEC && cut && exec_o.stop == '0);
  cut_in_dispatch:   cover property (@(posedge clk_i) x_saved && number == 2'(tern_spec_pkg::CTX_EXECUTOR_SIMT));
  cut_in_copy:       cover property (@(posedge clk_i) x_saved && number == 2'(tern_spec_pkg::CTX_EXECUTOR_MOVER));
  cut_in_user_call:  cover property (@(posedge clk_i) x_saved && number == 2'(tern_spec_pkg::CTX_EXECUTOR_USER));
  restored_dispatch: cover property (@(posedge clk_i) state_q == S_EXEC && begins_q && restores_q &&
                                     number == 2'(tern_spec_pkg::CTX_EXECUTOR_SIMT));
  restored_copy:     cover property (@(posedge clk_i) state_q == S_EXEC && begins_q && restores_q &&
                                     number == 2'(tern_spec_pkg::CTX_EXECUTOR_MOVER));
  restored_user_call:cover property (@(posedge clk_i) state_q == S_EXEC && begins_q && restores_q &&
                                     number == 2'(tern_spec_pkg::CTX_EXECUTOR_USER));
  cut_before_restore:cover property (@(posedge clk_i) state_q == S_BOUNDARY && cut && restores_q);
  state_lost:        cover property (@(posedge clk_i) x_lost);
  cut_in_restore:    cover property (@(posedge clk_i) x_dropped);
  read_ahead_in_vain:cover property (@(posedge clk_i) state_q == S_INDICATE && !x_settled);
  cancelled_waiting: cover property (@(posedge clk_i) state_q == S_IDLE && head_valid_i && stop_i);
  scrub:             cover property (@(posedge clk_i) state_q == S_EXEC && begins_q && exec_cmd_o.scrub &&
                                     opcode == tern_spec_pkg::PKT_DISPATCH);
  completed:         cover property (@(posedge clk_i) ends &&
                                     kind_q == tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_COMPLETED);
  preempted:         cover property (@(posedge clk_i) ends &&
                                     kind_q == tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_PREEMPTED);
  executor_fault:    cover property (@(posedge clk_i) exec_status_i.faulted);
  fault_page:        cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_PAGE);
  fault_protection:  cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_PROTECTION);
  fault_malformed:   cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_PTE_MALFORMED);
  fault_illegal:     cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_ILLEGAL_INSTRUCTION);
  fault_misaligned:  cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_MISALIGNED);
  fault_stack:       cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_STACK_OVERFLOW);
  fault_local:       cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_LOCAL_OVERRUN);
  fault_divergence:  cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_BARRIER_DIVERGENCE);
  fault_ecall:       cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_ENVIRONMENT_CALL);
  fault_unknown:     cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_PACKET_UNKNOWN);
  fault_reserved:    cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_PACKET_RESERVED);
  fault_privileged:  cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_PACKET_PRIVILEGED);
  fault_bounds:      cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_PACKET_BOUNDS);
  fault_buffer:      cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_BUFFER_MALFORMED);
  fault_bus:         cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_BUS_ERROR);
  fault_context:     cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_CONTEXT_INVALID);
  fault_user:        cover property (@(posedge clk_i) refused && fault_q == tern_spec_pkg::FAULT_EXECUTOR);

endmodule

bind command_processor cover_packets u_cover (.*);
