/* SPDX-License-Identifier: Apache-2.0 */
#include "submit_ternd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/client.h"
#include "session.h"

static bool all_read(int fd, void *to, size_t n)
{
    for (ssize_t got; n; n -= (size_t)got, to = (char *)to + got) {
        got = read(fd, to, n);
        if (got <= 0) {
            return false;
        }
    }
    return true;
}

/** Starts the ternd of this installation: in bin, seen from lib/tern. */
static pid_t start_ternd(const char *socket)
{
    char own[PATH_MAX - 32], path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = '\0';
    char *folder = strrchr(own, '/');
    snprintf(path, sizeof path, "%.*s/" TERN_BIN_FROM_TOOLS "/ternd", folder ? (int)(folder - own) : 0, own);
    const pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0); /* Ctrl-C is delivered to the parent only. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        execl(path, path, "--socket", socket, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static bool start_program(struct through_ternd *t, const char *socket)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) {
        return false;
    }
    t->program = fork();
    if (t->program == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        setenv("TERND_SOCKET", socket, 1);
        execl("/proc/self/exe", "tern-bench-submit", "--dispatches", (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    t->ask = in[1];
    t->answer = out[0];
    return t->program > 0;
}

bool through_ternd_open(struct through_ternd *t)
{
    char socket[64];
    struct stat s;
    *t = (struct through_ternd){.ask = -1, .answer = -1, .folder = "/tmp/tern-bench-XXXXXX"};
    if (!mkdtemp(t->folder)) {
        fprintf(stderr, "tern bench submit: %s: %s\n", t->folder, strerror(errno));
        return false;
    }
    snprintf(socket, sizeof socket, "%s/sock", t->folder);
    t->ternd = start_ternd(socket);
    while (t->ternd > 0 && stat(socket, &s) && waitpid(t->ternd, NULL, WNOHANG) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    setenv("TERND_SOCKET", socket, 1);
    const int r = t->ternd > 0 ? tern_device_open(NULL, NULL, &t->device) : -ESRCH;
    unsetenv("TERND_SOCKET");
    if (r || !start_program(t, socket)) {
        t->device = r ? NULL : t->device;
        fprintf(stderr, "tern bench submit: no ternd: %s\n", r ? tern_last_error() : strerror(errno));
        return false;
    }
    return true;
}

void through_ternd_end(struct through_ternd *t)
{
    if (t->ternd > 0) {
        kill(t->ternd, SIGTERM);
        waitpid(t->ternd, NULL, 0);
        t->ternd = 0;
    }
    if (t->folder[0]) {
        rmdir(t->folder);
        t->folder[0] = '\0';
    }
}

void through_ternd_close(struct through_ternd *t)
{
    if (t->device) {
        tern_device_close(t->device);
    }
    if (t->ask >= 0) {
        close(t->ask);
        close(t->answer);
        waitpid(t->program, NULL, 0);
    }
    through_ternd_end(t);
}

bool through_ternd_dispatches(struct through_ternd *t, double *us, unsigned n)
{
    const bool done = write(t->ask, &n, sizeof n) == sizeof n && all_read(t->answer, us, n * sizeof *us);
    if (!done) {
        fprintf(stderr, "tern bench submit: the program that dispatches through ternd has ended\n");
    }
    return done;
}

bool through_ternd_requests(struct through_ternd *t, double *us, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const double begin = host_seconds();
        if (tern_call(t->device, TERN_WIRE_NOP, 0, NULL, NULL, NULL)) {
            fprintf(stderr, "tern bench submit: an empty request: %s\n", tern_last_error());
            return false;
        }
        us[i] = (host_seconds() - begin) * 1e6;
    }
    return true;
}
