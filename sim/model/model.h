/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functional model of a Tern device: what every packet, register and instruction does, without the RTL's structure.
 *
 * Time is counted roughly (one cycle a warp instruction, one a 64-byte line moved); everything else that a program can
 * see is exact. Engines run in turn in slices of device time, so two runs with the same accesses are the same. A kernel
 * runs in decoded blocks: decode.c reads a word, block.c makes operations of the words up to the next jump and keeps
 * them, warp.c runs them for the lanes that are together and selects the next, ops_*.c say what each does.
 *   device.c   API, registers, time            engine.c  HW queue, indications, packets
 *   memory.c   memory, translation, dirty bits mover.c   copy, fill     paging.c
 *   executor.c user executors, whose functions are in user/: executor.h
 *   context.c  context-save areas              state.c   of a dispatch that is cut, to and from them
 *   simt.c     work-groups, barriers, turns    warp.c    divergence, instructions in order       decode.c, block.c
 *   ops_int.c, ops_flow.c, ops_memory.c, ops_float.c     fp.c, fp_exact.c   floating point a lane at a time
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
#define SIMT (MODEL_LANES > 0) /* without a SIMT executor its code has some geometry, and is never run */
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

/** The first fault of a buffer. code 0: none. Of a kernel: the work-item, by group, warp in the group, lane. */
struct fault {
    uint32_t code, access, va, pc, warp, lane, group[3];
};

/* ---------------------------------------------------------------- memory.c */

#define TLB_SIZE 1024u

/** One translated page; a key of 0 is empty. Rights are checked when it is filled, one entry an access class. */
struct tlb_entry {
    uint64_t key;  /* virtual page, access class, + 1 */
    uint8_t *host; /* of the page; the zero page is one of zeros for all */
    uint64_t page; /* physical */
};

/** An address space as an engine sees it while a buffer runs. */
struct space {
    uint32_t root;
    bool physical;
    struct tlb_entry tlb[TLB_SIZE];
};

/** Virtual addresses have 32 bits, physical ones 34, and they wrap. */
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
    uint8_t *dirty; /* one byte a page */
    uint64_t error_first, error_end; /* pages that answer with an error */
    struct reservation reserved[ENGINES];
};

int memory_init(struct memory *m, uint64_t bytes);
void memory_free(struct memory *m);
/** The page of va, which is wrapped; NULL and *code if it may not be accessed so. */
const struct tlb_entry *memory_translate(struct memory *m, struct space *s, uint64_t va, uint32_t access,
                                         uint32_t *code);
static inline const struct tlb_entry *memory_page(struct memory *m, struct space *s, uint64_t va, uint32_t access,
                                                  uint32_t *code)
{
    const struct tlb_entry *t = &s->tlb[(va / PAGE ^ access << 8) % TLB_SIZE];
    return t->key == (va / PAGE << 2 | access) + 1 ? t : memory_translate(m, s, va, access, code);
}
/** Copies n bytes, across pages. On a fault false, with f filled (code, access, va). */
bool memory_read(struct memory *m, struct space *s, uint64_t va, void *data, uint64_t n, struct fault *f);
bool memory_write(struct memory *m, struct space *s, uint64_t va, const void *data, uint64_t n, struct fault *f);
/** Drops the reservations on the words of [pa, pa + n). */
void memory_unreserve(struct memory *m, uint64_t pa, uint32_t n);
/** What a write of [pa, pa + n), in one page, entails. */
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

#define SAVE_CYCLES 150u /* of a save or a restore, besides one a line */
#define VECTOR_LINES ((LANES + 15u) / 16u)
#define MASK_LINES ((WARPS + 15u) / 16u)
#define PENDING 31u
#define WARP_LINES ((33u + 32u / LANES) * VECTOR_LINES)
/** Header and state (without a SIMT executor one line, of mover or user executor); and with an entry of the list, 16 a
 *  line, for each of their pages but the first. */
#define STATE_LINES (SIMT ? 2u + MASK_LINES + WARPS + LMEM_BYTES / LINE + WARPS * WARP_LINES + \
                            PENDING * (1u + 3u * VECTOR_LINES) : 2u)
#define LIST_LINES (STATE_LINES > PAGE / LINE ? (STATE_LINES - PAGE / LINE + 1022u) / 1023u : 0u)
#define SAVE_LINES (STATE_LINES + LIST_LINES)

struct engine;

/** The header (0) and the state (from 1 on) of a context-save area, one line after the other, wherever its pages are.
 *  The first fault stays in f; from then on, lines are not written, and those that are read are zero. */
struct lines {
    struct engine *e;
    uint64_t page;
    uint32_t next, end;
    struct fault *f;
};

