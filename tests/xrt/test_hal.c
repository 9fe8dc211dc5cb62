/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The backend of cards on a fake card (fake_xrt.c). An error names what is wrong with the card, its xclbin, its memory
 * or its library, comes in limited time, and the program goes on. Any call may fail, read all ones, or never return.
 * Interrupts wake a waiting thread, and may be lost. After opening, the program has its own signal actions again. The
 * end of the test shows that nothing waits for ever.
 */
#include "check.h"
#include "tests/lib/submit.h"
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct work b;

/** Limits calls of XRT to a second, for cards on which a call never ends. */
static void impatient(void)
{
    setenv("TERN_XRT_TIMEOUT", "1", 1);
}

/** Resets the environment. Calls may take as long as a busy host makes them. */
static int clean(void **state)
{
    (void)state;
    unsetenv("FAKE_XRT");
    unsetenv("TERN_XRT_DEVICE");
    unsetenv("TERN_XRT_POLL");
    setenv("TERN_LIB_DIR", FAKE_LIB, 1);
    setenv("TERN_XCLBIN", "/proc/self/exe", 1); /* any file */
    setenv("TERN_XRT_TIMEOUT", "600", 1);
    return 0;
}

static void refused(const char *config, int code, const char *words)
{
    struct tern_device *dev = NULL;
    const int r = tern_device_open("xrt", config, &dev);
    if (r != code || !strstr(tern_last_error(), words)) {
        fail_msg("%d '%s' in place of %d '%s'", r, tern_last_error(), code, words);
    }
    assert_null(dev);
}

static struct tern_device *opened(void)
{
    struct tern_device *dev = NULL;
    ok(tern_device_open("xrt", "small,mem=64M", &dev));
    return dev;
}

/** A process writes memory, an engine fills it, the process reads it. Returns the first error. */
static int use(struct tern_device *dev)
{
    struct tern_process *p = NULL;
    struct tern_context *c = NULL;
    struct tern_allocation *a = NULL;
    struct tern_context_desc d = {.size = sizeof d, .name = "use", .engine = 0};
    uint8_t got[256] = {0}, data[256];
    uint64_t fence = 0;
    memset(data, 0x5a, sizeof data);
    int r = tern_process_create(dev, "use", &p);
    if (r == 0) {
        r = tern_context_create(p, &d, &c);
    }
    if (r == 0) {
        r = tern_allocation_create(p, 4096, TERN_MEM_READ | TERN_MEM_WRITE, 0, &a);
    }
    if (r == 0) {
        r = tern_allocation_write(a, 0, data, sizeof data);
    }
    for (uint8_t i = 1; i <= 20 && !r; i++) {
        b.size = 0;
        work_fill(&b, tern_allocation_address(a), 128, i);
        r = submit_packets(c, b.w, b.size, "use", &fence);
        if (r == 0) {
            r = tern_wait(c, fence, -1);
        }
        if (r == 0) {
            r = tern_allocation_read(a, 0, got, sizeof got);
        }
        memset(data, i, 128);
        if (!r) {
            assert_memory_equal(got, data, sizeof data);
        }
    }
    if (a) {
        tern_allocation_destroy(a);
    }
    if (c) {
        tern_context_destroy(c);
    }
    if (p && tern_process_destroy(p)) {
        tern_process_kill(p);
        tern_process_destroy(p);
    }
    return r;
}

static void test_works(void **state)
{
    (void)state;
    struct tern_device_info i = {.size = sizeof i};
    struct tern_device *dev = opened();
    tern_device_query(dev, &i);
    assert_string_equal(i.backend, "xrt");
    assert_int_equal(i.memory_bytes, 64u << 20);
    assert_int_equal(i.ports, 1);
    assert_int_equal(use(dev), 0);
    ok(tern_device_close(dev));
}

/** After an opening, even one that fails or never returns, standard output is the program's again and has its lines. */
static void test_output(void **state)
{
    (void)state;
    static const char *const all[] = {"prints", "absent", "slow"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct tern_device *dev = NULL;
        char text[64] = "";
        fflush(stdout);
        const int kept = dup(STDOUT_FILENO), out = memfd_create("stdout", MFD_CLOEXEC);
        dup2(out, STDOUT_FILENO);
        clean(NULL);
        setenv("FAKE_XRT", all[i], 1);
        if (i == 2) {
            impatient();
        }
        setenv("XCL_EMULATION_MODE", "hw_emu", 1);
        printf("before, ");
        const int r = tern_device_open("xrt", "small", &dev);
        printf("after");
        fflush(stdout);
        unsetenv("XCL_EMULATION_MODE");
        dup2(kept, STDOUT_FILENO);
        close(kept);
        const ssize_t n = pread(out, text, sizeof text - 1, 0);
        close(out);
        assert_int_equal(r, i == 0 ? 0 : i == 1 ? -ENODEV : -ETIMEDOUT);
        assert_string_equal(n > 0 ? text : "nothing", "before, after");
        if (dev) {
            ok(tern_device_close(dev));
        }
    }
}

