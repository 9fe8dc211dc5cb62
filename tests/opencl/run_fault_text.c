/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The text of a fault report: what happened, which work-item, which kernel, the place in its source, and advice. The
 * whole text is compared, so that it is the same on every device. '#' stands for a digit of an address.
 */
#include "clt.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ITEM 37 /* The faulting work-item, of 48 in groups of 16. */

static char told[2048];
static int tellings;
static bool shares; /* Argument a points to byte 64 of 256 bytes of shared virtual memory, instead of to a buffer. */

static void CL_CALLBACK tell(const char *text, const void *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    (void)data;
    tellings++;
    snprintf(told, sizeof told, "%s", text);
}

static int matches(const char *text, const char *pattern)
{
    for (; *pattern != '\0' && (*pattern == *text || (*pattern == '#' && isxdigit((unsigned char)*text))); pattern++) {
        text++;
    }
    return *pattern == '\0' && *text == '\0';
}

/** Runs kernel `name` of the program in this context. The arguments are a buffer of 256 bytes, a null pointer, 64 bytes
 *  of local memory, and the number of the work-item that shall fault. The report must be `who` followed by `rest`. */
static void expect_after(cl_context c, cl_program p, const char *name, const char *who, const char *rest)
{
    char pattern[1024];
    const size_t global = 48, local = 16;
    const cl_uint bad = ITEM;
    const cl_mem nothing = NULL;
    cl_command_queue q = clCreateCommandQueue(c, clt_device, 0, &clt_error);
    MADE(q);
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    cl_mem m = clCreateBuffer(c, 0, 256, NULL, &clt_error);
    MADE(m);
    clt_args(k, 4, ARG(m), sizeof nothing, &nothing, LOCAL(64), ARG(bad));
    char *svm = shares ? clSVMAlloc(c, 0, 256, 0) : NULL;
    if (shares) {
        OK(clSetKernelArgSVMPointer(k, 0, svm + 64));
    }
    tellings = 0;
    cl_event e;
    cl_int status = 0;
    OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &local, 0, NULL, &e));
    FAILS(clFinish(q), CL_OUT_OF_RESOURCES);
    OK(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_true(status < 0);
    assert_int_equal(tellings, 1);
    snprintf(pattern, sizeof pattern, "process 'opencl_run_fault_text': kernel %s: %s%s", name, who, rest);
    if (!matches(told, pattern)) {
        fail_msg("told     %s\nexpected %s", told, pattern);
    }
    clSVMFree(c, svm);
    OK(clReleaseEvent(e));
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseCommandQueue(q));
}

static cl_context new_context(void)
{
    cl_context c = clCreateContext(NULL, 1, &clt_device, tell, NULL, &clt_error);
    MADE(c);
    return c;
}

static cl_program built(cl_context c, const char *source, const char *options)
{
    cl_program p = clCreateProgramWithSource(c, 1, &source, NULL, &clt_error);
    MADE(p);
    if (clBuildProgram(p, 0, NULL, options, NULL, NULL) != CL_SUCCESS) {
        char log[4096] = "";
        clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fail_msg("the program does not build:\n%s", log);
    }
    return p;
}

#define ARGUMENTS "(global int *a, global int *none, local int *t, uint bad)"
#define WHO "work-item (37, 0, 0) of group (2, 0, 0): "

/** Expects this report from a kernel f with the statement in its line 4, which faults in work-item `bad` alone. */
static void expect_who(const char *globals, const char *statement, const char *options, const char *who,
                       const char *rest)
{
    char source[2048];
    snprintf(source, sizeof source, "%s\nkernel void f" ARGUMENTS " {\n    uint i = get_global_id(0);\n    %s\n}\n",
             globals, statement);
    cl_context c = new_context();
    cl_program p = built(c, source, options);
    expect_after(c, p, "f", who, rest);
    OK(clReleaseProgram(p));
    OK(clReleaseContext(c));
}

static void expect(const char *globals, const char *statement, const char *rest)
{
    expect_who(globals, statement, "-g", WHO, rest);
}

