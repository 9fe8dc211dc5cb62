/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Inside of kind STREAM: the plan of a case, its memory, and a buffer while it is built.
 *
 * The builder keeps the page tables as they are at each point of an engine's work (struct table), so it knows of every
 * packet which bytes it reads and writes and whether it faults. stream_admit refuses what the specification leaves
 * open: overlapping copies, reads of memory that is open, two faults in one packet. Then only what a fault leaves half
 * written has to be declared open. An item that finds nothing it may do is a nop.
 *   stream_plan.c   what a case consists of          stream.c         buffers, submissions
 *   stream_space.c  memory, page tables, admission   stream_packet.c  well-formed packets
 *   stream_kernel.c programs and dispatches          stream_paging.c  mapping changes
 *   stream_fault.c  packets that fault on purpose
 * Of what is written engines share only pages handed over by a fence (rendezvous), counters that both add to and nobody
 * reads, and lines of which each has its own bytes; so their speeds do not matter.
 */
#ifndef STREAM_H
#define STREAM_H

#include "verify.h"

#define SPACES 3u     /* address spaces of an engine */
#define BUFFERS 48u   /* at most; each has two places, for the two sides of a rendezvous */
#define PER_BUFFER 10u
#define MAILS 14u
#define POOL 128u     /* data pages of an engine */

/* Random numbers: items take streams 0 to MAX_ITEMS - 1. */
enum { RNG_BUFFER = 0x1000, RNG_SPACE = 0x2000, RNG_PAGE = 0x3000, RNG_PLAN = 0x4000 };

/* Physical places. Engine e has the 4 MiB at DATA(e): POOL pages of data. The last page of memory is engine 0's. */
#define TABLE_PAGES 0x00010000u
#define TEMPLATES 0x00038000u
#define CODE 0x00040000u
#define CONSTANTS 0x00050000u
#define ARGS 0x00060000u
#define FENCES 0x00070000u
#define STACKS 0x00080000u
#define STACK_BYTES 0x10000u
#define MAIL 0x000a0000u
#define STRIPES (MAIL + MAILS * PAGE) /* written by both engines, of each 16 bytes 8 by each */
#define COUNTERS (STRIPES + PAGE)      /* both engines add to them */
#define BUFFER_PAGES 0x00140000u
#define DATA(e) (0x00400000u * (1u + (e)))
#define FOREIGN 0x00c00000u
#define PAGING 0x00c20000u
#define SAVE_OF_OTHER_ROOTS 0x00c40000u
#define SAVES 0x01000000u /* SAVE_PAGES for each place of a buffer */
/* page numbers, from which those of the page tables differ in one bit; above SAVES with any */
#define SPACE_PAGES 0x3c00u
#define SPACE_BITS 14u
#define ROOT_BITS 22u /* of a page number; those from SPACE_BITS on are beyond memory */

/* Virtual places, the same in every space. */
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
/* two tables of pages; the last 16 of the one and the first of the other are the window */
#define VA_FAR 0x13c00000u
#define FAR 2048u              /* pages */
#define VA_WINDOW 0x13ff0000u  /* data: the end of one 4 MiB region, and of 64 MiB, and the beginning of the next */
#define WINDOW 32u             /* pages */
#define VA_BAD (VA_WINDOW + WINDOW * PAGE)
#define BAD 16u                /* pages that cannot be used, each in its own way */
#define VA_BAD_REGIONS 0x12000000u
#define BAD_REGIONS 8u         /* the same for entries of the first level */
#define VA_SUPER 0x20000000u   /* the engine's data in one 4 MiB page, then a 4 MiB zero page, then read-only */
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
    uint32_t faults; /* on purpose: of 32 items */
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
    uint32_t fence; /* of the last submission: the low half */
    uint64_t warm[ENGINES]; /* a buffer of the engine that has run, its root above; 0: none */
    int error;
};

