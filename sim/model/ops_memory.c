/* SPDX-License-Identifier: Apache-2.0 */
/** Loads, stores and atomics. If all lanes access one page, which is the common case, one translation and one check
 *  serve all of them; otherwise each lane is located by itself. A fault leaves registers and memory as they were. */
#include "model.h"

#define FOR_LANES(l, mask) \
    for (uint32_t rest_ = (mask), l = 0; rest_ && (l = (uint32_t)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)

struct place {
    uint8_t *host;
    uint64_t pa; /* physical, or offset in local memory */
    bool local;
};

/* --------------------------------------------------------- lane by lane */

/** Returns the fault of an address before its translation, or 0. */
static uint32_t window_fault(const struct simt *s, uint32_t va, uint32_t size)
{
    if (va % size) {
        return TERN_FAULT_MISALIGNED;
    }
    if (va >= TERN_WIN_PRIVATE_BASE) {
        return (va - TERN_WIN_PRIVATE_BASE) >> s->p.stack_log2 ? TERN_FAULT_STACK_OVERFLOW : TERN_FAULT_NONE;
    }
    if (va >= TERN_WIN_GUARD_BASE) {
        return TERN_FAULT_STACK_OVERFLOW;
    }
    return va >= TERN_WIN_LOCAL_BASE && va - TERN_WIN_LOCAL_BASE >= s->p.local_bytes ? TERN_FAULT_LOCAL_OVERRUN
                                                                                      : TERN_FAULT_NONE;
}

/** Returns the address in memory of a word of a lane's private window. Words of different lanes are adjacent. */
static uint32_t private_address(const struct core *c, uint32_t va, uint32_t l)
{
    const struct tern_pkt_dispatch *p = &c->e->simt.p;
    uint32_t off = va - TERN_WIN_PRIVATE_BASE;
    return p->stack + (c->index * LANES << p->stack_log2) + ((off >> 2) * LANES + l) * 4 + (off & 3u);
}

/**
 * Locates each lane's address, and returns the mask of the lanes that were located. If lanes are missing, c->f says
 * why:
 *   page_absent   the missing lanes wait for their pages
 *   other faults  the mask is 0
 * Faults are found in this order: an address outside of its window, a page that is not mapped, an absent page.
 */
static uint32_t locate(struct core *c, const struct warp *w, const vec *va, uint32_t size, uint32_t access,
                       struct place *place)
{
    struct simt *s = &c->e->simt;
    uint32_t code, absent = 0, first = 0;
    FOR_LANES(l, w->active)
    {
        if ((code = window_fault(s, (*va)[l], size))) {
            return fail(c, code, access, (*va)[l], l), 0;
        }
    }
    FOR_LANES(l, w->active)
    {
        uint32_t at = (*va)[l];
        if (at >= TERN_WIN_LOCAL_BASE && at < TERN_WIN_PRIVATE_BASE) {
            uint32_t off = w->slot * s->p.local_bytes + at - TERN_WIN_LOCAL_BASE;
            place[l] = (struct place){.host = s->lmem + off, .pa = off, .local = true};
            continue;
        }
        at = at >= TERN_WIN_PRIVATE_BASE ? private_address(c, at, l) : at;
        const struct tlb_entry *t = memory_page(&c->e->dev->mem, &c->e->space, at, access, &code);
        if (t) {
            place[l] = (struct place){.host = t->host + at % PAGE, .pa = t->page * PAGE + at % PAGE};
        } else if (code == TERN_FAULT_PAGE_ABSENT) {
            first = absent ? first : at;
            absent |= 1u << l;
        } else {
            return fail(c, code, access, (*va)[l], l), 0;
        }
    }
    if (absent) {
        fail(c, TERN_FAULT_PAGE_ABSENT, access, first, (uint32_t)__builtin_ctz(absent));
    }
    return w->active & ~absent;
}

/** Ends an instruction that was done for the lanes that locate returned, and returns STEP_*. The other lanes are added
 *  to simt.unfinished; u has all fields that do not depend on the lanes. */
static int leave_rest(struct core *c, const struct warp *w, const struct op *o, const vec *va, uint32_t done,
                      struct unfinished u)
{
    struct simt *s = &c->e->simt;
    const struct group *g = &s->group[w->slot];
    if (done == w->active) {
        return STEP_NEXT;
    }
    if (c->f->code != TERN_FAULT_PAGE_ABSENT) {
        return STEP_FAULT;
    }
    u.p.warp = c->index;
    u.p.member = c->index - g->first_warp;
    u.p.group_x = g->id[0];
    u.p.group_y = g->id[1];
    u.p.group_z = g->id[2];
    u.p.pc = c->block->pc + 4 * (uint32_t)(o - c->block->op);
    u.p.mask = w->active & ~done;
    FOR_LANES(l, u.p.mask)
    {
        const bool private = (*va)[l] >= TERN_WIN_PRIVATE_BASE;
        u.p.private_ |= (private ? 1u : 0u) << l;
        u.address[l] = private ? private_address(c, (*va)[l], l) : (*va)[l];
        u.data[l] = u.p.op == TERN_CTX_SIMT_PENDING_OP_LOAD ? 0 : w->x[o->rs2][l];
        u.compare[l] = o->code == OP_AMOCAS ? w->x[o->rs3][l] : 0;
    }
    s->unfinished[s->n_unfinished++] = u;
    return STEP_PART;
}

static void written(struct engine *e, const struct place *p)
{
    struct simt *s = &e->simt;
    if (!p->local) {
        memory_written(&e->dev->mem, p->pa, 4);
    } else if (s->lres_valid && s->lres_word == (p->pa & ~3ull)) {
        s->lres_valid = false;
    }
}

/* ------------------------------------------------------- lanes together */

/** Accesses of all lanes in one page. */
struct span {
    uint8_t *host;  /* the page in the host; if in_row, the word of lane 0, even if that is not active */
    uint64_t page;  /* number of the physical page; UINT64_MAX: local memory */
    bool in_row;    /* the lanes access consecutive words */
    bool same;      /* the lanes access one address */
    vec offset;     /* byte offset in the page, which is valid also in lanes that are not active */
};

static uint32_t any(const vec *v)
{
    uint32_t r = 0;
    for (int l = 0; l < LANES; l++) {
        r |= (*v)[l];
    }
    return r;
}

/** Finds the span of the accesses. Returns false if they are not in one page, or one of them faults. */
static bool together(struct core *c, const struct warp *w, const vec *va, uint32_t size, uint32_t access,
                     struct span *s)
{
    struct simt *t = &c->e->simt;
    uint32_t leader = (uint32_t)__builtin_ctz(w->active), first = (*va)[leader], at = first,
        row = first - 4 * leader, code;
    const vec other = (*va ^ first) & w->on;
    uint32_t differs = any(&other);
    if (differs >= PAGE || ((differs | first) & (size - 1))) {
        return false;
    }
    s->same = !differs;
    s->offset = *va & (PAGE - size);
    uint32_t off_row = 0;
    for (uint32_t l = 0; l < LANES; l++) {
        off_row |= ((*va)[l] - row - 4 * l) & w->on[l];
    }
    s->in_row = size == 4 && !s->same && row % PAGE + 4 * LANES <= PAGE && !off_row;
    if (first >= TERN_WIN_LOCAL_BASE) {
        if (first >= TERN_WIN_PRIVATE_BASE) { /* the same word of all lanes: these words are consecutive in memory */
            if (!s->same || size != 4 || window_fault(t, first, 4)) {
                return false;
            }
            at = row = private_address(c, first, 0);
            s->same = false;
            s->in_row = true;
        } else {
            uint32_t low = (first - TERN_WIN_LOCAL_BASE) & ~(PAGE - 1);
            const vec over = (vec)(*va - TERN_WIN_LOCAL_BASE >= t->p.local_bytes) & w->on;
            if (any(&over)) {
                return false;
            }
            s->page = UINT64_MAX;
            s->host = t->lmem + w->slot * t->p.local_bytes + low + (s->in_row ? row % PAGE : 0);
            return true;
        }
    }
    const struct tlb_entry *e = memory_page(&c->e->dev->mem, &c->e->space, at, access, &code);
    if (!e) {
        return false;
    }
    s->page = e->page;
    s->host = e->host + (s->in_row ? row % PAGE : 0);
    return true;
}

/** Returns whether there is a reservation, which a write may end. The lanes must then be done one by one. */
static bool reserved(const struct core *c)
{
    const struct reservation *r = c->e->dev->mem.reserved;
    return c->e->simt.lres_valid || r[0].valid || r[1].valid;
}

/* ----------------------------------------------------------- loads, stores */

static struct unfinished rest_of_load(const struct op *o, uint32_t size, bool is_unsigned)
{
    return (struct unfinished){.p = {.op = TERN_CTX_SIMT_PENDING_OP_LOAD, .size = (uint32_t)__builtin_ctz(size),
                                     .unsigned_ = is_unsigned, .rd = o->rd == SINK ? 0 : o->rd}};
}

#define LOAD(name, type)                                                             \
    static int name(struct core *c, struct warp *w, const struct op *o)              \
    {                                                                                \
        const vec va = w->x[o->rs1] + o->imm;                                        \
        struct span s;                                                               \
        struct place place[LANES];                                                   \
        type one;                                                                    \
        vec r = {0};                                                                 \
        if (!together(c, w, &va, sizeof one, ACCESS_READ, &s)) {                     \
            const uint32_t done = locate(c, w, &va, sizeof one, ACCESS_READ, place); \
            FOR_LANES(l, done)                                                       \
            {                                                                        \
                memcpy(&one, place[l].host, sizeof one);                             \
                w->x[o->rd][l] = (uint32_t)(int32_t)one;                             \
            }                                                                        \
            return leave_rest(c, w, o, &va, done, rest_of_load(o, sizeof one, (type)-1 > 0)); \
        } else if (s.in_row) {                                                       \
            memcpy(&r, s.host, sizeof r);                                            \
        } else if (s.same) {                                                         \
            memcpy(&one, s.host + s.offset[__builtin_ctz(w->active)], sizeof one);   \
            r += (uint32_t)(int32_t)one;                                             \
        } else {                                                                     \
            for (int l = 0; l < LANES; l++) {                                        \
                memcpy(&one, s.host + s.offset[l], sizeof one);                      \
                r[l] = (uint32_t)(int32_t)one;                                       \
            }                                                                        \
        }                                                                            \
        w->x[o->rd] = (r & w->on) | (w->x[o->rd] & ~w->on);                          \
        return STEP_NEXT;                                                            \
    }

LOAD(run_lb, int8_t)
LOAD(run_lh, int16_t)
LOAD(run_lw, int32_t)
LOAD(run_lbu, uint8_t)
LOAD(run_lhu, uint16_t)

/* If several lanes write one address, the last lane wins. */
static int store(struct core *c, struct warp *w, const struct op *o, uint32_t size)
{
    const vec va = w->x[o->rs1] + o->imm, data = w->x[o->rs2];
    struct span s;
    if (reserved(c) || !together(c, w, &va, size, ACCESS_WRITE, &s)) {
        struct place place[LANES];
        const uint32_t done = locate(c, w, &va, size, ACCESS_WRITE, place);
        FOR_LANES(l, done)
        {
            uint32_t v = data[l];
            memcpy(place[l].host, &v, size);
            written(c->e, &place[l]);
        }
        return leave_rest(c, w, o, &va, done,
                          (struct unfinished){.p = {.op = TERN_CTX_SIMT_PENDING_OP_STORE,
                                                    .size = (uint32_t)__builtin_ctz(size)}});
    }
    if (s.in_row) {
        if (w->active == ALL_LANES) {
            memcpy(s.host, &data, sizeof data);
        } else {
            FOR_LANES(l, w->active)
            {
                uint32_t v = data[l];
                memcpy(s.host + 4 * l, &v, 4);
            }
        }
    } else {
        FOR_LANES(l, w->active)
        {
            uint32_t v = data[l];
            memcpy(s.host + s.offset[l], &v, size);
        }
    }
    if (s.page != UINT64_MAX) {
        c->e->dev->mem.dirty[s.page] = 1;
    }
    return STEP_NEXT;
}

static int run_sb(struct core *c, struct warp *w, const struct op *o)
{
    return store(c, w, o, 1);
}

static int run_sh(struct core *c, struct warp *w, const struct op *o)
{
    return store(c, w, o, 2);
}

static int run_sw(struct core *c, struct warp *w, const struct op *o)
{
    return store(c, w, o, 4);
}

/* ----------------------------------------------------------------- atomics */

static uint32_t amo_value(uint16_t op, uint32_t old, uint32_t b)
{
    switch (op) {
    case OP_AMOADD:
        return old + b;
    case OP_AMOXOR:
        return old ^ b;
    case OP_AMOAND:
        return old & b;
    case OP_AMOOR:
        return old | b;
    case OP_AMOMIN:
        return (int32_t)old < (int32_t)b ? old : b;
    case OP_AMOMAX:
        return (int32_t)old > (int32_t)b ? old : b;
    case OP_AMOMINU:
        return old < b ? old : b;
    case OP_AMOMAXU:
        return old > b ? old : b;
    default:
        return b;
    }
}

/** LR (take): takes the engine's only reservation. SC: ends the thread's reservation, and returns 0 if that was one of
 *  this word. */
static uint32_t reserve(struct engine *e, const struct place *p, uint32_t thread, bool take)
{
    struct reservation *r = &e->dev->mem.reserved[e->index];
    struct simt *s = &e->simt;
    bool held;
    if (take && p->local) {
        s->lres_valid = true;
        s->lres_word = (uint32_t)p->pa;
        s->lres_thread = thread;
        return 0;
    }
    if (take) {
        *r = (struct reservation){.valid = true, .word = p->pa, .thread = thread};
        return 0;
    }
    if (p->local) {
        held = s->lres_valid && s->lres_word == p->pa && s->lres_thread == thread;
        s->lres_valid = s->lres_valid && s->lres_thread != thread;
    } else {
        held = r->valid && r->word == p->pa && r->thread == thread;
        r->valid = r->valid && r->thread != thread;
    }
    return !held;
}

/** Does the atomic operation of one lane. Returns the value for rd. */
static uint32_t amo(struct engine *e, const struct place *p, uint16_t code, uint32_t b, uint32_t compare,
                    uint32_t thread)
{
    uint32_t old, result;
    memcpy(&old, p->host, 4);
    result = old;
    bool store_it = true;
    if (code == OP_LR) {
        reserve(e, p, thread, true);
        store_it = false;
    } else if (code == OP_SC) {
        result = reserve(e, p, thread, false);
        store_it = !result;
    } else if (code == OP_AMOCAS) {
        store_it = old == compare;
    }
    if (store_it) {
        uint32_t v = amo_value(code, old, b);
        memcpy(p->host, &v, 4);
        written(e, p);
    }
    return result;
}

/** The atomic operations, indexed by their numbers on the memory channel. */
static const uint16_t channel[] = {OP_AMOSWAP, OP_AMOADD,  OP_AMOXOR,  OP_AMOAND,  OP_AMOOR, OP_AMOMIN,
                                   OP_AMOMAX,  OP_AMOMINU, OP_AMOMAXU, OP_AMOCAS, OP_LR,    OP_SC};
#define CHANNEL (sizeof channel / sizeof channel[0])

static uint32_t channel_number(uint16_t code)
{
    uint32_t i = 0;
    while (i < CHANNEL - 1 && channel[i] != code) {
        i++;
    }
    return i;
}

static int run_amo(struct core *c, struct warp *w, const struct op *o)
{
    struct place place[LANES];
    const vec va = w->x[o->rs1];
    const uint32_t done = locate(c, w, &va, 4, ACCESS_ATOMIC, place);
    vec r = w->x[o->rd];
    FOR_LANES(l, done)
    {
        /* rs3 of amocas is its rd */
        r[l] = amo(c->e, &place[l], o->code, w->x[o->rs2][l], w->x[o->rs3][l], c->index * LANES + l);
    }
    w->x[o->rd] = r;
    w->hot = w->hot || w->active != (w->live & ~w->waiting);
    return leave_rest(c, w, o, &va, done,
                      (struct unfinished){.p = {.op = TERN_CTX_SIMT_PENDING_OP_AMO, .amo = channel_number(o->code),
                                                .size = 2, .rd = o->rd == SINK ? 0 : o->rd}});
}

/* ------------------------------------------------------------------ replay */

/** Returns the private-window address of a lane's address in the backing memory. */
static uint32_t window_address(const struct tern_pkt_dispatch *p, uint32_t warp, uint32_t address)
{
    uint32_t off = address - p->stack - (warp * LANES << p->stack_log2);
    return TERN_WIN_PRIVATE_BASE + (off / 4 / LANES * 4 | (off & 3u));
}

static uint32_t extend(uint32_t v, uint32_t log2_bytes, bool is_unsigned)
{
    uint32_t shift = 32 - (8u << log2_bytes);
    return is_unsigned ? v : (uint32_t)((int32_t)(v << shift) >> shift);
}

/** Locates the lanes' addresses. *done is the mask of the lanes whose pages are present. Returns false on a fault. */
static bool locate_rest(struct engine *e, const struct unfinished *u, struct place *place, uint32_t *done,
                        struct fault *f)
{
    static const uint32_t access[] = {ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC};
    const struct tern_ctx_simt_pending *p = &u->p;
    const bool known = p->op <= TERN_CTX_SIMT_PENDING_OP_AMO && p->size <= 2 && p->amo < CHANNEL;
    *done = 0;
    FOR_LANES(l, p->mask)
    {
        const uint32_t at = u->address[l];
        uint32_t code = TERN_FAULT_NONE;
        if (!known || at % (1u << p->size)) {
            f->code = TERN_FAULT_CONTEXT_INVALID;
            return false;
        }
        const struct tlb_entry *t = memory_page(&e->dev->mem, &e->space, at, access[p->op], &code);
        if (t) {
            place[l] = (struct place){.host = t->host + at % PAGE, .pa = t->page * PAGE + at % PAGE};
            *done |= 1u << l;
            continue;
        }
        const bool wrong = code != TERN_FAULT_PAGE_ABSENT, private = p->private_ >> l & 1u;
        const struct fault why = {.code = code, .access = access[p->op], .pc = p->pc, .warp = p->member, .lane = l,
                                  .va = wrong && private ? window_address(&e->simt.p, p->warp, at) : at,
                                  .group = {p->group_x, p->group_y, p->group_z}};
        if (wrong) {
            *f = why;
            return false;
        }
        page_request(e, &why);
    }
    return true;
}

bool memory_replay(struct engine *e, const struct unfinished *u, uint32_t *result, uint32_t *done, struct fault *f)
{
    const struct tern_ctx_simt_pending *p = &u->p;
    struct place place[LANES];
    if (!locate_rest(e, u, place, done, f)) {
        return false;
    }
    FOR_LANES(l, *done)
    {
        uint32_t v = 0;
        if (p->op == TERN_CTX_SIMT_PENDING_OP_AMO) {
            result[l] = amo(e, &place[l], channel[p->amo], u->data[l], u->compare[l], p->warp * LANES + l);
        } else if (p->op == TERN_CTX_SIMT_PENDING_OP_LOAD) {
            memcpy(&v, place[l].host, 1u << p->size);
            result[l] = extend(v, p->size, p->unsigned_);
        } else {
            memcpy(place[l].host, &u->data[l], 1u << p->size);
            written(e, &place[l]);
        }
    }
    return true;
}

handler *memory_handler(const struct instruction *i)
{
    if (i->op == OP_STORE) {
        return i->size == 1 ? run_sb : i->size == 2 ? run_sh : run_sw;
    }
    if (i->op == OP_LOAD) {
        return i->size == 1 ? run_lb : i->size == 2 ? run_lh : run_lw;
    }
    if (i->op == OP_LOADU) {
        return i->size == 1 ? run_lbu : run_lhu;
    }
    return i->op >= OP_LR && i->op <= OP_AMOCAS ? run_amo : NULL;
}
