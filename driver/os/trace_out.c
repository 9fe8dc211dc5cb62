/* SPDX-License-Identifier: Apache-2.0 */
/** The file of a trace (trace_out.h). */
#include "os/trace_out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define OBJECT_MAX 2048u
#define TRIES 1000

struct tern_trace_out {
    struct tern_trace_out *next; /* in `open_files`, under its lock */
    pthread_mutex_t lock;        /* everything below */
    int fd;                      /* -1: closed, or failed */
    pid_t owner;
    bool any;
    size_t used;
    char path[PATH_MAX], buffer[1u << 16];
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

/** Not in the child of a fork: its parent goes on, and has the same text in its own buffer. */
static bool ours(const struct tern_trace_out *o)
{
    return o->owner == getpid();
}

static void drain(struct tern_trace_out *o)
{
    for (size_t at = 0; ours(o) && o->fd >= 0 && at < o->used;) {
        const ssize_t n = write(o->fd, o->buffer + at, o->used - at);
        if (n > 0) {
            at += (size_t)n;
        } else if (n < 0 && errno != EINTR) {
            fprintf(stderr, "tern: the trace %s ends here: %s\n", o->path, strerror(errno));
            close(o->fd);
            o->fd = -1;
        }
    }
    o->used = 0;
}

/** With %p replaced. False: too long. */
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

/** Opened and locked, or -errno. -EWOULDBLOCK: somebody else writes it. */
static int take(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    int r = fd < 0 ? -errno : 0;
    if (!r && (flock(fd, LOCK_EX | LOCK_NB) || ftruncate(fd, 0))) {
        r = errno == EINVAL ? 0 : -errno; /* a pipe cannot be cut, and need not be */
    }
    if (r && fd >= 0) {
        close(fd);
    }
    return r ? r : fd;
}

struct tern_trace_out *tern_trace_out_open(const char *name)
{
    char path[PATH_MAX];
    struct tern_trace_out *o = calloc(1, sizeof *o);
    if (!o || !expand(name, path)) {
        fprintf(stderr, "tern: no trace: %s\n", o ? "the name of the file is too long" : "out of memory");
        free(o);
        return NULL;
    }
    snprintf(o->path, sizeof o->path, "%s", path);
    o->fd = take(o->path);
    for (int i = 0; o->fd == -EWOULDBLOCK && i < TRIES; i++) {
        snprintf(o->path, sizeof o->path, "%.4000s.%ld-%d", path, (long)getpid(), i);
        o->fd = take(o->path);
    }
    if (o->fd < 0) {
        fprintf(stderr, "tern: no trace: %s: %s\n", o->path, strerror(-o->fd));
        free(o);
        return NULL;
    }
    pthread_mutex_init(&o->lock, NULL);
    o->owner = getpid();
    pthread_mutex_lock(&list_lock);
    o->next = open_files;
    open_files = o;
    pthread_mutex_unlock(&list_lock);
    return o;
}

void tern_trace_put(struct tern_trace_out *o, const char *format, ...)
{
    va_list ap;
    pthread_mutex_lock(&o->lock);
    if (o->fd >= 0) {
        if (sizeof o->buffer - o->used < OBJECT_MAX) {
            drain(o);
        }
        memcpy(o->buffer + o->used, o->any ? ",\n" : "[\n", 2);
        va_start(ap, format);
        const int n = vsnprintf(o->buffer + o->used + 2, OBJECT_MAX - 8, format, ap);
        va_end(ap);
        if (n > 0 && (size_t)n < OBJECT_MAX - 8) { /* callers bound their strings; half an object would spoil all */
            o->used += (size_t)n + 2;
            o->any = true;
        }
    }
    pthread_mutex_unlock(&o->lock);
}

void tern_trace_flush(struct tern_trace_out *o)
{
    pthread_mutex_lock(&o->lock);
    drain(o);
    pthread_mutex_unlock(&o->lock);
}

/** o->lock held. */
static void finish(struct tern_trace_out *o)
{
    if (o->fd >= 0) {
        const char *end = o->any ? "\n]\n" : "[]\n";
        memcpy(o->buffer + o->used, end, 3); /* there is always room for an object */
        o->used += 3;
        drain(o);
    }
    if (o->fd >= 0) {
        close(o->fd);
    }
    o->fd = -1;
}

void tern_trace_out_close(struct tern_trace_out *o)
{
    pthread_mutex_lock(&list_lock);
    for (struct tern_trace_out **p = &open_files; *p; p = &(*p)->next) {
        if (*p == o) {
            *p = o->next;
            break;
        }
    }
    pthread_mutex_unlock(&list_lock);
    if (ours(o)) {
        pthread_mutex_lock(&o->lock);
        finish(o);
        pthread_mutex_unlock(&o->lock);
        pthread_mutex_destroy(&o->lock);
    } else if (o->fd >= 0) { /* a thread that the child does not have may hold the lock */
        close(o->fd);
    }
    free(o);
}

void tern_trace_out_inherited(struct tern_trace_out *o)
{
    if (o->fd >= 0) {
        close(o->fd);
        o->fd = -1;
    }
}

/** A program that ends without closing its device still leaves a whole file. Other threads may go on until the very end. */
__attribute__((destructor)) static void finish_all(void)
{
    pthread_mutex_lock(&list_lock);
    for (struct tern_trace_out *o = open_files; o; o = o->next) {
        if (ours(o)) {
            pthread_mutex_lock(&o->lock);
            finish(o);
            pthread_mutex_unlock(&o->lock);
        }
    }
    pthread_mutex_unlock(&list_lock);
}
