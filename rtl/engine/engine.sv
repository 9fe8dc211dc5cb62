// SPDX-License-Identifier: Apache-2.0
// One engine: HW queue, command processor, executors, MMU and indications. Every engine is independent of the others
// (C7).
//
// Contract: a block of registers (engine_regs), and one channel to physical memory. irq_o: an indication waits. idle_o:
// no buffer is queued or running, and nothing is in flight. A preemption request (engine_stop) holds until the HW queue
// is empty, so a submission behind the buffer that is cut is cancelled (P3). A reset (engine_reset) ends with an empty
// HW queue; indications stay.
// Preemption: the command processor saves the header of the context-save area and, if a packet is cut, the state of its
// executor. No other state outlives a packet.
module engine #(
    parameter int LANES    = 16,               // Lanes of a warp; 0: no SIMT executor.
    parameter int WARPS    = 16,               // Warps of the SIMT executor.
    parameter int LMEM_KIB = 64,               // Local memory in KiB.
    parameter int DIVIDERS = (LANES + 3) / 4,  // Dividers of the SIMT executor; divides LANES.
    parameter int USERS = tern_spec_pkg::USER_EXECUTORS,  // User executors, those of the first ids.
    parameter int SAVE_LINES = 1729,           // Lines of the largest context-save area.
    parameter int TAG_W    = 11,               // Bits of a tag towards memory.
    parameter bit GATE     = 1'b0              // The clock of an idle SIMT executor stops.
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic [63:0]        time_i,       // Device time in cycles.
    input  logic [22:0]        mem_pages_i,  // Device memory in pages of 4 KiB.
    input  logic               reg_write_i,
    input  logic [9:0]         reg_addr_i,
    input  logic [31:0]        reg_wdata_i,
    output logic [31:0]        reg_rdata_o,
    output logic               irq_o,
    output logic               idle_o,
    input  logic               ev_rd_i,      // Pulse: memory has read a line for this engine.
    input  logic               ev_wr_i,      // Pulse: memory has written a line for this engine.
    output logic               mem_req_valid_o,
    input  logic               mem_req_ready_i,
    output tern_pkg::mem_req_t mem_req_o,
    output logic [TAG_W-1:0]   mem_req_tag_o,
    input  logic               mem_rsp_valid_i,
    input  logic [TAG_W-1:0]   mem_rsp_tag_i,
    input  tern_pkg::mem_rsp_t mem_rsp_i
);
  localparam int CLIENT_TAG_W = TAG_W - 1;  // 8 bits of the client, 2 bits for its number.

  // Registers, HW queue and indications.
  logic doorbell, reset_request, preempt, pop, queue_rst, resetting, refused, head_valid, busy, ind_valid,
    ind_head_valid;
  logic [1:0] granularity, queued;
  logic [2:0] pending;
  tern_pkg::submission_t submission, head, second;
  tern_pkg::indication_t ind, ind_head;
  logic [4:0] counter_select;
  logic [63:0] counter;
  logic stop, page_request;
  logic [1:0] stop_gran;
  logic [5:0] dbg_warp;
  logic [31:0] dbg_pc, dbg_lanes;

  engine_regs u_regs (
      .clk_i,
      .rst_i,
      .write_i(reg_write_i),
      .addr_i(reg_addr_i),
      .wdata_i(reg_wdata_i),
      .rdata_o(reg_rdata_o),
      .doorbell_o(doorbell),
      .submission_o(submission),
      .reset_o(reset_request),
      .preempt_o(preempt),
      .granularity_o(granularity),
      .pop_o(pop),
      .queued_i(queued),
      .busy_i(busy),
      .stopping_i(stop),
      .resetting_i(resetting),
      .refused_i(refused),
      .indications_i(pending),
      .ind_i(ind_head),
      .run_fence_i(head_valid ? head.fence : '0),
      .run_offset_i(ind.offset),
      .run_packet_i(cmd.packet[31:0]),
      .next_fence_i(queued[1] ? second.fence : '0),
      .dbg_warp_o(dbg_warp),
      .dbg_pc_i(dbg_pc),
      .dbg_lanes_i(dbg_lanes),
      .counter_o(counter_select),
      .counter_i(counter)
  );
  hw_queue u_queue (
      .clk_i,
      .rst_i(queue_rst),
      .closed_i(resetting),
      .doorbell_i(doorbell),
      .data_i(submission),
      .pending_i(pending),
      .refused_o(refused),
      .count_o(queued),
      .head_valid_o(head_valid),
      .head_o(head),
      .second_o(second),
      .pop_i(ind_valid)
  );
  indication_fifo #(.WIDTH($bits(ind))) u_indications (
      .clk_i,
      .rst_i,
      .push_i(ind_valid),
      .data_i(ind),
      .count_o(pending),
      .head_valid_o(ind_head_valid),
      .head_o(ind_head),
      .pop_i(pop)
  );
  assign irq_o = ind_head_valid;

  engine_stop u_stop (
      .clk_i,
      .rst_i(queue_rst),
      .preempt_i(preempt),
      .gran_i(granularity),
      .request_i(|exec_stopped && page_request),
      .queued_i(|queued),
      .stop_o(stop),
      .gran_o(stop_gran)
  );

  // Reset of the engine alone, or with the device.
  logic mmu_busy, block;
  engine_reset u_reset (
      .clk_i,
      .rst_i,
      .request_i(reset_request),
      .drain_busy_i(mmu_busy),
      .block_o(block),
      .rst_o(queue_rst),
      .busy_o(resetting)
  );

  // Command processor.
  tern_pkg::mem_req_t cp_req;
  tern_pkg::mem_rsp_t rsp;
  logic [7:0] cp_tag;
  logic [2:0] exec_ready, exec_done, exec_fault, exec_stopped;
  tern_pkg::exec_control_t exec;
  tern_pkg::exec_cmd_t cmd;
  tern_pkg::exec_status_t simt_status, mover_status, user_status, status;
  tern_pkg::exec_line_t simt_save, mover_save, user_save, save, restore;
  logic [2:0] save_valid, restore_ready;
  logic save_ready, restore_valid;
  logic flush, cp_valid, cp_phys, cp_ind_valid;
  logic [CLIENT_TAG_W-1:0] rsp_tag;
  logic [3:0] c_ready, c_rsp_valid;
  logic tlb_valid, tlb_ready, tlb_all;
  logic [21:0] tlb_root;
  logic [19:0] tlb_first;
  logic [20:0] tlb_count;

  assign exec_done = {user_status.done, mover_status.done, simt_status.done};
  assign exec_fault = {user_status.faulted, mover_status.faulted, simt_status.faulted};
  assign exec_stopped = {user_status.stopped, mover_status.stopped, simt_status.stopped};
  assign page_request = simt_status.page_request;
  always_comb begin
    status = exec.active[0] ? simt_status : exec.active[1] ? mover_status : user_status;
    status.done = |exec_done;
    status.faulted = |exec_fault;
    status.stopped = |exec_stopped;
    status.page_request = page_request;
    save = exec.active[0] ? simt_save : exec.active[1] ? mover_save : user_save;
  end
  assign ind_valid = cp_ind_valid && !queue_rst;  // A reset drops the running buffer even in its last cycle.
  command_processor #(.SAVE_LINES(SAVE_LINES), .SIMT(LANES > 0), .USERS(USERS)) u_cp (
      .clk_i,
      .rst_i(queue_rst),
      .time_i,
      .head_valid_i(head_valid),
      .head_i(head),
      .ind_valid_o(cp_ind_valid),
      .ind_o(ind),
      .stop_i(stop),
      .stop_gran_i(stop_gran),
      .busy_o(busy),
      .exec_o(exec),
      .exec_ready_i(exec_ready),
      .exec_cmd_o(cmd),
      .exec_flush_o(flush),
      .exec_status_i(status),
      .save_valid_i(|save_valid),
      .save_ready_o(save_ready),
      .save_i(save),
      .restore_valid_o(restore_valid),
      .restore_ready_i(|(restore_ready & exec.active)),
      .restore_o(restore),
      .flush_valid_o(tlb_valid),
      .flush_ready_i(tlb_ready),
      .flush_all_o(tlb_all),
      .flush_root_o(tlb_root),
      .flush_first_o(tlb_first),
      .flush_count_o(tlb_count),
      .req_valid_o(cp_valid),
      .req_ready_i(c_ready[0]),
      .req_o(cp_req),
      .req_phys_o(cp_phys),
      .req_tag_o(cp_tag),
      .rsp_valid_i(c_rsp_valid[0]),
      .rsp_tag_i(rsp_tag[7:0]),
      .rsp_i(rsp)
  );

  logic pass;  // The MMU will carry out the request of pass_tag.
  logic [CLIENT_TAG_W-1:0] pass_tag;

  // Executors.
  logic unused;
  assign unused = &{1'b0, second.is_null, second.resume, second.paging, second.save, second.root, second.size,
                    second.buffer};
  logic [3:1] x_valid;
  tern_pkg::mem_req_t simt_req, mover_req, user_req;
  logic simt_exec;
  logic [23:0] x_tag;
  logic ev_issue, ev_stall_use, ev_stall_unit, ev_stall_idle, ev_l1_hit, ev_l1_miss, ev_ic_miss, ev_tlb_hit,
    ev_tlb_miss;
  logic [5:0] ev_lanes, ev_fma;

  if (LANES > 0) begin : g_simt
    // An idle executor changes its state only at a flush. A pulse of its own ends at the clock edge at which the
    // command processor samples it, and the clock still runs there.
    logic simt_clk;
    clock_gate #(.GATE(GATE)) u_gate (
        .clk_i,
        .enable_i(queue_rst || flush || exec.active[0]),
        .clk_o(simt_clk)
    );

    simt_executor #(.LANES(LANES), .WARPS(WARPS), .LMEM_KIB(LMEM_KIB), .DIVIDERS(DIVIDERS)) u_simt (
        .clk_i(simt_clk),
        .rst_i(queue_rst || exec.reset[0]),
        .time_i,
        .start_valid_i(exec.start[0]),
        .start_ready_o(exec_ready[0]),
        .start_i(cmd),
        .status_o(simt_status),
        .dbg_warp_i(dbg_warp),
        .dbg_pc_o(dbg_pc),
        .dbg_lanes_o(dbg_lanes),
        .stop_req_i(exec.stop[0]),
        .stop_gran_i(stop_gran),
        .save_valid_o(save_valid[0]),
        .save_ready_i(save_ready),
        .save_o(simt_save),
        .restore_valid_i(restore_valid && exec.active[0]),
        .restore_ready_o(restore_ready[0]),
        .restore_i(restore),
        .flush_i(flush),
        .req_valid_o(x_valid[1]),
        .req_ready_i(c_ready[1]),
        .req_o(simt_req),
        .req_exec_o(simt_exec),
        .req_tag_o(x_tag[7:0]),
        .rsp_valid_i(c_rsp_valid[1]),
        .rsp_tag_i(rsp_tag[7:0]),
        .rsp_i(rsp),
        .pass_i(pass && pass_tag[9:8] == 2'd1),
        .pass_tag_i(pass_tag[7:0]),
        .ev_issue_o(ev_issue),
        .ev_lanes_o(ev_lanes),
        .ev_stall_use_o(ev_stall_use),
        .ev_stall_unit_o(ev_stall_unit),
        .ev_stall_idle_o(ev_stall_idle),
        .ev_fma_o(ev_fma),
        .ev_l1_hit_o(ev_l1_hit),
        .ev_l1_miss_o(ev_l1_miss),
        .ev_ic_miss_o(ev_ic_miss)
    );
  end else begin : g_none  // cp_check refuses every dispatch, so none is started.
    assign {x_valid[1], simt_req, simt_exec, x_tag[7:0]} = '0;
    assign {simt_status, simt_save, save_valid[0], restore_ready[0]} = '0;
    assign {dbg_pc, dbg_lanes, ev_issue, ev_lanes, ev_stall_use, ev_stall_unit,
            ev_stall_idle, ev_fma, ev_l1_hit, ev_l1_miss, ev_ic_miss} = '0;
    assign exec_ready[0] = 1'b1;
    logic unused_simt;
    assign unused_simt = &{1'b0, dbg_warp, flush, pass, pass_tag, exec.start[0], exec.reset[0], exec.stop[0],
                           c_ready[1], c_rsp_valid[1]};
  end
  mover u_mover (
      .clk_i,
      .rst_i(queue_rst || exec.reset[1]),
      .start_valid_i(exec.start[1]),
      .start_ready_o(exec_ready[1]),
      .start_i(cmd),
      .stop_req_i(exec.stop[1]),
      .stop_gran_i(stop_gran),
      .save_valid_o(save_valid[1]),
      .save_ready_i(save_ready),
      .save_o(mover_save),
      .restore_valid_i(restore_valid && exec.active[1]),
      .restore_ready_o(restore_ready[1]),
      .restore_i(restore),
      .status_o(mover_status),
      .req_valid_o(x_valid[2]),
      .req_ready_i(c_ready[2]),
      .req_o(mover_req),
      .req_tag_o(x_tag[15:8]),
      .rsp_valid_i(c_rsp_valid[2]),
      .rsp_tag_i(rsp_tag[7:0]),
      .rsp_i(rsp)
  );
  if (USERS > 0) begin : g_user
    user_executors #(.N(USERS)) u_user (
        .clk_i,
        .rst_i(queue_rst || exec.reset[2]),
        .start_valid_i(exec.start[2]),
        .start_ready_o(exec_ready[2]),
        .start_i(cmd),
        .stop_req_i(exec.stop[2]),
        .stop_gran_i(stop_gran),
        .save_valid_o(save_valid[2]),
        .save_ready_i(save_ready),
        .save_o(user_save),
        .restore_valid_i(restore_valid && exec.active[2]),
        .restore_ready_o(restore_ready[2]),
        .restore_i(restore),
        .status_o(user_status),
        .req_valid_o(x_valid[3]),
        .req_ready_i(c_ready[3]),
        .req_o(user_req),
        .req_tag_o(x_tag[23:16]),
        .rsp_valid_i(c_rsp_valid[3]),
        .rsp_tag_i(rsp_tag[7:0]),
        .rsp_i(rsp)
    );
  end else begin : g_no_user  // cp_check refuses every user_call, so none is started.
    assign {x_valid[3], user_req, x_tag[23:16]} = '0;
    assign {user_status, user_save, save_valid[2], restore_ready[2]} = '0;
    assign exec_ready[2] = 1'b1;
    logic unused_user;
    assign unused_user = &{1'b0, exec.start[2], exec.reset[2], exec.stop[2], c_ready[3], c_rsp_valid[3]};
  end

  // Memory.
  logic m_valid, m_ready, m_bypass, m_exec, rsp_valid;
  tern_pkg::mem_req_t m_req;
  logic [CLIENT_TAG_W-1:0] m_tag;

  client_mux u_mux (
      .select_i(exec.select),
      .paging_i(head.paging),
      .phys_i(cp_phys),
      .c_req_valid_i({x_valid, cp_valid}),
      .c_req_ready_o(c_ready),
      .c_req_i({user_req, mover_req, simt_req, cp_req}),
      .c_req_exec_i(simt_exec),
      .c_req_tag_i({x_tag, cp_tag}),
      .c_rsp_valid_o(c_rsp_valid),
      .req_valid_o(m_valid),
      .req_ready_i(m_ready),
      .req_bypass_o(m_bypass),
      .req_o(m_req),
      .req_exec_o(m_exec),
      .req_tag_o(m_tag),
      .rsp_valid_i(rsp_valid),
      .rsp_client_i(rsp_tag[9:8])
  );
  mmu #(.TAG_W(CLIENT_TAG_W)) u_mmu (
      .clk_i,
      .rst_i(queue_rst),
      .root_ppn_i(head.root),
      .bypass_i(m_bypass),
      .block_i(block),
      .hold_absent_i(exec.select[0]),
      .mem_pages_i,
      .busy_o(mmu_busy),
      .ev_hit_o(ev_tlb_hit),
      .ev_miss_o(ev_tlb_miss),
      .flush_valid_i(tlb_valid),
      .flush_ready_o(tlb_ready),
      .flush_all_i(tlb_all),
      .flush_root_i(tlb_root),
      .flush_first_i(tlb_first),
      .flush_count_i(tlb_count),
      .req_valid_i(m_valid),
      .req_ready_o(m_ready),
      .req_i(m_req),
      .req_exec_i(m_exec),
      .req_tag_i(m_tag),
      .pass_o(pass),
      .pass_tag_o(pass_tag),
      .rsp_valid_o(rsp_valid),
      .rsp_tag_o(rsp_tag),
      .rsp_o(rsp),
      .mem_req_valid_o,
      .mem_req_ready_i,
      .mem_req_o,
      .mem_req_tag_o,
      .mem_rsp_valid_i,
      .mem_rsp_tag_i,
      .mem_rsp_i
  );

  engine_counters u_counters (
      .clk_i,
      .rst_i,
      .ev_busy_i(busy),
      .ev_issue_i(ev_issue),
      .ev_lanes_i(ev_lanes),
      .ev_stall_use_i(ev_stall_use),
      .ev_stall_unit_i(ev_stall_unit),
      .ev_stall_idle_i(ev_stall_idle),
      .ev_fma_i(ev_fma),
      .ev_l1_hit_i(ev_l1_hit),
      .ev_l1_miss_i(ev_l1_miss),
      .ev_ic_miss_i(ev_ic_miss),
      .ev_tlb_hit_i(ev_tlb_hit),
      .ev_tlb_miss_i(ev_tlb_miss),
      .ev_rd_i,
      .ev_wr_i,
      .select_i(counter_select),
      .read_o(counter)
  );
  assign idle_o = !head_valid && !busy && !mmu_busy && !resetting && !doorbell && !reset_request;

  // Rules of the executor interface (docs/hardware/interfaces.md). The restore stream has no check_channel, since a
  // stop withdraws a line that is on offer.
  check_channel #(.WIDTH(513)) u_check_save (
      .clk_i,
      .rst_i(queue_rst || |exec.reset),
      .valid_i(|save_valid),
      .ready_i(save_ready),
      .data_i(save)
  );
`ifndef SYNTHESIS
  logic live_q = 1'b0;  // A reset has been seen.
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !queue_rst) begin
      one_executor: assert ((exec.active & (exec.active - 1'b1)) == '0 && (exec.select & (exec.select - 1'b1)) == '0);
      the_active_one_ends: assert (((exec_done | exec_fault | exec_stopped) & ~exec.active) == '0);
      only_the_active_one_asks: assert ((x_valid & ~exec.active) == '0 && !(cp_valid && exec.select != '0));
      only_the_active_one_saves: assert ((save_valid & ~exec.active) == '0);
      it_ends_in_one_way: assert ((exec_done & exec_fault) == '0 && ((exec_done | exec_fault) & exec_stopped) == '0);
    end
  end
`endif
endmodule