/** A buffer being built. */
struct buffer {
    struct stream *st;
    uint32_t place, engine, space, save;
    bool paging;
    bool placed;          /* in memory */
    uint64_t address, physical;
    uint32_t words[2 * PAGE / 4], used, room; /* words */
    uint32_t fetch_limit; /* bytes that can be fetched */
    bool dead;            /* nothing behind here runs: a fault */
    bool skipped;         /* nothing here runs: it is resumed further on */
    bool closed;          /* cut in the middle of a packet: it ends here */
};

enum { USE_READ = 1, USE_WRITE = 2 };

/** Bytes that a packet uses. */
struct box {
    uint64_t at, width;
    uint32_t rows, slices, row, slice;
    unsigned use;
    bool wraps; /* its virtual addresses do, at 32 bits */
};

/** A packet with what it touches. */
struct packet {
    uint32_t w[32];
    uint32_t lines;
    struct box box[3];
    uint32_t boxes;
    uint64_t open_first, open_bytes; /* physical, open once it has run; 0: nothing */
    enum open_reason reason;
    bool open_dirty;
    bool faults;           /* for sure, whatever the boxes say */
};

/** What a drawn packet is to touch: a place that faults (WILD), in one of its operands. */
enum aim { AIM_GOOD, AIM_WILD };

/* stream_plan.c */
struct plan stream_plan(uint64_t seed, uint32_t engines);

/* stream_space.c */
void stream_space_init(struct stream *st);
/** Appends a packet, if there is room. */
void stream_emit(struct buffer *b, const uint32_t *w, uint32_t lines);
/** May this packet come next? If it faults, which it may only with may_fault, the buffer is dead behind it. */
bool stream_admit(struct buffer *b, const struct packet *p, bool may_fault);
/** Physical address of a virtual page of the buffer's space for this use, in *pa; false: a
 * fault. *zero: the zero page. */
bool stream_translate(const struct buffer *b, uint64_t va, unsigned use, uint64_t *pa, bool *zero);
/** A space of an engine; the first more often, so that work comes back to it. */
uint32_t stream_space(struct rng *r);
/** An address for that many bytes, aligned. */
uint64_t stream_pick(const struct buffer *b, struct rng *r, uint64_t bytes, uint32_t align, unsigned use, enum aim aim);
bool stream_live(const struct buffer *b);
/** Entry i of the engine's template table: a page of data. */
uint32_t stream_template(uint32_t engine, uint32_t i);
/** An entry that is no valid leaf for reading and writing, in one of many ways. */
uint32_t stream_bad_pte(struct stream *st, struct rng *r, bool first);

/* stream_packet.c */
extern const uint32_t stream_opcodes[13];
/** Draws a packet of this opcode with valid fields. */
void stream_draw(const struct buffer *b, struct rng *r, uint32_t item, uint32_t opcode, enum aim aim, struct packet *p);
/** Draws until one may come next, and emits it. */
void stream_put(struct buffer *b, struct rng *r, uint32_t item, uint32_t opcode, enum aim aim);
void stream_nop(struct buffer *b);
uint32_t stream_edge(struct rng *r, uint32_t most);
uint64_t stream_random64(struct rng *r);

/* stream_kernel.c */
void stream_kernel_init(struct stream *st);
void stream_dispatch(const struct buffer *b, struct rng *r, uint32_t item, enum aim aim, struct tern_pkt_dispatch *p,
                     struct packet *out);
/** A kernel that ends when the 32 bits at this address are not 0. */
void stream_gate_kernel(struct buffer *b, struct rng *r, uint32_t item, uint32_t at);
/** Copies a program to a place for it, and runs it there. */
void stream_fresh_code(struct buffer *b, struct rng *r, uint32_t item);

/* stream_paging.c */
void stream_mapping(struct buffer *b, struct rng *r);
/** Pages of the data window become others, from page `page` on: all in one table. */
void stream_remap(struct buffer *b, struct rng *r, uint32_t space, uint32_t page, uint32_t count);
/** Some of the pages at VA_FAR + (page + i * stride) pages, i below count, become others, with one flush for all. */
void stream_remap_far(struct buffer *b, struct rng *r, uint32_t space, uint32_t page, uint32_t count, uint32_t stride);

/* stream_fault.c */
void stream_fault(struct buffer *b, struct rng *r, uint32_t item);

#endif
