// SPDX-License-Identifier: Apache-2.0
// The executor for copy, fill and pte_copy packets: boxes of bytes, any alignment, whole lines on the memory channel.
//
// Contract: the executor interface, without stop and streams: it ends by itself. Of several faults the one of the lowest
// byte in the order of the copy is reported, a write before a read; earlier lines may be written, and some later ones.
// A copy reads ahead 64 lines and keeps 64 writes in flight, so with one request a cycle it moves a line every two
// cycles, and a fill one every cycle. Source and destination must not overlap: lines in flight are not compared.
// Preemption saves nothing of it: a buffer is cut after its packet.
// How: two walkers over the box. One reads source lines into the ring; the other takes destination lines, pairs them
// with source lines, and feeds mover_align. A source row that starts later in its line than the destination row does
// first loads one line without a destination (prime). Rows need no common alignment: the distance is found at each row.
module mover (
    input  logic          clk_i,
    input  logic          rst_i,
    input  logic          start_valid_i,
    output logic          start_ready_o,
    input  logic [1023:0] start_packet_i,
    input  logic          start_resume_i,
    output logic          done_valid_o,
    output logic          fault_valid_o,
    output logic [   7:0] fault_code_o,
    output logic [   1:0] fault_access_o,
    output logic [  31:0] fault_va_o,
    input  logic          stop_req_i,
    input  logic [   1:0] stop_gran_i,
    output logic          stopped_valid_o,
    output logic          save_valid_o,
    input  logic          save_ready_i,
    output logic [ 511:0] save_data_o,
    output logic          save_last_o,
    input  logic          restore_valid_i,
    output logic          restore_ready_o,
    input  logic [ 511:0] restore_data_i,
    input  logic          restore_last_i,
    output logic          req_valid_o,
    input  logic          req_ready_i,
    output logic [   1:0] req_op_o,
    output logic [  27:0] req_line_o,
    output logic [ 511:0] req_wdata_o,
    output logic [  63:0] req_be_o,
    output logic [   7:0] req_tag_o,       // bit 6: write
    input  logic          rsp_valid_i,
    input  logic [   7:0] rsp_tag_i,
    input  logic [ 511:0] rsp_data_i,
    input  logic [   7:0] rsp_fault_i
);
  localparam logic [1:0] S_IDLE = 2'd0, S_LOAD = 2'd1, S_RUN = 2'd2, S_DRAIN = 2'd3;

  logic [1:0] state_q;
  logic fill_q, done_q, fault_q, stop;
  logic [511:0] pattern_q;
  logic [33:0] src_q, dst_q;
  logic [31:0] width_q, rows_q, slices_q, src_row_q, src_slice_q, dst_row_q, dst_slice_q;
  logic load, empty;
  logic [7:0] opcode;
  logic is_fill, is_ptes;

  logic unused;
  assign unused = &{1'b0, start_packet_i[511:384], start_packet_i[95:66], start_packet_i[31:8], rsp_tag_i[7], start_resume_i,
      stop_req_i, stop_gran_i, save_ready_i, restore_valid_i, restore_data_i, restore_last_i};
  assign stopped_valid_o = 1'b0;
  assign save_valid_o = 1'b0;
  assign save_data_o = '0;
  assign save_last_o = 1'b0;
  assign restore_ready_o = 1'b0;

  assign opcode = start_packet_i[tern_spec_pkg::PKT_OPCODE_LSB+:8];
  assign is_fill = opcode == tern_spec_pkg::PKT_FILL;
  assign is_ptes = opcode == tern_spec_pkg::PKT_PTE_COPY;
  assign start_ready_o = state_q == S_IDLE;
  assign empty = width_q == '0 || rows_q == '0 || slices_q == '0;
  assign load = state_q == S_LOAD && !empty;
  assign done_valid_o = done_q;
  assign fault_valid_o = fault_q;

  // Walkers
  logic src_valid, src_ready, src_last, dst_active, dst_valid, dst_ready, dst_first, dst_last;
  logic [27:0] src_line, dst_line;
  logic [5:0] src_start, dst_start;
  logic [63:0] dst_be;

  /* verilator lint_off PINCONNECTEMPTY */
  mover_rows u_src (
      .clk_i, .rst_i, .load_i(load && !fill_q), .stop_i(stop), .base_i(src_q), .width_i(width_q), .rows_i(rows_q),
      .slices_i(slices_q), .row_pitch_i(src_row_q), .slice_pitch_i(src_slice_q), .active_o(), .valid_o(src_valid),
      .ready_i(src_ready), .line_o(src_line), .start_o(src_start), .be_o(), .first_o(), .last_o(src_last), .end_o()
  );
  mover_rows u_dst (
      .clk_i, .rst_i, .load_i(load), .stop_i(stop), .base_i(dst_q), .width_i(width_q), .rows_i(rows_q),
      .slices_i(slices_q), .row_pitch_i(dst_row_q), .slice_pitch_i(dst_slice_q), .active_o(dst_active),
      .valid_o(dst_valid), .ready_i(dst_ready), .line_o(dst_line), .start_o(dst_start), .be_o(dst_be),
      .first_o(dst_first), .last_o(dst_last), .end_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // Reads: what the ring remembers of one is {last line of its row, byte address}.
  logic ring_full, ring_drained, read_go, have, pop;
  logic [5:0] read_tag;
  logic [32:0] have_meta;
  logic [7:0] have_fault;
  logic [511:0] source;

  read_ring #(.DEPTH_LOG2(6), .META_W(33)) u_ring (
      .clk_i, .rst_i, .clear_i(load), .full_o(ring_full), .drained_o(ring_drained), .alloc_i(read_go),
      .alloc_tag_o(read_tag), .meta_i({src_last, src_line[25:0], src_start}), .rsp_valid_i(rsp_valid_i && !rsp_tag_i[6]),
      .rsp_tag_i(rsp_tag_i[5:0]), .rsp_data_i, .rsp_fault_i, .out_valid_o(have), .out_meta_o(have_meta),
      .out_fault_o(have_fault), .pop_i(pop), .data_o(source)
  );

  // Pairing: a step for mover_align
  logic primed_q, source_ended_q;  // of this row: its prime step is done, its last source line is taken
  logic [5:0] rotate_q, rotate;
  logic prime, takes, step, align_ready, align_idle, source_bad;

  assign rotate = fill_q ? dst_start : dst_start - have_meta[5:0];
  assign prime = dst_first && !primed_q && !fill_q && have_meta[5:0] > dst_start;
  assign takes = !fill_q && !source_ended_q;
  assign source_bad = takes && dst_valid && have && |have_fault;
  assign step = state_q == S_RUN && dst_valid && align_ready && (!takes || (have && !(|have_fault)));
  assign pop = step && takes;
  assign dst_ready = step && !prime;

  always_ff @(posedge clk_i) begin
    if (step) begin
      if (dst_first && !primed_q) rotate_q <= rotate;
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
      .clk_i, .rst_i(rst_i || load), .valid_i(step), .ready_o(align_ready), .load_i(takes), .emit_i(!prime),
      .rotate_i(dst_first && !primed_q ? rotate : rotate_q),
      .split_i(fill_q ? 6'd0 : dst_first && !primed_q ? rotate : rotate_q), .line_i(dst_line), .start_i(dst_start),
      .be_i(dst_be), .data_i(fill_q ? pattern_q : source), .idle_o(align_idle), .valid_o(wr_valid), .ready_i(write_go),
      .line_o(wr_line), .start_o(wr_start), .data_o(wr_data), .be_o(wr_be)
  );

  // One request a cycle, writes first: they make room in the ring. The register keeps it stable while it waits.
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
  assign req_op_o = req_op_q;
  assign req_line_o = req_line_q;
  assign req_wdata_o = req_wdata_q;
  assign req_be_o = req_be_q;
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

  // Writes in flight: answered in any order, retired in order, so the first fault is the lowest.
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
  assign stop = write_bad_q || read_bad_q;
  assign fault_code_o = code_q;
  assign fault_access_o = {1'b0, write_bad_q};
  assign fault_va_o = va_q;

  always_ff @(posedge clk_i) begin
    if (write_go) begin
      wr_va[wr_tag] <= {wr_line[25:0], wr_start};
      wr_tail_q <= wr_tail_q + 1'b1;
    end
    if (rsp_valid_i && rsp_tag_i[6]) begin
      wr_done_q[rsp_tag_i[5:0]] <= 1'b1;
      wr_code[rsp_tag_i[5:0]] <= rsp_fault_i;
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
    if (source_bad && state_q == S_RUN && !stop && !(retire && |head_code)) begin
      read_bad_q <= 1'b1;
      code_q <= have_fault;
      va_q <= have_meta[31:0];
    end

    done_q <= 1'b0;
    fault_q <= 1'b0;
    case (state_q)
      S_IDLE:
      if (start_valid_i) begin
        state_q <= S_LOAD;
        write_bad_q <= 1'b0;
        read_bad_q <= 1'b0;
        fill_q <= is_fill;
        pattern_q <= start_packet_i[tern_spec_pkg::PKT_FILL_PATTERN_LSB+:512];
        src_q <= start_packet_i[tern_spec_pkg::PKT_COPY_SRC_LO_LSB+:34];
        dst_q <= is_fill ? start_packet_i[tern_spec_pkg::PKT_FILL_DST_LO_LSB+:34] :
            start_packet_i[tern_spec_pkg::PKT_COPY_DST_LO_LSB+:34];
        width_q <= is_fill ? start_packet_i[tern_spec_pkg::PKT_FILL_WIDTH_LSB+:32] :
            is_ptes ? {19'b0, start_packet_i[tern_spec_pkg::PKT_PTE_COPY_COUNT_LSB+:11], 2'b0} :
            start_packet_i[tern_spec_pkg::PKT_COPY_WIDTH_LSB+:32];
        rows_q <= is_fill ? start_packet_i[tern_spec_pkg::PKT_FILL_ROWS_LSB+:32] :
            is_ptes ? 32'd1 : start_packet_i[tern_spec_pkg::PKT_COPY_ROWS_LSB+:32];
        slices_q <= is_fill ? start_packet_i[tern_spec_pkg::PKT_FILL_SLICES_LSB+:32] :
            is_ptes ? 32'd1 : start_packet_i[tern_spec_pkg::PKT_COPY_SLICES_LSB+:32];
        src_row_q <= start_packet_i[tern_spec_pkg::PKT_COPY_SRC_ROW_LSB+:32];
        src_slice_q <= start_packet_i[tern_spec_pkg::PKT_COPY_SRC_SLICE_LSB+:32];
        dst_row_q <= is_fill ? start_packet_i[tern_spec_pkg::PKT_FILL_DST_ROW_LSB+:32] :
            start_packet_i[tern_spec_pkg::PKT_COPY_DST_ROW_LSB+:32];
        dst_slice_q <= is_fill ? start_packet_i[tern_spec_pkg::PKT_FILL_DST_SLICE_LSB+:32] :
            start_packet_i[tern_spec_pkg::PKT_COPY_DST_SLICE_LSB+:32];
      end
      S_LOAD: begin
        state_q <= empty ? S_IDLE : S_RUN;
        done_q <= empty;
      end
      S_RUN: if (stop || !dst_active) state_q <= S_DRAIN;
      default:
      if (ring_drained && align_idle && wr_empty) begin
        state_q <= S_IDLE;
        done_q <= !stop;
        fault_q <= stop;
      end
    endcase
    if (rst_i) begin
      state_q <= S_IDLE;
      done_q <= 1'b0;
      fault_q <= 1'b0;
      wr_done_q <= '0;
      wr_head_q <= '0;
      wr_tail_q <= '0;
      write_bad_q <= 1'b0;
      read_bad_q <= 1'b0;
    end
  end
endmodule
