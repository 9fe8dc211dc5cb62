// SPDX-License-Identifier: Apache-2.0
// Test executors with the names and ports of the real ones. Each writes `steps` lines from line `base` on, once each,
// in order, several in flight. The state is (k, signature), where k is the number of lines written. The signature gives
// the number of lines of the saved state, each of which contains its index. At a restore each line is compared, and a
// line that has changed gives context_invalid. With seed bit 4 the packet ends with a fault. tb.fast: no random pauses.
module work #(
    parameter int MAX_LINES = 1,
    parameter logic [31:0] PC = '0,     // of a fault, as the rest
    parameter logic [95:0] GROUP = '0,
    parameter logic [5:0] WARP = '0, LANE = '0
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         start_valid_i,
    output logic         start_ready_o,
    input  logic [ 31:0] base_i,
    input  logic [ 31:0] seed_i,
    input  logic [ 31:0] steps_i,
    input  tern_pkg::exec_cmd_t start_i,
    output tern_pkg::exec_status_t status_o,
    input  logic         stop_req_i,
    input  logic [  1:0] stop_gran_i,
    output logic         save_valid_o,
    input  logic         save_ready_i,
    output tern_pkg::exec_line_t save_o,
    input  logic         restore_valid_i,
    output logic         restore_ready_o,
    input  tern_pkg::exec_line_t restore_i,
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output tern_pkg::mem_req_t req_o,
    output logic [  7:0] req_tag_o,
    input  logic         rsp_valid_i,
    input  tern_pkg::mem_rsp_t rsp_i
);
  typedef enum {IDLE, RESTORE, RUN, STOP, SAVE} state_t;
  state_t state = IDLE;
  int k, steps, flight, at, count, grace;
  logic [31:0] base, seed, signature;
  logic offered, bad, fast, restore_ready, save_offered;
  logic [7:0] code;
  logic [1:0] access;
  logic [31:0] va;
  logic done, fault, stopped;

  assign fast = tb.fast;

  function automatic logic [511:0] line_of(input int place, input int n);
    logic [511:0] l;
    for (int w = 0; w < 16; w++) l[32*w+:32] = (signature + 32'(w * 7 + place * 13)) * 32'h9e3779b1;
    l[31:0] = place;
    l[63:32] = k;
    l[95:64] = signature;
    l[127:96] = n;
    return l;
  endfunction
  function automatic int lines_of(input logic [31:0] s);
    return s[3:0] == 0 ? MAX_LINES : 1 + int'(s[31:8]) % MAX_LINES;
  endfunction

  assign start_ready_o = state == IDLE && !done && !fault;
  always_comb begin
    status_o = '0;
    status_o.done = done;
    status_o.faulted = fault;
    status_o.stopped = stopped;
    status_o.fault.code = code;
    status_o.fault.access = access;
    status_o.fault.va = va;
    status_o.fault.pc = PC;
    status_o.fault.group = GROUP;
    status_o.fault.warp = WARP;
    status_o.fault.lane = LANE;
  end
  assign req_valid_o = offered;
  assign req_o.amo = '0;
  assign req_o.op = tern_pkg::MEM_WRITE;
  assign req_o.line = base[31:6] + k;
  assign req_o.wdata = {8{seed, k}};
  assign req_o.be = '1;
  assign req_tag_o = 8'(k);
  assign save_valid_o = save_offered;
  assign save_o.data = line_of(at, count);
  assign save_o.last = at == count - 1;
  assign restore_ready_o = restore_ready;

  always_ff @(posedge clk_i) begin
    done <= 1'b0;
    fault <= 1'b0;
    stopped <= 1'b0;
    restore_ready <= state == RESTORE && (fast || $urandom_range(3) != 0);
    if (rsp_valid_i) begin
      flight = flight - 1;
      if (rsp_i.fault != 0 && !bad) begin
        bad = 1'b1;
        code <= rsp_i.fault;
        access <= 2'd1;
        va <= base;
      end
    end
    if (flight < 0) $fatal(1, "an answer without a question");
    if (req_valid_o && req_ready_i) begin
      flight = flight + 1;
      signature = signature * 32'd1664525 + 32'(k);
      k = k + 1;
      offered <= 1'b0;
    end
    if (start_valid_i && !start_ready_o && state != IDLE) $fatal(1, "started while busy");
    if (stop_req_i && state == IDLE && !done && !fault && !rst_i) $fatal(1, "stop of an idle executor");
    if (restore_valid_i && state != RESTORE) $fatal(1, "restore of an executor that did not ask for it");
    case (state)
      IDLE:
      if (start_valid_i && start_ready_o) begin
        base = base_i;
        seed = seed_i;
        signature = seed_i;
        steps = int'(steps_i);
        k = 0;
        at = 0;
        bad = 1'b0;
        state <= start_i.resume ? RESTORE : RUN;
      end
      RESTORE:
      if (restore_valid_i && restore_ready_o) begin
        if (at == 0) begin
          k = restore_i.data[63:32];
          signature = restore_i.data[95:64];
          count = restore_i.data[127:96];
        end
        if (restore_i.data != line_of(at, count) || count != lines_of(signature)) bad = 1'b1;
        at = at + 1;
        if (restore_i.last) begin
          state <= RUN;
          if (at != count || bad) begin
            bad = 1'b1;
            code <= tern_spec_pkg::FAULT_CONTEXT_INVALID;
            access <= '0;
            va <= '0;
            k = steps;  // no write is begun
          end
          restore_ready <= 1'b0;
        end
      end
      RUN, STOP: begin
        if (state == RUN && stop_req_i && k < steps) begin
          state <= STOP;
          grace = stop_gran_i == 2'd2 ? $urandom_range(40) : 0;
        end else if (grace != 0 && stop_gran_i != 2'd3) grace = grace - 1;
        else grace = 0;
        if ((!offered || req_ready_i) && k < steps && !bad && flight < 8 &&
            (state == RUN ? !stop_req_i || stop_gran_i == 2'd2 : grace != 0))
          offered <= fast || $urandom_range(2) != 0;
        else if ((!offered || req_ready_i) && flight == 0) begin
          if (bad) begin
            fault <= 1'b1;
            state <= IDLE;
          end else if (k == steps) begin
            if (seed[4]) begin
              fault <= 1'b1;
              code <= tern_spec_pkg::FAULT_EXECUTOR;
              access <= 2'd2;
              va <= seed;
            end else done <= 1'b1;
            state <= IDLE;
          end else if (state == STOP && grace == 0) begin
            stopped <= 1'b1;
            state <= SAVE;
            at = 0;
            count = lines_of(signature);
            save_offered <= fast;
          end
        end
      end
      default: begin
        if (save_valid_o && save_ready_i) begin
          if (save_o.last) begin
            state <= IDLE;
            save_offered <= 1'b0;
          end else save_offered <= fast || $urandom_range(3) != 0;
          at = at + 1;
        end else if (!save_offered) save_offered <= fast || $urandom_range(3) != 0;
      end
    endcase
    if (rst_i) begin
      if (flight != 0) $fatal(1, "reset with %0d requests in flight", flight);
      state <= IDLE;
      {offered, save_offered, restore_ready, done, fault, stopped} <= '0;
      flight = 0;
      grace = 0;
    end
  end
endmodule

module simt_executor #(
    parameter int LANES = 16,
    parameter int WARPS = 16,
    parameter int LMEM_KIB = 64,
    parameter int DIVIDERS = 4
) (
    input logic clk_i, rst_i, input logic [63:0] time_i, input logic start_valid_i, output logic start_ready_o,
    input tern_pkg::exec_cmd_t start_i, output tern_pkg::exec_status_t status_o, input logic [5:0] dbg_warp_i,
    output logic [31:0] dbg_pc_o, dbg_lanes_o, input logic stop_req_i,
    input logic [1:0] stop_gran_i, output logic save_valid_o, input logic save_ready_i,
    output tern_pkg::exec_line_t save_o, input logic restore_valid_i, output logic restore_ready_o,
    input tern_pkg::exec_line_t restore_i, input logic flush_i, output logic req_valid_o, input logic req_ready_i,
    output tern_pkg::mem_req_t req_o, output logic req_exec_o, output logic [7:0] req_tag_o, input logic rsp_valid_i,
    input logic [7:0] rsp_tag_i, input tern_pkg::mem_rsp_t rsp_i, input logic pass_i,
    input logic [7:0] pass_tag_i, output logic ev_issue_o,
    output logic [5:0] ev_lanes_o, output logic ev_stall_use_o, ev_stall_unit_o, ev_stall_idle_o,
    output logic [5:0] ev_fma_o, output logic ev_l1_hit_o, ev_l1_miss_o, ev_ic_miss_o
);
  work #(.MAX_LINES(150), .PC(32'd11), .GROUP(96'd12), .WARP(6'd13), .LANE(6'd14)) u_work (
      .*, .base_i(start_i.packet[63:32]), .seed_i(start_i.packet[95:64]), .steps_i(start_i.packet[159:128])
  );
  logic clean = 1'b0;  // since the last reset there was a start, which must scrub data of other address spaces
  assign {dbg_pc_o, dbg_lanes_o} = {26'd5, dbg_warp_i, 26'd6, dbg_warp_i};
  assign {req_exec_o, ev_issue_o, ev_lanes_o, ev_stall_use_o, ev_stall_unit_o, ev_stall_idle_o} = '0;
  assign {ev_fma_o, ev_l1_hit_o, ev_l1_miss_o, ev_ic_miss_o} = '0;
  always_ff @(posedge clk_i) begin
    if (flush_i && !start_ready_o) $fatal(1, "flush of a busy executor");
    if (start_valid_i && start_ready_o) begin
      if (!clean && !start_i.scrub) $fatal(1, "nothing is clean, yet no scrub");
      clean <= 1'b1;
    end
    if (rst_i) clean <= 1'b0;
  end
endmodule

module mover (
    input logic clk_i, rst_i, input logic start_valid_i, output logic start_ready_o,
    input tern_pkg::exec_cmd_t start_i, output tern_pkg::exec_status_t status_o, input logic stop_req_i,
    input logic [1:0] stop_gran_i, output logic save_valid_o, input logic save_ready_i,
    output tern_pkg::exec_line_t save_o, input logic restore_valid_i, output logic restore_ready_o,
    input tern_pkg::exec_line_t restore_i, output logic req_valid_o, input logic req_ready_i,
    output tern_pkg::mem_req_t req_o, output logic [7:0] req_tag_o, input logic rsp_valid_i,
    input logic [7:0] rsp_tag_i, input tern_pkg::mem_rsp_t rsp_i
);
  work u_work (
      .*, .base_i(start_i.packet[63:32]), .seed_i(start_i.packet[127:96]), .steps_i(start_i.packet[191:160])
  );
endmodule

module user_executors #(parameter int N = 1) (
    input logic clk_i, rst_i, input logic start_valid_i, output logic start_ready_o,
    input tern_pkg::exec_cmd_t start_i, output tern_pkg::exec_status_t status_o, input logic stop_req_i,
    input logic [1:0] stop_gran_i, output logic save_valid_o, input logic save_ready_i,
    output tern_pkg::exec_line_t save_o, input logic restore_valid_i, output logic restore_ready_o,
    input tern_pkg::exec_line_t restore_i, output logic req_valid_o, input logic req_ready_i,
    output tern_pkg::mem_req_t req_o, output logic [7:0] req_tag_o, input logic rsp_valid_i,
    input logic [7:0] rsp_tag_i, input tern_pkg::mem_rsp_t rsp_i
);
  work #(.MAX_LINES(3)) u_work (
      .*, .base_i(start_i.packet[543:512]), .seed_i(start_i.packet[575:544]), .steps_i(start_i.packet[607:576])
  );
endmodule
