/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compares the end of a scene on two devices: how it ended, indications, memory, dirty bits. All but the open ranges
 * must be equal.
 *
 * Memory is compared in pages that the scene has written or that are dirty on either device. every_page compares all
 * pages, to find a wrong write that set no dirty bit; this costs more than a short case.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define SHOWN 16u /* number of bytes shown of a memory difference */

const char *const difference_names[DIFF_KINDS] = {
    [DIFF_NONE] = "none", [DIFF_RULE] = "rule", [DIFF_ENDING] = "ending", [DIFF_INDICATION] = "indication",
    [DIFF_MEMORY] = "memory", [DIFF_DIRTY] = "dirty", [DIFF_CRASH] = "crash"};

static const char *const indication_names[] = {"none", "completed", "preempted", "faulted"};
static const char *const access_names[] = {"read", "write", "execute", "atomic"};

/** Adds a line. The first call names the kind of difference. */
__attribute__((format(printf, 3, 4)))
static void say(struct difference *d, enum difference_kind kind, const char *format, ...)
{
    size_t used = strlen(d->text);
    if (d->kind == DIFF_NONE) {
        d->kind = kind;
    }
    va_list ap;
    va_start(ap, format);
    vsnprintf(d->text + used, sizeof d->text - used, format, ap);
    va_end(ap);
}

static void ending_text(const struct ending *e, char *out, size_t size)
{
    if (e->error) {
        snprintf(out, size, "%s", e->error == -EPROTO ? "an indication that no submission explains"
                                                      : strerror(-e->error));
    } else {
        snprintf(out, size, "%s", e->hung ? "hung" : "ended");
    }
}

/** Adds a line for a rule (an assertion, or the AXI protocol) that a device has broken. */
static void compare_rules(const struct side *side, const char *which, struct difference *out)
{
    struct tern_sim_violation v;
    if (side->sim && side->backend->api->violation(side->sim, &v)) {
        say(out, DIFF_RULE, "rule: %s broke %s of %s (%s) at device time %llu\n", which, v.rule, v.module, v.place,
            (unsigned long long)v.cycle);
    }
}

static void compare_endings(const struct side *a, const struct side *b, struct difference *out)
{
    char x[96], y[96];
    ending_text(&a->end, x, sizeof x);
    ending_text(&b->end, y, sizeof y);
    if (a->end.hung || b->end.hung || a->end.error || b->end.error) {
        say(out, DIFF_ENDING, "ending: expected \"%s\" after %llu cycles, got \"%s\" after %llu\n", x,
            (unsigned long long)a->end.cycles, y, (unsigned long long)b->end.cycles);
    }
}

static bool same_seen(const struct seen *a, const struct seen *b)
{
    return a->engine == b->engine && a->kind == b->kind && a->fault == b->fault && a->access == b->access &&
           a->lane == b->lane && a->warp == b->warp && a->va == b->va && a->pc == b->pc && a->offset == b->offset &&
           a->fence == b->fence && memcmp(a->group, b->group, sizeof a->group) == 0;
}

static void seen_text(const struct seen *s, char *out, size_t size)
{
    int n = snprintf(out, size, "fence %llu %s", (unsigned long long)s->fence, indication_names[s->kind & 3]);
    if (n > 0 && (size_t)n < size && s->kind == TERN_ENGINE_IND_INFO_KIND_FAULTED) {
        snprintf(out + n, size - (size_t)n, " %s (%s) va 0x%08x pc 0x%08x offset 0x%x group %u,%u,%u warp %u lane %u",
                 tern_fault_name(s->fault), access_names[s->access & 3], s->va, s->pc, s->offset, s->group[0],
                 s->group[1], s->group[2], s->warp, s->lane);
    } else if (n > 0 && (size_t)n < size) {
        snprintf(out + n, size - (size_t)n, " offset 0x%x", s->offset);
    }
}

static void compare_indications(const struct side *a, const struct side *b, struct difference *out)
{
    for (uint32_t e = 0; e < ENGINES; e++) {
        uint32_t i = 0, j = 0, n = 0;
        for (;; i++, j++, n++) {
            while (i < a->end.count && a->end.seen[i].engine != e) {
                i++;
            }
            while (j < b->end.count && b->end.seen[j].engine != e) {
                j++;
            }
            bool more = i < a->end.count, came = j < b->end.count;
            if (!more && !came) {
                break;
            }
            if (!more || !came || !same_seen(&a->end.seen[i], &b->end.seen[j])) {
                char x[192] = "none", y[192] = "none";
                if (more) {
                    seen_text(&a->end.seen[i], x, sizeof x);
                }
                if (came) {
                    out->time = out->kind == DIFF_NONE ? b->end.seen[j].end : out->time;
                    seen_text(&b->end.seen[j], y, sizeof y);
                }
                say(out, DIFF_INDICATION, "engine %u, indication %u:\n  expected %s\n  got      %s\n", e, n, x, y);
                break; /* further differences of this engine may follow from this one */
            }
        }
    }
}

/** The memory that may differ: the open ranges of the scene and, if buffers were cut, their save areas. */
struct open {
    const struct scene *scene;
    bool cut;
};

static bool saves(const struct open *x, uint64_t page)
{
    const struct scene *s = x->scene;
    for (uint32_t i = 0; x->cut && i < s->submits; i++) {
        if (page - s->submit[i].save < SAVE_PAGES) {
            return true;
        }
    }
    return false;
}

