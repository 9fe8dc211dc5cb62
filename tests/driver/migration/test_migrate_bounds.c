/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Each field of an image is checked against bounds when it is read (M3), and each record against its place. A stream
 * that is valid except for one field is refused with the name of the field, and nothing is left on the target. The
 * linker wraps the functions that write fields.
 */
#include "device_memory.h"
#include "migration.h"
#include "migration_scene.h"

#include "base/submission.h"
#include "migration/state/internal.h"

/** The change: of a number, a number of an array, the length of an array or of bytes, or the type of a record. */
enum kind { NUMBER, ELEMENT, COUNT, BYTES, TYPE };

struct change {
    enum tern_record_type type; /* record in which the field is */
    const char *field;
    enum kind kind;
    uint64_t value;
    const char *says;
    /* index in an array of the changed or of a too large element; otherwise how many such fields come before it */
    uint32_t which;
};

#define WORD (1ull << 32)
#define NUMBERS(type, field, value) {TERN_RECORD_##type, field, NUMBER, value, "field " field " is ", 0}
#define REFUSED(type, field, kind, value, says) {TERN_RECORD_##type, field, kind, value, says, 0}
#define UNEXPECTED(type, field, value, says) \
    {TERN_RECORD_##type, field, NUMBER, value, "the record '" says "' is not expected", 0}

#define AGAIN(type, field, which, value, says) {TERN_RECORD_##type, field, NUMBER, value, says, which}
#define LESS 0u /* one less or one more than is written */
#define MORE 1u

static const struct change changes[] = {
    NUMBERS(DEVICE, "spec", WORD), NUMBERS(DEVICE, "lanes", WORD), NUMBERS(DEVICE, "warps", WORD),
    NUMBERS(DEVICE, "local_bytes", WORD), NUMBERS(DEVICE, "engines", WORD), NUMBERS(DEVICE, "executors", WORD),
    NUMBERS(DEVICE, "granularity", WORD), NUMBERS(DEVICE, "page_requests", 2), NUMBERS(DEVICE, "resident", WORD),
    NUMBERS(DEVICE, "committed", WORD), NUMBERS(DEVICE, "memories", WORD), NUMBERS(DEVICE, "processes", 0),
    NUMBERS(DEVICE, "processes", WORD),
    NUMBERS(MEMORY, "number", 1), NUMBERS(MEMORY, "pages", 0), NUMBERS(MEMORY, "pages", TERN_VA_END + 1),
    NUMBERS(MEMORY, "stays", 2), NUMBERS(MEMORY, "sparse", 2), NUMBERS(MEMORY, "blocks", 0),
    NUMBERS(MEMORY, "blocks", TERN_PAGES_SPAN + 1),
    REFUSED(MEMORY, "blocks_committed", BYTES, 0, "blocks_committed has 0 bytes, and needs 4"),
    REFUSED(MEMORY, "blocks_committed", BYTES, 8, "field blocks_committed has 8 bytes, at most"),
    NUMBERS(PROCESS, "number", 0), NUMBERS(PROCESS, "number", WORD), NUMBERS(PROCESS, "suspended", 2),
    NUMBERS(PROCESS, "error", 2), NUMBERS(PROCESS, "submissions", UINT64_MAX), NUMBERS(PROCESS, "mappings", WORD),
    NUMBERS(PROCESS, "contexts", WORD),
    REFUSED(PROCESS, "name", BYTES, 64, "field name has 64 bytes, at most"),
    REFUSED(PROCESS, "error", NUMBER, 1, "field fault is missing"),
    NUMBERS(MAPPING, "memory", WORD - 1), NUMBERS(MAPPING, "page", TERN_VA_END + 1), NUMBERS(MAPPING, "flags", WORD),
    NUMBERS(MAPPING, "pins", WORD), NUMBERS(MAPPING, "imported", 2), NUMBERS(MAPPING, "fence", 2),
    NUMBERS(MAPPING, "destroyed_order", 0),
    REFUSED(MAPPING, "handle_flags", COUNT, 9, "field handle_flags has 9 numbers, at most"),
    REFUSED(MAPPING, "handle_flags", COUNT, 2, "bytes of handles for 2 handles"),
    REFUSED(MAPPING, "handles", BYTES, 15, "15 bytes of handles for"),
    REFUSED(MAPPING, "handles", BYTES, 144, "field handles has 144 bytes, at most"),
    NUMBERS(CONTEXT, "number", 0), NUMBERS(CONTEXT, "number", WORD), NUMBERS(CONTEXT, "engine", TERN_ENGINES_MAX),
    NUMBERS(CONTEXT, "weight", 0), NUMBERS(CONTEXT, "weight", TERN_WEIGHT_MAX + 1),
    NUMBERS(CONTEXT, "band", TERN_BAND_REALTIME + 1), NUMBERS(CONTEXT, "arena", TERN_VA_FIRST - 1),
    NUMBERS(CONTEXT, "arena", TERN_VA_END), NUMBERS(CONTEXT, "data", TERN_VA_END),
    NUMBERS(CONTEXT, "submitted", UINT64_MAX), NUMBERS(CONTEXT, "ended", UINT64_MAX),
    NUMBERS(CONTEXT, "dispatches", UINT64_MAX), NUMBERS(CONTEXT, "estimate", 1ull << 63),
    NUMBERS(CONTEXT, "jobs", WORD),
    REFUSED(CONTEXT, "name", BYTES, 64, "field name has 64 bytes, at most"),
    REFUSED(CONTEXT, "statistics", COUNT, 8, "field statistics has 8 numbers, and needs 9"),
    REFUSED(CONTEXT, "engine_cycles", COUNT, 7, "field engine_cycles has 7 numbers, and needs 8"),
    REFUSED(CONTEXT, "chunks", COUNT, 15, "field chunks has 15 numbers"),
    REFUSED(CONTEXT, "chunks", COUNT, 48, "field chunks has 48 numbers, at most"),
    REFUSED(CONTEXT, "chunks", COUNT, 0, "the record 'state' is not expected"),
    {TERN_RECORD_CONTEXT, "chunks", ELEMENT, 1ull << 31, "field chunks has 2147483648", 1},
    {TERN_RECORD_CONTEXT, "chunks", ELEMENT, 1ull << 31, "field chunks has 2147483648", 9},
    {TERN_RECORD_CONTEXT, "chunks", ELEMENT, WORD, "field chunks has 4294967296", 15},
    NUMBERS(STATE, "offset", WORD), NUMBERS(STATE, "executor", 256),
    REFUSED(STATE, "lines", BYTES, 65, "65 bytes of state are no whole lines"),
    REFUSED(STATE, "lines", BYTES, 4 << 20, "field lines has 4194304 bytes, at most"),
    NUMBERS(JOB, "begun", 2), NUMBERS(JOB, "cycles", 1ull << 63), NUMBERS(JOB, "sent", TERN_PACKETS_MAX + 1),
    NUMBERS(JOB, "null", 2), NUMBERS(JOB, "asks_for_pages", 2),
    REFUSED(JOB, "last_part", COUNT, 5, "field last_part has 5 numbers"),
    REFUSED(JOB, "last_part", COUNT, 7, "field last_part has 7 numbers, at most"),
    REFUSED(JOB, "label", BYTES, 65537, "field label has 65537 bytes, at most"),
    REFUSED(JOB, "packets", BYTES, 0, "a DMA buffer of 0 bytes"),
    REFUSED(JOB, "packets", BYTES, TERN_PACKETS_MAX + 64, "field packets has 1048640 bytes, at most"),
    REFUSED(JOB, "data", BYTES, TERN_DATA_MAX + 1, "field data has 8193 bytes, at most"),
    {TERN_RECORD_JOB, "uses", ELEMENT, WORD, "a working set has address 0x100000000", 0},
    REFUSED(JOB, "uses", COUNT, TERN_VA_END + 1, "field uses has 917489 numbers, at most"),
    {TERN_RECORD_JOB, "last_part", COUNT, 6, "field last_part has 6 numbers, or too large ones", 3},
    AGAIN(MEMORY, "number", 1, 0, "memory 0 comes twice"),
    {TERN_RECORD_MEMORY, "", TYPE, TERN_RECORD_STATE, "the record 'state' is not expected", 0},
    {TERN_RECORD_JOB, "", TYPE, TERN_RECORD_STATE, "the record 'state' is not expected", 0},
    {TERN_RECORD_DEVICE, "", TYPE, TERN_RECORD_ROUND, "the stream does not begin with a device", 0},
    /* counts that are one less or one more than the records that follow */
    UNEXPECTED(DEVICE, "memories", LESS, "memory"), UNEXPECTED(DEVICE, "memories", MORE, "process"),
    UNEXPECTED(DEVICE, "processes", LESS, "process"), UNEXPECTED(DEVICE, "processes", MORE, "end of the processes"),
    UNEXPECTED(PROCESS, "mappings", LESS, "mapping"), UNEXPECTED(PROCESS, "mappings", MORE, "context"),
    UNEXPECTED(PROCESS, "contexts", LESS, "context"), UNEXPECTED(PROCESS, "contexts", MORE, "process"),
    UNEXPECTED(CONTEXT, "jobs", LESS, "job"), UNEXPECTED(CONTEXT, "jobs", MORE, "process"),
};

/* ----------------------------------------------------------------------- the writer */

static const struct change *now; /* NULL: the change has been made */
static enum tern_record_type type_now;
static uint32_t seen; /* such fields so far */

void __real_tern_record_begin(struct tern_stream *s, enum tern_record_type type);
void __wrap_tern_record_begin(struct tern_stream *s, enum tern_record_type type);
void __real_tern_put_u64(struct tern_stream *s, const char *name, uint64_t value);
void __wrap_tern_put_u64(struct tern_stream *s, const char *name, uint64_t value);
void __real_tern_put_u64s(struct tern_stream *s, const char *name, const uint64_t *values, size_t count);
void __wrap_tern_put_u64s(struct tern_stream *s, const char *name, const uint64_t *values, size_t count);
void __real_tern_put_bytes(struct tern_stream *s, const char *name, const void *bytes, size_t size);
void __wrap_tern_put_bytes(struct tern_stream *s, const char *name, const void *bytes, size_t size);

/** Returns the change if it applies to this field. Each change is made once. */
static const struct change *take(const char *name)
{
    const struct change *c = now;
    const bool array = c && (c->kind == ELEMENT || c->kind == COUNT);
    if (!c || c->type != type_now || strcmp(c->field, name) != 0 || (!array && seen++ != c->which)) {
        return NULL;
    }
    now = NULL;
    return c;
}

void __wrap_tern_record_begin(struct tern_stream *s, enum tern_record_type type)
{
    type_now = type;
    const struct change *c = take("");
    __real_tern_record_begin(s, c ? (enum tern_record_type)c->value : type);
}

void __wrap_tern_put_u64(struct tern_stream *s, const char *name, uint64_t value)
{
    const struct change *c = take(name);
    const bool relative = c && strstr(c->says, "is not expected");
    __real_tern_put_u64(s, name, !c ? value : !relative ? c->value : c->value == LESS ? value - 1 : value + 1);
}

void __wrap_tern_put_u64s(struct tern_stream *s, const char *name, const uint64_t *values, size_t count)
{
    static uint64_t copy[1 << 20];
    const struct change *c = take(name);
    const size_t n = c && c->kind == COUNT ? c->value : count;
    assert_true(n <= sizeof copy / sizeof *copy);
    memcpy(copy, values, count * sizeof *copy);
    if (c && (c->kind == ELEMENT || c->which)) {
        copy[c->which] = c->kind == ELEMENT ? c->value : WORD;
    }
    __real_tern_put_u64s(s, name, copy, n);
}

void __wrap_tern_put_bytes(struct tern_stream *s, const char *name, const void *bytes, size_t size)
{
    static const uint8_t zeros[8 << 20];
    const struct change *c = take(name);
    __real_tern_put_bytes(s, name, c ? zeros : bytes, c ? c->value : size);
}

/* ------------------------------------------------------------------------ the tests */

/** Writes the processes with a change. The load must be refused. */
static void refused(struct tern_process *const *procs, uint32_t n, const struct change *c, uint32_t pages)
{
    struct tern_saving *m;
    struct tern_loading *l;
    size_t size;
    now = c;
    seen = 0;
    struct tern_stream *in, *s = saved(procs, n, &m);
    const void *bytes = tern_stream_memory(s, &size);
    tern_migrate_go_on(m);
    assert_null(now); /* the field was written */
    ok(tern_stream_read_memory(bytes, size, &in));
    const int r = tern_migrate_load(there, NULL, in, NULL, &l);
    if (!r || !strstr(tern_last_error(), c->says)) {
        fail_msg("%s as %llu: %d, %s, not '%s'", c->field, (unsigned long long)c->value, r,
                 r ? tern_last_error() : "taken", c->says);
    }
    tern_stream_close(in);
    tern_stream_close(s);
    expect_no_memory(there, pages);
}

static void test_bounds(void **state)
{
    (void)state;
    scene_open();
    open_there(SCENE_CONFIG);
    const uint32_t pages = free_pages(there), n = sizeof changes / sizeof *changes;
    for (uint32_t i = 0; i < n; i++) {
        refused(scene.procs, 2, &changes[i], pages);
    }
    print_message("%u changes are refused\n", n);
    scene_ends_right();
    scene_close();
    ok(tern_device_close(there));
}

/** Changes of the fields of a process in error. */
static void test_fault(void **state)
{
    (void)state;
    static const struct change wrong[] = {
        REFUSED(PROCESS, "fault", COUNT, 14, "field fault has 14 numbers, and needs 15"),
        REFUSED(PROCESS, "fault", COUNT, 16, "field fault has 16 numbers, at most"),
        REFUSED(PROCESS, "fault_message", BYTES, 512, "field fault_message has 512 bytes, at most"),
    };
    struct actor a;
    open_both(SCENE_CONFIG);
    const uint32_t pages = free_pages(there);
    actor_open(&a, "trap", 0, code_trap, sizeof code_trap);
    actor_set(&a, 0, 10);
    actor_dispatch(&a, 1);
    assert_int_equal(tern_wait(a.c, work_submit(&dma, a.c, "trap"), PATIENCE), -EIO);
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        refused(&a.p, 1, &wrong[i], pages);
    }
    actor_close(&a);
    close_both();
}

