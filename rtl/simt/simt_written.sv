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
// Save: masks_o, two cycles after the last write, has the registers that are saved as a vector each. look_vector_o has
// the values of the other registers, LANES of them from look_first_i on; look_ram_i is register look_first_i + lane of
// each lane. Registers of a vector that is not in scalars_o are zero. Restore: put_masks_i loads the words of one line
// of masks and clears all other state; put_scalars_i loads one vector.
// State saved at preemption: all of it.
//
// One bit a register replaces zeroing 32 registers at each launch, or all registers when the address space changes. No
// value of an earlier process can be read, and only written registers have to be saved. x0 reads zero because its bit
// is never set.

module simt_written #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    parameter int WIDTH = 32,  // bits of a register; the proof has fewer
    localparam int WW = $clog2(WARPS),
    localparam int VECTORS = 32 / LANES     // vectors of scalars of a warp
) (
    input  logic                clk_i,
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
    input  logic                put_masks_i,
    input  logic                put_second_i,    // the line of warps 16 to 31
    input  logic [511:0]        put_line_i,
    input  logic                put_scalars_i,
    input  logic [WW-1:0]       put_warp_i,
    input  logic [4:0]          put_first_i,
    input  logic [LANES*WIDTH-1:0] put_vector_i,
    output logic [WARPS*32-1:0] masks_o,
    output logic [WARPS*VECTORS-1:0] scalars_o,
    input  logic [WW-1:0]       look_warp_i,
    input  logic [4:0]          look_first_i,
    input  logic [LANES*WIDTH-1:0] look_ram_i,
    output logic [LANES*WIDTH-1:0] look_vector_o
);

  logic [31:0]         mask_q [0:WARPS-1];
  logic [31:0]         same_q [0:WARPS-1];    // registers in mask_q that have the same value in all lanes
  logic [31:0]         d_mask_q, f_mask, look_mask, look_same;
  logic [WW-1:0]       warp;
  logic [WW+4:0]       after_rd_q;
  logic                after_q, full_q, same;
  logic [WARPS*VECTORS-1:0] given;
  logic [LANES*WIDTH-1:0] data_q, look_scalars;

`ifdef FORMAL
  (* anyconst *) logic [WW-1:0] f_warp;
  (* anyconst *) logic [4:0]    f_reg;
  logic [WIDTH-1:0]             f_held;
`endif

  assign warp    = rd_i[WW+4:5];
  assign first_o = !mask_q[warp][rd_i[4:0]];

  always_comb begin
    f_mask = mask_q[f_warp_i];
    if (write_i && run_rd_i[WW+4:5] == f_warp_i) f_mask[run_rd_i[4:0]] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    d_mask_q <= f_mask;
    if (read_i) has_o <= {d_mask_q[rs3_i], d_mask_q[rs2_i], d_mask_q[rs1_i]};
    if (write_i) mask_q[warp][rd_i[4:0]] <= 1'b1;
    if (clear_i) mask_q[clear_warp_i] <= '0;
    if (put_masks_i)
      for (int w = 0; w < WARPS; w++)
        if (w / 16 == 32'(put_second_i)) mask_q[w] <= {put_line_i[32*(w % 16) + 1 +: 31], 1'b0};
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
    if (after_q) same_q[after_rd_q[WW+4:5]][after_rd_q[4:0]] <= same;
    if (put_masks_i) for (int w = 0; w < WARPS; w++) if (w / 16 == 32'(put_second_i)) same_q[w] <= '0;
  end

  simt_scalars #(
      .LANES(LANES), .WARPS(WARPS), .WIDTH(WIDTH)
  ) u_scalars (
      .clk_i, .clear_i, .clear_warp_i, .forget_i(put_masks_i), .put_i(put_scalars_i), .put_warp_i, .put_first_i,
      .put_vector_i, .read_i, .d_warp_i, .rs1_i, .rs2_i, .rs3_i, .value_o, .write_rd_i(rd_i),
      .write_value_o(first_value_o), .look_warp_i, .look_first_i, .look_o(look_scalars), .given_o(given)
`ifdef FORMAL
      , .f_rd_i({f_warp, f_reg}), .f_value_o(f_held)
`endif
  );

  always_comb begin
    look_mask     = mask_q[look_warp_i] >> look_first_i;
    look_same     = same_q[look_warp_i] >> look_first_i;
    look_vector_o = look_scalars;
    for (int i = 0; i < LANES; i++)
      if (look_mask[i]) look_vector_o[WIDTH*i +: WIDTH] = look_same[i] ? look_ram_i[WIDTH*i +: WIDTH] : '0;
  end

  generate
    for (genvar w = 0; w < WARPS; w++) begin : g_mask
      assign masks_o[32*w +: 32] = mask_q[w] & ~same_q[w];
      for (genvar k = 0; k < VECTORS; k++) begin : g_vector
        assign scalars_o[VECTORS*w+k] = (given[VECTORS*w+k] && !(&mask_q[w][LANES*k +: LANES]))
                                        || |(mask_q[w][LANES*k +: LANES] & same_q[w][LANES*k +: LANES]);
      end
    end
  endgenerate

