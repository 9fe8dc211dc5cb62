/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kind STREAM: random packets in many buffers, for both engines at once.
 *
 * The plan (the buffers, and how many items each has) depends only on the seed. An item is one packet or a few that
 * belong together, a mapping change with its flush, or a whole submission (null, malformed, rendezvous). A rendezvous
 * is one item although it has two buffers, one on each engine. The wait is kept or dropped with the signal. Both are
 * submitted in the order of items, so no wait can be ahead of its signal.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "stream.h"

/* --------------------------------------------------------------------- items */

enum item { ITEM_PACKET, ITEM_SATISFIED, ITEM_FRESH_CODE, ITEM_MAPPING, ITEM_FAULT };

struct choice {
    enum item item;
    uint32_t opcode;
};

/** Draws the kind of an item, from the first random numbers of its stream. */
static struct choice choose(struct rng *r, bool paging, uint32_t faults)
{
    static const uint8_t user[] = {TERN_PKT_NOP, TERN_PKT_COPY, TERN_PKT_COPY, TERN_PKT_COPY, TERN_PKT_COPY,
                                   TERN_PKT_FILL, TERN_PKT_FILL, TERN_PKT_FENCE_SIGNAL, TERN_PKT_FENCE_WAIT,
                                   TERN_PKT_BARRIER, TERN_PKT_TIMESTAMP, TERN_PKT_USER_CALL, TERN_PKT_USER_CALL,
                                   TERN_PKT_DISPATCH, TERN_PKT_COPY};
    static const uint8_t paging_too[] = {TERN_PKT_PTE_UPDATE, TERN_PKT_PTE_COPY, TERN_PKT_TLB_FLUSH,
                                         TERN_PKT_CONTEXT_INIT};
    bool fault = rng_below(r, 32) < faults;
    uint32_t k = rng_below(r, 32);
    struct choice c = {ITEM_PACKET, user[rng_below(r, sizeof user)]};
    if (fault) {
        c.item = ITEM_FAULT;
    } else if (k < 1) {
        c.item = ITEM_SATISFIED;
    } else if (k < 2) {
        c.item = ITEM_FRESH_CODE;
    } else if (paging && k < 12) {
        c.item = ITEM_MAPPING;
    } else if (paging && k < 20) {
        c.opcode = paging_too[rng_below(r, sizeof paging_too)];
    }
    return c;
}

static void fence(struct buffer *b, uint32_t item, uint64_t value, bool wait)
{
    uint32_t at = (b->paging ? FENCES : VA_FENCES) + item * LINE + 56;
    struct packet p = {.lines = 1};
    int bad = wait ? tern_pkt_fence_wait_pack(&(struct tern_pkt_fence_wait){
                         .address_lo = at, .value_lo = (uint32_t)value, .value_hi = (uint32_t)(value >> 32)}, p.w)
                   : tern_pkt_fence_signal_pack(&(struct tern_pkt_fence_signal){
                         .address_lo = at, .value_lo = (uint32_t)value, .value_hi = (uint32_t)(value >> 32)}, p.w);
    stream_admit(b, &p, false);
    stream_emit(b, p.w, p.lines);
    b->st->error = b->st->error ? b->st->error : bad;
}

/** Draws a value to signal and a value to wait for, which is not zero and not larger. */
static uint64_t draw_values(struct rng *r, uint64_t *wait)
{
    static const uint64_t edges[] = {1, 0xffffffff, 0x100000000, 0x8000000000000000, UINT64_MAX};
    uint64_t signal = rng_one_in(r, 2) ? edges[rng_below(r, 5)] : 1 + (stream_random64(r) >> rng_below(r, 63));
    *wait = rng_one_in(r, 2) || signal == 1 ? signal : 1 + stream_random64(r) % (signal - 1);
    return signal;
}

