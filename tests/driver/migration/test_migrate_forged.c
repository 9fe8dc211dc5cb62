/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Images that no device could have written (M3). One property of a valid image is changed, and the image is refused
 * with the sentence about it. Each change violates one condition of driver/migration/state/check.c and no other.
 */
#include "migration.h"
#include "migration_scene.h"

#include "migration/state/internal.h"
#include "os/job/job.h"
#include "tests/lib/submit.h"

static struct tern_image *im;

/** If this is change k: makes it, and returns the sentence that the refusal must have. */
#define TRY(text, ...)   \
    if (k-- == 0) {      \
        __VA_ARGS__;     \
        return text;     \
    }

/** Returns the process's allocation at an address. */
static struct tern_image_allocation *at(uint32_t process, uint32_t address)
{
    struct tern_image_process *p = &im->processes[process];
    for (uint32_t i = 0; i < p->allocation_count; i++) {
        if (p->allocations[i].va == address / TERN_PAGE) {
            return &p->allocations[i];
        }
    }
    fail_msg("nothing of the image is at 0x%x", address);
    return NULL;
}

static struct tern_image_allocation *destroyed(void)
{
    struct tern_image_process *p = &im->processes[1];
    for (uint32_t i = 0; i < p->allocation_count; i++) {
        if (p->allocations[i].retired) {
            return &p->allocations[i];
        }
    }
    fail_msg("nothing was destroyed");
    return NULL;
}

/** The target lacks one property that the image needs. */
static const char *forge_device(int k)
{
    struct tern_image_device *d = &im->device;
    TRY("of interface description 0x", d->spec ^= 1)
    TRY("lanes, and this one has", d->lanes++)
    TRY("warps, and this one has", d->warps++)
    TRY("bytes of local memory, and this one has", d->local_bytes *= 2)
    TRY("a context names engine", d->engines = there->kmd.engines + 1)
    TRY("user executors, and this one has", d->executors = there->kmd.executors + 1)
    TRY("cannot stop work where that of the image was stopped", d->granularity = there->kmd.granularity + 1)
    TRY("KiB that stay on the device and", d->resident = 9000)
    TRY("KiB that may be evicted", d->committed = 1 << 30)
    return NULL;
}

static const char *forge_memory(int k)
{
    struct tern_image_process *p = &im->processes[1];
    struct tern_image_allocation *plain = at(1, tern_allocation_address(scene.waits.code)), *gone = destroyed(),
                                 *shared = at(1, tern_allocation_address(scene.shared)),
                                 *exported = at(0, tern_allocation_address(scene.counts.args)),
                                 *sparse = at(1, tern_allocation_address(scene.sparse)),
                                 *pinned = at(1, tern_allocation_address(scene.waits.data)),
                                 *fence = at(1, tern_fence_address(scene.gate));
    struct tern_image_memory *m = im->memories;
    TRY("names no memory", plain->memory = im->memory_count)
    TRY("has impossible addresses or flags", p->allocations[0].va = TERN_VA_FIRST - 1)
    TRY("has impossible addresses or flags", plain->va = TERN_VA_END + 1)
    TRY("has impossible addresses or flags", m[plain->memory].pages = 0)
    TRY("has impossible addresses or flags", m[plain->memory].pages = TERN_VA_END - plain->va + 1)
    TRY("has impossible addresses or flags", plain->flags = 0)
    TRY("has impossible addresses or flags", plain->flags |= 0x100)
    TRY("is not of the kind of its memory", plain->flags |= TERN_MEM_SPARSE)
    TRY("is not of the kind of its memory", sparse->flags &= ~TERN_MEM_SPARSE)
    TRY("is not of the kind of its memory", sparse->imported = true)
    TRY("is not of the kind of its memory", m[sparse->memory].stays = true)
    TRY("is not of the kind of its memory", shared->flags = TERN_MEM_READ; m[plain->memory].stays = true;
        plain->imported = true)
    TRY("is no fence", m[fence->memory].stays = false)
    TRY("is no fence", m[fence->memory].pages = 2)
    TRY("is no fence", fence->flags = TERN_MEM_READ)
    TRY("is no fence", fence->retired = true; fence->asked = 1)
    TRY("has impossible counts", pinned->pins = 65537)
    TRY("has impossible counts", m[pinned->memory].stays = true)
    TRY("has impossible counts", gone->retire_seq = p->seq + 1)
    TRY("has impossible counts", gone->asked = 0)
    TRY("is exported with more than it has", exported->exports[0].access = 0)
    TRY("is exported with more than it has", exported->exports[0].access |= 0x100)
    TRY("is exported with more than it has", exported->exports[0].access |= TERN_MEM_EXEC)
    TRY("cannot be exported", exported->imported = true)
    TRY("cannot be exported", exported->retired = true; exported->asked = 1)
    TRY("cannot be exported", sparse->exports = calloc(1, sizeof *sparse->exports); sparse->export_count = 1;
        sparse->exports[0].access = TERN_MEM_READ)
    TRY("is not in order", p->allocations[1].va = p->allocations[0].va)
    TRY("is not mapped", plain->memory = pinned->memory)
    TRY("is mapped twice, and cannot be shared", m[shared->memory].stays = true; shared->imported = false)
    TRY("is mapped twice, and cannot be shared", shared->memory = sparse->memory; shared->flags |= TERN_MEM_SPARSE;
        shared->imported = false)
    TRY("has another number of blocks than its addresses", m[sparse->memory].blocks++)
    return NULL;
}

