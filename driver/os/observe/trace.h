/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduler's events as a file that ui.perfetto.dev and chrome://tracing open (Chrome trace event format, JSON): a
 * track for each engine, with what ran; one for each context, in its process, with what it did: queued, waiting,
 * running, preempted, and which pages it asked for; an arrow from each submission through all engines that worked on it
 * to its end; a counter of queued buffers. Times are device time: microseconds at clock_hz on the axis, cycles in the
 * arguments.
 *
 * Written as it happens, so that a process that is killed leaves a trace as well. It has no end, which the format
 * allows of an array without a wrapping object, and its last event may be cut: the kernel ends a write at any page.
 * An event is a line; all lines before the last are whole.
 *
 * Thread: calls for one trace one at a time (the device's lock). They never wait for the file (trace_out.h): if it
 * cannot keep up, events are missing, and the trace says where and how many.
 */
#ifndef TERN_OS_TRACE_H
#define TERN_OS_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct tern_trace;
struct tern_sched_event;

struct tern_trace_device {
    const char *name; /**< For the title of the engines' group. */
    uint32_t engines;
    uint64_t clock_hz;
};

/** The context of an event. Ids are never used again on the device; those of the driver's own contexts
 * are small numbers as well. */
struct tern_trace_ctx {
    const char *process, *context; /**< Names. */
    uint32_t process_id, context_id;
    bool system;       /**< The driver's own: paging. */
    uint32_t weight;
    uint32_t inflight; /**< Its chunks in an HW queue. */
};

/**
 * The trace that TERN_TRACE names, or NULL: it names none, or it cannot be written (then stderr says why).
 * `%p` in the name is the process id. A file that another living trace writes is left alone: the process
 * id, and a number, are appended.
 */
struct tern_trace *tern_trace_open(const struct tern_trace_device *device);
/** label: of the job (may be NULL). ctx: NULL for events without a context. */
void tern_trace_event(struct tern_trace *t, const struct tern_sched_event *e, const struct tern_trace_ctx *ctx,
                      const char *label);
/** A job has ended; result: enum tern_result. Closes the arrow of what never ran. */
void tern_trace_ended(struct tern_trace *t, const struct tern_trace_ctx *ctx, uint64_t job, int result, uint64_t now);
/** Nothing is left to do: all events so far are written now, in case the process ends without closing the device. */
void tern_trace_idle(struct tern_trace *t);
/** t may be NULL. */
void tern_trace_close(struct tern_trace *t);

#endif
