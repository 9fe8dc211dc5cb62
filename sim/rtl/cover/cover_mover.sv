// SPDX-License-Identifier: Apache-2.0
// Copies and fills, as coverage points. Bound into mover only by the coverage build.

module cover_mover (
    input logic       clk_i,
    input logic       fill_q,
    input logic       load,
    input logic       empty,
    input logic [1:0] state_q,
    input logic       step,
    input logic       prime,
    input logic       takes,
    input logic       dst_first,
    input logic       dst_last,
    input logic [5:0] rotate,
    input logic       ring_full,
    input logic       wr_full,
    input logic       write_bad_q,
    input logic       read_bad_q,
    input logic       req_valid_q,
    input logic       req_ready_i,
    input logic [31:0] rows_q,
    input logic [31:0] slices_q
);

  copy_aligned:       cover property (@(posedge clk_i) step && !fill_q && dst_first && rotate == '0);
  copy_rotated:       cover property (@(posedge clk_i) step && !fill_q && dst_first && rotate != '0);
  copy_primed:        cover property (@(posedge clk_i) step && prime);
  source_ended:       cover property (@(posedge clk_i) step && !takes && !fill_q);
  row_of_one_line:    cover property (@(posedge clk_i) step && dst_first && dst_last);
  many_rows:          cover property (@(posedge clk_i) load && rows_q > 32'd1);
  many_slices:        cover property (@(posedge clk_i) load && slices_q > 32'd1);
  nothing_to_do:      cover property (@(posedge clk_i) state_q == 2'd1 && empty);
  fill:               cover property (@(posedge clk_i) load && fill_q);
  reads_wait:         cover property (@(posedge clk_i) ring_full);
  writes_wait:        cover property (@(posedge clk_i) wr_full);
  request_waits:      cover property (@(posedge clk_i) req_valid_q && !req_ready_i);
  write_fault:        cover property (@(posedge clk_i) write_bad_q);
  read_fault:         cover property (@(posedge clk_i) read_bad_q);

endmodule

bind mover cover_mover u_cover (.*);