static void add_item(struct buffer *b, uint32_t item)
{
    struct rng r = rng_of(b->st->seed, item);
    struct choice c = choose(&r, b->paging, b->st->plan.faults);
    uint64_t wait, signal;
    if (b->used + 8 * LINE / 4 > b->room) {
        return;
    }
    switch (c.item) {
    case ITEM_PACKET:
        stream_put(b, &r, item, c.opcode, AIM_GOOD);
        break;
    case ITEM_SATISFIED:
        signal = draw_values(&r, &wait);
        fence(b, item, signal, false);
        fence(b, item, wait, true);
        break;
    case ITEM_FRESH_CODE:
        stream_fresh_code(b, &r, item);
        break;
    case ITEM_MAPPING:
        stream_mapping(b, &r);
        break;
    case ITEM_FAULT:
        stream_fault(b, &r, item);
        break;
    }
}

/* ------------------------------------------------------------------- buffers */

static void submit(struct stream *st, struct rng *r, struct submit s)
{
    st->fence++;
    s.fence = (uint64_t)(rng_one_in(r, 2) ? rng_next(r) : 0) << 32 | st->fence;
    s.context = rng_next(r);
    int bad = scene_submit(st->scene, &s);
    st->error = st->error ? st->error : bad;
}

static void remember(struct stream *st, const struct buffer *b)
{
    if (!b->paging && b->placed && b->fetch_limit == UINT32_MAX) {
        st->warm[b->engine] = st->table[b->engine][b->space][TABLE_ROOT].pa / PAGE << 32 | b->address;
    }
}

static uint32_t root(const struct stream *st, uint32_t engine, uint32_t space)
{
    return (uint32_t)(st->table[engine][space][TABLE_ROOT].pa / PAGE);
}

/** Begins a buffer at its place: two pages, anywhere in which it begins. */
static void begin(struct buffer *b, struct stream *st, struct rng *r, uint32_t place, uint32_t engine, bool paging)
{
    uint32_t offset = LINE * rng_below(r, PAGE / LINE);
    b->st = st;
    b->place = place;
    b->engine = engine;
    b->space = stream_space(r);
    b->save = SAVES / PAGE + place * SAVE_PAGES;
    b->paging = paging;
    b->physical = BUFFER_PAGES + place * 2 * PAGE + offset;
    b->address = paging ? b->physical : VA_BUFFERS + place * 2 * PAGE + offset;
    b->room = (2 * PAGE - offset) / 4;
    b->used = 0;
    b->placed = true;
    b->fetch_limit = UINT32_MAX;
    b->dead = b->skipped = b->closed = false;
}

/** Makes some pages of the buffer unreadable. */
static void hide(struct buffer *b, struct rng *r)
{
    if (b->paging) {
        b->address = b->st->g->mem_bytes + LINE * (uint64_t)rng_below(r, 1u << 20);
        b->placed = false;
        b->fetch_limit = 0;
        return;
    }
    bool second = rng_one_in(r, 2);
    struct table *t = &b->st->table[b->engine][b->space][TABLE_SYSTEM];
    /* zeros are no packet either */
    uint32_t zero = TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | TERN_PTE_ZERO_MASK;
    uint32_t index = b->place * 2 + second, entry = rng_one_in(r, 6) ? zero : stream_bad_pte(b->st, r, false);
    t->entry[index] = entry;
    scene_put(b->st->scene, t->pa + 4 * index, &entry, sizeof entry);
    b->fetch_limit = second ? PAGE - (uint32_t)(b->address % PAGE) : 0;
}

static void end(struct buffer *b, struct rng *r, bool resume)
{
    if (b->used == 0) {
        return;
    }
    if (b->placed) {
        scene_put(b->st->scene, b->physical, b->words, (size_t)b->used * 4);
    }
    remember(b->st, b);
    submit(b->st, r, (struct submit){
        .engine = b->engine, .buffer = b->address, .size = b->used * 4, .root = root(b->st, b->engine, b->space),
        .save = b->save, .flags = (b->paging ? TERN_ENGINE_SUB_FLAGS_PAGING_MASK : 0) |
                                  (resume ? TERN_ENGINE_SUB_FLAGS_RESUME_MASK : 0)});
}

static void put_context(const struct buffer *b, struct tern_ctx c)
{
    struct stream *st = b->st;
    uint32_t w[16];
    int bad = tern_ctx_pack(&c, w);
    st->error = st->error ? st->error : bad;
    scene_put(st->scene, (uint64_t)b->save * PAGE, w, sizeof w);
}

