/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Inside of kind STREAM: the plan of a case, its memory, and a buffer while it is built.
 *
 * The builder tracks the page tables at each point of an engine's work (struct table), so that the bytes that a packet
 * reads and writes, and its fault, are known. stream_admit refuses what the specification leaves open: overlapping
 * copies, reads of open memory, two faults in one packet. Only memory that a fault leaves half written must then be
 * declared open. An item for which no packet is admitted is a nop.
 *
 *   stream_plan.c   plan of a case                   stream.c         buffers, submissions
 *   stream_space.c  memory, page tables, admission   stream_packet.c  well-formed packets
 *   stream_kernel.c programs and dispatches          stream_paging.c  mapping changes
 *   stream_fault.c  packets that fault on purpose
 * Engines share only three kinds of written memory: pages that a fence hands over (rendezvous), counters to which both
 * add and that no packet reads, and lines of which each engine has its own bytes. Their speeds therefore do not matter.
 */
#ifndef STREAM_H
#define STREAM_H

#include "verify.h"

#define SPACES 3u     /* address spaces of an engine */
#define BUFFERS 48u   /* at most; each has two places, for the two sides of a rendezvous */
#define PER_BUFFER 10u
#define MAILS 14u
#define POOL 128u     /* data pages of an engine */

/* Streams of random numbers. Items have streams 0 to MAX_ITEMS - 1. */
enum { RNG_BUFFER = 0x1000, RNG_SPACE = 0x2000, RNG_PAGE = 0x3000, RNG_PLAN = 0x4000 };

/* Physical addresses. Engine e has the 4 MiB at DATA(e), with POOL pages of data. The last page of memory is engine
 * 0's. */
#define TABLE_PAGES 0x00010000u
#define TEMPLATES 0x00038000u
#define CODE 0x00040000u
#define CONSTANTS 0x00050000u
#define ARGS 0x00060000u
#define FENCES 0x00070000u
#define STACKS 0x00080000u
#define STACK_BYTES 0x10000u
#define MAIL 0x000a0000u
#define STRIPES (MAIL + MAILS * PAGE) /* both engines write them; of each 16 bytes each engine has 8 */
#define COUNTERS (STRIPES + PAGE)      /* both engines add to them */
#define BUFFER_PAGES 0x00140000u
#define DATA(e) (0x00400000u * (1u + (e)))
#define FOREIGN 0x00c00000u
#define PAGING 0x00c20000u
#define SAVE_OF_OTHER_ROOTS 0x00c40000u
#define SAVES 0x01000000u /* SAVE_PAGES for each place of a buffer */
/* Page numbers of page tables differ from these in one bit; with any bit changed they are above SAVES. */
#define SPACE_PAGES 0x3c00u
#define SPACE_BITS 14u
#define ROOT_BITS 22u /* bits of a page number; those from SPACE_BITS on are beyond memory */

/* Virtual addresses, the same in every space. */
#define SYSTEM_VA 0x00400000u
#define VA_BUFFERS SYSTEM_VA
#define VA_ARGS (SYSTEM_VA + 192u * PAGE)
#define VA_FENCES (SYSTEM_VA + 208u * PAGE)
#define VA_CONSTANTS (SYSTEM_VA + 216u * PAGE)
#define VA_CODE (SYSTEM_VA + 224u * PAGE)
#define VA_STACK (SYSTEM_VA + 240u * PAGE)
#define VA_MAIL (SYSTEM_VA + 256u * PAGE)
#define VA_STRIPES (VA_MAIL + MAILS * PAGE)
#define VA_COUNTERS (VA_STRIPES + PAGE)
/* Two second-level tables. The last 16 pages of the first and the first ones of the second are the window. */
#define VA_FAR 0x13c00000u
#define FAR 2048u              /* pages */
#define VA_WINDOW 0x13ff0000u  /* data, across the boundary of two 4 MiB regions, which is also a 64 MiB boundary */
#define WINDOW 32u             /* pages */
#define VA_BAD (VA_WINDOW + WINDOW * PAGE)
#define BAD 16u                /* pages that cannot be used, each in its own way */
#define VA_BAD_REGIONS 0x12000000u
#define BAD_REGIONS 8u         /* entries of the first level that cannot be used */
#define VA_SUPER 0x20000000u   /* the engine's data in one 4 MiB page, then a 4 MiB zero page, then a read-only one */
#define REGION 0x00400000u

enum { TABLE_ROOT, TABLE_SYSTEM, TABLE_LOW, TABLE_HIGH, TABLES };

struct table {
    uint64_t pa;
    uint32_t entry[1024];
};

enum buffer_kind { BUFFER_USER, BUFFER_PAGING, BUFFER_NULL, BUFFER_MALFORMED, BUFFER_NO_CONTEXT, BUFFER_RENDEZVOUS,
                   BUFFER_PROBE, BUFFER_GATE };

