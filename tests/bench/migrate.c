/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern bench migrate: the cost of dirty tracking and whether it misses a page, and live migrations of running work: the
 * bytes that are sent while nothing runs, and the throughput that other work loses. tern-bench(1) defines the
 * measurements.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "base/error.h"
#include "hal/open/open.h"
#include "cli.h"
#include "json.h"
#include "migrate_link.h"
#include "migrate_measure.h"
#include "migrate_moves.h"
#include "migrate_size.h"
#include "progress.h"

#define SOURCE(name, file) \
    __asm__(".section .rodata\n.globl " name "\n.globl " name "_end\n.hidden " name "\n.hidden " name "_end\n" name \
            ":\n.incbin \"" file "\"\n" name "_end:\n.byte 0\n.text"); \
    extern const char
SOURCE("migrate_source_bench", TERN_BENCH_KERNELS) migrate_source_bench[], migrate_source_bench_end[];
SOURCE("migrate_source_more", TERN_BENCH_PREEMPT_KERNELS) migrate_source_more[], migrate_source_more_end[];
SOURCE("migrate_source_moves", TERN_BENCH_MIGRATE_KERNELS) migrate_source_moves[], migrate_source_moves_end[];

/** Short kernels: adjacent stores, atomics, and one store to each page. */
static const char *const short_kernels[] = {"saxpy", "histogram", "gather"};

/** Partitions that are moved. */
static const struct size {
    const char *name;
    uint64_t bytes;
} sizes[] = {{"256M", 256ull << 20}, {"1G", 1ull << 30}, {"4G", 4ull << 30}};
#define SIZES (sizeof sizes / sizeof *sizes)

/** Work that moves back and forth, this many times in both directions; and with --full. */
static const struct migrate_work moved = {.data_bytes = 4u << 20, .hot_pages = 128, .reads = 96};
static const struct migrate_work moved_full = {.data_bytes = 16u << 20, .hot_pages = 512, .reads = 96};
#define TIMES 8u
#define TIMES_FULL 20u

/* Approximate seconds of the steps on the functional model, for the progress bar. */
#define KERNEL_WORK 0.1
#define QUERY_WORK 0.5
#define QUERY_FULL_WORK 10.0
#define MIB_WORK 0.008 /* A MiB of a partition. */
#define MOVE_WORK 0.3  /* A move of 4 MiB. */

struct options {
    struct progress *progress;
    bool json, full;
    unsigned sizes; /* Number of partition sizes to measure. */
};

struct report {
    cJSON *object, *tracking, *blackout, *last_round;
    uint32_t lost;
};

static int begin(const struct options *o, const struct tern_config *c, struct report *out)
{
    *out = (struct report){0};
    if (!o->json) {
        printf("%s, %s; cycles\n\n%-14s %10s %10s %8s %8s %6s\n", c->backend, c->geometry, "kernel", "off", "on",
               "pages", "queries", "lost");
        return 0;
    }
    out->object = cJSON_CreateObject();
    cJSON *config = cJSON_AddObjectToObject(out->object, "config");
    cJSON_AddStringToObject(config, "backend", c->backend);
    cJSON_AddStringToObject(config, "name", c->geometry);
    out->tracking = cJSON_AddObjectToObject(out->object, "tracking_cycles");
    return out->tracking ? 0 : -ENOMEM;
}

static void add_tracking(struct report *p, const char *kernel, const struct migrate_tracking *t)
{
    const double both[] = {(double)t->off, (double)t->on};
    p->lost += t->lost;
    if (p->object) {
        cJSON_AddItemToObject(p->tracking, kernel, cJSON_CreateDoubleArray(both, 2));
        return;
    }
    printf("%-14s %10llu %10llu %8u %8u %6u\n", kernel, (unsigned long long)t->off, (unsigned long long)t->on,
           t->changed, t->queries, t->lost);
    fflush(stdout);
}

/** Adds a number, or null if it was not measured. */
static void add_number(cJSON *object, const char *name, bool measured, double value)
{
    if (measured) {
        cJSON_AddNumberToObject(object, name, value);
    } else {
        cJSON_AddNullToObject(object, name);
    }
}

static void add_queries(struct report *p, const struct migrate_query *q, bool full)
{
    if (!p->object) {
        printf("\nquery and clear of 4 GiB: %u cycles with no page set, %u with one of 100", q->empty, q->sparse);
        printf(full ? ", %u with all\n" : "\n", q->full);
        return;
    }
    cJSON *cycles = cJSON_AddObjectToObject(p->object, "query_clear_cycles");
    cJSON_AddNumberToObject(cycles, "sparse", q->sparse);
    cJSON_AddNumberToObject(cycles, "empty", q->empty);
    add_number(cycles, "full", full, q->full);
}

