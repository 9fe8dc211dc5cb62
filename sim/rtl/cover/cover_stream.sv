// SPDX-License-Identifier: Apache-2.0
// Transfers of state to and from the pages of a save area, as coverage points. Bound into cp_stream only by the
// coverage build.

module cover_stream #(
    parameter int PAGE_LOG2 = 6
) (
    input logic                    clk_i,
    input logic                    rst_i,
    input logic                    start_i,
    input logic                    save_i,
    input logic [15:0]             lines_i,
    input logic                    clear_i,
    input logic                    write_q,
    input logic                    accepted,
    input logic                    ask_list,
    input logic [22+PAGE_LOG2-1:0] line_q,
    input logic                    here_q,
    input logic                    next_valid_q,
    input logic [15:0]             left_q,
    input logic                    wait_q,
    input logic                    rsp_list,
    input logic                    full,
    input logic                    go_i,
    input logic                    dropped,
    input logic                    no_page,
    input logic                    restore_i,
    input logic                    save_valid_i,
    input logic                    save_ready_o,
    input logic                    restore_valid_o,
    input logic                    restore_ready_i,
    input logic                    req_valid_o,
    input logic                    req_ready_i
);

  logic turns, unused;
  assign turns = accepted && !ask_list && &line_q[PAGE_LOG2-1:0];
  assign unused = &{1'b0, line_q};

  save:                cover property (@(posedge clk_i) start_i && save_i);
  restore_of_a_page:   cover property (@(posedge clk_i) start_i && !save_i && lines_i < 16'((1 << PAGE_LOG2) - 1));
  restore_of_pages:    cover property (@(posedge clk_i) start_i && !save_i && lines_i >= 16'((1 << PAGE_LOG2) - 1));
  list_beside_state:   cover property (@(posedge clk_i) rsp_list && accepted && !ask_list);
  save_turns_page:     cover property (@(posedge clk_i) turns && write_q);
  restore_turns_page:  cover property (@(posedge clk_i) turns && !write_q);
  waits_for_the_list:  cover property (@(posedge clk_i) !here_q && !next_valid_q && (write_q ? wait_q : left_q != '0) &&
                                       !rst_i);
  page_missing:        cover property (@(posedge clk_i) dropped || (no_page && restore_i));
  executor_waits:      cover property (@(posedge clk_i) save_valid_i && !save_ready_o);
  executor_takes_late: cover property (@(posedge clk_i) restore_valid_o && !restore_ready_i);
  reads_ahead:         cover property (@(posedge clk_i) accepted && !write_q && go_i && !restore_i);
  all_in_flight:       cover property (@(posedge clk_i) full);
  given_up:            cover property (@(posedge clk_i) clear_i && left_q != '0);
  memory_waits:        cover property (@(posedge clk_i) req_valid_o && !req_ready_i);

endmodule

bind cp_stream cover_stream #(.PAGE_LOG2(PAGE_LOG2)) u_cover (.*);
