/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Cases in worker processes. A simulator that crashes is the result of one case and must not end the run, so workers
 * are processes, not threads. All workers share one page of counters and draw case numbers from it in order. Each
 * worker finishes the case that it has drawn, so the lowest case that differs does not depend on their speed. A case
 * that is too slow (guard.c) has no result and is reported apart from those that differ.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

struct shared {
    _Atomic uint64_t next, end;             /* cases [next, end) remain */
    _Atomic uint64_t cases, instructions, indications, faults, requests, taken, cycles;
    _Atomic uint32_t failures, slows;
    struct failure failure[MAX_FAILURES], slow[MAX_FAILURES];
    _Atomic uint64_t drawn[MAX_JOBS];       /* case that a worker runs, plus 1; 0: none */
    struct slow guard[MAX_JOBS];            /* set if the guard has ended the worker */
};

struct crew {
    const struct options *o;
    const struct pair *p;
    struct shared *shared;
    enum kind kind[KINDS];
    uint32_t kinds;
    pid_t pid[MAX_JOBS];
    uint32_t spawned;      /* workers started so far: numbers coverage files */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct test_case case_at(const struct crew *w, uint64_t index)
{
    return (struct test_case){.kind = w->kind[index % w->kinds], .seed = w->o->first_seed + index / w->kinds};
}

static void stop_after(struct shared *s, uint64_t index)
{
    uint64_t end = atomic_load(&s->end);
    while (index < end && !atomic_compare_exchange_weak(&s->end, &end, index)) {
    }
}

/** Adds a case to a list. */
static void put(const struct crew *w, uint64_t index, struct failure f, _Atomic uint32_t *count, struct failure *list)
{
    struct test_case c = case_at(w, index);
    uint32_t n = atomic_fetch_add(count, 1);
    f.index = index;
    f.kind = c.kind;
    f.seed = c.seed;
    if (n < MAX_FAILURES) {
        list[n] = f;
    }
    if (!w->o->keep_going) {
        stop_after(w->shared, index);
    }
}

static void fail(const struct crew *w, uint64_t index, const struct difference *d)
{
    put(w, index, (struct failure){.difference = *d}, &w->shared->failures, w->shared->failure);
}

static void fail_text(const struct crew *w, uint64_t index, const char *what, const char *why)
{
    struct difference d = {.kind = DIFF_CRASH};
    snprintf(d.text, sizeof d.text, "%s%s\n", what, why);
    fail(w, index, &d);
}

/* ------------------------------------------------------------- in a worker */

static void run_case(const struct crew *w, uint64_t index, struct cover *cover)
{
    struct shared *s = w->shared;
    struct test_case c = case_at(w, index);
    struct verdict v = {0};
    case_size(&c, &w->p->geometry);
    int r = case_compare(&c, w->p, cover, &v);
    if (r) {
        fail_text(w, index, "the case could not be run: ", strerror(-r));
    } else if (v.difference.kind != DIFF_NONE) {
        fail(w, index, &v.difference);
    }
    atomic_fetch_add(&s->cases, 1);
    atomic_fetch_add(&s->indications, v.indications);
    atomic_fetch_add(&s->faults, v.faults);
    atomic_fetch_add(&s->requests, v.requests);
    atomic_fetch_add(&s->taken, v.taken);
    atomic_fetch_add(&s->cycles, v.cycles);
    uint64_t done = atomic_fetch_add(&s->instructions, v.instructions) + v.instructions;
    if (w->o->instructions && done >= w->o->instructions) {
        stop_after(s, index + 1);
    }
}

/** Writes this process's coverage: functional bins, and the RTL's own counts if it was built with some. */
static int write_coverage(const struct crew *w, uint32_t worker, const struct cover *cover)
{
    char path[4096];
    struct tern_sim *sim = NULL;
    snprintf(path, sizeof path, "%s/%u.json", w->o->coverage, worker);
    int r = cover_write(cover, path);
    snprintf(path, sizeof path, "%s/%u.dat", w->o->coverage, worker);
    if (r == 0) {
        r = w->p->rtl.api->create(&(struct tern_sim_config){.mem_bytes = VERIFY_MEMORY}, &sim);
    }
    if (sim) {
        r = w->p->rtl.api->coverage(sim, path);
        w->p->rtl.api->destroy(sim);
    }
    return r == -ENOTSUP ? 0 : r;
}

static int work(const struct crew *w, uint32_t i, uint32_t worker)
{
    struct shared *s = w->shared;
    struct cover *cover = NULL;
    int r = w->o->coverage ? cover_create(&w->p->geometry, &cover) : 0;
    for (;!r;) {
        uint64_t index = atomic_fetch_add(&s->next, 1);
        if (index >= atomic_load(&s->end)) {
            break;
        }
        atomic_store(&s->drawn[i], index + 1);
        guard_start(w->o->patience, &s->guard[i]);
        run_case(w, index, cover);
        atomic_store(&s->drawn[i], 0);
    }
    r = r || !cover ? r : write_coverage(w, worker, cover);
    cover_destroy(cover);
    if (r) {
        fprintf(stderr, "tern verify: coverage in %s: %s\n", w->o->coverage, strerror(-r));
    }
    return r ? EXIT_CANNOT : 0;
}

/* ------------------------------------------------------------- in the parent */

pid_t child_fork(void (*interrupt)(int))
{
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        signal(SIGINT, interrupt);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(EXIT_CANNOT);
        }
    }
    return pid;
}

