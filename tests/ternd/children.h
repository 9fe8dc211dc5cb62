/* SPDX-License-Identifier: Apache-2.0 */
/** Clients that are children of a test with its own ternd (served.h). They use libtern. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include <fcntl.h>
#include <stdatomic.h>

#include "served.h"

/** A child that acts as a client and reports each step by a byte. */
struct client {
    pid_t pid;
    int says;
};

static int say_to;

static inline void say(char what)
{
    assert_int_equal(write(say_to, &what, 1), 1);
}

static inline struct client start(void (*run)(void))
{
    struct client c;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    c.pid = fork();
    assert_true(c.pid >= 0);
    if (!c.pid) {
        say_to = ends[1];
        close(ends[0]);
        run();
        _exit(0);
    }
    close(ends[1]);
    c.says = ends[0];
    return c;
}

static inline void heard(const struct client *c, char what)
{
    char got = 0;
    assert_int_equal(read(c->says, &got, 1), 1);
    assert_int_equal(got, what);
}

static inline void ended(struct client *c, int want)
{
    int status = 0;
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    assert_int_equal(status, want);
    close(c->says);
}

/** Waits until the test has reached this step. */
static inline void until_step(const atomic_uint *now, unsigned step)
{
    while (*now < step) {
        nap();
    }
}

/** Returns the bytes of device memory that count for the user, or UINT64_MAX if ternd does not know the user. */
static inline uint64_t account(uid_t uid)
{
    uint64_t memory = UINT64_MAX;
    pthread_mutex_lock(&server.lock);
    TERN_LIST_EACH(node, &server.users)
    {
        const struct ternd_user *u = TERN_LIST_ENTRY(node, struct ternd_user, node);
        memory = u->uid == uid ? u->memory : memory;
    }
    pthread_mutex_unlock(&server.lock);
    return memory;
}

/** Checks a condition in a client, which exits with 1 if the condition is false. */
#define must(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, tern_last_error()); \
            _exit(1); \
        } \
    } while (0)

static struct tern_device *dev;
static struct tern_process *p;
static struct tern_context *ctx;

static inline void client_open(int32_t engine, tern_completion_fn completed)
{
    const struct tern_context_desc d = {.size = sizeof d, .engine = engine, .completed = completed};
    must(tern_device_open(NULL, NULL, &dev) == 0);
    must(tern_process_create(dev, "client", &p) == 0);
    must(tern_context_create(p, &d, &ctx) == 0);
}

static inline void client_close(void)
{
    tern_context_destroy(ctx);
    must(tern_process_destroy(p) == 0);
    must(tern_device_close(dev) == 0);
}

#endif
