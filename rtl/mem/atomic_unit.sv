// SPDX-License-Identifier: Apache-2.0
// Executes atomic operations in front of the AXI port, with a small buffer of the lines that they use.
//
// Contract: an atomic that is taken on req_* is executed on the words that req_i.be selects
// (docs/hardware/interfaces.md, rules 5 and 6). Each atomic ends once, as a record: written through (wt_*) or, if it
// changes nothing, direct (direct_*). The owner then puts the record on end_rec_i, reads meta, old words and fault
// beside it, and frees it with end_valid_i. A record that was written through is freed only after memory has answered;
// end_error_i has the answer. Atomics of one line are executed in the order in which they were taken. While one is in
// flight, no plain access to its line is. Plain writes are shown on plain_* one cycle after their grant.
//
// A line is looked up, and fetched if it is absent, when an atomic enters a queue. When the atomic leaves the queue,
// the line has come or is about to. Misses thus overlap, and the order is kept. A line stays while a record refers to
// it, so a fetch never passes a write of the same line. The line does not stay longer, because the host writes memory
// past the ports. Atomics on one line take 3 cycles each, on different lines one cycle.
// A later write-back would save writes, but a reader beside the fabric would then see old memory after the answer of an
// atomic.
// Preemption: no state is saved; the unit is drained, and its lines are copies.
module atomic_unit #(
    parameter int ENGINES = 2,  // Number of engines.
    parameter int META_W  = 16  // Bits of a request that come back with its end.
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               req_valid_i,
    output logic               req_ready_o,
    input  logic [ENGINES-1:0] req_engine_i,   // One-hot.
    input  tern_pkg::mem_req_t req_i,          // op is not used.
    input  logic [ META_W-1:0] req_meta_i,
    input  logic               plain_valid_i,
    input  logic [       27:0] plain_line_i,
    input  logic [       63:0] plain_be_i,
    // Fetch of a line into entry fill_entry_o.
    output logic               fill_valid_o,
    input  logic               fill_ready_i,
    output logic [       27:0] fill_line_o,
    output logic [        3:0] fill_entry_o,
    input  logic               line_valid_i,   // Always taken.
    input  logic [        3:0] line_entry_i,
    input  logic [      511:0] line_data_i,
    input  logic               line_error_i,
    // Records that are written through.
    output logic               wt_valid_o,
    input  logic               wt_ready_i,
    output logic [       27:0] wt_line_o,
    output logic [      511:0] wt_data_o,
    output logic [       63:0] wt_be_o,
    output logic [        4:0] wt_rec_o,
    output logic [ENGINES-1:0] wt_engine_o,
    // Records that end without a write.
    output logic               direct_valid_o,
    input  logic               direct_ready_i,
    output logic [        4:0] direct_rec_o,
    output logic [ENGINES-1:0] direct_engine_o,
    // Record that the owner looks at, and its end.
    input  logic [        4:0] end_rec_i,
    output logic [ META_W-1:0] end_meta_o,
    output logic [      511:0] end_data_o,
    output logic               end_fault_o,    // The line could not be read, or an earlier write of it failed.
    input  logic               end_valid_i,
    input  logic               end_error_i,
    // LR and SC that this unit executes, and those of other ports (atomic_reserve).
    output logic [ENGINES-1:0] reserve_o,
    output logic [       31:0] reserve_thread_o,
    input  logic [ENGINES-1:0] forget_i,
    input  logic [32*ENGINES-1:0] forget_thread_i
);
  localparam int LINES = 16;  // Lines of the buffer.
  localparam int RECS_LOG2 = 5;  // log2 of the records.

  logic [511:0] data[0:LINES-1];
  logic [28*LINES-1:0] tag_q;
  logic [LINES-1:0] valid_q, there_q, bad_q, used, match;  // there: fetched; bad: an access to memory failed.
  logic [3:0] victim_q, hit_entry, entry;

  logic [META_W-1:0] rec_meta[0:(1<<RECS_LOG2)-1];
  logic [3:0] rec_entry[0:(1<<RECS_LOG2)-1];
  logic [511:0] rec_data[0:(1<<RECS_LOG2)-1];
  logic [(1<<RECS_LOG2)-1:0] rec_fault_q;
  logic [4:0] rec;
  logic rec_valid;

  // Stage T: the line of the request is compared with the tags.
  logic t_valid_q, t_go, hit, enter;
  logic [ENGINES-1:0] t_engine_q;
  logic [3:0] t_amo_q;
  logic [27:0] t_line_q;
  logic [511:0] t_wdata_q;
  logic [15:0] t_words_q;
  logic [META_W-1:0] t_meta_q;
  logic queue_ready, fill_q;

  logic [15:0] req_words;
  for (genvar w = 0; w < 16; w++) begin : g_words
    assign req_words[w] = req_i.be[4*w];
  end
  mem_slice #(.WIDTH(ENGINES + 4 + 28 + 512 + 16 + META_W)) u_in (
      .clk_i,
      .rst_i,
      .in_valid_i(req_valid_i),
      .in_ready_o(req_ready_o),
      .in_data_i({req_engine_i, req_i.amo, req_i.line, req_i.wdata, req_words, req_meta_i}),
      .out_valid_o(t_valid_q),
      .out_ready_i(enter),
      .out_data_o({t_engine_q, t_amo_q, t_line_q, t_wdata_q, t_words_q, t_meta_q})
  );

  assign hit = |match;
  assign entry = hit ? hit_entry : victim_q;
  assign enter = rec_valid && queue_ready && (hit || (!used[victim_q] && !fill_q));
  assign t_go = t_valid_q && enter;

  for (genvar w = 0; w < LINES; w++) begin : g_line
    assign match[w] = valid_q[w] && tag_q[28*w+:28] == t_line_q;
  end
  always_comb begin
    hit_entry = '0;
    for (int i = 0; i < LINES; i++) if (match[i]) hit_entry = hit_entry | 4'(i);
  end

  // Entries of the buffer. A bad entry answers the atomics that already refer to it.
  logic [27:0] fill_line_q;
  logic [3:0] fill_entry_q, end_entry;
  assign fill_valid_o = fill_q;
  assign fill_line_o = fill_line_q;
  assign fill_entry_o = fill_entry_q;
  assign end_entry = rec_entry[end_rec_i];

  for (genvar i = 0; i < LINES; i++) begin : g_entry
    logic [5:0] users_q;
    logic joins, leaves;
    assign used[i] = |users_q;
    assign joins = t_go && (match[i] || (!hit && victim_q == 4'(i)));
    assign leaves = end_valid_i && end_entry == 4'(i);
    always_ff @(posedge clk_i) begin
      if (joins && !leaves) users_q <= users_q + 1'b1;
      if (leaves && !joins) users_q <= users_q - 1'b1;
      if (joins && !hit) begin
        valid_q[i] <= 1'b1;
        there_q[i] <= 1'b0;
        bad_q[i] <= 1'b0;
        tag_q[28*i+:28] <= t_line_q;
      end else begin
        if (line_valid_i && line_entry_i == 4'(i)) there_q[i] <= 1'b1;
        if (line_valid_i && line_entry_i == 4'(i) && line_error_i) bad_q[i] <= 1'b1;
        if (leaves && end_error_i) bad_q[i] <= 1'b1;
        if (!used[i] && !joins) valid_q[i] <= 1'b0;
      end
      if (rst_i) begin
        users_q <= '0;
        valid_q[i] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (fill_ready_i) fill_q <= 1'b0;
    if (t_go && !hit) begin
      fill_q <= 1'b1;
      fill_line_q <= t_line_q;
      fill_entry_q <= victim_q;
    end
    if (used[victim_q] || (t_go && (!hit || hit_entry == victim_q))) victim_q <= victim_q + 1'b1;
    if (t_go) begin
      rec_meta[rec] <= t_meta_q;
      rec_entry[rec] <= entry;
    end
    if (rst_i) begin
      fill_q <= 1'b0;
      victim_q <= '0;
    end
  end

  mem_fifo #(.WIDTH(RECS_LOG2), .DEPTH_LOG2(RECS_LOG2), .FILL(1'b1)) u_free (
      .clk_i,
      .rst_i,
      .in_valid_i(end_valid_i),
      .in_ready_o(has_room),
      .in_data_i(end_rec_i),
      .out_valid_o(rec_valid),
      .out_ready_i(t_go),
      .out_data_o(rec)
  );

  // The queue between the tags and the data.
  localparam int QUEUE_W = 4 + RECS_LOG2 + ENGINES + 4 + 28 + 16 + 512;
  logic q_valid, q_go;
  logic [3:0] q_entry, q_amo;
  logic [4:0] q_rec;
  logic [ENGINES-1:0] q_engine;
  logic [27:0] q_line;
  logic [15:0] q_words;
  logic [511:0] q_wdata;

  mem_fifo #(.WIDTH(QUEUE_W), .DEPTH_LOG2(4)) u_queue (
      .clk_i,
      .rst_i,
      .in_valid_i(t_go),
      .in_ready_o(queue_ready),
      .in_data_i({entry, rec, t_engine_q, t_amo_q, t_line_q, t_words_q, t_wdata_q}),
      .out_valid_o(q_valid),
      .out_ready_i(q_go),
      .out_data_o({q_entry, q_rec, q_engine, q_amo, q_line, q_words, q_wdata})
  );

  // Stage X reads the line, stage Y computes, stage Z writes back and passes the record on. An entry is in at most one
  // of these stages.
  logic x_valid_q, y_valid_q, x_bad_q, y_bad_q, stall, z_go;
  logic [3:0] x_entry_q, y_entry_q, x_amo_q, y_amo_q;
  logic [4:0] x_rec_q, y_rec_q;
  logic [ENGINES-1:0] x_engine_q, y_engine_q;
  logic [27:0] x_line_q, y_line_q;
  logic [15:0] x_words_q, y_words_q, y_write_q, write;
  logic [511:0] x_wdata_q, x_old_q, y_old_q, y_new_q, computed;
  logic [31:0] x_thread, y_thread_q;
  logic holds, direct_ready, write_ready, y_is_sc, y_stores;
  logic [15:0] y_written;

  assign q_go = q_valid && there_q[q_entry] && !stall && !(x_valid_q && x_entry_q == q_entry) &&
      !(y_valid_q && y_entry_q == q_entry);

  for (genvar w = 0; w < 16; w++) begin : g_word
    logic [31:0] result;
    logic written;
    atomic_alu u_alu (
        .amo_i(x_amo_q),
        .old_i(x_old_q[32*w+:32]),
        .operand_i(x_wdata_q[32*w+:32]),
        .expect_i(x_wdata_q[32*(w^8)+:32]),
        .store_i(1'b1),
        .new_o(result),
        .write_o(written)
    );
    assign write[w] = written && x_words_q[w];
    assign computed[32*w+:32] = write[w] ? result : x_old_q[32*w+:32];
  end
  always_comb begin
    x_thread = '0;
    for (int w = 0; w < 16; w++) if (x_words_q[w]) x_thread = x_thread | x_wdata_q[32*(w^8)+:32];
  end

  // Stage Z is the cycle of y_*_q. A line that has been fetched has priority at the write port of the buffer.
  assign y_is_sc = y_amo_q == tern_pkg::AMO_SC;
  assign y_stores = !y_bad_q && |y_write_q && (!y_is_sc || holds);
  assign y_written = y_stores ? y_write_q : '0;
  // Both queues must have room, because it is known late which of them the record needs.
  assign z_go = y_valid_q && !line_valid_i && write_ready && direct_ready;
  assign stall = y_valid_q && !z_go;

  logic [15:0] plain_words;
  for (genvar w = 0; w < 16; w++) begin : g_plain
    assign plain_words[w] = |plain_be_i[4*w+:4];
  end

  atomic_reserve #(.ENGINES(ENGINES)) u_reserve (
      .clk_i,
      .rst_i,
      .engine_i(y_engine_q),
      .line_i(y_line_q),
      .word_i(y_words_q),
      .thread_i(y_thread_q),
      .lr_i(z_go && !y_bad_q && y_amo_q == tern_pkg::AMO_LR),
      .sc_i(z_go && y_is_sc),
      .holds_o(holds),
      .wr_words_i(z_go ? y_written : '0),
      .plain_valid_i,
      .plain_line_i,
      .plain_words_i(plain_words),
      .forget_i,
      .forget_thread_i
  );
  assign reserve_o = z_go && (y_is_sc || y_amo_q == tern_pkg::AMO_LR) ? y_engine_q : '0;
  assign reserve_thread_o = y_thread_q;

  logic [15:0] wt_words;
  mem_fifo #(.WIDTH(ENGINES + 28 + 512 + 16 + RECS_LOG2), .DEPTH_LOG2(1)) u_write (
      .clk_i,
      .rst_i,
      .in_valid_i(z_go && y_stores),
      .in_ready_o(write_ready),
      .in_data_i({y_engine_q, y_line_q, y_new_q, y_write_q, y_rec_q}),
      .out_valid_o(wt_valid_o),
      .out_ready_i(wt_ready_i),
      .out_data_o({wt_engine_o, wt_line_o, wt_data_o, wt_words, wt_rec_o})
  );
  for (genvar b = 0; b < 64; b++) begin : g_be
    assign wt_be_o[b] = wt_words[b/4];
  end
  mem_fifo #(.WIDTH(ENGINES + RECS_LOG2), .DEPTH_LOG2(1)) u_direct (
      .clk_i,
      .rst_i,
      .in_valid_i(z_go && !y_stores),
      .in_ready_o(direct_ready),
      .in_data_i({y_engine_q, y_rec_q}),
      .out_valid_o(direct_valid_o),
      .out_ready_i(direct_ready_i),
      .out_data_o({direct_engine_o, direct_rec_o})
  );

  always_ff @(posedge clk_i) begin
    if (!stall) begin
      x_valid_q <= q_go;
      if (q_go) begin
        x_entry_q <= q_entry;
        x_rec_q <= q_rec;
        x_engine_q <= q_engine;
        x_amo_q <= q_amo;
        x_line_q <= q_line;
        x_words_q <= q_words;
        x_wdata_q <= q_wdata;
        x_bad_q <= bad_q[q_entry];
        x_old_q <= data[q_entry];
      end
      y_valid_q <= x_valid_q;
      if (x_valid_q) begin
        y_entry_q <= x_entry_q;
        y_rec_q <= x_rec_q;
        y_engine_q <= x_engine_q;
        y_amo_q <= x_amo_q;
        y_line_q <= x_line_q;
        y_words_q <= x_words_q;
        y_thread_q <= x_thread;
        y_write_q <= write;
        y_bad_q <= x_bad_q;
        y_old_q <= x_old_q;
        y_new_q <= computed;
      end
    end
    if (line_valid_i) data[line_entry_i] <= line_data_i;
    else if (z_go && y_stores) data[y_entry_q] <= y_new_q;
    if (z_go) begin
      rec_fault_q[y_rec_q] <= y_bad_q;
      if (y_is_sc) begin
        for (int w = 0; w < 16; w++) begin
          rec_data[y_rec_q][32*w+:32] <= y_words_q[w] ? {31'b0, !holds} : y_old_q[32*w+:32];
        end
      end else rec_data[y_rec_q] <= y_old_q;
    end
    if (rst_i) begin
      x_valid_q <= 1'b0;
      y_valid_q <= 1'b0;
    end
  end

  logic has_room, unused;  // has_room is always high: there is room for every record.
  assign unused = &{1'b0, has_room, req_i.op, req_i.be};

  assign end_meta_o = rec_meta[end_rec_i];
  assign end_data_o = rec_data[end_rec_i];
  assign end_fault_o = rec_fault_q[end_rec_i];
endmodule