/** A buffer of items. Some are resumed at an item, by a saved context with that offset. */
static void items_buffer(struct buffer *b, struct stream *st, uint32_t index, const bool *keep)
{
    struct rng r = rng_of(st->seed, RNG_BUFFER + index);
    uint32_t count = st->plan.buffer[index].items;
    begin(b, st, &r, 2 * index, st->plan.buffer[index].engine, st->plan.buffer[index].kind == BUFFER_PAGING);
    bool resume = count > 1 && rng_one_in(&r, 10);
    if (st->plan.faults && !resume && rng_one_in(&r, 10)) {
        hide(b, &r);
    }
    uint32_t from = resume ? rng_below(&r, count) : 0, offset = 0;
    b->skipped = resume;
    for (uint32_t i = 0; i < count; i++) {
        if (i == from && resume) {
            offset = b->used * 4;
            b->skipped = false;
        }
        if (keep[st->plan.buffer[index].first + i]) {
            add_item(b, st->plan.buffer[index].first + i);
        }
    }
    if (resume && b->used && offset == b->used * 4) {
        stream_nop(b);
    }
    if (resume) {
        put_context(b, (struct tern_ctx){.magic = TERN_CTX_MAGIC_VALUE, .state = TERN_CTX_STATE_SAVED,
                                         .offset = offset});
    }
    end(b, &r, resume);
}

/* ------------------------------------------------- submissions that are items */

static void some_packets(struct buffer *b, struct rng *r, uint32_t item)
{
    static const uint8_t opcodes[] = {TERN_PKT_NOP, TERN_PKT_COPY, TERN_PKT_FILL, TERN_PKT_BARRIER, TERN_PKT_USER_CALL};
    for (uint32_t n = rng_below(r, 3); n; n--) {
        stream_put(b, r, item, opcodes[rng_below(r, sizeof opcodes)], AIM_GOOD);
    }
}

/** Adds a copy between a page that is handed over and the engine's data. */
static void move_mail(struct buffer *b, struct rng *r, uint32_t mail, bool send)
{
    uint32_t page = (b->paging ? MAIL : VA_MAIL) + mail * PAGE;
    for (int tries = 0; tries < 12; tries++) {
        struct packet p = {.lines = TERN_PKT_COPY_LINES, .boxes = 2};
        uint32_t width = 1 + rng_below(r, 300), there = page + rng_below(r, 64);
        uint64_t here = stream_pick(b, r, width, 1, send ? USE_READ : USE_WRITE, AIM_GOOD);
        struct box from = {.at = send ? here : there, .width = width, .rows = 1, .slices = 1, .use = USE_READ},
            to = from;
        to.at = send ? there : here;
        to.use = USE_WRITE;
        p.box[0] = from;
        p.box[1] = to;
        int bad = tern_pkt_copy_pack(&(struct tern_pkt_copy){
            .src_lo = (uint32_t)from.at, .dst_lo = (uint32_t)to.at, .width = width, .rows = 1, .slices = 1}, p.w);
        b->st->error = b->st->error ? b->st->error : bad;
        if (stream_admit(b, &p, false)) {
            stream_emit(b, p.w, p.lines);
            return;
        }
    }
}

static void rendezvous(struct buffer *b, struct stream *st, uint32_t index)
{
    struct rng r = rng_of(st->seed, st->plan.buffer[index].first);
    uint32_t item = st->plan.buffer[index].first, engine = st->plan.buffer[index].engine,
        mail = st->plan.buffer[index].mail;
    uint64_t wait, signal = draw_values(&r, &wait);
    begin(b, st, &r, 2 * index, engine, rng_one_in(&r, 3));
    some_packets(b, &r, item);
    move_mail(b, &r, mail, true);
    fence(b, item, signal, false);
    some_packets(b, &r, item);
    end(b, &r, false);
    begin(b, st, &r, 2 * index + 1, st->g->engines > 1 ? 1 - engine : engine, rng_one_in(&r, 3));
    fence(b, item, wait, true);
    move_mail(b, &r, mail, false);
    if (rng_one_in(&r, 4)) {
        stream_put(b, &r, item, TERN_PKT_DISPATCH, AIM_GOOD);
    }
    end(b, &r, false);
}

/** A buffer that must be stopped before it can end: it waits for a fence, or in a kernel, and only the driver ends the
 * wait after the stop. */