static void test_settings(void **state)
{
    (void)state;
    refused("small,mem=32M", -EINVAL, "'mem': the device has 67108864 bytes");
    refused("small,dram_latency=10", -EINVAL, "leave out memory, dram_ and trace");
    refused("small,trace=x", -EINVAL, "leave out memory, dram_ and trace");
    setenv("TERN_XRT_TIMEOUT", "0", 1);
    refused("small", -EINVAL, "TERN_XRT_TIMEOUT, seconds: 0 is out of range, 1 to 3600");
    setenv("TERN_XRT_TIMEOUT", "soon", 1);
    refused("small", -EINVAL, "TERN_XRT_TIMEOUT, seconds: 'soon' is not a number");
    clean(NULL);
    setenv("TERN_XRT_POLL", "60001", 1);
    refused("small", -EINVAL, "TERN_XRT_POLL, milliseconds: 60001 is out of range, 1 to 60000");
    unsetenv("TERN_XRT_POLL");
    setenv("TERN_XRT_DEVICE", "7", 1);
    refused("small", -ENODEV, "there is no card");
    unsetenv("TERN_XRT_DEVICE");
    setenv("TERN_XCLBIN", "/nowhere", 1);
    refused("small", -ENOENT, "the xclbin cannot be read: /nowhere: No such file or directory");
    setenv("TERN_XCLBIN", "/", 1);
    refused("small", -EINVAL, "the xclbin cannot be read: /: is a directory");
    unsetenv("TERN_XCLBIN");
    refused("small", -EINVAL, "TERN_XCLBIN is not set");
    setenv("TERN_XCLBIN", "/proc/self/exe", 1);
    setenv("TERN_LIB_DIR", "/nowhere", 1);
    refused("small", -ENOENT, "tern/libtern_xrt.so is not in '/nowhere': build it");
    setenv("TERN_LIB_DIR", FAKE_OTHER_LIB, 1);
    refused("small", -EPROTO, "build it again together with this driver");
    setenv("TERN_LIB_DIR", FAKE_BROKEN_LIB, 1);
    refused("small", -ENOENT, "XRT cannot be loaded: ");
}

/** Errors of the card, its xclbin or its memory are named. */
static void test_cards(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int code;
        const char *words;
    } all[] = {
        {"absent", -ENODEV, "there is no card"},
        {"busy", -EBUSY, "cannot be had alone"},
        {"foreign", -EPROTO, "has no kernel"},
        {"ones", -EIO, "registers read all ones"},
        {"id", -EPROTO, "there is no Tern"},
        {"hash", -EPROTO, "was built from interface description"},
        {"bank", -EPROTO, "67108864 bytes of memory, but the xclbin connects it to a bank of 33554432"},
        {"elsewhere", -EBUSY, "at 0x4000001000, and the device's begins at 0x4000000000"},
        {"nothing", -ENOMEM, "XRT gives no buffer: the device needs all of it"},
        {"fail=2", -EIO, "the link to the card is down"},
        {"slow", -ETIMEDOUT, "XRT has not come back for 3000 ms"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        clean(NULL);
        setenv("FAKE_XRT", all[i].what, 1);
        if (all[i].code == -ETIMEDOUT) {
            impatient();
        }
        refused("small", all[i].code, all[i].words);
    }
    clean(NULL);
    test_works(NULL);
}

/** Interrupts wake a waiting thread: the card is polled only once a minute. */
static void test_interrupts_wake(void **state)
{
    (void)state;
    setenv("FAKE_XRT", "interrupts=1000000", 1);
    setenv("TERN_XRT_POLL", "60000", 1);
    test_works(NULL);
}

/** Interrupts that come for a while only, or never: the card is polled every few milliseconds. If a wait for the
 *  interrupt never returns, closing the card still does. */
static void test_interrupts_are_lost(void **state)
{
    (void)state;
    setenv("TERN_XRT_POLL", "5", 1);
    setenv("FAKE_XRT", "interrupts=20", 1);
    test_works(NULL);
    setenv("FAKE_XRT", "interrupts=0", 1);
    test_works(NULL);
    setenv("FAKE_XRT", "stuck", 1);
    impatient();
    test_works(NULL);
}

