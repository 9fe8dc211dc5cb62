/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Files that a path of the user names: settings, programs, data, certificates, checkpoints. The path may name anything;
 * these calls neither wait for the other end of a named pipe nor take more than the caller expects.
 *
 * What is read must be a regular file. Only a path that names a descriptor of this process (/dev/stdin, /dev/fd/N,
 * /proc/self/fd/N) may also lead to a pipe or a terminal, which is read as standard input is.
 */
#ifndef TERN_BASE_FILE_H
#define TERN_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/** For reading, at its beginning: a descriptor, or -errno with a sentence that names the path. -EINVAL: it is a
 *  directory, a named pipe, a device or a socket; -EFBIG: a regular file of more than `most` bytes. */
int tern_file_open(const char *path, uint64_t most);
/** Whether that would open it, for code that opens files by path itself: 0 or the same errors. */
int tern_file_check(const char *path, uint64_t most);
/** All of it, with a NUL byte behind its end; the caller frees *data. The same errors; -EFBIG: more than `most` bytes
 *  have come; -ENOMEM. */
int tern_file_read(const char *path, size_t most, char **data, size_t *size);
/** The same of an open descriptor, which stays the caller's; path: for the sentence. */
int tern_file_read_from(int fd, const char *path, size_t most, char **data, size_t *size);

#endif
