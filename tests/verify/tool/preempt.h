/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The signature test of preemption (tern verify --kind preempt): a kernel is stopped at every cycle of a short run,
 * its state is resumed on either engine, by the same device library and by the other one, and all of memory must be
 * what an uninterrupted run leaves; and long runs are stopped again and again at random times, each part on a
 * device and engine of its own.
 *   kernels.cl, embed.c  the kernels, compiled when this is built   preempt_kernel.c  what each runs on: memory, buffer
 *   preempt_machine.c    a device with one buffer, and its end      preempt_point.c   one stop; one long run
 *   preempt_state.c      whether two saved states are the same
 *   preempt.c            all of them, in processes; what is printed
 * Not in campaign.c: those cases compare two devices that run the same work, these one device with itself.
 */
#ifndef PREEMPT_H
#define PREEMPT_H

#include "verify.h"

/* --------------------------------------------- what embed.c makes of kernels.cl */

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

/** One buffer, ready to be loaded into a device. scene.submit[0] is it. */
struct work {
    struct scene scene;
    uint64_t save, save_bytes;   /**< The context-save area, wherever its list puts it, */
    uint32_t save_lines;         /**< and of its lines header and state. */
    /** Private memory: it is the same only if all groups run in the slots they would have had. */
    uint64_t stack, stack_bytes;
    bool resident;               /**< All groups fit at once. */
    bool faults;                 /**< It ends with a fault. */
    uint32_t bandwidth;          /**< Of the device's memory, bytes a cycle; 0: the default. */
};

uint32_t work_count(void);
const char *work_name(uint32_t index);
/** The work of a kernel: short, all of its groups resident, or longer. 0 or -ENOMEM. */
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
    uint32_t kind, offset, fault; /**< kind none: it hangs. */
    uint64_t end;                 /**< Device time. */
    uint32_t where[4];            /**< Of a fault: access, lane and warp; address; pc; group. */
    bool begun;                   /**< A preempted buffer that was not had only waited. */
};

/** Loads memory (NULL: that of the work) into a new device. 0 or -errno. */
int machine_open(const struct backend *b, uint32_t mutant, const struct work *w, const uint8_t *memory,
                 struct machine *out);
void machine_close(struct machine *m);
void machine_submit(struct machine *m, uint32_t engine, bool resume);
/** Submits another context's work (foreign.c). */
void machine_submit_foreign(struct machine *m, uint32_t engine);
/** True if the interrupt came. */
bool machine_step(struct machine *m, uint64_t cycles);
void machine_preempt(struct machine *m, uint32_t engine, uint32_t granularity);
/** Takes the next indication. */
struct outcome machine_wait(struct machine *m, uint32_t engine, uint64_t limit);
/** All of memory. */
void machine_memory(struct machine *m, uint8_t *out);
uint32_t machine_register(struct machine *m, uint32_t offset);

/* --------------------------------------------------------- preempt_state.c */

/** The header and the state of an area of the scene, one line after the other, out of its pages. */
void state_gather(const uint32_t *pages, uint32_t lines, uint32_t *out);
/** Whether two context-save areas, gathered, hold the same state of a dispatch without unfinished memory instructions,
 *  with the same slots, live and fresh warps. False: text says where they first differ. */
bool state_same(const struct geometry *g, const uint32_t *first, const uint32_t *second, char *text, size_t size);

/* --------------------------------------------------------- preempt_point.c */

#define SIDES 2u /* 0: the RTL, 1: the model */

/** What one kernel's stops have in common. */
struct arena {
    struct pair *pair;
    struct work work;
    uint8_t *expected;           /**< Memory after an uninterrupted run. */
    struct outcome end;          /**< Its indication. */
    bool stacks;                 /**< Private memory is compared, too. */
};

/** Sums over stops. */
struct tally {
    uint64_t stops, cuts;        /**< Cuts: in the middle of a packet. */
    uint32_t most_lines;
    uint64_t longest;            /**< Cycles from the request to the indication, most. */
    bool too_slow;               /**< The guard ended the last stop; `slow` tells more. */
    struct slow slow;
    char text[1024];             /**< What differs; empty: nothing. */
};

const struct backend *arena_side(const struct arena *a, uint32_t side);
/** machine_open on that side; the RTL's is the mutant of the pair. */
int arena_open(const struct arena *a, uint32_t side, const struct work *w, const uint8_t *memory, struct machine *out);
/** Runs the work on both sides without a stop; false: that differs already, and *t says how. */
bool arena_make(struct arena *a, uint32_t index, bool longer, struct tally *t);
void arena_free(struct arena *a);
/** A machine that runs the work on engine 0, `cycle` cycles after its doorbell, is stopped; then what it was is resumed
 *  on the sides of the mask. The machine is used up. */
void stop_at(struct arena *a, struct machine *m, uint32_t side, uint64_t cycle, uint32_t granularity,
             uint32_t resume_on, struct tally *t);
/** A run with random stops. */
void stop_often(struct arena *a, uint64_t seed, struct tally *t);

/* --------------------------------------------------------------- preempt.c */

struct options;
/** The whole test, as options say. The exit status. */
int preempt_run(const struct options *o, struct pair *p);

/** What the whole test gave, in short. */
struct preempt_end {
    uint64_t stops, cuts;
    uint32_t failures, slows;
    double seconds;
    bool interrupted;
    const char *kernel;          /**< Of the first failure: where, what differs, and the command that does it again. */
    uint64_t at;
    char text[1024], again[512];
};

/** The same without a table of its own. 0, -EINVAL (no such kernel; a message on stderr) or -ENOMEM. */
int preempt_try(const struct options *o, struct pair *p, struct preempt_end *out);

#endif
