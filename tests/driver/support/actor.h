/* SPDX-License-Identifier: Apache-2.0 */
/** Programs on the device under test: each has a process with one context, code, arguments, stacks and data. */
#ifndef SUPPORT_ACTOR_H
#define SUPPORT_ACTOR_H

#include "dut.h"
#include "kernels.h"
#include "waiting.h"

/** A process with one context, and its code, arguments, stacks and data. */
struct actor {
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *code, *args, *stack, *data;
    uint32_t n;
    uint32_t local_bytes; /* local memory of each work-group; actor_open sets 0 */
};

#define MIX_ITEMS 256u
/** Opens an actor that runs the code; engine -1: any. */
void actor_open(struct actor *a, const char *name, int32_t engine, const uint32_t *code, size_t size);
void actor_close(struct actor *a);
/** Sets a word of the actor's arguments. */
void actor_set(struct actor *a, uint32_t word, uint32_t value);
uint32_t actor_get(struct actor *a, uint32_t word);
/** Adds a packet that runs the actor's code in so many work-items, in groups of at most 64 or of as many as fit. */
void actor_dispatch(struct actor *a, uint32_t items);
/** Submits a kernel that counts until word 0 is set, as code_spin says. Returns its fence. */
uint64_t actor_spin(struct actor *a);
/** Submits a kernel of MIX_ITEMS work-items with n as argument. Returns its fence. */
uint64_t actor_mix(struct actor *a, uint32_t n);
/** Checks the result of the last "mix". */
void expect_mixed(struct actor *a);
void open_spin(struct actor *a, const char *name, int32_t engine);
void open_mix(struct actor *a, const char *name, int32_t engine);
/** Waits until the actor's loop has counted on, which shows that it runs. */
void spins(struct actor *a);
/** Suspends the actor's context (P8), and returns when the device has no reference to it any more. */
uint64_t actor_suspend(struct actor *a);
/** Ends the suspension that actor_suspend returned. */
void actor_resume(struct actor *a, uint64_t hold);
/** Waits for the actor's "mix" and checks its result. */
void expect_mix(struct actor *a, uint64_t fence);
/** Runs a "mix" and checks its result. */
void run_mix(struct actor *a, uint32_t n);
struct tern_context_stats stats(struct actor *a);
/** Returns the fault of the actor's process, which must have one. */
struct tern_fault fault_of(struct actor *a);

#endif
