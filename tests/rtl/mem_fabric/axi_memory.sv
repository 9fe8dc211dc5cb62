// SPDX-License-Identifier: Apache-2.0
// An AXI4 memory that uses all the freedom of the standard: it accepts AW and W independently, reads and writes take
// effect at any time between request and answer, answers to different ids come in any order, and each channel stalls at
// random. Writes of one id take effect and are answered in order. Each transfer must be one beat of 64 bytes with a
// stable payload; reads in flight must have distinct ids. Writes of lines from ERR_RD on, and reads of lines from
// ERR_WR on, are answered with SLVERR. A bench makes the memory slow with the variables ar_every ... pause_for.
module axi_memory #(
    parameter int LINES = 16384,
    parameter int ERR_RD = LINES,
    parameter int ERR_WR = LINES,
    parameter longint BASE = 0,
    parameter int PORT = 0,       // this port; lines are interleaved over PORTS ports in blocks of 4
    parameter int PORTS = 1
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  int           latency_i,  // least latency, in cycles
    input  int           spread_i,   // greatest random addition to the latency, in cycles
    input  int           stall_i,    // cycles of 256 in which a channel stalls
    input  logic         arvalid_i,
    output logic         arready_o,
    input  logic [  5:0] arid_i,
    input  logic [ 63:0] araddr_i,
    output logic         rvalid_o,
    input  logic         rready_i,
    output logic [  5:0] rid_o,
    output logic [511:0] rdata_o,
    output logic [  1:0] rresp_o,
    input  logic         awvalid_i,
    output logic         awready_o,
    input  logic [  5:0] awid_i,
    input  logic [ 63:0] awaddr_i,
    input  logic         wvalid_i,
    output logic         wready_o,
    input  logic [511:0] wdata_i,
    input  logic [ 63:0] wstrb_i,
    output logic         bvalid_o,
    input  logic         bready_i,
    output logic [  5:0] bid_o,
    output logic [  1:0] bresp_o
);
  localparam int DEPTH = 512;  // capacity for writes in flight

  int ar_every = 1, aw_every = 1, w_every = 1;  // a channel is ready in one of so many cycles
  int most_of_reads = 64, most_of_writes = 512;  // greatest numbers in flight
  int pause_every = 0, pause_for = 0;            // of pause_every cycles, no channel is ready in the first pause_for

  logic [511:0] mem[0:LINES-1];
  int now = 0, n_reads, n_writes, most_reads, most_writes;
  int effect_time[0:LINES-1];  // cycle in which the last write of a line took effect

  // Reads, by id. rd_list has the ids in flight, in any order.
  logic rd_busy[0:63], rd_taken[0:63];
  int rd_line[0:63], rd_effect[0:63], rd_due[0:63];
  logic [511:0] rd_data[0:63];
  int rd_list[0:63];

  // Writes, in order of arrival. Each id has a ring of indexes into them.
  int aw_line[0:DEPTH-1], aw_id[0:DEPTH-1], aw_count, w_count, joined;
  logic [511:0] w_data[0:DEPTH-1];
  logic [63:0] w_strb[0:DEPTH-1];
  int ring[0:63][0:DEPTH-1], ring_in[0:63], ring_effect[0:63], ring_out[0:63];
  int wr_effect[0:DEPTH-1], wr_due[0:DEPTH-1];

  logic ar_held, aw_held, w_held;
  logic [63:0] ar_was, aw_was;
  logic [511:0] w_was;

  function automatic int line_of(logic [63:0] addr);
    logic [63:0] offset;
    offset = addr - BASE;
    if (offset[5:0] != 0 || offset >= 64'(LINES) * 64) $fatal(1, "address %h outside of the memory", addr);
    if (int'(offset[37:8]) % PORTS != PORT) $fatal(1, "address %h at port %0d", addr, PORT);
    return int'(offset[37:6]);
  endfunction

  function automatic logic go();
    return int'($urandom_range(255)) >= stall_i;
  endfunction

  function automatic logic takes(int every);
    return go() && now % every == 0 && (pause_every == 0 || now % pause_every >= pause_for);
  endfunction

  task automatic reads();
    int at, id;
    if (arvalid_i && arready_o) begin
      if (rd_busy[arid_i]) $fatal(1, "read id %0d twice in flight", arid_i);
      rd_busy[arid_i] = 1;
      rd_taken[arid_i] = 0;
      rd_line[arid_i] = line_of(araddr_i);
      rd_due[arid_i] = now + latency_i + int'($urandom_range(spread_i));
      rd_effect[arid_i] = now + int'($urandom_range(rd_due[arid_i] - now));
      rd_list[n_reads] = int'(arid_i);
      n_reads++;
      if (n_reads > most_reads) most_reads = n_reads;
    end
    for (int i = 0; i < n_reads; i++) begin
      id = rd_list[i];
      if (!rd_taken[id] && rd_effect[id] <= now) begin
        rd_data[id] = mem[rd_line[id]];
        rd_taken[id] = 1;
      end
    end
    if (!rvalid_o || rready_i) begin
      rvalid_o <= 0;
      at = -1;
      for (int i = 0; i < n_reads && at < 0; i++) if (rd_due[rd_list[i]] <= now && rd_taken[rd_list[i]]) at = i;
      if (at >= 0 && go()) begin
        id = rd_list[at];
        rvalid_o <= 1;
        rid_o <= 6'(id);
        rdata_o <= rd_line[id] >= ERR_WR ? 512'hdead : rd_data[id];
        rresp_o <= rd_line[id] >= ERR_WR ? 2'b10 : 2'b00;
        rd_busy[id] = 0;
        n_reads--;
        rd_list[at] = rd_list[n_reads];
      end
    end
    arready_o <= takes(ar_every) && n_reads < most_of_reads;
  endtask

  task automatic writes();
    int k, start, id;
    if (awvalid_i && awready_o) begin
      aw_line[aw_count % DEPTH] = line_of(awaddr_i);
      aw_id[aw_count % DEPTH] = int'(awid_i);
      aw_count++;
    end
    if (wvalid_i && wready_o) begin
      w_data[w_count % DEPTH] = wdata_i;
      w_strb[w_count % DEPTH] = wstrb_i;
      w_count++;
    end
    while (joined < aw_count && joined < w_count) begin
      k = joined % DEPTH;
      ring[aw_id[k]][ring_in[aw_id[k]]%DEPTH] = k;
      ring_in[aw_id[k]]++;
      wr_due[k] = now + latency_i + int'($urandom_range(spread_i));
      wr_effect[k] = now + int'($urandom_range(wr_due[k] - now));
      joined++;
      n_writes++;
      if (n_writes > most_writes) most_writes = n_writes;
    end
    for (int i = 0; i < 64; i++) begin
      while (ring_effect[i] < ring_in[i] && wr_effect[ring[i][ring_effect[i]%DEPTH]] <= now) begin
        k = ring[i][ring_effect[i]%DEPTH];
        if (aw_line[k] < ERR_RD) begin
          for (int b = 0; b < 64; b++) if (w_strb[k][b]) mem[aw_line[k]][8*b+:8] = w_data[k][8*b+:8];
          effect_time[aw_line[k]] = now;
        end
        ring_effect[i]++;
      end
    end
    if (!bvalid_o || bready_i) begin
      bvalid_o <= 0;
      start = int'($urandom_range(63));
      if (go()) for (int j = 0; j < 64; j++) begin
        id = (start + j) % 64;
        if (ring_out[id] < ring_effect[id] && wr_due[ring[id][ring_out[id]%DEPTH]] <= now) begin
          k = ring[id][ring_out[id]%DEPTH];
          bvalid_o <= 1;
          bid_o <= 6'(id);
          bresp_o <= aw_line[k] >= ERR_RD ? 2'b10 : 2'b00;
          ring_out[id]++;
          n_writes--;
          break;
        end
      end
    end
    awready_o <= takes(aw_every) && aw_count - joined < 8 && n_writes + aw_count - joined < most_of_writes &&
      n_writes < DEPTH - 16;
    wready_o <= takes(w_every) && w_count - joined < 8 && n_writes + w_count - joined < most_of_writes &&
      n_writes < DEPTH - 16;
  endtask

  always @(posedge clk_i) begin
    now++;
    if (rst_i) begin
      n_reads = 0;
      n_writes = 0;
      aw_count = 0;
      w_count = 0;
      joined = 0;
      rvalid_o <= 0;
      bvalid_o <= 0;
      arready_o <= 0;
      awready_o <= 0;
      wready_o <= 0;
      ar_held <= 0;
      aw_held <= 0;
      w_held <= 0;
      for (int i = 0; i < 64; i++) begin
        rd_busy[i] = 0;
        ring_in[i] = 0;
        ring_effect[i] = 0;
        ring_out[i] = 0;
      end
    end else begin
      if (ar_held && (!arvalid_i || {araddr_i[63:6], arid_i} != ar_was)) $fatal(1, "AR changed while stalled");
      if (aw_held && (!awvalid_i || {awaddr_i[63:6], awid_i} != aw_was)) $fatal(1, "AW changed while stalled");
      if (w_held && (!wvalid_i || wdata_i != w_was)) $fatal(1, "W changed while stalled");
      ar_held <= arvalid_i && !arready_o;
      aw_held <= awvalid_i && !awready_o;
      w_held <= wvalid_i && !wready_o;
      ar_was <= {araddr_i[63:6], arid_i};
      aw_was <= {awaddr_i[63:6], awid_i};
      w_was <= wdata_i;
      reads();
      writes();
    end
  end
endmodule