static const char *forge_context(int k)
{
    struct tern_image_context *c = &im->processes[1].contexts[0];
    struct tern_image_job *j = &c->jobs[0];
    const uint64_t seq = im->processes[1].seq;
    assert_true(c->job_count == 3 && j->set.named && j->set.count == 1 && !c->chunk_count && c->data);
    TRY("an engine, weight or band", c->engine = -2)
    TRY("an engine, weight or band", c->engine = (int32_t)there->kmd.engines)
    TRY("an engine, weight or band", c->weight = 0)
    TRY("an engine, weight or band", c->weight = TERN_WEIGHT_MAX + 1)
    TRY("an engine, weight or band", c->band = TERN_BAND_REALTIME + 1)
    TRY("buffers of the driver outside", c->arena = TERN_VA_FIRST - 1)
    TRY("buffers of the driver outside", c->arena = TERN_VA_END - 2 * TERN_SLOT_PAGES + 1)
    TRY("buffers of the driver outside", c->data = TERN_VA_FIRST - 1)
    TRY("buffers of the driver outside", c->data = TERN_VA_END - 2 * TERN_DATA_PAGES + 1)
    TRY("counts that cannot be", c->ended = c->submitted + 1)
    TRY("counts that cannot be", c->submitted++)
    TRY("counts that cannot be", c->first_bad = c->ended + 1)
    TRY("counts that cannot be", im->processes[1].error = true)
    TRY("counts that cannot be", c->estimate = -1)
    TRY("counts that cannot be", c->set.address = calloc(2, sizeof(uint32_t)); c->set.count = 2; c->set.named = true)
    TRY("a job that cannot be", j->set.named = false)
    TRY("a job that cannot be", j->set.address = realloc(j->set.address, 2 * sizeof(uint32_t));
        j->set.address[1] = j->set.address[0]; j->set.count = 2)
    TRY("a job that cannot be", c->jobs[1].begun = true)
    TRY("a job that cannot be", c->data = 0; c->jobs[1].job->data_size = 64)
    TRY("jobs that are not in order", c->jobs[1].fence++)
    TRY("jobs that are not in order", j->seq = 0)
    TRY("jobs that are not in order", c->jobs[2].seq = seq + 1)
    TRY("jobs that are not in order", c->jobs[1].seq = j->seq)
    TRY("bytes", j->job->size -= 4)
    TRY("a job that is sent to another byte", j->sent = 1)
    TRY("a job that is sent to another byte", j->sent = j->job->size)
    TRY("a job that is sent to another byte", j->asks = false; j->sent = 1)
    TRY("a job that is sent to another byte", j->asks = false; j->sent = j->job->size)
    TRY("a job that is sent to another byte", c->jobs[1].sent = 64)
    TRY("a job that is sent to another byte", j->last = (struct tern_box){{0}, {1, 1, 1}})
    return NULL;
}

