/* SPDX-License-Identifier: Apache-2.0 */
/** Functions of the builders of both kinds (memory, submissions, open ranges), and the choice of a case's builder. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

#define RESET_STREAM 0x6265666f7265ull
#define RESETS 6u
#define REMAP_STREAM 0x72656d6170ull
#define REMAPS 12u
#define MOST_BEFORE 10u /* a scene before the case runs for less than 16 << MOST_BEFORE device cycles */

const char *const kind_names[KINDS] = {[KIND_PROGRAM] = "program", [KIND_STREAM] = "stream"};

static const struct {
    uint32_t (*items)(uint64_t seed, const struct geometry *g);
    int (*build)(const struct test_case *c, const struct geometry *g, struct scene *out);
    void (*text)(uint64_t seed, const struct geometry *g, uint32_t item, char *out, size_t size);
} kinds[KINDS] = {
    [KIND_PROGRAM] = {program_items, program_build, program_item_text},
    [KIND_STREAM] = {stream_items, stream_build, stream_item_text},
};

/** Aborts on a mistake of a builder, which would otherwise appear as a difference of the devices. */
static void check(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "tern verify: mistake in a case's builder: %s\n", what);
        abort();
    }
}

void case_size(struct test_case *c, const struct geometry *g)
{
    c->items = kinds[c->kind].items(c->seed, g);
    check(c->items <= MAX_ITEMS, "too many items");
    for (uint32_t i = 0; i < c->items; i++) {
        c->keep[i] = true;
    }
}

static int build(const struct test_case *c, const struct geometry *g, struct scene *out)
{
    *out = (struct scene){.seed = c->seed, .engines = g->engines, .mem_bytes = g->mem_bytes};
    out->memory = calloc(1, g->mem_bytes);
    out->touched = calloc(1, g->mem_bytes / PAGE);
    int r = out->memory && out->touched ? kinds[c->kind].build(c, g, out) : -ENOMEM;
    if (r) {
        scene_free(out);
    }
    return r;
}

/** In one case of RESETS, builds another case of either kind, which runs first and is ended by a reset. */
static int build_before(const struct test_case *c, const struct geometry *g, struct scene *s)
{
    struct rng r = rng_of(c->seed, RESET_STREAM + c->kind);
    if (!rng_one_in(&r, RESETS)) {
        return 0;
    }
    struct test_case *other = calloc(1, sizeof *other);
    s->before = calloc(1, sizeof *s->before);
    int result = other && s->before ? 0 : -ENOMEM;
    if (result == 0) {
        *other = (struct test_case){.kind = (enum kind)rng_below(&r, KINDS), .seed = rng_next(&r)};
        case_size(other, g);
        result = build(other, g, s->before);
        s->before_cycles = 1 + rng_below(&r, 16u << rng_below(&r, MOST_BEFORE));
    }
    free(other);
    return result;
}

/** In one case of REMAPS that no other case runs before, the case itself does, with other translations. */
static int build_remapped(const struct test_case *c, struct scene *s)
{
    struct rng r = rng_of(c->seed, REMAP_STREAM + c->kind);
    if (s->before || !rng_one_in(&r, REMAPS)) {
        return 0;
    }
    struct scene *remapped = calloc(1, sizeof *remapped);
    int result = remapped ? scene_remap(s, &r, remapped) : -ENOMEM;
    if (result) {
        free(remapped);
        return result;
    }
    s->before = remapped;
    s->before_cycles = 1 + rng_below(&r, 16u << (4 + rng_below(&r, MOST_BEFORE - 4)));
    return 0;
}

int case_build(const struct test_case *c, const struct geometry *g, struct scene *out)
{
    int r = build(c, g, out);
    if (r == 0) {
        r = build_before(c, g, out);
    }
    if (r == 0) {
        r = build_remapped(c, out);
    }
    if (r) {
        scene_free(out);
    }
    return r;
}

void case_item_text(const struct test_case *c, const struct geometry *g, uint32_t item, char *out, size_t size)
{
    kinds[c->kind].text(c->seed, g, item, out, size);
}

