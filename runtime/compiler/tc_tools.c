/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes. All data pass through memory files, so no temporary file has to be removed if a process is killed.
 */
#include "tc_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, from);
    int error = errno;
    close(fd);
    /* EINVAL: `from` exceeds the limit of descriptors */
    return moved < 0 ? -(error == EINVAL ? EMFILE : error) : moved;
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

static int spawn(const struct tc_child *child, const int *fds, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int result = posix_spawn_file_actions_init(&actions);
    if (result) {
        return -result;
    }
    result = posix_spawnattr_init(&attributes);
    if (result) {
        posix_spawn_file_actions_destroy(&actions);
        return -result;
    }
    /* fds: output, log, inputs. Their numbers exceed those that they get in the child, so none is overwritten. */
    result = posix_spawn_file_actions_adddup2(&actions, fds[0], STDOUT_FILENO);
    result = result ? result : posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
    for (size_t i = 0; !result && i < child->n_inputs; i++) {
        result = posix_spawn_file_actions_adddup2(&actions, fds[i + 2], i ? (int)i + 2 : STDIN_FILENO);
    }
    if (!result) {
        int first = child->n_inputs > 0 ? (int)child->n_inputs + 2 : 3;
        result = posix_spawn_file_actions_addclosefrom_np(&actions, first);
    }
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!result) {
        result = posix_spawn(pid, child->argv[0], &actions, &attributes, (char *const *)(uintptr_t)child->argv,
                             environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
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

/** Starts the tool and waits for its end. shell: a shell runs it and writes its status to a memory file. */
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
    int result = spawn(&wrapped, fds, &pid);
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

int tc_child_run(const struct tc_child *child, int *exit_code, struct tc_blob *output, struct tc_text *log)
{
    const size_t n = child->n_inputs + 2, all = n + 1; /* one more for the status */
    size_t opened = 0;
    int *fds = calloc(all, sizeof *fds);
    int result = fds ? 0 : -ENOMEM, status = 0;
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
    result = result ? result : run_tool(child, tool, fds, n, &status);
    if (result) {
        tc_text_print(log, "error: cannot start %s: %s%s\n", child->argv[0], strerror(-result),
                      result == -EFBIG ? " (the limit of file sizes, ulimit -f, is too small for its input)" : "");
        goto out;
    }
    if (!read_back(fds[1], &messages)) {
        tc_text_add(log, messages.data, messages.size);
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) {
        tc_text_print(log, "error: the limit of file sizes (ulimit -f) is too small for what %s makes\n",
                      child->argv[0]);
        result = -EIO;
        goto out;
    }
    if (WIFSIGNALED(status)) {
        tc_text_print(log, "error: %s crashed (signal %d)\n", child->argv[0], WTERMSIG(status));
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
    while (opened > 0) {
        close(fds[--opened]);
    }
    free(fds);
    return result;
}
