// SPDX-License-Identifier: Apache-2.0
// The link between a host and the device over a serial line (docs/board.md): it executes the requests of the host and
// answers them.
//
// Contract: BITS bits of the line take CLOCKS cycles of clk_i, at least 4 cycles a bit. 25 and 3 are 3 Mbaud at 25 MHz;
// 50 and 3 are 3 Mbaud at 50 MHz. uart_rx_i may be asynchronous. uart_tx_o comes from a register.
// regs_* is the AXI4-Lite master for the device's registers and fits s_axi of tern_top. mem_* is the master for memory,
// beside that of the device. Both masters of memory are of one kind, so that an arbiter can choose between them: AXI4
// of 512 bits, INCR, one beat of full width, aligned, with strobes for a part of a line. Each master of the link has at
// most one transfer in flight; its id is 0. The link takes read data from R within 130 cycles. Addresses are those of
// the device, from 0 on, in the lower 4 GiB. irq_i is a level, which each answer carries.
// Two block RAMs (EBR) hold the frames that wait, one for each direction.
module tern_link #(
    parameter int CLOCKS = 25,       // Clock cycles of BITS bits.
    parameter int BITS = 3,          // Bits in CLOCKS clock cycles.
    parameter bit SIMULATION = 1'b0  // The identity tells the host that device time is simulated.
) (
    input  logic            clk_i,
    input  logic            rst_i,
    input  logic            uart_rx_i,
    output logic            uart_tx_o,
    input  logic            irq_i,
    // AXI4-Lite master for the registers.
    output tern_pkg::lite_req_t      regs_req_o,
    input  tern_pkg::axi_req_ready_t regs_req_ready_i,
    input  tern_pkg::lite_rsp_t      regs_rsp_i,
    output tern_pkg::axi_rsp_ready_t regs_rsp_ready_o,
    // AXI4 master for the memory.
    output tern_pkg::axi_req_t       mem_req_o,
    input  tern_pkg::axi_req_ready_t mem_req_ready_i,
    input  tern_pkg::axi_rsp_t       mem_rsp_i,
    output tern_pkg::axi_rsp_ready_t mem_rsp_ready_o
);
  localparam int DEPTH_LOG2 = 11;
  localparam int LIMIT = 960;  // Largest number of data bytes; two such frames fit into a ring.

  logic rx_valid, rx_error, tx_valid, tx_ready;
  logic [7:0] rx_data, tx_data;
  logic rx_put, rx_end, rx_drop, rx_full, rx_room, in_valid, in_ready, in_last;
  logic tx_put, tx_end, tx_drop, tx_full, tx_room, out_valid, out_ready, out_last;
  logic [7:0] rx_byte, in_data, tx_byte, out_data;

  link_uart_rx #(.CLOCKS(CLOCKS), .BITS(BITS)) u_rx (
      .clk_i,
      .rst_i,
      .rx_i(uart_rx_i),
      .valid_o(rx_valid),
      .error_o(rx_error),
      .data_o(rx_data)
  );
  link_deframe u_deframe (
      .clk_i,
      .rst_i,
      .valid_i(rx_valid),
      .error_i(rx_error),
      .data_i(rx_data),
      .put_o(rx_put),
      .data_o(rx_byte),
      .end_o(rx_end),
      .drop_o(rx_drop),
      .full_i(rx_full)
  );
  link_ring #(.DEPTH_LOG2(DEPTH_LOG2)) u_in (
      .clk_i,
      .rst_i,
      .put_i(rx_put),
      .data_i(rx_byte),
      .end_i(rx_end),
      .drop_i(rx_drop),
      .full_o(rx_full),
      .room_o(rx_room),
      .valid_o(in_valid),
      .ready_i(in_ready),
      .last_o(in_last),
      .data_o(in_data)
  );
  link_execute #(.LIMIT(LIMIT), .WINDOW((1 << DEPTH_LOG2) - 1), .SIMULATION(SIMULATION)) u_execute (
      .in_valid_i(in_valid),
      .in_ready_o(in_ready),
      .in_last_i(in_last),
      .in_data_i(in_data),
      .put_o(tx_put),
      .data_o(tx_byte),
      .end_o(tx_end),
      .drop_o(tx_drop),
      .room_i(tx_room),
      .*
  );
  link_ring #(.DEPTH_LOG2(DEPTH_LOG2), .ROOM(LIMIT + 5)) u_out (
      .clk_i,
      .rst_i,
      .put_i(tx_put),
      .data_i(tx_byte),
      .end_i(tx_end),
      .drop_i(tx_drop),
      .full_o(tx_full),
      .room_o(tx_room),
      .valid_o(out_valid),
      .ready_i(out_ready),
      .last_o(out_last),
      .data_o(out_data)
  );
  link_frame u_frame (
      .clk_i,
      .rst_i,
      .valid_i(out_valid),
      .ready_o(out_ready),
      .last_i(out_last),
      .data_i(out_data),
      .valid_o(tx_valid),
      .ready_i(tx_ready),
      .data_o(tx_data)
  );
  link_uart_tx #(.CLOCKS(CLOCKS), .BITS(BITS)) u_tx (
      .clk_i,
      .rst_i,
      .valid_i(tx_valid),
      .ready_o(tx_ready),
      .data_i(tx_data),
      .tx_o(uart_tx_o)
  );

  logic unused;
  assign unused = &{1'b0, rx_room, tx_full};
endmodule
