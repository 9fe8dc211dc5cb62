/* SPDX-License-Identifier: Apache-2.0 */
/** The simulation of pager_sim.h: engines, programs, moves, and the steps of the driver's threads. */
#include "os/job/job.h"
#include "os/mem/mem.h"
#include "pager_sim.h"
#include "rig.h"
#include "waiting.h"

static struct mock m;
struct program programs[PROGRAMS];
uint32_t program_count;
static bool simulating;
uint64_t move_cycles;
static uint64_t last_submission;
uint64_t moved, longest;
static uint64_t moved_since; /* blocks moved since a job ended last */
const char *wrong;
enum mutant mutant;

uint64_t pick_state;

uint32_t pick(uint32_t n)
{
    pick_state = pick_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(pick_state >> 33) % n;
}

void expect(bool good, const char *what)
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

struct tern_allocation *used(const struct program *p, uint64_t job, uint32_t i)
{
    return p->buffer[(job * p->stride + i) % p->buffers];
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
        for (uint32_t i = 0; i < program_count; i++) {
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
void __real_tern_lease_come_first(struct tern_device *device, struct tern_ticket *ticket);
void __wrap_tern_lease_come_first(struct tern_device *device, struct tern_ticket *ticket);
bool __real_tern_lease_keeps(const struct tern_context *c, const struct tern_precedence *precedence);
bool __wrap_tern_lease_keeps(const struct tern_context *c, const struct tern_precedence *precedence);

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

bool __wrap_tern_lease_keeps(const struct tern_context *c, const struct tern_precedence *precedence)
{
    const bool keeps = __real_tern_lease_keeps(c, precedence);
    return mutant == NOBODY_KEEPS ? false
           : mutant == ALL_KEEP   ? c->lease.ticket.number != precedence->ticket.number
                                  : keeps;
}

/** Wraps tern_lease_come_first and checks the new ticket: it is ahead of tickets without a lease, and behind the leases
 *  that have begun. */
void __wrap_tern_lease_come_first(struct tern_device *device, struct tern_ticket *ticket)
{
    const struct tern_precedence without = {TERN_BAND_NORMAL, {.pages = 1, .number = 1}};
    __real_tern_lease_come_first(device, ticket);
    const struct tern_precedence first = {TERN_BAND_NORMAL, *ticket};
    expect(tern_lease_before(&first, &without), "a ticket that comes first is behind one without a lease");
    for (uint32_t i = 0; i < program_count; i++) {
        const struct tern_lease *lease = &programs[i].c->lease;
        const struct tern_precedence in_lease = {TERN_BAND_NORMAL, lease->ticket};
        expect(!lease->ready || !lease->ticket.number || tern_lease_before(&in_lease, &first),
               "a ticket comes before a lease that has begun");
    }
}

/* ---------------------------------------------------------------- simulation */

void programs_open(const char *config)
{
    rig_open(config, NULL);
    assert_true(dev->kmd.page_requests);
    for (uint32_t i = 0; i < program_count; i++) {
        struct program *p = &programs[i];
        const struct tern_context_desc d = {.size = sizeof d, .name = "program", .engine = -1, .user = p};
        ok(tern_process_create(dev, "program", &p->p));
        ok(tern_context_create(p->p, &d, &p->c));
    }
}

void program_buffers(struct program *p, uint32_t n, const uint32_t *bytes)
{
    p->buffers = n;
    for (uint32_t i = 0; i < n; i++) {
        ok(tern_allocation_create(p->p, bytes ? bytes[i] : 1992292, TERN_MEM_READ | TERN_MEM_WRITE, 0, &p->buffer[i]));
    }
}

void programs_close(void)
{
    for (uint32_t i = 0; i < program_count; i++) {
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
    for (uint32_t i = 0; i < program_count; i++) {
        any = any || programs[i].began;
    }
    return any;
}

/** Simulates so many cycles, and then until all work has ended. */
void simulate(uint64_t cycles)
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
    for (uint32_t i = 0; i < program_count; i++) {
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
    for (uint32_t i = 0; i < program_count; i++) {
        tern_list_remove(&programs[i].c->absent);
    }
    simulating = dev->pager.started = dev->pager.stop = false;
    dev->sched.ops = ops;
    dev->sched.user = user;
    dev->sched.now = now;
    pthread_mutex_unlock(&dev->lock);
}

uint32_t capacity(void)
{
    pthread_mutex_lock(&dev->lock);
    const uint32_t pages = tern_pages_free_count(dev->partition.pages) + dev->partition.movable;
    pthread_mutex_unlock(&dev->lock);
    return pages;
}

uint32_t most_used(const struct program *p)
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

uint32_t blocks_of(const struct program *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->buffers; i++) {
        n += p->buffer[i]->mem->block_count;
    }
    return n;
}

int programs_teardown(void **unused)
{
    return rig_teardown(unused);
}
