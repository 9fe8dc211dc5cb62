/* SPDX-License-Identifier: Apache-2.0 */
/**
 * shuffle and shuffle2 of all widths, with masks of random bits of which only the lower ones are used. Types of each
 * size are tested, or all types if TERN_SWEEP is set.
 */
#include "sweep.h"

#include <stdio.h>
#include <string.h>

enum { ITEMS = 64, ELEMENTS = 32, RESULTS = 240 }; /* 2 x 4 x (2 + 4 + 8 + 16) */

static const unsigned widths[] = {2, 4, 8, 16};

static char *source_of(const char *type, const char *mask)
{
    char *source = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&source, &size);
    assert_non_null(text);
    fputs("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n", text);
    fprintf(text, "kernel void f(global const %s *x, global const %s *m, global %s *r) {\n", type, mask, type);
    fprintf(text, "    size_t i = get_global_id(0); x += i * %d; m += i * 16; r += i * %d;\n", ELEMENTS, RESULTS);
    for (unsigned i = 0; i < LENGTH(widths); i++) {
        for (unsigned j = 0; j < LENGTH(widths); j++) {
            const unsigned n = widths[i], m = widths[j];
            fprintf(text, "    vstore%u(shuffle(vload%u(0, x), vload%u(0, m)), 0, r); r += %u;\n", m, n, m, m);
            fprintf(text, "    vstore%u(shuffle2(vload%u(0, x), vload%u(0, x + 16), vload%u(0, m)), 0, r); r += %u;\n",
                    m, n, n, m, m);
        }
    }
    fputs("}\n", text);
    fclose(text);
    return source;
}

static void run(enum sweep_type t)
{
    static const char *const masks[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    const size_t size = sweep_sizes[t];
    static unsigned char x[ITEMS * ELEMENTS * 8], m[ITEMS * 16 * 8], r[ITEMS * RESULTS * 8];
    uint32_t seed = 5 + t;
    for (size_t i = 0; i < sizeof x; i++) {
        x[i] = (unsigned char)clt_random(&seed);
    }
    for (size_t i = 0; i < sizeof m; i++) {
        m[i] = (unsigned char)clt_random(&seed);
    }
    char *source = source_of(sweep_names[t], masks[size]);
    cl_kernel k = clt_kernel(source, "f");
    cl_mem from = clt_buffer(ITEMS * ELEMENTS * size, x), by = clt_buffer(ITEMS * 16 * size, m);
    cl_mem to = clt_buffer(ITEMS * RESULTS * size, NULL);
    clt_args(k, 3, ARG(from), ARG(by), ARG(to));
    clt_run(k, ITEMS, 0);
    clt_read(to, r, ITEMS * RESULTS * size);
    const unsigned char *result = r;
    for (unsigned item = 0; item < ITEMS; item++) {
        for (unsigned form = 0; form < 2 * LENGTH(widths) * LENGTH(widths); form++) {
            const unsigned n = widths[form / 2 / LENGTH(widths)], two = form & 1;
            const unsigned count = widths[form / 2 % LENGTH(widths)];
            for (unsigned e = 0; e < count; e++, result += size) {
                /* The mask's lowest byte holds every bit that is used. */
                const unsigned which = m[(item * 16 + e) * size] & (n * (1 + two) - 1);
                const unsigned at = which < n ? which : 16 + which - n;
                if (memcmp(result, x + (item * ELEMENTS + at) * size, size) != 0) {
                    fail_msg("shuffle%s of %s%u by %s%u, element %u, mask %u: wrong", two ? "2" : "", sweep_names[t], n,
                             masks[size], count, e, which);
                }
            }
        }
    }
    OK(clReleaseMemObject(from));
    OK(clReleaseMemObject(by));
    OK(clReleaseMemObject(to));
    OK(clReleaseKernel(k));
    free(source);
}

static void test_all(void **state)
{
    (void)state;
    static const enum sweep_type of_each_size[] = {SWEEP_UCHAR, SWEEP_SHORT, SWEEP_HALF, SWEEP_FLOAT,
                                                   SWEEP_LONG};
    if (getenv("TERN_SWEEP") == NULL) {
        for (size_t i = 0; i < LENGTH(of_each_size); i++) {
            run(of_each_size[i]);
        }
        return;
    }
    for (enum sweep_type t = SWEEP_CHAR; t < SWEEP_TYPES; t++) {
        run(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
