/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern bench: runs the benches of tests/bench through OpenCL, and prints their cycles and how much of the device they
 * use. A suite measures more than one kernel at a time; it is a program tern-bench-SUITE, which `tern` starts.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"
#include "json.h"
#include "limit.h"
#include "progress.h"
#include "session.h"

#define MAX_CHOSEN 64
/* Host time to create a device and a program, in simulated thousands of cycles that take as long. */
#define SET_UP_KCYCLES 20

static const struct {
    const char *name, *summary;
} suites[] = {
    {"migrate", "what it costs to follow the pages that kernels write, and to move work that runs"},
    {"preempt", "how long stopping and resuming a kernel takes, and what it costs"},
    {"sched", "how fairly and how fast the scheduler shares the engines"},
    {"submit", "what a dispatch costs the host, in round trips between threads"},
};

struct result {
    const char *name;
    enum bench_group group;
    bool ok;
    double cycles, bytes_per_cycle, port_percent, fma_percent, seconds;
    struct bench_limit limit;
    double limit_percent; /* 0 if the bench has no limit or the result is wrong. */
    bool kernel;          /* The work is a kernel's, not the mover's. */
    double instructions, instructions_per_second; /* Instructions of work-items; their rate by the host's clock. */
    cl_tern_counters counters; /* Events of the device during the measured command. All 0 if the result is wrong. */
};

/** The measurement of one bench, on its own device. */
struct measurement {
    struct session session;
    struct bench_env env;
    cl_tern_counters before, after; /* Counters before and after the measured command, summed over the engines. */
    double began, ended;            /* Host time before and after the measured command, in seconds. */
};

/** Called before and after the measured command. */
static void sample(void *user, bool after)
{
    struct measurement *m = user;
    if (after) {
        m->ended = host_seconds();
        session_counters(&m->session, &m->after);
    } else {
        session_counters(&m->session, &m->before);
        m->began = host_seconds();
    }
}

static struct result run(struct measurement *m, const struct bench *b)
{
    struct result r = {.name = b->name, .group = b->group};
    const double began = host_seconds();
    const cl_tern_counters *config = &m->session.config;
    r.ok = b->run(&m->env);
    r.seconds = host_seconds() - began;
    r.cycles = (double)m->env.ns * (double)config->clock_hz / 1e9;
    r.limit = bench_limit(&m->env.work, config->lanes);
    r.kernel = r.limit.issue > 0;
    if (r.ok && r.cycles > 0) {
        r.limit_percent = r.limit.cycles / r.cycles * 100.0;
        const cl_tern_counters d = counters_between(&m->before, &m->after);
        r.counters = d;
        r.bytes_per_cycle = (double)(d.rd_lines + d.wr_lines) * PORT_BYTES / r.cycles;
        r.port_percent = r.bytes_per_cycle / PORT_BYTES * 100.0;
        r.fma_percent = (double)d.fma / r.cycles / config->lanes * 100.0;
        r.instructions = (double)d.lanes_active;
        r.instructions_per_second = r.instructions / (m->ended - m->began);
    }
    return r;
}

static double hundredths(double x)
{
    return (double)(long)(x * 100 + 0.5) / 100;
}

/** Returns the geometric mean of the percentages that a group's kernels with a limit reach, or 0 if there are none. */
static double mean_percent(const struct result *r, unsigned n, enum bench_group group, unsigned *counted)
{
    double percents[MAX_CHOSEN];
    *counted = 0;
    for (unsigned i = 0; i < n; i++) {
        if (r[i].group == group && r[i].kernel && r[i].limit_percent > 0) {
            percents[(*counted)++] = r[i].limit_percent;
        }
    }
    return geometric_mean(percents, *counted);
}

static void add_limit(cJSON *e, const struct result *r)
{
    if (r->limit.cycles <= 0) {
        cJSON_AddNullToObject(e, "limit_cycles");
        cJSON_AddNullToObject(e, "limit_by");
        cJSON_AddNullToObject(e, "limit_percent");
        return;
    }
    cJSON_AddNumberToObject(e, "limit_cycles", hundredths(r->limit.cycles));
    cJSON_AddStringToObject(e, "limit_by", r->limit.by);
    cJSON_AddNumberToObject(e, "limit_percent", hundredths(r->limit_percent));
}

