/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A client of ternd that sends any requests and writes any bytes into the memory that it shares with ternd. When its
 * session ends, ternd must have freed all of its objects, and no engine may have needed a reset.
 *
 * Input: steps. The first letter of a step says its kind:
 *   r  a request (kind, object, three indices into values, text).
 *   R  a message of any bytes.
 *   e  a valid entry of the submission ring (kind, object, lines, data, label).
 *   E  an entry of any bytes.
 *   w  a word into the head of the shared memory (place, index of a value).
 *   s  bytes into the slot.
 *   t  ternd takes the entries of the ring.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "migration/session/session.h"
#include "model_device.h"
#include "ternd/server.h"
#include "wire/ring.h"

static const uint64_t values[] = {
    0, 1, 2, 3, 4, 5, 63, 64, 4096, 8192, 65535, 65536, 1u << 20, (1u << 20) + 1, 0x20000000, 0x40000000, UINT32_MAX,
    1ull << 32, 1ull << 40, UINT64_MAX, UINT64_MAX - 4095, (uint64_t)INT64_MAX, 7, 100};

static struct ternd server;
static uint64_t exported[2]; /* the handle that was exported last */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct ternd_limits_file *limits;
    (void)argc;
    (void)argv;
    char path[] = "/tmp/tern-fuzz-XXXXXX";
    const int fd = mkstemp(path);
    must(fd >= 0 && dprintf(fd, "[default]\npartitions = yes\n") > 0 && !close(fd));
    open_model();
    must(ternd_limits_read(path, &limits) == 0 && !unlink(path));
    ternd_log_level = 0;
    must(ternd_create(&server, dev, limits, &ternd_moves) == 0);
    return 0;
}

struct input {
    const uint8_t *at;
    size_t left;
};

static uint8_t byte(struct input *in)
{
    in->left -= in->left > 0;
    return in->left ? *in->at++ : 0;
}

static uint64_t value(struct input *in)
{
    return values[byte(in) % (sizeof values / sizeof *values)];
}

/** Takes up to n bytes of the input; missing ones are 0. */
static void bytes(struct input *in, void *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)out)[i] = byte(in);
    }
}

/** Prepares a call that would wait for ever in the only thread: its wait is made short, and the work is aborted. */
static void end_waits(struct ternd_session *s, struct tern_wire_request *q)
{
    q->value[1] = q->op == TERN_WIRE_FENCE_WAIT ? q->value[1] & 1 : q->value[1];
    if (q->op == TERN_WIRE_CONTEXT_DESTROY) {
        struct ternd_object *o = ternd_object_get(s, q->object, TERND_CONTEXT);
        if (o) {
            tern_os_process_abort(o->proc->it, "its context goes");
            ternd_object_put(o);
        }
    }
}

/** Replaces the name of a partition by one of a few, so that names repeat. */
static void name_partition(struct tern_wire_request *q, size_t *size)
{
    if (q->op == TERN_WIRE_PROCESS_CREATE) {
        q->value[0] = q->value[0] % 4 == 1 ? 'a' : q->value[0] % 4 == 2 ? 'b' : q->value[0];
        q->value[1] = q->value[2] = 0;
    } else if (q->op >= TERN_WIRE_PARTITION_CREATE && q->op < TERN_WIRE_OPS && *size > sizeof *q - sizeof q->text) {
        q->text[0] = (char)('a' + q->text[0] % 2);
        q->text[1] = '\0';
    }
}

/** Destroys the partitions that the input has made. */
static void destroy_partitions(void)
{
    static const char *const names[] = {"a", "b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const int r = tern_os_partition_destroy(dev, names[i]);
        must(r == 0 || r == -ENOENT);
    }
}

