/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reading of files whose paths the user gives: settings, programs, data, certificates, checkpoints. Such a path may
 * name anything. These calls do not wait for the other end of a named pipe, and do not read more than the caller
 * expects.
 *
 * A file must be a regular one. Only a path that names a descriptor of this process (/dev/stdin, /dev/fd/N,
 * /proc/self/fd/N) may also lead to a pipe or a terminal, which is read like standard input.
 */
#ifndef TERN_BASE_FILE_H
#define TERN_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/** Opens a file for reading. Returns a descriptor, or -errno with a sentence that names the path. -EINVAL: it is a
 *  directory, a named pipe, a device or a socket; -EFBIG: it is a regular file of more than `most` bytes. */
int tern_file_open(const char *path, uint64_t most);
/** Checks that tern_file_open would open the file, for code that opens files by path itself. 0 or the same errors. */
int tern_file_check(const char *path, uint64_t most);
/** Reads a whole file and adds a NUL byte. The caller frees *data. Errors as above; -EFBIG also if more than `most`
 *  bytes were read; -ENOMEM. */
int tern_file_read(const char *path, size_t most, char **data, size_t *size);
/** Reads a file in the same way from an open descriptor, which the caller keeps. path: for the sentence. */
int tern_file_read_from(int fd, const char *path, size_t most, char **data, size_t *size);

#endif
