/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functional model of a Tern device: the effect of every packet, register and instruction, without the RTL's
 * structure.
 *
 * Time is approximate: one cycle per warp instruction, one per moved line of 64 bytes. Everything else that a program
 * can see is exact. Engines run in turn in slices of device time, so two runs with the same accesses are identical.
 *
 *   device.c    API, registers, time            engine.c   HW queue, indications, packets
 *   memory.c    memory, translation, dirty bits mover.c    copy and fill
 *   paging.c    privileged packets              executor.c user executors; their functions are in user/ (executor.h)
 *   context.c   context-save areas              state.c    state of a dispatch in such an area
 *   simt.c      work-groups, barriers, turns    warp.c     divergence; instructions of a warp in order
 *   decode.c    a word to an instruction        block.c    words up to the next jump to a block of operations
 *   ops_*.c     operations on all lanes         fp*.c      floating point, a lane at a time
 */
#ifndef MODEL_H
#define MODEL_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>

#include "tern/tern_hw.h"
#include "tern/tern_spec.h"
#include "tern_sim/tern_sim.h"

#ifndef MODEL_LANES
#define MODEL_LANES 16
#endif
#ifndef MODEL_WARPS
#define MODEL_WARPS 16
#endif
#ifndef MODEL_ENGINES
#define MODEL_ENGINES 2
#endif
#ifndef MODEL_LMEM_KIB
#define MODEL_LMEM_KIB 64
#endif
#ifndef MODEL_EXAMPLES
#define MODEL_EXAMPLES 1
#endif
#define SIMT (MODEL_LANES > 0) /* false: the code of the SIMT executor is compiled with any geometry and never run */
#define LANES (SIMT ? MODEL_LANES : 4)
#define WARPS (SIMT ? MODEL_WARPS : 4)
#define ENGINES MODEL_ENGINES
#define LMEM_BYTES (MODEL_LMEM_KIB * 1024u)
#define LINE 64u
#define PAGE 4096u
#define HW_QUEUE 2
#define INDICATIONS 4
#define ALL_LANES ((uint32_t)((1ull << LANES) - 1))

enum { ACCESS_READ, ACCESS_WRITE, ACCESS_EXECUTE, ACCESS_ATOMIC };

/** The first fault of a buffer; code 0: none. A fault of a kernel names the work-item by group, warp in the group and
 *  lane. */
struct fault {
    uint32_t code, access, va, pc, warp, lane, group[3];
};

/* ---------------------------------------------------------------- memory.c */

#define TLB_SIZE 1024u

/** A translated page. There is one entry per access class, whose rights were checked when it was filled. */
struct tlb_entry {
    uint64_t key;  /* (virtual page << 2 | access class) + 1; 0: the entry is empty */
    uint8_t *host; /* the page in the host; pages mapped as zeros share one */
    uint64_t page; /* number of the physical page */
};

/** The address space of a running buffer, or that of physical addresses. */
struct space {
    uint32_t root;
    bool physical;
    struct tlb_entry tlb[TLB_SIZE];
};

/** Returns the smaller number, where it has 32 bits. */
static inline uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/** Wraps an address: virtual ones have 32 bits, physical ones 34. */
static inline uint64_t space_wrap(const struct space *s, uint64_t va)
{
    return va & (s->physical ? 0x3ffffffffull : 0xffffffffull);
}

struct reservation {
    bool valid;
    uint64_t word;
    uint32_t thread;
};

struct memory {
    uint8_t *data;
    uint64_t bytes;
    uint8_t *dirty;                  /* one byte per page */
    uint64_t error_first, error_end; /* range of pages that answer with an error */
    struct reservation reserved[ENGINES];
};

int memory_init(struct memory *m, uint64_t bytes);
void memory_free(struct memory *m);
/** Translates the page of va, which is wrapped. NULL and *code: the access is not allowed. */
const struct tlb_entry *memory_translate(struct memory *m, struct space *s, uint64_t va, uint32_t access,
                                         uint32_t *code);
