// SPDX-License-Identifier: Apache-2.0
// Memory behind a memory channel, with all reordering that its rules allow. Requests to different lines take effect in
// a random order, at least delay_i cycles after the request; answers come later, in a random order. Before a request
// takes effect its page is looked up, in a random order. If the page is in `absent`, the request is refused, and so are
// all requests that have not passed this lookup, until the bench clears `refusing`.
//
// Lines from LINES on answer with a page fault. The bench reads and changes the contents in `bytes`.
module memory #(
    parameter int LINES = 1024
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  int           delay_i,      // least number of cycles from request to effect
    input  logic         orderly_i,    // no random waits: one answer a cycle, in order
    input  logic         req_valid_i,
    output logic         req_ready_o,
    input  logic [1:0]   req_op_i,
    input  logic [3:0]   req_amo_i,
    input  logic [27:0]  req_line_i,
    input  logic [511:0] req_wdata_i,
    input  logic [63:0]  req_be_i,
    input  logic [6:0]   req_tag_i,
    output logic         rsp_valid_o,
    output logic [6:0]   rsp_tag_o,
    output logic [511:0] rsp_data_o,
    output logic [7:0]   rsp_fault_o,
    output logic         pass_o,
    output logic [6:0]   pass_tag_o
);
  localparam int SLOTS = 128;

  logic [7:0] bytes[0:LINES*64-1];

  logic busy[SLOTS], passed[SLOTS], done[SLOTS];
  logic absent[LINES/64];     // by page
  logic refusing = 1'b0;
  int unsigned refused = 0;
  int unsigned stamp[SLOTS];  // order of acceptance
  int unsigned at[SLOTS];
  logic [1:0] op[SLOTS];
  logic [3:0] amo[SLOTS];
  logic [27:0] line[SLOTS];
  logic [511:0] data[SLOTS];
  logic [63:0] be[SLOTS];
  logic [6:0] tag[SLOTS];
  logic [7:0] fault[SLOTS];
  int unsigned now, next_stamp, accepted, reads, writes, atomics;
  logic reserved;
  int unsigned reserved_word;
  logic [31:0] reserved_thread;

  function automatic logic [31:0] word_at(input int unsigned a);
    return {bytes[a+3], bytes[a+2], bytes[a+1], bytes[a]};
  endfunction

  function automatic logic [31:0] amo_value(input logic [3:0] f, input logic [31:0] o, input logic [31:0] b);
    case (f)
      tern_pkg::AMO_ADD: return o + b;
      tern_pkg::AMO_XOR: return o ^ b;
      tern_pkg::AMO_AND: return o & b;
      tern_pkg::AMO_OR: return o | b;
      tern_pkg::AMO_MIN: return $signed(o) < $signed(b) ? o : b;
      tern_pkg::AMO_MAX: return $signed(o) < $signed(b) ? b : o;
      tern_pkg::AMO_MINU: return o < b ? o : b;
      tern_pkg::AMO_MAXU: return o < b ? b : o;
      default: return b;
    endcase
  endfunction

  task automatic perform(input int s);
    int unsigned base;
    logic [31:0] o, v, partner;
    logic store;
    logic [511:0] old;
    base = int'(line[s]) * 64;
    fault[s] = line[s] >= 28'(LINES) ? tern_spec_pkg::FAULT_PAGE : 8'd0;
    if (fault[s] != 0) return;
    for (int b = 0; b < 64; b++) old[b*8+:8] = bytes[base+b];
    if (op[s] == tern_pkg::MEM_WRITE) begin
      for (int b = 0; b < 64; b++) if (be[s][b]) begin
        bytes[base+b] = data[s][b*8+:8];
        if (reserved && reserved_word == ((base + b) & ~3)) reserved = 1'b0;
      end
    end else if (op[s] == tern_pkg::MEM_ATOMIC) begin
      for (int w = 0; w < 16; w++) if (be[s][w*4]) begin
        o = old[w*32+:32];
        partner = data[s][(w^8)*32+:32];
        v = amo_value(amo[s], o, data[s][w*32+:32]);
        store = 1'b1;
        if (amo[s] >= tern_pkg::AMO_CAS && be[s] != 64'hf << (w * 4))
          report::error($sformatf("atomic %0d of more than one word: be %h", amo[s], be[s]));
        case (amo[s])
          tern_pkg::AMO_CAS: store = o == partner;
          tern_pkg::AMO_LR: begin
            store = 1'b0;
            reserved = 1'b1;
            reserved_word = base + w * 4;
            reserved_thread = partner;
          end
          tern_pkg::AMO_SC: begin
            store = reserved && reserved_word == base + w * 4 && reserved_thread == partner;
            old[w*32+:32] = {31'b0, !store};
            if (reserved_thread == partner) reserved = 1'b0;
          end
          default: ;
        endcase
        if (store) begin
          if (reserved && reserved_word == base + w * 4) reserved = 1'b0;
          for (int b = 0; b < 4; b++) bytes[base+w*4+b] = v[b*8+:8];
        end
      end
    end
    data[s] = old;
  endtask

  // Returns one of the requests whose page may be looked up: the oldest if orderly_i, else a random one. -1: none.
  function automatic int choose_pass();
    int found = -1, seen = 0;
    for (int s = 0; s < SLOTS; s++) if (busy[s] && !passed[s]) begin
      logic blocked;
      blocked = 1'b0;
      for (int t = 0; t < SLOTS; t++)
        if (busy[t] && !passed[t] && line[t] == line[s] && stamp[t] < stamp[s]) blocked = 1'b1;
      if (!blocked) begin
        seen++;
        if (orderly_i ? (found < 0 || stamp[s] < stamp[found]) : bench_random::next() % seen == 0) found = s;
      end
    end
    return found;
  endfunction

  task automatic pass(input int s);
    passed[s] = 1'b1;
    refusing = refusing || (line[s] < 28'(LINES) && absent[int'(line[s])/64]);
    if (refusing) begin
      done[s] = 1'b1;
      fault[s] = tern_spec_pkg::FAULT_PAGE_ABSENT;
      refused++;
    end else if (line[s] < 28'(LINES)) begin
      pass_o <= 1'b1;
      pass_tag_o <= tag[s];
    end
  endtask

  // Returns one of the requests that may take effect, or be answered: the oldest if orderly_i, else a random one.
  function automatic int choose(input logic effect);
    int found = -1, seen = 0;
    for (int s = 0; s < SLOTS; s++) if (busy[s] && passed[s] && done[s] != effect) begin
      logic blocked;
      blocked = effect && now < at[s] + delay_i;
      if (effect) for (int t = 0; t < SLOTS; t++)
        if (busy[t] && !done[t] && line[t] == line[s] && stamp[t] < stamp[s]) blocked = 1'b1;
      if (!blocked) begin
        seen++;
        if (orderly_i ? (found < 0 || stamp[s] < stamp[found]) : bench_random::next() % seen == 0) found = s;
      end
    end
    return found;
  endfunction

  always @(posedge clk_i) begin
    int s;
    now = now + 1;
    rsp_valid_o <= 1'b0;
    pass_o <= 1'b0;
    rsp_data_o <= {16{32'hdeadbeef}};
    if (req_valid_i && req_ready_o) begin
      s = 0;
      while (busy[s]) s++;
      busy[s] = 1'b1;
      passed[s] = 1'b0;
      done[s] = 1'b0;
      stamp[s] = next_stamp;
      at[s] = now;
      op[s] = req_op_i;
      amo[s] = req_amo_i;
      line[s] = req_line_i;
      data[s] = req_wdata_i;
      be[s] = req_be_i;
      tag[s] = req_tag_i;
      for (int t = 0; t < SLOTS; t++) if (t != s && busy[t] && tag[t] == req_tag_i)
        report::error($sformatf("tag %h is already in use", req_tag_i));
      next_stamp++;
      accepted++;
      case (req_op_i)
        tern_pkg::MEM_READ: reads++;
        tern_pkg::MEM_WRITE: writes++;
        default: atomics++;
      endcase
    end
    if (orderly_i || bench_random::next() % 4 != 0) begin
      s = choose_pass();
      if (s >= 0) pass(s);
    end
    if (orderly_i || bench_random::next() % 4 != 0) begin
      s = choose(1'b1);
      if (s >= 0) begin
        perform(s);
        done[s] = 1'b1;
      end
    end
    if (orderly_i || bench_random::next() % 4 != 0) begin
      s = choose(1'b0);
      if (s >= 0) begin
        busy[s] = 1'b0;
        rsp_valid_o <= 1'b1;
        rsp_tag_o <= tag[s];
        rsp_fault_o <= fault[s];
        if (fault[s] == 0) rsp_data_o <= data[s];
      end
    end
    req_ready_o <= orderly_i || bench_random::next() % 3 != 0;
    if (rst_i) begin
      for (int t = 0; t < SLOTS; t++) busy[t] = 1'b0;
      for (int p = 0; p < LINES / 64; p++) absent[p] = 1'b0;
      reserved = 1'b0;
      now = 0;
      next_stamp = 0;
    end
  end

  // A stalled request must not change.
  logic stalled_q;
  logic [612:0] offer_q, offer;
  assign offer = {req_op_i, req_amo_i, req_line_i, req_op_i == tern_pkg::MEM_READ ? 576'b0 : {req_be_i, req_wdata_i},
                  req_tag_i[2:0]};
  always @(posedge clk_i) begin
    stalled_q <= req_valid_i && !req_ready_o && !rst_i;
    offer_q   <= offer;
    if (stalled_q && !rst_i && (!req_valid_i || offer != offer_q))
      report::error("a request was taken back or changed");
  end
endmodule
