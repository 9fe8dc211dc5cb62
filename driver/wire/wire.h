/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a client (client/) and ternd (ternd/) exchange: messages on SOCK_SEQPACKET connections, and a memory of
 * the client's that both map. docs/ternd.md has the protocol as a whole. Both sides are of one machine: byte order and
 * alignment are its own. Whatever changes here changes TERN_WIRE_VERSION.
 *
 * A *session* is one connection that begins with a hello of kind SESSION. The welcome carries the descriptor of the
 * shared memory. Later messages on it are empty wake-ups in both directions. Further connections of the same client
 * (kind CALLS, with the session's token) carry requests, one at a time, each answered by one reply; each has a slot of
 * the shared memory for what does not fit a message.
 *
 * A *migration* is a connection of kind SEND to one ternd and of kind RECEIVE to another: after the welcome each gets
 * one end of each of some pairs of sockets with a struct tern_wire_migrate, over which they speak, and tells what
 * becomes of it in messages struct tern_wire_progress. When the connection ends, the migration is cancelled.
 *
 * The shared memory: struct tern_wire_shared, then the bytes of the submission ring, the entries of the completion
 * ring, and the slots. The client may change all of it at any time. ternd keeps its own positions, takes the client's
 * only after checking them, and copies an entry before it checks that.
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
    TERN_WIRE_SEND = 3,    /**< A partition, named by the hello, moves from here */
    TERN_WIRE_RECEIVE = 4, /**< or to here; for root and ternd's own user. */
};

/** The first message of a connection. The first three words are so in every version. */
struct tern_wire_hello {
    uint32_t magic, version;
    uint32_t spec;      /**< TERN_SPEC_HASH: both build and read the same packets. */
    uint32_t kind;      /**< enum tern_wire_kind. */
    uint8_t token[16];  /**< CALLS: of the session. */
    char program[32];   /**< SESSION: for messages. */
    char partition[64]; /**< SESSION: of its processes, unless they name another; empty: the user's own. */
};

/** Its answer. The first four members are so in every version; a refusal has nothing else. */
struct tern_wire_welcome {
    uint32_t magic, version, spec;
    int32_t status;     /**< 0 or -errno. */
    char text[256];     /**< Why, as a sentence. */
    uint8_t token[16];
    uint32_t slot;      /**< CALLS: the connection's. */
    uint32_t connections; /**< CALLS that a session may have at a time; slots. */
    uint64_t queue;     /**< Bytes that its unfinished submissions may take, as tern_wire_cost counts. */
    struct tern_device_info info;
};

/* ----------------------------------------------------------------- migrations */

/** As often as there are links, the same, each with the descriptor of one. RECEIVE: only links and again count. */
struct tern_wire_migrate {
    uint64_t downtime_ns;     /**< This and the next two are of struct tern_migrate_limits. */
    uint32_t rounds, policy;
    uint32_t compress;        /**< zstd's level for what pages hold, 1 to 19; 0: none. */
    uint32_t links;           /**< 1 to 16; 0: 1. The first one carries all but pages. */
    uint32_t again;           /**< Whoever asked answers LOST: with such messages again when both have said it, or with
                               *   one without a descriptor: there are no other links. Of both the same. */
    uint32_t reserved;        /**< 0. */
};

/** With each descriptor that goes over the link: what it is. */
struct tern_wire_descriptor {
    uint32_t kind;      /**< enum tern_wire_descriptor_kind. */
    uint32_t session;   /**< From 0. */
    uint32_t slot;      /**< CALL; else 0. */
    uint32_t calls;     /**< CONNECTION, MEMORY: how many calls the session may have; else 0. */
    uint8_t token[16];  /**< CONNECTION: of the session; else zeros. */
};

enum tern_wire_descriptor_kind {
    TERN_WIRE_CONNECTION = 1, /**< Of a session. */
    TERN_WIRE_MEMORY = 2,     /**< That it shares with its ternd. */
    TERN_WIRE_CALL = 3,       /**< A connection for calls. */
};

/** Bytes by which both ternd agree, over the link, in this order. */
enum tern_wire_step {
    TERN_WIRE_READY = 1, /**< The target has all. */
    TERN_WIRE_GO = 2,    /**< The source: the programs are the target's. It decides. */
    TERN_WIRE_TOLD = 3,  /**< The target: the programs know where it listens. */
};

enum tern_wire_progress_kind {
    TERN_WIRE_ROUND = 1, /**< A round has ended. */
    TERN_WIRE_ENDED = 2, /**< The last message: status. */
    TERN_WIRE_LOST = 3,  /**< The links are lost, and it waits for others. */
};

struct tern_wire_progress {
    uint32_t kind;
    int32_t status;         /**< ENDED: 0, or -errno with the sentence in text. */
    uint32_t number, throttle; /**< As of struct tern_migrate_round. */
    uint64_t pages, bytes, ns, left, expected_ns; /**< ENDED: pages, bytes of all processes' stream. */
    uint64_t zero, same, content; /**< Of pages, as there; ENDED too. */
    uint64_t stopped_ns;    /**< ENDED, and what follows: the time in which nothing ran. */
    uint32_t programs, processes;
    char text[512];
};

