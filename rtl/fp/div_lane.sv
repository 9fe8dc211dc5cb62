// SPDX-License-Identifier: Apache-2.0
// Datapath of one lane of div_unit: integer division and remainder, binary32 division and square root.
//
// Contract: div_unit pulses the phases in this order, one cycle each: load, unpack, count, align, step (16 times
// for integers, 13 for floats), normalise, round, pack; then data_o and flags_o (NV DZ OF UF NX) hold until the
// next pack. float_i, sqrt_i, signed_i and rem_i say what to do, stable from unpack on; mask_i starts at bit 25
// for a root, else it is zero. A lane that load_i does not name idles through the phases. State saved at
// preemption: none; the core drains it.
//
// One restoring subtractor, used twice a cycle, serves all: shift r left with a bit of q, subtract d | mask, shift the
// digit into q. A division has mask = 0. A square root has r = (radicand - root^2) << digits, d = 2 * root so far, mask
// the digit in question, both with 25 bits of fraction. Digit selection by table (SRT) would halve the cycles again for
// twice the logic in every lane.

module div_lane (
    input  logic        clk_i,
    input  logic        load_i,
    input  logic        unpack_i,
    input  logic        count_i,
    input  logic        align_i,
    input  logic        step_i,
    input  logic        normalise_i,
    input  logic        round_i,
    input  logic        pack_i,
    input  logic        float_i,
    input  logic        sqrt_i,
    input  logic        signed_i,
    input  logic        rem_i,
    input  logic [25:0] mask_i,  // of this cycle's first digit
    input  logic [2:0]  rm_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic [31:0] data_o,
    output logic [4:0]  flags_o
);

  localparam logic [1:0] NUMBER = 2'd0, NAN = 2'd1, INFINITY = 2'd2, ZERO = 2'd3;

  logic               active_q, negative_q, rest_q, up_q, tiny_q, inexact_q;
  logic [1:0]         kind_q;
  logic [4:0]         flags_q;
  logic [2:0]         rm_q;
  logic [31:0]        q_q, d_q, r_q;
  logic [4:0]         zeros_a_q, zeros_b_q, shift_q;
  logic signed [10:0] exponent_q;

  // leading zeros of a significand at the top of 32 bits, not zero
  function automatic logic [4:0] leading_zeros(input logic [31:0] value);
    leading_zeros = (value[31:16] != 16'd0) ? {1'b0, simt_op_pkg::zeros16(value[31:16])}
                                            : {1'b1, simt_op_pkg::zeros16(value[15:0])};
  endfunction

  // intermediate values of the phases
  logic               a_nan, b_nan, a_inf, b_inf, a_zero, b_zero, signaling, invalid;
  logic signed [10:0] exponent, below;
  logic [23:0]        ma, mb;
  logic [31:0]        r, q, d;
  logic [32:0]        minuend;
  logic [25:0]        mask;
  logic [31:0]        difference;
  logic               smaller;
  logic [25:0]        found, significand;
  logic [51:0]        moved;
  logic               nearest_even, nearest_max, away, top, to_inf;
  logic [33:0]        rounded;

  always_ff @(posedge clk_i) begin
    if (load_i || pack_i) active_q <= load_i;

    if (load_i) begin
      q_q  <= a_i;
      d_q  <= b_i;
      rm_q <= rm_i;
    end

    // integers: absolute values, the result's sign (the quotient of a division by zero is -1 of either sign).
    // floats: special operands, the significands with the hidden bit at the top.
    if (active_q && unpack_i) begin
      r_q     <= 32'd0;
      kind_q  <= NUMBER;
      flags_q <= 5'b0;
      if (!float_i) begin
        negative_q <= signed_i && (rem_i ? q_q[31] : (q_q[31] ^ d_q[31]) && d_q != 32'd0);
        if (signed_i && q_q[31]) q_q <= -q_q;
        if (signed_i && d_q[31]) d_q <= -d_q;
      end else begin
        a_nan     = q_q[30:0] > 31'h7f80_0000;
        a_inf     = q_q[30:0] == 31'h7f80_0000;
        a_zero    = q_q[30:0] == 31'd0;
        b_nan     = !sqrt_i && d_q[30:0] > 31'h7f80_0000;
        b_inf     = !sqrt_i && d_q[30:0] == 31'h7f80_0000;
        b_zero    = !sqrt_i && d_q[30:0] == 31'd0;
        signaling = (a_nan && !q_q[22]) || (b_nan && !d_q[22]);
        invalid   = sqrt_i ? q_q[31] && !a_nan && !a_zero : (a_inf && b_inf) || (a_zero && b_zero);
        negative_q <= q_q[31] ^ (d_q[31] && !sqrt_i);
        flags_q    <= {signaling || (invalid && !b_nan), b_zero && !a_nan && !a_inf && !a_zero, 3'b0};
        if (a_nan || b_nan || invalid) kind_q <= NAN;
        else if (a_inf || b_zero) kind_q <= INFINITY;
        else if (a_zero || b_inf) kind_q <= ZERO;
        // biased by 127 once for a quotient, twice for a root, which is halved later
        exponent_q <= $signed({3'b0, q_q[30:24], q_q[23] || q_q[30:23] == 8'd0}) + 11'sd127
                      - (sqrt_i ? 11'sd0 : $signed({3'b0, d_q[30:24], d_q[23] || d_q[30:23] == 8'd0}));
        q_q        <= {q_q[30:23] != 8'd0, q_q[22:0], 8'b0};
        d_q        <= {d_q[30:23] != 8'd0 || sqrt_i, d_q[22:0], 8'b0};
      end
    end

    if (active_q && count_i && float_i) begin
      zeros_a_q <= leading_zeros(q_q);
      zeros_b_q <= leading_zeros(d_q);
    end

    if (active_q && align_i && float_i) begin
      ma = 24'((q_q >> 8) << zeros_a_q);
      mb = 24'((d_q >> 8) << zeros_b_q);
      exponent = exponent_q - $signed({6'b0, zeros_a_q}) + $signed({6'b0, zeros_b_q});
      if (sqrt_i) begin
        exponent_q <= exponent >>> 1;
        r_q        <= exponent[0] ? {6'b0, ma, 2'b0} : {7'b0, ma, 1'b0};
        q_q        <= 32'd0;
        d_q        <= 32'd0;
      end else begin
        exponent_q <= exponent;
        r_q        <= {9'b0, ma[23:1]};
        q_q        <= {ma[0], 31'b0};
        d_q        <= {8'b0, mb};
      end
    end

    if (active_q && step_i) begin
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

    // 26 bits of quotient or root; a quotient below 1 has its first bit one lower
    if (active_q && normalise_i && float_i) begin
      found      = q_q[25:0];
      below      = $signed(found[25] ? 11'd1 : 11'd2) - exponent_q;
      q_q[25:0]  <= found[25] ? found : {found[24:0], 1'b0};
      rest_q     <= r_q != 32'd0;
      exponent_q <= exponent_q - {10'b0, !found[25]};
      shift_q    <= below[10] ? 5'd0 : (below > 11'sd26) ? 5'd26 : below[4:0];
    end

    // move a subnormal right; tiny: rounded with an unbounded exponent it would still be below the smallest normal
    if (active_q && round_i && float_i) begin
      significand  = q_q[25:0];
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
      q_q[23:0]    <= moved[51:28];
    end

    if (active_q && pack_i) begin
      if (!float_i) begin
        q       = rem_i ? r_q : q_q;
        data_o  <= (q ^ {32{negative_q}}) + {31'b0, negative_q};
        flags_o <= 5'b0;
      end else begin
        // the hidden bit counts one exponent
        rounded = {exponent_q > 11'sd0 ? exponent_q - 11'sd1 : 11'sd0, 23'b0} + {10'b0, q_q[23:0]} + {33'b0, up_q};
        to_inf  = rm_q == simt_op_pkg::RM_RNE || rm_q == simt_op_pkg::RM_RMM
                  || rm_q == (negative_q ? simt_op_pkg::RM_RDN : simt_op_pkg::RM_RUP);
        flags_o <= flags_q;
        case (kind_q)
          NAN:      data_o <= 32'h7fc0_0000;
          INFINITY: data_o <= {negative_q, 8'hff, 23'b0};
          ZERO:     data_o <= {negative_q, 31'b0};
          default:
            if (rounded[33:23] >= 11'd255) begin
              data_o  <= to_inf ? {negative_q, 8'hff, 23'b0} : {negative_q, 8'hfe, 23'h7f_ffff};
              flags_o <= 5'b00101;
            end else begin
              data_o  <= {negative_q, rounded[30:0]};
              flags_o <= {3'b0, tiny_q && inexact_q, inexact_q};
            end
        endcase
      end
    end
  end

endmodule
