// SPDX-License-Identifier: Apache-2.0
// Tracks which registers of each warp have a pending result.
//
// Contract: in the cycle of its operand read (R) an instruction gives warp, registers and their use (chk_*); hazard_o
// is combinational. set_i marks its destination as pending. A write to the registers in cycle t (wb_*) clears the mark
// for instructions in R from t + 2 on; these are the earliest that read the registers after the write. An instruction
// with a hazard is killed. With sleep_o its warp sleeps until wake_o names it; without, the result comes just in time
// for the warp to be picked again at once. For units of fixed latency, soon_* announces a write two cycles ahead, and
// the wake-up comes then, so that the warp is in R when the register becomes free.
// nxt_* is the prediction (simt_hint) for the instruction behind the one in R; nxt_valid_i: that one is issued and this
// one follows. next_sleep_o, combinational and without regard to nxt_valid_i: it would be killed, so its warp sleeps at
// once. Registers that nxt_use_i names in error only cost time.
//
// State saved at preemption: none. After a resume, put_i marks the destination of each memory instruction that was cut.
//
// The bits of a warp are read in D, together with the changes of that cycle, so that R begins with registers. Each
// register has one bit and not a count: an instruction also waits for its own destination (write after write). Bit 0
// stands for the flags of floating-point instructions with rd = x0.

