/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Opens the file that TERN_TRACE names: a regular file, which is created or truncated, or an existing FIFO or device.
 *
 * The folder is often one that others can write. Therefore no symbolic link is followed, no file with several hard
 * links is written, and nothing is used that belongs to another user than this one or root. The descriptors of the
 * program (/dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N) are links that no other user can make. These are
 * opened again, so that flags set here do not change the program's descriptor.
 */
#ifndef TERN_OS_TRACE_FILE_H
#define TERN_OS_TRACE_FILE_H

/**
 * Opens the file without blocking. Writes to a FIFO or a device do not block either. *why is the reason of a failure.
 *   -EWOULDBLOCK  another open trace writes the file
 *   -ENXIO        it is a FIFO without a reader; the caller may try again
 *   other         errors of the system
 */
int tern_trace_file_open(const char *path, const char **why);

#endif
