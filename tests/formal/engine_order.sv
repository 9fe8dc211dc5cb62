// SPDX-License-Identifier: Apache-2.0
// Property module: the control of an engine, joined as in engine.sv: HW queue, preemption request, reset,
// indications, and the command processor itself, of which the units are left out (the proof cuts them:
// whatever they answer, whenever).
//
// The fences of submissions carry the numbers 0, 1, 2 ... (modulo 16) of the doorbells that were taken. Whatever the
// driver, the units and the executors do: at most two are queued; indications come in order and each exactly once; a
// pop finds room; a buffer is indicated preempted only if somebody asked or a page was absent, and unbegun only if it
// never ran; what waited when a request came is cancelled; a request holds until nothing is queued, at the finest
// granularity asked for; a reset loses what is queued, and nothing else, and ends soon after memory has answered.
module engine_order (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic                  doorbell_i,
    input  tern_pkg::submission_t submission_i,  // but for its number
    input  logic                  preempt_i,
    input  logic [1:0]            gran_i,
    input  logic                  reset_i,
    input  logic                  read_i,        // the driver takes an indication
    input  logic                  drain_busy_i,  // memory owes answers
    input  logic                  exec_done_i,
    input  logic                  request_i,     // an executor stops because a page is absent
    input  logic                  exec_fault_i
);
  logic [3:0] number_q, next_ind_q, ind_head;
  tern_pkg::submission_t submission, head, second;
  tern_pkg::indication_t ind;
  logic [15:0] entries;
  logic [1:0] count, kind, gran;
  logic [2:0] pending;
  logic refused, head_valid, ind_valid, cp_ind_valid, stop, block, queue_rst, resetting, busy;
  logic [63:0] begin_time;
  logic [31:0] offset;
  logic [3:0] state;
  logic fence_stopped, saved;
  logic taken, ending;
  logic started_q = 1'b0, fresh_q = 1'b1;  // fresh: the cycle behind the device's reset, in which the engine follows

  engine_reset u_reset (
      .clk_i,
      .rst_i,
      .request_i(reset_i),
      .drain_busy_i,
      .block_o(block),
      .rst_o(queue_rst),
      .busy_o(resetting)
  );
  always_comb begin
    submission = submission_i;
    submission.fence[3:0] = number_q;
  end
  hw_queue #(.INDICATIONS(4)) u_queue (
      .clk_i,
      .rst_i(queue_rst),
      .closed_i(resetting),
      .doorbell_i,
      .data_i(submission),
      .pending_i(pending),
      .refused_o(refused),
      .count_o(count),
      .head_valid_o(head_valid),
      .head_o(head),
      .second_o(second),
      .pop_i(ending)
  );
  indication_fifo #(.WIDTH(4), .DEPTH_LOG2(2)) u_ind (
      .clk_i,
      .rst_i,
      .push_i(ending),
      .data_i(head.fence[3:0]),
      .count_o(pending),
      .head_valid_o(ind_valid),
      .head_o(ind_head),
      .pop_i(read_i)
  );
  engine_stop u_stop (
      .clk_i,
      .rst_i(queue_rst),
      .preempt_i,
      .gran_i,
      .request_i,
      .queued_i(|count),
      .stop_o(stop),
      .gran_o(gran)
  );
  tern_pkg::exec_status_t status;
  always_comb begin
    status = '0;
    status.done = exec_done_i;
    status.faulted = exec_fault_i;
    status.stopped = request_i;
    status.page_request = request_i;
  end
  command_processor u_cp (
      .clk_i,
      .rst_i(queue_rst),
      .time_i(64'd1),
      .head_valid_i(head_valid),
      .head_i(head),
      .ind_valid_o(cp_ind_valid),
      .ind_o(ind),
      .stop_i(stop),
      .stop_gran_i(gran),
      .busy_o(busy),
      .exec_ready_i('0),
      .exec_status_i(status),
      .save_valid_i(1'b0),
      .save_i('0),
      .restore_ready_i(1'b0),
      .flush_ready_i(1'b1),
      .req_ready_i(1'b0),
      .rsp_valid_i(1'b0),
      .rsp_tag_i('0),
      .rsp_i('0)
  );
  (* hierconn *) logic [15:0] \u_ind.f_entries ;
  (* hierconn *) logic [3:0] \u_cp.state_q ;
  (* hierconn *) logic \u_cp.fence_stopped , \u_cp.x_saved , \u_cp.x_dropped ;
  assign entries = \u_ind.f_entries ;
  assign state = \u_cp.state_q ;
  assign fence_stopped = \u_cp.fence_stopped ;
  assign saved = \u_cp.x_saved || \u_cp.x_dropped ;
  // Its states, by what they mean here
  logic idle, boundary, fetching, executing, saving, indicating;
  assign idle = state == 4'd0;
  assign boundary = state == 4'd3;
  assign fetching = state == 4'd4;
  assign executing = state == 4'd9;
  assign saving = state == 4'd14;
  assign indicating = state == 4'd15;
  assign kind = ind.kind;
  assign offset = ind.offset;
  assign begin_time = ind.begin_time;
  assign ending = cp_ind_valid && !queue_rst;

  // The rules, said again: room in the queue and for the indication, and no reset under way.
  assign taken = doorbell_i && !resetting && count < 2 && count + pending < 4;

  logic doorbell_q, taken_q, asked_q, boundary_q, ask;
  logic [1:0] asked_gran_q, wait_q, ask_gran;
  assign ask = preempt_i || request_i;
  assign ask_gran = request_i ? 2'd3 : gran_i;
  logic cancel_q, cancel_head_q;  // the second of the queue; the first
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    fresh_q <= rst_i;
    doorbell_q <= doorbell_i && !queue_rst;
    taken_q <= taken;
    if (rst_i) next_ind_q <= '0;
    else if (read_i && ind_valid) next_ind_q <= next_ind_q + 1'b1;
    if (rst_i || fresh_q) number_q <= '0;
    else if (queue_rst) number_q <= number_q - {2'b0, count};  // what a reset forgets is numbered again
    else if (taken) number_q <= number_q + 1'b1;

    // A request counts for all that is queued when it comes
    if (queue_rst || count == 0) {asked_q, asked_gran_q} <= '0;
    else if (ask) {asked_q, asked_gran_q} <= {1'b1, asked_q && asked_gran_q > ask_gran ? asked_gran_q : ask_gran};
    // what waits behind another then
    if (queue_rst) {cancel_q, cancel_head_q} <= '0;
    else begin
      if (ending) {cancel_q, cancel_head_q} <= {1'b0, cancel_q || (ask && count == 2)};
      else if (ask && count == 2) cancel_q <= 1'b1;
    end
    wait_q <= block && !drain_busy_i && !queue_rst ? wait_q + 1'b1 : '0;
    boundary_q <= boundary && stop && gran != 2'd0;
  end

  always_comb begin
    if (!started_q) assume (rst_i);
    // the units' contracts: they stop only if told
    if (fence_stopped) assume (stop && gran != 2'd0);
    if (saved) assume (stop && gran[1]);
    if (request_i) assume (executing && !exec_done_i && !exec_fault_i && !saved);
    if (fresh_q) assert (queue_rst || !started_q);
    else if (started_q) begin
      assert (count <= 2);
      assert (pending + count <= 4);
      assert (!(ending && pending == 4));
      assert (!cp_ind_valid || head_valid);
      assert (!busy || head_valid);
      // every number between the two ends is in exactly one place, in order
      assert (number_q - next_ind_q == {1'b0, pending} + {2'b0, count});
      if (ind_valid) assert (ind_head == next_ind_q);
      if (head_valid) assert (head.fence[3:0] == next_ind_q + {1'b0, pending});
      if (count == 2) assert (second.fence[3:0] == next_ind_q + {1'b0, pending} + 4'd1);
      for (int i = 0; i < 4; i++)
        if (i < pending) assert (entries[4*i+:4] == next_ind_q + 4'(i));
      if (doorbell_q) assert (refused == !taken_q);
      // preemption
      if (head_valid) assert (stop == asked_q);
      if (stop && asked_q) assert (gran == asked_gran_q);
      if (cancel_q) assert (count == 2 && asked_q);
      if (cancel_head_q) assert (head_valid && asked_q);
      if (cancel_head_q && ending)
        assert (kind == tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_PREEMPTED && begin_time == '0);
      if (boundary_q) assert (!fetching);  // no packet is begun any more
      if (ending) begin
        assert (kind != tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_NONE);
        if (kind == tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_PREEMPTED) begin
          assert (asked_q);
          if (begin_time != '0) assert (asked_gran_q != 2'd0);
        end else assert (begin_time != '0);
        if (kind == tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_COMPLETED && !head.is_null) assert (offset == head.size);
      end
      // what holds inside the command processor, so that the above goes on by itself
      if (busy && !indicating) assert (kind == tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_PREEMPTED && begin_time != '0);
      if (saving) assert (asked_q && asked_gran_q != 2'd0);
      if (cancel_head_q && busy) assert (indicating);
      if (indicating) begin
        assert (kind != tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_NONE);
        if (cancel_head_q) assert (kind == tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_PREEMPTED && begin_time == '0);
        if (kind == tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_PREEMPTED)
          assert (asked_q && (begin_time == '0 || asked_gran_q != 2'd0));
        else assert (begin_time != '0);
        if (kind == tern_spec_pkg::REG_ENGINE_IND_INFO_KIND_COMPLETED && !head.is_null) assert (offset == head.size);
      end
      // reset
      assert (wait_q < 2'd2);
    end
  end
endmodule
