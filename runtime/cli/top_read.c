/* SPDX-License-Identifier: Apache-2.0 */
/** Reading statistics (top_read.h). */
#include "top_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define SYSTEM_FOLDER "/run/tern"

#define TRIES 10000

enum found { NOTHING, FOREIGN, GOOD };

/** Copies a consistent state (a seqlock). The writer takes microseconds; a version that stays odd belongs to a
 *  process that was killed. */
static bool copy(const struct tern_stats *from, struct tern_stats *to)
{
    for (int i = 0; i < TRIES; i++) {
        const uint64_t before = atomic_load_explicit(&from->sequence, memory_order_acquire);
        if (before % 2 == 0) {
            memcpy(to, from, sizeof *to);
            atomic_thread_fence(memory_order_acquire);
            if (atomic_load_explicit(&from->sequence, memory_order_relaxed) == before) {
                return true;
            }
        }
        sched_yield();
    }
    return false;
}

/** True: all numbers that are used as bounds are in range, whatever wrote the file. */
static bool sane(struct tern_stats *s)
{
    s->program[sizeof s->program - 1] = s->backend[sizeof s->backend - 1] = s->config[sizeof s->config - 1] = '\0';
    for (unsigned i = 0; i < TERN_STATS_ENGINES; i++) {
        s->engine[i].label[sizeof s->engine[i].label - 1] = '\0';
    }
    for (unsigned i = 0; i < TERN_STATS_CONTEXTS; i++) {
        s->context[i].name[sizeof s->context[i].name - 1] = '\0';
        s->context[i].process_name[sizeof s->context[i].process_name - 1] = '\0';
    }
    for (unsigned i = 0; i < TERN_STATS_PARTITIONS; i++) {
        s->partition[i].name[sizeof s->partition[i].name - 1] = '\0';
    }
    return s->engines <= TERN_STATS_ENGINES && s->listed <= TERN_STATS_CONTEXTS &&
           s->listed_partitions <= TERN_STATS_PARTITIONS;
}

static enum found read_fd(int fd, struct tern_stats *out)
{
    struct stat s;
    if (flock(fd, LOCK_SH | LOCK_NB) == 0 || fstat(fd, &s)) {
        return NOTHING; /* a file that is not locked belongs to a process that has ended */
    }
    if (s.st_uid != getuid() || (size_t)s.st_size < offsetof(struct tern_stats, sequence)) {
        return NOTHING;
    }
    struct tern_stats *map = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        return NOTHING;
    }
    enum found r = NOTHING;
    if (map->version != TERN_STATS_VERSION || map->size != sizeof *map || (size_t)s.st_size != sizeof *map) {
        r = map->magic == TERN_STATS_MAGIC ? FOREIGN : NOTHING;
    } else if (copy(map, out) && out->magic == TERN_STATS_MAGIC && sane(out)) {
        r = kill((pid_t)out->pid, 0) && errno == ESRCH ? NOTHING : GOOD;
    }
    munmap(map, (size_t)s.st_size);
    return r;
}

static int is_stats(const struct dirent *d)
{
    const size_t n = strlen(d->d_name);
    return n > 6 && strcmp(d->d_name + n - 6, ".stats") == 0;
}

/** Adds the devices of a folder. False: no memory. */
static bool read_folder(const char *path, struct top_list *out)
{
    struct dirent **names = NULL;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int n = folder < 0 ? 0 : scandirat(folder, ".", &names, is_stats, versionsort);
    struct tern_stats **more = realloc(out->item, (out->n + (n > 0 ? (size_t)n : 0) + 1) * sizeof *more);
    bool good = more != NULL;
    out->item = more ? more : out->item;
    for (int i = 0; i < n; i++) {
        struct tern_stats *s = good ? malloc(sizeof *s) : NULL;
        const int fd = s ? openat(folder, names[i]->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
        const enum found found = fd < 0 ? NOTHING : read_fd(fd, s);
        good = good && s;
        if (found == GOOD) {
            out->item[out->n++] = s;
        } else {
            free(s);
        }
        out->foreign += found == FOREIGN;
        if (fd >= 0) {
            close(fd);
        }
        free(names[i]);
    }
    free(names);
    if (folder >= 0) {
        close(folder);
    }
    return good;
}

/** Reads the user's own folder, and that of the machine's ternd, whose files only its user and root can read. */
bool top_read(struct top_list *out)
{
    char path[PATH_MAX];
    *out = (struct top_list){0};
    tern_stats_folder(path, sizeof path);
    return read_folder(path, out) && (strcmp(path, SYSTEM_FOLDER) == 0 || read_folder(SYSTEM_FOLDER, out));
}

void top_free(struct top_list *list)
{
    for (unsigned i = 0; list->item && i < list->n; i++) {
        free(list->item[i]);
    }
    free(list->item);
    *list = (struct top_list){0};
}

const struct tern_stats *top_find(const struct top_list *list, const struct tern_stats *same)
{
    for (unsigned i = 0; i < list->n; i++) {
        const struct tern_stats *s = list->item[i];
        /* the process may have opened another device since */
        const bool older = s->time <= same->time && s->updates <= same->updates;
        if (older && s->pid == same->pid && s->device == same->device) {
            return s;
        }
    }
    return NULL;
}
