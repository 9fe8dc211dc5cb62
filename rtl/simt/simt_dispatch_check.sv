// SPDX-License-Identifier: Apache-2.0
// Checks the ranges of all fields of a dispatch packet, so that no later unit has to.
//
// Contract: check_valid_i is a pulse while the unit is idle. packet_i stays stable until check_done_o, a pulse 24
// cycles later with the result check_ok_o. The rules are those of docs/spec/packets.yaml: work_dim is 1 to 3; sizes are
// at least 1; numbers of groups and sizes of the last groups agree with the global and local sizes; group_warps is the
// number that a group needs; all slots fit the warps and the local memory; local_bytes and stack are multiples of 64;
// stack_log2 is 6 to 20; entry is a multiple of 4. Reserved bits are checked where the packet is decoded.
// State saved at preemption: none.
//
// Products are computed bit-serially, eleven cycles for each factor of 11 bits. A dispatch takes thousands of cycles,
// so eight multipliers would be idle almost always.

module simt_dispatch_check #(
    parameter int L = 16,        // lanes
    parameter int W = 16,        // warps
    parameter int LMEM_KIB = 64  // local memory, KiB
) (
    input  logic                         clk_i,
    input  logic                         rst_i,
    input  logic                         check_valid_i,
    input  tern_spec_pkg::pkt_dispatch_t packet_i,
    output logic                         check_done_o,
    output logic                         check_ok_o
);

  localparam int LW = $clog2(L);
  localparam logic [3:0] TOP_BIT = 4'd10;  // highest bit of a local size

  // Fields of the packet.
  logic [1:0]  work_dim;
  logic [7:0]  group_warps, group_slots;
  logic [4:0]  stack_log2;
  logic [16:0] local_bytes;
  logic [32:0] group_size, edge_size;
  logic [95:0] global_size, groups;

  always_comb begin
    work_dim    = packet_i.work_dim;
    group_warps = packet_i.group_warps;
    group_slots = packet_i.group_slots;
    stack_log2  = packet_i.stack_log2;
    local_bytes = packet_i.local_bytes;
    group_size  = {packet_i.local_z, packet_i.local_y, packet_i.local_x};
    edge_size   = {packet_i.edge_z, packet_i.edge_y, packet_i.edge_x};
    global_size = {packet_i.global_z, packet_i.global_y, packet_i.global_x};
    groups      = {packet_i.groups_z, packet_i.groups_y, packet_i.groups_x};
  end

  // The first pass computes local_x * local_y, slots * warps, slots * local_bytes and, in each dimension,
  // (groups - 1) * local. The second pass multiplies local_x * local_y by local_z.
  logic         first_q, second_q, compare_q;
  logic [3:0]   bit_q;
  logic [21:0]  xy_q;
  logic [32:0]  xyz_q;
  logic [15:0]  slot_warps_q;
  logic [24:0]  slot_bytes_q;
  logic [128:0] before_q;   // work-items before the last group, 43 bits a dimension
  logic [95:0]  full_q;     // groups - 1 in each dimension
  logic [10:0]  slots;
  logic         simple_ok_q;

  assign slots = {3'b0, group_slots};

  logic [32:0] needed;
  logic        ok;

  always_ff @(posedge clk_i) begin
    if (check_valid_i) begin
      bit_q        <= TOP_BIT;
      xy_q         <= '0;
      xyz_q        <= '0;
      slot_warps_q <= '0;
      slot_bytes_q <= '0;
      before_q     <= '0;
      for (int d = 0; d < 3; d++) full_q[32*d +: 32] <= groups[32*d +: 32] - 32'd1;
    end else if (first_q || second_q) bit_q <= (bit_q == 4'd0) ? TOP_BIT : bit_q - 4'd1;

    if (first_q) begin
      xy_q         <= (xy_q << 1) + (group_size[11 + bit_q] ? {11'b0, group_size[10:0]} : 22'd0);
      slot_warps_q <= (slot_warps_q << 1) + (slots[bit_q] ? {8'b0, group_warps} : 16'd0);
      slot_bytes_q <= (slot_bytes_q << 1) + (slots[bit_q] ? {8'b0, local_bytes} : 25'd0);
      for (int d = 0; d < 3; d++)
        before_q[43*d +: 43] <= (before_q[43*d +: 43] << 1)
                                + (group_size[11*d + 32'(bit_q)] ? {11'b0, full_q[32*d +: 32]} : 43'd0);
    end
    if (second_q) begin
      xyz_q       <= (xyz_q << 1) + (group_size[22 + bit_q] ? {11'b0, xy_q} : 33'd0);
      ok          = work_dim != 2'd0 && group_slots != 8'd0 && stack_log2 >= 5'd6 && stack_log2 <= 5'd20
                    && local_bytes[5:0] == 6'd0
                    && packet_i.entry[1:0] == 2'd0
                    && packet_i.stack[5:0] == 6'd0;
      for (int d = 0; d < 3; d++)
        if (groups[32*d +: 32] == 32'd0 || edge_size[11*d +: 11] == 11'd0
            || edge_size[11*d +: 11] > group_size[11*d +: 11])
          ok = 1'b0;
      simple_ok_q <= ok;
    end
    if (compare_q) begin
      // Warps that a group needs: ceil(work-items / L).
      needed     = (xyz_q + 33'(L - 1)) >> LW;
      ok         = simple_ok_q && needed == {25'b0, group_warps} && group_warps <= 8'(W) && slot_warps_q <= 16'(W)
                   && slot_bytes_q <= 25'(LMEM_KIB * 1024);
      for (int d = 0; d < 3; d++)
        if (before_q[43*d +: 43] + {32'b0, edge_size[11*d +: 11]} != {11'b0, global_size[32*d +: 32]}) ok = 1'b0;
      check_ok_o <= ok;
    end
  end

  always_ff @(posedge clk_i)
    if (rst_i) begin
      first_q      <= 1'b0;
      second_q     <= 1'b0;
      compare_q    <= 1'b0;
      check_done_o <= 1'b0;
    end else begin
      first_q      <= check_valid_i || (first_q && bit_q != 4'd0);
      second_q     <= (first_q || second_q) && (second_q ? bit_q != 4'd0 : bit_q == 4'd0);
      compare_q    <= second_q && bit_q == 4'd0;
      check_done_o <= compare_q;
    end

endmodule
