/* SPDX-License-Identifier: Apache-2.0 */
/** cl_khr_priority_hints and cl_khr_throttle_hints: which values are accepted and refused, and how they change a
 * queue. */
#include "clt.h"

#include <CL/cl_ext.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "CL/cl_tern.h"
#include "published_stats.h"
#include "tern/tern.h"

#define PROFILED CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE
#define N 64u

static const char source[] = "kernel void spin(global uint *x, uint n) { uint v = x[get_global_id(0)];"
                             " for (uint i = 0; i < n; i++) { v = v * 1664525u + 1013904223u; } "
                             "x[get_global_id(0)] = v; }";

static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += n) {
        if ((at == text || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static void expect_version(const cl_name_version *v, size_t bytes, const char *name)
{
    for (size_t i = 0; i < bytes / sizeof *v; i++) {
        if (strcmp(v[i].name, name) == 0) {
            assert_int_equal(v[i].version, CL_MAKE_VERSION(1, 0, 0));
            return;
        }
    }
    fail_msg("%s is not in the list with versions", name);
}

static void test_extensions(void **state)
{
    (void)state;
    static const char *const names[] = {"cl_khr_priority_hints", "cl_khr_throttle_hints"};
    char device[2048], platform[2048];
    cl_name_version dv[64], pv[64];
    size_t dn, pn;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_EXTENSIONS, sizeof device, device, NULL));
    OK(clGetPlatformInfo(clt_platform, CL_PLATFORM_EXTENSIONS, sizeof platform, platform, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof dv, dv, &dn));
    OK(clGetPlatformInfo(clt_platform, CL_PLATFORM_EXTENSIONS_WITH_VERSION, sizeof pv, pv, &pn));
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_true(has_word(device, names[i]));
        assert_true(has_word(platform, names[i]));
        expect_version(dv, dn, names[i]);
        expect_version(pv, pn, names[i]);
    }
}

static cl_command_queue make(const cl_queue_properties *list)
{
    cl_command_queue q = clCreateCommandQueueWithProperties(clt_context, clt_device, list, &clt_error);
    MADE(q);
    return q;
}

static void test_values(void **state)
{
    (void)state;
    for (cl_queue_properties priority = 1; priority <= 4; priority *= 2) {
        for (cl_queue_properties throttle = 1; throttle <= 4; throttle *= 2) {
            const cl_queue_properties list[] = {CL_QUEUE_THROTTLE_KHR, throttle, CL_QUEUE_PRIORITY_KHR, priority, 0};
            cl_queue_properties back[8] = {0};
            size_t size = 0;
            cl_command_queue q = make(list);
            OK(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof back, back, &size));
            assert_int_equal(size, sizeof list);
            assert_memory_equal(back, list, sizeof list);
            OK(clReleaseCommandQueue(q));
        }
    }
}

/** Any value but the three hints gives CL_INVALID_VALUE. A hint on an on-device queue gives
 * CL_INVALID_QUEUE_PROPERTIES. */
static void test_refused(void **state)
{
    (void)state;
    static const cl_queue_properties wrong[] = {0, 3, 5, 6, 7, 8, 1u << 31, 1ull << 32, (1ull << 32) | 1, ~0ull};
    static const cl_queue_properties names[] = {CL_QUEUE_PRIORITY_KHR, CL_QUEUE_THROTTLE_KHR};
    for (size_t n = 0; n < LENGTH(names); n++) {
        for (size_t i = 0; i < LENGTH(wrong); i++) {
            const cl_queue_properties list[] = {PROFILED, names[n], wrong[i], 0};
            REFUSED(clCreateCommandQueueWithProperties(clt_context, clt_device, list, &clt_error), CL_INVALID_VALUE);
        }
        const cl_queue_properties device[] = {
            CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, names[n], 1, 0};
        REFUSED(clCreateCommandQueueWithProperties(clt_context, clt_device, device, &clt_error),
                CL_INVALID_QUEUE_PROPERTIES);
    }
}

static cl_ulong when(cl_event e, cl_profiling_info what)
{
    cl_ulong t = 0;
    OK(clGetEventProfilingInfo(e, what, sizeof t, &t, NULL));
    return t;
}

