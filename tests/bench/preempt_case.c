/* SPDX-License-Identifier: Apache-2.0 */
/** The kernels that `tern bench preempt` stops (preempt_case.h). Each takes some ten thousand cycles. */
#include "preempt_case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANDOM_WORDS(n) {.kind = ARG_WORDS, .value = 4 * (n)}
#define FLOATS(n) {.kind = ARG_FLOATS, .value = 4 * (n)}
#define SORTED(n) {.kind = ARG_SORTED, .value = 4 * (n)}
#define ZEROS(n) {.kind = ARG_ZEROS, .value = 4 * (n)}
#define VALUE(v) {.kind = ARG_VALUE, .value = (v)}
#define REAL(v) {.kind = ARG_REAL, .real = (v)}
#define LOCAL(bytes) {.kind = ARG_LOCAL, .value = (bytes)}
#define LINEAR(n, group) {1, {n}, {group}, 0}
#define PLANE(n, x, y) {2, {n, n}, {x, y}, 0}

const struct preempt_case preempt_cases[] = {
    {"saxpy", LINEAR(32768, 64), {FLOATS(32768), FLOATS(32768), REAL(2.5f)}},
    {"sgemm", PLANE(64, 16, 4), {FLOATS(4096), FLOATS(4096), ZEROS(4096), VALUE(64)}},
    {"sgemm_tiled", PLANE(64, 8, 8), {FLOATS(4096), FLOATS(4096), ZEROS(4096), VALUE(64)}},
    {"transpose", PLANE(128, 8, 8), {FLOATS(16384), ZEROS(16384), VALUE(128)}},
    {"reduce", LINEAR(1024, 64), {RANDOM_WORDS(65536), ZEROS(1), LOCAL(256), VALUE(65536)}},
    {"histogram", LINEAR(1024, 64), {RANDOM_WORDS(8192), ZEROS(256), VALUE(32768)}},
    {"mandelbrot", PLANE(64, 16, 4), {ZEROS(4096), REAL(-2.0f), REAL(-1.25f), REAL(0.04f), VALUE(100)}},
    {"collatz", LINEAR(1024, 64), {ZEROS(1024), VALUE(400)}},
    {"calls", LINEAR(512, 64), {ZEROS(512), VALUE(24)}},
    {"sort_private", LINEAR(512, 64), {RANDOM_WORDS(4096), ZEROS(512 * 24)}},
    {"atomics", LINEAR(512, 64), {ZEROS(256), VALUE(8)}},
    {"spin", LINEAR(64, 8), {ZEROS(1), ZEROS(64), VALUE(100)}},
    {"scan", LINEAR(1024, 64), {RANDOM_WORDS(1024), ZEROS(1024), VALUE(10)}},
    {"shuffle_local", LINEAR(256, 64), {ZEROS(256), VALUE(6)}},
    {"nbody", LINEAR(256, 64), {FLOATS(1024), ZEROS(1024), VALUE(64)}},
    {"chacha", LINEAR(1024, 64), {ZEROS(1024), VALUE(16)}},
    {"gather", LINEAR(1024, 64), {RANDOM_WORDS(1 << 20), ZEROS(1024 * 512), VALUE(16)}},
    {"search", LINEAR(1024, 64), {SORTED(1 << 18), ZEROS(1024), VALUE(1 << 18), VALUE(8)}},
};
const unsigned preempt_n_cases = sizeof preempt_cases / sizeof preempt_cases[0];

const struct preempt_case preempt_long_case = {
    "sgemm", PLANE(128, 16, 4), {FLOATS(16384), FLOATS(16384), ZEROS(16384), VALUE(128)}};

static uint32_t aligned(uint32_t n, uint32_t to)
{
    return (n + to - 1) / to * to;
}

static bool is_buffer(const struct preempt_arg *a)
{
    return a->kind == ARG_ZEROS || a->kind == ARG_WORDS || a->kind == ARG_FLOATS || a->kind == ARG_SORTED;
}

