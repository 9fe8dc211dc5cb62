/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Cases of kind PROGRAM: kernels of random code over random ranges, in an address space of
 * their own. What the parts share.
 *
 *   program.c         the case: plan, kernels, buffers        program_space.c   physical pages, page tables
 *   program_kernel.c  a kernel around its items               program_plain.c   straight code: arithmetic, memory, CSRs
 *   program_flow.c    branches, loops, calls                  program_memory.c  patterns of addresses
 *   program_share.c   barriers, atomics, locks                program_reserve.c LR and SC
 *   program_exact.c   floating point where one bit decides     program_fault.c   faults on purpose
 *   program_pairs.c   addresses that differ in one bit         program_spin.c    work-items that wait for one warp
 *
 * The plan is all that follows from the seed alone; items are drawn from it one by one. An item begins and ends with
 * all lanes of a work-group at the same place (those that have not exited), and with every register defined:
 *   x1 link  x2 stack, AREA bytes in use  x3 the work-item's AREA bytes of local memory (or of stack)
 *   x4 its SCRATCH bytes of global memory  x5 its record  x6 counter of loops  x7, x8 temporary
 *   x9 number of its record  x10-x31 random values
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "asm.h"
#include "verify.h"

#define MAX_KERNELS 8u
#define FIRST_VALUE 10u     /* x10 to x31 */
#define AREA 32u            /* bytes of stack and of local memory that plain code of a work-item uses */
#define RECORD 512u         /* of a work-item: registers, their first values, notes, scratch */
#define RECORD_VALUES 128u
#define RECORD_LID 216u     /* its number in its group */
#define RECORD_SIZE 220u    /* work-items of its group */
#define RECORD_SCRATCH 256u
#define SCRATCH 256u
#define POOL 64u            /* bytes of read-only constants of an item */
#define TABLE_LOG2 14u      /* bytes of the read-only table */
#define WIDE_LOG2 22u       /* addresses under which its pages come again and again, for the TLB */
#define ALIAS_LOG2 19u      /* addresses under which a kernel's records come again and again, for walks */
#define SHARED_WORDS 16u    /* in local memory, for items that share */
#define GATE 2048u           /* in the lock region: 64 bits; who waits for others counts itself in the word behind */
#define SAME_WORDS 64u      /* ... one for each item of a kernel */
#define BUFFER_ARGS 0x800u   /* arguments of the kernels, in the page of the buffers */
#define FIRST_REGION 12u
/* in the exchange region: a line for each group */
#define GROUP_LINES(records) (((records) * 4u + LINE - 1) & ~(LINE - 1))
#define MAX_CODE 0x20000u   /* words */

/** Regions of an address space; those of kernel k from FIRST_REGION + k * KERNEL_REGIONS. */
enum {
    REGION_CODE, REGION_BUFFER, REGION_TABLE, REGION_POOL, REGION_ZERO, REGION_SHARED, REGION_HOLE, REGION_READONLY,
    REGION_BAD_FIRST, REGION_BAD_SECOND, REGION_BLACK, REGION_WIDE
};
enum { KERNEL_DATA, KERNEL_ALIAS, KERNEL_SCATTER, KERNEL_EXCHANGE, KERNEL_LOCK, KERNEL_STACK, KERNEL_REGIONS };
#define REGIONS (FIRST_REGION + MAX_KERNELS * KERNEL_REGIONS)

enum fault_class { FAULT_ILLEGAL, FAULT_MISALIGNED, FAULT_STACK, FAULT_LOCAL, FAULT_PAGE, FAULT_PROTECTION,
                   FAULT_MALFORMED, FAULT_CALL, FAULT_BARRIER, FAULT_BUS, FAULT_CLASSES };

struct kernel_plan {
    struct tern_pkt_dispatch packet;  /* entry is set once the code is there */
    uint32_t engine;
    bool own_buffer;                  /* else in that of the kernel before it, if it runs on the same engine */
    uint32_t first_item, items;
    /* work-items of a full group; records of the range, those of edge groups with gaps */
    uint32_t full, records;
    uint32_t records_log2;            /* rounded up */
    /* offset in local memory of the words that a group shares, after its work-items' areas */
    uint32_t area_at;
    bool local, barriers, exits;      /* local memory; items may wait for each other; work-items may exit early */
    bool spins;                       /* its first item waits by spinning; one group fills the device */
    uint32_t fault_item;              /* item that faults, or UINT32_MAX */
    enum fault_class fault;
    uint32_t gate_item, awaited;      /* item at whose gate some wait until others have come to it, or UINT32_MAX */
};

struct plan {
    uint64_t seed;
    struct geometry g;
    struct kernel_plan kernel[MAX_KERNELS];
    uint32_t kernels, items;
    uint32_t va[REGIONS];             /* where each region begins */
    uint32_t bytes[REGIONS];          /* of those that are mapped; of the code: at most */
    bool big[REGIONS];                /* mapped by 4 MiB pages */
    /* of program_pairs.c: the page from whose address, and physical number, others differ in bits */
    uint32_t pair_va, pair_page;
    bool physical;                    /* no translation: the addresses are physical, in paging buffers */
    uint32_t stop_every;              /* as in the scene */
    uint32_t absent;                  /* one page in so many is absent until a kernel asks for it; 0: none */
};

void plan_make(uint64_t seed, const struct geometry *g, struct plan *p);
static inline uint32_t kernel_va(const struct plan *p, uint32_t kernel, uint32_t region)
{
    return p->va[FIRST_REGION + kernel * KERNEL_REGIONS + region];
}