static int start(struct crew *w, uint32_t i)
{
    uint32_t worker = w->spawned++;
    pid_t pid = child_fork(SIG_IGN);
    if (pid == 0) {
        exit(work(w, i, worker));
    }
    w->pid[i] = pid > 0 ? pid : 0;
    return pid > 0 ? 0 : -errno;
}

/** Checks one worker, and starts another in its place if it died in a case. -errno: the run cannot go on. */
static int look(struct crew *w, uint32_t i)
{
    int status;
    if (!w->pid[i] || waitpid(w->pid[i], &status, WNOHANG) == 0) {
        return 0;
    }
    w->pid[i] = 0;
    uint64_t drawn = atomic_exchange(&w->shared->drawn[i], 0);
    if (!drawn) {
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
    }
    if (guard_ended(status)) {
        put(w, drawn - 1, (struct failure){.slow = w->shared->guard[i]}, &w->shared->slows, w->shared->slow);
    } else {
        fail_text(w, drawn - 1, "a simulator failed: ",
                  WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended the process");
    }
    atomic_fetch_add(&w->shared->cases, 1);
    return start(w, i);
}

static void progress(const struct crew *w, const char *title, double begin, bool last)
{
    const struct shared *s = w->shared;
    bool terminal = isatty(STDERR_FILENO);
    if (w->o->quiet) {
        return;
    }
    double seconds = seconds_now() - begin;
    uint64_t cases = atomic_load(&s->cases), all = w->o->seeds * w->kinds;
    double rate = seconds > 0 ? (double)cases / seconds : 0;
    char left[64] = "";
    if (w->o->minutes > 0) {
        double to_go = w->o->minutes * 60 - seconds;
        snprintf(left, sizeof left, ", %.0f s left", to_go > 0 ? to_go : 0);
    } else if (rate > 0) {
        double to_go = (double)(all - cases) / rate, done = (double)atomic_load(&s->instructions),
            goal = (double)w->o->instructions;
        if (goal > 0 && done > 0 && (goal - done) / done * seconds < to_go) {
            to_go = goal > done ? (goal - done) / done * seconds : 0;
        }
        if (all < MANY_SEEDS) {
            snprintf(left, sizeof left, " of %llu, %.0f s left", (unsigned long long)all, to_go);
        } else {
            snprintf(left, sizeof left, ", %.0f s left", to_go);
        }
    }
    if (last) {
        left[0] = '\0';
    }
    fprintf(stderr, "%s%s: %llu cases%s, %llu warp instructions, %.0f cases/s%s", terminal ? "\r\033[K" : "", title,
            (unsigned long long)cases, left, (unsigned long long)atomic_load(&s->instructions), rate,
            terminal && !last ? "" : "\n");
}

static bool working(const struct crew *w)
{
    for (uint32_t i = 0; i < w->o->jobs; i++) {
        if (w->pid[i]) {
            return true;
        }
    }
    return false;
}

static int watch_crew(struct crew *w, const char *title, double begin)
{
    double every = isatty(STDERR_FILENO) ? 0.2 : 5.0, told = begin;
    int r = 0;
    while (working(w)) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        for (uint32_t i = 0; i < w->o->jobs; i++) {
            int result = look(w, i);
            if (r == 0) {
                r = result;
            }
        }
        double time = seconds_now();
        if (r || interrupted || (w->o->minutes > 0 && time - begin > w->o->minutes * 60)) {
            stop_after(w->shared, 0);
        }
        if (time - told >= every) {
            progress(w, title, begin, false);
            told = time;
        }
    }
    progress(w, title, begin, true);
    return r;
}

