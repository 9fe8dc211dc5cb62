/* SPDX-License-Identifier: Apache-2.0 */
/** Creation, update and removal of a statistics file (stats_file.h). */
#include "os/observe/stats_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base/thread.h"

#define PER_PROCESS_MAX 64 /* devices that a process publishes */

struct tern_stats_file {
    struct tern_stats *map;
    int fd; /* open as long as the device, because it holds the file's lock */
    char path[PATH_MAX];
};

/** Opens the user's folder, and makes it first if needed. -1: it cannot be used, or other users can write to it. */
static int open_folder(char path[PATH_MAX])
{
    struct stat s;
    tern_stats_folder(path, PATH_MAX);
    if (mkdir(path, 0700) && errno != EEXIST) {
        return -1;
    }
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &s) || s.st_uid != getuid() || (s.st_mode & 022))) {
        close(fd); /* another user could put files there */
        return -1;
    }
    return fd;
}

/** Removes a file that no process has locked: its process was killed. */
static void remove_dead(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        unlinkat(folder, name, 0);
    }
    close(fd);
}

static void remove_all_dead(int folder)
{
    const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* fdopendir takes it over */
    DIR *d = own < 0 ? NULL : fdopendir(own);
    for (struct dirent *e; d && (e = readdir(d));) {
        const size_t n = strlen(e->d_name);
        if (n > 6 && strcmp(e->d_name + n - 6, ".stats") == 0) {
            remove_dead(folder, e->d_name);
        }
    }
    if (d) {
        closedir(d);
    } else if (own >= 0) {
        close(own);
    }
}

/**
 * Sets the size of the file and allocates it on the disk. Otherwise, on a full disk, a write to the mapping would end
 * the program with SIGBUS.
 */
static bool make_room(int fd, size_t size)
{
    struct tern_file_limit limit;
    tern_file_limit_begin(&limit);
    const bool good = posix_fallocate(fd, 0, (off_t)size) == 0;
    tern_file_limit_end(&limit);
    return good;
}

/** Creates a file of this process that did not exist. The file is locked before it gets the name by which readers and
 *  other processes find it. */
static int create(struct tern_stats_file *f, const char *folder, uint32_t *device)
{
    char temporary[PATH_MAX];
    bool named = false;
    snprintf(temporary, sizeof temporary, "%.4000s/.new-XXXXXX", folder);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    const bool good = flock(fd, LOCK_EX | LOCK_NB) == 0 && make_room(fd, sizeof(struct tern_stats));
    for (int n = 0; good && !named && n < PER_PROCESS_MAX; n++) {
        snprintf(f->path, sizeof f->path, "%.4000s/%ld-%d.stats", folder, (long)getpid(), n);
        named = link(temporary, f->path) == 0;
        *device = (uint32_t)n;
    }
    unlink(temporary);
    if (!named) {
        close(fd);
        return -1;
    }
    return fd;
}

struct tern_stats_file *tern_stats_file_create(void)
{
    const char *set = secure_getenv("TERN_STATS");
    char path[PATH_MAX];
    uint32_t device = 0;
    if (set && strcmp(set, "0") == 0) {
        return NULL;
    }
    struct tern_stats_file *f = calloc(1, sizeof *f);
    const int folder = f ? open_folder(path) : -1;
    if (folder < 0) {
        free(f);
        return NULL;
    }
    remove_all_dead(folder);
    f->fd = create(f, path, &device);
    close(folder);
    void *map = f->fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *f->map, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
    if (map == MAP_FAILED) {
        if (f->fd >= 0) {
            unlink(f->path);
            close(f->fd);
        }
        free(f);
        return NULL;
    }
    f->map = map;
    f->map->version = TERN_STATS_VERSION;
    f->map->size = sizeof *f->map;
    f->map->pid = (uint32_t)getpid();
    f->map->device = device;
    snprintf(f->map->program, sizeof f->map->program, "%s", program_invocation_short_name);
    return f;
}

struct tern_stats *tern_stats_begin(struct tern_stats_file *f)
{
    const uint64_t s = atomic_load_explicit(&f->map->sequence, memory_order_relaxed);
    atomic_store_explicit(&f->map->sequence, s + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* the odd number is visible before the writes that follow */
    return f->map;
}

void tern_stats_end(struct tern_stats_file *f)
{
    const uint64_t s = atomic_load_explicit(&f->map->sequence, memory_order_relaxed);
    f->map->updates++;
    f->map->magic = TERN_STATS_MAGIC;
    atomic_store_explicit(&f->map->sequence, s + 1, memory_order_release);
}

void tern_stats_file_inherited(struct tern_stats_file *f)
{
    if (f) {
        munmap(f->map, sizeof *f->map);
        close(f->fd);
    }
}

void tern_stats_file_destroy(struct tern_stats_file *f)
{
    if (!f) {
        return;
    }
    if (f->map->pid == (uint32_t)getpid()) { /* a child of a fork leaves the file to its parent */
        unlink(f->path);
    }
    munmap(f->map, sizeof *f->map);
    close(f->fd);
    free(f);
}