static cl_int status_of(cl_event e)
{
    cl_int s = 99;
    OK(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof s, &s, NULL));
    return s;
}

/* The kernel only reads until the gate opens. The reads are atomic operations, which bypass all caches. */
static const char waiting[] = "kernel void waits(volatile global uint *gate) { while (atomic_cmpxchg(gate, 1u, "
                              "1u) == 0) { } }";

#define COMMANDS 20u
#define PATIENCE 200000 /* Milliseconds. Only a failing test waits this long. */

struct throttled {
    cl_queue_properties throttle, order;
    unsigned most; /**< Commands of the queue that may be on the device at once. */
    cl_int next;   /**< Status of command number `most` while the first command cannot end. */
    cl_command_queue queue;
    cl_event e[COMMANDS];
};

static void fill(struct throttled *t, cl_kernel k)
{
    const size_t one = 1;
    t->queue = make((const cl_queue_properties[]){CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE | t->order,
                                                  CL_QUEUE_THROTTLE_KHR, t->throttle, 0});
    for (unsigned i = 0; i < COMMANDS; i++) {
        OK(clEnqueueNDRangeKernel(t->queue, k, 1, NULL, &one, NULL, 0, NULL, &t->e[i]));
    }
}

/** `most` commands are submitted before the first one ends. Each later command is submitted after the command `most`
 * places in front of it has ended. */
static void expect_most(const struct throttled *t)
{
    const cl_ulong first_end = when(t->e[0], CL_PROFILING_COMMAND_END);
    for (unsigned i = 1; i < COMMANDS; i++) {
        const cl_ulong submitted = when(t->e[i], CL_PROFILING_COMMAND_SUBMIT);
        assert_true(when(t->e[i], CL_PROFILING_COMMAND_START) >= when(t->e[i - 1], CL_PROFILING_COMMAND_END));
        if (i < t->most) {
            assert_true(submitted < first_end);
        } else {
            assert_true(submitted >= when(t->e[i - t->most], CL_PROFILING_COMMAND_END));
        }
    }
}

/** docs/runtime.md: a queue with a low throttle has one command at a time on the device, the others have 16. */
static void test_throttle(void **state)
{
    (void)state;
    static struct throttled all[] = {
        {.throttle = CL_QUEUE_THROTTLE_LOW_KHR, .most = 1},
        {.throttle = CL_QUEUE_THROTTLE_LOW_KHR, .order = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, .most = 1},
        {.throttle = CL_QUEUE_THROTTLE_MED_KHR, .most = 16},
        {.throttle = CL_QUEUE_THROTTLE_HIGH_KHR, .most = 16},
    };
    cl_uint closed = 0, open = 1;
    cl_kernel k = clt_kernel(waiting, "waits");
    cl_mem gate = clt_buffer(sizeof closed, &closed);
    clt_args(k, 1, ARG(gate));
    for (size_t n = 0; n < LENGTH(all); n++) {
        fill(&all[n], k);
    }
    for (size_t n = 0; n < LENGTH(all); n++) {
        for (int ms = 0; status_of(all[n].e[all[n].most - 1]) == CL_QUEUED && ms < PATIENCE; ms++) {
            usleep(1000); /* No command can end here: the command is submitted soon, or never. */
        }
    }
    for (size_t n = 0; n < LENGTH(all); n++) {
        all[n].next = status_of(all[n].e[all[n].most]);
    }
    OK(clEnqueueWriteBuffer(clt_queue, gate, CL_TRUE, 0, sizeof open, &open, 0, NULL, NULL));
    for (size_t n = 0; n < LENGTH(all); n++) {
        OK(clFinish(all[n].queue));
    }
    for (size_t n = 0; n < LENGTH(all); n++) {
        assert_int_equal(all[n].next, CL_QUEUED);
        expect_most(&all[n]);
        for (unsigned i = 0; i < COMMANDS; i++) {
            OK(clReleaseEvent(all[n].e[i]));
        }
        OK(clReleaseCommandQueue(all[n].queue));
    }
    OK(clReleaseMemObject(gate));
    OK(clReleaseKernel(k));
}

/** Waits until the driver publishes the context of clt_queue alone. The contexts of released queues disappear a little
 * later. */
