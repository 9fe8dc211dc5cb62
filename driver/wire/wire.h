/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages and shared memory between a client (client/) and ternd (ternd/). docs/ternd.md describes the whole protocol.
 * Messages go over SOCK_SEQPACKET connections; both sides map a memory of the session. Both run on one machine, so byte
 * order and alignment are native. Every change here changes TERN_WIRE_VERSION.
 *
 * A *session* begins with a connection whose hello has the kind SESSION. The welcome carries the descriptor of the
 * shared memory. Later messages on this connection are wake-ups in both directions. Further connections of the same
 * client (kind CALLS, with the session's token) carry one request at a time, which one reply answers. Each has a slot
 * in the shared memory for data that exceed a message.
 *
 * A *migration* is a connection of kind SEND to one ternd and one of kind RECEIVE to another. After the welcome each
 * ternd gets one end of some socket pairs, with a struct tern_wire_migrate for each. The two ternd speak over these,
 * and report in messages struct tern_wire_progress. Closing the connection cancels the migration.
 *
 * Layout of the shared memory: struct tern_wire_shared, the bytes of the submission ring, the entries of the completion
 * ring, the slots. The client may change all of it at any time. Therefore ternd keeps its own positions, checks the
 * client's before use, and copies an entry before it checks the entry.
 */
#ifndef TERN_WIRE_WIRE_H
#define TERN_WIRE_WIRE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "tern/tern.h"

#define TERN_WIRE_MAGIC 0x6e726554u /* "Tern" */
#define TERN_WIRE_VERSION 11u

/* ------------------------------------------------------------- hello, welcome */

enum tern_wire_kind {
    TERN_WIRE_SESSION = 1,
    TERN_WIRE_CALLS = 2,
    TERN_WIRE_SEND = 3,    /**< A partition, named by the hello, moves away. */
    TERN_WIRE_RECEIVE = 4, /**< A partition arrives. Both only for root and ternd's own user. */
};

/** The first message of a connection. The first three words are the same in all versions. */
struct tern_wire_hello {
    uint32_t magic, version;
    uint32_t spec;      /**< TERN_SPEC_HASH: both sides build and read the same packets. */
    uint32_t kind;      /**< Kind of the connection: enum tern_wire_kind. */
    uint8_t token[16];  /**< CALLS: token of the session. */
    char program[32];   /**< SESSION: name of the program, for messages. */
    char partition[64]; /**< SESSION: partition of its processes, unless they name another; empty: that of the user. */
};

/** The answer to a hello. The first four members are the same in all versions. A refusal ends after `text`. */
struct tern_wire_welcome {
    uint32_t magic, version, spec;
    int32_t status;     /**< 0: accepted; or -errno. */
    char text[256];     /**< Reason of a refusal, as a sentence. */
    uint8_t token[16];
    uint32_t slot;      /**< CALLS: slot of the connection. */
    /** Largest number of connections of kind CALLS of the session, which is the number of slots. */
    uint32_t connections;
    uint64_t queue;     /**< Bytes that the session's unfinished submissions may take, by tern_wire_cost. */
    struct tern_device_info info;
};

/* ----------------------------------------------------------------- migrations */

/** One message for each link, all equal, each with the descriptor of its link. For RECEIVE only `links` and `again`
 *  count. */
struct tern_wire_migrate {
    uint64_t downtime_ns; /**< Allowed downtime in ns; this and the next two are those of struct tern_migrate_limits. */
    uint32_t rounds, policy;
    uint32_t compress;        /**< Level of zstd for page contents, 1 to 19; 0: no compression. */
    uint32_t links; /**< Number of links, 1 to 16; 0 stands for 1. The first one carries everything except pages. */
    /** Not 0: the tool replaces lost links. When both ternd have sent LOST, it sends such messages again, or one
     *  without a descriptor: there are no other links. The same for both ternd. */
    uint32_t again;
    uint32_t reserved;        /**< 0. */
};

/** Accompanies each descriptor that is sent over the link. */
struct tern_wire_descriptor {
    uint32_t kind;      /**< Kind of the descriptor: enum tern_wire_descriptor_kind. */
    uint32_t session;   /**< Number of the session, from 0. */
    uint32_t slot;      /**< CALL: slot of the connection; else 0. */
    uint32_t calls;     /**< CONNECTION, MEMORY: number of calls that the session may have; else 0. */
    uint8_t token[16];  /**< CONNECTION: token of the session; else zeros. */
};

enum tern_wire_descriptor_kind {
    TERN_WIRE_CONNECTION = 1, /**< First connection of a session. */
    TERN_WIRE_MEMORY = 2,     /**< Memory that the session shares with its ternd. */
    TERN_WIRE_CALL = 3,       /**< Connection for calls. */
};

/** Bytes that the two ternd exchange over the link, in this order. */
enum tern_wire_step {
    TERN_WIRE_READY = 1, /**< Target: it has everything. */
    TERN_WIRE_GO = 2,    /**< Source: the programs are the target's from here on. This byte decides. */
    TERN_WIRE_TOLD = 3,  /**< Target: the programs know where their new ternd listens. */
};

enum tern_wire_progress_kind {
    TERN_WIRE_ROUND = 1, /**< A round has ended. */
    TERN_WIRE_ENDED = 2, /**< The last message, with the result. */
    TERN_WIRE_LOST = 3,  /**< The links are lost, and the ternd waits for others. */
};

/** A report of a ternd to the tool that asked for the migration. */
struct tern_wire_progress {
    uint32_t kind;
    int32_t status;         /**< ENDED: 0, or -errno with a sentence in `text`. */
    uint32_t number, throttle; /**< As in struct tern_migrate_round. */
    /** As there; ENDED: pages and bytes of the whole stream of processes. */
    uint64_t pages, bytes, ns, left, expected_ns;
    uint64_t zero, same, content; /**< As there; ENDED: of the whole stream. */
    uint64_t stopped_ns;    /**< ENDED: downtime in ns. The members below are valid with ENDED only. */
    uint32_t programs, processes;
    char text[512];
};

/* ---------------------------------------------------------- requests, replies */

/** Operations of requests. A comment lists the members of the request that are used, and after -> those of the
 *  reply. An operation names its object in `object`. */
enum tern_wire_op {
    TERN_WIRE_NOP = 1,
    TERN_WIRE_TIME,             /* -> value[0] */
    TERN_WIRE_TIME_SEEN,        /* -> value[0] */
    TERN_WIRE_COUNTERS,         /* value[0] engine -> slot: struct tern_engine_counters */
    TERN_WIRE_PROCESS_CREATE,   /* value: its partition's name, empty: the session's; text name -> object */
    TERN_WIRE_PROCESS_DESTROY,
    TERN_WIRE_PROCESS_KILL,
    TERN_WIRE_PROCESS_STATUS,   /* -> slot: struct tern_fault */
    TERN_WIRE_PROCESS_SUSPEND,
    TERN_WIRE_PROCESS_RESUME,
    TERN_WIRE_PROCESS_ALLOCATIONS, /* value[0] most -> value[0] number, slot: struct tern_allocation_info[] */
    TERN_WIRE_PROCESS_DIRTY,    /* value: address, bytes, clear -> slot: bits */
    TERN_WIRE_ALLOCATION_CREATE, /* value: size, flags, address -> object, value: address, size */
    TERN_WIRE_ALLOCATION_READ,  /* value: offset, size -> slot */
    TERN_WIRE_ALLOCATION_WRITE, /* value: offset, size, slot */
    TERN_WIRE_ALLOCATION_RESIDENT,
    TERN_WIRE_ALLOCATION_EVICT,
    TERN_WIRE_CONTEXT_CREATE,   /* value: engine, weight, cookie; text name -> object */
    TERN_WIRE_CONTEXT_DESTROY,
    TERN_WIRE_CONTEXT_TAKE_DATA,
    TERN_WIRE_CONTEXT_PRIORITY, /* value: band, weight */
    TERN_WIRE_CONTEXT_QUERY,    /* -> slot: struct tern_context_stats */
    TERN_WIRE_CONTEXT_RESIDENCY, /* value: 1, count (slot: addresses); or 0: all memory of the process */
    /* value[0] size; slot: an entry of the submission ring, for a submission that is too large for the ring or may
     * be refused. After a refusal nothing was submitted. */
    TERN_WIRE_CONTEXT_SUBMIT,
    TERN_WIRE_FENCE_CREATE,     /* value[0] -> object, value[0] address */
    TERN_WIRE_FENCE_VALUE,      /* -> value[0] */
    TERN_WIRE_FENCE_SIGNAL,     /* value[0] */
    TERN_WIRE_FENCE_WAIT,       /* value: wanted, ms */
    TERN_WIRE_ALLOCATION_EXPORT, /* value[0] flags -> value: the handle */
    TERN_WIRE_ALLOCATION_IMPORT, /* of a process; value: flags and address << 32, the handle -> as CREATE */
    TERN_WIRE_PARTITION_CREATE,  /* value: memory, host, share; text name */
    TERN_WIRE_PARTITION_RESIZE,  /* value[0] memory; text name */
    TERN_WIRE_PARTITION_SHARE,   /* value[0] share; text name */
    TERN_WIRE_PARTITION_DESTROY, /* text name */
    TERN_WIRE_PARTITION_LIST,    /* value[0] most -> value[0] number, slot: struct tern_partition_info[] */
    TERN_WIRE_OPS
};

/** A request. Handles name objects of the session, from 1; 0 is the device. ternd takes all entries of the
 *  submission ring before it serves a request. */
struct tern_wire_request {
    uint32_t length;   /**< Bytes of the message, which ends with the last character of `text`. */
    uint32_t op;
    uint32_t object, reserved;
    uint64_t value[3];
    char text[256];
};

/** The reply to a request. */
struct tern_wire_reply {
    uint32_t length;   /**< As in a request. */
    uint32_t op;       /**< Operation of the request. */
    int32_t status;    /**< 0 or positive: success; or -errno with a sentence in `text`. */
    uint32_t object;
    /** Not 0: some memory of the object's process is not on the device, so a submission may be refused. */
    uint32_t absent;
    uint32_t reserved;
    uint64_t value[2];
    char text[512];
};

/* -------------------------------------------------------------- shared memory */

#define TERN_WIRE_PAGE 4096u
#define TERN_WIRE_SUBMISSION_BYTES (256u << 10) /**< A power of two. */
#define TERN_WIRE_ENTRY_MAX (64u << 10)         /**< Larger submissions use a slot. */
#define TERN_WIRE_COMPLETIONS 4096u             /**< A power of two. */
#define TERN_WIRE_COPY (1u << 20)               /**< Most bytes that one request copies. */
/** Bytes of a slot: room for a copy, or for the largest submission with its entry. */
#define TERN_WIRE_SLOT ((1u << 20) + (32u << 10))
#define TERN_WIRE_CONNECTIONS_MAX 256u

/** How the consumer of a ring sleeps. */
enum tern_wire_sleep {
    TERN_WIRE_AWAKE = 0,
    TERN_WIRE_MESSAGE = 1, /**< Until a message comes on the session's connection. */
    TERN_WIRE_FUTEX = 2,   /**< On the futex `sleeping`, until it changes. For clients only. */
};

/** Positions of a ring, which only grow. The consumer writes `head`, the producer `tail`. Each has a cache line of
 *  its own. */
struct tern_wire_ring {
    alignas(64) _Atomic uint64_t head;
    alignas(64) _Atomic uint64_t tail;
    /** enum tern_wire_sleep. The consumer sets it before it sleeps; the producer resets it and wakes the consumer. */
    alignas(64) _Atomic uint32_t sleeping;
};

struct tern_wire_shared {
    struct tern_wire_ring submissions; /**< Positions in bytes. */
    struct tern_wire_ring completions; /**< Positions in entries. */
    /** Not 0: ternd has completions for which the ring had no room; the client wakes ternd when there is room. */
    alignas(64) _Atomic uint32_t backlog;
    _Atomic uint64_t now;                 /**< Device time of tern_device_time_seen, in cycles. */
    /** Path of the ternd that serves the session, valid if `moves` is not 0. `moves` is odd while the path is
     *  written (a seqlock). */
    alignas(64) _Atomic uint32_t moves;
    char service[108];
};

enum tern_wire_entry_op {
    TERN_WIRE_ENTRY_SUBMIT = 1,         /* fence; followed by packets, data, label */
    TERN_WIRE_ENTRY_NULL,               /* fence; followed by the label */
    TERN_WIRE_ENTRY_ALLOCATION_DESTROY,
    TERN_WIRE_ENTRY_FENCE_DESTROY,
    TERN_WIRE_ENTRY_ABORT,              /* of a process; the label is the reason */
};

/** An entry of the submission ring. The parts that follow it are in this order, each padded to a multiple of 8
 *  bytes. */
struct tern_wire_entry {
    uint32_t length;   /**< Bytes of the entry with its parts, a multiple of 8. */
    uint32_t op, object;
    uint32_t size, data, label; /**< Bytes of each part. */
    uint64_t fence;
};

#define TERN_WIRE_LABEL_MAX 256u

/** An entry of the completion ring: a buffer has ended. */
struct tern_wire_completion {
    uint64_t cookie;   /**< Cookie of the context, from its creation. */
    uint64_t fence;
    uint32_t result, engine;
    uint64_t submitted, begin, end;
    uint64_t cost;     /**< Bytes of the submission, by tern_wire_cost. */
};

static inline uint32_t tern_wire_round(uint32_t bytes)
{
    return (bytes + 7u) & ~7u;
}

/** Bytes by which an unfinished submission counts against the client's limit. */
static inline uint64_t tern_wire_cost(uint64_t size, uint64_t data)
{
    return 1024u + size + data;
}

#define TERN_WIRE_SUBMISSION_OFFSET ((size_t)TERN_WIRE_PAGE)
#define TERN_WIRE_COMPLETION_OFFSET (TERN_WIRE_SUBMISSION_OFFSET + TERN_WIRE_SUBMISSION_BYTES)
#define TERN_WIRE_SLOT_OFFSET \
    (TERN_WIRE_COMPLETION_OFFSET + TERN_WIRE_COMPLETIONS * sizeof(struct tern_wire_completion))

static inline size_t tern_wire_shared_bytes(uint32_t connections)
{
    return TERN_WIRE_SLOT_OFFSET + (size_t)connections * TERN_WIRE_SLOT;
}

_Static_assert(sizeof(struct tern_wire_shared) <= TERN_WIRE_PAGE, "it is one page");
_Static_assert(TERN_WIRE_COMPLETIONS * sizeof(struct tern_wire_completion) % TERN_WIRE_PAGE == 0, "slots are pages");

#endif