static bool open_byte(const struct open *x, uint64_t address)
{
    const struct scene *s = x->scene;
    for (uint32_t i = 0; i < s->opens; i++) {
        if (address - s->open[i].first < s->open[i].bytes) {
            return true;
        }
    }
    return saves(x, address / PAGE);
}

static bool open_dirty(const struct open *x, uint64_t page)
{
    const struct scene *s = x->scene;
    for (uint32_t i = 0; i < s->opens; i++) {
        const struct open_range *o = &s->open[i];
        if (o->dirty && o->bytes && o->first < (page + 1) * PAGE && o->first + o->bytes > page * PAGE) {
            return true;
        }
    }
    return saves(x, page);
}

/** Returns the offset of the first difference of a page from `at` on, or PAGE. */
static uint32_t differs_at(const struct open *o, uint64_t page, const uint8_t *x, const uint8_t *y, uint32_t at)
{
    while (at < PAGE && (x[at] == y[at] || open_byte(o, page * PAGE + at))) {
        at++;
    }
    return at;
}

static void show_bytes(const struct open *o, uint64_t address, const uint8_t *x, const uint8_t *y,
                       struct difference *out)
{
    char a[4 * SHOWN] = "", b[4 * SHOWN] = "";
    for (uint32_t i = 0; i < SHOWN && address % PAGE + i < PAGE; i++) {
        bool open = open_byte(o, address + i);
        snprintf(a + 3 * i, sizeof a - 3 * i, open ? " .." : " %02x", x[address % PAGE + i]);
        snprintf(b + 3 * i, sizeof b - 3 * i, open ? " .." : " %02x", y[address % PAGE + i]);
    }
    say(out, DIFF_MEMORY, "memory at 0x%09llx:\n  expected%s\n  got     %s\n", (unsigned long long)address, a, b);
    out->address = out->kind == DIFF_MEMORY ? address : out->address;
}

static int compare_memory(const struct open *o, struct side *a, struct side *b, const uint8_t *dirty_a,
                          const uint8_t *dirty_b, bool every_page, struct difference *out)
{
    const struct scene *s = o->scene;
    uint8_t x[PAGE], y[PAGE];
    uint64_t bytes = 0;
    int r = 0;
    for (uint64_t p = 0; p < s->mem_bytes / PAGE && !r; p++) {
        if (!every_page && !s->touched[p] && !dirty_a[p] && !dirty_b[p]) {
            continue;
        }
        r = a->backend->api->mem_read(a->sim, p * PAGE, x, PAGE);
        if (r == 0) {
            r = b->backend->api->mem_read(b->sim, p * PAGE, y, PAGE);
        }
        if (r || memcmp(x, y, PAGE) == 0) {
            continue;
        }
        for (uint32_t at = differs_at(o, p, x, y, 0); at < PAGE; at = differs_at(o, p, x, y, at + 1)) {
            if (bytes++ == 0) {
                show_bytes(o, p * PAGE + at, x, y, out);
            }
        }
    }
    if (bytes) {
        say(out, DIFF_MEMORY, "  %llu bytes of memory differ\n", (unsigned long long)bytes);
    }
    return r;
}

static void compare_dirty(const struct open *o, const uint8_t *a, const uint8_t *b, struct difference *out)
{
    uint64_t pages = 0;
    for (uint64_t p = 0; p < o->scene->mem_bytes / PAGE; p++) {
        if (a[p] != b[p] && !open_dirty(o, p) && pages++ == 0) {
            say(out, DIFF_DIRTY, "dirty bit of the page at 0x%09llx: expected %u, got %u\n",
                (unsigned long long)(p * PAGE), a[p], b[p]);
            out->address = out->kind == DIFF_DIRTY ? p * PAGE : out->address;
        }
    }
    if (pages) {
        say(out, DIFF_DIRTY, "  %llu pages differ in their dirty bit\n", (unsigned long long)pages);
    }
}

int compare(const struct scene *s, struct side *expected, struct side *got, bool every_page, struct difference *out)
{
    struct difference d = {0};
    compare_rules(expected, "the expected device", &d);
    compare_rules(got, "the device", &d);
    compare_endings(expected, got, &d);
    compare_indications(expected, got, &d);
    if (expected->end.hung || got->end.hung || expected->end.error || got->end.error) {
        *out = d;
        return 0; /* a device that has not ended has written only part of its memory */
    }
    uint8_t *dirty = calloc(2, s->mem_bytes / PAGE), *other = dirty ? dirty + s->mem_bytes / PAGE : NULL;
    if (!dirty) {
        return -ENOMEM;
    }
    int a = device_dirty(expected->backend->api, expected->sim, s->mem_bytes, false, dirty),
        b = device_dirty(got->backend->api, got->sim, s->mem_bytes, false, other);
    if (a || b) {
        say(&d, DIFF_ENDING, "dirty plane: expected \"%s\", got \"%s\"\n", strerror(-a), strerror(-b));
    }
    const struct open open = {.scene = s, .cut = s->stop_every || expected->end.cut_count || got->end.cut_count};
    int r = compare_memory(&open, expected, got, dirty, other, every_page, &d);
    compare_dirty(&open, dirty, other, &d);
    free(dirty);
    if (r == 0) {
        *out = d;
    }
    return r;
}
