/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduler under random work and events, for many seeds. There is work in all bands, with waits and signals,
 * faults, and buffers that never stop. Processes are aborted, contexts suspended and moved to other bands; caps change,
 * and preemption is forced. Engines save and restore.
 *
 * Invariants are checked after each step and at the end. Every job ends exactly once, in order, with the right result.
 * Each packet of a completed job ran exactly once. Counts and trees agree. No engine is empty while work that may run
 * there waits.
 */
#include "sched_client.h"

#define CLIENTS 16
#define PROCESSES 6
#define JOBS 40

static struct tern_sched_partition parts[2];
static struct tern_sched_process procs[PROCESSES]; /* 0: paging; 1 and 2 misbehave */
static struct tern_sched_user users[6];
static struct client clients[CLIENTS];
static struct mock_work work[CLIENTS][JOBS];
static bool completed[CLIENTS][JOBS];
static uint64_t holds[CLIENTS];
static struct tern_sched_cap cap; /* cap of processes 2 and 3, at times */
static bool capped;
static uint64_t held;             /* number of times that the cap has held their work */
static unsigned seed;

static uint32_t pick(uint32_t n)
{
    return (uint32_t)rand() % n;
}

static int process_of(int i)
{
    return i < 3 ? 0 : 1 + i % (PROCESSES - 1);
}

static void begin(void)
{
    struct tern_sched_config config;
    tern_sched_config_default(&config);
    for (int b = 0; b < 4; b++) {
        config.band[b].quantum = 200 + pick(2000);
        config.band[b].grace = pick(2) ? 0 : pick(500);
    }
    config.timeout = 4000;
    config.cap_slice = 1 + pick(3000);
    capped = false;
    config.force_preempt = pick(4) ? 0 : 400 + pick(1000);
    config.depth = 1 + pick(2);
    mock_init(&mock, 1 + pick(3), &config);
    mock.save_cycles = pick(2) ? 0 : pick(200);
    mock.restore_cycles = pick(2) ? 0 : pick(200);
    for (int u = 0; u < 6; u++) {
        users[u] = (struct tern_sched_user){.share = 1 + pick(1000)};
    }
    for (uint32_t i = 0; i < 2; i++) {
        tern_sched_partition_init(&mock.sched, &parts[i], 1 + pick(1000));
    }
    for (int p = 0; p < PROCESSES; p++) {
        tern_sched_process_init(&mock.sched, &procs[p], p == 0);
        procs[p].partition = p && pick(3) ? &parts[pick(2)] : &mock.sched.main;
        const uint32_t of = procs[p].partition == &parts[0] ? 1 : procs[p].partition == &parts[1] ? 2 : 0;
        procs[p].user = p && pick(3) ? &users[2 * of + pick(2)] : NULL; /* a user's processes are in one partition */
    }
    for (int i = 0; i < CLIENTS; i++) {
        int p = process_of(i);
        int32_t engine = p && pick(2) ? TERN_ENGINE_ANY : (int32_t)((uint32_t)i % mock.sched.engines);
        client_init(&clients[i], &procs[p], engine, pick(4), 1 + pick(1000), 1);
        holds[i] = 0;
        for (int k = 0; k < JOBS; k++) {
            completed[i][k] = false;
        }
    }
}

static void submit_one(int i)
{
    int p = process_of(i), k = (int)clients[i].submitted;
    struct mock_work *w = &work[i][k];
    uint32_t packets = 1 + (pick(10) ? pick(8) : pick(400));
    *w = (struct mock_work){.cost = 1 + pick(packets > 50 ? 5 : 300), .fault_at = -1, .group = pick(2) * 20};
    if ((p == 1 || p == 2) && pick(60) == 0) {
        w->fault_at = (int32_t)pick(packets);
    } else if ((p == 1 || p == 2) && pick(100) == 0) {
        w->cost = MOCK_HANG;
        w->unstoppable = true;
    }
    w->asks = p && pick(5) == 0 ? pick(6) : 0;
    struct tern_job *job = mock_job(w, packets, ++clients[i].submitted);
    job->submitted = mock.now;
    job->null = pick(20) == 0;
    /* Each process has fences. The host raises the first of them, and context i signals one of the others. */
    uint32_t first = 8 * (uint32_t)p;
    if (p && pick(6) == 0) {
        mock_job_wait(job, pick(packets), 8 * first, mock.fence[first] + pick(2));
    } else if (p && pick(6) == 0) {
        mock_job_signal(job, pick(packets), 8 * (first + 1 + pick(6)), pick(100));
    }
    client_send(&clients[i], job);
}

