// SPDX-License-Identifier: Apache-2.0
// The SIMT executor: runs a dispatch packet, a kernel over an NDRange.
//
// Contract: executor interface and memory channel of docs/hardware/interfaces.md. A packet that is out of range ends with
// the fault packet_bounds before anything runs. done_valid_o comes after the last answer to a write. On a fault the first one
// is reported, when everything else is drained. ev_* are pulses (or counts) for the performance counters of registers.yaml.
// stop_req_i is taken between dispatches only: the executor ends its own, which the contract allows, and the save stream
// stays silent.
// State saved at preemption: see simt_core, simt_dispatch and simt_groups; here packet_q.
//
// Caches hold virtual addresses without a tag of their address space and are emptied at each start: that costs two misses
// and spares every other engine's writer a message to here.

module simt_executor #(
    parameter int LANES = 16,        // work-items of a warp
    parameter int WARPS = 16,        // resident warps
    parameter int LMEM_KIB = 64,     // local memory
    parameter int ICACHE_KIB = 8
) (
    input  logic          clk_i,
    input  logic          rst_i,
    input  logic [63:0]   time_i,
    // executor
    input  logic          start_valid_i,
    output logic          start_ready_o,
    input  logic [1023:0] start_packet_i,
    input  logic          start_scrub_i,
    input  logic          start_resume_i,
    output logic          done_valid_o,
    output logic          fault_valid_o,
    output logic [7:0]    fault_code_o,
    output logic [1:0]    fault_access_o,
    output logic [31:0]   fault_va_o,
    output logic [31:0]   fault_pc_o,
    output logic [95:0]   fault_group_o,
    output logic [5:0]    fault_warp_o,   // of the group
    output logic [5:0]    fault_lane_o,
    input  logic          stop_req_i,
    input  logic [1:0]    stop_gran_i,
    output logic          stopped_valid_o,
    output logic          save_valid_o,
    input  logic          save_ready_i,
    output logic [511:0]  save_data_o,
    output logic          save_last_o,
    input  logic          restore_valid_i,
    output logic          restore_ready_o,
    input  logic [511:0]  restore_data_i,
    input  logic          restore_last_i,
    input  logic          flush_i,
    // memory channel
    output logic          req_valid_o,
    input  logic          req_ready_i,
    output logic [1:0]    req_op_o,
    output logic [3:0]    req_amo_o,
    output logic          req_exec_o,
    output logic [27:0]   req_line_o,
    output logic [511:0]  req_wdata_o,
    output logic [63:0]   req_be_o,
    output logic [7:0]    req_tag_o,
    input  logic          rsp_valid_i,
    input  logic [7:0]    rsp_tag_i,
    input  logic [511:0]  rsp_data_i,
    input  logic [7:0]    rsp_fault_i,
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
  localparam int LW = $clog2(LANES);

  generate
    if (LANES < 8 || LANES > 32 || (LANES & (LANES - 1)) != 0 || WARPS < 4 || WARPS > 32 || (WARPS & (WARPS - 1)) != 0)
    begin : g_parameters
      $error("simt_executor: 8 to 32 lanes and 4 to 32 warps, powers of two");
    end
  endgenerate

  // preemption inside a dispatch is not offered
  assign stopped_valid_o = 1'b0;
  assign save_valid_o    = 1'b0;
  assign save_data_o     = '0;
  assign save_last_o     = 1'b0;
  assign restore_ready_o = 1'b0;

  logic unused_preempt;
  assign unused_preempt = &{1'b0, start_resume_i, stop_req_i, stop_gran_i, save_ready_i, restore_valid_i, restore_data_i,
                            restore_last_i};

  // ------------------------------------------------------------------------------------------- control
  localparam logic [2:0] IDLE = 3'd0, CHECK = 3'd1, SCRUB = 3'd2, RUN = 3'd3, DRAIN = 3'd4, KILL = 3'd5;

  logic [2:0]    state_q;
  logic [1023:0] packet_q;
  logic          scrub_q, begin_q, kill;
  logic          start, check_done, check_ok, scrub, dispatch_done, core_scrub, lsu_scrub, core_idle, lsu_idle, ic_idle;
  logic          fault;

  assign start_ready_o = state_q == IDLE;
  assign start         = start_valid_i && start_ready_o;
  assign kill          = state_q == KILL;
  assign scrub         = state_q == CHECK && check_done && check_ok && scrub_q;

  always_ff @(posedge clk_i) begin
    begin_q      <= 1'b0;
    done_valid_o <= 1'b0;
    fault_valid_o <= 1'b0;
    case (state_q)
      IDLE:
        if (start) begin
          packet_q <= start_packet_i;
          scrub_q  <= scrub_q || start_scrub_i;
          state_q  <= CHECK;
        end
      CHECK:
        if (check_done) begin
          if (!check_ok) begin
            fault_valid_o <= 1'b1;
            state_q       <= IDLE;
          end else if (scrub_q) state_q <= SCRUB;
          else begin
            begin_q <= 1'b1;
            state_q <= RUN;
          end
        end
      SCRUB: begin
        scrub_q <= 1'b0;
        if (!scrub_q && !core_scrub && !lsu_scrub) begin
          begin_q <= 1'b1;
          state_q <= RUN;
        end
      end
      RUN:
        if (fault) state_q <= KILL;
        else if (dispatch_done) state_q <= DRAIN;
      DRAIN:
        if (fault) state_q <= KILL;
        else if (core_idle && lsu_idle && ic_idle) begin
          done_valid_o <= 1'b1;
          state_q      <= IDLE;
        end
      default:
        if (lsu_idle && ic_idle) begin
          fault_valid_o <= 1'b1;
          state_q       <= IDLE;
        end
    endcase
    if (rst_i) begin
      state_q       <= IDLE;
      scrub_q       <= 1'b1;      // nothing is known to be clear
      done_valid_o  <= 1'b0;
      fault_valid_o <= 1'b0;
    end
  end

  // the first fault
  logic [31:0]   ic_fault_pc, lsu_fault_va, lsu_fault_pc, core_fault_va, core_fault_pc;
  logic          ic_fault, lsu_fault, core_fault;
  logic [7:0]    ic_fault_code, lsu_fault_code, core_fault_code;
  logic [1:0]    lsu_fault_access;
  logic [WW-1:0] ic_fault_warp, lsu_fault_warp, core_fault_warp;
  logic [LW-1:0] lsu_fault_lane, core_fault_lane;
  logic          fault_named_q;            // a work-item's, not the packet's
  logic          lsu_fault_gen, fault_gen_q;
  logic [WARPS-1:0] warp_gen;
  logic [WW-1:0] fault_warp_q, fault_member;
  logic [95:0]   fault_group;

  assign fault = lsu_fault || core_fault;

  always_ff @(posedge clk_i)
    if (state_q == CHECK) begin
      fault_code_o   <= tern_spec_pkg::FAULT_PACKET_BOUNDS;
      fault_access_o <= 2'd0;
      fault_va_o     <= 32'd0;
      fault_pc_o     <= 32'd0;
      fault_lane_o   <= 6'd0;
      fault_named_q  <= 1'b0;
    end else if ((state_q == RUN || state_q == DRAIN) && fault) begin
      fault_named_q <= 1'b1;
      if (lsu_fault) begin
        fault_code_o   <= lsu_fault_code;
        fault_access_o <= lsu_fault_access;
        fault_va_o     <= lsu_fault_va;
        fault_pc_o     <= lsu_fault_pc;
        fault_gen_q    <= lsu_fault_gen;
        fault_warp_q   <= lsu_fault_warp;
        fault_lane_o   <= 6'(lsu_fault_lane);
      end else begin
        fault_code_o   <= core_fault_code;
        fault_access_o <= tern_spec_pkg::REG_ENGINE_IND_INFO_ACCESS_EXECUTE;
        fault_va_o     <= core_fault_va;
        fault_pc_o     <= core_fault_pc;
        fault_gen_q    <= warp_gen[core_fault_warp];
        fault_warp_q   <= core_fault_warp;
        fault_lane_o   <= 6'(core_fault_lane);
      end
    end

  // ------------------------------------------------------------------------------------------ dispatch
  logic                launch_valid, launch_ready, launch_first, warp_done;
  logic [WW-1:0]       launch_warp, launch_slot, done_warp;
  logic [LANES-1:0]    launch_mask;
  logic [LANES*30-1:0] launch_lid;
  logic [16:0]         launch_lbase;
  logic [95:0]         launch_group, launch_base;
  logic [32:0]         launch_size;
  logic [WW:0]         launch_nwarps;
  logic                check_q;

  always_ff @(posedge clk_i) check_q <= start && !rst_i;

  simt_dispatch_check #(
      .L(LANES), .W(WARPS), .LMEM_KIB(LMEM_KIB)
  ) u_check (
      .clk_i, .rst_i, .check_valid_i(check_q), .packet_i(packet_q), .check_done_o(check_done), .check_ok_o(check_ok)
  );

  simt_dispatch #(
      .L(LANES), .W(WARPS)
  ) u_dispatch (
      .clk_i, .rst_i, .start_i(begin_q), .packet_i(packet_q), .kill_i(kill), .done_o(dispatch_done),
      .launch_valid_o(launch_valid), .launch_ready_i(launch_ready), .launch_warp_o(launch_warp),
      .launch_slot_o(launch_slot), .launch_mask_o(launch_mask), .launch_lid_o(launch_lid), .launch_lbase_o(launch_lbase),
      .launch_first_o(launch_first), .launch_group_o(launch_group), .launch_base_o(launch_base),
      .launch_size_o(launch_size), .launch_nwarps_o(launch_nwarps), .warp_done_valid_i(warp_done),
      .warp_done_warp_i(done_warp)
  );

  simt_groups #(
      .WARPS(WARPS)
  ) u_groups (
      .clk_i, .rst_i, .launch_i(launch_valid && launch_ready), .launch_first_i(launch_first), .launch_warp_i(launch_warp),
      .launch_group_i(launch_group), .gen_o(warp_gen), .gen_i(fault_gen_q), .warp_i(fault_warp_q), .group_o(fault_group), .member_o(fault_member)
  );

  assign fault_group_o = fault_named_q ? fault_group : '0;
  assign fault_warp_o  = fault_named_q ? 6'(fault_member) : '0;

  // ---------------------------------------------------------------------------------------------- core
  logic                ic_lookup, ic_hit, ic_miss;
  logic [31:0]         ic_pc, ic_instr, ic_next;
  logic [WW-1:0]       ic_warp;
  logic [WARPS-1:0]    ic_wake, lsu_busy, lsu_launch_hold;
  logic                iss_valid, iss_ready, iss_unsigned, wb_valid, wb_ready, wb_last, inv;
  logic [2:0]          iss_op;
  logic [3:0]          iss_amo;
  logic [1:0]          iss_size;
  logic [WW-1:0]       iss_warp, wb_warp;
  logic [4:0]          iss_rd, wb_rd;
  logic [LANES-1:0]    iss_mask, wb_mask;
  logic [LANES*32-1:0] iss_addr, iss_data, iss_cmp, wb_data;
  logic [31:0]         iss_pc;
  logic [16:0]         iss_lbase;

  simt_core #(
      .LANES(LANES), .WARPS(WARPS)
  ) u_core (
      .clk_i, .rst_i(rst_i || kill), .packet_i(packet_q), .time_i, .scrub_i(scrub), .scrub_busy_o(core_scrub),
      .idle_o(core_idle), .launch_valid_i(launch_valid), .launch_ready_o(launch_ready), .launch_warp_i(launch_warp),
      .launch_slot_i(launch_slot), .launch_mask_i(launch_mask), .launch_lid_i(launch_lid), .launch_lbase_i(launch_lbase),
      .launch_first_i(launch_first), .launch_group_i(launch_group), .launch_base_i(launch_base),
      .launch_size_i(launch_size), .launch_nwarps_i(launch_nwarps), .done_valid_o(warp_done), .done_warp_o(done_warp),
      .ic_valid_o(ic_lookup), .ic_pc_o(ic_pc), .ic_warp_o(ic_warp), .ic_hit_i(ic_hit), .ic_instr_i(ic_instr), .ic_next_i(ic_next),
      .ic_wake_i(ic_wake), .ic_fault_i(ic_fault), .ic_fault_code_i(ic_fault_code), .ic_fault_pc_i(ic_fault_pc),
      .ic_fault_warp_i(ic_fault_warp), .lsu_valid_o(iss_valid), .lsu_ready_i(iss_ready), .lsu_op_o(iss_op), .lsu_amo_o(iss_amo),
      .lsu_size_o(iss_size), .lsu_unsigned_o(iss_unsigned), .lsu_warp_o(iss_warp), .lsu_rd_o(iss_rd), .lsu_mask_o(iss_mask),
      .lsu_addr_o(iss_addr), .lsu_data_o(iss_data), .lsu_cmp_o(iss_cmp), .lsu_pc_o(iss_pc), .lsu_lbase_o(iss_lbase),
      .lsu_wb_valid_i(wb_valid), .lsu_wb_ready_o(wb_ready), .lsu_wb_warp_i(wb_warp), .lsu_wb_rd_i(wb_rd),
      .lsu_wb_mask_i(wb_mask), .lsu_wb_data_i(wb_data), .lsu_wb_last_i(wb_last), .lsu_busy_i(lsu_busy), .lsu_launch_hold_i(lsu_launch_hold), .lsu_inv_o(inv),
      .fault_o(core_fault), .fault_code_o(core_fault_code), .fault_va_o(core_fault_va), .fault_pc_o(core_fault_pc),
      .fault_warp_o(core_fault_warp), .fault_lane_o(core_fault_lane), .ev_issue_o, .ev_lanes_o, .ev_stall_use_o,
      .ev_stall_unit_o, .ev_stall_idle_o, .ev_fma_o
  );

  // -------------------------------------------------------------------------------------------- memory
  logic         lm_valid, lm_ready, lm_exec, lm_rsp, im_valid, im_ready, im_rsp;
  logic [1:0]   lm_op, im_tag;
  logic [3:0]   lm_amo;
  logic [27:0]  lm_line, im_line;
  logic [511:0] lm_wdata;
  logic [63:0]  lm_be;
  logic [6:0]   lm_tag;

  simt_icache #(
      .W(WARPS), .KIB(ICACHE_KIB)
  ) u_icache (
      .clk_i, .rst_i, .lookup_valid_i(ic_lookup), .lookup_pc_i(ic_pc), .lookup_warp_i(ic_warp), .hit_o(ic_hit),
      .instr_o(ic_instr), .next_o(ic_next), .miss_o(ic_miss), .wake_o(ic_wake), .fault_valid_o(ic_fault), .fault_code_o(ic_fault_code),
      .fault_pc_o(ic_fault_pc), .fault_warp_o(ic_fault_warp), .flush_i(flush_i || check_q), .idle_o(ic_idle),
      .kill_i(kill), .ev_miss_o(ev_ic_miss_o), .mem_req_valid_o(im_valid), .mem_req_ready_i(im_ready),
      .mem_req_line_o(im_line), .mem_req_tag_o(im_tag), .mem_rsp_valid_i(im_rsp), .mem_rsp_tag_i(rsp_tag_i[1:0]),
      .mem_rsp_data_i(rsp_data_i), .mem_rsp_fault_i(rsp_fault_i)
  );

  simt_lsu #(
      .LANES(LANES), .WARPS(WARPS), .LMEM_KIB(LMEM_KIB)
  ) u_lsu (
      .clk_i, .rst_i, .stack_i(packet_q[tern_spec_pkg::PKT_DISPATCH_STACK_LSB +: 32]),
      .stack_log2_i(packet_q[tern_spec_pkg::PKT_DISPATCH_STACK_LOG2_LSB +: 5]),
      .local_bytes_i(packet_q[tern_spec_pkg::PKT_DISPATCH_LOCAL_BYTES_LSB +: 17]), .iss_valid_i(iss_valid),
      .iss_ready_o(iss_ready), .iss_op_i(iss_op), .iss_amo_i(iss_amo), .iss_size_i(iss_size), .iss_unsigned_i(iss_unsigned),
      .iss_warp_i(iss_warp), .iss_rd_i(iss_rd), .iss_mask_i(iss_mask), .iss_addr_i(iss_addr), .iss_data_i(iss_data),
      .iss_cmp_i(iss_cmp), .iss_pc_i(iss_pc), .iss_lbase_i(iss_lbase), .wb_valid_o(wb_valid), .wb_ready_i(wb_ready),
      .wb_warp_o(wb_warp), .wb_rd_o(wb_rd), .wb_mask_o(wb_mask), .wb_data_o(wb_data), .wb_last_o(wb_last),
      .gen_i(warp_gen), .launch_hold_o(lsu_launch_hold), .warp_busy_o(lsu_busy), .inv_i(inv || flush_i || check_q), .fault_valid_o(lsu_fault), .fault_code_o(lsu_fault_code),
      .fault_access_o(lsu_fault_access), .fault_va_o(lsu_fault_va), .fault_pc_o(lsu_fault_pc),
      .fault_gen_o(lsu_fault_gen), .fault_warp_o(lsu_fault_warp), .fault_lane_o(lsu_fault_lane), .kill_i(kill), .idle_o(lsu_idle), .scrub_i(scrub),
      .scrub_first_i(11'd0), .scrub_end_i(11'(LMEM_KIB * 16)), .iss_raw_i(1'b0), .iss_private_i('0), .freeze_i(1'b0), .settled_o(),
      .pend_count_o(), .pend_valid_o(), .pend_ready_i(1'b0), .pend_op_o(), .pend_amo_o(), .pend_size_o(), .pend_unsigned_o(),
      .pend_rd_o(), .pend_warp_o(), .pend_gen_o(), .pend_mask_o(), .pend_private_o(), .pend_pc_o(), .pend_addr_o(), .pend_data_o(),
      .pend_cmp_o(), .lmem_read_i(1'b0), .lmem_write_i(1'b0), .lmem_line_i('0), .lmem_wdata_i('0), .lmem_ready_o(),
      .lmem_valid_o(), .lmem_rdata_o(),
      .scrub_busy_o(lsu_scrub), .ev_l1_hit_o, .ev_l1_miss_o, .mem_req_valid_o(lm_valid), .mem_req_ready_i(lm_ready),
      .mem_req_op_o(lm_op), .mem_req_exec_o(lm_exec), .mem_req_amo_o(lm_amo), .mem_req_line_o(lm_line), .mem_req_wdata_o(lm_wdata),
      .mem_req_be_o(lm_be), .mem_req_tag_o(lm_tag), .mem_rsp_valid_i(lm_rsp), .mem_rsp_tag_i(rsp_tag_i[6:0]),
      .mem_rsp_data_i(rsp_data_i), .mem_rsp_fault_i(rsp_fault_i)
  );

  simt_memarb u_memarb (
      .clk_i, .rst_i, .lsu_valid_i(lm_valid), .lsu_ready_o(lm_ready), .lsu_op_i(lm_op), .lsu_amo_i(lm_amo),
      .lsu_line_i(lm_line), .lsu_wdata_i(lm_wdata), .lsu_be_i(lm_be), .lsu_tag_i(lm_tag), .lsu_rsp_o(lm_rsp),
      .ic_valid_i(im_valid), .ic_ready_o(im_ready), .ic_line_i(im_line), .ic_tag_i(im_tag), .ic_rsp_o(im_rsp),
      .req_valid_o, .req_ready_i, .req_op_o, .req_amo_o, .req_exec_o, .req_line_o, .req_wdata_o, .req_be_o, .req_tag_o,
      .rsp_valid_i, .rsp_ic_i(rsp_tag_i[7])
  );

  logic unused;
  assign unused = &{1'b0, ic_miss, lm_exec};

endmodule
