/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functional model of a Tern device: what every packet, register and instruction does, without the RTL's structure.
 *
 * Time is counted roughly (one cycle a warp instruction, one a 64-byte line moved); everything else that a program can see
 * is exact. Engines run in turn in slices of device time, so two runs with the same accesses are the same.
 *   device.c   API, registers, time            engine.c  HW queue, indications, packets
 *   memory.c   memory, translation, dirty bits mover.c   copy, fill, page-table packets
 *   simt.c     work-groups, warps, divergence  exec.c    instructions     decode.c     fp.c, fp_exact.c   arithmetic
 */
#ifndef MODEL_H
#define MODEL_H

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
#define LANES MODEL_LANES
#define WARPS MODEL_WARPS
#define ENGINES 2
#define LMEM_BYTES 65536u
#define LINE 64u
#define PAGE 4096u
#define ADDRESS_MASK 0x3ffffffffull /* addresses have 34 bits and wrap; virtual ones of 4 GiB and more are mapped nowhere */
#define HW_QUEUE 2
#define INDICATIONS 4
#define ALL_LANES ((uint32_t)((1ull << LANES) - 1))

enum { ACCESS_READ, ACCESS_WRITE, ACCESS_EXECUTE, ACCESS_ATOMIC };

/** The first fault of a buffer. code 0: none. Of a kernel: who, by group, warp in the group, lane. */
struct fault {
    uint32_t code, access, va, pc, warp, lane, group[3];
};

/* ---------------------------------------------------------------- memory.c */

#define TLB_SIZE 1024u

/** One translated page; a key of 0 is empty. Rights are checked when it is filled, one entry an access class. */
struct tlb_entry {
    uint64_t key;  /* virtual page, access class, + 1 */
    uint8_t *host; /* NULL: the zero page */
    uint64_t page; /* physical */
};

/** An address space as an engine sees it while a buffer runs. */
struct space {
    uint32_t root;
    bool physical;
    struct tlb_entry tlb[TLB_SIZE];
};

struct reservation {
    bool valid;
    uint64_t word;
    uint32_t thread;
};

struct memory {
    uint8_t *data;
    uint64_t bytes;
    uint8_t *dirty; /* one byte a page */
    struct reservation reserved[ENGINES];
};

int memory_init(struct memory *m, uint64_t bytes);
void memory_free(struct memory *m);
/** Host pointer to n bytes at va that lie in one page, or NULL and *code. *page is the physical page; the zero page reads from
 *  a shared page of zeros. */
uint8_t *memory_map(struct memory *m, struct space *s, uint64_t va, uint32_t access, uint64_t *page, uint32_t *code);
/** Copies n bytes, across pages. On a fault false, with f filled (code, access, va). */
bool memory_read(struct memory *m, struct space *s, uint64_t va, void *data, uint64_t n, struct fault *f);
bool memory_write(struct memory *m, struct space *s, uint64_t va, const void *data, uint64_t n, struct fault *f);
/** Marks a page dirty and drops reservations on the words of [pa, pa + n). */
void memory_written(struct memory *m, uint64_t pa, uint32_t n);
void space_flush(struct space *s);

/* ------------------------------------------------------------------ simt.c */

struct instruction {
    uint32_t pc; /* tag; odd: empty */
    uint32_t word;
    uint16_t op;
    uint8_t rd, rs1, rs2, rs3, rm, size;
    int32_t imm;
};

#define DECODED 16384u

struct warp {
    uint32_t x[32][LANES];
    uint32_t pc[LANES];    /* of lanes that are not active */
    uint16_t depth[LANES]; /* call depth */
    uint8_t fflags[LANES], frm[LANES];
    uint32_t lid[3][LANES];
    uint32_t born;                  /* lanes that had a work-item at the launch */
    uint32_t live, waiting, active; /* masks; active is a subset of live & ~waiting */
    uint32_t at;                    /* pc of the active lanes */
    uint32_t merge;                 /* lowest pc of other lanes of the same depth: there the active lanes stop and select again */
    uint32_t backward, turn;        /* rotation: partial backward branches taken, next lane to favour */
    uint32_t quantum;               /* instructions left of a rotated choice; 0: normal policy */
    uint32_t slot;
};

struct group {
    uint32_t id[3], base[3], size[3];
    uint32_t warps_left;
    uint32_t first_warp, n_warps;
    bool busy;
};

struct simt {
    struct tern_pkt_dispatch p;
    struct warp warp[WARPS];
    struct group group[WARPS];
    uint32_t next[3]; /* next group to launch */
    uint64_t groups_left, groups_running;
    uint32_t turn;
    uint8_t lmem[LMEM_BYTES];
    bool lres_valid;
    uint32_t lres_word, lres_thread;
    uint32_t last_root;
    bool clean;
    struct instruction decoded[DECODED];
};

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

enum phase { PHASE_IDLE, PHASE_FETCH, PHASE_SIMT, PHASE_WAIT };

