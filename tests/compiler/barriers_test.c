/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A barrier that work-items reach on different paths stays one instruction. Optimizers often duplicate the code between
 * a decision and its use, once for each path. Work-items would then wait at different barriers although the program is
 * right.
 */
#include "support.h"

#define BARRIER 0x0000000bu

static const char *const programs[] = {
    /* The same decision before and after the barrier, which invites jump threading. */
    "int w; if (p[l] & 1) w = 1; else w = 2; barrier(1); if (w == 1) p[l] = sin((float)l); else p[l + 1] = 5;",
    "int w = 0; for (uint k = 0; k < l; k++) if (p[k] == 3) { w = 1; break; } barrier(1); "
    "if (w) p[l] = 3; else p[l + n] = 9;",
    "bool a = l > 3 && p[l] == 5 || p[l + 1] == 7; if (a) p[l] = 2; barrier(1); if (a) p[l] = 4;",
    "int s = l < n ? p[l] : 0; if (l < n) s *= 3; barrier(1); if (l < n) p[l] = s;",
    "uint d = p[l] ? 2 : 4; barrier(1); for (uint k = 0; k < d; k++) p[l * 4 + k] = k;",
    /* The same switch before and after the barrier, which invites tail duplication. */
    ("int w = 0; switch (p[l]) { case 1: w = 3; break; case 4: w = 1; break; case 7: w = 8; } barrier(1);"
    " switch (w) { case 3: p[l] = 4; break; case 1: p[l * 2] = 5; break; case 8: p[l * 3] = 9; }"),
    "switch (p[l]) { case 1: p[l] = 7; break; case 2: p[l + 9] = 1; break; case 3: p[l + n] = 5; } barrier(1); "
    "p[l] += p[l ^ 1];",
    /* A decision that is invariant in a loop, which invites unswitching. */
    "bool odd = l & 1; for (int k = 0; k < n; k++) { if (odd) p[l] += 2; barrier(1); if (!odd) p[l + 3] = k; }",
    "for (int k = 0; k < n; k++) { if (p[l] > n) p[k] = 2; else p[k + l] = 7; barrier(1); }",
    "int q = p[l]; for (int k = 0; k < n; k++) { switch (q) { case 1: p[l] = k; break; case 2: p[l + k] = 3; } "
    "barrier(1); p[k]++; }",
    /* The barrier is in a function that two paths reach. */
    "int v; if (p[l]) v = p[l + 1] * 3; else v = p[l + 2]; v = meet(p, v); if (v > 3) p[l] = v; else p[n] = v;",
};

#define N (sizeof programs / sizeof *programs)

/** Counts the barriers of each kernel k0, k1 ... of the source, and those of `meet` in counts[n]. */
static void count(const char *source, const char *options, unsigned *counts, unsigned n)
{
    struct tc_image image = image_of(source, options, 0x10000000);
    memset(counts, 0, (n + 1) * sizeof *counts);
    for (uint32_t at = 0; at < image.code_size; at += 4) {
        uint32_t word;
        unsigned kernel = n;
        char where[256];
        memcpy(&word, image.data + at, sizeof word);
        if (word == BARRIER) {
            tc_locate(&image, image.base + at, where, sizeof where);
            const char *k = strstr(where, "from k");
            sscanf(k ? k : where, k ? "from k%u" : "in k%u", &kernel);
            assert_true(kernel < n || strstr(where, "in meet"));
            counts[kernel]++;
        }
    }
    tc_image_free(&image);
}

static void test_one_instruction(void **state)
{
    (void)state;
    static const char *const options[] = {"", "-cl-opt-disable", "-cl-std=CL3.0 -cl-fast-relaxed-math", "-g"};
    char source[8192] = "int meet(global int *p, int v) { if (v == 1) v += p[v]; barrier(1); "
                        "return v == 7 ? p[0] : v; }\n";
    for (size_t i = 0, at = strlen(source); i < N; i++) {
        at += (size_t)snprintf(source + at, sizeof source - at,
                               "kernel void k%zu(global int *p, int n) { uint l = get_local_id(0); %s }\n", i,
                               programs[i]);
    }
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        unsigned counts[N + 1];
        count(source, options[o], counts, N);
        for (size_t i = 0; i < N; i++) {
            /* The barrier of `meet` is inlined, or in the function. */
            const unsigned n = counts[i] + (i == N - 1 ? counts[N] : 0);
            if (n != 1) {
                fail_msg("%u barriers with options '%s' in: %s", n, options[o], programs[i]);
            }
        }
    }
}

/** Tests count() itself. */
static void test_counts(void **state)
{
    (void)state;
    unsigned counts[3];
    count("kernel void k0(global int *p) { p[0] = 1; barrier(1); p[1] = 2; barrier(1); }\n"
          "kernel void k1(global int *p) { p[0] = 1; }", "", counts, 2);
    assert_true(counts[0] == 2 && counts[1] == 0 && counts[2] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_instruction), cmocka_unit_test(test_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
