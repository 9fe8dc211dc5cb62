/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Files that a program names and that are no regular files, or are large: every way to name each kind of file fails,
 * with a log that says which file, why, and where the program names it. Nothing waits for the other end of a pipe.
 */
#include "support.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[3000];

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int setup(void **state)
{
    (void)state;
    const char *base = getenv("TERN_TEST_DIR");
    snprintf(directory, sizeof directory, "%s/files.XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    setenv("TERN_CACHE", "1", 1);
    setenv("TERN_CACHE_DIR", "cache", 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unsetenv("TERN_LIB_DIR");
    unsetenv("TERN_LLVM_DIR");
    unsetenv("LD_PRELOAD");
    assert_int_equal(chdir("/"), 0);
    return nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* ---------------------------------------------------------------- kinds of files, all named folder/x */

#define X "folder/x"

static void make_text(void)
{
    put(X, "1\n", 0600);
}

static void make_pipe(void)
{
    assert_int_equal(mkfifo(X, 0600), 0);
}

static void make_link_to_pipe(void)
{
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("../pipe", "folder/link"), 0);
    assert_int_equal(symlink("link", X), 0);
}

static void make_socket(void)
{
    const struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = X};
    const int s = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(s, (const struct sockaddr *)&name, sizeof name), 0);
    close(s);
}

static void make_zero(void)
{
    assert_int_equal(symlink("/dev/zero", X), 0);
}

static void make_terminal(void)
{
    assert_int_equal(symlink("/dev/ptmx", X), 0);
}

static void make_folder(void)
{
    assert_int_equal(mkdir(X, 0700), 0);
}

static void make_sized(off_t size)
{
    make_text();
    assert_int_equal(truncate(X, size), 0);
}

static void make_large(void)
{
    make_sized((64l << 20) + 1);
}

static void make_huge(void)
{
    make_sized(1l << 40);
}

static const struct {
    const char *name;
    void (*make)(void);
    const char *why;
} kinds[] = {
    {"text", make_text, NULL},
    {"pipe", make_pipe, "is a named pipe, and a file is needed"},
    {"link to a pipe", make_link_to_pipe, "is a named pipe, and a file is needed"},
    {"socket", make_socket, "is a socket, and a file is needed"},
    {"/dev/zero", make_zero, "is a device, and a file is needed"},
    {"/dev/ptmx", make_terminal, "is a device, and a file is needed"},
    {"folder", make_folder, "file not found"},
    {"large", make_large, "is larger than 64 MiB, which is the most that is read here"},
    {"huge", make_huge, "is larger than 64 MiB, which is the most that is read here"},
};

/* ---------------------------------------------------------------- ways to name it */

#define VALUE(directive) "constant int value =\n" directive "\n;\n"
#define GIVEN "\n#include \"" X "\"\n"
#define KERNEL "kernel void k(global int *a) { a[0] = value; }\n"

static const struct {
    const char *text, *options;
    struct tc_header header;
    const char *where;
} ways[] = {
    {VALUE("#include \"" X "\"") KERNEL, "", {0}, "program.cl:2:10: "},
    {VALUE("#include <x>") KERNEL, "-I folder", {0}, "program.cl:2:10: "},
    {VALUE("#include \"x\"") KERNEL, "-I nowhere -Ifolder", {0}, "program.cl:2:10: "},
    {VALUE("#include NAME") KERNEL, "-I. -DNAME=<" X ">", {0}, "program.cl:2:10: "},
    {VALUE("#include \"folder/../" X "\"") KERNEL, "-w", {0}, "program.cl:2:10: "},
    {VALUE("#embed \"" X "\" limit(1)") KERNEL, "-w", {0}, "program.cl:2:8: "},
    {VALUE("#if __has_include(\"" X "\")\n1\n#endif") KERNEL, "", {0}, "program.cl:2:19: "},
    {VALUE("#include \"outer\"") KERNEL, "", {0}, "outer:1:10: "},
    {VALUE("#include \"given\"") KERNEL, "", {"given", GIVEN, sizeof GIVEN - 1}, "given:2:10: "},
    {VALUE("#include \"" X "\"") KERNEL, "", {"given", "", 0}, "program.cl:2:10: "},
};

