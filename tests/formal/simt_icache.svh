// SPDX-License-Identifier: Apache-2.0
// Properties of simt_icache, for any one warp, line and fill. A miss is answered by one wake-up or by a fault; until
// then it is noted in one place, and it does not stay there for ever. A fill that was sent is with memory, once. A hit
// returns what memory holds. A warp that was woken hits if it looks up in time. After a kill nothing is answered, and
// only what memory owes keeps the cache from being idle. Memory's contents change only at a flush.
//
// Assumed of the core: a warp that waits does not look up, no warp does at a flush, and a kill follows a fault.
// Assumed: no reset comes while memory owes an answer.
(* anyconst *) logic [WW-1:0] f_warp;
(* anyconst *) logic [25:0]   f_line;
(* anyconst *) logic [1:0]    f_fill;
(* anyseq *)   logic [511:0]  f_news;
logic             f_start_q = 1'b1, f_waits_q, f_failed_q, f_looked_q, f_held_q, f_killed_q, f_killed2_q, f_busy;
logic [FILLS-1:0] f_owed_q, f_old_q, f_at, f_sent, f_landed;
logic [2:0]       f_places;
logic [26*FILLS-1:0] f_of_q;     // the line of each request to memory
logic [511:0]     f_data_q;
logic [29:0]      f_was_q;
logic [35:0]      f_asker_q;
logic [6:0]       f_age_q;

