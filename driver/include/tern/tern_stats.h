/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Statistics of an open device, published in a file. The process that has the device open maps the file and rewrites it
 * at most ten times a second; other processes of the same user map and read it, as `tern top` does. The
 * interface is a file, because only the driver in that process knows the device, and there may be no ternd to ask.
 *
 * The file is tern_stats_folder()/PID-N.stats, where N counts the devices of the process from 0. The writer holds an
 * exclusive flock on the file while it lives, and removes the file when the device is closed. A file that can be locked
 * was left by a process that was killed: ignore it.
 *
 * To get the state of one moment, a reader reads `sequence`, copies, and reads `sequence` again. The reader repeats
 * this if `sequence` was odd (the writer was writing) or has changed. struct tern_stats below is the file format, in
 * the byte order and alignment of the machine; `version` changes with its meaning. Times are in device cycles of
 * clock_hz.
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
#define TERN_STATS_CONTEXTS 512u  /**< Room for contexts; `contexts` counts all. */
#define TERN_STATS_PARTITIONS 64u /**< Room for partitions; `partitions` counts all. */

enum tern_stats_state {
    TERN_STATS_IDLE,    /**< The context has no work. */
    TERN_STATS_WAITING, /**< The next buffer waits for a fence. */
    TERN_STATS_QUEUED,  /**< The next buffer is ready, and other work runs. */
    TERN_STATS_HELD,    /**< The context is suspended, or its process is in error. */
    TERN_STATS_RUNNING, /**< The context has a buffer in an HW queue. */
    TERN_STATS_PAGING,  /**< Memory that the next buffer needs is being brought to the device. */
    TERN_STATS_SLOWED,  /**< The process is migrating and has used its share of the engine for now. */
};

struct tern_stats_engine {
    uint64_t busy;        /**< Cycles that buffers ran. */
    uint64_t preemptions; /**< Buffers stopped before their end. */
    uint64_t resets;      /**< Resets of the engine. */
    uint32_t depth;       /**< Buffers in the HW queue. */
    uint32_t context;     /**< Id of the context whose buffer is at the front; 0: none, or the driver's own. */
    char label[32];       /**< Label of that buffer. */
};

struct tern_stats_context {
    uint32_t id;      /**< Number of the context on the device, from 1. */
    uint32_t engine;  /**< The engine on which it is queued, or ran last. */
    uint32_t band;    /**< TERN_BAND_*. */
    uint32_t weight;
    uint32_t state;   /**< enum tern_stats_state. */
    uint32_t process; /**< Number of its process on the device, from 1. */
    uint32_t partition; /**< Index into `partition` if less than listed_partitions; else its partition is not listed. */
    uint32_t reserved;
    uint64_t queued;  /**< Buffers that have not ended. */
    uint64_t submitted, completed, aborted, preempted; /**< As in struct tern_context_stats. */
    uint64_t cycles;       /**< Engine cycles that its buffers ran. */
    uint64_t engine_cycles[TERN_STATS_ENGINES]; /**< The part of `cycles` on each engine. */
    uint64_t cycles_here;  /**< The part of `cycles` that ran on this device, not before a migration to it. */
    uint64_t waited;       /**< Cycles from submission to begin, summed. */
    uint64_t longest_wait; /**< The longest of these. */
    uint64_t page_requests; /**< Number of times that its kernels stopped at an absent page. */
    char name[32], process_name[32];
};

struct tern_stats_partition {
    char name[TERN_STATS_PARTITION_NAME];
    uint32_t share;     /**< Weight on each engine beside other partitions that have work there. */
    uint32_t processes;
    uint64_t memory_bytes, memory_free; /**< Device memory, and the free part of it. */
    uint64_t cycles;    /**< Engine cycles that its work has run, on all engines. */
};

struct tern_stats {
    uint32_t magic, version, size; /**< TERN_STATS_MAGIC, written last; TERN_STATS_VERSION; bytes of this struct. */
    uint32_t pid, device; /**< device: the N of the file's name. */
    uint32_t reserved;
    tern_stats_sequence sequence;
    uint64_t updates;   /**< Number of times that the file was rewritten. */
    uint64_t clock_hz;
    uint64_t time;      /**< Device time; it stands still while nothing runs. */
    uint64_t host_ns;   /**< CLOCK_MONOTONIC of the update, in ns. */
    uint64_t memory_bytes, memory_free; /**< Device memory, and the free part of it. */
    uint64_t page_requests; /**< Page requests of all contexts since the device was opened. */
    uint64_t brought_bytes, evicted_bytes; /**< Moved from the host to the device, and back. */
    char backend[16], config[64], program[32];
    uint32_t engines, processes;
    uint32_t contexts;  /**< Contexts that exist. */
    uint32_t listed;    /**< Entries of `context`, which has TERN_STATS_CONTEXTS of them at most. */
    struct tern_stats_engine engine[TERN_STATS_ENGINES];
    uint32_t partitions;        /**< Partitions that exist. */
    uint32_t listed_partitions; /**< Entries of `partition`, in order of creation. */
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
