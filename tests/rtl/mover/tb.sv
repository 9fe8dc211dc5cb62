// SPDX-License-Identifier: Apache-2.0
// mover: random copies, fills and pte_copies against byte arrays, over a memory that answers in any order and sometimes
// with a fault; and how fast a large copy and a large fill are.
module tb;
  localparam int BYTES = 1 << 17;
  localparam int LINES = BYTES / 64;
  localparam int PENDING = 192;

  logic clk = 1'b0, rst = 1'b1;
  logic start_valid = 1'b0, start_ready, done, fault;
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

  mover dut (
      .clk_i(clk), .rst_i(rst), .start_valid_i(start_valid), .start_ready_o(start_ready), .start_packet_i(pkt),
      .done_valid_o(done), .fault_valid_o(fault), .fault_code_o(code), .fault_access_o(access), .fault_va_o(va),
      .req_valid_o(req_valid), .req_ready_i(req_ready), .req_op_o(op), .req_line_o(line), .req_wdata_o(wdata),
      .req_be_o(be), .req_tag_o(tag), .rsp_valid_i(rsp_valid), .rsp_tag_i(rsp_tag), .rsp_data_i(rsp_data),
      .rsp_fault_i(rsp_fault)
  );

  byte unsigned mem[BYTES], expected[BYTES];
  int seed, count, cycle, errors, in_flight, bad_line;  // bad_line: answers with a fault
  logic fast;                                            // constant latency, always ready

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
    if (req_valid && req_ready && !rst) take();
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
    if ((done || fault) && in_flight != 0) $fatal(1, "ended with %0d requests in flight", in_flight);
  end

  // kind 0: copy, 1: fill, 2: pte_copy
  task automatic run(input int kind, input int src, input int dst, input int width, input int rows, input int slices,
                     input int src_row, input int src_slice, input int dst_row, input int dst_slice);
    logic hits_r = 1'b0, hits_w = 1'b0;
    int spent;
    byte unsigned pattern[64];
    pkt = '0;
    for (int i = 0; i < 64; i++) pattern[i] = 8'($urandom);
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
    // The box in order, up to the first faulting byte
    expected = mem;
    for (int z = 0; z < slices; z++)
      for (int y = 0; y < rows; y++)
        for (int x = 0; x < width; x++) begin
          int s = src + z * src_slice + y * src_row + x, d = dst + z * dst_slice + y * dst_row + x;
          hits_r |= kind != 1 && s / 64 == bad_line;
          hits_w |= d / 64 == bad_line;
          expected[d] = kind == 1 ? pattern[x%64] : expected[s];
        end
    @(negedge clk) start_valid = 1'b1;
    while (!start_ready) @(negedge clk);
    spent = cycle;
    @(negedge clk) start_valid = 1'b0;
    while (!done && !fault) begin
      @(negedge clk);
      if (cycle - spent > 100000) $fatal(1, "does not end");
    end
    spent = cycle - spent;
    if (fault != (hits_r || hits_w) || (done && fault)) begin
      errors++;
      $display("fault %b, expected %b %b", fault, hits_r, hits_w);
    end else if (fault) begin
      // Earlier bytes are written or not; the address is the first byte that the faulting line was touched for.
      if (code != 8'd1 || int'(va) / 64 != bad_line || access != (hits_w ? 2'd1 : 2'd0)) begin
        errors++;
        $display("fault %0d access %0d at %h", code, access, va);
      end
    end else
      for (int i = 0; i < BYTES; i++)
        if (mem[i] != expected[i]) begin
          errors++;
          $display("byte %h is %h, expected %h: kind %0d src %h dst %h width %0d", i, mem[i], expected[i], kind, src, dst,
                   width);
          break;
        end
    if (fast) begin
      $display("kind %0d: %0d bytes in %0d cycles", kind, width, spent);
      // one request a cycle: 32 bytes of a copy, 64 of a fill, less the latency at both ends
      if (spent > width / (kind == 1 ? 64 : 32) + 200) errors++;
    end
    if (errors > 5) $fatal(1, "too many errors");
  endtask

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    if (!$value$plusargs("count=%d", count)) count = 400;
    $display("seed %0d", seed);
    void'($urandom(seed));
    for (int i = 0; i < BYTES; i++) mem[i] = 8'($urandom);
    for (int i = 0; i < PENDING; i++) p_used[i] = 1'b0;
    fast = 1'b0;
    bad_line = -1;
    repeat (4) @(negedge clk);
    rst = 1'b0;
    for (int n = 0; n < count; n++) begin
      int kind = $urandom_range(5), width = $urandom_range(n % 4 == 0 ? 1500 : 200);
      int rows = $urandom_range(4), slices = $urandom_range(3), pitch = width + $urandom_range(70);
      int src = $urandom_range(8000), dst = BYTES / 2 + $urandom_range(8000);
      kind = kind < 3 ? 0 : kind < 5 ? 1 : 2;
      bad_line = n % 5 == 0 ? ($urandom_range(1) == 0 ? src : dst) / 64 + $urandom_range(20) : -1;
      if (kind == 2) run(2, src & ~3, dst & ~3, 4 * (1 + $urandom_range(200)), 1, 1, 0, 0, 0, 0);
      else
        run(kind, src, dst, width, rows, slices, $urandom_range(1500), $urandom_range(1500), pitch,
            pitch * rows + $urandom_range(70));
    end
    fast = 1'b1;
    bad_line = -1;
    repeat (200) @(negedge clk);
    run(0, 64, BYTES / 2, 50000, 1, 1, 0, 0, 0, 0);
    run(0, 77, BYTES / 2 + 5, 50000, 1, 1, 0, 0, 0, 0);
    run(1, 0, BYTES / 2, 50000, 1, 1, 0, 0, 0, 0);
    if (errors != 0) $fatal(1, "%0d errors", errors);
    $display("PASS");
    $finish;
  end

  always #5 clk = ~clk;
endmodule
