/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Cases of kind PROGRAM: kernels of random code over random ranges, in an address space of their own. Interfaces
 * between the files:
 *
 *   program.c         the case: plan, kernels, buffers        program_space.c   physical pages, page tables
 *   program_kernel.c  a kernel around its items               program_plain.c   straight code: arithmetic, memory, CSRs
 *   program_flow.c    branches, loops, calls                  program_memory.c  patterns of addresses
 *   program_share.c   barriers, atomics, locks                program_reserve.c LR and SC
 *   program_exact.c   floating point where one bit decides     program_fault.c   faults on purpose
 *   program_pairs.c   addresses that differ in one bit         program_spin.c    work-items that wait for one warp
 *
 * The plan depends only on the seed; each item is drawn from the plan and its own index. At the begin and end of an
 * item all lanes that have not exited are at the same pc, and each register has a defined use:
 *
 *   x1        link
 *   x2        stack, of which AREA bytes are in use
 *   x3        AREA bytes of local memory (or of stack) of the work-item
 *   x4        SCRATCH bytes of global memory of the work-item
 *   x5        record of the work-item
 *   x6        counter of loops
 *   x7, x8    temporary
 *   x9        number of the record
 *   x10-x31   random values
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "asm.h"
#include "verify.h"

#define MAX_KERNELS 8u
#define FIRST_VALUE 10u     /* x10 to x31 */
#define AREA 32u            /* bytes of stack and of local memory that plain code of a work-item uses */
#define RECORD 512u         /* bytes of a work-item's record: registers, their first values, notes, scratch */
#define RECORD_VALUES 128u
#define RECORD_LID 216u     /* number of the work-item in its group */
#define RECORD_SIZE 220u    /* number of work-items of its group */
#define RECORD_SCRATCH 256u
#define SCRATCH 256u
#define POOL 64u            /* bytes of read-only constants of an item */
#define TABLE_LOG2 14u      /* bytes of the read-only table */
#define WIDE_LOG2 22u       /* range of addresses that map the table's pages repeatedly, for the TLB */
#define ALIAS_LOG2 19u      /* range of addresses that map a kernel's records repeatedly, for page walks */
#define SHARED_WORDS 16u    /* words of local memory for items that share data */
#define GATE 2048u           /* offset of the gate in the lock region: 64 bits, then the count of work-items there */
#define SAME_WORDS 64u      /* words of local memory, one for each item of a kernel */
#define BUFFER_ARGS 0x800u   /* arguments of the kernels, in the page of the buffers */
#define FIRST_REGION 12u
/* Bytes of the exchange region before the line of each group: a word for each record. */
#define GROUP_LINES(records) (((records) * 4u + LINE - 1) & ~(LINE - 1))
#define MAX_CODE 0x20000u   /* words */

/** Regions of an address space. The regions of kernel k begin at FIRST_REGION + k * KERNEL_REGIONS. */
enum {
    REGION_CODE, REGION_BUFFER, REGION_TABLE, REGION_POOL, REGION_ZERO, REGION_SHARED, REGION_HOLE, REGION_READONLY,
    REGION_BAD_FIRST, REGION_BAD_SECOND, REGION_BLACK, REGION_WIDE
};
enum { KERNEL_DATA, KERNEL_ALIAS, KERNEL_SCATTER, KERNEL_EXCHANGE, KERNEL_LOCK, KERNEL_STACK, KERNEL_REGIONS };
#define REGIONS (FIRST_REGION + MAX_KERNELS * KERNEL_REGIONS)

enum fault_class { FAULT_ILLEGAL, FAULT_MISALIGNED, FAULT_STACK, FAULT_LOCAL, FAULT_PAGE, FAULT_PROTECTION,
                   FAULT_MALFORMED, FAULT_CALL, FAULT_BARRIER, FAULT_BUS, FAULT_CLASSES };

