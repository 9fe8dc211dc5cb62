/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program that runs with another user's rights (setuid; AT_SECURE also covers file capabilities) takes no file and no
 * folder from its environment, which the caller controls. The test starts a copy of itself, with another owner and the
 * setuid bit, under a hostile environment.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/build_tree.h"
#include "check.h"
#include "hal/config.h"
#include "os/state/policy.h"
#include "tern/tern_stats.h"

#define OTHER 65534 /* user id of `nobody` */

static char folder[] = "/tmp/tern-secure-XXXXXX";

/** Copies this program to a setuid file of the other user. Returns false on failure. */
static bool copy_self(const char *to)
{
    char block[65536];
    const int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0700);
    ssize_t n = -1;
    while (in >= 0 && out >= 0 && (n = read(in, block, sizeof block)) > 0 && write(out, block, (size_t)n) == n) {
    }
    const bool good = n == 0 && fchown(out, OTHER, OTHER) == 0 && fchmod(out, 04755) == 0;
    close(in);
    close(out);
    return good;
}

/** Runs a program with every environment variable set that names a file. Returns its exit status. */
static int run(const char *program)
{
    char trace[64], runtime[64], checkpoint[64];
    int status;
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", folder);
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    snprintf(runtime, sizeof runtime, "%s/run", folder);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(250);
        setenv("TERN_LIB_DIR", folder, 1); /* a folder without any library */
        setenv("TERN_TRACE", trace, 1);
        setenv("TERN_CHECKPOINT", checkpoint, 1);
        setenv("TERN_CHECKPOINT_CYCLE", "nonsense", 1);
        setenv("TERN_CRASH_DIR", folder, 1);
        setenv("TERN_CONFIG", "small,trace=/nonsense", 1);
        setenv("TERN_BACKEND", "nonsense", 1);
        setenv("TERN_TIMEOUT_CYCLES", "nonsense", 1);
        setenv("XDG_RUNTIME_DIR", runtime, 1);
        execl(program, "secure", "child", (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

enum { USED_NOTHING = 0, USED_SOMETHING = 1, NOT_SECURE = 2, OUT_OF_REACH = 77 };

/** The child: returns how the environment has affected the driver. */
static int child(void)
{
    struct tern_config *c = NULL;
    struct tern_policy policy;
    struct tern_device *dev;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/libtern_sim_model_small.so", tern_build_tree());
    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS)) {
        return OUT_OF_REACH; /* the other user cannot read the build tree */
    }
    const bool wrong = tern_policy_parse(NULL, NULL, &policy, &c) || c->trace[0];
    free(c);
    if (wrong) {
        fprintf(stderr, "%s\n", tern_last_error());
        return getauxval(AT_SECURE) ? USED_SOMETHING : NOT_SECURE;
    }
    tern_stats_folder(path, sizeof path);
    if (strstr(path, "secure")) {
        return USED_SOMETHING;
    }
    if (tern_device_open("model", "small", &dev)) {
        fprintf(stderr, "%s\n", tern_last_error());
        return USED_SOMETHING;
    }
    tern_device_close(dev);
    return getauxval(AT_SECURE) ? USED_NOTHING : NOT_SECURE;
}

static void test_setuid(void **state)
{
    char program[64], trace[64];
    (void)state;
    if (geteuid() != 0) {
        print_message("only root can make a program of another user\n");
        skip();
    }
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0777), 0);
    snprintf(program, sizeof program, "%s/program", folder);
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    const bool made = copy_self(program);
    assert_int_equal(run("/proc/self/exe"), NOT_SECURE); /* control: without setuid the environment is used */
    const int status = made ? run(program) : NOT_SECURE;
    const bool traced = access(trace, F_OK) == 0;
    unlink(trace);
    unlink(program);
    rmdir(folder);
    if (status == NOT_SECURE || status == OUT_OF_REACH) {
        print_message("no setuid program can be run here\n");
        skip();
    }
    assert_int_equal(status, USED_NOTHING);
    assert_false(traced);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_setuid)};
    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        return child();
    }
    return cmocka_run_group_tests_name("secure", tests, NULL, NULL);
}
