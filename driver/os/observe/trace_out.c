/* SPDX-License-Identifier: Apache-2.0 */
/** The file of a trace (trace_out.h). */
#include "os/observe/trace_out.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/thread.h"
#include "base/wait.h"
#include "os/observe/trace_file.h"

#define OBJECT_MAX 2048u
#define CHUNK_BYTES (1u << 16)
#define CHUNKS_MAX (TERN_TRACE_BYTES / CHUNK_BYTES)
#define SPARE_CHUNKS_MAX 4u
#define NAMES_TRIED 1000
#define POLL_MS 20            /* interval in which the thread checks `abandoned` */
#define PATIENCE_MS 2000      /* time that a close waits for a file that takes nothing */
#define PATIENCE_ALL_MS 10000 /* time that a close waits for a file in all */
#define STALL_S 60            /* time that a close waits for a thread without progress, as in a write that hangs */

struct chunk {
    struct chunk *next;
    size_t used;
    char text[CHUNK_BYTES];
};

struct tern_trace_out {
    struct tern_trace_out *next; /* in the list open_files; guarded by list_lock */
    bool inherited;              /* this process is a child of a fork, whose parent has the trace; set at the fork */
    char path[PATH_MAX];
    atomic_int fd;               /* -1: a FIFO without a reader, closed, or failed. Only the thread sets it */
    atomic_bool abandoned;       /* the rest of the trace is lost, and nobody waits for it */
    atomic_bool closing;         /* a close waits for the end; set with `lock` held */
    _Atomic uint64_t progress;   /* number of writes that wrote something */
    uint64_t refused, refused_in_all; /* ns that the thread waited for the file: since progress, in all; the thread's */
    pthread_mutex_t lock;        /* guards all fields below; not held during writes */
    pthread_cond_t work, written;
    struct chunk *first, *last;  /* chunks to be written; the last one is still being filled */
    struct chunk *spare;         /* at most SPARE_CHUNKS_MAX free chunks */
    uint32_t spares;             /* number of free chunks */
    uint32_t chunks;             /* number of chunks in the list, and of the one being written */
    bool any, flush, failed, done; /* there is an object; write soon; a write failed; the thread has ended */
    bool dropping;               /* objects are dropped until half of the buffer is free */
    uint64_t dropped, dropped_in_all; /* numbers of dropped objects: since there was room, in all */
    uint32_t users;              /* number of users: the thread and the owner; the last one frees the object */
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tern_trace_out *open_files;

char *tern_trace_escape(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text && n + 3 < size; text++) {
        if (*text == '"' || *text == '\\') {
            out[n++] = '\\';
        }
        out[n++] = *text >= ' ' && *text < 127 ? *text : '?';
    }
    out[n] = '\0';
    return out;
}

/** Gives up the rest of the trace. */
static void give_up(struct tern_trace_out *o, const char *why)
{
    fprintf(stderr, "tern: the trace %s has no end: %s\n", o->path, why);
    atomic_store(&o->abandoned, true);
}

/* ---------------------------------------------------------------- the thread */

/**
 * Waits for a short time until the file takes bytes. fd is -1 for a FIFO without a reader. False: a close has waited
 * long enough. That is measured by the time for which the file has refused this thread. The time of the close would not
 * do, because a busy host may not let the thread run.
 */
static bool wait_for_file(struct tern_trace_out *o, int fd)
{
    const uint64_t begin = tern_clock_ns(), most = POLL_MS * 1000000u;
    poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, POLL_MS);
    const uint64_t took = tern_clock_ns() - begin;
    if (!atomic_load(&o->closing)) {
        return true;
    }
    o->refused += took < most ? took : most;
    o->refused_in_all += took < most ? took : most;
    if (o->refused < PATIENCE_MS * 1000000ull && o->refused_in_all < PATIENCE_ALL_MS * 1000000ull) {
        return true;
    }
    give_up(o, fd < 0 ? "the FIFO has no reader" : "what it is written to takes no more");
    return false;
}