struct kernel_plan {
    struct tern_pkt_dispatch packet;  /* entry is set once the code is generated */
    uint32_t engine;
    bool own_buffer;                  /* false: in the buffer of the kernel before it, if on the same engine */
    uint32_t first_item, items;
    /* work-items of a full group; number of records, as if all groups were full */
    uint32_t full, records;
    uint32_t records_log2;            /* log2 of records, rounded up */
    /* offset in local memory of the words that a group shares, after its work-items' areas */
    uint32_t area_at;
    bool local, barriers, exits;      /* uses local memory; has items with barriers; work-items may exit early */
    bool spins;                       /* the first item waits by spinning; one group fills the device */
    uint32_t fault_item;              /* item that faults, or UINT32_MAX */
    enum fault_class fault;
    uint32_t gate_item, awaited;      /* item with a gate, or UINT32_MAX; number of work-items that the gate awaits */
};

struct plan {
    uint64_t seed;
    struct geometry g;
    struct kernel_plan kernel[MAX_KERNELS];
    uint32_t kernels, items;
    uint32_t va[REGIONS];             /* first address of each region */
    uint32_t bytes[REGIONS];          /* bytes of each mapped region; the code may be shorter */
    bool big[REGIONS];                /* mapped by 4 MiB pages */
    /* program_pairs.c: address and physical number of the page from which the others differ in one bit */
    uint32_t pair_va, pair_page;
    bool physical;                    /* addresses are physical: the kernels are in paging buffers */
    uint32_t stop_every;              /* as in the scene */
    uint32_t absent;                  /* one page in so many is absent until a kernel requests it; 0: none */
};

void plan_make(uint64_t seed, const struct geometry *g, struct plan *p);
static inline uint32_t kernel_va(const struct plan *p, uint32_t kernel, uint32_t region)
{
    return p->va[FIRST_REGION + kernel * KERNEL_REGIONS + region];
}

/** The code of a kernel, to which generators append, and their state. */
struct code {
    uint32_t *word, n;
    uint32_t va;
    const struct plan *plan;
    const struct kernel_plan *kernel;
    uint32_t index;                   /* number of the kernel */
    uint32_t item;                    /* item that is being generated */
    struct rng *r;                    /* random numbers of the item */
    uint32_t *pool;                   /* constants of the item: POOL bytes at pool_va */
    uint32_t pool_va;
    bool mixed;                       /* lanes beside the faulting ones run the same instruction, without fault */
    bool only_fresh;                  /* all sources are fresh registers */
    bool deep;                        /* sp does not point to the work-item's AREA */
    uint32_t fresh[2], last[2];       /* the registers that last got a corner value; that last got a result */
    uint32_t awaited;                 /* number of work-items that count themselves at the item's gate */
    uint32_t exits[64], n_exits;      /* indexes of jumps to the end of the kernel */
    char *text;                       /* description of the item; NULL: not wanted */
    size_t text_size;
};

/* ---------------------------------------------------------- program_plain.c */
void emit(struct code *c, uint32_t word);
/** rd = value, in one or two instructions. */
void emit_li(struct code *c, uint32_t rd, uint32_t value);
/** Leaves room for an instruction and returns its index. code_branch or code_jump later fills it with a jump to the
 *  then end of the code. */
