// SPDX-License-Identifier: Apache-2.0
// Copies and fills, as coverage points. Bound into mover only by the coverage build.

module cover_mover (
    input logic       clk_i,
    input logic       is_fill,
    input logic       load,
    input logic       over,
    input logic [2:0] state_q,
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
    input logic [31:0] rows,
    input logic [31:0] slices_left,
    input logic [31:0] skip,
    input logic       halt,
    input logic       bad,
    input logic       stopped_q
);

  logic halted_q;  // the coming end was requested
  always_ff @(posedge clk_i) halted_q <= halt || (halted_q && state_q == 3'd4);

  copy_aligned:       cover property (@(posedge clk_i) step && !is_fill && dst_first && rotate == '0);
  copy_rotated:       cover property (@(posedge clk_i) step && !is_fill && dst_first && rotate != '0);
  copy_primed:        cover property (@(posedge clk_i) step && prime);
  source_ended:       cover property (@(posedge clk_i) step && !takes && !is_fill);
  row_of_one_line:    cover property (@(posedge clk_i) step && dst_first && dst_last);
  many_rows:          cover property (@(posedge clk_i) load && rows > 32'd1);
  many_slices:        cover property (@(posedge clk_i) load && slices_left > 32'd1);
  nothing_to_do:      cover property (@(posedge clk_i) state_q == 3'd2 && over);
  fill:               cover property (@(posedge clk_i) load && is_fill);
  reads_wait:         cover property (@(posedge clk_i) ring_full);
  writes_wait:        cover property (@(posedge clk_i) wr_full);
  request_waits:      cover property (@(posedge clk_i) req_valid_q && !req_ready_i);
  write_fault:        cover property (@(posedge clk_i) write_bad_q);
  read_fault:         cover property (@(posedge clk_i) read_bad_q);
  stopped:            cover property (@(posedge clk_i) stopped_q);
  stopped_in_fill:    cover property (@(posedge clk_i) stopped_q && is_fill);
  stopped_at_end:     cover property (@(posedge clk_i) state_q == 3'd4 && halted_q && over);
  stopped_by_fault:   cover property (@(posedge clk_i) state_q == 3'd4 && halted_q && bad);
  resumed:            cover property (@(posedge clk_i) load && state_q == 3'd2 && skip != '0);

endmodule

bind mover cover_mover u_cover (.*);
