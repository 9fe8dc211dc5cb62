/* SPDX-License-Identifier: Apache-2.0 */
/** SHA-256 of every file of a folder, written as `sha256sum` writes it, so that `sha256sum -c` is the judge. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "demo.h"

struct files {
    char **path;
    uint32_t *offset, *blocks; /* words, blocks of 64 bytes */
    uint32_t n;
    uint8_t *data;
    size_t size, room;
};

static bool append(struct files *s, const char *path, size_t bytes)
{
    size_t padded = (bytes + 9 + 63) / 64 * 64;
    void *data = realloc(s->data, s->size + padded);
    char **paths = realloc(s->path, (s->n + 1) * sizeof *paths);
    uint32_t *offset = realloc(s->offset, (s->n + 1) * sizeof *offset);
    uint32_t *blocks = realloc(s->blocks, (s->n + 1) * sizeof *blocks);
    s->data = data ? data : s->data;
    s->path = paths ? paths : s->path;
    s->offset = offset ? offset : s->offset;
    s->blocks = blocks ? blocks : s->blocks;
    FILE *f = fopen(path, "rb");
    if (!data || !paths || !offset || !blocks || !f) {
        if (f) {
            fclose(f);
        }
        return false;
    }
    uint8_t *p = s->data + s->size;
    memset(p, 0, padded);
    bool whole = fread(p, 1, bytes, f) == bytes;
    fclose(f);
    p[bytes] = 0x80;
    for (size_t i = 0; i < 8; i++) {
        p[padded - 1 - i] = (uint8_t)((uint64_t)bytes * 8 >> 8 * i);
    }
    s->path[s->n] = strdup(path);
    s->offset[s->n] = (uint32_t)(s->size / 4);
    s->blocks[s->n++] = (uint32_t)(padded / 64);
    s->size += padded;
    return whole && s->path[s->n - 1];
}

static void collect(struct demo *d, struct files *s)
{
    DIR *dir = opendir(d->input);
    struct dirent *e;
    char path[4096];
    struct stat st;
    if (!dir) {
        demo_fail(d, "cannot open the folder %s; name another with --folder", d->input);
        return;
    }
    while ((e = readdir(dir))) {
        snprintf(path, sizeof path, "%s/%s", d->input, e->d_name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && !append(s, path, (size_t)st.st_size)) {
            demo_fail(d, "cannot read %s", path);
            break;
        }
    }
    closedir(dir);
    if (d->ok && s->n == 0) {
        demo_fail(d, "the folder %s has no files; name another with --folder", d->input);
    }
}

static void store(struct demo *d, const struct files *s, const uint32_t *digest)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/sha256.txt", d->output);
    FILE *f = fopen(path, "w");
    for (uint32_t i = 0; f && i < s->n; i++) {
        for (int k = 0; k < 8; k++) {
            fprintf(f, "%08x", digest[8 * i + (uint32_t)k]);
        }
        fprintf(f, "  %s\n", s->path[i]);
    }
    if (!f || fclose(f)) {
        demo_fail(d, "cannot write %s", path);
    }
}

void demo_sha256(struct demo *d)
{
    struct files s = {0};
    collect(d, &s);
    const uint32_t n = s.n;
    uint32_t *digest = calloc(n + 1, 32);
    cl_kernel k = demo_kernel(d, "sha256");
    cl_mem data = demo_buffer(d, s.size, s.data), offset = demo_buffer(d, n * 4u, s.offset);
    cl_mem blocks = demo_buffer(d, n * 4u, s.blocks), out = demo_buffer(d, n * 32u, NULL);
    const size_t local = 16, global = (n + local - 1) / local * local;
    demo_args(d, k, sizeof data, &data, sizeof offset, &offset, sizeof blocks, &blocks, sizeof out, &out, sizeof n, &n,
              (size_t)0);
    demo_run(d, k, 1, &global, &local);
    demo_read(d, out, n * 32u, digest);
    if (d->ok) {
        store(d, &s, digest);
        snprintf(d->result, sizeof d->result, "%u files, %zu bytes", n, s.size);
    }
    for (uint32_t i = 0; i < n; i++) {
        free(s.path[i]);
    }
    free(s.path);
    free(s.offset);
    free(s.blocks);
    free(s.data);
    free(digest);
}