/** Code that grows, with what its generators need to know. */
struct code {
    uint32_t *word, n;
    uint32_t va;
    const struct plan *plan;
    const struct kernel_plan *kernel;
    uint32_t index;                   /* of the kernel */
    uint32_t item;                    /* that is being generated */
    struct rng *r;                    /* its random numbers */
    uint32_t *pool;                   /* its constants: POOL bytes at pool_va */
    uint32_t pool_va;
    bool mixed;                       /* lanes beside the faulting ones run the same instruction, without fault */
    bool only_fresh;                  /* no sources but the fresh ones */
    bool deep;                        /* sp is not where the work-item's AREA is */
    uint32_t fresh[2], last[2];       /* registers that were given a corner value, or a result, last */
    uint32_t awaited;                 /* how many count themselves at the gate of the item */
    uint32_t exits[64], n_exits;      /* places of jumps to the end of the kernel */
    char *text;                       /* NULL: nobody asks */
    size_t text_size;
};

/* ---------------------------------------------------------- program_plain.c */
void emit(struct code *c, uint32_t word);
/** rd = value, in one or two instructions. */
void emit_li(struct code *c, uint32_t rd, uint32_t value);
/** Room for an instruction that is known later: its place, for code_branch or code_jump to
 * the end of the code so far. */
uint32_t code_hole(struct code *c);
void code_branch(struct code *c, uint32_t hole, uint32_t condition, uint32_t rs1, uint32_t rs2);
void code_jump(struct code *c, uint32_t hole, uint32_t rd);
/** Adds to the text of the item. */
void code_say(struct code *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** A value register; a source, any register; a destination, now and then x0. */
uint32_t any_value(struct code *c);
uint32_t any_source(struct code *c);
uint32_t any_dest(struct code *c);
/** A random value, most likely one of those where implementations go wrong: integers, or floating point. */
uint32_t corner_value(struct rng *r);
/** One instruction (two, if it needs an address) without effect on control flow. */
void plain(struct code *c);
void plain_integer(struct code *c);
void plain_float(struct code *c);
void plain_memory(struct code *c);
/** x7 = base (sp, x3 or x4) + a multiple of 1 << size that the lane decides: one behind the
 * other, apart, or anywhere. */
void plain_address(struct code *c, uint32_t base, uint32_t size);
/** An atomic on such an address. */
void plain_atomic(struct code *c, uint32_t base);
void straight(struct code *c, uint32_t n);
uint32_t any_condition(struct code *c);

/* ---------------------------------------------------------- program_share.c */
/** rd = address of the words that a group shares in local memory, or in global memory (uses x7). */
void share_local(struct code *c, uint32_t rd, uint32_t offset);
void share_global(struct code *c, uint32_t rd);

/** A work-item waits at the gate of its kernel, or counts itself there. X6 and X8 are lost. */
void gate_wait(struct code *c);
void gate_count(struct code *c);
/** A group of the kernel of two work-items at least, if there is one; in all, work-items of group n. */
uint32_t any_group(struct code *c);
uint32_t group_items(const struct kernel_plan *k, uint32_t n);

/* -------------------------------------- items, each with its text; program_*.c */
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
/** In one of two cases that are stopped, work-items come to what follows, a barrier or the end, at different times:
 *  a stop finds some there and others on their way. X5 is the record, X7 is lost. False: nothing was generated. */
bool come_late(struct code *c);

/* ---------------------------------------------------------- program_pairs.c */
/** Page i of them: where it is, virtual and physical. False: there are no more. */
bool pairs_at(const struct plan *p, uint32_t i, uint32_t *va, uint32_t *page);
/** What is in a physical page of them. */
void pairs_fill(const struct plan *p, uint32_t page, uint32_t words[1024]);

/* --------------------------------------------------------- program_kernel.c */
/** What an item of a plan generates, at the end of the code so far. */
void item_emit(struct code *c, uint32_t item);
/** The instructions before the first item and after the last; the latter also end the jumps of c->exits. */
void kernel_begin(struct code *c);
void kernel_end(struct code *c);

/* ---------------------------------------------------------- program_space.c */
struct space;
int space_make(struct scene *s, const struct plan *p, struct space **out);
void space_free(struct space *a);
uint32_t space_root(const struct space *a);
/** Physical pages that nobody else has, in a row: the number of the first. */
uint32_t space_pages(struct space *a, uint32_t pages);
/** Maps the first bytes of a region to fresh pages with these rights (TERN_PTE_*_MASK); open: they may
 * differ (a reason), or -1. */
int space_map(struct space *a, uint32_t region, uint32_t bytes, uint32_t rights, int open);
/** Maps a region of that size to the pages of another one, over and over. */
int space_alias(struct space *a, uint32_t region, uint32_t bytes, uint32_t other, uint32_t rights);
/** Makes the entries of a region's pages this very entry; first: that of the first level. */
int space_entry(struct space *a, uint32_t region, bool first, uint32_t entry);
/** Puts bytes at an offset of a mapped region. */
void space_put(struct space *a, uint32_t region, uint32_t offset, const void *data, uint32_t bytes);
/** Maps the pages of program_pairs.c, and fills them. */
void space_pairs(struct space *a);
/** Makes some of the second-level tables absent as a whole; but not that of the buffers. */
int space_absent_tables(struct space *a);
/** Physical address of an offset of a mapped region. */
uint64_t space_physical(const struct space *a, uint32_t region, uint32_t offset);

#endif
