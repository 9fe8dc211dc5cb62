/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The compiler's tools: where they are found, and that any failure of one makes the step fail, whatever it had written
 * and even if someone else waits for the application's children. No result of a failed tool is cached.
 */
#include "support.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[3000], cache[3100], lib[3100];
static char *path_before;
static int steal; /* waitpid fails with ECHILD, as if someone else had taken the child's status. */

pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    const pid_t got = __real_waitpid(pid, status, options);
    if (got > 0 && steal) {
        errno = ECHILD;
        return -1;
    }
    return got;
}

static int setup(void **state)
{
    (void)state;
    const char *base = getenv("TERN_TEST_DIR");
    snprintf(directory, sizeof directory, "%s/tools.XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(directory));
    snprintf(cache, sizeof cache, "%s/cache", directory);
    snprintf(lib, sizeof lib, "%s/tern", directory);
    setenv("TERN_CACHE", "1", 1);
    setenv("TERN_CACHE_DIR", cache, 1);
    path_before = strdup(getenv("PATH"));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[3100];
    setenv("PATH", path_before, 1);
    free(path_before);
    unsetenv("TERN_LIB_DIR");
    unsetenv("TERN_LLVM_DIR");
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static void script(const char *folder, const char *name, const char *text)
{
    char file[4096];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(file, 0700), 0);
}

static const char program[] = "kernel void k(global int *a) { a[0] = 1; }";

/** Runs the three steps up to the first that fails, which is in *step. */
static int build(char **log, int *step)
{
    struct tc_blob module = {0}, library = {0}, object = {0};
    struct tc_image image = {0};
    *log = NULL;
    *step = 0;
    int result = tc_compile(program, strlen(program), "", NULL, 0, &module, log);
    for (int i = 0; !result && i < 2; i++) {
        *step = 1;
        free(*log);
        result = tc_link(i ? &library : &module, 1, "", !i, i ? &object : &library, log);
    }
    if (!result) {
        *step = 2;
        free(*log);
        result = tc_load(&object, 0x1000, 16, &image, log);
    }
    if (!result) {
        tc_image_free(&image);
    }
    free(module.data);
    free(library.data);
    free(object.data);
    return result;
}

enum waits { OURS, IGNORED, NO_ZOMBIES, STOLEN, WAYS };

static void arrange(enum waits how)
{
    struct sigaction action = {.sa_handler = how == IGNORED ? SIG_IGN : SIG_DFL,
                               .sa_flags = how == NO_ZOMBIES ? SA_NOCLDWAIT : 0};
    assert_int_equal(sigaction(SIGCHLD, &action, NULL), 0);
    steal = how == STOLEN;
}

static void test_failing_tools(void **state)
{
    (void)state;
    static const struct {
        const char *script, *log;
    } failures[] = {
        {"#!/bin/sh\n%s \"$@\"\nkill -SEGV $$\n", "crashed"}, /* The tool had written everything. */
        {"#!/bin/sh\n%s \"$@\" | head -c 700\nkill -KILL $$\n", "crashed"},
        {"#!/bin/sh\n%s \"$@\"\nexit 70\n", ""},
        /* The output is cut, although the tool reports success. */
        {"#!/bin/sh\n%s \"$@\" | head -c 1500\nexit 0\n", ""},
        {"#!/bin/sh\n: %s\nexit 0\n", ""},
    };
    static const char *const names[] = {"clang-19", "tern-cc1", "ld.lld-19"};
    static const char *const library[] = {"tern-cc1", "tern-guard.so", "atomics.h", "builtins.bc", "clc.bc",
                                          "half.bc", "images.bc", "runtime.o", "runtime.stack"};
    static const int made[] = {0, 1, 3}; /* Entries that the steps before have made. */
    char with[8192], real[4300], text[8192], own[4300];
    snprintf(with, sizeof with, "%s:%s", directory, path_before);
    setenv("PATH", with, 1);
    setenv("TERN_LIB_DIR", directory, 1);
    assert_int_equal(mkdir(lib, 0700), 0);
    for (size_t i = 0; i < sizeof library / sizeof *library; i++) {
        snprintf(own, sizeof own, "%s/%s", lib, library[i]);
        snprintf(real, sizeof real, "%s/%s", TERN_LIB_DIR, library[i]);
        assert_int_equal(symlink(real, own), 0);
    }
    for (int tool = 0; tool < 3; tool++) {
        const char *folder = tool == 1 ? lib : directory;
        snprintf(real, sizeof real, "%s/%s", tool == 1 ? TERN_LIB_DIR : "/usr/bin", names[tool]);
        for (size_t f = 0; f < sizeof failures / sizeof *failures; f++) {
            for (enum waits how = OURS; how < (f < 2 ? WAYS : IGNORED); how++) {
                char *log;
                int step;
                snprintf(own, sizeof own, "%s/%s", folder, names[tool]);
                unlink(own);
                snprintf(text, sizeof text, failures[f].script, real);
                script(folder, names[tool], text);
                const int before = entries(cache);
                arrange(how);
                const int result = build(&log, &step);
                arrange(OURS);
                if (result != -EIO || step != tool || entries(cache) != before + made[tool] || !log ||
                    !strstr(log, failures[f].log)) {
                    fail_msg("%s, failure %zu, children %d: result %d in step %d, %d entries: %s", names[tool], f,
                             (int)how, result, step, entries(cache) - before, log ? log : "");
                }
                free(log);
                unlink(own);
                if (tool == 1) {
                    assert_int_equal(symlink(real, own), 0);
                }
            }
        }
    }
}

/** If someone else waits for children, nothing changes while the tools work, and messages are complete. */
static void test_others_wait(void **state)
{
    (void)state;
    setenv("TERN_CACHE", "0", 1);
    for (enum waits how = OURS; how < WAYS; how++) {
        char *log;
        int step;
        arrange(how);
        assert_int_equal(build(&log, &step), 0);
        free(log);
        expect_failure("kernel void k(global int *a) { a[0] = b; }", "", -EBADMSG, "undeclared");
        arrange(OURS);
    }
}

static void test_missing(void **state)
{
    (void)state;
    struct tc_blob module = {0};
    char *log = NULL;
    setenv("TERN_LLVM_DIR", "/nowhere", 1);
    assert_int_equal(tc_compile("", 0, "", NULL, 0, &module, &log), -ENOENT);
    assert_non_null(strstr(log, "clang-19"));
    assert_non_null(strstr(log, "/nowhere"));
    free(log);
    log = NULL;
    unsetenv("TERN_LLVM_DIR");
    setenv("TERN_LIB_DIR", "/nowhere", 1);
    assert_int_equal(tc_compile("", 0, "", NULL, 0, &module, &log), -ENOENT);
    assert_non_null(strstr(log, "/nowhere"));
    free(log);
}

/** Installed tools are found with any PATH, and under the names of a separate LLVM. */
static void test_found(void **state)
{
    (void)state;
    static const char *const paths[] = {"/nowhere", "", ":", "relative::", NULL};
    char *log, own[4096];
    int step;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (paths[i]) {
            setenv("PATH", paths[i], 1);
        } else {
            unsetenv("PATH");
        }
        const int result = build(&log, &step);
        if (result) {
            fail_msg("PATH=%s: %d in step %d: %s", paths[i] ? paths[i] : "(unset)", result, step, log);
        }
        free(log);
    }
    snprintf(own, sizeof own, "%s/clang", directory);
    assert_int_equal(symlink("/usr/lib/llvm-19/bin/clang", own), 0);
    snprintf(own, sizeof own, "%s/ld.lld", directory);
    assert_int_equal(symlink("/usr/lib/llvm-19/bin/ld.lld", own), 0);
    setenv("TERN_LLVM_DIR", directory, 1);
    assert_int_equal(build(&log, &step), 0);
    free(log);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_failing_tools), TEST(test_others_wait), TEST(test_missing),
                                       TEST(test_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
