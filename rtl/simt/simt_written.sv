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
      .LANES(LANES),
      .WARPS(WARPS),
      .WIDTH(WIDTH)
  ) u_scalars (
      .clk_i,
      .clear_i,
      .clear_warp_i,
      .forget_i(put_masks_i),
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
      .look_warp_i,
      .look_first_i,
      .look_o(look_scalars),
      .given_o(given)
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
endmodule