static void test_wrong_addresses(void **state)
{
    (void)state;
    expect("", "if (i == bad) a[i << 10] = 1;",
           "store to 0x########, which is not mapped (pc 0x########), "
           "in f at program.cl:4:30. That is 151296 bytes beyond the end of argument 'a', a buffer of 256 bytes.");
    expect("", "if (i == bad) a[-3] = 1;",
           "store to 0x########, which is not mapped, 12 bytes below the allocation at 0x######## (pc 0x########), "
           "in f at program.cl:4:25. That is 12 bytes below argument 'a', a buffer of 256 bytes.");
    expect("", "if (i == bad) t[0] = none[i];",
           "load from 0x00000094, which is not mapped: 148 bytes behind a null pointer (pc 0x########), "
           "in f at program.cl:4:26. Of the arguments, 'none' is a null pointer.");
    expect("", "if (i == bad) *(global int *)0xbad0000 = 3;",
           "store to 0x0bad0000, which is not mapped (pc 0x########), in f at program.cl:4:44.");
    expect("", "if (i == bad) atomic_inc(a + 0x08000000);",
           "atomic access to 0x########, which is not mapped (pc 0x########), in f at program.cl:4:19.");
    expect("", "if (i == bad) *(global int *)((uint)a + 2) = 3;",
           "misaligned store to 0x######## (pc 0x########), in f at program.cl:4:48. Data must lie at a multiple "
           "of its size; vloadn and vstoren take vectors at a multiple of the element's.");
    expect("", "if (i == bad) atomic_inc((global int *)((uint)a + 1));",
           "misaligned atomic access to 0x######## (pc 0x########), in f at program.cl:4:19. Data must lie at a "
           "multiple of its size; vloadn and vstoren take vectors at a multiple of the element's.");
    expect("constant int c[2] = {1, 2};", "if (i == bad) *(global int *)(uint)&c[a[0]] = 4;",
           "store to 0x########, which may not be written, byte 0 of the allocation at 0x######## (pc 0x########), "
           "in f at program.cl:4:49. That is a __constant variable of the program.");
}

/** The argument points into an allocation. The report gives the distance from the end of the allocation. */
static void test_shared_memory(void **state)
{
    (void)state;
    shares = true;
    expect("", "if (i == bad) a[i << 10] = 1;",
           "store to 0x########, which is not mapped (pc 0x########), in f at program.cl:4:30. That is 151360 bytes "
           "beyond the end of argument 'a', shared virtual memory of 256 bytes.");
    expect("", "if (i == bad) a[-19] = 1;",
           "store to 0x########, which is not mapped, 12 bytes below the allocation at 0x######## (pc 0x########), "
           "in f at program.cl:4:26. That is 12 bytes below argument 'a', shared virtual memory of 256 bytes.");
    shares = false;
}

static void test_private_and_local_memory(void **state)
{
    (void)state;
    expect("", "int p[8]; for (int k = 0; k < 8; k++) p[k] = a[k]; if (i == bad) p[a[0] + 4000] = 3; a[i] "
           "= p[a[i] & 7];", "store to 0xf000####, beyond the 64 bytes of private memory of the work-item (pc "
           "0x########), in f at program.cl:4:85. The kernel needs 32 bytes; an index into a private array, or a "
           "pointer into one, is out of range.");
    expect("", "int p[8]; for (int k = 0; k < 8; k++) p[k] = a[k]; if (i == bad) p[a[0] - 4000] = 3; a[i] "
           "= p[a[i] & 7];", "store to 0xefff####, below the 64 bytes of private memory of the work-item (pc "
           "0x########), in f at program.cl:4:85. The kernel needs 32 bytes; an index into a private array, or a "
           "pointer into one, is out of range.");
    expect("", "if (i == bad) t[16] = a[0];",
           "store to 0xe0000040, byte 64 of local memory, of which the work-group has 64 bytes (pc 0x########), in f "
           "at program.cl:4:25. An index into local memory, or a pointer into it, is out of range; is a local argument "
           "large enough?");
    expect("", "if (i == bad) a[0] = t[(int)a[0] - 1];",
           "load from 0xdffffffc, which is not mapped, 4 bytes below local memory (pc 0x########), in f at "
           "program.cl:4:26. An index into local memory is out of range.");
}

static void test_wrong_code(void **state)
{
    (void)state;
    expect("", "if (i == bad) __asm__ volatile(\".word 0\");",
           "illegal instruction (pc 0x########), in f at program.cl:4:19.");
    expect("", "if (i == bad) __asm__ volatile(\"ecall\");",
           "ecall or ebreak (pc 0x########), in f at program.cl:4:19.");
    expect("", "if (i == bad) __asm__ volatile(\"jr %0\" :: \"r\"(0x4000));",
           "jump to 0x00004000, which is not mapped: 16384 bytes behind a null pointer (pc 0x00004000). The kernel has "
           "left its code.");
    expect("", "if (i == bad) __asm__ volatile(\"jr %0\" :: \"r\"(a));",
           "jump to 0x########, which may not be executed, byte 0 of the allocation at 0x######## (pc 0x########). "
           "The kernel has left its code.");
    expect("", "if (i == bad) __asm__ volatile(\"jr x0\");",
           "jump to 0x00000000, which is not mapped: a null pointer (pc 0x00000000). The kernel has left its code.");
}

