// SPDX-License-Identifier: Apache-2.0
// mover: random copies, fills and pte_copies against byte arrays, over a memory that answers in any order and sometimes
// with a fault; stopped at random and at every cycle and resumed in the other one of two instances, or resumed at places
// where this mover does not stop; and how fast a large copy and a large fill are.
module tb;
  localparam int BYTES = 1 << 17;
  localparam int LINES = BYTES / 64;
  localparam int PENDING = 192;

  logic clk = 1'b0, rst = 1'b1;
  logic sel = 1'b0, start_valid = 1'b0, resume = 1'b0, start_ready, done, fault;  // sel: the instance at work
  logic [1023:0] pkt;
  logic [7:0] code;
  logic [1:0] access;
  logic [31:0] va;
  logic req_valid, req_ready = 1'b0, rsp_valid = 1'b0;
  logic [1:0] op;
  logic [27:0] line;
  logic [511:0] wdata, rsp_data;
  logic [63:0] be;
  logic [7:0] tag, rsp_tag, rsp_fault;
  logic stop_req = 1'b0, stopped, save_valid, save_ready = 1'b0, save_last, restore_valid = 1'b0, restore_ready;
  logic [1:0] stop_gran = 2'd0;
  logic [511:0] save_data, restore_data;

  logic [1:0] a_start_ready, a_done, a_fault, a_req_valid, a_stopped, a_save_valid, a_save_last, a_restore_ready;
  logic [7:0] a_code[2], a_tag[2];
  logic [1:0] a_access[2], a_op[2];
  logic [31:0] a_va[2];
  logic [27:0] a_line[2];
  logic [511:0] a_wdata[2], a_save_data[2];
  logic [63:0] a_be[2];

  for (genvar d = 0; d < 2; d++) begin : g_dut
    mover dut (
        .clk_i(clk), .rst_i(rst), .start_valid_i(start_valid && sel == d), .start_ready_o(a_start_ready[d]),
        .start_packet_i(pkt), .start_resume_i(resume), .done_valid_o(a_done[d]), .fault_valid_o(a_fault[d]),
        .fault_code_o(a_code[d]), .fault_access_o(a_access[d]), .fault_va_o(a_va[d]),
        .stop_req_i(stop_req && sel == d), .stop_gran_i(stop_gran), .stopped_valid_o(a_stopped[d]),
        .save_valid_o(a_save_valid[d]), .save_ready_i(save_ready && sel == d), .save_data_o(a_save_data[d]),
        .save_last_o(a_save_last[d]), .restore_valid_i(restore_valid && sel == d), .restore_ready_o(a_restore_ready[d]),
        .restore_data_i(restore_data), .restore_last_i(1'b1), .req_valid_o(a_req_valid[d]),
        .req_ready_i(req_ready && sel == d), .req_op_o(a_op[d]), .req_line_o(a_line[d]), .req_wdata_o(a_wdata[d]),
        .req_be_o(a_be[d]), .req_tag_o(a_tag[d]), .rsp_valid_i(rsp_valid && sel == d), .rsp_tag_i(rsp_tag),
        .rsp_data_i(rsp_data), .rsp_fault_i(rsp_fault)
    );
  end
  assign {start_ready, done, fault, req_valid} = {a_start_ready[sel], a_done[sel], a_fault[sel], a_req_valid[sel]};
  assign {stopped, save_valid, save_last} = {a_stopped[sel], a_save_valid[sel], a_save_last[sel]};
  assign restore_ready = a_restore_ready[sel];
  assign {code, access, va, save_data} = {a_code[sel], a_access[sel], a_va[sel], a_save_data[sel]};
  assign {op, line, wdata, be, tag} = {a_op[sel], a_line[sel], a_wdata[sel], a_be[sel], a_tag[sel]};

  byte unsigned mem[BYTES], prior[BYTES], expected[BYTES];
  int seed, count, cycle, errors, in_flight, bad_line;  // bad_line: answers with a fault
  int stops, late, quiet;                                // late: requests since the stop; quiet: cycles without any in flight
  logic fast, sharp;                                     // constant latency, always ready; only stops at once

  // Memory: takes effect on acceptance, answers later.
  logic [7:0] p_tag[PENDING], p_fault[PENDING];
  logic [511:0] p_data[PENDING];
  int p_due[PENDING];
  logic p_used[PENDING];
  logic stalled_q = 1'b0;
  logic [27:0] line_q;
  logic [511:0] wdata_q;
  logic [63:0] be_q;
  logic [9:0] other_q;

  task automatic take();
    int slot = -1;
    for (int i = 0; i < PENDING; i++) if (!p_used[i]) slot = i;
    if (slot < 0) $fatal(1, "more in flight than tags");
    for (int i = 0; i < PENDING; i++) if (p_used[i] && p_tag[i] == tag) $fatal(1, "tag %h is in flight", tag);
    p_used[slot] = 1'b1;
    p_tag[slot] = tag;
    p_due[slot] = fast ? cycle + 60 : cycle + 1 + $urandom_range(80);
    p_fault[slot] = int'(line) == bad_line ? 8'd1 : 8'd0;
    p_data[slot] = {16{32'hdeadbeef}};
    if (int'(line) >= LINES) $fatal(1, "line %h is outside of everything", line);
    if (p_fault[slot] == 0)
      for (int b = 0; b < 64; b++)
        if (op == 2'd0) p_data[slot][8*b+:8] = mem[64*int'(line)+b];
        else if (be[b]) mem[64*int'(line)+b] = wdata[8*b+:8];
    in_flight++;
  endtask

  always @(posedge clk) begin
    int first = $urandom_range(PENDING - 1), pick = -1;
    if (stalled_q && !rst && (!req_valid || line != line_q || {op, tag} != other_q ||
        (op == 2'd1 && (wdata != wdata_q || be != be_q)))) $fatal(1, "a stalled request changed");
    stalled_q <= req_valid && !req_ready;
    {line_q, wdata_q, be_q, other_q} <= {line, wdata, be, op, tag};
    if (a_req_valid[!sel] && !rst) $fatal(1, "the other one asks memory");
    if (req_valid && req_ready && !rst) begin
      take();
      late++;
    end
    if (!(stop_req && stop_gran[1])) late = 0;
    if (late > 6) $fatal(1, "goes on after the stop");
    quiet = in_flight == 0 && !rsp_valid && !restore_ready && stop_req && stop_gran[1] ? quiet + 1 : 0;
    // out of the 64 that may be in flight, one write a cycle is retired
    if (quiet > 80) $fatal(1, "does not stop when all is answered");
    rsp_valid <= 1'b0;
    for (int k = 0; k < PENDING; k++) begin
      int i = (first + k) % PENDING;
      if (p_used[i] && p_due[i] <= cycle && (pick < 0 || (fast && p_due[i] < p_due[pick]))) pick = i;
    end
    if (pick >= 0) begin
      rsp_valid <= 1'b1;
      rsp_tag <= p_tag[pick];
      rsp_data <= p_data[pick];
      rsp_fault <= p_fault[pick];
      p_used[pick] = 1'b0;
      in_flight--;
    end
    req_ready <= fast || $urandom_range(3) != 0;
    cycle <= cycle + 1;
    if ((done || fault || stopped) && in_flight != 0) $fatal(1, "ended with %0d requests in flight", in_flight);
  end

  // The box at hand. kind 0: copy, 1: fill, 2: pte_copy
  int kind, src, dst, width, rows, slices, src_row, src_slice, dst_row, dst_slice;
  byte unsigned pattern[64];

  task automatic make();
    pkt = '0;
    for (int i = 0; i < 64; i++) pattern[i] = 8'($urandom);
    if (kind == 2) begin
      rows = 1;
      slices = 1;
      src_row = 0;
      src_slice = 0;
      dst_row = 0;
      dst_slice = 0;
    end
    if (kind == 1) begin
      pkt[7:0] = tern_spec_pkg::PKT_FILL;
      pkt[tern_spec_pkg::PKT_FILL_DST_LO_LSB+:32] = dst;
      pkt[tern_spec_pkg::PKT_FILL_WIDTH_LSB+:32] = width;
      pkt[tern_spec_pkg::PKT_FILL_ROWS_LSB+:32] = rows;
      pkt[tern_spec_pkg::PKT_FILL_SLICES_LSB+:32] = slices;
      pkt[tern_spec_pkg::PKT_FILL_DST_ROW_LSB+:32] = dst_row;
      pkt[tern_spec_pkg::PKT_FILL_DST_SLICE_LSB+:32] = dst_slice;
      for (int i = 0; i < 64; i++) pkt[tern_spec_pkg::PKT_FILL_PATTERN_LSB+8*i+:8] = pattern[i];
    end else begin
      pkt[7:0] = kind == 2 ? tern_spec_pkg::PKT_PTE_COPY : tern_spec_pkg::PKT_COPY;
      pkt[tern_spec_pkg::PKT_COPY_SRC_LO_LSB+:32] = src;
      pkt[tern_spec_pkg::PKT_COPY_DST_LO_LSB+:32] = dst;
      pkt[tern_spec_pkg::PKT_COPY_WIDTH_LSB+:32] = kind == 2 ? width / 4 : width;  // the count is there too
      if (kind == 0) begin
        pkt[tern_spec_pkg::PKT_COPY_ROWS_LSB+:32] = rows;
        pkt[tern_spec_pkg::PKT_COPY_SLICES_LSB+:32] = slices;
        pkt[tern_spec_pkg::PKT_COPY_SRC_ROW_LSB+:32] = src_row;
        pkt[tern_spec_pkg::PKT_COPY_SRC_SLICE_LSB+:32] = src_slice;
        pkt[tern_spec_pkg::PKT_COPY_DST_ROW_LSB+:32] = dst_row;
        pkt[tern_spec_pkg::PKT_COPY_DST_SLICE_LSB+:32] = dst_slice;
      end
    end
    for (int i = 0; i < BYTES; i++) mem[i] = 8'd5 * mem[i] + 8'd3;  // nothing is there already
    prior = mem;
  endtask

  // What memory holds when so many bytes of the box are written
  task automatic expect_bytes(input int n);
    expected = prior;
    for (int z = 0; z < slices; z++)
      for (int y = 0; y < rows; y++)
        for (int x = 0; x < width; x++)
          if ((z * rows + y) * width + x < n)
            expected[dst+z*dst_slice+y*dst_row+x] = kind == 1 ? pattern[x%64] : expected[src+z*src_slice+y*src_row+x];
  endtask

  // The state at that place; the first byte of the next row, if a row has ended
  function automatic [511:0] state_at(input int n);
    int x = n % width, y = n / width % rows, z = n / width / rows;
    logic [511:0] s = '0;
    s[tern_spec_pkg::CTX_MOVER_STATE_SLICES_LEFT_LSB+:32] = slices - z;
    s[tern_spec_pkg::CTX_MOVER_STATE_ROWS_LEFT_LSB+:32] = rows - y;
    s[tern_spec_pkg::CTX_MOVER_STATE_LEFT_LSB+:32] = width - x;
    s[tern_spec_pkg::CTX_MOVER_STATE_DST_ROW_LO_LSB+:34] = 34'(dst + z * dst_slice + y * dst_row);
    s[tern_spec_pkg::CTX_MOVER_STATE_DST_SLICE_LO_LSB+:34] = 34'(dst + z * dst_slice);
    if (kind != 1) begin
      s[tern_spec_pkg::CTX_MOVER_STATE_SRC_ROW_LO_LSB+:34] = 34'(src + z * src_slice + y * src_row);
      s[tern_spec_pkg::CTX_MOVER_STATE_SRC_SLICE_LO_LSB+:34] = 34'(src + z * src_slice);
    end
    return s;
  endfunction

  task automatic compare(input string what);
    for (int i = 0; i < BYTES; i++)
      if (mem[i] != expected[i]) begin
        errors++;
        $display("%s: byte %h is %h, expected %h: kind %0d src %h dst %h width %0d rows %0d slices %0d", what, i, mem[i],
                 expected[i], kind, src, dst, width, rows, slices);
        break;
      end
    if (errors > 5) $fatal(1, "too many errors");
  endtask

  // Starts or resumes, and asks to stop after `after` cycles (never, if negative); until it has ended or stopped.
  task automatic go(input int after, output logic was_stopped);
    int begun;
    @(negedge clk) start_valid = 1'b1;
    if (stop_req && !resume) $fatal(1, "a stop is left over");
    while (!start_ready) @(negedge clk);
    begun = cycle;
    @(negedge clk) start_valid = 1'b0;
    if (resume) begin
      stop_req = after == 0;  // in the restore stream: takes effect after it
      stop_gran = 2'd3;
      while ($urandom_range(2) != 0) @(negedge clk);
      restore_valid = 1'b1;
      @(posedge clk) if (!restore_ready) $fatal(1, "takes no state");
      @(negedge clk) restore_valid = 1'b0;
    end
    while (!done && !fault && !stopped) begin
      if (after >= 0 && cycle - begun >= after) begin
        if (!stop_req) stop_gran = {sharp, 1'b0} | 2'($urandom);
        else if (!stop_gran[1] && $urandom_range(20) == 0) stop_gran = {1'b1, 1'($urandom)};
        stop_req = 1'b1;
      end
      @(negedge clk);
      if (cycle - begun > 100000) $fatal(1, "does not end");
    end
    if (32'(done) + 32'(fault) + 32'(stopped) != 1) $fatal(1, "more than one end");
    if (stopped && !stop_req) $fatal(1, "stops by itself");
    if (stopped && !stop_gran[1]) $fatal(1, "stops between packets only");
    stop_req = 1'b0;
    was_stopped = stopped;
  endtask

  // Takes the state of a stopped one, and looks that it is the place up to which memory is written.
  task automatic save();
    int n;
    while ($urandom_range(2) != 0) @(negedge clk);
    save_ready = 1'b1;
    while (!save_valid) @(posedge clk);
    if (!save_last) $fatal(1, "more than a line of state");
    restore_data = save_data;
    @(negedge clk) save_ready = 1'b0;
    if (!start_ready) $fatal(1, "not idle after its state");
    n = ((slices - int'(restore_data[tern_spec_pkg::CTX_MOVER_STATE_SLICES_LEFT_LSB+:32])) * rows +
         rows - int'(restore_data[tern_spec_pkg::CTX_MOVER_STATE_ROWS_LEFT_LSB+:32])) * width +
         width - int'(restore_data[tern_spec_pkg::CTX_MOVER_STATE_LEFT_LSB+:32]);
    if (n < 0 || n >= slices * rows * width || restore_data != state_at(n)) begin
      errors++;
      $display("state %h is no place", restore_data);
    end
    expect_bytes(n);
    compare("stopped");
    stops++;
  endtask

  task automatic ended();
    logic hits_r = 1'b0, hits_w = 1'b0;
    for (int z = 0; z < slices; z++)
      for (int y = 0; y < rows; y++)
        for (int x = 0; x < width; x++) begin
          hits_r |= kind != 1 && (src + z * src_slice + y * src_row + x) / 64 == bad_line;
          hits_w |= (dst + z * dst_slice + y * dst_row + x) / 64 == bad_line;
        end
    expect_bytes(slices * rows * width);
    if (fault != (hits_r || hits_w)) begin
      errors++;
      $display("fault %b, expected %b %b", fault, hits_r, hits_w);
    end else if (!fault) compare("ended");
    // Earlier bytes are written or not; the address is the first byte that the faulting line was touched for.
    else if (code != 8'd1 || int'(va) / 64 != bad_line || access != (hits_w ? 2'd1 : 2'd0)) begin
      errors++;
      $display("fault %0d access %0d at %h", code, access, va);
    end
  endtask

  // The whole box: each piece in the other instance. The first stop after `first` cycles, further ones after up to `most`.
  task automatic run(input int first, input int most, input int pieces);
    logic again;
    int left = pieces;
    make();
    go(first, again);
    while (again) begin
      save();
      sel = !sel;
      resume = 1'b1;
      left--;
      go(left > 0 && $urandom_range(9) != 0 ? $urandom_range(most) : -1, again);
    end
    resume = 1'b0;
    ended();
  endtask

  // Goes on from a place that another engine's mover, or the model's, may have saved.
  task automatic run_from(input int n);
    logic unused;
    make();
    expect_bytes(n);
    mem = expected;
    restore_data = state_at(n);
    resume = 1'b1;
    go(-1, unused);
    resume = 1'b0;
    ended();
  endtask

  task automatic measure(input int a_kind, input int a_src, input int a_dst);
    int spent;
    {kind, src, dst, width, rows, slices} = {a_kind, a_src, a_dst, 32'd50000, 32'd1, 32'd1};
    spent = cycle;
    run(-1, 0, 0);
    spent = cycle - spent;
    $display("kind %0d: %0d bytes in %0d cycles", kind, width, spent);
    // one request a cycle: 32 bytes of a copy, 64 of a fill, less the latency at both ends
    if (spent > width / (kind == 1 ? 64 : 32) + 200) errors++;
    // With all in flight that can be
    run(600, 0, 0);
  endtask

  task automatic choose(input int big);
    int pitch;
    width = $urandom_range(big);
    rows = $urandom_range(9) == 0 ? 0 : 1 + $urandom_range(3);
    slices = $urandom_range(9) == 0 ? 0 : 1 + $urandom_range(2);
    pitch = width + $urandom_range(70);
    src = $urandom_range(8000);
    dst = BYTES / 2 + $urandom_range(8000);
    kind = $urandom_range(5);
    kind = kind < 3 ? 0 : kind < 5 ? 1 : 2;
    src_row = $urandom_range(1500);
    src_slice = $urandom_range(1500);
    dst_row = pitch;
    dst_slice = pitch * rows + $urandom_range(70);
    if (kind == 2) begin
      src &= ~3;
      dst &= ~3;
      width = 4 * (1 + $urandom_range(big / 7));
    end
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 1000;
    $display("seed %0d", seed);
    void'($urandom(seed));
    for (int i = 0; i < BYTES; i++) mem[i] = 8'($urandom);
    for (int i = 0; i < PENDING; i++) p_used[i] = 1'b0;
    fast = 1'b0;
    sharp = 1'b0;
    bad_line = -1;
    repeat (4) @(negedge clk);
    rst = 1'b0;
    for (int n = 0; n < count; n++) begin
      choose(n % 4 == 0 ? 1500 : 200);
      bad_line = n % 5 == 0 ? ($urandom_range(1) == 0 ? src : dst) / 64 + $urandom_range(20) : -1;
      case (n % 4)
        0, 1: run($urandom_range(200), 150, 20);
        2: run(-1, 0, 0);
        default: begin
          bad_line = -1;
          if (width * rows * slices == 0) run(-1, 0, 0);
          else if (kind == 2) run_from(4 * $urandom_range(width / 4 - 1));
          else run_from($urandom_range(width * rows * slices - 1));
        end
      endcase
    end
    $display("%0d stops at random", stops);
    if (stops < count / 4) $fatal(1, "hardly ever stopped");
    bad_line = -1;
    sharp = 1'b1;
    for (int n = 0; n < count / 50; n++) begin
      choose(80);
      stops = 0;
      for (int at = 0; at == 0 || stops == at; at++) run(at, 0, 1);
    end
    fast = 1'b1;
    repeat (200) @(negedge clk);
    measure(0, 64, BYTES / 2);
    measure(0, 77, BYTES / 2 + 5);
    measure(1, 0, BYTES / 2);
    if (errors != 0) $fatal(1, "%0d errors", errors);
    $display("PASS");
    $finish;
  end

  always #5 clk = ~clk;
endmodule
