/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The machine code of kernels, counted in instructions. Local ids and sizes need no sign correction, and coarsened
 * entries access vectors word by word.
 */
#include "support.h"
#include "tc_elf.h"

/** Returns how many words of an entry are `value` under `mask`. */
static unsigned count_in(const char *entry, const char *source, uint32_t mask, uint32_t value)
{
    struct tc_blob object = object_of(source, "");
    struct tc_elf elf;
    Elf32_Shdr table, section;
    size_t symbols;
    unsigned n = 0, found = 0;
    assert_int_equal(tc_elf_open(&elf, object.data, object.size), 0);
    assert_int_equal(tc_elf_symbols(&elf, &table, &symbols), 0);
    for (size_t i = 0; i < symbols; i++) {
        const Elf32_Sym s = tc_elf_symbol(&elf, &table, i);
        if (strcmp(tc_elf_string(&elf, table.sh_link, s.st_name), entry)) {
            continue;
        }
        assert_int_equal(tc_elf_section(&elf, s.st_shndx, &section), 0);
        for (uint32_t at = 0; at < s.st_size; at += 4) {
            uint32_t word;
            memcpy(&word, (const char *)object.data + section.sh_offset + s.st_value + at, sizeof word);
            n += (word & mask) == value;
        }
        found++;
    }
    assert_int_equal(found, 1);
    free(object.data);
    return n;
}

static unsigned count(const char *source, uint32_t mask, uint32_t value)
{
    return count_in("__entry_k", source, mask, value);
}

#define ARITHMETIC_SHIFTS 0xfe00707fu, 0x40005013u /* The instruction srai. */

/** A signed quotient of a local id or size by a power of two needs no sign correction. */
static void test_group_ids(void **state)
{
    (void)state;
    static const char *const ids[] = {"get_local_id(0)", "get_local_id(2)", "get_local_size(1)"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char source[256];
        snprintf(source, sizeof source, "kernel void k(global int *a) { int l = %s; a[l] = l / 16; }", ids[i]);
        assert_int_equal(count(source, ARITHMETIC_SHIFTS), 0);
    }
    /* A global id may be negative as a signed number. */
    assert_int_not_equal(count("kernel void k(global int *a) { int l = get_global_id(0); a[l] = l / 16; }",
                               ARITHMETIC_SHIFTS), 0);
}

/** Loads at 4 bytes after a multiple of 64, which read the second component of a work-item's vector. */
#define SECOND_COMPONENTS 0x03f0707fu, 0x00402003u

/** Lanes of coarsened entries access adjacent words of vectors, unless components are used differently. The loop over
 *  single items has one load of each component. */
static void test_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int split;
    } cases[] = {
        {"b[i] = a[i];", 1},
        {"b[i] = fma(a[i], (float4)n, b[i] * 2.0f);", 1},
        {"b[i] = n * a[i] + b[i];", 1},
        {"if (n > 3) b[i] = a[i];", 1},
        {"if (i < get_global_size(0) - 3) b[i] = a[i];", 0}, /* The lanes of a row might diverge. */
        {"b[i] = a[i].wzyx;", 0},
        {"b[i] = a[i] + (float4)(n, n, n, 0);", 0},
        {"b[i] = a[i] * i;", 0},
        {"b[i] = a[i] * a[i].x;", 0},
        {"b[2 * i] = a[i];", 0},
        {"b[i] = a[i] + ((global float *)a)[3];", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[512];
        snprintf(source, sizeof source, "kernel void k(global float4 *a, global float4 *b, float n)"
                 "{ uint i = get_global_id(0); %s }", cases[i].body);
        const unsigned n = count_in("__entry_k.coarse", source, SECOND_COMPONENTS);
        if (cases[i].split != (n <= 3)) { /* These are the loop's loads of both vectors, and an argument's. */
            fail_msg("%s: %u loads of second components", cases[i].body, n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group_ids), cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
