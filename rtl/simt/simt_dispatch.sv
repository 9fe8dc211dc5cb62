// SPDX-License-Identifier: Apache-2.0
// Divides an NDRange into work-groups and launches their warps in the core, one group per group slot.
//
// Contract: start_i is a pulse; simt_dispatch_check has accepted the packet. Groups are launched with x varying
// fastest, each in the lowest free slot. Slot s has the warps from s * group_warps on and the local memory from
// s * local_bytes on. One handshake launches one warp; the values of its group are stable from the group's first launch
// to its last. warp_done_i: a launched warp has ended. done_o is a pulse when all warps have ended. kill_i (level)
// resets the state; the core drops its warps by itself.
// Rate: one warp a cycle within a group, about six cycles from one group to the next, and L + 4 more if the size of the
// group changes.
// Stop: with hold_i no further group is taken. empty_o: no group is resident either, although some are left to launch.
// Resume: a start with resume_i first takes the saved state back. load_* gives each resident group with its slot, and
// all its warps are launched again; then, with load_i.last, it gives the next group.
// State saved at preemption: groups_o, of which the next group is valid with settled_o.
//
// Counters compute coordinates, global base and size of the next group while the current one is launched. An NDRange
// needs no division, because the packet holds the number of groups and the size of the last one in each dimension.
// Example: 10 work-items in groups of 4 are 3 groups with the bases 0, 4 and 8; the last group has the size 2.

