// SPDX-License-Identifier: Apache-2.0
// Which registers of each warp have been written since its launch; all others read zero, whatever their memory holds.
//
// Contract: clear_i forgets the warp that is launched. write_i in cycle t marks a register, first_o says in the same cycle that
// it was not marked: then the lanes that take no part are written zero. has_o answers read_i of cycle t in t + 1, held like
// the registers themselves, and of the warp that f_warp_i named in t - 1; like them it sees the writes up to t - 1.
// put_i loads the words of one line of docs/spec/context.yaml.
// State saved at preemption: all of it (masks_o).
//
// A bit a register instead of clearing 32 registers at each launch, or all of them when the address space changes: nothing
// of an earlier process can be read, and only what was written need be saved. x0 reads zero because its bit is never set.

module simt_written #(
    parameter int WARPS = 16,
    localparam int WW = $clog2(WARPS)
) (
    input  logic                clk_i,
    input  logic                clear_i,
    input  logic [WW-1:0]       clear_warp_i,
    input  logic                write_i,
    input  logic [WW+4:0]       rd_i,          // {warp, register}
    output logic                first_o,
    input  logic [WW-1:0]       f_warp_i,
    input  logic                read_i,
    input  logic [4:0]          rs1_i,
    input  logic [4:0]          rs2_i,
    input  logic [4:0]          rs3_i,
    output logic [2:0]          has_o,         // rs3, rs2, rs1
    input  logic                put_i,
    input  logic                put_second_i,  // warps 16 to 31
    input  logic [511:0]        put_line_i,
    output logic [WARPS*32-1:0] masks_o
);

  logic [31:0]   mask_q [0:WARPS-1];
  logic [31:0]   d_mask_q, f_mask;
  logic [WW-1:0] warp;

  assign warp    = rd_i[WW+4:5];
  assign first_o = !mask_q[warp][rd_i[4:0]];

  always_comb begin
    f_mask = mask_q[f_warp_i];
    if (write_i && warp == f_warp_i) f_mask[rd_i[4:0]] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    d_mask_q <= f_mask;
    if (read_i) has_o <= {d_mask_q[rs3_i], d_mask_q[rs2_i], d_mask_q[rs1_i]};
    if (write_i) mask_q[warp][rd_i[4:0]] <= 1'b1;
    if (clear_i) mask_q[clear_warp_i] <= '0;
    if (put_i)
      for (int w = 0; w < WARPS; w++)
        if (w / 16 == 32'(put_second_i)) mask_q[w] <= put_line_i[32*(w % 16) +: 32];
  end

  generate
    for (genvar w = 0; w < WARPS; w++) begin : g_mask
      assign masks_o[32*w +: 32] = mask_q[w];
    end
  endgenerate

`ifdef FORMAL
  // One register of one warp, chosen by the prover, in one lane whose memory starts with anything: what an operand reads is
  // the last write in which the lane took part, or zero if there was none since the warp's launch. Assumed of simt_core: F is
  // a cycle before D, x0 is not written, a warp is not launched while it has an instruction in F to R or a write to come; and of
  // simt_lane that it writes its memory so.
  (* anyconst *) logic [WW-1:0] f_warp;
  (* anyconst *) logic [4:0] f_reg;
  (* anyseq *) logic f_active;
  (* anyseq *) logic [3:0] f_data;
  logic [3:0]    f_ram_q, f_value_q, f_read_q, f_expect_q;
  logic [WW-1:0] f_d_warp_q;
  logic [2:0]    f_asked_q = '0;
  logic          f_here, f_known_q = 1'b0, f_piped_q = 1'b0;

  assign f_here = write_i && rd_i == {f_warp, f_reg};

  always_ff @(posedge clk_i) begin
    f_d_warp_q <= f_warp_i;
    f_piped_q  <= f_known_q;
    if (f_here && (f_active || first_o)) f_ram_q <= f_active ? f_data : '0;
    if (f_here && f_active) f_value_q <= f_data;
    if (read_i) begin
      f_read_q   <= f_ram_q;
      f_expect_q <= f_value_q;
      f_asked_q  <= {3{f_piped_q && f_d_warp_q == f_warp}} & {rs3_i == f_reg, rs2_i == f_reg, rs1_i == f_reg};
    end
    if (clear_i && clear_warp_i == f_warp) begin
      f_known_q <= 1'b1;
      f_value_q <= '0;
      f_asked_q <= '0;
    end
  end

  always_comb begin
    assume (!write_i || rd_i[4:0] != 5'd0);
    assume (!clear_i || (clear_warp_i != f_warp_i && clear_warp_i != f_d_warp_q && !(write_i && warp == clear_warp_i)));
    assume (!put_i);                        // from a start, not a resume
    for (int k = 0; k < 3; k++) if (f_asked_q[k]) assert ((has_o[k] ? f_read_q : 4'd0) == f_expect_q);
    // induction
    if (f_known_q) assert ((mask_q[f_warp][f_reg] ? f_ram_q : 4'd0) == f_value_q);
    if (f_piped_q && f_d_warp_q == f_warp) assert (f_known_q && d_mask_q[f_reg] == mask_q[f_warp][f_reg]);
    if (f_known_q && f_reg == 5'd0) assert (f_value_q == 4'd0);
    if (f_asked_q != '0) assert (f_known_q);
  end
`endif

endmodule
