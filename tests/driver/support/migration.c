/* SPDX-License-Identifier: Apache-2.0 */
#include "migration.h"

#include "open_device.h"

struct tern_device *there;

struct breakpoint *here;

void open_there(const char *config)
{
    const char *other = getenv("TERN_TEST_THERE");
    ok_or_skip(tern_device_open(other ? other : getenv("TERN_BACKEND"), config, &there));
}

void open_both(const char *config)
{
    dma.size = 0;
    here = breakpoint_open(NULL, of_geometry(config), &dev);
    open_there(of_geometry(config));
}

void close_both(void)
{
    ok(tern_device_close(there));
    ok(tern_device_close(dev));
}

struct tern_stream *saved(struct tern_process *const *procs, uint32_t n, struct tern_saving **m)
{
    struct tern_stream *s;
    ok(tern_migrate_stop(procs, n, m));
    ok(tern_stream_write_memory(&s));
    ok(tern_migrate_write(*m, s));
    return s;
}

struct tern_loading *loaded(struct tern_device *to, const struct tern_stream *from,
                            const struct tern_migrate_owner *owner)
{
    struct tern_loading *l;
    struct tern_stream *s;
    size_t n;
    const void *bytes = tern_stream_memory(from, &n);
    ok(tern_stream_read_memory(bytes, n, &s));
    ok(tern_migrate_load(to, NULL, s, owner, &l));
    tern_stream_close(s);
    return l;
}

struct journey depart(struct tern_process *const *procs, uint32_t n, const struct tern_migrate_owner *owner)
{
    struct journey j;
    j.stream = saved(procs, n, &j.saving);
    j.loading = loaded(there, j.stream, owner);
    return j;
}

void arrive(struct journey *j)
{
    tern_migrate_commit(j->loading);
    tern_migrate_end(j->saving);
    tern_stream_close(j->stream);
}

void forget(struct tern_process *p)
{
    assert_int_equal(tern_process_status(p, NULL), -EIO);
    ok(tern_process_destroy(p));
}

void actor_follow(struct actor *a, const struct tern_loading *l, uint32_t i)
{
    uint32_t number;
    struct actor to = *a;
    to.p = tern_loading_process(l, i, &number);
    assert_int_equal(number, a->p->id);
    to.c = tern_loading_context(l, i, 0, &number);
    assert_int_equal(number, a->c->id);
    to.code = tern_loading_allocation(l, i, tern_allocation_address(a->code));
    to.args = tern_loading_allocation(l, i, tern_allocation_address(a->args));
    to.stack = tern_loading_allocation(l, i, tern_allocation_address(a->stack));
    to.data = tern_loading_allocation(l, i, tern_allocation_address(a->data));
    assert_true(to.code && to.args && to.stack && to.data);
    *a = to;
}
