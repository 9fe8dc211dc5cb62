/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls with corner values in every offset, size, origin, region and pitch. The test computes the expected answer in
 * 128 bits, so without overflow. Calls that are accepted and can run do run, and all bytes of the buffers are compared
 * with a model.
 */
#include "clt.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 4096, HOST = 8192, BOXES = 6000, COPIES = 3000 };

typedef unsigned __int128 wide;

static const size_t corners[] = {
    0, 1, 2, 3, 4, 7, 8, 16, 63, 64, 100, 127, 128, 129, SIZE / 2, SIZE - 1, SIZE, SIZE + 1, 0x7fffffff, 0x80000000,
    0xffffffff, 0x100000000, 0x100000001, 1ull << 60, 1ull << 61, 1ull << 62, (1ull << 63) - 1, 1ull << 63,
    0u - (size_t)SIZE, 0u - (size_t)8, SIZE_MAX,
};

static unsigned char model[2][SIZE]; /* The bytes that the buffers must hold. */
static unsigned char host[HOST], host_model[HOST];
static cl_mem buffers[2];
static unsigned accepted;

static bool fits(size_t offset, size_t size)
{
    return (wide)offset + size <= SIZE;
}

static void scramble(unsigned char *data, size_t n, uint32_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        data[i] = (unsigned char)clt_random(seed);
    }
}

static int open_all(void **state)
{
    uint32_t seed = 1;
    clt_open(state);
    for (int i = 0; i < 2; i++) {
        scramble(model[i], SIZE, &seed);
        buffers[i] = clt_buffer(SIZE, model[i]);
    }
    return 0;
}

static int close_all(void **state)
{
    OK(clReleaseMemObject(buffers[0]));
    OK(clReleaseMemObject(buffers[1]));
    return clt_close(state);
}

static void compare(const char *what, int i)
{
    unsigned char now[SIZE];
    clt_read(buffers[i], now, SIZE);
    for (size_t k = 0; k < SIZE; k++) {
        if (now[k] != model[i][k]) {
            fail_msg("%s: byte %zu is %02x and not %02x", what, k, now[k], model[i][k]);
        }
    }
}

/** Fails the test unless the call answered `want`. Returns whether the call succeeded. */
static bool answered(cl_int got, cl_int want, const char *call, size_t a, size_t b, size_t c)
{
    if (got != want) {
        fail_msg("%s(0x%zx, 0x%zx, 0x%zx): %d and not %d", call, a, b, c, got, want);
    }
    accepted += want == CL_SUCCESS;
    return want == CL_SUCCESS;
}

static void test_ranges(void **state)
{
    (void)state;
    uint32_t seed = 2;
    accepted = 0;
    for (size_t i = 0; i < LENGTH(corners); i++) {
        for (size_t k = 0; k < LENGTH(corners); k++) {
            const size_t at = corners[i], n = corners[k];
            const cl_int want = fits(at, n) ? CL_SUCCESS : CL_INVALID_VALUE;
            cl_event e;
            cl_int error = clEnqueueReadBuffer(clt_queue, buffers[0], CL_TRUE, at, n, host, 0, NULL, NULL);
            if (answered(error, want, "read", at, n, 0)) {
                assert_memory_equal(host, model[0] + at, n);
            }
            scramble(host, SIZE, &seed);
            error = clEnqueueWriteBuffer(clt_queue, buffers[0], CL_TRUE, at, n, host, 0, NULL, NULL);
            if (answered(error, want, "write", at, n, 0)) {
                memcpy(model[0] + at, host, n);
            }
            void *p = clEnqueueMapBuffer(clt_queue, buffers[0], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, at, n, 0, NULL,
                                         NULL, &error);
            if (answered(error, n == 0 ? CL_INVALID_VALUE : want, "map", at, n, 0)) {
                assert_memory_equal(p, model[0] + at, n);
                memset(p, (int)i, n);
                memset(model[0] + at, (int)i, n);
                OK(clEnqueueUnmapMemObject(clt_queue, buffers[0], p, 0, NULL, &e));
                OK(clReleaseEvent(e));
            }
            for (size_t unit = 1; unit <= 128; unit *= 2) {
                const bool even = at % unit == 0 && n % unit == 0;
                error = clEnqueueFillBuffer(clt_queue, buffers[0], host, unit, at, n, 0, NULL, NULL);
                if (answered(error, even ? want : CL_INVALID_VALUE, "fill", at, n, unit)) {
                    for (size_t b = 0; b < n; b++) {
                        model[0][at + b] = host[b % unit];
                    }
                    OK(clFinish(clt_queue)); /* `host` changes after this. */
                }
            }
        }
    }
    compare("ranges", 0);
    assert_true(accepted > 1000);
}

