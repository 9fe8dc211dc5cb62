/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern-hw-emu: a simulated device that serves XRT's emulation (hw_emu). XRT starts this program from the xclbin
 * (scripts/xclbin), and it ends with XRT's program.
 *
 * Framing. A request is 09 size:u64 15 api:u32 and a message of `size` bytes. An answer is 09 size:u64 and a message.
 * Integers are little-endian. There is one request at a time.
 *
 * Closing. XRT has a second socket, for calls of a device that accesses the host's memory. When XRT closes a card, it
 * waits up to 5 s for a connection there. This program has no such calls, and connects only to end that wait.
 *
 * Time. The time of a card passes by itself. Here device time passes between requests:
 *   - It stops when the host has sent no request for AWAKE_MS. A driver with work on the device polls it, and a device
 *     without work should not use a processor of the host.
 *   - XRT sends one request per register, so requests come in bursts. After a request, time stands still for NEXT_NS,
 *     in which the next one is waited for. After a read of a register, which may be a poll, it does not stand still.
 *   - Time passes in slices of about SLICE_NS of the host's time, because a request waits for the end of a slice.
 *   - Time passes no faster than on a card, so that the host's program has the processor while the device is idle.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "emulation.pb-c.h"
#include "fault.h"

#define SLICE_NS 20000
#define SLICE_MAX 16384u /* greatest number of cycles of a slice */
#define CYCLE_NS 4 /* a cycle of a card, at 250 MHz */
#define NEXT_NS 40000
#define AWAKE_MS 50
#define RAISED_NS 1000000 /* wait for a request while the interrupt is raised, in which time stands still */
#define REQUEST_MAX (256u << 20)
#define CONNECT_MS 30000
#define LATE_MS 200 /* time to retry a connection: XRT does not listen all the time */

static const char usage[] =
    "usage: tern-hw-emu --library FILE --registers ADDRESS:BYTES --memory ADDRESS:BYTES\n"
    "A simulated Tern for XRT's hw_emu. XRT starts it; scripts/xclbin makes the xclbin that it is in.\n";

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/** Gives the path of the socket of XRT's library for its own calls, or for those of the device. The path contains the
 *  user's name; without a name it is a fixed one. Returns false if the path is too long. */
static bool socket_path(bool own_calls, struct sockaddr_un *path)
{
    const char *user = getenv("USER"), *id = getenv("EMULATION_SOCKETID");
    const char *before = !own_calls ? "" : id ? "D2X_unix_sock_" : "D2X_unix_sock";
    const char *name = id && (user || own_calls) ? id : own_calls ? "" : "xcl_sock";
    *path = (struct sockaddr_un){.sun_family = AF_UNIX};
    const int n = snprintf(path->sun_path, sizeof path->sun_path, "/tmp/%s%s%s%s", user ? user : "", user ? "/" : "",
                           before, name);
    return n >= 0 && (size_t)n < sizeof path->sun_path;
}

/** Connects to one of these sockets, on which XRT may begin to listen up to `ms` milliseconds later. Returns -1 if XRT
 *  does not listen. *path is the socket's path. */
