/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Child processes and where the tools are. Everything passes through memory files: nothing is ever written to a directory
 * of temporary files, so nothing has to be cleaned up, whoever is killed when.
 */
#include "tc_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int tc_lib_dir(char *path, size_t size, struct tc_text *log)
{
    const char *set = getenv("TERN_LIB_DIR");
    char self[4096] = "";
    Dl_info info;
    if (dladdr((void *)(uintptr_t)tc_lib_dir, &info) && info.dli_fname && strlen(info.dli_fname) < sizeof self) {
        strcpy(self, info.dli_fname);
        char *slash = strrchr(self, '/');
        *(slash ? slash : self) = '\0';
    }
    const char *const bases[] = {set ? set : self, self, self, TERN_LIB_DIR};
    const char *const tails[] = {"/tern", "/../lib/tern", "/tern", ""};
    for (size_t i = 0; i < (set ? 1 : sizeof bases / sizeof *bases); i++) {
        char probe[4200];
        int n = snprintf(probe, sizeof probe, "%s%s/tern-cc1", bases[i], tails[i]);
        if (n > 0 && (size_t)n < sizeof probe && !access(probe, X_OK) && (size_t)n < size) {
            memcpy(path, probe, (size_t)n + 1);
            *strrchr(path, '/') = '\0';
            return 0;
        }
    }
    tc_text_print(log, "error: Tern's device library is not installed: no tern-cc1 in %s%s\n", set ? set : TERN_LIB_DIR,
                  set ? "/tern" : "");
    return -ENOENT;
}

/** A memory file holding the blob (may be NULL), with a number of at least `from`. */
static int memory_file(const struct tc_blob *blob, int from)
{
    int fd = memfd_create("tern", MFD_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    const char *p = blob ? blob->data : NULL;
    size_t left = blob ? blob->size : 0;
    while (left > 0) {
        ssize_t n = write(fd, p, left);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            close(fd);
            return -ENOMEM;
        }
        p += n;
        left -= (size_t)n;
    }
    lseek(fd, 0, SEEK_SET);
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, from);
    int error = errno;
    close(fd);
    return moved < 0 ? -error : moved;
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

static const char *package_of(const char *tool)
{
    return strstr(tool, "clang") ? "clang-19" : strstr(tool, "lld") ? "lld-19" : NULL;
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
    /* fds: output, log, inputs. All are numbered beyond what they become here, so none overwrites another. */
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
        result = posix_spawnp(pid, child->argv[0], &actions, &attributes, (char *const *)(uintptr_t)child->argv, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return -result;
}

/** Waits. If the application reaps all children itself, the status is lost: then there is output, or there is not. */
static int wait_for(pid_t pid, int output, int *exit_code, int *term_signal)
{
    int status;
    pid_t got;
    do {
        got = waitpid(pid, &status, 0);
    } while (got < 0 && errno == EINTR);
    *term_signal = 0;
    if (got < 0) {
        struct stat st;
        *exit_code = !fstat(output, &st) && st.st_size > 0 ? 0 : 1;
        return 0;
    }
    if (WIFSIGNALED(status)) {
        *term_signal = WTERMSIG(status);
        return -EIO;
    }
    *exit_code = WEXITSTATUS(status);
    return 0;
}

int tc_child_run(const struct tc_child *child, int *exit_code, struct tc_blob *output, struct tc_text *log)
{
    size_t n = child->n_inputs + 2, opened = 0;
    int *fds = calloc(n, sizeof *fds);
    int result = fds ? 0 : -ENOMEM;
    struct tc_blob messages = {0};
    for (; !result && opened < n; opened++) {
        fds[opened] = memory_file(opened < 2 ? NULL : &child->inputs[opened - 2], (int)n + 2);
        if (fds[opened] < 0) {
            result = fds[opened];
            break;
        }
    }
    if (result) {
        tc_text_print(log, "error: cannot start %s: %s\n", child->argv[0], strerror(-result));
        goto out;
    }
    pid_t pid;
    int term_signal;
    result = spawn(child, fds, &pid);
    if (result) {
        const char *package = package_of(child->argv[0]);
        if (result == -ENOENT && package) {
            tc_text_print(log, "error: %s is not installed; run: apt install %s\n", child->argv[0], package);
        } else {
            tc_text_print(log, "error: cannot start %s: %s\n", child->argv[0], strerror(-result));
        }
        goto out;
    }
    result = wait_for(pid, fds[0], exit_code, &term_signal);
    if (!read_back(fds[1], &messages)) {
        tc_text_add(log, messages.data, messages.size);
    }
    if (result) {
        tc_text_print(log, "error: %s crashed (signal %d)\n", child->argv[0], term_signal);
        goto out;
    }
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
