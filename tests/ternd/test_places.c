/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Places of connections, and which silent connection makes room for a new one (ternd/silent.c), at the ends of the
 * rules: a user's share, users with as many silent connections as the other has connections, and limits.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ternd/server.h"

#define MANY 16u

static struct ternd server;
static struct ternd_user a, b, root;

/** A connection, and the client's end of its socket. */
struct place {
    struct ternd_silent silent;
    int client;
};
static struct place places[MANY];
static unsigned made;

static int prepare(void **state)
{
    (void)state;
    const struct ternd_limits limits = {.connections = 100};
    server = (struct ternd){.places = 6, .hello_ms = 60000};
    pthread_mutex_init(&server.lock, NULL);
    pthread_cond_init(&server.left, NULL);
    tern_list_init(&server.silent);
    tern_list_init(&server.users);
    a = (struct ternd_user){.uid = 70001, .limits = limits};
    b = (struct ternd_user){.uid = 70002, .limits = limits};
    root = (struct ternd_user){.uid = 0, .limits = limits};
    tern_list_append(&server.users, &a.node);
    tern_list_append(&server.users, &b.node);
    tern_list_append(&server.users, &root.node);
    made = 0;
    return 0;
}

static int clean(void **state)
{
    (void)state;
    for (unsigned i = 0; i < made; i++) {
        close(places[i].silent.fd);
        close(places[i].client);
    }
    return 0;
}

/** A connection of the user. Returns the result of ternd_silent_begin. */
static int connects(struct ternd_user *u)
{
    struct place *p = &places[made++];
    bool waits;
    int ends[2];
    assert_true(made <= MANY);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    p->client = ends[1];
    const int r = ternd_silent_begin(&server, &p->silent, ends[0], u, &waits);
    assert_true(waits);
    return r;
}

/** The hello of the last connection comes. */
static void speaks(void)
{
    struct place *p = &places[made - 1];
    assert_int_equal(send(p->client, "hello", 5, 0), 5);
    assert_true(ternd_silent_wait(&server, &p->silent));
}

static void expect_places(uint32_t of_a, uint32_t silent_of_a, uint32_t of_b, uint32_t silent_of_b)
{
    assert_int_equal(a.connections, of_a);
    assert_int_equal(a.silent, silent_of_a);
    assert_int_equal(b.connections, of_b);
    assert_int_equal(b.silent, silent_of_b);
    assert_int_equal(server.taken, of_a + of_b + root.connections);
}

/** n connections of the user, whose hellos come or not. */
static void connects_times(struct ternd_user *u, unsigned n, bool silent)
{
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(connects(u), 0);
        if (!silent) {
            speaks();
        }
    }
}

/** A user gets a place while the free places exceed the number that the user has. */
static void test_shares(void **state)
{
    (void)state;
    connects_times(&a, 3, false);
    assert_int_equal(connects(&a), -EAGAIN); /* 3 are free */
    connects_times(&b, 2, false);
    assert_int_equal(connects(&b), -EAGAIN); /* 1 is free */
    expect_places(3, 0, 2, 0);
}

/** The oldest silent connection of the user with the most makes room, if they outnumber the connections of the new
 *  one's user. */
static void test_other_users_make_room(void **state)
{
    (void)state;
    connects_times(&a, 3, true);
    connects_times(&root, 1, false);
    connects_times(&b, 1, false);
    expect_places(3, 3, 1, 0);
    assert_int_equal(connects(&b), 0);
    speaks();
    expect_places(2, 2, 2, 0);
    assert_true(places[0].silent.ended);
    assert_int_equal(connects(&b), -EAGAIN); /* a has 2 silent connections, and b has 2 connections */
    expect_places(2, 2, 2, 0);
    assert_false(places[1].silent.ended);
}

static void test_own_connections_make_room(void **state)
{
    (void)state;
    connects_times(&a, 4, true);
    expect_places(3, 3, 0, 0);
    assert_true(places[0].silent.ended);
    a.limits.connections = 3; /* the user's own limit, in which silent connections count */
    assert_int_equal(connects(&a), -EAGAIN);
    expect_places(3, 3, 0, 0);
}

/** Root takes all free places, and then those of silent connections, however many it has. */
static void test_root(void **state)
{
    (void)state;
    connects_times(&a, 1, true);
    connects_times(&root, 6, false);
    expect_places(0, 0, 0, 0);
    assert_int_equal(connects(&root), -EAGAIN);
    assert_int_equal(root.connections, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shares, prepare, clean),
        cmocka_unit_test_setup_teardown(test_other_users_make_room, prepare, clean),
        cmocka_unit_test_setup_teardown(test_own_connections_make_room, prepare, clean),
        cmocka_unit_test_setup_teardown(test_root, prepare, clean),
    };
    return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
