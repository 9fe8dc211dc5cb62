// SPDX-License-Identifier: Apache-2.0
// Streams the state of a stopped executor out, a line a cycle.
//
// Contract: while active_i is high, the module takes the lines that simt_walk names (walk_i) and puts them on out_*; no
// other state may change meanwhile. The contents of a line must be valid one cycle after the walk names it;
// simt_context then shows which slot or warp it is, and look_o.first which register. Contents are selected
// combinationally by them, except registers, which look_o.read reads from the RAMs. Local memory answers later, in
// order. A memory instruction (pend_*) is taken with its last line.
// State saved at preemption: none of its own.
//
// Before the contents of a line are read, the line takes a credit, which is a place in the output queue. When the
// output stalls, no stage before the queue has to stall. A line is in a register before it is in the queue, since its
// selection is deep.

module simt_save #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16   // hardware warps
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                active_i,
    // simt_walk: the next line
    input  simt_core_pkg::walk_t walk_i,
    output logic                step_o,
    // contents of the line, one cycle later
    output simt_core_pkg::look_t look_o,          // index is not used
    input  simt_core_pkg::seen_t seen_i,
    input  logic [511:0]        head_i,
    input  logic [WARPS*32-1:0] masks_i,
    // local memory
    output logic                lmem_read_o,
    input  logic                lmem_ready_i,
    input  logic                lmem_valid_i,
    input  logic [511:0]        lmem_data_i,
    // unfinished memory instructions
    input  logic                pend_valid_i,
    output logic                pend_ready_o,
    input  tern_spec_pkg::ctx_simt_pending_t pend_record_i,
    input  logic [LANES*96-1:0] pend_operands_i,  // {cmp, data, addr}, a word for each lane
    // stream of lines
    output logic                out_valid_o,
    input  logic                out_ready_i,
    output tern_pkg::exec_line_t out_o
);

  localparam int DEPTH_LOG2 = 3;

  logic                is_local, is_pending, step;
  logic                at_valid_q, at_half_q, at_second_q, at_last_q, at_pend_end_q, local_last_q;
  simt_core_pkg::line_e at_kind_q;
  logic [3:0]          local_q;                 // local_q: lines of local memory that are still to come
  logic [DEPTH_LOG2:0] credit_q;
  logic [4:0]          at_rd_q;
  logic [1023:0]       masks, vector;
  logic [511:0]        line;
  logic                put, put_last, put_q, unused_ready;
  logic [512:0]        put_line_q;              // {last, line}

  always_comb begin
    is_local    = walk_i.kind == simt_core_pkg::LINE_LOCAL;
    is_pending  = walk_i.kind >= simt_core_pkg::LINE_PENDING;
    lmem_read_o = active_i && walk_i.valid && is_local && credit_q != '0;
    step        = active_i && walk_i.valid && credit_q != '0;
    if (is_local) step = step && lmem_ready_i;
    else if (local_q != 4'd0) step = 1'b0;
    // The next record is valid one cycle after the last line of the one before.
    if (is_pending && (!pend_valid_i || (at_valid_q && at_pend_end_q))) step = 1'b0;
    step_o       = step;
    pend_ready_o = at_valid_q && at_pend_end_q;
  end

  always_comb begin
    look_o.active = active_i;
    look_o.index  = '0;
    look_o.own    = step && walk_i.kind == simt_core_pkg::LINE_SCALARS;
    look_o.read   = step && (walk_i.kind == simt_core_pkg::LINE_SCALARS || walk_i.kind == simt_core_pkg::LINE_REG);
    look_o.warp   = walk_i.index;
    look_o.rd     = walk_i.rd;
    look_o.first  = at_rd_q;
  end

  always_ff @(posedge clk_i) begin
    at_valid_q <= step && !is_local && !rst_i;
    if (step) begin
      at_kind_q     <= walk_i.kind;
      at_half_q     <= walk_i.index[0];
      at_rd_q       <= walk_i.rd;
      at_second_q   <= walk_i.second;
      at_last_q     <= walk_i.last;
      at_pend_end_q <= walk_i.record_end;
      local_last_q  <= walk_i.last;
    end
    local_q  <= local_q + {3'd0, step && is_local} - {3'd0, lmem_valid_i && active_i};
    credit_q <= credit_q - {{DEPTH_LOG2{1'b0}}, step} + {{DEPTH_LOG2{1'b0}}, out_valid_o && out_ready_i};
    if (rst_i) begin
      local_q  <= '0;
      credit_q <= (DEPTH_LOG2+1)'(1 << DEPTH_LOG2);
    end
  end

  // Contents of the line.
  always_comb begin
    masks  = 1024'(masks_i);
    vector = '0;
    line   = '0;
    if (at_valid_q) begin
      case (at_kind_q)
        simt_core_pkg::LINE_LANES: vector = seen_i.lanes;
        simt_core_pkg::LINE_PCS:   vector = seen_i.pcs;
        simt_core_pkg::LINE_SCALARS: vector = seen_i.scalars;
        simt_core_pkg::LINE_REG:   vector = seen_i.regs;
        simt_core_pkg::LINE_ADDR:  vector = 1024'(pend_operands_i[0 +: LANES*32]);
        simt_core_pkg::LINE_DATA:  vector = 1024'(pend_operands_i[LANES*32 +: LANES*32]);
        default:                   vector = 1024'(pend_operands_i[LANES*64 +: LANES*32]);
      endcase
      case (at_kind_q)
        simt_core_pkg::LINE_HEAD:    line = head_i;
        simt_core_pkg::LINE_MASKS:   line = at_half_q ? masks[1023:512] : masks[511:0];
        simt_core_pkg::LINE_SLOT:    line = {256'd0, seen_i.slot};
        simt_core_pkg::LINE_PENDING: line = {256'd0, pend_record_i};
        default:                     line = at_second_q ? vector[1023:512] : vector[511:0];
      endcase
    end
    put      = at_valid_q || (active_i && lmem_valid_i);
    put_last = at_valid_q ? at_last_q : local_last_q && local_q == 4'd1;
  end

  always_ff @(posedge clk_i) begin
    put_q <= put && !rst_i;
    if (put) put_line_q <= {put_last, at_valid_q ? line : lmem_data_i};
  end

  mem_fifo #(
      .WIDTH(513),
      .DEPTH_LOG2(DEPTH_LOG2)
  ) u_queue (
      .clk_i,
      .rst_i,
      .in_valid_i(put_q),
      .in_ready_o(unused_ready),
      .in_data_i(put_line_q),
      .out_valid_o,
      .out_ready_i,
      .out_data_o(out_o)
  );

endmodule