static void test_sub_buffers(void **state)
{
    (void)state;
    accepted = 0;
    for (size_t i = 0; i < LENGTH(corners); i++) {
        for (size_t k = 0; k < LENGTH(corners); k++) {
            const cl_buffer_region r = {corners[i], corners[k]};
            cl_mem m = clCreateSubBuffer(buffers[0], 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &clt_error);
            const cl_int range = fits(r.origin, r.size) ? CL_SUCCESS : CL_INVALID_VALUE;
            const cl_int want = r.size == 0                                     ? CL_INVALID_BUFFER_SIZE
                                : range == CL_SUCCESS && r.origin % 128 != 0 ? CL_MISALIGNED_SUB_BUFFER_OFFSET
                                                                                : range;
            if (answered(clt_error, want, "sub-buffer", r.origin, r.size, 0)) {
                /* Ranges of a sub-buffer are relative to its origin and end with it. */
                for (size_t o = 0; o < LENGTH(corners); o++) {
                    const size_t at = corners[o];
                    const bool inside = (wide)at + 4 <= r.size;
                    if (answered(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, at, 4, host, 0, NULL, NULL),
                                 inside ? CL_SUCCESS : CL_INVALID_VALUE, "read of a sub-buffer", r.origin,
                                 r.size, at)) {
                        assert_memory_equal(host, model[0] + r.origin + at, 4);
                    }
                }
                OK(clReleaseMemObject(m));
            }
        }
    }
    assert_true(accepted > 30);
}

static void test_copies(void **state)
{
    (void)state;
    accepted = 0;
    for (size_t i = 0; i < LENGTH(corners); i++) {
        for (size_t k = 0; k < LENGTH(corners); k++) {
            for (size_t n = 0; n < LENGTH(corners); n++) {
                const size_t from = corners[i], to = corners[k], size = corners[n];
                const bool same = (i + k + n) % 2 == 0, good = fits(from, size) && fits(to, size);
                const bool meet = same && good && size != 0 && from < to + size && to < from + size;
                const cl_int error = clEnqueueCopyBuffer(clt_queue, buffers[0], buffers[!same], from, to, size, 0,
                                                         NULL, NULL);
                if (answered(error, !good ? CL_INVALID_VALUE : meet ? CL_MEM_COPY_OVERLAP : CL_SUCCESS, "copy", from,
                             to, size)) {
                    memcpy(model[!same] + to, model[0] + from, size);
                }
            }
        }
    }
    compare("copies from", 0);
    compare("copies to", 1);
    assert_true(accepted > 1000);
}

/** A box, described as in the calls. */
struct box {
    size_t origin[3];
    size_t row, slice;
};

/** Returns a * b, saturated to a value above any size_t. */
static wide times(wide a, wide b)
{
    const wide most = (wide)1 << 100;
    return a != 0 && b > most / a ? most : a * b;
}

/** Returns the offset after the box's last byte, or 0 if the description is no valid box of this region. */
static wide end_of(const struct box *x, const size_t region[3])
{
    const wide row = x->row == 0 ? region[0] : x->row, rows = times(region[1], row), slice = x->slice == 0 ? rows
        : x->slice;
    if (region[0] == 0 || region[1] == 0 || region[2] == 0 || row < region[0] || slice < rows || slice % row != 0) {
        return 0;
    }
    return x->origin[0] + times(x->origin[1], row) + times(x->origin[2], slice) + times(region[1] - 1, row) +
           times(region[2] - 1, slice) + region[0];
}