/** An error at any call: the device is lost with a sentence, and the next device works. */
static void test_later(void **state)
{
    (void)state;
    static const char *const what[] = {"ones", "fail", "hang", "abort"};
    char text[32];
    setenv("XCL_EMULATION_MODE", "hw_emu", 1); /* only the emulation has assertions */
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        unsigned lost = 0, good = 0;
        for (unsigned at = 4; !good; at = at * 3 + 1) {
            struct tern_device *dev = NULL;
            snprintf(text, sizeof text, "%s=%u", what[i], at);
            setenv("FAKE_XRT", text, 1);
            if (i >= 2) {
                impatient();
            }
            int r = tern_device_open("xrt", "small", &dev);
            if (r == 0) {
                r = use(dev);
            }
            if (dev) {
                tern_device_close(dev);
            }
            if (r && r != -EIO && r != -ETIMEDOUT) {
                fail_msg("%s: %d '%s'", text, r, tern_last_error());
            }
            *(r ? &lost : &good) += 1;
        }
        assert_true(lost >= 4); /* during opening, creation and work */
    }
    unsetenv("XCL_EMULATION_MODE");
    clean(NULL);
    test_works(NULL);
}

/** Starts this program again with an argument, and returns its status. A fork would not do: with -fsanitize=thread the
 *  child of a process with threads may not start threads. */
static int again(const char *what)
{
    char name[] = "test_xrt_hal", *argument = strdup(what), *args[] = {name, argument, NULL};
    pid_t child = -1;
    int status = -1;
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, args, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    free(argument);
    return status;
}

static void ignored(int number)
{
    (void)number;
}

/** Opens a card in emulation, whose XRT installs signal handlers, and aborts. `action` is the action of SIGABRT before.
 *  Returns an exit status; 2: the abort did not end the process. */
static int abort_with(void (*action)(int))
{
    struct tern_device *dev = NULL;
    struct sigaction segv = {.sa_handler = SIG_DFL}, fpe = {.sa_handler = SIG_DFL};
    signal(SIGABRT, action);
    signal(SIGSEGV, ignored);
    signal(SIGFPE, SIG_DFL);
    setenv("FAKE_XRT", "signals", 1);
    setenv("XCL_EMULATION_MODE", "hw_emu", 1);
    if (tern_device_open("xrt", "small", &dev)) {
        return 3;
    }
    sigaction(SIGSEGV, NULL, &segv);
    sigaction(SIGFPE, NULL, &fpe);
    if (segv.sa_handler != ignored || fpe.sa_handler != SIG_DFL) {
        return 4;
    }
    raise(SIGABRT);
    return tern_device_close(dev) ? 5 : 2;
}

/** After opening, signals have the program's actions again, except in XRT's own calls (test_later). */
static void test_signals(void **state)
{
    (void)state;
    int status = again("abort");
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    status = again("abort-handled");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    status = again("abort-ignored");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}

static struct tern_allocation *left; /* memory of a device that is open at the end of the process */
static pthread_t writer;

/** Writes until the card is closed. */
static void *write_on(void *unused)
{
    static const uint8_t data[4096];
    (void)unused;
    while (!tern_allocation_write(left, 0, data, sizeof data)) {
    }
    return NULL;
}

/** Waits for the writer. main registers this handler before the backend registers its own, so it runs after that. */
static void await_writer(void)
{
    if (writer) {
        pthread_join(writer, NULL);
    }
}

static int leave_open(void)
{
    struct tern_process *p = NULL;
    int r = tern_process_create(opened(), "left", &p);
    if (r == 0) {
        r = tern_allocation_create(p, 4096, TERN_MEM_READ | TERN_MEM_WRITE, 0, &left);
    }
    if (r == 0) {
        r = tern_allocation_make_resident(left);
    }
    return r ? r : pthread_create(&writer, NULL, write_on, NULL);
}

/** The end of the process closes the card. Threads that still use its memory get an error. */
static void test_ends_with_the_device_open(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(again("leave-open"), 0);
    }
}

/** Runs the part of the test that `again` names. */
static int part(const char *what)
{
    clean(NULL);
    return strcmp(what, "leave-open") == 0      ? leave_open()
           : strcmp(what, "abort") == 0         ? abort_with(SIG_DFL)
           : strcmp(what, "abort-handled") == 0 ? abort_with(ignored)
           : strcmp(what, "abort-ignored") == 0 ? abort_with(SIG_IGN) : 6;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_works, clean), cmocka_unit_test_setup(test_output, clean),
        cmocka_unit_test_setup(test_settings, clean),
        cmocka_unit_test_setup(test_cards, clean),
        cmocka_unit_test_setup(test_interrupts_wake, clean),
        cmocka_unit_test_setup(test_interrupts_are_lost, clean), cmocka_unit_test_setup(test_later, clean),
        cmocka_unit_test_setup(test_signals, clean),
        cmocka_unit_test_setup(test_ends_with_the_device_open, clean),
    };
    if (atexit(await_writer)) {
        return 1;
    }
    return argc == 2 ? part(argv[1]) : cmocka_run_group_tests_name("xrt", tests, NULL, NULL);
}
