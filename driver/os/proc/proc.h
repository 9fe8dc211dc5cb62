/* SPDX-License-Identifier: Apache-2.0 */
/** Processes, their contexts and fences. */
#ifndef TERN_OS_PROC_PROC_H
#define TERN_OS_PROC_PROC_H

#include "os/state/state.h"

/* process.c; requires dev->lock */
/** Gives the page tables of the process back and removes it from the device. Requires that none of its work is queued
 *  and none of its memory mapped. Blocks, and releases dev->lock meanwhile. */
void tern_process_end(struct tern_process *proc);

/* context.c: functions take dev->lock, unless a comment says otherwise */
/** tern_context_create and tern_context_take_data, with the driver's memory at the given addresses; 0: at any
 *  address. */
int tern_context_make(struct tern_process *proc, const struct tern_context_desc *desc, uint32_t arena_address,
                      struct tern_context **out);
int tern_context_make_data(struct tern_context *c, uint32_t address);
/** Lists the kmd.save_pages pages of the context-save area, in order. Takes no lock. */
void tern_context_save_pages(const struct tern_context *c, uint32_t *page);
/* Require dev->lock, and that the context has no work: */
/** Gives the context's pages back, unless it has none. */
void tern_context_give_pages(struct tern_context *c);
/** Removes the context from its process and its queue, and frees it. */
void tern_context_free(struct tern_context *c);

/* suspend.c; requires dev->lock */
/** Suspends a new context if its process is suspended. */
void tern_suspend_new(struct tern_context *c);
/** Suspend all contexts of the process, for which engines need some time; and resume them. */
void tern_suspend_begin(struct tern_process *proc);
void tern_suspend_end(struct tern_process *proc);

/* kill.c; requires dev->lock */
/** Frees the objects that the user has not destroyed of a killed process. */
void tern_process_free_objects(struct tern_process *proc);

/* offence.c; requires dev->lock. A process whose work has caused too many resets is refused for some time. */
/** Checks that a process of this name may begin. -EACCES, with a sentence that says for how long it may not. */
int tern_offence_admit(struct tern_device *dev, const struct tern_process *proc);
/** Records that work of the process has caused a reset of an engine. */
void tern_offence_note(struct tern_process *proc);

/* slot.c */
/** Writes a chunk to its slot of the context's arena. Requires dev->hal_lock. Errors of the hal. */
int tern_chunk_write(const struct tern_chunk *s);

/* hold.c; requires dev->lock. A hold suspends all processes at a cycle, or when a certain buffer (a job) begins. */
/** Called before a job is queued. The job for which the hold waits is made to begin in an empty HW queue, so that the
 *  time of its begin is known. */
void tern_hold_submitted(struct tern_device *dev, struct tern_context *c, struct tern_job *job);
/** Called when a chunk of that job begins. */
void tern_hold_begins(struct tern_device *dev, const struct tern_chunk *chunk);
/** Cycles from the device time `now` to the hold; UINT64_MAX: its time is not known, or there are no processes. */
uint64_t tern_hold_left(const struct tern_device *dev, uint64_t now);
/** Suspends the processes if the time of the hold has come. */
void tern_hold_look(struct tern_device *dev);
/** Resumes the processes that the hold has suspended. */
void tern_hold_release(struct tern_device *dev);

/* fault.c */
/** Describes a fault that the device has reported, as a sentence. */
void tern_fault_describe(const struct tern_process *proc, const struct tern_job *job, const struct tern_indication *ind,
                         struct tern_fault *out);
/** Describes a fault that the driver has found: names the process and its work, and appends the formatted text. */
__attribute__((format(printf, 5, 6))) void tern_fault_say(const struct tern_process *proc, const struct tern_job *job,
                                                          uint32_t code, struct tern_fault *out,
                                                          const char *format, ...);

#endif
