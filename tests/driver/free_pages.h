/* SPDX-License-Identifier: Apache-2.0 */
/** How much memory the device under test has left: what was taken must come back. */
#ifndef FREE_PAGES_H
#define FREE_PAGES_H

#include "os/os.h"

static inline uint32_t free_pages(struct tern_device *device)
{
    pthread_mutex_lock(&device->lock);
    const uint32_t n = tern_pages_free_count(device->partition.pages);
    pthread_mutex_unlock(&device->lock);
    return n;
}

#endif