/** Compiles by one way; returns the log, or NULL if that worked. */
static char *compile(size_t way, int *result)
{
    struct tc_blob module = {0};
    char *log = NULL;
    *result = tc_compile(ways[way].text, strlen(ways[way].text), ways[way].options, &ways[way].header,
                         ways[way].header.name != NULL, &module, &log);
    free(module.data);
    if (!*result) {
        free(log);
        log = NULL;
    }
    return log;
}

static void test_kinds(void **state)
{
    (void)state;
    put("outer", "#include \"" X "\"\n", 0600);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        kinds[kind].make();
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
            int result;
            if (kinds[kind].make == make_folder && strstr(ways[way].text, "__has_include")) {
                continue; /* which is false */
            }
            char *log = compile(way, &result);
            if (!kinds[kind].why ? result != 0 : result != -EBADMSG || !log || !strstr(log, ways[way].where) ||
                                                     !strstr(log, kinds[kind].why)) {
                fail_msg("%s, way %zu: %d %s", kinds[kind].name, way, result, log ? log : "");
            }
            free(log);
        }
        assert_int_equal(remove(X), 0);
    }
}

/** A refused pipe keeps what was written to it. */
static void test_pipe_is_not_opened(void **state)
{
    (void)state;
    make_pipe();
    const int fd = open(X, O_RDWR);
    char byte = 0;
    int result;
    assert_int_equal(write(fd, "1", 1), 1);
    char *log = compile(0, &result);
    assert_int_equal(result, -EBADMSG);
    free(log);
    assert_int_equal(read(fd, &byte, 1), 1);
    close(fd);
}

/** The kernel makes this one while it is read, 256 GiB, and says that it has 0 bytes. */
static void test_size_says_nothing(void **state)
{
    (void)state;
    static const char text[] = "#include <pagemap>\nkernel void k(global int *a) { a[0] = 1; }\n";
    struct tc_blob module = {0};
    assert_int_equal(tc_compile(text, strlen(text), "-I /proc/self", NULL, 0, &module, NULL), 0);
    free(module.data);
    assert_int_equal(entries("cache"), 0);
}

/** /dev/null is an empty file. */
static void test_null(void **state)
{
    (void)state;
    static const char text[] = "#include \"/dev/null\"\nkernel void k(global int *a) { a[0] = 1; }\n";
    struct tc_blob module = {0};
    assert_int_equal(tc_compile(text, strlen(text), "", NULL, 0, &module, NULL), 0);
    free(module.data);
}

/** The guard is loaded from any folder, before the application's own libraries, and sets its limits. */
static void test_guard(void **state)
{
    (void)state;
    static const char tool[] = "#!/bin/sh\n"
                               "echo \"$(ulimit -v) $(ulimit -f) $(ulimit -t) ${LD_PRELOAD#*:}\" >&2\n"
                               "exec /usr/bin/clang-19 \"$@\"\n";
    static const char expected[] = "4194304 524288 600 libc.so.6\n";
    char odd[4096];
    int result;
    snprintf(odd, sizeof odd, "%s/a b:c", directory);
    assert_int_equal(mkdir(odd, 0700), 0);
    assert_int_equal(symlink(TERN_LIB_DIR, "a b:c/tern"), 0);
    assert_int_equal(mkdir("bin", 0700), 0);
    put("bin/clang-19", tool, 0700);
    make_pipe();
    setenv("TERN_LIB_DIR", odd, 1);
    setenv("TERN_LLVM_DIR", "bin", 1);
    setenv("LD_PRELOAD", "libc.so.6", 1);
    for (int ignored = 0; ignored < 2; ignored++) { /* a shell in between reports the tool's status */
        signal(SIGCHLD, ignored ? SIG_IGN : SIG_DFL);
        char *log = compile(0, &result);
        signal(SIGCHLD, SIG_DFL);
        if (result != -EBADMSG || strncmp(log, expected, strlen(expected)) || !strstr(log, "is a named pipe")) {
            fail_msg("%d: %s", result, log ? log : "");
        }
        free(log);
    }
}

