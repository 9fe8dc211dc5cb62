// SPDX-License-Identifier: Apache-2.0
// Tracks for each register of a warp whether it has been written since the warp's launch. If so, its value is in the
// lanes' RAMs; if not, in simt_scalars, which holds zero after a launch. Also tracks which written registers have the
// same value in all lanes.
//
// Contract: clear_i (launch) marks all registers of a warp as not written. write_i in cycle t marks one. first_o, in
// the same cycle: it was not marked; lanes that do not take part in the write are then written with first_value_o.
// full_i: all lanes take part, with data_i. read_i in cycle t gives has_o in t + 1, for d_warp_i, which f_warp_i named
// in t - 1; like the registers, has_o is held until the next read and reflects writes up to t - 1. Where has_o is 0,
// the operand is value_o.
// Save: while quiet_i is high (nothing runs, and live_i is settled), one warp a cycle is gathered, until ready_o. From
// then on masks_o has the registers of live warps that are saved as a vector each. look_vector_o, with look_i, has the
// values of the other registers, LANES of them from look_first_i on; look_ram_i is register look_first_i + lane of each
// lane. look_next_i names warp and first register a cycle before.
// Registers of a vector that is not in scalars_o are zero. A write begins the gathering anew. Restore: put_mask_i loads
// one warp's word of masks_o, for the walk over the lines, and clears all other state; put_scalars_i loads one vector;
// the other registers arrive as writes.
// State saved at preemption: mask_q, fresh_q, same_q, simt_scalars. masks_o and scalars_o follow from them.
//
// One bit a register replaces zeroing 32 registers at each launch, or all registers when the address space changes. No
// value of an earlier process can be read, and only written registers have to be saved. x0 reads zero because its bit
// is never set. The bits lie in LUT memory, a word a warp; flip-flops that are all shown at once would need a thousand
// enables, and a multiplexer of all warps for each reader.