void lines_put(struct lines *s, const void *line);
/** Beyond the end: fault context_invalid. */
void lines_get(struct lines *s, void *line);
/** The state of the executor that runs, then the header. The lines it takes; f filled on a fault. */
uint32_t context_save(struct engine *e, struct fault *f);
/** The header of a saved context. False: f is filled. */
bool context_load(struct engine *e, struct tern_ctx *c, struct fault *f);
/** Which executor runs a packet: TERN_CTX_EXECUTOR_*. */
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
/** Runs an operation for the active lanes of a warp; what comes after it. */
typedef int handler(struct core *c, struct warp *w, const struct op *o);
enum {
    STEP_NEXT, STEP_JUMP, STEP_BARRIER, STEP_EXIT, STEP_FAULT,
    STEP_PART /* done but for lanes whose pages are absent: what is left of it is in simt.unfinished */
};

/** An instruction, ready to run. */
struct op {
    handler *run;
    uint32_t imm;             /* of auipc the sum, of jumps the target */
    uint16_t code;            /* enum opcode */
    uint8_t rd, rs1, rs2, rs3, rm; /* a write to register 0 goes to SINK */
};
#define SINK 32u

/** Instructions in a row, in one page; only the last one jumps, waits, exits or always faults. */
struct block {
    uint32_t pc, count;
    uint32_t seen;            /* the era in which it was compared with memory */
    const struct op *op;
    const uint32_t *word;
    struct block *other;      /* of the same hash */
    struct block *next[2];    /* where it went last: not taken, taken */
};

#define BLOCK_LENGTH 64u
#define BLOCKS 8192u
#define BLOCK_OPS 65536u
#define BLOCK_HASH 4096u

/** All blocks of an engine. They live on from dispatch to dispatch; a flush begins an era, and makes sure that the code
 *  is the same before a block runs again. When there is no room, all are forgotten. */
struct blocks {
    uint32_t era, n_blocks, n_ops;
    struct block *hash[BLOCK_HASH];
    struct block block[BLOCKS];
    struct op op[BLOCK_OPS];
    uint32_t word[BLOCK_OPS];
};

void decode(uint32_t word, struct instruction *out);
/** False for branches, stores, fences, barrier, exit: their rd field is no register. */
bool writes_register(uint16_t op);

/** The block at pc. NULL and *code: it cannot be fetched. Valid until the next call. */
struct block *block_find(struct engine *e, uint32_t pc, uint32_t *code);
/** Instruction memory may have changed. */
void block_flush(struct engine *e);

/* ----------------------------------------------------------- simt.c, warp.c */

typedef uint32_t vec __attribute__((vector_size(LANES * 4)));

struct warp {
    vec x[33];                 /* registers, and SINK */
    vec on;                    /* all ones in the active lanes */
    uint32_t fflags[LANES], frm[LANES];
    uint32_t pc[LANES];        /* of lanes that are not active */
    uint8_t depth[LANES];      /* their call depth */
    uint32_t lid[3][LANES];
    uint32_t any_frm;          /* OR of frm */
    uint32_t born;             /* lanes that had a work-item at the launch */
    uint32_t live, waiting, active; /* masks; active is a subset of live & ~waiting */
    uint32_t at, at_depth;     /* of the active lanes */
    /* lowest pc of other lanes of the same depth: there the active lanes stop and select again */
    uint32_t merge;
    uint32_t backward, turn;   /* rotation: partial backward jumps taken, next lane to favour */
    uint32_t quantum;          /* instructions left of a rotated choice; 0: normal policy */
    bool hot;                  /* a part has done an atomic operation */
    uint32_t slot;
};

struct group {
    uint32_t id[3], base[3], size[3];
    uint32_t warps_left;
    uint32_t first_warp, n_warps;
    bool busy;
};

/** A memory instruction, or what is left of it: the lanes in p.mask, whose addresses are those of memory. */
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
    uint8_t lmem[LMEM_BYTES + PAGE]; /* a page may begin anywhere in it */
    bool lres_valid;
    uint32_t lres_word, lres_thread;
    struct unfinished unfinished[PENDING]; /* they wait for pages: nothing runs before it was cut and resumed */
    uint32_t n_unfinished;
    uint32_t last_root;
    bool clean;
    struct blocks blocks;
};

/** A warp while it runs. */
struct core {
    struct engine *e;
    struct fault *f;
    uint32_t index;            /* hardware warp */
    uint64_t time;             /* at which the block's first instruction was issued */
    const struct block *block;
    uint32_t taken;            /* lanes that a branch takes */
    vec target;                /* of jalr */
};

/** Lanes to run; they run together from here on. */
void warp_activate(struct warp *w, uint32_t mask);
/** Chooses among the lanes that can run: deepest call, then lowest pc. The lanes that ran must be parked. */
void warp_select(struct warp *w);
/** Runs up to `limit` instructions of a warp from time `now` on; the number run. *step: why it stopped, STEP_NEXT: the
 *  limit. At STEP_BARRIER and STEP_EXIT the last instruction is one, and nothing else has been done about it. */
uint64_t warp_run(struct engine *e, uint32_t index, uint64_t now, uint64_t limit, int *step, struct fault *f);
/** The active lanes begin to wait at a barrier, or end. */
void warp_leave(struct warp *w, bool exits);
/** Every lane's pc and depth into the arrays. */
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

