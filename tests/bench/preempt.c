/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern bench preempt: stops kernels at random cycles and resumes them on a random engine, and reports in device cycles
 * how long each took. The memory at the end is compared with that of an uninterrupted run. tern-bench(1) defines the
 * measurements.
 *
 * One run is stopped repeatedly, and a new run begins when it has ended. A run for each request would take a simulated
 * device all day, and would rarely stop a context that was restored before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/open/open.h"
#include "cli.h"
#include "json.h"
#include "median.h"
#include "preempt_case.h"
#include "progress.h"

#define MAX_CHOSEN 64
#define MAX_NUMBER 10000000u
#define SPACING 1000u /* Cycles that a kernel runs between resume and stop, on average. */
#define REQUESTS 10u  /* Stop requests of each kernel. */
#define REQUESTS_FULL 1000u

/* Approximate cycles of a kernel's runs, of a stop, and of the matrix products, for the progress bar. */
#define RUN_WORK 120000.0
#define STOP_WORK 2500.0
#define OVERHEAD_WORK 1900000.0

#define SOURCE(name, file) \
    __asm__(".section .rodata\n.globl " name "\n.globl " name "_end\n.hidden " name "\n.hidden " name "_end\n" name \
            ":\n.incbin \"" file "\"\n" name "_end:\n.byte 0\n.text"); \
    extern const char
SOURCE("preempt_source_bench", TERN_BENCH_KERNELS) preempt_source_bench[], preempt_source_bench_end[];
SOURCE("preempt_source_more", TERN_BENCH_PREEMPT_KERNELS) preempt_source_more[], preempt_source_more_end[];

struct options {
    struct progress *progress;
    uint32_t requests, seed, n_chosen;
    const struct preempt_case *chosen[MAX_CHOSEN];
    bool json, full;
};

struct result {
    double *save, *restore; /**< Cycles of each request. */
    uint32_t n, n_restore, runs;
    uint32_t bytes, local, extra; /**< Maximum bytes over all stops. */
};

static const uint32_t periods[] = {10000, 100000};

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static bool finished(const struct tern_indication *i)
{
    return i->kind == TERN_ENGINE_IND_INFO_KIND_COMPLETED;
}

static void at_least(uint32_t *most, uint32_t value)
{
    *most = value > *most ? value : *most;
}

/** Runs without a stop. */
static int run_whole(struct rig *r, struct tern_indication *out)
{
    uint32_t at;
    int e = rig_submit(r, 0, false, &at);
    if (e == 0) {
        e = rig_wait(r, 0, out);
    }
    if (!e && !finished(out)) {
        fprintf(stderr, "tern bench preempt: an engine stopped that nobody asked to\n");
        e = -EPROTO;
    }
    return e;
}

/** Runs with stops until `most` have been measured, and then to the end. */
static int run_stopped(struct rig *r, struct progress *progress, struct result *out, uint32_t most, uint32_t *seed)
{
    struct tern_indication i;
    struct rig_saved saved;
    for (bool resume = false;; resume = true) {
        const uint32_t engine = next_random(seed) % r->kmd.engines, after = next_random(seed) % (2 * SPACING);
        uint32_t rung = 0, running = 0, asked = 0;
        bool ended = false;
        int e = rig_submit(r, engine, resume, &rung);
        if (!e && out->n < most) {
            e = rig_running(r, engine, &running, &ended);
            if (!e && !ended && resume) {
                out->restore[out->n_restore++] = running - rung;
            }
            if (e == 0 && !ended) {
                e = rig_pass(r, after);
            }
            if (e == 0) {
                e = rig_preempt(r, engine, &asked);
            }
        }
        if (e == 0) {
            e = rig_wait(r, engine, &i);
        }
        if (e || finished(&i)) {
            return e;
        }
        e = rig_saved(r, &saved);
        if (e) {
            return e;
        }
        out->save[out->n++] = (uint32_t)i.end - asked;
        at_least(&out->bytes, saved.bytes);
        at_least(&out->local, saved.local);
        at_least(&out->extra, saved.extra);
        progress_part(progress, (RUN_WORK + STOP_WORK * out->n) / (RUN_WORK + STOP_WORK * most));
    }
}

