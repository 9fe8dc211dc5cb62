// SPDX-License-Identifier: Apache-2.0
// Coalescer: turns memory instructions into accesses to lines of 64 bytes, up to one a cycle, in order.
//
// Contract: push_i adds an instruction. room_o: there is room for one more besides an instruction that is already on
// its way here. Each access out_* serves all remaining lanes in the line of the lowest remaining lane, the leader;
// out_last_o marks the last access of an instruction. Of lanes of a store with the same address only the highest is in
// out_merge_o, so its data wins. Lanes of an atomic with the same address go in separate accesses, lowest first.
// Compare-and-swap, LR and SC go one lane at a time with out_pair_o: the value to compare with, or the hardware thread.
// With freeze_i no access leaves. pend_* then offers the remaining lanes of the instructions here, oldest first, once
// settled_i allows it; pend_count_o is the number of these instructions, and lsu_retain holds the rest of their
// contents. Some places of the queue are open only while frozen: at most NORMAL + 1 instructions are here when a freeze
// begins, and 2^DEPTH_LOG2 + 1 fit.
// State saved at preemption: the remaining lanes, on pend_*.
//
// Example: lanes 0 to 3 load from 0x100, 0x104, 0x140 and 0x108: line 0x100 serves lanes 0, 1 and 3, line 0x140 lane 2.
//
// The leader's address is a register, so that one cycle compares it with all lanes and finds the next leader. Pairs of
// lanes with the same place (their lowest PLACE_W address bits) are found before the loop over lines starts. In one
// line these have the same address. A lane of an atomic also waits for lower lanes with the same place in other lines:
// that can cost an access, but which lanes an access takes is known earlier.
module lsu_coalesce #(
    parameter int LANES = 16,      // lanes, one work-item each
    parameter int WARPS = 16,      // hardware warps
    parameter int ENTRY_W = 6,     // bits of an entry
    parameter int DEPTH_LOG2 = 3,  // log2 of the places of the queue
    parameter int NORMAL = 4,      // places of the queue that are used while not frozen
    localparam int LW = $clog2(LANES),
    localparam int WW = $clog2(WARPS)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                push_i,
    output logic                room_o,
    input  logic                freeze_i,
    input  simt_op_pkg::lsu_req_t in_i,         // rd, is_unsigned and lbase are not used
    input  logic [WW-1:0]       in_warp_i,
    input  logic [ENTRY_W-1:0]  in_entry_i,
    input  logic [LANES-1:0]    in_mask_i,
    input  logic [LANES-1:0]    in_private_i,
    input  logic [LANES*32-1:0] in_addr_i,
    input  logic [LANES*32-1:0] in_data_i,
    input  logic [LANES*32-1:0] in_cmp_i,
    output logic                out_valid_o,
    input  logic                out_ready_i,
    output logic                out_last_o,
    output simt_op_pkg::lsu_access_t out_o,
    output logic [LANES-1:0]    out_mask_o,
    output logic [LANES-1:0]    out_merge_o,
    output logic [31:0]         out_pair_o,
    output logic [LANES*6-1:0]  out_offset_o,   // byte in the line, of each lane
    output logic [LANES*32-1:0] out_data_o,
    // remaining lanes, while frozen
    output logic                loading_o,      // the oldest instruction becomes the current one
    input  logic                settled_i,      // not while loading_o; pend_valid_o is then pend_count_o != 0
    output logic [5:0]          pend_count_o,
    output logic                pend_valid_o,
    input  logic                pend_ready_i,
    output logic [LANES-1:0]    pend_mask_o
);
  // Fields that all accesses of an instruction share.
  typedef struct packed {
    logic [2:0]         op;
    logic [3:0]         amo;
    logic [1:0]         size;
    logic [WW-1:0]      warp;
    logic [ENTRY_W-1:0] entry;
    logic [31:0]        pc;
  } common_t;

  // Queue.
  common_t in, next;  // the instruction that comes; the oldest in the queue
  logic [$bits(in)-1:0] queue_meta[0:(1<<DEPTH_LOG2)-1];
  logic [2*LANES-1:0] queue_mask[0:(1<<DEPTH_LOG2)-1];
  logic [LANES*32-1:0] queue_addr[0:(1<<DEPTH_LOG2)-1];
  logic [LANES*32-1:0] queue_data[0:(1<<DEPTH_LOG2)-1];
  logic [LANES*32-1:0] queue_cmp[0:(1<<DEPTH_LOG2)-1];
  logic [DEPTH_LOG2:0] wr_q, rd_q;
  logic [DEPTH_LOG2-1:0] wr, rd;
  logic some, load, go, took;

  assign in.op = in_i.op;
  assign in.amo = in_i.amo;
  assign in.size = in_i.size;
  assign in.warp = in_warp_i;
  assign in.entry = in_entry_i;
  assign in.pc = in_i.pc;
  assign next = queue_meta[rd];
  assign wr = wr_q[DEPTH_LOG2-1:0];
  assign rd = rd_q[DEPTH_LOG2-1:0];
  assign some = wr_q != rd_q;
  assign room_o = (DEPTH_LOG2 + 1)'(wr_q - rd_q) < (DEPTH_LOG2 + 1)'(freeze_i ? (1 << DEPTH_LOG2) - 1 : NORMAL - 1);

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      wr_q <= wr_q + 1'b1;
      queue_meta[wr] <= in;
      queue_mask[wr] <= {in_private_i, in_mask_i};
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

  // The current instruction, which is being split into lines, its leader, and its pairs of lanes. Pair (i, j), i < j,
  // is bit i * LANES + j.
  localparam int PLACE_W = 8;  // the 6 of a line, and 2 more that keep different lines apart
  logic valid_q;
  common_t meta_q;
  logic [LANES-1:0] rest_q, private_q, lead_q;
  logic [31:0] lead_addr_q;
  logic [LANES*32-1:0] addr_q, data_q, cmp_q;
  logic [LANES*LANES-1:0] same_q;  // pairs with the same place
  logic [LANES*32-1:0] a;
  // Lanes that the next instruction begins with, and those that remain after this access; the leader of each.
  logic [LANES-1:0] first, first_lead, left, left_lead;
  logic [31:0] first_addr, left_addr;
  logic exact;

  assign first = queue_mask[rd][LANES-1:0];
  assign left = rest_q & ~out_mask_o;
  assign first_lead = first & (~first + 1'b1);
  assign left_lead = left & (~left + 1'b1);
  always_comb begin
    first_addr = '0;
    left_addr = '0;
    for (int i = 0; i < LANES; i++) begin
      first_addr = first_addr | ({32{first_lead[i]}} & queue_addr[rd][i*32+:32]);
      left_addr = left_addr | ({32{left_lead[i]}} & addr_q[i*32+:32]);
    end
  end

  assign go = out_valid_o && out_ready_i;
  assign took = pend_valid_o && pend_ready_i;
  assign load = some && (!valid_q || (go && out_last_o) || took);
  always_ff @(posedge clk_i) begin
    if (load) begin
      a = queue_addr[rd];
      exact = next.op != simt_op_pkg::LSU_LOAD;
      meta_q <= next;
      private_q <= queue_mask[rd][2*LANES-1:LANES];
      addr_q <= a;
      if (exact) begin
        data_q <= queue_data[rd];
        cmp_q  <= queue_cmp[rd];
        for (int i = 0; i < LANES; i++)
          for (int j = i + 1; j < LANES; j++)
            same_q[i*LANES+j] <= a[i*32+:PLACE_W] == a[j*32+:PLACE_W];
      end
    end
    if (load || go) begin
      rest_q <= load ? first : left;
      lead_q <= load ? first_lead : left_lead;
      lead_addr_q <= load ? first_addr : left_addr;
    end
    if (load) valid_q <= 1'b1;
    else if ((go && out_last_o) || took) valid_q <= 1'b0;
    if (rst_i) valid_q <= 1'b0;
  end

  // Loop over lines.
  logic [LANES-1:0] row, blocked, shadow;
  logic single;
  logic [LW-1:0] lane;
  always_comb begin
    row = '0;
    blocked = '0;
    single = 1'b0;
    lane = '0;
    out_pair_o = '0;
    if (valid_q) begin
      single = meta_q.op == simt_op_pkg::LSU_AMO && (meta_q.amo == tern_pkg::AMO_CAS ||
          meta_q.amo == tern_pkg::AMO_LR || meta_q.amo == tern_pkg::AMO_SC);
      for (int i = 0; i < LANES; i++) begin
        row[i] = addr_q[i*32+6+:26] == lead_addr_q[31:6];
        lane = lane | ({LW{lead_q[i]}} & LW'(i));
        if (single && lead_q[i]) out_pair_o = out_pair_o |
          (meta_q.amo == tern_pkg::AMO_CAS ? cmp_q[i*32+:32] : 32'({meta_q.warp, LW'(i)}));
      end
      if (meta_q.op == simt_op_pkg::LSU_AMO)
        for (int j = 1; j < LANES; j++)
          for (int i = 0; i < j; i++) blocked[j] = blocked[j] | (rest_q[i] & same_q[i*LANES+j]);
    end
  end
  always_comb begin
    shadow = '0;
    if (valid_q && meta_q.op == simt_op_pkg::LSU_STORE)
      for (int i = 0; i < LANES; i++)
        for (int j = i + 1; j < LANES; j++) shadow[i] = shadow[i] | (out_mask_o[j] & same_q[i*LANES+j]);
  end
  assign out_o.op = meta_q.op;
  assign out_o.amo = meta_q.amo;
  assign out_o.size = meta_q.size;
  assign out_o.warp = 5'(meta_q.warp);
  assign out_o.entry = 6'(meta_q.entry);
  assign out_o.lane = 5'(lane);
  assign out_o.is_private = |(lead_q & private_q);
  assign out_o.addr = lead_addr_q;
  assign out_o.pc = meta_q.pc;
  assign out_valid_o = valid_q && !freeze_i;
  assign out_mask_o = lead_q | (single ? '0 : rest_q & row & ~blocked);
  assign out_merge_o = out_mask_o & ~shadow;
  assign out_last_o = left == '0;
  assign out_data_o = data_q;
  for (genvar i = 0; i < LANES; i++) begin : g_offset
    assign out_offset_o[i*6+:6] = addr_q[i*32+:6];
  end

  assign loading_o = some && !valid_q;
  assign pend_valid_o = valid_q && freeze_i && settled_i;
  assign pend_count_o = 6'((DEPTH_LOG2 + 1)'(wr_q - rd_q)) + 6'(valid_q);
  assign pend_mask_o = rest_q;

  logic unused;
  assign unused = &{1'b0, in_i.is_unsigned, in_i.rd, in_i.lbase};
endmodule