static void request(struct ternd_session *s, struct input *in, void *slot, bool raw)
{
    struct tern_wire_request q = {0};
    struct tern_wire_reply reply;
    size_t size = offsetof(struct tern_wire_request, text);
    if (raw) {
        size = byte(in);
        bytes(in, &q, size < sizeof q ? size : sizeof q);
        size = size < sizeof q ? size : sizeof q;
    } else {
        q.op = byte(in) % (TERN_WIRE_OPS + 2);
        q.object = byte(in);
        for (int i = 0; i < 3; i++) {
            q.value[i] = value(in);
        }
        const size_t text = byte(in) % 16;
        bytes(in, q.text, text);
        size += text;
        q.length = (uint32_t)size;
        name_partition(&q, &size);
    }
    end_waits(s, &q);
    if (q.op == TERN_WIRE_ALLOCATION_IMPORT && !q.value[1]) { /* a valid handle cannot be guessed */
        memcpy(q.value + 1, exported, sizeof exported);
    }
    ternd_serve(s, &q, size, slot, &reply);
    if (q.op == TERN_WIRE_ALLOCATION_EXPORT && !reply.status) {
        memcpy(exported, reply.value, sizeof exported);
    }
    must(reply.length >= offsetof(struct tern_wire_reply, text) && reply.length <= sizeof reply);
}

static void entry(struct ternd_session *s, struct input *in, uint64_t fences[256], bool raw)
{
    struct tern_wire_ring *r = &s->shared->submissions;
    uint64_t all[512] = {0};
    struct tern_wire_entry e = {0};
    uint32_t size = 0;
    if (raw) {
        size = byte(in);
        bytes(in, all, size);
    } else {
        e.op = byte(in) % 7;
        e.object = byte(in);
        e.size = 64u * (byte(in) % 16);
        e.data = byte(in);
        e.label = byte(in) % 32;
        e.length = (uint32_t)sizeof e + tern_wire_round(e.size) + tern_wire_round(e.data) + tern_wire_round(e.label);
        e.fence = e.op <= TERN_WIRE_ENTRY_NULL ? ++fences[e.object] : 0;
        memcpy(all, &e, sizeof e);
        bytes(in, (uint8_t *)all + sizeof e, e.length - sizeof e);
        size = e.length;
    }
    const uint64_t tail = atomic_load(&r->tail);
    tern_ring_put(s->submissions, TERN_WIRE_SUBMISSION_BYTES, tail, all, size);
    atomic_store(&r->tail, tail + size);
}

static void step(struct ternd_session *s, struct input *in, void *slot, uint64_t fences[256])
{
    switch (byte(in)) {
    case 'r':
        request(s, in, slot, false);
        break;
    case 'R':
        request(s, in, slot, true);
        break;
    case 'e':
        entry(s, in, fences, false);
        break;
    case 'E':
        entry(s, in, fences, true);
        break;
    case 'w': {
        const size_t place = byte(in) * 8u;
        const uint64_t v = value(in);
        memcpy((uint8_t *)s->shared + place, &v, sizeof v);
        break;
    }
    case 's':
        bytes(in, slot, byte(in) * 4u);
        break;
    default:
        ternd_submissions_take(s, false);
        ternd_completions_flush(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ucred who = {.pid = getpid(), .uid = 1, .gid = 1};
    const struct tern_wire_hello hello = {.program = "fuzz"};
    struct ternd_session *s;
    struct input in = {data, size + 1};
    uint64_t fences[256] = {0};
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    must(ternd_session_create(&server, ends[0], &who, &hello, &s) == 0);
    void *slot = (uint8_t *)s->shared + TERN_WIRE_SLOT_OFFSET;
    while (in.left > 1 && !atomic_load(&s->broken)) {
        step(s, &in, slot, fences);
    }
    struct ternd_user *u = s->user;
    ternd_session_end(s);
    close(ends[0]);
    close(ends[1]);
    must(!u->memory && !u->contexts && tern_list_empty(&server.sessions));
    destroy_partitions();
    nothing_lost();
    return 0;
}
