/* SPDX-License-Identifier: Apache-2.0 */
/** The file of a trace (trace.h): a JSON array that grows by an object at a time. */
#ifndef TERN_OS_TRACE_OUT_H
#define TERN_OS_TRACE_OUT_H

#include <stddef.h>

struct tern_trace_out;

/** Replaces `%p` by the process id; a file that is being written is left alone and a number appended. NULL: stderr says why. */
struct tern_trace_out *tern_trace_out_open(const char *name);
/** Appends an object: its text, without what separates it from the others. Any thread. */
void tern_trace_put(struct tern_trace_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Hands the system what is still in the buffer. */
void tern_trace_flush(struct tern_trace_out *out);
/** Ends the array, but not in the child of a fork, which writes nothing. A process that exits without this does it by itself. */
void tern_trace_out_close(struct tern_trace_out *out);

/** In the child of a fork: closes the parent's file, and leaves it as it is. No lock is needed. */
void tern_trace_out_inherited(struct tern_trace_out *out);

/** A JSON string without its quotation marks, cut to fit; what is no printable ASCII becomes '?'. Gives out. */
char *tern_trace_escape(const char *text, char *out, size_t size);

#endif
