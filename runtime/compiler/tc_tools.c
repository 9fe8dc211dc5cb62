/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes. All data pass through memory files, so no temporary file has to be removed if a process is killed.
 */
#include "guard.h"
#include "tc_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_MESSAGES (1u << 20) /* bytes that a log gets of a tool's messages */

extern char **environ;

/** Gives the file a descriptor that is at least `from`. -errno: it is closed. */
static int move_up(int fd, int from)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, from);
    int error = errno;
    close(fd);
    /* EINVAL: `from` exceeds the limit of descriptors */
    return moved < 0 ? -(error == EINVAL ? EMFILE : error) : moved;
}

/** A memory file with the contents of the blob (may be NULL), whose descriptor is at least `from`. */
static int memory_file(const struct tc_blob *blob, int from)
{
    int fd = memfd_create("tern", MFD_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    const char *p = blob ? blob->data : NULL;
    size_t left = blob ? blob->size : 0;
    struct tc_limit limit;
    int result = 0;
    tc_limit_begin(&limit);
    while (!result && left > 0) {
        ssize_t n = write(fd, p, left);
        if (n <= 0 && errno != EINTR) {
            result = errno == EFBIG ? -EFBIG : -ENOMEM;
        }
        p += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    tc_limit_end(&limit);
    if (result) {
        close(fd);
        return result;
    }
    lseek(fd, 0, SEEK_SET);
    return move_up(fd, from);
}

static int read_back(int fd, struct tc_blob *out)
{
    struct stat st;
    if (fstat(fd, &st)) {
        return -errno;
    }
    size_t size = (size_t)st.st_size, done = 0;
    char *data = malloc(size + 1);
    if (!data) {
        return -ENOMEM;
    }
    while (done < size) {
        ssize_t n = pread(fd, data + done, size - done, (off_t)done);
        if (n <= 0 && errno != EINTR) {
            free(data);
            return -EIO;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    data[size] = '\0';
    *out = (struct tc_blob){data, size};
    return 0;
}

/** This process's variables, and that the dynamic linker loads the library in descriptor `fd` first. The library is
 *  named by its descriptor, because LD_PRELOAD cannot name a path with a colon or white space. Free the result and its
 *  first entry; NULL: no memory. */
static char **guarded_variables(int fd)
{
    const char *other = getenv("LD_PRELOAD");
    size_t n = 0, kept = 1;
    while (environ && environ[n]) {
        n++;
    }
    char **variables = calloc(n + 2, sizeof *variables);
    if (!variables || asprintf(&variables[0], "LD_PRELOAD=/proc/self/fd/%d%s%s", fd, other ? ":" : "",
                               other ? other : "") < 0) {
        free(variables);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (strncmp(environ[i], "LD_PRELOAD=", 11)) {
            variables[kept++] = environ[i];
        }
    }
    return variables;
}

/** fds: output, log, inputs. guard: the child's guard, or -1. */
static int spawn(const struct tc_child *child, const int *fds, int guard, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int first = child->n_inputs > 0 ? (int)child->n_inputs + 2 : 3;
    char **variables = guard < 0 ? environ : guarded_variables(first);
    int result = variables || guard < 0 ? posix_spawn_file_actions_init(&actions) : ENOMEM;
    if (result) {
        goto out;
    }
    result = posix_spawnattr_init(&attributes);
    if (result) {
        posix_spawn_file_actions_destroy(&actions);
        goto out;
    }
    /* their numbers exceed those that they get in the child, so none is overwritten */
    result = posix_spawn_file_actions_adddup2(&actions, fds[0], STDOUT_FILENO);
    if (result == 0) {
        result = posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
    }
    for (size_t i = 0; !result && i < child->n_inputs; i++) {
        result = posix_spawn_file_actions_adddup2(&actions, fds[i + 2], i ? (int)i + 2 : STDIN_FILENO);
    }
    if (!result && guard >= 0) {
        result = posix_spawn_file_actions_adddup2(&actions, guard, first++);
    }
    if (result == 0) {
        result = posix_spawn_file_actions_addclosefrom_np(&actions, first);
    }
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!result) {
        result = posix_spawn(pid, child->argv[0], &actions, &attributes, (char *const *)(uintptr_t)child->argv,
                             variables);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
out:
    if (guard >= 0 && variables) {
        free(variables[0]);
        free(variables);
    }
    return -result;
}

/** Waits for the child; *status is as of waitpid. -ECHILD: the application has taken the status. */
static int wait_for(pid_t pid, int *status)
{
    pid_t got;
    do {
        got = waitpid(pid, status, 0);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? -ECHILD : 0;
}

/** Reads the status that a shell wrote into a memory file. */
static int read_status(int fd, int *status)
{
    struct tc_blob text = {0};
    char *end = NULL;
    int result = read_back(fd, &text);
    const unsigned long code = result ? 0 : strtoul(text.data, &end, 10);
    if (result || end == text.data || code > 255) {
        *status = SIGKILL; /* the shell was killed before it wrote */
    } else {
        *status = code > 128 ? (int)code - 128 : (int)code << 8; /* a signal, or an exit code */
    }
    free(text.data);
    return 0;
}

/** Starts the tool and waits for its end. shell: a shell runs it and writes its status to a memory file. fds: n of the
 *  child, then the file of the status and the guard. */
static int run_once(const struct tc_child *child, const char *tool, int *fds, size_t n, int shell, int *status)
{
    /* dash cannot redirect to descriptors above 9, so the file is opened by name */
    static const char note[] = "\"$@\"\necho $? >\"$0\"";
    char place[32];
    const char **argv = NULL;
    struct tc_child wrapped = *child;
    size_t n_args = 0;
    pid_t pid;
    while (child->argv[n_args]) {
        n_args++;
    }
    argv = calloc(n_args + 5, sizeof *argv);
    if (!argv) {
        return -ENOMEM;
    }
    size_t at = 0;
    if (shell) {
        /* the file of the status is one more input, the last */
        wrapped.n_inputs++;
        snprintf(place, sizeof place, "/proc/self/fd/%zu", wrapped.n_inputs + 1);
        argv[at++] = "/bin/sh";
        argv[at++] = "-c";
        argv[at++] = note;
        argv[at++] = place;
    }
    argv[at] = tool;
    memcpy(&argv[at + 1], child->argv + 1, n_args * sizeof *argv);
    wrapped.argv = argv;
    int result = spawn(&wrapped, fds, fds[n + 1], &pid);
    if (!result) {
        result = wait_for(pid, status);
        if (shell) {
            result = read_status(fds[n], status);
        }
    }
    free(argv);
    return result;
}

/** Empties a file that a run has written, for the next run. */
static void rewind_file(int fd)
{
    if (ftruncate(fd, 0) == 0) {
        lseek(fd, 0, SEEK_SET);
    }
}

/** Runs a tool. An application that ignores SIGCHLD, or waits for all children, takes the status away. The output
 *  alone does not show that the tool succeeded, so a shell, whose own status does not matter, writes down the tool's
 *  status. */
static int run_tool(const struct tc_child *child, const char *tool, int *fds, size_t n, int *status)
{
    static atomic_int lost; /* the status was taken once, so a shell is used at once */
    struct sigaction action;
    int shell = atomic_load(&lost) || (!sigaction(SIGCHLD, NULL, &action) &&
                                       (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT)));
    int result = run_once(child, tool, fds, n, shell, status);
    if (result == -ECHILD) {
        atomic_store(&lost, 1);
        rewind_file(fds[0]);
        rewind_file(fds[1]);
        for (size_t i = 2; i < n; i++) {
            lseek(fds[i], 0, SEEK_SET);
        }
        if (child->back) {
            rewind_file(fds[n - 1]);
        }
        result = run_once(child, tool, fds, n, 1, status);
    }
    return result;
}

/** True: this process's own limit is below that of the guard. */
static int below(__rlimit_resource_t what, rlim_t most)
{
    struct rlimit limit;
    return !getrlimit(what, &limit) && limit.rlim_cur < most;
}

/** Says why a signal ended the tool. */
static void explain(const struct tc_child *child, int signal, struct tc_text *log)
{
    const char *tool = child->argv[0];
    if (signal == SIGXFSZ && child->guard && !below(RLIMIT_FSIZE, (rlim_t)GUARD_OUTPUT_MIB << 20)) {
        tc_text_print(log, "error: %s made more than %u MiB of output or messages, which is its limit\n", tool,
                      GUARD_OUTPUT_MIB);
    } else if (signal == SIGXFSZ) {
        tc_text_print(log, "error: the limit of file sizes (ulimit -f) is too small for what %s makes\n", tool);
    } else if (signal == SIGXCPU && child->guard && !below(RLIMIT_CPU, GUARD_SECONDS)) {
        tc_text_print(log, "error: %s took more than %u s of processor time, which is its limit\n", tool,
                      GUARD_SECONDS);
    } else if (signal == SIGXCPU) {
        tc_text_print(log, "error: the limit of processor time (ulimit -t) is too small for %s\n", tool);
    } else {
        tc_text_print(log, "error: %s crashed (signal %d)\n", tool, signal);
    }
}

int tc_child_run(const struct tc_child *child, int *exit_code, struct tc_blob *output, struct tc_text *log)
{
    const size_t n = child->n_inputs + 2, all = n + 1; /* one more for the status */
    size_t opened = 0;
    int *fds = calloc(all + 1, sizeof *fds);
    int result = fds ? 0 : -ENOMEM, status = 0, guard = -1;
    struct tc_blob messages = {0};
    char tool[4200];
    if (!result && strchr(child->argv[0], '/')) {
        snprintf(tool, sizeof tool, "%s", child->argv[0]);
    } else if (!result) {
        result = tc_find_tool(child->argv[0], tool, sizeof tool, log);
        if (result) {
            goto out;
        }
    }
    for (; !result && opened < all; opened++) {
        fds[opened] = memory_file(opened < 2 || opened == n ? NULL : &child->inputs[opened - 2], (int)all + 2);
        if (fds[opened] < 0) {
            result = fds[opened];
            break;
        }
    }
    if (!result && child->guard) {
        guard = open(child->guard, O_RDONLY | O_CLOEXEC);
        guard = guard < 0 ? -errno : move_up(guard, (int)all + 2);
        result = guard < 0 ? guard : 0;
    }
    if (!result) {
        fds[all] = guard;
    }
    if (result == 0) {
        result = run_tool(child, tool, fds, n, &status);
    }
    if (result) {
        tc_text_print(log, "error: cannot start %s: %s%s\n", child->argv[0], strerror(-result),
                      result == -EFBIG ? " (the limit of file sizes, ulimit -f, is too small for its input)" : "");
        goto out;
    }
    if (!read_back(fds[1], &messages)) {
        const size_t kept = messages.size < MAX_MESSAGES ? messages.size : MAX_MESSAGES;
        tc_text_add(log, messages.data, kept);
        if (kept < messages.size) {
            tc_text_print(log, "\n(%zu more bytes of messages are left out)\n", messages.size - kept);
        }
    }
    if (WIFSIGNALED(status)) {
        explain(child, WTERMSIG(status), log);
        result = -EIO;
        goto out;
    }
    *exit_code = WEXITSTATUS(status);
    result = read_back(fds[0], output);
    if (!result && child->back) {
        result = read_back(fds[n - 1], child->back);
        if (result) {
            free(output->data);
            *output = (struct tc_blob){0};
        }
    }
out:
    free(messages.data);
    if (guard >= 0) {
        close(guard);
    }
    while (opened > 0) {
        close(fds[--opened]);
    }
    free(fds);
    return result;
}