/** Gives processes 2 and 3 a cap, changes it, or ends it. */
static void disturb_cap(void)
{
    if (!capped) {
        tern_sched_cap_begin(&mock.sched, &cap, 1 + pick(TERN_CAP_WHOLE - 1));
        tern_sched_cap_add(&mock.sched, &cap, &procs[2]);
        tern_sched_cap_add(&mock.sched, &cap, &procs[3]);
    } else if (pick(2)) {
        tern_sched_cap_set(&cap, 1 + pick(TERN_CAP_WHOLE - 1));
    } else {
        tern_sched_cap_end(&mock.sched, &cap);
    }
    capped = capped ? !tern_list_empty(&mock.sched.caps) : true;
}

static void disturb(void)
{
    int i = (int)pick(CLIENTS), p = process_of(i);
    struct tern_sched_context *c = &clients[i].mock.sched;
    switch (pick(12)) {
    case 0:
        if (holds[i]) {
            assert_true(tern_sched_context_resume(&mock.sched, c, holds[i]));
            holds[i] = 0;
        } else if (p) {
            holds[i] = tern_sched_context_suspend(&mock.sched, c);
        }
        break;
    case 1:
        tern_sched_context_set(&mock.sched, c, pick(4), 1 + pick(1000));
        break;
    case 2:
        if ((p == 1 || p == 2) && pick(20) == 0) {
            procs[p].error = true;
            tern_sched_abort(&mock.sched, &procs[p]);
        }
        break;
    case 3:
        mock.fence[8 * p]++;
        tern_sched_signalled(&mock.sched, &procs[p]);
        break;
    case 4:
        disturb_cap();
        break;
    default:
        break;
    }
}