/** Returns the offset of byte (x, y, z) of a box that fits. */
static size_t place(const struct box *b, const size_t region[3], size_t x, size_t y, size_t z)
{
    const size_t row = b->row == 0 ? region[0] : b->row, slice = b->slice == 0 ? region[1] * row : b->slice;
    return (b->origin[2] + z) * slice + (b->origin[1] + y) * row + b->origin[0] + x;
}

/** Draws a value that is mostly small, so that many boxes fit, and sometimes a corner. */
static size_t draw(uint32_t *seed, size_t least, size_t most)
{
    return clt_random(seed) % 16 == 0 ? corners[clt_random(seed) % LENGTH(corners)]
                                      : least + clt_random(seed) % (most - least + 1);
}

static void draw_box(struct box *b, const size_t region[3], uint32_t *seed)
{
    for (int i = 0; i < 3; i++) {
        b->origin[i] = draw(seed, 0, 6);
    }
    b->row = clt_random(seed) % 3 == 0 ? 0 : draw(seed, region[0] % 64, region[0] % 64 + 9);
    b->slice = clt_random(seed) % 3 == 0 ? 0 : clt_random(seed) % 8 == 0
        ? draw(seed, 0, 200) : b->row * draw(seed, region[1] % 64, region[1] % 64 + 3);
}

static _Noreturn void wrong_box(uint32_t seed, cl_int got, cl_int want, const struct box *a, const struct box *b,
                                const size_t r[3])
{
    fail_msg("seed 0x%" PRIx32 ": %d and not %d: region %zx %zx %zx, origins %zx %zx %zx and %zx %zx %zx, pitches %zx "
             "%zx and %zx %zx", seed, got, want, r[0], r[1], r[2], a->origin[0], a->origin[1], a->origin[2],
             b->origin[0], b->origin[1], b->origin[2], a->row, a->slice, b->row, b->slice);
    abort();
}

static void test_boxes(void **state)
{
    (void)state;
    uint32_t seed = 3;
    accepted = 0;
    scramble(host, HOST, &seed);
    memcpy(host_model, host, HOST);
    for (unsigned n = 0; n < BOXES; n++) {
        const uint32_t first = seed;
        const size_t region[3] = {draw(&seed, 0, 12) + 1, draw(&seed, 1, 5), draw(&seed, 1, 4)};
        const bool read = clt_random(&seed) % 2 == 0;
        struct box b, h;
        draw_box(&b, region, &seed);
        draw_box(&h, region, &seed);
        const wide end = end_of(&b, region), host_end = end_of(&h, region);
        if (host_end > HOST && host_end + (uintptr_t)host <= SIZE_MAX) {
            continue; /* The box exceeds the application's own memory, which the runtime cannot detect. */
        }
        const bool good = end != 0 && end <= SIZE && host_end != 0 && host_end <= HOST;
        const cl_int want = good ? CL_SUCCESS : CL_INVALID_VALUE;
        const cl_int got = read ? clEnqueueReadBufferRect(clt_queue, buffers[0], CL_TRUE, b.origin, h.origin, region,
                                                          b.row, b.slice, h.row, h.slice, host, 0, NULL, NULL)
                                : clEnqueueWriteBufferRect(clt_queue, buffers[0], CL_TRUE, b.origin, h.origin,
                                                           region, b.row, b.slice, h.row, h.slice, host, 0, NULL, NULL);
        if (got != want) {
            wrong_box(first, got, want, &b, &h, region);
        }
        accepted += good;
        for (size_t i = 0; good && i < region[0] * region[1] * region[2]; i++) {
            const size_t x = i % region[0], y = i / region[0] % region[1], z = i / region[0] / region[1];
            unsigned char *device = &model[0][place(&b, region, x, y, z)],
                *mine = &host_model[place(&h, region, x, y, z)];
            *(read ? mine : device) = read ? *device : *mine;
        }
        assert_memory_equal(host, host_model, HOST);
    }
    compare("boxes", 0);
    assert_true(accepted > BOXES / 8);
}

