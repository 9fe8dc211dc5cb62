/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sparse memory (TERN_MEM_SPARSE): addresses without committed memory. A block is *committed* when it is first paged in
 * (pager.c) or written by the host (block.c), and stays committed until the memory is freed. From then on it counts
 * like a block of other memory, against the partition's device and host memory and against the account of the user. All
 * jobs of a process with sparse memory run in steps (demand.c), so that blocks that no work accesses are never
 * committed.
 *
 * Locks: functions require dev->lock.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "os/mem/mem.h"

/** Takes pages from the partition's limit and the user's account. -ENOSPC, with a sentence. */
static int take(struct tern_process *proc, uint32_t pages)
{
    const struct tern_partition *part = proc->partition;
    if (!tern_residency_may_commit(proc, pages)) {
        return tern_error(-ENOSPC, "of %" PRIu64 " KiB of device memory and host memory for evicted blocks, %" PRIu64
                          " are left", tern_pages_kib(part->count + part->host),
                          tern_pages_kib(part->count + part->host - part->committed));
    }
    return proc->account.take ? proc->account.take(proc->account.user, (uint64_t)pages * TERN_PAGE) : 0;
}

/** Says which pages of the allocation cannot be committed. -ENOSPC. */
static int lacks(const struct tern_allocation *a, uint32_t first, uint32_t pages)
{
    char why[200];
    snprintf(why, sizeof why, "%s", tern_last_error());
    return tern_error(-ENOSPC, "%" PRIu64 " KiB of sparse memory at 0x%08x cannot be committed: %s; destroy other "
                      "allocations, or touch less of this one", tern_pages_kib(pages), (a->va + first) * TERN_PAGE,
                      why);
}

static void count(struct tern_memory *m, uint32_t pages)
{
    m->committed += pages;
    m->partition->committed += pages;
}

bool tern_sparse_lacks(const struct tern_block *b)
{
    tern_assert_held(&b->m->dev->lock);
    return b->m->sparse && !b->committed;
}

int tern_sparse_commit(struct tern_block *b)
{
    tern_assert_held(&b->m->dev->lock);
    struct tern_memory *m = b->m;
    if (!tern_sparse_lacks(b)) {
        return 0;
    }
    if (!m->mapping_count) {
        return tern_error(-EIO, "the process was killed, and its memory is gone");
    }
    const struct tern_allocation *a = tern_memory_first(m);
    if (take(a->proc, b->pages)) {
        return lacks(a, b->first, b->pages);
    }
    b->committed = true;
    count(m, b->pages);
    return 0;
}

int tern_sparse_commit_all(struct tern_memory *m)
{
    tern_assert_held(&m->dev->lock);
    const struct tern_allocation *a = tern_memory_first(m);
    const uint32_t pages = m->sparse ? m->pages - m->committed : 0;
    if (pages && take(a->proc, pages)) {
        return lacks(a, 0, pages);
    }
    for (uint32_t i = 0; pages && i < m->block_count; i++) {
        m->blocks[i].committed = true;
    }
    count(m, pages);
    return 0;
}

void tern_sparse_end(struct tern_memory *m)
{
    tern_assert_held(&m->dev->lock);
    const struct tern_process *proc = tern_memory_first(m)->proc;
    if (m->sparse && proc->account.give) {
        proc->account.give(proc->account.user, (uint64_t)m->committed * TERN_PAGE);
    }
}