static void gate(struct buffer *b, struct stream *st, uint32_t index)
{
    struct rng r = rng_of(st->seed, st->plan.buffer[index].first);
    uint32_t item = st->plan.buffer[index].first;
    uint64_t place = FENCES + item * LINE + 56, wait, signal = draw_values(&r, &wait) | 1;
    bool kernel = rng_one_in(&r, 2);
    begin(b, st, &r, 2 * index, st->plan.buffer[index].engine, rng_one_in(&r, 4));
    some_packets(b, &r, item);
    uint32_t offset = b->used * 4;
    if (kernel) {
        stream_gate_kernel(b, &r, item, (uint32_t)(b->paging ? place : VA_FENCES + place - FENCES));
    } else {
        fence(b, item, wait, true);
    }
    some_packets(b, &r, item);
    end(b, &r, false);
    int bad = scene_gate(st->scene, &(struct gate){
        .submit = st->scene->submits - 1, .physical = place, .value = signal, .offset = offset,
        .granularity = kernel ? TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION : TERN_ENGINE_COMMAND_GRANULARITY_PACKET});
    st->error = st->error ? st->error : bad;
}

/** Work reads some pages, their mapping changes, and the same work reads them again, which shows stale translations. */
static void probe(struct buffer *b, struct stream *st, uint32_t index)
{
    struct rng r = rng_of(st->seed, st->plan.buffer[index].first);
    uint32_t engine = st->plan.buffer[index].engine, page = rng_below(&r, WINDOW),
        count = 1 + rng_below(&r, 16 - page % 16);
    uint32_t stride = 1;
    bool far = rng_one_in(&r, 2); /* in many lines of page tables */
    if (far) {
        count = 2 + rng_below(&r, 7);
        stride = 1 + rng_below(&r, (FAR - 1) / (count - 1) >> rng_below(&r, 6));
        page = rng_below(&r, FAR - (count - 1) * stride);
    }
    uint32_t width = 1 + rng_below(&r, 70);
    struct packet p = {.lines = TERN_PKT_COPY_LINES, .boxes = 2};
    begin(b, st, &r, 2 * index, engine, false);
    uint64_t src = (far ? VA_FAR : VA_WINDOW) + page * PAGE + rng_below(&r, PAGE - width),
        dst = VA_SUPER + rng_below(&r, (POOL - 1) * PAGE);
    p.box[0] = (struct box){.at = src, .width = width, .rows = count, .row = stride * PAGE, .slices = 1,
                            .use = USE_READ};
    p.box[1] = (struct box){.at = dst, .width = width, .rows = count, .row = width, .slices = 1, .use = USE_WRITE};
    int bad = tern_pkt_copy_pack(&(struct tern_pkt_copy){
        .src_lo = (uint32_t)src, .dst_lo = (uint32_t)dst, .width = width, .rows = count, .slices = 1,
        .src_row = stride * PAGE, .dst_row = width}, p.w);
    st->error = st->error ? st->error : bad;
    struct buffer *change = &(struct buffer){0};
    begin(change, st, &r, 2 * index + 1, engine, true);
    bool first = stream_admit(b, &p, false);
    stream_emit(b, p.w, p.lines);
    if (first) {
        end(b, &r, false);
    }
    if (far) {
        stream_remap_far(change, &r, b->space, page, count, stride);
    } else {
        stream_remap(change, &r, b->space, page, count);
    }
    end(change, &r, false);
    if (stream_admit(b, &p, false)) {
        end(b, &r, false);
    }
}

/** A null submission completes whatever its fields are. */
static void null(struct stream *st, uint32_t index)
{
    struct rng r = rng_of(st->seed, st->plan.buffer[index].first);
    submit(st, &r, (struct submit){
        .engine = st->plan.buffer[index].engine, .buffer = rng_one_in(&r, 2) ? 0 : rng_next(&r),
        .size = rng_one_in(&r, 2) ? LINE : rng_next(&r), .root = rng_next(&r) >> 10,
        .save = SAVES / PAGE + 2 * index * SAVE_PAGES,
        .flags = TERN_ENGINE_SUB_FLAGS_NULL_MASK | (rng_one_in(&r, 3) ? TERN_ENGINE_SUB_FLAGS_PAGING_MASK : 0)});
}