module simt_written #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    parameter int WIDTH = 32,  // bits of a register; the proof has fewer
    localparam int WW = $clog2(WARPS),
    localparam int VECTORS = 32 / LANES     // vectors of scalars of a warp
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                clear_i,
    input  logic [WW-1:0]       clear_warp_i,
    input  logic                write_i,
    input  logic [WW+4:0]       rd_i,            // {warp, register}
    input  logic [WW+4:0]       run_rd_i,        // equals rd_i while the warp may have an instruction in F
    input  logic                full_i,
    input  logic [LANES*WIDTH-1:0] data_i,
    output logic                first_o,
    output logic [WIDTH-1:0]    first_value_o,
    input  logic [WW-1:0]       f_warp_i,
    input  logic [WW-1:0]       d_warp_i,
    input  logic                read_i,
    input  logic [4:0]          rs1_i,
    input  logic [4:0]          rs2_i,
    input  logic [4:0]          rs3_i,
    output logic [2:0]          has_o,           // rs3, rs2, rs1
    output logic [3*WIDTH-1:0]  value_o,
    // save and restore
    input  logic                quiet_i,
    input  logic [WARPS-1:0]    live_i,
    output logic                ready_o,
    output logic [WARPS*32-1:0] masks_o,
    output logic [WARPS*VECTORS-1:0] scalars_o,
    input  logic                look_i,
    input  logic [WW+4:0]       look_next_i,     // {warp, register}, with ready_o
    input  logic [WW-1:0]       look_warp_i,
    input  logic [4:0]          look_first_i,
    input  logic [LANES*WIDTH-1:0] look_ram_i,
    output logic [LANES*WIDTH-1:0] look_vector_o,
    input  logic                put_mask_i,
    input  logic [31:0]         put_word_i,
    input  logic                put_scalars_i,
    input  logic [WW-1:0]       put_warp_i,
    input  logic [4:0]          put_first_i,
    input  logic [LANES*WIDTH-1:0] put_vector_i
);

  (* ram_style = "distributed" *) logic [31:0] mask_q [0:WARPS-1];
  (* ram_style = "distributed" *) logic [31:0] same_q [0:WARPS-1];  // registers with the same value in all lanes
  logic [WARPS-1:0]    fresh_q;              // no register has been written: mask_q is not valid
  logic [31:0]         d_mask_q, f_mask, old, after, look_mask, look_same;
  logic [WW-1:0]       warp, after_warp, look_warp;
  logic [WW+4:0]       after_rd_q;
  logic                after_q, full_q, same;
  logic [WARPS*VECTORS-1:0] given;
  logic                look_given;
  logic [LANES*WIDTH-1:0] data_q, look_scalars;

  assign warp       = rd_i[WW+4:5];
  assign after_warp = after_rd_q[WW+4:5];
  assign old        = fresh_q[warp] ? '0 : mask_q[warp];
  assign first_o    = !old[rd_i[4:0]];

  always_comb begin
    f_mask = fresh_q[f_warp_i] ? '0 : mask_q[f_warp_i];
    if (write_i && run_rd_i[WW+4:5] == f_warp_i) f_mask[run_rd_i[4:0]] = 1'b1;
    after = same_q[after_warp];
    after[after_rd_q[4:0]] = same;
  end

  always_ff @(posedge clk_i) if (write_i) mask_q[warp] <= old | (32'd1 << rd_i[4:0]);
  always_ff @(posedge clk_i) if (after_q) same_q[after_warp] <= after;

  always_ff @(posedge clk_i) begin
    d_mask_q <= f_mask;
    if (read_i) has_o <= {d_mask_q[rs3_i], d_mask_q[rs2_i], d_mask_q[rs1_i]};
    if (write_i) fresh_q[warp] <= 1'b0;
    if (clear_i) fresh_q[clear_warp_i] <= 1'b1;
    if (put_mask_i) fresh_q <= '1;
  end

  // Comparison of the lanes, one cycle after the write.
  always_comb begin
    same = full_q;
    if (full_q) for (int i = 1; i < LANES; i++) if (data_q[WIDTH*i +: WIDTH] != data_q[WIDTH-1:0]) same = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    after_q    <= write_i;
    after_rd_q <= rd_i;
    full_q     <= write_i && full_i;
    if (write_i && full_i) data_q <= data_i;
  end

  simt_scalars #(
      .LANES(LANES),
      .WARPS(WARPS),
      .WIDTH(WIDTH)
  ) u_scalars (
      .clk_i,
      .clear_i,
      .clear_warp_i,
      .forget_i(put_mask_i),
      .put_i(put_scalars_i),
      .put_warp_i,
      .put_first_i,
      .put_vector_i,
      .read_i,
      .d_warp_i,
      .rs1_i,
      .rs2_i,
      .rs3_i,
      .value_o,
      .write_rd_i(rd_i),
      .write_value_o(first_value_o),
      .look_i,
      .look_warp_i,
      .look_first_i,
      .look_o(look_scalars),
      .look_given_o(look_given),
      .given_o(given)
  );

  // Gathering of what a save shows at once.
  logic [WW-1:0] at_q;
  logic          gather_q, word_valid;
  logic [WW-1:0] word_warp;
  logic [31:0]   word;

  assign look_warp  = ready_o ? look_next_i[WW+4:5] : at_q;
  assign look_mask  = fresh_q[look_warp] ? '0 : mask_q[look_warp];
  assign look_same  = same_q[look_warp];
  assign word_valid = put_mask_i || gather_q;
  assign word_warp  = put_mask_i ? put_warp_i : at_q;
  assign word       = put_mask_i ? put_word_i : live_i[at_q] ? look_mask & ~look_same : '0;

  always_ff @(posedge clk_i) begin
    gather_q <= quiet_i && !write_i && !after_q && !ready_o && !(gather_q && at_q == WW'(WARPS - 1));
    ready_o  <= quiet_i && !write_i && !after_q && (ready_o || (gather_q && at_q == WW'(WARPS - 1)));
    at_q     <= (gather_q && quiet_i && !write_i && !after_q) ? at_q + 1'b1 : '0;
    if (rst_i) begin
      gather_q <= 1'b0;
      ready_o  <= 1'b0;
    end
  end

  generate
    for (genvar w = 0; w < WARPS; w++) begin : g_warp
      always_ff @(posedge clk_i) if (word_valid && word_warp == WW'(w)) masks_o[32*w +: 32] <= word;
      for (genvar k = 0; k < VECTORS; k++) begin : g_vector
        always_ff @(posedge clk_i)
          if (gather_q && at_q == WW'(w))
            scalars_o[VECTORS*w+k] <= live_i[w]
              && ((given[VECTORS*w+k] && !(&look_mask[LANES*k +: LANES]))
                  || (look_mask[LANES*k +: LANES] & look_same[LANES*k +: LANES]) != '0);
      end
    end
  endgenerate

  logic [LANES-1:0] from_ram_q, from_scalars_q;

  always_ff @(posedge clk_i) begin
    from_ram_q     <= LANES'((look_mask & look_same) >> look_next_i[4:0]);
    from_scalars_q <= LANES'(~look_mask >> look_next_i[4:0]);
  end

  always_comb begin
    for (int i = 0; i < LANES; i++)
      look_vector_o[WIDTH*i +: WIDTH] = (look_scalars[WIDTH*i +: WIDTH] & {WIDTH{from_scalars_q[i] && look_given}})
                                        | (look_ram_i[WIDTH*i +: WIDTH] & {WIDTH{from_ram_q[i]}});
  end
endmodule
