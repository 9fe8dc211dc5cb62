// SPDX-License-Identifier: Apache-2.0 Ends of memory requests, as coverage points. Bound into mem_port only by the
// coverage build. b_*: the response of a write; set_*: setting of its dirty bit; direct_*: an atomic that ends without
// a write; wt_*, fill_*: the write and the read of the atomic unit. There is no point for a busy write port: the
// simulated memory accepts an address and its data in each cycle until 256 writes are outstanding, for which the port
// has room.

module cover_ends (
    input logic        clk_i,
    input logic        conflict,
    input logic        c_direct,
    input logic        direct_valid,
    input logic        b_valid,
    input logic        set_ready,
    input logic        wt_valid,
    input logic        wt_ready,
    input logic        fill_valid,
    input logic        rd_port_ready,
    input logic [15:0] bank_full
);

  read_and_write_end:   cover property (@(posedge clk_i) conflict);
  atomic_wrote_nothing: cover property (@(posedge clk_i) c_direct);
  direct_meets_write:   cover property (@(posedge clk_i) direct_valid && b_valid);
  write_waits_for_bit:  cover property (@(posedge clk_i) b_valid && !set_ready);
  atomic_write_back:    cover property (@(posedge clk_i) wt_valid && wt_ready);
  atomic_write_waits:   cover property (@(posedge clk_i) wt_valid && !wt_ready);
  atomic_fetch:         cover property (@(posedge clk_i) fill_valid);
  read_port_busy:       cover property (@(posedge clk_i) !rd_port_ready);
  write_bank_full:      cover property (@(posedge clk_i) |bank_full);

endmodule

bind mem_port cover_ends u_cover (.*);
