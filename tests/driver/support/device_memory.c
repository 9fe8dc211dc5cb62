/* SPDX-License-Identifier: Apache-2.0 */
#include "device_memory.h"

#include "check.h"

uint32_t free_pages(struct tern_device *device)
{
    pthread_mutex_lock(&device->lock);
    const uint32_t n = tern_pages_free_count(device->partition.pages);
    pthread_mutex_unlock(&device->lock);
    return n;
}

void expect_no_memory(struct tern_device *device, uint32_t pages)
{
    assert_int_equal(free_pages(device), pages);
    pthread_mutex_lock(&device->lock);
    assert_int_equal(device->process_count, 0);
    assert_int_equal(device->partition.committed, 0);
    assert_int_equal(device->partition.movable, 0);
    assert_true(tern_list_empty(&device->partition.shared));
    for (uint32_t i = 0; i < TERN_EXPORT_BUCKETS; i++) {
        assert_true(tern_list_empty(&device->exports[i]));
    }
    pthread_mutex_unlock(&device->lock);
}

uint64_t physical_of(const struct tern_allocation *a, uint64_t offset, uint64_t *contiguous)
{
    pthread_mutex_lock(&a->proc->dev->lock);
    const uint64_t address = tern_allocation_physical(a, offset, contiguous);
    pthread_mutex_unlock(&a->proc->dev->lock);
    return address;
}

void pages_scatter(struct tern_device *d, struct taken *t, uint32_t most)
{
    struct tern_run gap[4096];
    uint32_t gaps = 0;
    t->n = 0;
    pthread_mutex_lock(&d->lock);
    while (t->n < most && tern_pages_take(d->partition.pages, 1, &t->run[t->n]) == 0) {
        t->n++;
        if (tern_pages_take(d->partition.pages, 1 + t->n % 3, &gap[gaps]) == 0) {
            gaps++;
        }
    }
    while (gaps) {
        tern_pages_give(d->partition.pages, &gap[--gaps]);
    }
    pthread_mutex_unlock(&d->lock);
}

void pages_give_back(struct tern_device *d, struct taken *t)
{
    pthread_mutex_lock(&d->lock);
    while (t->n) {
        tern_pages_give(d->partition.pages, &t->run[--t->n]);
    }
    pthread_mutex_unlock(&d->lock);
}
