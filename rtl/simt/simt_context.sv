// SPDX-License-Identifier: Apache-2.0
// The state of the SIMT executor as a stream of lines, which is saved after a stop and restored before a resume.
//
// Contract: save_i, a level that rises when the executor has settled, streams the state out on save_*. resume_i.start
// begins to take a state in from restore_*. docs/spec/context.yaml defines the lines. Their contents come from and go
// to these modules: simt_core shows on seen_i what look_o names, and takes put_o; simt_lsu has local memory (lmem_*)
// and unfinished memory instructions (pend_*, rep_*); the dispatcher has the groups (groups_i, back_*). simt_walk names
// the lines in order, simt_save builds them, simt_restore distributes them; their headers describe the handshakes.
// look_o.index is the slot or warp of the line that is saved or, in a resume, of the group that is given to the
// dispatcher. Otherwise it is the warp dbg_warp_i of the cycle before.
//
// State saved at preemption: none of its own.

module simt_context #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS),
    localparam int VECTORS = 32 / LANES      // vectors of scalars of a warp
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic [10:0]         local_lines_i,    // lines of local memory of a slot
    input  logic [4:0]          dbg_warp_i,       // warp that a debugger looks at
    // save
    input  logic                save_i,
    output logic                save_valid_o,
    input  logic                save_ready_i,
    output tern_pkg::exec_line_t save_o,
    // restore
    input  simt_core_pkg::resume_t resume_i,
    output simt_core_pkg::resumed_t resumed_o,
    output simt_core_pkg::head_t head_o,
    input  logic                restore_valid_i,
    output logic                restore_ready_o,
    input  tern_pkg::exec_line_t restore_i,
    // core
    input  simt_core_pkg::kept_t kept_i,
    output simt_core_pkg::look_t look_o,          // active: a save
    input  simt_core_pkg::seen_t seen_i,
    output simt_core_pkg::put_t put_o,
    // LSU
    output logic                lmem_read_o,
    output logic                lmem_write_o,
    output logic [9:0]          lmem_line_o,
    input  logic                lmem_ready_i,
    input  logic                lmem_valid_i,
    input  logic [511:0]        lmem_data_i,
    input  logic [4:0]          pend_count_i,
    input  logic                pend_valid_i,
    output logic                pend_ready_o,
    input  tern_spec_pkg::ctx_simt_pending_t pend_record_i,
    input  logic [LANES*96-1:0] pend_operands_i,  // {cmp, data, addr}, a word for each lane
    output logic                rep_valid_o,
    input  logic                rep_ready_i,
    output logic                rep_put_o,
    output tern_spec_pkg::ctx_simt_pending_t rep_record_o,
    output logic [LANES*96-1:0] rep_operands_o,
    // dispatcher
    input  simt_core_pkg::groups_t groups_i,
    output logic                back_valid_o,
    input  logic                back_ready_i,
    output simt_core_pkg::back_t back_o
);

  logic             save_step, restore_step, saving_q;
  simt_core_pkg::walk_t walk;
  simt_core_pkg::look_t look;
  logic [WW-1:0]    index;
  logic [4:0]       index_q, slot;
  logic [31:0]      regs;
  logic [VECTORS-1:0] scalars;
  logic             rep_has_data, rep_has_cmp, has_data, has_cmp;
  logic [511:0]     head;
  logic [WARPS*32-1:0] masks;
  logic [WARPS-1:0] live;
  logic [WARPS*VECTORS-1:0] kept_scalars;
  assign live         = kept_i.present[WARPS-1:0];
  assign masks        = kept_i.masks[WARPS*32-1:0];
  assign kept_scalars = kept_i.scalars[WARPS*VECTORS-1:0];

  assign index = walk.index[WW-1:0];

  always_ff @(posedge clk_i) saving_q <= save_i && (saving_q || kept_i.ready) && !rst_i;

  // Returns the place, in the head's words of scalars, of the bits that tell which warps have vector k.
  function automatic int scalars_at(input int k);
    scalars_at = 32 * (k % 4) + (k / 4) * 4 * LANES;
  endfunction

  always_comb begin
    regs = masks[32*index +: 32];
    for (int k = 0; k < VECTORS; k++) scalars[k] = saving_q ? kept_scalars[VECTORS*index+k]
                                                            : head_o.scalars[scalars_at(k)+32'(index)];
  end

  always_comb begin
    head = '0;
    head[tern_spec_pkg::CTX_SIMT_HEAD_LANES_LSB +: 8]   = 8'(LANES);
    head[tern_spec_pkg::CTX_SIMT_HEAD_WARPS_LSB +: 8]   = 8'(WARPS);
    head[tern_spec_pkg::CTX_SIMT_HEAD_PENDING_LSB +: 8] = 8'(pend_count_i);
    head[tern_spec_pkg::CTX_SIMT_HEAD_SLOTS_LSB +: 32]  = groups_i.slots;
    head[tern_spec_pkg::CTX_SIMT_HEAD_LIVE_LSB +: 32]   = 32'(live);
    head[tern_spec_pkg::CTX_SIMT_HEAD_FRESH_LSB +: 32]  = groups_i.fresh;
    head[tern_spec_pkg::CTX_SIMT_HEAD_ENDED_LSB]        = groups_i.ended;
    for (int w = 0; w < WARPS; w++)
      for (int k = 0; k < VECTORS; k++)
        head[tern_spec_pkg::CTX_SIMT_HEAD_SCALARS_0_LSB + scalars_at(k) + w] = kept_scalars[VECTORS*w+k];
    if (!groups_i.ended) begin
      head[tern_spec_pkg::CTX_SIMT_HEAD_NEXT_X_LSB +: 96] = groups_i.group;
      head[tern_spec_pkg::CTX_SIMT_HEAD_BASE_X_LSB +: 96] = groups_i.base;
    end
  end

  // Parts of the memory instruction that is being saved or restored.
  assign has_data = saving_q ? pend_record_i.op !=
    tern_spec_pkg::CTX_SIMT_PENDING_OP_LOAD
                             : rep_has_data;
  assign has_cmp  = saving_q ? pend_record_i.op ==
    tern_spec_pkg::CTX_SIMT_PENDING_OP_AMO
                               && pend_record_i.amo == tern_pkg::AMO_CAS
                             : rep_has_cmp;

  simt_walk #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_walk (
      .clk_i,
      .rst_i,
      .start_i((save_i && kept_i.ready && !saving_q) || resume_i.start),
      .slots_i(saving_q ? groups_i.slots[WARPS-1:0] : head_o.slots[WARPS-1:0]),
      .live_i(saving_q ? live : head_o.live[WARPS-1:0]),
      .pending_i(saving_q ? pend_count_i : head_o.pending),
      .scalars_i(scalars),
      .regs_i(regs),
      .local_lines_i,
      .has_data_i(has_data),
      .has_cmp_i(has_cmp),
      .walk_o(walk),
      .line_o(lmem_line_o),
      .step_i(save_step || restore_step)
  );

  simt_save #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_save (
      .clk_i,
      .rst_i,
      .active_i(saving_q),
      .walk_i(walk),
      .step_o(save_step),
      .look_o(look),
      .seen_i,
      .head_i(head),
      .masks_i(masks),
      .lmem_read_o,
      .lmem_ready_i,
      .lmem_valid_i,
      .lmem_data_i,
      .pend_valid_i,
      .pend_ready_o,
      .pend_record_i,
      .pend_operands_i,
      .out_valid_o(save_valid_o),
      .out_ready_i(save_ready_i),
      .out_o(save_o)
  );

  simt_restore #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_restore (
      .clk_i,
      .rst_i,
      .resume_i,
      .resumed_o,
      .in_valid_i(restore_valid_i),
      .in_ready_o(restore_ready_o),
      .in_i(restore_i),
      .walk_i(walk),
      .step_o(restore_step),
      .head_o,
      .has_data_o(rep_has_data),
      .has_cmp_o(rep_has_cmp),
      .put_o,
      .lmem_write_o,
      .lmem_ready_i,
      .rep_valid_o,
      .rep_ready_i,
      .rep_put_o,
      .rep_record_o,
      .rep_operands_o,
      .slot_o(slot),
      .back_valid_o,
      .back_ready_i,
      .back_o
  );

  // A register, since much logic follows it. A resume reads the slots, whose groups it gives to the dispatcher.
  always_ff @(posedge clk_i)
    if (save_step) index_q <= walk.index;
    else if (!saving_q) index_q <= resume_i.local_ok ? slot : dbg_warp_i;

  always_comb begin
    look_o       = look;
    look_o.index = index_q;
  end

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      shows_the_slot_it_gives: assert (!(back_valid_o && back_ready_i && !back_o.last) || index_q == back_o.slot);
    end
  end
`endif

endmodule
