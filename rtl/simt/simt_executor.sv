// SPDX-License-Identifier: Apache-2.0
// The SIMT executor: runs a dispatch packet, which is a kernel over an NDRange.
//
// Contract: the executor interface and the memory channel of docs/hardware/interfaces.md. A packet with a field out of
// range ends with the fault packet_bounds before any instruction runs. status_o.done follows the last response to a
// write. Of several faults the first is reported, when everything else has drained. ev_* are pulses and counts for the
// performance counters of docs/spec/registers.yaml.
//
// Stop of granularity 3 (instruction): no warp is picked or launched any more, and after LINGER cycles the LSU begins
// no further line. Pipeline, dispatcher and LSU settle at most some hundred cycles after the last response of memory.
// Next simt_context streams the state out, and everything is reset as after a fault.
// Stop of granularity 2 (group): no further group is launched; the same steps follow when the last resident group has
// ended.
// Absent page (fault page_absent on the memory channel): the executor stops at once, as for granularity 3, and
// status_o.stopped comes with the refused access in status_o.fault.
// Resume: simt_context streams the state in while the dispatcher launches the resident groups again. Each warp then
// selects the lanes that run.
//
// State saved at preemption: see simt_core, simt_lsu, simt_dispatch and simt_groups. The packet is not part of it;
// start_i gives it again.
//
// The caches hold virtual addresses without a tag of the address space and are therefore emptied at each start. This
// costs two misses, and no other engine that writes memory has to notify this one.

