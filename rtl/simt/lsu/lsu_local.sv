// SPDX-License-Identifier: Apache-2.0
// Local memory: LANES banks of 32-bit words, for accesses of whole warps, in order.
//
//    queue -> G: pick lanes whose banks are free -> B: to banks -> R: banks -> O: atomic -> words_*
//
// Contract: push_i adds an instruction; room_o: there is room for one more besides one that is on its way. Each pass
// serves the lanes that lsu_pick grants, one pass a cycle; lanes that read the same word share a pass. Of lanes of a
// store with the same address the highest wins. Results leave on words_*, a word of each bank, for lsu_extract, which
// gives the lanes their words; start_o announces each, three cycles before. The data of a store or an atomic goes from
// stage B through lsu_merge (place_*) to stage R (placed_*); while hold_i is high, none of their passes begins.
// store_end_o: the last pass of a store. scrub_i and line_i are those of lsu_rows, and are used only while idle_o is
// high.
// Atomics: UNITS units execute them; unit u serves the banks whose number modulo UNITS is u. A pass of an atomic
// instruction serves at most one lane per unit, and lanes on one word in ascending order. A pass writes two cycles
// after it reads. The next two passes of atomics get words of it forwarded by the unit; other passes wait. CAS, LR and
// SC go one lane at a time, after every earlier pass has written.
//
// State saved at preemption: the banks, through line_*. rst_i clears the reservation. The rest drains: with room for
// its pieces, each instruction ends within 3 * LANES cycles after it becomes the first.
module lsu_local #(
    parameter int LANES = 16,      // lanes, one work-item each
    parameter int WARPS = 16,      // hardware warps
    parameter int ENTRY_W = 6,     // bits of an entry
    parameter int KIB = 64,        // capacity, KiB
    parameter int DEPTH_LOG2 = 2,  // log2 of the places of the queue
    localparam int LW = $clog2(LANES),
    localparam int WW = $clog2(WARPS)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  simt_op_pkg::lsu_scrub_t scrub_i,
    output logic                scrub_busy_o,
    input  simt_op_pkg::lsu_line_t line_i,
    output logic                line_ready_o,
    output simt_op_pkg::lsu_line_read_t line_o,
    output logic                idle_o,
    input  logic                push_i,
    output logic                room_o,
    input  simt_op_pkg::lsu_req_t in_i,         // rd, pc and lbase are not used
    input  logic [WW-1:0]       in_warp_i,
    input  logic [ENTRY_W-1:0]  in_entry_i,
    input  logic [LANES-1:0]    in_mask_i,
    input  logic [LANES*32-1:0] in_addr_i,
    input  logic [LANES*32-1:0] in_data_i,
    input  logic [LANES*32-1:0] in_cmp_i,
    // data of stores and atomics, through the crossbar (lsu_merge)
    input  logic                hold_i,
    output logic                place_valid_o,
    output logic [1:0]          place_size_o,
    output logic [LANES-1:0]    place_mask_o,
    output logic [LANES*(LW+2)-1:0] place_low_o,  // bank and byte of each lane
    output logic [LANES*32-1:0] place_data_o,
    input  logic [LANES*32-1:0] placed_data_i,  // one cycle later, of each bank
    input  logic [LANES*4-1:0]  placed_be_i,
    // results
    input  logic                credit_i,       // lsu_pieces takes a piece
    output logic                start_o,
    output logic                words_valid_o,
    output logic [ENTRY_W-1:0]  words_entry_o,
    output logic [LANES-1:0]    words_mask_o,
    output logic [1:0]          words_size_o,
    output logic                words_unsigned_o,
    output logic [LANES*(LW+2)-1:0] words_low_o,  // bank and byte of each lane
    output logic [LANES*32-1:0] words_o,        // of each bank
    output logic                store_end_o,
    output logic [WW-1:0]       store_warp_o    // warp of store_end_o
);
  localparam int ROWS = KIB * 256 / LANES;
  localparam int RW = $clog2(ROWS);
  localparam int AW = RW + LW + 2;  // width of a byte address
  localparam int UNITS = LANES < 4 ? LANES : 4;
  localparam int OF_UNIT = LANES / UNITS;  // banks of a unit
  localparam int SW = OF_UNIT > 1 ? $clog2(OF_UNIT) : 1;

  // Fields that all passes of an instruction share.
  typedef struct packed {
    logic [2:0]         op;
    logic [3:0]         amo;
    logic [1:0]         size;
    logic               is_unsigned;
    logic [WW-1:0]      warp;
    logic [ENTRY_W-1:0] entry;
  } common_t;

  // ------------------------------------------------------------------ queue
  common_t in, next;  // the instruction that comes; the oldest in the queue
  logic [$bits(in)-1:0] queue_meta[0:(1<<DEPTH_LOG2)-1];
  logic [LANES-1:0] queue_mask[0:(1<<DEPTH_LOG2)-1];
  logic [LANES*32-1:0] queue_addr[0:(1<<DEPTH_LOG2)-1];
  logic [LANES*32-1:0] queue_data[0:(1<<DEPTH_LOG2)-1];
  logic [LANES*32-1:0] queue_cmp[0:(1<<DEPTH_LOG2)-1];
  logic [DEPTH_LOG2:0] wr_q, rd_q;
  logic [DEPTH_LOG2-1:0] wr, rd;
  logic some, load;

  assign in.op = in_i.op;
  assign in.amo = in_i.amo;
  assign in.size = in_i.size;
  assign in.is_unsigned = in_i.is_unsigned;
  assign in.warp = in_warp_i;
  assign in.entry = in_entry_i;
  assign next = queue_meta[rd];
  assign wr = wr_q[DEPTH_LOG2-1:0];
  assign rd = rd_q[DEPTH_LOG2-1:0];
  assign some = wr_q != rd_q;
  assign room_o = (DEPTH_LOG2 + 1)'(wr_q - rd_q) < (DEPTH_LOG2 + 1)'((1 << DEPTH_LOG2) - 1);

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      wr_q <= wr_q + 1'b1;
      queue_meta[wr] <= in;
      queue_mask[wr] <= in_mask_i;
      queue_addr[wr] <= in_addr_i;
      if (in.op != simt_op_pkg::LSU_LOAD) queue_data[wr] <= in_data_i;
      if (in.op == simt_op_pkg::LSU_AMO) queue_cmp[wr] <= in_cmp_i;
    end
    if (load) rd_q <= rd_q + 1'b1;
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
    end
  end

  // ------------------------------------------------------------------ G: pairs of lanes, then passes
  logic g_valid_q;
  logic [2:0] g_op;
  logic [3:0] g_amo;
  common_t g_meta_q;
  logic [LANES-1:0] rest_q, shadow_q, picked, grant, m;
  logic [LANES*32-1:0] g_addr_q, g_data_q, g_cmp_q, a;
  logic [LANES*LANES-1:0] bank_q, word_q;
  logic g_amo_any, g_single, g_flows, g_go, g_last, exact, shared;
  logic [1:0] hold_q;
  logic flows_q;  // the hold is for a pass that other atomics may follow directly

  assign g_op = g_meta_q.op;
  assign g_amo = g_meta_q.amo;
  assign g_amo_any = g_op == simt_op_pkg::LSU_AMO;
  assign g_single = g_amo_any && (g_amo == tern_pkg::AMO_CAS || g_amo == tern_pkg::AMO_LR || g_amo == tern_pkg::AMO_SC);
  lsu_pick #(.LANES(LANES)) u_pick (
      .want_i(g_valid_q ? rest_q : '0),
      .bank_i(bank_q),
      .word_i(word_q),
      .alone_i(g_amo_any),
      .grant_o(picked)
  );
  assign grant = g_single ? rest_q & (~rest_q + 1'b1) : picked;
  assign g_flows = g_amo_any && !g_single;
  assign g_go = g_valid_q && (hold_q == 2'd0 || (g_flows && flows_q)) && !scrub_busy_o &&
      (credit_i || g_op == simt_op_pkg::LSU_STORE) && !(hold_i && g_op != simt_op_pkg::LSU_LOAD);
  assign g_last = !(|(rest_q & ~grant));
  assign load = some && (!g_valid_q || (g_go && g_last));
  assign start_o = g_go && g_op != simt_op_pkg::LSU_STORE;
  assign store_end_o = g_go && g_last && g_op == simt_op_pkg::LSU_STORE;
  assign store_warp_o = g_meta_q.warp;

  always_ff @(posedge clk_i) begin
    if (load) begin
      a = queue_addr[rd];
      m = queue_mask[rd];
      exact = next.op == simt_op_pkg::LSU_STORE;
      shared = next.op == simt_op_pkg::LSU_AMO;
      g_meta_q <= next;
      rest_q <= m;
      g_addr_q <= a;
      if (next.op != simt_op_pkg::LSU_LOAD) g_data_q <= queue_data[rd];
      if (next.op == simt_op_pkg::LSU_AMO) g_cmp_q <= queue_cmp[rd];
      shadow_q <= '0;
      bank_q <= '0;  // only pairs i < j are stored
      word_q <= '0;
      for (int i = 0; i < LANES; i++)
        for (int j = i + 1; j < LANES; j++) begin
          bank_q[i*LANES+j] <= ((a[i*32+2+:LW] ^ a[j*32+2+:LW]) & (shared ? LW'(UNITS - 1) : '1)) == '0;
          word_q[i*LANES+j] <= a[i*32+2+:AW-2] == a[j*32+2+:AW-2];
          if (exact && m[j] && a[i*32+:AW] == a[j*32+:AW]) shadow_q[i] <= 1'b1;
        end
    end else if (g_go) rest_q <= rest_q & ~grant;
    if (load) g_valid_q <= 1'b1;
    else if (g_go && g_last) g_valid_q <= 1'b0;
    if (g_go && g_amo_any) {flows_q, hold_q} <= {g_flows, 2'd2};
    else if (hold_q != 2'd0) hold_q <= hold_q - 2'd1;
    if (rst_i) begin
      g_valid_q <= 1'b0;
      hold_q <= '0;
    end
  end

  // ------------------------------------------------------------------ whole rows: scrub, lines
  logic row_valid, row_write;
  logic [RW-1:0] row;
  logic [LANES-1:0] row_bank;
  logic [LANES*32-1:0] row_data, bank_word;

  lsu_rows #(.LANES(LANES), .RW(RW)) u_rows (
      .clk_i,
      .rst_i,
      .scrub_i(scrub_i.valid),
      .scrub_first_i(scrub_i.first),
      .scrub_end_i(scrub_i.past),
      .scrub_busy_o,
      .line_read_i(line_i.read),
      .line_write_i(line_i.write),
      .line_i(line_i.line),
      .line_wdata_i(line_i.data),
      .line_ready_o,
      .line_valid_o(line_o.valid),
      .line_rdata_o(line_o.data),
      .row_valid_o(row_valid),
      .row_write_o(row_write),
      .row_o(row),
      .row_bank_o(row_bank),
      .row_data_o(row_data),
      .words_i(bank_word)
  );

  // ------------------------------------------------------------------ B: to banks
  logic b_valid_q, r_valid_q, o_valid_q, r_write_q, r_lanes_q;  // r_lanes_q: a pass of lanes, not a whole row
  common_t b_meta_q, r_meta_q, o_meta_q;
  logic [LANES-1:0] b_grant_q, b_put_q, r_grant_q, o_grant_q;  // b_put_q: lanes whose data are not overwritten
  logic [LANES*LANES-1:0] b_hot_q;  // bank that each lane accesses in this pass, one-hot
  logic [LANES*32-1:0] b_data_q, r_line_q;  // r_line_q: of a whole row
  logic [LANES*RW-1:0] b_row_q;
  logic [LANES*(LW+2)-1:0] b_low_q, r_low_q, o_low_q;  // bank and byte of each lane
  logic [31:0] b_cmp_q, r_cmp_q, o_cmp_q, cmp;
  logic [LW-1:0] b_lane_q, r_lane_q, o_lane_q, lane;
  logic [LANES-1:0] r_bank_q, o_bank_q, banks;
  logic [LANES*RW-1:0] r_row_q, rows;
  logic [RW-1:0] of_row;

  always_ff @(posedge clk_i) begin
    b_valid_q <= g_go && !rst_i;
    r_valid_q <= (b_valid_q || row_valid) && !rst_i;
    r_lanes_q <= b_valid_q;
    o_valid_q <= r_valid_q && r_lanes_q && !r_write_q && !rst_i;
    if (g_go) begin
      b_meta_q  <= g_meta_q;
      b_grant_q <= grant;
      for (int i = 0; i < LANES; i++) begin
        b_row_q[i*RW+:RW] <= g_addr_q[i*32+LW+2+:RW];
        b_low_q[i*(LW+2)+:LW+2] <= g_addr_q[i*32+:LW+2];
        b_hot_q[i*LANES+:LANES] <= grant[i] && !shadow_q[i] ? LANES'(1) << g_addr_q[i*32+2+:LW] : '0;
      end
      if (g_op != simt_op_pkg::LSU_LOAD) begin
        b_put_q  <= grant & ~shadow_q;
        b_data_q <= g_data_q;
      end
      if (g_single) begin
        lane = '0;
        cmp = '0;
        for (int i = 0; i < LANES; i++) begin
          lane = lane | ({LW{grant[i]}} & LW'(i));
          cmp = cmp | ({32{grant[i]}} & g_cmp_q[i*32+:32]);
        end
        b_lane_q <= lane;
        b_cmp_q <= cmp;
      end
    end
    if (!g_go || rst_i) b_hot_q <= '0;
    if (b_valid_q) begin
      r_meta_q <= b_meta_q;
      r_grant_q <= b_grant_q;
      r_lane_q <= b_lane_q;
      r_cmp_q <= b_cmp_q;
      r_low_q <= b_low_q;
    end
    // Each bank gets the access of its lanes, or that of a whole row; then b_hot_q is zero. Lanes are combined in
    // groups of three, since a LUT of six inputs takes the select and the data of three.
    if (b_valid_q || row_valid) begin
      r_write_q <= b_valid_q ? b_meta_q.op == simt_op_pkg::LSU_STORE : row_write;
      banks = b_valid_q ? '0 : row_bank;
      rows = b_valid_q ? '0 : {LANES{row}};
      for (int i = 0; i < LANES; i++) banks = banks | b_hot_q[i*LANES+:LANES];
      for (int b = 0; b < LANES; b++)
        for (int g = 0; g < LANES; g += 3) begin
          of_row = '0;
          for (int i = g; i < g + 3 && i < LANES; i++)
            of_row = of_row | ({RW{b_hot_q[i*LANES+b]}} & b_row_q[i*RW+:RW]);
          rows[b*RW+:RW] = rows[b*RW+:RW] | of_row;
        end
      r_bank_q <= banks;
      r_row_q  <= rows;
    end
    if (row_valid && row_write) r_line_q <= row_data;
    if (r_valid_q && !r_write_q) begin
      o_meta_q <= r_meta_q;
      o_grant_q <= r_grant_q;
      o_lane_q <= r_lane_q;
      o_cmp_q <= r_cmp_q;
      o_low_q <= r_low_q;
      o_bank_q <= r_bank_q;
      o_row_q <= r_row;
      o_sub_q <= r_sub;
      o_data_q <= r_operand;
      o_ahead_q <= r_ahead;
      o_before_q <= r_before;
    end
  end

  assign place_valid_o = b_valid_q && b_meta_q.op != simt_op_pkg::LSU_LOAD;
  assign place_size_o = b_meta_q.size;
  assign place_mask_o = b_put_q;
  assign place_low_o = b_low_q;
  assign place_data_o = b_data_q;

  // ------------------------------------------------------------------ R: what each unit gets
  // Banks without a lane have zeros in r_row_q and placed_data_i.
  logic o_amo_valid, a_valid_q;  // an atomic pass computes; an atomic pass writes
  logic [LANES-1:0] a_bank_q;
  logic [UNITS*RW-1:0] r_row, o_row_q, a_row_q;
  logic [UNITS*SW-1:0] r_sub, o_sub_q, a_sub_q;  // bank of the unit that the pass accesses
  logic [UNITS*32-1:0] r_operand, o_data_q;
  logic [UNITS-1:0] r_ahead, o_ahead_q, r_before, o_before_q;  // the pass one ahead, two ahead, has the same word
  logic [UNITS-1:0] o_use, a_use;

  always_comb begin
    r_row = '0;
    r_sub = '0;
    r_operand = '0;
    o_use = '0;
    a_use = '0;
    for (int b = 0; b < LANES; b++) begin
      r_row[(b%UNITS)*RW+:RW] = r_row[(b%UNITS)*RW+:RW] | r_row_q[b*RW+:RW];
      if (r_bank_q[b]) r_sub[(b%UNITS)*SW+:SW] = r_sub[(b%UNITS)*SW+:SW] | SW'(b / UNITS);
      r_operand[(b%UNITS)*32+:32] = r_operand[(b%UNITS)*32+:32] | placed_data_i[b*32+:32];
      if (o_amo_valid && o_bank_q[b]) o_use[b%UNITS] = 1'b1;
      if (a_valid_q && a_bank_q[b]) a_use[b%UNITS] = 1'b1;
    end
    for (int u = 0; u < UNITS; u++) begin
      r_ahead[u] = o_use[u] && o_row_q[u*RW+:RW] == r_row[u*RW+:RW] && o_sub_q[u*SW+:SW] == r_sub[u*SW+:SW];
      r_before[u] = a_use[u] && a_row_q[u*RW+:RW] == r_row[u*RW+:RW] && a_sub_q[u*SW+:SW] == r_sub[u*SW+:SW];
    end
  end

  // ------------------------------------------------------------------ R: banks. Stores and rows share one write port
  // with atomics.
  logic [LANES-1:0] w_bank;
  logic [LANES*RW-1:0] w_row;
  logic [LANES*4-1:0] w_be;
  logic [UNITS*32-1:0] a_data_q;
  logic [LANES*32-1:0] w_data;
  logic any_write;

  assign any_write = (r_valid_q && r_write_q) || a_valid_q;
  always_comb begin
    w_bank = '0;
    w_row  = '0;
    w_be   = '0;
    w_data = '0;
    if (any_write) begin
      w_bank = a_valid_q ? a_bank_q : r_bank_q;
      w_row  = a_valid_q ? {OF_UNIT{a_row_q}} : r_row_q;
      w_be   = a_valid_q || !r_lanes_q ? '1 : placed_be_i;
      w_data = a_valid_q ? {OF_UNIT{a_data_q}} : r_lanes_q ? placed_data_i : r_line_q;
    end
  end
  assign idle_o = !some && !g_valid_q && !b_valid_q && !(r_valid_q && r_lanes_q) && !o_valid_q && !a_valid_q &&
    !scrub_busy_o;

  for (genvar b = 0; b < LANES; b++) begin : gen_bank
    lsu_bank #(.ROWS(ROWS)) u_bank (
        .clk_i,
        .read_i(r_valid_q && !r_write_q && r_bank_q[b]),
        .read_row_i(r_row_q[b*RW+:RW]),
        .data_o(bank_word[b*32+:32]),
        .write_i(w_bank[b]),
        .write_row_i(w_row[b*RW+:RW]),
        .write_be_i(w_be[b*4+:4]),
        .write_data_i(w_data[b*32+:32])
    );
  end

  // ------------------------------------------------------------------ O: atomics, words of the banks
  logic [3:0] o_amo;
  logic o_sc, holds;
  logic [RW-1:0] o_row;  // row of CAS, LR or SC
  logic [UNITS*32-1:0] amo_old, amo_new, before_q, passed;  // passed: old words forwarded from an earlier pass
  logic [UNITS-1:0] amo_write, by_passed;

  assign o_amo = o_meta_q.amo;
  assign o_amo_valid = o_valid_q && o_meta_q.op == simt_op_pkg::LSU_AMO;
  assign o_sc = o_amo == tern_pkg::AMO_SC;

  lsu_reserve #(.BANKS(LANES), .ROW_W(RW), .THREAD_W(WW + LW)) u_reserve (
      .clk_i,
      .rst_i,
      .bank_i(o_bank_q),
      .row_i(o_row),
      .thread_i({o_meta_q.warp, o_lane_q}),
      .lr_i(o_amo_valid && o_amo == tern_pkg::AMO_LR),
      .sc_i(o_amo_valid && o_sc),
      .holds_o(holds),
      .wr_bank_i(w_bank),
      .wr_row_i(w_row)
  );
  for (genvar u = 0; u < UNITS; u++) begin : gen_amo
    assign by_passed[u] = o_ahead_q[u] || o_before_q[u];  // only atomics follow so closely
    assign passed[u*32+:32] = o_ahead_q[u] ? a_data_q[u*32+:32] : before_q[u*32+:32];
    assign amo_old[u*32+:32] = by_passed[u] ? passed[u*32+:32] :
        bank_word[(32'(o_sub_q[u*SW+:SW])*UNITS+u)*32+:32];
    atomic_alu u_alu (
        .amo_i(o_amo),
        .old_i(amo_old[u*32+:32]),
        .operand_i(o_data_q[u*32+:32]),
        .expect_i(o_cmp_q),
        .store_i(holds),
        .new_o(amo_new[u*32+:32]),
        .write_o(amo_write[u])
    );
  end
  always_comb begin
    o_row = '0;
    for (int u = 0; u < UNITS; u++) o_row = o_row | o_row_q[u*RW+:RW];
  end

  always_ff @(posedge clk_i) begin
    a_valid_q <= o_amo_valid && !rst_i;
    if (a_valid_q) before_q <= a_data_q;
    if (o_amo_valid) begin
      a_bank_q <= o_bank_q & {OF_UNIT{amo_write}};
      a_row_q  <= o_row_q;
      a_sub_q  <= o_sub_q;
      a_data_q <= amo_new;
    end
  end
  assign words_valid_o = o_valid_q;
  assign words_entry_o = o_meta_q.entry;
  assign words_mask_o = o_grant_q;
  assign words_size_o = o_meta_q.size;
  assign words_unsigned_o = o_meta_q.is_unsigned;
  assign words_low_o = o_low_q;
  always_comb begin
    words_o = '0;
    if (o_valid_q) begin
      for (int b = 0; b < LANES; b++)
        words_o[b*32+:32] = o_amo_valid && o_sc ? 32'(!holds) :
            o_amo_valid && by_passed[b%UNITS] ? passed[(b%UNITS)*32+:32] : bank_word[b*32+:32];
    end
  end

  logic unused;
  assign unused = &{1'b0, in_i.rd, in_i.pc, in_i.lbase};
endmodule
