/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sends the contents of memories to a stream, any number of times: each time only pages that have changed since they
 * were sent. Changed are pages whose dirty bit is set in a memory basis. The bit is cleared before the page is copied,
 * so that a later write is sent the next time (D2). All pages of a block count as changed if the block moved between
 * device and host, or was written on the host.
 */
#ifndef TERN_OS_MIGRATE_SENDER_H
#define TERN_OS_MIGRATE_SENDER_H

#include "migration/format/stream.h"
#include "os/state/state.h"

struct tern_sender {
    struct tern_device *dev;
    struct tern_stream *stream;
    bool follows;      /* there is a basis, which records writes */
    uint64_t basis;
    uint64_t sent;     /* pages given to the stream, including zero pages */
    uint32_t count;
    struct tern_sender_memory {
        struct tern_memory *m;
        uint64_t *changes; /* b->changes of each block when it was last sent; UINT64_MAX: never sent */
    } *memories;       /* indexed by slot */
    void *buffer;
};

/** Makes a sender that sends all pages each time. -ENOMEM. */
int tern_sender_begin(struct tern_device *dev, struct tern_stream *s, struct tern_sender **out);
/** Starts to record writes. -ENOTSUP: a dirty bit of the device covers more than 4 KiB; -ENOMEM; errors of the hal.
 *  Takes dev->hal_lock. */
int tern_sender_follow(struct tern_sender *v);
/** Adds a memory as the next slot, with a reference until the end. Requires dev->lock. -ENOMEM. */
int tern_sender_add(struct tern_sender *v, struct tern_memory *m);
/** Sends the changed pages of a block; none if the memory is gone. Errors of the stream and the hal. */
int tern_sender_send(struct tern_sender *v, uint32_t slot, uint32_t block);
/** Counts the pages that have changed since they were sent. */
int tern_sender_left(struct tern_sender *v, uint64_t *pages);
void tern_sender_end(struct tern_sender *v);

#endif
