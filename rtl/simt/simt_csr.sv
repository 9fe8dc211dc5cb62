// SPDX-License-Identifier: Apache-2.0
// Reads of control and status registers. A CSR's value is the sum of a value that all lanes share and a part that each
// lane has by itself; this module gives the former and selects the latter.
//
// Contract: combinational from number_i, slot_i and warp_i. ok_o: the CSR exists and, with write_i, may be written.
// launch_i stores the ids and the size of a group, by slot.
//
// State saved at preemption: group_q and base_q. group_o and base_o show those of slot_i; put_slot_i writes them back.
// size_q comes with the launch that follows, and all other values come from the packet.
//
// Example: get_global_id is the group's base plus the local id of the lane. One adder in each lane (that of the ALU)
// thus serves all CSRs, and no table of LANES * 32 bits per warp is needed.

module simt_csr #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS),
    localparam int LW = $clog2(LANES)
) (
    input  logic                         clk_i,
    input  tern_spec_pkg::pkt_dispatch_t packet_i,
    input  logic [63:0]                  time_i,          // device time, cycles since reset
    // read
    input  logic                         valid_i,
    input  logic [11:0]                  number_i,
    input  logic                         write_i,
    input  logic [WW-1:0]                warp_i,
    input  logic [WW-1:0]                slot_i,
    output logic                         ok_o,
    output logic [31:0]                  shared_o,
    output simt_core_pkg::part_e         part_o,
    // launch of a warp: values of its group
    input  logic                         launch_i,
    input  logic [WW-1:0]                launch_slot_i,
    input  logic [95:0]                  launch_group_i,
    input  logic [95:0]                  launch_base_i,
    input  logic [32:0]                  launch_size_i,   // {z, y, x}, 11 bits each
    // stop and resume
    output logic [95:0]                  group_o,
    output logic [95:0]                  base_o,
    input  logic                         put_slot_i,
    input  logic [WW-1:0]                put_index_i,
    input  logic [191:0]                 put_slot_data_i  // {base, group}, each {z, y, x}
);

  logic [95:0] group_q [0:WARPS-1];
  logic [95:0] base_q [0:WARPS-1];
  logic [32:0] size_q [0:WARPS-1];

  always_ff @(posedge clk_i)
    if (launch_i) begin
      group_q[launch_slot_i] <= launch_group_i;
      base_q[launch_slot_i]  <= launch_base_i;
      size_q[launch_slot_i]  <= launch_size_i;
    end else if (put_slot_i) {base_q[put_index_i], group_q[put_index_i]} <= put_slot_data_i;

  assign group_o = group_q[slot_i];
  assign base_o  = base_q[slot_i];

  logic [31:0] stack_top;

  assign stack_top = tern_spec_pkg::WIN_PRIVATE_BASE
                     + (32'd1 << packet_i.stack_log2);

  logic unused;
  assign unused = &{1'b0, packet_i};   // not all fields are CSRs

  always_comb begin
    ok_o     = 1'b1;
    shared_o = 32'd0;
    part_o   = simt_core_pkg::PART_ZERO;
    if (valid_i) begin
      ok_o = !write_i;
      case (number_i)
        tern_spec_pkg::CSR_FFLAGS, tern_spec_pkg::CSR_FRM, tern_spec_pkg::CSR_FCSR: begin
          ok_o   = 1'b1;
          part_o = (number_i == tern_spec_pkg::CSR_FFLAGS) ? simt_core_pkg::PART_FFLAGS
                 : (number_i == tern_spec_pkg::CSR_FRM) ? simt_core_pkg::PART_FRM : simt_core_pkg::PART_FCSR;
        end
        tern_spec_pkg::CSR_CYCLE, tern_spec_pkg::CSR_TIME:   shared_o = time_i[31:0];
        tern_spec_pkg::CSR_CYCLEH, tern_spec_pkg::CSR_TIMEH: shared_o = time_i[63:32];
        tern_spec_pkg::CSR_LOCAL_ID_X:   part_o = simt_core_pkg::PART_ID_X;
        tern_spec_pkg::CSR_LOCAL_ID_Y:   part_o = simt_core_pkg::PART_ID_Y;
        tern_spec_pkg::CSR_LOCAL_ID_Z:   part_o = simt_core_pkg::PART_ID_Z;
        tern_spec_pkg::CSR_GROUP_ID_X:   shared_o = group_q[slot_i][31:0];
        tern_spec_pkg::CSR_GROUP_ID_Y:   shared_o = group_q[slot_i][63:32];
        tern_spec_pkg::CSR_GROUP_ID_Z:   shared_o = group_q[slot_i][95:64];
        tern_spec_pkg::CSR_LOCAL_SIZE_X: shared_o = {21'd0, size_q[slot_i][10:0]};
        tern_spec_pkg::CSR_LOCAL_SIZE_Y: shared_o = {21'd0, size_q[slot_i][21:11]};
        tern_spec_pkg::CSR_LOCAL_SIZE_Z: shared_o = {21'd0, size_q[slot_i][32:22]};
        tern_spec_pkg::CSR_NUM_GROUPS_X: shared_o = packet_i.groups_x;
        tern_spec_pkg::CSR_NUM_GROUPS_Y: shared_o = packet_i.groups_y;
        tern_spec_pkg::CSR_NUM_GROUPS_Z: shared_o = packet_i.groups_z;
        tern_spec_pkg::CSR_OFFSET_X:     shared_o = packet_i.offset_x;
        tern_spec_pkg::CSR_OFFSET_Y:     shared_o = packet_i.offset_y;
        tern_spec_pkg::CSR_OFFSET_Z:     shared_o = packet_i.offset_z;
        tern_spec_pkg::CSR_WORK_DIM:     shared_o = {30'd0, packet_i.work_dim};
        tern_spec_pkg::CSR_GLOBAL_ID_X: begin
          shared_o = base_q[slot_i][31:0];
          part_o   = simt_core_pkg::PART_ID_X;
        end
        tern_spec_pkg::CSR_GLOBAL_ID_Y: begin
          shared_o = base_q[slot_i][63:32];
          part_o   = simt_core_pkg::PART_ID_Y;
        end
        tern_spec_pkg::CSR_GLOBAL_ID_Z: begin
          shared_o = base_q[slot_i][95:64];
          part_o   = simt_core_pkg::PART_ID_Z;
        end
        tern_spec_pkg::CSR_GLOBAL_SIZE_X: shared_o = packet_i.global_x;
        tern_spec_pkg::CSR_GLOBAL_SIZE_Y: shared_o = packet_i.global_y;
        tern_spec_pkg::CSR_GLOBAL_SIZE_Z: shared_o = packet_i.global_z;
        tern_spec_pkg::CSR_FULL_SIZE_X: shared_o = {21'd0, packet_i.local_x};
        tern_spec_pkg::CSR_FULL_SIZE_Y: shared_o = {21'd0, packet_i.local_y};
        tern_spec_pkg::CSR_FULL_SIZE_Z: shared_o = {21'd0, packet_i.local_z};
        tern_spec_pkg::CSR_ARGS:        shared_o = packet_i.args;
        tern_spec_pkg::CSR_STACK_TOP:   shared_o = stack_top;
        tern_spec_pkg::CSR_USER0:       shared_o = packet_i.user0;
        tern_spec_pkg::CSR_USER1:       shared_o = packet_i.user1;
        tern_spec_pkg::CSR_THREAD: begin
          shared_o = {{(32-WW-LW){1'b0}}, warp_i, {LW{1'b0}}};
          part_o   = simt_core_pkg::PART_LANE;
        end
        default: ok_o = 1'b0;
      endcase
    end
  end

endmodule
