// SPDX-License-Identifier: Apache-2.0 Properties of mem_interleave, for any one port f_port and any one of its answers:
// answer f_pick, counted from 0 in the order of arrival from the port, leaves as answer f_pick of that port, unchanged,
// and nothing else leaves. A request goes to the port of its line and no other. An LR or SC goes only when nothing is
// in flight at another port.
logic f_started_q = 1'b0;
logic [PORTS-1:0] f_busy;
logic [(DEPTH_LOG2+1)*PORTS-1:0] f_counts;
logic [(WIDTH<<DEPTH_LOG2)*PORTS-1:0] f_entries;
(* hierconn *) logic [DEPTH_LOG2:0] \g_port[0].u_answers.f_count , \g_port[1].u_answers.f_count ;
(* hierconn *) logic [(WIDTH<<DEPTH_LOG2)-1:0] \g_port[0].u_answers.f_entries , \g_port[1].u_answers.f_entries ;
assign f_counts = {\g_port[1].u_answers.f_count , \g_port[0].u_answers.f_count };  // of the two ports of the proof
assign f_entries = {\g_port[1].u_answers.f_entries , \g_port[0].u_answers.f_entries };

for (genvar p = 0; p < PORTS; p++) begin : g_proof
  // f_owed_q counts requests that the port has not answered. The rest of flight_q are answers that wait in the FIFO.
  logic [FLIGHT_W-1:0] f_owed_q;
  logic f_room_q;
  logic [DEPTH_LOG2:0] f_count;
  assign f_count = f_counts[(DEPTH_LOG2+1)*p+:DEPTH_LOG2+1];
  always_ff @(posedge clk_i) begin
    f_owed_q <= f_owed_q + FLIGHT_W'(g_port[p].taken) - FLIGHT_W'(port_rsp_valid_i[p]);
    f_room_q <= port_room_o[p] && !rst_i;
    if (rst_i) f_owed_q <= '0;
  end
  always_comb begin
    if (port_rsp_valid_i[p]) assume (f_started_q && f_room_q && f_owed_q != '0);
    assume (!g_port[p].taken || g_port[p].flight_q < FLIGHT_W'((1 << FLIGHT_W) - 1));
    if (f_started_q) begin
      assert (g_port[p].has_room || !port_rsp_valid_i[p]);  // no answer is lost
      assert (g_port[p].flight_q == f_owed_q + FLIGHT_W'(g_port[p].count_q) && f_owed_q <= g_port[p].flight_q);
      assert (g_port[p].busy_q || g_port[p].flight_q == '0);
      assert (g_port[p].count_q == f_count && g_port[p].count_q <= (DEPTH_LOG2 + 1)'(1 << DEPTH_LOG2));
      assert (!g_port[p].room_q || g_port[p].count_q <= (DEPTH_LOG2 + 1)'((1 << DEPTH_LOG2) - 2));
      assert (!f_room_q || g_port[p].count_q <= (DEPTH_LOG2 + 1)'((1 << DEPTH_LOG2) - 1));
      // a request goes to its own port, when that is ready
      if (port_valid_o[p]) assert (req_valid_i && to == PORT_W'(p));
      if (req_valid_i && req_ready_o && to == PORT_W'(p)) assert (g_port[p].taken);
      // LR and SC: nothing is in flight at another port
      if (g_port[p].taken && req_i.op == 2'd2 && (req_i.amo == 4'd10 || req_i.amo == 4'd11))
        assert ((f_busy & ~(PORTS'(1) << p)) == '0);
    end
  end
  assign f_busy[p] = f_owed_q != '0 || waits[p];
end

(* anyconst *) logic [PORT_W-1:0] f_port;
(* anyconst *) logic [4:0] f_pick;
logic [4:0] f_in_q, f_out_q;
logic [WIDTH-1:0] f_given, f_given_q;
logic [PORTS-1:0] f_from_q;
logic f_is_it_q;
assign f_given = {port_ev_rd_i[f_port], port_ev_wr_i[f_port], port_rsp_tag_i[TAG_W*f_port+:TAG_W],
                  port_rsp_i[RSP_W*f_port+:RSP_W]};
always_ff @(posedge clk_i) begin
  f_started_q <= 1'b1;
  if (port_rsp_valid_i[f_port]) f_in_q <= f_in_q + 1'b1;
  if (port_rsp_valid_i[f_port] && f_in_q == f_pick) f_given_q <= f_given;
  if (grant[f_port]) f_out_q <= f_out_q + 1'b1;
  f_from_q <= grant & {PORTS{!rst_i}};
  f_is_it_q <= grant[f_port] && f_out_q == f_pick && !rst_i;
  if (rst_i) {f_in_q, f_out_q} <= '0;
end
always_comb begin
  assume (rst_i == !f_started_q);
  assume (!(&f_in_q));  // the counters do not wrap
  if (f_started_q) begin
    assert ((req_valid_i && req_ready_o) == |(port_valid_o & port_ready_i));
    assert ((port_valid_o & (port_valid_o - 1'b1)) == '0);
    assert (rsp_valid_o == |f_from_q && (f_from_q & (f_from_q - 1'b1)) == '0);
    if (!rsp_valid_o) assert (!ev_rd_o && !ev_wr_o);
    if (f_is_it_q) assert ({ev_rd_o, ev_wr_o, rsp_tag_o, rsp_o} == f_given_q);
    assert (f_out_q <= f_in_q && f_in_q - f_out_q == 5'(f_counts[(DEPTH_LOG2+1)*f_port+:DEPTH_LOG2+1]));
    for (int i = 0; i < 1 << DEPTH_LOG2; i++)
      if (f_out_q + 5'(i) == f_pick && 5'(i) < f_in_q - f_out_q)
        assert (f_entries[(WIDTH<<DEPTH_LOG2)*f_port+WIDTH*i+:WIDTH] == f_given_q);
    if (f_is_it_q) assert (f_in_q > f_pick);
  end
end
