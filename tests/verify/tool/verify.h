/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Co-verification: the RTL and the functional model run the same random work side by side, and everything that a
 * program can see is compared.
 *
 * A *case* is a kind, a seed and a set of *items* that are kept. Building a case gives a *scene*: what is in memory and
 * what is submitted to which engine. Each item draws from its own random numbers (seed and index), so leaving one out
 * changes no other: that is how a failing case is shrunk.
 *
 *   main.c, options.c   the command                  program.c, program_*.c  kind PROGRAM: one kernel of random code
 *   campaign.c  many cases, in worker processes      stream.c, stream_*.c    kind STREAM: random packets, many buffers
 *   mutants.c, mutant_*.c  on devices with seeded bugs  scene.c, random.c       what both kinds build with
 *   run.c       a scene on one device, to its end    backend.c               the device libraries
 *   device.c    simulated memory, registers and resets of a device
 *   case.c, compare.c  a case on two, and its ends   shrink.c         the smallest set of items that still differs
 *   foreign.c   what runs between the parts of a case that is stopped
 *   explain.c, history.c  first differing warp instruction, waveform    report.c  what is printed
 *   guard.c     against simulators that do not return
 *   cover.c, cover_*.c  functional coverage          preempt.c, preempt_*.c  another test: stop and resume (preempt.h)
 *
 * docs/verification.md says what is compared, and what the architecture leaves open and so is not.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern/tern_hw.h"
#include "tern/tern_spec.h"
#include "tern_sim/tern_sim.h"

/* ------------------------------------------------------------------ random.c */

/** Random numbers that depend on nothing but the seed. */
struct rng {
    uint64_t state;
};
struct rng rng_of(uint64_t seed, uint64_t stream);
uint32_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n);
/** True once in n. */
bool rng_one_in(struct rng *r, uint32_t n);

/* ------------------------------------------------------------------ the case */

enum kind { KIND_PROGRAM, KIND_STREAM, KINDS };
extern const char *const kind_names[KINDS];

#define MAX_ITEMS 512u

struct test_case {
    enum kind kind;
    uint64_t seed;
    uint32_t items;        /**< Items of the whole case; set by case_size. */
    bool keep[MAX_ITEMS];
};

/* ----------------------------------------------------------------- the scene */

#define PAGE 4096u
#define LINE 64u
#define SAVE_PAGES 32u /* room for a context-save area of any device here */
#define ENGINES 2u /* of a device here, at most */
/** Device cycles that a case may take: 5 s on a core that simulates 190,000 cycles of the small RTL a second. */
#define CASE_CYCLES 950000ull

/** What a device looks like: the scene must suit it (a group has at most lanes * warps work-items). */
struct geometry {
    uint32_t lanes, warps, local_bytes, engines;
    uint64_t mem_bytes;
};

/** One submission. Buffers of an engine are submitted in this order, as the HW queue has room. */
struct submit {
    uint32_t engine;
    uint64_t buffer, fence;
    uint32_t size, root, context, save, flags;
};

enum open_reason {
    OPEN_STACK,      /**< Private memory: which hardware thread runs a work-item is the device's affair. */
    OPEN_FAULTED,    /**< Written by work that faulted: how far its other work-items, or its copy, came is open. */
    OPEN_TIME,       /**< A timestamp. */
    OPEN_PAGING,     /**< An entry of a page that is absent at the beginning: who asks for it is the device's affair. */
};

/** Physical memory that may differ; its dirty bits too if dirty is set. */
struct open_range {
    uint64_t first, bytes;
    enum open_reason reason;
    bool dirty;
};

/** A submission that goes on only after it was cut at a certain packet: then, or before anything else if the scene is
 *  not stopped, the driver writes 64 bits to memory. */
struct gate {
    uint32_t submit, offset, granularity; /**< granularity: the coarsest that cuts it there. */
    uint64_t physical, value;
    /** Not 0: a cut there counts only once the 32 bits at `count` say `awaited`; until then others are on their way. */
    uint64_t count;
    uint32_t awaited;
};

/** A page-table entry, of either level, that is absent until work asks for it; then the driver makes it `entry`. */
struct absent {
    uint64_t at; /**< Physical. */
    uint32_t entry;
};

