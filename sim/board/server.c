/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern-board: a simulated board at a pseudo terminal (docs/board.md). Bytes from the terminal go bit by bit over a
 * serial line into the Verilated link, behind which a simulated device is. The answers go the same way back.
 *
 * Time. While the link is busy, a device behind the link alone has one cycle for each of the link's. While the link is
 * idle, device time passes by itself until AWAKE_MS after the last byte, so that a device without a host uses no
 * processor.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "bridge.h"
#include "wire.h"

#define SLICE 256u
#define QUIET 4096u   /* cycles without a bit on a line after which the link is idle */
#define AWAKE_MS 500
#define NOBODY_MS 5   /* interval at which the server checks whether a host has opened the terminal */
#define QUEUE 4096u

static const char usage[] =
    "usage: tern-board [--library FILE [--memory MIB]] [--link PATH] [--noise BITS] [--seed N]\n"
    "A simulated board: its serial port is a pseudo terminal, whose path is printed. It runs until SIGINT or SIGTERM.\n"
    "Without --library it is the whole board: link, SDRAM of 64 MiB and the smallest device, all of it Verilated.\n"
    "  --library FILE  the Verilated link alone, with this device behind it: a libtern_sim_*.so\n"
    "  --memory MIB    the memory of that device (32)\n"
    "  --link PATH     a symbolic link to the terminal, made anew\n"
    "  --noise BITS    on the lines, one bit in so many is wrong (none)\n"
    "  --seed N        of the noise (1)\n";

struct server {
    const struct tern_sim_api *api;
    struct tern_sim *sim;
    struct board *board;
    int pty;
    struct wire to, from;
    uint8_t queue[QUEUE]; /* bytes from the host: `count`, the oldest at `first` */
    size_t first, count;
    bool line;
    uint64_t cycles;
};

static volatile sig_atomic_t stop;

static void on_signal(int s)
{
    (void)s;
    stop = 1;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/** Returns the baud rate that the host has set. If it is not that of the link, bits arrive at wrong times. */
static uint32_t host_baud(int pty)
{
    static const struct {
        speed_t code;
        uint32_t baud;
    } all[] = {{B3000000, 3000000}, {B2000000, 2000000}, {B1500000, 1500000}, {B1000000, 1000000},
               {B921600, 921600},   {B460800, 460800},   {B230400, 230400},   {B115200, 115200}};
    struct termios t;
    const speed_t code = tcgetattr(pty, &t) ? B3000000 : cfgetospeed(&t);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].code == code) {
            return all[i].baud;
        }
    }
    return 9600;
}

/** Runs SLICE cycles of the link, then of the device. */
static bool slice(struct server *s)
{
    uint8_t out[SLICE];
    size_t n = 0;
    for (unsigned i = 0; i < SLICE; i++) {
        bool taken = false;
        uint8_t byte = 0;
        const bool rx = wire_send(&s->to, s->count > 0, s->queue[s->first], &taken);
        if (taken) {
            s->first = (s->first + 1) % QUEUE;
            s->count--;
        }
        s->line = board_clock(s->board, rx);
        if (wire_receive(&s->from, s->line, &byte)) {
            out[n++] = byte;
        }
    }
    if (n && write(s->pty, out, n) < 0 && errno != EAGAIN) {
        fprintf(stderr, "tern-board: the terminal cannot be written: %s\n", strerror(errno));
        return false; /* EAGAIN means that nobody reads: the byte is lost, as on a serial line */
    }
    s->cycles += SLICE;
    return board_follow(s->board, SLICE);
}

/** Reads bytes of the host into the queue. Returns their number; -1: the terminal has failed. */
static ssize_t take(struct server *s, int wait_ms)
{
    struct pollfd p = {.fd = s->pty, .events = POLLIN};
    uint8_t bytes[QUEUE];
    if (s->count == QUEUE || poll(&p, 1, wait_ms) <= 0 || !(p.revents & POLLIN)) {
        if (wait_ms && p.revents & POLLHUP) {
            poll(NULL, 0, NOBODY_MS);
        }
        return 0;
    }
    const ssize_t n = read(s->pty, bytes, QUEUE - s->count);
    for (ssize_t i = 0; i < n; i++) {
        s->queue[(s->first + s->count++) % QUEUE] = bytes[i];
    }
    const uint32_t baud = n > 0 ? host_baud(s->pty) : s->to.baud;
    s->to.baud = s->from.baud = baud;
    return n < 0 && (errno == EAGAIN || errno == EINTR || errno == EIO) ? 0 : n; /* EIO: closed by the host */
}

