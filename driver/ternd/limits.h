/* SPDX-License-Identifier: Apache-2.0 */
/** Limits of a user's use of the device, from the file of `ternd --limits` (docs/man/ternd.8). */
#ifndef TERND_LIMITS_H
#define TERND_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tern/tern.h"

struct ternd_limits {
    uint64_t memory;      /**< Bytes of device memory of all processes of the user together. */
    uint64_t pinned;      /**< Bytes of these that tern_allocation_make_resident may pin. */
    uint64_t queue;       /**< Bytes of ternd's memory for unfinished submissions of one program. */
    uint32_t contexts;    /**< Contexts of all processes of the user together. */
    uint32_t connections; /**< Connections of all programs of the user together. */
    uint32_t calls;       /**< Concurrent calls of one program. */
    bool focus, realtime; /**< Contexts of the user may be in this band. */
    uint32_t share;       /**< Share of the engines of all processes of the user together. */
    bool partitions;      /**< The user may make partitions, and change those that it has made. */
    char partition[TERN_PARTITION_NAME]; /**< Partition of the user's processes; empty: the default one. */
};

struct ternd_limits_file;

#define TERND_LIMITS_BYTES (1u << 20)   /**< Largest size of the file, in bytes. */
/** The file sets no limit; user.c derives one from the size of device memory. */
#define TERND_PINNED_DEFAULT UINT64_MAX

/** Reads the file at `path`; NULL: default limits for everybody. The caller frees *out. 0, or -errno with a sentence
 *  that names line and column. */
int ternd_limits_read(const char *path, struct ternd_limits_file **out);
/** The limits of a user, from its own section, those of its groups, and the default section. May block on a name
 *  server. */
void ternd_limits_of(const struct ternd_limits_file *file, uid_t uid, struct ternd_limits *out);
void ternd_limits_free(struct ternd_limits_file *file);

#endif