/** Returns 1 if memory is right, 0 if not, or -errno. */
static int measure(struct rig *r, const struct preempt_case *c, const struct options *o, struct result *out)
{
    struct preempt_scene s;
    struct tern_indication i;
    const uint32_t requests = o->requests, seed = o->seed + (uint32_t)(c - preempt_cases);
    uint32_t state = seed * 2654435761u + 1;
    *out = (struct result){.save = calloc(requests, sizeof *out->save),
                            .restore = calloc(requests + 1ul, sizeof *out->restore)};
    if (!out->save || !out->restore) {
        return -ENOMEM;
    }
    int e = scene_open(r, c, &s);
    if (e) {
        return e;
    }
    e = scene_reset(&s);
    if (e == 0) {
        e = run_whole(r, &i);
    }
    if (e == 0) {
        e = scene_learn(&s);
    }
    int right = 1;
    while (!e && right == 1 && out->n < requests) {
        const uint32_t n = out->n;
        e = scene_reset(&s);
        if (e == 0) {
            e = run_stopped(r, o->progress, out, requests, &state);
        }
        right = e ? e : scene_compare(&s, c->kernel);
        if (right == 1 && out->n == n && ++out->runs > 100) {
            fprintf(stderr, "tern bench preempt: %s: it ends before it can be stopped\n", c->kernel);
            e = -EAGAIN;
        }
    }
    scene_close(&s);
    return e ? e : right;
}

/* ------------------------------------------------------------------- overhead */

static int busy(struct rig *r, uint64_t *cycles)
{
    struct tern_engine_counters c = {.size = sizeof c};
    int e = tern_kmd_counters(&r->kmd, 0, &c);
    *cycles = c.busy;
    return e;
}

/** Measures the cycles for which engine 0 is busy with a run that is stopped at every multiple of `period` (0:
 * never). */
static int run_periodic(struct preempt_scene *s, uint32_t period, uint64_t *out)
{
    struct rig *r = s->rig;
    struct tern_indication i = {0};
    uint64_t before = 0, after = 0;
    uint32_t next = 0, now = 0, at = 0;
    int e = scene_reset(s);
    if (e == 0) {
        e = busy(r, &before);
    }
    if (!e && !period) {
        e = run_whole(r, &i);
    }
    for (bool resume = false; !e && !finished(&i); resume = true) {
        e = rig_submit(r, 0, resume, &at);
        next = resume ? next + period : at + period;
        if (e == 0) {
            e = rig_now(r, &now);
        }
        if (e == 0 && (int32_t)(next - now) > 0) {
            e = rig_pass(r, next - now);
        }
        if (e == 0) {
            e = rig_preempt(r, 0, &at);
        }
        if (e == 0) {
            e = rig_wait(r, 0, &i);
        }
    }
    if (e == 0) {
        e = busy(r, &after);
    }
    *out = after - before;
    return e;
}

/** Measures the per cent of throughput that stops at these periods cost. Returns 1, 0 if memory is wrong, or -errno. */
static int overhead(struct rig *r, struct progress *progress, double percent[2])
{
    struct preempt_scene s;
    uint64_t whole = 0, cut = 0;
    int e = scene_open(r, &preempt_long_case, &s), right = 1;
    if (e) {
        return e;
    }
    e = run_periodic(&s, 0, &whole);
    if (e == 0) {
        e = scene_learn(&s);
    }
    for (unsigned i = 0; !e && right == 1 && i < 2; i++) {
        progress_part(progress, (1 + i) / 3.0);
        e = run_periodic(&s, periods[i], &cut);
        right = e ? e : scene_compare(&s, preempt_long_case.kernel);
        percent[i] = 100.0 * (1.0 - (double)whole / (double)cut);
    }
    scene_close(&s);
    return e ? e : right;
}

/* --------------------------------------------------------------------- report */

static double largest(const double *sorted, uint32_t n)
{
    return n ? sorted[n - 1] : 0;
}