static int run(struct server *s)
{
    int64_t heard = now_ms();
    while (!stop) {
        const bool quiet = !s->count && !s->to.busy && board_quiet(s->board) > QUIET;
        const bool awake = now_ms() < heard + AWAKE_MS;
        const ssize_t n = take(s, !quiet ? 0 : !awake ? 1000 : board_irq(s->board) ? 1 : 0);
        if (n < 0) {
            fprintf(stderr, "tern-board: the terminal cannot be read: %s\n", strerror(errno));
            return EXIT_FAILURE;
        }
        heard = n ? now_ms() : heard;
        if (!quiet || n ? !slice(s) : awake && !board_idle(s->board, SLICE)) {
            return EXIT_FAILURE;
        }
    }
    fprintf(stderr, "tern-board: %llu bytes from the host, %llu to it, %llu bits turned by noise, %llu cycles\n",
            (unsigned long long)s->to.bytes, (unsigned long long)s->from.bytes,
            (unsigned long long)(s->to.flipped + s->from.flipped), (unsigned long long)s->cycles);
    return EXIT_SUCCESS;
}

static bool terminal(struct server *s, const char *link)
{
    struct termios t;
    s->pty = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    const char *path = s->pty < 0 || grantpt(s->pty) || unlockpt(s->pty) ? NULL : ptsname(s->pty);
    if (!path || tcgetattr(s->pty, &t)) {
        fprintf(stderr, "tern-board: there is no pseudo terminal: %s\n", strerror(errno));
        return false;
    }
    cfmakeraw(&t);
    if (tcsetattr(s->pty, TCSANOW, &t)) {
        fprintf(stderr, "tern-board: the terminal cannot be set: %s\n", strerror(errno));
        return false;
    }
    if (link && ((unlink(link) && errno != ENOENT) || symlink(path, link))) {
        fprintf(stderr, "tern-board: the link '%s' cannot be made: %s\n", link, strerror(errno));
        return false;
    }
    printf("%s\n", path);
    return !fflush(stdout);
}

static bool device(struct server *s, const char *library, uint64_t mib)
{
    struct stat st;
    if (stat(library, &st) == 0 && !S_ISREG(st.st_mode)) { /* the loader would wait for a named pipe */
        fprintf(stderr, "tern-board: %s is no file\n", library);
        return false;
    }
    void *object = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    s->api = object ? dlsym(object, TERN_SIM_API_SYMBOL) : NULL;
    if (!s->api || s->api->version != TERN_SIM_API_VERSION) {
        fprintf(stderr, "tern-board: %s is no simulator of version %u: %s\n", library, TERN_SIM_API_VERSION,
                object ? "build it again together with this program" : dlerror());
        return false;
    }
    const int r = s->api->create(&(struct tern_sim_config){.mem_bytes = mib << 20}, &s->sim);
    if (r) {
        s->sim = NULL;
        fprintf(stderr, "tern-board: the simulator cannot be started: %s\n", strerror(-r));
        return false;
    }
    s->board = board_link(s->api, s->sim);
    return s->board != NULL;
}

/** Parses a number from 1 to most. Returns 0 if the text is none. */
static uint64_t number(const char *text, uint64_t most)
{
    char *end = NULL;
    const uint64_t n = strtoull(text, &end, 10);
    return *text < '0' || *text > '9' || *end || n > most ? 0 : n;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"library", required_argument, NULL, 'l'},
                                            {"memory", required_argument, NULL, 'm'},
                                            {"link", required_argument, NULL, 'k'},
                                            {"noise", required_argument, NULL, 'n'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    static struct server s = {.pty = -1, .line = true};
    const char *library = NULL, *link = NULL;
    uint64_t mib = 0, noise = 0, seed = 1;
    bool good = true;
    for (int c; good && (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'l':
            library = optarg;
            break;
        case 'm':
            good = (mib = number(optarg, 4096)) != 0;
            break;
        case 'k':
            link = optarg;
            break;
        case 'n':
            good = (noise = number(optarg, 1u << 31)) != 0;
            break;
        case 's':
            good = (seed = number(optarg, UINT32_MAX)) != 0;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_SUCCESS;
        default:
            good = false;
        }
    }
    if (!good || (mib && !library) || optind < argc) {
        fputs(usage, stderr);
        return 2;
    }
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    s.to = (struct wire){BOARD_BAUD, BOARD_CLOCK_HZ, (uint32_t)noise, seed, .level = true};
    s.from = (struct wire){BOARD_BAUD, BOARD_CLOCK_HZ, (uint32_t)noise, seed << 32, .level = true};
    const bool made = library ? device(&s, library, mib ? mib : 32) : (s.board = board_whole()) != NULL;
    const int r = made && terminal(&s, link) ? run(&s) : EXIT_FAILURE;
    board_destroy(s.board);
    if (s.sim) {
        s.api->destroy(s.sim);
    }
    return r;
}
