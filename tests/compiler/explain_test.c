/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Explanations of kernels (explain.h), as text and JSON: the reason for which a kernel has no second entry, one case
 * for each, with its line; and that the kernels of the benches are explained as the loader reads them, and have the
 * same code as without an explanation.
 */
#include "support.h"
#include "tc_elf.h"

#include <cjson/cJSON.h>

/** Returns the output of tern-disassemble for an object. */
static char *tool(const struct tc_blob *object, const char *options)
{
    char path[512], command[2048];
    static char text[1 << 20];
    snprintf(path, sizeof path, "%s/explain.bin", getenv("TERN_TEST_DIR"));
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(object->data, 1, object->size, f), object->size);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command, "%s/tern-disassemble %s < %s", TERN_LIB_DIR, options, path);
    f = popen(command, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    assert_int_equal(pclose(f), 0);
    return text;
}

static const cJSON *get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static double number(const cJSON *object, const char *name)
{
    return cJSON_GetNumberValue(get(object, name));
}

struct reasons {
    const char *body;
    const char *rounds, *tiles; /**< Parts of the reasons; NULL: none is given, because the kernel has that entry. */
    int no_place;               /**< The reason concerns no place in the source. */
    int in_f;                   /**< The reason against tiles is in function f, in line 1. */
};

/** Checks one reason in JSON and in the kernel's part of the text. */
static void check_reason(const struct reasons *c, const cJSON *kernel, const char *text, const char *name,
                         unsigned line)
{
    const char *expected = strcmp(name, "no_rounds") ? c->tiles : c->rounds;
    const cJSON *why = get(kernel, name);
    const char *is = cJSON_GetStringValue(get(why, "text"));
    if (!expected) {
        if (is) {
            fail_msg("%s: %s is '%s'", c->body, name, is);
        }
        return;
    }
    if (!is || !strstr(is, expected)) {
        fail_msg("%s: %s is '%s', not '%s'", c->body, name, is ? is : "(none)", expected);
    }
    if (get(why, "line") ? number(why, "line") != line : !c->no_place) {
        fail_msg("%s: %s '%s' has line %g, not %u", c->body, name, is, number(why, "line"), line);
    }
    /* in the text the reason is broken into lines, so its first word that follows the title is looked for */
    char part[64];
    snprintf(part, sizeof part, "  %s %.14s", strcmp(name, "no_rounds") ? "no tiles   " : "no rounds  ", is);
    const char *at = strstr(text, part);
    if (!at) {
        fail_msg("%s: no '%s' in: %s", c->body, part, text);
    }
}

/** Writes a function of one line that is too long to be inlined. `end`: its last statements. Returns its length. */
static size_t long_function(char *source, size_t size, const char *name, const char *end)
{
    size_t at = (size_t)snprintf(source, size, "void %s(global uint *p) { uint s = *p;", name);
    for (unsigned i = 0; i < 200; i++) {
        at += (size_t)snprintf(source + at, size - at, "s = s * %uu + p[s & 7];", i);
    }
    return at + (size_t)snprintf(source + at, size - at, "%s }\n", end);
}

/** Explains kernels that are the cases' bodies, each on the line of its number. */
static void check_reasons(const struct reasons *cases, size_t n, const char *options)
{
    static char source[1 << 16];
    char all[128];
    size_t at = long_function(source, sizeof source, "f", "p[8] = s; atomic_inc(p);");
    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(source + at, sizeof source - at, "kernel void k%zu(global uint *restrict a,"
                               " global uint *restrict b, uint n, local uint *l)"
                               " { uint x = get_global_id(0), y = get_global_id(1); %s }\n", i, cases[i].body);
        assert_true(at < sizeof source);
    }
    snprintf(all, sizeof all, "-cl-std=CL3.0 -tern-explain %s", options);
    struct tc_blob object = object_of(source, all);
    cJSON *root = cJSON_Parse(tool(&object, "--json"));
    assert_int_equal(cJSON_GetArraySize(get(root, "kernels")), n);
    const char *text = tool(&object, "--explain");
    for (size_t i = 0; i < n; i++) {
        const cJSON *kernel = cJSON_GetArrayItem(get(root, "kernels"), (int)i);
        char head[32], part[1 << 12];
        snprintf(head, sizeof head, "kernel k%zu\n", i);
        const char *begin = strstr(text, head);
        assert_non_null(begin);
        const char *end = strstr(begin, "\n\nkernel ");
        snprintf(part, sizeof part, "%.*s", end ? (int)(end - begin) : (int)strlen(begin), begin);
        check_reason(&cases[i], kernel, part, "no_rounds", (unsigned)i + 2);
        check_reason(&cases[i], kernel, part, "no_tiles", cases[i].in_f ? 1 : (unsigned)i + 2);
        const int plain = !strcmp(cJSON_GetStringValue(get(kernel, "runs")), "plain");
        assert_int_equal(plain, get(kernel, "no_rounds") && get(kernel, "no_tiles"));
        assert_int_equal(plain, strstr(part, "each work-item runs by itself\n  ") != NULL && !strstr(part, "smaller"));
    }
    cJSON_Delete(root);
    free(object.data);
}