struct plan {
    uint32_t buffers, items, stop_every;
    uint32_t faults; /* faults on purpose, of 32 items */
    struct {
        enum buffer_kind kind;
        uint32_t engine, first, items, mail;
    } buffer[BUFFERS];
};

struct stream {
    uint64_t seed;
    const struct geometry *g;
    struct scene *scene;
    struct plan plan;
    struct table table[ENGINES][SPACES][TABLES];
    uint64_t constant[PAGE / 8];
    uint32_t fence; /* low half of the last submission's fence */
    uint64_t warm[ENGINES]; /* root and address (the low half) of a buffer of the engine that has run; 0: none */
    int error;
};

/** A buffer under construction. */
struct buffer {
    struct stream *st;
    uint32_t place, engine, space, save;
    bool paging;
    bool placed;          /* the buffer is in memory */
    uint64_t address, physical;
    uint32_t words[2 * PAGE / 4], used, room; /* `used` and `room` are words */
    uint32_t fetch_limit; /* bytes that can be fetched */
    bool dead;            /* nothing behind this point runs, because of a fault */
    bool skipped;         /* nothing at this point runs, since the buffer is resumed further on */
    bool closed;          /* cut in the middle of a packet: the buffer ends here */
};

enum { USE_READ = 1, USE_WRITE = 2 };

/** Bytes that a packet accesses. */
struct box {
    uint64_t at, width;
    uint32_t rows, slices, row, slice;
    unsigned use;
    bool wraps; /* the addresses are virtual and wrap at 32 bits */
};

/** A packet and the memory that it accesses. */
struct packet {
    uint32_t w[32];
    uint32_t lines;
    struct box box[3];
    uint32_t boxes;
    uint64_t open_first, open_bytes; /* physical, open after it has run; 0: none */
    enum open_reason reason;
    bool open_dirty;
    bool faults;           /* the packet faults, even if no box does */
};

/** Place of a drawn packet's operands. WILD: one of them faults. */
enum aim { AIM_GOOD, AIM_WILD };

/* stream_plan.c */
struct plan stream_plan(uint64_t seed, uint32_t engines);

/* stream_space.c */
void stream_space_init(struct stream *st);
/** Appends a packet if there is room. */
void stream_emit(struct buffer *b, const uint32_t *w, uint32_t lines);
/** Returns whether the packet may come next. If it faults, which needs may_fault, nothing behind it runs. */
bool stream_admit(struct buffer *b, const struct packet *p, bool may_fault);
/** Translates a virtual page of the buffer's space for this use to *pa. Returns false on a fault. *zero: it is the zero
 * page. */
bool stream_translate(const struct buffer *b, uint64_t va, unsigned use, uint64_t *pa, bool *zero);
/** Draws a space of an engine; the first one more often, so that work returns to it. */
uint32_t stream_space(struct rng *r);
/** Draws an aligned address for so many bytes. */
uint64_t stream_pick(const struct buffer *b, struct rng *r, uint64_t bytes, uint32_t align, unsigned use, enum aim aim);
bool stream_live(const struct buffer *b);
/** Returns entry i of the engine's template table: a page of data. */
uint32_t stream_template(uint32_t engine, uint32_t i);
/** Returns an entry that is no valid leaf for reading and writing, in one of many ways. */
uint32_t stream_bad_pte(struct stream *st, struct rng *r, bool first);

/* stream_packet.c */
extern const uint32_t stream_opcodes[13];
/** Draws a packet of this opcode with valid fields. */
void stream_draw(const struct buffer *b, struct rng *r, uint32_t item, uint32_t opcode, enum aim aim, struct packet *p);
/** Draws packets until one may come next, and emits it. */
void stream_put(struct buffer *b, struct rng *r, uint32_t item, uint32_t opcode, enum aim aim);
void stream_nop(struct buffer *b);
uint32_t stream_edge(struct rng *r, uint32_t most);
uint64_t stream_random64(struct rng *r);

/* stream_kernel.c */
void stream_kernel_init(struct stream *st);
void stream_dispatch(const struct buffer *b, struct rng *r, uint32_t item, enum aim aim, struct tern_pkt_dispatch *p,
                     struct packet *out);
/** Adds a kernel that ends when the 32 bits at this address are not 0. */
void stream_gate_kernel(struct buffer *b, struct rng *r, uint32_t item, uint32_t at);
/** Copies a program to a place for code, and runs it there. */
void stream_fresh_code(struct buffer *b, struct rng *r, uint32_t item);

/* stream_paging.c */
void stream_mapping(struct buffer *b, struct rng *r);
/** Remaps pages of the data window from `page` on, all in one table. */
void stream_remap(struct buffer *b, struct rng *r, uint32_t space, uint32_t page, uint32_t count);
/** Remaps some of the pages at VA_FAR + (page + i * stride) pages, i below count, with one flush for all. */
void stream_remap_far(struct buffer *b, struct rng *r, uint32_t space, uint32_t page, uint32_t count, uint32_t stride);

/* stream_fault.c */
void stream_fault(struct buffer *b, struct rng *r, uint32_t item);

#endif
