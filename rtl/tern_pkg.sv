// SPDX-License-Identifier: Apache-2.0
// Constants and types that the modules of rtl/ share and that are not part of the hardware/software interface
// (tern_spec_pkg has that interface). docs/hardware/interfaces.md describes the channels that use them.
// In comments of rtl/ a letter with a number, such as C7 or A5, is a rule of docs/rules.md.

package tern_pkg;

  /* verilator lint_off UNUSEDPARAM */

  // Values of req_op, the operation of a memory request.
  localparam logic [1:0] MEM_READ = 2'd0;
  localparam logic [1:0] MEM_WRITE = 2'd1;
  localparam logic [1:0] MEM_ATOMIC = 2'd2;

  // Values of req_amo, the operation of an atomic memory request.
  localparam logic [3:0] AMO_SWAP = 4'd0;
  localparam logic [3:0] AMO_ADD = 4'd1;
  localparam logic [3:0] AMO_XOR = 4'd2;
  localparam logic [3:0] AMO_AND = 4'd3;
  localparam logic [3:0] AMO_OR = 4'd4;
  localparam logic [3:0] AMO_MIN = 4'd5;
  localparam logic [3:0] AMO_MAX = 4'd6;
  localparam logic [3:0] AMO_MINU = 4'd7;
  localparam logic [3:0] AMO_MAXU = 4'd8;
  localparam logic [3:0] AMO_CAS = 4'd9;
  localparam logic [3:0] AMO_LR = 4'd10;
  localparam logic [3:0] AMO_SC = 4'd11;

  // A request on a memory channel. The tag is a signal beside it, because tags have different widths.
  typedef struct packed {
    logic [1:0]   op;     // MEM_*
    logic [3:0]   amo;    // AMO_*, of a MEM_ATOMIC
    logic [27:0]  line;   // bits [33:6] of the byte address
    logic [511:0] wdata;  // of a write; of an atomic its operands, each at its word
    logic [63:0]  be;     // byte enables; an atomic sets the four bits of each word that it touches
  } mem_req_t;
  localparam int MEM_REQ_W = 2 + 4 + 28 + 512 + 64;  // $bits(mem_req_t), for vectors of requests

  // An answer on a memory channel.
  typedef struct packed {
    logic [7:0]   fault;  // FAULT_*; with another one than FAULT_NONE nothing was read or written
    logic [511:0] data;   // of a read; of an atomic the old words
  } mem_rsp_t;
  localparam int MEM_RSP_W = 8 + 512;  // $bits(mem_rsp_t), for vectors of answers

  // An AXI4 port of 512 bits inside the device and the board: what the master asks, with a ready for each channel, and
  // what the slave answers. Each transfer is one beat of full width (axi_port has the constants that say so).
  typedef struct packed {
    logic         ar_valid;
    logic [5:0]   ar_id;
    logic [63:0]  ar_addr;
    logic         aw_valid;
    logic [5:0]   aw_id;
    logic [63:0]  aw_addr;
    logic         w_valid;
    logic [511:0] w_data;
    logic [63:0]  w_strb;
  } axi_req_t;
  localparam int AXI_REQ_W = 1 + 6 + 64 + 1 + 6 + 64 + 1 + 512 + 64;  // $bits(axi_req_t), for vectors
  typedef struct packed {
    logic ar;
    logic aw;
    logic w;
  } axi_req_ready_t;
  typedef struct packed {
    logic         r_valid;
    logic [5:0]   r_id;
    logic [511:0] r_data;
    logic [1:0]   r_resp;
    logic         b_valid;
    logic [5:0]   b_id;
    logic [1:0]   b_resp;
  } axi_rsp_t;
  localparam int AXI_RSP_W = 1 + 6 + 512 + 2 + 1 + 6 + 2;  // $bits(axi_rsp_t), for vectors
  typedef struct packed {
    logic r;
    logic b;
  } axi_rsp_ready_t;

  // An AXI4-Lite port for the registers, with the same readies.
  typedef struct packed {
    logic        aw_valid;
    logic [13:0] aw_addr;
    logic        w_valid;
    logic [31:0] w_data;
    logic        ar_valid;
    logic [13:0] ar_addr;
  } lite_req_t;
  typedef struct packed {
    logic        r_valid;
    logic [31:0] r_data;
    logic [1:0]  r_resp;
    logic        b_valid;
    logic [1:0]  b_resp;
  } lite_rsp_t;

  // An access of a dirty command to a word of the dirty plane, but for the mask, whose width is a parameter.
  typedef struct packed {
    logic        first;
    logic        last;
    logic        clear;
    logic        mark;
    logic [21:0] word;
    logic [15:0] tag;
  } dirty_access_t;

  // A line that a dirty command writes, and the answer of memory.
  typedef struct packed {
    logic [3:0]   slot;
    logic [27:0]  line;
    logic [511:0] data;
  } dirty_line_t;
  typedef struct packed {
    logic [3:0] slot;
    logic       error;
  } dirty_done_t;

  // A buffer in the HW queue of an engine (registers sub_*).
  typedef struct packed {
    logic        is_null;  // Completion is indicated, and nothing runs.
    logic        resume;
    logic        paging;
    logic [21:0] save;     // Page number of the first page of the context-save area.
    logic [21:0] root;     // Page number of the root page table.
    logic [31:0] size;     // Bytes of the DMA buffer.
    logic [63:0] buffer;   // Address of the DMA buffer.
    logic [63:0] fence;
  } submission_t;

  // An access that faulted, or that waits for its page. A member that the fault does not have is zero.
  typedef struct packed {
    logic [95:0] group;   // {z, y, x}
    logic [31:0] pc;
    logic [31:0] va;
    logic [5:0]  warp;    // of the group
    logic [5:0]  lane;
    logic [7:0]  code;    // FAULT_*
    logic [1:0]  access;
  } fault_t;

  // The end of a buffer (registers ind_*).
  typedef struct packed {
    logic [63:0] end_time;    // Device time in cycles, as begin_time.
    logic [63:0] begin_time;
    logic [31:0] offset;
    logic [63:0] fence;
    fault_t      fault;
    logic [1:0]  kind;
  } indication_t;

  // The executor interface (docs/hardware/interfaces.md): an executor starts with a command.
  typedef struct packed {
    logic [1023:0] packet;  // both lines
    logic          scrub;   // The address space changed: no state may be left that a kernel could read.
    logic          resume;  // Go on from the state on the restore stream. The packet is the one that was cut.
  } exec_cmd_t;

  // How the packet of an executor ends. One of the first three members comes, as a pulse.
  typedef struct packed {
    logic   done;          // All writes of the packet have been answered.
    logic   faulted;
    logic   stopped;       // All accesses have been answered; the state follows on the save stream.
    logic   page_request;  // With stopped: it stopped by itself, because a page is absent.
    fault_t fault;         // With faulted, and with page_request.
  } exec_status_t;

  // Control of the executors by the command processor, one bit for each: {user, mover, SIMT}.
  typedef struct packed {
    logic [2:0] active;  // The executor runs a packet.
    logic [2:0] select;  // The executor's memory channel is open.
    logic [2:0] reset;
    logic [2:0] start;
    logic [2:0] stop;
  } exec_control_t;

  // A line of the save stream or of the restore stream.
  typedef struct packed {
    logic         last;
    logic [511:0] data;
  } exec_line_t;

  /* verilator lint_on UNUSEDPARAM */

endpackage