static void test_reasons(void **state)
{
    (void)state;
    static const struct reasons cases[] = {
        {"a[x] = n;", NULL, NULL, 0, 0},
        {"a[x] = 1; atomic_inc(&b[n]);", "it has an atomic operation", "it has an atomic operation", 0, 0},
        {"a[x] = atomic_cmpxchg(&b[n], 1, 2);", "it has an atomic operation", "it has an atomic operation", 0, 0},
        {"a[x] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE); b[x] = 1;", "it has a barrier or a fence",
         "it has a barrier or a fence", 0, 0},
        {"a[x] = 1; barrier(CLK_GLOBAL_MEM_FENCE); b[x] = 1;", "it has a barrier", "it has a barrier", 0, 0},
        {"l[0] = n; a[x] = l[n];", "it uses local memory", "it uses local memory", 0, 0},
        {"local uint t[8]; t[x & 7] = n; a[x] = t[n & 7];", "it uses local memory", "it uses local memory", 1, 0},
        {"volatile global uint *v = a; v[x] = 1;", "it accesses volatile memory", "it accesses volatile memory", 0, 0},
        {"printf(\"%u\", x); a[x] = 1;", "it calls printf", "it calls printf", 0, 0},
        {"uint t[8]; for (uint k = 0; k < 8; k++) t[k] = b[k + x]; a[x] = t[n & 7];", "it has a private array",
         "it has a private array", 0, 0},
        {"a[x] = get_local_id(0);", "it uses its local id", "it uses its local id", 0, 0},
        {"a[x] = get_group_id(1);", "it uses its group's id", "it uses its group's id", 0, 0},
        {"a[x] = get_local_size(0);", "it uses the size or the number of groups",
         "it uses the size or the number of groups", 0, 0},
        {"a[x] = get_num_groups(0);", "it uses the size or the number of groups",
         "it uses the size or the number of groups", 0, 0},
        {"for (uint k = 0; k < x; k++) a[x] += k * b[k];", "it has a loop, or a branch other than out of the kernel",
         "a branch depends on the id in x, and it uses no global id in y", 0, 0},
        {"for (uint k = 0; k < y; k++) a[y] += k * b[k];", "it has a loop, or a branch other than out of the kernel",
         "a branch depends on the id in y, and it uses no global id in x", 0, 0},
        {"for (uint k = 0; k < x + y; k++) a[x] += k * b[k];",
         "it has a loop, or a branch other than out of the kernel",
         "a branch depends on the id in x, and one on that in y", 0, 0},
        {"if (b[x]) a[x] = 1;", "a branch depends on memory", "a branch depends on the id in x", 0, 0},
        {"if (x % 2) a[x] = 1;", "a branch separates neighbouring work-items",
         "a branch depends on the id in x", 0, 0},
        {"a[x] = 1; if (x < n) a[x + n] = 1;", "it has a branch after a store",
         "a branch depends on the id in x", 0, 0},
        {"while (1) ;", "it does not end", "it stores nothing", 1, 0},
        {"for (uint k = 0; k < n; k++) a[k] += b[k];", "it has a loop, or a branch other than out of the kernel",
         "it uses no global id in x or y", 1, 0},
        {"global double *d = (global double *)a; d[x] *= 3;",
         "it calls the run-time library for a double or long", "instructions for each work-item", 1, 0},
        {"global ulong *d = (global ulong *)a; d[x] /= n | 1;",
         "it calls the run-time library for a double or long", "instructions for each work-item", 1, 0},
        {"switch (n) { case 0: a[x] = 1; break; case 5: b[x] = 2; break; case 9: b[x + 1] = x; }",
         "it has a switch, or does not end", NULL, 0, 0},
        {"", "it stores nothing", "it stores nothing", 1, 0},
        {"f(a + x); f(b + x);", "it calls the function f", "it has an atomic operation, in the function f", 0, 1},
        {"uint s = 0; for (uint k = 0; k < n; k++) s += a[x * x * n + k] * b[k]; b[x] = s;",
         "it has a loop, or a branch other than out of the kernel", "lines of memory for 16 work-items in x", 1, 0},
        {"uint s = x; for (uint k = 0; k < n; k++) s = s * 33 + (s >> 7); b[x] = s;",
         "it has a loop, or a branch other than out of the kernel", "instructions for each work-item", 1, 0},
        {"uint s = 0; for (uint k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x]; a[y * n + x] = s;",
         "it has a loop, or a branch other than out of the kernel", NULL, 0, 0},
    };
    check_reasons(cases, sizeof cases / sizeof *cases, "");
}