static inline const struct tlb_entry *memory_page(struct memory *m, struct space *s, uint64_t va, uint32_t access,
                                                  uint32_t *code)
{
    const struct tlb_entry *t = &s->tlb[(va / PAGE ^ access << 8) % TLB_SIZE];
    return t->key == (va / PAGE << 2 | access) + 1 ? t : memory_translate(m, s, va, access, code);
}
/** Copy n bytes, across pages. False: there was a fault, and f has its code, access and va. */
bool memory_read(struct memory *m, struct space *s, uint64_t va, void *data, uint64_t n, struct fault *f);
bool memory_write(struct memory *m, struct space *s, uint64_t va, const void *data, uint64_t n, struct fault *f);
/** Drops the reservations on the words of [pa, pa + n). */
void memory_unreserve(struct memory *m, uint64_t pa, uint32_t n);
/** Effects of a write of [pa, pa + n), which is in one page: dirty bit and reservations. */
static inline void memory_written(struct memory *m, uint64_t pa, uint32_t n)
{
    m->dirty[pa / PAGE] = 1;
    for (int i = 0; i < ENGINES; i++) {
        if (m->reserved[i].valid) {
            memory_unreserve(m, pa, n);
        }
    }
}
void space_flush(struct space *s);

/* --------------------------------------------------------------- context.c */

#define SAVE_CYCLES 150u /* cycles of a save or a restore, besides one per line */
#define VECTOR_LINES ((LANES + 15u) / 16u)
#define MASK_LINES ((WARPS + 15u) / 16u)
#define PENDING 31u
#define WARP_LINES ((33u + 32u / LANES) * VECTOR_LINES)
/** Lines of the header and the largest state. Without a SIMT executor the state is one line, of mover or user executor.
 *  SAVE_LINES adds the list of pages: an entry for each page but the first, 16 per line. */
#define STATE_LINES (SIMT ? 2u + MASK_LINES + WARPS + LMEM_BYTES / LINE + WARPS * WARP_LINES + \
                            PENDING * (1u + 3u * VECTOR_LINES) : 2u)
#define LIST_LINES (STATE_LINES > PAGE / LINE ? (STATE_LINES - PAGE / LINE + 1022u) / 1023u : 0u)
#define SAVE_LINES (STATE_LINES + LIST_LINES)

struct engine;

/** A sequence of lines of a context-save area, whatever its pages are: line 0 is the header, the state begins at line
 *  1. f has the first fault. After a fault, lines are not written, and lines that are read are zero. */
struct lines {
    struct engine *e;
    uint64_t page;
    uint32_t next, end;
    struct fault *f;
};

void lines_put(struct lines *s, const void *line);
/** Reads a line. Beyond the end it is the fault context_invalid. */
void lines_get(struct lines *s, void *line);
/** Writes the state of the running executor, then the header. Returns the number of lines; f is set on a fault. */
uint32_t context_save(struct engine *e, struct fault *f);
/** Reads the header of a saved context. False: f is set. */
bool context_load(struct engine *e, struct tern_ctx *c, struct fault *f);
/** Returns the executor that runs a packet, TERN_CTX_EXECUTOR_*. */
uint32_t context_executor(uint32_t opcode);

/* ------------------------------------------------------------- decode.c, block.c */

struct instruction {
    uint16_t op;
    uint8_t rd, rs1, rs2, rs3, rm, size;
    int32_t imm;
};

struct core;
struct warp;
struct op;
/** Runs an operation for the active lanes of a warp. Returns how the warp goes on, STEP_*. */
typedef int handler(struct core *c, struct warp *w, const struct op *o);
enum {
    STEP_NEXT, STEP_JUMP, STEP_BARRIER, STEP_EXIT, STEP_FAULT,
    STEP_PART /* done except for lanes whose pages are absent, which are in simt.unfinished */
};

/** An instruction that is ready to run. */
struct op {
    handler *run;
    uint32_t imm;             /* immediate; auipc: the sum; jumps: the target */
    uint16_t code;            /* enum opcode */
    uint8_t rd, rs1, rs2, rs3, rm; /* a write to register 0 goes to SINK */
};
#define SINK 32u

/** Consecutive instructions in one page. Only the last one may jump, wait, exit, or be one that always faults. */
struct block {
    uint32_t pc, count;
    uint32_t seen;            /* era in which the words were last compared with memory */
    const struct op *op;
    const uint32_t *word;
    struct block *other;      /* next block with the same hash */
    struct block *next[2];    /* last successor: jump not taken, taken */
};

#define BLOCK_LENGTH 64u
#define BLOCKS 8192u
#define BLOCK_OPS 65536u
#define BLOCK_HASH 4096u

/** All blocks of an engine. Blocks stay valid from dispatch to dispatch. A flush begins an era: a block is compared
 *  with memory before it runs for the first time in an era. When there is no room, all blocks are dropped. */
