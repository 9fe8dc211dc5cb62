/* SPDX-License-Identifier: Apache-2.0 */
/** What a user may have of the device: the file of `ternd --limits` (docs/man/ternd.8). */
#ifndef TERND_LIMITS_H
#define TERND_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tern/tern.h"

struct ternd_limits {
    uint64_t memory;      /**< Bytes of device memory, all processes of the user together. */
    uint64_t pinned;      /**< Of these, bytes that tern_allocation_make_resident keeps on the device. */
    uint64_t queue;       /**< Bytes of ternd's memory for unfinished submissions of a program. */
    uint32_t contexts;    /**< All processes of the user together. */
    uint32_t connections; /**< All programs of the user together. */
    uint32_t calls;       /**< Calls of a program that are under way at a time. */
    bool focus, realtime; /**< May have contexts in this band. */
    uint32_t share;       /**< Of the engines, all processes of the user together. */
    bool partitions;      /**< May make partitions, and change those that it has made. */
    char partition[TERN_PARTITION_NAME]; /**< That its processes are in; empty: the default one. */
};

struct ternd_limits_file;

#define TERND_LIMITS_BYTES (1u << 20)   /**< Of the file, at most. */
#define TERND_PINNED_DEFAULT UINT64_MAX /**< The file does not say: the device's memory does (user.c). */

/** path NULL: the defaults for everybody. 0, or -errno with a sentence that names line and column. */
int ternd_limits_read(const char *path, struct ternd_limits_file **out);
void ternd_limits_of(const struct ternd_limits_file *file, uid_t uid, struct ternd_limits *out);
void ternd_limits_free(struct ternd_limits_file *file);

#endif
