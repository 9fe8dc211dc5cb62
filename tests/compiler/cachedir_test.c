/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Unusual states of the cache's folder, and limits of the process. Compiling goes on, nothing ends the application, and
 * each problem is reported once.
 */
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[3000], cache[3100];

static const char program[] = "kernel void k(global int *a) { a[0] = 1; }";

/* Bytes that the disk still takes; -1: no limit. Files in memory have no limit. */
static long room = -1;
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __real_close(int fd);
int __wrap_close(int fd);
static int close_fails;

static int in_cache(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    return n > 0 && (size_t)n > strlen(cache) && !memcmp(path, cache, strlen(cache));
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    if (room >= 0 && in_cache(fd)) {
        if (room == 0) {
            errno = ENOSPC;
            return -1;
        }
        size = size < (size_t)room ? size : (size_t)room;
        room -= (long)size;
    }
    return __real_write(fd, data, size);
}

int __wrap_close(int fd)
{
    const int fails = close_fails && in_cache(fd) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY;
    const int result = __real_close(fd);
    errno = fails ? EDQUOT : errno;
    return fails ? -1 : result;
}

static int setup(void **state)
{
    (void)state;
    const char *base = getenv("TERN_TEST_DIR");
    snprintf(directory, sizeof directory, "%s/folder.XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(directory));
    snprintf(cache, sizeof cache, "%s/a folder 'of \"mine\"/x", directory);
    setenv("TERN_CACHE", "1", 1);
    setenv("TERN_CACHE_DIR", cache, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[3100];
    room = -1;
    close_fails = 0;
    unsetenv("TERN_CACHE_BYTES");
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

/** Runs f in a child process and copies its standard error to text. Returns its wait status. */
static int apart(void (*f)(void), char *text, size_t size)
{
    FILE *said = tmpfile();
    assert_non_null(said);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(fileno(said), STDERR_FILENO);
        f();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    rewind(said);
    text[fread(text, 1, size - 1, said)] = '\0';
    fclose(said);
    return status;
}

/** Compiles twice, so that the test sees whether a message comes only once. Ends the process with 1 on a failure. */
static void compile_twice(void)
{
    for (int i = 0; i < 2; i++) {
        struct tc_blob module = {0};
        char options[16];
        snprintf(options, sizeof options, "-DN=%d", i);
        if (tc_compile(program, strlen(program), options, NULL, 0, &module, NULL)) {
            _exit(1);
        }
        free(module.data);
    }
}

static int occurrences(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)) != NULL; text++) {
        n++;
    }
    return n;
}

static void test_odd_path(void **state)
{
    (void)state;
    char said[4096];
    assert_int_equal(apart(compile_twice, said, sizeof said), 0);
    assert_string_equal(said, "");
    assert_int_equal(entries(cache), 2);
}

/** A link to a folder of the user is as good as the folder. A folder that others may write to, or that belongs to
 *  another user, is not used. */
static void test_trust(void **state)
{
    (void)state;
    static const unsigned modes[] = {0777, 0770, 0702, 01777};
    char said[8192];
    assert_int_equal(apart(compile_twice, said, sizeof said), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(cache, modes[i]), 0);
        assert_int_equal(apart(compile_twice, said, sizeof said), 0);
        assert_int_equal(entries(cache), 2);
        assert_int_equal(occurrences(said, "others may write to it"), 1);
        assert_non_null(strstr(said, cache));
    }
    assert_int_equal(chmod(cache, 0755), 0);
    assert_int_equal(apart(compile_twice, said, sizeof said), 0);
    assert_string_equal(said, "");
    char link[3200];
    snprintf(link, sizeof link, "%s/link", directory);
    assert_int_equal(symlink(cache, link), 0);
    setenv("TERN_CACHE_DIR", link, 1);
    assert_int_equal(apart(compile_twice, said, sizeof said), 0);
    assert_string_equal(said, "");
    if (geteuid() == 0) {
        assert_int_equal(chown(cache, 12345, (gid_t)-1), 0);
        assert_int_equal(apart(compile_twice, said, sizeof said), 0);
        assert_int_equal(occurrences(said, "belongs to user 12345"), 1);
    }
}

