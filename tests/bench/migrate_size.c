/* SPDX-License-Identifier: Apache-2.0 */
/** Bytes of a blackout (migrate_size.h). */
#include "migrate_size.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "migrate_link.h"
#include "migrate_reader.h"
#include "migration/state/migrate.h"

#define MIB (1u << 20)
#define OTHERS (64u * MIB)  /* Device memory besides the partition. */
#define SPARE (1u * MIB)    /* Bytes of the partition for tables. */
#define PROCESSES 8u
#define OF_PROCESS (896u * MIB)
#define DOWNTIME_NS 600000u /* 4.8 MB of the link. */
#define PARTITION "moves"

static const struct migrate_work work = {.data_bytes = 32 * MIB, .hot_pages = 4096, .reads = 64};

struct run {
    struct migrate_device *device;
    struct tern_device *dev;
    struct migrate_process process[PROCESSES]; /* The first process runs the kernel. */
    struct tern_process *proc[PROCESSES];
    uint32_t processes;
    struct migrate_link link;
    struct migrate_reader reader;
    struct tern_stream *stream;
    uint64_t stopped_at; /* Bytes of the stream at the stop. */
    struct migrate_size *out;
};

static int fail(int r, const char *what)
{
    fprintf(stderr, "tern bench migrate: %s: %s\n", what, tern_last_error());
    return r;
}

/* --------------------------------------------------------------------- the partition */

static int free_bytes(struct run *x, uint64_t *out)
{
    struct tern_partition_info info[2] = {{.size = sizeof info[0]}, {.size = sizeof info[1]}};
    const int n = tern_partition_list(x->dev, info, 2);
    *out = n == 2 ? info[1].free_bytes : 0;
    return n == 2 ? 0 : fail(n < 0 ? n : -ENOENT, "the partition");
}

/** Returns the largest of a few sizes that still fits, or 0 if the partition is full. */
static uint64_t piece(uint64_t left)
{
    for (uint64_t n = 64 * MIB; n >= MIB / 4; n /= 4) {
        if (n + SPARE <= left) {
            return n;
        }
    }
    return 0;
}

/** Fills the partition with processes that have memory. */
static int fill(struct run *x)
{
    uint64_t left, has = OF_PROCESS;
    int r = free_bytes(x, &left);
    while (!r && piece(left)) {
        if (has + piece(left) > OF_PROCESS) {
            if (x->processes == PROCESSES) {
                return fail(-ENOSPC, "too many processes");
            }
            struct migrate_process *p = &x->process[x->processes];
            r = tern_process_create_in(x->dev, PARTITION, "data", &p->proc);
            if (r) {
                return fail(r, "a process");
            }
            x->proc[x->processes++] = p->proc;
            has = 0;
        }
        has += piece(left);
        r = migrate_process_take(&x->process[x->processes - 1], piece(left));
        if (r == 0) {
            r = free_bytes(x, &left);
        }
    }
    return r;
}

static int begin(struct run *x, const struct direct_program *program, uint64_t bytes)
{
    char keys[40];
    struct tern_partition_desc desc = {.size = sizeof desc, .name = PARTITION, .memory_bytes = bytes};
    snprintf(keys, sizeof keys, "mem=%lluM", (unsigned long long)((bytes + OTHERS) / MIB));
    int r = migrate_device_open(keys, &x->device, &x->dev);
    if (r) {
        return r;
    }
    r = tern_partition_create(x->dev, &desc);
    r = r ? fail(r, "a partition") : migrate_work_start(x->dev, PARTITION, program, &work, 0, &x->process[0]);
    if (!r) {
        x->proc[x->processes++] = x->process[0].proc;
        r = fill(x);
    }
    return r;
}

static int end(struct run *x)
{
    for (uint32_t i = 0; i < x->processes; i++) {
        migrate_process_destroy(&x->process[i]);
    }
    int r = x->dev ? tern_device_close(x->dev) : 0;
    return r ? fail(r, "the device does not close") : 0;
}

/* -------------------------------------------------------------------------- sending */

static uint64_t clock_of(void *user)
{
    return migrate_link_ns(&((struct run *)user)->link);
}

static void round_ended(void *user, const struct tern_migrate_round *round)
{
    struct run *x = user;
    x->out->rounds = round->number;
    x->out->last_round = round->left * TERN_PAGE_BYTES;
}

static int stopping(void *user)
{
    struct run *x = user;
    x->stopped_at = tern_stream_counts(x->stream).bytes;
    migrate_link_pause(&x->link, x->stopped_at);
    return 0;
}

static int send_live(struct run *x, struct tern_saving **m)
{
    const struct tern_migrate_limits limits = {.downtime_ns = DOWNTIME_NS, .progress = round_ended, .clock = clock_of,
                                               .stopping = stopping, .user = x};
    const int r = tern_migrate_live(x->proc, x->processes, x->stream, &limits, m);
    x->out->blackout = tern_stream_counts(x->stream).bytes - x->stopped_at;
    x->out->brownout = x->stopped_at;
    return r;
}

static int send_stopped(struct run *x, struct tern_saving **m)
{
    migrate_link_pause(&x->link, 0);
    int r = tern_migrate_stop(x->proc, x->processes, m);
    if (!r) {
        r = tern_migrate_write(*m, x->stream);
        x->out->full_copy = tern_stream_counts(x->stream).bytes;
    }
    return r;
}

static int compare(struct run *x)
{
    int r = 0;
    for (uint32_t i = 0; !r && i < x->processes; i++) {
        r = migrate_reader_compare(&x->reader, &x->process[i], &x->out->lost);
    }
    return r;
}

/** Sends the processes, compares what arrived while the source is stopped, and lets the source continue. */
static int send(struct run *x, int (*how)(struct run *x, struct tern_saving **m))
{
    struct tern_saving *m = NULL;
    int r = tern_stream_write_fd(x->link.writer, &x->stream);
    if (!r) {
        r = how(x, &m);
        r = r ? fail(r, "the migration") : 0;
        tern_stream_close(x->stream);
    }
    migrate_link_finish(&x->link);
    const int read = migrate_reader_wait(&x->reader);
    if (r == 0) {
        r = read;
    }
    if (r == 0) {
        r = compare(x);
    }
    if (m) {
        tern_migrate_go_on(m);
    }
    migrate_link_close(&x->link);
    migrate_reader_free(&x->reader);
    return r;
}

static int over_the_link(struct run *x, int (*how)(struct run *x, struct tern_saving **m))
{
    int r = migrate_link_open(x->device, &x->link);
    if (r) {
        return r;
    }
    r = migrate_reader_start(x->link.reader, &x->reader);
    if (r) {
        migrate_link_finish(&x->link);
        migrate_link_close(&x->link);
        return r;
    }
    return send(x, how);
}

int migrate_size(const struct direct_program *program, uint64_t bytes, bool full, struct migrate_size *out)
{
    struct run *x = calloc(1, sizeof *x);
    if (!x) {
        return -ENOMEM;
    }
    *out = (struct migrate_size){0};
    x->out = out;
    int r = begin(x, program, bytes);
    if (r == 0) {
        r = over_the_link(x, send_live);
    }
    if (r == 0) {
        r = migrate_work_goes_on(&x->process[0]);
    }
    if (r == 0 && full) {
        r = over_the_link(x, send_stopped);
    }
    if (r == 0) {
        r = migrate_work_end(&x->process[0], &work, &out->lost);
    }
    const int left = end(x);
    free(x);
    return r ? r : left;
}
