/* SPDX-License-Identifier: Apache-2.0 */
/** Programs that commands start (child.h). */
#include "child.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

#define NO_SUCH_PROGRAM 127
#define BY_SIGNAL 128
#define GENERATIONS 64

extern char **environ;

int child_start(const char *command, char *const argv[], int in, int out, int err, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    int r = posix_spawn_file_actions_init(&files);
    if (r == 0 && in >= 0) {
        r = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    }
    if (r == 0 && out >= 0) {
        r = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    }
    if (r == 0 && err >= 0) {
        r = posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
    }
    posix_spawnattr_t how;
    sigset_t signals;
    if (r == 0) {
        r = posix_spawnattr_init(&how);
    }
    const bool made = r == 0;
    if (r == 0) {
        exit_limit_default(&signals);
        posix_spawnattr_setsigdefault(&how, &signals);
        r = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    }
    if (r == 0) {
        const char *program = strcmp(argv[0], "tern") == 0 ? "/proc/self/exe" : argv[0];
        fflush(NULL);
        r = posix_spawnp(pid, program, &files, &how, argv, environ);
    }
    if (made) {
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
    if (r) {
        fprintf(stderr, "tern %s: %s: %s\n", command, argv[0], strerror(r));
    }
    return r == ENOENT ? NO_SUCH_PROGRAM : r ? EXIT_FAILED : 0;
}

bool child_ended(pid_t pid, bool wait, int *status)
{
    int s = 0;
    pid_t r;
    do {
        r = waitpid(pid, &s, wait ? 0 : WNOHANG);
    } while (r < 0 && errno == EINTR);
    if (r != pid) {
        return false;
    }
    *status = WIFSIGNALED(s) ? BY_SIGNAL + WTERMSIG(s) : WEXITSTATUS(s);
    return true;
}

static pid_t parent(pid_t pid)
{
    char path[64], line[512];
    long ppid = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "r");
    if (f && fgets(line, sizeof line, f)) {
        const char *after = strrchr(line, ')'); /* the name before it may contain any character */
        if (!after || sscanf(after, ") %*c %ld", &ppid) != 1) {
            ppid = 0;
        }
    }
    if (f) {
        fclose(f);
    }
    return (pid_t)ppid;
}

bool child_has(pid_t child, pid_t pid)
{
    for (int i = 0; i < GENERATIONS && pid > 1; i++) {
        if (pid == child) {
            return true;
        }
        pid = parent(pid);
    }
    return false;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

const char *child_ternd(void)
{
    static char path[PATH_MAX];
    const char *named = variable("TERND_SOCKET"), *run = variable("XDG_RUNTIME_DIR");
    struct stat s;
    if (named || variable("TERN_BACKEND") || variable("TERN_CONFIG")) {
        return named;
    }
    snprintf(path, sizeof path, "/run/tern/ternd.sock");
    if (run && (stat(path, &s) || !S_ISSOCK(s.st_mode))) {
        snprintf(path, sizeof path, "%s/tern/ternd.sock", run);
    }
    return stat(path, &s) == 0 && S_ISSOCK(s.st_mode) ? path : NULL;
}
