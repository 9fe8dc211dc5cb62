/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random commands on several queues, in order and out of order, compared with the same commands run one after the other
 * on the host. Each command waits for the events of the last commands on its buffers and for no others, so independent
 * commands may overlap. Half of the buffers are made of shared virtual memory, and their commands alternate between
 * pointers and buffers.
 *
 * The seed is printed. TERN_TEST_SEED sets it, TERN_TEST_STEPS the number of commands.
 */
#include "clt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BUFFERS = 4, BYTES = 3000, QUEUES = 3 };

struct model {
    cl_mem mem;
    unsigned char *svm; /**< The buffer's shared memory, or NULL for a plain buffer. */
    unsigned char bytes[BYTES];
    cl_event last; /**< Event of the last command on the buffer, or NULL. */
};

static struct model buffers[BUFFERS];
static cl_command_queue queues[QUEUES];
static cl_kernel adder;
static uint32_t seed;

static size_t below(size_t n)
{
    return clt_random(&seed) % n;
}

/** Returns whether the next command shall use the buffer's pointer. */
static bool by_pointer(const struct model *m)
{
    return m->svm != NULL && below(2) == 0;
}

/** Collects the events that a command on one or two buffers waits for, and returns their number. */
static cl_uint waits_of(const struct model *a, const struct model *b, cl_event waits[2])
{
    cl_uint n = 0;
    if (a->last != NULL) {
        waits[n++] = a->last;
    }
    if (b != NULL && b != a && b->last != NULL) {
        waits[n++] = b->last;
    }
    return n;
}

static void touched(struct model *m, cl_event e)
{
    if (m->last != NULL) {
        OK(clReleaseEvent(m->last));
    }
    OK(clRetainEvent(e));
    m->last = e;
}

static void step_write(cl_command_queue q, struct model *m)
{
    static unsigned char data[BYTES];
    cl_event waits[2], e;
    const cl_uint n = waits_of(m, NULL, waits);
    const size_t at = below(BYTES), size = below(BYTES - at) + 1;
    for (size_t i = 0; i < size; i++) {
        m->bytes[at + i] = data[i] = (unsigned char)clt_random(&seed);
    }
    if (by_pointer(m)) {
        OK(clEnqueueSVMMemcpy(q, CL_TRUE, m->svm + at, data, size, n, n > 0 ? waits : NULL, &e));
    } else {
        OK(clEnqueueWriteBuffer(q, m->mem, CL_TRUE, at, size, data, n, n > 0 ? waits : NULL, &e));
    }
    touched(m, e);
    OK(clReleaseEvent(e));
}

static void step_read(cl_command_queue q, struct model *m)
{
    static unsigned char data[BYTES];
    cl_event waits[2];
    const cl_uint n = waits_of(m, NULL, waits);
    const size_t at = below(BYTES), size = below(BYTES - at) + 1;
    if (by_pointer(m)) {
        OK(clEnqueueSVMMemcpy(q, CL_TRUE, data, m->svm + at, size, n, n > 0 ? waits : NULL, NULL));
    } else {
        OK(clEnqueueReadBuffer(q, m->mem, CL_TRUE, at, size, data, n, n > 0 ? waits : NULL, NULL));
    }
    assert_memory_equal(data, m->bytes + at, size);
}

static void step_fill(cl_command_queue q, struct model *m)
{
    unsigned char pattern[128];
    cl_event waits[2], e;
    const cl_uint n = waits_of(m, NULL, waits);
    const size_t length = (size_t)1 << below(8), slots = BYTES / length, at = below(slots),
        count = below(slots - at) + 1;
    for (size_t i = 0; i < length; i++) {
        pattern[i] = (unsigned char)clt_random(&seed);
    }
    for (size_t i = 0; i < count * length; i++) {
        m->bytes[at * length + i] = pattern[i % length];
    }
    if (by_pointer(m)) {
        OK(clEnqueueSVMMemFill(q, m->svm + at * length, pattern, length, count * length, n, n > 0 ? waits : NULL, &e));
    } else {
        OK(clEnqueueFillBuffer(q, m->mem, pattern, length, at * length, count * length, n, n > 0 ? waits : NULL, &e));
    }
    touched(m, e);
    OK(clReleaseEvent(e));
}

static void step_copy(cl_command_queue q, struct model *from, struct model *to)
{
    cl_event waits[2], e;
    const cl_uint n = waits_of(from, to, waits);
    const size_t src = below(BYTES), dst = below(BYTES), most = BYTES - (src > dst ? src : dst), size = below(most) + 1;
    const size_t apart = src > dst ? src - dst : dst - src;
    const cl_int error = to->svm != NULL && by_pointer(from)
        ? clEnqueueSVMMemcpy(q, CL_FALSE, to->svm + dst, from->svm + src, size, n, n > 0 ? waits : NULL, &e)
        : clEnqueueCopyBuffer(q, from->mem, to->mem, src, dst, size, n, n > 0 ? waits : NULL, &e);
    if (from == to && apart < size) {
        FAILS(error, CL_MEM_COPY_OVERLAP);
        return;
    }
    OK(error);
    memmove(to->bytes + dst, from->bytes + src, size);
    touched(from, e);
    touched(to, e);
    OK(clReleaseEvent(e));
}