/** What a copy or fill still has to do, as in the state of one that is cut. */
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
    uint32_t granularity; /* of the stop */
    struct fault absent;  /* the page request because of which it stops; code 0: none */
    enum phase phase;
    uint32_t offset;
    uint64_t begin;
    uint32_t packet[32];
    struct tern_ctx resume; /* executor: none once it goes on */
    struct box box;
    uint32_t user_state[16]; /* of the user executor that runs: its line of state */
    struct space space, physical;
    struct simt simt;
    struct counters count;
    uint32_t dbg_warp;
    struct tern_sim *dev;
    uint64_t now; /* how far it has run: behind device time, or ahead by what is left of a long packet */
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
    fenv_t callers;  /* of the thread in the call that goes on, if */
    bool arithmetic; /* an engine has computed in it (device_arithmetic) */
};

/**
 * Before an engine computes: kernels use the host's arithmetic as it is by default, whatever mode the caller has, which
 * is restored when the call returns. Not at each call: most are register accesses while nothing runs, and the change
 * costs more than the access.
 */
void device_arithmetic(struct tern_sim *d);

/** Runs an engine up to device time `end`. */
void engine_run(struct engine *e, uint64_t end);
void engine_reset(struct engine *e);
void engine_doorbell(struct engine *e);
void engine_preempt(struct engine *e, uint32_t granularity);
void engine_pop(struct engine *e);

/** True while a stop is requested at this granularity, or a finer one. */
static inline bool engine_stops(const struct engine *e, uint32_t granularity)
{
    return e->stopping && e->granularity >= granularity;
}

/* Each executor: start checks the packet and begins it, or with `state` goes on; f is filled on a fault. run goes on
 * for about `budget` cycles; the cycles taken, *done at the end. save: the state of what is cut. */

void mover_start(struct engine *e, struct lines *state, struct fault *f);
uint64_t mover_run(struct engine *e, uint64_t budget, bool *done, struct fault *f);
void mover_save(const struct engine *e, struct lines *state);

/** Packets of paging buffers that are done at once; cycles taken. */
uint64_t paging_run(struct engine *e, struct fault *f);
/** Entries from pa on lie in one table. */
bool table_holds(uint64_t pa, uint32_t count);

void user_start(struct engine *e, struct lines *state, struct fault *f);
uint64_t user_run(struct engine *e, uint64_t budget, bool *done, struct fault *f);
void user_save(const struct engine *e, struct lines *state);

void simt_start(struct engine *e, struct lines *state, struct fault *f);
uint64_t simt_run(struct engine *e, uint64_t budget, bool *done, struct fault *f);
/** Selection of warps begins anew. */
void simt_reset(struct engine *e);
/** Puts a group into a slot, its warps at their beginning. */
void simt_place(struct simt *s, uint32_t slot, const uint32_t id[3]);
/** When no work-item of a group can run: opens its barrier if every work-item waits at the same one, else a fault of
 *  the lowest barrier at which any waits and the first work-item there. */
void simt_barrier(struct simt *s, struct group *g, struct fault *f);
/** Where the work-items of a group wait. The lowest barrier and the first warp of the group and lane
 * there; false: none waits. */
bool simt_waits(const struct simt *s, const struct group *g, uint32_t *pc, uint32_t *warp, uint32_t *lane,
                bool *parted);
/** What the executor was asked to do cannot go on before a page is there: the first such access counts. */
static inline void page_request(struct engine *e, const struct fault *f)
{
    e->absent = e->absent.code ? e->absent : *f;
}
void state_save(struct engine *e, struct lines *state);
/** Of a checked dispatch, with all slots empty. */
void state_restore(struct engine *e, struct lines *state, struct fault *f);

/* ------------------------------------------------------------ ops_*.c, fp*.c */

/** The handlers of each kind; NULL: not of this kind. */
handler *int_handler(const struct instruction *i);
handler *flow_handler(const struct instruction *i);
handler *memory_handler(const struct instruction *i);
handler *float_handler(const struct instruction *i);

#define MEMORY_CAS 9u /* amocas on the memory channel */

/** Of a memory instruction that was cut, the lanes that are left. Loads and atomics leave what is for rd in result.
 *  *done: those whose pages are there; of others the first one is the engine's page request, if it has none yet. */
bool memory_replay(struct engine *e, const struct unfinished *u, uint32_t *result, uint32_t *done, struct fault *f);

static inline int fail(struct core *c, uint32_t code, uint32_t access, uint32_t va, uint32_t lane)
{
    *c->f = (struct fault){.code = code, .access = access, .va = va, .lane = lane};
    return STEP_FAULT;
}

/** op(a, b, c) of one lane, flags or-ed into fl. rm: 0 to 4. op: arithmetic, conversion or class. */
uint32_t fp_lane(uint16_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t rm, uint8_t *fl);

enum fp_kind { FP_ADD, FP_MUL, FP_FMA, FP_DIV, FP_SQRT };
/** Exact arithmetic on integers, all five rounding modes; FP_FMA is a * b + c. */
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