static void test_barriers(void **state)
{
    (void)state;
    expect("", "if (i == bad) barrier(CLK_LOCAL_MEM_FENCE); a[i] = 1;",
           "barrier that not every work-item of the group can reach (pc 0x########), in f at program.cl:4:19. "
           "Every work-item of a work-group must reach the same barrier, and none may return before.");
    expect_who("", "if (i == bad) return; barrier(CLK_LOCAL_MEM_FENCE); a[i] = 1;", "-g",
               "work-item (32, 0, 0) of group (2, 0, 0): ", "barrier that not every work-item of the group can reach "
               "(pc 0x########), in f at program.cl:4:27. Every work-item of a work-group must reach the same barrier, "
               "and none may return before.");
}

/** Expects this report from a kernel that dereferences a null pointer of its own. b and c: the kernel's arguments b and
 * c are buffers, not NULL. */
static void expect_null(bool b, bool c, const char *rest)
{
    char pattern[512];
    const size_t one = 1;
    cl_context ctx = new_context();
    cl_command_queue q = clCreateCommandQueue(ctx, clt_device, 0, &clt_error);
    MADE(q);
    cl_program p = built(ctx, "kernel void f(global int *a, global int *b, constant int *c, local int *t)\n"
                              "{\n    global int *own = (global int *)(uint)a[0];\n    own[3] = 1;\n}\n", "-g");
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    cl_mem m = clCreateBuffer(ctx, 0, 256, NULL, &clt_error);
    MADE(m);
    clt_args(k, 4, ARG(m), sizeof m, b ? &m : NULL, sizeof m, c ? &m : NULL, LOCAL(4));
    tellings = 0;
    OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    FAILS(clFinish(q), CL_OUT_OF_RESOURCES);
    assert_int_equal(tellings, 1);
    snprintf(pattern, sizeof pattern, "process 'opencl_run_fault_text': kernel f: work-item (0, 0, 0) of group (0, 0, "
                                      "0): store to 0x0000000c, which is not mapped: 12 bytes behind a null pointer "
                                      "(pc 0x########), in f at program.cl:4:12. %s", rest);
    if (!matches(told, pattern)) {
        fail_msg("told     %s\nexpected %s", told, pattern);
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    OK(clReleaseCommandQueue(q));
    OK(clReleaseContext(ctx));
}

/** The report says that the pointer is null, and names neither an argument nor the buffer at the lowest address. */
static void test_null_pointers(void **state)
{
    (void)state;
    expect_null(true, true, "None of the arguments is a null pointer: the kernel made or read it.");
    expect_null(true, false, "Of the arguments, 'c' is a null pointer.");
    expect_null(false, false, "Of the arguments, 'b' and 'c' are null pointers.");
}

/** Places in inlined functions, after #line, and without -g. */
static void test_places(void **state)
{
    (void)state;
    expect("void deep(global int *p) { *p = 5; }\nvoid less(global int *p) {\n    deep(p + 0x10000000);\n}",
           "if (i == bad) less(none);", "store to 0x40000000, which is not mapped (pc 0x########), in deep at "
           "program.cl:1:31, called from less at program.cl:3:5, called from f at program.cl:7:19.");
    expect("#line 100 \"lib/my kernels.cl\"", "if (i == bad) none[0] = 1;",
           "store to 0x00000000, which is not mapped: a null pointer (pc 0x########), in f at lib/my "
           "kernels.cl:102:27. Of the arguments, 'none' is a null pointer.");
    expect_who("", "if (i == bad) none[0] = 1;", "", WHO,
               "store to 0x00000000, which is not mapped: a null pointer (pc 0x########), in f+0x##. "
               "Of the arguments, 'none' is a null pointer. Build the program with -g to get the line.");
}

/** A program binary keeps its line numbers. */
static void test_binary(void **state)
{
    (void)state;
    cl_context c = new_context();
    cl_program p = built(c, "kernel void g" ARGUMENTS "\n{\n    if (get_global_id(0) == bad)\n        "
                         "none[1] = t[0];\n}\n", "-g");
    size_t size = 0;
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *binary = malloc(size);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    OK(clReleaseProgram(p));
    p = clCreateProgramWithBinary(c, 1, &clt_device, &size, (const unsigned char **)&binary, NULL, &clt_error);
    MADE(p);
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    expect_after(c, p, "g", WHO, "store to 0x00000004, which is not mapped: 4 bytes behind a null pointer (pc "
                                 "0x########), in g at program.cl:4:17. Of the arguments, 'none' is a null pointer.");
    free(binary);
    OK(clReleaseProgram(p));
    OK(clReleaseContext(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_addresses), cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_private_and_local_memory), cmocka_unit_test(test_wrong_code),
        cmocka_unit_test(test_null_pointers),   cmocka_unit_test(test_barriers),        cmocka_unit_test(test_places),
        cmocka_unit_test(test_binary),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
