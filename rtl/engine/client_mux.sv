// SPDX-License-Identifier: Apache-2.0
// Connects the memory channels of an engine's clients to the channel of its MMU. Client 0 is the command processor;
// clients 1 to 3 are the executors.
//
// Contract: both sides are memory channels (docs/hardware/interfaces.md). The number of the client is the upper two
// bits of the tag. select_i has one bit for each executor and opens its channel; if no bit is set, the channel of the
// command processor is open. A request on a closed channel stays on offer. phys_i: a request of the command processor
// is physical. Any other request is virtual, with an address of 32 bits, unless paging_i is high. The module is
// combinational.
// No arbitration is needed, because the command processor runs one executor at a time and makes no request meanwhile.
// An arbiter would cost a register for the turn, and would hide a second client that makes requests by mistake.
module client_mux (
    input  logic [2:0]                       select_i,
    // The buffer is a paging buffer: all addresses are physical.
    input  logic                             paging_i,
    input  logic                             phys_i,
    // Clients, client 0 lowest.
    input  logic [3:0]                       c_req_valid_i,
    output logic [3:0]                       c_req_ready_o,
    input  logic [4*tern_pkg::MEM_REQ_W-1:0] c_req_i,       // Vector of mem_req_t.
    // The SIMT executor is the only client that fetches instructions.
    input  logic                             c_req_exec_i,
    input  logic [31:0]                      c_req_tag_i,
    output logic [3:0]                       c_rsp_valid_o,
    // Channel of the MMU.
    output logic                             req_valid_o,
    input  logic                             req_ready_i,
    output logic                             req_bypass_o,
    output tern_pkg::mem_req_t               req_o,
    output logic                             req_exec_o,
    output logic [9:0]                       req_tag_o,
    input  logic                             rsp_valid_i,
    input  logic [1:0]                       rsp_client_i
);
  logic [1:0] client;
  logic unused;
  tern_pkg::mem_req_t simt;

  assign unused = &{1'b0, simt};
  assign client = select_i[0] ? 2'd1 : select_i[1] ? 2'd2 : select_i[2] ? 2'd3 : 2'd0;
  assign req_bypass_o = paging_i || (client == 2'd0 && phys_i);
  assign req_valid_o = c_req_valid_i[client];
  assign req_exec_o = client == 2'd1 && c_req_exec_i;
  assign req_tag_o = {client, c_req_tag_i[8*client+:8]};

  always_comb begin
    simt = c_req_i[tern_pkg::MEM_REQ_W+:tern_pkg::MEM_REQ_W];
    req_o = '0;
    for (int c = 0; c < 4; c++) if (client == 2'(c)) req_o = c_req_i[tern_pkg::MEM_REQ_W*c+:tern_pkg::MEM_REQ_W];
    req_o.amo = simt.amo;  // The SIMT executor is the only client with atomics.
    if (!req_bypass_o) req_o.line[27:26] = '0;
    for (int c = 0; c < 4; c++) begin
      c_req_ready_o[c] = req_ready_i && client == 2'(c);
      c_rsp_valid_o[c] = rsp_valid_i && rsp_client_i == 2'(c);
    end
  end
endmodule
