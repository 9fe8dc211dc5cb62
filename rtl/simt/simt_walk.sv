// SPDX-License-Identifier: Apache-2.0
// Names the lines of a stopped executor's state one after another, in the order of docs/spec/context.yaml.
//
// Contract: start_i begins with the head. walk_o is the line, and line_o its line of local memory. step_i takes it.
// Inputs become valid during the walk, when their line is taken: slots_i, live_i and pending_i from the line after the
// head on; scalars_i and regs_i (of warp walk_o.index) with that warp's lanes; has_data_i and has_cmp_i with the
// addresses of the memory instruction.
// State saved at preemption: none; the module is a part of the save.
//
// Save and restore use this one module, so they cannot disagree about the order.

module simt_walk #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS),
    localparam int VECTORS = 32 / LANES     // vectors of scalars of a warp
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             start_i,
    input  logic [WARPS-1:0] slots_i,
    input  logic [WARPS-1:0] live_i,
    input  logic [4:0]       pending_i,
    input  logic [VECTORS-1:0] scalars_i,
    input  logic [31:0]      regs_i,
    input  logic [10:0]      local_lines_i,   // lines of local memory of a slot
    input  logic             has_data_i,
    input  logic             has_cmp_i,
    output simt_core_pkg::walk_t walk_o,
    output logic [9:0]       line_o,          // line of local memory
    input  logic             step_i
);

  localparam logic LAST_MASKS = WARPS > 16;
  localparam logic LAST_PART = LANES > 16;

  simt_core_pkg::line_e kind_q, next, to_slots, to_local, to_warps, to_regs, to_pending, to_record;
  logic [WW-1:0]    index_q;
  logic [WARPS-1:0] left_q;                 // slots or warps after index_q
  logic [VECTORS-1:0] scalars_q;            // vectors after rd_q
  logic [31:0]      regs_q;                 // registers after rd_q
  logic [4:0]       rd_q;
  logic [9:0]       line_q;
  logic [10:0]      count_q;                // lines of the slot that are left
  logic [4:0]       pending_q;
  logic             second_q, part_end, place_q;
  // slots_end: last slot line. local_end: last line of a slot's local memory. after_pcs, warp_end: end of a vector.
  logic             slots_end, local_end, after_pcs, warp_end;
  logic             to_scalars, to_reg, next_slot, next_local, next_warp, first_slot, first_local, first_warp;

  assign line_o            = line_q;
  assign walk_o.valid      = kind_q != simt_core_pkg::LINE_END && !place_q;
  assign walk_o.kind       = kind_q;
  assign walk_o.index      = 5'(index_q);
  assign walk_o.rd         = rd_q;
  assign walk_o.second     = second_q;
  assign walk_o.last       = next == simt_core_pkg::LINE_END;
  assign walk_o.record_end = kind_q >= simt_core_pkg::LINE_ADDR && next != kind_q && part_end && next == to_record;

  logic unused;
  assign unused = regs_i[0];              // x0 is never in the mask

  // The kind of the next line.
  always_comb begin
    part_end   = second_q == LAST_PART;
    to_pending = (pending_i != '0) ? simt_core_pkg::LINE_PENDING : simt_core_pkg::LINE_END;
    to_warps   = (live_i != '0) ? simt_core_pkg::LINE_LANES : to_pending;
    to_local   = (slots_i != '0 && local_lines_i != '0) ? simt_core_pkg::LINE_LOCAL : to_warps;
    to_slots   = (slots_i != '0) ? simt_core_pkg::LINE_SLOT : to_warps;
    to_regs    = (regs_q != '0) ? simt_core_pkg::LINE_REG : (left_q != '0) ? simt_core_pkg::LINE_LANES : to_pending;
    to_record  = (pending_q == 5'd1) ? simt_core_pkg::LINE_END : simt_core_pkg::LINE_PENDING;
    next       = kind_q;
    case (kind_q)
      simt_core_pkg::LINE_HEAD:    next = simt_core_pkg::LINE_MASKS;
      simt_core_pkg::LINE_MASKS:   if (index_q[0] == LAST_MASKS) next = to_slots;
      simt_core_pkg::LINE_SLOT:    if (left_q == '0) next = to_local;
      simt_core_pkg::LINE_LOCAL:   if (count_q == 11'd1 && left_q == '0) next = to_warps;
      simt_core_pkg::LINE_LANES:   if (part_end) next = simt_core_pkg::LINE_PCS;
      simt_core_pkg::LINE_PCS, simt_core_pkg::LINE_SCALARS:
        if (part_end) next = (scalars_q != '0) ? simt_core_pkg::LINE_SCALARS : to_regs;
      simt_core_pkg::LINE_REG:     if (part_end) next = to_regs;
      simt_core_pkg::LINE_PENDING: next = simt_core_pkg::LINE_ADDR;
      simt_core_pkg::LINE_ADDR:    if (part_end) next = has_data_i ? simt_core_pkg::LINE_DATA : to_record;
      simt_core_pkg::LINE_DATA:    if (part_end) next = has_cmp_i ? simt_core_pkg::LINE_CMP : to_record;
      default:                     if (part_end) next = to_record;
    endcase
  end

  // Registers that change with a step. Their conditions repeat those of `next` instead of using it: `next` is the
  // longest path, and these conditions end in clock enables.
  always_comb begin
    slots_end   = (kind_q == simt_core_pkg::LINE_SLOT) && left_q == '0;
    local_end   = (kind_q == simt_core_pkg::LINE_LOCAL) && count_q == 11'd1;
    after_pcs   = part_end && (kind_q == simt_core_pkg::LINE_PCS || kind_q == simt_core_pkg::LINE_SCALARS);
    to_scalars  = after_pcs && scalars_q != '0;
    warp_end    = (after_pcs && scalars_q == '0) || (part_end && kind_q == simt_core_pkg::LINE_REG);
    to_reg      = warp_end && regs_q != '0;
    next_slot   = (kind_q == simt_core_pkg::LINE_SLOT) && left_q != '0;
    next_local  = local_end && left_q != '0;
    next_warp   = warp_end && regs_q == '0 && left_q != '0;
    first_slot  = (kind_q == simt_core_pkg::LINE_MASKS) && index_q[0] == LAST_MASKS && slots_i != '0;
    first_local = slots_end && local_lines_i != '0;
    first_warp  = (kind_q == simt_core_pkg::LINE_MASKS && index_q[0] == LAST_MASKS && slots_i == '0)
                  || (slots_end && local_lines_i == '0) || (local_end && left_q == '0);
  end

  // The lowest register of the mask. Isolating its bit first makes the path a carry chain and two levels of logic.
  logic [31:0] one;
  logic [4:0]  first_register;
  always_comb begin
    one = regs_q & ~(regs_q - 32'd1);
    first_register = '0;
    for (int r = 0; r < 32; r++) if (one[r]) first_register = first_register | 5'(r);
  end

  // first: the lowest member of a set. rest: the set without it.
  function automatic logic [WW-1:0] first(input logic [WARPS-1:0] set);
    first = '0;
    for (int w = WARPS - 1; w >= 0; w--) if (set[w]) first = WW'(w);
  endfunction
  function automatic logic [WARPS-1:0] rest(input logic [WARPS-1:0] set);
    rest = set & (set - WARPS'(1));
  endfunction

  always_ff @(posedge clk_i) begin
    place_q <= 1'b0;
    if (place_q) line_q <= 10'(11'(index_q) * local_lines_i);
    if (start_i) begin
      kind_q   <= simt_core_pkg::LINE_HEAD;
      index_q  <= '0;
      second_q <= 1'b0;
    end else if (step_i) begin
      kind_q    <= next;
      line_q    <= line_q + 10'd1;
      count_q   <= count_q - 11'd1;
      if (kind_q == simt_core_pkg::LINE_LANES) {scalars_q, regs_q} <= {scalars_i, regs_i[31:1], 1'b0};
      if (kind_q == simt_core_pkg::LINE_MASKS) pending_q <= pending_i;
      if (kind_q >= simt_core_pkg::LINE_ADDR && (next == simt_core_pkg::LINE_PENDING)) pending_q <= pending_q - 5'd1;
      if (kind_q == simt_core_pkg::LINE_MASKS) index_q <= index_q + 1'b1;
      if (kind_q >= simt_core_pkg::LINE_LANES && kind_q != simt_core_pkg::LINE_PENDING) second_q <= !part_end;
      if (to_scalars) begin
        scalars_q <= scalars_q & (scalars_q - VECTORS'(1));
        for (int k = VECTORS - 1; k >= 0; k--) if (scalars_q[k]) rd_q <= 5'(k * LANES);
      end
      if (to_reg) begin
        regs_q <= regs_q & (regs_q - 32'd1);
        rd_q   <= first_register;
      end
      if (next_slot || next_local || next_warp) begin
        index_q <= first(left_q);
        left_q  <= rest(left_q);
      end
      if (first_slot || first_local) begin
        index_q <= first(slots_i);
        left_q  <= rest(slots_i);
      end
      if (first_warp) begin
        index_q <= first(live_i);
        left_q  <= rest(live_i);
      end
      if (first_local || next_local) count_q <= local_lines_i;
      place_q <= first_local || next_local;
    end
    if (rst_i) kind_q <= simt_core_pkg::LINE_END;
  end
endmodule
