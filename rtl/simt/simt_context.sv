// SPDX-License-Identifier: Apache-2.0
// The state of the SIMT executor as a stream of lines, which is saved after a stop and restored before a resume.
//
// Contract: save_i, a level that rises when the executor has settled, streams the state out on save_*; save_last_o
// marks the last line. restore_start_i begins to take a state in from restore_*. docs/spec/context.yaml defines the
// lines. Their contents come from and go to these modules: simt_core shows on seen_i what look_o names, and takes
// put_o; simt_lsu has local memory (lmem_*) and unfinished memory instructions (pend_*, rep_*); the dispatcher has the
// groups (next_*, slots_i, fresh_i; back_*). simt_walk names the lines in order, simt_save builds them, simt_restore
// distributes them; their headers describe the handshakes.
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
    // save
    input  logic                save_i,
    output logic                save_valid_o,
    input  logic                save_ready_i,
    output logic [511:0]        save_data_o,
    output logic                save_last_o,
    // restore
    input  logic                restore_start_i,
    input  logic                restore_refuse_i,
    input  logic                restore_valid_i,
    output logic                restore_ready_o,
    input  logic [511:0]        restore_data_i,
    input  logic                restore_last_i,
    output logic                restore_ended_o,
    output logic                restore_bad_o,
    output logic                restore_done_o,
    input  logic                local_ok_i,
    output logic                local_done_o,
    input  logic                tidy_i,
    output logic [WARPS-1:0]    restore_slots_o,
    output logic [WARPS-1:0]    restore_live_o,
    output logic [WARPS-1:0]    restore_fresh_o,
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
    input  logic [LANES*32-1:0] pend_addr_i,
    input  logic [LANES*32-1:0] pend_data_i,
    input  logic [LANES*32-1:0] pend_cmp_i,
    output logic                rep_valid_o,
    input  logic                rep_ready_i,
    output logic                rep_put_o,
    output tern_spec_pkg::ctx_simt_pending_t rep_record_o,
    output logic [LANES*32-1:0] rep_addr_o,
    output logic [LANES*32-1:0] rep_data_o,
    output logic [LANES*32-1:0] rep_cmp_o,
    // dispatcher
    input  logic [WARPS-1:0]    slots_i,
    input  logic [WARPS-1:0]    fresh_i,
    input  logic                ended_i,
    input  logic [95:0]         next_group_i,
    input  logic [95:0]         next_base_i,
    output logic                back_valid_o,
    input  logic                back_ready_i,
    output logic                back_last_o,
    output logic                back_ended_o,
    output logic [WW-1:0]       back_slot_o,
    output logic [95:0]         back_group_o,
    output logic [95:0]         back_base_o
);

  logic             save_step, restore_step, saving_q;
  simt_core_pkg::walk_t walk;
  simt_core_pkg::look_t look;
  logic [4:0]       restore_pending;
  logic [WW-1:0]    index;
  logic [31:0]      regs;
  logic [VECTORS-1:0] scalars;
  logic [127:0]     restore_scalars;
  logic             rep_has_data, rep_has_cmp, has_data, has_cmp;
  logic [511:0]     head;
  logic [WARPS*32-1:0] masks, kept_masks;
  logic [WARPS-1:0] live;
  logic [WARPS*VECTORS-1:0] kept_scalars;
  assign live         = kept_i.present[WARPS-1:0];
  assign kept_masks   = kept_i.masks[WARPS*32-1:0];
  assign kept_scalars = kept_i.scalars[WARPS*VECTORS-1:0];

  assign index = walk.index[WW-1:0];

  always_ff @(posedge clk_i) saving_q <= save_i && !rst_i;

  // Returns the place, in the head's words of scalars, of the bits that tell which warps have vector k.
  function automatic int scalars_at(input int k);
    scalars_at = 32 * (k % 4) + (k / 4) * 4 * LANES;
  endfunction

  // The words of the mask lines; zero for warps that are not live.
  always_comb begin
    masks = '0;
    for (int w = 0; w < WARPS; w++) if (live[w]) masks[32*w +: 32] = kept_masks[32*w +: 32];
    regs = kept_masks[32*index +: 32];
    for (int k = 0; k < VECTORS; k++) scalars[k] = saving_q ? kept_scalars[VECTORS*index+k]
                                                            : restore_scalars[scalars_at(k)+32'(index)];
  end

  always_comb begin
    head = '0;
    head[tern_spec_pkg::CTX_SIMT_HEAD_LANES_LSB +: 8]   = 8'(LANES);
    head[tern_spec_pkg::CTX_SIMT_HEAD_WARPS_LSB +: 8]   = 8'(WARPS);
    head[tern_spec_pkg::CTX_SIMT_HEAD_PENDING_LSB +: 8] = 8'(pend_count_i);
    head[tern_spec_pkg::CTX_SIMT_HEAD_SLOTS_LSB +: 32]  = 32'(slots_i);
    head[tern_spec_pkg::CTX_SIMT_HEAD_LIVE_LSB +: 32]   = 32'(live);
    head[tern_spec_pkg::CTX_SIMT_HEAD_FRESH_LSB +: 32]  = 32'(fresh_i);
    head[tern_spec_pkg::CTX_SIMT_HEAD_ENDED_LSB]        = ended_i;
    for (int w = 0; w < WARPS; w++)
      for (int k = 0; k < VECTORS; k++)
        head[tern_spec_pkg::CTX_SIMT_HEAD_SCALARS_0_LSB + scalars_at(k) + w] = live[w] && kept_scalars[VECTORS*w+k];
    if (!ended_i) begin
      head[tern_spec_pkg::CTX_SIMT_HEAD_NEXT_X_LSB +: 96] = next_group_i;
      head[tern_spec_pkg::CTX_SIMT_HEAD_BASE_X_LSB +: 96] = next_base_i;
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
      .start_i((save_i && !saving_q) || restore_start_i),
      .slots_i(saving_q ? slots_i : restore_slots_o),
      .live_i(saving_q ? live : restore_live_o),
      .pending_i(saving_q ? pend_count_i : restore_pending),
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
      .pend_addr_i,
      .pend_data_i,
      .pend_cmp_i,
      .out_valid_o(save_valid_o),
      .out_ready_i(save_ready_i),
      .out_data_o(save_data_o),
      .out_last_o(save_last_o)
  );

  simt_restore #(
      .LANES(LANES),
      .WARPS(WARPS)
  ) u_restore (
      .clk_i,
      .rst_i,
      .start_i(restore_start_i),
      .refuse_i(restore_refuse_i),
      .in_valid_i(restore_valid_i),
      .in_ready_o(restore_ready_o),
      .in_data_i(restore_data_i),
      .in_last_i(restore_last_i),
      .ended_o(restore_ended_o),
      .bad_o(restore_bad_o),
      .walk_i(walk),
      .step_o(restore_step),
      .slots_o(restore_slots_o),
      .live_o(restore_live_o),
      .fresh_o(restore_fresh_o),
      .pending_o(restore_pending),
      .scalars_o(restore_scalars),
      .has_data_o(rep_has_data),
      .has_cmp_o(rep_has_cmp),
      .put_o,
      .local_ok_i,
      .lmem_write_o,
      .lmem_ready_i,
      .local_done_o,
      .rep_valid_o,
      .rep_ready_i,
      .rep_put_o,
      .rep_record_o,
      .rep_addr_o,
      .rep_data_o,
      .rep_cmp_o,
      .back_valid_o,
      .back_ready_i,
      .back_last_o,
      .back_ended_o,
      .back_slot_o,
      .back_group_o,
      .back_base_o,
      .tidy_i,
      .done_o(restore_done_o)
  );

  // A resume reads the slots, whose groups it gives to the dispatcher.
  always_comb begin
    look_o = look;
    if (!saving_q) look_o.index = 5'(back_slot_o);
  end

endmodule