/** Processes without a context and with two contexts. The announced number of records must come before any other
 * record. */
static void test_places(void **state)
{
    (void)state;
    static const struct {
        struct change c;
        bool last; /* the process with no context comes last */
    } wrong[] = {
        {UNEXPECTED(PROCESS, "mappings", MORE, "process"), false},
        {AGAIN(PROCESS, "mappings", 1, MORE, "the record 'end of the processes' is not expected"), true},
        {UNEXPECTED(CONTEXT, "jobs", MORE, "context"), true},
        {AGAIN(CONTEXT, "jobs", 1, MORE, "the record 'end of the processes' is not expected"), false},
        {AGAIN(PROCESS, "contexts", 1, MORE, "the record 'end of the processes' is not expected"), false},
    };
    struct actor two, none;
    struct tern_context *second;
    const struct tern_context_desc d = {.size = sizeof d, .name = "second", .engine = -1};
    open_both(SCENE_CONFIG);
    const uint32_t pages = free_pages(there);
    open_mix(&two, "two", -1);
    open_mix(&none, "none", -1);
    ok(tern_context_create(two.p, &d, &second));
    tern_context_destroy(none.c);
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tern_process *const procs[] = {wrong[i].last ? two.p : none.p, wrong[i].last ? none.p : two.p};
        refused(procs, 2, &wrong[i].c, pages);
    }
    tern_context_destroy(second);
    ok(tern_context_create(none.p, &d, &none.c));
    actor_close(&two);
    actor_close(&none);
    close_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds), cmocka_unit_test(test_fault),
                                       cmocka_unit_test(test_places)};
    return cmocka_run_group_tests_name("migrate_bounds", tests, NULL, NULL);
}
