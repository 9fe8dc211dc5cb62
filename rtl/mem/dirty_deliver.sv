// SPDX-License-Identifier: Apache-2.0
// Sends the lines of a dirty command's result to memory, and keeps each until memory has taken it.
//
// Contract: a line that is pushed is written once, to line push_at_i of device memory. Lines leave in the order of the
// pushes. retire_o is a pulse when memory has taken the oldest line. failed_o is high while memory has answered the
// oldest line with an error; its data and tag are on failed_data_o and failed_tag_o until drop_i removes it. At most
// 2^DEPTH_LOG2 lines may be pushed that have not left. A query_clear has cleared these bits in the plane, so they must
// be kept until memory has them. wr_* is stable while stalled, and comes from registers.
// Preemption: no state is saved; a command belongs to the driver and not to an engine.
module dirty_deliver #(
    parameter int TAG_W = 13,     // Bits of a tag.
    parameter int LINE = 512,     // Bits of a line.
    parameter int DEPTH_LOG2 = 4  // log2 of the lines that are kept.
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic                  push_i,
    input  logic [          27:0] push_at_i,
    input  logic [     TAG_W-1:0] push_tag_i,
    input  logic [      LINE-1:0] push_data_i,
    output logic                  retire_o,
    output logic                  failed_o,
    output logic [     TAG_W-1:0] failed_tag_o,
    output logic [      LINE-1:0] failed_data_o,
    input  logic                  drop_i,
    // Writes to memory, and its answers.
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [          27:0] wr_line_o,
    output logic [      LINE-1:0] wr_data_o,
    output logic [DEPTH_LOG2-1:0] wr_slot_o,
    input  logic                  done_valid_i,
    input  logic [DEPTH_LOG2-1:0] done_slot_i,
    input  logic                  done_error_i
);
  localparam int DEPTH = 1 << DEPTH_LOG2;

  logic [LINE+28+TAG_W-1:0] lines[0:DEPTH-1], read;
  logic [DEPTH_LOG2:0] tail_q, send_q, head_q;
  logic [DEPTH-1:0] done_q, error_q;
  logic load, good, bad;

  // There is one read port: a failed line is read while nothing is loaded.
  assign read = lines[failed_o ? head_q[DEPTH_LOG2-1:0] : send_q[DEPTH_LOG2-1:0]];
  assign {failed_tag_o, failed_data_o} = {read[LINE+28+:TAG_W], read[LINE-1:0]};
  // retire_o and failed_o are registers. The state of the next line is known one cycle after the oldest has left, so at
  // most every second cycle a line leaves.
  assign good = head_q != tail_q && done_q[head_q[DEPTH_LOG2-1:0]] && !error_q[head_q[DEPTH_LOG2-1:0]];
  assign bad = head_q != tail_q && done_q[head_q[DEPTH_LOG2-1:0]] && error_q[head_q[DEPTH_LOG2-1:0]];
  assign load = send_q != tail_q && !failed_o && (!wr_valid_o || wr_ready_i);

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      lines[tail_q[DEPTH_LOG2-1:0]] <= {push_tag_i, push_at_i, push_data_i};
      done_q[tail_q[DEPTH_LOG2-1:0]] <= 1'b0;
      tail_q <= tail_q + 1'b1;
    end
    if (!wr_valid_o || wr_ready_i) wr_valid_o <= load;
    if (load) begin
      wr_line_o <= read[LINE+:28];
      wr_data_o <= read[LINE-1:0];
      wr_slot_o <= send_q[DEPTH_LOG2-1:0];
      send_q <= send_q + 1'b1;
    end
    if (done_valid_i) begin
      done_q[done_slot_i]  <= 1'b1;
      error_q[done_slot_i] <= done_error_i;
    end
    if (retire_o || drop_i) head_q <= head_q + 1'b1;
    retire_o <= good && !retire_o && !drop_i;
    failed_o <= bad && !retire_o && !drop_i;
    if (rst_i) begin
      tail_q <= '0;
      send_q <= '0;
      head_q <= '0;
      done_q <= '0;
      wr_valid_o <= 1'b0;
      retire_o <= 1'b0;
      failed_o <= 1'b0;
    end
  end

  check_channel #(.WIDTH(28 + LINE + DEPTH_LOG2)) u_check_wr (
      .clk_i,
      .rst_i,
      .valid_i(wr_valid_o),
      .ready_i(wr_ready_i),
      .data_i({wr_line_o, wr_data_o, wr_slot_o})
  );
`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      room_for_a_push: assert (!push_i || tail_q != {~head_q[DEPTH_LOG2], head_q[DEPTH_LOG2-1:0]});
      drops_what_failed: assert (!drop_i || failed_o);
      answer_to_a_line: assert (!done_valid_i || !done_q[done_slot_i]);
    end
  end
`endif
endmodule
