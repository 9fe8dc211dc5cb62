/* SPDX-License-Identifier: Apache-2.0 */
/** tern bench sched: how fairly, how fast and at what cost the scheduler shares the engines, in device cycles. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "sched_decision.h"
#include "sched_measure.h"

enum { DONE = 0, FAILED = 1, USAGE = 2 };

#define MAX_COUNTS 4u

struct run {
    struct measure_options options;
    unsigned count[MAX_COUNTS], counts; /* clients of the measurements of fairness */
    bool fairness_only, json;
    struct measure_fairness fairness[MAX_COUNTS];
    double weights_error, focus, busy[2], decision[2];
    uint64_t realtime_median, realtime_max;
};

static const unsigned decisions[2] = {10, 10000};

static void help(void)
{
    printf("usage: tern bench sched [--json] [--quick] [--contexts N] [--quantum CYCLES]\n\n"
           "Floods the device (TERN_BACKEND, TERN_CONFIG) with clients and measures, in device cycles, what the "
           "scheduler makes of it:\n"
           "how alike equal clients fare (Jain's index; 1 is perfect), how well weights are kept, what the band NORMAL "
           "keeps when FOCUS\n"
           "wants all, how long REALTIME work waits, how busy buffers of 5,000 cycles keep an engine with one and with "
           "two entries of\n"
           "its HW queue; and in nanoseconds of the host, what a decision costs with 10 and with 10,000 contexts. All "
           "results of the\n"
           "kernels are compared with those of clients that run alone.\n\n"
           "  --json            one JSON object\n"
           "  --quick           fewer clients for a shorter time: for simulated hardware\n"
           "  --contexts N      only the fairness of N clients, 1 to 1024\n"
           "  --quantum CYCLES  1000 to 1000000 (5000)\n\n"
           "Exit: 0 all right; 1 a result is wrong or the device failed; 2 wrong usage.\n");
}

static int wrong(const char *what, const char *argument)
{
    fprintf(stderr, "tern bench sched: %s '%s'; see tern bench sched --help\n", what, argument);
    return USAGE;
}

static bool number(const char *text, unsigned long low, unsigned long high, unsigned long *out)
{
    char *end;
    errno = 0;
    *out = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    return *out && !*end && !errno && *out >= low && *out <= high;
}

static void progress(const char *what, unsigned n)
{
    if (n) {
        fprintf(stderr, "tern bench sched: %s, %u clients\n", what, n);
    } else {
        fprintf(stderr, "tern bench sched: %s\n", what);
    }
}

static int measure(struct run *r)
{
    struct measure_options *o = &r->options;
    int e = 0;
    for (unsigned i = 0; !e && i < r->counts; i++) {
        progress("fairness", r->count[i]);
        e = measure_fairness(o, r->count[i], &r->fairness[i]);
    }
    if (e || r->fairness_only) {
        return e;
    }
    progress("weights", 0);
    e = measure_weights(o, &r->weights_error);
    progress("NORMAL under FOCUS", 0);
    e = e ? e : measure_focus(o, &r->focus);
    progress("REALTIME", o->flood);
    e = e ? e : measure_realtime(o, &r->realtime_median, &r->realtime_max);
    for (unsigned depth = 1; !e && depth <= 2; depth++) {
        progress("busy engine", 0);
        e = measure_busy(o, depth, &r->busy[depth - 1]);
    }
    for (unsigned i = 0; !e && i < 2; i++) {
        progress("decisions", decisions[i]);
        e = sched_decision(decisions[i], sched_decision_ns, &r->decision[i]);
    }
    return e;
}

/** With so many digits behind the point. */
static double rounded(double v, int digits)
{
    const double scale = pow(10, digits);
    return round(v * scale) / scale;
}

static cJSON *by_count(const struct run *r, size_t offset)
{
    cJSON *o = cJSON_CreateObject();
    char name[16];
    for (unsigned i = 0; i < r->counts; i++) {
        double v;
        memcpy(&v, (const char *)&r->fairness[i] + offset, sizeof v);
        snprintf(name, sizeof name, "%u", r->count[i]);
        cJSON_AddNumberToObject(o, name, rounded(v, 5));
    }
    return o;
}

