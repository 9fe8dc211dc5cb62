// SPDX-License-Identifier: Apache-2.0
// The single-cycle unit of one lane: RV32I with the conditions of its branches, Zba, Zbb, and of Zfinx sign injection,
// minimum, maximum, comparison and classification.
//
// Contract: combinational. op_i is simt_op_pkg::ALU_*; other codes give an unspecified result. Shift counts are
// b_i[4:0]. invalid_o: the operation raises NV; no other flag is raised here. taken_o: the condition of a branch holds.
// Floats are compared as Zfinx prescribes: -0 equals +0, but minimum and maximum take -0 to be below +0; they take a
// number before a NaN, and of two NaNs they give the canonical NaN.
// State saved at preemption: none.
//
// One comparator serves branches, integers and floats. Floats are compared as signed integers, with the order reversed
// if both are negative. All shifts are rotations to the right, behind which a mask puts zeros or the sign where a shift
// has moved bits out: a shifter for 63 bits takes a third more logic.

module simt_alu (
    input  logic [5:0]  op_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic [31:0] result_o,
    output logic        invalid_o,
    output logic        taken_o
);

  logic [2:0] family, operation;

  assign {family, operation} = op_i;

  // Adder: a + b, a - b, (a << n) + b.
  logic        subtract;
  logic [31:0] addend;
  logic [32:0] sum;         // bit 0 carries into the others
  logic        unused;

  assign unused = sum[0];

  always_comb begin
    subtract = operation[2];
    addend   = subtract ? a_i : a_i << operation[1:0];
    sum      = {addend, 1'b1} + {b_i ^ {32{subtract}}, subtract};
  end

  // Comparator. A signed comparison is an unsigned comparison with the sign bits exchanged.
  logic flip, less, equal;

  always_comb begin
    case (family)
      simt_op_pkg::ALU_FAMILY_LESS:   flip = !operation[0];
      simt_op_pkg::ALU_FAMILY_BRANCH: flip = !operation[1];
      default:                        flip = 1'b1;
    endcase
    less    = {a_i[31] ^ flip, a_i[30:0]} < {b_i[31] ^ flip, b_i[30:0]};
    equal   = a_i == b_i;
    taken_o = (operation[2] ? less : equal) ^ operation[0];
  end

  // Shifts and rotations.
  function automatic logic [31:0] shifted(input logic [2:0] how, input logic [31:0] value, input logic [4:0] by);
    logic        left, whole;
    logic [4:0]  count;
    logic [31:0] turned, moved_out;
    begin
      left      = how[2];
      whole     = how[1] || (left && by == 5'd0);
      count     = (by ^ {5{left}}) + {4'b0, left};
      turned    = count[4] ? {value[15:0], value[31:16]} : value;
      turned    = count[3] ? {turned[7:0], turned[31:8]} : turned;
      turned    = count[2] ? {turned[3:0], turned[31:4]} : turned;
      turned    = count[1] ? {turned[1:0], turned[31:2]} : turned;
      turned    = count[0] ? {turned[0], turned[31:1]} : turned;
      moved_out = whole ? 32'b0 : ~(32'hffff_ffff >> count) ^ {32{left}};
      shifted   = (turned & ~moved_out) | (moved_out & {32{how[0] && value[31]}});
    end
  endfunction

  // Floats.
  logic a_max, a_min, a_rest, b_max, b_min, b_rest, a_nan, b_nan, number, same, minus;

  always_comb begin
    {a_max, a_min, a_rest, b_max, b_min, b_rest, a_nan, b_nan, number, same, minus, invalid_o} = '0;
    if (family == simt_op_pkg::ALU_FAMILY_FLOAT) begin
      a_max     = &a_i[30:23];
      a_min     = a_i[30:23] == 8'd0;
      a_rest    = a_i[22:0] != 23'd0;
      b_max     = &b_i[30:23];
      b_min     = b_i[30:23] == 8'd0;
      b_rest    = b_i[22:0] != 23'd0;
      a_nan     = a_max && a_rest;
      b_nan     = b_max && b_rest;
      number    = !a_nan && !b_nan;
      same      = equal || (a_min && !a_rest && b_min && !b_rest);
      minus     = a_i[31] && b_i[31];
      invalid_o = family == simt_op_pkg::ALU_FAMILY_FLOAT && op_i != simt_op_pkg::ALU_FCLASS &&
        ((operation[2] && !number) || (a_nan && !a_i[22]) || (b_nan && !b_i[22]));
    end
  end

  // Zeros before the first one from the top, or behind the last one (trailing). first is the nibble with this one.
  function automatic logic [5:0] zeros(input logic trailing, input logic [31:0] value);
    logic [7:0]  some;
    logic [15:0] inner;
    logic [2:0]  first;
    begin
      for (int i = 0; i < 8; i++) begin
        some[i] = value[4*i +: 4] != 4'd0;
        inner[2*i +: 2] = trailing ? {value[4*i +: 2] == 2'd0, !value[4*i] && (value[4*i+1] || !value[4*i+2])}
                          : {value[4*i+2 +: 2] == 2'd0, !value[4*i+3] && (value[4*i+2] || !value[4*i+1])};
      end
      first = 3'd0;
      for (int i = 0; i < 8; i++) if (some[trailing ? 7 - i : i]) first = trailing ? 3'(7 - i) : 3'(i);
      zeros = (some == 8'd0) ? 6'd32 : {1'b0, first ^ {3{!trailing}}, inner[2*first +: 2]};
    end
  endfunction

  // Tables of one LUT, for a bit of a result: the number of ones in six bits, and the sum of three bits and three bits.
  // weight (1, 2, 4 or 8) selects the bit.
  function automatic logic [63:0] ones_table(input int weight);
    for (int i = 0; i < 64; i++)
      ones_table[i] = (((i & 1) + (i >> 1 & 1) + (i >> 2 & 1) + (i >> 3 & 1) + (i >> 4 & 1) + (i >> 5 & 1)) & weight) !=
        0;
  endfunction

  function automatic logic [63:0] sum_table(input int weight);
    for (int i = 0; i < 64; i++) sum_table[i] = (((i & 7) + (i >> 3)) & weight) != 0;
  endfunction

  localparam logic [63:0] ONES_1 = ones_table(1), ONES_2 = ones_table(2), ONES_4 = ones_table(4);
  localparam logic [63:0] SUM_1 = sum_table(1), SUM_2 = sum_table(2), SUM_4 = sum_table(4), SUM_8 = sum_table(8);

  // The tables count first the ones in groups of six bits of the word, and then those among the bits of equal weight of
  // these counts: the number is that with weight 1, twice that with weight 2 and four times that with weight 4.
  function automatic logic [5:0] ones(input logic [31:0] value);
    logic [35:0] padded;
    logic [5:0]  by_1, by_2, by_4, upper;
    logic [3:0]  twos;
    begin
      padded = {4'b0, value};
      for (int i = 0; i < 6; i++) begin
        by_1[i] = ONES_1[padded[6*i +: 6]];
        by_2[i] = ONES_2[padded[6*i +: 6]];
        by_4[i] = ONES_4[padded[6*i +: 6]];
      end
      upper = {ONES_4[by_2], ONES_2[by_2], ONES_1[by_2], 1'b0, ONES_4[by_1], ONES_2[by_1]};
      twos  = {SUM_8[upper], SUM_4[upper], SUM_2[upper], SUM_1[upper]};
      upper = {ONES_4[by_4], ONES_2[by_4], ONES_1[by_4], twos[3:1]};
      ones  = {SUM_8[upper], SUM_4[upper], SUM_2[upper], SUM_1[upper], twos[0], ONES_1[by_1]};
    end
  endfunction

  // Operands that pass to the result. pass_a: a_i, each bit for a part of it (31, 30:16, 15:8, 7:0). pass_b: b_i.
  // chooses: a_i if it is below b_i, otherwise b_i. tests: bit 0 is set if a_i is below b_i. holds: bit 0 is set.
  // exchange reverses the order. The comparison is known last, so everything else is ready when it decides.
  logic [3:0] pass_a;
  logic       pass_b, chooses, tests, holds, exchange;

  always_comb begin
    {pass_a, pass_b, chooses, tests, holds, exchange} = '0;
    case (family)
      simt_op_pkg::ALU_FAMILY_LESS: begin
        chooses  = operation[2:1] != 2'd0;
        tests    = !chooses;
        exchange = operation[2];
      end
      simt_op_pkg::ALU_FAMILY_FLOAT: begin
        chooses  = operation[2:1] == 2'd0 && number;
        pass_a   = {4{operation[2:1] == 2'd0 && !a_nan && b_nan}};
        pass_b   = operation[2:1] == 2'd0 && a_nan && !b_nan;
        tests    = operation[2:1] == 2'd3 && number && !same;
        holds    = operation[1] && !operation[0] && number && same;
        exchange = minus ^ (operation[0] && !operation[1]);
      end
      simt_op_pkg::ALU_FAMILY_BYTES:
        case (op_i)
          simt_op_pkg::ALU_SEXTB: pass_a = 4'b0001;
          simt_op_pkg::ALU_SEXTH, simt_op_pkg::ALU_ZEXTH: pass_a = 4'b0011;
          simt_op_pkg::ALU_FSGNJ, simt_op_pkg::ALU_FSGNJN, simt_op_pkg::ALU_FSGNJX: pass_a = 4'b0111;
          default: ;
        endcase
      default: ;
    endcase
  end

  logic [31:0] bitwise, early;
  logic [31:0] operand, other;

  always_comb begin
    operand = b_i ^ {32{operation[2]}};
    bitwise = 32'b0;
    if (family == simt_op_pkg::ALU_FAMILY_LOGIC)
      case (operation[1:0])
        2'd0:    bitwise = a_i ^ operand;
        2'd1:    bitwise = a_i | operand;
        2'd2:    bitwise = a_i & operand;
        default: bitwise = b_i;
      endcase
  end

  always_comb begin
    other = 32'b0;
    case (family)
      simt_op_pkg::ALU_FAMILY_SHIFT: other = shifted(operation, a_i, b_i[4:0]);
      simt_op_pkg::ALU_FAMILY_COUNT: other[5:0] = operation[1] ? ones(a_i) : zeros(operation[0], a_i);
      simt_op_pkg::ALU_FAMILY_BYTES:
        case (op_i)
          simt_op_pkg::ALU_SEXTB:  other[31:8] = {24{a_i[7]}};
          simt_op_pkg::ALU_SEXTH:  other[31:16] = {16{a_i[15]}};
          simt_op_pkg::ALU_ORCB:   other = {{8{|a_i[31:24]}}, {8{|a_i[23:16]}}, {8{|a_i[15:8]}}, {8{|a_i[7:0]}}};
          simt_op_pkg::ALU_REV8:   other = {a_i[7:0], a_i[15:8], a_i[23:16], a_i[31:24]};
          simt_op_pkg::ALU_FSGNJ:  other[31] = b_i[31];
          simt_op_pkg::ALU_FSGNJN: other[31] = !b_i[31];
          simt_op_pkg::ALU_FSGNJX: other[31] = a_i[31] ^ b_i[31];
          default: ;
        endcase
      simt_op_pkg::ALU_FAMILY_FLOAT:
        if (op_i == simt_op_pkg::ALU_FCLASS)
          other[9:0] = {a_nan && a_i[22],                      // quiet NaN
                        a_nan && !a_i[22],                     // signaling NaN
                        a_max && !a_rest && !a_i[31],          // +infinity
                        !a_max && !a_min && !a_i[31],          // +normal
                        a_min && a_rest && !a_i[31],           // +subnormal
                        a_min && !a_rest && !a_i[31],          // +0
                        a_min && !a_rest && a_i[31],           // -0
                        a_min && a_rest && a_i[31],            // -subnormal
                        !a_max && !a_min && a_i[31],           // -normal
                        a_max && !a_rest && a_i[31]};          // -infinity
        else if (!operation[1] && a_nan && b_nan) other[30:22] = 9'h1ff;
      default: ;
    endcase
    early = (sum[32:1] & {32{family == simt_op_pkg::ALU_FAMILY_SUM}})
            | other;
  end

  logic        below, chosen_a, chosen_b;
  logic [31:0] select_a;

  always_comb begin
    below       = less ^ exchange;
    chosen_a    = chooses && below;
    chosen_b    = pass_b || (chooses && !below);
    select_a    = {pass_a[3], {15{pass_a[2]}}, {8{pass_a[1]}}, {8{pass_a[0]}}} | {32{chosen_a}};
    result_o    = bitwise | early | (a_i & select_a) | (b_i & {32{chosen_b}});
    result_o[0] = result_o[0] || holds || (tests && below);
  end
endmodule
