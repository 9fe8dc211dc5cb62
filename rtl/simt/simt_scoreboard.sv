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
// State saved at preemption: none. After a resume, put_i marks the destination of each memory instruction that was cut,
// two cycles later. D and R are empty during a resume. put_i does not come in two cycles one after the other. The
// result of the instruction comes later than in the next two cycles.
//
// The bits of a warp are read in D, together with the changes of that cycle, so that R begins with registers. Each
// register has one bit and not a count: an instruction also waits for its own destination (write after write). Bit 0
// stands for the flags of floating-point instructions with rd = x0.
//
// The bits lie in memories with a row for each warp and one write port each. A bit that one port sets and another one
// clears is the difference of two bits: setting inverts the first, clearing copies the first to the second. Flip-flops
// for the same bits would need a wide multiplexer for each row that is read.

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
    input  logic             set_fixed_i,   // with set_i: soon_* announces the write
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

  // Memories of a row for each warp. A result is pending where begun_q and ended_q differ.
  (* ram_style = "distributed" *) logic [31:0] begun_q [0:WARPS-1];   // set_i inverts a bit
  (* ram_style = "distributed" *) logic [31:0] ended_q [0:WARPS-1];   // a write copies it from begun_q
  // A result of fixed latency has not been announced where fixed_q and told_q differ.
  (* ram_style = "distributed" *) logic [31:0] fixed_q [0:WARPS-1];   // set_i inverts a bit, with set_fixed_i
  (* ram_style = "distributed" *) logic [31:0] told_q [0:WARPS-1];    // soon_i copies it from fixed_q
  (* ram_style = "distributed" *) logic [31:0] loose_q [0:WARPS-1];   // results that are not announced
  logic [WARPS-1:0] empty_q;            // warps without a result since the reset, whose rows hold anything

  logic [WARPS-1:0] asleep_q;           // sleeping warps
  // {any write wakes the warp, register at whose write it wakes}
  (* ram_style = "distributed" *) logic [5:0] until_q [0:WARPS-1];

  logic          clear_q;
  logic [WW-1:0] clear_warp_q;
  logic [4:0]    clear_rd_q;

  logic          put_q, put_now_q;      // the row is read; it is written
  logic [WW-1:0] put_warp_q;
  logic [4:0]    put_rd_q;

  // R: hazards of each operand by itself, then the one that the warp waits for.
  logic [31:0] pend, far;               // registers with a pending result; those whose write has not been announced
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

  // D: the rows of a warp; at a resume, those of a warp of which a register is marked.
  logic [WW-1:0] row;
  logic          row_empty;
  logic [31:0]   row_begun, row_fixed, row_loose, clear_hot, wb_hot, soon_hot, d_pend, d_far;
  logic [31:0]   begun, fixed, loose;   // these rows in R

  always_comb begin
    row       = put_q ? put_warp_q : d_warp_i;
    row_empty = empty_q[row];
    row_begun = row_empty ? ended_q[row] : begun_q[row];
    row_fixed = row_empty ? told_q[row] : fixed_q[row];
    row_loose = loose_q[row];
    clear_hot = 32'd1 << clear_rd_q;
    wb_hot    = 32'd1 << wb_rd_i;
    soon_hot  = 32'd1 << soon_rd_i;
    d_pend    = row_begun ^ ended_q[row];
    d_far     = row_fixed ^ told_q[row];
    if (clear_q && clear_warp_q == d_warp_i) d_pend = d_pend & ~clear_hot;
    if (soon_i && soon_warp_i == d_warp_i) d_far = d_far & ~soon_hot;
    if (wb_i && wb_warp_i == d_warp_i) row_loose = row_loose & ~wb_hot;
    d_far = d_far | (d_pend & row_loose);
  end

  always_ff @(posedge clk_i) begin
    pend  <= d_pend;
    far   <= d_far;
    begun <= row_begun;
    fixed <= row_fixed;
    loose <= loose_q[row];
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
  logic [5:0] soon_until, wb_until;
  logic       soon_wakes, wb_wakes, sleeps, next_sleeps;

  always_comb begin
    soon_until  = until_q[soon_warp_i];
    wb_until    = until_q[wb_warp_i];
    soon_wakes  = soon_i && (soon_until[5] || soon_until[4:0] == soon_rd_i);
    wb_wakes    = wb_i && (wb_until[5] || wb_until[4:0] == wb_rd_i);
    wake_o      = asleep_q & ((WARPS'(soon_wakes) << soon_warp_i) | (WARPS'(wb_wakes) << wb_warp_i));
    sleeps      = chk_valid_i && hazard_o && sleep_o;
    next_sleeps = nxt_valid_i && next_sleep_o;
  end

  // Changes of the rows.
  logic          mark, mark_fixed;      // a result becomes pending
  logic [WW-1:0] mark_warp;
  logic [31:0]   mark_hot;

  always_comb begin
    mark       = set_i || put_now_q;
    mark_fixed = set_fixed_i && !put_now_q;
    mark_warp  = put_now_q ? put_warp_q : chk_warp_i;
    mark_hot   = 32'd1 << (put_now_q ? put_rd_q : chk_rd_i);
  end

  always_ff @(posedge clk_i) begin
    if (mark) begin
      begun_q[mark_warp] <= begun ^ mark_hot;
      fixed_q[mark_warp] <= mark_fixed ? fixed ^ mark_hot : fixed;
      loose_q[mark_warp] <= mark_fixed ? loose & ~mark_hot : loose | mark_hot;
    end
    if (clear_q && !empty_q[clear_warp_q])
      ended_q[clear_warp_q] <= (ended_q[clear_warp_q] & ~clear_hot) | (begun_q[clear_warp_q] & clear_hot);
    if (soon_i && !empty_q[soon_warp_i])
      told_q[soon_warp_i] <= (told_q[soon_warp_i] & ~soon_hot) | (fixed_q[soon_warp_i] & soon_hot);
  end

  always_ff @(posedge clk_i) begin
    clear_q      <= wb_i;
    clear_warp_q <= wb_warp_i;
    clear_rd_q   <= wb_rd_i;
    put_q        <= put_i;
    put_now_q    <= put_q;
    if (put_i) begin
      put_warp_q <= put_warp_i;
      put_rd_q   <= put_rd_i;
    end
    if (mark) empty_q[mark_warp] <= 1'b0;
    asleep_q <= asleep_q & ~wake_o;
    if (sleeps || next_sleeps) begin
      asleep_q[chk_warp_i] <= 1'b1;
      until_q[chk_warp_i]  <= next_sleeps ? {1'b0, nxt_blocker} : {chk_all_i, blocker};
    end
    if (rst_i) begin
      clear_q   <= 1'b0;
      put_q     <= 1'b0;
      put_now_q <= 1'b0;
      asleep_q  <= '0;
      empty_q   <= '1;
    end
  end

`ifndef SYNTHESIS
  // Conditions that the memories rely on.
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      if (set_i) begin
        sets_what_is_free: assert (!pend[chk_rd_i] && !put_i && !put_q && !put_now_q);
      end
      if (put_i) begin
        puts_what_is_free: assert (!put_q && (empty_q[put_warp_i]
                                              || begun_q[put_warp_i][put_rd_i] == ended_q[put_warp_i][put_rd_i]));
      end
      if (wb_i) begin
        writes_what_is_announced: assert (empty_q[wb_warp_i]
                                          || fixed_q[wb_warp_i][wb_rd_i] == told_q[wb_warp_i][wb_rd_i]);
      end
      if (soon_i) begin
        announces_what_is_fixed: assert (empty_q[soon_warp_i] || !loose_q[soon_warp_i][soon_rd_i]
            || begun_q[soon_warp_i][soon_rd_i] == ended_q[soon_warp_i][soon_rd_i]);
      end
    end
  end
`endif

endmodule
