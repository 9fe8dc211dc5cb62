/* SPDX-License-Identifier: Apache-2.0 */
/** Host memory below 4 GiB: memory that was taken is mapped, none is given out twice, and other mappings are not
 * touched. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "clt.h"
#include "runtime/core/low.h"

#define PAGE RT_LOW_PAGE
#define MIB (1u << 20)

/* fail_mmap: the number of the call that fails, from 1, or 0 for none. */
static unsigned calls, fail_mmap, fail_realloc;

void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    calls++;
    if (fail_mmap != 0 && calls == fail_mmap) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(at, size, protection, flags, fd, offset);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fail_realloc != 0 && --fail_realloc == 0 ? NULL : __real_realloc(p, size);
}

static char *at(uint32_t address)
{
    return (char *)(uintptr_t)address;
}

/** Maps memory of the program there, or returns NULL if something is mapped already. */
static void *occupy(uint32_t address, size_t size)
{
    void *p = mmap(at(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1,
                   0);
    return p == MAP_FAILED ? NULL : p;
}

static void test_places(void **state)
{
    (void)state;
    struct rt_low low = {0};
    int owner[3];
    uint32_t a, b, c;
    assert_int_equal(rt_low_take(&low, 1, RT_LOW_END, &owner[0], &a), 0);
    assert_int_equal(rt_low_take(&low, PAGE + 1, RT_LOW_END, &owner[1], &b), 0);
    assert_int_equal(a % PAGE, 0);
    /* Memory is taken from the top down, side by side if nothing lies between. */
    assert_true(a < RT_LOW_END && b + 2 * PAGE <= a);
    memset(at(b), 1, 2 * PAGE);
    assert_int_equal(*at(a), 0);
    assert_ptr_equal(rt_low_find(&low, at(a)), &owner[0]);
    assert_ptr_equal(rt_low_find(&low, at(a + PAGE - 1)), &owner[0]);
    assert_ptr_equal(rt_low_find(&low, at(b + PAGE)), &owner[1]);
    assert_null(rt_low_find(&low, at(a + PAGE)));
    assert_null(rt_low_find(&low, at(b - 1)));
    assert_null(rt_low_find(&low, NULL));
    assert_null(rt_low_find(&low, &low));
    assert_null(rt_low_find(&low, (void *)((uintptr_t)a + (1ull << 32))));
    rt_low_give(&low, b);
    assert_null(rt_low_find(&low, at(b)));
    assert_int_equal(rt_low_take(&low, 2 * PAGE, RT_LOW_END, &owner[2], &c), 0);
    assert_int_equal(c, b); /* The highest gap is used first. */
    assert_int_equal(*at(c), 0);
    rt_low_give(&low, c);
    assert_int_equal(rt_low_take(&low, 4 * MIB, RT_LOW_END, &owner[2], &c), 0);
    assert_int_equal(c % (4 * MIB), 0);
    rt_low_give(&low, c);
    assert_int_equal(rt_low_take(&low, 3 * PAGE, 0x40000000u, &owner[2], &c), 0);
    assert_true(c + 3 * PAGE <= 0x40000000u);
    rt_low_give(&low, c);
    rt_low_give(&low, a);
    assert_null(low.range);
}

static void test_what_cannot_be(void **state)
{
    (void)state;
    struct rt_low low = {0};
    uint32_t a = 77;
    assert_int_equal(rt_low_take(&low, 1ull << 32, RT_LOW_END, &low, &a), -ENOSPC);
    assert_int_equal(rt_low_take(&low, UINT64_MAX, RT_LOW_END, &low, &a), -ENOSPC);
    assert_int_equal(rt_low_take(&low, RT_LOW_END, RT_LOW_END, &low, &a), -ENOSPC);
    assert_int_equal(rt_low_take(&low, 1, RT_LOW_FIRST, &low, &a), -ENOSPC);
    assert_int_equal(rt_low_take(&low, 1, 0, &low, &a), -ENOSPC);
    assert_int_equal(a, 77);
}

/** Other mappings are skipped, and not tried again at each call. */
static void test_others(void **state)
{
    (void)state;
    struct rt_low low = {0};
    uint32_t a, b;
    void *top = occupy(RT_LOW_END - 64 * MIB, 64 * MIB);
    if (top == NULL) {
        skip(); /* A sanitizer's shadow memory may be there. */
    }
    calls = 0;
    assert_int_equal(rt_low_take(&low, 1, RT_LOW_END, &low, &a), 0);
    assert_true(a < RT_LOW_END - 64 * MIB);
    assert_in_range(calls, 64, 70);
    calls = 0;
    assert_int_equal(rt_low_take(&low, 1, RT_LOW_END, &low, &b), 0);
    assert_int_equal(b, a - PAGE);
    assert_int_equal(calls, 1);
    void *between = occupy(b - 8 * PAGE, PAGE);
    assert_non_null(between);
    rt_low_give(&low, a);
    assert_int_equal(rt_low_take(&low, 8 * PAGE, RT_LOW_END, &low, &a), 0);
    assert_true(a + 8 * PAGE <= b - 8 * PAGE);
    rt_low_give(&low, a);
    rt_low_give(&low, b);
    munmap(between, PAGE);
    munmap(top, 64 * MIB);
}

/** All addresses are taken by other mappings. A piece in the middle becomes free, and later one at the top. */
static void test_full(void **state)
{
    (void)state;
    struct rt_low low = {0};
    const uint32_t piece = MIB;
    static char *taken[RT_LOW_END / MIB];
    uint32_t a;
    for (uint32_t i = 0; i < LENGTH(taken); i++) {
        taken[i] = occupy(i == 0 ? RT_LOW_FIRST : i * piece, i == 0 ? piece - RT_LOW_FIRST : piece);
        for (uint32_t from = i * piece; taken[i] == NULL && from < (i + 1) * piece; from += PAGE) {
            occupy(from, PAGE); /* Maps the pages around other mappings, until the test ends. */
        }
    }
    assert_int_equal(rt_low_take(&low, 1, RT_LOW_END, &low, &a), -ENOSPC);
    uint32_t hole = LENGTH(taken) / 4, high = LENGTH(taken) - 1;
    while (taken[hole] == NULL) {
        hole++;
    }
    while (taken[high] == NULL) {
        high--;
    }
    assert_true(hole < high);
    munmap(taken[hole], piece);
    assert_int_equal(rt_low_take(&low, piece, RT_LOW_END, &low, &a), 0);
    assert_int_equal(a, hole * piece);
    munmap(taken[high], piece);
    uint32_t b;
    assert_int_equal(rt_low_take(&low, PAGE, RT_LOW_END, &low, &b), 0);
    assert_int_equal(b, (high + 1) * piece - PAGE);
    rt_low_give(&low, b);
    rt_low_give(&low, a);
    for (uint32_t i = 0; i < LENGTH(taken); i++) {
        if (taken[i] != NULL && i != hole && i != high) {
            munmap(taken[i], i == 0 ? piece - RT_LOW_FIRST : piece);
        }
    }
}

/** Without memory for the pages or for the array, nothing stays mapped. */
static void test_no_memory(void **state)
{
    (void)state;
    struct rt_low low = {0};
    uint32_t a[40], b;
    calls = 0;
    fail_mmap = 1;
    assert_int_equal(rt_low_take(&low, 1, RT_LOW_END, &low, &b), -ENOMEM);
    fail_mmap = 0;
    assert_int_equal(low.n, 0);
    unsigned failed = 0;
    for (unsigned i = 0; i < LENGTH(a); i++) {
        fail_realloc = 1; /* Only takes that need a larger array call realloc. */
        const int r = rt_low_take(&low, PAGE, RT_LOW_END, &low, &a[i]);
        fail_realloc = 0;
        if (r != 0) {
            assert_int_equal(r, -ENOMEM);
            assert_int_equal(low.n, i);
            failed++;
            assert_int_equal(rt_low_take(&low, PAGE, RT_LOW_END, &low, &a[i]), 0);
        }
        assert_int_equal(a[i], a[0] - i * PAGE); /* A page that stayed mapped would leave a gap. */
    }
    assert_int_equal(failed, 3); /* The array grows at 0, 16 and 32 entries. */
    for (unsigned i = 0; i < LENGTH(a); i++) {
        rt_low_give(&low, a[i]);
    }
}

#define SLOTS 64u

/** Random takes and gives of a page to 8 MiB, compared with a list. The first and the last word of each are written. */
static void test_random(void **state)
{
    (void)state;
    struct rt_low low = {0};
    struct slot {
        uint32_t address, size;
    } slot[SLOTS] = {0};
    uint32_t seed = 20260101;
    for (unsigned i = 0; i < 4000; i++) {
        struct slot *s = &slot[clt_random(&seed) % SLOTS];
        if (s->size != 0) {
            assert_int_equal(*(uint32_t *)(void *)at(s->address), s->address);
            assert_int_equal(*(uint32_t *)(void *)at(s->address + s->size - 4), s->size);
            assert_ptr_equal(rt_low_find(&low, at(s->address + clt_random(&seed) % s->size)), s);
            rt_low_give(&low, s->address);
            s->size = 0;
            continue;
        }
        const uint32_t size = PAGE * (1 + clt_random(&seed) % (1u << clt_random(&seed) % 12));
        assert_int_equal(rt_low_take(&low, size, RT_LOW_END, s, &s->address), 0);
        s->size = size;
        for (unsigned k = 0; k < SLOTS; k++) {
            assert_true(&slot[k] == s || slot[k].size == 0 || slot[k].address + slot[k].size <= s->address ||
                        s->address + s->size <= slot[k].address);
        }
        assert_int_equal(*(uint32_t *)(void *)at(s->address), 0);
        *(uint32_t *)(void *)at(s->address + size - 4) = size;
        *(uint32_t *)(void *)at(s->address) = s->address;
    }
    for (unsigned k = 0; k < SLOTS; k++) {
        if (slot[k].size != 0) {
            rt_low_give(&low, slot[k].address);
        }
    }
    assert_int_equal(low.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places), cmocka_unit_test(test_what_cannot_be), cmocka_unit_test(test_others),
        cmocka_unit_test(test_full),   cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