static int connect_to(bool own_calls, int64_t ms, struct sockaddr_un *path)
{
    if (!socket_path(own_calls, path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (const int64_t until = now_ns() + ms * 1000000;;) {
        const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (s >= 0 && !connect(s, (const struct sockaddr *)path, sizeof *path)) {
            return s;
        }
        const int error = errno;
        if (s >= 0) {
            close(s);
        }
        if (now_ns() >= until) {
            errno = error;
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
}

/** Connects to the socket of XRT's calls. */
static int connect_xrt(void)
{
    struct sockaddr_un path;
    const int s = connect_to(false, CONNECT_MS, &path);
    if (s < 0) {
        fprintf(stderr, "tern-hw-emu: XRT does not listen at %s: %s\n", path.sun_path, strerror(errno));
    }
    return s;
}

/** Ends XRT's wait for calls of the device, when XRT closes. A failure is no error: XRT then waits. */
static void close_calls(void)
{
    struct sockaddr_un path;
    const int s = connect_to(true, LATE_MS, &path);
    if (s >= 0) {
        close(s);
    }
}

/** Removes the sockets, which XRT leaves when it has closed or its program has ended. */
static void remove_sockets(void)
{
    struct sockaddr_un path;
    for (int own = 0; own < 2; own++) {
        if (socket_path(own, &path)) {
            unlink(path.sun_path);
        }
    }
}

static bool get(int fd, void *data, size_t size)
{
    for (uint8_t *p = data; size;) {
        const ssize_t n = recv(fd, p, size, MSG_WAITALL);
        if (n > 0) {
            p += n;
            size -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool put(int fd, const void *data, size_t size)
{
    for (const uint8_t *p = data; size;) {
        const ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n >= 0) {
            p += n;
            size -= (size_t)n;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/** Serves one request. *read: it was a read of registers. Returns 1; 0 if XRT has closed; -1 after a message if it
 *  failed. */
static int serve(int fd, struct device *d, uint64_t registers, bool *read)
{
    static uint8_t answer[9 + CALLS_ANSWER];
    uint8_t head[14];
    uint64_t size = 0;
    uint32_t api = 0;
    if (!get(fd, head, sizeof head)) {
        return 0;
    }
    memcpy(&size, head + 1, 8);
    memcpy(&api, head + 10, 4);
    *read = api == TERN_EMULATION__API__READ_REGISTERS;
    if (head[0] != 0x09 || head[9] != 0x15 || size > REQUEST_MAX) {
        fprintf(stderr, "tern-hw-emu: XRT says what is no request\n");
        return -1;
    }
    uint8_t *request = malloc(size ? size : 1);
    long n = -ENOMEM;
    if (request && get(fd, request, size)) {
        n = calls_serve(d, api, request, size, answer + 9);
    }
    if (n < 0) {
        free(request);
        fprintf(stderr, "tern-hw-emu: call %u of %llu bytes: %s\n", api, (unsigned long long)size,
                strerror((int)-n));
        return -1;
    }
    if (api == TERN_EMULATION__API__CLOSE) {
        close_calls();
    }
    const uint64_t bytes = (uint64_t)n;
    answer[0] = 0x09;
    memcpy(answer + 1, &bytes, 8);
    const struct fault fault = fault_answer(api, request, size, registers, answer, bytes);
    free(request);
    return put(fd, answer, fault.bytes) && !fault.ends && api != TERN_EMULATION__API__CLOSE;
}

/** Runs a slice, and adapts the number of cycles of the next one. Returns the time to wait for the next request. */
static int64_t pass(struct device *d)
{
    static uint32_t cycles = 16;
    const uint32_t now = cycles;
    const int64_t begin = now_ns();
    const bool passes = device_step(d, now);
    const int64_t took = now_ns() - begin, ahead = (int64_t)now * CYCLE_NS - took;
    if (took > SLICE_NS && now > 1) {
        cycles /= 2;
    } else if (took < SLICE_NS / 4 && now < SLICE_MAX) {
        cycles *= 2;
    }
    return !passes ? RAISED_NS : ahead > 0 ? ahead : 0;
}

static int run(int fd, struct device *d, uint64_t registers)
{
    int64_t asked = now_ns(), wait = NEXT_NS;
    int r = 1;
    while (r > 0) {
        const bool awake = now_ns() - asked < AWAKE_MS * INT64_C(1000000);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        const int ready = ppoll(&p, 1, awake ? &(struct timespec){.tv_nsec = wait} : NULL, NULL);
        if (ready > 0) {
            bool read = false;
            r = serve(fd, d, registers, &read);
            asked = now_ns();
            wait = read ? 0 : NEXT_NS;
        } else {
            wait = awake ? pass(d) : 0;
        }
    }
    return r ? EXIT_FAILURE : EXIT_SUCCESS;
}

/** Parses ADDRESS:BYTES. */
static bool range(const char *text, uint64_t *address, uint64_t *bytes)
{
    char *end = NULL;
    errno = 0;
    *address = strtoull(text, &end, 0);
    if (end == text || *end != ':') {
        return false;
    }
    text = end + 1;
    *bytes = strtoull(text, &end, 0);
    return end != text && !*end && !errno && *bytes && *address + *bytes > *address;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"library", required_argument, NULL, 'l'},
                                            {"registers", required_argument, NULL, 'r'},
                                            {"memory", required_argument, NULL, 'm'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct device_settings s = {0};
    bool good = true;
    for (int c; good && (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'l':
            s.library = optarg;
            break;
        case 'r':
            good = range(optarg, &s.registers, &s.registers_bytes);
            break;
        case 'm':
            good = range(optarg, &s.memory, &s.memory_bytes);
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_SUCCESS;
        default:
            good = false;
        }
    }
    if (!good || !s.library || !s.registers_bytes || !s.memory_bytes) {
        fputs(usage, stderr);
        return 2;
    }
    if (!fault_begin()) {
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, (unsigned long)SIGCONT); /* a stopped process goes on when XRT's program has ended */
    prctl(PR_SET_TIMERSLACK, 1000UL);
    signal(SIGINT, SIG_IGN); /* the terminal's SIGINT ends XRT's program, and this one ends with it */
    struct device *d = device_open(&s);
    const int fd = d ? connect_xrt() : -1;
    const int r = fd >= 0 ? run(fd, d, s.registers) : EXIT_FAILURE;
    if (fd >= 0) {
        close(fd);
        remove_sockets();
    }
    if (d) {
        device_close(d);
    }
    return r;
}
