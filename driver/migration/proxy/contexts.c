/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The contexts of a program at the source. A completion names its context by an address in the program. A completion
 * from the link is passed to the program only if the context exists and the completion is that of its next submission.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "migration/proxy/internal.h"

int proxy_context_add(struct proxy_session *s, uint32_t handle, uint32_t process, uint64_t cookie, uint64_t ended,
                      uint64_t submitted)
{
    struct proxy_context *more = realloc(s->context, (s->contexts + 1) * sizeof *more);
    if (!more) {
        return tern_error_memory("a context");
    }
    s->context = more;
    s->context[s->contexts++] = (struct proxy_context){
        .handle = handle, .process = process, .cookie = cookie, .ended = ended, .submitted = submitted};
    return 0;
}

static struct proxy_context *find(const struct proxy_session *s, uint32_t handle)
{
    for (uint32_t i = 0; i < s->contexts; i++) {
        if (s->context[i].handle == handle) {
            return &s->context[i];
        }
    }
    return NULL;
}

/** Removes the context with this handle and all contexts of this process; 0 stands for none. */
static void forget(struct proxy_session *s, uint32_t handle, uint32_t process)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->contexts; i++) {
        if (s->context[i].handle != handle && s->context[i].process != process) {
            s->context[kept++] = s->context[i];
        }
    }
    s->contexts = kept;
}

/** Checks a complete entry of the submission ring. False: ternd would refuse the entry as well. */
static bool submit(struct proxy_session *s, const struct tern_wire_entry *e)
{
    if (e->op != TERN_WIRE_ENTRY_SUBMIT && e->op != TERN_WIRE_ENTRY_NULL) {
        return true;
    }
    struct proxy_context *c = find(s, e->object);
    if (!c || e->fence != c->submitted + 1) {
        return false;
    }
    c->submitted++;
    return true;
}

bool proxy_contexts_submit(struct proxy_session *s, const uint8_t *bytes, size_t n)
{
    struct tern_wire_entry e;
    for (size_t at = 0; at < n; at += e.length) {
        if (n - at < sizeof e) {
            return false;
        }
        memcpy(&e, bytes + at, sizeof e);
        if (e.length < sizeof e || e.length % 8 || e.length > n - at || !submit(s, &e)) {
            return false;
        }
    }
    return true;
}

bool proxy_contexts_request(struct proxy_session *s, struct proxy_call *c, const void *slot, size_t size)
{
    struct tern_wire_entry e;
    if (c->request.op != TERN_WIRE_CONTEXT_SUBMIT || size < sizeof e) {
        return true; /* ternd reports the error */
    }
    memcpy(&e, slot, sizeof e);
    c->submits = e.object;
    return submit(s, &e);
}

bool proxy_contexts_reply(struct proxy_session *s, const struct proxy_call *c, const struct tern_wire_reply *a)
{
    const struct tern_wire_request *q = &c->request;
    switch (q->op) {
    case TERN_WIRE_CONTEXT_CREATE:
        return a->status || (!find(s, a->object) && !proxy_context_add(s, a->object, q->object, q->value[2], 0, 0));
    case TERN_WIRE_CONTEXT_DESTROY:
        forget(s, q->object, 0);
        return true;
    case TERN_WIRE_PROCESS_DESTROY:
        if (!a->status) {
            forget(s, 0, q->object);
        }
        return true;
    case TERN_WIRE_CONTEXT_SUBMIT:
        if (a->status == -ENOSPC) { /* nothing was submitted, and the program takes the fence id back */
            struct proxy_context *of = find(s, c->submits);
            if (of && of->submitted > of->ended) {
                of->submitted--;
            }
        }
        return true;
    default:
        return true;
    }
}

bool proxy_contexts_complete(struct proxy_session *s, const struct tern_wire_completion *e)
{
    for (uint32_t i = 0; i < s->contexts; i++) {
        struct proxy_context *c = &s->context[i];
        if (c->cookie == e->cookie) {
            const bool next = e->fence == c->ended + 1 && e->fence <= c->submitted;
            c->ended += next;
            return next;
        }
    }
    return false;
}
