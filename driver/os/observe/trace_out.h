/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The file of a trace (trace.h): a JSON array that grows by an object at a time.
 *
 * A thread that adds an object never waits for the file, nor for a reader at the other end of a pipe: objects go to a
 * buffer of at most TERN_TRACE_BYTES, and a thread of the trace's own writes. When the buffer is full, objects are
 * dropped and counted, all of them until half of it is free, so that what is missing is a few long pieces and not a
 * little everywhere. A failed write is reported once on stderr, and ends the trace; so does a reader that closes the
 * pipe.
 */
#ifndef TERN_OS_TRACE_OUT_H
#define TERN_OS_TRACE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERN_TRACE_BYTES (16u << 20) /**< Waiting to be written, at most. */

struct tern_trace_out;

/**
 * Replaces `%p` by the process id; a file that is being written is left alone and a number appended. The
 * thread waits until a FIFO has a reader. NULL: stderr says why.
 */
struct tern_trace_out *tern_trace_out_open(const char *name);
/** Appends an object: its text, without what separates it from the others. Any thread. False: it was dropped. */
bool tern_trace_put(struct tern_trace_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Objects were dropped, so many, and now there is room again: the caller mends what depended on them. Else 0. */
uint64_t tern_trace_dropped(struct tern_trace_out *out);
/** Has what is in the buffer written soon, although it is little. */
void tern_trace_flush(struct tern_trace_out *out);
/**
 * Ends the array, and waits until all is written: not longer than 2 s for a file that takes nothing, nor than 10 s in
 * all; then stderr says that the rest is lost. A process that exits without this does it by itself. In the child of a
 * fork nothing happens: the file is the parent's.
 */
void tern_trace_out_close(struct tern_trace_out *out);

/** A JSON string without its quotation marks, cut to fit; what is no printable ASCII becomes '?'. Gives out. */
char *tern_trace_escape(const char *text, char *out, size_t size);

#endif
