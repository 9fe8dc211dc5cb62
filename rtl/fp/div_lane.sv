// SPDX-License-Identifier: Apache-2.0
// Datapath of one divider of div_unit: integer division and remainder, binary32 division and square root.
//
// Contract: the datapath has three stations with registers of their own, so up to three pairs of operands are in it.
// div_unit pulses the phases of a pair in this order, one cycle each:
//   unpack        a_i, b_i and rm_i are sampled
//   count         from this cycle on span_o is valid; the next phase waits until no earlier pair is stepping
//   align         skip_i is sampled
//   step          13 times for floats, 16 - skip_i times for integers
//   normalise     the align of the next pair may come in the same cycle
//   round         data_o and flags_o are valid in the next cycle
// float_i, sqrt_i, signed_i and rem_i select the operation, which is the same for all pairs in the datapath. mask_i
// starts at bit 25 for a square root and is zero otherwise. skip_i is the number of steps that an integer division
// skips, two digits each: the upper 2 * skip_i bits of span_o must be zero.
// State saved at preemption: none; the core drains the datapath.
//
// One restoring subtractor serves all operations and is used twice a cycle. For each digit it shifts a bit of q into r,
// subtracts d | mask from r if r is not less, and shifts the digit into q. In a division d is the divisor and mask is
// 0. In a square root, d = 2 * root so far, mask is the digit in question (both with 25 bits of fraction), and r =
// (radicand - root^2) << digits. Digit selection by table (SRT) would halve the cycles for twice the logic.

