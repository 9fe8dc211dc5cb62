/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes a chunk to its slot of the context's arena, where an engine fetches it.
 *
 * Each chunk of a process begins with a barrier packet, which invalidates the engine's caches, because the host and
 * other engines may have written memory before.
 */
#include "os/job/job.h"
#include "os/mem/mem.h"
#include "os/proc/proc.h"

#define PREFIX TERN_CHUNK_PREFIX

/** The pieces of a chunk: its prefix, the parts of packets in each run of the arena's pages, and data. */
struct pieces {
    struct tern_iovec piece[TERN_SLOT_PAGES + 1 + TERN_DATA_PAGES];
    size_t n;
};

static void add(struct pieces *p, const struct tern_allocation *to, uint64_t offset, const void *data, size_t size)
{
    const uint8_t *from = data;
    while (size) {
        uint64_t n, pa = tern_allocation_physical(to, offset, &n);
        n = n < size ? n : size;
        p->piece[p->n++] = (struct tern_iovec){pa, from, n};
        from += n;
        offset += n;
        size -= n;
    }
}

int tern_chunk_write(const struct tern_chunk *s)
{
    const struct tern_context *c = TERN_CONTEXT_OF(s->context);
    tern_assert_held(&c->proc->dev->hal_lock);
    struct pieces p = {.n = 0};
    uint32_t words[TERN_CHUNK_BYTES / 4 + PREFIX / 4];
    int r = tern_pkt_barrier_pack(&(struct tern_pkt_barrier){0}, words);
    tern_data_resolve(s, words + PREFIX / 4);
    if (s->box.size[0]) {
        tern_box_apply(&s->box, s->job->packets[s->start / 4] & TERN_PKT_OPCODE_MASK, words + PREFIX / 4);
    }
    add(&p, c->arena, (uint64_t)s->slot * TERN_SLOT_PAGES * TERN_PAGE, words, PREFIX + s->size);
    if (s->job->data_size) {
        add(&p, c->data, (uint64_t)s->slot * TERN_DATA_PAGES * TERN_PAGE, s->job->packets + s->job->size / 4,
            s->job->data_size);
    }
    return r ? r : tern_device_write(c->proc->dev, p.piece, p.n); /* one call for prefix, packets and data */
}