always_ff @(posedge clk_i) begin
  f_start_q   <= 1'b0;
  f_looked_q  <= lookup_i.valid && !kill_i && !rst_i;
  f_held_q    <= mem_req_valid_o && !mem_req_ready_i && !rst_i;
  f_was_q     <= {mem_req_line_o, mem_req_tag_o};
  f_killed_q  <= kill_i || rst_i;
  f_killed2_q <= f_killed_q && kill_i;
  if (wake_o[f_warp]) f_waits_q <= 1'b0;
  if (miss_o && warp_q == f_warp) f_waits_q <= 1'b1;
  if (fault_o.valid) f_failed_q <= 1'b1;
  if (kill_i || rst_i) f_waits_q <= 1'b0;
  if (kill_i || rst_i) f_failed_q <= 1'b0;
  if (start && pc_q[29:4] == f_line) f_asker_q <= 36'({warp_q, pc_q});
  f_age_q <= state_q[3*f_fill +: 3] == HELD ? f_age_q + 1'b1 : '0;
  if (flush_i) f_data_q <= f_news;
  if (mem_rsp_valid_i) f_owed_q[mem_rsp_tag_i] <= 1'b0;
  if (mem_req_valid_o && mem_req_ready_i) begin
    f_owed_q[mem_req_tag_o]         <= 1'b1;
    f_of_q[26*mem_req_tag_o +: 26]  <= mem_req_line_o[25:0];
  end
  for (int f = 0; f < FILLS; f++)
    if (flush_i) f_old_q[f] <= 1'b1;
    else if (mem_req_valid_o && mem_req_ready_i && mem_req_tag_o == 2'(f)) f_old_q[f] <= 1'b0;
  if (rst_i) f_owed_q <= '0;
end

always_comb begin
  assume (f_start_q ? rst_i : !rst_i || f_owed_q == '0);
  assume (!mem_rsp_valid_i || f_owed_q[mem_rsp_tag_i]);
  assume (!mem_rsp_valid_i || f_old_q[mem_rsp_tag_i] || f_of_q[26*mem_rsp_tag_i +: 26] != f_line ||
          mem_rsp_i.data == f_data_q);
  assume (!lookup_i.valid || (!flush_i && (lookup_i.warp[WW-1:0] != f_warp ||
                                           !(f_waits_q || (look_q && warp_q == f_warp)))));

  f_places = 3'(retry_q[f_warp]) + 3'(wake_o[f_warp]);
  f_busy   = freed_q;
  for (int f = 0; f < FILLS; f++) begin
    f_sent[f]   = state_q[3*f +: 3] == SENT;
    f_landed[f] = state_q[3*f +: 3] == LANDED;
    f_at[f]     = (is_asked[f] || f_sent[f] || f_landed[f]) && waiters_q[W*f + 32'(f_warp)];
    f_places    = f_places + 3'(f_at[f]);
    if (!is_free[f]) f_busy = 1'b1;
  end

  if (!f_start_q) begin
    // lookups
    assert (!(look_q && warp_q == f_warp && f_waits_q));
    assert (look_q == f_looked_q && fetched_o.hit == (hit && !kill_i) && miss_o == (miss && !kill_i));
    if (f_looked_q && !kill_i) assert (fetched_o.hit != miss_o);
    if (fetched_o.hit && pc_q[29:4] == f_line) assert (fetched_o.instr == f_data_q[32*pc_q[3:0] +: 32]);
    if (fetched_o.hit && pc_q[29:4] == f_line)
      assert (fetched_o.next == (&pc_q[3:0] ? 32'd0 : f_data_q[32*after +: 32]));
    // answers
    if (!f_failed_q && !fault_o.valid) begin
      assert (f_places == 3'(f_waits_q));
      if (retry_q[f_warp]) assert (f_busy);
    end
    if (fault_o.valid && fault_o.pc[31:6] == f_line)
      assert ({36'({fault_o.warp[WW-1:0], fault_o.pc[31:2]})} == f_asker_q);
    // memory
    if (f_held_q) assert (mem_req_valid_o && {mem_req_line_o, mem_req_tag_o} == f_was_q);
    if (idle_o) assert (f_owed_q == '0 && !mem_req_valid_o);
    if (f_killed_q) assert (wake_o == '0 && !fault_o.valid);
    if (f_killed2_q && f_owed_q == '0 && !mem_req_valid_o && !rsp_q) assert (idle_o);

    for (int f = 0; f < FILLS; f++) begin
      assert (state_q[3*f +: 3] <= HELD);
      assert ({1'b0, f_sent[f]} == 2'(f_owed_q[f]) + 2'(ends[f]) + 2'(mem_req_valid_o && mem_req_tag_o == 2'(f)));
      if (mem_req_valid_o && mem_req_tag_o == 2'(f)) assert (mem_req_line_o == {2'b0, line_q[26*f +: 26]});
      if (f_owed_q[f]) assert (f_of_q[26*f +: 26] == line_q[26*f +: 26] && (stale_q[f] || !f_old_q[f]));
      if (ends[f]) assert (rsp_line_q == line_q[26*f +: 26]);
      if (f_landed[f]) assert (!(|(f_landed & ~(FILLS'(1) << f))));
      if (f_killed_q) assert (!is_asked[f]);
      if (f_killed2_q) assert (!f_landed[f]);
      for (int g = 0; g < f; g++)
        if (!is_free[f] && !is_free[g]) assert (line_q[26*f +: IW] != line_q[26*g +: IW]);
      if (!is_free[f] && line_q[26*f +: 26] == f_line) begin
        assert (36'({asker_q[WW*f +: WW], line_q[26*f +: 26], word_q[4*f +: 4]}) == f_asker_q);
        // a warp that was woken finds the line
        if (state_q[3*f +: 3] >= LANDED && !stale_q[f])
          assert (valid_q[f_line[IW-1:0]] && tags_q[f_line[IW-1:0]] == f_line[25 -: TW]);
        if (state_q[3*f +: 3] == HELD && !stale_q[f]) assert (!(miss && pc_q[29:4] == f_line));
      end
    end
    if (state_q[3*f_fill +: 3] == HELD) assert (f_age_q + 7'(timer_q[6*f_fill +: 6]) == 7'd63);
    else if (!is_free[f_fill]) assert (f_age_q == '0);
    // what the line holds
    if (ends[rsp_tag_q] && rsp_line_q == f_line && !stale_q[rsp_tag_q]) assert (rsp_data_q == f_data_q);
    if (valid_q[f_line[IW-1:0]] && tags_q[f_line[IW-1:0]] == f_line[25 -: TW])
      assert (data_q[f_line[IW-1:0]] == f_data_q);
    if (look_q && look_valid_q && pc_q[29:4] == f_line && look_tag_q == f_line[25 -: TW])
      assert (look_data_q == f_data_q);
  end
end
