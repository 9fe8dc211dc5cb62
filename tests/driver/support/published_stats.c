/* SPDX-License-Identifier: Apache-2.0 */
#include "published_stats.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct tern_stats published;

/** Copies the statistics of one moment to `published`. */
static bool published_read(const struct tern_stats *from)
{
    const uint64_t before = atomic_load(&from->sequence);
    memcpy(&published, from, sizeof published);
    atomic_thread_fence(memory_order_acquire);
    return before % 2 == 0 && before == atomic_load(&from->sequence);
}

bool published_until(bool (*condition)(void))
{
    char folder[200], path[256];
    bool good = false;
    tern_stats_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%ld-0.stats", folder, (long)getpid());
    const int fd = open(path, O_RDONLY);
    struct tern_stats *s = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *s, PROT_READ, MAP_SHARED, fd, 0);
    if (s == MAP_FAILED) {
        return false;
    }
    for (int ms = 0; !good && ms < PUBLISHED_PATIENCE; ms += 10) {
        good = published_read(s) && condition();
        if (!good) {
            usleep(10000);
        }
    }
    munmap(s, sizeof *s);
    close(fd);
    return good;
}
