/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Overlapping mappings, in random order, of a buffer and its sub-buffers, in memory of the device or of the
 * application. A second overlapping mapping for writing is refused with CL_INVALID_OPERATION. Any number may be for
 * reading, and these do not change what the application has written into another mapping.
 */
#include "clt.h"

#include <stdbool.h>
#include <string.h>

enum { SIZE = 4096, LIVE = 24, STEPS = 1500, BUFFERS = 4 };

#define WRITES (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)

struct mapping {
    cl_mem mem;
    unsigned char *at; /**< NULL if this entry is not mapped. */
    cl_map_flags flags;
    size_t start, size; /**< Bytes, relative to the parent. */
};

static struct mapping live[LIVE];
static unsigned char shadow[SIZE];      /**< The buffer's contents on the device. */
static unsigned char memory[SIZE];      /**< The application's memory, used with CL_MEM_USE_HOST_PTR. */
static cl_mem buffers[BUFFERS];         /**< The parent, then its sub-buffers, of which two overlap. */
static const cl_buffer_region regions[BUFFERS] = {{0, SIZE}, {0, 2048}, {1024, 1536}, {3072, 1000}};

static bool overlap(const struct mapping *m, size_t start, size_t size)
{
    return m->at != NULL && m->start < start + size && start < m->start + m->size;
}

/** Returns whether the byte is in a mapping for writing, where its contents are undefined. */
static bool undefined(size_t i)
{
    for (unsigned j = 0; j < LIVE; j++) {
        if (overlap(&live[j], i, 1) && (live[j].flags & WRITES) != 0) {
            return true;
        }
    }
    return false;
}

static void unmap(struct mapping *m, uint32_t *seed)
{
    if ((m->flags & WRITES) != 0) {
        for (size_t i = 0; i < m->size; i++) {
            if ((m->flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0 || clt_random(seed) % 2 == 0) {
                m->at[i] = (unsigned char)clt_random(seed);
            }
            shadow[m->start + i] = m->at[i];
        }
    }
    OK(clEnqueueUnmapMemObject(clt_queue, m->mem, m->at, 0, NULL, NULL));
    m->at = NULL;
}

static void map(struct mapping *m, uint32_t *seed)
{
    static const cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                         CL_MAP_WRITE_INVALIDATE_REGION};
    const unsigned which = clt_random(seed) % BUFFERS;
    const cl_map_flags f = flags[clt_random(seed) % LENGTH(flags)];
    const size_t at = clt_random(seed) % regions[which].size, most = regions[which].size - at;
    const size_t size = 1 + clt_random(seed) % (clt_random(seed) % 8 == 0 || most < 256 ? most : 256);
    const size_t start = regions[which].origin + at;
    cl_int want = CL_SUCCESS;
    for (unsigned j = 0; j < LIVE && (f & WRITES) != 0; j++) {
        if (overlap(&live[j], start, size) && (live[j].flags & WRITES) != 0) {
            want = CL_INVALID_OPERATION;
        }
    }
    unsigned char *p = clEnqueueMapBuffer(clt_queue, buffers[which], CL_TRUE, f, at, size, 0, NULL, NULL, &clt_error);
    FAILS(clt_error, want);
    assert_int_equal(p == NULL, want != CL_SUCCESS);
    if (p == NULL) {
        return;
    }
    for (size_t i = 0; i < size && (f & CL_MAP_WRITE_INVALIDATE_REGION) == 0; i++) {
        if (!undefined(start + i)) {
            assert_int_equal(p[i], shadow[start + i]);
        }
    }
    *m = (struct mapping){buffers[which], p, f, start, size};
    /* The application writes at once. A later mapping for reading must not undo the write. */
    for (size_t i = 0; i < size && (f & WRITES) != 0; i++) {
        p[i] = (unsigned char)(start + i);
        shadow[start + i] = p[i];
    }
}

