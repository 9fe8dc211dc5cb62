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
    localparam int WW = $clog2(WARPS)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                freeze_i,
    output logic                room_o,
    output logic                crowded_o,    // more than LIMIT are here
    input  logic                push_i,
    input  simt_op_pkg::lsu_req_t in_i,       // its addresses are mapped: lbase is not used
    input  logic [WW:0]         in_warp_i,    // {generation, warp}
    input  logic [ENTRY_W-1:0]  in_entry_i,
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
    output simt_op_pkg::lsu_req_t pend_o,     // lbase is zero: the addresses are mapped
    output logic [WW:0]         pend_warp_o,
    output logic [LANES-1:0]    pend_mask_o,
    output logic [LANES-1:0]    pend_private_o,
    output logic [LANES*32-1:0] pend_addr_o,
    output logic [LANES*32-1:0] pend_data_o,
    output logic [LANES*32-1:0] pend_cmp_o
);
  localparam int DEPTH = 1 << DEPTH_LOG2;
  localparam int CW = $clog2(LANES) + 1;

  // Record of an instruction, without its lanes.
  typedef struct packed {
    logic [2:0]         op;
    logic [3:0]         amo;
    logic [1:0]         size;
    logic               is_unsigned;
    logic [4:0]         rd;
    logic [WW:0]        warp;  // {generation, warp}
    logic [31:0]        pc;
    logic [ENTRY_W-1:0] entry;
  } kept_t;

  // Instructions from done_q on are here. Instructions from begun_q on have lines that have not left T1. at_q is the
  // one that is offered or examined.
  logic [DEPTH_LOG2:0] wr_q, begun_q, done_q, at_q, here;
  logic [DEPTH_LOG2-1:0] wr, begun, done, at;
  kept_t in, kept;  // the instruction that comes; the one at at_q
  logic [$bits(kept)-1:0] metas[0:DEPTH-1];
  logic [2*LANES-1:0] masks[0:DEPTH-1];
  logic [LANES*32-1:0] addrs[0:DEPTH-1];
  logic [LANES*32-1:0] datas[0:DEPTH-1];
  logic [LANES*32-1:0] cmps[0:DEPTH-1];

  assign in.op = in_i.op;
  assign in.amo = in_i.amo;
  assign in.size = in_i.size;
  assign in.is_unsigned = in_i.is_unsigned;
  assign in.rd = in_i.rd;
  assign in.warp = in_warp_i;
  assign in.pc = in_i.pc;
  assign in.entry = in_entry_i;
  assign kept = metas[at];
  assign wr = wr_q[DEPTH_LOG2-1:0];
  assign begun = begun_q[DEPTH_LOG2-1:0];
  assign done = done_q[DEPTH_LOG2-1:0];
  assign at = at_q[DEPTH_LOG2-1:0];
  assign here = wr_q - done_q;
  assign room_o = here < (DEPTH_LOG2 + 1)'(freeze_i ? DEPTH - 1 : LIMIT - 1);
  assign crowded_o = here > (DEPTH_LOG2 + 1)'(LIMIT);

  always_ff @(posedge clk_i)
    if (push_i) begin
      metas[wr] <= in;
      masks[wr] <= {in_private_i, in_mask_i};
      addrs[wr] <= in_addr_i;
      if (in.op != simt_op_pkg::LSU_LOAD) datas[wr] <= in_data_i;
      if (in.op == simt_op_pkg::LSU_AMO) cmps[wr] <= in_cmp_i;
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
  // Lanes are collected in the cycle of their cause (found), and enter left one cycle later. The place that they
  // change does not change hands meanwhile: once a line was refused, its instruction and all younger ones stay.
  logic [LANES-1:0] left[0:DEPTH-1];
  logic [DEPTH_LOG2-1:0] owners[0:(1<<ENTRY_W)-1];
  logic [DEPTH-1:0] some_q;  // left is not zero
  logic [LANES-1:0] again, behind, found, found_q;
  logic look, looked_q, step, store;
  logic find, find_q, look_q, keep_q;  // found_q enters left; it is of a look; it adds to what left has
  logic [DEPTH_LOG2-1:0] slot_q;

  assign left_entry_o = kept.entry;
  assign store = kept.op == simt_op_pkg::LSU_STORE;
  assign look = settle_i && cut_i && !looked_q && at_q != wr_q;
  always_comb begin
    behind = '0;
    if (at_q == begun_q && rest_count_i != '0) behind = rest_mask_i;
    else if ((DEPTH_LOG2 + 1)'(at_q - begun_q) < (DEPTH_LOG2 + 1)'(wr_q - begun_q)) behind = masks[at][LANES-1:0];
    if (settle_i) found = store ? behind : owners[left_entry_o] == at ? left_mask_i : '0;
    else found = refuse_i ? lanes[refuse_tag_i[TAG_W-2:0]] : note_mask_i;
  end
  assign find = look || (refuse_i && refuse_tag_i[TAG_W-1]) || drop_i;
  assign again = found_q | (keep_q && some_q[slot_q] ? left[slot_q] : '0);
  always_ff @(posedge clk_i) begin
    if (push_i && in.op != simt_op_pkg::LSU_STORE) owners[in.entry] <= wr;
    if (push_i) some_q[wr] <= 1'b0;
    find_q <= find;
    look_q <= look;
    if (find) begin
      keep_q  <= !settle_i || store;
      slot_q  <= settle_i ? at : refuse_i ? slots[refuse_tag_i] : begun;
      found_q <= found;
    end
    if (find_q) begin
      left[slot_q] <= again;
      some_q[slot_q] <= again != '0;
    end
    if (rst_i) some_q <= '0;
    if (rst_i) {find_q, look_q} <= '0;
  end

  // Instructions that are offered.
  logic [5:0] count_q;
  assign ready_o = !cut_i || looked_q;
  assign count_o = cut_i ? count_q : rest_count_i;
  assign pend_valid_o = settle_i && (cut_i ? looked_q && at_q != wr_q && some_q[at] : rest_count_i != '0);
  assign step = pend_valid_o ? pend_ready_i : looked_q && at_q != wr_q;
  assign pend_mask_o = !cut_i ? at_q == begun_q ? rest_mask_i : masks[at][LANES-1:0] : left[at];
  assign pend_private_o = masks[at][2*LANES-1:LANES] & pend_mask_o;
  assign pend_o.op = kept.op;
  assign pend_o.amo = kept.amo;
  assign pend_o.size = kept.size;
  assign pend_o.is_unsigned = kept.is_unsigned;
  assign pend_o.rd = kept.rd;
  assign pend_o.pc = kept.pc;
  assign pend_o.lbase = '0;
  assign pend_warp_o = kept.warp;
  assign pend_addr_o = addrs[at];
  assign pend_data_o = datas[at];
  assign pend_cmp_o = cmps[at];
  always_ff @(posedge clk_i) begin
    if (!settle_i) begin
      looked_q <= 1'b0;
      count_q <= '0;
      at_q <= cut_i ? done_q + (DEPTH_LOG2 + 1)'(forget) : begun_q + (DEPTH_LOG2 + 1)'(end_i);
    end else if (cut_i && !looked_q) begin
      if (look_q && again != '0) count_q <= count_q + 1'b1;
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

  logic unused;
  assign unused = |in_i.lbase;
endmodule