module div_lane (
    input  logic        clk_i,
    input  logic        unpack_i,
    input  logic        count_i,
    input  logic        align_i,
    input  logic        step_i,
    input  logic        normalise_i,
    input  logic        round_i,
    input  logic        float_i,
    input  logic        sqrt_i,
    input  logic        signed_i,
    input  logic        rem_i,
    input  logic [25:0] mask_i,  // Square root: one-hot position of the first digit of this step.
    input  logic [3:0]  skip_i,  // Integers, with align_i: steps that are skipped.
    input  logic [2:0]  rm_i,    // Rounding mode, simt_op_pkg::RM_*.
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic [31:0] span_o,  // Integers: absolute value of the dividend; for a divisor of 0 bit 31 is set.
    output logic [31:0] data_o,
    output logic [4:0]  flags_o  // {NV, DZ, OF, UF, NX}.
);

  localparam logic [1:0] NUMBER = 2'd0, NAN = 2'd1, INFINITY = 2'd2, ZERO = 2'd3;

  // Counts the leading zeros of a significand, which is not zero and starts at bit 31 or below.
  function automatic logic [4:0] leading_zeros(input logic [31:0] value);
    leading_zeros = (value[31:16] != 16'd0) ? {1'b0, simt_op_pkg::zeros16(value[31:16])}
                                            : {1'b1, simt_op_pkg::zeros16(value[15:0])};
  endfunction

  // ------------------------------------------------------------------------------------ unpack, count
  // Integers: absolute values and the sign of the result. The quotient of a division by zero is -1, whatever the signs.
  // Floats: special operands, and the significands with the hidden bit at the top.
  logic               negative_1_q;
  logic [1:0]         kind_1_q;
  logic [4:0]         flags_1_q, zeros_a_q, zeros_b_q;
  logic [2:0]         rm_1_q;
  logic [31:0]        a_q, b_q;
  logic signed [10:0] exponent_1_q;

  logic a_nan, b_nan, a_inf, b_inf, a_zero, b_zero, signaling, invalid;

  always_ff @(posedge clk_i) begin
    if (unpack_i) begin
      kind_1_q  <= NUMBER;
      flags_1_q <= 5'b0;
      rm_1_q    <= rm_i;
      if (!float_i) begin
        negative_1_q <= signed_i && (rem_i ? a_i[31] : (a_i[31] ^ b_i[31]) && b_i != 32'd0);
        a_q <= (a_i ^ {32{signed_i && a_i[31]}}) + {31'b0, signed_i && a_i[31]};
        b_q <= (b_i ^ {32{signed_i && b_i[31]}}) + {31'b0, signed_i && b_i[31]};
      end else begin
        a_nan     = a_i[30:0] > 31'h7f80_0000;
        a_inf     = a_i[30:0] == 31'h7f80_0000;
        a_zero    = a_i[30:0] == 31'd0;
        b_nan     = !sqrt_i && b_i[30:0] > 31'h7f80_0000;
        b_inf     = !sqrt_i && b_i[30:0] == 31'h7f80_0000;
        b_zero    = !sqrt_i && b_i[30:0] == 31'd0;
        signaling = (a_nan && !a_i[22]) || (b_nan && !b_i[22]);
        invalid   = sqrt_i ? a_i[31] && !a_nan && !a_zero : (a_inf && b_inf) || (a_zero && b_zero);
        negative_1_q <= a_i[31] ^ (b_i[31] && !sqrt_i);
        flags_1_q    <= {signaling || (invalid && !b_nan), b_zero && !a_nan && !a_inf && !a_zero, 3'b0};
        if (a_nan || b_nan || invalid) kind_1_q <= NAN;
        else if (a_inf || b_zero) kind_1_q <= INFINITY;
        else if (a_zero || b_inf) kind_1_q <= ZERO;
        // The exponent is biased by 127 once for a quotient, and twice for a square root, which align halves.
        exponent_1_q <= $signed({3'b0, a_i[30:24], a_i[23] || a_i[30:23] == 8'd0}) + 11'sd127
                        - (sqrt_i ? 11'sd0 : $signed({3'b0, b_i[30:24], b_i[23] || b_i[30:23] == 8'd0}));
        a_q <= {a_i[30:23] != 8'd0, a_i[22:0], 8'b0};
        b_q <= {b_i[30:23] != 8'd0 || sqrt_i, b_i[22:0], 8'b0};
      end
    end

    if (count_i && float_i) begin
      zeros_a_q <= leading_zeros(a_q);
      zeros_b_q <= leading_zeros(b_q);
    end
  end

  assign span_o = {a_q[31] || b_q == 32'd0, a_q[30:0]};

  // ------------------------------------------------------------------------------------- align, step
  logic               negative_2_q;
  logic [1:0]         kind_2_q;
  logic [4:0]         flags_2_q;
  logic [2:0]         rm_2_q;
  logic [31:0]        q_q, d_q, r_q;
  logic signed [10:0] exponent_2_q;

  logic signed [10:0] exponent;
  logic [31:0]        moved_a, r, q, d, difference;
  logic [23:0]        ma, mb;
  logic [32:0]        minuend;
  logic [25:0]        mask;
  logic               smaller;

  always_ff @(posedge clk_i) begin
    if (align_i) begin
      {negative_2_q, kind_2_q, flags_2_q, rm_2_q} <= {negative_1_q, kind_1_q, flags_1_q, rm_1_q};
      moved_a  = a_q << (float_i ? zeros_a_q : {skip_i, 1'b0});
      ma       = moved_a[31:8];
      mb       = 24'((b_q >> 8) << zeros_b_q);
      exponent = exponent_1_q - $signed({6'b0, zeros_a_q}) + $signed({6'b0, zeros_b_q});
      exponent_2_q <= sqrt_i ? exponent >>> 1 : exponent;
      if (!float_i) begin
        r_q <= 32'd0;
        q_q <= moved_a;
        d_q <= b_q;
      end else if (sqrt_i) begin
        r_q <= exponent[0] ? {6'b0, ma, 2'b0} : {7'b0, ma, 1'b0};
        q_q <= 32'd0;
        d_q <= 32'd0;
      end else begin
        r_q <= {9'b0, ma[23:1]};
        q_q <= {ma[0], 31'b0};
        d_q <= {8'b0, mb};
      end
    end

    if (step_i) begin
      r = r_q;
      q = q_q;
      d = d_q;
      mask = mask_i;
      for (int i = 0; i < 2; i++) begin
        minuend = {r, q[31]};
        // Bit 32 of the difference is the borrow. Either r < d, so the difference is below 2^32, or d is 0 and the
        // minuend has 32 bits at most.
        {smaller, difference} = minuend - {1'b0, d | {6'b0, mask}};
        r = smaller ? minuend[31:0] : difference;
        q = {q[30:0], !smaller};
        if (!smaller) d = d | {5'b0, mask, 1'b0};
        mask = mask >> 1;
      end
      r_q <= r;
      q_q <= q;
      d_q <= d;
    end
  end

  // -------------------------------------------------------------------------- normalise, round, pack
  logic               negative_q, rest_q, up_q, tiny_q, inexact_q;
  logic [1:0]         kind_q;
  logic [4:0]         flags_q;
  logic [2:0]         rm_q;
  logic [31:0]        value_q;     // Integers: absolute value; floats: 26 bits of quotient or root.
  logic [4:0]         shift_q;
  logic signed [10:0] exponent_q;

  logic signed [10:0] below;
  logic [25:0]        found, significand;
  logic [51:0]        moved;
  logic               nearest_even, nearest_max, away, top, to_inf;
  logic [33:0]        rounded;

  always_ff @(posedge clk_i) begin
    // A quotient below 1 has its first one in bit 24 instead of 25.
    if (normalise_i) begin
      {negative_q, kind_q, flags_q, rm_q} <= {negative_2_q, kind_2_q, flags_2_q, rm_2_q};
      found      = q_q[25:0];
      below      = $signed(found[25] ? 11'd1 : 11'd2) - exponent_2_q;
      value_q    <= !float_i ? (rem_i ? r_q : q_q) : {6'b0, found[25] ? found : {found[24:0], 1'b0}};
      rest_q     <= r_q != 32'd0;
      exponent_q <= exponent_2_q - {10'b0, !found[25]};
      shift_q    <= below[10] ? 5'd0 : (below > 11'sd26) ? 5'd26 : below[4:0];
    end

    // A subnormal result is shifted right. tiny: rounded with an unbounded exponent, the result would still be below
    // the smallest normal number.
    if (round_i && float_i) begin
      significand  = value_q[25:0];
      moved        = {significand, 26'b0} >> shift_q;
      nearest_even = rm_q == simt_op_pkg::RM_RNE;
      nearest_max  = rm_q == simt_op_pkg::RM_RMM;
      away         = (rm_q == simt_op_pkg::RM_RUP && !negative_q) || (rm_q == simt_op_pkg::RM_RDN && negative_q);
      top          = nearest_even ? significand[1] && (significand[2] || significand[0] || rest_q)
                     : nearest_max ? significand[1] : away && (significand[1:0] != 2'b0 || rest_q);
      tiny_q       <= exponent_q < 11'sd0 || (exponent_q == 11'sd0 && !((&significand[25:2]) && top));
      inexact_q    <= moved[27:0] != 28'b0 || rest_q;
      up_q         <= nearest_even ? moved[27] && (moved[28] || moved[26:0] != 27'b0 || rest_q)
                      : nearest_max ? moved[27] : away && (moved[27:0] != 28'b0 || rest_q);
      value_q[23:0] <= moved[51:28];
    end
  end

  always_comb begin
    // The hidden bit adds one to the exponent field, so the exponent is reduced by one.
    rounded = {exponent_q > 11'sd0 ? exponent_q - 11'sd1 : 11'sd0, 23'b0} + {10'b0, value_q[23:0]} + {33'b0, up_q};
    to_inf  = rm_q == simt_op_pkg::RM_RNE || rm_q == simt_op_pkg::RM_RMM
              || rm_q == (negative_q ? simt_op_pkg::RM_RDN : simt_op_pkg::RM_RUP);
    flags_o = flags_q;
    case (kind_q)
      NAN:      data_o = 32'h7fc0_0000;
      INFINITY: data_o = {negative_q, 8'hff, 23'b0};
      ZERO:     data_o = {negative_q, 31'b0};
      default:
        if (rounded[33:23] >= 11'd255) begin
          data_o  = to_inf ? {negative_q, 8'hff, 23'b0} : {negative_q, 8'hfe, 23'h7f_ffff};
          flags_o = 5'b00101;
        end else begin
          data_o  = {negative_q, rounded[30:0]};
          flags_o = {3'b0, tiny_q && inexact_q, inexact_q};
        end
    endcase
    if (!float_i) begin
      data_o  = (value_q ^ {32{negative_q}}) + {31'b0, negative_q};
      flags_o = 5'b0;
    end
  end

endmodule
