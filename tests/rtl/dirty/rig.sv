// SPDX-License-Identifier: Apache-2.0
// A dirty_plane and a dirty_command between a source of writes and a memory, with an oracle.
//
// The oracle has two bits for each page: its dirty bit must be set, and its dirty bit may be set. The two differ only
// while a command and a write to the page overlap, and after memory has refused a line of the bitmap. A command must
// report each page that must be set before the command, and no page that may not be set at the end of the command.
module rig #(
    parameter string NAME = "",
    parameter int MEM_PAGES = 4096,
    parameter int PAGE_LOG2 = 12,
    parameter int WORD = 128,
    parameter int ROUNDS = 120,
    parameter bit FIGURES = 1'b0
) (
    input  logic clk_i,
    input  logic go_i,
    input  int   seed_i,
    output logic done_o
);
  localparam int UNITS = (MEM_PAGES + (1 << (PAGE_LOG2 - 12)) - 1) >> (PAGE_LOG2 - 12);
  localparam int TARGET = 77, ROOM = 2 + UNITS / 512 + 4;  // lines of memory that exist: ROOM from TARGET on
  localparam logic [1:0] QUERY = 2'd1, CLEAR = 2'd2, COUNT = 2'd3;

  logic rst = 1;
  logic set_valid = 0, set_ready, cmd_valid = 0, busy, error, bus_error;
  logic [21:0] set_unit = 0;
  logic [1:0] cmd_op = 0;
  logic [31:0] cmd_first = 0, cmd_count = 0, found;
  logic [63:0] cmd_target = 0, marks;
  logic acc_valid, acc_ready, acc_first, acc_last, acc_clear, acc_set, got_valid, wr_valid, wr_ready = 0;
  logic done_valid = 0, done_error = 0;
  logic [21:0] acc_word;
  logic [WORD-1:0] acc_mask, got_data;
  logic [15:0] acc_tag, got_tag, look;
  logic [27:0] wr_line;
  logic [511:0] wr_data;
  logic [3:0] wr_slot, done_slot = 0;

  dirty_plane #(.UNITS(UNITS), .WORD(WORD), .TAG_W(16)) plane (
      .clk_i, .rst_i(rst), .set_valid_i(set_valid), .set_ready_o(set_ready), .set_unit_i(set_unit),
      .acc_valid_i(acc_valid), .acc_ready_o(acc_ready), .acc_others_i(1'b1), .acc_first_i(acc_first),
      .acc_last_i(acc_last), .acc_clear_i(acc_clear), .acc_set_i(acc_set), .acc_word_i(acc_word),
      .acc_mask_i(acc_mask), .acc_tag_i(acc_tag), .got_valid_o(got_valid), .got_data_o(got_data), .got_tag_o(got_tag),
      .look_i(look), .marks_o(marks)
  );
  dirty_command #(.UNITS(UNITS), .WORD(WORD), .PAGE_LOG2(PAGE_LOG2)) dut (
      .clk_i, .rst_i(rst), .mem_pages_i(23'(MEM_PAGES)), .cmd_valid_i(cmd_valid), .cmd_op_i(cmd_op),
      .cmd_first_i(cmd_first), .cmd_count_i(cmd_count), .cmd_target_i(cmd_target), .busy_o(busy), .error_o(error),
      .bus_error_o(bus_error), .found_o(found), .acc_valid_o(acc_valid), .acc_ready_i(acc_ready),
      .acc_first_o(acc_first), .acc_last_o(acc_last), .acc_clear_o(acc_clear), .acc_set_o(acc_set),
      .acc_word_o(acc_word), .acc_mask_o(acc_mask), .acc_tag_o(acc_tag), .got_valid_i(got_valid),
      .got_data_i(got_data), .got_tag_i(got_tag), .look_o(look), .marks_i(marks), .wr_valid_o(wr_valid),
      .wr_ready_i(wr_ready), .wr_line_o(wr_line), .wr_data_o(wr_data), .wr_slot_o(wr_slot), .done_valid_i(done_valid),
      .done_slot_i(done_slot), .done_error_i(done_error)
  );

  // Random numbers of this instance, independent of those that other instances draw
  int unsigned state;
  function automatic int below(input int n);
    state = state * 1664525 + 1013904223;
    return int'((64'(state) * 64'(n)) >> 32);
  endfunction

  // Memory
  logic [511:0] mem[0:ROOM-1];
  bit wrote[0:ROOM-1], refused[0:ROOM-1], waits[0:15];
  int slot, due[0:15], at[0:15], latency = 60, spread = 0, stall = 0, fails = 0, now = 0;
  always @(posedge clk_i) begin
    now <= now + 1;
    if (wr_valid && wr_ready) begin
      if (int'(wr_line) < TARGET || int'(wr_line) >= TARGET + ROOM || waits[wr_slot] || wrote[int'(wr_line)-TARGET])
        $fatal(1, "%s: line %0d is written, slot %0d", NAME, wr_line, wr_slot);
      wrote[int'(wr_line)-TARGET] = 1;
      waits[wr_slot] = 1;
      at[wr_slot] = int'(wr_line) - TARGET;
      due[wr_slot] = now + latency + (spread != 0 ? below(spread) : 0);
      refused[int'(wr_line)-TARGET] = below(100) < fails;
      mem[int'(wr_line)-TARGET] = refused[int'(wr_line)-TARGET] ? {16{below(1 << 30)}} : wr_data;
    end
    wr_ready <= below(100) >= stall;
    done_valid <= 0;
    slot = below(16);
    for (int s = 0; s < 16; s++) begin
      slot = (slot + 1) % 16;
      if (waits[slot] && due[slot] <= now) begin
        done_valid <= 1;
        done_slot <= 4'(slot);
        done_error <= refused[at[slot]];
        waits[slot] = 0;
        break;
      end
    end
  end

  // Writes
  bit must[0:UNITS-1], may[0:UNITS-1], during[0:UNITS-1];
  int rate = 0, spot = 0, sets = 0, most_wait = 0, set_wait = 0;
  always @(posedge clk_i) begin
    if (set_valid && set_ready) begin
      must[set_unit] = 1;
      may[set_unit] = 1;
      during[set_unit] = 1;
      sets++;
    end
    set_wait = set_valid && !set_ready ? set_wait + 1 : 0;
    if (!rst && busy && set_wait > most_wait) most_wait = set_wait;
    if (!set_valid || set_ready) begin
      set_valid <= below(100) < rate;
      if (below(3) == 0) spot = below(UNITS);
      set_unit <= 22'((spot + below(200)) % UNITS);
    end
  end

  int reported;
  bit must_before[0:UNITS-1];
  // Gives a valid command, checks its result, and updates must and may.
  task automatic command(logic [1:0] op, int first, int count, output int cycles);
    int blocks, names, line, since, low, high, p;
    bit bit_, named, lost, any_refused;
    for (int i = 0; i < ROOM; i++) wrote[i] = 0;
    for (int i = first; i < first + count; i++) begin
      during[i] = 0;
      must_before[i] = must[i];
    end
    cmd_valid <= 1;
    cmd_op <= op;
    cmd_first <= first;
    cmd_count <= count;
    cmd_target <= 64'(TARGET) * 64;
    @(posedge clk_i);
    since = now;
    cmd_valid <= 0;
    @(posedge clk_i);
    while (busy) begin
      @(posedge clk_i);
      if (now - since > 40 * (2000 + UNITS / 16)) $fatal(1, "%s: a command does not end", NAME);
    end
    cycles = now - since;
    blocks = count == 0 ? 0 : (first + count - 1) / 512 - first / 512 + 1;
    names = op == COUNT ? 0 : (blocks + 511) / 512;
    reported = 0;
    low = 0;
    high = 0;
    any_refused = 0;
    report::compared(1);
    if (error) $fatal(1, "%s: a command was refused", NAME);
    for (int i = 0; i < ROOM; i++) any_refused |= wrote[i] && refused[i];
    if (bus_error != any_refused) $fatal(1, "%s: bus_error %0d", NAME, bus_error);
    for (int i = 0; i < ROOM; i++)
      if (op == COUNT ? wrote[i] : i < names ? !wrote[i] : i >= names + blocks && wrote[i])
        $fatal(1, "%s: line %0d of the result: written %0d", NAME, i, wrote[i]);
    for (int n = 0; n < names * 512; n++) if (!refused[n/512] && n >= blocks && mem[n/512][n%512])
      $fatal(1, "%s: bit %0d of the bitmap", NAME, n);
    for (int b = 0; b < blocks && op != COUNT; b++) begin
      lost = refused[b/512];
      named = !lost && mem[b/512][b%512];
      line = names + b;
      if (named && (!wrote[line] || refused[line] || mem[line] == '0)) $fatal(1, "%s: line %0d is named", NAME, b);
      if (!named && !lost && wrote[line] && !refused[line]) $fatal(1, "%s: line %0d is not named", NAME, b);
      for (int i = 0; i < 512; i++) begin
        p = (first / 512 + b) * 512 + i;
        bit_ = named && mem[line][i];
        if (p < first || p >= first + count) begin
          if (bit_) $fatal(1, "%s: page %0d is reported, not in %0d, %0d", NAME, p, first, count);
          continue;
        end
        reported += int'(bit_);
        low += int'(must_before[p]);
        high += int'(may[p]);
        if (bit_ && !may[p]) $fatal(1, "%s: page %0d is reported and was not written", NAME, p);
        if (!bit_ && must_before[p] && !lost && !(wrote[line] && refused[line]))
          $fatal(1, "%s: page %0d was written and is not reported", NAME, p);
        if (op != CLEAR) continue;
        if (bit_) begin
          must[p] = 0;
          may[p] = during[p];
        end
        if (lost && wrote[line] && !refused[line]) may[p] = 1;
      end
    end
    if (op == COUNT) for (int i = first; i < first + count; i++) begin
      low += int'(must_before[i]);
      high += int'(may[i]);
    end
    if (int'(found) < low || int'(found) > high || (!any_refused && op != COUNT && int'(found) != reported))
      $fatal(1, "%s: found %0d, reported %0d, between %0d and %0d", NAME, found, reported, low, high);
  endtask

  task automatic refuse(logic [1:0] op, longint first, longint count, longint target);
    cmd_valid <= 1;
    cmd_op <= op;
    cmd_first <= 32'(first);
    cmd_count <= 32'(count);
    cmd_target <= 64'(target);
    @(posedge clk_i);
    cmd_valid <= 0;
    for (int i = 0; i < ROOM; i++) wrote[i] = 0;
    @(posedge clk_i);
    while (busy) @(posedge clk_i);
    report::compared(1);
    if (!error || bus_error || found != 0)
      $fatal(1, "%s: op %0d, %0d, %0d, %0h was taken", NAME, op, first, count, target);
    for (int i = 0; i < ROOM; i++) if (wrote[i]) $fatal(1, "%s: a refused command wrote", NAME);
  endtask

  // Stops all writes, so that must and may are equal except for pages whose line was refused. After a query_clear no
  // page is dirty.
  task automatic settle();
    int cycles;
    rate = 0;
    fails = 0;
    repeat (10) @(posedge clk_i);
    command(QUERY, 0, UNITS, cycles);
    command(COUNT, 0, UNITS, cycles);
    command(CLEAR, 0, UNITS, cycles);
    command(QUERY, 0, UNITS, cycles);
    if (found != 0) $fatal(1, "%s: %0d pages are left", NAME, found);
    for (int p = 0; p < UNITS; p++) if (must[p]) $fatal(1, "%s: page %0d was lost", NAME, p);
    for (int p = 0; p < UNITS; p++) may[p] = 0;
  endtask

  int first, count, cycles, sparse, empty, commands = 0, failed = 0;
  initial begin
    done_o = 0;
    wait (go_i);
    state = 32'(seed_i) * 32'd2654435761;
    repeat (4) @(posedge clk_i);
    rst <= 0;
    while (!plane.set_ready_o) @(posedge clk_i);
    for (int round = 0; round < ROUNDS; round++) begin
      rate = round % 3 == 0 ? 100 : below(101);
      fails = round % 4 == 1 ? below(40) : 0;
      spread = round % 2 == 0 ? 0 : below(200);
      stall = below(80);
      repeat (below(300)) @(posedge clk_i);
      first = below(UNITS);
      count = below(4) == 0 ? below(40) : below(UNITS);
      if (first + count > UNITS) count = UNITS - first;
      command(2'(1 + below(3)), first, count, cycles);
      commands++;
      failed += int'(bus_error);
      if (round % 8 == 7) settle();
    end
    settle();
    refuse(QUERY, 0, UNITS + 1, 0);
    refuse(CLEAR, UNITS, 1, 0);
    refuse(CLEAR, 64'hffffffff, 64'hffffffff, 0);
    refuse(COUNT, 1, UNITS, 0);
    refuse(2'd0, 0, 1, 0);
    refuse(QUERY, 0, 1, 32);
    refuse(CLEAR, 0, 1, 64'(MEM_PAGES) * 4096 - 64);
    refuse(CLEAR, 0, 1, 64'(MEM_PAGES) * 4096);
    refuse(CLEAR, 0, 1, 64'h1_0000_0000_0000);
    refuse(CLEAR, 0, 1, 64'hffff_ffff_ffff_ffc0);
    command(CLEAR, UNITS, 0, cycles);
    if (FIGURES) begin
      latency = 60;
      spread = 0;
      stall = 0;
      for (int i = 0; i < UNITS / 100; i++) begin
        set_valid <= 1;
        set_unit <= 22'(below(UNITS));
        @(posedge clk_i);
      end
      set_valid <= 0;
      repeat (5) @(posedge clk_i);
      command(CLEAR, 0, UNITS, sparse);
      if (reported < UNITS / 102) $fatal(1, "only %0d pages were set", reported);
      command(CLEAR, 0, UNITS, empty);
      $display("query_clear of %0d pages: %0d cycles with %0d set, %0d with none", UNITS, sparse, UNITS / 100, empty);
      if (sparse > 20000 || empty > 3000) $fatal(1, "too many cycles");
    end
    else if (most_wait > 1 || failed == 0)
      $fatal(1, "%s: writes waited for %0d cycles; %0d bus errors", NAME, most_wait, failed);
    $display("%-18s %0d commands, %0d with errors, %0d writes", NAME, commands, failed, sets);
    done_o = 1;
  end
endmodule