static int print_json(const cl_tern_counters *c, const struct result *r, unsigned n)
{
    cJSON *o = cJSON_CreateObject();
    json_add_config(o, c);
    cJSON *list = cJSON_AddArrayToObject(o, "results");
    for (unsigned i = 0; i < n; i++) {
        cJSON *e = cJSON_CreateObject();
        cJSON_AddStringToObject(e, "name", r[i].name);
        cJSON_AddNumberToObject(e, "cycles", r[i].cycles);
        add_limit(e, &r[i]);
        cJSON_AddNumberToObject(e, "bytes_per_cycle", hundredths(r[i].bytes_per_cycle));
        cJSON_AddNumberToObject(e, "port_percent", hundredths(r[i].port_percent));
        cJSON_AddNumberToObject(e, "fma_percent", hundredths(r[i].fma_percent));
        cJSON_AddNumberToObject(e, "thread_instructions", r[i].instructions);
        cJSON_AddNumberToObject(e, "thread_instructions_per_second",
                                (double)(long)(r[i].instructions_per_second + 0.5));
        json_add_counters(e, &r[i].counters);
        cJSON_AddBoolToObject(e, "correct", r[i].ok);
        cJSON_AddStringToObject(e, "group", bench_group_name(r[i].group));
        cJSON_AddItemToArray(list, e);
    }
    cJSON *means = cJSON_AddObjectToObject(o, "limit_percent_means");
    for (enum bench_group g = 0; g < N_GROUPS; g++) {
        unsigned kernels = 0;
        const double mean = mean_percent(r, n, g, &kernels);
        cJSON_AddItemToObject(means, bench_group_name(g),
                              kernels ? cJSON_CreateNumber(hundredths(mean)) : cJSON_CreateNull());
    }
    return json_print("bench", o);
}

static void print_row(const struct result *r)
{
    printf("%-18s %10.0f ", r->name, r->cycles);
    if (r->limit.cycles > 0) {
        printf("%10.0f %-5s %7.1f", r->limit.cycles, r->limit.by, r->limit_percent);
    } else {
        printf("%10s %-5s %7s", "-", "-", "-");
    }
    printf(" %8.2f %7.1f %6.1f %8.2f   %s\n", r->bytes_per_cycle, r->port_percent, r->fma_percent,
           r->instructions_per_second / 1e6, r->ok ? "right" : "WRONG");
    fflush(stdout);
}

/** Prints the mean of each group of which more than one kernel with a limit ran. */
static void print_means(const struct result *r, unsigned n)
{
    const char *space = "\n";
    for (enum bench_group g = 0; g < N_GROUPS; g++) {
        unsigned kernels = 0;
        const double mean = mean_percent(r, n, g, &kernels);
        if (kernels > 1) {
            printf("%sgeometric mean of what %u %s kernels reach of their limits: %.1f %%\n", space, kernels,
                   bench_group_name(g), mean);
            space = "";
        }
    }
}

static void help(void)
{
    printf("usage: tern bench [--full | NAME...] [--json]\n       tern bench --list [--json]\n"
           "       tern bench SUITE [options]\n\n"
           "Runs each bench once, on a device of its own (TERN_BACKEND, TERN_CONFIG), checks its result on the host, "
           "and prints the\n"
           "device cycles from dispatch to completion; the limit, the least cycles that one engine can take for this "
           "work, what\n"
           "sets it, and the limit in percent of the cycles; the bytes per cycle between engines and memory, and "
           "the shares of a\n"
           "64-byte port and of one engine's FMA peak. Progress is on stderr.\n"
           "Minst/s is how fast the host ran it: million thread instructions, from enqueue to completion.\n"
           "Cycles repeat exactly on the rtl backend; the model backend only estimates them. Memory that answers after "
           "150 cycles\n"
           "instead of 60: TERN_CONFIG=default,dram_latency=150\n\n"
           "  --full   also the long ones, marked *: some minutes on the rtl backend; without them about one\n"
           "  --list   print the names of the benches\n"
           "  --json   one JSON object\n");
    for (enum bench_group g = 0; g < N_GROUPS; g++) {
        printf("\nBenches, %s:", bench_group_name(g));
        for (unsigned i = 0, printed = 0; i < tern_n_benches; i++) {
            if (tern_benches[i].group == g) {
                printf("%s%s%s", printed++ % 6 ? " " : "\n  ", tern_benches[i].name, tern_benches[i].full ? "*" : "");
            }
        }
    }
    printf("\n\nSuites, which have options of their own (tern bench SUITE --help):\n");
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        printf("  %-8s %s\n", suites[i].name, suites[i].summary);
    }
    printf("\nExit: 0 all right; 1 a result is wrong or the device failed; 2 wrong usage; 130 interrupted.\n");
}

static const struct bench *find(const char *name)
{
    for (unsigned i = 0; i < tern_n_benches; i++) {
        if (strcmp(name, tern_benches[i].name) == 0) {
            return &tern_benches[i];
        }
    }
    return NULL;
}

/** The report of a bench's process: its result and the device. */
struct report {
    struct result result;
    cl_tern_counters config;
    bool opened;
};

static void measure_here(const struct bench *b, struct report *out)
{
    struct measurement m = {.env.sample = sample};
    m.env.user = &m;
    out->opened = session_open(&m.session, "bench");
    if (out->opened) {
        size_t size;
        const char *text = bench_text(b->source, &size);
        m.env.context = m.session.context;
        m.env.queue = m.session.queue;
        m.env.program = session_build(&m.session, text, size, SESSION_SOURCE, "");
        out->config = m.session.config;
        out->opened = m.env.program != NULL;
    }
    if (out->opened) {
        out->result = run(&m, b);
        clReleaseProgram(m.env.program);
    }
    session_close(&m.session);
}

