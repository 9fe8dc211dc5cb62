/* SPDX-License-Identifier: Apache-2.0 */
/** Programs that commands start (child.h). */
#include "child.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
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
    if (r == 0) {
        const char *program = strcmp(argv[0], "tern") == 0 ? "/proc/self/exe" : argv[0];
        fflush(NULL);
        r = posix_spawnp(pid, program, &files, NULL, argv, environ);
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
        const char *after = strrchr(line, ')'); /* the name in front may have any characters */
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
