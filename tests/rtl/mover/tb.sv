// SPDX-License-Identifier: Apache-2.0
// Bench of mover: random copies, fills and pte_copies against byte arrays, on a memory that answers in any order and
// sometimes with a fault. Packets are stopped at random and at every cycle, and resumed in the other one of two
// instances, or from states that another implementation could save. The cycles of a large copy and a large fill are
// bounded.
module tb;
  localparam int BYTES = 1 << 17;
  localparam int LINES = BYTES / 64;

  // QUIET: up to 64 writes may be in flight at a stop, and one a cycle is retired
  executor_host #(.LINES(LINES), .PENDING(192), .SLOW(80), .LATE(6), .QUIET(80)) host ();
`define EXECUTOR mover
`include "tests/rtl/lib/executor_pair.svh"

  logic [511:0] prior[LINES], expected[LINES];

  // The current box. kind 0: copy, 1: fill, 2: pte_copy
  int kind, src, dst, width, rows, slices, src_row, src_slice, dst_row, dst_slice;
  byte unsigned pattern[64];

  task automatic make();
    logic [1023:0] pkt;
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
      pkt[tern_spec_pkg::PKT_COPY_WIDTH_LSB+:32] = kind == 2 ? width / 4 : width;  // a pte_copy has its count there
      if (kind == 0) begin
        pkt[tern_spec_pkg::PKT_COPY_ROWS_LSB+:32] = rows;
        pkt[tern_spec_pkg::PKT_COPY_SLICES_LSB+:32] = slices;
        pkt[tern_spec_pkg::PKT_COPY_SRC_ROW_LSB+:32] = src_row;
        pkt[tern_spec_pkg::PKT_COPY_SRC_SLICE_LSB+:32] = src_slice;
        pkt[tern_spec_pkg::PKT_COPY_DST_ROW_LSB+:32] = dst_row;
        pkt[tern_spec_pkg::PKT_COPY_DST_SLICE_LSB+:32] = dst_slice;
      end
    end
    host.pkt = pkt;
    for (int l = 0; l < LINES; l++) begin
      for (int w = 0; w < 16; w++) prior[l][32*w+:32] = $urandom;  // random, so that no byte is right by chance
      host.mem.data[l] = prior[l];
    end
  endtask

  // Sets `expected` to the memory after n bytes of the box are written.
  task automatic expect_bytes(input int n);
    for (int l = 0; l < LINES; l++) expected[l] = prior[l];
    for (int z = 0; z < slices; z++)
      for (int y = 0; y < rows; y++)
        for (int x = 0; x < width; x++)
          if ((z * rows + y) * width + x < n) begin
            int to = dst + z * dst_slice + y * dst_row + x, from = src + z * src_slice + y * src_row + x;
            expected[to/64][8*(to%64)+:8] = kind == 1 ? pattern[x%64] : expected[from/64][8*(from%64)+:8];
          end
  endtask

  // Returns the state after n bytes. At the end of a row this is the first byte of the next one.
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
    for (int l = 0; l < LINES; l++)
      if (host.mem.data[l] != expected[l]) begin
        host.fail($sformatf("%s: line %h is %h, expected %h: kind %0d src %h dst %h width %0d rows %0d slices %0d",
                            what, l, host.mem.data[l], expected[l], kind, src, dst, width, rows, slices));
        break;
      end
  endtask

  // Checks that memory is written exactly up to the position in the saved state.
  task automatic saved();
    int n = ((slices - int'(host.state[tern_spec_pkg::CTX_MOVER_STATE_SLICES_LEFT_LSB+:32])) * rows +
             rows - int'(host.state[tern_spec_pkg::CTX_MOVER_STATE_ROWS_LEFT_LSB+:32])) * width +
            width - int'(host.state[tern_spec_pkg::CTX_MOVER_STATE_LEFT_LSB+:32]);
    if (n < 0 || n >= slices * rows * width || host.state != state_at(n))
      host.fail($sformatf("state %h is no place", host.state));
    expect_bytes(n);
    compare("stopped");
  endtask

  task automatic ended();
    logic hits_r = 1'b0, hits_w = 1'b0;
    for (int z = 0; z < slices; z++)
      for (int y = 0; y < rows; y++)
        for (int x = 0; x < width; x++) begin
          hits_r |= kind != 1 && (src + z * src_slice + y * src_row + x) / 64 == host.mem.bad;
          hits_w |= (dst + z * dst_slice + y * dst_row + x) / 64 == host.mem.bad;
        end
    expect_bytes(slices * rows * width);
    if (host.fault != (hits_r || hits_w)) host.fail($sformatf("fault %b, expected %b %b", host.fault, hits_r, hits_w));
    else if (!host.fault) compare("ended");
    // Memory is not compared after a fault. The address must be in the line that faulted.
    else if (host.code != tern_spec_pkg::FAULT_BUS_ERROR || int'(host.va) / 64 != host.mem.bad ||
             host.access != (hits_w ? 2'd1 : 2'd0))
      host.fail($sformatf("fault %0d access %0d at %h", host.code, host.access, host.va));
  endtask

  // Resumes from a state after n bytes, which another implementation may have saved.
  task automatic run_from(input int n);
    make();
    expect_bytes(n);
    for (int l = 0; l < LINES; l++) host.mem.data[l] = expected[l];
    host.run_from(state_at(n));
  endtask

  task automatic measure(input int a_kind, input int a_src, input int a_dst);
    int spent;
    {kind, src, dst, width, rows, slices} = {a_kind, a_src, a_dst, 32'd50000, 32'd1, 32'd1};
    spent = host.cycle;
    host.run(-1, 0, 0);
    spent = host.cycle - spent;
    $display("kind %0d: %0d bytes in %0d cycles", kind, width, spent);
    // one request a cycle, which is 32 bytes of a copy or 64 of a fill, and the latency at both ends
    if (spent > width / (kind == 1 ? 64 : 32) + 200) host.fail("too slow");
    // stopped while the greatest number of requests is in flight
    host.run(600, 0, 0);
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
    int count;
    host.begin_test(count);
    for (int n = 0; n < count; n++) begin
      choose(n % 4 == 0 ? 1500 : 200);
      host.mem.bad = n % 5 == 0 ? ($urandom_range(1) == 0 ? src : dst) / 64 + $urandom_range(20) : -1;
      case (n % 4)
        0, 1: host.run($urandom_range(200), 150, 20);
        2: host.run(-1, 0, 0);
        default: begin
          host.mem.bad = -1;
          if (width * rows * slices == 0) host.run(-1, 0, 0);
          else if (kind == 2) run_from(4 * $urandom_range(width / 4 - 1));
          else run_from($urandom_range(width * rows * slices - 1));
        end
      endcase
    end
    host.stop_everywhere(count, 80);
    host.fast = 1'b1;
    repeat (400) @(negedge host.clk);  // requests in flight still have their random latency
    measure(0, 64, BYTES / 2);
    measure(0, 77, BYTES / 2 + 5);
    measure(1, 0, BYTES / 2);
    host.end_test();
  end
endmodule