/** How work-items of a group are merged, and why not, with the line. */
static void test_groups(void **state)
{
    (void)state;
    static const struct {
        const char *body, *merged, *reason; /* reason: NULL: none */
    } cases[] = {
        {"a[x] = n;", "not needed", NULL},
        {"a[x] = get_local_id(0);", "by ids", NULL},
        {"uint s = 0; for (uint k = 0; k < get_local_id(0); k++) s += a[k]; b[x] = s;", "by ids", NULL},
        {"a[x] = atomic_add(b, get_local_id(0));", "if needed", NULL},
        {"uint i = get_local_id(0); l[i] = n; a[x] = l[i / 2 * 2];", "if needed", NULL},
        {"l[x & 7] = n; barrier(CLK_LOCAL_MEM_FENCE); a[x] = l[n & 7];", "to gain", NULL},
        {"uint i = get_local_id(0); while (atomic_add(a, 0) == i) ;", "never", "in a loop, a work-item may wait"},
        {"uint i = get_local_id(0); volatile global uint *v = a; while (*v == i) ;", "never", "in a loop, a work-item"},
        {"uint i = get_local_id(0); if (i < n) { barrier(CLK_LOCAL_MEM_FENCE); a[i] = 1; }", "never",
         "a barrier lies behind a branch"},
        {"uint i = get_local_id(0); for (uint k = 0; k < b[i]; k++) { barrier(CLK_LOCAL_MEM_FENCE); a[k] += i; }",
         "never", "a barrier lies behind a branch"},
        {"g(a + x); g(b + x);", "never", "function g, which is too long"},
    };
    enum { N = sizeof cases / sizeof *cases };
    static char source[1 << 16];
    size_t at = long_function(source, sizeof source, "g", "p[8] = s + get_local_id(0);");
    for (size_t i = 0; i < N; i++) {
        at += (size_t)snprintf(source + at, sizeof source - at, "kernel void k%zu(global uint *a, global uint *b,"
                               " uint n, local uint *l) { uint x = get_global_id(0); %s }\n", i, cases[i].body);
    }
    struct tc_blob object = object_of(source, "-cl-std=CL3.0 -tern-explain");
    struct tc_kernels kernels;
    assert_int_equal(tc_kernels_read(&object, &kernels), 0);
    cJSON *root = cJSON_Parse(tool(&object, "--json"));
    for (size_t i = 0; i < N; i++) {
        static const char *const words[] = {"never", "if needed", "to gain", "by ids"};
        const cJSON *kernel = cJSON_GetArrayItem(get(root, "kernels"), (int)i), *why = get(kernel, "no_merging");
        const char *merged = cJSON_GetStringValue(get(kernel, "merged"));
        const char *text = cJSON_GetStringValue(get(why, "text"));
        const struct tc_kernel *k = &kernels.kernels[i];
        if (!merged || strcmp(merged, cases[i].merged) || strcmp(merged, k->groups ? words[k->merges] : "not needed") ||
            !text != !cases[i].reason ||
            (text && (!strstr(text, cases[i].reason) || number(why, "line") != (double)i + 2))) {
            fail_msg("%s: merged %s, because '%s' in line %g", cases[i].body, merged ? merged : "(none)",
                     text ? text : "(none)", number(why, "line"));
        }
    }
    cJSON_Delete(root);
    const char *text = tool(&object, "--explain");
    assert_non_null(strstr(text, "\n  groups      of any size, as the kernel does not see them\n"));
    assert_non_null(strstr(text, "\n  groups      of at most the work-items of an engine\n"
                                 "  no merging  in a loop, a work-item may wait"));
    tc_kernels_free(&kernels);
    free(object.data);
    object = object_of("global uint v; kernel void k(global uint *a) { a[get_local_id(0)] = v++; }",
                       "-cl-std=CL3.0 -tern-explain");
    assert_non_null(strstr(tool(&object, "--explain"), "  no merging  the program has variables at program scope"));
    free(object.data);
}