static const char *forge_chunks(int k)
{
    struct tern_image_context *c = &im->processes[0].contexts[0];
    struct tern_image_chunk *s = c->chunk;
    assert_true(c->chunk_count == 2 && s->resume && !s[1].resume && c->job_count == 3 && !s->start);
    TRY("a chunk that does not follow the one before", s->job = 1)
    TRY("a chunk that does not follow the one before", s[1].start = 128)
    TRY("a chunk that does not follow the one before", s->start = 128)
    TRY("a chunk that does not follow the one before", s[1].size -= 64)
    TRY("a chunk that does not follow the one before", s[1].size += 64)
    TRY("a chunk that does not follow the one before", s[1].more = true)
    TRY("a chunk that does not follow the one before", s[1].box.size[0] = 1)
    TRY("a chunk that does not follow the one before", s->seq++)
    TRY("a chunk that does not follow the one before", c->chunks = 1; s->seq = 0; s[1].seq = 1)
    TRY("a chunk that does not follow the one before", s->preempted_on = TERN_ENGINES_MAX)
    TRY("more chunks than jobs", c->job_count = 1; c->submitted -= 2)
    TRY("a chunk that cannot go on", s[1].resume = true)
    TRY("a chunk that cannot go on", c->jobs[0].begun = false)
    TRY("a chunk that cannot go on", c->save.saved = false)
    TRY("a chunk that cannot go on", c->jobs[0].null = true)
    TRY("a chunk that cannot go on", s->resume_at = s->size; c->save.offset = s->size + TERN_CHUNK_PREFIX)
    TRY("a chunk that cannot go on", c->save.offset += 64)
    TRY("a chunk that cannot go on", s->resume_at = 64; c->save.offset = 64 + TERN_CHUNK_PREFIX)
    TRY("lines of state of executor", c->save.lines = 1 << 20)
    TRY("lines of state of executor", c->save.executor = TERN_CTX_EXECUTOR_USER + 1)
    TRY("lines of state of executor", c->save.executor = TERN_CTX_EXECUTOR_NONE)
    TRY("a job that is sent to another byte", c->jobs[0].sent -= 64)
    TRY("a job that is sent to another byte", c->jobs[0].last = (struct tern_box){{0}, {1, 1, 1}})
    TRY("a job that is sent to another byte", c->jobs[2].sent = 128)
    return NULL;
}

/** Adds a second part behind the part that was preempted. The image is still valid. */
static void second_part(struct tern_image_context *c)
{
    struct tern_image_job *j = &c->jobs[0];
    struct tern_image_chunk *s = c->chunk;
    struct tern_boxes boxes;
    assert_true(tern_boxes_of(j->job->packets[0] & TERN_PKT_OPCODE_MASK, j->job->packets, &boxes));
    s[1] = s[0];
    s[1].resume = false;
    assert_true(tern_box_behind(&boxes, &s->box, s[1].box.from));
    s[1].box.size[0] = boxes.size[0];
    s[1].box.size[1] = 1;
    j->last = s[1].box;
    c->chunk_count = 2;
    s[1].seq = ++c->chunks;
}

/** Makes the first chunk the whole first packet. */
static void whole_packet(struct tern_image_context *c)
{
    struct tern_image_job *j = &c->jobs[0];
    struct tern_image_chunk *s = c->chunk;
    s->more = false;
    memset(&s->box, 0, sizeof s->box);
    memset(&j->last, 0, sizeof j->last);
    s->size = j->sent = 64;
}

