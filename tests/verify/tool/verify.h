/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Co-verification: the RTL and the functional model run the same random work, and all results that a program can see
 * are compared.
 *
 * A *case* is a kind, a seed and a set of *items* that are kept. Building a case gives a *scene*: the contents of
 * memory and the submissions to each engine. Each item draws from its own random numbers (seed and index), so a failing
 * case can be shrunk: items are left out without a change of the others.
 *
 *   main.c, options.c       the command
 *   campaign.c              many cases, in worker processes
 *   mutants.c, mutant_*.c   cases on devices with seeded bugs
 *   program.c, program_*.c  kind PROGRAM: kernels of random code
 *   stream.c, stream_*.c    kind STREAM: random packets, many buffers
 *   scene.c, random.c       functions of the builders of both kinds
 *   foreign.c               work between the parts of a preempted buffer
 *   case.c, compare.c       a case on two devices; comparison of their ends
 *   run.c                   a scene on one device, to its end
 *   device.c                simulated memory, registers and resets of a device
 *   backend.c               the device libraries
 *   guard.c                 limit of processor time
 *   shrink.c                the smallest set of items that still differs
 *   explain.c, history.c    first differing warp instruction; waveform
 *   report.c                the printed report
 *   cover.c, cover_*.c      functional coverage
 *   preempt.c, preempt_*.c  another test: stop and resume (preempt.h)
 *
 * docs/verification.md has the list of what is compared, and of what the architecture leaves open.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern/tern_hw.h"
#include "tern/tern_spec.h"
#include "tern_sim/tern_sim.h"

#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof *(a)))

static inline uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ------------------------------------------------------------------ random.c */

/** A generator of random numbers that depend only on its seed. */
struct rng {
    uint64_t state;
};
struct rng rng_of(uint64_t seed, uint64_t stream);
uint32_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n);
/** Returns true with probability 1 / n. */
bool rng_one_in(struct rng *r, uint32_t n);

/* ------------------------------------------------------------------ the case */

enum kind { KIND_PROGRAM, KIND_STREAM, KINDS };
extern const char *const kind_names[KINDS];

#define MAX_ITEMS 512u

struct test_case {
    enum kind kind;
    uint64_t seed;
    uint32_t items;        /**< Number of items of the whole case; set by case_size. */
    bool keep[MAX_ITEMS];
};

/* ----------------------------------------------------------------- the scene */

#define PAGE 4096u
#define LINE 64u
#define SAVE_PAGES 32u /* room for a context-save area of any device here */
#define ENGINES 2u /* greatest number of engines of a device here */
/** Device cycles that a case may take: 5 s on a core that simulates 190,000 cycles of the small RTL a second. */
#define CASE_CYCLES 950000ull

/** The parameters of a device on which a scene depends: for example, a group has at most lanes * warps work-items.
 * executors: user executors of an engine, those of the first ids. */
struct geometry {
    uint32_t lanes, warps, local_bytes, engines, executors;
    uint64_t mem_bytes;
};

/** One submission. Buffers of an engine are submitted in this order, as the HW queue has room. */
struct submit {
    uint32_t engine;
    uint64_t buffer, fence;
    uint32_t size, root, context, save, flags;
};

enum open_reason {
    OPEN_STACK,      /**< Private memory: the device chooses the hardware thread of a work-item. */
    OPEN_FAULTED,    /**< Written by work that faulted: other work-items, or the copy, may have been done in part. */
    OPEN_TIME,       /**< A timestamp. */
    OPEN_PAGING,     /**< The entry of a page that is absent at first: it may not be requested on each device. */
};

/** Physical memory that may differ. If dirty is set, its dirty bits may differ as well. */
struct open_range {
    uint64_t first, bytes;
    enum open_reason reason;
    bool dirty;
};

/** A point at which a submission waits until it has been cut there, at the packet at `offset`. The driver then opens
 *  the gate: it writes `value` to `physical`. In a scene without stops it does so at the start. */
struct gate {
    uint32_t submit, offset, granularity; /**< granularity: the coarsest that cuts the submission there. */
    uint64_t physical, value;
    /** Physical address of 32 bits. If not 0, a cut opens the gate only if these bits are `awaited`, the number of
     *  work-items that count themselves there. */
    uint64_t count;
    uint32_t awaited;
};

/** A page-table entry, of either level, that is absent until work requests it. The driver then sets it to `entry`. */
struct absent {
    uint64_t at; /**< Physical address of the entry. */
    uint32_t entry;
};