/** Options of the build that allow no second entry are named. */
static void test_options(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        struct reasons reasons;
    } cases[] = {
        {"-tern-no-coarsen", {"a[x] = n;", "the option -tern-no-coarsen", "the option -tern-no-coarsen", 1, 0}},
        {"-cl-opt-disable", {"a[x] = n;", "the option -cl-opt-disable", "the option -cl-opt-disable", 1, 0}},
        {"-g", {"a[x] = n;", "-g is given", "-g is given", 1, 0}},
        {"-g -tern-no-coarsen", {"a[x] = n;", "the option -tern-no-coarsen", "the option -tern-no-coarsen", 1, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_reasons(&cases[i].reasons, 1, cases[i].option);
    }
}

/** Kernels that are too long for rounds, for reading as rounds, and for tiles. */
static void test_lengths(void **state)
{
    (void)state;
    static const struct {
        unsigned steps;
        const char *rounds, *tiles;
    } cases[] = {{15, "and rounds pay up to 40", "a tile of "},
                 {100, "it has more than 160 instructions", "a tile of "},
                 {500, "it has more than 160 instructions", "before code is generated"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static char body[1 << 15];
        size_t at = (size_t)snprintf(body, sizeof body, "uint s = x;");
        for (unsigned k = 0; k < cases[i].steps; k++) {
            at += (size_t)snprintf(body + at, sizeof body - at, "s ^= a[s %% %uu];", k + 2);
        }
        snprintf(body + at, sizeof body - at, "b[x] = s;");
        const struct reasons reasons = {body, cases[i].rounds, cases[i].tiles, 1, 0};
        check_reasons(&reasons, 1, "");
    }
}

/** Loops that step by the global size are counted. */
static void test_unrolled(void **state)
{
    (void)state;
    static const char head[] = "kernel void k(global uint *a, global uint *o, uint n) { uint s = 0;";
    static const char loop[] = "for (uint i = get_global_id(0); i < n; i += get_global_size(0)) s = s * 3 ^ a[i];";
    static const char *const texts[] = {"", "\n  unrolled    1 loop that steps by",
                                        "\n  unrolled    2 loops that step by"};
    for (unsigned loops = 0; loops < 3; loops++) {
        char source[1024];
        snprintf(source, sizeof source, "%s%s%s o[get_global_id(0)] = s; }", head, loops ? loop : "",
                 loops > 1 ? loop : "");
        struct tc_blob object = object_of(source, "-tern-explain");
        cJSON *root = cJSON_Parse(tool(&object, "--json"));
        assert_true(number(cJSON_GetArrayItem(get(root, "kernels"), 0), "unrolled_loops") == loops);
        const char *text = tool(&object, "--explain");
        assert_true(loops ? strstr(text, texts[loops]) != NULL : strstr(text, "unrolled") == NULL);
        cJSON_Delete(root);
        free(object.data);
    }
}

/** Reads a file of kernels. */
static char *read_file(const char *path)
{
    static char text[1 << 18];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

/** The code of an object's functions must be that of the other's. */
static void same_code(const struct tc_blob *a, const struct tc_blob *b)
{
    struct tc_elf elf[2];
    Elf32_Shdr table[2], section[2];
    size_t n[2];
    unsigned functions = 0;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(tc_elf_open(&elf[k], (k ? b : a)->data, (k ? b : a)->size), 0);
        assert_int_equal(tc_elf_symbols(&elf[k], &table[k], &n[k]), 0);
    }
    for (size_t i = 0; i < n[0]; i++) {
        const Elf32_Sym s = tc_elf_symbol(&elf[0], &table[0], i);
        const char *name = tc_elf_string(&elf[0], table[0].sh_link, s.st_name);
        if (ELF32_ST_TYPE(s.st_info) != STT_FUNC) {
            continue;
        }
        int found = 0;
        for (size_t k = 0; k < n[1]; k++) {
            const Elf32_Sym t = tc_elf_symbol(&elf[1], &table[1], k);
            if (strcmp(tc_elf_string(&elf[1], table[1].sh_link, t.st_name), name)) {
                continue;
            }
            found = 1;
            assert_int_equal(tc_elf_section(&elf[0], s.st_shndx, &section[0]), 0);
            assert_int_equal(tc_elf_section(&elf[1], t.st_shndx, &section[1]), 0);
            if (s.st_size != t.st_size ||
                memcmp((const char *)a->data + section[0].sh_offset + s.st_value,
                       (const char *)b->data + section[1].sh_offset + t.st_value, s.st_size)) {
                fail_msg("function %s differs", name);
            }
        }
        assert_true(found);
        functions++;
    }
    assert_true(functions > 0);
}

/** The kernels of the benches are explained as the loader reads them, and explained objects have the same code. */
static void test_as_loaded(void **state)
{
    (void)state;
    static const char *const files[] = {TERN_SOURCE "/tests/bench/kernels.cl", TERN_SOURCE "/tests/bench/workloads.cl",
                                        TERN_SOURCE "/tests/bench/further.cl"};
    unsigned rounds = 0, tiles = 0;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        const char *source = read_file(files[f]);
        struct tc_blob plain = object_of(source, ""), object = object_of(source, "-tern-explain");
        struct tc_kernels kernels;
        same_code(&plain, &object);
        assert_int_equal(tc_kernels_read(&plain, &kernels), 0);
        cJSON *root = cJSON_Parse(tool(&object, "--json --threads=256"));
        assert_int_equal(cJSON_GetArraySize(get(root, "kernels")), kernels.n);
        for (size_t i = 0; i < kernels.n; i++) {
            const struct tc_kernel *k = &kernels.kernels[i];
            const cJSON *json = cJSON_GetArrayItem(get(root, "kernels"), (int)i);
            assert_string_equal(cJSON_GetStringValue(get(json, "name")), k->name);
            assert_string_equal(cJSON_GetStringValue(get(json, "runs")),
                                !k->coarse ? "plain" : k->tile ? "tiles" : "rounds");
            assert_true(!k->coarse || number(json, "coarse") == k->coarse);
            assert_true(!k->coarse || number(json, "tile") == k->tile);
            assert_true(!k->coarse || cJSON_IsTrue(get(json, "by_words")) == k->coarse_rows);
            assert_true(number(json, "private_bytes") == k->stack);
            assert_true(number(json, "local_bytes") == k->local_static);
            assert_int_equal(get(json, "least_range") != NULL, k->coarse != 0);
            const cJSON *loop = get(json, "loop"), *one;
            double sum = 0;
            cJSON_ArrayForEach(one, get(loop, "classes"))
            {
                sum += one->valuedouble;
            }
            assert_true(sum == number(loop, "instructions"));
            assert_true(sum == cJSON_GetArraySize(get(loop, "code")));
            assert_true(number(loop, "work_items") == (k->coarse ? k->coarse * (k->tile ? k->tile : 1) : 1));
            rounds += k->coarse && !k->tile;
            tiles += k->tile != 0;
        }
        cJSON_Delete(root);
        tc_kernels_free(&kernels);
        free(plain.data);
        free(object.data);
    }
    assert_true(rounds >= 4 && tiles >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_reasons), cmocka_unit_test(test_options), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_unrolled), cmocka_unit_test(test_as_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