static bool print_json(const struct run *r)
{
    const struct tern_device_info *d = &r->options.info;
    cJSON *o = cJSON_CreateObject(), *config = cJSON_AddObjectToObject(o, "config");
    cJSON_AddStringToObject(config, "backend", d->backend);
    cJSON_AddStringToObject(config, "name", d->config);
    cJSON_AddNumberToObject(config, "engines", d->engines);
    cJSON_AddNumberToObject(config, "quantum", (double)r->options.quantum);
    cJSON_AddNumberToObject(config, "quanta", r->options.quanta);
    cJSON_AddItemToObject(o, "jain", by_count(r, offsetof(struct measure_fairness, jain)));
    cJSON_AddItemToObject(o, "min_to_median", by_count(r, offsetof(struct measure_fairness, min_to_median)));
    cJSON_AddItemToObject(o, "max_to_median", by_count(r, offsetof(struct measure_fairness, max_to_median)));
    if (!r->fairness_only) {
        cJSON_AddNumberToObject(o, "weights_error", rounded(r->weights_error, 4));
        cJSON_AddNumberToObject(o, "normal_share_under_focus", rounded(r->focus, 4));
        cJSON_AddNumberToObject(o, "realtime_start_median", (double)r->realtime_median);
        cJSON_AddNumberToObject(o, "realtime_start_max", (double)r->realtime_max);
        cJSON_AddNumberToObject(o, "busy_depth1", rounded(r->busy[0], 4));
        cJSON_AddNumberToObject(o, "busy_depth2", rounded(r->busy[1], 4));
        cJSON *ns = cJSON_AddObjectToObject(o, "decision_ns");
        cJSON_AddNumberToObject(ns, "10", round(r->decision[0]));
        cJSON_AddNumberToObject(ns, "10000", round(r->decision[1]));
    }
    char *text = cJSON_Print(o);
    cJSON_Delete(o);
    if (text) {
        puts(text);
        cJSON_free(text);
    }
    return text;
}

static void print_text(const struct run *r)
{
    const struct tern_device_info *d = &r->options.info;
    printf("%s, %s: %u engines; quantum %llu cycles\n\n", d->backend, d->config, d->engines,
           (unsigned long long)r->options.quantum);
    printf("equal clients    Jain's index   least / median   most / median\n");
    for (unsigned i = 0; i < r->counts; i++) {
        const struct measure_fairness *f = &r->fairness[i];
        printf("%13u %15.5f %16.3f %15.3f\n", r->count[i], f->jain, f->min_to_median, f->max_to_median);
    }
    if (r->fairness_only) {
        return;
    }
    printf("\nweights %-13s shares are off by at most   %8.1f %%\n", r->options.weights == 3 ? "400, 100, 12:"
           : "400, 100:", r->weights_error * 100);
    printf("share of NORMAL while FOCUS wants all             %8.1f %%\n", r->focus * 100);
    printf("REALTIME, submission to begin, past %3u clients   %8llu cycles at most, %llu the median\n",
           r->options.flood, (unsigned long long)r->realtime_max, (unsigned long long)r->realtime_median);
    printf("engine busy with buffers of 5,000 cycles          %8.1f %% with one HW-queue entry, %.1f %% with two\n",
           r->busy[0] * 100, r->busy[1] * 100);
    printf("a decision on the host                            %8.0f ns with 10 contexts, %.0f ns with 10,000\n",
           r->decision[0], r->decision[1]);
}

int main(int argc, char **argv)
{
    static struct run r = {
        .options = {.quantum = 5000, .quanta = 50, .samples = 200, .buffers = 400, .flood = 64, .weights = 3},
        .count = {2, 16, 64, 256},
        .counts = 4,
    };
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        unsigned long v;
        if (strcmp(argv[i], "--help") == 0) {
            help();
            return DONE;
        }
        if (strcmp(argv[i], "--json") == 0) {
            r.json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            r.counts = r.fairness_only ? r.counts : 2;
            r.options.quanta = 20;
            r.options.samples = 30;
            r.options.buffers = 40;
            r.options.weights = 2;
        } else if (strcmp(argv[i], "--contexts") == 0) {
            if (!number(next, 1, 1024, &v)) {
                return wrong("--contexts takes a number from 1 to 1024, not", next ? next : "");
            }
            r.count[0] = (unsigned)v;
            r.counts = 1;
            r.fairness_only = true;
            i++;
        } else if (strcmp(argv[i], "--quantum") == 0) {
            if (!number(next, 1000, 1000000, &v)) {
                return wrong("--quantum takes a number from 1000 to 1000000, not", next ? next : "");
            }
            r.options.quantum = v;
            i++;
        } else {
            return wrong("unknown argument", argv[i]);
        }
    }
    if (measure(&r)) {
        return FAILED; /* it has been said why */
    }
    if (r.json ? !print_json(&r) : (print_text(&r), false)) {
        fprintf(stderr, "tern bench sched: out of memory\n");
        return FAILED;
    }
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "tern bench sched: cannot write to standard output: %s\n", strerror(errno));
        return FAILED;
    }
    return DONE;
}
