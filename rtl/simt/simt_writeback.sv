// SPDX-License-Identifier: Apache-2.0
// Decides which unit writes the registers: one write of a whole warp a cycle.
//
// Contract: an instruction of fixed latency asks in R (cycle t) whether its write-back slot is free and books it: the
// ALU at t + 2, or late at t + 3; multiplier at t + 4; FMA and simt_convert at t + 8. A booked write cannot be refused.
// Slots that are not booked go to launch, divider and LSU, in this order. wb_* describes the write of this cycle; its
// data goes from the output register of the unit to the RAM. ends_o names a result that is complete with this write.
// soon_o is the booked write of two cycles ahead.
// For an LSU result that has waited two cycles, the next free slot of the ALU is not booked. A result of the LSU for x0
// is taken at once, beside any other write. put_i (a register of a warp is restored) and put_state_i (its frm and
// fflags are) come only when nothing else is to be written.
// State saved at preemption: none; everything drains within 8 cycles. busy_o: a booked write is left.
//
// Booking lets results of the ALU overtake those of the FMA. A delay line that gives all units the same latency would
// cost LANES * 32 * 6 flip-flops and make every dependent instruction wait six cycles more.

module simt_writeback #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    // R: booking
    output logic             alu_ok_o,      // a slot is free for the ALU, early or late
    output logic             alu_late_o,    // that is the late one
    output logic             mul_ok_o,      // a slot is free for the multiplier
    output logic             fma_ok_o,      // a slot is free for FMA or simt_convert
    input  logic             book_i,
    input  simt_core_pkg::wb_e book_sel_i,  // WB_ALU, _ALU_LATE, _FCSR, _MUL, _CVT, _FMA
    input  simt_core_pkg::result_t book_to_i,
    // units of variable latency
    input  logic             launch_valid_i,
    output logic             launch_ready_o,
    input  simt_core_pkg::result_t launch_i,
    input  logic             div_valid_i,
    output logic             div_ready_o,
    input  simt_core_pkg::result_t div_i,
    input  logic             lsu_valid_i,
    output logic             lsu_ready_o,
    input  simt_core_pkg::result_t lsu_i,
    // restore
    input  logic             put_i,
    input  logic             put_state_i,
    input  logic [WW+4:0]    put_rd_i,      // {warp, register}
    output logic             busy_o,
    // write of this cycle
    output logic [3:0]       wb_sel_o,
    output logic             wb_write_o,    // a register is written
    output simt_core_pkg::mark_t ends_o,    // last write of a result that an instruction may wait for
    output logic [WW-1:0]    wb_warp_o,
    output logic [4:0]       wb_rd_o,
    output logic [LANES-1:0] wb_mask_o,
    output simt_core_pkg::mark_t soon_o
);

  localparam int DEPTH = 1 + simt_op_pkg::FMA_LATENCY;   // slots 0 (this cycle) to DEPTH
  localparam int MUL_SLOT = 1 + simt_op_pkg::MUL_LATENCY;

  generate
    if (simt_op_pkg::FMA_LATENCY != simt_op_pkg::CVT_LATENCY || MUL_SLOT <= 3 || DEPTH <= MUL_SLOT) begin : g_latencies
      $error("simt_writeback: the slots assume these latencies");
    end
  endgenerate

  localparam int EW = 4 + WW + 5 + LANES;

  logic [DEPTH:0]      used_q;                // booked or reserved slots; bit DEPTH stays 0
  logic [DEPTH*EW-1:0] slots_q, slots_d;      // {mask, rd, warp, sel} of each booked write; sel 0: WB_ANY
  logic [1:0]       starve_q;
  logic             reserve;

  // Booking.
  logic [DEPTH:0] slot;                       // slot that is booked, one-hot

  always_comb begin
    reserve    = starve_q == 2'd2 && !used_q[2];
    alu_late_o = used_q[2] || reserve;
    alu_ok_o   = !alu_late_o || !used_q[3];
    mul_ok_o   = !used_q[MUL_SLOT];
    fma_ok_o   = !used_q[DEPTH];
    slot       = '0;
    case (book_sel_i)
      simt_core_pkg::WB_ALU, simt_core_pkg::WB_FCSR: slot[2] = book_i;
      simt_core_pkg::WB_ALU_LATE:                    slot[3] = book_i;
      simt_core_pkg::WB_FMA, simt_core_pkg::WB_CVT:  slot[DEPTH] = book_i;
      default:                                       slot[MUL_SLOT] = book_i;
    endcase
  end

  always_comb begin
    slots_d = slots_q >> EW;
    for (int k = 0; k < DEPTH; k++)
      if (slot[k+1]) slots_d[k*EW +: EW] =
        {book_to_i.mask[LANES-1:0], book_to_i.rd, book_to_i.warp[WW-1:0], book_sel_i};
  end

  always_ff @(posedge clk_i) begin
    used_q <= {1'b0, used_q[DEPTH:1] | slot[DEPTH:1]};
    if (reserve) used_q[1] <= 1'b1;
    slots_q <= slots_d;
    if (reserve || !lsu_valid_i || lsu_ready_o) starve_q <= 2'd0;
    else if (starve_q != 2'd2) starve_q <= starve_q + 2'd1;
    if (rst_i) begin
      used_q   <= '0;
      starve_q <= 2'd0;
      slots_q  <= '0;
    end
  end

  // The write of this cycle.
  logic             free, ends;
  logic [3:0]       now_sel, soon_sel;
  logic [WW-1:0]    now_warp, soon_warp;
  logic [4:0]       now_rd, soon_rd;
  logic [LANES-1:0] now_mask;

  always_comb begin
    {now_mask, now_rd, now_warp, now_sel} = slots_q[EW-1:0];
    {soon_rd, soon_warp, soon_sel}        = slots_q[2*EW +: EW-LANES];
    free           = now_sel == simt_core_pkg::WB_ANY;
    launch_ready_o = free;
    div_ready_o    = free && !launch_valid_i;
    lsu_ready_o    = (free && !launch_valid_i && !div_valid_i) || lsu_i.rd == 5'd0;
    wb_sel_o       = now_sel;
    wb_warp_o      = now_warp;
    wb_rd_o        = now_rd;
    wb_mask_o      = now_mask;
    ends           = now_sel != simt_core_pkg::WB_ANY;
    if (free) begin
      if (launch_valid_i) begin
        wb_sel_o  = simt_core_pkg::WB_LAUNCH;
        wb_warp_o = launch_i.warp[WW-1:0];
        wb_rd_o   = launch_i.rd;
        wb_mask_o = launch_i.mask[LANES-1:0];
      end else if (div_valid_i) begin
        wb_sel_o  = simt_core_pkg::WB_DIV;
        wb_warp_o = div_i.warp[WW-1:0];
        wb_rd_o   = div_i.rd;
        wb_mask_o = div_i.mask[LANES-1:0];
        ends      = 1'b1;
      end else if (lsu_valid_i) begin
        wb_sel_o  = simt_core_pkg::WB_LSU;
        wb_warp_o = lsu_i.warp[WW-1:0];
        wb_rd_o   = lsu_i.rd;
        wb_mask_o = lsu_i.mask[LANES-1:0];
        ends      = lsu_i.last && lsu_i.rd != 5'd0;
      end
    end
    ends_o.valid = ends;
    ends_o.warp  = 5'(wb_warp_o);
    ends_o.rd    = wb_rd_o;
    if (put_i || put_state_i) begin
      wb_sel_o             = put_i ? simt_core_pkg::WB_PUT : simt_core_pkg::WB_STATE;
      {wb_warp_o, wb_rd_o} = put_rd_i;
      wb_mask_o            = '1;
    end
    wb_write_o = wb_sel_o != simt_core_pkg::WB_ANY && wb_sel_o != simt_core_pkg::WB_STATE && wb_rd_o != 5'd0;
    busy_o     = used_q != '0;
  end

  assign soon_o.valid = soon_sel != simt_core_pkg::WB_ANY;
  assign soon_o.warp  = 5'(soon_warp);
  assign soon_o.rd    = soon_rd;

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i && (put_i || put_state_i)) begin
      comes_back_alone: assert (free && !launch_valid_i && !div_valid_i && !lsu_valid_i);
    end
  end
`endif

endmodule
