// SPDX-License-Identifier: Apache-2.0
// The sequencer of an engine: it takes submissions from the HW queue, runs their packets one after another, and
// indicates.
//
// Contract: each submission at the head of the HW queue is popped exactly once, together with its indication:
// completed, faulted (with the details of the first fault), or preempted. A fault ends only its buffer. The next buffer
// runs normally, since it may belong to another process. A packet runs when all packets before it have ended with their
// writes in memory.
// Preemption: a stop of granularity packet or finer cuts the running buffer at the next packet boundary, or in a
// fence_wait. Granularity group or instruction also cuts a packet that an executor runs (cp_execute). The executor's
// state is written to the context-save area and the header directly behind it. When memory has answered all writes, the
// buffer is indicated as preempted, with the offset of the packet to run next or to go on with. A submission that has
// not begun is popped as preempted, with offset and begin time zero; nothing is saved for it.
// Resume: a resumed buffer starts at the offset in its save area. The executor's state is read ahead while the packet
// is fetched. If a stop comes before the executor has its whole state, the buffer is indicated with the offset of its
// save area, which is still valid.
//
// The units (fetch, check, fence, pte, context, execute) work one at a time, except for the reading ahead, and share
// one memory channel without an arbiter. Tag bit 6 is clear for cp_execute. A pipeline over packets would save a fetch
// of about 80 cycles for each, but would have to find out whether a packet writes the one behind it.
module command_processor #(
    parameter int SAVE_LINES = 200,  // Lines of the largest context-save area.
    parameter bit SIMT = 1'b1,       // The engine has a SIMT executor.
    parameter int USERS = tern_spec_pkg::USER_EXECUTORS  // User executors of the engine, those of the first ids.
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  logic [63:0]            time_i,         // Device time in cycles.
    // Submission at the head of the HW queue. Root and paging also go to the MMU.
    input  logic                   head_valid_i,
    input  tern_pkg::submission_t  head_i,
    // Indication. ind_valid_o is a pulse, which also pops the head.
    output logic                   ind_valid_o,
    output tern_pkg::indication_t  ind_o,
    // Preemption.
    input  logic                   stop_i,         // Level: stop at granularity stop_gran_i.
    input  logic [1:0]             stop_gran_i,
    output logic                   busy_o,
    // Executors.
    output tern_pkg::exec_control_t exec_o,
    input  logic [2:0]             exec_ready_i,   // Bit 0 SIMT, bit 1 mover, bit 2 user.
    output tern_pkg::exec_cmd_t    exec_cmd_o,
    output logic                   exec_flush_o,
    input  tern_pkg::exec_status_t exec_status_i,
    input  logic                   save_valid_i,
    output logic                   save_ready_o,
    input  tern_pkg::exec_line_t   save_i,
    output logic                   restore_valid_o,
    input  logic                   restore_ready_i,
    output tern_pkg::exec_line_t   restore_o,
    // Flush of translations in the MMU.
    output logic                   flush_valid_o,
    input  logic                   flush_ready_i,
    output logic                   flush_all_o,
    output logic [21:0]            flush_root_o,
    output logic [19:0]            flush_first_o,
    output logic [20:0]            flush_count_o,
    // Memory channel. req_phys_o: the address is physical, whatever the address space of the buffer.
    output logic                   req_valid_o,
    input  logic                   req_ready_i,
    output tern_pkg::mem_req_t     req_o,
    output logic                   req_phys_o,
    output logic [7:0]             req_tag_o,
    input  logic                   rsp_valid_i,
    input  logic [7:0]             rsp_tag_i,
    input  tern_pkg::mem_rsp_t     rsp_i
);
  localparam int LIST_LINES = ((SAVE_LINES + 63) / 64 + 14) / 16;  // The list has an entry for each page but the first.
  // States. BEGIN checks the submission, and LOAD reads the header of its save area. BOUNDARY is between two packets.
  // FETCH, CHECK and CHECK2 read and check a packet, and DECIDE chooses the unit that runs it. EXEC, FENCE, PTE, TLB
  // and INIT wait for that unit. SAVE writes the header of a buffer that is cut. INDICATE pops the submission.
  localparam logic [3:0] S_IDLE = 4'd0, S_BEGIN = 4'd1, S_LOAD = 4'd2, S_BOUNDARY = 4'd3, S_FETCH = 4'd4,
      S_CHECK = 4'd5, S_CHECK2 = 4'd6, S_DECIDE = 4'd7, S_EXEC = 4'd9, S_FENCE = 4'd10, S_PTE = 4'd11,
      S_TLB = 4'd12, S_INIT = 4'd13, S_SAVE = 4'd14, S_INDICATE = 4'd15;

  logic [3:0] state_q;
  logic [31:0] offset_q, next_offset;
  logic [63:0] begin_q;
  logic [1:0] kind_q, access_q;
  logic [7:0] fault_q;
  logic [5:0] lane_q, warp_q;
  logic [95:0] group_q;
  logic [31:0] va_q, pc_q;
  logic [1:0] number;  // Executor of the packet, as in a save header; 0: none.
  logic restores_q;    // The next packet goes on from a saved state.
  logic begins_q;      // First cycle of a state: its unit starts.
  logic flush_q, cut;

  logic fetch_done, fence_done, fence_stopped, fence_fault, pte_done, pte_fault, ctx_done, ctx_fault, check_second,
    check_done;
  logic [1023:0] packet;
  // The packet, as each of those that units of the command processor run.
  tern_spec_pkg::pkt_header_t header;
  tern_spec_pkg::pkt_fence_signal_t signal;
  tern_spec_pkg::pkt_pte_update_t pte_update;
  tern_spec_pkg::pkt_tlb_flush_t tlb_flush;
  tern_spec_pkg::pkt_context_init_t context_init;
  logic unused;
  logic [15:0] fetch_fault;
  logic [7:0] check_fault, fence_code, pte_code, ctx_code, x_code, opcode;
  logic [31:0] pte_va, ctx_offset;
  logic [1:0] ctx_executor;
  logic [15:0] ctx_lines, x_lines;
  logic x_saved, x_lost, x_dropped, x_settled, x_bad, fits_two;
  logic [33:0] here, operand;

  assign header = packet[31:0];
  assign signal = packet[511:0];
  assign pte_update = packet[511:0];
  assign tlb_flush = packet[511:0];
  assign context_init = packet[511:0];
  assign unused = &{1'b0, header, signal, pte_update, tlb_flush, context_init};
  assign cut = stop_i && |stop_gran_i;
  assign opcode = header.opcode;
  assign here = head_i.buffer[33:0] + {2'b0, offset_q};
  assign operand = {signal.address_hi, signal.address_lo};  // Words 1 and 2: the address, in packets that have one.
  assign next_offset = offset_q + {23'b0, header.lines[2:0], 6'b0};
  assign fits_two = offset_q + 32'd64 != head_i.size;

  // A fault of the packet itself has no address; every other fault has one.
  task automatic refuse(input logic [7:0] code);
    kind_q <= tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_FAULTED;
    fault_q <= code;
    state_q <= S_INDICATE;
  endtask
  task automatic refuse_access(input logic [7:0] code, input logic [1:0] what, input logic [31:0] va);
    refuse(code);
    access_q <= what;
    va_q <= va;
  endtask
  task automatic refuse_save(input logic [7:0] code, input logic [1:0] what);
    refuse_access(code, what, {head_i.save[19:0], 12'b0});
  endtask
  task automatic packet_ended();
    offset_q <= next_offset;
    state_q <= S_BOUNDARY;
    if (next_offset == head_i.size) begin
      kind_q <= tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_COMPLETED;
      state_q <= S_INDICATE;
    end
  endtask
  always_ff @(posedge clk_i) begin
    begins_q <= 1'b0;
    flush_q <= 1'b0;
    case (state_q)
      S_IDLE: begin
        kind_q <= tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_PREEMPTED;
        access_q <= '0;
        fault_q <= '0;
        {lane_q, warp_q, group_q, va_q, pc_q} <= '0;
        offset_q <= '0;
        begin_q <= stop_i ? '0 : time_i;
        restores_q <= 1'b0;
        if (head_valid_i) state_q <= stop_i ? S_INDICATE : S_BEGIN;
      end
      S_BEGIN:
      if (head_i.is_null) begin
        kind_q <= tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_COMPLETED;
        state_q <= S_INDICATE;
      end else if (head_i.size == '0 || |head_i.size[5:0] || |head_i.buffer[5:0] || |head_i.buffer[63:34] ||
          (!head_i.paging && |head_i.buffer[33:32]))
        refuse(tern_spec_pkg::FAULT_BUFFER_MALFORMED);
      else begin
        state_q <= head_i.resume ? S_LOAD : S_BOUNDARY;
        begins_q <= 1'b1;
      end
      S_LOAD:
      if (!begins_q && ctx_fault) begin
        if (ctx_code == tern_spec_pkg::FAULT_CONTEXT_INVALID) refuse(ctx_code);
        else refuse_save(ctx_code, 2'd0);
      end else if (!begins_q && ctx_done) begin
        if (|ctx_offset[5:0] || ctx_offset >= head_i.size) refuse(tern_spec_pkg::FAULT_CONTEXT_INVALID);
        else begin
          offset_q <= ctx_offset;
          restores_q <= |ctx_executor;
          state_q <= S_BOUNDARY;
          begins_q <= 1'b1;
        end
      end
      S_BOUNDARY: begin
        state_q <= !cut ? S_FETCH : restores_q ? S_INDICATE : S_SAVE;
        begins_q <= 1'b1;
      end
      S_FETCH:
      if (fetch_done) begin
        if (|fetch_fault[7:0]) refuse_access(fetch_fault[7:0], 2'd0, here[31:0]);
        else state_q <= S_CHECK;
      end
      S_CHECK: state_q <= S_CHECK2;
      S_CHECK2: if (check_done) state_q <= S_DECIDE;
      S_DECIDE: begin
        begins_q <= 1'b1;
        flush_q <= opcode == tern_spec_pkg::PKT_DISPATCH || opcode == tern_spec_pkg::PKT_BARRIER ||
            opcode == tern_spec_pkg::PKT_TLB_FLUSH;
        if (check_second) refuse_access(check_fault, 2'd0, here[31:0] + 32'd64);
        else if (|check_fault) refuse(check_fault);
        else if (restores_q && ctx_executor != number) refuse(tern_spec_pkg::FAULT_CONTEXT_INVALID);
        else if (|number) state_q <= S_EXEC;
        else
          case (opcode)
            tern_spec_pkg::PKT_FENCE_SIGNAL, tern_spec_pkg::PKT_FENCE_WAIT, tern_spec_pkg::PKT_TIMESTAMP:
            state_q <= S_FENCE;
            tern_spec_pkg::PKT_PTE_UPDATE: state_q <= S_PTE;
            tern_spec_pkg::PKT_TLB_FLUSH: state_q <= S_TLB;
            tern_spec_pkg::PKT_CONTEXT_INIT: state_q <= S_INIT;
            default: packet_ended();  // Packets nop and barrier.
          endcase
      end
      S_EXEC: begin
        restores_q <= 1'b0;
        if (exec_status_i.faulted || (exec_status_i.stopped && exec_status_i.page_request)) begin
          fault_q <= exec_status_i.fault.code;
          access_q <= exec_status_i.fault.access;
          va_q <= exec_status_i.fault.va;
          pc_q <= exec_status_i.fault.pc;
          warp_q <= exec_status_i.fault.warp;
          group_q <= exec_status_i.fault.group;
          lane_q <= exec_status_i.fault.lane;
        end
        if (exec_status_i.done) packet_ended();
        else if (exec_status_i.faulted)
          refuse_access(exec_status_i.fault.code, exec_status_i.fault.access, exec_status_i.fault.va);
        else if (x_lost) refuse_save(x_code, 2'd0);
        else if (x_dropped) state_q <= S_INDICATE;
        else if (x_saved) begin
          state_q <= S_SAVE;
          begins_q <= 1'b1;
        end
      end
      S_FENCE:
      if (fence_fault) refuse_access(fence_code, {1'b0, opcode != tern_spec_pkg::PKT_FENCE_WAIT}, operand[31:0]);
      else if (fence_stopped) begin
        state_q <= S_SAVE;
        begins_q <= 1'b1;
      end else if (fence_done) packet_ended();
      S_PTE:
      if (pte_fault) refuse_access(pte_code, 2'd1, pte_va);
      else if (pte_done) packet_ended();
      S_TLB: if (flush_ready_i) packet_ended();
      S_INIT:
      if (!begins_q && ctx_fault)
        refuse_access(ctx_code, 2'd1, {context_init.save[19:0], 12'b0});
      else if (!begins_q && ctx_done) packet_ended();
      S_SAVE:
      if (!begins_q && x_settled && (ctx_fault || ctx_done)) begin
        if (ctx_fault || x_bad) begin
          refuse_save(ctx_fault ? ctx_code : x_code, 2'd1);
          {lane_q, warp_q, group_q, pc_q} <= '0;
        end else begin
          kind_q <= tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_PREEMPTED;
          state_q <= S_INDICATE;
        end
      end
      default: if (x_settled) state_q <= S_IDLE;  // S_INDICATE: one cycle, or until lines read ahead in vain have come.
    endcase
    if (rst_i) begin
      state_q <= S_IDLE;
      begins_q <= 1'b0;
      flush_q <= 1'b0;
    end
  end

  assign busy_o = state_q != S_IDLE;
  assign ind_valid_o = state_q == S_INDICATE && x_settled;
  always_comb begin
    ind_o.kind = kind_q;
    ind_o.fault.code = fault_q;
    ind_o.fault.access = access_q;
    ind_o.fault.lane = lane_q;
    ind_o.fault.warp = warp_q;
    ind_o.fault.va = va_q;
    ind_o.fault.pc = pc_q;
    ind_o.fault.group = group_q;
    ind_o.fence = head_i.fence;
    ind_o.offset = offset_q;
    ind_o.begin_time = begin_q;
    ind_o.end_time = time_i;
  end

  assign exec_cmd_o.packet = packet;
  assign exec_flush_o = flush_q;

  assign flush_valid_o = state_q == S_TLB;
  assign flush_all_o = tlb_flush.all;
  assign flush_root_o = tlb_flush.root;
  assign flush_first_o = tlb_flush.first;
  assign flush_count_o = tlb_flush.count;

  // Memory channel: it belongs to the unit that works in this state.
  logic fetch_valid, fence_valid, pte_valid, ctx_valid, x_valid, x_ready, fence_write, ctx_write, x_write,
    fetch_tag, unit_rsp;
  logic [27:0] fetch_line, fence_line, pte_line, ctx_line, x_line;
  logic [511:0] fence_wdata, pte_wdata, ctx_wdata, x_wdata;
  logic [63:0] fence_be, pte_be;
  logic [5:0] pte_tag;
  logic [6:0] x_tag;
  assign unit_rsp = rsp_valid_i && rsp_tag_i[6];

  always_comb begin
    req_valid_o = x_valid;
    req_o = '0;  // amo: no request is atomic
    req_o.op = x_write ? tern_pkg::MEM_WRITE : tern_pkg::MEM_READ;
    req_phys_o = 1'b1;
    req_o.line = x_line;
    req_o.wdata = x_wdata;
    req_o.be = '1;
    req_tag_o = {x_tag[6], 1'b0, x_tag[5:0]};
    x_ready = 1'b0;
    case (state_q)
      S_FENCE: begin
        req_valid_o = fence_valid;
        req_o.op = fence_write ? tern_pkg::MEM_WRITE : tern_pkg::MEM_READ;
        req_phys_o = 1'b0;
        req_o.line = fence_line;
        req_o.wdata = fence_wdata;
        req_o.be = fence_be;
        req_tag_o = 8'h40;
      end
      S_PTE: begin
        req_valid_o = pte_valid;
        req_o.op = tern_pkg::MEM_WRITE;
        req_phys_o = 1'b0;
        req_o.line = pte_line;
        req_o.wdata = pte_wdata;
        req_o.be = pte_be;
        req_tag_o = {2'b01, pte_tag};
      end
      S_LOAD, S_INIT, S_SAVE: begin
        req_valid_o = ctx_valid;
        req_o.op = ctx_write ? tern_pkg::MEM_WRITE : tern_pkg::MEM_READ;
        req_o.line = ctx_line;
        req_o.wdata = ctx_wdata;
        req_tag_o = 8'h40;
      end
      default:
      if (fetch_valid) begin
        req_valid_o = 1'b1;
        req_o.op = tern_pkg::MEM_READ;
        req_phys_o = 1'b0;
        req_o.line = fetch_line;
        req_tag_o = {7'b0100000, fetch_tag};
      end else x_ready = req_ready_i;
    endcase
  end

  cp_fetch u_fetch (
      .clk_i,
      .rst_i,
      .start_i(begins_q && state_q == S_FETCH),
      .line_i(here[33:6]),
      .second_i(fits_two),
      .done_o(fetch_done),
      .packet_o(packet),
      .fault_o(fetch_fault),
      .req_valid_o(fetch_valid),
      .req_ready_i,
      .req_line_o(fetch_line),
      .req_tag_o(fetch_tag),
      .rsp_valid_i(unit_rsp && state_q == S_FETCH),
      .rsp_tag_i(rsp_tag_i[0]),
      .rsp_data_i(rsp_i.data),
      .rsp_fault_i(rsp_i.fault)
  );
  cp_check #(.SIMT(SIMT), .USERS(USERS)) u_check (
      .clk_i,
      .check_i(state_q == S_CHECK),
      .packet_i(packet),
      .paging_i(head_i.paging),
      .fits_two_i(fits_two),
      .second_fault_i(fetch_fault[15:8]),
      .done_o(check_done),
      .fault_o(check_fault),
      .second_o(check_second),
      .executor_o(number)
  );
  cp_fence u_fence (
      .clk_i,
      .rst_i,
      .start_i(begins_q && state_q == S_FENCE),
      .wait_i(opcode == tern_spec_pkg::PKT_FENCE_WAIT),
      .address_i(operand[33:3]),
      .value_i(opcode == tern_spec_pkg::PKT_TIMESTAMP ? time_i : {signal.value_hi, signal.value_lo}),
      .stop_i(cut),
      .done_o(fence_done),
      .stopped_o(fence_stopped),
      .fault_o(fence_fault),
      .fault_code_o(fence_code),
      .req_valid_o(fence_valid),
      .req_ready_i,
      .req_write_o(fence_write),
      .req_line_o(fence_line),
      .req_wdata_o(fence_wdata),
      .req_be_o(fence_be),
      .rsp_valid_i(unit_rsp && state_q == S_FENCE),
      .rsp_data_i(rsp_i.data),
      .rsp_fault_i(rsp_i.fault)
  );
  cp_pte u_pte (
      .clk_i,
      .rst_i,
      .start_i(begins_q && state_q == S_PTE),
      .table_i(operand[33:2]),
      .count_i(pte_update.count),
      .pte_i(pte_update.pte),
      .step_i(pte_update.step),
      .done_o(pte_done),
      .fault_o(pte_fault),
      .fault_code_o(pte_code),
      .fault_va_o(pte_va),
      .req_valid_o(pte_valid),
      .req_ready_i,
      .req_line_o(pte_line),
      .req_wdata_o(pte_wdata),
      .req_be_o(pte_be),
      .req_tag_o(pte_tag),
      .rsp_valid_i(unit_rsp && state_q == S_PTE),
      .rsp_tag_i(rsp_tag_i[5:0]),
      .rsp_fault_i(rsp_i.fault)
  );
  cp_context #(.SAVE_LINES(SAVE_LINES - LIST_LINES)) u_context (
      .clk_i,
      .rst_i,
      .start_i(begins_q && (state_q == S_LOAD || state_q == S_INIT || state_q == S_SAVE)),
      .op_i(state_q == S_INIT ? 2'd0 : state_q == S_SAVE ? 2'd1 : 2'd2),
      .page_i(state_q == S_INIT ? context_init.save : head_i.save),
      .offset_i(offset_q),
      .executor_i(|x_lines ? number : '0),
      .lines_i(x_lines),
      .done_o(ctx_done),
      .fault_o(ctx_fault),
      .fault_code_o(ctx_code),
      .offset_o(ctx_offset),
      .executor_o(ctx_executor),
      .lines_o(ctx_lines),
      .req_valid_o(ctx_valid),
      .req_ready_i,
      .req_write_o(ctx_write),
      .req_line_o(ctx_line),
      .req_wdata_o(ctx_wdata),
      .rsp_valid_i(unit_rsp),
      .rsp_data_i(rsp_i.data),
      .rsp_fault_i(rsp_i.fault)
  );
  cp_execute #(.LIST_LINES(LIST_LINES)) u_execute (
      .clk_i,
      .rst_i,
      .fetch_i(begins_q && state_q == S_BOUNDARY && restores_q && !cut),
      .go_i(state_q != S_BOUNDARY && !(state_q == S_FETCH && (begins_q || fetch_valid))),
      .head_i,
      .lines_i(ctx_lines),
      .start_i(begins_q && state_q == S_EXEC),
      .resume_i(restores_q),
      .exec_i({number == 2'd3, number == 2'd2, number == 2'd1}),
      .forget_i(flush_valid_o && (flush_all_o || flush_count_o == '0)),
      .clear_i(state_q == S_INDICATE || state_q == S_IDLE),
      .saved_o(x_saved),
      .lost_o(x_lost),
      .dropped_o(x_dropped),
      .settled_o(x_settled),
      .bad_o(x_bad),
      .code_o(x_code),
      .lines_o(x_lines),
      .stop_i(stop_i && stop_gran_i[1]),
      .exec_o,
      .exec_ready_i,
      .exec_resume_o(exec_cmd_o.resume),
      .exec_scrub_o(exec_cmd_o.scrub),
      .exec_ended_i(exec_status_i.done || exec_status_i.faulted),
      .exec_stopped_i(exec_status_i.stopped),
      .save_valid_i,
      .save_ready_o,
      .save_i,
      .restore_valid_o,
      .restore_ready_i,
      .restore_o,
      .req_valid_o(x_valid),
      .req_ready_i(x_ready),
      .req_write_o(x_write),
      .req_line_o(x_line),
      .req_wdata_o(x_wdata),
      .req_tag_o(x_tag),
      .rsp_valid_i(rsp_valid_i && !rsp_tag_i[6]),
      .rsp_tag_i({rsp_tag_i[7], rsp_tag_i[5:0]}),
      .rsp_i
  );
endmodule
