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
    input  logic [   2:0] select_i,
    input  logic          paging_i,  // The buffer is a paging buffer: all addresses are physical.
    input  logic          phys_i,
    // Clients, client 0 lowest.
    input  logic [   3:0] c_req_valid_i,
    output logic [   3:0] c_req_ready_o,
    input  logic [   7:0] c_req_op_i,
    input  logic [   3:0] c_req_amo_i,    // The SIMT executor is the only client with atomics.
    input  logic          c_req_exec_i,   // The SIMT executor is the only client that fetches instructions.
    input  logic [ 111:0] c_req_line_i,
    input  logic [2047:0] c_req_wdata_i,
    input  logic [ 255:0] c_req_be_i,
    input  logic [  31:0] c_req_tag_i,
    output logic [   3:0] c_rsp_valid_o,
    // Channel of the MMU.
    output logic          req_valid_o,
    input  logic          req_ready_i,
    output logic          req_bypass_o,
    output logic [   1:0] req_op_o,
    output logic [   3:0] req_amo_o,
    output logic          req_exec_o,
    output logic [  27:0] req_line_o,
    output logic [ 511:0] req_wdata_o,
    output logic [  63:0] req_be_o,
    output logic [   9:0] req_tag_o,
    input  logic          rsp_valid_i,
    input  logic [   1:0] rsp_client_i
);
  logic [1:0] client;
  logic [27:0] line;

  assign client = select_i[0] ? 2'd1 : select_i[1] ? 2'd2 : select_i[2] ? 2'd3 : 2'd0;
  assign req_bypass_o = paging_i || (client == 2'd0 && phys_i);
  assign line = c_req_line_i[28*client+:28];
  assign req_valid_o = c_req_valid_i[client];
  assign req_op_o = c_req_op_i[2*client+:2];
  assign req_amo_o = c_req_amo_i;
  assign req_exec_o = client == 2'd1 && c_req_exec_i;
  assign req_line_o = {line[27:26] & {2{req_bypass_o}}, line[25:0]};
  assign req_wdata_o = c_req_wdata_i[512*client+:512];
  assign req_be_o = c_req_be_i[64*client+:64];
  assign req_tag_o = {client, c_req_tag_i[8*client+:8]};

  always_comb begin
    c_req_ready_o = '0;
    c_req_ready_o[client] = req_ready_i;
    c_rsp_valid_o = '0;
    c_rsp_valid_o[rsp_client_i] = rsp_valid_i;
  end
endmodule