struct blocks {
    uint32_t era, n_blocks, n_ops;
    struct block *hash[BLOCK_HASH];
    struct block block[BLOCKS];
    struct op op[BLOCK_OPS];
    uint32_t word[BLOCK_OPS];
};

void decode(uint32_t word, struct instruction *out);
/** False for branches, stores, fences, barrier and exit, whose rd field is not a register. */
bool writes_register(uint16_t op);

/** Returns the block at pc, valid until the next call. NULL and *code: it cannot be fetched. */
struct block *block_find(struct engine *e, uint32_t pc, uint32_t *code);
/** To be called when instruction memory may have changed. */
void block_flush(struct engine *e);

/* ----------------------------------------------------------- simt.c, warp.c */

typedef uint32_t vec __attribute__((vector_size(LANES * 4)));

struct warp {
    vec x[33];                 /* registers, and SINK */
    vec on;                    /* active lanes, as a vector: all ones in an active lane, else 0 */
    uint32_t fflags[LANES], frm[LANES];
    uint32_t pc[LANES];        /* pc of the lanes that are not active */
    uint8_t depth[LANES];      /* call depth of the lanes that are not active */
    uint32_t lid[3][LANES];    /* local id */
    uint32_t any_frm;          /* OR of all frm */
    uint32_t born;             /* mask of the lanes that had a work-item at the launch */
    uint32_t live, waiting, active; /* masks; active is a subset of live & ~waiting */
    uint32_t at, at_depth;     /* pc and call depth of the active lanes */
    /* lowest pc of other lanes of the same depth, at which the active lanes stop and lanes are selected again */
    uint32_t merge;
    uint32_t backward, turn;   /* rotation: backward jumps that a part has taken; next lane to favour */
    uint32_t quantum;          /* remaining instructions of lanes chosen by rotation; 0: chosen by the normal policy */
    bool hot;                  /* a part of the lanes has done an atomic operation */
    uint32_t slot;
};

struct group {
    uint32_t id[3], base[3], size[3];
    uint32_t warps_left;
    uint32_t first_warp, n_warps;
    bool busy;
};

/** The lanes p.mask of a memory instruction that have not been done. Addresses in private windows are replaced by those
 *  of the backing memory. */
struct unfinished {
    struct tern_ctx_simt_pending p;
    uint32_t address[LANES], data[LANES], compare[LANES];
};

struct simt {
    struct tern_pkt_dispatch p;
    struct warp warp[WARPS];
    struct group group[WARPS];
    uint32_t next[3]; /* next group to launch */
    uint64_t groups_left, groups_running;
    uint32_t turn;
    uint8_t lmem[LMEM_BYTES + PAGE]; /* local memory; the extra page is for accesses of a page at any offset */
    bool lres_valid;
    uint32_t lres_word, lres_thread;
    struct unfinished unfinished[PENDING]; /* wait for pages; nothing runs until the dispatch was cut and resumed */
    uint32_t n_unfinished;
    uint32_t last_root;
    bool clean;
    struct blocks blocks;
};

/** A running warp. */
struct core {
    struct engine *e;
    struct fault *f;
    uint32_t index;            /* number of the hardware warp */
    uint64_t time;             /* device time at which the block's first instruction was issued */
    const struct block *block;
    uint32_t taken;            /* mask of the lanes that take the branch */
    vec target;                /* target of jalr */
};

/** Makes the lanes of the mask the active ones. */
void warp_activate(struct warp *w, uint32_t mask);
/** Chooses the active lanes among those that can run: deepest call, then lowest pc. The lanes that ran must be
 *  parked. */
void warp_select(struct warp *w);
/** Runs up to `limit` instructions of a warp from time `now` on, and returns their number. *step says why it stopped;
 *  STEP_NEXT: at the limit. After STEP_BARRIER and STEP_EXIT the caller handles the last instruction. */
uint64_t warp_run(struct engine *e, uint32_t index, uint64_t now, uint64_t limit, int *step, struct fault *f);
/** Makes the active lanes wait at a barrier, or end. */
void warp_leave(struct warp *w, bool exits);
/** Writes pc and depth of the active lanes into the arrays, so that all lanes are parked. */
void warp_park(struct warp *w);

/* ---------------------------------------------------------------- engine.c */

struct submission {
    uint64_t fence, buffer;
    uint32_t size, root, context, save, flags;
};

struct indication {
    uint32_t kind, offset;
    uint64_t fence, begin, end;
    struct fault fault;
};