static void begin_sizes(struct report *p, unsigned n)
{
    if (p->object) {
        p->blackout = cJSON_AddObjectToObject(p->object, "blackout_bytes");
        p->last_round = cJSON_AddObjectToObject(p->object, "last_round_bytes");
    } else if (n) {
        printf("\n%-14s %14s %14s %12s %12s %6s %6s\n", "partition", "full copy", "brownout", "last round", "blackout",
               "rounds", "lost");
    }
}

/** If `measured` is false, all values are zero. */
static void add_size(struct report *p, const char *name, bool measured, const struct migrate_size *z)
{
    p->lost += z->lost;
    if (p->object) {
        add_number(p->blackout, name, measured, (double)z->blackout);
        add_number(p->last_round, name, measured, (double)z->last_round);
    } else if (measured) {
        char full[24];
        snprintf(full, sizeof full, "%llu", (unsigned long long)z->full_copy);
        printf("%-14s %14s %14llu %12llu %12llu %6u %6u\n", name, z->full_copy ? full : "-",
               (unsigned long long)z->brownout, (unsigned long long)z->last_round, (unsigned long long)z->blackout,
               z->rounds, z->lost);
        fflush(stdout);
    }
}

/** Returns the throughput that the bystander loses, in per cent. Negative: it gains. */
static double loss(const struct migrate_moves *m)
{
    const double alone = (double)m->alone / (double)m->alone_cycles;
    return 100 * (1 - (double)m->beside / (double)m->beside_cycles / alone);
}

static void add_moves(struct report *p, const struct migrate_moves *m)
{
    p->lost += m->lost;
    if (p->object) {
        cJSON_AddNumberToObject(p->object, "bystander_loss_percent", loss(m));
        cJSON_AddNumberToObject(p->object, "migrations", m->moves);
        return;
    }
    printf("\n%u moves, %u pages lost; those who stand by lose %.2f %%: %llu buffers in %llu cycles while others move, "
           "%llu in %llu cycles before\n", m->moves, m->lost, loss(m), (unsigned long long)m->beside,
           (unsigned long long)m->beside_cycles, (unsigned long long)m->alone, (unsigned long long)m->alone_cycles);
}

static int finish(struct report *p)
{
    int r = 0;
    if (p->object) {
        cJSON_AddNumberToObject(p->object, "lost_bits", p->lost);
        r = json_print("bench migrate", p->object) ? -ENOMEM : 0;
        p->object = NULL;
    } else {
        printf("lost bits: %u\n", p->lost);
    }
    return r ? r : p->lost ? -EBADMSG : 0;
}

static bool is_short(const char *kernel)
{
    bool found = false;
    for (size_t i = 0; i < sizeof short_kernels / sizeof *short_kernels; i++) {
        found = found || strcmp(kernel, short_kernels[i]) == 0;
    }
    return found;
}

static int track(const struct options *o, const struct tern_config *config, struct report *report)
{
    const struct rig_source sources[] = {{migrate_source_bench, migrate_source_bench_end},
                                         {migrate_source_more, migrate_source_more_end}};
    struct migrate_query q = {0};
    int r = 0;
    for (unsigned i = 0; !r && i < preempt_n_cases; i++) {
        struct migrate_tracking t;
        if (!o->full && !is_short(preempt_cases[i].kernel)) {
            continue;
        }
        progress_step(o->progress, KERNEL_WORK, "dirty pages of %s", preempt_cases[i].kernel);
        r = migrate_track(config, sources, 2, &preempt_cases[i], &t);
        progress_hide(o->progress);
        if (!r) {
            add_tracking(report, preempt_cases[i].kernel, &t);
        }
    }
    if (!r) {
        progress_step(o->progress, o->full ? QUERY_FULL_WORK : QUERY_WORK, "queries of 4 GiB");
        r = migrate_query(config, o->full, &q);
        progress_hide(o->progress);
    }
    if (!r) {
        add_queries(report, &q, o->full);
    }
    return r;
}

static double size_work(unsigned i)
{
    return MIB_WORK * (double)(sizes[i].bytes >> 20);
}

static double moves_work(const struct options *o)
{
    return o->full ? MOVE_WORK * 4 * TIMES_FULL : MOVE_WORK * TIMES;
}

static int measure_sizes(const struct options *o, const struct direct_program *program, struct report *report)
{
    uint64_t full_copy = 0;
    int r = 0;
    begin_sizes(report, o->sizes);
    for (unsigned i = 0; !r && i < SIZES; i++) {
        struct migrate_size z = {0};
        if (i < o->sizes) {
            progress_step(o->progress, size_work(i), "a partition of %s", sizes[i].name);
            r = migrate_size(program, sizes[i].bytes, i == 0, &z);
            progress_hide(o->progress);
        }
        full_copy = full_copy ? full_copy : z.full_copy;
        if (!r) {
            add_size(report, sizes[i].name, i < o->sizes, &z);
        }
    }
    if (!r && report->object) {
        add_number(report->object, "full_copy_bytes", full_copy, (double)full_copy);
    }
    return r;
}