/** A device library with a named pipe, or without one of its files, is said to be so. */
static void test_library(void **state)
{
    (void)state;
    static const char *const files[] = {"tern-guard.so", "tern-cc1", "atomics.h", "builtins.bc", "clc.bc", "half.bc",
                                        "images.bc",
                                        "runtime.o", "runtime.stack"};
    const size_t n = sizeof files / sizeof *files;
    char real[4200], own[4200];
    assert_int_equal(mkdir("lib", 0700), 0);
    assert_int_equal(mkdir("lib/tern", 0700), 0);
    setenv("TERN_LIB_DIR", "lib", 1);
    for (size_t i = 0; i < n; i++) {
        snprintf(real, sizeof real, "%s/%s", TERN_LIB_DIR, files[i]);
        snprintf(own, sizeof own, "lib/tern/%s", files[i]);
        assert_int_equal(symlink(real, own), 0);
    }
    make_text();
    for (size_t i = 0; i < n; i++) {
        snprintf(real, sizeof real, "%s/%s", TERN_LIB_DIR, files[i]);
        snprintf(own, sizeof own, "lib/tern/%s", files[i]);
        for (int missing = 0; missing < 2; missing++) {
            int result;
            assert_int_equal(unlink(own), 0);
            if (!missing) {
                assert_int_equal(mkfifo(own, 0700), 0);
            }
            char *log = compile(0, &result);
            if (result != -ENOENT || !log || !strstr(log, files[i])) {
                fail_msg("%s, missing %d: %d %s", files[i], missing, result, log ? log : "");
            }
            free(log);
            assert_int_equal(missing ? 0 : unlink(own), 0);
            assert_int_equal(symlink(real, own), 0);
        }
    }
    int result;
    free(compile(0, &result));
    assert_int_equal(result, 0);
}

/** Compiles in a process with a limit, which has the status 0 if the build failed with this text in the log. */
static int limited(int what, rlim_t limit, const char *text, const char *expected)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct tc_blob module = {0};
        char *log = NULL;
        setrlimit((__rlimit_resource_t)what, &(struct rlimit){limit, RLIM_INFINITY});
        const int result = tc_compile(text, strlen(text), "", NULL, 0, &module, &log);
        const int good = result == -EIO && log && strstr(log, expected);
        if (!good) {
            fprintf(stderr, "%d: %.300s\n", result, log ? log : "");
        }
        _exit(!good);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/** A short text that expands to a long one fails at a limit, and the log names the limit. */
static void test_short_text(void **state)
{
    (void)state;
    char text[4096] = "#define A0 1,\n";
    for (int i = 1; i <= 40; i++) {
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "#define A%d A%d A%d\n", i, i - 1, i - 1);
    }
    static const char nulls[] = "#include \"" X "\"\n"; /* a message for each */
    make_sized(1 << 20);
    strcat(text, "constant int x[] = {A40 1};\nkernel void k(global int *a) { a[0] = x[0]; }\n");
    assert_int_equal(limited(RLIMIT_CPU, 1, text, "the limit of processor time (ulimit -t) is too small"), 0);
    assert_int_equal(limited(RLIMIT_FSIZE, 65536, nulls, "the limit of file sizes (ulimit -f) is too small"), 0);
#ifndef SANITIZED /* sanitizers need terabytes of address space */
    assert_int_equal(limited(RLIMIT_AS, 512ul << 20, text, "needs more memory than it may have"), 0);
#endif
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_kinds), TEST(test_pipe_is_not_opened), TEST(test_size_says_nothing),
                                       TEST(test_null), TEST(test_guard), TEST(test_library), TEST(test_short_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