static void fill(const struct preempt_arg *a, uint8_t *to)
{
    uint32_t seed = 12345;
    for (uint32_t i = 0; i < a->value; i += 4) {
        seed = seed * 1664525u + 1013904223u;
        const float f = (float)(seed >> 8) / 16777216.0f - 0.5f;
        uint32_t w = a->kind == ARG_WORDS ? seed ^ seed >> 16 : a->kind == ARG_SORTED
            ? i * (0xffffffffu / a->value) : 0;
        if (a->kind == ARG_FLOATS) {
            memcpy(&w, &f, sizeof w);
        }
        memcpy(to + i, &w, sizeof w);
    }
}

void preempt_fill(const struct preempt_case *c, uint8_t *to)
{
    for (uint32_t n = 0; n < PREEMPT_ARGS && c->args[n].kind != ARG_END; n++) {
        if (is_buffer(&c->args[n])) {
            fill(&c->args[n], to);
            to += aligned(c->args[n].value, TERN_PAGE);
        }
    }
}

int preempt_lay_out(const struct rig *r, const struct preempt_case *c, const struct tc_kernel *k, uint8_t *block,
                    uint32_t *bytes, uint32_t *local)
{
    uint32_t n = 0;
    *bytes = 0;
    *local = k->local_static;
    for (; n < PREEMPT_ARGS && c->args[n].kind != ARG_END; n++) {
        const struct preempt_arg *a = &c->args[n];
        uint32_t value = a->value;
        if (n >= k->n_args || k->args[n].size != sizeof value) {
            break;
        }
        if (is_buffer(a)) {
            value = r->data + *bytes;
            *bytes += aligned(a->value, TERN_PAGE);
        } else if (a->kind == ARG_LOCAL) {
            *local = aligned(*local, 128);
            value = TERN_WIN_LOCAL_BASE + *local;
            *local += a->value;
        } else if (a->kind == ARG_REAL) {
            memcpy(&value, &a->real, sizeof value);
        }
        memcpy(block + k->args[n].offset, &value, sizeof value);
    }
    *local = aligned(*local, 64);
    return n == k->n_args ? 0 : -EINVAL;
}

int scene_open(struct rig *r, const struct preempt_case *c, struct preempt_scene *out)
{
    const struct tc_kernel *k = rig_kernel(r, c->kernel);
    struct rig_range range = c->range;
    struct preempt_scene s = {.rig = r};
    uint8_t args[256] = {0};
    int e = k && k->args_size <= sizeof args ? preempt_lay_out(r, c, k, args, &s.bytes, &range.local_bytes) : -ENOENT;
    if (e) {
        fprintf(stderr, "tern bench %s: %s: no such kernel, or not with these arguments\n", rig_suite, c->kernel);
        return e;
    }
    uint8_t *before = calloc(1, s.bytes);
    s.after = malloc(s.bytes);
    s.seen = malloc(s.bytes);
    if (!before || !s.after || !s.seen) {
        free(before);
        scene_close(&s);
        return -ENOMEM;
    }
    preempt_fill(c, before);
    e = rig_write(r, r->data + s.bytes, before, s.bytes);
    if (e == 0) {
        e = rig_dispatch(r, k, &range, args, r->data + 2 * s.bytes);
    }
    free(before);
    if (e) {
        scene_close(&s);
        return e;
    }
    *out = s;
    return 0;
}

void scene_close(struct preempt_scene *s)
{
    free(s->after);
    free(s->seen);
    *s = (struct preempt_scene){0};
}

int scene_reset(struct preempt_scene *s)
{
    return rig_copy(s->rig, s->rig->data, s->rig->data + s->bytes, s->bytes);
}

int scene_learn(struct preempt_scene *s)
{
    return rig_read(s->rig, s->rig->data, s->after, s->bytes);
}

int scene_compare(struct preempt_scene *s, const char *kernel)
{
    int e = rig_read(s->rig, s->rig->data, s->seen, s->bytes);
    if (e) {
        return e;
    }
    for (uint32_t i = 0; i < s->bytes; i++) {
        if (s->seen[i] != s->after[i]) {
            fprintf(stderr, "tern bench preempt: %s: the byte at 0x%08x is 0x%02x after stops, 0x%02x without\n",
                    kernel, s->rig->data + i, s->seen[i], s->after[i]);
            return 0;
        }
    }
    return 1;
}
