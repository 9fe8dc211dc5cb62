/* SPDX-License-Identifier: Apache-2.0 */
/** A client that writes its messages itself, for tests with their own ternd (served.h). */
#ifndef RAW_H
#define RAW_H

#include <fcntl.h>
#include <sys/mman.h>

#include "served.h"
#include "tern/tern_spec.h"
#include "wire/socket.h"

struct raw {
    int session, calls, memory;
    struct tern_wire_welcome welcome, attached;
    struct tern_wire_shared *shared;
    uint64_t tail;
};

static inline int reach(const void *hello, size_t size, struct tern_wire_welcome *w, int *memory)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&served_at, sizeof served_at), 0);
    assert_int_equal(tern_socket_send(fd, hello, size, -1, true), 0);
    memset(w, 0, sizeof *w);
    const ssize_t n = tern_socket_receive(fd, w, sizeof *w, memory);
    assert_true(n >= (ssize_t)offsetof(struct tern_wire_welcome, token));
    return fd;
}

static inline struct tern_wire_hello good_hello(uint32_t kind)
{
    return (struct tern_wire_hello){.magic = TERN_WIRE_MAGIC, .version = TERN_WIRE_VERSION, .spec = TERN_SPEC_HASH,
                                    .kind = kind, .program = "raw"};
}

static inline struct raw raw_open(void)
{
    struct raw r = {0};
    struct tern_wire_hello h = good_hello(TERN_WIRE_SESSION);
    r.session = reach(&h, sizeof h, &r.welcome, &r.memory);
    assert_int_equal(r.welcome.status, 0);
    r.shared = mmap(NULL, tern_wire_shared_bytes(r.welcome.connections), PROT_READ | PROT_WRITE, MAP_SHARED, r.memory,
                    0);
    assert_true(r.shared != MAP_FAILED);
    h.kind = TERN_WIRE_CALLS;
    memcpy(h.token, r.welcome.token, sizeof h.token);
    r.calls = reach(&h, sizeof h, &r.attached, NULL);
    assert_int_equal(r.attached.status, 0);
    return r;
}

static inline void raw_close(struct raw *r)
{
    munmap(r->shared, tern_wire_shared_bytes(r->welcome.connections));
    close(r->memory);
    close(r->calls);
    close(r->session);
}

static inline void *raw_slot(const struct raw *r)
{
    return (char *)r->shared + TERN_WIRE_SLOT_OFFSET + (size_t)r->attached.slot * TERN_WIRE_SLOT;
}

/** Sends a request. Returns the reply's status, or -ECONNRESET if ternd has disconnected the client. */
static inline int raw_call(struct raw *r, uint32_t op, uint32_t object, uint64_t v0, uint64_t v1, uint64_t v2,
                           struct tern_wire_reply *reply)
{
    struct tern_wire_reply own;
    reply = reply ? reply : &own;
    const struct tern_wire_request q = {
        .length = offsetof(struct tern_wire_request, text), .op = op, .object = object, .value = {v0, v1, v2}};
    if (tern_socket_send(r->calls, &q, q.length, -1, true)) {
        return -ECONNRESET;
    }
    const ssize_t n = tern_socket_receive(r->calls, reply, sizeof *reply, NULL);
    return n > 0 ? reply->status : -ECONNRESET;
}

static inline uint32_t raw_make(struct raw *r, uint32_t op, uint32_t object, uint64_t v0, uint64_t v1, uint64_t v2)
{
    struct tern_wire_reply reply;
    assert_int_equal(raw_call(r, op, object, v0, v1, v2, &reply), 0);
    assert_true(reply.object != 0);
    return reply.object;
}

/** Puts an entry into the ring without any check, and wakes ternd. */
static inline void raw_put(struct raw *r, const struct tern_wire_entry *e, const void *more, size_t size)
{
    uint8_t *ring = (uint8_t *)r->shared + TERN_WIRE_SUBMISSION_OFFSET;
    assert_true(r->tail + sizeof *e + size <= TERN_WIRE_SUBMISSION_BYTES);
    memcpy(ring + r->tail, e, sizeof *e);
    memcpy(ring + r->tail + sizeof *e, more ? more : "", size);
    r->tail += sizeof *e + size;
    atomic_store(&r->shared->submissions.tail, r->tail);
    tern_socket_wake(r->session);
}

/** Waits until ternd has ended the session, and checks that nothing of it is left. */
static inline void disconnected(struct raw *r)
{
    char byte[8];
    ssize_t n;
    do {
        n = recv(r->session, byte, sizeof byte, 0);
    } while (n > 0);
    raw_close(r);
    nothing_left();
}

#endif
