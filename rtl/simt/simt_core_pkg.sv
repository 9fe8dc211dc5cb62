// SPDX-License-Identifier: Apache-2.0
// Codes inside the SIMT core: execution units, control flow, sources of operands and of register writes, and kinds of
// lines in the state of a stopped executor. Structs of signals that go through the executor together.
// A member of a struct that names a warp, or has a bit for each lane or warp, has the width of the largest geometry (32
// lanes, 32 warps); upper bits are zero where there are fewer. Words and local ids of all lanes are ports of their own.

package simt_core_pkg;

  /* verilator lint_off UNUSEDPARAM */

  // Execution unit that an instruction needs.
  typedef enum logic [2:0] {
    UNIT_NONE = 3'd0,
    UNIT_ALU = 3'd1,
    UNIT_MUL = 3'd2,
    UNIT_CVT = 3'd3,
    UNIT_FMA = 3'd4,
    UNIT_DIV = 3'd5,
    UNIT_LSU = 3'd6
  } unit_e;

  // Effect of an instruction on the program counters of its lanes.
  typedef enum logic [2:0] {
    FLOW_NEXT = 3'd0,
    FLOW_BRANCH = 3'd1,
    FLOW_JAL = 3'd2,
    FLOW_JALR = 3'd3,
    FLOW_BARRIER = 3'd4,
    FLOW_EXIT = 3'd5,
    FLOW_FAULT = 3'd6
  } flow_e;

  // Source of the second operand. B_IMM, B_PC_IMM, B_PC_4 and B_ONE have the same value in every lane.
  typedef enum logic [2:0] {
    B_RS2 = 3'd0,
    B_IMM = 3'd1,
    B_PC_IMM = 3'd2,
    B_PC_4 = 3'd3,
    B_ONE = 3'd4,     // 1.0f
    B_PART = 3'd5     // the lane's part of a CSR (PART_*)
  } bsel_e;

  // Source of the third operand.
  typedef enum logic [1:0] {
    C_RS3 = 2'd0,
    C_RS2 = 2'd1,
    C_ZERO = 2'd2    // zero with the sign of the product of the first two
  } csel_e;

  // Lane's part of a CSR. The value that a lane reads is this part plus the value that all lanes share (simt_csr).
  typedef enum logic [2:0] {
    PART_ZERO = 3'd0,
    PART_ID_X = 3'd1,
    PART_ID_Y = 3'd2,
    PART_ID_Z = 3'd3,
    PART_FFLAGS = 3'd4,
    PART_FRM = 3'd5,
    PART_FCSR = 3'd6,
    PART_LANE = 3'd7
  } part_e;

  // Source of a write to the register file.
  typedef enum logic [3:0] {
    WB_ANY = 4'd0,       // no booked write: LSU, divider or launch may use the cycle
    WB_ALU = 4'd1,
    WB_ALU_LATE = 4'd2,
    WB_MUL = 4'd3,
    WB_CVT = 4'd4,
    WB_FMA = 4'd5,
    WB_FCSR = 4'd6,      // like WB_ALU; also writes the lane's frm, fflags or both
    WB_DIV = 4'd7,
    WB_LSU = 4'd8,
    WB_LAUNCH = 4'd9,
    WB_PUT = 4'd10,      // a register of the state that a resume brings back
    WB_STATE = 4'd11     // frm and fflags of the state that a resume brings back
  } wb_e;

  // Kinds of lines in the state of a stopped executor, in the order of docs/spec/context.yaml.
  typedef enum logic [3:0] {
    LINE_HEAD = 4'd0,
    LINE_MASKS = 4'd1,
    LINE_SLOT = 4'd2,
    LINE_LOCAL = 4'd3,
    LINE_LANES = 4'd4,
    LINE_PCS = 4'd5,
    LINE_SCALARS = 4'd6,
    LINE_REG = 4'd7,
    LINE_PENDING = 4'd8,
    LINE_ADDR = 4'd9,
    LINE_DATA = 4'd10,
    LINE_CMP = 4'd11,
    LINE_END = 4'd12      // no line is left
  } line_e;

  // Control of the core by simt_executor, valid in every cycle.
  typedef struct packed {
    logic        halt;       // no warp is picked
    logic        launch_ok;
    logic        restoring;  // a resume
    logic [31:0] select;     // at the end of a resume: these warps select their lanes
  } control_t;

  // A launched warp has ended.
  typedef struct packed {
    logic       valid;
    logic [4:0] warp;
  } warp_end_t;

  // State of the memory accesses of each warp, from simt_lsu.
  typedef struct packed {
    logic [31:0] busy;  // an access is not done
    logic [31:0] hold;  // The warp may not be launched yet.
  } lsu_warps_t;

  // State that decides which lines a save has.
  typedef struct packed {
    logic          ready;    // masks and scalars are those of the stopped core
    logic [1023:0] masks;    // of each live warp: its registers that are saved as a vector each
    logic [127:0]  scalars;  // of each live warp, a bit for each vector of scalars: one of these may not be zero
    logic [31:0]   present;  // warps that have been launched and have not ended
  } kept_t;

  // Pulses and counts for the performance counters of docs/spec/registers.yaml.
  typedef struct packed {
    logic       issue;
    logic [5:0] lanes;
    logic       stall_use;
    logic       stall_unit;
    logic       stall_idle;
    logic [5:0] fma;
  } events_t;

  // Control of a resume by simt_executor.
  typedef struct packed {
    logic start;     // pulse
    logic refuse;    // The packet cannot run: the lines are only taken.
    logic local_ok;  // lines of local memory may be written
    logic tidy;      // memories are cleared where nothing was restored
  } resume_t;

  // Progress of a resume.
  typedef struct packed {
    logic ended;       // the last line has been passed on
    logic bad;         // the state is not one of this device
    logic done;        // pulse: all of it is restored
    logic local_done;  // no more lines of local memory follow
  } resumed_t;

  // The head of the state that a resume brings back.
  typedef struct packed {
    logic [31:0]  slots;    // slots that have a group
    logic [31:0]  live;     // warps that were running
    logic [31:0]  fresh;    // warps of these groups that have not been launched yet
    logic [4:0]   pending;  // number of unfinished memory instructions
    logic [127:0] scalars;  // the four words scalars_0 to scalars_3
  } head_t;

  // A group that a resume gives to the dispatcher.
  typedef struct packed {
    logic        last;   // the next group to be launched; otherwise one that was resident
    logic        ended;  // with last: there is none
    logic [4:0]  slot;   // of a resident group
    logic [95:0] base;   // {z, y, x}, as in launch_t
    logic [95:0] group;
  } back_t;

  // State of the dispatcher that a save contains.
  typedef struct packed {
    logic [31:0] slots;  // slots that have a group
    logic [31:0] fresh;  // warps of the current group that have not been launched
    logic        ended;  // no further group is left to launch
    logic [95:0] base;   // of the next group, as in launch_t
    logic [95:0] group;
  } groups_t;

  // A line of the state of a stopped executor, as simt_walk names it.
  typedef struct packed {
    logic       valid;
    line_e      kind;
    logic [4:0] index;       // slot, warp or line of masks
    logic [4:0] rd;          // register; of scalars the first one of the vector
    logic       second;      // the second line of a vector
    logic       last;        // no line follows
    logic       record_end;  // the last line of a memory instruction
  } walk_t;

  // Selects the state of the core that a save or a resume reads.
  typedef struct packed {
    logic       active;  // a save or a resume is in progress. Otherwise only seen_t.pc and seen_t.running count.
    logic [4:0] index;   // the slot or warp that seen_t shows
    logic       read;    // A register of the lanes of a warp is shown in the next cycle.
    logic       own;     // with read: lane i reads the register i of the vector that rd begins
    logic [4:0] warp;    // with read
    logic [4:0] rd;      // with read
    logic [4:0] first;   // first register of seen_t.scalars
  } look_t;

  // The state that look_t selects. The first four members have a word for each lane. docs/spec/context.yaml has the
  // contents of slot, lanes and pcs.
  typedef struct packed {
    logic [1023:0] regs;     // the register that was read
    logic [1023:0] scalars;  // values of the registers that have one value in all lanes, lane by lane
    logic [1023:0] pcs;
    logic [1023:0] lanes;
    logic [255:0]  slot;
    logic [31:0]   running;  // lanes of the warp that run together
    logic [31:0]   pc;       // their pc
  } seen_t;

  // A part of the state that a resume writes back.
  typedef struct packed {
    logic          valid;
    line_e         kind;
    logic [4:0]    index;   // slot or warp; of masks the warp of the word
    logic [4:0]    rd;      // register; of scalars the first one of the vector
    logic [31:0]   mask;    // of masks: a word
    logic [511:0]  line;    // of slots
    logic [1023:0] words;   // of all other kinds: a word for each lane
  } put_t;

  // A pulse for a register of a warp.
  typedef struct packed {
    logic       valid;
    logic [4:0] warp;
    logic [4:0] rd;
  } mark_t;

  // The barrier of a group.
  typedef struct packed {
    logic        any;     // a work-item waits
    logic        parted;  // it cannot open any more
    logic [31:0] pc;      // lowest pc at which a work-item waits
    logic [4:0]  warp;    // the first work-item that waits there
    logic [4:0]  lane;
  } waits_t;

  // To the instruction cache: a warp looks up its pc.
  typedef struct packed {
    logic        valid;
    logic [4:0]  warp;
    logic [31:0] pc;
  } fetch_t;

  // The answer of the instruction cache, one cycle later.
  typedef struct packed {
    logic        hit;
    logic [31:0] instr;
    logic [31:0] next;   // the instruction behind it, or zero if unknown
  } fetched_t;

  // A fetch has failed.
  typedef struct packed {
    logic        valid;
    logic [7:0]  code;   // FAULT_*
    logic [31:0] pc;
    logic [4:0]  warp;
  } fetch_fault_t;

  // A result, or a part of it, that is written to a register when a slot is free. The data are a vector beside this
  // struct.
  typedef struct packed {
    logic [4:0]  warp;
    logic [4:0]  rd;
    logic [31:0] mask;   // lanes that are written
    logic        last;   // the result is complete
  } result_t;

  // The write to the registers in this cycle, for all lanes.
  typedef struct packed {
    logic [3:0]  sel;         // WB_*
    logic        write;       // a register is written
    logic        fflags_set;  // with sel WB_FCSR, WB_LAUNCH or WB_STATE
    logic        frm_set;
    logic        first;       // first write of the register since the launch
    logic [4:0]  warp;
    logic [4:0]  rd;
    logic [31:0] value;       // for a lane that takes no part in that first write
    logic [31:0] launch;      // data of a launch
  } lane_wb_t;

  // R: the operands of an instruction, for all lanes.
  typedef struct packed {
    logic        issue;
    logic [4:0]  warp;
    bsel_e       bsel;
    csel_e       csel;
    part_e       part;
    logic [2:0]  has;        // rs3, rs2, rs1 have been written, so the RAM holds them
    logic        a_scalar;   // the first operand is scalar_a
    logic [95:0] value;      // values of rs3, rs2, rs1 where has is clear
    logic [31:0] scalar_a;
    logic [31:0] scalar_b;
  } lane_r_t;

  // X: what the lanes execute.
  typedef struct packed {
    logic        alu;        // start of a unit
    logic        mul;
    logic        fma;
    logic        fcsr;       // the instruction writes fflags, frm or fcsr
    logic [1:0]  csr_op;     // 1 swap, 2 set, 3 clear
    logic        csr_frm;    // the operand is a value for frm
    logic [5:0]  op;
    logic [2:0]  funct3;
    logic        neg_prod;
    logic        neg_add;
    logic [4:0]  warp;
    logic [31:0] imm;
  } lane_x_t;

  // An instruction in R, for the program counters.
  typedef struct packed {
    logic        issue;
    logic        next;  // it goes on at pc4, without a decision in B
    logic [4:0]  warp;
    logic [31:0] pc4;
  } flow_r_t;

  // An instruction in X, for the program counters. The lanes that take a branch, and the target of a jalr in each lane,
  // go beside it.
  typedef struct packed {
    logic        valid;
    logic        atomic;       // an atomic operation, whether or not valid
    flow_e       flow;
    logic        quantum_end;  // the last instruction of the quantum of a rotation
    logic        call;         // jal or jalr with rd = ra
    logic        returns;      // jalr to ra with rd = x0
    logic [4:0]  warp;
    logic [31:0] mask;         // the active lanes
    logic [31:0] pc;
    logic [31:0] target;       // of a branch or jal
    logic [31:0] lead_jump;    // target of jalr in the first active lane
  } flow_x_t;

  // A decision in B: lanes of a warp have come to a barrier or have ended.
  typedef struct packed {
    logic        barrier;  // pulse
    logic        ends;     // pulse
    logic        whole;    // no other lane of the warp can run
    logic [4:0]  warp;
    logic [31:0] mask;     // these lanes
    logic [31:0] pc;
  } flow_b_t;

  // Of some lanes of a warp: those that simt_select would run.
  typedef struct packed {
    logic        valid;  // there is one
    logic        whole;  // they are all that can run of these lanes
    logic [7:0]  depth;  // call depth
    logic [31:0] low;    // the lowest pc at that depth, which is theirs
    logic [31:0] next;   // the lowest pc above it at that depth; all ones if there is none
  } candidate_t;

  // The launch of a warp, from simt_dispatch. simt_executor adds the two members of a resume.
  typedef struct packed {
    logic [4:0]  warp;
    logic [4:0]  slot;    // group slot
    logic [31:0] mask;    // lanes that have a work-item; none if the warp has ended
    logic [5:0]  nwarps;  // warps of the group
    logic        first;   // the first warp of its group
    logic        live;    // in a resume: the state of its lanes is restored too
    logic        ended;   // in a resume: it had ended
    logic [16:0] lbase;   // first byte of the group's local memory
    logic [32:0] size;    // of the group, {z, y, x}, 11 bits each
    logic [95:0] base;    // {z, y, x}: global id of the group's first work-item
    logic [95:0] group;   // {z, y, x}
  } launch_t;

  /* verilator lint_on UNUSEDPARAM */

endpackage