/** Runs a bench in a process with a device of its own, so that earlier benches do not change its cycles. */
static bool measure(const struct bench *b, struct progress *progress, struct report *out)
{
    int fd[2], status = 0;
    if (pipe(fd)) {
        fprintf(stderr, "tern bench: pipe: %s\n", strerror(errno));
        return false;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct report r = {0};
        signal(SIGINT, SIG_IGN); /* The parent prints the message. The child ends with its parent. */
        signal(SIGTERM, SIG_IGN);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        measure_here(b, &r);
        fflush(NULL);
        exit(write(fd[1], &r, sizeof r) == (ssize_t)sizeof r ? 0 : 1);
    }
    close(fd[1]);
    progress_step(progress, b->kcycles + SET_UP_KCYCLES, "%s", b->name);
    bool complete = child > 0 && read(fd[0], out, sizeof *out) == (ssize_t)sizeof *out;
    progress_hide(progress);
    close(fd[0]);
    if (child > 0) {
        waitpid(child, &status, 0);
    }
    if (!complete) {
        fprintf(stderr, "tern bench: %s: its process ended early (status %d)\n", b->name, status);
    }
    /* The name is a pointer of the child. limit.by points to text of the program, at the same address in both. */
    out->result.name = b->name;
    return complete && out->opened;
}

static void print_head(const cl_tern_counters *c)
{
    printf("%s, %s: %u engines of %u lanes x %u warps\n\n", c->backend, c->config, c->engines, c->lanes, c->warps);
    printf("%-18s %10s %10s %-5s %7s %8s %7s %6s %8s\n", "bench", "cycles", "limit", "by", "limit %", "B/cycle",
           "port %", "FMA %", "Minst/s");
}

static int run_all(const struct bench **chosen, unsigned n, bool json)
{
    static struct report report;
    struct result results[MAX_CHOSEN];
    struct progress progress;
    double seconds = 0, cycles = 0, work = 0;
    int status = EXIT_OK;
    for (unsigned i = 0; i < n; i++) {
        work += chosen[i]->kcycles + SET_UP_KCYCLES;
    }
    progress_begin(&progress, "bench", n, work);
    for (unsigned i = 0; i < n; i++) {
        if (!measure(chosen[i], &progress, &report)) {
            progress_end(&progress);
            return EXIT_FAILED;
        }
        results[i] = report.result;
        seconds += results[i].seconds;
        cycles += results[i].cycles;
        if (!json && i == 0) {
            print_head(&report.config);
        }
        if (!json) {
            print_row(&results[i]);
        }
        status = results[i].ok ? status : EXIT_FAILED;
    }
    progress_end(&progress);
    if (!json) {
        print_means(results, n);
    }
    fprintf(stderr, "%.0f measured device cycles in %.1f s, set-up and checks included: %.0f cycles a second\n", cycles,
            seconds, seconds > 0 ? cycles / seconds : 0);
    return json && print_json(&report.config, results, n) != EXIT_OK ? EXIT_FAILED : status;
}

static int print_names(bool json)
{
    cJSON *names = json ? cJSON_CreateArray() : NULL;
    for (unsigned i = 0; i < tern_n_benches; i++) {
        if (json) {
            cJSON_AddItemToArray(names, cJSON_CreateString(tern_benches[i].name));
        } else {
            puts(tern_benches[i].name);
        }
    }
    if (!json) {
        return EXIT_OK;
    }
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToObject(o, "benches", names);
    return json_print("bench", o);
}

/** Chooses all benches, or (without `full`) all but the long ones, and prints how many were left out. Returns the
 *  number of chosen ones. */
static unsigned choose(const struct bench **chosen, bool full)
{
    unsigned n = 0;
    for (unsigned i = 0; i < tern_n_benches && n < MAX_CHOSEN; i++) {
        if (full || !tern_benches[i].full) {
            chosen[n++] = &tern_benches[i];
        }
    }
    if (n < tern_n_benches) {
        fprintf(stderr, "tern bench: %u of %u benches; --full: the %u long ones, too\n", n, tern_n_benches,
                tern_n_benches - n);
    }
    return n;
}

static int command(int argc, char **argv)
{
    const struct bench *chosen[MAX_CHOSEN];
    unsigned n = 0;
    bool json = false, list = false, full = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            list = true;
        } else if (strcmp(argv[i], "--full") == 0) {
            full = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            help();
            return EXIT_OK;
        } else if (!find(argv[i])) {
            return usage_error("bench", "there is no bench '%s'", argv[i]);
        } else if (n == MAX_CHOSEN) {
            return usage_error("bench", "more than %d benches", MAX_CHOSEN);
        } else {
            chosen[n++] = find(argv[i]);
        }
    }
    if (full && (n || list)) {
        return usage_error("bench", "--full runs all benches; '%s' has no meaning with it",
                           list ? "--list" : chosen[0]->name);
    }
    if (list) {
        return n ? usage_error("bench", "--list prints all benches and runs none; '%s' has no meaning with it",
                               chosen[0]->name)
                 : print_names(json);
    }
    exit_at_interrupt("bench", NULL);
    return run_all(chosen, n ? n : choose(chosen, full), json);
}

int main(int argc, char **argv)
{
    return exit_status(command(argc, argv));
}
