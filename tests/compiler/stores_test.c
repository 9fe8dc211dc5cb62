/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stores to components of vectors, in machine code: a kernel that assigns to some components stores as many bytes as
 * they have. The test covers all forms, sizes and element types, global and local memory, optimized or not.
 */
#include "support.h"
#include "tc_elf.h"

enum { MOST_FORMS = 128, MOST_KERNELS = 2 * 5 * MOST_FORMS };

static const unsigned sizes[] = {2, 3, 4, 8, 16};

/** The expected stores of a kernel. */
struct expected {
    char text[96];
    unsigned bytes;
};

static struct expected expected[MOST_KERNELS];
static unsigned n_expected;

/** A form of a vector's components: its text after the vector, and its number of components. */
struct form {
    char text[32];
    unsigned n;
};

static unsigned add(struct form *forms, unsigned at, const char *text, unsigned n)
{
    assert_true(at < MOST_FORMS);
    snprintf(forms[at].text, sizeof forms[at].text, "%s", text);
    forms[at].n = n;
    return at + 1;
}

/** Adds .lo, .hi, .even and .odd, and these of each other. Of three components, .lo and .even have two, the others
 * one. */
static unsigned halves(struct form *forms, unsigned at, const char *front, unsigned size)
{
    static const char *const names[] = {".lo", ".even", ".hi", ".odd"};
    for (unsigned i = 0; i < 4; i++) {
        char text[32];
        const unsigned n = size == 3 ? (i < 2 ? 2 : 1) : size / 2;
        snprintf(text, sizeof text, "%s%s", front, names[i]);
        at = add(forms, at, text, n);
        if (n > 1 && size != 3 && !*front) {
            at = halves(forms, at, text, n);
        }
    }
    return at;
}

/** Adds all orders of up to four of x, y, z and w. */
static unsigned swizzles(struct form *forms, unsigned at, const char *front, unsigned size)
{
    const unsigned n = (unsigned)strlen(front);
    for (unsigned i = 0; i < size && n < size + 1; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s%c", n == 0 ? "." : front, "xyzw"[i]);
        if (n == 0 || !strchr(front, "xyzw"[i])) {
            at = add(forms, at, text, n == 0 ? 1 : n);
            at = swizzles(forms, at, text, size);
        }
    }
    return at;
}

static unsigned forms_of(struct form *forms, unsigned size)
{
    static const struct form numbered[] = {
        {".s01", 2}, {".S10", 2}, {".s120", 3}, {".s3012", 4}, {".s7", 1}, {".s62", 2}, {".s753", 3}, {".s7315", 4},
        {".s76543210", 8}, {".sf", 1}, {".SE9", 2}, {".s0aF", 3}, {".sfc31", 4}, {".s02468acf", 8}, {".S13579bDe", 8},
        {".s0123456789abcdef", 16}, {".sf0e1d2c3b4a59687", 16}, {".s73.x", 1}, {".s0145.hi.odd", 1}, {".sabcd.wy", 2},
    };
    unsigned n = halves(forms, 0, "", size);
    n = size <= 4 ? swizzles(forms, n, "", size) : n;
    for (unsigned i = 0; i < size; i++) {
        char text[32];
        snprintf(text, sizeof text, ".s%x", i);
        n = add(forms, n, text, 1);
        snprintf(text, sizeof text, "[%u]", i);
        n = add(forms, n, text, 1);
    }
    n = add(forms, n, "[i]", 1);
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        unsigned most = 0;
        for (const char *p = numbered[i].text + 2; *p && *p != '.'; p++) {
            const char digit[2] = {*p, '\0'};
            const unsigned value = (unsigned)strtoul(digit, NULL, 16);
            most = value > most ? value : most;
        }
        n = most < size ? add(forms, n, numbered[i].text, numbered[i].n) : n;
    }
    return n;
}

static void expect(const char *text, unsigned bytes)
{
    assert_true(n_expected < MOST_KERNELS);
    snprintf(expected[n_expected].text, sizeof expected[n_expected].text, "%s", text);
    expected[n_expected++].bytes = bytes;
}

