// SPDX-License-Identifier: Apache-2.0
// Datapath of one divider of div_unit: integer division and remainder, binary32 division and square root.
//
// Contract: three stations with registers of their own may work at three pairs of operands. div_unit pulses the phases
// of a pair in this order, one cycle each: unpack (a_i, b_i and rm_i count in this cycle), count, then, when no earlier
// pair is stepping, align, step (13 times for floats, 16 - skip_i for integers), normalise and round; in the next cycle
// data_o and flags_o (NV DZ OF UF NX) are valid. The align of the next pair may come with the normalise of this one.
// float_i, sqrt_i, signed_i and rem_i say what to do, the same for all pairs in here; mask_i starts at bit 25 for a
// root, else it is zero. span_o, integers only, from the count on: with skip_i, its 2 * skip_i bits in front must be
// zero. State saved at preemption: none; the core drains it.
//
// One restoring subtractor, used twice a cycle, serves all: shift r left with a bit of q, subtract d | mask, shift the
// digit into q. A division has mask = 0. A square root has r = (radicand - root^2) << digits, d = 2 * root so far, mask
// the digit in question, both with 25 bits of fraction. Digit selection by table (SRT) would halve the cycles again for
// twice the logic.

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
    input  logic [25:0] mask_i,  // of this cycle's first digit
    input  logic [3:0]  skip_i,  // with align_i, integers
    input  logic [2:0]  rm_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic [31:0] span_o,
    output logic [31:0] data_o,
    output logic [4:0]  flags_o
);

  localparam logic [1:0] NUMBER = 2'd0, NAN = 2'd1, INFINITY = 2'd2, ZERO = 2'd3;

  // leading zeros of a significand at the top of 32 bits, not zero
  function automatic logic [4:0] leading_zeros(input logic [31:0] value);
    leading_zeros = (value[31:16] != 16'd0) ? {1'b0, simt_op_pkg::zeros16(value[31:16])}
                                            : {1'b1, simt_op_pkg::zeros16(value[15:0])};
  endfunction

  // ------------------------------------------------------------------------------------ unpack, count
  // integers: absolute values, the result's sign (the quotient of a division by zero is -1 of either sign).
  // floats: special operands, the significands with the hidden bit at the top.
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
        // biased by 127 once for a quotient, twice for a root, which is halved later
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
        // the remainder is below the divisor, or all of it still has 32 bits: bit 32 is the borrow
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
  logic [31:0]        value_q;     // integers: the result's absolute value; else 26 bits of quotient or root
  logic [4:0]         shift_q;
  logic signed [10:0] exponent_q;

  logic signed [10:0] below;
  logic [25:0]        found, significand;
  logic [51:0]        moved;
  logic               nearest_even, nearest_max, away, top, to_inf;
  logic [33:0]        rounded;

  always_ff @(posedge clk_i) begin
    // a quotient below 1 has its first bit one lower
    if (normalise_i) begin
      {negative_q, kind_q, flags_q, rm_q} <= {negative_2_q, kind_2_q, flags_2_q, rm_2_q};
      found      = q_q[25:0];
      below      = $signed(found[25] ? 11'd1 : 11'd2) - exponent_2_q;
      value_q    <= !float_i ? (rem_i ? r_q : q_q) : {6'b0, found[25] ? found : {found[24:0], 1'b0}};
      rest_q     <= r_q != 32'd0;
      exponent_q <= exponent_2_q - {10'b0, !found[25]};
      shift_q    <= below[10] ? 5'd0 : (below > 11'sd26) ? 5'd26 : below[4:0];
    end

    // move a subnormal right; tiny: rounded with an unbounded exponent it would still be below the smallest normal
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
    // the hidden bit counts one exponent
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
