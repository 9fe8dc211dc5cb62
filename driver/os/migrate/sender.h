/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sends memories to a stream, again and again if need be: each time only what has changed since it was sent. That is
 * what the dirty bits of a memory basis say, each cleared before its page is copied, so that a write meanwhile is
 * sent the next time (D2); and all of a block that has moved between device and host, or was written on the host.
 */
#ifndef TERN_OS_MIGRATE_SENDER_H
#define TERN_OS_MIGRATE_SENDER_H

#include "os/os.h"
#include "stream/stream.h"

struct tern_sender {
    struct tern_device *dev;
    struct tern_stream *stream;
    bool follows;      /* there is a basis: what is written is known */
    uint64_t basis;
    uint64_t sent;     /* pages that were looked at and given to the stream, zeros too */
    uint32_t count;
    struct tern_sender_memory {
        struct tern_memory *m;
        uint64_t *changes; /* b->changes of each block, when it was last sent; UINT64_MAX: never */
    } *memories;       /* by slot */
    void *buffer;
};

/** -ENOMEM. */
int tern_sender_begin(struct tern_device *dev, struct tern_stream *s, struct tern_sender **out);
/** From now on writes are known. -ENOTSUP: bits of this device stand for more than a page; -ENOMEM; errors of the
 *  hal. */
int tern_sender_follow(struct tern_sender *v);
/** The next slot is the memory, which lives until the end. With dev->lock held. -ENOMEM. */
int tern_sender_add(struct tern_sender *v, struct tern_memory *m);
/** What has changed of a block of it. One that is gone has nothing. */
int tern_sender_send(struct tern_sender *v, uint32_t slot, uint32_t block);
/** Pages that have changed since they were sent. */
int tern_sender_left(struct tern_sender *v, uint64_t *pages);
void tern_sender_end(struct tern_sender *v);

#endif
