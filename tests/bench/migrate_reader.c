/* SPDX-License-Identifier: Apache-2.0 */
/** Hashes of the pages that a migration sends (migrate_reader.h). */
#include "migrate_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/thread.h"
#include "migration/format/stream.h"
#include "migration/state/internal.h"
#include "os/service.h"

#define PAGE TERN_PAGE_BYTES
#define BATCH_PAGES 64u /* Pages that are read and compared at once. */

static int fail(int r, const char *why)
{
    fprintf(stderr, "tern bench migrate: what was sent: %s\n", why);
    return r;
}

/* ------------------------------------------------------------------------ reading */

/** Adds the memory of a record. A record of a memory that was already added changes nothing. */
static int take_memory(struct migrate_reader *r, struct tern_stream *s)
{
    const uint64_t number = tern_get_u64(s, "number", 0, MIGRATE_SLOTS - 1);
    const uint64_t pages = tern_get_u64(s, "pages", 1, UINT32_MAX);
    struct migrate_slot *t = &r->slot[number];
    if (tern_record_bad(s) || t->hash) {
        return tern_record_bad(s);
    }
    *t = (struct migrate_slot){calloc(pages, sizeof *t->hash), pages};
    return t->hash ? 0 : -ENOMEM;
}

static int take_mapping(struct migrate_reader *r, struct tern_stream *s, uint32_t process)
{
    const uint32_t slot = (uint32_t)tern_get_u64(s, "memory", 0, MIGRATE_SLOTS - 1);
    const uint32_t page = (uint32_t)tern_get_u64(s, "page", 0, UINT32_MAX);
    uint32_t i = 0;
    while (i < r->mappings && (r->mapping[i].process != process || r->mapping[i].page != page)) {
        i++;
    }
    if (i == MIGRATE_MAPPINGS) {
        return -ENOSPC;
    }
    r->mapping[i] = (struct migrate_mapping){process, page, slot};
    r->mappings += i == r->mappings;
    return tern_record_bad(s);
}

static int take_pages(struct migrate_reader *r, struct tern_stream *s)
{
    struct tern_pages p;
    struct tern_page_run run;
    int e = tern_get_pages(s, MIGRATE_SLOTS - 1, UINT32_MAX, &p);
    if (!e && p.first + p.count > r->slot[p.memory].pages) {
        return tern_record_refuse(s, "pages that the memory has not");
    }
    while (!e && tern_pages_next(&p, &run)) {
        for (uint64_t i = 0; i < run.count; i++) {
            r->slot[p.memory].hash[run.first + i] =
                run.data ? XXH3_64bits((const char *)run.data + i * PAGE, PAGE) : 0;
        }
    }
    return e;
}

static int read_all(struct migrate_reader *r, struct tern_stream *s)
{
    enum tern_record_type type;
    uint32_t process = 0;
    int e;
    while ((e = tern_record_next(s, &type)) == 1) {
        e = 0;
        if (type == TERN_RECORD_PROCESS) {
            process = (uint32_t)tern_get_u64(s, "number", 0, UINT32_MAX);
        } else if (type == TERN_RECORD_MEMORY) {
            e = take_memory(r, s);
        } else if (type == TERN_RECORD_MAPPING) {
            e = take_mapping(r, s, process);
        } else if (type == TERN_RECORD_PAGES) {
            e = take_pages(r, s);
        }
        if (e) {
            return e;
        }
    }
    return e;
}

static void *read_stream(void *user)
{
    struct migrate_reader *r = user;
    struct tern_stream *s;
    r->result = tern_stream_read_fd(r->fd, &s);
    if (!r->result) {
        r->result = read_all(r, s);
        tern_stream_close(s);
    }
    if (r->result) {
        fail(r->result, tern_last_error());
    }
    char rest[4096]; /* After an error: discarded, so that the writer does not block. */
    while (r->result && read(r->fd, rest, sizeof rest) > 0) {
    }
    return NULL;
}

int migrate_reader_start(int fd, struct migrate_reader *out)
{
    *out = (struct migrate_reader){.fd = fd};
    const int r = tern_thread_start(&out->thread, read_stream, out);
    return r ? fail(r, strerror(-r)) : 0;
}

int migrate_reader_wait(struct migrate_reader *r)
{
    pthread_join(r->thread, NULL);
    return r->result;
}

/* ---------------------------------------------------------------------- comparison */

/** The memory that arrived for memory i of the process; NULL: none. */
static const struct migrate_slot *find(const struct migrate_reader *r, const struct migrate_process *p, uint32_t i)
{
    for (uint32_t k = 0; k < r->mappings; k++) {
        if (r->mapping[k].process == tern_os_process_number(p->proc) &&
            r->mapping[k].page == p->memory[i].address / PAGE) {
            return &r->slot[r->mapping[k].slot];
        }
    }
    return NULL;
}

static int compare(const struct migrate_slot *t, const struct migrate_memory *m, unsigned char *pages, uint32_t *lost)
{
    static const unsigned char zeros[PAGE];
    const uint64_t zero = XXH3_64bits(zeros, PAGE);
    int r = 0;
    for (uint32_t at = 0, n; !r && at < m->pages; at += n) {
        n = m->pages - at < BATCH_PAGES ? m->pages - at : BATCH_PAGES;
        r = tern_content_read(m->allocation->mem, at, n, pages);
        for (uint32_t i = 0; !r && i < n; i++) {
            const uint64_t arrived = t->hash[at + i] ? t->hash[at + i] : zero;
            *lost += arrived != XXH3_64bits(pages + (size_t)i * PAGE, PAGE);
        }
    }
    return r ? fail(r, tern_last_error()) : 0;
}

int migrate_reader_compare(const struct migrate_reader *r, const struct migrate_process *p, uint32_t *lost)
{
    unsigned char *pages = malloc((size_t)BATCH_PAGES * PAGE);
    int e = pages ? 0 : -ENOMEM;
    for (uint32_t i = 0; !e && i < p->memories; i++) {
        const struct migrate_slot *t = find(r, p, i);
        if (!t || t->pages != p->memory[i].pages) {
            *lost += p->memory[i].pages; /* All pages of the memory are lost. */
        } else {
            e = compare(t, &p->memory[i], pages, lost);
        }
    }
    free(pages);
    return e;
}

void migrate_reader_free(struct migrate_reader *r)
{
    for (uint32_t i = 0; i < MIGRATE_SLOTS; i++) {
        free(r->slot[i].hash);
        r->slot[i].hash = NULL;
    }
}