uint32_t code_hole(struct code *c);
void code_branch(struct code *c, uint32_t hole, uint32_t condition, uint32_t rs1, uint32_t rs2);
void code_jump(struct code *c, uint32_t hole, uint32_t rd);
/** Adds to the text of the item. */
void code_say(struct code *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Return a random register: one with a value; a source; a destination, which may be x0. */
uint32_t any_value(struct code *c);
uint32_t any_source(struct code *c);
uint32_t any_dest(struct code *c);
/** Returns a random value, mostly a corner case of integers or floating point. */
uint32_t corner_value(struct rng *r);
/** Generate one instruction (two, if it needs an address) without effect on control flow. */
void plain(struct code *c);
void plain_integer(struct code *c);
void plain_float(struct code *c);
void plain_memory(struct code *c);
/** x7 = base (sp, x3 or x4) + a multiple of 1 << size that differs by lane: adjacent, with a stride, or random. */
void plain_address(struct code *c, uint32_t base, uint32_t size);
/** Generates an atomic on such an address. */
void plain_atomic(struct code *c, uint32_t base);
void straight(struct code *c, uint32_t n);
uint32_t any_condition(struct code *c);

/* ---------------------------------------------------------- program_share.c */
/** rd = address of the words that a group shares, in local or in global memory. X7 is lost. */
void share_local(struct code *c, uint32_t rd, uint32_t offset);
void share_global(struct code *c, uint32_t rd);

/** Generate code by which a work-item waits at the gate of its kernel, or counts itself there. X6 and X8 are lost. */
void gate_wait(struct code *c);
void gate_count(struct code *c);
/** Returns a random group of the kernel, with two work-items at least if there is such a group. */
uint32_t any_group(struct code *c);
/** Returns the number of work-items of group n. */
uint32_t group_items(const struct kernel_plan *k, uint32_t n);

/* ---------------------------- generators of items, with their text; program_*.c */
void item_straight(struct code *c);
void item_float(struct code *c);
void item_corner(struct code *c);
void item_exact(struct code *c);
void item_classes(struct code *c);
void item_csr(struct code *c);
void item_flow(struct code *c);
void item_loop(struct code *c);
void item_switch(struct code *c);
void item_call(struct code *c);
void item_recursion(struct code *c);
void item_zigzag(struct code *c);
void item_far(struct code *c);
void item_page_end(struct code *c);
void item_exit(struct code *c);
void item_load(struct code *c);
void item_wide(struct code *c);
void item_burst(struct code *c);
void item_scatter(struct code *c);
void item_alias(struct code *c);
void item_replace(struct code *c);
void item_same(struct code *c);
void item_barrier(struct code *c);
void item_gate(struct code *c);
void item_exchange(struct code *c);
void item_histogram(struct code *c);
void item_shared(struct code *c);
void item_counter(struct code *c);
void item_lock(struct code *c);
void item_reserve(struct code *c);
void item_reservation_lost(struct code *c);
void item_fault(struct code *c);
void item_pairs(struct code *c);
void item_reserve_pairs(struct code *c);
void item_crowd(struct code *c);
void item_spin(struct code *c);
/** In half of the cases with stops, generates delays that differ by work-item before a barrier or the end, so that a
 *  stop finds only some work-items there. X5 is the record, X7 is lost. Returns false if nothing was generated. */
bool come_late(struct code *c);

/* ---------------------------------------------------------- program_pairs.c */
/** Gives address and physical number of page i of the pairs. Returns false if there is no such page. */
bool pairs_at(const struct plan *p, uint32_t i, uint32_t *va, uint32_t *page);
/** Gives the contents of a physical page of the pairs. */
void pairs_fill(const struct plan *p, uint32_t page, uint32_t words[1024]);

/* --------------------------------------------------------- program_kernel.c */
/** Appends the code of an item of the plan. */
void item_emit(struct code *c, uint32_t item);
/** Append the instructions before the first item, and after the last one. kernel_end also completes the jumps of
 *  c->exits. */
void kernel_begin(struct code *c);
void kernel_end(struct code *c);

/* ---------------------------------------------------------- program_space.c */
struct space;
int space_make(struct scene *s, const struct plan *p, struct space **out);
void space_free(struct space *a);
uint32_t space_root(const struct space *a);
/** Allocates adjacent physical pages. Returns the number of the first. */
uint32_t space_pages(struct space *a, uint32_t pages);
/** Maps the first bytes of a region to new pages with these rights (TERN_PTE_*_MASK). open: an enum open_reason if the
 *  contents may differ, else -1. */
int space_map(struct space *a, uint32_t region, uint32_t bytes, uint32_t rights, int open);
/** Maps a region of that size repeatedly to the pages of another one. */
int space_alias(struct space *a, uint32_t region, uint32_t bytes, uint32_t other, uint32_t rights);
/** Sets the entries of a region's pages to `entry`; first: the entry of the first level. */
int space_entry(struct space *a, uint32_t region, bool first, uint32_t entry);
/** Copies bytes to an offset of a mapped region. */
void space_put(struct space *a, uint32_t region, uint32_t offset, const void *data, uint32_t bytes);
/** Maps the pages of program_pairs.c, and fills them. */
void space_pairs(struct space *a);
/** Makes some of the second-level tables absent, but not that of the buffers. */
int space_absent_tables(struct space *a);
/** Returns the physical address of an offset of a mapped region. */
uint64_t space_physical(const struct space *a, uint32_t region, uint32_t offset);

#endif
