// SPDX-License-Identifier: Apache-2.0
// Drives one simt_dispatch and one simt_dispatch_check of the given size with count_i random NDRanges.
//
// The reference contains only the rules of OpenCL: each work-item of the range must be launched exactly once, with the
// ids of its position in the range, in warps and local memory that no other live group owns. Runs are preempted at
// random cycles: the resident groups are launched again in their slots, and the run continues.

module harness #(
    parameter int L = 16,
    parameter int W = 16
) (
    input  logic clk_i,
    input  int   count_i,
    output logic done_o
);

  localparam int WW = $clog2(W);
  localparam int LMEM_KIB = 64;
  localparam int MAX_ITEMS = 1 << 15;

  logic            rst = 1'b1, start, kill, done, check_valid, check_done, check_ok;
  logic [1023:0]   packet;
  logic            valid, ready, first, ended;
  logic [WW-1:0]   warp, slot, ended_warp;
  logic [L-1:0]    mask;
  logic [L*30-1:0] lid;
  logic [16:0]     lbase;
  logic [95:0]     group, base;
  logic [32:0]     size;
  logic [WW:0]     nwarps;
  simt_core_pkg::groups_t next;
  assign {slots, fresh, next_ended} = {next.slots[W-1:0], next.fresh[W-1:0], next.ended};
  assign {next_group, next_base} = {next.group, next.base};
  simt_core_pkg::launch_t launch;
  assign {warp, slot, mask} = {launch.warp[WW-1:0], launch.slot[WW-1:0], launch.mask[L-1:0]};
  assign {lbase, first, group, base} = {launch.lbase, launch.first, launch.group, launch.base};
  assign {size, nwarps} = {launch.size, launch.nwarps[WW:0]};
  logic            hold, settled, empty, next_ended, resume, load_valid, load_ready, load_last;
  logic [WW-1:0]   load_slot;
  logic [W-1:0]    slots, fresh;
  logic [95:0]     next_group, next_base;

  simt_dispatch #(.L(L), .W(W)) u_dispatch (
      .clk_i, .rst_i(rst), .start_i(start), .packet_i(packet), .kill_i(kill), .done_o(done),
      .hold_i(hold), .settled_o(settled), .empty_o(empty), .groups_o(next), .resume_i(resume),
      .load_valid_i(load_valid), .load_ready_o(load_ready), .load_i({load_last, cut_ended, 5'(load_slot),
          load_last ? cut_base : slot_base[load_slot], load_last ? cut_group : slot_group[load_slot]}),
      .launch_ended_i(back && !live[warp] && !cut_fresh[warp]), .launch_valid_o(valid), .launch_ready_i(ready),
      .launch_o(launch), .launch_lid_o(lid), .warp_done_i({ended, 5'(ended_warp)})
  );

  simt_dispatch_check #(.L(L), .W(W), .LMEM_KIB(LMEM_KIB)) u_check (
      .clk_i, .rst_i(rst), .check_valid_i(check_valid), .packet_i(packet), .check_done_o(check_done),
      .check_ok_o(check_ok)
  );

  // the current range
  longint global_size[3], offset[3], groups[3];
  int     local_size[3], edge_size[3], dims, group_warps, group_slots, local_bytes;
  // work-items, warps and groups that were launched
  logic   seen[MAX_ITEMS];
  int     items, launched, group_launched, live_in_slot[W], gap;
  logic   live[W];
  longint group_number, want_group;
  // A preemption (cut): groups in the slots, warps that were not launched, the next group. back: the resident groups
  // are being launched again.
  logic          back, cut_ended;
  logic [W-1:0]  cut_fresh, todo;
  logic [95:0]   slot_group[W], slot_base[W], cut_group, cut_base;

  function automatic int pick(input int low, input int high);
    return low + int'($urandom_range(high - low));
  endfunction

  function automatic int least(input int a, input int b);
    return a < b ? a : b;
  endfunction

  task automatic fail(input string what);
    report::error($sformatf("%m %s: global %0d %0d %0d local %0d %0d %0d group %h warp %0d", what, global_size[0],
                            global_size[1], global_size[2], local_size[0], local_size[1], local_size[2], group, warp));
  endtask

  task automatic put(input int lsb, input int bits, input longint value);
    for (int i = 0; i < bits; i++) packet[lsb + i] = value[i];
  endtask

  // Chooses a random range of few work-items whose groups fit. In one dimension of 8 it may have up to 300 groups.
  task automatic choose();
    int room;
    room = L * W;
    dims = pick(1, 3);
    for (int d = 0; d < 3; d++) begin
      local_size[d] = d < dims ? (pick(0, 3) == 0 ? least(room, pick(1, L * W)) : pick(1, least(room, 20))) : 1;
      room /= local_size[d];
    end
    if (pick(0, 1) == 1) begin  // any dimension can be the large one
      int swap;
      swap = local_size[0];
      local_size[0] = local_size[dims-1];
      local_size[dims-1] = swap;
    end
    items = local_size[0] * local_size[1] * local_size[2];
    for (int d = 0; d < 3; d++) begin
      groups[d] = 1;
      if (d < dims) groups[d] = longint'(pick(1, least(MAX_ITEMS / items, pick(0, 7) == 0 ? 300 : 4)));
      edge_size[d] = pick(0, 1) == 0 ? local_size[d] : pick(1, local_size[d]);
      global_size[d] = (groups[d] - 1) * longint'(local_size[d]) + longint'(edge_size[d]);
      items *= int'(groups[d]);
      offset[d] = pick(0, 1) == 0 ? 64'd0 : longint'($urandom());
    end
    items = int'(global_size[0] * global_size[1] * global_size[2]);
    group_warps = (local_size[0] * local_size[1] * local_size[2] + L - 1) / L;
    group_slots = pick(1, W / group_warps);
    local_bytes = 64 * pick(0, LMEM_KIB * 16 / group_slots);
    packet = {32{$urandom()}} & ~tern_spec_pkg::PKT_DISPATCH_MASK;  // reserved bits must be ignored
    put(tern_spec_pkg::PKT_DISPATCH_ENTRY_LSB, 32, longint'($urandom()) << 2);
    put(tern_spec_pkg::PKT_DISPATCH_STACK_LSB, 32, longint'($urandom()) << 6);
    put(tern_spec_pkg::PKT_DISPATCH_STACK_LOG2_LSB, 5, longint'(pick(6, 20)));
    put(tern_spec_pkg::PKT_DISPATCH_WORK_DIM_LSB, 2, longint'(dims));
    put(tern_spec_pkg::PKT_DISPATCH_GROUP_WARPS_LSB, 8, longint'(group_warps));
    put(tern_spec_pkg::PKT_DISPATCH_GROUP_SLOTS_LSB, 8, longint'(group_slots));
    put(tern_spec_pkg::PKT_DISPATCH_LOCAL_BYTES_LSB, 17, longint'(local_bytes));
    for (int d = 0; d < 3; d++) begin
      put(tern_spec_pkg::PKT_DISPATCH_GLOBAL_X_LSB + 32*d, 32, global_size[d]);
      put(tern_spec_pkg::PKT_DISPATCH_LOCAL_X_LSB + 32*d, 11, longint'(local_size[d]));
      put(tern_spec_pkg::PKT_DISPATCH_OFFSET_X_LSB + 32*d, 32, offset[d]);
      put(tern_spec_pkg::PKT_DISPATCH_GROUPS_X_LSB + 32*d, 32, groups[d]);
      put(tern_spec_pkg::PKT_DISPATCH_EDGE_X_LSB + 32*d, 11, longint'(edge_size[d]));
    end
  endtask

  function automatic longint get(input int lsb, input int bits);
    get = 0;
    for (int i = 0; i < bits; i++) get[i] = packet[lsb + i];
  endfunction

  // Returns whether the packet obeys the rules of packets.yaml.
  function automatic logic legal();
    longint n, slots, warps, bytes, depth, l, e, g, t;
    legal = 1'b1;
    n = 1;
    for (int d = 0; d < 3; d++) begin
      l = get(tern_spec_pkg::PKT_DISPATCH_LOCAL_X_LSB + 32*d, 11);
      e = get(tern_spec_pkg::PKT_DISPATCH_EDGE_X_LSB + 32*d, 11);
      g = get(tern_spec_pkg::PKT_DISPATCH_GROUPS_X_LSB + 32*d, 32);
      t = get(tern_spec_pkg::PKT_DISPATCH_GLOBAL_X_LSB + 32*d, 32);
      if (l < 1 || e < 1 || e > l || g < 1 || t < 1 || (g - 1) * l + e != t) legal = 1'b0;
      n *= l;
    end
    warps = get(tern_spec_pkg::PKT_DISPATCH_GROUP_WARPS_LSB, 8);
    slots = get(tern_spec_pkg::PKT_DISPATCH_GROUP_SLOTS_LSB, 8);
    bytes = get(tern_spec_pkg::PKT_DISPATCH_LOCAL_BYTES_LSB, 17);
    depth = get(tern_spec_pkg::PKT_DISPATCH_STACK_LOG2_LSB, 5);
    if (warps != (n + longint'(L) - 1) / longint'(L) || slots < 1 || slots * warps > longint'(W)
        || slots * bytes > longint'(LMEM_KIB) * 1024 || bytes % 64 != 0 || depth < 6 || depth > 20
        || get(tern_spec_pkg::PKT_DISPATCH_ENTRY_LSB, 32) % 4 != 0 ||
        get(tern_spec_pkg::PKT_DISPATCH_STACK_LSB, 32) % 64 != 0
        || get(tern_spec_pkg::PKT_DISPATCH_WORK_DIM_LSB, 2) == 0)
      legal = 1'b0;
  endfunction

  task automatic check_packet();
    int waited;
    check_valid = 1'b1;
    @(posedge clk_i);
    #1 check_valid = 1'b0;
    waited = 1;
    while (!check_done && waited < 100) begin
      @(posedge clk_i);
      #1 waited++;
    end
    report::compared(1);
    if (waited != 24) fail("check latency");
    if (check_ok != legal()) fail(check_ok ? "bad packet passed" : "good packet refused");
  endtask

  // Checks a good packet with one bit, or two adjacent bits, changed.
  task automatic check_damaged();
    logic [1023:0] good;
    logic [9:0] at;
    good = packet;
    do at = 10'(pick(0, 1023)); while (!tern_spec_pkg::PKT_DISPATCH_MASK[at]);
    if (pick(0, 1) == 0) packet[at] = !packet[at];
    else put(tern_spec_pkg::PKT_DISPATCH_WORK_DIM_LSB + 32 * pick(0, 19), 2, longint'(pick(0, 3)));
    check_packet();
    packet = good;
  endtask

  task automatic check_launch();
    longint id[3], place;
    int l[3], linear, in_group;
    report::compared(1);
    linear = 0;
    in_group = 1;
    for (int d = 2; d >= 0; d--) begin
      int want;
      want = longint'(group[32*d +: 32]) == groups[d] - 1 ? edge_size[d] : local_size[d];
      if (int'(size[11*d +: 11]) != want) fail("size");
      if (base[32*d +: 32] != 32'(offset[d] + longint'(group[32*d +: 32]) * longint'(local_size[d]))) fail("base");
      in_group *= want;
    end
    if (first != (group_launched == 0)) fail("first");
    group_number = longint'(group[31:0]) + groups[0] * (longint'(group[63:32]) + groups[1] * longint'(group[95:64]));
    if (!back && group_number != want_group) fail("group order");
    if (back && (group != slot_group[slot] || base != slot_base[slot])) fail("another group came back");
    if (int'(nwarps) != (in_group + L - 1) / L) fail("nwarps");
    if (int'(warp) != int'(slot) * group_warps + group_launched || (live[warp] && !back)) fail("warp");
    if (int'(slot) >= group_slots || (first && !back && live_in_slot[slot] != 0)) fail("slot");
    if (int'(lbase) != int'(slot) * local_bytes) fail("lbase");
    for (int i = 0; i < L; i++) begin
      linear = group_launched * L + i;
      if (mask[i] != (linear < in_group)) fail("mask");
      if (!mask[i] || (back && !cut_fresh[warp])) continue;
      for (int d = 0; d < 3; d++) begin
        l[d] = int'(lid[30*i + 10*d +: 10]);
        id[d] = longint'(32'(base[32*d +: 32] - 32'(offset[d]))) + longint'(l[d]);
        if (l[d] >= int'(size[11*d +: 11]) || id[d] >= global_size[d]) fail("id outside");
      end
      if (linear != l[0] + int'(size[10:0]) * (l[1] + int'(size[21:11]) * l[2])) fail("id order");
      place = id[0] + global_size[0] * (id[1] + global_size[1] * id[2]);
      if (place < longint'(MAX_ITEMS)) begin
        if (seen[place[14:0]]) fail("launched twice");
        seen[place[14:0]] = 1'b1;
        launched++;
      end
    end
    if (!back || cut_fresh[warp]) begin
      live[warp] = 1'b1;
      live_in_slot[slot]++;
    end
    if (!back) begin
      slot_group[slot] = group;
      slot_base[slot] = base;
    end
    group_launched++;
    if (group_launched == int'(nwarps)) begin
      group_launched = 0;
      if (!back) want_group++;
    end
  endtask

  // Checks the state that a settled dispatcher reports, and records it for the resume.
  task automatic check_cut();
    logic [W-1:0] held, unsent;
    longint number;
    held = '0;
    unsent = '0;
    for (int s = 0; s < W; s++) held[s] = live_in_slot[s] != 0;
    if (valid) begin
      held[slot] = 1'b1;
      slot_group[slot] = group;
      slot_base[slot] = base;
      for (int i = group_launched; i < int'(nwarps); i++) unsent[int'(slot) * group_warps + i] = 1'b1;
      want_group++;
    end
    report::compared(1);
    if (slots != held) fail("slots in use");
    if (fresh != unsent) fail("warps to be launched");
    if (empty != (held == '0 && !next_ended)) fail("empty");
    number = longint'(next_group[31:0]) +
      groups[0] * (longint'(next_group[63:32]) + groups[1] * longint'(next_group[95:64]));
    if (next_ended ? want_group != groups[0] * groups[1] * groups[2] : number != want_group) fail("next group");
    cut_ended = next_ended;
    cut_group = next_ended ? {3{$urandom()}} : next_group;
    cut_base = next_ended ? {3{$urandom()}} : next_base;
    cut_fresh = fresh;
    todo = slots;
    group_launched = 0;
  endtask

  // payload of a stalled launch, which must be stable
  logic [L*31+WW*3+96*2+51:0] held;
  logic                       stalled;

  task automatic run(input logic killed, input int cuts);
    int hurry, cycles, slot_of[W], kill_at, cut_at, rest;
    logic over;
    for (int i = 0; i < MAX_ITEMS; i++) seen[i] = 1'b0;
    for (int i = 0; i < W; i++) begin
      live[i] = 1'b0;
      live_in_slot[i] = 0;
    end
    launched = 0;
    group_launched = 0;
    want_group = 0;
    gap = 0;
    over = 1'b0;
    stalled = 1'b0;
    cycles = 0;
    hurry = pick(0, 3);
    kill_at = killed ? pick(1, 200) : -1;
    cut_at = cuts > 0 ? pick(0, 200) : -1;
    rest = 0;
    start = 1'b1;
    @(posedge clk_i);
    #1 start = 1'b0;
    while (!over) begin
      // Preemption: no warp ends or is launched. Once the dispatcher has been settled for some cycles, its state is
      // checked, and it is killed and started again.
      if (!hold && cut_at >= 0 && cycles >= cut_at) hold = 1'b1;
      if (hold && !back) begin
        rest = settled ? rest + 1 : 0;
        if (rest == 6) begin
          check_cut();
          back = 1'b1;
          kill = 1'b1;
          @(posedge clk_i);
          #1 kill = 1'b0;
          start = 1'b1;
          resume = 1'b1;
          @(posedge clk_i);
          #1 start = 1'b0;
          resume = 1'b0;
          rest = 0;
          stalled = 1'b0;
          gap = 0;
        end
      end
      load_last = todo == '0;
      load_valid = back && pick(0, 1) == 0;
      for (int s = W - 1; s >= 0; s--) if (todo[s]) load_slot = WW'(s);
      ready = (!hold || back) && (hurry == 3 || pick(0, 3) <= hurry);
      ended = 1'b0;
      ended_warp = WW'(pick(0, W - 1));
      if (live[ended_warp] && !hold && pick(0, 7) <= 2 * hurry) ended = 1'b1;
      kill = cycles == kill_at;
      #1;
      if (stalled && held != {mask, lid, warp, slot, lbase, first, group, base, size, nwarps}) fail("payload moved");
      stalled = valid && !ready;
      held = {mask, lid, warp, slot, lbase, first, group, base, size, nwarps};
      gap = valid || group_launched == 0 ? 0 : gap + 1;
      if (gap > 1) fail("slow within a group");
      if (valid && ready) begin
        slot_of[warp] = int'(slot);
        check_launch();
      end
      if (ended) begin
        live[ended_warp] = 1'b0;
        live_in_slot[slot_of[ended_warp]]--;
      end
      over = kill;
      if (load_valid && load_ready) begin
        todo[load_slot] = 1'b0;
        if (load_last) begin
          if (group_launched != 0) fail("goes on too early");
          back = 1'b0;
          hold = 1'b0;
          cuts--;
          cut_at = cuts > 0 ? cycles + pick(0, 100) : -1;
        end
      end
      @(posedge clk_i);
      #1;
      load_valid = 1'b0;
      cycles++;
      if (done) begin
        over = 1'b1;
        if (launched != items) fail("done too early");
        for (int i = 0; i < W; i++) if (live[i]) fail("done before a warp's end");
      end
      if (cycles > 2_000_000) begin
        fail("never done");
        over = 1'b1;
      end
    end
    kill = 1'b0;
    ended = 1'b0;
    ready = 1'b1;
    hold = 1'b0;
    back = 1'b0;
    load_valid = 1'b0;
    repeat (3) begin
      @(posedge clk_i);
      #1 if (valid || done) fail("launch or done after the end");
    end
  endtask

  initial begin
    done_o = 1'b0;
    start = 1'b0;
    kill = 1'b0;
    check_valid = 1'b0;
    ended = 1'b0;
    ready = 1'b0;
    hold = 1'b0;
    resume = 1'b0;
    back = 1'b0;
    load_valid = 1'b0;
    load_last = 1'b0;
    load_slot = '0;
    todo = '0;
    ended_warp = '0;
    packet = '0;
    repeat (2) @(posedge clk_i);
    #1 rst = 1'b0;
    for (int n = 0; n < count_i && !report::failed(); n++) begin
      choose();
      check_packet();
      check_damaged();
      run(pick(0, 7) == 0, pick(0, 3));
    end
    done_o = 1'b1;
  end

endmodule
