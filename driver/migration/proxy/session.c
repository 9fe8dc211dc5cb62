/* SPDX-License-Identifier: Apache-2.0 */
/** A session in a proxy: its memory and its sockets. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "migration/proxy/internal.h"
#include "wire/shared.h"

struct proxy_session *proxy_session_create(void)
{
    struct proxy_session *s = calloc(1, sizeof *s);
    if (s) {
        s->connection = s->memory = -1;
        for (uint32_t i = 0; i < TERN_WIRE_CONNECTIONS_MAX; i++) {
            s->call[i].fd = -1;
        }
    }
    return s;
}

static int map(struct proxy_session *s)
{
    return tern_shared_map(s->memory, s->calls, &s->shared, &s->submissions, &s->completions);
}

int proxy_session_map(struct proxy_session *s, int memory, uint32_t calls)
{
    if (s->shared || calls != s->calls || !tern_shared_is(memory, calls)) {
        close(memory);
        return tern_error(-EPROTO, "what came as the memory that a program shares with ternd is not that");
    }
    s->memory = memory;
    return map(s);
}

int proxy_session_make_memory(struct proxy_session *s, uint32_t calls)
{
    if (s->shared || calls != s->calls) {
        return tern_error(-EPROTO, "a program has a memory already, or another one");
    }
    s->memory = tern_shared_make(calls);
    return s->memory < 0 ? s->memory : map(s);
}

void *proxy_session_slot(const struct proxy_session *s, uint32_t slot)
{
    return (uint8_t *)s->shared + TERN_WIRE_SLOT_OFFSET + (size_t)slot * TERN_WIRE_SLOT;
}

void proxy_session_end(struct proxy_session *s)
{
    s->there = false;
    if (s->connection >= 0) {
        close(s->connection);
        s->connection = -1;
    }
    for (uint32_t i = 0; i < TERN_WIRE_CONNECTIONS_MAX; i++) {
        if (s->call[i].fd >= 0) {
            close(s->call[i].fd);
            s->call[i].fd = -1;
        }
    }
    if (s->shared) {
        munmap(s->shared, tern_wire_shared_bytes(s->calls));
        s->shared = NULL;
    }
    if (s->memory >= 0) {
        close(s->memory);
        s->memory = -1;
    }
}

void proxy_session_free(struct proxy_session *s)
{
    if (s) {
        proxy_session_end(s);
        free(s->context);
        free(s);
    }
}