/** No folder can be created: a file is in the way, nothing can be written, or no path is set. */
static void test_no_folder(void **state)
{
    (void)state;
    char said[4096], file[3200];
    snprintf(file, sizeof file, "%s/file", directory);
    const int fd = open(file, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0 && !close(fd));
    const char *const places[] = {file, "/proc/tern/cache", "/dev/null/x", "/"};
    for (size_t i = 0; i < sizeof places / sizeof *places - (geteuid() == 0); i++) {
        setenv("TERN_CACHE_DIR", places[i], 1);
        assert_int_equal(apart(compile_twice, said, sizeof said), 0);
    }
    unsetenv("TERN_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    unsetenv("HOME");
    assert_int_equal(apart(compile_twice, said, sizeof said), 0);
    assert_string_equal(said, "");
    setenv("HOME", directory, 1);
    assert_int_equal(apart(compile_twice, said, sizeof said), 0);
    snprintf(cache, sizeof cache, "%s/.cache/tern", directory);
    assert_int_equal(entries(cache), 2);
    if (home) {
        setenv("HOME", home, 1);
        free(home);
    }
}

/** A disk that is full after some bytes, or reports the error only at close: no partial entry stays. */
static void test_full(void **state)
{
    (void)state;
    char said[4096];
    for (room = 0; room < 4096; room = room * 4 + 1) {
        assert_int_equal(apart(compile_twice, said, sizeof said), 0);
        assert_true(room > 1000 || entries(cache) == 0);
        assert_string_equal(said, "");
    }
    room = -1;
    char command[4096];
    snprintf(command, sizeof command, "rm -rf '%s'/*", directory);
    assert_int_equal(system(command), 0);
    close_fails = 1;
    assert_int_equal(apart(compile_twice, said, sizeof said), 0);
    assert_int_equal(entries(cache), 0);
}

static rlim_t file_limit;
static int expected;

/** Runs in a child: the application's signal settings do not change, and no signal comes. */
static void compile_limited(void)
{
    struct sigaction action;
    sigset_t before, after, pending;
    struct tc_blob module = {0};
    char *log = NULL;
    const struct rlimit limit = {file_limit, file_limit};
    if (setrlimit(RLIMIT_FSIZE, &limit)) {
        _exit(2);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    const int result = tc_compile(program, strlen(program), "", NULL, 0, &module, &log);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    sigpending(&pending);
    sigaction(SIGXFSZ, NULL, &action);
    if (action.sa_handler != SIG_DFL || sigismember(&before, SIGXFSZ) != sigismember(&after, SIGXFSZ) ||
        sigismember(&pending, SIGXFSZ)) {
        _exit(3);
    }
    if (result != expected || (result && (!log || !strstr(log, "ulimit -f")))) {
        _exit(4);
    }
    free(module.data);
    free(log);
}

static void test_file_limit(void **state)
{
    (void)state;
    char said[8192];
    setenv("TERN_CACHE", "0", 1);
    struct tc_blob module = module_of(program, "");
    const rlim_t size = (rlim_t)module.size;
    free(module.data);
    const struct {
        rlim_t limit;
        int result, entries;
        const char *cache;
    } cases[] = {
        {10, -EFBIG, 0, "1"},        /* The source does not fit into a file. */
        {1000, -EIO, 0, "1"},        /* The front end's output does not fit. */
        {size - 8, 0, 0, "1"},       /* The module fits, but not its entry, which is larger. */
        {1 << 20, 0, 1, "1"},
        {10, 0, 1, "1"},             /* A cache hit writes no file. */
        {10, -EFBIG, 1, "0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("TERN_CACHE", cases[i].cache, 1);
        file_limit = cases[i].limit;
        expected = cases[i].result;
        const int status = apart(compile_limited, said, sizeof said);
        if (status || entries(cache) != cases[i].entries) {
            fail_msg("limit %llu: status %x, %d entries; %s", (unsigned long long)cases[i].limit, (unsigned)status,
                     entries(cache), said);
        }
    }
}

static void test_bytes(void **state)
{
    (void)state;
    static const char *const bad[] = {"abc", "-1", "12x", "1KK", " 5", "99999999999999999999", "20000000000G", "+7"};
    static const char *const good[] = {"1000000", "1M", "2G", ""};
    char said[4096], want[128];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("TERN_CACHE_BYTES", bad[i], 1);
        assert_int_equal(apart(compile_twice, said, sizeof said), 0);
        snprintf(want, sizeof want, "TERN_CACHE_BYTES=%s is not", bad[i]);
        assert_int_equal(occurrences(said, want), 1);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char command[4096];
        snprintf(command, sizeof command, "rm -rf '%s'/*", directory);
        assert_int_equal(system(command), 0);
        setenv("TERN_CACHE_BYTES", good[i], 1);
        assert_int_equal(apart(compile_twice, said, sizeof said), 0);
        assert_string_equal(said, "");
        assert_int_equal(entries(cache), 2);
    }
}

/** Compiles as a program that runs with another user's rights. The folders of the environment must not be used: exits
 * with 0 if they were not. */
static int privileged(void)
{
    struct tc_blob module = {0};
    char *log = NULL;
    if (!getauxval(AT_SECURE)) {
        return 77;
    }
    /* Compilation may fail, since that user may be unable to read the build's folder. */
    tc_compile(program, strlen(program), "", NULL, 0, &module, &log);
    const int named = log && strstr(log, "/planted");
    free(module.data);
    free(log);
    return named;
}

static void test_privileged(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("only root can make a program of another user's\n");
        skip();
    }
    char copy[3200], command[4000];
    snprintf(copy, sizeof copy, "%s/program", directory);
    snprintf(command, sizeof command, "cp /proc/%d/exe '%s'", (int)getpid(), copy);
    assert_int_equal(system(command), 0);
    assert_true(!chown(copy, 12345, (gid_t)-1) && !chmod(copy, 04755) && !chmod(directory, 0755));
    snprintf(cache, sizeof cache, "%s/theirs", directory);
    assert_true(!mkdir(cache, 0700) && !chown(cache, 12345, (gid_t)-1));
    setenv("TERN_CACHE_DIR", cache, 1);
    setenv("TERN_LIB_DIR", "/planted", 1);
    setenv("TERN_LLVM_DIR", "/planted", 1);
    snprintf(command, sizeof command, "'%s' --privileged", copy);
    const int status = system(command);
    unsetenv("TERN_LIB_DIR");
    unsetenv("TERN_LLVM_DIR");
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("this file system gives no program another user's rights\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(entries(cache), 0);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_odd_path),   TEST(test_trust), TEST(test_no_folder),  TEST(test_full),
        TEST(test_file_limit), TEST(test_bytes), TEST(test_privileged),
    };
    if (argc == 2 && !strcmp(argv[1], "--privileged")) {
        _exit(privileged()); /* The leak check cannot trace a process with another user's rights. */
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
