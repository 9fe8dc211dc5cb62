// SPDX-License-Identifier: Apache-2.0
// Runs one packet on an executor: starts it, passes a stop on, and has its state saved and restored
// (docs/hardware/interfaces.md).
//
// Contract: start_i begins, with exec_i (one bit of {user, mover, SIMT}) and resume_i. The packet ends, or leaves the
// executor, in one of these ways:
//   done, fault   pulses of the executor, which the caller sees too
//   saved_o       the executor has stopped; its lines_o lines of state are on their way to the area of head_i
//   lost_o        memory could not give all of the state to restore (code_o); the executor has been reset
//   dropped_o     a stop came before the executor had all of its state; the executor has been reset
// A reset during a restore is safe, because an executor makes no memory request before it has all of its state. After
// dropped_o the area holds the state as before; saving it again would double the time of the stop.
// fetch_i, before the start, begins to read lines_i lines of state ahead. settled_o: memory owes no answer. bad_o: an
// answer was a fault. clear_i (a level) drops what is left. exec_o.select opens the executor's memory channel. The
// channel is closed while the state moves: a request of the executor waits, the command processor's channel is open.
// Preemption: the streams carry the executor's state; no state of this unit is saved.
module cp_execute #(
    parameter int LIST_LINES = 1  // Lines of the list of an area's pages.
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         fetch_i,
    input  logic         go_i,    // Memory is free for reading ahead.
    input  tern_pkg::submission_t head_i,  // The buffer: its save area, its root page table, and whether it has one.
    input  logic [ 15:0] lines_i,
    input  logic         start_i,
    input  logic [  2:0] exec_i,
    input  logic         resume_i,
    input  logic         forget_i,    // A whole address space is flushed: another process may get its root.
    input  logic         clear_i,
    output logic         saved_o,
    output logic         lost_o,
    output logic         dropped_o,
    output logic         settled_o,
    output logic         bad_o,
    output logic [  7:0] code_o,
    output logic [ 15:0] lines_o,
    input  logic         stop_i,      // Level: stop at granularity group or instruction.
    // Executors.
    output tern_pkg::exec_control_t exec_o,
    input  logic [  2:0] exec_ready_i,    // One bit for each: {user, mover, SIMT}.
    output logic         exec_resume_o,
    output logic         exec_scrub_o,
    input  logic         exec_ended_i,    // Done or fault of the executor.
    input  logic         exec_stopped_i,
    input  logic         save_valid_i,
    output logic         save_ready_o,
    input  tern_pkg::exec_line_t save_i,
    output logic         restore_valid_o,
    input  logic         restore_ready_i,
    output tern_pkg::exec_line_t restore_o,
    // Memory channel.
    output logic         req_valid_o,
    input  logic         req_ready_i,
    output logic         req_write_o,
    output logic [ 27:0] req_line_o,
    output logic [511:0] req_wdata_o,
    output logic [  6:0] req_tag_o,
    input  logic         rsp_valid_i,
    input  logic [  6:0] rsp_tag_i,
    input  tern_pkg::mem_rsp_t rsp_i
);
  // States. START waits until the executor is ready. RESTORE gives it the saved state. RUN lasts until its pulse done,
  // fault or stopped. SAVE moves its state to memory. RESET resets it.
  localparam logic [2:0] S_IDLE = 3'd0, S_START = 3'd1, S_RESTORE = 3'd2, S_RUN = 3'd3, S_SAVE = 3'd4, S_RESET = 3'd5;

  logic [2:0] state_q, exec_q, select_q;  // select: exec_q in S_RUN, else 0.
  logic resume_q, failed_q, dispatched_q, last_paging_q;  // dispatched: last_* are those of the last dispatch.
  logic [21:0] last_root_q;
  logic stopped, sent, given, fault;

  assign stopped = state_q == S_RUN && exec_stopped_i;
  assign saved_o = state_q == S_SAVE && sent;
  assign lost_o = state_q == S_RESET && failed_q;
  assign dropped_o = state_q == S_RESET && !failed_q;
  assign bad_o = fault;
  assign exec_o.active = state_q != S_IDLE ? exec_q : '0;
  assign exec_o.select = select_q;
  assign exec_o.reset = state_q == S_RESET ? exec_q : '0;
  assign exec_o.start = state_q == S_START ? exec_q : '0;
  assign exec_resume_o = resume_q;
  assign exec_scrub_o = !dispatched_q || last_root_q != head_i.root || last_paging_q != head_i.paging;
  assign exec_o.stop = stop_i && state_q == S_RUN ? exec_q : '0;

  always_ff @(posedge clk_i) begin
    case (state_q)
      S_IDLE:
      if (start_i) begin
        state_q <= S_START;
        exec_q <= exec_i;
        resume_q <= resume_i;
      end
      S_START:
      if (|(exec_q & exec_ready_i)) begin
        state_q <= resume_q ? S_RESTORE : S_RUN;
        if (!resume_q) select_q <= exec_q;
        if (exec_q[0]) begin
          dispatched_q <= 1'b1;
          last_root_q <= head_i.root;
          last_paging_q <= head_i.paging;
        end
      end
      S_RESTORE: begin
        failed_q <= fault;
        if (exec_ended_i) state_q <= S_IDLE;
        else if (fault) state_q <= S_RESET;
        else if (given) begin
          state_q <= S_RUN;
          select_q <= exec_q;
        end else if (stop_i) state_q <= S_RESET;
      end
      S_RUN:
      if (exec_ended_i || stopped) begin
        state_q <= exec_ended_i ? S_IDLE : S_SAVE;
        select_q <= '0;
      end
      S_SAVE: if (sent) state_q <= S_IDLE;
      default: begin  // S_RESET lasts one cycle.
        state_q <= S_IDLE;
        if (exec_q[0]) dispatched_q <= 1'b0;  // The executor no longer knows what it has scrubbed.
      end
    endcase
    if (forget_i) dispatched_q <= 1'b0;
    if (rst_i) begin
      state_q <= S_IDLE;
      select_q <= '0;
      dispatched_q <= 1'b0;
    end
  end

  cp_stream #(.LIST_LINES(LIST_LINES)) u_stream (
      .clk_i,
      .rst_i,
      .start_i(fetch_i || stopped),
      .save_i(stopped),
      .page_i(head_i.save),
      .lines_i,
      .go_i,
      .restore_i(state_q == S_RESTORE),
      .clear_i,
      .sent_o(sent),
      .given_o(given),
      .settled_o,
      .lines_o,
      .fault_o(fault),
      .code_o,
      .save_valid_i,
      .save_ready_o,
      .save_data_i(save_i.data),
      .save_last_i(save_i.last),
      .restore_valid_o,
      .restore_ready_i,
      .restore_data_o(restore_o.data),
      .restore_last_o(restore_o.last),
      .req_valid_o,
      .req_ready_i,
      .req_write_o,
      .req_line_o,
      .req_wdata_o,
      .req_tag_o,
      .rsp_valid_i,
      .rsp_tag_i,
      .rsp_data_i(rsp_i.data),
      .rsp_fault_i(rsp_i.fault)
  );

  logic unused;
  assign unused = &{1'b0, head_i};

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // A reset has been seen.
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      selects_while_it_runs: assert (select_q == (state_q == S_RUN ? exec_q : '0));
    end
  end
`endif
endmodule