`ifdef FORMAL
  // One register of one warp, and one lane whose memory starts with anything, all chosen by the prover: what an operand
  // reads is the last write in which the lane took part, or what came back, or zero if there was neither since the
  // warp's launch; and that is what is saved with the registers that hold one value in all lanes. Assumed of simt_core:
  // F is a cycle before D, x0 is not written, a warp is not launched while it has an instruction in F to R or a write
  // to come, and what comes back finds the pipeline empty; and of simt_lane that it writes its memory so.
  localparam int LW = $clog2(LANES);
  (* anyconst *) logic [LW-1:0] f_lane;
  (* anyseq *) logic [LANES-1:0] f_mask_in;
  logic [WIDTH-1:0] f_ram_q, f_zero_q, f_value_q, f_read_q, f_expect_q;      // f_zero_q: memory of lane 0
  logic [2:0]    f_asked_q = '0;
  logic          f_here, f_active, f_put, f_after, f_known_q = 1'b0, f_piped_q = 1'b0, f_begun_q = 1'b0;

  assign f_here   = write_i && rd_i == {f_warp, f_reg};
  assign f_active = f_mask_in[f_lane];
  assign f_put    = put_scalars_i && put_warp_i == f_warp && put_first_i == {f_reg[4:LW], LW'(0)};
  assign f_after  = after_q && after_rd_q == {f_warp, f_reg};

  always_ff @(posedge clk_i) begin
    // a write that comes back finds nothing in F
    f_piped_q <= f_known_q && !put_masks_i && !f_put && !(write_i && run_rd_i != rd_i);
    if (f_here && (f_active || first_o)) f_ram_q <= f_active ? data_i[WIDTH*f_lane +: WIDTH] : first_value_o;
    if (f_here && (f_mask_in[0] || first_o)) f_zero_q <= f_mask_in[0] ? data_i[WIDTH-1:0] : first_value_o;
    if (f_here && f_active) begin
      f_value_q <= data_i[WIDTH*f_lane +: WIDTH];
      f_known_q <= f_begun_q;
    end
    if (read_i) begin
      f_read_q   <= f_ram_q;
      f_expect_q <= f_value_q;
      f_asked_q  <= {3{f_piped_q && d_warp_i == f_warp}} & {rs3_i == f_reg, rs2_i == f_reg, rs1_i == f_reg};
    end
    if (clear_i && clear_warp_i == f_warp) begin
      f_known_q <= 1'b1;
      f_value_q <= '0;
      f_asked_q <= '0;
    end
    if (put_masks_i || (clear_i && clear_warp_i == f_warp)) f_begun_q <= 1'b1;
    if (put_masks_i) begin
      f_known_q <= f_reg == 5'd0 || !put_line_i[32*f_warp + f_reg];
      f_value_q <= '0;
      f_asked_q <= '0;
    end
    if (f_put) begin
      f_known_q <= f_begun_q && !mask_q[f_warp][f_reg];
      f_value_q <= (f_reg == 5'd0) ? '0 : put_vector_i[WIDTH*f_reg[LW-1:0] +: WIDTH];
      f_asked_q <= '0;
    end
  end

  logic [WW-1:0] f_d_warp_q;
  always_ff @(posedge clk_i) f_d_warp_q <= f_warp_i;

  always_comb begin
    assume (d_warp_i == f_d_warp_q);
    assume (!write_i || rd_i[4:0] != 5'd0);
    assume (full_i == &f_mask_in);
    assume (!clear_i || (clear_warp_i != f_warp_i && clear_warp_i != d_warp_i && !(write_i && warp == clear_warp_i)));
    assume (!(put_masks_i || put_scalars_i) || !(write_i || clear_i || read_i));
    assume (!(put_masks_i && (put_scalars_i || put_second_i)));   // of few warps
    assume (!put_scalars_i || put_first_i[LW-1:0] == '0);
    assume (f_lane != f_reg[LW-1:0] || look_ram_i[WIDTH*f_lane +: WIDTH] == f_ram_q);
    for (int k = 0; k < 3; k++)
      if (f_asked_q[k]) assert ((has_o[k] ? f_read_q : value_o[WIDTH*k +: WIDTH]) == f_expect_q);
    if (f_known_q && !f_after && f_lane == f_reg[LW-1:0] && look_warp_i == f_warp &&
        look_first_i == {f_reg[4:LW], LW'(0)}
        && !masks_o[32*f_warp + f_reg])
      assert ((scalars_o[VECTORS*f_warp + f_reg / LANES] ? look_vector_o[WIDTH*f_lane +: WIDTH] : '0) == f_value_q);
    // all lanes are told to be equal only when they are
    if (f_begun_q && mask_q[f_warp][f_reg] && same_q[f_warp][f_reg] && !f_after) assert (f_ram_q == f_zero_q);
    // induction
    if (f_begun_q && f_after && full_q)
      assert (f_ram_q == data_q[WIDTH*f_lane +: WIDTH] && f_zero_q == data_q[WIDTH-1:0]);
    if (f_begun_q && f_after) assert (mask_q[f_warp][f_reg]);
    if (f_known_q) assert ((mask_q[f_warp][f_reg] ? f_ram_q : f_held) == f_value_q);
    if (f_piped_q && f_d_warp_q == f_warp) assert (f_known_q && d_mask_q[f_reg] == mask_q[f_warp][f_reg]);
    if (f_known_q) assert (f_begun_q);
    if (f_known_q && f_reg == 5'd0) assert (f_value_q == '0);
    if (f_asked_q != '0) assert (f_known_q);
  end
`endif

endmodule
