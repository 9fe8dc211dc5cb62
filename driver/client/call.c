/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests to ternd. Each call that is under way has a connection of its own, and a thread of ternd serves it, so that
 * calls of several threads do not wait for each other. A connection is made when all others are in use, and is kept.
 * ternd takes all submissions out of the ring before it serves a request, so that the submissions of a thread precede
 * its requests.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "client/client.h"
#include "wire/socket.h"

/** Makes a connection, which ternd refuses beyond a limit. -ENOMEM; errors of tern_client_connect. */
static int make(struct tern_device *dev, struct tern_connection **out)
{
    struct tern_wire_welcome welcome;
    struct tern_connection *c = calloc(1, sizeof *c);
    if (!c) {
        return tern_error_memory("a connection to ternd");
    }
    tern_fork_lock();
    const int fd = tern_client_connect(dev, TERN_WIRE_CALLS, &welcome, NULL);
    if (fd >= 0) {
        c->fd = fd;
        c->slot = welcome.slot;
        for (uint32_t i = 0; i < dev->connections_max; i++) {
            if (!dev->connection[i]) {
                dev->connection[i] = c;
                break;
            }
        }
    }
    tern_fork_unlock();
    if (fd < 0) {
        free(c);
        return fd;
    }
    *out = c;
    return 0;
}

static int take(struct tern_device *dev, struct tern_connection **out)
{
    struct tern_connection *c = NULL;
    int r = 0;
    pthread_mutex_lock(&dev->pool);
    while (!r && !c) {
        if (dev->idle) {
            c = dev->idle;
            dev->idle = c->next;
        } else if (dev->connections < dev->most) {
            dev->connections++;
            pthread_mutex_unlock(&dev->pool);
            r = make(dev, &c);
            pthread_mutex_lock(&dev->pool);
            dev->connections -= r != 0;
            if (r && dev->connections) {
                dev->most = dev->connections; /* ternd allows no more connections, so the existing ones are shared */
                r = 0;
            } else if (r == -ECONNREFUSED || r == -ENOENT || r == -EIO) {
                r = tern_client_gone(dev);
            }
            if (r && dev->waiting) { /* a thread may wait for the connection that was being made */
                pthread_cond_broadcast(&dev->returned);
            }
        } else {
            dev->waiting++;
            pthread_cond_wait(&dev->returned, &dev->pool);
            dev->waiting--;
        }
    }
    pthread_mutex_unlock(&dev->pool);
    if (!r) {
        *out = c;
    }
    return r;
}

int tern_call_begin(struct tern_call *call, struct tern_device *dev, uint32_t op, uint32_t object)
{
    int r = tern_client_check(dev);
    if (!r) {
        r = take(dev, &call->connection);
    }
    if (r) {
        return r;
    }
    call->dev = dev;
    call->slot = (uint8_t *)dev->shared + TERN_WIRE_SLOT_OFFSET + (size_t)call->connection->slot * TERN_WIRE_SLOT;
    memset(&call->request, 0, offsetof(struct tern_wire_request, text) + 1);
    call->request.op = op;
    call->request.object = object;
    call->reply.absent = 0;
    return 0;
}

int tern_call_do(struct tern_call *call)
{
    struct tern_wire_request *q = &call->request;
    struct tern_wire_reply *a = &call->reply;
    const size_t least = offsetof(struct tern_wire_reply, text);
    q->length = (uint32_t)(offsetof(struct tern_wire_request, text) + strlen(q->text));
    int r = tern_socket_send(call->connection->fd, q, q->length, -1, true);
    const ssize_t n = r ? r : tern_socket_receive(call->connection->fd, a, sizeof *a, NULL);
    if (n < (ssize_t)least || a->op != q->op) {
        /* the result of the request is unknown, so the session ends, as the pump notices */
        shutdown(call->dev->session, SHUT_RDWR);
        return tern_client_gone(call->dev);
    }
    a->text[(size_t)n - least < sizeof a->text ? (size_t)n - least : sizeof a->text - 1] = '\0';
    return a->status < 0 ? tern_error(a->status, "%s", a->text) : a->status;
}

void tern_call_end(struct tern_call *call)
{
    struct tern_device *dev = call->dev;
    pthread_mutex_lock(&dev->pool);
    call->connection->next = dev->idle;
    dev->idle = call->connection;
    if (dev->waiting) {
        pthread_cond_signal(&dev->returned);
    }
    pthread_mutex_unlock(&dev->pool);
}

int tern_call(struct tern_device *dev, uint32_t op, uint32_t object, const uint64_t values[3], const char *text,
              struct tern_wire_reply *reply)
{
    struct tern_call call;
    int r = tern_call_begin(&call, dev, op, object);
    if (r) {
        return r;
    }
    if (values) {
        memcpy(call.request.value, values, sizeof call.request.value);
    }
    snprintf(call.request.text, sizeof call.request.text, "%s", text ? text : "");
    r = tern_call_do(&call);
    if (reply) {
        *reply = call.reply;
    }
    tern_call_end(&call);
    return r;
}

bool tern_call_crowded(struct tern_device *dev)
{
    pthread_mutex_lock(&dev->pool);
    const bool crowded = dev->waiting || (!dev->idle && dev->connections >= dev->most);
    pthread_mutex_unlock(&dev->pool);
    return crowded;
}

void tern_call_close_all(struct tern_device *dev)
{
    for (uint32_t i = 0; i < TERN_WIRE_CONNECTIONS_MAX; i++) {
        if (dev->connection[i]) {
            close(dev->connection[i]->fd);
            free(dev->connection[i]);
        }
    }
}