/** Waits until a FIFO has a reader. False: the trace was abandoned, or the FIFO cannot be opened. */
static bool await_reader(struct tern_trace_out *o)
{
    const char *why = "";
    int fd = atomic_load(&o->fd);
    while (fd < 0 && !atomic_load(&o->abandoned)) {
        fd = tern_trace_file_open(o->path, &why);
        if (fd < 0 && fd != -ENXIO) {
            fprintf(stderr, "tern: no trace: %s: %s\n", o->path, why);
            return false;
        }
        if (fd < 0 && !wait_for_file(o, -1)) {
            return false;
        }
    }
    atomic_store(&o->fd, fd < 0 ? -1 : fd);
    return fd >= 0;
}

/** Writes a chunk. False: a write has failed, or the trace was abandoned. */
static bool write_all(struct tern_trace_out *o, const struct chunk *c)
{
    const int fd = atomic_load(&o->fd);
    for (size_t at = 0; at < c->used && !atomic_load(&o->abandoned);) {
        const ssize_t n = write(fd, c->text + at, c->used - at);
        if (n > 0) {
            at += (size_t)n;
            o->refused = 0;
            atomic_fetch_add(&o->progress, 1);
        } else if (n < 0 && errno == EAGAIN) {
            wait_for_file(o, fd);
        } else if (n < 0 && errno != EINTR) {
            fprintf(stderr, "tern: the trace %s ends here: %s\n", o->path, strerror(errno));
            return false;
        }
    }
    return !atomic_load(&o->abandoned);
}

static void release(struct tern_trace_out *o)
{
    pthread_mutex_lock(&o->lock);
    const bool last = --o->users == 0;
    pthread_mutex_unlock(&o->lock);
    if (last) {
        pthread_cond_destroy(&o->work);
        pthread_cond_destroy(&o->written);
        pthread_mutex_destroy(&o->lock);
        free(o);
    }
}

/** Takes the next chunk to be written. NULL: the array is complete. Requires o->lock. */
static struct chunk *take(struct tern_trace_out *o)
{
    tern_assert_held(&o->lock);
    while (!o->first || !(o->first->next || o->flush || o->closing)) {
        o->flush = false;
        if (o->closing) {
            return NULL;
        }
        pthread_cond_wait(&o->work, &o->lock);
    }
    struct chunk *c = o->first;
    o->first = c->next;
    if (!o->first) {
        o->last = NULL;
        o->flush = false; /* this chunk was the last one at the flush; later objects may wait */
    }
    return c;
}

/** Keeps a written chunk for reuse, so that a trace whose file keeps up allocates nothing. Requires o->lock. */
static void put_by(struct tern_trace_out *o, struct chunk *c)
{
    tern_assert_held(&o->lock);
    if (o->spares == SPARE_CHUNKS_MAX) {
        free(c);
        return;
    }
    c->next = o->spare;
    o->spare = c;
    o->spares++;
}

static void free_chunks(struct chunk *first)
{
    for (struct chunk *c = first, *next; c; c = next) {
        next = c->next;
        free(c);
    }
}

static void *write_chunks(void *user)
{
    struct tern_trace_out *o = user;
    bool good = true;
    pthread_mutex_lock(&o->lock);
    for (struct chunk *c; good && (c = take(o));) {
        pthread_mutex_unlock(&o->lock);
        good = await_reader(o) && write_all(o, c);
        pthread_mutex_lock(&o->lock);
        o->chunks--;
        put_by(o, c);
    }
    o->failed = !good;
    free_chunks(o->first);
    free_chunks(o->spare);
    o->first = o->last = o->spare = NULL;
    const int fd = atomic_exchange(&o->fd, -1);
    if (fd >= 0) {
        close(fd);
    }
    o->done = true;
    pthread_cond_broadcast(&o->written);
    pthread_mutex_unlock(&o->lock);
    release(o);
    return NULL;
}

/* ------------------------------------------------------------------ objects */

/** The chunk with room for one more object, or NULL. over: the limit may be exceeded, for the end of the array. o->lock
 *  held. */
