// SPDX-License-Identifier: Apache-2.0
// Page walks, as coverage points. Bound into pte_walker only by the coverage build.

module cover_walker #(
    parameter int WALKS = 4
) (
    input logic               clk_i,
    input logic [6*WALKS-1:0] state_q,
    input logic [WALKS-1:0]   look_2_q,
    input logic               looked_first,
    input logic               hit,
    input logic               c_pointer,
    input logic               c_leaf,
    input logic [WALKS-1:0]   data_q,
    input logic               data_first_q,
    input logic               bus,
    input logic               m_pointer,
    input logic               m_leaf,
    input logic               open_valid_i,
    input logic [WALKS-1:0]   wants_look,
    input logic [WALKS-1:0]   wants_read,
    input logic [WALKS-1:0]   done_o,
    input logic [WALKS-1:0]   waits_o,
    input logic [WALKS-1:0]   join_i,
    input logic               read_valid_o,
    input logic               read_ready_i,
    input logic               drop,
    input logic               drop_first,
    input logic               clear
);
  logic looked, answered, unused;
  logic [WALKS-1:0] asked;
  assign unused = &{1'b0, state_q};  // all but one bit of each walk are unused
  assign looked = |look_2_q;
  assign answered = |data_q && !bus;
  for (genvar w = 0; w < WALKS; w++) begin : g_walk
    assign asked[w] = state_q[6*w+4];
  end

  looks_at_once:       cover property (@(posedge clk_i) open_valid_i && wants_look == '0);
  looks_later:         cover property (@(posedge clk_i) open_valid_i && wants_look != '0);
  looks_meet:          cover property (@(posedge clk_i) (wants_look & (wants_look - 1'b1)) != '0);
  second_level_cached: cover property (@(posedge clk_i) looked && hit && !looked_first && c_leaf);
  first_level_cached:  cover property (@(posedge clk_i) looked && hit && looked_first && c_pointer);
  large_page_cached:   cover property (@(posedge clk_i) looked && hit && looked_first && c_leaf);
  nothing_cached:      cover property (@(posedge clk_i) looked && !hit && looked_first);
  stale_line_reread:   cover property (@(posedge clk_i) looked && hit && !c_leaf && !(looked_first && c_pointer));
  reads_meet:          cover property (@(posedge clk_i) (wants_read & (wants_read - 1'b1)) != '0);
  read_waits:          cover property (@(posedge clk_i) read_valid_o && !read_ready_i);
  all_ask_memory:      cover property (@(posedge clk_i) &asked);
  goes_down:           cover property (@(posedge clk_i) answered && m_pointer);
  page_from_memory:    cover property (@(posedge clk_i) answered && m_leaf && !data_first_q);
  large_from_memory:   cover property (@(posedge clk_i) answered && m_leaf && data_first_q);
  no_page_in_memory:   cover property (@(posedge clk_i) answered && !m_leaf && !m_pointer);
  memory_fails:        cover property (@(posedge clk_i) |data_q && bus);
  kept_by_a_request:   cover property (@(posedge clk_i) |(done_o & ~waits_o & join_i));
  drops_second_level:  cover property (@(posedge clk_i) drop && !drop_first);
  drops_first_level:   cover property (@(posedge clk_i) drop && drop_first);
  drops_everything:    cover property (@(posedge clk_i) clear);

endmodule

bind pte_walker cover_walker #(.WALKS(WALKS)) u_cover (.*);