/* ---------------------------------------------------------- requests, replies */

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
    TERN_WIRE_PROCESS_ALLOCATIONS, /* value[0] most -> value[0] how many, slot: struct tern_allocation_info[] */
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
    TERN_WIRE_CONTEXT_RESIDENCY, /* value: 1, count (slot: addresses); or 0: all of the process */
    /* value[0] size; slot: a submission, as an entry of the submission ring, which is too large for it or may be
     * refused: then nothing has happened */
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
    TERN_WIRE_PARTITION_LIST,    /* value[0] most -> value[0] how many, slot: struct tern_partition_info[] */
    TERN_WIRE_OPS
};

/** Objects are named by numbers of the session, from 1; 0: the device. All that is in the submission ring when a
 *  request comes is taken before it. */
struct tern_wire_request {
    uint32_t length;   /**< Of the message: up to the end of text, of which no more is sent than is there. */
    uint32_t op;
    uint32_t object, reserved;
    uint64_t value[3];
    char text[256];
};

struct tern_wire_reply {
    uint32_t length;   /**< As in a request. */
    uint32_t op;       /**< Of the request. */
    int32_t status;    /**< 0, or -errno and the sentence in text. */
    uint32_t object;
    uint32_t absent;   /**< Some memory of the object's process is not on the device: a submission may be refused. */
    uint32_t reserved;
    uint64_t value[2];
    char text[512];
};

/* -------------------------------------------------------------- shared memory */

#define TERN_WIRE_PAGE 4096u
#define TERN_WIRE_SUBMISSION_BYTES (256u << 10) /**< A power of two. */
#define TERN_WIRE_ENTRY_MAX (64u << 10)         /**< A larger submission goes by a slot. */
#define TERN_WIRE_COMPLETIONS 4096u             /**< A power of two. */
#define TERN_WIRE_COPY (1u << 20)               /**< Bytes that a request copies at most. */
#define TERN_WIRE_SLOT ((1u << 20) + (32u << 10)) /**< A copy; or the largest submission with all that belongs to it. */
#define TERN_WIRE_CONNECTIONS_MAX 256u

/** How the consumer of a ring sleeps. */
enum tern_wire_sleep {
    TERN_WIRE_AWAKE = 0,
    TERN_WIRE_MESSAGE = 1, /**< Until a message comes on the session's connection. */
    TERN_WIRE_FUTEX = 2,   /**< On the futex `sleeping`, until it changes: a client's only. */
};

/** Positions only grow; head is the consumer's, tail the producer's. Each on a cache line of its own. */
struct tern_wire_ring {
    alignas(64) _Atomic uint64_t head;
    alignas(64) _Atomic uint64_t tail;
    /** enum tern_wire_sleep: the consumer is about to sleep, or does: the producer sets it to 0 and wakes it. */
    alignas(64) _Atomic uint32_t sleeping;
};

struct tern_wire_shared {
    struct tern_wire_ring submissions; /**< In bytes. */
    struct tern_wire_ring completions; /**< In entries. */
    alignas(64) _Atomic uint32_t backlog; /**< ternd has completions that had no room: wake it when there is. */
    _Atomic uint64_t now;                 /**< tern_device_time_seen. */
    /** Where the ternd listens that has the session now, once it has moved. Odd: it is being written. */
    alignas(64) _Atomic uint32_t moves;
    char service[108];
};

enum tern_wire_entry_op {
    TERN_WIRE_ENTRY_SUBMIT = 1,         /* fence; packets, data, label follow */
    TERN_WIRE_ENTRY_NULL,               /* fence; label follows */
    TERN_WIRE_ENTRY_ALLOCATION_DESTROY,
    TERN_WIRE_ENTRY_FENCE_DESTROY,
    TERN_WIRE_ENTRY_ABORT,              /* of a process; the label is why */
};

/** An entry of the submission ring; what follows it is in this order, and is filled up to multiples of 8 bytes. */
struct tern_wire_entry {
    uint32_t length;   /**< With all that follows. A multiple of 8. */
    uint32_t op, object;
    uint32_t size, data, label; /**< Bytes of each. */
    uint64_t fence;
};

#define TERN_WIRE_LABEL_MAX 256u

/** A buffer has ended. */
struct tern_wire_completion {
    uint64_t cookie;   /**< Of the context. */
    uint64_t fence;
    uint32_t result, engine;
    uint64_t submitted, begin, end;
    uint64_t cost;     /**< tern_wire_cost of the submission. */
};

static inline uint32_t tern_wire_round(uint32_t bytes)
{
    return (bytes + 7u) & ~7u;
}

/** What an unfinished submission takes of the client's limit. */
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
