// SPDX-License-Identifier: Apache-2.0
// Instruction cache of the SIMT core: direct mapped, lines of 64 bytes, one lookup a cycle, four fills in flight.
//
// Contract: one cycle after a lookup comes fetched_o with a hit, or miss_o. After a miss the warp gets one pulse on
// wake_o when it should look up again; or the fill that it waits for ends in fault_o with pc and warp of the lookup
// that started the fill. fetched_o.next is zero behind the last instruction of a line. flush_i invalidates all lines; a
// fill in flight is then not kept. kill_i (level): no lookup is answered any more, and accepted requests drain. idle_o:
// no request is in flight. The memory channel only reads; the tag is the number of the fill.
// State saved at preemption: none; the lines can be read again.
//
// An arrived line cannot be replaced until all warps that wait for it have looked it up, or 63 cycles have passed.
// Otherwise warps that run in lines of the same index could evict each other's lines for ever. Therefore a fill starts
// only if no other fill has its index. A warp whose fill cannot start is woken when a fill becomes free. One line is
// one word of the memory, so a fill is a single write; the cost is a 16:1 selection after the read.

module simt_icache #(
    parameter int W = 16,            // warps
    parameter int KIB = 8,           // capacity, KiB
    parameter int LINES = KIB * 16,  // lines of 64 bytes; a proof has fewer than a KiB
    localparam int WW = $clog2(W)
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  simt_core_pkg::fetch_t lookup_i,
    output simt_core_pkg::fetched_t fetched_o,
    output logic               miss_o,
    output logic [W-1:0]       wake_o,
    output simt_core_pkg::fetch_fault_t fault_o,
    input  logic               flush_i,
    input  logic               kill_i,
    output logic               idle_o,
    output logic               ev_miss_o,

    output logic               mem_req_valid_o,
    input  logic               mem_req_ready_i,
    output logic [27:0]        mem_req_line_o,
    output logic [1:0]         mem_req_tag_o,
    input  logic               mem_rsp_valid_i,
    input  logic [1:0]         mem_rsp_tag_i,
    input  tern_pkg::mem_rsp_t mem_rsp_i
);

  localparam int IW = $clog2(LINES);
  localparam int TW = 26 - IW;
  localparam int FILLS = 4;

  generate
    if ((LINES & (LINES - 1)) != 0 || LINES < 2 || LINES > 16384) begin : g_parameters
      $error("simt_icache: KIB is a power of two, 1 to 1024");
    end
  endgenerate

  // Lines.
  logic [511:0]     data_q [LINES];
  logic [TW-1:0]    tags_q [LINES];
  logic [LINES-1:0] valid_q;

  // The lookup of the cycle before.
  logic             look_q, look_valid_q;
  logic [29:0]      pc_q;  // in words
  logic [WW-1:0]    warp_q;
  logic [511:0]     look_data_q;
  logic [TW-1:0]    look_tag_q;
  logic             hit, miss;
  logic [3:0]       after;

  always_ff @(posedge clk_i) begin
    look_q <= lookup_i.valid && !kill_i && !rst_i;
    if (lookup_i.valid) begin
      pc_q         <= lookup_i.pc[31:2];
      warp_q       <= lookup_i.warp[WW-1:0];
      look_data_q  <= data_q[lookup_i.pc[6 +: IW]];
      look_tag_q   <= tags_q[lookup_i.pc[6 +: IW]];
      look_valid_q <= valid_q[lookup_i.pc[6 +: IW]];
    end
  end

  always_comb begin
    hit             = look_q && look_valid_q && look_tag_q == pc_q[29 -: TW];
    miss            = look_q && !hit;
    miss_o          = miss && !kill_i;
    after           = pc_q[3:0] + 4'd1;
    fetched_o.hit   = hit && !kill_i;
    fetched_o.instr = look_data_q[32*pc_q[3:0] +: 32];
    fetched_o.next  = (&pc_q[3:0]) ? 32'd0 : look_data_q[32*after +: 32];
  end

  // States of a fill. ASKED: its request is not in the request register yet. SENT: its request is there or in memory.
  // LANDED: for one cycle, in which a lookup that was too early to see the line may still join the waiting warps. HELD:
  // the line is protected from replacement.
  localparam logic [2:0] FREE = 3'd0, ASKED = 3'd1, SENT = 3'd2, LANDED = 3'd3, HELD = 3'd4;

  logic [3*FILLS-1:0]  state_q;
  logic [26*FILLS-1:0] line_q;
  logic [W*FILLS-1:0]  waiters_q;
  logic [FILLS-1:0]    stale_q;   // a flush came while the fill was in flight
  logic [6*FILLS-1:0]  timer_q;
  logic [4*FILLS-1:0]  word_q;    // word within the line of the lookup that started the fill
  logic [WW*FILLS-1:0] asker_q;
  logic [W-1:0]        retry_q;   // warps whose fill could not start

  // The response of the cycle before, and the line that it is for.
  logic         rsp_q;
  logic [1:0]   rsp_tag_q;
  logic [7:0]   rsp_fault_q;
  logic [511:0] rsp_data_q;
  logic [25:0]  rsp_line_q;

  logic [FILLS-1:0] is_free, is_asked, match, clash, ends;
  logic [1:0]       free_fill, asked_fill;
  logic [25:0]      asked_line;
  logic             start, can_send, freed_q;
  logic [W-1:0]     looker;

  always_comb begin
    looker     = W'(1) << warp_q;
    free_fill  = 2'd0;
    asked_fill = 2'd0;
    asked_line = line_q[25:0];
    for (int f = FILLS - 1; f >= 0; f--) begin
      is_free[f]  = state_q[3*f +: 3] == FREE;
      is_asked[f] = state_q[3*f +: 3] == ASKED;
      clash[f]    = !is_free[f] && line_q[26*f +: IW] == pc_q[4 +: IW];
      match[f]    = !is_free[f] && state_q[3*f +: 3] != HELD && line_q[26*f +: 26] == pc_q[29:4];
      ends[f]     = rsp_q && rsp_tag_q == 2'(f);
      if (is_free[f]) free_fill = 2'(f);
      if (is_asked[f]) begin
        asked_fill = 2'(f);
        asked_line = line_q[26*f +: 26];
      end
    end
    start    = miss && clash == '0 && is_free != '0 && !kill_i;
    can_send = is_asked != '0 && (!mem_req_valid_o || mem_req_ready_i) && !kill_i;
  end

  logic [W-1:0] waiters;
  logic         leaves;

  always_ff @(posedge clk_i) begin
    wake_o        <= freed_q ? retry_q : '0;
    fault_o.valid <= 1'b0;
    freed_q       <= 1'b0;
    if (freed_q) retry_q <= '0;
    // The lookup joins no fill and starts none. If a fill becomes free in this cycle, freed_q follows in the next.
    if (miss && match == '0 && !start) retry_q[warp_q] <= 1'b1;

    for (int f = 0; f < FILLS; f++) begin
      waiters = waiters_q[W*f +: W];
      if (miss && match[f]) waiters = waiters | looker;
      if (hit) waiters = waiters & ~looker;
      leaves = 1'b0;
      case (state_q[3*f +: 3])
        FREE:
          if (start && free_fill == 2'(f)) begin
            state_q[3*f +: 3]    <= ASKED;
            line_q[26*f +: 26]   <= pc_q[29:4];
            word_q[4*f +: 4]     <= pc_q[3:0];
            asker_q[WW*f +: WW]  <= warp_q;
            stale_q[f]           <= 1'b0;
            waiters              = looker;
          end
        ASKED:
          if (kill_i) leaves = 1'b1;
          else if (can_send && asked_fill == 2'(f)) state_q[3*f +: 3] <= SENT;
        SENT:
          if (ends[f]) begin
            fault_o.code  <= rsp_fault_q;
            fault_o.pc    <= {line_q[26*f +: 26], word_q[4*f +: 4], 2'b00};
            fault_o.warp  <= 5'(asker_q[WW*f +: WW]);
            if (kill_i) leaves = 1'b1;
            else if (rsp_fault_q != tern_spec_pkg::FAULT_NONE) begin
              leaves        = 1'b1;
              fault_o.valid <= 1'b1;
            end else state_q[3*f +: 3] <= LANDED;
          end
        LANDED: begin
          wake_o            <= (freed_q ? retry_q : '0) | waiters;
          timer_q[6*f +: 6] <= '1;
          state_q[3*f +: 3] <= HELD;
          if (stale_q[f]) leaves = 1'b1;
        end
        default: begin
          timer_q[6*f +: 6] <= timer_q[6*f +: 6] - 6'd1;
          leaves = waiters == '0 || timer_q[6*f +: 6] == 6'd0 || stale_q[f];
        end
      endcase
      if (leaves) begin
        state_q[3*f +: 3] <= FREE;
        freed_q           <= 1'b1;
      end
      if (flush_i) stale_q[f] <= 1'b1;
      waiters_q[W*f +: W] <= kill_i ? '0 : waiters;
    end

    if (rst_i || kill_i) begin
      retry_q       <= '0;
      wake_o        <= '0;
      fault_o.valid <= 1'b0;
    end
    if (rst_i) state_q <= {FILLS{FREE}};
  end

  // Lines are written from the registered response.
  always_ff @(posedge clk_i) begin
    rsp_q <= mem_rsp_valid_i && !rst_i;
    if (mem_rsp_valid_i) begin
      rsp_tag_q   <= mem_rsp_tag_i;
      rsp_fault_q <= mem_rsp_i.fault;
      rsp_data_q  <= mem_rsp_i.data;
      for (int f = 0; f < FILLS; f++) if (mem_rsp_tag_i == 2'(f)) rsp_line_q <= line_q[26*f +: 26];
    end
    if (rsp_q) begin
      data_q[rsp_line_q[IW-1:0]] <= rsp_data_q;
      tags_q[rsp_line_q[IW-1:0]] <= rsp_line_q[25 -: TW];
      for (int i = 0; i < LINES; i++)
        if (rsp_line_q[IW-1:0] == IW'(i)) valid_q[i] <= rsp_fault_q == tern_spec_pkg::FAULT_NONE && !stale_q[rsp_tag_q];
    end
    if (rst_i || flush_i) valid_q <= '0;
  end

  // Request register.
  always_ff @(posedge clk_i) begin
    if (rst_i) mem_req_valid_o <= 1'b0;
    else if (can_send) mem_req_valid_o <= 1'b1;
    else if (mem_req_ready_i) mem_req_valid_o <= 1'b0;
    if (can_send) begin
      mem_req_line_o <= {2'b00, asked_line};
      mem_req_tag_o  <= asked_fill;
    end
    ev_miss_o <= start && !rst_i;
  end

  always_comb begin
    idle_o = !look_q && !mem_req_valid_o;
    for (int f = 0; f < FILLS; f++)
      if (state_q[3*f +: 3] != FREE && state_q[3*f +: 3] != HELD) idle_o = 1'b0;
  end

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      answer_to_a_fill: assert (!mem_rsp_valid_i || state_q[3*mem_rsp_tag_i +: 3] == SENT);
    end
  end
`endif
endmodule