/** A valid buffer except for its size, its address or its address space. */
static void malformed(struct buffer *b, struct stream *st, uint32_t index)
{
    struct rng r = rng_of(st->seed, st->plan.buffer[index].first);
    begin(b, st, &r, 2 * index, st->plan.buffer[index].engine, rng_one_in(&r, 2));
    b->dead = true;
    stream_put(b, &r, st->plan.buffer[index].first, TERN_PKT_FILL, AIM_GOOD);
    scene_put(st->scene, b->physical, b->words, (size_t)b->used * 4);
    struct submit s = {.engine = b->engine, .buffer = b->address, .size = b->used * 4,
                       .root = root(st, b->engine, b->space), .save = b->save,
                       .flags = b->paging ? TERN_ENGINE_SUB_FLAGS_PAGING_MASK : 0};
    switch (rng_below(&r, b->paging ? 4 : 8)) {
    case 0:
        s.size = 0;
        break;
    case 1:
        s.size += 1u << rng_below(&r, 6);
        break;
    case 2:
        s.buffer += 1u << rng_below(&r, 6);
        break;
    case 4:
    case 5:
    case 6:
        s.root = (uint32_t)(st->g->mem_bytes / PAGE) + rng_below(&r, 1u << 20);
        /* the root of a buffer that has run, with one bit changed, and that buffer */
        if (st->warm[b->engine] && !rng_one_in(&r, 4)) {
            s.root = (uint32_t)(st->warm[b->engine] >> 32) | 1u << (SPACE_BITS + rng_below(&r, ROOT_BITS - SPACE_BITS));
            s.buffer = (uint32_t)st->warm[b->engine];
        }
        break;
    default:
        s.buffer |= 1ull << ((b->paging ? 34 : 32) + rng_below(&r, rng_one_in(&r, 2) ? 3 : 28));
        break;
    }
    submit(st, &r, s);
}

/** At the end, one engine runs a buffer that has run there with every root that differs from its own in one bit, where
 *  there is no memory or an empty page. No cached translation of the right root may be used. */
static void other_roots(struct stream *st, uint32_t item)
{
    struct rng r = rng_of(st->seed, item);
    uint32_t engine = rng_below(&r, ENGINES), pages = (uint32_t)(st->g->mem_bytes / PAGE);
    engine = st->warm[engine] ? engine : !engine;
    for (uint32_t bit = 0; st->warm[engine] && bit < ROOT_BITS; bit++) {
        uint32_t root = (uint32_t)(st->warm[engine] >> 32) ^ 1u << bit;
        if (root < pages && (st->scene->touched[root] || root == pages - 1)) { /* the last page is data */
            continue;
        }
        submit(st, &r, (struct submit){.engine = engine, .buffer = (uint32_t)st->warm[engine], .size = LINE,
                                       .root = root, .save = SAVE_OF_OTHER_ROOTS / PAGE});
    }
}

/** A buffer to be resumed from an area that holds no saved state. */
static void no_context(struct buffer *b, struct stream *st, uint32_t index)
{
    struct rng r = rng_of(st->seed, st->plan.buffer[index].first);
    begin(b, st, &r, 2 * index, st->plan.buffer[index].engine, rng_one_in(&r, 2));
    b->dead = true;
    stream_put(b, &r, st->plan.buffer[index].first, TERN_PKT_FILL, AIM_GOOD);
    struct tern_ctx c = {.magic = TERN_CTX_MAGIC_VALUE, .state = TERN_CTX_STATE_SAVED};
    switch (rng_below(&r, 9)) {
    case 0: /* as after power-on */
        c = (struct tern_ctx){0};
        break;
    case 1:
        c.magic ^= 1u << rng_below(&r, 32);
        break;
    case 2:
        c.state = TERN_CTX_STATE_EMPTY;
        break;
    case 3:
        c.offset = b->used * 4 + LINE * rng_below(&r, 9);
        break;
    case 4:
        b->save = (uint32_t)(st->g->mem_bytes / PAGE) + rng_below(&r, 1u << 20);
        break;
    case 5: /* the packet is a fill, which needs no executor */
        c.executor = rng_one_in(&r, 2) ? TERN_CTX_EXECUTOR_SIMT : TERN_CTX_EXECUTOR_USER;
        c.lines = 1 + rng_below(&r, 9);
        break;
    case 6:
        c.executor = TERN_CTX_EXECUTOR_USER + 1 + rng_below(&r, 252);
        c.lines = 1;
        break;
    case 7: /* an executor has lines of state, and no executor has none */
        c.executor = rng_one_in(&r, 2) ? TERN_CTX_EXECUTOR_MOVER : TERN_CTX_EXECUTOR_NONE;
        c.lines = c.executor == TERN_CTX_EXECUTOR_NONE ? 1 + rng_below(&r, 4)
                  : rng_one_in(&r, 2)                  ? 0 : SAVE_PAGES * PAGE / LINE;
        break;
    default:
        c.offset = 1u << rng_below(&r, 6);
        break;
    }
    if (b->save < st->g->mem_bytes / PAGE) {
        put_context(b, c);
    }
    end(b, &r, true);
}

