// SPDX-License-Identifier: Apache-2.0
// Takes the saved state of a preempted executor, one line per cycle, and passes each part to the module that it is of.
//
// Contract: resume_i.start begins. Every line up to and including the last is taken, whatever it holds. resumed_o.bad:
// the state is from a device of another geometry (lanes, warps), or has more or fewer lines than its head says. put_o
// is the part that simt_walk names by kind, index and register; a line of masks is passed on word by word, in up to 16
// cycles. Lines of local memory wait for resume_i.local_ok. rep_* issues the unfinished memory instructions to the LSU
// again, in order; rep_put_o, in the first cycle of each, marks its destination and its group. back_* gives the
// resident groups to the dispatcher and, when all other state is restored (resume_i.tidy), the next group.
//
// State saved at preemption: none of its own. A stop during a restore resets the executor, since the saved state is
// still valid.
//
// The dispatcher launches the resident groups again while lanes and registers are still arriving, because neither
// depends on the other.

module simt_restore #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16   // hardware warps
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  simt_core_pkg::resume_t resume_i,
    output simt_core_pkg::resumed_t resumed_o,
    // stream of lines
    input  logic                in_valid_i,
    output logic                in_ready_o,
    input  tern_pkg::exec_line_t in_i,
    // simt_walk: the part that the line is
    input  simt_core_pkg::walk_t walk_i,
    output logic                step_o,
    output simt_core_pkg::head_t head_o,
    output logic                has_data_o,
    output logic                has_cmp_o,
    // parts of the state
    output simt_core_pkg::put_t put_o,
    output logic                lmem_write_o,
    input  logic                lmem_ready_i,
    // unfinished memory instructions
    output logic                rep_valid_o,
    input  logic                rep_ready_i,
    output logic                rep_put_o,
    output tern_spec_pkg::ctx_simt_pending_t rep_record_o,
    output logic [LANES*96-1:0] rep_operands_o,   // {cmp, data, addr}, a word for each lane
    // dispatcher
    output logic [4:0]          slot_o,           // lowest slot that is not given yet, one cycle before back_o has it
    output logic                back_valid_o,
    input  logic                back_ready_i,
    output simt_core_pkg::back_t back_o           // group and base: of the next group; those of the slots come by put_o
);

  logic             active_q, full_q, last_q, bad_q, head_q, ended_q;
  logic [511:0]     line_q, half_q;
  logic [1023:0]    pair;
  logic             unused;
  logic             step, part_end, is_vector, ok, put, rep_end;
  logic [LANES*32-1:0] vector;

  // Fields of the head.
  logic [WARPS-1:0] slots_q, live_q, fresh_q, todo_q;
  logic [4:0]       pending_q;
  logic [127:0]     scalars_q;
  logic             next_ended_q, geometry;
  logic [191:0]     next_q;

  assign geometry = line_q[tern_spec_pkg::CTX_SIMT_HEAD_LANES_LSB +: 8] == 8'(LANES)
                    && line_q[tern_spec_pkg::CTX_SIMT_HEAD_WARPS_LSB +: 8] == 8'(WARPS);
  assign head_o.slots   = 32'(slots_q);
  assign head_o.live    = 32'(live_q);
  assign head_o.fresh   = 32'(fresh_q);
  assign head_o.pending = pending_q;
  assign head_o.scalars = scalars_q;

  // The word of a line of masks, which is that of warp {index[0], word_q}.
  localparam logic [3:0] LAST_WORD = 4'(WARPS > 16 ? 15 : WARPS - 1);
  logic [3:0] word_q;
  logic       is_masks;

  assign is_masks = walk_i.kind == simt_core_pkg::LINE_MASKS;

  always_ff @(posedge clk_i) word_q <= (put && is_masks && !step) ? word_q + 4'd1 : '0;

  // The line in line_q.
  always_comb begin
    is_vector    = walk_i.kind == simt_core_pkg::LINE_LANES || walk_i.kind == simt_core_pkg::LINE_PCS
                   || walk_i.kind == simt_core_pkg::LINE_SCALARS || walk_i.kind == simt_core_pkg::LINE_REG ||
                   walk_i.kind >= simt_core_pkg::LINE_ADDR;
    part_end     = !is_vector || walk_i.second == (LANES > 16);
    ok           = walk_i.valid;
    lmem_write_o = 1'b0;
    if (walk_i.kind == simt_core_pkg::LINE_LOCAL) begin
      lmem_write_o = full_q && !bad_q && walk_i.valid && resume_i.local_ok;
      ok           = walk_i.valid && resume_i.local_ok && lmem_ready_i;
    end
    if (walk_i.kind == simt_core_pkg::LINE_PENDING) ok = walk_i.valid && !rep_valid_o;
    if (is_masks) ok = walk_i.valid && word_q == LAST_WORD;
    step         = full_q && (bad_q || ok);
    step_o       = step && !bad_q;
    // Local memory is not part of it, because lmem_ready_i is known late in the cycle.
    put          = full_q && !bad_q && walk_i.valid && part_end && walk_i.kind != simt_core_pkg::LINE_LOCAL
                   && !(walk_i.kind == simt_core_pkg::LINE_PENDING && rep_valid_o);
    rep_end      = put && walk_i.record_end;
    in_ready_o   = active_q && !(full_q && last_q) && (!full_q || step);
    pair         = (LANES > 16) ? {line_q, half_q} : {512'd0, line_q};
    vector       = pair[LANES*32-1:0];
    unused       = &{1'b0, pair};            // vectors of fewer lanes do not use all of it
  end

  assign put_o.valid  = put;
  assign put_o.kind   = walk_i.kind;
  assign put_o.index  = is_masks ? {walk_i.index[0], word_q} : walk_i.index;
  assign put_o.mask   = line_q[32*word_q +: 32];
  assign put_o.rd     = walk_i.rd;
  assign put_o.line   = line_q;
  assign put_o.words  = 1024'(vector);

  always_ff @(posedge clk_i) begin
    if (in_valid_i && in_ready_o) begin
      full_q <= 1'b1;
      line_q <= in_i.data;
      last_q <= in_i.last;
    end else if (step) full_q <= 1'b0;
    if (step) begin
      half_q <= line_q;
      if (last_q) begin
        active_q <= 1'b0;
        ended_q  <= 1'b1;
      end
      if (!bad_q && last_q != walk_i.last) bad_q <= 1'b1;
    end
    if (step_o && walk_i.kind == simt_core_pkg::LINE_HEAD) begin
      if (!geometry) bad_q <= 1'b1;
      pending_q    <= line_q[tern_spec_pkg::CTX_SIMT_HEAD_PENDING_LSB +: 5];
      scalars_q    <= line_q[tern_spec_pkg::CTX_SIMT_HEAD_SCALARS_0_LSB +: 128];
      slots_q      <= line_q[tern_spec_pkg::CTX_SIMT_HEAD_SLOTS_LSB +: WARPS];
      live_q       <= line_q[tern_spec_pkg::CTX_SIMT_HEAD_LIVE_LSB +: WARPS];
      fresh_q      <= line_q[tern_spec_pkg::CTX_SIMT_HEAD_FRESH_LSB +: WARPS];
      next_ended_q <= line_q[tern_spec_pkg::CTX_SIMT_HEAD_ENDED_LSB];
      next_q       <= line_q[tern_spec_pkg::CTX_SIMT_HEAD_NEXT_X_LSB +: 192];
      todo_q       <= line_q[tern_spec_pkg::CTX_SIMT_HEAD_SLOTS_LSB +: WARPS];
      head_q       <= 1'b1;
    end
    if (resume_i.refuse) bad_q <= 1'b1;
    if (back_valid_o && back_ready_i) todo_q <= todo_q & (todo_q - WARPS'(1));
    if (resume_i.start) begin
      active_q <= 1'b1;
      head_q   <= 1'b0;
      ended_q  <= 1'b0;
      bad_q    <= 1'b0;
    end
    if (rst_i) begin
      active_q <= 1'b0;
      full_q   <= 1'b0;
      head_q   <= 1'b0;
      ended_q  <= 1'b0;
      bad_q    <= 1'b0;
    end
  end

  // Memory instructions: the lines of a record are collected, then the instruction is issued.
  logic [2:0] op;

  assign op         = rep_record_o.op;
  assign has_data_o = op != tern_spec_pkg::CTX_SIMT_PENDING_OP_LOAD;
  assign has_cmp_o  = op == tern_spec_pkg::CTX_SIMT_PENDING_OP_AMO
                      && rep_record_o.amo == tern_pkg::AMO_CAS;

  always_ff @(posedge clk_i) begin
    if (put)
      case (walk_i.kind)
        simt_core_pkg::LINE_PENDING: rep_record_o <= line_q[255:0];
        simt_core_pkg::LINE_ADDR:    rep_operands_o[0 +: LANES*32] <= vector;
        simt_core_pkg::LINE_DATA:    rep_operands_o[LANES*32 +: LANES*32] <= vector;
        simt_core_pkg::LINE_CMP:     rep_operands_o[LANES*64 +: LANES*32] <= vector;
        default: ;
      endcase
    rep_put_o <= rep_end && !rst_i;
    if (rep_end) rep_valid_o <= 1'b1;
    else if (rep_ready_i) rep_valid_o <= 1'b0;
    if (rst_i) rep_valid_o <= 1'b0;
  end

  // The dispatcher gets the resident groups once all slots have arrived, and at the end the next group. Each is looked
  // up in the cycle before it is offered (known_q). The dispatcher needs longer than that for a group.
  logic       known_q, none_q, done_q;   // none: no slot is left; done: the dispatcher has taken the next group
  logic [4:0] slot_q;

  always_comb begin
    slot_o = '0;
    for (int s = WARPS - 1; s >= 0; s--) if (todo_q[s]) slot_o = 5'(s);
  end

  always_ff @(posedge clk_i) begin
    slot_q  <= slot_o;
    none_q  <= todo_q == '0;
    known_q <= head_q && !(back_valid_o && back_ready_i) && !rst_i;
    done_q  <= back_valid_o && back_ready_i && none_q && !rst_i;
  end

  assign back_o.slot  = slot_q;
  assign back_o.last  = none_q;
  assign back_o.ended = next_ended_q;
  assign {back_o.base, back_o.group} = next_q;
  assign back_valid_o = known_q && head_q && !bad_q && (none_q ? ended_q && !rep_valid_o && resume_i.tidy
                                                               : ended_q || walk_i.kind > simt_core_pkg::LINE_SLOT);

  assign resumed_o.ended      = ended_q;
  assign resumed_o.bad        = bad_q;
  assign resumed_o.done       = done_q;
  assign resumed_o.local_done = ended_q || (active_q && walk_i.kind > simt_core_pkg::LINE_LOCAL);

endmodule