module simt_dispatch #(
    parameter int L = 16,  // lanes
    parameter int W = 16,  // warps
    localparam int WW = $clog2(W)
) (
    input  logic                         clk_i,
    input  logic                         rst_i,
    input  logic                         start_i,
    input  tern_spec_pkg::pkt_dispatch_t packet_i,
    input  logic                         kill_i,
    output logic                         done_o,

    // save and restore
    input  logic                         hold_i,
    output logic                         settled_o,
    output logic                         empty_o,
    output simt_core_pkg::groups_t       groups_o,
    input  logic                         resume_i,         // with start_i
    input  logic                         load_valid_i,
    output logic                         load_ready_o,     // all groups that were loaded before have been launched
    input  simt_core_pkg::back_t         load_i,
    input  logic                         launch_ended_i,   // the warp that is launched has already ended

    output logic                         launch_valid_o,
    input  logic                         launch_ready_i,
    output simt_core_pkg::launch_t       launch_o,         // live and ended are zero
    output logic [L*30-1:0]              launch_lid_o,     // local ids {z, y, x} of each lane, 10 bits each

    input  simt_core_pkg::warp_end_t     warp_done_i
);

  localparam int LW = $clog2(L);

  generate
    if (L < 4 || L > 32 || (L & (L - 1)) != 0 || W < 4 || W > 32 || (W & (W - 1)) != 0) begin : g_parameters
      $error("simt_dispatch: lanes and warps 4 to 32, powers of two");
    end
  endgenerate

  logic clear;
  assign clear = rst_i || kill_i;

  // Fields of the packet.
  logic [WW-1:0] group_warps_q;    // W becomes 0, which is right: slot 0 is then the only one
  logic [WW:0] group_slots_q;
  logic [16:0] local_bytes_q;
  logic [32:0] local_q, edge_q;    // sizes of a group and of the last one in each dimension, {z, y, x}
  logic [95:0] groups_q, offset_q;

  always_ff @(posedge clk_i)
    if (start_i) begin
      group_warps_q <= packet_i.group_warps[WW-1:0];
      group_slots_q <= packet_i.group_slots[WW:0];
      local_bytes_q <= packet_i.local_bytes;
      local_q  <= {packet_i.local_z, packet_i.local_y, packet_i.local_x};
      edge_q   <= {packet_i.edge_z, packet_i.edge_y, packet_i.edge_x};
      groups_q <= {packet_i.groups_z, packet_i.groups_y, packet_i.groups_x};
      offset_q <= {packet_i.offset_z, packet_i.offset_y, packet_i.offset_x};
    end

  // The next group: its coordinates (next_group_q), the dimensions in which it is the last (next_last_q), its size and
  // its global base. NEXT_LOAD: the group comes from load_*.
  localparam logic [2:0] NEXT_LAST = 3'd0, NEXT_SIZE = 3'd1, NEXT_READY = 3'd2, NEXT_END = 3'd3, NEXT_LOAD = 3'd4;

  logic [2:0]  next_q;
  logic [95:0] next_group_q, next_base_q;
  logic [32:0] next_size_q;
  logic [2:0]  next_last_q;
  logic        take, load, resident_q;      // the next group was resident when the state was saved
  logic [WW-1:0] load_slot_q;

  always_ff @(posedge clk_i) begin
    if (start_i) next_q <= resume_i ? NEXT_LOAD : NEXT_LAST;
    else if (load) next_q <= (load_i.last && load_i.ended) ? NEXT_END : NEXT_LAST;
    else
      case (next_q)
        NEXT_LAST: next_q <= NEXT_SIZE;
        NEXT_SIZE: next_q <= NEXT_READY;
        default:   if (take) next_q <= resident_q ? NEXT_LOAD : (&next_last_q) ? NEXT_END : NEXT_LAST;
      endcase
  end

  always_ff @(posedge clk_i) begin
    for (int d = 0; d < 3; d++) begin
      if (next_q == NEXT_LAST) next_last_q[d] <= next_group_q[32*d +: 32] == groups_q[32*d +: 32] - 32'd1;
      if (next_q == NEXT_SIZE) next_size_q[11*d +: 11] <= next_last_q[d] ? edge_q[11*d +: 11] : local_q[11*d +: 11];
      if (start_i) next_group_q[32*d +: 32] <= 32'd0;
      // A dimension advances when the group is the last in all faster dimensions.
      else if (take && ((next_last_q | (3'b111 << d)) == 3'b111)) begin
        next_group_q[32*d +: 32] <= next_last_q[d] ? 32'd0 : next_group_q[32*d +: 32] + 32'd1;
        next_base_q[32*d +: 32]  <= next_last_q[d] ? offset_q[32*d +: 32]
                                                   : next_base_q[32*d +: 32] + {21'b0, local_q[11*d +: 11]};
      end
    end
    // The offsets are in their registers one cycle after start_i; the first group is taken later than that.
    if (next_q == NEXT_LAST && next_group_q == 96'd0) next_base_q <= offset_q;
    if (load) begin
      next_group_q <= load_i.group;
      next_base_q  <= load_i.base;
      load_slot_q  <= load_i.slot[WW-1:0];
    end
    if (load) resident_q <= !load_i.last;
    else if (start_i) resident_q <= 1'b0;
  end

  // The current group. WAIT: until a slot is free. PLACE: its warps and local memory. SHAPE: digits of its size
  // (simt_dispatch_ids), if that is new. COUNT: its number of warps. LAUNCH: one warp a cycle. FINISH: until all warps
  // have ended.
  localparam logic [2:0] IDLE = 3'd0, WAIT = 3'd1, PLACE = 3'd2, SHAPE = 3'd3, COUNT = 3'd4, LAUNCH = 3'd5,
    FINISH = 3'd6;

  logic [2:0]    state_q;
  logic          shape_known_q, shape_same_q, shape_ready, ids_busy, advance, in_valid, first_warp;
  logic [WW:0]   sent_q;
  logic [10:0]   items_xy_q, items_q;  // work-items of a group; at most L * W = 1024
  logic          free_valid, slots_idle, resting, launched;
  logic [WW-1:0] free_slot, slot;
  logic          ending_q;
  logic [WW-1:0] ending_slot_q;
  logic [W*WW-1:0] slot_of_q;       // slot of each warp
  logic [W-1:0]    fresh_q;         // warps of the current group that have not been launched
  // The launch.
  logic [WW-1:0]   launch_warp_q, launch_slot_q;
  logic [WW:0]     launch_nwarps_q;
  logic            launch_first_q;
  logic [16:0]     launch_lbase_q;
  logic [32:0]     launch_size_q;
  logic [95:0]     launch_group_q, launch_base_q;
  logic [L-1:0]    launch_mask;
  logic [W-1:0]    busy_slots;

  always_comb begin
    take       = state_q == WAIT && next_q == NEXT_READY && (resident_q || (free_valid && !hold_i)) && !ids_busy &&
      !launch_valid_o;
    slot       = resident_q ? load_slot_q : free_slot;
    resting    = state_q == WAIT && !ids_busy && !launch_valid_o;
    load       = load_valid_i && load_ready_o;
    advance    = !launch_valid_o || launch_ready_i;
    in_valid   = state_q == LAUNCH;
    first_warp = sent_q == '0;
    launched   = launch_valid_o && launch_ready_i;
  end

  assign load_ready_o = resting && next_q == NEXT_LOAD;
  assign settled_o    = launch_valid_o || (resting && next_q == NEXT_READY) || (state_q == FINISH && !slots_idle);
  assign empty_o      = resting && next_q == NEXT_READY && slots_idle;

  assign groups_o.slots  = 32'(busy_slots);
  assign groups_o.fresh  = 32'(fresh_q);
  assign groups_o.ended  = next_q == NEXT_END;
  assign groups_o.base   = next_base_q;
  assign groups_o.group  = next_group_q;
  assign launch_o.warp   = 5'(launch_warp_q);
  assign launch_o.slot   = 5'(launch_slot_q);
  assign launch_o.mask   = 32'(launch_mask);
  assign launch_o.nwarps = 6'(launch_nwarps_q);
  assign launch_o.first  = launch_first_q;
  assign launch_o.live   = 1'b0;
  assign launch_o.ended  = 1'b0;
  assign launch_o.lbase  = launch_lbase_q;
  assign launch_o.size   = launch_size_q;
  assign launch_o.base   = launch_base_q;
  assign launch_o.group  = launch_group_q;

  always_ff @(posedge clk_i) begin
    done_o <= 1'b0;
    if (clear) state_q <= IDLE;
    else
      case (state_q)
        IDLE:    if (start_i) state_q <= WAIT;
        WAIT:    if (take) state_q <= PLACE;
                 else if (next_q == NEXT_END && !ids_busy && !launch_valid_o) state_q <= FINISH;
        PLACE:   state_q <= shape_same_q ? COUNT : SHAPE;
        SHAPE:   if (shape_ready) state_q <= COUNT;
        COUNT:   state_q <= LAUNCH;
        LAUNCH:  if (advance && sent_q + (WW+1)'(1) == launch_nwarps_q) state_q <= WAIT;
        default: if (slots_idle && !ending_q && !warp_done_i.valid) begin
                   state_q <= IDLE;
                   done_o  <= 1'b1;
                 end
      endcase
  end

  always_ff @(posedge clk_i) begin
    if (start_i) shape_known_q <= 1'b0;
    if (take) begin
      launch_group_q <= next_group_q;
      launch_base_q  <= next_base_q;
      launch_size_q  <= next_size_q;
      launch_slot_q  <= slot;
      shape_same_q   <= shape_known_q && launch_size_q == next_size_q;
      shape_known_q  <= 1'b1;
      sent_q         <= '0;
      launch_first_q <= 1'b1;
    end
    // First warp and local memory of the slot; number of warps of the group.
    if (state_q == PLACE) begin
      launch_warp_q  <= launch_slot_q * group_warps_q;
      launch_lbase_q <= 17'(launch_slot_q) * local_bytes_q;
      items_xy_q     <= launch_size_q[10:0] * launch_size_q[21:11];
    end
    if (state_q == SHAPE) begin
      items_q         <= items_xy_q * launch_size_q[32:22];
      launch_nwarps_q <= (WW+1)'((items_q + 11'(L - 1)) >> LW);
    end
    if (in_valid && advance) sent_q <= sent_q + (WW+1)'(1);
    if (launched) begin
      launch_warp_q  <= launch_warp_q + WW'(1);
      launch_first_q <= 1'b0;
    end
    if (start_i) fresh_q <= '0;
    else if (state_q == COUNT) fresh_q <= ~({W{1'b1}} << launch_nwarps_q) << launch_warp_q;
    else if (launched) fresh_q[launch_warp_q] <= 1'b0;
  end

  simt_dispatch_ids #(.L(L)) u_ids (
      .clk_i(clk_i),
      .rst_i(clear),
      .shape_valid_i(state_q == PLACE && !shape_same_q),
      .size_i(launch_size_q),
      .shape_ready_o(shape_ready),
      .advance_i(advance),
      .in_valid_i(in_valid),
      .in_first_i(first_warp),
      .busy_o(ids_busy),
      .out_valid_o(launch_valid_o),
      .mask_o(launch_mask),
      .lid_o(launch_lid_o)
  );

  // An ended warp is reported to its slot one cycle later.
  always_ff @(posedge clk_i) begin
    ending_q <= (warp_done_i.valid || (launched && launch_ended_i)) && !clear;
    ending_slot_q <= warp_done_i.valid ? slot_of_q[WW*warp_done_i.warp[WW-1:0] +: WW] : launch_slot_q;
    if (launched) slot_of_q[WW*launch_warp_q +: WW] <= launch_slot_q;
  end

  simt_dispatch_slots #(.W(W)) u_slots (
      .clk_i(clk_i),
      .rst_i(rst_i),
      .clear_i(kill_i || start_i),
      .count_i(group_slots_q),
      .take_valid_i(take),
      .take_slot_i(slot),
      .start_valid_i(state_q == COUNT),
      .start_slot_i(launch_slot_q),
      .start_warps_i(launch_nwarps_q),
      .done_valid_i(ending_q),
      .done_slot_i(ending_slot_q),
      .free_valid_o(free_valid),
      .free_slot_o(free_slot),
      .busy_o(busy_slots),
      .idle_o(slots_idle)
  );

endmodule
