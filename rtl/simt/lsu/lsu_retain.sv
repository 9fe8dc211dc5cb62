// SPDX-License-Identifier: Apache-2.0
// Retains memory instructions until the MMU has let all their lines pass, so that refused lines can be executed again.
//
// Contract: push_i adds an instruction; room_o: there is room for one more besides one that is on its way. The lines of
// the instructions leave T1 of lsu_cache in order of the pushes. note_i: a line became request note_tag_i, of the lanes
// note_mask_i. drop_i: a line was dropped. end_i, with or without these: it was the last line of its instruction.
// pass_i: memory will perform that request; refuse_i: it will not. An instruction is removed when all its requests have
// passed and all older instructions are removed. An instruction that has joined a fill of an older one thus stays until
// that fill's request has passed.
// Once settle_i holds (nothing changes any more), the unfinished instructions are offered on pend_*, oldest first.
// Without cut_i these are the rest_count_i instructions that lsu_coalesce has not finished; rest_mask_i is the rest of
// the first, and lsu_coalesce offers them at the same time. With cut_i, after a line was refused or dropped, all
// instructions here are first examined, one a cycle; ready_o tells when that is done, and count_o how many are
// unfinished.
// Lanes are left of a store if their lines were refused, dropped or not begun. Lanes are left of another instruction if
// their result is missing (left_*), which includes lanes that joined a refused line.
// State saved at preemption: all of it, on pend_*.
//
// Alternatives: taking addresses and data back out of the requests would need as many records as there can be requests.
// Translating before an instruction leaves the coalescer would cost every instruction the latency of the MMU.
module lsu_retain #(
    parameter int LANES = 16,      // lanes, one work-item each
    parameter int WARPS = 16,      // hardware warps
    parameter int ENTRY_W = 6,     // bits of an entry
    parameter int TAG_W = 7,       // bits of a tag of the memory channel
    parameter int DEPTH_LOG2 = 5,  // log2 of the instructions that fit
    parameter int LIMIT = 20,      // instructions here while not frozen
    localparam int WW = $clog2(WARPS),
    localparam int META_W = 3 + 4 + 2 + 1 + 5 + 1 + WW + 32 + ENTRY_W
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                freeze_i,
    output logic                room_o,
    output logic                crowded_o,    // more than LIMIT are here
    input  logic                push_i,
    input  logic [META_W-1:0]   in_meta_i,    // {op, amo, size, unsigned, rd, generation, warp, pc, entry}
    input  logic [LANES-1:0]    in_mask_i,
    input  logic [LANES-1:0]    in_private_i,
    input  logic [LANES*32-1:0] in_addr_i,
    input  logic [LANES*32-1:0] in_data_i,
    input  logic [LANES*32-1:0] in_cmp_i,
    // lines of these instructions
    input  logic                note_i,
    input  logic [TAG_W-1:0]    note_tag_i,   // tag of the request; the top bit marks a write
    input  logic [LANES-1:0]    note_mask_i,  // lanes of the line, also with drop_i
    input  logic                drop_i,       // never with refuse_i
    input  logic                end_i,
    input  logic                pass_i,
    input  logic [TAG_W-1:0]    pass_tag_i,
    input  logic                refuse_i,
    input  logic [TAG_W-1:0]    refuse_tag_i,
    // unfinished instructions
    input  logic                settle_i,
    input  logic                cut_i,
    input  logic [5:0]          rest_count_i,
    input  logic [LANES-1:0]    rest_mask_i,
    output logic [ENTRY_W-1:0]  left_entry_o,
    input  logic [LANES-1:0]    left_mask_i,
    output logic                ready_o,
    output logic [5:0]          count_o,
    output logic                pend_valid_o,
    input  logic                pend_ready_i,
    output logic [META_W-ENTRY_W-1:0] pend_meta_o,
    output logic [LANES-1:0]    pend_mask_o,
    output logic [LANES-1:0]    pend_private_o,
    output logic [LANES*32-1:0] pend_addr_o,
    output logic [LANES*32-1:0] pend_data_o,
    output logic [LANES*32-1:0] pend_cmp_o
);
  localparam int DEPTH = 1 << DEPTH_LOG2;
  localparam int CW = $clog2(LANES) + 1;

  // Instructions from done_q on are here. Instructions from begun_q on have lines that have not left T1. at_q is the
  // one that is offered or examined.
  logic [DEPTH_LOG2:0] wr_q, begun_q, done_q, at_q, here;
  logic [DEPTH_LOG2-1:0] wr, begun, done, at;
  logic [META_W-1:0] metas[0:DEPTH-1];
  logic [2*LANES-1:0] masks[0:DEPTH-1];
  logic [LANES*32-1:0] addrs[0:DEPTH-1];
  logic [LANES*32-1:0] datas[0:DEPTH-1];
  logic [LANES*32-1:0] cmps[0:DEPTH-1];
  logic [2:0] in_op;

  assign in_op = in_meta_i[META_W-1-:3];
  assign wr = wr_q[DEPTH_LOG2-1:0];
  assign begun = begun_q[DEPTH_LOG2-1:0];
  assign done = done_q[DEPTH_LOG2-1:0];
  assign at = at_q[DEPTH_LOG2-1:0];
  assign here = wr_q - done_q;
  assign room_o = here < (DEPTH_LOG2 + 1)'(freeze_i ? DEPTH - 1 : LIMIT - 1);
  assign crowded_o = here > (DEPTH_LOG2 + 1)'(LIMIT);

  always_ff @(posedge clk_i)
    if (push_i) begin
      metas[wr] <= in_meta_i;
      masks[wr] <= {in_private_i, in_mask_i};
      addrs[wr] <= in_addr_i;
      if (in_op != simt_op_pkg::LSU_LOAD) datas[wr] <= in_data_i;
      if (in_op == simt_op_pkg::LSU_AMO) cmps[wr] <= in_cmp_i;
    end

  // owed_q: requests of each instruction that have not passed. slots: instruction of each tag. lanes: lanes of each tag
  // of a write.
  logic [DEPTH_LOG2-1:0] slots[0:(1<<TAG_W)-1];
  logic [LANES-1:0] lanes[0:(1<<(TAG_W-1))-1];
  logic [CW*DEPTH-1:0] owed_q;
  logic pass_q, forget;
  logic [DEPTH_LOG2-1:0] pass_slot_q;
  logic [DEPTH-1:0] more, less;

  assign more = note_i ? DEPTH'(1) << begun : '0;
  assign less = pass_q ? DEPTH'(1) << pass_slot_q : '0;
  assign forget = done_q != begun_q && owed_q[CW*done+:CW] == '0 && !(settle_i && cut_i);
  always_ff @(posedge clk_i) begin
    if (note_i) slots[note_tag_i] <= begun;
    if (note_i && note_tag_i[TAG_W-1]) lanes[note_tag_i[TAG_W-2:0]] <= note_mask_i;
    pass_q <= pass_i;
    pass_slot_q <= slots[pass_tag_i];
    for (int s = 0; s < DEPTH; s++)
      if (more[s] != less[s]) owed_q[CW*s+:CW] <= owed_q[CW*s+:CW] + (more[s] ? CW'(1) : '1);
    if (push_i) wr_q <= wr_q + 1'b1;
    if (end_i) begun_q <= begun_q + 1'b1;
    if (forget) done_q <= done_q + 1'b1;
    if (rst_i) begin
      owed_q <= '0;
      pass_q <= 1'b0;
      wr_q <= '0;
      begun_q <= '0;
      done_q <= '0;
    end
  end

  // left: lanes of stores that must be executed again; at the end, left lanes of all instructions. An entry of the
  // results may already belong to a younger instruction (owners).
  logic [LANES-1:0] left[0:DEPTH-1];
  logic [DEPTH_LOG2-1:0] owners[0:(1<<ENTRY_W)-1];
  logic [DEPTH-1:0] some_q;  // left is not zero
  logic [DEPTH_LOG2-1:0] left_slot;
  logic [LANES-1:0] old, again, behind;
  logic look, looked_q, step, store;

  assign left_slot = settle_i ? at : refuse_i ? slots[refuse_tag_i] : begun;
  assign old = some_q[left_slot] ? left[left_slot] : '0;
  assign left_entry_o = metas[at][ENTRY_W-1:0];
  assign store = metas[at][META_W-1-:3] == simt_op_pkg::LSU_STORE;
  assign look = settle_i && cut_i && !looked_q && at_q != wr_q;
  always_comb begin
    behind = '0;
    if (at_q == begun_q && rest_count_i != '0) behind = rest_mask_i;
    else if ((DEPTH_LOG2 + 1)'(at_q - begun_q) < (DEPTH_LOG2 + 1)'(wr_q - begun_q)) behind = masks[at][LANES-1:0];
    if (settle_i) again = store ? old | behind : owners[left_entry_o] == at ? left_mask_i : '0;
    else again = old | (refuse_i ? lanes[refuse_tag_i[TAG_W-2:0]] : note_mask_i);
  end
  always_ff @(posedge clk_i) begin
    if (push_i && in_op != simt_op_pkg::LSU_STORE) owners[in_meta_i[ENTRY_W-1:0]] <= wr;
    if (push_i) some_q[wr] <= 1'b0;
    if (look || (refuse_i && refuse_tag_i[TAG_W-1]) || drop_i) begin
      left[left_slot] <= again;
      some_q[left_slot] <= again != '0;
    end
    if (rst_i) some_q <= '0;
  end

  // Instructions that are offered.
  logic [5:0] count_q;
  assign ready_o = !cut_i || looked_q;
  assign count_o = cut_i ? count_q : rest_count_i;
  assign pend_valid_o = settle_i && (cut_i ? looked_q && at_q != wr_q && some_q[at] : rest_count_i != '0);
  assign step = pend_valid_o ? pend_ready_i : looked_q && at_q != wr_q;
  assign pend_mask_o = !cut_i ? at_q == begun_q ? rest_mask_i : masks[at][LANES-1:0] : left[at];
  assign pend_private_o = masks[at][2*LANES-1:LANES] & pend_mask_o;
  assign pend_meta_o = metas[at][META_W-1:ENTRY_W];
  assign pend_addr_o = addrs[at];
  assign pend_data_o = datas[at];
  assign pend_cmp_o = cmps[at];
  always_ff @(posedge clk_i) begin
    if (!settle_i) begin
      looked_q <= 1'b0;
      count_q <= '0;
      at_q <= cut_i ? done_q + (DEPTH_LOG2 + 1)'(forget) : begun_q + (DEPTH_LOG2 + 1)'(end_i);
    end else if (cut_i && !looked_q) begin
      if (look && again != '0) count_q <= count_q + 1'b1;
      looked_q <= !look;
      at_q <= look ? at_q + 1'b1 : done_q;
    end else if (step) begin
      if (pend_valid_o) count_q <= count_q - 1'b1;
      at_q <= at_q + 1'b1;
    end
    if (rst_i) begin
      looked_q <= 1'b0;
      count_q <= '0;
      at_q <= '0;
    end
  end

`ifdef FORMAL
  // For any one place and any one tag: while a request of the instruction there has not passed, the instruction is
  // there, as it came; and what is offered of it are the lanes that are left, never less and never more. As many are
  // offered as count_o says, oldest first. Assumed of the units around: notes are of instructions that are here, nobody
  // passes a request twice, nothing moves while settle_i, and rest_* say how many were not begun.
  (* anyconst *) logic [DEPTH_LOG2-1:0] f_slot;
  (* anyconst *) logic [TAG_W-1:0] f_tag;
  (* anyconst *) logic [LANES-1:0] f_missing;
  logic f_start_q = 1'b1, f_room_q, f_cut_q, f_settle_q, f_here, f_mine_q = 1'b0, f_owner_q, f_pass, f_scanned, f_store;
  logic [CW-1:0] f_owed_q = '0;
  logic [LANES-1:0] f_tag_mask_q, f_again_q, f_mask_q, f_private_q, f_want, f_rest_q;
  logic [META_W-1:0] f_meta_q;
  logic [LANES*32-1:0] f_addr_q, f_data_q, f_cmp_q;
  logic [DEPTH_LOG2:0] f_place;  // of f_slot, in the numbers of wr_q, if it is taken
  logic [5:0] f_count, f_rest;

  assign f_place = done_q + (DEPTH_LOG2 + 1)'(DEPTH_LOG2'(f_slot - done));
  assign f_here = (DEPTH_LOG2 + 1)'(f_place - done_q) < here;
  assign f_pass = pass_i && slots[pass_tag_i] == f_slot;
  assign f_store = f_meta_q[META_W-1-:3] == simt_op_pkg::LSU_STORE;
  assign f_rest = 6'((DEPTH_LOG2 + 1)'(wr_q - (cut_i ? begun_q : at_q)));
  // it has been looked at since settle_i
  assign f_scanned = cut_i && f_settle_q && f_here && (looked_q || (DEPTH_LOG2 + 1)'(f_place - done_q) <
                                                       (DEPTH_LOG2 + 1)'(at_q - done_q));
  always_comb begin
    f_want = '0;
    if (f_place == begun_q && rest_count_i != '0) f_want = rest_mask_i;
    else if ((DEPTH_LOG2 + 1)'(f_place - done_q) >= (DEPTH_LOG2 + 1)'(begun_q - done_q)) f_want = f_mask_q;
    f_want = f_store ? f_want | f_again_q : f_owner_q ? f_missing : '0;
    f_count = '0;
    for (int s = 0; s < DEPTH; s++)
      if (looked_q ? (DEPTH_LOG2 + 1)'(s) < (DEPTH_LOG2 + 1)'(wr_q - at_q) && some_q[DEPTH_LOG2'(at + s)]
                   : (DEPTH_LOG2 + 1)'(s) < (DEPTH_LOG2 + 1)'(at_q - done_q) && some_q[DEPTH_LOG2'(done + s)])
        f_count = f_count + 1'b1;
  end
  always_ff @(posedge clk_i) begin
    f_start_q <= 1'b0;
    f_room_q <= room_o && !rst_i;
    f_cut_q <= cut_i && !rst_i;
    f_settle_q <= settle_i && !rst_i;
    f_rest_q <= rest_mask_i;
    if (push_i && wr == f_slot) begin
      {f_meta_q, f_mask_q, f_private_q} <= {in_meta_i, in_mask_i, in_private_i};
      {f_addr_q, f_data_q, f_cmp_q} <= {in_addr_i, in_data_i, in_cmp_i};
      f_again_q <= '0;
      f_owner_q <= 1'b1;
    end else if (push_i && in_op != simt_op_pkg::LSU_STORE && in_meta_i[ENTRY_W-1:0] == f_meta_q[ENTRY_W-1:0])
      f_owner_q <= 1'b0;
    if (refuse_i && refuse_tag_i[TAG_W-1] && slots[refuse_tag_i] == f_slot)
      f_again_q <= f_again_q | lanes[refuse_tag_i[TAG_W-2:0]];
    if (drop_i && begun == f_slot) f_again_q <= f_again_q | note_mask_i;
    if (look && at == f_slot && f_store) f_again_q <= f_want;
    if (note_i && note_tag_i == f_tag) {f_mine_q, f_tag_mask_q} <= {begun == f_slot, note_mask_i};
    else if (pass_i && pass_tag_i == f_tag) f_mine_q <= 1'b0;
    f_owed_q <= f_owed_q + CW'(note_i && begun == f_slot) - CW'(f_pass);
    if (rst_i) {f_mine_q, f_owed_q} <= '0;
  end
  always_comb begin
    assume (rst_i == f_start_q && !(rst_i && settle_i));
    if (push_i) assume (!rst_i && f_room_q && in_mask_i != '0);
    if (note_i || drop_i || end_i) assume (begun_q != wr_q && !(note_i && drop_i));
    if (note_i && begun == f_slot) assume (f_owed_q < CW'(LANES));
    if (note_i && note_tag_i == f_tag) assume (!f_mine_q);
    // other tags leave this one's share
    if (f_pass) assume (f_owed_q > CW'(f_mine_q && pass_tag_i != f_tag));
    if (f_cut_q) assume (cut_i);
    if (refuse_i) assume (cut_i && !drop_i);
    if (refuse_i && refuse_tag_i[TAG_W-1]) assume (slots[refuse_tag_i] != f_slot || f_here);
    if (drop_i) assume (cut_i);
    if (settle_i) begin
      assume (!(push_i || note_i || drop_i || end_i || pass_i || refuse_i) && freeze_i);
      assume (rest_count_i == f_rest);
      assume (cut_i == f_cut_q);
      if (f_settle_q) assume (rest_mask_i == f_rest_q);
      if (left_entry_o == f_meta_q[ENTRY_W-1:0]) assume (left_mask_i == f_missing);
    end
    if (!f_start_q) begin
      assert (here <= (DEPTH_LOG2 + 1)'(DEPTH) && (DEPTH_LOG2 + 1)'(begun_q - done_q) <= here);
      if (f_room_q) assert (here < (DEPTH_LOG2 + 1)'(DEPTH));
      assert (owed_q[CW*f_slot+:CW] == f_owed_q + CW'(pass_q && pass_slot_q == f_slot));
      assert (f_owed_q <= CW'(LANES));
      if (!f_here || (DEPTH_LOG2 + 1)'(f_place - done_q) > (DEPTH_LOG2 + 1)'(begun_q - done_q))
        assert (owed_q[CW*f_slot+:CW] == '0);
      if (f_mine_q) assert (f_here && f_owed_q != '0 && slots[f_tag] == f_slot &&
                            (!f_tag[TAG_W-1] || lanes[f_tag[TAG_W-2:0]] == f_tag_mask_q));
      if (f_here) begin
        assert (metas[f_slot] == f_meta_q && masks[f_slot] == {f_private_q, f_mask_q} && addrs[f_slot] == f_addr_q);
        if (f_meta_q[META_W-1-:3] != simt_op_pkg::LSU_LOAD) assert (datas[f_slot] == f_data_q);
        if (f_meta_q[META_W-1-:3] == simt_op_pkg::LSU_AMO) assert (cmps[f_slot] == f_cmp_q);
        if (f_store) assert ((some_q[f_slot] ? left[f_slot] : '0) == f_again_q);
        else assert ((owners[f_meta_q[ENTRY_W-1:0]] == f_slot) == f_owner_q);
      end
      if (f_scanned && settle_i) assert (some_q[f_slot] == (f_want != '0) && (f_want == '0 || left[f_slot] == f_want));
      // what is offered
      if (!f_settle_q) assert (!looked_q && at_q == (f_cut_q ? done_q : begun_q));
      assert ((DEPTH_LOG2 + 1)'(at_q - done_q) <= here && (f_cut_q || !looked_q));
      if (f_cut_q || !f_settle_q) assert (count_q == (f_settle_q ? f_count : '0));
      if (!f_cut_q) assert ((DEPTH_LOG2 + 1)'(at_q - begun_q) <= (DEPTH_LOG2 + 1)'(wr_q - begun_q));
      if (settle_i && f_here && at_q == f_place) begin
        if (cut_i && looked_q) assert (pend_valid_o == (f_want != '0) && (!pend_valid_o || pend_mask_o == f_want));
        if (!cut_i) assert (pend_valid_o && pend_mask_o == (at_q == begun_q ? rest_mask_i : f_mask_q));
        if (pend_valid_o) assert (pend_meta_o == f_meta_q[META_W-1:ENTRY_W] && pend_addr_o == f_addr_q &&
                                  pend_private_o == (f_private_q & pend_mask_o));
      end
    end
  end
`endif
endmodule