static void print_row(cJSON *results, const char *kernel, const struct result *x)
{
    const struct {
        const char *name;
        uint32_t value;
    } cells[] = {
        {"requests", x->n},
        {"save_median", (uint32_t)median_upper(x->save, x->n)},
        {"save_max", (uint32_t)largest(x->save, x->n)},
        {"restore_median", (uint32_t)median_upper(x->restore, x->n_restore)},
        {"restore_max", (uint32_t)largest(x->restore, x->n_restore)},
        {"context_bytes", x->bytes},
        {"local_bytes", x->local},
        {"context_extra", x->extra},
    };
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "kernel", kernel);
    if (!results) {
        printf("%-14s", kernel);
    }
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        cJSON_AddNumberToObject(row, cells[i].name, cells[i].value);
        if (!results) {
            printf(" %8u", cells[i].value);
        }
    }
    if (results) {
        cJSON_AddItemToArray(results, row);
    } else {
        printf("\n");
        fflush(stdout);
        cJSON_Delete(row);
    }
}

static cJSON *begin(const struct options *o, const struct tern_config *c, const struct tern_kmd *k)
{
    if (!o->json) {
        printf("%s, %s: %u engines of %u lanes x %u warps; cycles, at %u random stops each\n\n", c->backend,
               c->geometry, k->engines, k->lanes, k->warps, o->requests);
        printf("%-14s %8s %17s %17s %8s %8s %8s\n", "", "", "save   ", "restore   ", "context", "local", "other");
        printf("%-14s %8s %8s %8s %8s %8s %8s %8s %8s\n", "kernel", "stops", "median", "max", "median", "max",
               "bytes", "bytes", "bytes");
        return NULL;
    }
    cJSON *object = cJSON_CreateObject(), *config = cJSON_AddObjectToObject(object, "config");
    cJSON_AddStringToObject(config, "backend", c->backend);
    cJSON_AddStringToObject(config, "name", c->geometry);
    cJSON_AddNumberToObject(config, "engines", k->engines);
    cJSON_AddNumberToObject(config, "lanes", k->lanes);
    cJSON_AddNumberToObject(config, "warps", k->warps);
    cJSON_AddNumberToObject(config, "clock_hz", k->clock_hz);
    cJSON_AddArrayToObject(object, "results");
    return object;
}

static void print_overhead(cJSON *object, const double percent[2])
{
    cJSON *costs = object ? cJSON_AddObjectToObject(object, "overhead") : NULL;
    for (unsigned i = 0; i < 2; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", periods[i]);
        if (costs) {
            cJSON_AddNumberToObject(costs, name, (double)(int64_t)(percent[i] * 1000 + 0.5) / 1000);
        } else {
            printf("%s%s stopped every %s cycles: %.3f %% of its throughput lost\n", i ? "" : "\n",
                   preempt_long_case.kernel, name, percent[i]);
        }
    }
}

/** Returns 1 if memory is right, 0 if not, or -errno. */
static int measure_all(const struct options *o, struct rig *r, cJSON *object)
{
    const double work = RUN_WORK + STOP_WORK * o->requests;
    double percent[2] = {0};
    int good = 1;
    for (uint32_t i = 0; good == 1 && i < o->n_chosen; i++) {
        struct result x;
        progress_step(o->progress, work, "%s", o->chosen[i]->kernel);
        good = measure(r, o->chosen[i], o, &x);
        progress_hide(o->progress);
        if (good == 1) {
            median_sort(x.save, x.n);
            median_sort(x.restore, x.n_restore);
            print_row(object ? cJSON_GetObjectItem(object, "results") : NULL, o->chosen[i]->kernel, &x);
        }
        free(x.save);
        free(x.restore);
    }
    if (good == 1 && o->full) {
        progress_step(o->progress, OVERHEAD_WORK, "what stops cost");
        good = overhead(r, o->progress, percent);
        progress_hide(o->progress);
        if (good == 1) {
            print_overhead(object, percent);
        }
    }
    return good;
}