static int by_index(const void *a, const void *b)
{
    const struct failure *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/** Returns a list sorted by index. *more: how many cases are not on it. NULL: out of memory. */
static struct failure *sorted(const struct crew *w, const struct failure *list, uint32_t all, uint32_t *count,
                              uint32_t *more)
{
    uint32_t n = all < MAX_FAILURES ? all : MAX_FAILURES;
    struct failure *out = calloc(n + 1, sizeof *out);
    if (!out) {
        return NULL;
    }
    memcpy(out, list, n * sizeof *out);
    qsort(out, n, sizeof *out, by_index);
    *count = !w->o->keep_going && n > 1 ? 1 : n;
    *more = w->o->keep_going ? all - n : 0;
    return out;
}

static int gather(const struct crew *w, struct campaign *out)
{
    const struct shared *s = w->shared;
    out->failure = sorted(w, s->failure, atomic_load(&s->failures), &out->failures, &out->more);
    out->slow = sorted(w, s->slow, atomic_load(&s->slows), &out->slows, &out->more_slow);
    if (!out->failure || !out->slow) {
        return -ENOMEM;
    }
    out->cases = atomic_load(&s->cases);
    out->instructions = atomic_load(&s->instructions);
    out->indications = atomic_load(&s->indications);
    out->faults = atomic_load(&s->faults);
    out->requests = atomic_load(&s->requests);
    out->taken = atomic_load(&s->taken);
    out->cycles = atomic_load(&s->cycles);
    out->interrupted = interrupted;
    return 0;
}

/** Returns the processor time of the children that have ended, in seconds. */
static double cpu_of_children(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

int campaign_run(const struct options *o, const struct pair *p, const char *title, struct campaign *out)
{
    struct crew w = {.o = o, .p = p};
    struct sigaction old, action = {.sa_handler = on_interrupt};
    *out = (struct campaign){0};
    for (enum kind k = 0; k < KINDS; k++) {
        if (o->kind[k]) {
            w.kind[w.kinds++] = k;
        }
    }
    if (o->coverage && mkdir(o->coverage, 0777) && errno != EEXIST) {
        fprintf(stderr, "tern verify: %s: %s\n", o->coverage, strerror(errno));
        return -errno;
    }
    w.shared = mmap(NULL, sizeof *w.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w.shared == MAP_FAILED) {
        return -ENOMEM;
    }
    atomic_store(&w.shared->end, o->minutes > 0 ? UINT64_MAX / 2 : o->seeds * w.kinds);
    interrupted = 0;
    sigaction(SIGINT, &action, &old);
    double begin = seconds_now(), cpu = cpu_of_children();
    int r = 0;
    for (uint32_t i = 0; i < o->jobs && !r; i++) {
        r = start(&w, i);
    }
    int watched = watch_crew(&w, title, begin);
    sigaction(SIGINT, &old, NULL);
    if (r == 0) {
        r = watched;
    }
    if (r == 0) {
        r = gather(&w, out);
    }
    out->seconds = seconds_now() - begin;
    out->cpu_seconds = cpu_of_children() - cpu;
    munmap(w.shared, sizeof *w.shared);
    return r;
}

void campaign_free_lists(struct campaign *c)
{
    free(c->failure);
    free(c->slow);
    c->failure = c->slow = NULL;
}

void campaign_free(struct campaign *c)
{
    campaign_free_lists(c);
    *c = (struct campaign){0};
}

int apart(int (*f)(void *user), void *user, uint32_t seconds, struct slow *slow)
{
    pid_t pid = child_fork(SIG_IGN);
    int status = -1;
    if (pid == 0) {
        guard_start(seconds, slow);
        _exit(f(user));
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : pid > 0 && guard_ended(status) ? -ETIME : -EIO;
}
