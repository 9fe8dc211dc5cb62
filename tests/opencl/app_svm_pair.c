/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two programs at the same time whose shared virtual memory has the same addresses: each finds its own data there (rule
 * A7 of docs/rules.md).
 * With ternd both use one device; otherwise each has its own.
 */
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clt.h"

#define PAIR 2u
#define SVM_WORDS 65536u
#define ROUNDS 12u

static const char *const source = "kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }";

struct program {
    pid_t pid;
    int told; /**< Pipe through which the child sends its pointer. */
};

/** Runs in a child, where a failed condition ends the process. */
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: not %s\n", __LINE__, #condition); \
            _exit(1); \
        } \
    } while (0)

static void add(cl_kernel k, cl_uint *p, cl_uint n)
{
    const size_t words = SVM_WORDS;
    MUST(clSetKernelArgSVMPointer(k, 0, p) == CL_SUCCESS);
    MUST(clSetKernelArg(k, 1, sizeof n, &n) == CL_SUCCESS);
    MUST(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &words, NULL, 0, NULL, NULL) == CL_SUCCESS);
}

static void run(cl_uint mine, int tell, int go)
{
    char byte;
    clt_open(NULL);
    cl_kernel k = clt_kernel(source, "add");
    cl_uint *p = clSVMAlloc(clt_context, 0, SVM_WORDS * sizeof *p, 0);
    MUST(p != NULL);
    add(k, p, mine);
    MUST(clFinish(clt_queue) == CL_SUCCESS);
    MUST(write(tell, &p, sizeof p) == sizeof p);
    MUST(read(go, &byte, 1) == 0);
    for (cl_uint round = 1; round <= ROUNDS; round++) {
        MUST(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, SVM_WORDS * sizeof *p, 0, NULL, NULL) == CL_SUCCESS);
        for (cl_uint i = 0; i < SVM_WORDS; i++) {
            MUST(p[i] == round * mine);
        }
        MUST(clEnqueueSVMUnmap(clt_queue, p, 0, NULL, NULL) == CL_SUCCESS);
        add(k, p, mine);
    }
    MUST(clFinish(clt_queue) == CL_SUCCESS);
    clSVMFree(clt_context, p);
    clReleaseKernel(k);
    clt_close(NULL);
}

/** Starts a child that continues when the pipe `go` is closed. */
static struct program start(cl_uint mine, const int *go)
{
    struct program p;
    int told[2];
    assert_int_equal(pipe(told), 0);
    p.pid = fork();
    assert_true(p.pid >= 0);
    if (p.pid == 0) {
        alarm(250);
        close(go[1]);
        run(mine, told[1], go[0]);
        exit(0);
    }
    close(told[1]);
    p.told = told[0];
    return p;
}

static void test_pair(void **state)
{
    (void)state;
    static const cl_uint adds[PAIR] = {1, 1000};
    struct program p[PAIR];
    void *at[PAIR];
    int go[2];
    assert_int_equal(pipe(go), 0);
    for (unsigned i = 0; i < PAIR; i++) {
        p[i] = start(adds[i], go);
        assert_int_equal(read(p[i].told, &at[i], sizeof at[i]), sizeof at[i]);
    }
    assert_ptr_equal(at[0], at[1]); /* With different addresses the test would show nothing. */
    close(go[0]);
    close(go[1]);
    for (unsigned i = 0; i < PAIR; i++) {
        int status;
        assert_int_equal(waitpid(p[i].pid, &status, 0), p[i].pid);
        assert_int_equal(status, 0);
        close(p[i].told);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pair)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
