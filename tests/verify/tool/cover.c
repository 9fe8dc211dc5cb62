/* SPDX-License-Identifier: Apache-2.0 */
/** Follows the registers of every work-item through its retired instructions, and counts the bins of each. */
#include "cover.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

#define CLASSES 6u
#define PATTERNS 4u
#define WINDOWS 3u
#define MODES 6u
#define WARPS 1024u      /* followed at once; instructions of further ones are not counted */
#define EXIT 0x0000100bu

static const char *const int_class[CLASSES] = {"zero", "one", "minus_one", "min", "max", "other"};
static const char *const fp_class[CLASSES] = {"zero", "subnormal", "normal", "inf", "qnan", "snan"};
static const char *const part_name[] = {"full", "part", "one_lane"};
static const char *const alias_name[] = {"rd=x0", "rd=rs1", "rd=rs2"};
static const char *const mode_name[MODES] = {"rm=rne", "rm=rtz", "rm=rdn", "rm=rup", "rm=rmm", "rm=dyn"};
static const char *const window_name[WINDOWS] = {"global", "local", "private"};
static const char *const pattern_name[PATTERNS] = {"same", "unit", "stride", "scatter"};
static const char *const branch_name[] = {"taken", "not_taken", "split"};
static const char *const imm_name[] = {"imm=zero", "imm=positive", "imm=negative"};

/** Offsets of an instruction's bins, in this order. Aspects that it does not have are skipped when the bins are
 * written. */
enum {
    AT_PART = 0,
    AT_ALIAS = AT_PART + 3,
    AT_RS1 = AT_ALIAS + 3,
    AT_RS2 = AT_RS1 + CLASSES,
    AT_RS3 = AT_RS2 + CLASSES,
    AT_CROSS = AT_RS3 + CLASSES,
    AT_MODE = AT_CROSS + CLASSES * CLASSES,
    AT_ADDRESS = AT_MODE + MODES,
    AT_BRANCH = AT_ADDRESS + WINDOWS * PATTERNS,
    AT_IMM = AT_BRANCH + 3,
    BINS = AT_IMM + 3,
};

#define MAX_OPS 160u

/** The registers of a warp, as far as writes to them were seen. */
struct shadow {
    bool used;
    uint32_t engine, group[3], warp;
    uint32_t known[32];        /* mask of lanes, by register */
    uint32_t x[32][32];        /* by register and lane */
};

struct cover {
    uint32_t lanes;
    uint64_t count[MAX_OPS][BINS];
    struct shadow warp[WARPS];
};

int cover_create(const struct geometry *g, struct cover **out)
{
    if (cover_op_count > MAX_OPS || g->lanes > 32) {
        return -EINVAL;
    }
    struct cover *c = calloc(1, sizeof *c);
    if (!c) {
        return -ENOMEM;
    }
    c->lanes = g->lanes;
    *out = c;
    return 0;
}

void cover_destroy(struct cover *c)
{
    free(c);
}

void cover_case(struct cover *c, const struct test_case *tc, const struct scene *s, const struct ending *rtl)
{
    (void)tc;
    (void)s;
    (void)rtl;
    for (uint32_t i = 0; i < WARPS; i++) { /* the next case begins on a new device */
        c->warp[i].used = false;
    }
}

static struct shadow *follow(struct cover *c, const struct tern_sim_retired *r)
{
    uint32_t hash = (r->group[0] * 31u + r->group[1] * 131u + r->group[2] * 1031u + r->warp * 7u + r->engine) % WARPS;
    for (uint32_t i = 0; i < 16; i++) {
        struct shadow *s = &c->warp[(hash + i) % WARPS];
        if (!s->used) {
            memset(s->known, 0, sizeof s->known);
            s->used = true;
            s->engine = r->engine;
            memcpy(s->group, r->group, sizeof s->group);
            s->warp = r->warp;
            return s;
        }
        if (s->engine == r->engine && s->warp == r->warp && memcmp(s->group, r->group, sizeof s->group) == 0) {
            return s;
        }
    }
    return NULL;
}

static const struct cover_op *find(uint32_t word)
{
    for (uint32_t i = 0; i < cover_op_count; i++) {
        if ((word & cover_ops[i].mask) == cover_ops[i].match) {
            return &cover_ops[i];
        }
    }
    return NULL;
}

static uint32_t class_of(uint32_t x, bool fp)
{
    if (!fp) {
        return x == 0 ? 0 : x == 1 ? 1 : x == UINT32_MAX ? 2 : x == 0x80000000u ? 3 : x == 0x7fffffffu ? 4 : 5;
    }
    uint32_t e = x >> 23 & 255u, m = x & 0x7fffffu;
    return e == 0 ? m != 0 : e != 255 ? 2 : m == 0 ? 3 : m >> 22 ? 4 : 5;
}

