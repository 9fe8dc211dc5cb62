/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The file of a trace (trace.h): a JSON array that grows by an object at a time.
 *
 * A thread that adds an object never waits for the file or for the reader of a pipe. Objects go to a buffer of at most
 * TERN_TRACE_BYTES, and a thread of the trace writes them. When the buffer is full, all objects are dropped and counted
 * until half of the buffer is free. Hence the gaps are few and long. A failed write, as to a pipe that its reader has
 * closed, ends the trace and is reported once on stderr.
 */
#ifndef TERN_OS_TRACE_OUT_H
#define TERN_OS_TRACE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERN_TRACE_BYTES (16u << 20) /**< Largest size of the buffer. */

struct tern_trace_out;

/**
 * Opens the file. `%p` in the name stands for the process id. If another trace writes the file, a number is appended.
 * The file may be a FIFO without a reader, for which the thread waits. NULL: it failed, and stderr says why.
 */
struct tern_trace_out *tern_trace_out_open(const char *name);
/** Appends an object, given as its text without separators. Any thread may call it. False: the object was dropped. */
bool tern_trace_put(struct tern_trace_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Returns the number of objects that were dropped, once there is room again; then the caller restores the states that
 *  depend on them. 0: none were dropped, or there is no room yet. */
uint64_t tern_trace_dropped(struct tern_trace_out *out);
/** Makes the thread write the buffer soon, even if it has little. */
void tern_trace_flush(struct tern_trace_out *out);
/**
 * Ends the array, and waits until all is written, but not longer than 2 s while the file takes nothing, and 10 s in
 * all. After that stderr says that the rest is lost. The end of the process does the same for traces that are still
 * open. In the child of a fork the call does nothing, because the file is the parent's.
 */
void tern_trace_out_close(struct tern_trace_out *out);

/** Converts text to a JSON string without its quotation marks, cut to fit. Characters other than printable ASCII become
 *  '?'. Returns out. */
char *tern_trace_escape(const char *text, char *out, size_t size);

#endif
