// SPDX-License-Identifier: Apache-2.0
// Puts the lines of a read stream back into order: 2^DEPTH_LOG2 reads in flight, answered in any order.
//
// Contract: alloc_i announces a read that memory accepts, with tag alloc_tag_o; there is room unless full_o is high.
// meta_i is kept with the read. out_valid_o: the oldest read has been answered, and its meta and fault are shown. pop_i
// (only with out_valid_o) removes it. The line is then on data_o from the next cycle on, until the cycle of the next
// pop. drained_o: every read has been answered. clear_i (only with drained_o) discards all reads.
// Preemption: no state is saved. The owner waits until drained_o, and reads again after the resume.
// The data are in a block RAM with a registered read port, so a pop needs no wide multiplexer.
module read_ring #(
    parameter int DEPTH_LOG2 = 3,  // log2 of the reads in flight.
    parameter int META_W     = 1
`ifdef FORMAL
    , parameter bit F_ALONE = 1'b0  // nobody's part
`endif
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic                  clear_i,
    output logic                  full_o,
    output logic                  drained_o,
    input  logic                  alloc_i,
    output logic [DEPTH_LOG2-1:0] alloc_tag_o,
    input  logic [    META_W-1:0] meta_i,
    input  logic                  rsp_valid_i,
    input  logic [DEPTH_LOG2-1:0] rsp_tag_i,
    input  logic [         511:0] rsp_data_i,
    input  logic [           7:0] rsp_fault_i,
    output logic                  out_valid_o,
    output logic [    META_W-1:0] out_meta_o,
    output logic [           7:0] out_fault_o,
    input  logic                  pop_i,
    output logic [         511:0] data_o
`ifdef FORMAL
    , input logic f_pick_i, output logic [DEPTH_LOG2:0] f_count_o, output logic [DEPTH_LOG2-1:0] f_head_o,
    output logic [(1<<DEPTH_LOG2)-1:0] f_owed_o, output logic [(META_W<<DEPTH_LOG2)-1:0] f_metas_o,
    output logic [2:0] f_is_o, output logic [DEPTH_LOG2:0] f_ahead_o, output logic [DEPTH_LOG2-1:0] f_tag_o,
    output logic [7:0] f_fault_o, output logic [511:0] f_data_o
`endif
);
  localparam int DEPTH = 1 << DEPTH_LOG2;

  logic [511:0] data[0:DEPTH-1];
  logic [META_W-1:0] meta[0:DEPTH-1];
  logic [7:0] fault[0:DEPTH-1];
  logic [DEPTH-1:0] done_q;
  logic [DEPTH_LOG2:0] head_q, tail_q, flight_q;
  logic [511:0] data_q;

  assign full_o = tail_q == {~head_q[DEPTH_LOG2], head_q[DEPTH_LOG2-1:0]};
  assign drained_o = flight_q == '0;
  assign alloc_tag_o = tail_q[DEPTH_LOG2-1:0];
  assign out_valid_o = done_q[head_q[DEPTH_LOG2-1:0]];
  assign out_meta_o = meta[head_q[DEPTH_LOG2-1:0]];
  assign out_fault_o = fault[head_q[DEPTH_LOG2-1:0]];
  assign data_o = data_q;

  always_ff @(posedge clk_i) begin
    if (alloc_i) begin
      meta[tail_q[DEPTH_LOG2-1:0]] <= meta_i;
      tail_q <= tail_q + 1'b1;
    end
    if (rsp_valid_i) begin
      data[rsp_tag_i] <= rsp_data_i;
      fault[rsp_tag_i] <= rsp_fault_i;
      done_q[rsp_tag_i] <= 1'b1;
    end
    if (pop_i) begin
      data_q <= data[head_q[DEPTH_LOG2-1:0]];
      done_q[head_q[DEPTH_LOG2-1:0]] <= 1'b0;
      head_q <= head_q + 1'b1;
    end
    if (alloc_i != rsp_valid_i) flight_q <= alloc_i ? flight_q + 1'b1 : flight_q - 1'b1;
    if (rst_i || clear_i) begin
      done_q <= '0;
      head_q <= '0;
      tail_q <= '0;
      flight_q <= '0;
    end
  end

`ifdef FORMAL
`elsif SYNTHESIS
`else
  // The contract, for simulation; the prover has its own account of it below.
  logic live_q = 1'b0;  // there was a reset
  logic [DEPTH-1:0] owed_q = '0;
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      room_for_every_read: assert (!(alloc_i && (full_o || clear_i)));
      pops_what_is_there: assert (!pop_i || out_valid_o);
      clears_when_drained: assert (!clear_i || drained_o);
      answer_to_a_read: assert (!rsp_valid_i || owed_q[rsp_tag_i]);
    end
    if (rsp_valid_i) owed_q[rsp_tag_i] <= 1'b0;
    if (alloc_i) owed_q[alloc_tag_o] <= 1'b1;
    if (rst_i || clear_i) owed_q <= '0;
  end
`endif

