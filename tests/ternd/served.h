/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs a ternd in the test's own process, with a device and a socket in a new folder for each test, so that the test
 * can read ternd's state. Clients are children of the test, or connections that the test makes itself.
 */
#ifndef SERVED_H
#define SERVED_H

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "migration/session/session.h"
#include "os/state/state.h"
#include "ternd/server.h"
#include "tests/driver/support/check.h"
#include "tests/driver/support/descriptors.h"
#include "tests/driver/support/device_memory.h"
#include "tests/driver/support/open_device.h"
#include "tests/driver/support/waiting.h"
#include "tests/driver/support/work.h"

static struct ternd server;
static struct work b;
static char served_folder[32];
static struct sockaddr_un served_at;
static int served_listener;
static pthread_t served_thread;
static struct ternd_limits_file *served_limits;
static const char *served_config = "small,mem=64M,timeout=200000";
/** Returns the user that ternd sees as the owner of a process; NULL: the real owner. */
static uid_t (*served_uid)(pid_t pid);
static uint32_t pages_before;
static unsigned descriptors_before;

static void *served_connection(void *user)
{
    const int fd = (int)(intptr_t)user;
    struct ucred who;
    socklen_t size = sizeof who;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size);
    who.uid = served_uid ? served_uid(who.pid) : who.uid;
    ternd_connection(&server, fd, &who);
    close(fd);
    pthread_mutex_lock(&server.lock);
    server.connections--;
    pthread_mutex_unlock(&server.lock);
    return NULL;
}

static void *served_accept(void *user)
{
    (void)user;
    for (int fd; (fd = accept4(served_listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        pthread_t t;
        pthread_mutex_lock(&server.lock);
        server.connections++;
        pthread_mutex_unlock(&server.lock);
        assert_int_equal(pthread_create(&t, NULL, served_connection, (void *)(intptr_t)fd), 0);
        pthread_detach(t);
    }
    return NULL;
}

static inline uint32_t served_connections(void)
{
    pthread_mutex_lock(&server.lock);
    const uint32_t n = server.connections;
    pthread_mutex_unlock(&server.lock);
    return n;
}

/** Returns when all connections made before it have been accepted: it makes one more and waits for its refusal. */
static inline void served_all(void)
{
    char byte = 0;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&served_at, sizeof served_at), 0);
    send(fd, &byte, 1, MSG_NOSIGNAL);
    while (recv(fd, &byte, 1, 0) > 0) {
    }
    close(fd);
}

/** Waits until all clients have gone, and checks that nothing of them is left. */
static inline void nothing_left(void)
{
    served_all();
    while (served_connections()) {
        nap(); /* If this never ends, ctest ends the test. */
    }
    while (free_pages(server.dev) < pages_before) {
        nap(); /* Memory is still being freed. */
    }
    assert_int_equal(free_pages(server.dev), pages_before);
    assert_int_equal(server.dev->process_count, 0);
    pthread_mutex_lock(&server.lock);
    assert_true(tern_list_empty(&server.sessions));
    TERN_LIST_EACH(node, &server.users)
    {
        const struct ternd_user *u = TERN_LIST_ENTRY(node, struct ternd_user, node);
        assert_int_equal(u->memory, 0);
        assert_int_equal(u->pinned, 0);
        assert_int_equal(u->contexts, 0);
        assert_int_equal(u->connections, 0);
    }
    pthread_mutex_unlock(&server.lock);
    while (open_descriptors("") > descriptors_before) {
        nap(); /* A connection is still being closed. ctest ends a test that has left one open. */
    }
    assert_int_equal(open_descriptors(""), descriptors_before);
}

static inline int serve_with(const char *limits)
{
    strcpy(served_folder, "/tmp/ternd-test-XXXXXX");
    assert_non_null(mkdtemp(served_folder));
    served_at.sun_family = AF_UNIX;
    snprintf(served_at.sun_path, sizeof served_at.sun_path, "%s/sock", served_folder);
    ok(ternd_limits_read(limits, &served_limits));
    struct tern_device *dev;
    ok_or_skip(tern_os_device_open("model", served_config, &dev));
    ok(ternd_create(&server, dev, served_limits, &ternd_moves));
    served_listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(served_listener, (struct sockaddr *)&served_at, sizeof served_at), 0);
    assert_int_equal(listen(served_listener, 64), 0);
    assert_int_equal(pthread_create(&served_thread, NULL, served_accept, NULL), 0);
    setenv("TERND_SOCKET", served_at.sun_path, 1);
    pages_before = free_pages(server.dev);
    descriptors_before = open_descriptors("");
    b.size = 0;
    return 0;
}

static inline int serve(void **state)
{
    (void)state;
    return serve_with(NULL);
}

static inline int serve_end(void **state)
{
    (void)state;
    shutdown(served_listener, SHUT_RDWR);
    pthread_join(served_thread, NULL);
    close(served_listener);
    served_uid = NULL;
    pthread_mutex_lock(&server.lock);
    TERN_LIST_EACH(node, &server.sessions) /* A test that failed may have left sessions. */
    {
        ternd_session_break(TERN_LIST_ENTRY(node, struct ternd_session, node), "the test has ended");
    }
    pthread_mutex_unlock(&server.lock);
    while (served_connections()) {
        nap(); /* A test may end without a call of nothing_left(). */
    }
    ok(tern_os_device_close(server.dev));
    ternd_destroy(&server);
    ternd_limits_free(served_limits);
    unlink(served_at.sun_path);
    rmdir(served_folder);
    return 0;
}

#endif
