/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs whose memory does not fit at once, under the driver's pager and scheduler, on mock engines. Thousands of
 * moves are simulated, the same in each run. Moves are counted, and take device time in which other programs run.
 * Checked:
 *
 * - progress: while a program has work, an engine runs or a block moves. Between two jobs that end at most four times
 *   as many blocks move as all programs and a ticket's stops for pages need (A6);
 * - no starvation: a job takes no longer than the stays, moves and work of all programs;
 * - no block is evicted while work on an engine names it;
 * - mutants of the rule that decides which process keeps memory from which violate these.
 *
 * The device is the model until all is made. Then its thread and the pager's are stopped, and the test makes their
 * steps (simulate).
 */
#include "mock_engine.h"
#include "rig.h"

#define MIB (1u << 20)
#define PROGRAMS 17
#define BUFFERS 12
#define STAY 20000u /* cycles; also the quantum */

typedef unsigned long long ull;

enum kind { NAMES, ASKS, ALL }; /* which memory a job needs: a named set; pages on request; all of it */

struct program {
    struct mock_context mock;
    struct mock_work work;
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *buffer[BUFFERS];
    enum kind kind;
    uint32_t buffers, uses, packets; /* buffers of a job; a job with page requests uses one more in each packet */
    uint64_t think, until;           /* cycles between its jobs */
    uint64_t jobs, began;            /* began: submission of its last job; 0: none */
    uint64_t worst;                  /* cycles of its longest job */
    uint32_t missing;                /* address of a page that it needs */
};

static struct mock m;
static struct program programs[PROGRAMS];
static uint32_t count;
static bool simulating;
static uint64_t move_cycles; /* cycles to move a page */
static uint64_t last_submission;
static uint64_t moved, moved_since, longest; /* blocks moved: in all, since a job ended last, and the most of these */
static const char *wrong;
/* the changed rule: no process keeps memory, or all do */
static enum mutant { NONE, NOBODY_KEEPS, ALL_KEEP, MUTANTS } mutant;

static uint64_t state;

static uint32_t pick(uint32_t n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % n;
}

static void expect(bool good, const char *what)
{
    wrong = good || wrong ? wrong : what;
}

/* ------------------------------------------------------------------- engines */

static struct program *program_of(const struct tern_sched_context *c)
{
    return TERN_CONTEXT_OF((struct tern_sched_context *)(uintptr_t)c)->user;
}

static struct mock_context *mock_of(const struct tern_sched_context *c)
{
    return &program_of(c)->mock;
}

static struct tern_allocation *used(const struct program *p, uint64_t job, uint32_t i)
{
    return p->buffer[(job + i) % p->buffers];
}

/** Returns an allocation of the packet that is not on the device, or NULL. */
static const struct tern_allocation *absent(const struct program *p, uint64_t job, uint32_t packet)
{
    for (uint32_t i = 0; i < (p->kind == ALL ? p->buffers : p->uses); i++) {
        const struct tern_allocation *a = used(p, job, p->kind == ASKS ? i + packet : i);
        if (!tern_list_empty(&a->mem->away)) {
            return a;
        }
    }
    return NULL;
}

static bool lacks(struct mock *mock, const struct tern_chunk *chunk)
{
    struct program *p = program_of(chunk->context);
    const struct mock_queue *q = &mock->queue[chunk->context->engine];
    const struct tern_allocation *a = absent(p, chunk->job->fence, chunk->start / TERN_PKT_LINE_BYTES + q->at);
    if (!a) {
        return false;
    }
    expect(p->kind == ASKS, "work runs without the memory that it names");
    const struct tern_block *block = TERN_FIRST_BLOCK(&a->mem->away);
    p->missing = (a->va + block->first) * TERN_PAGE;
    return p->kind == ASKS;
}

static bool asked(struct tern_sched_context *c, struct tern_job *job)
{
    return tern_demand_request(TERN_CONTEXT_OF(c), job, program_of(c)->missing);
}

