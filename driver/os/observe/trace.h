/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduler's events as a file that ui.perfetto.dev and chrome://tracing open (Chrome trace event format, JSON).
 *   track of an engine   the chunks that it ran
 *   track of a context   its states (queued, waiting, running, preempted) and its page requests; grouped by process
 *   arrows               from each submission, through all engines that ran it, to its end
 *   counter              queued buffers
 * Times are device time: microseconds at clock_hz on the axis, cycles in the arguments.
 *
 * Events are written as they happen, so that a process that is killed leaves a trace as well. Such a trace is an array
 * without an end, which the format allows. An event is a line. The last line may be cut, because the kernel ends a
 * write at any page; all others are whole.
 *
 * Locks. The caller serialises calls for one trace (dev->lock). No call waits for the file (trace_out.h). If the file
 * cannot keep up, events are missing, and the trace says where and how many.
 */
#ifndef TERN_OS_TRACE_H
#define TERN_OS_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct tern_trace;
struct tern_sched_event;

struct tern_trace_device {
    const char *name; /**< Name of the device, for the title of the engines' group. */
    uint32_t engines;
    uint64_t clock_hz;
};

/** The context of an event. Ids are small numbers, and each is used once on a device. */
struct tern_trace_ctx {
    const char *process, *context; /**< Names. */
    uint32_t process_id, context_id;
    bool system;       /**< The context is one of the driver, for paging. */
    uint32_t weight;
    uint32_t inflight; /**< Number of its chunks in an HW queue. */
};

/**
 * Opens the trace that TERN_TRACE names. NULL: it names none, or the file cannot be written, and stderr says why. `%p`
 * in the name stands for the process id. If another open trace writes the file, the process id and a number are
 * appended to the name.
 */
struct tern_trace *tern_trace_open(const struct tern_trace_device *device);
/** Adds an event. label is that of the job, or NULL. ctx is NULL for events without a context. */
void tern_trace_event(struct tern_trace *t, const struct tern_sched_event *e, const struct tern_trace_ctx *ctx,
                      const char *label);
/** A job has ended with this enum tern_result. Ends the arrow of a job that never ran. */
void tern_trace_ended(struct tern_trace *t, const struct tern_trace_ctx *ctx, uint64_t job, int result, uint64_t now);
/** The device has no work left. All events are written now, in case the process ends without closing the device. */
void tern_trace_idle(struct tern_trace *t);
/** t may be NULL. */
void tern_trace_close(struct tern_trace *t);

#endif
