/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern bench submit: what submission costs the host. The time of a dispatch of one work-item through OpenCL, from
 * clEnqueueNDRangeKernel until clFinish returns, beside that of a round trip between two threads over a mutex and two
 * condition variables. Both depend on the host and on what else it does; their ratio much less, since the batches of
 * both take turns: a dispatch is a chain of threads that wake each other, and little work between. Twice: with the
 * threads on the processors where the host puts them, and with all of them on one. To wake a thread on another
 * processor costs several times as much if that one sleeps, and which of the two measurements the host spreads is
 * chance. And the same dispatch by another program through a ternd, beside an empty request to it (submit_ternd.h).
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "median.h"
#include "session.h"
#include "submit_ternd.h"

#define BATCHES 20u
#define WARM_UP 100u

static const char source[] = "kernel void tiny(global uint *out, uint value) { *out = value; }";

/* ------------------------------------------------------------------ a dispatch */

struct rig {
    struct session session;
    cl_program program;
    cl_kernel kernel;
    cl_mem out;
    cl_uint value; /**< Of the last dispatch. */
};

static bool rig_open(struct rig *r)
{
    cl_int err = CL_SUCCESS;
    if (!session_open(&r->session, "bench submit")) {
        return false;
    }
    r->program = session_build(&r->session, source, strlen(source), false, "");
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

/** Microseconds of n dispatches, one after another. */
static bool dispatches(struct rig *r, double *us, unsigned n)
{
    const size_t one = 1;
    for (unsigned i = 0; i < n; i++) {
        r->value++;
        cl_int err = clSetKernelArg(r->kernel, 1, sizeof r->value, &r->value);
        const double begin = host_seconds();
        err = err ? err : clEnqueueNDRangeKernel(r->session.queue, r->kernel, 1, NULL, &one, &one, 0, NULL, NULL);
        err = err ? err : clFinish(r->session.queue);
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

/** Microseconds of n round trips. */
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

#define MEASURED 4u

/** n of each, from us[i][at] on: dispatches, round trips, dispatches through ternd, empty requests to it. */
static bool measure_batch(struct rig *r, struct partner *p, struct through_ternd *t, unsigned n, double *us[MEASURED],
                          unsigned at)
{
    if (!dispatches(r, us[0] + at, n)) {
        return false;
    }
    round_trips(p, us[1] + at, n);
    return through_ternd_dispatches(t, us[2] + at, n) && through_ternd_requests(t, us[3] + at, n);
}

static bool measure(struct rig *r, struct partner *p, struct through_ternd *t, unsigned count, double *us[MEASURED])
{
    static double warm[MEASURED][WARM_UP];
    bool good = measure_batch(r, p, t, WARM_UP, (double *[]){warm[0], warm[1], warm[2], warm[3]}, 0);
    for (unsigned b = 0, done = 0; good && b < BATCHES; b++) {
        const unsigned n = (count - done) / (BATCHES - b);
        good = measure_batch(r, p, t, n, us, done);
        done += n;
    }
    return good;
}

/** Medians, in microseconds. */
struct figures {
    double embedded, trip, ternd, null;
};

static struct figures figures(double *us[MEASURED], unsigned count)
{
    double m[MEASURED];
    for (unsigned i = 0; i < MEASURED; i++) {
        median_sort(us[i], count);
        m[i] = median_mean(us[i], count);
    }
    return (struct figures){m[0], m[1], m[2], m[3]};
}

static void print_text(const struct figures *f, const char *where)
{
    printf("\n%s:\n", where);
    printf("a dispatch of one work-item, from enqueue to finished %9.1f us\n", f->embedded);
    printf("a round trip between two threads                      %9.1f us\n", f->trip);
    printf("a dispatch takes as long as                           %9.2f round trips\n", f->embedded / f->trip);
    printf("a dispatch through ternd                              %9.1f us\n", f->ternd);
    printf("an empty request to ternd                             %9.1f us\n", f->null);
    printf("a dispatch through ternd takes as long as             %9.2f dispatches\n", f->ternd / f->embedded);
}

static void add(cJSON *o, const struct figures *f)
{
    cJSON_AddNumberToObject(o, "embedded_us", (double)(long)(f->embedded * 100 + 0.5) / 100);
    cJSON_AddNumberToObject(o, "thread_round_trip_us", (double)(long)(f->trip * 100 + 0.5) / 100);
    cJSON_AddNumberToObject(o, "ternd_us", (double)(long)(f->ternd * 100 + 0.5) / 100);
    cJSON_AddNumberToObject(o, "null_round_trip_us", (double)(long)(f->null * 100 + 0.5) / 100);
    cJSON_AddNumberToObject(o, "round_trips", (double)(long)(f->embedded / f->trip * 100 + 0.5) / 100);
}

static int print(const cl_tern_counters *config, const struct figures *spread, const struct figures *one,
                 unsigned count, bool json)
{
    if (!json) {
        printf("%s, %s: medians of %u\n", config->backend, config->config, count);
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

/** Keeps all threads of a program on the processor where this one is. */
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
        if (*d->d_name != '.') { /* one that has ended meanwhile does not matter */
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

static int measure_all(struct rig *r, struct partner *p, struct through_ternd *t, unsigned count, bool json)
{
    double *us[MEASURED] = {0}, *all = calloc(MEASURED * (size_t)count, sizeof *all);
    int status = EXIT_FAILED;
    if (!all) {
        fprintf(stderr, "tern bench submit: out of memory\n");
        return status;
    }
    for (unsigned i = 0; i < MEASURED; i++) {
        us[i] = all + i * (size_t)count;
    }
    if (measure(r, p, t, count, us)) {
        const struct figures spread = figures(us, count);
        /* ours first: the others are then kept where it is */
        if (keep_here(getpid()) && keep_here(t->ternd) && keep_here(t->program) && measure(r, p, t, count, us)) {
            const struct figures one = figures(us, count);
            status = print(&r->session.config, &spread, &one, count, json);
        }
    }
    free(all);
    return status;
}

static int run(unsigned count, bool json)
{
    static struct rig rig;
    static struct partner partner;
    static struct through_ternd through;
    int status = EXIT_FAILED;
    unsetenv("TERND_SOCKET"); /* this program's device is its own, */
    setenv("TERN_BACKEND", "rtl", 0); /* whatever ternd runs here */
    if (rig_open(&rig) && partner_start(&partner)) {
        if (through_ternd_open(&through)) {
            status = measure_all(&rig, &partner, &through, count, json);
        }
        through_ternd_close(&through);
        partner_end(&partner);
    }
    rig_close(&rig);
    return status;
}

/** The program that dispatches through ternd: numbers come in, so many times go out. */
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
    printf("usage: tern bench submit [--json] [--count N]\n\n"
           "Measures what submission costs the host: the time of a dispatch of one work-item (TERN_BACKEND, "
           "TERN_CONFIG) from enqueue\n"
           "to finished, in this program and through a ternd that it starts; that of a round trip between two threads "
           "that wait\n"
           "for each other, and of an empty request to ternd. All by the clock of the host; compare them only with "
           "each other.\n\n"
           "  --json     one JSON object\n"
           "  --count N  so many of each, 20 to 1000000 (1000)\n\n"
           "Exit: 0 all right; 1 a result is wrong or the device failed; 2 wrong usage.\n");
}

static int command(int argc, char **argv)
{
    unsigned long count = 1000;
    bool json = false;
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
        } else if (strcmp(argv[i], "--count") == 0) {
            const char *text = ++i < argc ? argv[i] : "";
            char *end = NULL;
            errno = 0;
            count = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
            if (!end || *end || errno || count < BATCHES || count > 1000000) {
                return usage_error("bench submit", "--count takes a number from %u to 1000000, not '%s'", BATCHES,
                                   text);
            }
        } else {
            return usage_error("bench submit", "unknown argument '%s'", argv[i]);
        }
    }
    return run((unsigned)count, json);
}

int main(int argc, char **argv)
{
    return exit_status(command(argc, argv));
}
