// SPDX-License-Identifier: Apache-2.0
// The registers of one engine (docs/spec/registers.yaml, block engine): submission, commands, indications, counters.
//
// Contract: write_i is one write of wdata_i to addr_i and is always taken. A read keeps addr_i for two cycles: in the
// second one rdata_o has the register. A write to an ro register has no effect; wo registers and unused addresses read
// zero. A command leaves as a pulse, one cycle after the write. The doorbell submits the values that the submission
// registers have; they keep them.
// The first cycle of a read looks up counters, words of the indication, and what a debugger sees of a warp, whose logic
// is deep. The second one selects the register.
// Preemption: no state is saved. A reset of the engine does not change the writable registers.
module engine_regs (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic                  write_i,
    input  logic [9:0]            addr_i,      // Byte offset in the block.
    input  logic [31:0]           wdata_i,
    output logic [31:0]           rdata_o,
    output logic                  doorbell_o,  // This and the commands are pulses.
    output tern_pkg::submission_t submission_o,
    output logic                  reset_o,
    output logic                  preempt_o,
    output logic [1:0]            granularity_o,
    output logic                  pop_o,
    // Values of the register status.
    input  logic [1:0]            queued_i,
    input  logic                  busy_i,
    input  logic                  stopping_i,
    input  logic                  resetting_i,
    input  logic                  refused_i,
    input  logic [2:0]            indications_i,
    input  tern_pkg::indication_t ind_i,       // The oldest.
    // Registers for a crash dump; a fence of zero: no buffer.
    input  logic [63:0]           run_fence_i,
    input  logic [31:0]           run_offset_i,
    input  logic [31:0]           run_packet_i,
    input  logic [63:0]           next_fence_i,
    output logic [5:0]            dbg_warp_o,
    input  logic [31:0]           dbg_pc_i,
    input  logic [31:0]           dbg_lanes_i,
    output logic [4:0]            counter_o,   // Number of the counter that counter_i has.
    input  logic [63:0]           counter_i
);
  logic [63:0] fence_q, buffer_q;
  logic [31:0] size_q, root_q, context_q, save_q, flags_q;
  tern_spec_pkg::reg_engine_sub_flags_t flags;
  tern_spec_pkg::reg_engine_command_t command;
  tern_spec_pkg::reg_engine_status_t status;
  tern_spec_pkg::reg_engine_ind_info_t info;
  logic doorbell_q, reset_q, preempt_q, pop_q, unused;
  logic [1:0] granularity_q;
  logic [5:0] dbg_warp_q;
  logic [13:0] addr;
  logic [31:0] counter_q, word_q, dbg_pc_q, dbg_lanes_q;  // Looked up in the cycle before.
  logic [319:0] low_words;
  logic [511:0] words;  // Indication, in the order of its registers.

  assign addr = {4'b0, addr_i};
  assign command = wdata_i;
  assign flags = flags_q;
  assign unused = &{1'b0, command.reserved_4, flags.reserved_3};
  always_comb begin
    status = '0;
    status.queued = queued_i;
    status.busy = busy_i;
    status.stopping = stopping_i;
    status.reset = resetting_i;
    status.refused = refused_i;
    status.indications = indications_i;
  end
  always_comb begin
    info = '0;
    info.warp = ind_i.fault.warp;
    info.lane = ind_i.fault.lane;
    info.fault = ind_i.fault.code;
    info.access = ind_i.fault.access;
    info.kind = ind_i.kind;
  end
  assign doorbell_o = doorbell_q;
  assign reset_o = reset_q;
  assign preempt_o = preempt_q;
  assign granularity_o = granularity_q;
  assign pop_o = pop_q;
  assign submission_o.is_null = flags.null_;
  assign submission_o.resume = flags.resume;
  assign submission_o.paging = flags.paging;
  assign submission_o.save = save_q[21:0];
  assign submission_o.root = root_q[21:0];
  assign submission_o.size = size_q;
  assign submission_o.buffer = buffer_q;
  assign submission_o.fence = fence_q;
  assign counter_o = addr_i[7:3];
  assign dbg_warp_o = dbg_warp_q;

  always_ff @(posedge clk_i) begin
    doorbell_q <= 1'b0;
    reset_q <= 1'b0;
    preempt_q <= 1'b0;
    pop_q <= 1'b0;
    if (write_i) begin
      case (addr)
        tern_spec_pkg::REG_ENGINE_COMMAND: begin
          reset_q <= command.reset;
          preempt_q <= command.preempt;
          granularity_q <= command.granularity;
        end
        tern_spec_pkg::REG_ENGINE_SUB_FENCE_LO: fence_q[31:0] <= wdata_i;
        tern_spec_pkg::REG_ENGINE_SUB_FENCE_HI: fence_q[63:32] <= wdata_i;
        tern_spec_pkg::REG_ENGINE_SUB_BUFFER_LO: buffer_q[31:0] <= wdata_i;
        tern_spec_pkg::REG_ENGINE_SUB_BUFFER_HI: buffer_q[63:32] <= wdata_i;
        tern_spec_pkg::REG_ENGINE_SUB_SIZE: size_q <= wdata_i;
        tern_spec_pkg::REG_ENGINE_SUB_ROOT: root_q <= wdata_i;
        tern_spec_pkg::REG_ENGINE_SUB_CONTEXT: context_q <= wdata_i;
        tern_spec_pkg::REG_ENGINE_SUB_SAVE: save_q <= wdata_i;
        tern_spec_pkg::REG_ENGINE_SUB_FLAGS: flags_q <= wdata_i;
        tern_spec_pkg::REG_ENGINE_SUB_DOORBELL: doorbell_q <= 1'b1;
        tern_spec_pkg::REG_ENGINE_IND_POP: pop_q <= 1'b1;
        tern_spec_pkg::REG_ENGINE_DBG_WARP: dbg_warp_q <= wdata_i[5:0];
        default: ;
      endcase
    end
    if (rst_i) begin
      {fence_q, buffer_q, size_q, root_q, context_q, save_q, flags_q} <= '0;
      {doorbell_q, reset_q, preempt_q, pop_q} <= '0;
      dbg_warp_q <= '0;
    end
  end

  // Register ind_pop, which reads zero, lies between the times and the work-group.
  assign low_words = {ind_i.end_time, ind_i.begin_time, ind_i.offset, ind_i.fault.pc, ind_i.fault.va, ind_i.fence,
                      info};
  assign words = {64'b0, ind_i.fault.group, 32'b0, low_words};

  always_ff @(posedge clk_i) begin
    counter_q <= addr_i[2] ? counter_i[63:32] : counter_i[31:0];
    word_q <= |indications_i ? words[{addr_i[5:2], 5'b0}+:32] : '0;
    dbg_pc_q <= dbg_pc_i;
    dbg_lanes_q <= dbg_lanes_i;
  end

  always_comb begin
    rdata_o = '0;
    if (addr_i >= 10'h100) rdata_o = counter_q;
    else if (addr_i >= tern_spec_pkg::REG_ENGINE_IND_INFO[9:0] && addr_i < tern_spec_pkg::REG_ENGINE_RUN_FENCE_LO[9:0])
      rdata_o = word_q;
    else
      case (addr)
        tern_spec_pkg::REG_ENGINE_STATUS: rdata_o = status;
        tern_spec_pkg::REG_ENGINE_SUB_FENCE_LO: rdata_o = fence_q[31:0];
        tern_spec_pkg::REG_ENGINE_SUB_FENCE_HI: rdata_o = fence_q[63:32];
        tern_spec_pkg::REG_ENGINE_SUB_BUFFER_LO: rdata_o = buffer_q[31:0];
        tern_spec_pkg::REG_ENGINE_SUB_BUFFER_HI: rdata_o = buffer_q[63:32];
        tern_spec_pkg::REG_ENGINE_SUB_SIZE: rdata_o = size_q;
        tern_spec_pkg::REG_ENGINE_SUB_ROOT: rdata_o = root_q;
        tern_spec_pkg::REG_ENGINE_SUB_CONTEXT: rdata_o = context_q;
        tern_spec_pkg::REG_ENGINE_SUB_SAVE: rdata_o = save_q;
        tern_spec_pkg::REG_ENGINE_SUB_FLAGS: rdata_o = flags_q;
        tern_spec_pkg::REG_ENGINE_RUN_FENCE_LO: rdata_o = run_fence_i[31:0];
        tern_spec_pkg::REG_ENGINE_RUN_FENCE_HI: rdata_o = run_fence_i[63:32];
        tern_spec_pkg::REG_ENGINE_RUN_OFFSET: rdata_o = run_offset_i;
        tern_spec_pkg::REG_ENGINE_RUN_PACKET: rdata_o = run_packet_i;
        tern_spec_pkg::REG_ENGINE_NEXT_FENCE_LO: rdata_o = next_fence_i[31:0];
        tern_spec_pkg::REG_ENGINE_NEXT_FENCE_HI: rdata_o = next_fence_i[63:32];
        tern_spec_pkg::REG_ENGINE_DBG_WARP: rdata_o[5:0] = dbg_warp_q;
        tern_spec_pkg::REG_ENGINE_DBG_PC: rdata_o = dbg_pc_q;
        tern_spec_pkg::REG_ENGINE_DBG_LANES: rdata_o = dbg_lanes_q;
        default: ;
      endcase
  end
endmodule