static bool resident(struct tern_sched_context *c, struct tern_job *job)
{
    return tern_residency_ready(TERN_CONTEXT_OF(c), job);
}

/* ------------------------------------------------------------------ programs */

static int compare(const void *one, const void *two)
{
    const uint32_t x = *(const uint32_t *)one, y = *(const uint32_t *)two;
    return x < y ? -1 : x > y;
}

static void submit(struct program *p)
{
    struct tern_job *job = mock_job(&p->work, p->packets, p->jobs);
    if (p->kind == NAMES) {
        job->set = malloc(sizeof *job->set + p->uses * sizeof job->set->address[0]);
        assert_non_null(job->set);
        *job->set = (struct tern_set){.refs = 1, .count = p->uses};
        for (uint32_t i = 0; i < p->uses; i++) {
            job->set->address[i] = tern_allocation_address(used(p, p->jobs, i));
        }
        qsort(job->set->address, p->uses, sizeof job->set->address[0], compare);
    } else if (p->kind == ASKS) {
        ok(tern_demand_begin(job));
    }
    job->seq = ++p->p->seq;
    job->submitted = m.now;
    p->began = m.now;
    tern_sched_submit(&dev->sched, &p->c->sched, job);
}

static void take_ended(void)
{
    struct tern_job *job;
    while ((job = tern_sched_ended(&dev->sched))) {
        struct program *p = program_of(job->context);
        expect(job->result == TERN_COMPLETED, "a job did not complete");
        p->worst = m.now - p->began > p->worst ? m.now - p->began : p->worst;
        p->jobs++;
        p->began = 0;
        p->until = m.now + p->think;
        moved_since = 0;
        tern_set_release(job->set);
        free(job->needs);
        free(job);
    }
}

/** Lets at most so many cycles pass. */
static void pass(uint64_t cycles)
{
    for (const uint64_t end = m.now + cycles; m.now < end && !wrong;) {
        uint64_t n = end - m.now;
        for (uint32_t i = 0; i < count; i++) {
            struct program *p = &programs[i];
            if (m.now < last_submission && !p->began && p->until <= m.now) {
                submit(p);
            }
            n = !p->began && p->until > m.now && p->until - m.now < n ? p->until - m.now : n;
        }
        expect(tern_sched_run(&dev->sched) == 0, "the scheduler lost its device");
        const uint64_t next = mock_next(&m), deadline = tern_sched_deadline(&dev->sched);
        n = next < n ? next : n;
        n = deadline < n ? deadline : n;
        mock_advance(&m, n ? n : 1);
        dev->sched.now = m.now;
        take_ended();
    }
}

/* --------------------------------------------------------------------- moves */

int __real_tern_move_in(struct tern_block *block);
int __wrap_tern_move_in(struct tern_block *block);
int __real_tern_move_out(struct tern_block *block);
int __wrap_tern_move_out(struct tern_block *block);
bool __real_tern_stay_keeps(const struct tern_context *c, const struct tern_wants *wants);
bool __wrap_tern_stay_keeps(const struct tern_context *c, const struct tern_wants *wants);

static void moves(const struct tern_block *block)
{
    moved++;
    longest = ++moved_since > longest ? moved_since : longest;
    pass(block->pages * move_cycles);
}

int __wrap_tern_move_in(struct tern_block *block)
{
    struct tern_paging scrub = {0};
    if (!simulating) {
        return __real_tern_move_in(block);
    }
    const int r = tern_map_take(block, &scrub);
    tern_paging_free(&scrub);
    if (!r) {
        moves(block);
        dev->pager.brought += block->pages;
        tern_residency_set(block, true);
    }
    return r;
}