static void operands(uint64_t *n, const struct cover_op *op, const struct shadow *s, const struct tern_sim_retired *r)
{
    uint32_t rs[3] = {r->word >> 15 & 31u, r->word >> 20 & 31u, r->word >> 27};
    const uint32_t has[3] = {HAS_RS1, HAS_RS2, HAS_RS3}, at[3] = {AT_RS1, AT_RS2, AT_RS3};
    for (uint32_t m = r->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m), class[3];
        bool all = true;
        for (uint32_t k = 0; k < 3; k++) {
            bool known = rs[k] == 0 || (s->known[rs[k]] >> l & 1u), fp = op->has & (k ? HAS_FP2 : HAS_FP1);
            class[k] = class_of(rs[k] ? s->x[rs[k]][l] : 0, fp);
            if (known && op->has & has[k]) {
                n[at[k] + class[k]]++;
            }
            all = all && (known || k == 2);
        }
        if (all && op->has & HAS_CROSS) {
            n[AT_CROSS + class[0] * CLASSES + class[1]]++;
        }
    }
}

static void addresses(uint64_t *n, const struct cover_op *op, const struct shadow *s, const struct tern_sim_retired *r)
{
    uint32_t rs1 = r->word >> 15 & 31u, lanes = 0, a[32];
    uint32_t size = op->has & HAS_AMO ? 4 : 1u << (r->word >> 12 & 3u);
    uint32_t imm = op->has & HAS_AMO     ? 0
                   : op->has & HAS_STORE ? (uint32_t)((int32_t)r->word >> 25) << 5 | (r->word >> 7 & 31u)
                                         : (uint32_t)((int32_t)r->word >> 20);
    for (uint32_t m = r->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if (rs1 && !(s->known[rs1] >> l & 1u)) {
            return;
        }
        a[lanes++] = (rs1 ? s->x[rs1][l] : 0) + imm;
    }
    if (lanes < 2) {
        return;
    }
    uint32_t step = a[1] - a[0], window = a[0] >= TERN_WIN_PRIVATE_BASE ? 2 : a[0] >= TERN_WIN_LOCAL_BASE ? 1 : 0;
    bool even = true;
    for (uint32_t i = 1; i < lanes; i++) {
        even = even && a[i] - a[i - 1] == step;
    }
    n[AT_ADDRESS + window * PATTERNS + (!even ? 3 : step == 0 ? 0 : step == size ? 1 : 2)]++;
}

static bool taken(uint32_t f3, uint32_t a, uint32_t b)
{
    bool t = f3 < 2 ? a == b : f3 < 6 ? (int32_t)a < (int32_t)b : a < b;
    return t != (f3 & 1u);
}

static void branches(uint64_t *n, const struct shadow *s, const struct tern_sim_retired *r)
{
    uint32_t rs1 = r->word >> 15 & 31u, rs2 = r->word >> 20 & 31u, went = 0;
    for (uint32_t m = r->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if ((rs1 && !(s->known[rs1] >> l & 1u)) || (rs2 && !(s->known[rs2] >> l & 1u))) {
            return;
        }
        went |= (uint32_t)taken(r->word >> 12 & 7u, rs1 ? s->x[rs1][l] : 0, rs2 ? s->x[rs2][l] : 0) << l;
    }
    n[AT_BRANCH + (went == r->mask ? 0 : went == 0 ? 1 : 2)]++;
}

static void count(struct cover *c, const struct cover_op *op, const struct shadow *s, const struct tern_sim_retired *r)
{
    uint64_t *n = c->count[op - cover_ops];
    uint32_t rd = r->word >> 7 & 31u, rs1 = r->word >> 15 & 31u, rs2 = r->word >> 20 & 31u;
    uint32_t full = c->lanes == 32 ? UINT32_MAX : (1u << c->lanes) - 1;
    int32_t imm = (int32_t)r->word >> 20;
    n[AT_PART + (r->mask == full ? 0 : r->mask & (r->mask - 1) ? 1 : 2)]++;
    if (op->has & HAS_RD) {
        n[AT_ALIAS + 0] += rd == 0;
        n[AT_ALIAS + 1] += rd && rd == rs1 && op->has & (HAS_RS1 | HAS_ADDRESS);
        n[AT_ALIAS + 2] += rd && rd == rs2 && op->has & HAS_RS2;
    }
    operands(n, op, s, r);
    if (op->has & HAS_RM) {
        uint32_t rm = r->word >> 12 & 7u;
        n[AT_MODE + (rm < 5 ? rm : 5)]++;
    }
    if (op->has & HAS_ADDRESS) {
        addresses(n, op, s, r);
    }
    if (op->has & HAS_BRANCH) {
        branches(n, s, r);
    }
    if (op->has & HAS_IMM) {
        n[AT_IMM + (imm == 0 ? 0 : imm > 0 ? 1 : 2)]++;
    }
}