static int run(struct options *o)
{
    const struct rig_source sources[] = {{preempt_source_bench, preempt_source_bench_end},
                                         {preempt_source_more, preempt_source_more_end}};
    struct tern_config config;
    struct progress progress;
    struct rig r;
    if (tern_config_parse(NULL, NULL, NULL, &config)) {
        fprintf(stderr, "tern bench preempt: %s\n", tern_last_error());
        return EXIT_FAILED;
    }
    if (rig_open(&config, sources, 2, &r)) {
        return EXIT_FAILED;
    }
    o->progress = &progress;
    progress_begin(&progress, "bench preempt", o->n_chosen + o->full,
                   o->n_chosen * (RUN_WORK + STOP_WORK * o->requests) + (o->full ? OVERHEAD_WORK : 0));
    cJSON *object = begin(o, &config, &r.kmd);
    const int good = measure_all(o, &r, object);
    progress_end(&progress);
    rig_close(&r);
    if (object && good == 1) {
        return json_print("bench preempt", object);
    }
    cJSON_Delete(object);
    return good == 1 ? EXIT_OK : EXIT_FAILED;
}

/* -------------------------------------------------------------------- options */

static void help(void)
{
    printf("usage: tern bench preempt [--full] [--requests N] [--seed N] [--kernel NAME]... [--json]\n\n"
           "Stops kernels at random cycles and resumes them, on a device without a scheduler (TERN_BACKEND, "
           "TERN_CONFIG); prints how\n"
           "many device cycles stopping and resuming took.\n"
           "Memory is compared with a run without a stop. Progress is on stderr.\n\n"
           "  --full         %u stops of each kernel, and what stopping a long one again and again costs\n"
           "  --requests N   stops of each kernel (%u)\n"
           "  --seed N       of the random cycles (1)\n"
           "  --kernel NAME  only this one; may be given several times\n"
           "  --json         print one JSON object\n\nKernels:",
           REQUESTS_FULL, REQUESTS);
    for (unsigned i = 0; i < preempt_n_cases; i++) {
        printf("%s%s", i % 9 ? " " : "\n  ", preempt_cases[i].kernel);
    }
    printf("\n\nExit: 0 all right; 1 memory is wrong or the device failed; 2 wrong usage; 130 interrupted.\n");
}

static bool number(const char *text, uint32_t *out)
{
    char *end;
    errno = 0;
    const unsigned long v = strtoul(text, &end, 10);
    *out = (uint32_t)v;
    return *text >= '0' && *text <= '9' && !*end && !errno && v <= MAX_NUMBER;
}

static const struct preempt_case *find(const char *kernel)
{
    for (unsigned i = 0; i < preempt_n_cases; i++) {
        if (strcmp(preempt_cases[i].kernel, kernel) == 0) {
            return &preempt_cases[i];
        }
    }
    return NULL;
}

static int command(int argc, char **argv)
{
    struct options o = {.seed = 1};
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0) {
            help();
            return EXIT_OK;
        }
        if (strcmp(a, "--json") == 0) {
            o.json = true;
            continue;
        }
        if (strcmp(a, "--full") == 0) {
            o.full = true;
            continue;
        }
        const bool requests = strcmp(a, "--requests") == 0;
        if (!requests && strcmp(a, "--seed") != 0 && strcmp(a, "--kernel") != 0) {
            return usage_error("bench preempt", "unknown argument '%s'", a);
        }
        if (!value) {
            return usage_error("bench preempt", "%s takes a value", a);
        }
        i++;
        if (strcmp(a, "--kernel") == 0) {
            o.chosen[o.n_chosen] = find(value);
            if (!o.chosen[o.n_chosen] || ++o.n_chosen == MAX_CHOSEN) {
                return usage_error("bench preempt", "there is no kernel '%s'", value);
            }
        } else if (!number(value, requests ? &o.requests : &o.seed) || (requests && !o.requests)) {
            return usage_error("bench preempt", "%s takes a number from %u to %u, not '%s'", a, requests, MAX_NUMBER,
                               value);
        }
    }
    o.requests = o.requests ? o.requests : o.full ? REQUESTS_FULL : REQUESTS;
    for (unsigned i = 0, all = !o.n_chosen; all && i < preempt_n_cases; i++) {
        o.chosen[o.n_chosen++] = &preempt_cases[i];
    }
    exit_at_interrupt("bench preempt", NULL);
    return run(&o);
}

int main(int argc, char **argv)
{
    return exit_status(command(argc, argv));
}