/* --------------------------------------------------------------------- build */

int stream_build(const struct test_case *c, const struct geometry *g, struct scene *out)
{
    struct stream *st = calloc(1, sizeof *st);
    struct buffer *b = calloc(1, sizeof *b);
    int result = -ENOMEM;
    if (!st || !b) {
        goto out;
    }
    *st = (struct stream){.seed = c->seed, .g = g, .scene = out, .plan = stream_plan(c->seed, g->engines)};
    out->limit = CASE_CYCLES;
    out->stop_every = st->plan.stop_every;
    stream_space_init(st);
    stream_kernel_init(st);
    st->error = scene_foreign(out, g, FOREIGN);
    st->error = st->error || !st->plan.faults ? st->error : scene_paging(out, PAGING);
    for (uint32_t i = 0; i < st->plan.buffers; i++) {
        enum buffer_kind kind = st->plan.buffer[i].kind;
        if (kind == BUFFER_USER || kind == BUFFER_PAGING) {
            items_buffer(b, st, i, c->keep);
        } else if (!c->keep[st->plan.buffer[i].first]) {
            continue;
        } else if (kind == BUFFER_RENDEZVOUS) {
            rendezvous(b, st, i);
        } else if (kind == BUFFER_PROBE) {
            probe(b, st, i);
        } else if (kind == BUFFER_GATE) {
            gate(b, st, i);
        } else if (kind == BUFFER_NULL) {
            null(st, i);
        } else if (kind == BUFFER_MALFORMED) {
            malformed(b, st, i);
        } else {
            no_context(b, st, i);
        }
    }
    if (st->plan.faults && c->keep[st->plan.items - 1]) {
        other_roots(st, st->plan.items - 1);
    }
    result = st->error;
out:
    free(b);
    free(st);
    return result;
}

void stream_item_text(uint64_t seed, const struct geometry *g, uint32_t item, char *out, size_t size)
{
    static const char *const kinds[] = {"buffer", "paging buffer", "null submission", "malformed submission",
                                        "resume of nothing", "rendezvous with the other engine",
                                        "pages read, remapped and read again", "stopped where it waits"};
    static const char *const items[] = {"", "signal and wait", "fresh code and dispatch", "mapping change", "fault"};
    struct plan p = stream_plan(seed, g->engines);
    uint32_t i = 0;
    if (p.faults && item == p.items - 1) {
        snprintf(out, size, "what has run, by all roots that differ in one bit from its own");
        return;
    }
    while (i + 1 < p.buffers && p.buffer[i + 1].first <= item) {
        i++;
    }
    enum buffer_kind kind = p.buffer[i].kind;
    struct rng r = rng_of(seed, item);
    struct choice c = choose(&r, kind == BUFFER_PAGING, p.faults);
    int n = snprintf(out, size, "engine %u, %s %u", p.buffer[i].engine, kinds[kind], i);
    if ((kind == BUFFER_USER || kind == BUFFER_PAGING) && n > 0 && (size_t)n < size) {
        snprintf(out + n, size - (size_t)n, ": %s", c.item == ITEM_PACKET ? tern_pkt_name(c.opcode) : items[c.item]);
    }
}
