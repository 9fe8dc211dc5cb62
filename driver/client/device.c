/* SPDX-License-Identifier: Apache-2.0 */
/** Opens and closes the device of a ternd, and answers queries. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/children.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/sized.h"
#include "base/thread.h"
#include "base/wait.h"
#include "client/client.h"
#include "wire/hello.h"

#define STALE_NS 5000000u /* largest age of the time that tern_device_time_seen returns, in ns */

/* ------------------------------------------------------------------ open, close */

static int map(struct tern_device *dev, int memory, const struct tern_wire_welcome *w)
{
    const size_t size = tern_wire_shared_bytes(w->connections);
    struct stat s;
    if (fstat(memory, &s) || s.st_size < (off_t)size) {
        return tern_error(-EPROTO, "the shared memory of ternd at %s is too small", dev->info.service);
    }
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (at == MAP_FAILED) {
        return tern_error(-ENOMEM, "the memory shared with ternd cannot be mapped: %s", strerror(errno));
    }
    madvise(at, size, MADV_DONTFORK);
    dev->shared = at;
    dev->submissions = (uint8_t *)at + TERN_WIRE_SUBMISSION_OFFSET;
    dev->completions = (const void *)((const uint8_t *)at + TERN_WIRE_COMPLETION_OFFSET);
    dev->connections_max = dev->most = w->connections;
    dev->queue_max = w->queue;
    memcpy(dev->token, w->token, sizeof dev->token);
    return 0;
}

static int init_locks(struct tern_device *dev)
{
    pthread_condattr_t attr;
    int r = pthread_condattr_init(&attr);
    if (r == 0) {
        r = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    }
    if (r == 0) {
        r = pthread_mutex_init(&dev->pool, NULL);
    }
    if (r == 0) {
        r = pthread_mutex_init(&dev->submit, NULL);
    }
    if (r == 0) {
        r = pthread_mutex_init(&dev->lock, NULL);
    }
    if (r == 0) {
        r = pthread_cond_init(&dev->returned, &attr);
    }
    if (r == 0) {
        r = pthread_cond_init(&dev->changed, &attr);
    }
    return r ? tern_error(-r, "locks cannot be made: %s", strerror(r)) : 0;
}

static void free_device(struct tern_device *dev)
{
    tern_call_close_all(dev);
    if (dev->session >= 0) {
        close(dev->session);
    }
    if (dev->nudge >= 0) {
        close(dev->nudge);
    }
    if (dev->shared) {
        munmap(dev->shared, tern_wire_shared_bytes(dev->connections_max));
    }
    free(dev);
}

static const char *one_of(const char *value)
{
    return value && *value ? value : NULL;
}

static int open_at(const char *path, struct tern_device **out)
{
    struct tern_device *dev = calloc(1, sizeof *dev);
    struct tern_wire_welcome welcome;
    int memory = -1;
    if (!dev) {
        return tern_error_memory("a device");
    }
    dev->api = &tern_client_api;
    dev->session = dev->nudge = -1;
    tern_list_init(&dev->processes);
    tern_list_init(&dev->queues);
    int r = 0;
    if (strlen(path) >= sizeof dev->info.service) {
        r = tern_error(-ENAMETOOLONG, "the path of ternd's socket, '%s', is longer than %zu bytes", path,
                       sizeof dev->info.service - 1);
        goto fail;
    }
    snprintf(dev->info.service, sizeof dev->info.service, "%s", path);
    const char *own = one_of(secure_getenv("TERN_PARTITION"));
    snprintf(dev->partition, sizeof dev->partition, "%s", own ? own : "");
    r = init_locks(dev);
    if (r) {
        goto fail;
    }
    dev->session = r = tern_client_connect(dev, TERN_WIRE_SESSION, &welcome, &memory);
    if (r < 0) {
        goto fail;
    }
    dev->info = welcome.info;
    snprintf(dev->info.service, sizeof dev->info.service, "%s", path);
    r = map(dev, memory, &welcome);
    close(memory);
    dev->nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r == 0 && dev->nudge < 0) {
        r = tern_error(-errno, "an eventfd cannot be made: %s", strerror(errno));
    }
    if (r == 0) {
        r = tern_client_watch(dev);
    }
    if (r) {
        goto fail;
    }
    r = tern_thread_start(&dev->thread, tern_client_pump, dev);
    if (r) {
        tern_fork_forget(&dev->fork);
        r = tern_error(r, "the thread for completions cannot be made: %s", strerror(-r));
        goto fail;
    }
    *out = dev;
    return 0;
fail:
    free_device(dev);
    return r;
}