/** Changes of a job whose copy runs in parts of some rows. The context's only chunk is the first part. */
static const char *forge_parts(int k)
{
    struct tern_image_context *c = &im->processes[0].contexts[0];
    struct tern_image_job *j = &c->jobs[0];
    struct tern_image_chunk *s = c->chunk;
    assert_true(c->chunk_count == 1 && s->more && j->asks && s->box.size[1] > 1 && s->box.size[2] == 1);
    assert_true(s->resume && !s->resume_at && c->job_count == 2);
    TRY("a chunk that does not follow the one before", j->asks = false)
    TRY("a chunk that does not follow the one before", s->size += 64)
    TRY("a chunk that does not follow the one before", s->more = false)
    TRY("a chunk that does not follow the one before", s->box.size[0] -= 64; j->last = s->box)
    TRY("a chunk that does not follow the one before", s->box.size[1] = 0; j->last = s->box)
    TRY("a chunk that does not follow the one before", whole_packet(c); s->box.from[1] = 13; s->box.size[0] = 1 << 20;
        s->box.size[1] = s->box.size[2] = 1)
    TRY("a chunk that does not follow the one before", s->box.size[1] = 13; j->last = s->box)
    TRY("a chunk that does not follow the one before", whole_packet(c); s->box.from[1] = 11; s->box.size[0] = 1 << 20;
        s->box.size[1] = 2; s->box.size[2] = 1)
    TRY("a chunk that does not follow the one before", whole_packet(c); j->asks = false)
    TRY("a chunk that does not follow the one before", whole_packet(c); c->chunk_count = 2; s[1] = s[0];
        s[1].resume = false; s[1].seq = ++c->chunks)
    TRY("a chunk that does not follow the one before", whole_packet(c); s->start = 128; j->sent = 192;
        s->resume = false)
    TRY("a chunk that cannot go on", whole_packet(c); s->resume_at = 64; c->save.offset = 64 + TERN_CHUNK_PREFIX)
    TRY("a chunk that cannot go on", second_part(c); s[1].resume = true)
    TRY("a job that is sent to another byte", c->jobs[1].last = s->box)
    TRY("a job that is sent to another byte", c->chunk_count = 0; j->sent = 64; j->job->size = 128;
        j->last = (struct tern_box){{0}, {64, 1, 1}})
    TRY("a job that is sent to another byte", j->last.size[1]++)
    TRY("a job that is sent to another byte", memset(&j->last, 0, sizeof j->last))
    TRY("a job that is sent to another byte", c->chunk_count = 0; j->last.size[1] = 13)
    TRY("a job that is sent to another byte", c->chunk_count = 0; j->sent = 128)
    TRY("a part of a packet that does not follow", second_part(c); s[1].box.from[1]++; j->last = s[1].box)
    TRY("a job that is sent to another byte", second_part(c); j->last = s[0].box)
    return NULL;
}

/** Makes each change, of a new image each time. Returns their number. */
static uint32_t forge_all(struct tern_process *const *procs, uint32_t n, const char *(*forge)(int k), bool device)
{
    struct tern_saving *m;
    uint32_t done = 0;
    ok(tern_migrate_stop(procs, n, &m));
    ok(tern_capture(procs, n, true, &im));
    ok(tern_image_fits(&im->device, there, NULL, false));
    if (forge == forge_parts) {
        second_part(&im->processes[0].contexts[0]);
    }
    ok(tern_image_check(im, there));
    tern_image_free(im);
    for (const char *says = ""; says; done++) {
        uint32_t jobs;
        ok(tern_capture(procs, n, true, &im));
        jobs = im->processes[0].contexts[0].job_count;
        says = forge((int)done);
        if (says) {
            const int r = device ? tern_image_fits(&im->device, there, NULL, false) : tern_image_check(im, there);
            if (!r || !strstr(tern_last_error(), says)) {
                fail_msg("change %u, '%s': %d, %s", done, says, r, r ? tern_last_error() : "taken");
            }
        }
        im->processes[0].contexts[0].job_count = jobs; /* restores the number of jobs to free */
        tern_image_free(im);
    }
    tern_migrate_go_on(m);
    return done - 1;
}