struct scene {
    uint64_t seed;            /**< Seed of the case. */
    uint32_t engines;         /**< Number of engines of the devices that the scene is for. */
    /** Initial contents of physical memory, mem_bytes from address 0. Memory is zero where nothing was put. */
    uint8_t *memory;
    uint8_t *touched;         /**< One byte a page: data were put there. Only scene_put changes memory. */
    uint64_t mem_bytes;
    struct submit *submit;
    uint32_t submits;
    struct open_range *open;
    uint32_t opens;
    struct gate *gate;
    uint32_t gates;
    bool asks;                /**< Kernels may access pages with absent entries. */
    struct absent *absent;
    uint32_t absents;
    uint64_t paging;          /**< Physical address of a page for the driver's paging buffers. */
    /** Physical address of the programs, for the disassembler; the virtual address is code_va. */
    uint64_t code, code_bytes;
    uint32_t code_va;
    uint64_t limit;           /**< Device cycles after which a device that has not ended counts as hung. */
    uint64_t nop;             /**< Physical address of a packet nop. */
    struct submit foreign;    /**< Work of another context, between two parts of a preempted buffer; size 0: none. */
    /** Preempted buffers may be resumed on the other engine, because they do not wait for work of that engine. */
    bool roams;
    /** Average interval between preemptions of an engine at first, in device cycles; 0: none. */
    uint32_t stop_every;
    /** A scene that runs on the device before this one, for before_cycles device cycles; NULL: none. All engines are
     *  reset after it. */
    struct scene *before;
    uint64_t before_cycles;
};

/** Sets `items` to the number of items of a case of this kind and seed, and keep to true for all of them. */
void case_size(struct test_case *c, const struct geometry *g);
/** Builds the scene of a case. Returns 0 or -ENOMEM. */
int case_build(const struct test_case *c, const struct geometry *g, struct scene *out);
void scene_free(struct scene *s);
/** Copies a scene that has none before it, with other translations (remap.c). Returns 0 or -ENOMEM. */
int scene_remap(const struct scene *s, struct rng *r, struct scene *out);
/** Makes scene.nop and scene.foreign in two free pages. Returns 0, or -1 if a packet is wrong, which is a bug. */
int scene_foreign(struct scene *s, const struct geometry *g, uint64_t physical);
/* Functions for builders return 0 or -ENOMEM, and abort if an address or a number is out of range, which is a bug. */

/** Copies bytes into the scene's memory. */
void scene_put(struct scene *s, uint64_t physical, const void *data, size_t bytes);
/** Appends a submission. */
int scene_submit(struct scene *s, const struct submit *sub);
/** Appends a gate. */
int scene_gate(struct scene *s, const struct gate *gate);
/** Puts an absent entry, with arbitrary other bits, which the driver later sets to `entry`. */
int scene_absent(struct scene *s, uint64_t at, uint32_t entry);
/** Sets the page of the driver's paging buffers. Needed if work may access pages with absent entries. */
int scene_paging(struct scene *s, uint64_t physical);
/** Appends an open range. */
int scene_open(struct scene *s, uint64_t first, uint64_t bytes, enum open_reason reason, bool dirty);
/** Writes one line that names an item, for the report ("copy 96x3 bytes, engine 1"). */
void case_item_text(const struct test_case *c, const struct geometry *g, uint32_t item, char *out, size_t size);

/* The functions of each kind (program.c, stream.c, stream_plan.c). */
uint32_t program_items(uint64_t seed, const struct geometry *g);
int program_build(const struct test_case *c, const struct geometry *g, struct scene *out);
void program_item_text(uint64_t seed, const struct geometry *g, uint32_t item, char *out, size_t size);
uint32_t stream_items(uint64_t seed, const struct geometry *g);
int stream_build(const struct test_case *c, const struct geometry *g, struct scene *out);
void stream_item_text(uint64_t seed, const struct geometry *g, uint32_t item, char *out, size_t size);

/* ------------------------------------------------------------------- the run */

/** An indication. Times are not compared, because they differ between the devices. */
struct seen {
    uint32_t engine, kind, fault, access, lane, warp, va, pc, offset, group[3];
    uint64_t fence, begin, end;
    uint32_t submit;       /**< Index into scene.submit. */
};

/** The end of a scene on one device. compare.c reads memory from the device. */
struct ending {
    struct seen *seen;     /**< Completed and faulted indications, engine by engine, in order of each engine. */
    uint32_t count;
    /** Preempted indications, foreign work, ends on another engine, in order of time. Not compared. */
    struct seen *cuts;
    uint32_t cut_count;
    uint64_t requests;     /**< Number of pages that kernels requested. */
    uint64_t taken;        /**< Number of pages that were made absent again. */
    bool hung;             /**< The limit was passed. */
    uint64_t cycles, instructions; /**< Device cycles; warp instructions, from the counters. */
    int error;             /**< 0, or -errno of a failed register access. */
};

struct backend {
    const char *name;      /**< NAME of libtern_sim_NAME.so: "model_small", "rtl_small" ... */
    const struct tern_sim_api *api;
    void *object;
    char path[1024];       /**< Path of the library. */
};

/** Loads a device library. Returns 0, or -ENOENT or -EPROTO after a message on stderr. */
int backend_open(const char *name, struct backend *out);
/** Gives a path relative to the directory of this program. */
void backend_beside(const char *path, char *out, size_t size);
void backend_close(struct backend *b);
/** Gives the geometry of a device of this library. Returns 0, -EPROTO (built from another specification), or -errno of
 *  create, after a message on stderr. */