static struct chunk *room(struct tern_trace_out *o, bool over)
{
    if (o->last && CHUNK_BYTES - o->last->used >= OBJECT_MAX) {
        return o->last;
    }
    struct chunk *c = NULL;
    if (o->chunks >= CHUNKS_MAX && !over) {
        return NULL;
    }
    if (o->spare) {
        c = o->spare;
        o->spare = c->next;
        o->spares--;
    } else {
        c = malloc(sizeof *c);
    }
    if (c) {
        c->next = NULL;
        c->used = 0;
        *(o->last ? &o->last->next : &o->first) = c;
        o->last = c;
        o->chunks++;
        pthread_cond_signal(&o->work); /* the chunk before it is complete */
    }
    return c;
}

__attribute__((format(printf, 2, 0))) static void append(struct tern_trace_out *o, const char *format, va_list ap)
{
    struct chunk *c = o->last;
    memcpy(c->text + c->used, o->any ? ",\n" : "[\n", 2);
    const int n = vsnprintf(c->text + c->used + 2, OBJECT_MAX - 8, format, ap);
    if (n > 0 && (size_t)n < OBJECT_MAX - 8) { /* half an object would make the whole file invalid */
        c->used += (size_t)n + 2;
        o->any = true;
    }
}

bool tern_trace_put(struct tern_trace_out *o, const char *format, ...)
{
    va_list ap;
    bool good = false;
    if (o->inherited) {
        return false;
    }
    pthread_mutex_lock(&o->lock);
    if (!o->closing && !o->failed) {
        good = !o->dropping && room(o, false);
        o->dropping = !good;
        o->dropped += !good;
        o->dropped_in_all += !good;
        if (good) {
            va_start(ap, format);
            append(o, format, ap);
            va_end(ap);
        }
    }
    pthread_mutex_unlock(&o->lock);
    return good;
}

uint64_t tern_trace_dropped(struct tern_trace_out *o)
{
    uint64_t n = 0;
    if (o->inherited) {
        return 0;
    }
    pthread_mutex_lock(&o->lock);
    if (o->dropping && o->chunks <= CHUNKS_MAX / 2) {
        n = o->dropped;
        o->dropped = 0;
        o->dropping = false;
    }
    pthread_mutex_unlock(&o->lock);
    return n;
}

void tern_trace_flush(struct tern_trace_out *o)
{
    if (!o->inherited) {
        pthread_mutex_lock(&o->lock);
        o->flush = true;
        pthread_cond_signal(&o->work);
        pthread_mutex_unlock(&o->lock);
    }
}

/* ---------------------------------------------------------------- life, death */

/** Replaces %p in the name. False: the path is too long. */
static bool expand(const char *name, char path[PATH_MAX])
{
    size_t n = 0;
    for (; *name && n < PATH_MAX - 32; name++) {
        if (name[0] == '%' && name[1] == 'p') {
            n += (size_t)snprintf(path + n, 24, "%ld", (long)getpid());
            name++;
        } else {
            path[n++] = *name;
        }
    }
    path[n] = '\0';
    return *name == '\0';
}

static TERN_LOCK_HANDED void before_fork(void)
{
    pthread_mutex_lock(&list_lock);
}

static TERN_LOCK_HANDED void after_fork(void)
{
    pthread_mutex_unlock(&list_lock);
}

/** Closes the files in the child of a fork, which does not have the threads. Otherwise a reader of a pipe would wait
 *  for the child's end as well. */
static TERN_LOCK_HANDED void in_child(void)
{
    for (struct tern_trace_out *o = open_files; o; o = o->next) {
        const int fd = atomic_load(&o->fd);
        if (!o->inherited && fd >= 0) {
            close(fd);
        }
        o->inherited = true;
    }
    pthread_mutex_unlock(&list_lock);
}

static int fork_error;

static void watch_forks(void)
{
    fork_error = pthread_atfork(before_fork, after_fork, in_child);
}

/** Starts the thread and adds the trace to the list. -errno. */
static int start(struct tern_trace_out *o)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_condattr_t attr;
    pthread_t thread;
    pthread_once(&once, watch_forks);
    pthread_mutex_init(&o->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&o->work, NULL);
    pthread_cond_init(&o->written, &attr);
    pthread_condattr_destroy(&attr);
    o->users = 2;
    const int r = fork_error ? -fork_error : tern_thread_start(&thread, write_chunks, o);
    if (r) {
        return r;
    }
    pthread_detach(thread);
    pthread_mutex_lock(&list_lock);
    o->next = open_files;
    open_files = o;
    pthread_mutex_unlock(&list_lock);
    return 0;
}

