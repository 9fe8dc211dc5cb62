// SPDX-License-Identifier: Apache-2.0
// Executes the commands of the dirty registers: walks over a range of the plane, writes the bits that it finds to
// memory, and counts them.
//
// Result (docs/hardware/memory.md), from the target on: a bitmap with a bit for each line of LINE pages that the range
// touches, in lines of LINE bits; then the lines of the plane themselves. Each of these has its own place, but is
// written only if its bit in the bitmap is set. Pages outside the range read zero.
// Contract: a command finds every write that was answered before it began. query_clear clears bits in the access that
// reads them. If memory refuses a line of the plane, its bits are set again and the bitmap leaves it out. If memory
// refuses a line of the bitmap, the driver cannot tell it from the previous contents of memory; then every page of the
// range in the lines that it names is set again. No write is thus lost. Both cases are bus_error_o. A command that
// cannot be executed is error_o and changes nothing. cmd_valid_i is ignored while busy_o is high.
// Implementation: a section is LINE lines. The marks of LOOK lines are read at once. Lines with a mark are read, one
// word a cycle, assembled, and given to dirty_deliver. When memory has taken all lines of a section, the section's line
// of the bitmap follows. At most 2^DEPTH_LOG2 lines are in flight, so that each can be set again.
// Preemption: no state is saved; a command belongs to the driver and not to an engine.
module dirty_command #(
    parameter int UNITS      = 1 << 20,  // Bits of the plane: one for each page.
    parameter int LINE       = 512,      // Bits of a line.
    parameter int WORD       = 128,      // Bits of a word, which an access reads; divides LINE.
    parameter int PAGE_LOG2  = 12,       // log2 of the bytes that one dirty bit covers.
    parameter int DEPTH_LOG2 = 4,        // log2 of the lines in flight.
    parameter int LOOK_LOG2  = 6,        // log2 of the marks that are read at once.
    parameter int TAG_W      = 16        // Bits of the tag of an access.
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic [          22:0] mem_pages_i,
    // Registers dirty.*.
    input  logic                  cmd_valid_i,  // Pulse.
    input  logic [           1:0] cmd_op_i,
    input  logic [          31:0] cmd_first_i,
    input  logic [          31:0] cmd_count_i,
    input  logic [          63:0] cmd_target_i,
    output logic                  busy_o,
    output logic                  error_o,
    output logic                  bus_error_o,
    output logic [          31:0] found_o,
    // Accesses to the planes.
    output logic                  acc_valid_o,
    input  logic                  acc_ready_i,
    output logic                  acc_first_o,
    output logic                  acc_last_o,
    output logic                  acc_clear_o,
    output logic                  acc_set_o,
    output logic [          21:0] acc_word_o,
    output logic [      WORD-1:0] acc_mask_o,
    output logic [     TAG_W-1:0] acc_tag_o,
    input  logic                  got_valid_i,
    input  logic [      WORD-1:0] got_data_i,
    input  logic [     TAG_W-1:0] got_tag_i,
    output logic [          15:0] look_o,
    input  logic [(1<<LOOK_LOG2)-1:0] marks_i,
    // Lines of the result, and the answers of memory.
    output logic                  wr_valid_o,
    input  logic                  wr_ready_i,
    output logic [          27:0] wr_line_o,
    output logic [      LINE-1:0] wr_data_o,
    output logic [DEPTH_LOG2-1:0] wr_slot_o,
    input  logic                  done_valid_i,
    input  logic [DEPTH_LOG2-1:0] done_slot_i,
    input  logic                  done_error_i
);
  localparam int PER = LINE / WORD;
  localparam int WORD_LOG2 = $clog2(WORD);
  localparam int PER_LOG2 = $clog2(PER);
  localparam int PART_W = PER > 1 ? $clog2(PER) : 1;
  localparam int SECT_W = $clog2(LINE);  // Bits of a line's number in its section.
  localparam int LINE_W = TAG_W - 2;     // Bits of a line's number in the plane or in the result.
  localparam int LOOK = 1 << LOOK_LOG2;
  localparam int GROUPS = (WORD + 15) / 16;
  localparam logic [1:0] COUNT = tern_spec_pkg::REG_DIRTY_COMMAND_OP_COUNT,
      CLEAR = tern_spec_pkg::REG_DIRTY_COMMAND_OP_QUERY_CLEAR;
  // States. CHECK, SUM, LIMIT, START and JUDGE check the command and compute where its result goes. For each section
  // LOOK reads marks, PICK chooses a line, READ reads its words, RESTORE sets the bits of a refused line again, DRAIN
  // waits until memory has taken all lines, and NAMES waits for the line of the bitmap. If it is refused, NAMED looks
  // whether it names a line, REMARK sets the pages of this line, and so on. NEXT goes to the next section. COUNT
  // waits for the last sum.
  localparam logic [3:0] S_IDLE = 4'd0, S_CHECK = 4'd1, S_START = 4'd2, S_LOOK = 4'd3, S_PICK = 4'd4, S_READ = 4'd5,
      S_RESTORE = 4'd6, S_DRAIN = 4'd7, S_NAMES = 4'd8, S_REMARK = 4'd9, S_NEXT = 4'd10, S_COUNT = 4'd11, S_SUM = 4'd12,
      S_LIMIT = 4'd13, S_JUDGE = 4'd14, S_NAMED = 4'd15;

  generate
    if (WORD < 2 || WORD != 1 << $clog2(WORD) || PER != 1 << $clog2(PER) || UNITS > (1 << 22) ||
        UNITS > LINE << (TAG_W - 3)) begin : g_check
      $error("dirty_command: UNITS, LINE, WORD or TAG_W out of range");
    end
  endgenerate

  logic [3:0] state_q;
  logic [1:0] op_q, settle_q;
  logic [31:0] first_q;
  logic [32:0] end_q, units, beyond_q;  // beyond: the line behind the result.
  logic [63:0] target_q;
  logic [21:0] last_q;            // Last page of the range.
  logic [27:0] names_at_q, lines_at_q;
  logic bad_q, over_q, empty_q;
  logic named_q;                  // The refused line of the bitmap names line_q.
  logic [LINE_W-1:0] from_q, to_q, line_q, bound_q, rel;  // Lines: first, last, current, last of section, relative.
  logic [LINE_W-1:0] count, count_q, sections_q;          // Lines of the range; lines of the bitmap.
  logic [LINE_W-1:0] section_q, picked;
  logic [PART_W-1:0] part_q;
  logic [LOOK-1:0] marks_q, marks, pick;
  logic [DEPTH_LOG2:0] under_way_q;
  logic [LINE-1:0] names_q;       // Lines of the section that have been or will be delivered.
  logic last_block, part_done, issue, drop, retire, failed;
  logic [LINE_W-1:0] failed_tag, failed_line_q, at;
  logic [LINE-1:0] failed_data;
  logic [21:0] word, first_word, last_word;
  logic [WORD-1:0] range;

  assign busy_o = state_q != S_IDLE;
  assign units = ({10'b0, mem_pages_i} + 33'((1 << (PAGE_LOG2 - 12)) - 1)) >> (PAGE_LOG2 - 12);
  assign count = to_q - from_q + 1'b1;

  // Words and masks of the accesses.
  assign rel = line_q - from_q;
  assign at = state_q == S_RESTORE ? failed_line_q : line_q;
  assign word = (22'(at) << PER_LOG2) + (PER > 1 ? 22'(part_q) : 22'd0);
  assign first_word = 22'(first_q >> WORD_LOG2);
  assign last_word = last_q >> WORD_LOG2;
  always_comb begin
    for (int i = 0; i < WORD; i++)
      range[i] = (word > first_word || (word == first_word && WORD_LOG2'(i) >= first_q[WORD_LOG2-1:0])) &&
          (word < last_word || (word == last_word && WORD_LOG2'(i) <= last_q[WORD_LOG2-1:0]));
  end

  assign acc_valid_o = state_q == S_READ || state_q == S_RESTORE ||
      (state_q == S_REMARK && named_q);
  assign acc_first_o = part_q == '0;
  assign acc_last_o = part_q == PART_W'(PER - 1);
  assign acc_clear_o = state_q == S_READ && op_q == CLEAR;
  assign acc_set_o = state_q != S_READ;
  assign acc_word_o = word;
  assign acc_mask_o = state_q == S_RESTORE ? failed_data[part_q*WORD+:WORD] : range;
  assign acc_tag_o = {state_q == S_READ, acc_last_o, rel};
  assign part_done = acc_valid_o && acc_ready_i && acc_last_o;
  assign issue = state_q == S_READ && acc_ready_i && acc_first_o;
  assign drop = (state_q == S_RESTORE && part_done) || (state_q == S_NAMES && failed);

  // Marks of LOOK lines, from line_q on. pick is the first one of those that are left.
  assign look_o = 16'(line_q[LINE_W-1:LOOK_LOG2]);
  assign pick = marks_q & ~(marks_q - 1'b1);
  assign last_block = line_q[LINE_W-1:LOOK_LOG2] == bound_q[LINE_W-1:LOOK_LOG2];
  always_comb begin
    picked = {line_q[LINE_W-1:LOOK_LOG2], LOOK_LOG2'(0)};
    for (int i = 0; i < LOOK; i++) begin
      marks[i] = marks_i[i] && LOOK_LOG2'(i) >= line_q[LOOK_LOG2-1:0] &&
          (!last_block || LOOK_LOG2'(i) <= bound_q[LOOK_LOG2-1:0]);
      if (pick[i]) picked = picked | LINE_W'(i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (acc_valid_o && acc_ready_i) part_q <= acc_last_o ? '0 : part_q + 1'b1;
    case (state_q)
      S_IDLE:
      if (cmd_valid_i) begin
        op_q <= cmd_op_i;
        first_q <= cmd_first_i;
        end_q <= {1'b0, cmd_first_i} + {1'b0, cmd_count_i};
        empty_q <= cmd_count_i == '0;
        target_q <= cmd_target_i;
        state_q <= S_CHECK;
      end
      S_CHECK: begin
        last_q <= 22'(end_q - 33'd1);
        from_q <= LINE_W'(first_q >> SECT_W);
        to_q <= LINE_W'((end_q - 33'd1) >> SECT_W);
        bad_q <= op_q == 2'd0 || end_q > units ||
            (op_q != COUNT && (target_q[5:0] != '0 || target_q[63:34] != '0));
        state_q <= S_SUM;
      end
      S_SUM: begin  // count has a cycle of its own, since sums follow from it.
        count_q <= count;
        sections_q <= LINE_W'((32'(count) + LINE - 1) >> SECT_W);
        state_q <= S_LIMIT;
      end
      S_LIMIT: begin  // The sum of three numbers has a cycle of its own.
        beyond_q <= 33'(target_q >> 6) + (empty_q ? '0 : 33'(sections_q) + 33'(count_q));
        state_q <= S_START;
      end
      S_START: begin
        part_q <= '0;
        section_q <= '0;
        line_q <= from_q;
        bound_q <= to_q - from_q >= LINE_W'(LINE) ? from_q + LINE_W'(LINE - 1) : to_q;
        names_at_q <= target_q[33:6];
        lines_at_q <= target_q[33:6] + 28'(sections_q);
        bus_error_o <= 1'b0;
        over_q <= op_q != COUNT && beyond_q > {4'b0, mem_pages_i, 6'b0};
        state_q <= S_JUDGE;
      end
      S_JUDGE: begin
        error_o <= bad_q || over_q;
        state_q <= bad_q || over_q ? S_IDLE : empty_q ? S_COUNT : S_LOOK;
      end
      // A section.
      S_LOOK: begin
        marks_q <= marks;
        state_q <= S_PICK;
      end
      S_PICK:
      if (failed) begin
        failed_line_q <= from_q + failed_tag;
        state_q <= S_RESTORE;
      end else if (marks_q != '0) begin
        line_q <= picked;
        if (!under_way_q[DEPTH_LOG2]) begin
          marks_q <= marks_q & ~pick;
          state_q <= S_READ;
        end
      end else if (last_block) state_q <= S_DRAIN;
      else begin
        line_q <= {line_q[LINE_W-1:LOOK_LOG2] + 1'b1, LOOK_LOG2'(0)};
        state_q <= S_LOOK;
      end
      S_READ: if (part_done) state_q <= S_PICK;
      S_RESTORE: if (part_done) state_q <= S_PICK;
      S_DRAIN:
      if (failed) state_q <= S_PICK;
      else if (under_way_q == '0) state_q <= op_q == COUNT ? S_NEXT : S_NAMES;
      S_NAMES:
      if (retire) state_q <= S_NEXT;
      else if (failed) begin
        bus_error_o <= 1'b1;
        line_q <= from_q + (section_q << SECT_W);
        state_q <= op_q == CLEAR ? S_NAMED : S_NEXT;
      end
      S_NAMED: begin  // The choice among the bits of the bitmap has a cycle of its own.
        named_q <= names_q[rel[SECT_W-1:0]];
        state_q <= S_REMARK;
      end
      S_REMARK:
      if (!named_q || part_done) begin
        line_q <= line_q + 1'b1;
        state_q <= line_q == bound_q ? S_NEXT : S_NAMED;
      end
      S_NEXT: begin
        section_q <= section_q + 1'b1;
        line_q <= bound_q + 1'b1;
        bound_q <= to_q - bound_q > LINE_W'(LINE) ? bound_q + LINE_W'(LINE) : to_q;
        state_q <= bound_q == to_q ? S_COUNT : S_LOOK;
      end
      default: if (settle_q == 2'd3) state_q <= S_IDLE;
    endcase
    if (state_q == S_RESTORE && part_done) bus_error_o <= 1'b1;
    settle_q <= state_q == S_COUNT ? settle_q + 1'b1 : '0;
    if (rst_i) begin
      state_q <= S_IDLE;
      error_o <= 1'b0;
      bus_error_o <= 1'b0;
    end
  end

  // A line is assembled from its words. A line without a bit is not delivered, and a count delivers none.
  logic got, got_last, ends, any_q, push_line_q, push_names;
  logic [LINE_W-1:0] got_rel_q;
  logic [LINE-1:0] line_data_q, push_data;
  logic [27:0] push_at;
  assign got = got_valid_i && got_tag_i[TAG_W-1];
  assign got_last = got && got_tag_i[TAG_W-2];
  assign ends = got_last && (op_q == COUNT || !(any_q || got_data_i != '0));
  assign push_at = push_names ? names_at_q + 28'(section_q) : lines_at_q + 28'(got_rel_q);
  assign push_data = push_names ? names_q : line_data_q;
  assign push_names = state_q == S_DRAIN && !failed && under_way_q == '0 && op_q != COUNT;
  always_ff @(posedge clk_i) begin
    if (got) begin
      line_data_q <= (LINE'(got_data_i) << (LINE - WORD)) | (line_data_q >> WORD);
      got_rel_q <= got_tag_i[LINE_W-1:0];
      any_q <= !got_last && (any_q || got_data_i != '0);
    end
    push_line_q <= got_last && !ends;
    under_way_q <= under_way_q + {{DEPTH_LOG2{1'b0}}, issue || push_names} -
        {{DEPTH_LOG2{1'b0}}, retire || drop} - {{DEPTH_LOG2{1'b0}}, ends};
    if (push_line_q) names_q[got_rel_q[SECT_W-1:0]] <= 1'b1;
    if (state_q == S_RESTORE) names_q[failed_tag[SECT_W-1:0]] <= 1'b0;
    if (state_q == S_START || state_q == S_NEXT) names_q <= '0;
    if (rst_i) begin
      any_q <= 1'b0;
      push_line_q <= 1'b0;
      under_way_q <= '0;
    end
  end

  dirty_deliver #(.TAG_W(LINE_W), .LINE(LINE), .DEPTH_LOG2(DEPTH_LOG2)) u_deliver (
      .clk_i,
      .rst_i,
      .push_i(push_line_q || push_names),
      .push_at_i(push_at),
      .push_tag_i(got_rel_q),
      .push_data_i(push_data),
      .retire_o(retire),
      .failed_o(failed),
      .failed_tag_o(failed_tag),
      .failed_data_o(failed_data),
      .drop_i(drop),
      .wr_valid_o,
      .wr_ready_i,
      .wr_line_o,
      .wr_data_o,
      .wr_slot_o,
      .done_valid_i,
      .done_slot_i,
      .done_error_i
  );

  // Number of bits that were found, in two steps.
  logic [5*GROUPS-1:0] ones_q;
  logic counted_q;
  logic [31:0] sum;
  always_comb begin
    sum = '0;
    for (int g = 0; g < GROUPS; g++) sum = sum + 32'(ones_q[5*g+:5]);
  end
  function automatic logic [4:0] ones(input logic [15:0] bits);
    ones = '0;
    for (int i = 0; i < 16; i++) ones = ones + 5'(bits[i]);
  endfunction
  always_ff @(posedge clk_i) begin
    counted_q <= got;
    if (got) begin
      for (int g = 0; g < GROUPS; g++) ones_q[5*g+:5] <= ones(16'(got_data_i >> (16 * g)));
    end
    if (counted_q) found_o <= found_o + sum;
    if (state_q == S_START || rst_i) found_o <= '0;
    if (rst_i) counted_q <= 1'b0;
  end
endmodule
