/* SPDX-License-Identifier: Apache-2.0 */
/** Processes that stand by (migrate_bystander.h). */
#include "migrate_bystander.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/submit.h"

#define ITEMS 256u
#define OF_ITEM 16u
#define DATA_WORDS (ITEMS * OF_ITEM)
#define AHEAD 2u /* Buffers that are queued. */

static int fail(int r, const char *what)
{
    fprintf(stderr, "tern bench migrate: those who stand by: %s: %s\n", what, tern_last_error());
    return r;
}

static void submit(struct migrate_stand *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->stop && submit_packets(s->context, s->call.packet, sizeof s->call.packet, "stay", &s->submitted)) {
        s->failed = true;
    }
    pthread_mutex_unlock(&s->lock);
}

/** Called in the device's thread. */
static void completed(void *user, const struct tern_completion *done)
{
    struct migrate_stand *s = user;
    s->failed = s->failed || done->result != TERN_COMPLETED || s->ended == MIGRATE_ENDS;
    if (!s->failed) {
        s->ends[s->ended++] = done->end;
        submit(s);
    }
}

static uint32_t word(uint32_t i)
{
    return (i + 1) * 2654435761u;
}

static int write_data(struct migrate_stand *s)
{
    uint32_t data[DATA_WORDS];
    for (uint32_t i = 0; i < DATA_WORDS; i++) {
        data[i] = word(i);
    }
    return tern_allocation_write(s->data, 0, data, sizeof data);
}

static int make(struct migrate_bystander *b, struct migrate_stand *s, int32_t engine)
{
    const struct direct_range range = {.dims = 1, .global = {ITEMS}, .local = {64}};
    const struct tern_context_desc desc = {.size = sizeof desc, .name = "stay", .engine = engine,
                                           .completed = completed, .user = s};
    s->ends = malloc(MIGRATE_ENDS * sizeof *s->ends);
    if (!s->ends) {
        return -ENOMEM;
    }
    int r = tern_allocation_create(b->process.proc, DATA_WORDS * 4, TERN_MEM_READ | TERN_MEM_WRITE, 0, &s->data);
    if (r == 0) {
        r = write_data(s);
    }
    r = r ? fail(r, "memory") : 0;
    if (!r) {
        const uint32_t args[1] = {tern_allocation_address(s->data)};
        r = direct_call_create(&b->process, "stay", &range, args, sizeof args, &s->call);
    }
    if (!r) {
        r = tern_context_create(b->process.proc, &desc, &s->context);
        r = r ? fail(r, "a context") : 0;
    }
    return r;
}

int migrate_bystander_start(struct tern_device *dev, const char *partition, const struct direct_program *program,
                            struct migrate_bystander *out)
{
    *out = (struct migrate_bystander){.process = {.proc = NULL}};
    for (uint32_t i = 0; i < MIGRATE_STANDS; i++) {
        pthread_mutex_init(&out->stand[i].lock, NULL);
    }
    int r = direct_process_create(dev, partition, "stay", program, &out->process);
    for (uint32_t i = 0; !r && i < MIGRATE_STANDS; i++) {
        r = make(out, &out->stand[i], (int32_t)(i % out->process.info.engines));
    }
    for (uint32_t i = 0; !r && i < MIGRATE_STANDS * AHEAD; i++) {
        submit(&out->stand[i % MIGRATE_STANDS]);
    }
    return r;
}

/** Computes what the kernel leaves in its data after `times` runs. */
static void replay(uint32_t *data, uint32_t times)
{
    while (times--) {
        for (uint32_t i = 0; i < ITEMS; i++) {
            uint32_t carry = 0;
            for (uint32_t k = 0; k < OF_ITEM; k++) {
                const uint32_t x = data[k * ITEMS + i] + carry;
                data[k * ITEMS + i] = x * 2654435761u;
                carry = x >> 16;
            }
        }
    }
}

static int check(const struct migrate_stand *s, uint32_t *wrong)
{
    uint32_t got[DATA_WORDS], want[DATA_WORDS], differ = 0;
    const int r = tern_allocation_read(s->data, 0, got, sizeof got);
    if (r) {
        return fail(r, "memory");
    }
    for (uint32_t i = 0; i < DATA_WORDS; i++) {
        want[i] = word(i);
    }
    replay(want, s->ended);
    for (uint32_t i = 0; i < DATA_WORDS; i++) {
        differ += got[i] != want[i];
    }
    if (differ) {
        fprintf(stderr, "tern bench migrate: those who stand by: %u words of %u are wrong after %u buffers\n", differ,
                DATA_WORDS, s->ended);
    }
    *wrong += differ;
    return 0;
}

int migrate_bystander_stop(struct migrate_bystander *b, uint32_t *wrong)
{
    int r = 0;
    for (uint32_t i = 0; i < MIGRATE_STANDS; i++) {
        pthread_mutex_lock(&b->stand[i].lock);
        b->stand[i].stop = true;
        pthread_mutex_unlock(&b->stand[i].lock);
    }
    for (uint32_t i = 0; !r && i < MIGRATE_STANDS; i++) {
        struct migrate_stand *s = &b->stand[i];
        r = tern_wait(s->context, s->submitted, -1);
        if (r == 0 && s->failed) {
            r = -EIO;
        }
        r = r ? fail(r, "a buffer did not complete") : check(s, wrong);
    }
    return r;
}

uint64_t migrate_bystander_ended(const struct migrate_bystander *b, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < MIGRATE_STANDS; i++) {
        for (uint32_t k = 0; k < b->stand[i].ended; k++) {
            n += b->stand[i].ends[k] > from && b->stand[i].ends[k] <= to;
        }
    }
    return n;
}

void migrate_bystander_destroy(struct migrate_bystander *b)
{
    if (b->process.proc) {
        tern_process_kill(b->process.proc);
    }
    for (uint32_t i = 0; i < MIGRATE_STANDS; i++) {
        struct migrate_stand *s = &b->stand[i];
        if (s->context) {
            tern_context_destroy(s->context);
        }
        direct_call_destroy(&s->call);
        if (s->data) {
            tern_allocation_destroy(s->data);
        }
        pthread_mutex_destroy(&s->lock);
        free(s->ends);
    }
    direct_process_destroy(&b->process);
}
