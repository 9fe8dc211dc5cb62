// SPDX-License-Identifier: Apache-2.0
// A user's own executor, as an example: y[i] = a * x[i] + y[i] on arrays of float32.
//
// docs/spec/executors/saxpy.yaml describes arguments and state. x and y are multiples of 4 and n is below 2^30, else
// the executor faults with FAULT_EXECUTOR. x and y are the same array or do not overlap. Each element is rounded once,
// to nearest even.
// Contract: the executor interface (docs/hardware/interfaces.md). The executor takes about n cycles. One pulse ends its
// work: done, stopped, or the first fault found.
//
// Preemption: an executor keeps a position such that all work before it is in memory and no work behind it is. At a
// stop it begins nothing more, waits for what is in flight, and sends the position on the save stream. At a resume it
// takes the position from the restore stream and begins there. Here the position is one word (`done` of the
// description): the number of elements up to the last line that has been given to memory. A position beyond n, or a bit
// of the state that no field names, is a fault, as on the functional model. A stop drops the results of an incomplete
// line; computing them again after the resume costs less than saving them. An executor that accumulates would save its
// accumulator too.
//
// Implementation: two rings read ahead 8 lines each of x and y. One element a cycle goes into one fused multiply-add.
// Results gather in the line that is then written. At most one line of results is between the multiply-add and memory,
// so nothing behind the multiply-add needs to stall. Sixteen multiply-adds side by side would be faster, but no simple
// example.
module user_saxpy (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  logic                   start_valid_i,
    output logic                   start_ready_o,
    input  tern_pkg::exec_cmd_t    start_i,
    output tern_pkg::exec_status_t status_o,
    input  logic                   stop_req_i,
    input  logic [1:0]             stop_gran_i,
    output logic                   save_valid_o,
    input  logic                   save_ready_i,
    output tern_pkg::exec_line_t   save_o,
    input  logic                   restore_valid_i,
    output logic                   restore_ready_o,
    input  tern_pkg::exec_line_t   restore_i,
    output logic                   req_valid_o,
    input  logic                   req_ready_i,
    output tern_pkg::mem_req_t     req_o,
    output logic [7:0]             req_tag_o,  // {write, y, slot of the ring}; of a write {write, 0, line modulo 8}.
    input  logic                   rsp_valid_i,
    input  logic [7:0]             rsp_tag_i,
    input  tern_pkg::mem_rsp_t     rsp_i
);
  localparam int SLOT_W = 3;  // log2 of the lines that a ring reads ahead.
  localparam int COUNT_W = 27;  // Bits of a number of lines of an array.
  localparam int PIPE = 1 + simt_op_pkg::FMA_LATENCY;  // Cycles from an element on the rings' ports to its result.
  // States. RESTORE takes a saved position, and PLACE compares it with n. CHECK checks the arguments and sets the
  // addresses. RUN computes. DRAIN waits for all requests in flight, and SAVE sends the position.
  localparam logic [2:0] S_IDLE = 3'd0, S_RESTORE = 3'd1, S_CHECK = 3'd2, S_RUN = 3'd3, S_DRAIN = 3'd4, S_SAVE = 3'd5,
      S_PLACE = 3'd6;

  logic [2:0] state_q;
  logic [31:0] left_q, a_q, x_q, y_q, y_first_q;  // x, y: addresses of the next element.
  logic [31:0] n_q, left_behind_q, restored;      // left_behind: elements behind the position.
  logic done_q, fault_q, stopped_q, bad_q, begin_run, refused, halt;
  logic resumed_q, extra_q, lost_q;  // extra: a bit of the restored line is set that no field names.
  logic [7:0] code_q;
  logic [1:0] access_q;
  logic [31:0] va_q, refused_va;
  logic unused;

  assign unused = &{1'b0, start_i, rsp_tag_i, stop_gran_i[0]};
  assign start_ready_o = state_q == S_IDLE;
  assign save_valid_o = state_q == S_SAVE;
  assign save_o.last = 1'b1;
  always_comb begin
    save_o.data = '0;
    save_o.data[tern_spec_pkg::USER_SAXPY_STATE_DONE_LSB+:32] = n_q - left_behind_q;
  end
  assign restore_ready_o = state_q == S_RESTORE;
  assign restored = restore_i.data[tern_spec_pkg::USER_SAXPY_STATE_DONE_LSB+:32];
  // saxpy has no work-groups, so any granularity finer than a packet stops it at once.
  assign halt = stop_req_i && stop_gran_i[1];
  always_comb begin
    status_o = '0;
    status_o.done = done_q;
    status_o.faulted = fault_q;
    status_o.stopped = stopped_q;
    status_o.fault.code = code_q;
    status_o.fault.access = access_q;
    status_o.fault.va = va_q;
  end
  assign refused = |x_q[1:0] || |y_q[1:0] || |n_q[31:30];
  assign refused_va = |x_q[1:0] ? x_q : |y_q[1:0] ? y_q : '0;
  assign begin_run = state_q == S_CHECK && left_q != '0 && !refused && !lost_q && !extra_q;

  // Reads: of x and y in turn, of each array up to the line of its last element.
  logic [1:0] full, drained, have, want, pop;
  logic [2*SLOT_W-1:0] slot;
  logic [63:0] have_va, ask_q;  // ask: addresses to read next.
  logic [15:0] have_fault;
  logic [1023:0] line;
  logic [2*COUNT_W-1:0] lines_left_q;
  logic [1:0] more_q;           // Some lines of the array have not been read.
  logic turn_q, pick, read_valid_q, read_go, write_q, write_go;
  logic [25:0] read_line_q;
  logic [SLOT_W:0] read_tag_q;

  assign pick = want[turn_q] ? turn_q : !turn_q;
  assign read_go = |want && !write_q && (!read_valid_q || req_ready_i);
  for (genvar s = 0; s < 2; s++) begin : g_stream
    assign want[s] = state_q == S_RUN && !bad_q && !full[s] && more_q[s];
    read_ring #(.DEPTH_LOG2(SLOT_W), .META_W(32)) u_ring (
        .clk_i,
        .rst_i,
        .clear_i(begin_run),
        .full_o(full[s]),
        .drained_o(drained[s]),
        .alloc_i(read_go && pick == s),
        .alloc_tag_o(slot[SLOT_W*s+:SLOT_W]),
        .meta_i(ask_q[32*s+:32]),
        .rsp_valid_i(rsp_valid_i && rsp_tag_i[SLOT_W+1:SLOT_W] == 2'(s)),
        .rsp_tag_i(rsp_tag_i[SLOT_W-1:0]),
        .rsp_data_i(rsp_i.data),
        .rsp_fault_i(rsp_i.fault),
        .out_valid_o(have[s]),
        .out_meta_o(have_va[32*s+:32]),
        .out_fault_o(have_fault[8*s+:8]),
        .pop_i(pop[s]),
        .data_o(line[512*s+:512])
    );
    // An array needs its next line when the next element is the first of a line, or the first of all.
    assign pop[s] = need[s] && have[s] && !(|have_fault[8*s+:8]);
    assign need[s] = state_q == S_RUN && !bad_q && left_q != '0 && !loaded_q[s];
  end

  // Elements.
  logic [1:0] loaded_q, need;  // loaded: the line of the next element is on data_o of the ring.
  logic feed, line_ends, pending_q;
  logic [3:0] x_word, y_word;
  logic [PIPE:1] in_pipe_q, ends_q;
  logic [4*PIPE-1:0] word_q;
  logic [31:0] x_value_q, y_value_q, result;

  assign x_word = x_q[5:2];
  assign y_word = y_q[5:2];
  assign line_ends = y_word == 4'd15 || left_q == 32'd1;
  assign feed = state_q == S_RUN && !bad_q && left_q != '0 && &loaded_q && !(line_ends && pending_q);

  /* verilator lint_off PINCONNECTEMPTY */
  fp_fma u_fma (
      .clk_i,
      .valid_i(in_pipe_q[1]),
      .a_i(a_q),
      .b_i(x_value_q),
      .c_i(y_value_q),
      .neg_prod_i(1'b0),
      .neg_add_i(1'b0),
      .rm_i(simt_op_pkg::RM_RNE),
      .result_o(result),
      .flags_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // Results gather in a line. A complete line waits for memory while the next one gathers.
  logic [511:0] gather_q, gathered, wdata_q;
  logic [63:0] gather_be_q, gathered_be, be_q;
  logic [25:0] out_q;  // Line that is written next.
  logic [7:0] writing_q;     // Writes in flight, by tag.
  logic answer_q, write_worse;
  logic [SLOT_W-1:0] back;
  logic [25:0] answer_line_q;
  logic [7:0] answer_fault_q;

  always_comb begin
    gathered = gather_q;
    gathered_be = gather_be_q;
    for (int w = 0; w < 16; w++)
      if (word_q[4*PIPE-1-:4] == 4'(w)) begin
        gathered[32*w+:32] = result;
        gathered_be[4*w+:4] = 4'hf;
      end
  end

  // An offered request does not change, so a read that is on offer goes before a write.
  assign req_valid_o = read_valid_q || (write_q && !writing_q[out_q[2:0]]);
  assign write_go = !read_valid_q && write_q && !writing_q[out_q[2:0]] && req_ready_i;
  assign req_o.amo = '0;
  assign req_o.op = read_valid_q ? tern_pkg::MEM_READ : tern_pkg::MEM_WRITE;
  assign req_o.line = {2'b0, read_valid_q ? read_line_q : out_q};
  assign req_o.wdata = wdata_q;
  assign req_o.be = be_q;
  assign req_tag_o = read_valid_q ? {4'b0, read_tag_q} : {3'b0, 2'b10, out_q[2:0]};

  // The tag of a write is its line modulo 8. A write waits until the earlier one of the same tag has been answered, so
  // the tag of an answer identifies the line.
  assign back = out_q[2:0] - 3'd1 - rsp_tag_i[2:0];
  assign write_worse = answer_q && |answer_fault_q && (!bad_q || access_q == 2'd0 || answer_line_q < va_q[31:6]);

  always_ff @(posedge clk_i) begin
    done_q <= 1'b0;
    fault_q <= 1'b0;
    stopped_q <= 1'b0;
    if (!read_valid_q || req_ready_i) read_valid_q <= read_go;
    if (read_go) begin
      turn_q <= !pick;
      read_line_q <= ask_q[{pick, 5'd6}+:26];
      read_tag_q <= {pick, slot[SLOT_W*pick+:SLOT_W]};
    end
    for (int s = 0; s < 2; s++)
      if (read_go && pick == 1'(s)) begin
        ask_q[32*s+:32] <= {ask_q[32*s+6+:26] + 26'd1, 6'b0};
        lines_left_q[COUNT_W*s+:COUNT_W] <= lines_left_q[COUNT_W*s+:COUNT_W] - 1'b1;
        more_q[s] <= lines_left_q[COUNT_W*s+:COUNT_W] != COUNT_W'(1);
      end
    if (pop[0]) loaded_q[0] <= 1'b1;
    if (pop[1]) loaded_q[1] <= 1'b1;
    if (feed) begin
      x_value_q <= line[{1'b0, x_word, 5'b0}+:32];
      y_value_q <= line[{1'b1, y_word, 5'b0}+:32];
      left_q <= left_q - 1'b1;
      x_q <= x_q + 32'd4;
      y_q <= y_q + 32'd4;
      if (x_word == 4'd15) loaded_q[0] <= 1'b0;
      if (y_word == 4'd15) loaded_q[1] <= 1'b0;
      if (line_ends) begin
        pending_q <= 1'b1;
        left_behind_q <= left_q - 1'b1;
      end
    end
    in_pipe_q <= {in_pipe_q[PIPE-1:1], feed};
    ends_q <= {ends_q[PIPE-1:1], feed && line_ends};
    word_q <= {word_q[4*PIPE-5:0], y_word};
    if (in_pipe_q[PIPE]) begin
      gather_q <= gathered;
      gather_be_q <= ends_q[PIPE] ? '0 : gathered_be;
      if (ends_q[PIPE]) begin
        wdata_q <= gathered;
        be_q <= gathered_be;
        write_q <= 1'b1;
      end
    end
    if (write_go) begin
      write_q <= 1'b0;
      pending_q <= 1'b0;
      out_q <= out_q + 26'd1;
    end
    answer_q <= rsp_valid_i && rsp_tag_i[SLOT_W+1];
    answer_line_q <= out_q - 26'd1 - {23'b0, back};
    answer_fault_q <= rsp_i.fault;
    if (answer_q) writing_q[answer_line_q[2:0]] <= 1'b0;
    if (write_go) writing_q[out_q[2:0]] <= 1'b1;

    // Faults. A faulted write goes before a faulted read, because its elements come before those that are being read.
    if (write_worse) begin
      bad_q <= 1'b1;
      code_q <= answer_fault_q;
      access_q <= 2'd1;
      va_q <= answer_line_q == y_first_q[31:6] ? y_first_q : {answer_line_q, 6'b0};
    end else
      for (int s = 1; s >= 0; s--)
        if (need[s] && have[s] && |have_fault[8*s+:8]) begin
          bad_q <= 1'b1;
          code_q <= have_fault[8*s+:8];
          access_q <= 2'd0;
          va_q <= have_va[32*s+:32];
        end

    case (state_q)
      S_IDLE:
      if (start_valid_i) begin
        state_q <= start_i.resume ? S_RESTORE : S_CHECK;
        resumed_q <= start_i.resume;
        extra_q <= 1'b0;
        lost_q <= 1'b0;
        n_q <= start_i.packet[tern_spec_pkg::USER_SAXPY_N_LSB+:32];
        left_q <= start_i.packet[tern_spec_pkg::USER_SAXPY_N_LSB+:32];
        a_q <= start_i.packet[tern_spec_pkg::USER_SAXPY_A_LSB+:32];
        x_q <= start_i.packet[tern_spec_pkg::USER_SAXPY_X_LSB+:32];
        y_q <= start_i.packet[tern_spec_pkg::USER_SAXPY_Y_LSB+:32];
      end
      S_RESTORE:
      if (restore_valid_i) begin
        left_q <= left_q - restored;
        x_q <= x_q + {restored[29:0], 2'b0};
        y_q <= y_q + {restored[29:0], 2'b0};
        va_q <= refused_va;  // From the addresses of the packet, without the position.
        extra_q <= |(restore_i.data & ~(512'hffff_ffff << tern_spec_pkg::USER_SAXPY_STATE_DONE_LSB));
        if (restore_i.last) state_q <= S_PLACE;
      end
      S_PLACE: begin
        lost_q <= left_q > n_q;  // n - done has wrapped: the position is beyond n.
        state_q <= S_CHECK;
      end
      S_CHECK: begin
        left_behind_q <= left_q;
        ask_q <= {y_q, x_q};
        y_first_q <= y_q;
        out_q <= y_q[31:6];
        lines_left_q[0+:COUNT_W] <= COUNT_W'(({27'b0, x_word} + left_q[30:0] + 31'd15) >> 4);
        lines_left_q[COUNT_W+:COUNT_W] <= COUNT_W'(({27'b0, y_word} + left_q[30:0] + 31'd15) >> 4);
        more_q <= '1;
        loaded_q <= '0;
        pending_q <= 1'b0;
        gather_be_q <= '0;
        bad_q <= 1'b0;
        code_q <= refused && !extra_q ? tern_spec_pkg::FAULT_EXECUTOR : tern_spec_pkg::FAULT_CONTEXT_INVALID;
        access_q <= 2'd0;
        if (!refused || extra_q) va_q <= '0;
        else if (!resumed_q) va_q <= refused_va;
        state_q <= begin_run ? S_RUN : S_IDLE;
        done_q <= left_q == '0 && !refused && !lost_q && !extra_q;
        fault_q <= refused || lost_q || extra_q;
      end
      S_RUN: if (bad_q || halt || (left_q == '0 && !pending_q)) state_q <= S_DRAIN;
      S_DRAIN:
      if (&drained && writing_q == '0 && !(|in_pipe_q) && !write_q) begin
        state_q <= bad_q || left_q == '0 ? S_IDLE : S_SAVE;
        done_q <= !bad_q && left_q == '0;
        fault_q <= bad_q;
        stopped_q <= !bad_q && left_q != '0;
      end
      default: if (save_ready_i) state_q <= S_IDLE;
    endcase
    if (rst_i) begin
      state_q <= S_IDLE;
      done_q <= 1'b0;
      fault_q <= 1'b0;
      stopped_q <= 1'b0;
      read_valid_q <= 1'b0;
      write_q <= 1'b0;
      in_pipe_q <= '0;
      answer_q <= 1'b0;
      writing_q <= '0;
      turn_q <= 1'b0;
    end
  end
endmodule