/** Invariants after each run of the scheduler. */
static void judge(void)
{
    const char *broken = fair_check(&mock.sched, &mock.seen);
    if (broken) {
        fail_msg("%s", broken);
    }
    uint32_t inflight[CLIENTS] = {0}, live[TERN_ENGINES_MAX] = {0};
    bool waits[TERN_ENGINES_MAX] = {0};
    for (uint32_t e = 0; e < mock.sched.engines; e++) {
        const struct tern_sched_engine *engine = &mock.sched.engine[e];
        assert_true(engine->n <= mock.sched.config.depth);
        for (uint32_t k = 0; k < engine->n; k++) {
            inflight[client_of(engine->inflight[k].context) - clients]++;
            assert_int_equal(engine->inflight[k].context->engine, e);
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        const struct tern_sched_context *c = &clients[i].mock.sched;
        assert_int_equal(c->inflight, inflight[i]);
        assert_true(c->requeued_count + c->inflight <= 2);
        assert_int_equal(c->live, c->state == TERN_SCHED_READY || c->inflight);
        assert_true(c->band >= c->base_band);
        const bool none = !tern_sched_next_job(c) && !c->requeued_count;
        assert_true((c->state == TERN_SCHED_EMPTY) == (c->process->error || none));
        live[c->engine] += c->live;
        waits[c->engine] = waits[c->engine] || c->state == TERN_SCHED_READY;
        held += c->state == TERN_SCHED_CAPPED;
        if (tern_list_empty(&c->update) && (c->state == TERN_SCHED_READY || c->state == TERN_SCHED_CAPPED)) {
            assert_int_equal(c->state == TERN_SCHED_CAPPED, tern_cap_holds(c));
        }
        if (c->state == TERN_SCHED_READY && tern_list_empty(&c->update)) {
            assert_false(clients[i].mock.absent);
        }
        if (c->state == TERN_SCHED_WAITING) { /* no lost wake-up: its fence is not signalled */
            assert_true(mock.fence[c->wait_address / 8] < c->wait_value);
        }
    }
    for (uint32_t e = 0; e < mock.sched.engines; e++) {
        const struct tern_sched_engine *engine = &mock.sched.engine[e];
        uint32_t counted = 0;
        for (uint32_t b = 0; b < TERN_BANDS; b++) {
            counted += mock.sched.main.on[e].band[b].queue.live + parts[0].on[e].band[b].queue.live +
                       parts[1].on[e].band[b].queue.live;
        }
        assert_int_equal(counted, live[e]);
        if (waits[e] && !engine->preemption && !engine->preempt_now) {
            assert_int_equal(engine->n, mock.sched.config.depth); /* work-conserving: both places of the HW queue */
        }
        if (!engine->n && !engine->preemption) { /* no movable context waits behind another elsewhere */
            for (uint32_t f = 0; f < mock.sched.engines; f++) {
                for (uint32_t b = 0; b < TERN_BANDS; b++) {
                    assert_true(live[f] < 2 || (tern_list_empty(&mock.sched.main.on[f].band[b].movable) &&
                                                tern_list_empty(&parts[0].on[f].band[b].movable) &&
                                                tern_list_empty(&parts[1].on[f].band[b].movable)));
                }
            }
        }
    }
}

/** Checks that every packet of a completed job ran exactly once. */
static void note_end(const struct client *c, const struct tern_job *job)
{
    const struct mock_work *w = job->user;
    completed[c - clients][job->fence - 1] = job->result == TERN_COMPLETED;
    for (uint32_t k = 0; job->result == TERN_COMPLETED && k < job->size / TERN_PKT_LINE_BYTES; k++) {
        assert_int_equal(w->executed[k], !job->null);
    }
}

static void step(void)
{
    run_once();
    judge();
    for (int i = 0; i < CLIENTS; i++) {
        if (clients[i].mock.absent && pick(4) == 0) {
            mock_page_comes(&mock, &clients[i].mock);
        }
    }
    uint64_t due = tern_sched_deadline(&mock.sched), next = mock_next(&mock);
    uint64_t n = pick(4) ? 1 + pick(100) : 1 + pick(2000);
    if (pick(2)) { /* otherwise the scheduler runs late */
        n = due < n ? due : n;
        n = next < n ? next : n;
    }
    mock_advance(&mock, n ? n : 1);
}

static void round_of(unsigned number)
{
    srand(seed + number);
    judge_end = note_end;
    begin();
    for (int left = CLIENTS * JOBS; left;) {
        int i = (int)pick(CLIENTS);
        for (uint32_t n = pick(4); n && clients[i].submitted < JOBS; n--, left--) {
            submit_one(i);
        }
        disturb();
        step();
    }
    for (int i = 0; i < CLIENTS; i++) {
        if (holds[i]) {
            assert_true(tern_sched_context_resume(&mock.sched, &clients[i].mock.sched, holds[i]));
        }
    }
    if (capped && number % 2) { /* in other rounds the cap stays */
        tern_sched_cap_end(&mock.sched, &cap);
    }
    for (int p = 0; p < PROCESSES; p++) {
        mock.fence[8 * p] += 2;
        tern_sched_signalled(&mock.sched, &procs[p]);
    }
    for (int t = 0; tern_sched_pending(&mock.sched) || tern_sched_busy(&mock.sched); t++) {
        assert_true(t < 100000);
        step();
        for (int p = 1; p < 3 && t == 20000; p++) { /* endless work keeps an engine that no other work wants (F2) */
            procs[p].error = true;
            tern_sched_abort(&mock.sched, &procs[p]);
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        const struct tern_sched_process *p = &procs[process_of(i)];
        assert_int_equal(clients[i].ended, JOBS);
        assert_true(p->error || clients[i].results[TERN_COMPLETED] == JOBS);
        bool good = true;
        for (int k = 0; k < JOBS; k++) { /* jobs behind a failed one have failed */
            assert_true(good || !completed[i][k]);
            good = good && completed[i][k];
        }
        for (uint32_t e = 0; e < mock.sched.engines; e++) {
            for (uint32_t b = 0; b < TERN_BANDS; b++) {
                assert_int_equal(p->group[b][e].queue.live, 0);
            }
        }
    }
    assert_int_equal(procs[0].faults + procs[3].faults + procs[4].faults + procs[5].faults, 0);
}

static void test_random(void **state)
{
    (void)state;
    const char *given = getenv("TERN_TEST_SEED");
    seed = given ? (unsigned)strtoul(given, NULL, 0) : 1;
    printf("seed %u (rerun: TERN_TEST_SEED=%u)\n", seed, seed);
    uint64_t resumed = 0, moved = 0, resets = 0, faults = 0, asked = 0;
    for (unsigned k = 0; k < 150; k++) {
        round_of(k);
        resumed += mock.resumed;
        moved += mock.moved;
        resets += mock.resets;
        faults += mock.faults;
        asked += mock.asked;
    }
    printf("%llu chunks went on, %llu on another engine; %llu resets, %llu faults; %llu pages\n",
           (unsigned long long)resumed, (unsigned long long)moved, (unsigned long long)resets,
           (unsigned long long)faults, (unsigned long long)asked);
    assert_true(held > 1000 && resumed > 1000 && moved > 100 && resets > 10 && faults > resets && asked > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests_name("sched_random", tests, NULL, NULL);
}