void scene_free(struct scene *s)
{
    if (s->before) {
        scene_free(s->before);
        free(s->before);
    }
    free(s->memory);
    free(s->touched);
    free(s->submit);
    free(s->open);
    free(s->gate);
    free(s->absent);
    *s = (struct scene){0};
}

void scene_put(struct scene *s, uint64_t physical, const void *data, size_t bytes)
{
    check(physical <= s->mem_bytes && bytes <= s->mem_bytes - physical, "bytes beyond memory");
    if (bytes) {
        memcpy(s->memory + physical, data, bytes);
        memset(s->touched + physical / PAGE, 1, (physical + bytes - 1) / PAGE - physical / PAGE + 1);
    }
}

/** Marks a page as touched that the driver will write, since such a write sets no dirty bit. */
static void touch(struct scene *s, uint64_t physical)
{
    scene_put(s, physical, &(uint64_t){0}, sizeof(uint64_t));
}

/** Makes room for one more element after `count`. The array doubles at powers of two. */
static int grow(void **array, uint32_t count, size_t each)
{
    if (count & (count - 1)) {
        return 0;
    }
    void *larger = realloc(*array, (count ? 2 * (size_t)count : 1) * each);
    if (!larger) {
        return -ENOMEM;
    }
    *array = larger;
    return 0;
}

/** Writes the page list of a context-save area of SAVE_PAGES pages. Behind the first page, the order is reversed. */
static void put_list(struct scene *s, uint32_t save)
{
    uint32_t list[SAVE_PAGES] = {0};
    for (uint32_t k = 1; k < SAVE_PAGES; k++) {
        list[k - 1] = (save + SAVE_PAGES - k) << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK |
                      TERN_PTE_WRITE_MASK;
    }
    if (save && save + SAVE_PAGES <= s->mem_bytes / PAGE) {
        scene_put(s, (uint64_t)save * PAGE + LINE, list, sizeof list);
    }
}

int scene_submit(struct scene *s, const struct submit *sub)
{
    put_list(s, sub->save);
    check(sub->engine < s->engines, "a submission to an engine that there is not");
    void *array = s->submit;
    int r = grow(&array, s->submits, sizeof *s->submit);
    s->submit = array;
    if (r == 0) {
        s->submit[s->submits++] = *sub;
    }
    return r;
}

int scene_gate(struct scene *s, const struct gate *gate)
{
    check(gate->submit < s->submits, "a gate of a submission that there is not");
    void *array = s->gate;
    int r = grow(&array, s->gates, sizeof *s->gate);
    s->gate = array;
    if (r == 0) {
        s->gate[s->gates++] = *gate;
        touch(s, gate->physical);
    }
    return r;
}

int scene_absent(struct scene *s, uint64_t at, uint32_t entry)
{
    const uint32_t keep = TERN_PTE_VALID_MASK | TERN_PTE_ABSENT_MASK;
    const uint32_t absent = (entry * 0x9e3779b1u & ~keep) | TERN_PTE_ABSENT_MASK;
    void *array = s->absent;
    int r = grow(&array, s->absents, sizeof *s->absent);
    s->absent = array;
    if (r == 0) {
        s->absent[s->absents++] = (struct absent){.at = at, .entry = entry};
        scene_put(s, at, &absent, sizeof absent);
        r = scene_open(s, at, sizeof absent, OPEN_PAGING, true);
    }
    return r;
}

int scene_paging(struct scene *s, uint64_t physical)
{
    s->paging = physical;
    s->asks = true;
    touch(s, physical);
    return scene_open(s, physical, PAGE, OPEN_PAGING, false);
}

int scene_open(struct scene *s, uint64_t first, uint64_t bytes, enum open_reason reason, bool dirty)
{
    check(first <= s->mem_bytes && bytes <= s->mem_bytes - first, "an open range beyond memory");
    void *array = s->open;
    int r = grow(&array, s->opens, sizeof *s->open);
    s->open = array;
    if (r == 0) {
        s->open[s->opens++] = (struct open_range){.first = first, .bytes = bytes, .reason = reason, .dirty = dirty};
    }
    return r;
}