static bool only_ours(void)
{
    return published.contexts == 1;
}

#define HINTS 4u

static bool all_hints(void)
{
    return published.contexts == 1 + HINTS;
}

/** docs/runtime.md: the three priorities give weights of 400, 100 and 12 in the band NORMAL. */
static void test_priority(void **state)
{
    (void)state;
    static const struct {
        cl_queue_properties priority;
        uint32_t weight;
    } hints[HINTS] = {{CL_QUEUE_PRIORITY_HIGH_KHR, 400}, {CL_QUEUE_PRIORITY_MED_KHR, 100},
                      {CL_QUEUE_PRIORITY_LOW_KHR, 12}, {0, 100}};
    cl_command_queue q[LENGTH(hints)];
    if (getenv("TERND_SOCKET")) {
        skip(); /* The statistics belong to ternd, not to this process. */
    }
    assert_true(published_until(only_ours));
    for (uint32_t i = 0; i < LENGTH(hints); i++) {
        q[i] = make((const cl_queue_properties[]){PROFILED, hints[i].priority ? CL_QUEUE_PRIORITY_KHR : 0,
                                                  hints[i].priority, 0});
    }
    assert_true(published_until(all_hints));
    for (uint32_t i = 0; i < LENGTH(hints); i++) { /* Contexts are published in order of creation. */
        assert_int_equal(published.context[1 + i].weight, hints[i].weight);
        assert_int_equal(published.context[1 + i].band, TERN_BAND_NORMAL);
        assert_string_equal(published.context[1 + i].name, "opencl queue");
        OK(clReleaseCommandQueue(q[i]));
    }
}

/** A queue's statistics count the work that it submitted to the device. */
static void test_statistics(void **state)
{
    (void)state;
    cl_tern_queue_statistics s;
    const size_t global = N;
    const cl_uint turns = 500;
    size_t size = 0;
    cl_ulong cycles = 0, tick = 0;
    cl_event e[3];
    cl_command_queue q = make((const cl_queue_properties[]){PROFILED, 0});
    cl_kernel k = clt_kernel(source, "spin");
    cl_mem m = clt_buffer(N * sizeof(cl_uint), NULL);
    OK(clGetCommandQueueInfo(q, CL_QUEUE_STATISTICS_TERN, sizeof s, &s, &size));
    assert_int_equal(size, sizeof s);
    assert_int_equal(s.submitted + s.completed + s.aborted + s.cycles, 0);
    FAILS(clGetCommandQueueInfo(q, CL_QUEUE_STATISTICS_TERN, sizeof s - 1, &s, NULL), CL_INVALID_VALUE);
    clt_args(k, 2, ARG(m), ARG(turns));
    for (size_t i = 0; i < LENGTH(e); i++) {
        OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, &e[i]));
    }
    OK(clFinish(q));
    OK(clGetCommandQueueInfo(q, CL_QUEUE_STATISTICS_TERN, sizeof s, &s, NULL));
    assert_int_equal(s.submitted, LENGTH(e));
    assert_int_equal(s.completed, LENGTH(e));
    assert_int_equal(s.aborted, 0);
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof size, &size, NULL));
    tick = size; /* The timer's resolution in ns, which is one cycle. */
    for (size_t i = 0; i < LENGTH(e); i++) {
        cycles += (when(e[i], CL_PROFILING_COMMAND_END) - when(e[i], CL_PROFILING_COMMAND_START)) / tick;
        OK(clReleaseEvent(e[i]));
    }
    assert_true(s.cycles > 0 && s.cycles <= cycles + LENGTH(e));
    for (size_t i = 0; i < LENGTH(s.engine_cycles); i++) {
        s.cycles -= s.engine_cycles[i];
    }
    assert_int_equal(s.cycles, 0); /* Each cycle is counted on one engine. */
    assert_true(s.waited >= s.longest_wait);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseCommandQueue(q));
}

int main(void)
{
    unsetenv("XDG_RUNTIME_DIR"); /* The driver can always make its folder below /tmp. */
    unsetenv("TERN_STATS");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_throttle),
        cmocka_unit_test(test_priority),
        cmocka_unit_test(test_statistics),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