/** Returns true if work on an engine names the block. The scheduler then preempts that work. */
static bool in_use(const struct tern_block *block)
{
    const struct tern_allocation *a = tern_memory_first(block->m);
    bool any = false;
    for (uint32_t e = 0; e < dev->sched.engines; e++) {
        for (uint32_t i = 0; i < dev->sched.engine[e].n; i++) {
            const struct tern_chunk *chunk = &dev->sched.engine[e].inflight[i];
            if (program_of(chunk->context)->p == a->proc && tern_demand_needs(chunk->job, a, block)) {
                tern_sched_context_recheck(&dev->sched, chunk->context, true);
                any = true;
            }
        }
    }
    return any;
}

int __wrap_tern_move_out(struct tern_block *block)
{
    if (!simulating) {
        return __real_tern_move_out(block);
    }
    struct tern_process *const proc = tern_memory_first(block->m)->proc;
    tern_residency_set(block, false);
    TERN_LIST_EACH(node, &proc->contexts)
    {
        tern_sched_context_recheck(&dev->sched, &TERN_LIST_ENTRY(node, struct tern_context, node)->sched, false);
    }
    while (in_use(block) && !wrong) {
        pass(100);
    }
    moves(block);
    dev->pager.evicted += block->pages;
    tern_block_give(block, true);
    return 0;
}

bool __wrap_tern_stay_keeps(const struct tern_context *c, const struct tern_wants *wants)
{
    const bool keeps = __real_tern_stay_keeps(c, wants);
    return mutant == NOBODY_KEEPS ? false
           : mutant == ALL_KEEP   ? c->stay.ticket.number != wants->ticket.number
                                  : keeps;
}

/* ---------------------------------------------------------------- simulation */

static void programs_open(const char *config)
{
    rig_open(config, NULL);
    assert_true(dev->kmd.page_requests);
    for (uint32_t i = 0; i < count; i++) {
        struct program *p = &programs[i];
        const struct tern_context_desc d = {.size = sizeof d, .name = "program", .engine = -1, .user = p};
        ok(tern_process_create(dev, "program", &p->p));
        ok(tern_context_create(p->p, &d, &p->c));
    }
}

static void program_buffers(struct program *p, uint32_t n, const uint32_t *bytes)
{
    p->buffers = n;
    for (uint32_t i = 0; i < n; i++) {
        ok(tern_allocation_create(p->p, bytes ? bytes[i] : 1992292, TERN_MEM_READ | TERN_MEM_WRITE, 0, &p->buffer[i]));
    }
}

static void programs_close(void)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < programs[i].buffers; k++) {
            tern_allocation_destroy(programs[i].buffer[k]);
        }
        tern_context_destroy(programs[i].c);
        ok(tern_process_destroy(programs[i].p));
    }
    rig_done();
}

static bool has_work(void)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        any = any || programs[i].began;
    }
    return any;
}