static void step_rect(cl_command_queue q, struct model *from, struct model *to)
{
    cl_event waits[2], e;
    if (from == to) {
        return;
    }
    const cl_uint n = waits_of(from, to, waits);
    const size_t region[3] = {below(12) + 1, below(6) + 1, below(4) + 1};
    const size_t rows[2] = {region[0] + below(8), region[0] + below(8)};
    const size_t slices[2] = {rows[0] * (region[1] + below(3)), rows[1] * (region[1] + below(3))};
    const size_t a[3] = {below(9), below(5), below(3)}, b[3] = {below(9), below(5), below(3)};
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            memcpy(to->bytes + (b[2] + z) * slices[1] + (b[1] + y) * rows[1] + b[0],
                   from->bytes + (a[2] + z) * slices[0] + (a[1] + y) * rows[0] + a[0], region[0]);
        }
    }
    OK(clEnqueueCopyBufferRect(q, from->mem, to->mem, a, b, region, rows[0], slices[0], rows[1], slices[1], n,
                               n > 0 ? waits : NULL, &e));
    touched(from, e);
    touched(to, e);
    OK(clReleaseEvent(e));
}

static void step_map(cl_command_queue q, struct model *m)
{
    cl_event waits[2], e;
    const cl_uint n = waits_of(m, NULL, waits);
    const size_t at = below(BYTES), size = below(BYTES - at) + 1;
    const bool shared = by_pointer(m);
    unsigned char *p = m->svm ? m->svm + at : NULL;
    if (shared) {
        OK(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, p, size, n, n > 0 ? waits : NULL, NULL));
    } else {
        p = clEnqueueMapBuffer(q, m->mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, at, size, n, n > 0 ? waits : NULL, NULL,
                               &clt_error);
        MADE(p);
        assert_true(m->svm == NULL || p == m->svm + at);
    }
    assert_memory_equal(p, m->bytes + at, size);
    for (size_t i = 0; i < size; i += 7) {
        m->bytes[at + i] = p[i] = (unsigned char)clt_random(&seed);
    }
    OK(shared ? clEnqueueSVMUnmap(q, p, 0, NULL, &e) : clEnqueueUnmapMemObject(q, m->mem, p, 0, NULL, &e));
    touched(m, e);
    OK(clReleaseEvent(e));
}

static void step_kernel(cl_command_queue q, struct model *m)
{
    cl_event waits[2], e;
    const cl_uint n = waits_of(m, NULL, waits);
    const size_t at = below(BYTES), size = below(BYTES - at) + 1;
    const cl_uchar v = (cl_uchar)clt_random(&seed);
    clt_args(adder, 2, ARG(m->mem), ARG(v));
    if (by_pointer(m)) {
        OK(clSetKernelArgSVMPointer(adder, 0, m->svm));
    }
    OK(clEnqueueNDRangeKernel(q, adder, 1, &at, &size, NULL, n, n > 0 ? waits : NULL, &e));
    for (size_t i = 0; i < size; i++) {
        m->bytes[at + i] = (unsigned char)(m->bytes[at + i] + v + (at + i) % 5);
    }
    touched(m, e);
    OK(clReleaseEvent(e));
}

static void step(void)
{
    cl_command_queue q = queues[below(QUEUES)];
    struct model *a = &buffers[below(BUFFERS)], *b = &buffers[below(BUFFERS)];
    switch (below(8)) {
    case 0: step_write(q, a); break;
    case 1: step_read(q, a); break;
    case 2: step_fill(q, a); break;
    case 3: step_copy(q, a, b); break;
    case 4: step_rect(q, a, b); break;
    case 5: step_map(q, a); break;
    default: step_kernel(q, a); break;
    }
}

static void test_random(void **state)
{
    (void)state;
    const char *given = getenv("TERN_TEST_SEED"), *steps = getenv("TERN_TEST_STEPS");
    seed = given != NULL ? (uint32_t)strtoul(given, NULL, 0) : 20240607u;
    printf("TERN_TEST_SEED=%u\n", seed);
    adder = clt_kernel("kernel void f(global uchar *r, uchar v) { size_t i = get_global_id(0); r[i] += v + i % 5; }",
                       "f");
    for (int i = 0; i < QUEUES; i++) {
        queues[i] = clCreateCommandQueue(clt_context, clt_device, i == 0 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0,
                                         &clt_error);
        MADE(queues[i]);
    }
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i].svm = i % 2 == 0 ? NULL : clSVMAlloc(clt_context, 0, BYTES, 0);
        if (buffers[i].svm != NULL) {
            buffers[i].mem = clCreateBuffer(clt_context, CL_MEM_USE_HOST_PTR, BYTES, buffers[i].svm, &clt_error);
            MADE(buffers[i].mem);
        } else {
            buffers[i].mem = clt_buffer(BYTES, buffers[i].bytes);
        }
    }
    for (unsigned long n = steps != NULL ? strtoul(steps, NULL, 0) : 120; n > 0; n--) {
        step();
    }
    for (int i = 0; i < QUEUES; i++) {
        OK(clFinish(queues[i]));
    }
    for (int i = 0; i < BUFFERS; i++) {
        static unsigned char back[BYTES];
        clt_read(buffers[i].mem, back, BYTES);
        assert_memory_equal(back, buffers[i].bytes, BYTES);
        if (buffers[i].last != NULL) {
            OK(clReleaseEvent(buffers[i].last));
        }
        OK(clReleaseMemObject(buffers[i].mem));
        clSVMFree(clt_context, buffers[i].svm);
    }
    for (int i = 0; i < QUEUES; i++) {
        OK(clReleaseCommandQueue(queues[i]));
    }
    OK(clReleaseKernel(adder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