struct counters {
    uint64_t busy, issue, lanes, stall_use, stall_unit, stall_idle, fma;
    uint64_t l1_hit, l1_miss, ic_miss, tlb_hit, tlb_miss, rd_lines, wr_lines;
};

/** The part of a copy or fill that is not done, as in its saved state. */
struct box {
    uint32_t width, rows, src_pitch, src_slice_pitch, dst_pitch, dst_slice_pitch;
    uint32_t left, rows_left, slices_left;
    uint64_t src_row, src_slice, dst_row, dst_slice;
};

enum phase { PHASE_IDLE, PHASE_FETCH, PHASE_RUN, PHASE_SAVED };

struct engine {
    uint32_t index;
    struct submission regs, queue[HW_QUEUE];
    uint32_t queued;
    struct indication ind[INDICATIONS];
    uint32_t n_ind;
    bool refused, stopping;
    uint32_t granularity; /* granularity of the request to stop */
    struct fault absent;  /* page request for which the engine stops; code 0: none */
    enum phase phase;
    uint32_t offset;
    uint64_t begin;
    uint32_t packet[32];
    struct tern_ctx resume; /* saved context to resume; its executor is NONE once that has gone on */
    struct box box;
    uint32_t user_state[16]; /* line of state of the running user executor */
    struct space space, physical;
    struct simt simt;
    struct counters count;
    uint32_t dbg_warp;
    struct tern_sim *dev;
    uint64_t now; /* device time up to which the engine has run; a long packet may put it ahead of the device's */
};

struct tern_sim {
    struct memory mem;
    struct engine engine[ENGINES];
    uint64_t time;
    uint32_t time_hi, irq_enable;
    uint32_t dirty_first, dirty_count, dirty_found;
    uint64_t dirty_target;
    bool dirty_error;
    tern_sim_observer observer; /* NULL: none */
    void *observer_user;
    fenv_t callers;  /* the caller's floating-point environment, valid if `arithmetic` */
    bool arithmetic; /* an engine has computed in this call (device_arithmetic) */
};

/**
 * Called before an engine computes. Kernels use the host's default floating-point environment, whatever the caller's
 * is; the caller's is restored when the call of the API returns. This is not done in each call, because most calls are
 * register accesses while nothing runs, and the change costs more than the access.
 */
void device_arithmetic(struct tern_sim *d);

/** Runs an engine up to device time `end`. */
void engine_run(struct engine *e, uint64_t end);
void engine_reset(struct engine *e);
void engine_doorbell(struct engine *e);
void engine_preempt(struct engine *e, uint32_t granularity);
void engine_pop(struct engine *e);

/** Returns whether a stop is requested at this granularity or a finer one. */
static inline bool engine_stops(const struct engine *e, uint32_t granularity)
{
    return e->stopping && e->granularity >= granularity;
}

/* Functions of an executor:
 *   start  checks the packet and begins it, or resumes it from `state`; f is set on a fault
 *   run    runs it for about `budget` cycles and returns the cycles taken; *done: it has ended
 *   save   writes the state of a packet that is cut */

void mover_start(struct engine *e, struct lines *state, struct fault *f);
uint64_t mover_run(struct engine *e, uint64_t budget, bool *done, struct fault *f);
void mover_save(const struct engine *e, struct lines *state);

/** Runs a packet of paging buffers that is done at once. Returns the cycles taken. */
uint64_t paging_run(struct engine *e, struct fault *f);
/** Returns whether `count` entries from pa on are in one table. */
bool table_holds(uint64_t pa, uint32_t count);

/** Returns how many user executors an engine has: those of the first ids. */
uint32_t executor_count(void);
void executor_start(struct engine *e, struct lines *state, struct fault *f);
uint64_t executor_run(struct engine *e, uint64_t budget, bool *done, struct fault *f);
void executor_save(const struct engine *e, struct lines *state);

void simt_start(struct engine *e, struct lines *state, struct fault *f);
uint64_t simt_run(struct engine *e, uint64_t budget, bool *done, struct fault *f);
/** Resets the selection of warps. */
void simt_reset(struct engine *e);
/** Launches a group in a slot. */
void simt_place(struct simt *s, uint32_t slot, const uint32_t id[3]);
/** Called when no work-item of a group can run. Opens the barrier if every work-item waits at the same one. Otherwise
 *  it is a fault of the lowest barrier at which work-items wait, and of the first work-item there. */
void simt_barrier(struct simt *s, struct group *g, struct fault *f);
/** Finds the lowest barrier at which work-items of a group wait, and the first warp of the group and lane there.
 *  Returns false if none waits. */
