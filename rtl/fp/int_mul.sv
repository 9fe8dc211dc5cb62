// SPDX-License-Identifier: Apache-2.0
// 32 x 32 bit multiplier of one lane: mul, mulh, mulhsu, mulhu.
//
// Contract: one multiplication may enter in every cycle, and nothing stalls it. result_o is valid exactly
// simt_op_pkg::MUL_LATENCY cycles after valid_i, for one cycle.
// State saved at preemption: none; the core drains the pipeline.
//
// The product is the sum of four partial products of at most 17 x 17 bits. Each of them takes one DSP slice with its
// own registers. With a single 33 x 33 product the synthesis tool would choose the partial products and add them in one
// long stage.

module int_mul (
    input  logic        clk_i,
    input  logic        valid_i,
    input  logic [1:0]  op_i,  // Operation, simt_op_pkg::MUL_*.
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic [31:0] result_o
);

  generate
    if (simt_op_pkg::MUL_LATENCY != 3) begin : g_latency
      $error("int_mul has three stages");
    end
  endgenerate

  // Stage 1: halves of the operands. The high half carries the sign of a signed operand; the low half is unsigned.
  logic        valid_1_q, low_1_q;
  logic [16:0] ah_q, bh_q;
  logic [15:0] al_q, bl_q;

  always_ff @(posedge clk_i) begin
    valid_1_q <= valid_i;
    if (valid_i) begin
      low_1_q <= op_i == simt_op_pkg::MUL_LOW;
      ah_q    <= {a_i[31] && op_i != simt_op_pkg::MUL_HU, a_i[31:16]};
      bh_q    <= {b_i[31] && !op_i[1], b_i[31:16]};
      al_q    <= a_i[15:0];
      bl_q    <= b_i[15:0];
    end
  end

  // Stage 2: partial products.
  logic               valid_2_q, low_2_q;
  logic signed [33:0] hl_q, lh_q;
  logic        [31:0] hh_q, ll_q;  // Exact: |hh| <= 2^30 signed or hh < 2^32 unsigned; ll < 2^32.

  always_ff @(posedge clk_i) begin
    valid_2_q <= valid_1_q;
    if (valid_1_q) begin
      low_2_q <= low_1_q;
      hh_q    <= 32'($signed(ah_q) * $signed(bh_q));
      hl_q    <= $signed(ah_q) * $signed({1'b0, bl_q});
      lh_q    <= $signed({1'b0, al_q}) * $signed(bh_q);
      ll_q    <= {16'b0, al_q} * {16'b0, bl_q};
    end
  end

  // Stage 3: sum. hh * 2^32 and ll do not overlap, so {hh, ll} is their sum. The two middle products are added at bit
  // 16.
  logic signed [34:0] middle;
  logic signed [63:0] product;

  always_ff @(posedge clk_i) begin
    if (valid_2_q) begin
      middle   = {hl_q[33], hl_q} + {lh_q[33], lh_q};
      product  = {hh_q, ll_q} + {{13{middle[34]}}, middle, 16'b0};
      result_o <= low_2_q ? product[31:0] : product[63:32];
    end
  end

endmodule
