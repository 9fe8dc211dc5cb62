/* SPDX-License-Identifier: Apache-2.0 */
/** Checkpoints in files: where they are, the cycle at which work is held, and what a loaded checkpoint says. */
#ifndef SUPPORT_CHECKPOINT_FILES_H
#define SUPPORT_CHECKPOINT_FILES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tern/tern_checkpoint.h"

#define CHECKPOINT_CONFIG "small,mem=32M,timeout=200000"

/** The folder of the test program, and a file in it; from checkpoint_setup to checkpoint_teardown. */
extern char checkpoint_folder[];
extern char checkpoint_file[64];
int checkpoint_setup(void **state);
int checkpoint_teardown(void **state);
bool file_exists(const char *name);
/** Returns the index of the memory of process i that lies at the allocation's address and has its size. */
uint32_t memory_at(struct tern_checkpoint *c, uint32_t i, const struct tern_allocation *a);
/** Returns the context of process i. */
struct tern_checkpoint_context context_at(struct tern_checkpoint *c, uint32_t i);
/** Waits for the end of the loaded work. */
enum tern_checkpoint_end end_of(struct tern_checkpoint *c);
/** Holds the processes of dev `after` cycles after a launch of "mix" begins. */
void hold_at(uint64_t launch, uint64_t after);
/** Returns true if the processes are held. */
bool reached(void);
/** Tells keep_saving to end. */
extern atomic_bool stop_saving;
/** Thread: saves dev again and again until `stop_saving` is set. */
void *keep_saving(void *arg);

#endif
