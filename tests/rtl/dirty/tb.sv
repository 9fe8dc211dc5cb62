// SPDX-License-Identifier: Apache-2.0
// Bench of dirty_plane and dirty_command with pages of 4 KiB, 64 KiB and 2 MiB (D1 to D3): bits, marks, and commands,
// with a memory that answers in any order and may fail (rig.sv). The last instance bounds the cycles of a query_clear
// of 4 GiB in pages of 4 KiB. tests/rtl/mem_fabric tests both modules beside traffic on a port.
module tb;
  logic clk = 0;
  always #5 clk = !clk;
  int seed = 1;
  bit seeded = 0;
  logic [4:0] done;

  // Sizes: 3.2 lines, of 512 dirty bits each; 1,100 lines, with words of a whole line; larger pages, with smaller
  // words.
  rig #(.NAME("4 KiB"), .MEM_PAGES(1650)) pages_4k (.clk_i(clk), .go_i(seeded), .seed_i(seed), .done_o(done[0]));
  rig #(.NAME("4 KiB, 1100 lines"), .MEM_PAGES(1100 * 512 - 77), .WORD(512), .ROUNDS(24))
      pages_4k_wide (.clk_i(clk), .go_i(seeded), .seed_i(seed + 1), .done_o(done[1]));
  rig #(.NAME("64 KiB"), .PAGE_LOG2(16), .MEM_PAGES(16 * 3000 + 5), .WORD(64))
      pages_64k (.clk_i(clk), .go_i(seeded), .seed_i(seed + 2), .done_o(done[2]));
  rig #(.NAME("2 MiB"), .PAGE_LOG2(21), .MEM_PAGES(1 << 20), .WORD(32))
      pages_2m (.clk_i(clk), .go_i(seeded), .seed_i(seed + 3), .done_o(done[3]));
  rig #(.NAME("4 GiB"), .MEM_PAGES(1 << 20), .ROUNDS(0), .FIGURES(1'b1))
      pages_4g (.clk_i(clk), .go_i(seeded), .seed_i(seed + 4), .done_o(done[4]));

  initial begin
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    $display("seed %0d", seed);
    seeded = 1;
    wait (&done);
    report::pass();
  end
endmodule