static void test_random(cl_mem_flags flags, uint32_t seed)
{
    memset(live, 0, sizeof live);
    for (size_t i = 0; i < SIZE; i++) {
        memory[i] = shadow[i] = (unsigned char)clt_random(&seed);
    }
    buffers[0] = clCreateBuffer(clt_context, CL_MEM_READ_WRITE | flags, SIZE, memory, &clt_error);
    MADE(buffers[0]);
    for (unsigned i = 1; i < BUFFERS; i++) {
        buffers[i] = clCreateSubBuffer(buffers[0], 0, CL_BUFFER_CREATE_TYPE_REGION, &regions[i], &clt_error);
        MADE(buffers[i]);
    }
    for (unsigned step = 0; step < STEPS; step++) {
        struct mapping *m = &live[clt_random(&seed) % LIVE];
        if (m->at != NULL) {
            unmap(m, &seed);
        } else {
            map(m, &seed);
        }
    }
    for (unsigned i = 0; i < LIVE; i++) {
        if (live[i].at != NULL && i % 2 == 0) {
            unmap(&live[i], &seed);
        }
    }
    static unsigned char got[SIZE];
    OK(clEnqueueReadBuffer(clt_queue, buffers[0], CL_TRUE, 0, SIZE, got, 0, NULL, NULL));
    for (size_t i = 0; i < SIZE; i++) {
        if (!undefined(i)) {
            assert_int_equal(got[i], shadow[i]);
        }
    }
    for (unsigned i = BUFFERS; i-- > 0;) { /* Some mappings are left. */
        OK(clReleaseMemObject(buffers[i]));
    }
}

static void test_device_memory(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 3; seed++) {
        test_random(CL_MEM_COPY_HOST_PTR, seed);
    }
}

static void test_application_memory(void **state)
{
    (void)state;
    for (uint32_t seed = 4; seed <= 6; seed++) {
        test_random(CL_MEM_USE_HOST_PTR, seed);
    }
}

/** A mapping ends when its unmapping is enqueued. A refused or failed mapping leaves nothing behind. */
static void test_ends(void **state)
{
    (void)state;
    cl_mem m = clt_buffer(SIZE, memory);
    cl_event gate = clCreateUserEvent(clt_context, &clt_error), wrong = (cl_event)m;
    MADE(gate);
    REFUSED(clEnqueueMapBuffer(clt_queue, m, CL_TRUE, CL_MAP_WRITE, 0, SIZE, 1, &wrong, NULL, &clt_error),
            CL_INVALID_EVENT_WAIT_LIST);
    char *p = clEnqueueMapBuffer(clt_queue, m, CL_FALSE, CL_MAP_WRITE, 100, 100, 1, &gate, NULL, &clt_error);
    MADE(p);
    for (size_t at = 51; at < 200; at += 37) { /* The overlap is refused although the first mapping still waits. */
        REFUSED(clEnqueueMapBuffer(clt_queue, m, CL_FALSE, CL_MAP_WRITE, at, 50, 0, NULL, NULL, &clt_error),
                CL_INVALID_OPERATION);
    }
    /* The mapping still exists after the refused call. */
    FAILS(clEnqueueUnmapMemObject(clt_queue, m, p, 1, &wrong, NULL), CL_INVALID_EVENT_WAIT_LIST);
    REFUSED(clEnqueueMapBuffer(clt_queue, m, CL_FALSE, CL_MAP_WRITE, 199, 1, 0, NULL, NULL, &clt_error),
            CL_INVALID_OPERATION);
    char *before = clEnqueueMapBuffer(clt_queue, m, CL_FALSE, CL_MAP_WRITE, 0, 100, 0, NULL, NULL, &clt_error);
    MADE(before);
    char *behind = clEnqueueMapBuffer(clt_queue, m, CL_FALSE, CL_MAP_WRITE, 200, 100, 0, NULL, NULL, &clt_error);
    MADE(behind);
    OK(clEnqueueUnmapMemObject(clt_queue, m, p, 0, NULL, NULL));
    p = clEnqueueMapBuffer(clt_queue, m, CL_FALSE, CL_MAP_WRITE, 100, 100, 0, NULL, NULL, &clt_error);
    MADE(p);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clEnqueueUnmapMemObject(clt_queue, m, before, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(clt_queue, m, behind, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(clt_queue, m, p, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    OK(clReleaseEvent(gate));
    OK(clReleaseMemObject(m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_memory),
        cmocka_unit_test(test_application_memory),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