/** Appends the kernels of one size: each form of a plain vector, and of one in arrays and structures. */
static void add_kernels(FILE *f, const char *type, unsigned bytes, unsigned size, const char *space)
{
    static struct form forms[MOST_FORMS];
    const unsigned n = forms_of(forms, size);
    fprintf(f, "typedef struct { char c; struct { short d; %s%u v[3]; } s[2]; } S%u;\n", type, size, size);
    for (unsigned i = 0; i < 2 * n; i++) {
        const struct form *form = &forms[i / 2];
        char text[96], value[32];
        snprintf(value, sizeof value, form->n > 1 ? "%s%u" : "%s", type, form->n);
        snprintf(text, sizeof text, i % 2 ? "s->s[1].v[n]%s = v;" : "(*p)%s = v;", form->text);
        fprintf(f, "kernel void k%u(%s S%u *s, %s%s %s%u *p, %s v, uint n, uint i) { %s }\n", n_expected, space, size,
                i / 2 % 2 ? "volatile " : "", space, type, size, value, text);
        char what[96];
        snprintf(what, sizeof what, "%s %s%u: %.60s", space, type, size, text);
        expect(what, form->n * bytes);
    }
}

/** Returns the bytes that an entry's instructions store, except to the stack (by x2). */
static unsigned stored(const char *code, size_t size)
{
    unsigned sum = 0;
    for (size_t at = 0; at < size; at += 4) {
        uint32_t word;
        memcpy(&word, code + at, sizeof word);
        sum += (word & 0x7f) == 0x23 && (word >> 15 & 31) != 2 ? 1u << (word >> 12 & 7) : 0; /* sb, sh, sw */
    }
    return sum;
}

static void check(const char *source, const char *options)
{
    struct tc_blob object = object_of(source, options);
    struct tc_elf elf;
    Elf32_Shdr table, section;
    size_t symbols;
    unsigned found = 0;
    assert_int_equal(tc_elf_open(&elf, object.data, object.size), 0);
    assert_int_equal(tc_elf_symbols(&elf, &table, &symbols), 0);
    for (size_t i = 0; i < symbols; i++) {
        const Elf32_Sym s = tc_elf_symbol(&elf, &table, i);
        const char *name = tc_elf_string(&elf, table.sh_link, s.st_name);
        unsigned k;
        char end;
        if (sscanf(name, "__entry_k%u%c", &k, &end) != 1) {
            continue;
        }
        assert_true(k < n_expected);
        assert_int_equal(tc_elf_section(&elf, s.st_shndx, &section), 0);
        const unsigned sum = stored((const char *)object.data + section.sh_offset + s.st_value, s.st_size);
        if (sum != expected[k].bytes) {
            fail_msg("%s (%s): %u bytes are stored instead of %u", expected[k].text, options, sum, expected[k].bytes);
        }
        found++;
    }
    assert_int_equal(found, n_expected);
    free(object.data);
}

static void run(const char *type, unsigned bytes)
{
    for (unsigned way = 0; way < 3; way++) {
        char *source = NULL;
        size_t length = 0;
        FILE *f = open_memstream(&source, &length);
        assert_non_null(f);
        n_expected = 0;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            add_kernels(f, type, bytes, sizes[i], way == 1 ? "local" : "global");
        }
        assert_int_equal(fclose(f), 0);
        check(source, way == 2 ? "-cl-opt-disable" : "-tern-no-coarsen");
        free(source);
    }
}

static void test_bytes(void **state)
{
    (void)state;
    run("char", 1);
}

static void test_shorts(void **state)
{
    (void)state;
    run("ushort", 2);
}

static void test_words(void **state)
{
    (void)state;
    run("int", 4);
    run("float", 4);
}

static void test_double_words(void **state)
{
    (void)state;
    run("ulong", 8);
    run("double", 8);
}

/** Of two stores to the same components the first is left out, unless the vector is volatile. */
static void test_volatile(void **state)
{
    (void)state;
    static const char *const forms[] = {"p->x = v.x; p->x = v.y;", "p->wy = v.xy; p->wy = v.yz;",
                                        "(*p)[i] = v.x; (*p)[i] = v.y;"};
    static const unsigned bytes[] = {4, 8, 4};
    char source[2048];
    size_t at = 0;
    n_expected = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (unsigned twice = 0; twice < 2; twice++) {
            at += (size_t)snprintf(source + at, sizeof source - at, "kernel void k%u(global %sint4 *p, int4 v, uint i) "
                                   "{ %s }\n", n_expected, twice ? "volatile " : "", forms[i]);
            expect(forms[i], twice ? 2 * bytes[i] : bytes[i]);
        }
    }
    check(source, "-tern-no-coarsen");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_shorts),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_double_words),
        cmocka_unit_test(test_volatile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