static void test_scene(void **state)
{
    (void)state;
    scene_open();
    open_there(SCENE_CONFIG);
    actor_spin(&scene.counts); /* two more chunks behind the running one: one in the HW queue, the other not */
    scene.spin = actor_spin(&scene.counts);
    until(scene.counts.c->sched.chunks >= 2);
    spins(&scene.counts);
    uint32_t n = forge_all(scene.procs, 2, forge_device, true);
    n += forge_all(scene.procs, 2, forge_memory, false);
    n += forge_all(scene.procs, 2, forge_context, false);
    n += forge_all(scene.procs, 2, forge_chunks, false);
    print_message("%u changes are refused\n", n);
    scene_ends_right();
    scene_close();
    ok(tern_device_close(there));
}

/** An image of kernels with page requests needs a device with page requests. */
static void test_page_requests(void **state)
{
    (void)state;
    const struct tern_image_device need = {.spec = TERN_SPEC_HASH, .page_requests = true};
    struct tern_image_device d = need;
    open_there(SCENE_CONFIG);
    d.lanes = there->kmd.lanes;
    d.warps = there->kmd.warps;
    d.local_bytes = there->kmd.local_bytes;
    ok(tern_image_fits(&d, there, NULL, false));
    assert_int_equal(tern_image_check(&(struct tern_image){.device = d}, there), -EPROTO);
    expect_says(tern_last_error(), "an image without a process");
    there->kmd.page_requests = false; /* a device without page requests */
    assert_int_equal(tern_image_fits(&d, there, NULL, false), -EPROTO);
    expect_says(tern_last_error(), "has no page requests");
    assert_int_equal(tern_image_fits(&need, there, "none", false), -EPROTO);
    d.page_requests = false;
    assert_int_equal(tern_image_fits(&d, there, "none", false), -ENOENT);
    there->kmd.page_requests = true;
    ok(tern_device_close(there));
}

/** A copy and a fill of more memory than the device has are stopped between their parts. */
static void test_parts(void **state)
{
    (void)state;
    enum { BYTES = 12 << 20 };
    struct actor a;
    struct tern_allocation *from, *to;
    uint32_t n = 0;
    open_both("small,mem=16M,host=64M,quantum=20000");
    open_mix(&a, "parts", -1);
    ok(tern_allocation_create(a.p, BYTES, RW, 0, &from));
    ok(tern_allocation_create(a.p, BYTES, RW, 0, &to));
    const struct tern_pkt_copy copy = {
        .src_lo = tern_allocation_address(from), .dst_lo = tern_allocation_address(to), .width = 1 << 20,
        .rows = BYTES >> 20, .slices = 1, .src_row = 1 << 20, .dst_row = 1 << 20};
    ok(tern_pkt_copy_pack(&copy, work_add(&dma, 1)));
    struct tern_pkt_fill fill = {.dst_lo = tern_allocation_address(from), .width = BYTES, .rows = 1, .slices = 1};
    ok(tern_pkt_fill_pack(&fill, work_add(&dma, 2)));
    ok(submit_packets(a.c, dma.w, dma.size, "copy, fill", NULL));
    dma.size = 64;
    const uint64_t fence = work_submit(&dma, a.c, "copy");
    for (uint32_t i = 0; !n && tern_context_ended(a.c) < fence; i++) { /* until a part was preempted */
        struct tern_saving *m;
        breakpoint_set(here, dev, a.p, 5000 + 977 * i);
        breakpoint_await(here, a.c);
        ok(tern_migrate_stop(&a.p, 1, &m));
        until(!here->paused);
        const struct tern_sched_context *s = &a.c->sched;
        if (s->requeued_count && s->requeued[0].more) {
            n = forge_all(&a.p, 1, forge_parts, false);
        }
        tern_migrate_go_on(m);
    }
    assert_true(n);
    print_message("%u changes are refused\n", n);
    ok(tern_wait(a.c, fence, PATIENCE));
    tern_allocation_destroy(from);
    tern_allocation_destroy(to);
    actor_close(&a);
    close_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scene), cmocka_unit_test(test_page_requests),
                                       cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests_name("migrate_forged", tests, NULL, NULL);
}
