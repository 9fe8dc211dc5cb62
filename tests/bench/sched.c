/* SPDX-License-Identifier: Apache-2.0 */
/** tern bench sched: how fairly and how fast the scheduler shares the engines, and its cost, in device cycles. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "cli.h"
#include "json.h"
#include "progress.h"
#include "sched_decision.h"
#include "sched_measure.h"

#define MAX_COUNTS 4u

struct run {
    struct measure_options options;
    unsigned count[MAX_COUNTS], counts; /* Numbers of clients in the fairness measurements. */
    bool fairness_only, json;
    struct measure_fairness fairness[MAX_COUNTS];
    double weights_error, focus, busy[2], decision[2];
    uint64_t realtime_median, realtime_max;
};

static const unsigned decisions[2] = {10, 10000};

static void help(void)
{
    printf("usage: tern bench sched [--full] [--json] [--contexts N] [--quantum CYCLES]\n\n"
           "Floods a device with clients and measures, in device cycles, what the scheduler makes of it:\n"
           "how alike equal clients fare (Jain's index; 1 is perfect), how well weights are kept, what the band NORMAL "
           "keeps when FOCUS\n"
           "wants all, how long REALTIME work waits, how busy buffers of 5,000 cycles keep an engine with one and with "
           "two entries of\n"
           "its HW queue; and in nanoseconds of the host, what a decision costs with 10 and with 10,000 contexts. All "
           "results of the\n"
           "kernels are compared with those of clients that run alone. On the functional model unless TERN_BACKEND "
           "says otherwise.\n\n"
           "  --full            up to 256 clients instead of 16, and more of everything: 50 quanta a client, not 20\n"
           "  --json            one JSON object\n"
           "  --contexts N      only the fairness of N clients, 1 to 1024\n"
           "  --quantum CYCLES  1000 to 1000000 (5000)\n\n"
           "Exit: 0 all right; 1 a result is wrong or the device failed; 2 wrong usage; 130 interrupted.\n");
}

static bool number(const char *text, unsigned long low, unsigned long high, unsigned long *out)
{
    char *end;
    errno = 0;
    *out = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    return *out && !*end && !errno && *out >= low && *out <= high;
}

/* Approximate device cycles of the measurements, for the progress bar. Each measurement calibrates the kernels, runs
 * the clients, and then runs each kind of client alone for comparison. */

#define RIG_WORK 380000.0
#define KINDS 16u /* Kinds of clients in the fairness measurements. */

static double fairness_work(const struct measure_options *o, unsigned clients)
{
    const unsigned alone = clients < KINDS ? clients : KINDS;
    return RIG_WORK + (double)o->quantum * ((o->quanta + 2) * clients / 2.0 + o->quanta * alone);
}

static double weights_work(const struct measure_options *o)
{
    return RIG_WORK + (double)o->quantum * o->quanta * (o->weights == 3 ? 170 : 20);
}

static double focus_work(const struct measure_options *o)
{
    return RIG_WORK + (double)o->quantum * o->quanta * 20;
}

static double realtime_work(const struct measure_options *o)
{
    return RIG_WORK + (double)o->quantum * (6 * o->flood + 3.5 * o->samples);
}

static double busy_work(const struct measure_options *o)
{
    return RIG_WORK + 10000.0 * o->buffers;
}

static double all_work(const struct run *r)
{
    const struct measure_options *o = &r->options;
    double work = 0;
    for (unsigned i = 0; i < r->counts; i++) {
        work += fairness_work(o, r->count[i]);
    }
    return r->fairness_only ? work : work + weights_work(o) + focus_work(o) + realtime_work(o) + 2 * busy_work(o);
}

static int measure_others(struct run *r, struct progress *p)
{
    struct measure_options *o = &r->options;
    progress_step(p, weights_work(o), "weights");
    int e = measure_weights(o, &r->weights_error);
    if (!e) {
        progress_step(p, focus_work(o), "NORMAL under FOCUS");
        e = measure_focus(o, &r->focus);
    }
    if (!e) {
        progress_step(p, realtime_work(o), "REALTIME past %u clients", o->flood);
        e = measure_realtime(o, &r->realtime_median, &r->realtime_max);
    }
    for (unsigned depth = 1; !e && depth <= 2; depth++) {
        progress_step(p, busy_work(o), "a busy engine, depth %u", depth);
        e = measure_busy(o, depth, &r->busy[depth - 1]);
    }
    for (unsigned i = 0; !e && i < 2; i++) {
        progress_step(p, 0, "decisions among %u contexts", decisions[i]);
        e = sched_decision(decisions[i], sched_decision_ns, &r->decision[i]);
    }
    return e;
}

static int measure(struct run *r)
{
    struct progress p;
    int e = 0;
    progress_begin(&p, "bench sched", r->counts + (r->fairness_only ? 0 : 7), all_work(r));
    for (unsigned i = 0; !e && i < r->counts; i++) {
        progress_step(&p, fairness_work(&r->options, r->count[i]), "fairness of %u clients", r->count[i]);
        e = measure_fairness(&r->options, r->count[i], &r->fairness[i]);
    }
    if (!e && !r->fairness_only) {
        e = measure_others(r, &p);
    }
    progress_end(&p);
    return e;
}

/** Rounds to this many digits after the point. */
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

static int print_json(const struct run *r)
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
    return json_print("bench sched", o);
}

static int print_text(const struct run *r)
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
        return EXIT_OK;
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
    return EXIT_OK;
}

static void full(struct run *r)
{
    struct measure_options *o = &r->options;
    r->counts = r->fairness_only ? r->counts : MAX_COUNTS;
    o->quanta = 50;
    o->samples = 200;
    o->buffers = 400;
    o->weights = 3;
}

static int command(int argc, char **argv)
{
    static struct run r = {
        .options = {.quantum = 5000, .quanta = 20, .samples = 30, .buffers = 40, .flood = 64, .weights = 2},
        .count = {2, 16, 64, 256},
        .counts = 2,
    };
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        unsigned long v;
        if (strcmp(argv[i], "--help") == 0) {
            help();
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--json") == 0) {
            r.json = true;
        } else if (strcmp(argv[i], "--full") == 0) {
            full(&r);
        } else if (strcmp(argv[i], "--contexts") == 0) {
            if (!number(next, 1, 1024, &v)) {
                return usage_error("bench sched", "--contexts takes a number from 1 to 1024, not '%s'",
                                   next ? next : "");
            }
            r.count[0] = (unsigned)v;
            r.counts = 1;
            r.fairness_only = true;
            i++;
        } else if (strcmp(argv[i], "--quantum") == 0) {
            if (!number(next, 1000, 1000000, &v)) {
                return usage_error("bench sched", "--quantum takes a number from 1000 to 1000000, not '%s'",
                                   next ? next : "");
            }
            r.options.quantum = v;
            i++;
        } else {
            return usage_error("bench sched", "unknown argument '%s'", argv[i]);
        }
    }
    exit_at_interrupt("bench sched", NULL);
    backend_prefer_model("bench sched");
    if (measure(&r)) {
        return EXIT_FAILED; /* A message was printed. */
    }
    return r.json ? print_json(&r) : print_text(&r);
}

int main(int argc, char **argv)
{
    return exit_status(command(argc, argv));
}
