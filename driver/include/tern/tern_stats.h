/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a process that has a device open tells about it while it runs: a file that it maps and rewrites some times a
 * second, and that other processes of the same user may map and read. `tern top` does. The driver in a process is the
 * only one that knows its device, so without a daemon there is no other to ask.
 *
 * Where: tern_stats_folder(). Name: PID-N.stats, N counting the devices of the process from 0. The writer holds an
 * exclusive flock on it for as long as it lives and removes the file when the device is closed; so a file that can be
 * locked is of a process that was killed, and means nothing.
 *
 * Consistency: `sequence` is odd while the writer writes. Read it, copy what is wanted, read it again: if it was even
 * and has not changed, the copy is of one moment. The layout below is the format: same version, same meaning; all in
 * the byte order and alignment of the machine. Times are in device cycles of clock_hz.
 */
#ifndef TERN_STATS_H
#define TERN_STATS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifdef __cplusplus
#include <atomic>
typedef std::atomic<uint64_t> tern_stats_sequence;
#else
#include <stdatomic.h>
typedef _Atomic uint64_t tern_stats_sequence;
#endif

#define TERN_STATS_MAGIC 0x54415453u /* "STAT" */
#define TERN_STATS_VERSION 6u
#define TERN_STATS_ENGINES 16u
#define TERN_STATS_PARTITION_NAME 24u
#define TERN_STATS_CONTEXTS 512u  /**< How many contexts find room; `contexts` counts all. */
#define TERN_STATS_PARTITIONS 64u /**< How many partitions find room; `partitions` counts all. */

enum tern_stats_state {
    TERN_STATS_IDLE,    /**< Has nothing to do. */
    TERN_STATS_WAITING, /**< Its next buffer waits for a fence. */
    TERN_STATS_QUEUED,  /**< Could run, but others do. */
    TERN_STATS_HELD,    /**< Suspended by its owner, or its process is in error. */
    TERN_STATS_RUNNING, /**< Has a buffer in an HW queue. */
    TERN_STATS_PAGING,  /**< Memory that its next work needs is being brought to the device. */
    TERN_STATS_SLOWED,  /**< Its process moves to another device, and has had its part of the engine for now. */
};

struct tern_stats_engine {
    uint64_t busy;        /**< Cycles that buffers ran. */
    uint64_t preemptions; /**< Buffers stopped before their end. */
    uint64_t resets;
    uint32_t depth;       /**< Buffers in the HW queue. */
    uint32_t context;     /**< Whose buffer is in front, 0: of none that is listed. */
    char label[32];       /**< Of that buffer. */
};

struct tern_stats_context {
    uint32_t id;      /**< Of the device, from 1. */
    uint32_t engine;  /**< That it is on. */
    uint32_t band;    /**< TERN_BAND_*. */
    uint32_t weight;
    uint32_t state;   /**< enum tern_stats_state. */
    uint32_t process; /**< Number of its process on the device, from 1. */
    uint32_t partition; /**< Place of its partition in `partition`, if it is less than listed_partitions. */
    uint32_t reserved;
    uint64_t queued;  /**< Buffers that have not ended. */
    uint64_t submitted, completed, aborted, preempted;
    uint64_t cycles;       /**< Engine cycles that its buffers ran, */
    uint64_t engine_cycles[TERN_STATS_ENGINES]; /**< and of these on each engine. */
    uint64_t cycles_here;  /**< Of `cycles`, those on this device: the others came with it, by a migration. */
    uint64_t waited;       /**< Cycles from submission to begin, summed. */
    uint64_t longest_wait; /**< The longest of these. */
    uint64_t page_requests; /**< How often a kernel stopped because it needed a page. */
    char name[32], process_name[32];
};

struct tern_stats_partition {
    char name[TERN_STATS_PARTITION_NAME];
    uint32_t share;     /**< Of each engine, in relation to others' that have work on it. */
    uint32_t processes;
    uint64_t memory_bytes, memory_free; /**< Device memory of it, and what of that nothing has. */
    uint64_t cycles;    /**< Engine cycles that its work has run, on all engines. */
};

struct tern_stats {
    uint32_t magic, version, size; /**< size: of this struct. magic is written last. */
    uint32_t pid, device; /**< device: the N of the file's name. */
    uint32_t reserved;
    tern_stats_sequence sequence;
    uint64_t updates;   /**< How often it was rewritten. */
    uint64_t clock_hz;
    uint64_t time;      /**< Device time; it stands still while nothing runs. */
    uint64_t host_ns;   /**< CLOCK_MONOTONIC of the update. */
    uint64_t memory_bytes, memory_free; /**< Device memory; memory_free: bytes in pages that nothing has. */
    uint64_t page_requests; /**< Of all contexts that there were. */
    uint64_t brought_bytes, evicted_bytes; /**< Moved from the host to the device, and back. */
    char backend[16], config[64], program[32];
    uint32_t engines, processes;
    uint32_t contexts;  /**< Alive. */
    uint32_t listed;    /**< Of these, how many are in `context`. */
    struct tern_stats_engine engine[TERN_STATS_ENGINES];
    uint32_t partitions;        /**< That there are, */
    uint32_t listed_partitions; /**< and how many are in `partition`, in the order in which they were made. */
    struct tern_stats_context context[TERN_STATS_CONTEXTS];
    struct tern_stats_partition partition[TERN_STATS_PARTITIONS];
};

/** The folder of the user's files: $XDG_RUNTIME_DIR/tern, else /tmp/tern-UID. */
static inline void tern_stats_folder(char *path, size_t size)
{
    /* setuid: the environment is another user's */
    const char *run = getauxval(AT_SECURE) ? NULL : getenv("XDG_RUNTIME_DIR");
    if (run && *run == '/') {
        snprintf(path, size, "%s/tern", run);
    } else {
        snprintf(path, size, "/tmp/tern-%u", (unsigned)getuid());
    }
}

#endif