/** Returns whether two boxes that fit share a byte. */
static bool meet(const struct box *a, const struct box *b, const size_t region[3])
{
    static unsigned char seen[SIZE];
    bool yes = false;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < 2 * region[0] * region[1] * region[2]; i++) {
        const size_t k = i / 2, x = k % region[0], y = k / region[0] % region[1], z = k / region[0] / region[1];
        unsigned char *at = &seen[place(i % 2 == 0 ? a : b, region, x, y, z)];
        *at |= (unsigned char)(1 + i % 2);
        yes = yes || *at == 3;
    }
    return yes;
}

static void test_box_copies(void **state)
{
    (void)state;
    uint32_t seed = 4;
    accepted = 0;
    for (unsigned n = 0; n < COPIES; n++) {
        const uint32_t first = seed;
        const size_t region[3] = {draw(&seed, 0, 12) + 1, draw(&seed, 1, 5), draw(&seed, 1, 4)};
        const bool same = clt_random(&seed) % 2 == 0;
        struct box a, b;
        draw_box(&a, region, &seed);
        draw_box(&b, region, &seed);
        if (same) {
            b.row = a.row;
            b.slice = a.slice;
        }
        const wide from = end_of(&a, region), to = end_of(&b, region);
        const bool good = from != 0 && from <= SIZE && to != 0 && to <= SIZE;
        const cl_int want = !good ? CL_INVALID_VALUE : same && meet(&a, &b, region) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS;
        const cl_int got = clEnqueueCopyBufferRect(clt_queue, buffers[0], buffers[!same], a.origin, b.origin, region,
                                                   a.row, a.slice, b.row, b.slice, 0, NULL, NULL);
        if (got != want) {
            wrong_box(first, got, want, &a, &b, region);
        }
        accepted += want == CL_SUCCESS;
        for (size_t i = 0; want == CL_SUCCESS && i < region[0] * region[1] * region[2]; i++) {
            const size_t x = i % region[0], y = i / region[0] % region[1], z = i / region[0] / region[1];
            model[!same][place(&b, region, x, y, z)] = model[0][place(&a, region, x, y, z)];
        }
    }
    compare("copies of boxes from", 0);
    compare("copies of boxes to", 1);
    assert_true(accepted > COPIES / 8);
}

/** Sizes and offsets of kernels. Accepted kernels wait for an event that fails, since such large ranges could not
 * end. */
static void test_kernels(void **state)
{
    (void)state;
    size_t most = 0;
    cl_kernel k = clt_kernel("kernel void f(global int *r) { r[0] = 1; }", "f");
    clt_args(k, 1, ARG(buffers[1]));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    cl_event never = clCreateUserEvent(clt_context, &clt_error);
    MADE(never);
    accepted = 0;
    for (cl_uint dim = 0; dim < 3; dim++) {
        for (size_t i = 0; i < LENGTH(corners); i++) {
            for (size_t j = 0; j < LENGTH(corners); j++) {
                size_t global[3] = {3, 3, 3}, offset[3] = {0}, local[3] = {1, 1, 1};
                global[dim] = corners[i];
                offset[dim] = corners[j];
                cl_int want = global[dim] > UINT32_MAX                             ? CL_INVALID_GLOBAL_WORK_SIZE
                              : (wide)offset[dim] + global[dim] > (wide)1 << 32 || offset[dim] > UINT32_MAX
                              ? CL_INVALID_GLOBAL_OFFSET
                                                                                   : CL_SUCCESS;
                cl_int got = clEnqueueNDRangeKernel(clt_queue, k, 3, offset, global, NULL, 1, &never, NULL);
                answered(got, want, "offset", global[dim], offset[dim], dim);
                got = clEnqueueNDRangeKernel(clt_queue, k, 3, offset, global, local, 1, &never, NULL);
                answered(got, want, "offset and local size", global[dim], offset[dim], dim);
                offset[dim] = 0;
                local[dim] = corners[j];
                if (want == CL_SUCCESS || want == CL_INVALID_GLOBAL_OFFSET) {
                    want = local[dim] > most                                    ? CL_INVALID_WORK_ITEM_SIZE
                           : local[dim] == 0 || global[dim] % local[dim] != 0 ? CL_INVALID_WORK_GROUP_SIZE
                                                                                : CL_SUCCESS;
                }
                if (global[dim] != 0) { /* With a global size of 0 nothing runs, and the local size does not matter. */
                    got = clEnqueueNDRangeKernel(clt_queue, k, 3, NULL, global, local, 1, &never, NULL);
                    answered(got, want, "local size", global[dim], local[dim], dim);
                }
            }
        }
    }
    assert_true(accepted > 1000);
    OK(clSetUserEventStatus(never, -1));
    OK(clFinish(clt_queue));
    OK(clReleaseEvent(never));
    OK(clReleaseKernel(k));
}