struct tern_trace_out *tern_trace_out_open(const char *name)
{
    const char *why = "out of memory";
    struct tern_trace_out *o = calloc(1, sizeof *o);
    if (!o || !expand(name, o->path)) {
        fprintf(stderr, "tern: no trace: %s\n", o ? "the name of the file is too long" : why);
        free(o);
        return NULL;
    }
    const size_t length = strlen(o->path);
    int fd = tern_trace_file_open(o->path, &why);
    for (int i = 0; fd == -EWOULDBLOCK && i < NAMES_TRIED; i++) {
        snprintf(o->path + length, sizeof o->path - length, ".%ld-%d", (long)getpid(), i);
        fd = tern_trace_file_open(o->path, &why);
    }
    if (fd < 0 && fd != -ENXIO) {
        fprintf(stderr, "tern: no trace: %s: %s\n", o->path, why);
        free(o);
        return NULL;
    }
    atomic_init(&o->fd, fd < 0 ? -1 : fd);
    const int r = start(o);
    if (r) {
        fprintf(stderr, "tern: no trace: its thread cannot be started: %s\n", strerror(-r));
        if (fd >= 0) {
            close(fd);
        }
        free(o);
        return NULL;
    }
    return o;
}

/** Ends the array. Requires o->lock. */
static void end_array(struct tern_trace_out *o)
{
    tern_assert_held(&o->lock);
    if (o->failed || !room(o, true)) {
        return;
    }
    struct chunk *c = o->last;
    int n = 0;
    if (o->dropped_in_all) {
        n = snprintf(c->text + c->used, OBJECT_MAX - 8,
                     "%s{\"ph\":\"M\",\"name\":\"dropped_events\",\"pid\":1,\"tid\":1,\"args\":{\"events\":%" PRIu64
                     "}}", o->any ? ",\n" : "[\n", o->dropped_in_all);
        o->any = true;
    }
    c->used += (size_t)n;
    c->used += (size_t)snprintf(c->text + c->used, 8, o->any ? "\n]\n" : "[]\n");
}

/** Waits, for a limited time, until the thread has ended. Requires o->lock. */
static void finish(struct tern_trace_out *o)
{
    tern_assert_held(&o->lock);
    if (!o->closing) {
        end_array(o);
        o->closing = true;
        pthread_cond_signal(&o->work);
        if (o->dropped_in_all) {
            fprintf(stderr, "tern: the trace %s lacks %" PRIu64 " events: what it is written to was too slow for "
                    "them\n", o->path, o->dropped_in_all);
        }
    }
    while (!o->done && !atomic_load(&o->abandoned)) {
        const uint64_t before = atomic_load(&o->progress);
        const struct timespec until = tern_deadline(STALL_S * 1000);
        const int r = pthread_cond_timedwait(&o->written, &o->lock, &until);
        if (r == ETIMEDOUT && !o->done && before == atomic_load(&o->progress)) {
            give_up(o, "its thread gets no further");
        }
    }
}

void tern_trace_out_close(struct tern_trace_out *o)
{
    if (o->inherited) {
        return;
    }
    pthread_mutex_lock(&list_lock);
    for (struct tern_trace_out **p = &open_files; *p; p = &(*p)->next) {
        if (*p == o) {
            *p = o->next;
            break;
        }
    }
    pthread_mutex_unlock(&list_lock);
    pthread_mutex_lock(&o->lock);
    finish(o);
    pthread_mutex_unlock(&o->lock);
    release(o);
}

/**
 * Completes the files of a program that ends without closing its devices. Other threads may still run. The priority
 * makes this run after the destructors that close devices.
 */
__attribute__((destructor(101))) static void finish_all(void)
{
    pthread_mutex_lock(&list_lock);
    for (struct tern_trace_out *o = open_files; o; o = o->next) {
        if (!o->inherited) {
            pthread_mutex_lock(&o->lock);
            finish(o);
            pthread_mutex_unlock(&o->lock);
        }
    }
    pthread_mutex_unlock(&list_lock);
}
