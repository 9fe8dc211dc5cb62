// SPDX-License-Identifier: Apache-2.0
// Property module: HW queue and indication FIFO, joined as in the engine (C5, C6, P3).
//
// The fences of submissions carry the numbers 0, 1, 2 ... (modulo 16) of the doorbells that were taken. Whatever the
// environment does: at most two are queued, indications come out in order and each exactly once, a pop always finds
// room, and a reset of the engine loses what is queued but no indication that waits.
module hw_queue_order (
    input  logic clk_i,
    input  logic rst_i,
    input  logic closed_i,
    input  logic doorbell_i,
    input  logic end_i,  // the command processor ends the head
    input  logic engine_rst_i,
    input  logic read_i  // the driver takes an indication
);
  logic [3:0] number_q, next_ind_q, ind_head;
  tern_pkg::submission_t submission, head, second;
  logic [15:0] entries;
  logic [1:0] count;
  logic [2:0] pending;
  logic refused, head_valid, ind_valid, taken, ending;
  logic started_q = 1'b0;

  (* hierconn *) logic [15:0] \u_ind.f_entries ;
  assign entries = \u_ind.f_entries ;
  always_comb begin
    submission = '0;
    submission.fence[3:0] = number_q;
  end
  assign ending = end_i && head_valid && !engine_rst_i;

  hw_queue #(.INDICATIONS(4)) u_queue (
      .clk_i,
      .rst_i(rst_i || engine_rst_i),
      .closed_i,
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

  // The rule, said again: room for it in the queue, and for its indication.
  assign taken = doorbell_i && !closed_i && count < 2 && count + pending < 4 && !engine_rst_i;

  logic doorbell_q, taken_q;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    doorbell_q <= doorbell_i && !rst_i && !engine_rst_i;
    taken_q <= taken && !rst_i;
    if (rst_i) begin
      number_q <= '0;
      next_ind_q <= '0;
    end else begin
      if (taken) number_q <= number_q + 1'b1;
      if (read_i && ind_valid) next_ind_q <= next_ind_q + 1'b1;
      // what a reset forgets is numbered again
      if (engine_rst_i) number_q <= number_q - {2'b0, count};
    end
  end
  always_comb begin
    if (!started_q) assume (rst_i);
    if (started_q) begin
      assert (count <= 2);
      assert (pending + count <= 4);
      assert (!(ending && pending == 4));
      // every number between the two ends is in exactly one place, in order
      assert (number_q - next_ind_q == {1'b0, pending} + {2'b0, count});
      if (ind_valid) assert (ind_head == next_ind_q);
      if (head_valid) assert (head.fence[3:0] == next_ind_q + {1'b0, pending});
      if (count == 2) assert (second.fence[3:0] == next_ind_q + {1'b0, pending} + 4'd1);
      for (int i = 0; i < 4; i++)
        if (i < pending) assert (entries[4*i+:4] == next_ind_q + 4'(i));
      if (doorbell_q) assert (refused == !taken_q);
    end
  end
endmodule