/** Simulates so many cycles, and then until all work has ended. */
static void simulate(uint64_t cycles)
{
    wrong = NULL;
    moved = moved_since = longest = 0;
    pthread_mutex_lock(&dev->lock);
    const bool started = dev->pager.started;
    pthread_mutex_unlock(&dev->lock);
    if (started) {
        tern_pager_stop(dev);
    }
    pthread_mutex_lock(&dev->lock); /* held until the end */
    const struct tern_sched_ops *const ops = dev->sched.ops;
    void *const user = dev->sched.user;
    const uint64_t now = dev->sched.now;
    mock_init(&m, dev->sched.engines, NULL);
    m.of = mock_of;
    m.lacks = lacks;
    m.resident = resident;
    m.page = asked;
    m.returns = true;
    m.now = now + 1;
    m.save_cycles = m.restore_cycles = 50;
    dev->sched.ops = m.sched.ops;
    dev->sched.user = &m;
    dev->pager.started = simulating = true;
    for (uint32_t i = 0; i < count; i++) {
        programs[i].jobs = programs[i].began = programs[i].worst = 0;
        programs[i].until = m.now;
        memset(&programs[i].mock, 0, sizeof programs[i].mock);
    }
    for (uint32_t e = 0; e < dev->sched.engines; e++) {
        m.queue[e].last_completed = m.queue[e].last_submitted = dev->sched.engine[e].last_completed;
    }
    last_submission = m.now + cycles;
    for (uint32_t stuck = 0; !wrong && (m.now < last_submission || has_work());) {
        const enum tern_outcome o = tern_pager_look(dev);
        const bool runs = tern_sched_busy(&dev->sched);
        if (o != TERN_AGAIN) {
            pass(500);
        }
        stuck = o == TERN_AGAIN || runs || !has_work() ? 0 : stuck + 1;
        expect(stuck < 20, "nothing runs, and nothing moves");
        expect(m.now < last_submission + 10 * cycles, "work does not end");
    }
    if (wrong) { /* ends the remaining work, so that the device can be closed */
        tern_sched_abort_all(&dev->sched);
        for (struct tern_job *job; (job = tern_sched_ended(&dev->sched));) {
            tern_set_release(job->set);
            free(job->needs);
            free(job);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        tern_list_remove(&programs[i].c->absent);
    }
    simulating = dev->pager.started = dev->pager.stop = false;
    dev->sched.ops = ops;
    dev->sched.user = user;
    dev->sched.now = now;
    pthread_mutex_unlock(&dev->lock);
}

/* --------------------------------------------------------------------- tests */

struct figures {
    uint64_t jobs, moved, small; /* small: cycles of the longest job of the one that fits */
};

/** n programs with ten buffers of 1.9 MiB, of which a job uses four, and one program of 4 MiB, on 16 MiB. */
static struct figures many(uint32_t n, enum kind kind, uint64_t cycles)
{
    static const uint32_t four = 4 * MIB;
    count = n + 1;
    memset(programs, 0, sizeof programs);
    programs_open("small,mem=16M,host=400M,stay=20000,quantum=20000,timeout=4000000");
    for (uint32_t i = 0; i < count; i++) {
        struct program *p = &programs[i];
        p->kind = i < n ? kind : ALL;
        p->work = (struct mock_work){.cost = 2000, .group = 200, .fault_at = -1};
        p->uses = i < n ? 4 : 1;
        p->packets = 1;
        p->think = 100;
        program_buffers(p, i < n ? 10 : 1, i < n ? NULL : &four);
    }
    move_cycles = 2;
    simulate(cycles);
    struct figures f = {.moved = moved, .small = programs[n].worst};
    for (uint32_t i = 0; i < n; i++) {
        f.jobs += programs[i].jobs;
        expect(programs[i].jobs, "a program did nothing");
    }
    print_message("%u %s: %llu jobs, %llu blocks moved, at most %llu for a job; the small one: %llu jobs, the worst "
                  "%llu cycles%s%s\n", n, kind == ASKS ? "ask" : "name", (ull)f.jobs,
                  (ull)moved, (ull)longest, (ull)programs[n].jobs,
                  (ull)f.small, wrong ? ": " : "", wrong ? wrong : "");
    programs_close();
    return f;
}

static void test_many(void **unused)
{
    (void)unused;
    static const uint32_t ns[] = {3, 4, 8, 16};
    for (enum kind kind = NAMES; kind <= ASKS; kind++) {
        const struct figures one = many(1, kind, 4000000), two = many(2, kind, 4000000);
        assert_null(wrong);
        for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
            const struct figures f = many(ns[i], kind, 4000000);
            assert_null(wrong);
            assert_true(2 * f.jobs >= two.jobs);
            assert_true(2 * f.jobs * two.moved >= two.jobs * f.moved);
            assert_true(f.small <= 10 * one.small);
        }
    }
}

/** Returns the pages that can be on the device at once. */
static uint32_t capacity(void)
{
    pthread_mutex_lock(&dev->lock);
    const uint32_t pages = tern_pages_free_count(dev->partition.pages) + dev->partition.movable;
    pthread_mutex_unlock(&dev->lock);
    return pages;
}

