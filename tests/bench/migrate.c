/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern bench migrate: what following the pages that work writes costs, and whether it misses one. tern-bench(1) says
 * what exactly is measured.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/error.h"
#include "migrate_measure.h"

#define SOURCE(name, file) \
    __asm__(".section .rodata\n.globl " name "\n.globl " name "_end\n.hidden " name "\n.hidden " name "_end\n" name \
            ":\n.incbin \"" file "\"\n" name "_end:\n.byte 0\n.text"); \
    extern const char
SOURCE("migrate_source_bench", TERN_BENCH_KERNELS) migrate_source_bench[], migrate_source_bench_end[];
SOURCE("migrate_source_more", TERN_BENCH_PREEMPT_KERNELS) migrate_source_more[], migrate_source_more_end[];

/** Short ones: stores side by side, atomics, one to each page. */
static const char *const quick[] = {"saxpy", "histogram", "gather"};

struct options {
    bool json, quick;
};

struct report {
    cJSON *object, *tracking;
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
    if (full) {
        cJSON_AddNumberToObject(cycles, "full", q->full);
    }
}

static int finish(struct report *p)
{
    int r = 0;
    if (p->object) {
        cJSON_AddNumberToObject(p->object, "lost_bits", p->lost);
        char *text = cJSON_Print(p->object);
        r = text && printf("%s\n", text) > 0 ? 0 : -EIO;
        free(text);
    } else {
        printf("lost bits: %u\n", p->lost);
    }
    return r ? r : p->lost ? -EBADMSG : 0;
}

static bool is_quick(const char *kernel)
{
    bool found = false;
    for (size_t i = 0; i < sizeof quick / sizeof *quick; i++) {
        found = found || strcmp(kernel, quick[i]) == 0;
    }
    return found;
}

static int run(const struct options *o)
{
    const struct rig_source sources[] = {{migrate_source_bench, migrate_source_bench_end},
                                         {migrate_source_more, migrate_source_more_end}};
    struct tern_config config;
    struct report report;
    struct migrate_query q = {0};
    rig_suite = "migrate";
    if (tern_config_parse(NULL, NULL, NULL, &config)) {
        fprintf(stderr, "tern bench migrate: %s\n", tern_last_error());
        return 1;
    }
    int r = begin(o, &config, &report);
    for (unsigned i = 0; !r && i < preempt_n_cases; i++) {
        struct migrate_tracking t;
        if (o->quick && !is_quick(preempt_cases[i].kernel)) {
            continue;
        }
        fprintf(stderr, "[%u/%u] %s\n", i + 1, preempt_n_cases, preempt_cases[i].kernel);
        r = migrate_track(&config, sources, 2, &preempt_cases[i], &t);
        if (!r) {
            add_tracking(&report, preempt_cases[i].kernel, &t);
        }
    }
    if (!r) {
        fprintf(stderr, "queries of 4 GiB\n");
        r = migrate_query(&config, !o->quick, &q);
    }
    if (!r) {
        add_queries(&report, &q, !o->quick);
        r = finish(&report);
    }
    cJSON_Delete(report.object);
    return r != 0;
}

static void help(void)
{
    printf("usage: tern bench migrate [--quick] [--json]\n\n"
           "Measures dirty tracking, on a device without a scheduler (TERN_BACKEND, TERN_CONFIG): cycles of kernels "
           "without and with\n"
           "it, pages that changed though no query said so, and cycles of a query and clear of 4 GiB. Progress is on "
           "stderr.\n\n"
           "  --quick  three kernels, and no query of 4 GiB that were all written, which the host must give\n"
           "  --json   print one JSON object\n\n"
           "Exit: 0 all right; 1 a bit was lost or the device failed; 2 wrong usage.\n");
}

int main(int argc, char **argv)
{
    struct options o = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return 0;
        }
        if (strcmp(argv[i], "--json") == 0) {
            o.json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            o.quick = true;
        } else {
            fprintf(stderr, "tern bench migrate: unknown argument '%s'; see tern bench migrate --help\n", argv[i]);
            return 2;
        }
    }
    return run(&o);
}