static int measure_moves(const struct options *o, const struct direct_program *program, struct report *report)
{
    struct migrate_moves m;
    progress_step(o->progress, moves_work(o), "moves back and forth");
    const int r = migrate_moves(program, o->full ? &moved_full : &moved, o->full ? TIMES_FULL : TIMES, o->progress, &m);
    progress_hide(o->progress);
    if (!r) {
        add_moves(report, &m);
    }
    return r ? r : m.wrong ? -EBADMSG : 0;
}

static void begin_progress(struct options *o, struct progress *p)
{
    const unsigned kernels = o->full ? preempt_n_cases : sizeof short_kernels / sizeof *short_kernels;
    double work = KERNEL_WORK * kernels + (o->full ? QUERY_FULL_WORK : QUERY_WORK) + moves_work(o);
    for (unsigned i = 0; i < o->sizes; i++) {
        work += size_work(i);
    }
    o->progress = p;
    progress_begin(p, "bench migrate", kernels + 1 + o->sizes + 1, work);
}

static int run(struct options *o)
{
    struct tern_config config;
    struct report report;
    struct progress progress;
    struct direct_program program = {0};
    rig_suite = "migrate";
    if (tern_config_parse(NULL, NULL, NULL, &config)) {
        fprintf(stderr, "tern bench migrate: %s\n", tern_last_error());
        return EXIT_FAILED;
    }
    begin_progress(o, &progress);
    int r = begin(o, &config, &report);
    if (r == 0) {
        r = track(o, &config, &report);
    }
    if (r == 0) {
        r = direct_build(migrate_source_moves, (size_t)(migrate_source_moves_end - migrate_source_moves), &program);
    }
    if (!r) {
        r = measure_sizes(o, &program, &report);
        if (r == 0) {
            r = measure_moves(o, &program, &report);
        }
        direct_free(&program);
    }
    progress_end(&progress);
    if (r == 0) {
        r = finish(&report);
    }
    cJSON_Delete(report.object);
    return r ? EXIT_FAILED : EXIT_OK;
}

static void help(void)
{
    printf("usage: tern bench migrate [--full] [--sizes N] [--json]\n\n"
           "Measures dirty tracking, on a device without a scheduler: cycles of kernels without and with\n"
           "it, pages that changed though no query said so, and cycles of a query and clear of 4 GiB. Then, on whole "
           "devices and a\n"
           "link of %u bytes a cycle: what is sent while nothing runs, of partitions of 256 MiB, 1 GiB and 4 GiB; "
           "moves of work\n"
           "that runs, and what another partition loses by them. On the functional model unless TERN_BACKEND says "
           "otherwise.\n\n"
           "  --full     all kernels instead of three; a query of 4 GiB that were all written; the partition of 4 GiB; "
           "more and larger\n"
           "             moves\n"
           "  --sizes N  only the first N partitions, 0 to 3; a partition takes its size of the host's memory\n"
           "  --json     print one JSON object\n\n"
           "Exit: 0 all right; 1 a bit was lost, a result is wrong or the device failed; 2 wrong usage; 130 "
           "interrupted.\n",
           MIGRATE_LINK_BYTES);
}

/** Returns EXIT_OK, or EXIT_USAGE after a message. */
static int parse(int argc, char **argv, struct options *o)
{
    o->sizes = UINT32_MAX;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
        } else if (strcmp(argv[i], "--full") == 0) {
            o->full = true;
        } else if (strcmp(argv[i], "--sizes") == 0) {
            const char *n = i + 1 < argc ? argv[++i] : "";
            if (n[0] < '0' || n[0] > '3' || n[1]) {
                return usage_error("bench migrate", "--sizes takes a number from 0 to %zu, not '%s'", SIZES, n);
            }
            o->sizes = (unsigned)(n[0] - '0');
        } else {
            return usage_error("bench migrate", "unknown argument '%s'", argv[i]);
        }
    }
    o->sizes = o->sizes != UINT32_MAX ? o->sizes : o->full ? SIZES : 2;
    return EXIT_OK;
}

static int command(int argc, char **argv)
{
    struct options o = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return EXIT_OK;
        }
    }
    const int wrong = parse(argc, argv, &o);
    if (wrong) {
        return wrong;
    }
    exit_at_interrupt("bench migrate", NULL);
    unsetenv("TERND_SOCKET"); /* the bench opens devices of its own, not those of a ternd */
    backend_prefer_model("bench migrate");
    return run(&o);
}

int main(int argc, char **argv)
{
    return exit_status(command(argc, argv));
}
