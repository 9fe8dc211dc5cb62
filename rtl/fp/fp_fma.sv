// SPDX-License-Identifier: Apache-2.0
// Fused multiply-add of one lane, binary32: result = (-1)^neg_prod a * b + (-1)^neg_add c, rounded once.
//
// Contract: IEEE 754 with subnormals, the five RISC-V rounding modes and the RISC-V flags. Tininess is detected after
// rounding. Every NaN result is the canonical NaN. One operation may enter in every cycle, and nothing stalls it.
// result_o and flags_o are valid exactly simt_op_pkg::FMA_LATENCY cycles after valid_i, for one cycle.
// State saved at preemption: none; the core drains the pipeline.
//
// The terms are added in a window of 77 bits and a sticky bit. The product has a fixed position in the window. The
// addend is placed at the top and shifted right by the difference of the exponents. If the addend is too large for that
// window, its exponent becomes that of the top. The product is then so far below the addend that only its sign, and
// whether it is zero, affect the result. One window is more logic than separate near and far paths, but half as many
// cases to verify.
// Each stage is one clocked block behind the valid bit of the stage before it, so that idle stages cost nothing in
// simulation.

module fp_fma (
    input  logic        clk_i,
    input  logic        valid_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    input  logic [31:0] c_i,
    input  logic        neg_prod_i,  // Negates the product.
    input  logic        neg_add_i,   // Negates the addend.
    input  logic [2:0]  rm_i,        // Rounding mode, simt_op_pkg::RM_*.
    output logic [31:0] result_o,
    output logic [4:0]  flags_o  // {NV, DZ, OF, UF, NX}.
);

  generate
    if (simt_op_pkg::FMA_LATENCY != 7) begin : g_latency
      $error("fp_fma has seven stages");
    end
  endgenerate

  logic [6:1] valid_q;

  always_ff @(posedge clk_i) valid_q <= {valid_q[5:1], valid_i};

  // Stage 1: unpack. top is the biased exponent of the first bit of the window, as the product defines it. distance is
  // the number of bits by which the addend is shifted right from the top.
  logic [23:0]        ma_1_q, mb_1_q, mc_1_q;
  logic [7:0]         ec_1_q;
  logic signed [10:0] distance_1_q;
  logic [9:0]         top_1_q;
  logic               sp_1_q, sc_1_q, nan_1_q, nv_1_q, inf_p_1_q, inf_c_1_q, zero_1_q;
  logic [2:0]         rm_1_q;

  logic               a_max, b_max, c_max, a_frac, b_frac, c_frac, a_nan, b_nan, c_nan, a_inf, b_inf, c_inf;
  logic               a_zero, b_zero, c_zero, sp, sc, zero_inf, inf_inf;
  logic [7:0]         ea, eb, ec;
  logic signed [10:0] top;

  always_ff @(posedge clk_i)
    if (valid_i) begin
      ea     = (a_i[30:23] == 8'd0) ? 8'd1 : a_i[30:23];
      eb     = (b_i[30:23] == 8'd0) ? 8'd1 : b_i[30:23];
      ec     = (c_i[30:23] == 8'd0) ? 8'd1 : c_i[30:23];
      a_max  = &a_i[30:23];
      b_max  = &b_i[30:23];
      c_max  = &c_i[30:23];
      a_frac = |a_i[22:0];
      b_frac = |b_i[22:0];
      c_frac = |c_i[22:0];
      a_nan  = a_max && a_frac;
      b_nan  = b_max && b_frac;
      c_nan  = c_max && c_frac;
      a_inf  = a_max && !a_frac;
      b_inf  = b_max && !b_frac;
      c_inf  = c_max && !c_frac;
      a_zero = a_i[30:0] == 31'd0;
      b_zero = b_i[30:0] == 31'd0;
      c_zero = c_i[30:0] == 31'd0;
      sp     = a_i[31] ^ b_i[31] ^ neg_prod_i;
      sc     = c_i[31] ^ neg_add_i;
      zero_inf = (a_inf && b_zero) || (b_inf && a_zero);
      inf_inf  = (a_inf || b_inf) && c_inf && (sp ^ sc) && !a_nan && !b_nan;
      top      = $signed({3'b0, ea}) + $signed({3'b0, eb}) - 11'sd100;

      ma_1_q       <= {a_i[30:23] != 8'd0, a_i[22:0]};
      mb_1_q       <= {b_i[30:23] != 8'd0, b_i[22:0]};
      mc_1_q       <= {c_i[30:23] != 8'd0, c_i[22:0]};
      ec_1_q       <= ec;
      top_1_q      <= top[9:0];
      distance_1_q <= (a_zero || b_zero) ? -11'sd1 : top - $signed({3'b0, ec});
      sp_1_q       <= sp;
      sc_1_q       <= sc;
      nan_1_q      <= a_nan || b_nan || c_nan || zero_inf || inf_inf;
      nv_1_q       <= (a_nan && !a_i[22]) || (b_nan && !b_i[22]) || (c_nan && !c_i[22]) || zero_inf || inf_inf;
      inf_p_1_q    <= a_inf || b_inf;
      inf_c_1_q    <= c_inf;
      zero_1_q     <= (a_zero || b_zero) && c_zero;
      rm_1_q       <= rm_i;
    end

  // Stage 2: multiply in two partial products, each of which takes one DSP slice. Limit the distance to the window.
  logic [40:0] product_low_q;
  logic [30:0] product_high_q;
  logic [23:0] mc_2_q;
  logic [6:0]  distance_2_q;
  logic [4:0]  lost_2_q;  // Addend bits below the window; 24 stands for all of them.
  logic [9:0]  top_2_q;
  logic        sp_2_q, sc_2_q, nan_2_q, nv_2_q, inf_p_2_q, inf_c_2_q, zero_2_q;
  logic [2:0]  rm_2_q;

  always_ff @(posedge clk_i)
    if (valid_q[1]) begin
      product_low_q  <= {17'b0, ma_1_q} * {24'b0, mb_1_q[16:0]};
      product_high_q <= {7'b0, ma_1_q} * {24'b0, mb_1_q[23:17]};
      mc_2_q         <= mc_1_q;
      distance_2_q   <= distance_1_q[10] ? 7'd0 : (distance_1_q > 11'sd79) ? 7'd79 : distance_1_q[6:0];
      lost_2_q       <= (distance_1_q[10] || distance_1_q <= 11'sd53) ? 5'd0
                        : (distance_1_q > 11'sd77) ? 5'd24 : 5'(distance_1_q[6:0] - 7'd53);
      top_2_q        <= distance_1_q[10] ? {2'b0, ec_1_q} : top_1_q;
      {sp_2_q, sc_2_q, nan_2_q, nv_2_q} <= {sp_1_q, sc_1_q, nan_1_q, nv_1_q};
      {inf_p_2_q, inf_c_2_q, zero_2_q, rm_2_q} <= {inf_p_1_q, inf_c_1_q, zero_1_q, rm_1_q};
    end

  // Stage 3: add the partial products and align the addend. sticky is the OR of the addend bits that are shifted out.
  logic [47:0] product_3_q;
  logic [76:0] addend_3_q;
  logic        sticky_3_q;
  logic [9:0]  top_3_q;
  logic        sp_3_q, sc_3_q, nan_3_q, nv_3_q, inf_p_3_q, inf_c_3_q, zero_3_q;
  logic [2:0]  rm_3_q;

  logic [23:0] lost_mask;

  always_ff @(posedge clk_i)
    if (valid_q[2]) begin
      lost_mask   = ~(24'hff_ffff << lost_2_q);
      product_3_q <= {product_high_q, 17'b0} + {7'b0, product_low_q};
      addend_3_q  <= {mc_2_q, 53'b0} >> distance_2_q;
      sticky_3_q  <= |(mc_2_q & lost_mask);
      top_3_q     <= top_2_q;
      {sp_3_q, sc_3_q, nan_3_q, nv_3_q} <= {sp_2_q, sc_2_q, nan_2_q, nv_2_q};
      {inf_p_3_q, inf_c_3_q, zero_3_q, rm_3_q} <= {inf_p_2_q, inf_c_2_q, zero_2_q, rm_2_q};
    end

  // Stage 4: add. A subtraction takes the smaller term from the larger one. Where the addend is larger, the sum is the
  // complement of the result, product + ~addend = ~(addend - product), and stage 5 inverts it. Stages 5 and 6 shift the
  // result left until its first one is at the top, but not by more than limit, beyond which the exponent would be below
  // the smallest one.
  logic [77:0] sum_4_q;
  logic [6:0]  limit_4_q;
  logic [9:0]  top_4_q;
  logic        sign_4_q, invert_4_q, cancel_4_q, nan_4_q, nv_4_q, inf_4_q;
  logic [2:0]  rm_4_q;

  logic        subtract, negative;
  logic [77:0] product, addend;
  logic [9:0]  limit;

  always_ff @(posedge clk_i)
    if (valid_q[3]) begin
      subtract   = sp_3_q ^ sc_3_q;
      product    = {26'b0, product_3_q, 4'b0};
      addend     = {addend_3_q, sticky_3_q};
      negative   = subtract && (addend[77:52] != 26'b0 || addend[51:0] > product[51:0]);
      sum_4_q    <= product + (addend ^ {78{subtract}}) + {77'b0, subtract && !negative};
      invert_4_q <= negative;
      limit      = top_3_q - 10'd1;
      limit_4_q  <= limit[6:0] | {7{limit[9:7] != 3'd0}};
      // Stage 5 decides the sign of an exact zero (cancel), unless both terms were zero already.
      sign_4_q   <= inf_p_3_q ? sp_3_q
                  : inf_c_3_q ? sc_3_q
                  : zero_3_q  ? (subtract ? rm_3_q == simt_op_pkg::RM_RDN : sp_3_q)
                  : negative  ? sc_3_q : sp_3_q;
      cancel_4_q <= subtract && !zero_3_q && !inf_p_3_q && !inf_c_3_q;
      top_4_q    <= top_3_q;
      inf_4_q    <= inf_p_3_q || inf_c_3_q;
      {nan_4_q, nv_4_q, rm_4_q} <= {nan_3_q, nv_3_q, rm_3_q};
    end

  // Stage 5: shift left by whole blocks of 16 bits, up to the block of the first one or of the limit, and find the
  // shift within this block. Stage 6 needs the upper 41 bits, and whether one of the others is set.
  logic [40:0] sum_5_q;
  logic [3:0]  shift_5_q;
  logic [9:0]  exponent_5_q;
  logic        sticky_5_q, sign_5_q, nan_5_q, nv_5_q, inf_5_q, zero_5_q;
  logic [2:0]  rm_5_q;

  logic [79:0] raw, x;
  logic [40:0] moved;
  logic [19:0] zeros;
  logic [3:0]  first;
  logic [2:0]  block;
  logic        fill, sticky;

  always_ff @(posedge clk_i)
    if (valid_q[4]) begin
      fill   = invert_4_q;
      raw    = {sum_4_q, {2{fill}}};
      x      = raw ^ {80{fill}};
      for (int i = 0; i < 5; i++) zeros[4*i +: 4] = simt_op_pkg::zeros16(x[16*i +: 16]);
      block  = (x[79:64] != 16'd0 || limit_4_q[6:4] == 3'd0) ? 3'd0
             : (x[63:48] != 16'd0 || limit_4_q[6:4] == 3'd1) ? 3'd1
             : (x[47:32] != 16'd0 || limit_4_q[6:4] == 3'd2) ? 3'd2
             : (x[31:16] != 16'd0 || limit_4_q[6:4] == 3'd3) ? 3'd3 : 3'd4;
      case (block)
        3'd0:    {moved, first, sticky} = {raw[79:39], zeros[19:16], x[38:0] != 39'd0};
        3'd1:    {moved, first, sticky} = {raw[63:23], zeros[15:12], x[22:0] != 23'd0};
        3'd2:    {moved, first, sticky} = {raw[47:7], zeros[11:8], x[6:0] != 7'd0};
        3'd3:    {moved, first, sticky} = {raw[31:0], {9{fill}}, zeros[7:4], 1'b0};
        default: {moved, first, sticky} = {raw[15:0], {25{fill}}, zeros[3:0], 1'b0};
      endcase
      sticky_5_q   <= sticky;
      sum_5_q      <= moved ^ {41{fill}};
      shift_5_q    <= (limit_4_q[6:4] == block && limit_4_q[3:0] < first) ? limit_4_q[3:0] : first;
      exponent_5_q <= top_4_q - {3'b0, block, 4'b0};
      zero_5_q     <= sum_4_q == 78'b0;
      sign_5_q     <= (sum_4_q == 78'b0 && cancel_4_q) ? rm_4_q == simt_op_pkg::RM_RDN : sign_4_q;
      {nan_5_q, nv_5_q, inf_5_q, rm_5_q} <= {nan_4_q, nv_4_q, inf_4_q, rm_4_q};
    end

  // Stage 6: shift left by the remaining bits and decide the rounding. The decision is made a second time as if the
  // exponent had no lower bound. This tells whether a subnormal result is tiny after rounding.
  logic [22:0] fraction_6_q;
  logic [9:0]  exponent_6_q;
  logic        up_6_q, inexact_6_q, tiny_6_q, to_inf_6_q, sign_6_q, nan_6_q, nv_6_q, inf_6_q, zero_6_q;

  logic [28:0] part;
  logic [25:0] n;  // significand, guard, and the bit behind the guard
  logic        guard, rest, away, nearest_even, nearest_max, up_unbounded;

  always_ff @(posedge clk_i)
    if (valid_q[5]) begin
      case (shift_5_q[3:2])
        2'd0: part = sum_5_q[40:12];
        2'd1: part = sum_5_q[36:8];
        2'd2: part = sum_5_q[32:4];
        2'd3: part = sum_5_q[28:0];
      endcase
      case (shift_5_q[1:0])
        2'd0: n = part[28:3];
        2'd1: n = part[27:2];
        2'd2: n = part[26:1];
        2'd3: n = part[25:0];
      endcase
      guard        = n[1];
      rest         = sticky_5_q || (sum_5_q[14:0] & (15'h7fff >> shift_5_q)) != 15'd0;
      nearest_even = rm_5_q == simt_op_pkg::RM_RNE;
      nearest_max  = rm_5_q == simt_op_pkg::RM_RMM;
      away         = (rm_5_q == simt_op_pkg::RM_RUP && !sign_5_q) || (rm_5_q == simt_op_pkg::RM_RDN && sign_5_q);
      up_6_q       <= (nearest_even && guard && (n[0] || rest || n[2])) || (nearest_max && guard)
                      || (away && (guard || n[0] || rest));
      up_unbounded = (nearest_even && n[0] && (rest || guard)) || (nearest_max && n[0]) || (away && (n[0] || rest));
      fraction_6_q    <= n[24:2];
      exponent_6_q    <= n[25] ? exponent_5_q - {6'b0, shift_5_q} : 10'd0;
      inexact_6_q     <= guard || n[0] || rest;
      tiny_6_q        <= !n[25] && !((&n[24:1]) && up_unbounded);
      to_inf_6_q      <= nearest_even || nearest_max || away;
      {sign_6_q, nan_6_q, nv_6_q, inf_6_q, zero_6_q} <= {sign_5_q, nan_5_q, nv_5_q, inf_5_q, zero_5_q};
    end

  // Stage 7: round. A carry out of the significand increments the exponent.
  logic [32:0] rounded;

  always_ff @(posedge clk_i)
    if (valid_q[6]) begin
      rounded = {exponent_6_q, fraction_6_q} + {32'b0, up_6_q};
      if (nan_6_q) begin
        result_o <= 32'h7fc0_0000;
        flags_o  <= {nv_6_q, 4'b0};
      end else if (inf_6_q) begin
        result_o <= {sign_6_q, 8'hff, 23'b0};
        flags_o  <= 5'b0;
      end else if (zero_6_q) begin
        result_o <= {sign_6_q, 31'b0};
        flags_o  <= 5'b0;
      end else if (rounded[32:23] >= 10'd255) begin
        result_o <= to_inf_6_q ? {sign_6_q, 8'hff, 23'b0} : {sign_6_q, 8'hfe, 23'h7f_ffff};
        flags_o  <= 5'b00101;
      end else begin
        result_o <= {sign_6_q, rounded[30:0]};
        flags_o  <= {3'b0, tiny_6_q && inexact_6_q, inexact_6_q};
      end
    end

endmodule