void cover_retired(void *user, const struct tern_sim_retired *r)
{
    struct cover *c = user;
    struct shadow *s = follow(c, r);
    const struct cover_op *op = find(r->word);
    if (!s || !op) {
        return;
    }
    count(c, op, s, r);
    if (r->rd) {
        for (uint32_t m = r->mask; m; m &= m - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(m);
            s->x[r->rd][l] = r->value[l];
        }
        s->known[r->rd] |= r->mask;
    }
    if (r->word == EXIT) {
        for (uint32_t i = 0; i < 32; i++) {
            s->known[i] &= ~r->mask;
        }
    }
}

/* ------------------------------------------------------------------ writing */

static void put(cJSON *o, const struct cover_op *op, const char *aspect, uint64_t n)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%s", op->name, aspect);
    cJSON_AddNumberToObject(o, name, (double)n);
}

static void put_all(cJSON *o, const struct cover_op *op, const uint64_t *n, const char *const *names, uint32_t first,
                    uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        put(o, op, names[i], n[i]);
    }
}

static void put_classes(cJSON *o, const struct cover_op *op, const uint64_t *n, const char *operand, bool fp)
{
    char aspect[64];
    for (uint32_t i = 0; i < CLASSES; i++) {
        snprintf(aspect, sizeof aspect, "%s=%s", operand, fp ? fp_class[i] : int_class[i]);
        put(o, op, aspect, n[i]);
    }
}

static void put_op(cJSON *o, const struct cover_op *op, const uint64_t *n)
{
    char aspect[64];
    bool fp1 = op->has & HAS_FP1, fp2 = op->has & HAS_FP2;
    put_all(o, op, n + AT_PART, part_name, 0, 3);
    if (op->has & HAS_RD) {
        put_all(o, op, n + AT_ALIAS, alias_name, 0, op->has & HAS_RS2 ? 3 : op->has & (HAS_RS1 | HAS_ADDRESS) ? 2 : 1);
    }
    if (op->has & HAS_RS1) {
        put_classes(o, op, n + AT_RS1, "rs1", fp1);
    }
    if (op->has & HAS_RS2) {
        put_classes(o, op, n + AT_RS2, "rs2", fp2);
    }
    if (op->has & HAS_RS3) {
        put_classes(o, op, n + AT_RS3, "rs3", fp2);
    }
    for (uint32_t i = 0; op->has & HAS_CROSS && i < CLASSES * CLASSES; i++) {
        snprintf(aspect, sizeof aspect, "rs1=%s,rs2=%s", fp1 ? fp_class[i / CLASSES] : int_class[i / CLASSES],
                 fp2 ? fp_class[i % CLASSES] : int_class[i % CLASSES]);
        put(o, op, aspect, n[AT_CROSS + i]);
    }
    if (op->has & HAS_RM) {
        put_all(o, op, n + AT_MODE, mode_name, 0, MODES);
    }
    for (uint32_t i = 0; op->has & HAS_ADDRESS && i < WINDOWS * PATTERNS; i++) {
        snprintf(aspect, sizeof aspect, "%s.%s", window_name[i / PATTERNS], pattern_name[i % PATTERNS]);
        put(o, op, aspect, n[AT_ADDRESS + i]);
    }
    if (op->has & HAS_BRANCH) {
        put_all(o, op, n + AT_BRANCH, branch_name, 0, 3);
    }
    if (op->has & HAS_IMM) {
        put_all(o, op, n + AT_IMM, imm_name, 0, 3);
    }
}

int cover_write(const struct cover *c, const char *path)
{
    cJSON *o = cJSON_CreateObject();
    for (uint32_t i = 0; i < cover_op_count; i++) {
        put_op(o, &cover_ops[i], c->count[i]);
    }
    char *text = cJSON_Print(o);
    cJSON_Delete(o);
    FILE *f = text ? fopen(path, "w") : NULL;
    int r = f ? 0 : text ? -errno : -ENOMEM;
    if (f && (fputs(text, f) < 0 || fclose(f))) {
        r = -EIO;
    }
    cJSON_free(text);
    return r;
}
