/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern bench submit: the host's cost of a submission.
 *
 * The bench measures the time of a dispatch of one work-item through OpenCL, from clEnqueueNDRangeKernel until clFinish
 * returns, and the time of a round trip between two threads over a mutex and two condition variables. Both depend on
 * the host and its other work. Their ratio depends much less on these, since the batches of both alternate, and since a
 * dispatch is a chain of threads that wake each other with little work between.
 *
 * Each is measured twice: with the threads where the host puts them, and with all of them on one processor. To wake a
 * thread on another processor costs several times as much if that processor sleeps, and whether it does is chance.
 *
 * The same dispatch by another program through a ternd is measured beside an empty request to it (submit_ternd.h).
 *
 * The number of threads that run for a dispatch, besides the waiting one, does not depend on the host's speed, and is
 * counted (submit_threads.h).
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "cli.h"
#include "json.h"
#include "median.h"
#include "progress.h"
#include "session.h"
#include "submit_ternd.h"
#include "submit_threads.h"
#include "tern/tern.h"

#define BATCHES 20u
#define WARM_UP 100u
#define COUNT 1000u
#define COUNT_FULL 20000u
#define COUNT_MOST 1000000u

static const char source[] = "kernel void tiny(global uint *out, uint value) { *out = value; }";

/* ------------------------------------------------------------------ a dispatch */

struct rig {
    struct session session;
    cl_program program;
    cl_kernel kernel;
    cl_mem out;
    cl_uint value; /**< Value that the last dispatch wrote. */
};

static bool rig_open(struct rig *r)
{
    cl_int err = CL_SUCCESS;
    if (!session_open(&r->session, "bench submit")) {
        return false;
    }
    r->program = session_build(&r->session, source, strlen(source), SESSION_SOURCE, "");
    if (!r->program) {
        return false;
    }
    r->kernel = clCreateKernel(r->program, "tiny", &err);
    if (session_failed(&r->session, err, "clCreateKernel")) {
        return false;
    }
    r->out = clCreateBuffer(r->session.context, CL_MEM_READ_WRITE, sizeof(cl_uint), NULL, &err);
    if (session_failed(&r->session, err, "clCreateBuffer")) {
        return false;
    }
    return !session_failed(&r->session, clSetKernelArg(r->kernel, 0, sizeof(cl_mem), &r->out), "clSetKernelArg");
}

static void rig_close(struct rig *r)
{
    if (r->out) {
        clReleaseMemObject(r->out);
    }
    if (r->kernel) {
        clReleaseKernel(r->kernel);
    }
    if (r->program) {
        clReleaseProgram(r->program);
    }
    session_close(&r->session);
}

/** Measures n dispatches, one after another, in microseconds each. */
static bool dispatches(struct rig *r, double *us, unsigned n)
{
    const size_t one = 1;
    for (unsigned i = 0; i < n; i++) {
        r->value++;
        cl_int err = clSetKernelArg(r->kernel, 1, sizeof r->value, &r->value);
        const double begin = host_seconds();
        if (err == 0) {
            err = clEnqueueNDRangeKernel(r->session.queue, r->kernel, 1, NULL, &one, &one, 0, NULL, NULL);
        }
        if (err == 0) {
            err = clFinish(r->session.queue);
        }
        us[i] = (host_seconds() - begin) * 1e6;
        if (session_failed(&r->session, err, "a dispatch")) {
            return false;
        }
    }
    cl_uint got = 0;
    cl_int err = clEnqueueReadBuffer(r->session.queue, r->out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL);
    if (session_failed(&r->session, err, "reading the result")) {
        return false;
    }
    if (got != r->value) {
        fprintf(stderr, "tern bench submit: dispatch %u left %u behind\n", r->value, got);
    }
    return got == r->value;
}

/* ---------------------------------------------------------------- a round trip */

struct partner {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked, answered;
    unsigned long question, answer;
    bool end;
};