module simt_scoreboard #(
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic [WW-1:0]    d_warp_i,      // warp of the instruction that is in R in the next cycle
    // R: the instruction that asks
    input  logic             chk_valid_i,
    input  logic [WW-1:0]    chk_warp_i,
    input  logic [4:0]       chk_rs1_i,
    input  logic [4:0]       chk_rs2_i,
    input  logic [4:0]       chk_rs3_i,
    input  logic [4:0]       chk_rd_i,
    input  logic [3:0]       chk_use_i,     // used ones of rd, rs3, rs2, rs1
    input  logic             chk_all_i,     // every register of the warp counts as used
    output logic             hazard_o,
    output logic             sleep_o,
    input  logic             set_i,         // marks register chk_rd_i of warp chk_warp_i
    input  logic             sets_i,        // the same without regard to whether the instruction is issued
    // R: the instruction behind the one that asks
    input  logic             nxt_valid_i,
    input  logic [4:0]       nxt_rs1_i,
    input  logic [4:0]       nxt_rs2_i,
    input  logic [4:0]       nxt_rs3_i,
    input  logic [4:0]       nxt_rd_i,
    input  logic [3:0]       nxt_use_i,
    output logic             next_sleep_o,
    // writes to the registers
    input  logic             soon_i,
    input  logic [WW-1:0]    soon_warp_i,
    input  logic [4:0]       soon_rd_i,
    input  logic             wb_i,
    input  logic [WW-1:0]    wb_warp_i,
    input  logic [4:0]       wb_rd_i,
    output logic [WARPS-1:0] wake_o,
    // resume
    input  logic             put_i,
    input  logic [WW-1:0]    put_warp_i,
    input  logic [4:0]       put_rd_i
);

  logic [31:0] pend_q [0:WARPS-1];      // registers with a pending result
  logic [31:0] far_q [0:WARPS-1];       // those of them whose write has not been announced by soon_*
  logic [WARPS-1:0] asleep_q, any_q;    // sleeping warps; those that wake at any write
  logic [4:0]       reg_q [0:WARPS-1];  // register at whose write the warp wakes

  logic          clear_q;
  logic [WW-1:0] clear_warp_q;
  logic [4:0]    clear_rd_q;

  // R: hazards of each operand by itself, then the one that the warp waits for.
  logic [31:0] pend, far, d_pend, d_far;
  logic [3:0]  hit, apart;
  logic [4:0]  blocker;
  logic        soon_here, wb_here;

  // Returns the lowest set bit of four.
  function automatic logic [3:0] lowest(input logic [3:0] set);
    lowest = {set[3] && set[2:0] == 3'd0, set[2] && set[1:0] == 2'd0, set[1] && !set[0], set[0]};
  endfunction
  // Returns the register of the lowest bit of {rs3, rs2, rs1} that is set, or rd if none is.
  function automatic logic [4:0] named(input logic [2:0] set, input logic [4:0] rd, rs3, rs2, rs1);
    named = set[0] ? rs1 : set[1] ? rs2 : set[2] ? rs3 : rd;
  endfunction

  always_comb begin
    d_pend = pend_q[d_warp_i];
    d_far  = far_q[d_warp_i];
    if (clear_q && clear_warp_q == d_warp_i) d_pend[clear_rd_q] = 1'b0;
    if (soon_i && soon_warp_i == d_warp_i) d_far[soon_rd_i] = 1'b0;
    if (wb_i && wb_warp_i == d_warp_i) d_far[wb_rd_i] = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    pend <= d_pend;
    far  <= d_far;
  end

  always_comb begin
    hit   = chk_use_i & {pend[chk_rd_i], pend[chk_rs3_i], pend[chk_rs2_i], pend[chk_rs1_i]};
    apart = {far[chk_rd_i], far[chk_rs3_i], far[chk_rs2_i], far[chk_rs1_i]};
    soon_here = soon_i && soon_warp_i == chk_warp_i;
    wb_here   = wb_i && wb_warp_i == chk_warp_i;
    hazard_o = hit != 4'd0 || (chk_all_i && pend != 32'd0);
    blocker  = named(hit[2:0], chk_rd_i, chk_rs3_i, chk_rs2_i, chk_rs1_i);
    sleep_o  = !soon_here && !wb_here && (chk_all_i ? far != 32'd0 : hit == 4'd0 ? apart[3] : |(lowest(hit) & apart));
  end

  // The next instruction. The result of the instruction in R comes last of all, so if it is among the operands, the
  // warp waits for it.
  logic [3:0] nxt_hit, nxt_new, nxt_comes, nxt_apart;
  logic [4:0] nxt_blocker;

  always_comb begin
    nxt_hit = nxt_use_i & {pend[nxt_rd_i], pend[nxt_rs3_i], pend[nxt_rs2_i], pend[nxt_rs1_i]};
    nxt_new = nxt_use_i & {4{sets_i}}
              & {nxt_rd_i == chk_rd_i, nxt_rs3_i == chk_rd_i, nxt_rs2_i == chk_rd_i, nxt_rs1_i == chk_rd_i};
    nxt_comes = ({4{soon_here}} & {nxt_rd_i == soon_rd_i, nxt_rs3_i == soon_rd_i, nxt_rs2_i == soon_rd_i,
                                   nxt_rs1_i == soon_rd_i})
                | ({4{wb_here}} & {nxt_rd_i == wb_rd_i, nxt_rs3_i == wb_rd_i, nxt_rs2_i == wb_rd_i,
                                   nxt_rs1_i == wb_rd_i});
    nxt_apart = {far[nxt_rd_i], far[nxt_rs3_i], far[nxt_rs2_i], far[nxt_rs1_i]} & ~nxt_comes;
    nxt_blocker = (nxt_new != 4'd0) ? chk_rd_i : named(nxt_hit[2:0], nxt_rd_i, nxt_rs3_i, nxt_rs2_i, nxt_rs1_i);
    next_sleep_o = nxt_new != 4'd0 || |(lowest(nxt_hit) & nxt_apart);
  end

  // Wake-ups.
  always_comb begin
    for (int w = 0; w < WARPS; w++)
      wake_o[w] = asleep_q[w] && ((soon_i && soon_warp_i == WW'(w) && (any_q[w] || reg_q[w] == soon_rd_i))
                                  || (wb_i && wb_warp_i == WW'(w) && (any_q[w] || reg_q[w] == wb_rd_i)));
  end

  always_ff @(posedge clk_i) begin
    clear_q      <= wb_i;
    clear_warp_q <= wb_warp_i;
    clear_rd_q   <= wb_rd_i;
    if (soon_i) far_q[soon_warp_i][soon_rd_i] <= 1'b0;
    if (wb_i) far_q[wb_warp_i][wb_rd_i] <= 1'b0;
    if (clear_q) pend_q[clear_warp_q][clear_rd_q] <= 1'b0;
    if (set_i) begin
      pend_q[chk_warp_i][chk_rd_i] <= 1'b1;
      far_q[chk_warp_i][chk_rd_i]  <= 1'b1;
    end
    if (put_i) begin
      pend_q[put_warp_i][put_rd_i] <= 1'b1;
      far_q[put_warp_i][put_rd_i]  <= 1'b1;
    end
    asleep_q <= asleep_q & ~wake_o;
    if (chk_valid_i && hazard_o && sleep_o) begin
      asleep_q[chk_warp_i] <= 1'b1;
      any_q[chk_warp_i]    <= chk_all_i;
      reg_q[chk_warp_i]    <= blocker;
    end
    if (nxt_valid_i && next_sleep_o) begin
      asleep_q[chk_warp_i] <= 1'b1;
      any_q[chk_warp_i]    <= 1'b0;
      reg_q[chk_warp_i]    <= nxt_blocker;
    end
    if (rst_i) begin
      clear_q  <= 1'b0;
      asleep_q <= '0;
      for (int w = 0; w < WARPS; w++) begin
        pend_q[w] <= '0;
        far_q[w]  <= '0;
      end
    end
  end

endmodule
