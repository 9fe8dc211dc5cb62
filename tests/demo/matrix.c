/* SPDX-License-Identifier: Apache-2.0 */
/** Matrix Market files, to compressed rows. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

struct entry {
    int row, col;
    float value;
};

static int by_row(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->row != y->row ? x->row - y->row : x->col - y->col;
}

static bool header(struct demo *d, FILE *f, const char *file, int *n, int *stored, bool *symmetric, int *line)
{
    char text[1024], format[64], field[64], shape[64];
    int columns;
    *line = 1;
    if (!fgets(text, sizeof text, f) ||
        sscanf(text, "%%%%MatrixMarket matrix %63s %63s %63s", format, field, shape) != 3) {
        demo_fail(d, "%s:1: no Matrix Market header", file);
        return false;
    }
    *symmetric = strcmp(shape, "symmetric") == 0;
    if (strcmp(format, "coordinate") != 0 || strcmp(field, "real") != 0 ||
        (!*symmetric && strcmp(shape, "general") != 0)) {
        demo_fail(d, "%s:1: only 'coordinate real general' and 'coordinate real symmetric' can be read, not '%s %s %s'",
                  file, format, field, shape);
        return false;
    }
    do {
        (*line)++;
        if (!fgets(text, sizeof text, f)) {
            demo_fail(d, "%s:%d: the line with the sizes is missing", file, *line);
            return false;
        }
    } while (text[0] == '%');
    if (sscanf(text, "%d %d %d", n, &columns, stored) != 3 || *n < 1 || columns != *n || *stored < 1 || *n > 1 << 20 ||
        *stored > 1 << 24) {
        demo_fail(d, "%s:%d: expected the sizes of a square matrix", file, *line);
        return false;
    }
    return true;
}

static bool compress(struct matrix *m, struct entry *e)
{
    m->row = calloc((size_t)m->n + 1, sizeof *m->row);
    m->col = calloc((size_t)m->entries, sizeof *m->col);
    m->value = calloc((size_t)m->entries, sizeof *m->value);
    if (!m->row || !m->col || !m->value) {
        return false;
    }
    qsort(e, (size_t)m->entries, sizeof *e, by_row);
    for (int i = 0; i < m->entries; i++) {
        m->row[e[i].row + 1]++;
        m->col[i] = e[i].col;
        m->value[i] = e[i].value;
    }
    for (int i = 0; i < m->n; i++) {
        m->row[i + 1] += m->row[i];
    }
    return true;
}

bool matrix_load(struct demo *d, const char *file, struct matrix *m)
{
    int stored = 0, line;
    bool symmetric = false;
    char text[1024];
    struct entry *e = NULL;
    memset(m, 0, sizeof *m);
    FILE *f = fopen(file, "r");
    if (!f) {
        demo_fail(d, "cannot open the matrix %s; name another Matrix Market file with --matrix", file);
        return false;
    }
    if (!header(d, f, file, &m->n, &stored, &symmetric, &line)) {
        goto out;
    }
    e = calloc((size_t)stored * 2, sizeof *e);
    for (int i = 0; e && i < stored; i++) {
        int r, c;
        float v;
        line++;
        if (!fgets(text, sizeof text, f) || sscanf(text, "%d %d %f", &r, &c, &v) != 3 || r < 1 || c < 1 || r > m->n ||
            c > m->n) {
            demo_fail(d, "%s:%d: expected 'row column value' with indices from 1 to %d", file, line, m->n);
            goto out;
        }
        e[m->entries++] = (struct entry){r - 1, c - 1, v};
        if (symmetric && r != c) {
            e[m->entries++] = (struct entry){c - 1, r - 1, v};
        }
    }
    if (!e || !compress(m, e)) {
        demo_fail(d, "out of memory for %s", file);
    }
out:
    free(e);
    fclose(f);
    return d->ok;
}

void matrix_free(struct matrix *m)
{
    free(m->row);
    free(m->col);
    free(m->value);
}
