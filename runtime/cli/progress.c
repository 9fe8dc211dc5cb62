/* SPDX-License-Identifier: Apache-2.0 */
/** Progress of a command (progress.h). */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 79              /* a longer line wraps on a terminal of 80 columns, and cannot be overwritten */
#define EVERY_TERMINAL 0.25   /* interval of updates, in seconds */
#define EVERY 10.0

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void say(struct progress *p)
{
    char line[WIDTH + 1];
    const double time = now() - p->begun;
    int n = snprintf(line, sizeof line, "tern %s: [%u/%u] %s; %.0f s", p->command, p->step, p->steps, p->what, time);
    if (n < WIDTH && p->mark_work > 0) {
        /* The speed is that up to the last mark. Time since the mark is subtracted from the rest of this step, but
         * not from later steps. */
        const double speed = p->mark_work / p->mark_time, later = (p->all - p->done - p->work) / speed,
            rest = (p->all - p->mark_work) / speed - (time - p->mark_time), left = rest > later ? rest : later;
        snprintf(line + n, sizeof line - (size_t)n, ", %.0f s left", left > 0 ? left : 0);
    }
    fprintf(stderr, p->terminal ? "\r\033[K%s" : "%s\n", line);
    p->told = now();
    p->shown = p->terminal;
}

static void *tell(void *user)
{
    struct progress *p = user;
    const double every = p->terminal ? EVERY_TERMINAL : EVERY;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        struct timespec until;
        const double at = p->told + every;
        until.tv_sec = (time_t)at;
        until.tv_nsec = (long)((at - (double)until.tv_sec) * 1e9);
        pthread_cond_timedwait(&p->changed, &p->lock, &until);
        if (!p->stop && now() - p->told >= every) {
            say(p);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void end_thread(struct progress *p)
{
    if (p->running) {
        pthread_mutex_lock(&p->lock);
        p->stop = true;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
        p->running = p->stop = false;
    }
}

/** Notes the time at which `work` of all work was done. */
static void mark(struct progress *p, double work)
{
    p->mark_work = work;
    p->mark_time = now() - p->begun;
}

static void end_step(struct progress *p)
{
    end_thread(p);
    if (p->work > 0) {
        p->done += p->work;
        p->work = 0;
        mark(p, p->done);
    }
}

void progress_begin(struct progress *p, const char *command, unsigned steps, double all)
{
    pthread_condattr_t monotonic;
    *p = (struct progress){.command = command, .steps = steps, .all = all, .begun = now(),
                           .terminal = isatty(STDERR_FILENO)};
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void progress_step(struct progress *p, double work, const char *format, ...)
{
    va_list ap;
    end_step(p);
    p->work = work;
    p->step++;
    va_start(ap, format);
    vsnprintf(p->what, sizeof p->what, format, ap);
    va_end(ap);
    p->told = now();
    if (p->terminal || p->steps > 1) { /* a single step has nothing to report at its begin */
        say(p);
    }
    p->running = pthread_create(&p->thread, NULL, tell, p) == 0; /* without the thread there are fewer lines */
}

void progress_part(struct progress *p, double part)
{
    pthread_mutex_lock(&p->lock);
    mark(p, p->done + p->work * part);
    pthread_mutex_unlock(&p->lock);
}

void progress_hide(struct progress *p)
{
    end_step(p);
    if (p->shown) {
        fprintf(stderr, "\r\033[K");
        p->shown = false;
    }
}

void progress_end(struct progress *p)
{
    progress_hide(p);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}
