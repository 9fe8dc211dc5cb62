// SPDX-License-Identifier: Apache-2.0
// Passes over the banks of local memory, as coverage points. Bound into lsu_local only by the coverage build.

module cover_local #(
    parameter int LANES = 16,
    localparam int UNITS = LANES < 4 ? LANES : 4
) (
    input logic             clk_i,
    input logic             g_valid_q,
    input logic             g_go,
    input logic             g_last,
    input logic             g_amo_any,
    input logic             g_single,
    input logic [2:0]       g_op,
    input logic [LANES-1:0] rest_q,
    input logic [LANES-1:0] grant,
    input logic [LANES-1:0] shadow_q,
    input logic             g_flows,
    input logic [1:0]       hold_q,
    input logic             credit_i,
    input logic             room_o,
    input logic             scrub_busy_o,
    input logic             r_valid_q,
    input logic             r_write_q,
    input logic [LANES-1:0] r_bank_q,
    input logic [LANES-1:0] r_grant_q,
    input logic             o_amo_valid,
    input logic [3:0]       o_amo,
    input logic [UNITS-1:0] o_ahead_q,
    input logic [UNITS-1:0] o_before_q,
    input logic             holds
);

  logic fewer;                       // fewer banks than lanes are used: lanes share a word
  always_comb begin
    int n;
    n = 0;
    for (int i = 0; i < LANES; i++) n = n + 32'(r_grant_q[i]) - 32'(r_bank_q[i]);
    fewer = n > 0;
  end

  load_no_conflict:      cover property (@(posedge clk_i) g_go && g_op == simt_op_pkg::LSU_LOAD && g_last &&
                                         grant == rest_q);
  load_conflict:         cover property (@(posedge clk_i) g_go && g_op == simt_op_pkg::LSU_LOAD && !g_last);
  load_broadcast:        cover property (@(posedge clk_i) r_valid_q && !r_write_q && fewer && !o_amo_valid);
  store_no_conflict:     cover property (@(posedge clk_i) g_go && g_op == simt_op_pkg::LSU_STORE && g_last);
  store_conflict:        cover property (@(posedge clk_i) g_go && g_op == simt_op_pkg::LSU_STORE && !g_last);
  store_same_address:    cover property (@(posedge clk_i) g_go && g_op == simt_op_pkg::LSU_STORE &&
                                         (shadow_q & grant) != '0);
  atomic_pass:           cover property (@(posedge clk_i) g_go && g_amo_any && !g_single);
  atomic_one_by_one:     cover property (@(posedge clk_i) g_go && g_single && !g_last);
  atomic_hold:           cover property (@(posedge clk_i) g_valid_q && hold_q != 2'd0);
  atomic_flows:          cover property (@(posedge clk_i) g_go && g_flows && hold_q != 2'd0);
  atomic_one_ahead:      cover property (@(posedge clk_i) o_amo_valid && o_ahead_q != '0);
  atomic_two_ahead:      cover property (@(posedge clk_i) o_amo_valid && (o_before_q & ~o_ahead_q) != '0);
  sc_holds:              cover property (@(posedge clk_i) o_amo_valid && o_amo == tern_pkg::AMO_SC && holds);
  sc_fails:              cover property (@(posedge clk_i) o_amo_valid && o_amo == tern_pkg::AMO_SC && !holds);
  no_credit:             cover property (@(posedge clk_i) g_valid_q && !credit_i);
  queue_full:            cover property (@(posedge clk_i) !room_o);
  scrubbed:              cover property (@(posedge clk_i) scrub_busy_o);

endmodule

bind lsu_local cover_local #(.LANES(LANES)) u_cover (.*);
