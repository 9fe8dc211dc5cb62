// SPDX-License-Identifier: Apache-2.0
// Computes the local ids of the work-items of a warp, without dividers.
//
// Contract: shape_valid_i is a pulse with the size {z, y, x} of the groups, which then stays stable; shape_ready_o
// follows after L + 1 cycles. From then on each cycle with in_valid_i and advance_i takes the next warp of a group, the
// first with in_first_i. The ids of a warp are in the output register after two more cycles with advance_i; without
// advance_i nothing changes. mask_o: the lanes whose work-item exists.
// State saved at preemption: none; between groups all state follows from the packet.
//
// A work-item number is written in mixed radix with the digits x, y and z of the group's shape. A serial counter
// computes the digits of the lane numbers 0 to L - 1 and of L once per shape. Adding the digits of L to those of a
// warp's first work-item gives the first work-item of the next warp; adding the digits of a lane gives the work-item of
// that lane. Each of three stages adds one digit and passes the carry on. A work-item does not exist if its z is
// outside the group.
// Example: L = 4 and shape x = 3, y = 2. The digits (x, y) of the lanes are (0,0) (1,0) (2,0) (0,1); those of L are
// (1,1), where the second warp begins.

module simt_dispatch_ids #(
    parameter int L = 16  // lanes
) (
    input  logic            clk_i,
    input  logic            rst_i,
    input  logic            shape_valid_i,
    input  logic [32:0]     size_i,
    output logic            shape_ready_o,
    input  logic            advance_i,
    input  logic            in_valid_i,
    input  logic            in_first_i,
    output logic            busy_o,  // a warp is in stage 1 or 2
    output logic            out_valid_o,
    output logic [L-1:0]    mask_o,
    output logic [L*30-1:0] lid_o
);

  localparam int LW = $clog2(L);
  localparam int DW = LW + 1;  // width of digits of numbers up to L

  // Shape: the digits of 0, 1, ... L. The digits of the lanes are shifted into place.
  logic              counting_q;
  logic [DW-1:0]     number_q;
  logic [DW-1:0]     x_q, y_q, z_q, step_x_q, step_y_q, step_z_q;
  logic [L*LW-1:0]   lane_x_q, lane_y_q, lane_z_q;
  logic              wrap_x, wrap_y;

  always_comb begin
    shape_ready_o = !counting_q && !shape_valid_i;
    wrap_x = 11'(x_q) + 11'd1 == size_i[10:0];
    wrap_y = 11'(y_q) + 11'd1 == size_i[21:11];
  end

  always_ff @(posedge clk_i) begin
    if (shape_valid_i) begin
      number_q <= '0;
      x_q      <= '0;
      y_q      <= '0;
      z_q      <= '0;
    end else if (counting_q) begin
      number_q <= number_q + DW'(1);
      x_q      <= wrap_x ? '0 : x_q + DW'(1);
      if (wrap_x) y_q <= wrap_y ? '0 : y_q + DW'(1);
      if (wrap_x && wrap_y) z_q <= z_q + DW'(1);
      if (number_q == DW'(L)) begin
        step_x_q <= x_q;
        step_y_q <= y_q;
        step_z_q <= z_q;
      end else begin
        lane_x_q <= {x_q[LW-1:0], lane_x_q[L*LW-1:LW]};
        lane_y_q <= {y_q[LW-1:0], lane_y_q[L*LW-1:LW]};
        lane_z_q <= {z_q[LW-1:0], lane_z_q[L*LW-1:LW]};
      end
    end

    if (rst_i) counting_q <= 1'b0;
    else if (shape_valid_i) counting_q <= 1'b1;
    else if (number_q == DW'(L)) counting_q <= 1'b0;
  end

  // Warps: stage 1 adds x, stage 2 adds y, stage 3 adds z.
  logic            valid_1_q, valid_2_q, first_1_q, first_2_q, carry_1_q, carry_2_q;
  logic [9:0]      base_x_q, base_y_q;
  logic [10:0]     base_z_q;
  logic [L-1:0]    carry_lane_1_q, carry_lane_2_q;
  logic [L*10-1:0] x_1_q, x_2_q, y_2_q;

  logic [9:0]  base;
  logic [10:0] base_z, sum;

  assign busy_o = valid_1_q || valid_2_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      valid_1_q   <= 1'b0;
      valid_2_q   <= 1'b0;
      out_valid_o <= 1'b0;
    end else if (advance_i) begin
      valid_1_q   <= in_valid_i;
      valid_2_q   <= valid_1_q;
      out_valid_o <= valid_2_q;
    end
  end

  always_ff @(posedge clk_i)
    if (advance_i && in_valid_i) begin
      first_1_q <= in_first_i;
      base = in_first_i ? 10'd0 : base_x_q;
      for (int i = 0; i < L; i++) begin
        sum = {1'b0, base} + 11'(lane_x_q[LW*i +: LW]);
        carry_lane_1_q[i] <= sum >= size_i[10:0];
        x_1_q[10*i +: 10] <= 10'((sum >= size_i[10:0]) ? sum - size_i[10:0] : sum);
      end
      sum = {1'b0, base} + 11'(step_x_q);
      carry_1_q <= sum >= size_i[10:0];
      base_x_q  <= 10'((sum >= size_i[10:0]) ? sum - size_i[10:0] : sum);
    end

  logic [9:0]  base_2;
  logic [10:0] sum_2;

  always_ff @(posedge clk_i)
    if (advance_i && valid_1_q) begin
      first_2_q <= first_1_q;
      x_2_q     <= x_1_q;
      base_2 = first_1_q ? 10'd0 : base_y_q;
      for (int i = 0; i < L; i++) begin
        sum_2 = {1'b0, base_2} + 11'(lane_y_q[LW*i +: LW]) + {10'b0, carry_lane_1_q[i]};
        carry_lane_2_q[i] <= sum_2 >= size_i[21:11];
        y_2_q[10*i +: 10] <= 10'((sum_2 >= size_i[21:11]) ? sum_2 - size_i[21:11] : sum_2);
      end
      sum_2 = {1'b0, base_2} + 11'(step_y_q) + {10'b0, carry_1_q};
      carry_2_q <= sum_2 >= size_i[21:11];
      base_y_q  <= 10'((sum_2 >= size_i[21:11]) ? sum_2 - size_i[21:11] : sum_2);
    end

  logic [10:0] sum_3;

  always_ff @(posedge clk_i)
    if (advance_i && valid_2_q) begin
      base_z = first_2_q ? 11'd0 : base_z_q;
      for (int i = 0; i < L; i++) begin
        sum_3 = base_z + 11'(lane_z_q[LW*i +: LW]) + {10'b0, carry_lane_2_q[i]};
        mask_o[i] <= sum_3 < size_i[32:22];
        lid_o[30*i +: 30] <= {sum_3[9:0], y_2_q[10*i +: 10], x_2_q[10*i +: 10]};
      end
      base_z_q <= base_z + 11'(step_z_q) + {10'b0, carry_2_q};
    end

endmodule