struct scene {
    uint64_t seed;            /**< Of the case. */
    uint32_t engines;         /**< Of the devices that it is for. */
    /** Physical memory at the beginning, mem_bytes from address 0; zero where nothing was put. */
    uint8_t *memory;
    uint8_t *touched;         /**< One byte a page: something was put there. Only scene_put changes memory. */
    uint64_t mem_bytes;
    struct submit *submit;
    uint32_t submits;
    struct open_range *open;
    uint32_t opens;
    struct gate *gate;
    uint32_t gates;
    bool asks;                /**< Kernels may meet absent entries. */
    struct absent *absent;
    uint32_t absents;
    uint64_t paging;          /**< A page that nobody else has, for the driver's buffers. */
    /** Physical place of the programs, for the disassembler; the virtual address is code_va. */
    uint64_t code, code_bytes;
    uint32_t code_va;
    uint64_t limit;           /**< Device cycles after which a device that has not ended hangs. */
    uint64_t nop;             /**< Physical address of a packet that does nothing. */
    struct submit foreign;    /**< Of another context, between two parts of a buffer that was cut; size 0: nothing. */
    /** What was cut may go on on the other engine: it waits for nothing that that one does. */
    bool roams;
    /** Not 0: preempt each engine about that often (device cycles), at first; submit again with resume. */
    uint32_t stop_every;
    /** Not NULL: what runs on the device first, for so many device cycles; then all engines are reset. */
    struct scene *before;
    uint64_t before_cycles;
};

/** Number of items that a case of this seed has in full; items and keep (all true) are set. */
void case_size(struct test_case *c, const struct geometry *g);
/** Builds a zeroed scene. 0 or -ENOMEM. */
int case_build(const struct test_case *c, const struct geometry *g, struct scene *out);
void scene_free(struct scene *s);
/** Makes scene.foreign, at two free pages. 0, or less: a mistake. */
int scene_foreign(struct scene *s, const struct geometry *g, uint64_t physical);
/** For builders: copies bytes into the scene's memory; appends a submission; appends an open range.
 * Abort on a bad place (a bug). */
void scene_put(struct scene *s, uint64_t physical, const void *data, size_t bytes);
int scene_submit(struct scene *s, const struct submit *sub);
int scene_gate(struct scene *s, const struct gate *gate);
/** Puts an absent entry, whose other bits say nothing, for the driver to make `entry`. */
int scene_absent(struct scene *s, uint64_t at, uint32_t entry);
/** Gives the driver a page, which is needed if work may meet absent entries. */
int scene_paging(struct scene *s, uint64_t physical);
int scene_open(struct scene *s, uint64_t first, uint64_t bytes, enum open_reason reason, bool dirty);
/** One line that names an item, for the report ("copy 96x3 bytes, engine 1"). */
void case_item_text(const struct test_case *c, const struct geometry *g, uint32_t item, char *out, size_t size);

/* What each kind provides (program.c, stream.c, stream_plan.c). */
uint32_t program_items(uint64_t seed, const struct geometry *g);
int program_build(const struct test_case *c, const struct geometry *g, struct scene *out);
void program_item_text(uint64_t seed, const struct geometry *g, uint32_t item, char *out, size_t size);
uint32_t stream_items(uint64_t seed, const struct geometry *g);
int stream_build(const struct test_case *c, const struct geometry *g, struct scene *out);
void stream_item_text(uint64_t seed, const struct geometry *g, uint32_t item, char *out, size_t size);

/* ------------------------------------------------------------------- the run */

/** An indication. The times are not compared: what a device needs is its own affair. */
struct seen {
    uint32_t engine, kind, fault, access, lane, warp, va, pc, offset, group[3];
    uint64_t fence, begin, end;
    uint32_t submit;       /**< Index into scene.submit. */
};

/** How a scene ended on one device. Memory stays in the device: compare.c reads it. */
struct ending {
    struct seen *seen;     /**< Completed and faulted indications, in order an engine; engine by engine. */
    uint32_t count;
    /** Preempted indications, foreign work, ends on another engine, in order of time. Not compared. */
    struct seen *cuts;
    uint32_t cut_count;
    uint64_t requests;     /**< Pages that kernels asked for. */
    uint64_t taken;        /**< Of them, away again. */
    bool hung;             /**< The limit was passed. */
    uint64_t cycles, instructions; /**< Device cycles; warp instructions (counters). */
    int error;             /**< 0, or -errno of a failed register access. */
};

struct backend {
    const char *name;      /**< "model_small", "rtl_small" ...: libtern_sim_NAME.so */
    const struct tern_sim_api *api;
    void *object;
    char path[1024];       /**< Of the library. */
};

/** Loads a device library. 0, -ENOENT, -EPROTO; a message on stderr. */
int backend_open(const char *name, struct backend *out);
/** The directory of this program, with a path behind it. */
void backend_beside(const char *path, char *out, size_t size);
void backend_close(struct backend *b);
/** What a device of this library is. 0, -EPROTO (built from another specification), or -errno of
 * create; a message on stderr. */