`ifdef FORMAL
  // Any one read, the one at which f_pick_i holds: it comes out when as many have come out as were asked before it,
  // if it has been answered, with its own meta, fault and line; its tag is nobody else's meanwhile. The contract is
  // assumed of memory and of the owner if the ring is proved alone, else the owner is shown to keep it. A reset
  // comes when nothing is under way.
  logic f_start_q = 1'b1, f_live_q, f_answered_q, f_shown_q, f_contract;
  logic [DEPTH_LOG2:0] f_count_q, f_ahead_q, f_owes;  // reads in the ring; ahead of that one; that are unanswered
  logic [DEPTH-1:0] f_owed_q;
  logic [DEPTH_LOG2-1:0] f_tag_q;
  logic [META_W-1:0] f_meta_q;
  logic [7:0] f_fault_q;
  logic [511:0] f_data_q;

  assign {f_count_o, f_head_o, f_owed_o} = {f_count_q, head_q[DEPTH_LOG2-1:0], f_owed_q};
  assign {f_is_o, f_ahead_o, f_tag_o} = {f_shown_q, f_live_q && f_answered_q, f_live_q, f_ahead_q, f_tag_q};
  assign {f_fault_o, f_data_o} = {f_fault_q, f_data_q};
  assign f_contract = !(alloc_i && (full_o || clear_i)) && !(pop_i && !out_valid_o) && !(clear_i && !drained_o) &&
      !(rsp_valid_i && !f_owed_q[rsp_tag_i]);

  always_ff @(posedge clk_i) begin
    f_start_q <= 1'b0;
    f_count_q <= f_count_q + (DEPTH_LOG2 + 1)'(alloc_i) - (DEPTH_LOG2 + 1)'(pop_i);
    if (rsp_valid_i) f_owed_q[rsp_tag_i] <= 1'b0;
    if (alloc_i) f_owed_q[alloc_tag_o] <= 1'b1;
    if (pop_i) f_shown_q <= f_live_q && f_ahead_q == '0;
    if (pop_i && f_live_q) begin
      f_ahead_q <= f_ahead_q - 1'b1;
      f_live_q <= f_ahead_q != '0;
    end
    if (rsp_valid_i && rsp_tag_i == f_tag_q && f_live_q) {f_answered_q, f_fault_q, f_data_q} <= {1'b1, rsp_fault_i,
      rsp_data_i};
    if (alloc_i && f_pick_i && !f_live_q) begin
      {f_live_q, f_answered_q, f_tag_q, f_meta_q} <= {2'b10, alloc_tag_o, meta_i};
      f_ahead_q <= f_count_q - (DEPTH_LOG2 + 1)'(pop_i);
      f_shown_q <= 1'b0;
    end
    if (rst_i || clear_i) {f_live_q, f_count_q} <= '0;
    if (rst_i || clear_i) f_owed_q <= '0;
    if (rst_i) f_shown_q <= 1'b0;
  end

  always_comb begin
    assume (f_start_q ? rst_i : !rst_i || f_owed_q == '0);
    if (F_ALONE) assume (f_start_q || f_contract);
    f_owes = '0;
    for (int i = 0; i < DEPTH; i++) begin
      f_owes = f_owes + (DEPTH_LOG2 + 1)'(f_owed_q[i]);
      f_metas_o[META_W*i+:META_W] = meta[i];
      if (!f_start_q)  // a slot is owed, or done, or free
        assert ({f_owed_q[i], done_q[i]} ==
                (DEPTH_LOG2'(i - 32'(head_q)) >= f_count_q ? 2'b00 : done_q[i] ? 2'b01 : 2'b10));
    end
    if (!f_start_q) begin
      if (!F_ALONE && !rst_i) assert (f_contract);
      assert (f_count_q <= (DEPTH_LOG2 + 1)'(DEPTH) && tail_q - head_q == f_count_q && flight_q == f_owes);
      assert (full_o == f_count_q[DEPTH_LOG2] && drained_o == (f_owed_q == '0));
      if (out_valid_o) assert (f_count_q != '0);
      if (f_live_q) begin
        assert (f_ahead_q < f_count_q && f_tag_q == DEPTH_LOG2'(head_q + f_ahead_q) &&
                f_owed_q[f_tag_q] != f_answered_q);
        assert (!(alloc_i && alloc_tag_o == f_tag_q) && meta[f_tag_q] == f_meta_q);
        if (f_answered_q) assert (fault[f_tag_q] == f_fault_q && data[f_tag_q] == f_data_q);
        if (f_ahead_q == '0) assert (out_valid_o == f_answered_q);
        if (f_ahead_q == '0 && out_valid_o) assert (out_meta_o == f_meta_q && out_fault_o == f_fault_q);
      end
      if (f_shown_q) assert (!f_live_q && data_o == f_data_q);
    end
  end
`endif
endmodule
