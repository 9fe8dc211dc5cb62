// SPDX-License-Identifier: Apache-2.0
// The executor for copy, fill and pte_copy packets: boxes of bytes of any alignment, with whole lines on the memory
// channel.
//
// Contract: the executor interface (docs/hardware/interfaces.md). Of several faults the one at the lowest byte in the
// order of the copy is reported, a write before a read. Lines before that byte may have been written, and some behind
// it. A copy reads 64 lines ahead and has 64 writes in flight. With one request a cycle it moves a line every two
// cycles; a fill writes a line every cycle. Source and destination must not overlap, because lines in flight are not
// compared.
//
// Preemption saves one line, the position (mover_place). At a stop no further destination line begins. Lines that have
// begun are written; they are the ones before the position. Lines read for others are dropped, and read again after the
// resume.
//
// Implementation: two walkers (mover_rows) go over the box. One reads source lines into the ring. The other makes
// destination lines, pairs them with source lines, and feeds mover_align. If a source row starts at a higher offset in
// its line than its destination row, the first destination line takes bytes of two source lines: an additional step
// without a destination (prime) loads the first of them. Rows need no common alignment, because the distance is
// computed for each row.
module mover (
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
    output logic [7:0]             req_tag_o,  // Bit 6 is set for a write.
    input  logic                   rsp_valid_i,
    input  logic [7:0]             rsp_tag_i,
    input  tern_pkg::mem_rsp_t     rsp_i
);
  // States. RESTORE takes a saved position. LOAD starts the walkers at the position. RUN moves lines. DRAIN waits for
  // all lines in flight, and SAVE sends the position.
  localparam logic [2:0] S_IDLE = 3'd0, S_RESTORE = 3'd1, S_LOAD = 3'd2, S_RUN = 3'd3, S_DRAIN = 3'd4, S_SAVE = 3'd5;

  logic [2:0] state_q;
  logic done_q, fault_q, stopped_q, bad, halt, start, load;
  logic unused;

  assign unused = &{1'b0, start_i.scrub, rsp_tag_i[7], stop_gran_i[0]};

  assign start_ready_o = state_q == S_IDLE;
  assign start = start_valid_i && start_ready_o;
  assign load = state_q == S_LOAD && !over;
  assign halt = state_q == S_RUN && stop_req_i && stop_gran_i[1];
  assign save_valid_o = state_q == S_SAVE;
  assign save_o.last = 1'b1;
  assign restore_ready_o = state_q == S_RESTORE;

  // The box of the packet, and the position in it.
  logic over, is_fill;
  logic [511:0] pattern;
  logic [33:0] src_row, src_slice, dst_row, dst_slice;
  logic [31:0] width, rows, slices_left, rows_left, left, skip;
  logic [31:0] src_row_pitch, src_slice_pitch, dst_row_pitch, dst_slice_pitch;

  mover_place u_place (
      .clk_i,
      .start_i(start),
      .packet_i(start_i.packet),
      .restore_i(restore_valid_i && restore_ready_o),
      .restore_line_i(restore_i.data),
      .step_i(dst_ready),
      .bytes_i(7'd64 - {1'b0, dst_start}),
      .row_ends_i(dst_last),
      .save_line_o(save_o.data),
      .over_o(over),
      .fill_o(is_fill),
      .pattern_o(pattern),
      .width_o(width),
      .rows_o(rows),
      .src_row_pitch_o(src_row_pitch),
      .src_slice_pitch_o(src_slice_pitch),
      .dst_row_pitch_o(dst_row_pitch),
      .dst_slice_pitch_o(dst_slice_pitch),
      .slices_left_o(slices_left),
      .rows_left_o(rows_left),
      .left_o(left),
      .skip_o(skip),
      .src_row_o(src_row),
      .src_slice_o(src_slice),
      .dst_row_o(dst_row),
      .dst_slice_o(dst_slice)
  );

  // Walkers over the source and the destination.
  logic src_valid, src_ready, src_last, dst_active, dst_valid, dst_ready, dst_first, dst_last;
  logic [27:0] src_line, dst_line;
  logic [5:0] src_start, dst_start;
  logic [63:0] dst_be;

  /* verilator lint_off PINCONNECTEMPTY */
  mover_rows u_src (
      .clk_i,
      .rst_i,
      .load_i(load && !is_fill),
      .stop_i(bad || halt),
      .row_i(src_row),
      .slice_i(src_slice),
      .skip_i(skip),
      .left_i(left),
      .rows_left_i(rows_left),
      .slices_left_i(slices_left),
      .width_i(width),
      .rows_i(rows),
      .row_pitch_i(src_row_pitch),
      .slice_pitch_i(src_slice_pitch),
      .active_o(),
      .valid_o(src_valid),
      .ready_i(src_ready),
      .line_o(src_line),
      .start_o(src_start),
      .be_o(),
      .first_o(),
      .last_o(src_last)
  );
  mover_rows u_dst (
      .clk_i,
      .rst_i,
      .load_i(load),
      .stop_i(bad || halt),
      .row_i(dst_row),
      .slice_i(dst_slice),
      .skip_i(skip),
      .left_i(left),
      .rows_left_i(rows_left),
      .slices_left_i(slices_left),
      .width_i(width),
      .rows_i(rows),
      .row_pitch_i(dst_row_pitch),
      .slice_pitch_i(dst_slice_pitch),
      .active_o(dst_active),
      .valid_o(dst_valid),
      .ready_i(dst_ready),
      .line_o(dst_line),
      .start_o(dst_start),
      .be_o(dst_be),
      .first_o(dst_first),
      .last_o(dst_last)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // Reads. The ring keeps {last line of its row, byte address} for each.
  logic ring_full, ring_drained, read_go, have, pop;
  logic [5:0] read_tag;
  logic [32:0] have_meta;
  logic [7:0] have_fault;
  logic [511:0] source;

  read_ring #(.DEPTH_LOG2(6), .META_W(33)) u_ring (
      .clk_i,
      .rst_i,
      .clear_i(load),
      .full_o(ring_full),
      .drained_o(ring_drained),
      .alloc_i(read_go),
      .alloc_tag_o(read_tag),
      .meta_i({src_last, src_line[25:0], src_start}),
      .rsp_valid_i(rsp_valid_i && !rsp_tag_i[6]),
      .rsp_tag_i(rsp_tag_i[5:0]),
      .rsp_data_i(rsp_i.data),
      .rsp_fault_i(rsp_i.fault),
      .out_valid_o(have),
      .out_meta_o(have_meta),
      .out_fault_o(have_fault),
      .pop_i(pop),
      .data_o(source)
  );

  // Pairing of source and destination lines: a step of mover_align.
  // In this row: the prime step is done; the last source line has been taken.
  logic primed_q, source_ended_q;
  logic [5:0] rotate;
  logic prime, takes, step, align_ready, align_idle, source_bad;

  assign rotate = dst_row[5:0] - src_row[5:0];
  assign prime = dst_first && !primed_q && !is_fill && have_meta[5:0] > dst_start;
  assign takes = !is_fill && !source_ended_q;
  assign source_bad = takes && dst_valid && have && |have_fault;
  assign step = state_q == S_RUN && dst_valid && align_ready && (!takes || (have && !(|have_fault)));
  assign pop = step && takes;
  assign dst_ready = step && !prime;

  always_ff @(posedge clk_i) begin
    if (step) begin
      primed_q <= prime;
      source_ended_q <= takes ? have_meta[32] && (prime || !dst_last) : source_ended_q && !dst_last;
    end
    if (load || rst_i) begin
      primed_q <= 1'b0;
      source_ended_q <= 1'b0;
    end
  end

  logic wr_valid, wr_full, wr_empty, write_go;
  logic [27:0] wr_line;
  logic [5:0] wr_start, wr_tag;
  logic [511:0] wr_data;
  logic [63:0] wr_be;

  mover_align u_align (
      .clk_i,
      .rst_i(rst_i || load),
      .valid_i(step),
      .ready_o(align_ready),
      .load_i(takes),
      .emit_i(!prime),
      .rotate_i(rotate),
      .split_i(is_fill ? 6'd0 : rotate),
      .line_i(dst_line),
      .start_i(dst_start),
      .be_i(dst_be),
      .data_i(is_fill ? pattern : source),
      .idle_o(align_idle),
      .valid_o(wr_valid),
      .ready_i(write_go),
      .line_o(wr_line),
      .start_o(wr_start),
      .data_o(wr_data),
      .be_o(wr_be)
  );

  // One request a cycle. Writes go first, since they make room in the ring. The register keeps a request stable while
  // it waits.
  logic req_valid_q, req_free;
  logic [1:0] req_op_q;
  logic [27:0] req_line_q;
  logic [511:0] req_wdata_q;
  logic [63:0] req_be_q;
  logic [7:0] req_tag_q;

  assign req_free = !req_valid_q || req_ready_i;
  assign write_go = wr_valid && !wr_full && req_free;
  assign read_go = src_valid && !ring_full && !(wr_valid && !wr_full) && req_free;
  assign src_ready = read_go;
  assign req_valid_o = req_valid_q;
  assign req_o.op = req_op_q;
  assign req_o.amo = '0;  // No request is atomic.
  assign req_o.line = req_line_q;
  assign req_o.wdata = req_wdata_q;
  assign req_o.be = req_be_q;
  assign req_tag_o = req_tag_q;

  always_ff @(posedge clk_i) begin
    if (req_free) req_valid_q <= write_go || read_go;
    if (write_go) begin
      req_op_q <= tern_pkg::MEM_WRITE;
      req_line_q <= wr_line;
      req_wdata_q <= wr_data;
      req_be_q <= wr_be;
      req_tag_q <= {2'b01, wr_tag};
    end
    if (read_go) begin
      req_op_q <= tern_pkg::MEM_READ;
      req_line_q <= src_line;
      req_tag_q <= {2'b00, read_tag};
    end
    if (rst_i) req_valid_q <= 1'b0;
  end

  // Writes in flight are answered in any order and retired in order, so the first fault is that of the lowest byte.
  logic [31:0] wr_va[0:63];
  logic [7:0] wr_code[0:63];
  logic [63:0] wr_done_q;
  logic [6:0] wr_head_q, wr_tail_q;
  logic retire, write_bad_q, read_bad_q;
  logic [7:0] code_q, head_code;
  logic [31:0] va_q;

  assign wr_tag = wr_tail_q[5:0];
  assign wr_full = wr_tail_q == {~wr_head_q[6], wr_head_q[5:0]};
  assign wr_empty = wr_tail_q == wr_head_q;
  assign retire = wr_done_q[wr_head_q[5:0]];
  assign head_code = wr_code[wr_head_q[5:0]];
  assign bad = write_bad_q || read_bad_q;
  always_comb begin
    status_o = '0;
    status_o.done = done_q;
    status_o.faulted = fault_q;
    status_o.stopped = stopped_q;
    status_o.fault.code = code_q;
    status_o.fault.access = {1'b0, write_bad_q};
    status_o.fault.va = va_q;
  end

  always_ff @(posedge clk_i) begin
    if (write_go) begin
      wr_va[wr_tag] <= {wr_line[25:0], wr_start};
      wr_tail_q <= wr_tail_q + 1'b1;
    end
    if (rsp_valid_i && rsp_tag_i[6]) begin
      wr_done_q[rsp_tag_i[5:0]] <= 1'b1;
      wr_code[rsp_tag_i[5:0]] <= rsp_i.fault;
    end
    if (retire) begin
      wr_done_q[wr_head_q[5:0]] <= 1'b0;
      wr_head_q <= wr_head_q + 1'b1;
      if (|head_code && !write_bad_q) begin
        write_bad_q <= 1'b1;
        code_q <= head_code;
        va_q <= wr_va[wr_head_q[5:0]];
      end
    end
    if (source_bad && state_q == S_RUN && !bad && !(retire && |head_code)) begin
      read_bad_q <= 1'b1;
      code_q <= have_fault;
      va_q <= have_meta[31:0];
    end

    done_q <= 1'b0;
    fault_q <= 1'b0;
    stopped_q <= 1'b0;
    case (state_q)
      S_IDLE:
      if (start) begin
        state_q <= start_i.resume ? S_RESTORE : S_LOAD;
        write_bad_q <= 1'b0;
        read_bad_q <= 1'b0;
      end
      S_RESTORE: if (restore_valid_i && restore_i.last) state_q <= S_LOAD;
      S_LOAD: begin
        state_q <= over ? S_IDLE : S_RUN;
        done_q <= over;
      end
      S_RUN: if (bad || halt || !dst_active) state_q <= S_DRAIN;
      S_DRAIN:
      if (ring_drained && align_idle && wr_empty) begin
        state_q <= bad || over ? S_IDLE : S_SAVE;
        done_q <= !bad && over;
        fault_q <= bad;
        stopped_q <= !bad && !over;
      end
      default: if (save_ready_i) state_q <= S_IDLE;
    endcase
    if (rst_i) begin
      state_q <= S_IDLE;
      done_q <= 1'b0;
      fault_q <= 1'b0;
      stopped_q <= 1'b0;
      wr_done_q <= '0;
      wr_head_q <= '0;
      wr_tail_q <= '0;
      write_bad_q <= 1'b0;
      read_bad_q <= 1'b0;
    end
  end
endmodule