int backend_geometry(const struct backend *b, uint64_t mem_bytes, struct geometry *out);

/** What watches a run. All zero: nothing. */
struct watch {
    tern_sim_observer observer; /**< NULL: none. */
    void *user;
    const char *waves;          /**< File for a waveform of device time [waves_from, waves_to); NULL: none. */
    uint64_t waves_from, waves_to;
};

/**
 * Creates a device, loads the scene, runs it to its end (or limit). *sim: the device, for the caller to destroy. watch
 * may be NULL. 0, -ENOMEM, -EINVAL, -ENOTSUP (the device cannot be watched like this), or errno of the waveform's file.
 */
int scene_run(const struct scene *s, const struct backend *b, uint32_t mutant, const struct watch *watch,
              struct tern_sim **sim, struct ending *out);
void ending_free(struct ending *e);

/* ------------------------------------------------------------------- guard.c */

/** A process that the guard ended. */
struct slow {
    uint32_t seconds;      /**< Processor time that it was allowed. */
    char device[64];       /**< The device that it simulated, */
    uint64_t cycles;       /**< and the device time that this had reached. */
};

/** Allows this process so many seconds of processor time from now on; each call starts them again. When they are used
 *  up, the guard fills *out and ends the process. *out is shared memory, for the parent to read. */
void guard_start(uint32_t seconds, struct slow *out);
/** The device that this process simulates from now on; sim NULL: none. */
void guard_device(const struct backend *b, struct tern_sim *sim);
/** True if a process with this status, of waitpid, was ended by the guard. */
bool guard_ended(int status);

/* ---------------------------------------------------------------- comparison */

enum difference_kind { DIFF_NONE, DIFF_RULE, DIFF_ENDING, DIFF_INDICATION, DIFF_MEMORY, DIFF_DIRTY, DIFF_CRASH,
                       DIFF_KINDS };
extern const char *const difference_names[DIFF_KINDS];

/** What differs: the first of the kinds above that does, and lines that say what, the first of each kind. */
struct difference {
    enum difference_kind kind;
    uint64_t address;      /**< DIFF_MEMORY, DIFF_DIRTY: the first. */
    uint64_t time;         /**< DIFF_INDICATION: of the device that got it; 0: none came. */
    char text[1536];
};

/** A device at the end of a scene. */
struct side {
    const struct backend *backend;
    struct tern_sim *sim;
    struct ending end;
};
void side_free(struct side *d);

/** Compares what was expected (the model) with what came. every_page: looks at all of memory, not only where something
 *  was put or a dirty bit is set. 0, or -ENOMEM; what differs is in *out. */
int compare(const struct scene *s, struct side *expected, struct side *got, bool every_page, struct difference *out);

/** The two devices of a run. */
struct pair {
    struct backend model, rtl;
    struct geometry geometry;
    uint32_t mutant;       /**< Of the RTL; 0: none. */
    const char *mutant_name;
};

#define VERIFY_MEMORY (64ull << 20) /* of each device */

/** Loads both libraries, which must have one geometry. 0 or -errno; a message on stderr. */
int pair_open(const char *model, const char *rtl, struct pair *out);
void pair_close(struct pair *p);

/** What one case gave. */
struct verdict {
    uint64_t instructions, indications, faults;
    uint64_t requests;     /**< For pages, of the RTL's kernels. */
    uint64_t taken;        /**< Pages, from them. */
    uint64_t cycles;       /**< Of the RTL. */
    struct difference difference;
};

/** Runs a case on both devices and compares. cover may be NULL. 0, or -errno: the case could not be run. */
struct cover;
int case_compare(const struct test_case *c, const struct pair *p, struct cover *cover, struct verdict *out);

/** Makes keep[] smaller while it still differs, until leaving out any single item would end that, or `runs` are used
 *  up. differs is asked about keep[] itself. The number of items kept. */
uint32_t shrink(bool *keep, uint32_t items, uint32_t runs, bool (*differs)(void *user), void *user);

/* ------------------------------------------------------------------- cover.c */

/** Functional coverage of one process, gathered over its cases (--coverage). */
struct cover;
int cover_create(const struct geometry *g, struct cover **out);
void cover_destroy(struct cover *c);
/** A tern_sim_observer of the RTL; user is the struct cover. */
void cover_retired(void *user, const struct tern_sim_retired *retired);
/** After each case: what was asked, and how the RTL ended. */
void cover_case(struct cover *c, const struct test_case *tc, const struct scene *s, const struct ending *rtl);
/** Writes what was covered to a file of its own format; files of several processes can be merged. 0 or -errno. */
int cover_write(const struct cover *c, const char *path);

#endif