static void *partner_run(void *user)
{
    struct partner *p = user;
    pthread_mutex_lock(&p->lock);
    while (!p->end) {
        if (p->answer == p->question) {
            pthread_cond_wait(&p->asked, &p->lock);
        } else {
            p->answer = p->question;
            pthread_cond_signal(&p->answered);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static bool partner_start(struct partner *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->asked, NULL);
    pthread_cond_init(&p->answered, NULL);
    const int e = pthread_create(&p->thread, NULL, partner_run, p);
    if (e) {
        fprintf(stderr, "tern bench submit: no thread: %s\n", strerror(e));
    }
    return e == 0;
}

static void partner_end(struct partner *p)
{
    pthread_mutex_lock(&p->lock);
    p->end = true;
    pthread_cond_signal(&p->asked);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
}

/** Measures n round trips, in microseconds each. */
static void round_trips(struct partner *p, double *us, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const double begin = host_seconds();
        pthread_mutex_lock(&p->lock);
        p->question++;
        pthread_cond_signal(&p->asked);
        while (p->answer != p->question) {
            pthread_cond_wait(&p->answered, &p->lock);
        }
        pthread_mutex_unlock(&p->lock);
        us[i] = (host_seconds() - begin) * 1e6;
    }
}

/* -------------------------------------------------------------------- the suite */

enum { EMBEDDED, TRIP, TERND, NOP, MEASURED };

/** Samples of each kind: microseconds of each, and the threads that ran in each batch. */
struct samples {
    double *us[MEASURED], threads[MEASURED][BATCHES];
};

struct suite {
    struct rig *rig;
    struct partner *partner;
    struct through_ternd *ternd;
    struct progress *progress;
    unsigned count;
};

/** Collects the threads that may take part in work of kind i, except the waiting one. */
static bool threads_of(const struct suite *s, unsigned i, struct submit_threads *out)
{
    out->n = 0;
    return submit_threads_add(out, i == TERND ? s->ternd->program : getpid(), true) &&
           (i == EMBEDDED || i == TRIP || submit_threads_add(out, s->ternd->ternd, false));
}

/** Measures n of kind i, with microseconds at us. */
static bool measure_some(const struct suite *s, unsigned i, unsigned n, double *us)
{
    switch (i) {
    case EMBEDDED:
        return dispatches(s->rig, us, n);
    case TRIP:
        round_trips(s->partner, us, n);
        return true;
    case TERND:
        return through_ternd_dispatches(s->ternd, us, n);
    default:
        return through_ternd_requests(s->ternd, us, n);
    }
}

static bool measure_batch(const struct suite *s, struct samples *x, unsigned batch, unsigned done, unsigned n)
{
    static struct submit_threads before, after;
    for (unsigned i = 0; i < MEASURED; i++) {
        if (!threads_of(s, i, &before) || !measure_some(s, i, n, x->us[i] + done) || !threads_of(s, i, &after)) {
            return false;
        }
        x->threads[i][batch] = submit_threads_ran(&before, &after, n);
    }
    return true;
}

static bool measure(const struct suite *s, struct samples *x, const char *where)
{
    static double warm[WARM_UP];
    bool good = true;
    progress_step(s->progress, 1, "%s", where);
    for (unsigned i = 0; good && i < MEASURED; i++) {
        good = measure_some(s, i, WARM_UP, warm);
    }
    for (unsigned b = 0, done = 0; good && b < BATCHES; b++) {
        const unsigned n = (s->count - done) / (BATCHES - b);
        good = measure_batch(s, x, b, done, n);
        done += n;
        progress_part(s->progress, (b + 1.0) / BATCHES);
    }
    return good;
}

/** Medians of microseconds and of threads. */
struct figures {
    double us[MEASURED], threads[MEASURED];
};

static struct figures figures(struct samples *x, unsigned count)
{
    struct figures f;
    for (unsigned i = 0; i < MEASURED; i++) {
        median_sort(x->us[i], count);
        f.us[i] = median_mean(x->us[i], count);
        median_sort(x->threads[i], BATCHES);
        f.threads[i] = median_upper(x->threads[i], BATCHES);
    }
    return f;
}

static void print_text(const struct figures *f, const char *where)
{
    static const char *const names[MEASURED] = {"a dispatch of one work-item, from enqueue to finished",
        "a round trip between two threads", "a dispatch through ternd", "an empty request to ternd"};
    printf("\n%s:\n", where);
    for (unsigned i = 0; i < MEASURED; i++) {
        printf("%-53s %9.1f us, other threads: %.0f\n", names[i], f->us[i], f->threads[i]);
    }
    printf("a dispatch takes as long as                           %9.2f round trips\n", f->us[EMBEDDED] / f->us[TRIP]);
    printf("a dispatch through ternd takes as long as             %9.2f dispatches\n", f->us[TERND] / f->us[EMBEDDED]);
}

static double hundredths(double x)
{
    return (double)(long)(x * 100 + 0.5) / 100;
}

static void add(cJSON *o, const struct figures *f)
{
    static const char *const names[MEASURED][2] = {{"embedded_us", "embedded_threads"},
        {"thread_round_trip_us", "thread_round_trip_threads"}, {"ternd_us", "ternd_threads"},
        {"null_round_trip_us", "null_round_trip_threads"}};
    for (unsigned i = 0; i < MEASURED; i++) {
        cJSON_AddNumberToObject(o, names[i][0], hundredths(f->us[i]));
        cJSON_AddNumberToObject(o, names[i][1], f->threads[i]);
    }
    cJSON_AddNumberToObject(o, "round_trips", hundredths(f->us[EMBEDDED] / f->us[TRIP]));
}

static int print(const cl_tern_counters *config, const struct figures *spread, const struct figures *one,
                 unsigned count, bool json)
{
    if (!json) {
        printf("backend %s, device %s: medians of %u; threads that run besides the one that waits\n",
               config->backend, config->config, count);
        print_text(spread, "threads where the host puts them");
        print_text(one, "all threads on one processor");
        return EXIT_OK;
    }
    cJSON *o = cJSON_CreateObject();
    json_add_config(o, config);
    cJSON_AddNumberToObject(o, "count", count);
    add(o, spread);
    add(cJSON_AddObjectToObject(o, "one_processor"), one);
    return json_print("bench submit", o);
}

/** Keeps all threads of a program on the processor of the calling thread. */
static bool keep_here(pid_t pid)
{
    cpu_set_t one;
    char path[64];
    const int here = sched_getcpu();
    CPU_ZERO(&one);
    if (here >= 0 && here < CPU_SETSIZE) {
        CPU_SET((unsigned)here, &one);
    }
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *threads = opendir(path);
    bool kept = threads != NULL;
    for (const struct dirent *d; kept && (d = readdir(threads)) != NULL;) {
        if (*d->d_name != '.') { /* A thread that has ended meanwhile is ignored. */
            kept = !sched_setaffinity((pid_t)strtol(d->d_name, NULL, 10), sizeof one, &one) || errno == ESRCH;
        }
    }
    if (!kept) {
        fprintf(stderr, "tern bench submit: cannot stay on one processor: %s\n", strerror(errno));
    }
    if (threads) {
        closedir(threads);
    }
    return kept;
}

static int measure_all(const struct suite *s, bool json)
{
    struct samples x = {0};
    double *all = calloc(MEASURED * (size_t)s->count, sizeof *all);
    int status = EXIT_FAILED;
    if (!all) {
        fprintf(stderr, "tern bench submit: out of memory\n");
        return status;
    }
    for (unsigned i = 0; i < MEASURED; i++) {
        x.us[i] = all + i * (size_t)s->count;
    }
    if (measure(s, &x, "on any processors")) {
        const struct figures spread = figures(&x, s->count);
        /* This program comes first: the others are kept on its processor. */
        if (keep_here(getpid()) && keep_here(s->ternd->ternd) && keep_here(s->ternd->program) &&
            measure(s, &x, "on one processor")) {
            const struct figures one = figures(&x, s->count);
            progress_hide(s->progress);
            status = print(&s->rig->session.config, &spread, &one, s->count, json);
        }
    }
    free(all);
    return status;
}

static struct through_ternd through;

static void interrupted(void)
{
    through_ternd_end(&through);
}

/** The devices are the bench's own: this program's, and that of the ternd that it starts. If TERND_SOCKET names a
 *  ternd, both get its backend and configuration, and a message says so. */
static bool as_ternd(void)
{
    const char *socket = getenv("TERND_SOCKET");
    struct tern_device_info info = {.size = sizeof info};
    struct tern_device *dev = NULL;
    if (!socket || !*socket) {
        return true;
    }
    const int r = tern_device_open(NULL, NULL, &dev);
    if (r || tern_device_query(dev, &info)) {
        fprintf(stderr, "tern bench submit: %s\n", tern_last_error());
    } else {
        fprintf(stderr, "tern bench submit: backend %s, device %s, as of the ternd at %s; the bench starts its own\n",
                info.backend, info.config, socket);
    }
    const bool good = dev && *info.backend && !setenv("TERN_BACKEND", info.backend, 1) &&
        !setenv("TERN_CONFIG", info.config, 1);
    if (dev) {
        tern_device_close(dev);
    }
    unsetenv("TERND_SOCKET");
    return good;
}

static int run(unsigned count, bool json)
{
    static struct rig rig;
    static struct partner partner;
    struct progress progress;
    const struct suite s = {&rig, &partner, &through, &progress, count};
    int status = EXIT_FAILED;
    exit_at_interrupt("bench submit", interrupted);
    if (!as_ternd()) {
        return EXIT_FAILED;
    }
    backend_prefer_model("bench submit");
    progress_begin(&progress, "bench submit", 2, 2);
    if (rig_open(&rig) && partner_start(&partner)) {
        if (through_ternd_open(&through)) {
            status = measure_all(&s, json);
        }
        through_ternd_close(&through);
        partner_end(&partner);
    }
    progress_end(&progress);
    rig_close(&rig);
    return status;
}

/** The program that dispatches through ternd: it reads a number and writes that many times. */
static int serve(void)
{
    static struct rig rig;
    unsigned n;
    bool good = rig_open(&rig);
    while (good && read(STDIN_FILENO, &n, sizeof n) == sizeof n) {
        double *us = calloc(n ? n : 1, sizeof *us);
        const size_t size = n * sizeof *us;
        size_t sent = 0;
        good = us && dispatches(&rig, us, n);
        while (good && sent < size) {
            const ssize_t part = write(STDOUT_FILENO, (char *)us + sent, size - sent);
            good = part > 0;
            sent += good ? (size_t)part : 0;
        }
        free(us);
    }
    rig_close(&rig);
    return good ? EXIT_OK : EXIT_FAILED;
}

static void help(void)
{
    printf("usage: tern bench submit [--full | --count N] [--json]\n\n"
           "Measures what submission costs the host: the time of a dispatch of one work-item from enqueue\n"
           "to finished, in this program and through a ternd that it starts; that of a round trip between two threads "
           "that wait\n"
           "for each other, and of an empty request to ternd. All by the clock of the host; compare them only with "
           "each other.\n"
           "And how many threads run for each of these besides the one that waits. On the functional model unless "
           "TERN_BACKEND says\n"
           "otherwise, or TERND_SOCKET names a ternd, whose backend and configuration it takes then: the time that the "
           "device takes is in\n"
           "a dispatch.\n\n"
           "  --full     %u of each\n"
           "  --count N  so many of each, %u to %u (%u)\n"
           "  --json     one JSON object\n\n"
           "Exit: 0 all right; 1 a result is wrong or the device failed; 2 wrong usage; 130 interrupted.\n",
           COUNT_FULL, BATCHES, COUNT_MOST, COUNT);
}

static int command(int argc, char **argv)
{
    unsigned long count = COUNT;
    const char *counted = NULL;
    bool json = false, full = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            help();
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--dispatches") == 0) {
            return serve();
        }
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--full") == 0) {
            full = true;
        } else if (strcmp(argv[i], "--count") == 0) {
            char *end = NULL;
            counted = ++i < argc ? argv[i] : "";
            errno = 0;
            count = *counted >= '0' && *counted <= '9' ? strtoul(counted, &end, 10) : 0;
            if (!end || *end || errno || count < BATCHES || count > COUNT_MOST) {
                return usage_error("bench submit", "--count takes a number from %u to %u, not '%s'", BATCHES,
                                   COUNT_MOST, counted);
            }
        } else {
            return usage_error("bench submit", "unknown argument '%s'", argv[i]);
        }
    }
    if (full && counted) {
        return usage_error("bench submit", "--full is %u of each; --count %s has no meaning with it", COUNT_FULL,
                           counted);
    }
    return run(full ? COUNT_FULL : (unsigned)count, json);
}

int main(int argc, char **argv)
{
    return exit_status(command(argc, argv));
}