/** Returns the pages that a job of the program uses at most. */
static uint32_t most_used(const struct program *p)
{
    uint32_t most = 0;
    for (uint32_t first = 0; first < p->buffers; first++) {
        uint32_t pages = 0;
        for (uint32_t i = 0; i < p->uses; i++) {
            pages += used(p, first, i)->pages;
        }
        most = pages > most ? pages : most;
    }
    return most;
}

static uint32_t blocks_of(const struct program *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->buffers; i++) {
        n += p->buffer[i]->mem->block_count;
    }
    return n;
}

/** Simulates random programs of all kinds and sizes. */
static void mix(uint64_t seed)
{
    char config[100];
    state = seed;
    memset(programs, 0, sizeof programs);
    count = 2 + pick(PROGRAMS - 1);
    const uint32_t stay = pick(2) ? STAY : 1 + pick(100000);
    snprintf(config, sizeof config, "small,mem=%uM,host=900M,stay=%u,quantum=20000,timeout=400000000", 12 + pick(8),
             stay);
    programs_open(config);
    uint32_t blocks = 0;
    uint64_t work = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct program *p = &programs[i];
        uint32_t bytes[BUFFERS];
        const uint32_t n = 1 + pick(BUFFERS), most = pick(4) ? 2 * MIB : 8 * MIB;
        for (uint32_t k = 0; k < n; k++) {
            bytes[k] = 1 + pick(most);
        }
        program_buffers(p, n, bytes);
    }
    const uint32_t there = capacity();
    for (uint32_t i = 0; i < count; i++) {
        struct program *p = &programs[i];
        p->kind = pick(3);
        p->packets = 1 + pick(4);
        p->think = pick(3) ? pick(1000) : pick(100000);
        p->work = (struct mock_work){.group = 50 + pick(400), .fault_at = -1};
        p->work.cost = 100 + pick(pick(3) ? 3000 : 30000);
        for (p->uses = p->kind == ALL ? p->buffers : 1 + pick(p->buffers); most_used(p) > there; p->uses--) {
            p->kind = p->kind == ALL ? NAMES : p->kind;
        }
        blocks += blocks_of(p);
        work += p->packets * p->work.cost;
    }
    move_cycles = pick(4);
    simulate(1000000);
    uint64_t worst = 0, jobs = 0;
    for (uint32_t i = 0; i < count; i++) {
        worst = programs[i].worst > worst ? programs[i].worst : worst;
        jobs += programs[i].jobs;
    }
    const uint64_t bound = 8 * (stay > STAY ? stay : STAY) + 4 * there * move_cycles; /* cycles of a ticket */
    /* cycles of tickets that overtake a job's */
    const uint64_t lower = (1 + work / count / stay) * 64 * there * move_cycles;
    expect(longest <= 4 * (blocks + 64), "blocks move, and no job ends");
    expect(worst <= work + count * bound + lower, "a job waits too long");
    print_message("seed %llu: %s, %u programs of %u blocks: %llu jobs, the worst %llu cycles; %llu blocks moved, at "
                  "most %llu for a job%s%s\n", (ull)seed, config, count, blocks, (ull)jobs, (ull)worst, (ull)moved,
                  (ull)longest, wrong ? ": " : "", wrong ? wrong : "");
    programs_close();
}

static void test_random(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        mix(seed);
        assert_null(wrong);
    }
}

static void test_mutants(void **unused)
{
    (void)unused;
    for (enum mutant i = NOBODY_KEEPS; i < MUTANTS; i++) {
        uint32_t found = 0;
        mutant = i;
        for (uint64_t seed = 1; seed <= 12; seed++) {
            mix(seed);
            found += wrong != NULL;
        }
        mutant = NONE;
        print_message("mutant %d: found by %u of 12\n", i, found);
        assert_true(found >= 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_many, rig_teardown),
        cmocka_unit_test_teardown(test_random, rig_teardown),
        cmocka_unit_test_teardown(test_mutants, rig_teardown),
    };
    return cmocka_run_group_tests_name("pager", tests, NULL, NULL);
}
