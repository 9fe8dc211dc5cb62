// SPDX-License-Identifier: Apache-2.0
// Values of registers that have not been written since their warp's launch. Such a register has one value in all lanes.
//
// Contract: clear_i (a launch) sets the registers of a warp to zero. A resume begins with forget_i, which sets all
// registers of all warps to zero; then put_i writes put_vector_i, one word for each of LANES registers from put_first_i
// on, which is a multiple of LANES. x0 stays zero. read_i in cycle t gives value_o (rs3, rs2, rs1 of d_warp_i) in
// t + 1, held until the next read. write_value_o is combinational, and so is, with look_i, look_o (LANES registers from
// look_first_i on), which shares the read port of rs1.
// given_o: the vectors that put_i has written.
// State saved at preemption: all of it, except registers that have been written to the lanes since (simt_written).
//
// A resume brings back up to 16 registers in one line and would need 16 writes to the lanes' RAMs for them. Most
// registers of most kernels have one value in all lanes, so this module halves the time of a resume.

module simt_scalars #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    parameter int WIDTH = 32,  // bits of a register
    localparam int WW = $clog2(WARPS),
    localparam int LW = $clog2(LANES),
    localparam int VECTORS = 32 / LANES     // vectors of LANES registers of a warp
) (
    input  logic                clk_i,
    input  logic                clear_i,
    input  logic [WW-1:0]       clear_warp_i,
    input  logic                forget_i,
    input  logic                put_i,
    input  logic [WW-1:0]       put_warp_i,
    input  logic [4:0]          put_first_i,
    input  logic [LANES*WIDTH-1:0] put_vector_i,
    input  logic                read_i,
    input  logic [WW-1:0]       d_warp_i,
    input  logic [4:0]          rs1_i,
    input  logic [4:0]          rs2_i,
    input  logic [4:0]          rs3_i,
    output logic [3*WIDTH-1:0]  value_o,
    input  logic [WW+4:0]       write_rd_i,     // {warp, register}
    output logic [WIDTH-1:0]    write_value_o,
    input  logic                look_i,         // nothing is read
    input  logic [WW-1:0]       look_warp_i,
    input  logic [4:0]          look_first_i,
    output logic [LANES*WIDTH-1:0] look_o,         // where it has been given
    output logic                look_given_o,
    output logic [WARPS*VECTORS-1:0] given_o
);

  localparam int AW = WW + 5 - LW;      // {warp, vector}

  (* ram_style = "distributed" *) logic [LANES*WIDTH-1:0] vector_q [0:(1<<AW)-1];
  logic [(1<<AW)-1:0]  given_q;
  logic [LANES*WIDTH-1:0] put_vector;

  function automatic logic [WIDTH-1:0] word(input logic [LANES*WIDTH-1:0] vector, input logic given,
                                            input logic [LW-1:0] r);
    logic [LANES*WIDTH-1:0] rest;
    rest = vector;
    for (int k = LW - 1; k >= 0; k--) if (r[k]) rest = rest >> (WIDTH << k);
    word = rest[WIDTH-1:0] & {WIDTH{given}};
  endfunction

  logic [AW-1:0] at1, at2, at3, at_write, at_put;

  always_comb begin
    at1        = AW'((look_i ? {look_warp_i, look_first_i} : {d_warp_i, rs1_i}) >> LW);
    at2        = AW'({d_warp_i, rs2_i} >> LW);
    at3        = AW'({d_warp_i, rs3_i} >> LW);
    at_write   = AW'(write_rd_i >> LW);
    at_put     = AW'({put_warp_i, put_first_i} >> LW);
    given_o    = given_q;
    put_vector = put_vector_i;
    if (put_first_i == 5'd0) put_vector[WIDTH-1:0] = '0;
    write_value_o = word(vector_q[at_write], given_q[at_write], write_rd_i[LW-1:0]);
    look_o        = vector_q[at1];
    look_given_o  = given_q[at1];
  end

  always_ff @(posedge clk_i) begin
    if (read_i)
      value_o <= {word(vector_q[at3], given_q[at3], rs3_i[LW-1:0]), word(vector_q[at2], given_q[at2], rs2_i[LW-1:0]),
                  word(vector_q[at1], given_q[at1], rs1_i[LW-1:0])};
    if (put_i) begin
      vector_q[at_put] <= put_vector;
      given_q[at_put]  <= 1'b1;
    end
    if (forget_i) given_q <= '0;
    if (clear_i) given_q[VECTORS*clear_warp_i +: VECTORS] <= '0;
  end
endmodule