struct engine {
    uint32_t index;
    struct submission regs, queue[HW_QUEUE];
    uint32_t queued;
    struct indication ind[INDICATIONS];
    uint32_t n_ind;
    bool refused, stopping;
    uint32_t granularity; /* of the stop */
    enum phase phase;
    uint32_t offset;
    uint64_t begin;
    uint32_t packet[32];
    struct space space;
    struct simt simt;
    struct counters count;
    struct tern_sim *dev;
    uint64_t now; /* how far it has run: behind device time, or ahead by what is left of a long packet */
};

struct tern_sim {
    struct memory mem;
    struct engine engine[ENGINES];
    uint64_t time;
    uint32_t time_hi, irq_enable;
    uint32_t dirty_first, dirty_count;
    bool dirty_error;
    uint32_t dirty_window[512];
    tern_sim_observer observer; /* NULL: none */
    void *observer_user;
};

/** Runs an engine up to device time `end`. */
void engine_run(struct engine *e, uint64_t end);
void engine_reset(struct engine *e);
void engine_doorbell(struct engine *e);
void engine_preempt(struct engine *e, uint32_t granularity);
void engine_pop(struct engine *e);

/** Copy, fill and paging packets, whole. Cycles that it took; f filled on a fault. */
uint64_t mover_run(struct engine *e, const uint32_t *w, struct fault *f);

/** Begins a checked dispatch. */
void simt_start(struct engine *e, const uint32_t *w);
/** TERN_FAULT_NONE, or why a dispatch packet is out of bounds. */
uint32_t simt_check(const struct tern_pkt_dispatch *p);
/** Runs up to budget warp instructions; the number run. *done at the end; f filled on a fault (and *done). */
uint64_t simt_run(struct engine *e, uint64_t budget, bool *done, struct fault *f);

/* ------------------------------------------------- decode.c, exec.c, fp*.c */

enum { STEP_NEXT, STEP_BRANCH, STEP_BARRIER, STEP_EXIT, STEP_FAULT };

void decode(uint32_t word, struct instruction *out);
/** False for branches, stores, fences, barrier, exit: their rd field is no register. */
bool writes_register(uint16_t op);
/** Runs one instruction for the active lanes. STEP_BRANCH: target[] holds the next pc of each active lane. */
int exec(struct engine *e, struct warp *w, uint32_t index, const struct instruction *i, uint32_t *target, struct fault *f);

/** r = op(a, b, c) for the lanes of mask, flags or-ed into fl[]. rm[]: rounding mode a lane, 0 to 4. */
void fp_lanes(uint16_t op, uint32_t mask, const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint8_t *rm,
              uint32_t *r, uint8_t *fl);

enum fp_kind { FP_ADD, FP_MUL, FP_FMA, FP_DIV, FP_SQRT };
/** Exact arithmetic on integers, all five rounding modes; FP_FMA is a * b + c. */
uint32_t fp_exact(enum fp_kind kind, uint32_t a, uint32_t b, uint32_t c, uint32_t rm, uint8_t *flags);

enum op {
    OP_ILLEGAL, OP_LUI, OP_AUIPC, OP_JAL, OP_JALR, OP_BEQ, OP_BNE, OP_BLT, OP_BGE, OP_BLTU, OP_BGEU,
    OP_LOAD, OP_LOADU, OP_STORE,
    OP_ADDI, OP_SLTI, OP_SLTIU, OP_XORI, OP_ORI, OP_ANDI, OP_SLLI, OP_SRLI, OP_SRAI,
    OP_ADD, OP_SUB, OP_SLL, OP_SLT, OP_SLTU, OP_XOR, OP_SRL, OP_SRA, OP_OR, OP_AND,
    OP_MUL, OP_MULH, OP_MULHSU, OP_MULHU, OP_DIV, OP_DIVU, OP_REM, OP_REMU,
    OP_SH1ADD, OP_SH2ADD, OP_SH3ADD, OP_ANDN, OP_ORN, OP_XNOR, OP_CLZ, OP_CTZ, OP_CPOP, OP_MAX, OP_MAXU, OP_MIN, OP_MINU,
    OP_SEXTB, OP_SEXTH, OP_ZEXTH, OP_ROL, OP_ROR, OP_RORI, OP_ORCB, OP_REV8,
    OP_LR, OP_SC, OP_AMOSWAP, OP_AMOADD, OP_AMOXOR, OP_AMOAND, OP_AMOOR, OP_AMOMIN, OP_AMOMAX, OP_AMOMINU, OP_AMOMAXU, OP_AMOCAS,
    OP_FENCE, OP_ECALL, OP_CSRRW, OP_CSRRS, OP_CSRRC, OP_CSRRWI, OP_CSRRSI, OP_CSRRCI,
    OP_FMADD, OP_FMSUB, OP_FNMSUB, OP_FNMADD, OP_FADD, OP_FSUB, OP_FMUL, OP_FDIV, OP_FSQRT,
    OP_FSGNJ, OP_FSGNJN, OP_FSGNJX, OP_FMIN, OP_FMAX, OP_FCVT_W_S, OP_FCVT_WU_S, OP_FCVT_S_W, OP_FCVT_S_WU,
    OP_FEQ, OP_FLT, OP_FLE, OP_FCLASS, OP_BARRIER, OP_EXIT
};

#endif