module simt_executor #(
    parameter int LANES = 16,                 // work-items of a warp
    parameter int WARPS = 16,                 // resident warps
    parameter int LMEM_KIB = 64,              // local memory, KiB
    parameter int ICACHE_KIB = 8,             // capacity of the instruction cache, KiB
    parameter int DIVIDERS = (LANES + 3) / 4  // dividers; they divide LANES
) (
    input  logic          clk_i,
    input  logic          rst_i,
    input  logic [63:0]   time_i,           // device time, cycles since reset
    // executor interface
    input  logic          start_valid_i,
    output logic          start_ready_o,
    input  tern_pkg::exec_cmd_t start_i,
    output tern_pkg::exec_status_t status_o,
    // for a debugger, at any time: the lanes of a warp that run together, and their pc
    input  logic [5:0]    dbg_warp_i,
    output logic [31:0]   dbg_pc_o,
    output logic [31:0]   dbg_lanes_o,
    input  logic          stop_req_i,
    input  logic [1:0]    stop_gran_i,      // granularity: 2 group, 3 instruction
    output logic          save_valid_o,
    input  logic          save_ready_i,
    output tern_pkg::exec_line_t save_o,
    input  logic          restore_valid_i,
    output logic          restore_ready_o,
    input  tern_pkg::exec_line_t restore_i,
    input  logic          flush_i,          // empties both caches
    // memory channel
    output logic          req_valid_o,
    input  logic          req_ready_i,
    output tern_pkg::mem_req_t req_o,
    output logic req_exec_o,
    output logic [7:0]    req_tag_o,
    input  logic          rsp_valid_i,
    input  logic [7:0]    rsp_tag_i,
    input  tern_pkg::mem_rsp_t rsp_i,
    input  logic          pass_i,           // memory will perform the request of this tag
    input  logic [7:0]    pass_tag_i,
    // events
    output logic          ev_issue_o,
    output logic [5:0]    ev_lanes_o,
    output logic          ev_stall_use_o,
    output logic          ev_stall_unit_o,
    output logic          ev_stall_idle_o,
    output logic [5:0]    ev_fma_o,
    output logic          ev_l1_hit_o,
    output logic          ev_l1_miss_o,
    output logic          ev_ic_miss_o
);

  localparam int WW = $clog2(WARPS);
  // Cycles after a stop in which the LSU still begins lines, at the rate of memory's responses.
  localparam logic [6:0] LINGER = 7'd111;

  generate
    if (LANES < 4 || LANES > 32 || (LANES & (LANES - 1)) != 0 || WARPS < 4 || WARPS > 32 || (WARPS & (WARPS - 1)) != 0
        || WARPS > 4 * LANES) begin : g_parameters
      $error("simt_executor: 4 to 32 lanes and warps, powers of two; of 4 lanes 16 warps at most");
    end
  endgenerate

  // ------------------------------------------------------------------------------------------- control
  localparam logic [3:0] IDLE = 4'd0, CHECK = 4'd1, SCRUB = 4'd2, RUN = 4'd3, DRAIN = 4'd4, KILL = 4'd5, RESTORE = 4'd6,
                         REFUSE = 4'd7, HALT = 4'd8, SAVE = 4'd9;

  logic [3:0]    state_q;
  logic          done_q, fault_q, stopped_q;
  tern_spec_pkg::pkt_dispatch_t packet_q;
  logic          begin_q, kill, resume_q, saved_q, halt, restoring, now, soon;
  logic          start, check_done, check_ok, dispatch_done, core_idle, ic_idle;
  logic          scrub_need, scrub_start, scrub_busy, scrubbed_q, core_busy, settled, empty, bad,
    all_in, all_back;
  logic          local_done;
  // Cycles until the LSU begins no more lines. A line that is still begun need not be saved, so the resume is shorter.
  logic [6:0]    linger_q;
  // Cycles since the core was last busy. The effects of a barrier or of a warp's end take four cycles to reach all
  // units.
  logic [2:0]    quiet_q;
  // request: a page is absent. ended_q: the dispatcher has ended. wait_q: the core waits for room in the LSU.
  logic          fault, request, request_q, ended_q, wait_q;
  simt_op_pkg::lsu_status_t lsu;
  // The status of the units is known late in a cycle, so state_q sees it one cycle later. That a state may end
  // (drained_q, still_q, gone_q, stop_q) was seen in the same state, in which nothing begins that could make it untrue:
  // in DRAIN all warps have ended; in HALT the core has been quiet for some cycles, and the LSU is frozen; in KILL all
  // units drop what they have; with a stop request the dispatcher takes no group, and the queue of the LSU does not
  // grow beyond 5 again. A fault (failed_q) counts before the end of a state that was seen in the same cycle.
  logic          failed_q, drained_q, still_q, gone_q, stop_q, busy_q;

  assign start_ready_o = state_q == IDLE;
  assign start         = start_valid_i && start_ready_o;
  assign kill          = state_q == KILL;
  assign restoring     = state_q == RESTORE;
  assign halt          = state_q == HALT || state_q == SAVE || restoring || wait_q;
  assign soon          = stop_req_i && stop_gran_i[1];
  assign now           = stop_req_i && stop_gran_i == 2'd3;
  assign scrub_start   = (state_q == CHECK && check_done && check_ok && !resume_q && scrub_need)
                         || (restoring && local_done && !scrubbed_q);

  always_ff @(posedge clk_i) begin
    begin_q         <= 1'b0;
    done_q    <= 1'b0;
    fault_q   <= 1'b0;
    stopped_q <= 1'b0;
    busy_q          <= core_busy;
    failed_q        <= fault;
    stop_q          <= state_q == RUN && (now || (soon && empty)) && lsu.pending <= 6'd5;
    still_q         <= state_q == HALT && (&quiet_q) && (settled || ended_q) && lsu.settled && ic_idle;
    drained_q       <= state_q == DRAIN && core_idle && lsu.idle && ic_idle;
    gone_q          <= kill && lsu.idle && ic_idle;
    quiet_q         <= (busy_q || state_q != HALT) ? '0 : quiet_q + {2'b0, !(&quiet_q)};
    linger_q        <= state_q != HALT ? LINGER : request_q || (lsu.pending == '0 && quiet_q[1]) ? '0
                                                                                   : linger_q - {6'b0, linger_q != '0};
    scrubbed_q      <= restoring && (scrubbed_q || local_done);
    ended_q         <= state_q != CHECK && (ended_q || dispatch_done);
    wait_q          <= (restoring || wait_q) && lsu.crowded;
    case (state_q)
      IDLE:
        if (start) begin
          packet_q <= start_i.packet;
          resume_q <= start_i.resume;
          saved_q  <= 1'b0;
          state_q  <= CHECK;
        end
      CHECK:
        if (check_done) begin
          if (!check_ok) begin
            fault_q <= !resume_q;
            state_q       <= resume_q ? REFUSE : IDLE;
          end else if (resume_q) begin
            begin_q <= 1'b1;
            state_q <= RESTORE;
          end else if (scrub_need) state_q <= SCRUB;
          else begin
            begin_q <= 1'b1;
            state_q <= RUN;
          end
        end
      SCRUB:
        if (!scrub_busy) begin
          begin_q <= 1'b1;
          state_q <= RUN;
        end
      RESTORE:
        if ((bad && all_in) || failed_q) state_q <= KILL;  // restored memory instructions already run
        else if (all_back) state_q <= request_q ? HALT : RUN;
      REFUSE: if (all_in) state_q <= KILL;
      RUN:
        if (failed_q) state_q <= KILL;
        else if (request_q) state_q <= HALT;
        else if (dispatch_done) state_q <= DRAIN;
        // The restored memory instructions must have progressed so far that the LSU has room for what the core still
        // issues.
        else if (stop_q) state_q <= HALT;
      HALT:
        if (failed_q) state_q <= KILL;
        else if ((dispatch_done || ended_q) && !request_q) state_q <= DRAIN;
        else if (still_q) begin
          stopped_q <= 1'b1;
          saved_q         <= 1'b1;
          state_q         <= SAVE;
        end
      SAVE: if (save_valid_o && save_ready_i && save_o.last) state_q <= KILL;
      DRAIN:
        if (failed_q) state_q <= KILL;
        else if (request_q) state_q <= HALT;
        else if (drained_q) begin
          done_q <= 1'b1;
          state_q      <= IDLE;
        end
      default:
        if (gone_q) begin
          fault_q <= !saved_q;
          state_q       <= IDLE;
        end
    endcase
    if (rst_i) begin
      state_q         <= IDLE;
      failed_q        <= 1'b0;
      begin_q         <= 1'b0;    // otherwise the dispatcher would start with the next packet
      done_q    <= 1'b0;
      fault_q   <= 1'b0;
      stopped_q <= 1'b0;
    end
  end

  // The first fault.
  logic          lsu_faults, core_faults;
  simt_op_pkg::lsu_fault_t lsu_fault;
  tern_pkg::fault_t core_fault;
  logic          fault_named_q;            // the fault is of a work-item, not of the packet
  logic          fault_gen_q;
  logic [WARPS-1:0] warp_gen;
  logic [WW-1:0] fault_warp_q, fault_member;
  logic [95:0]   fault_group;
  logic [7:0]    fault_code_q;
  logic [1:0]    fault_access_q;
  logic [31:0]   fault_va_q, fault_pc_q;
  logic [5:0]    fault_lane_q;

  assign fault   = lsu_faults || (core_faults && core_fault.code != tern_spec_pkg::FAULT_PAGE_ABSENT);
  // The page to report is that of the access which the MMU refused first; accesses refused after it may have other
  // pages. A fetch reports later than the LSU does, so the tag of the first refused response decides which of the two
  // was first.
  logic absent, first_fetch_q, refused_q;
  assign request = !first_fetch_q ? absent : core_faults && core_fault.code == tern_spec_pkg::FAULT_PAGE_ABSENT;
  always_ff @(posedge clk_i) begin
    refused_q <= state_q != CHECK && (refused_q || (rsp_valid_i && rsp_i.fault == tern_spec_pkg::FAULT_PAGE_ABSENT));
    if (!refused_q) first_fetch_q <= rsp_tag_i[7];
    request_q <= state_q != CHECK && state_q != IDLE && !rst_i && (request_q || (refused_q && request));
  end

  always_ff @(posedge clk_i)
    if (state_q == CHECK) begin
      fault_code_q   <= tern_spec_pkg::FAULT_PACKET_BOUNDS;
      fault_access_q <= 2'd0;
      fault_va_q     <= 32'd0;
      fault_pc_q     <= 32'd0;
      fault_lane_q   <= 6'd0;
      fault_named_q  <= 1'b0;
    end else if (restoring && bad) begin
      fault_code_q <= tern_spec_pkg::FAULT_CONTEXT_INVALID;
    end else if ((restoring || state_q == RUN || state_q == DRAIN || state_q == HALT) && !failed_q &&
                 (fault || (refused_q && request && !request_q))) begin
      fault_named_q <= 1'b1;
      if (lsu_faults || (!fault && !first_fetch_q)) begin
        fault_code_q   <= lsu_fault.code;
        fault_access_q <= lsu_fault.access;
        fault_va_q     <= lsu_fault.va;
        fault_pc_q     <= lsu_fault.pc;
        fault_gen_q    <= lsu_fault.gen;
        fault_warp_q   <= lsu_fault.warp[WW-1:0];
        fault_lane_q   <= 6'(lsu_fault.lane);
      end else begin
        fault_code_q   <= core_fault.code;
        fault_access_q <= core_fault.access;
        fault_va_q     <= core_fault.va;
        fault_pc_q     <= core_fault.pc;
        fault_gen_q    <= warp_gen[core_fault.warp[WW-1:0]];
        fault_warp_q   <= core_fault.warp[WW-1:0];
        fault_lane_q   <= core_fault.lane;
      end
    end

  // ------------------------------------------------------------------------------------------ dispatch
  logic                launch_valid, launch_ready;
  simt_core_pkg::warp_end_t warp_done;
  simt_core_pkg::launch_t dispatched, launch;
  logic [WW-1:0]       launch_warp;
  logic [LANES*30-1:0] launch_lid;
  logic                check_q, back_valid, back_ready, rep_put;
  logic [WARPS-1:0]    back_live, back_fresh;
  simt_core_pkg::groups_t groups;
  simt_core_pkg::head_t head;
  simt_core_pkg::back_t back, load;
  simt_core_pkg::seen_t seen;
  tern_spec_pkg::ctx_simt_pending_t rep_record, pend_record;

  // A launch during a resume is one of three kinds: the warp's lanes are restored too (live), the warp has ended, or
  // the warp had not been launched before the stop.
  assign launch_warp = dispatched.warp[WW-1:0];
  assign back_live   = head.live[WARPS-1:0];
  assign back_fresh  = head.fresh[WARPS-1:0];
  always_comb begin
    launch       = dispatched;
    launch.live  = restoring && back_live[launch_warp];
    launch.ended = restoring && !back_live[launch_warp] && !back_fresh[launch_warp];
    if (launch.ended) launch.mask = '0;
  end

  // The core has the groups of the slots.
  always_comb begin
    load = back;
    if (!back.last) {load.base, load.group} = seen.slot[191:0];
  end

  always_ff @(posedge clk_i) check_q <= start && !rst_i;

  simt_dispatch_check #(
      .L(LANES),
      .W(WARPS),
      .LMEM_KIB(LMEM_KIB)
  ) u_check (
      .clk_i,
      .rst_i,
      .check_valid_i(check_q),
      .packet_i(packet_q),
      .check_done_o(check_done),
      .check_ok_o(check_ok)
  );

  simt_dispatch #(
      .L(LANES),
      .W(WARPS)
  ) u_dispatch (
      .clk_i,
      .rst_i,
      .start_i(begin_q),
      .packet_i(packet_q),
      .kill_i(kill),
      .done_o(dispatch_done),
      .hold_i(soon || halt),
      .settled_o(settled),
      .empty_o(empty),
      .groups_o(groups),
      .resume_i(resume_q),
      .load_valid_i(back_valid),
      .load_ready_o(back_ready),
      .load_i(load),
      .launch_ended_i(launch.ended),
      .launch_valid_o(launch_valid),
      .launch_ready_i(launch_ready),
      .launch_o(dispatched),
      .launch_lid_o(launch_lid),
      .warp_done_i(warp_done)
  );

  simt_groups #(
      .WARPS(WARPS)
  ) u_groups (
      .clk_i,
      .rst_i,
      .launch_i(launch_valid && launch_ready),
      .launch_first_i(launch.first),
      .launch_warp_i(launch_warp),
      .launch_keep_i(launch.live || launch.ended),
      .launch_group_i(launch.group),
      .put_i(rep_put),
      .put_warp_i(rep_record.warp[WW-1:0]),
      .put_group_i({rep_record.group_z, rep_record.group_y, rep_record.group_x}),
      .put_member_i(rep_record.member[WW-1:0]),
      .gen_o(warp_gen),
      .gen_i(state_q == SAVE && !stopped_q ? pend.gen : fault_gen_q),
      .warp_i(state_q == SAVE && !stopped_q ? pend.warp[WW-1:0] : fault_warp_q),
      .group_o(fault_group),
      .member_o(fault_member)
  );

  assign status_o.done         = done_q;
  assign status_o.faulted      = fault_q;
  assign status_o.stopped      = stopped_q;
  assign status_o.page_request = request_q;
  assign status_o.fault.code   = fault_code_q;
  assign status_o.fault.access = fault_access_q;
  assign status_o.fault.va     = fault_va_q;
  assign status_o.fault.pc     = fault_pc_q;
  assign status_o.fault.group  = fault_named_q ? fault_group : '0;
  assign status_o.fault.warp   = fault_named_q ? 6'(fault_member) : '0;
  assign status_o.fault.lane   = fault_lane_q;

  // ---------------------------------------------------------------------------------------------- core
  logic                ic_miss;
  simt_core_pkg::lsu_warps_t lsu_warps;
  simt_core_pkg::events_t ev;
  simt_core_pkg::fetch_t fetch;
  simt_core_pkg::fetched_t fetched;
  simt_core_pkg::fetch_fault_t fetch_fault;
  logic [WARPS-1:0]    ic_wake;
  logic                iss_valid, iss_ready, wb_valid, wb_ready, inv;
  simt_core_pkg::result_t wb;
  simt_op_pkg::lsu_req_t core_req;
  simt_op_pkg::lsu_issue_t iss;
  simt_op_pkg::lsu_pending_t pend;
  simt_op_pkg::lsu_windows_t windows;
  simt_op_pkg::lsu_pass_t lsu_pass;
  logic [WW-1:0]       iss_warp;
  logic [LANES-1:0]    iss_mask;
  logic [LANES*32-1:0] wb_data;
  logic [LANES*96-1:0] core_operands, iss_operands;   // {cmp, data, addr}

  // ------------------------------------------------------------------------------------- stop and resume
  logic [WARPS-1:0]    shown_q;
  simt_core_pkg::control_t control;
  simt_core_pkg::kept_t kept;
  simt_core_pkg::look_t asked, look;
  simt_core_pkg::put_t put;
  simt_core_pkg::mark_t mark;
  logic                rep_valid, rep_ready, pend_valid, pend_ready;
  logic                freeze, lmem_ready, lsu_scrub;
  simt_op_pkg::lsu_line_t lmem;
  simt_op_pkg::lsu_line_read_t lmem_read;
  simt_op_pkg::lsu_scrub_t scrub;
  logic [LANES*96-1:0] pend_operands, rep_operands;
  simt_core_pkg::resume_t resume;
  simt_core_pkg::resumed_t resumed;
  logic [10:0]         local_lines;

  assign local_lines = packet_q.local_bytes[16:6];

  always_comb begin
    pend_record           = '0;
    pend_record.op        = pend.req.op;
    pend_record.amo       = pend.req.op == simt_op_pkg::LSU_AMO ? pend.req.amo : '0;
    pend_record.size      = pend.req.size;
    pend_record.unsigned_ = pend.req.is_unsigned;
    pend_record.rd        = pend.req.rd;
    pend_record.warp      = pend.warp;
    pend_record.mask      = pend.mask;
    pend_record.private   = pend.is_private;
    pend_record.pc        = pend.req.pc;
    {pend_record.group_z, pend_record.group_y, pend_record.group_x} = fault_group;
    pend_record.member    = 5'(fault_member);
  end

  assign resume.start    = start && start_i.resume;
  assign resume.refuse   = state_q == REFUSE;
  assign resume.local_ok = restoring;
  assign resume.tidy     = restoring && scrubbed_q && !scrub_busy;
  assign all_in          = resumed.ended;
  assign bad             = resumed.bad;
  assign all_back        = resumed.done;
  assign local_done      = resumed.local_done;

  simt_context #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_context (
      .clk_i,
      .rst_i(rst_i || kill),
      .local_lines_i(local_lines),
      .dbg_warp_i(5'(dbg_warp_i[WW-1:0])),
      .save_i(state_q == SAVE),
      .save_valid_o,
      .save_ready_i,
      .save_o,
      .resume_i(resume),
      .resumed_o(resumed),
      .head_o(head),
      .restore_valid_i,
      .restore_ready_o,
      .restore_i,
      .kept_i(kept),
      .look_o(asked),
      .seen_i(seen),
      .put_o(put),
      .lmem_read_o(lmem.read),
      .lmem_write_o(lmem.write),
      .lmem_line_o(lmem.line),
      .lmem_ready_i(lmem_ready),
      .lmem_valid_i(lmem_read.valid),
      .lmem_data_i(lmem_read.data),
      .pend_count_i(lsu.pending[4:0]),
      .pend_valid_i(pend_valid),
      .pend_ready_o(pend_ready),
      .pend_record_i(pend_record),
      .pend_operands_i(pend_operands),
      .rep_valid_o(rep_valid),
      .rep_ready_i(rep_ready),
      .rep_put_o(rep_put),
      .rep_record_o(rep_record),
      .rep_operands_o(rep_operands),
      .groups_i(groups),
      .back_valid_o(back_valid),
      .back_ready_i(back_ready),
      .back_o(back)
  );

  simt_scrub #(
      .WARPS(WARPS)
  ) u_scrub (
      .clk_i,
      .rst_i,
      .kill_i(kill),
      .forget_i(start && start_i.scrub),
      .slots_i(packet_q.group_slots[WW:0]),
      .lines_i(local_lines),
      .need_o(scrub_need),
      .start_i(scrub_start),
      .keep_i(restoring ? head.slots[WARPS-1:0] : '0),
      .busy_o(scrub_busy),
      .scrub_o(scrub.valid),
      .scrub_first_o(scrub.first),
      .scrub_end_o(scrub.past),
      .scrub_busy_i(lsu_scrub)
  );

  // The LSU begins no line late in a stop, nor in a resume before all memory instructions have been restored.
  assign freeze    = (state_q == HALT && linger_q == '0) || state_q == SAVE || (restoring && (!all_in || rep_valid));
  assign rep_ready = iss_ready;

  // A debugger sees the state that neither a save nor a resume reads, of warps that have been launched. The
  // warp that is shown was asked for in the cycle before.
  logic looked_q;
  always_comb begin
    look        = asked;
    look.active = state_q == SAVE || restoring;
  end
  always_ff @(posedge clk_i) looked_q <= look.active;
  assign dbg_lanes_o = (shown_q[dbg_warp_i[WW-1:0]] && !look.active && !looked_q) ? seen.running : '0;
  assign dbg_pc_o    = seen.pc;

  assign control.halt      = halt;
  assign control.launch_ok = restoring ? !rep_put && (!back_fresh[launch_warp] || !freeze) : !halt;
  assign control.restoring = restoring;
  assign control.select    = restoring && all_back ? 32'(back_live) : '0;

  assign mark.valid = rep_put && rep_record.op != tern_spec_pkg::CTX_SIMT_PENDING_OP_STORE && rep_record.rd != 5'd0;
  assign mark.warp  = rep_record.warp;
  assign mark.rd    = rep_record.rd;

  always_ff @(posedge clk_i) begin
    if (begin_q) shown_q <= '0;
    else if (launch_valid && launch_ready) shown_q[launch_warp] <= 1'b1;
    if (rst_i) shown_q <= '0;
  end

  simt_core #(
      .LANES(LANES),
      .WARPS(WARPS),
      .DIVIDERS(DIVIDERS)
  ) u_core (
      .clk_i,
      .rst_i(rst_i || kill),
      .packet_i(packet_q),
      .time_i,
      .control_i(control),
      .busy_o(core_busy),
      .kept_o(kept),
      .look_i(look),
      .seen_o(seen),
      .put_i(put),
      .mark_i(mark),
      .idle_o(core_idle),
      .launch_valid_i(launch_valid),
      .launch_ready_o(launch_ready),
      .launch_i(launch),
      .launch_lid_i(launch_lid),
      .done_o(warp_done),
      .fetch_o(fetch),
      .fetched_i(fetched),
      .fetch_fault_i(fetch_fault),
      .ic_wake_i(ic_wake),
      .lsu_valid_o(iss_valid),
      .lsu_ready_i(iss_ready && !rep_valid),
      .lsu_o(core_req),
      .lsu_warp_o(iss_warp),
      .lsu_mask_o(iss_mask),
      .lsu_operands_o(core_operands),
      .lsu_wb_valid_i(wb_valid),
      .lsu_wb_ready_o(wb_ready),
      .lsu_wb_i(wb),
      .lsu_wb_data_i(wb_data),
      .lsu_warps_i(lsu_warps),
      .lsu_inv_o(inv),
      .fault_valid_o(core_faults),
      .fault_o(core_fault),
      .ev_o(ev)
  );
  assign ev_issue_o      = ev.issue;
  assign ev_lanes_o      = ev.lanes;
  assign ev_stall_use_o  = ev.stall_use;
  assign ev_stall_unit_o = ev.stall_unit;
  assign ev_stall_idle_o = ev.stall_idle;
  assign ev_fma_o        = ev.fma;

  // -------------------------------------------------------------------------------------------- memory
  logic         lm_valid, lm_ready, lm_rsp, im_valid, im_ready, im_rsp;
  logic [1:0]   im_tag;
  logic [27:0]  im_line;
  tern_pkg::mem_req_t lm_req;
  logic [6:0]   lm_tag;

  simt_icache #(
      .W(WARPS),
      .KIB(ICACHE_KIB)
  ) u_icache (
      .clk_i,
      .rst_i,
      .lookup_i(fetch),
      .fetched_o(fetched),
      .miss_o(ic_miss),
      .wake_o(ic_wake),
      .fault_o(fetch_fault),
      .flush_i(flush_i || check_q),
      .idle_o(ic_idle),
      .kill_i(kill),
      .ev_miss_o(ev_ic_miss_o),
      .mem_req_valid_o(im_valid),
      .mem_req_ready_i(im_ready),
      .mem_req_line_o(im_line),
      .mem_req_tag_o(im_tag),
      .mem_rsp_valid_i(im_rsp),
      .mem_rsp_tag_i(rsp_tag_i[1:0]),
      .mem_rsp_i(rsp_i)
  );

  assign iss_operands = rep_valid ? rep_operands : core_operands;

  // The replay of a restored instruction, or an instruction of the core.
  always_comb begin
    iss.req        = core_req;
    iss.raw        = rep_valid;
    iss.warp       = 5'(iss_warp);
    iss.mask       = 32'(iss_mask);
    iss.is_private = rep_record.private;
    if (rep_valid) begin
      iss.req.op          = rep_record.op;
      iss.req.amo         = rep_record.amo;
      iss.req.size        = rep_record.size;
      iss.req.is_unsigned = rep_record.unsigned_;
      iss.req.rd          = rep_record.rd;
      iss.req.pc          = rep_record.pc;
      iss.warp            = rep_record.warp;
      iss.mask            = rep_record.mask;
    end
  end
  assign windows.stack_base  = packet_q.stack;
  assign windows.stack_log2  = packet_q.stack_log2;
  assign windows.local_bytes = packet_q.local_bytes;
  assign lmem.data           = put.line;
  assign lsu_pass.valid      = pass_i && !pass_tag_i[7];
  assign lsu_pass.tag        = pass_tag_i[6:0];
  simt_lsu #(
      .LANES(LANES),
      .WARPS(WARPS),
      .LMEM_KIB(LMEM_KIB)
  ) u_lsu (
      .clk_i,
      .rst_i,
      .windows_i(windows),
      .iss_valid_i(iss_valid || rep_valid),
      .iss_ready_o(iss_ready),
      .iss_i(iss),
      .iss_operands_i(iss_operands),
      .freeze_i(freeze),
      .pend_valid_o(pend_valid),
      .pend_ready_i(pend_ready),
      .pend_o(pend),
      .pend_operands_o(pend_operands),
      .lmem_i(lmem),
      .lmem_ready_o(lmem_ready),
      .lmem_o(lmem_read),
      .wb_valid_o(wb_valid),
      .wb_ready_i(wb_ready),
      .wb_o(wb),
      .wb_data_o(wb_data),
      .gen_i(warp_gen),
      .warps_o(lsu_warps),
      .inv_i(inv || flush_i || check_q),
      .fault_valid_o(lsu_faults),
      .absent_o(absent),
      .fault_o(lsu_fault),
      .pass_i(lsu_pass),
      .kill_i(kill),
      .status_o(lsu),
      .scrub_i(scrub),
      .scrub_busy_o(lsu_scrub),
      .ev_l1_hit_o,
      .ev_l1_miss_o,
      .mem_req_valid_o(lm_valid),
      .mem_req_ready_i(lm_ready),
      .mem_req_o(lm_req),
      .mem_req_tag_o(lm_tag),
      .mem_rsp_valid_i(lm_rsp),
      .mem_rsp_tag_i(rsp_tag_i[6:0]),
      .mem_rsp_i(rsp_i)
  );

  simt_memarb u_memarb (
      .clk_i,
      .rst_i,
      .lsu_valid_i(lm_valid),
      .lsu_ready_o(lm_ready),
      .lsu_req_i(lm_req),
      .lsu_tag_i(lm_tag),
      .lsu_rsp_o(lm_rsp),
      .ic_valid_i(im_valid),
      .ic_ready_o(im_ready),
      .ic_line_i(im_line),
      .ic_tag_i(im_tag),
      .ic_rsp_o(im_rsp),
      .req_valid_o,
      .req_ready_i,
      .req_o,
      .req_exec_o,
      .req_tag_o,
      .rsp_valid_i,
      .rsp_ic_i(rsp_tag_i[7])
  );

  logic unused;
  assign unused = &{1'b0, ic_miss, dbg_warp_i, rep_record, core_fault, seen, head, pend, lsu_fault};

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      drained_stays: assert (!drained_q || failed_q || request_q || (core_idle && lsu.idle && ic_idle && !fault));
      gone_stays: assert (!gone_q || (lsu.idle && ic_idle));
      still_stays: assert (!still_q || failed_q || state_q != HALT || dispatch_done ||
                           ((settled || ended_q) && lsu.settled && ic_idle && !core_busy && !fault));
      stop_stays: assert (!stop_q || state_q != RUN || lsu.pending <= 6'd5);
    end
  end
`endif
endmodule
