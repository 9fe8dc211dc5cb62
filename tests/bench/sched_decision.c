/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The host's cost of a decision of the scheduler (sched_decision.h). The scheduler runs on engines without a device,
 * which have always finished the front buffer. Each run therefore takes an indication and chooses the next context.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "median.h"
#include "os/sched/sched.h"
#include "sched_decision.h"

#define ENGINES 2u
#define LENGTH 5000u     /* Cycles of a buffer. */
#define PROCESSES 16u
#define BATCH 200u       /* Decisions measured at once, since the clock is coarse. */
#define BATCHES 60u

struct engine {
    uint64_t id[TERN_HW_QUEUE], completed; /* Fence ids. */
    uint64_t told;                         /* Time of the engine's last indication. */
    unsigned n;
    bool stopping;
    uint64_t preempt;
};

struct bench {
    struct tern_sched sched;
    struct engine engine[ENGINES];
    uint64_t now;
};

static int op_submit(void *user, uint32_t engine, const struct tern_chunk *chunk)
{
    struct engine *e = &((struct bench *)user)->engine[engine];
    e->id[e->n++] = chunk->id;
    return 0;
}

static int op_preempt(void *user, uint32_t engine, uint64_t fence, uint32_t granularity)
{
    struct engine *e = &((struct bench *)user)->engine[engine];
    (void)granularity;
    e->stopping = true;
    e->preempt = fence;
    return 0;
}

/** The front buffer ends once in each run: one indication an engine and step. */
static int op_poll(void *user, uint32_t engine, struct tern_sched_indication *out)
{
    struct bench *b = user;
    struct engine *e = &b->engine[engine];
    if (e->stopping) {
        *out = (struct tern_sched_indication){.kind = TERN_SCHED_PREEMPTED, .fence = e->preempt,
                                              .last_completed = e->completed};
        out->preempted.fence = e->n ? e->id[0] : 0;
        e->n = 0;
        e->stopping = false;
        return 1;
    }
    if (!e->n || e->told == b->now) {
        return 0;
    }
    *out = (struct tern_sched_indication){
        .kind = TERN_SCHED_COMPLETED, .fence = e->id[0], .begin = b->now - LENGTH, .end = b->now};
    e->told = b->now;
    e->completed = e->id[0];
    e->id[0] = e->id[1];
    e->n--;
    return 1;
}

static int op_reset(void *user, uint32_t engine, bool begin, uint64_t *last_aborted)
{
    (void)begin;
    (void)user;
    (void)engine;
    (void)last_aborted;
    return -EIO;
}

static int op_idle(void *user, uint32_t engine)
{
    return !((struct bench *)user)->engine[engine].n;
}

static uint32_t op_dependent(void *user, uint32_t engine)
{
    (void)user;
    return 1u << engine;
}

static int op_time(void *user, uint64_t *now)
{
    *now = ((struct bench *)user)->now;
    return 0;
}

static int op_fence(void *user, const struct tern_sched_context *context, uint32_t address, uint64_t *value)
{
    (void)user;
    (void)context;
    (void)address;
    (void)value;
    return 0;
}

static void op_fault(void *user, uint32_t engine, struct tern_job *job, const struct tern_indication *ind)
{
    (void)user;
    (void)engine;
    (void)job;
    (void)ind;
}

static const struct tern_sched_ops ops = {
    .submit = op_submit, .preempt = op_preempt, .poll = op_poll, .reset = op_reset, .idle = op_idle,
    .dependent = op_dependent, .time = op_time, .fence_value = op_fence, .fault = op_fault,
};

static struct tern_job *make_job(void)
{
    struct tern_job *j = calloc(1, sizeof *j + TERN_PKT_LINE_BYTES);
    const struct tern_pkt_barrier packet = {0};
    if (j) {
        j->size = TERN_PKT_LINE_BYTES;
        tern_pkt_barrier_pack(&packet, j->packets);
        tern_list_init(&j->node);
    }
    return j;
}

double sched_decision_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* This clock does not count the host's other work. */
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/** Submits each ended job again to its context, like a client that always has more work. Returns their number. */
static unsigned again(struct bench *b)
{
    struct tern_job *j;
    unsigned n = 0;
    while ((j = tern_sched_ended(&b->sched))) {
        struct tern_sched_context *c = j->context;
        const uint64_t fence = j->fence;
        memset(j, 0, sizeof *j);
        j->size = TERN_PKT_LINE_BYTES;
        j->fence = fence + 2;
        tern_list_init(&j->node);
        tern_sched_submit(&b->sched, c, j);
        n++;
    }
    return n;
}

static int run(struct bench *b, double (*cost)(void), double *median)
{
    double batch[BATCHES];
    for (unsigned i = 0; i < BATCHES; i++) {
        unsigned decisions = 0;
        double spent = 0;
        while (decisions < BATCH) {
            b->now += LENGTH;
            const double began = cost();
            const int r = tern_sched_run(&b->sched);
            const unsigned n = again(b);
            spent += cost() - began;
            if (r || !n) {
                return r ? r : -EIO;
            }
            decisions += n;
        }
        batch[i] = spent / decisions;
    }
    median_sort(batch, BATCHES);
    *median = median_upper(batch, BATCHES);
    return 0;
}

int sched_decision(unsigned contexts, double (*cost)(void), double *out)
{
    struct bench *b = calloc(1, sizeof *b);
    struct tern_sched_process *process = calloc(PROCESSES, sizeof *process);
    struct tern_sched_context *context = calloc(contexts, sizeof *context);
    struct tern_job **job = calloc(2ul * contexts, sizeof(struct tern_job *));
    int r = b && process && context && job ? 0 : -ENOMEM;
    for (unsigned i = 0; !r && i < 2 * contexts; i++) {
        job[i] = make_job();
        r = job[i] ? 0 : -ENOMEM;
    }
    if (!r) {
        tern_sched_init(&b->sched, &ops, b, ENGINES, NULL);
        for (unsigned i = 0; i < PROCESSES; i++) {
            tern_sched_process_init(&b->sched, &process[i], false);
        }
        for (unsigned i = 0; i < contexts; i++) {
            tern_sched_context_init(&b->sched, &context[i], &process[i % PROCESSES], TERN_ENGINE_ANY, TERN_BAND_NORMAL,
                                    TERN_WEIGHT_NORMAL);
            for (unsigned k = 0; k < 2; k++) {
                job[2 * i + k]->fence = k + 1;
                tern_sched_submit(&b->sched, &context[i], job[2 * i + k]);
            }
        }
        b->now = LENGTH;
        r = tern_sched_run(&b->sched); /* This fills the engines. */
        if (r == 0) {
            r = run(b, cost, out);
        }
    }
    for (unsigned i = 0; job && i < 2 * contexts; i++) {
        free(job[i]);
    }
    free(job);
    free(context);
    free(process);
    free(b);
    return r;
}