/** True: a ternd listens at the path, and this user may connect. */
static bool listens(const char *path)
{
    struct stat s;
    const int fd = stat(path, &s) || !S_ISSOCK(s.st_mode) ? -1 : tern_hello_connect(path, 1);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

int tern_client_device_open(const char *backend, const char *config, struct tern_device **out)
{
    const char *named = one_of(secure_getenv("TERND_SOCKET"));
    if (named) {
        const int r = open_at(named, out);
        /* -ENOENT would tell the caller that a library is missing */
        return r == -ENOENT ? -ECONNREFUSED : r;
    }
    if (backend || config) {
        return 1;
    }
    const char *set = one_of(secure_getenv("TERN_BACKEND")) ? "TERN_BACKEND"
        : one_of(secure_getenv("TERN_CONFIG")) ? "TERN_CONFIG" : NULL;
    const char *run = one_of(secure_getenv("XDG_RUNTIME_DIR"));
    char own[sizeof ((struct tern_device_info *)0)->service];
    const int n = run ? snprintf(own, sizeof own, "%s/tern/ternd.sock", run) : 0;
    const char *const paths[] = {"/run/tern/ternd.sock", n > 0 && n < (int)sizeof own ? own : NULL};
    for (size_t i = 0; set && i < sizeof paths / sizeof *paths; i++) {
        if (paths[i] && listens(paths[i])) {
            fprintf(stderr, "tern: %s is set, so the program has a device of its own; the ternd at %s is not used: "
                    "unset %s for that\n", set, paths[i], set);
            break;
        }
    }
    for (size_t i = 0; !set && i < sizeof paths / sizeof *paths; i++) {
        const int r = paths[i] ? open_at(paths[i], out) : -ENOENT;
        if (r != -ENOENT && r != -ECONNREFUSED && r != -EACCES && r != -ENOTDIR) {
            return r;
        }
    }
    return 1;
}

int tern_client_device_close(struct tern_device *dev)
{
    if (dev->fork.inherited) {
        return tern_client_check(dev);
    }
    pthread_mutex_lock(&dev->lock);
    uint32_t left = 0;
    TERN_LIST_EACH(node, &dev->processes)
    {
        left++;
    }
    const bool queues = !tern_list_empty(&dev->queues);
    pthread_mutex_unlock(&dev->lock);
    const int r = tern_children_of_device(queues, left);
    if (r) {
        return r;
    }
    shutdown(dev->session, SHUT_RDWR);
    pthread_join(dev->thread, NULL);
    tern_fork_forget(&dev->fork);
    pthread_cond_destroy(&dev->changed);
    pthread_cond_destroy(&dev->returned);
    pthread_mutex_destroy(&dev->lock);
    pthread_mutex_destroy(&dev->submit);
    pthread_mutex_destroy(&dev->pool);
    free_device(dev);
    return 0;
}

bool tern_client_device_inherited(const struct tern_device *dev)
{
    return dev->fork.inherited;
}

int tern_client_device_query(const struct tern_device *dev, struct tern_device_info *out)
{
    return tern_sized_give(out, &dev->info, sizeof dev->info);
}

/* ------------------------------------------------------------------ time, counters */

/** Notes a device time. Another thread may have noted a later one first. Returns the later one. */
static uint64_t saw(struct tern_device *dev, uint64_t time)
{
    uint64_t now = atomic_load(&dev->now);
    while (now < time && !atomic_compare_exchange_weak(&dev->now, &now, time)) {
    }
    return tern_max_u64(now, time);
}

static uint64_t ask(struct tern_device *dev, uint32_t op)
{
    struct tern_wire_reply reply;
    if (tern_call(dev, op, 0, NULL, NULL, &reply)) {
        return atomic_load(&dev->now);
    }
    atomic_store(&dev->asked, tern_clock_ns());
    return saw(dev, reply.value[0]);
}

uint64_t tern_client_device_time(struct tern_device *dev)
{
    return dev->fork.inherited ? atomic_load(&dev->now) : ask(dev, TERN_WIRE_TIME);
}

uint64_t tern_client_device_time_seen(const struct tern_device *dev)
{
    struct tern_device *d = (struct tern_device *)(uintptr_t)dev; /* the remembered time is no state of the device */
    if (d->fork.inherited) {
        return atomic_load(&d->now);
    }
    const uint64_t told = atomic_load(&d->shared->now), now = tern_clock_ns();
    if (told != atomic_load(&d->now)) {
        atomic_store(&d->asked, now); /* ternd writes the time whenever work of this client begins or ends */
        return saw(d, told);
    }
    return now - atomic_load(&d->asked) < STALE_NS || atomic_load(&d->gone) ? told : ask(d, TERN_WIRE_TIME_SEEN);
}

int tern_client_device_counters(struct tern_device *dev, uint32_t engine, struct tern_engine_counters *out)
{
    struct tern_engine_counters counters = {0};
    struct tern_call call;
    int r = tern_call_begin(&call, dev, TERN_WIRE_COUNTERS, 0);
    if (r) {
        return r;
    }
    call.request.value[0] = engine;
    r = tern_call_do(&call);
    memcpy(&counters, call.slot, sizeof counters);
    tern_call_end(&call);
    return r ? r : tern_sized_give(out, &counters, sizeof counters);
}