int backend_geometry(const struct backend *b, uint64_t mem_bytes, struct geometry *out);

/** Observer and waveform of a run. All zero: none. */
struct watch {
    tern_sim_observer observer; /**< NULL: none. */
    void *user;
    const char *waves;          /**< File for a waveform of device time [waves_from, waves_to); NULL: none. */
    uint64_t waves_from, waves_to;
};

/**
 * Creates a device, loads the scene, and runs it to its end or limit. The caller destroys the device *sim. watch may be
 * NULL. Returns 0, -ENOMEM, -EINVAL, -ENOTSUP (the device has no observer or waveform), or -errno of the waveform's
 * file.
 */
int scene_run(const struct scene *s, const struct backend *b, uint32_t mutant, const struct watch *watch,
              struct tern_sim **sim, struct ending *out);
void ending_free(struct ending *e);

/* ------------------------------------------------------------------- guard.c */

/** A process that the guard ended. */
struct slow {
    uint32_t seconds;      /**< Processor time that the process was allowed, in seconds. */
    char device[64];       /**< Name of the device that the process simulated. */
    uint64_t cycles;       /**< Device time that the device had reached, in cycles. */
};

/** Limits the processor time of this process from now on. When the limit is reached, the guard fills *out, which is
 *  memory shared with the parent, and ends the process. */
void guard_start(uint32_t seconds, struct slow *out);
/** Sets the device that this process simulates from now on; sim NULL: none. */
void guard_device(const struct backend *b, struct tern_sim *sim);
/** Returns whether a process with this status, of waitpid, was ended by the guard. */
bool guard_ended(int status);

/* ---------------------------------------------------------------- comparison */

enum difference_kind { DIFF_NONE, DIFF_RULE, DIFF_ENDING, DIFF_INDICATION, DIFF_MEMORY, DIFF_DIRTY, DIFF_CRASH,
                       DIFF_KINDS };
extern const char *const difference_names[DIFF_KINDS];

/** The difference of two ends: the first of the kinds above that differs, and a text with the first difference of each
 *  kind. */
struct difference {
    enum difference_kind kind;
    uint64_t address;      /**< DIFF_MEMORY, DIFF_DIRTY: physical address of the first difference. */
    uint64_t time;         /**< DIFF_INDICATION: device time of the wrong indication; 0: there was none. */
    char text[1536];
};

/** A device at the end of a scene. */
struct side {
    const struct backend *backend;
    struct tern_sim *sim;
    struct ending end;
};
void side_free(struct side *d);

/** Compares a device with the expected one (the model). every_page: compares all of memory, not only pages that the
 *  scene has put or that are dirty. Returns 0, with the difference in *out, or -ENOMEM. */
int compare(const struct scene *s, struct side *expected, struct side *got, bool every_page, struct difference *out);

/** The two devices of a run. */
struct pair {
    struct backend model, rtl;
    struct geometry geometry;
    uint32_t mutant;       /**< Number of the seeded bug of the RTL; 0: none. */
    const char *mutant_name;
};

#define VERIFY_MEMORY (64ull << 20) /* bytes of memory of each device */

/** Loads both libraries, which must have one geometry. Returns 0, or -errno after a message on stderr. */
int pair_open(const char *model, const char *rtl, struct pair *out);
void pair_close(struct pair *p);

/** The result of one case. */
struct verdict {
    uint64_t instructions, indications, faults;
    uint64_t requests;     /**< Number of pages that the RTL's kernels requested. */
    uint64_t taken;        /**< Number of pages that were made absent again on the RTL. */
    uint64_t cycles;       /**< Device cycles of the RTL. */
    struct difference difference;
};

/** Runs a case on both devices and compares them. cover may be NULL. Returns 0, or -errno if the case could not run. */
struct cover;
int case_compare(const struct test_case *c, const struct pair *p, struct cover *cover, struct verdict *out);

/** Clears elements of keep[] while the case still differs, until each single item is needed or after `runs` calls of
 *  differs(), which reads keep[] itself. Returns the number of items kept. */
uint32_t shrink(bool *keep, uint32_t items, uint32_t runs, bool (*differs)(void *user), void *user);

/* ------------------------------------------------------------------- cover.c */

/** Functional coverage of one process, gathered over its cases (--coverage). */
struct cover;
int cover_create(const struct geometry *g, struct cover **out);
void cover_destroy(struct cover *c);
/** A tern_sim_observer of the RTL; user is the struct cover. */
void cover_retired(void *user, const struct tern_sim_retired *retired);
/** Counts a case, called after it: its scene, and the RTL's end. */
void cover_case(struct cover *c, const struct test_case *tc, const struct scene *s, const struct ending *rtl);
/** Writes the coverage to a file. Files of several processes can be merged. Returns 0 or -errno. */
int cover_write(const struct cover *c, const char *path);

#endif
