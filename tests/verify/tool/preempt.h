/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The signature test of preemption (tern verify --kind preempt). A kernel is stopped at every cycle of a short run. The
 * state is resumed on either engine, by the same device library and by the other one, and all of memory must then be
 * that of an uninterrupted run. Long runs are stopped again and again at random times, each part on a random device and
 * engine.
 *   kernels.cl, embed.c  the kernels, compiled in the build     preempt_kernel.c  memory and buffer of each kernel
 *   preempt_machine.c    a device with one buffer, and its end  preempt_point.c   one stop; one long run
 *   preempt_state.c      comparison of two saved states
 *   preempt.c            all of them, in processes, and the report
 * This is not part of campaign.c, whose cases compare two devices with the same work. Here one device is compared with
 * itself.
 */
#ifndef PREEMPT_H
#define PREEMPT_H

#include "verify.h"

/* --------------------------------------------- output of embed.c for kernels.cl */

#define EMBEDDED_BASE 0x10000000u /* virtual address of the code */

struct embedded_kernel {
    const char *name;
    uint32_t entry, local_bytes, stack;
};
extern const uint32_t embedded_size;
extern const uint8_t embedded_data[];
extern const struct embedded_kernel embedded_kernels[]; /**< The last one has no name. */

/* -------------------------------------------------------- preempt_kernel.c */

#define PREEMPT_MEMORY (0x140ull << 12)

/** One buffer, ready to be loaded into a device: scene.submit[0]. */
struct work {
    struct scene scene;
    uint64_t save, save_bytes;   /**< The context-save area, with all pages of its list. */
    uint32_t save_lines;         /**< Lines of its header and state. */
    /** Private memory, which is comparable only if all groups run in the same slots. */
    uint64_t stack, stack_bytes;
    bool resident;               /**< All groups fit at once. */
    bool faults;                 /**< The work ends with a fault. */
    uint32_t bandwidth;          /**< Bandwidth of the device's memory, in bytes a cycle; 0: the default. */
};

uint32_t work_count(void);
const char *work_name(uint32_t index);
/** Builds the work of a kernel: short, with all groups resident, or longer. Returns 0 or -ENOMEM. */
int work_build(uint32_t index, bool longer, const struct geometry *g, uint32_t save_lines, struct work *out);
void work_free(struct work *w);

/* ------------------------------------------------------- preempt_machine.c */

/** A device with the work's buffer. */
struct machine {
    const struct backend *backend;
    struct tern_sim *sim;
    const struct work *work;
    int error;                   /**< 0, or -errno of the first failed access. */
};

struct outcome {
    uint32_t kind, offset, fault; /**< kind none: the work hangs. */
    uint64_t end;                 /**< Device time. */
    uint32_t where[4];            /**< A fault: access, lane and warp; address; pc; group. */
    bool begun;                   /**< A preempted buffer had begun. */
};

/** Creates a device and loads memory (NULL: that of the work). Returns 0 or -errno. */
int machine_open(const struct backend *b, uint32_t mutant, const struct work *w, const uint8_t *memory,
                 struct machine *out);
void machine_close(struct machine *m);
void machine_submit(struct machine *m, uint32_t engine, bool resume);
/** Submits another context's work (foreign.c). */
void machine_submit_foreign(struct machine *m, uint32_t engine);
/** Returns true if the interrupt was raised. */
bool machine_step(struct machine *m, uint64_t cycles);
void machine_preempt(struct machine *m, uint32_t engine, uint32_t granularity);
/** Takes the next indication. */
struct outcome machine_wait(struct machine *m, uint32_t engine, uint64_t limit);
/** Copies all of memory. */
void machine_memory(struct machine *m, uint8_t *out);
uint32_t machine_register(struct machine *m, uint32_t offset);

/* --------------------------------------------------------- preempt_state.c */

/** Copies the header and the state of a save area out of its pages, line by line. */
void state_gather(const uint32_t *pages, uint32_t lines, uint32_t *out);
/** Compares two gathered save areas of a dispatch without unfinished memory instructions, with the same slots, live and
 *  fresh warps. Returns true if they hold the same state; otherwise text has the first difference. */
bool state_same(const struct geometry *g, const uint32_t *first, const uint32_t *second, char *text, size_t size);

/* --------------------------------------------------------- preempt_point.c */

#define SIDES 2u /* 0: the RTL, 1: the model */

/** Common to all stops of a kernel. */
struct arena {
    struct pair *pair;
    struct work work;
    uint8_t *expected;           /**< Memory after an uninterrupted run. */
    struct outcome end;          /**< Indication of the uninterrupted run. */
    bool stacks;                 /**< Private memory is compared, too. */
};

/** Sums over stops. */
struct tally {
    uint64_t stops, cuts;        /**< cuts: stops in the middle of a packet. */
    uint32_t most_lines;
    uint64_t longest;            /**< Cycles from the request to the indication, at most. */
    bool too_slow;               /**< The guard ended the last stop; `slow` has details. */
    struct slow slow;
    char text[1024];             /**< The first difference; empty: none. */
};

const struct backend *arena_side(const struct arena *a, uint32_t side);
/** machine_open on that side; the RTL's device is the mutant of the pair. */
int arena_open(const struct arena *a, uint32_t side, const struct work *w, const uint8_t *memory, struct machine *out);
/** Runs the work on both sides without a stop. Returns false if they already differ, with the difference in *t. */
bool arena_make(struct arena *a, uint32_t index, bool longer, struct tally *t);
void arena_free(struct arena *a);
/** Stops a machine that runs the work on engine 0, `cycle` cycles after its doorbell, and resumes the work on the sides
 *  of the mask. The machine cannot be used afterwards. */
void stop_at(struct arena *a, struct machine *m, uint32_t side, uint64_t cycle, uint32_t granularity,
             uint32_t resume_on, struct tally *t);
/** A run with random stops. */
void stop_often(struct arena *a, uint64_t seed, struct tally *t);

/* --------------------------------------------------------------- preempt.c */

struct options;
/** Runs the whole test, as the options say. Returns the exit status. */
int preempt_run(const struct options *o, struct pair *p);

/** Short result of the whole test. */
struct preempt_end {
    uint64_t stops, cuts;
    uint32_t failures, slows;
    double seconds;
    bool interrupted;
    /** The first failure: kernel and cycle, the difference, and the command that repeats it. */
    const char *kernel;
    uint64_t at;
    char text[1024], again[512];
};

/** Runs the same test without a report. Returns 0, -EINVAL (no such kernel; a message on stderr) or -ENOMEM. */
int preempt_try(const struct options *o, struct pair *p, struct preempt_end *out);

#endif
