/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Opening what TERN_TRACE names. A file, which is made or cut to nothing; or a FIFO or a device that the user has put
 * there. The name often lies in a folder that others can write, so that no link is followed (symbolic) or written
 * through (hard), and nothing is touched that belongs to another user than this one or root. The descriptors of the
 * program itself (/dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N) are links that no other user can make, and are
 * opened anew, so that what is set here is not set there.
 */
#ifndef TERN_OS_TRACE_FILE_H
#define TERN_OS_TRACE_FILE_H

/**
 * Never blocks; writes to what is not a file do not block either. -EWOULDBLOCK: another living trace writes it; -ENXIO:
 * a FIFO without a reader yet, ask again; else -errno. *why: what was in the way.
 */
int tern_trace_file_open(const char *path, const char **why);

#endif
