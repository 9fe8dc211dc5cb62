// SPDX-License-Identifier: Apache-2.0
// Outcomes of accesses to the data cache, as coverage points. Bound into lsu_cache only by the coverage build.

module cover_cache #(
    parameter int LANES = 16
) (
    input logic clk_i,
    input logic clear_i,
    input logic load,
    input logic store,
    input logic amo,
    input logic hit,
    input logic match,
    input logic full_i,
    input logic t1_go,
    input logic joins,
    input logic alloc,
    input logic wait_room,
    input logic fill_room,
    input logic write_room_i,
    input logic request_room_i,
    input logic piece_credit_i,
    input logic serve_valid,
    input logic serve,
    input logic install_valid,
    input logic install
);

  load_hit:             cover property (@(posedge clk_i) t1_go && load && hit);
  load_joins_fill:      cover property (@(posedge clk_i) joins);
  load_miss:            cover property (@(posedge clk_i) alloc && load);
  store_hit:            cover property (@(posedge clk_i) t1_go && store && hit);
  store_miss:           cover property (@(posedge clk_i) t1_go && store && !hit && !full_i);
  store_beside_fill:    cover property (@(posedge clk_i) t1_go && store && match);
  atomic_hit_drops:     cover property (@(posedge clk_i) t1_go && amo && hit);
  atomic_miss:          cover property (@(posedge clk_i) t1_go && amo && !hit);
  atomic_beside_fill:   cover property (@(posedge clk_i) t1_go && amo && match);
  hit_waits_for_serve:  cover property (@(posedge clk_i) load && hit && serve_valid);
  hit_waits_for_credit: cover property (@(posedge clk_i) load && hit && !serve_valid && !piece_credit_i);
  join_without_room:    cover property (@(posedge clk_i) load && !hit && match && !wait_room);
  miss_without_fill:    cover property (@(posedge clk_i) load && !hit && !match && !fill_room);
  no_write_slot:        cover property (@(posedge clk_i) store && !write_room_i);
  no_request_room:      cover property (@(posedge clk_i) (load || store || amo) && !request_room_i);
  served:               cover property (@(posedge clk_i) serve);
  install_waits:        cover property (@(posedge clk_i) install_valid && !install);
  cleared_while_used:   cover property (@(posedge clk_i) clear_i && (load || store || amo));

  if (LANES >= 16) begin : g_full  // with a word per lane, fewer lanes do not fill a line of 64 bytes
    store_full_line:    cover property (@(posedge clk_i) t1_go && store && !hit && full_i);
  end

endmodule

bind lsu_cache cover_cache #(.LANES(LANES)) u_cover (.*);
