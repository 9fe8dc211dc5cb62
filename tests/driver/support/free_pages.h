/* SPDX-License-Identifier: Apache-2.0 */
/** Free pages of the device under test, by which tests check that all memory is given back. */
#ifndef FREE_PAGES_H
#define FREE_PAGES_H

#include "os/state/state.h"

static inline uint32_t free_pages(struct tern_device *device)
{
    pthread_mutex_lock(&device->lock);
    const uint32_t n = tern_pages_free_count(device->partition.pages);
    pthread_mutex_unlock(&device->lock);
    return n;
}

#endif