bool simt_waits(const struct simt *s, const struct group *g, uint32_t *pc, uint32_t *warp, uint32_t *lane,
                bool *parted);
/** Requests a page, without which the executor cannot go on. Only the first request counts. */
static inline void page_request(struct engine *e, const struct fault *f)
{
    e->absent = e->absent.code ? e->absent : *f;
}
void state_save(struct engine *e, struct lines *state);
/** Restores the state of a dispatch that was checked. All slots are empty before. */
void state_restore(struct engine *e, struct lines *state, struct fault *f);

/* ------------------------------------------------------------ ops_*.c, fp*.c */

/** Returns the handler of an instruction, by kind, or NULL if the instruction is not of this kind. */
handler *int_handler(const struct instruction *i);
handler *flow_handler(const struct instruction *i);
handler *memory_handler(const struct instruction *i);
handler *float_handler(const struct instruction *i);

#define MEMORY_CAS 9u /* amocas on the memory channel */

/** Runs the remaining lanes of a memory instruction that was cut. Loads and atomics write the values for rd to result.
 *  *done is the mask of the lanes whose pages are there. The first other lane becomes the engine's page request, if
 *  there is none yet. False: there was a fault. */
bool memory_replay(struct engine *e, const struct unfinished *u, uint32_t *result, uint32_t *done, struct fault *f);

static inline int fail(struct core *c, uint32_t code, uint32_t access, uint32_t va, uint32_t lane)
{
    *c->f = (struct fault){.code = code, .access = access, .va = va, .lane = lane};
    return STEP_FAULT;
}

/** Returns op(a, b, c) of one lane. op is arithmetic, a conversion or fclass; rm is 0 to 4. Flags are ORed into *fl. */
uint32_t fp_lane(uint16_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t rm, uint8_t *fl);

enum fp_kind { FP_ADD, FP_MUL, FP_FMA, FP_DIV, FP_SQRT };
/** Exact arithmetic, on integers, in all five rounding modes. FP_FMA is a * b + c. */
uint32_t fp_exact(enum fp_kind kind, uint32_t a, uint32_t b, uint32_t c, uint32_t rm, uint8_t *flags);

enum opcode {
    OP_ILLEGAL, OP_LUI, OP_AUIPC, OP_JAL, OP_JALR, OP_BEQ, OP_BNE, OP_BLT, OP_BGE, OP_BLTU, OP_BGEU,
    OP_LOAD, OP_LOADU, OP_STORE,
    OP_ADDI, OP_SLTI, OP_SLTIU, OP_XORI, OP_ORI, OP_ANDI, OP_SLLI, OP_SRLI, OP_SRAI,
    OP_ADD, OP_SUB, OP_SLL, OP_SLT, OP_SLTU, OP_XOR, OP_SRL, OP_SRA, OP_OR, OP_AND,
    OP_MUL, OP_MULH, OP_MULHSU, OP_MULHU, OP_DIV, OP_DIVU, OP_REM, OP_REMU,
    OP_SH1ADD, OP_SH2ADD, OP_SH3ADD, OP_ANDN, OP_ORN, OP_XNOR, OP_CLZ, OP_CTZ, OP_CPOP, OP_MAX, OP_MAXU,
    OP_MIN, OP_MINU, OP_SEXTB, OP_SEXTH, OP_ZEXTH, OP_ROL, OP_ROR, OP_RORI, OP_ORCB, OP_REV8,
    OP_LR, OP_SC, OP_AMOSWAP, OP_AMOADD, OP_AMOXOR, OP_AMOAND, OP_AMOOR, OP_AMOMIN, OP_AMOMAX, OP_AMOMINU, OP_AMOMAXU,
    OP_AMOCAS, OP_FENCE, OP_ECALL, OP_CSRRW, OP_CSRRS, OP_CSRRC, OP_CSRRWI, OP_CSRRSI, OP_CSRRCI,
    OP_FMADD, OP_FMSUB, OP_FNMSUB, OP_FNMADD, OP_FADD, OP_FSUB, OP_FMUL, OP_FDIV, OP_FSQRT,
    OP_FSGNJ, OP_FSGNJN, OP_FSGNJX, OP_FMIN, OP_FMAX, OP_FCVT_W_S, OP_FCVT_WU_S, OP_FCVT_S_W, OP_FCVT_S_WU,
    OP_FEQ, OP_FLT, OP_FLE, OP_FCLASS, OP_BARRIER, OP_EXIT
};

#endif