static void test_sizes(void **state)
{
    (void)state;
    cl_ulong most = 0, local = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL));
    cl_kernel k = clt_kernel("kernel void f(local int *a, local int *b, global int *r) { a[0] = b[0] = 0; "
                             "r[0] = a[0]; }", "f");
    const size_t one = 1;
    clt_args(k, 3, LOCAL(4), LOCAL(4), ARG(buffers[1]));
    for (size_t i = 0; i < LENGTH(corners); i++) {
        const size_t n = corners[i];
        cl_mem m = clCreateBuffer(clt_context, 0, n, NULL, &clt_error);
        if (answered(clt_error, n == 0 || n > most ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS, "create", n, 0, 0)) {
            OK(clReleaseMemObject(m));
        }
        const cl_int want = n == 0 ? CL_INVALID_ARG_SIZE : CL_SUCCESS;
        if (n > local) { /* This size alone exceeds the local memory: enqueuing fails whatever the other argument is. */
            OK(clSetKernelArg(k, 0, n, NULL));
            for (size_t other = 0; other < LENGTH(corners); other++) {
                OK(clSetKernelArg(k, 1, corners[other] == 0 ? 1 : corners[other], NULL));
                answered(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL), CL_OUT_OF_RESOURCES,
                         "too much local memory", n, corners[other], 0);
            }
        } else if (answered(clSetKernelArg(k, 0, n, NULL), want, "local memory", n, 0, 0)) {
            const size_t rest[] = {local - (n + 127) / 128 * 128, local - n + 1};
            for (int r = 0; r < 2; r++) {
                /* The second argument begins at a multiple of 128. The two together fill the local memory exactly, or
                 * exceed it. */
                if (rest[r] != 0 && rest[r] <= local) {
                    OK(clSetKernelArg(k, 1, rest[r], NULL));
                    answered(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL),
                             r == 0 ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "two of local memory", n, rest[r], 0);
                }
            }
        }
        const cl_int as_value = n == sizeof(cl_mem) ? CL_SUCCESS : CL_INVALID_ARG_SIZE;
        answered(clSetKernelArg(k, 2, n, &buffers[1]), as_value, "buffer", n, 0, 0);
    }
    OK(clFinish(clt_queue));
    model[1][0] = model[1][1] = model[1][2] = model[1][3] = 0;
    compare("sizes", 1);
    OK(clReleaseKernel(k));
}

/** Lengths of a program's strings whose sum overflows a size_t. */
static void test_lengths(void **state)
{
    (void)state;
    const char *strings[3] = {"a", "b", "c"};
    static const size_t lengths[][3] = {{SIZE_MAX, 1, 1}, {SIZE_MAX - 1, 1, 16}, {1, SIZE_MAX / 2, SIZE_MAX / 2 + 1},
                                        {1, 1, SIZE_MAX - 2}};
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        REFUSED(clCreateProgramWithSource(clt_context, 3, strings, lengths[i], &clt_error), CL_OUT_OF_HOST_MEMORY);
    }
    REFUSED(clCreateProgramWithSource(clt_context, 1, strings, lengths[0], &clt_error), CL_OUT_OF_HOST_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_sub_buffers),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_box_copies),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
