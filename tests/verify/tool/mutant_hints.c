/* SPDX-License-Identifier: Apache-2.0 */
/** The file of hints. A line names the case, or the stop of a kernel, that caught a mutant last. Hints only save time:
 *  a hint that does not catch the mutant is ignored. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mutants.h"

static const char head[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# What caught each seeded bug last: geometry, name, kind and seed; or preempt, kernel and cycle. It is tried\n"
    "# first, and only saves time. Written by `tern verify --mutants --record`.\n";

int hints_put(struct hints *h, const struct hint *hint)
{
    for (uint32_t i = 0; i < h->count; i++) {
        if (strcmp(h->hint[i].geometry, hint->geometry) == 0 && strcmp(h->hint[i].name, hint->name) == 0) {
            h->hint[i] = *hint;
            return 0;
        }
    }
    struct hint *more = realloc(h->hint, (h->count + 1) * sizeof *more);
    if (!more) {
        return -ENOMEM;
    }
    h->hint = more;
    h->hint[h->count++] = *hint;
    return 0;
}

static bool parse(const char *line, struct hint *out)
{
    unsigned long long at;
    *out = (struct hint){0};
    bool ok = sscanf(line, "%15s %63s preempt %31s %llu", out->geometry, out->name, out->kernel, &at) == 4;
    if (ok) {
        strcpy(out->kind, "preempt");
    } else {
        out->kernel[0] = '\0';
        ok = sscanf(line, "%15s %63s %15s %llu", out->geometry, out->name, out->kind, &at) == 4;
    }
    out->at = ok ? at : 0;
    bool known = out->kernel[0];
    for (uint32_t k = 0; ok && k < KINDS; k++) {
        known |= strcmp(out->kind, kind_names[k]) == 0;
    }
    return ok && known;
}

int hints_read(const char *path, struct hints *out)
{
    char line[256];
    int r = 0;
    *out = (struct hints){0};
    FILE *f = fopen(path, "r");
    for (unsigned n = 1; f && !r && fgets(line, sizeof line, f); n++) {
        struct hint hint;
        if (line[0] == '#' || line[0] == '\n') {
            continue;
        }
        r = parse(line, &hint) ? hints_put(out, &hint) : -EINVAL;
        if (r == -EINVAL) {
            fprintf(stderr, "tern verify: %s:%u: no hint\n", path, n);
        }
    }
    if (f) {
        fclose(f);
    }
    if (r) {
        hints_free(out);
    }
    return r;
}

void hints_free(struct hints *h)
{
    free(h->hint);
    *h = (struct hints){0};
}

const struct hint *hints_find(const struct hints *h, const char *geometry, const char *name)
{
    for (uint32_t i = 0; i < h->count; i++) {
        if (strcmp(h->hint[i].geometry, geometry) == 0 && strcmp(h->hint[i].name, name) == 0) {
            return &h->hint[i];
        }
    }
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    const struct hint *x = a, *y = b;
    int geometry = strcmp(y->geometry, x->geometry); /* the small one first */
    return geometry ? geometry : strcmp(x->name, y->name);
}

int hints_write(const char *path, struct hints *h)
{
    FILE *f = fopen(path, "w");
    if (!f) {
        return -errno;
    }
    fputs(head, f);
    if (h->count) {
        qsort(h->hint, h->count, sizeof *h->hint, by_name);
    }
    for (uint32_t i = 0; i < h->count; i++) {
        const struct hint *k = &h->hint[i];
        fprintf(f, "%s %s %s %s%s%llu\n", k->geometry, k->name, k->kind, k->kernel, k->kernel[0] ? " " : "",
                (unsigned long long)k->at);
    }
    bool failed = ferror(f);
    return fclose(f) || failed ? -EIO : 0;
}
