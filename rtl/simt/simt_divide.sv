// SPDX-License-Identifier: Apache-2.0
// The dividers of the core (div_unit), with the warp, register and lanes that their result is for.
//
// Contract: book_i, in R and only while busy_o is low, stores warp, register and lanes of an operation. The operands
// enter on in_* one cycle later. The result comes on the out channel together with the stored fields. busy_o stays high
// until the result is taken.
// State saved at preemption: none; the unit drains in 6 cycles plus at most 17 for each DIVIDERS lanes (div_unit).

module simt_divide #(
    parameter int LANES = 16,    // lanes, one work-item each
    parameter int DIVIDERS = 4   // dividers; they divide LANES
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                book_i,
    input  simt_core_pkg::result_t book_to_i,
    output logic                busy_o,
    input  logic                in_valid_i,
    input  logic [2:0]          in_op_i,
    input  logic [LANES*3-1:0]  in_rm_i,         // rounding mode of each lane
    input  logic [LANES*32-1:0] in_a_i,
    input  logic [LANES*32-1:0] in_b_i,
    input  logic [LANES-1:0]    in_mask_i,
    output logic                out_valid_o,
    input  logic                out_ready_i,
    output logic [LANES*32-1:0] out_data_o,
    output logic [LANES*5-1:0]  out_flags_o,
    output simt_core_pkg::result_t out_o
);

  logic busy_q, in_ready;

  assign busy_o = busy_q || !in_ready;

  div_unit #(
      .L(LANES),
      .D(DIVIDERS)
  ) u_div (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_op_i,
      .in_rm_i,
      .in_a_i,
      .in_b_i,
      .in_mask_i,
      .out_valid_o,
      .out_ready_i,
      .out_data_o,
      .out_flags_o
  );

  always_ff @(posedge clk_i) begin
    if (out_valid_o && out_ready_i) busy_q <= 1'b0;
    if (book_i) begin
      busy_q <= 1'b1;
      out_o  <= book_to_i;
    end
    if (rst_i) busy_q <= 1'b0;
  end

endmodule
