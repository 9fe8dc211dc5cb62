/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The dependencies of a cached compilation besides its source text. After any change on disk, the next result is as
 * without a cache. If nothing changed, the result comes from the cache.
 */
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[4096], cache[4200];

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static int setup(void **state)
{
    (void)state;
    const char *base = getenv("TERN_TEST_DIR");
    snprintf(directory, sizeof directory, "%s/depend.XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(directory));
    snprintf(cache, sizeof cache, "%s/cache", directory);
    setenv("TERN_CACHE", "1", 1);
    setenv("TERN_CACHE_DIR", cache, 1);
    assert_int_equal(chdir(directory), 0);
    assert_true(!mkdir("one", 0700) && !mkdir("two", 0700) && !mkdir("two/sub", 0700));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    unsetenv("CPATH");
    return nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/** Writes a file, or removes it if text is NULL. */
static void put(const char *path, const char *text)
{
    if (!text) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/** Returns the inode of the cache's one entry, or 0 if there is none. */
static ino_t entry(void)
{
    ino_t found = 0;
    DIR *d = opendir(cache);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        found = e->d_name[0] == '.' ? found : e->d_ino;
    }
    if (d) {
        closedir(d);
    }
    return found;
}

struct source {
    const char *text, *options;
    struct tc_header headers[2];
    size_t n_headers;
};

/** Returns the number in the name of the program's kernel. *hit: the result came from the cache. */
static int compile(const struct source *s, int *hit)
{
    struct tc_blob module = {0}, object = {0};
    struct tc_kernels kernels;
    char *log = NULL;
    usleep(50000); /* A file written within 20 ms before a compilation is not trusted to be what the compiler read. */
    const ino_t before = entry();
    const int result = tc_compile(s->text, strlen(s->text), s->options, s->headers, s->n_headers, &module, &log);
    if (result) {
        fail_msg("tc_compile gave %d: %s", result, log ? log : "");
    }
    free(log);
    *hit = before && entry() == before;
    setenv("TERN_CACHE", "0", 1);
    assert_int_equal(tc_link(&module, 1, "", 0, &object, NULL), 0);
    setenv("TERN_CACHE", "1", 1);
    assert_int_equal(tc_kernels_read(&object, &kernels), 0);
    assert_int_equal(kernels.n, 1);
    const int number = atoi(kernels.kernels[0].name + 1);
    tc_kernels_free(&kernels);
    free(module.data);
    free(object.data);
    return number;
}

#define JOIN "#define J(a, b) a##b\n#define K(n) J(k, n)\n"
#define KERNEL JOIN "kernel void K(N)(void) {}\n"

/** Compiles twice, applies `change`, and compiles twice: the results must be `before` and `after`. hits: whether the
 *  second of each pair comes from the cache. */
static void expect(const struct source *s, int before, const char *path, const char *change, int after, int hits)
{
    int hit = 0;
    assert_int_equal(compile(s, &hit), before);
    assert_false(hit);
    assert_int_equal(compile(s, &hit), before);
    assert_int_equal(hit, hits);
    put(path, change);
    assert_int_equal(compile(s, &hit), after);
    assert_false(hit);
    assert_int_equal(compile(s, &hit), after);
    assert_int_equal(hit, hits);
}

static void test_include(void **state)
{
    (void)state;
    put("two/n.h", "#include \"sub/m.h\"\n");
    put("two/sub/m.h", "#define N 1\n");
    const struct source s = {.text = "#include <n.h>\n" KERNEL, .options = "-I one -I two"};
    expect(&s, 1, "two/sub/m.h", "#define N 2\n", 2, 1);
}

/** A directive split by a line continuation, and a header name from a macro. */
static void test_spliced(void **state)
{
    (void)state;
    put("two/n.h", "#define N 1\n");
    const struct source s = {.text = "#inc\\\nlude NAME\n" KERNEL, .options = "-I two -DNAME=<n.h>"};
    expect(&s, 1, "two/n.h", "#define N 2\n", 2, 1);
}

static void test_embed(void **state)
{
    (void)state;
    put("data", "A");
    const struct source s = {.text = "enum { V =\n#embed \"data\"\n};\n"
                                     "kernel void k1(global int *o) { char c[V == 'A' ? 1 : -1]; o[0] = sizeof c; }\n",
                             .options = "-w"};
    struct tc_blob module = {0};
    char *log = NULL;
    int hit = 0;
    assert_int_equal(compile(&s, &hit), 1);
    assert_int_equal(compile(&s, &hit), 1);
    assert_true(hit);
    put("data", "B"); /* The program does not compile any more. */
    assert_int_equal(tc_compile(s.text, strlen(s.text), s.options, NULL, 0, &module, &log), -EBADMSG);
    free(log);
}

/** A new file that is found earlier in the search path than the old one. */
static void test_shadow(void **state)
{
    (void)state;
    put("two/sub/n.h", "#define N 1\n");
    const struct source s = {.text = "#include <sub/n.h>\n" KERNEL, .options = "-I one -I two"};
    assert_int_equal(mkdir("one/sub", 0700), 0);
    expect(&s, 1, "one/sub/n.h", "#define N 2\n", 2, 1);
}

/** "n.h" in a header is searched first in that header's folder. */
static void test_shadow_beside(void **state)
{
    (void)state;
    put("two/n.h", "#define N 1\n");
    put("one/outer.h", "#include \"n.h\"\n");
    const struct source inner = {.text = "#include \"outer.h\"\n" KERNEL, .options = "-I one -I two"};
    expect(&inner, 1, "one/n.h", "#define N 2\n", 2, 1);
}

/** "n.h" in the source is searched first in the current directory. */
static void test_shadow_here(void **state)
{
    (void)state;
    put("two/n.h", "#define N 1\n");
    const struct source outer = {.text = "#include \"n.h\"\n" KERNEL, .options = "-Itwo/"};
    expect(&outer, 1, "n.h", "#define N 3\n", 3, 1);
}

static void test_include_next(void **state)
{
    (void)state;
    put("one/n.h", "#include_next <n.h>\n");
    put("two/n.h", "#define N 1\n");
    const struct source s = {.text = "#include <n.h>\n" KERNEL, .options = "-I one -I two"};
    expect(&s, 1, "two/n.h", "#define N 2\n", 2, 1);
}

/** A test for a file that does not open it is missing in the compiler's list of dependencies, so nothing is cached. */
static void test_has_include(void **state)
{
    (void)state;
    const struct source s = {.text = "#if __has_include(\"later.h\")\n#define N 2\n#else\n#define N 1\n#endif\n" KERNEL,
                             .options = "-I ."};
    expect(&s, 1, "later.h", "", 2, 0);
    put("one/ask.h", "#if __has_\\\ninclude(\"later.h\")\n#define N 2\n#else\n#define N 1\n#endif\n");
    const struct source nested = {.text = "#include <ask.h>\n" KERNEL, .options = "-I one -I ."};
    put("later.h", NULL);
    expect(&nested, 1, "later.h", "", 2, 0);
}

static void test_has_embed(void **state)
{
    (void)state;
    const struct source s = {.text = "#if __has_embed(\"later\")\n#define N 2\n#else\n#define N 1\n#endif\n" KERNEL};
    expect(&s, 1, "later", "x", 2, 0);
}

/** Macros of the current time, in any spelling. */
static void test_time(void **state)
{
    (void)state;
    static const char time_of[] = "constant char t[] = T; kernel void k1(global char *o) { o[0] = t[7]; }";
    static const struct source sources[] = {
        {.text = time_of, .options = "-DT=__TIME__"},
        {.text = time_of, .options = "-DT=__DATE__"},
        {.text = time_of, .options = "-DT=__TIMESTAMP__"},
        {.text = "#define J(a, b) a##b\nconstant char t[] = J(__TI, ME__); "
                 "kernel void k1(global char *o) { o[0] = t[7]; }"},
        {.text = "constant char t[] = __TI\\\nME__; kernel void k1(global char *o) { o[0] = t[7]; }"},
        {.text = "constant char t[] = __TI?\?/\nME__; kernel void k1(global char *o) { o[0] = t[7]; }"},
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        int hit = 0;
        assert_int_equal(compile(&sources[i], &hit), 1);
        assert_int_equal(entry(), 0);
    }
}

/** Headers that the application gives are in memory. Their content is part of the key. */
static void test_given(void **state)
{
    (void)state;
    struct source s = {.text = "#include \"a/n.h\"\n" KERNEL,
                       .options = "-I one",
                       .headers = {{"a/n.h", "#include \"m.h\"\n", 15}, {"a/m.h", "#define N 1\n", 12}},
                       .n_headers = 2};
    int hit = 0;
    assert_int_equal(compile(&s, &hit), 1);
    assert_int_equal(compile(&s, &hit), 1);
    assert_true(hit);
    s.headers[1].source = "#define N 2\n";
    assert_int_equal(compile(&s, &hit), 2);
}

/** Files of the current directory together with given headers. */
static void test_given_and_here(void **state)
{
    (void)state;
    put("data", "A");
    put("here.h", "#define N 1\n");
    const struct source s = {.text = "#include \"g.h\"\n#include \"here.h\"\nenum { V =\n#embed \"data\"\n};\n" KERNEL
                                     "constant char c[V == G ? 1 : -1] = {0};\n",
                             .options = "-w",
                             .headers = {{"g.h", "#define G 'A'\n", 14}},
                             .n_headers = 1};
    expect(&s, 1, "here.h", "#define N 2\n", 2, 1);
    struct tc_blob module = {0};
    char *log = NULL;
    put("data", "B");
    assert_int_equal(tc_compile(s.text, strlen(s.text), s.options, s.headers, 1, &module, &log), -EBADMSG);
    free(log);
}

/** A program in another current directory finds other headers. */
static void test_relative(void **state)
{
    (void)state;
    put("one/n.h", "#define N 1\n");
    put("two/n.h", "#define N 2\n");
    const struct source s = {.text = "#include \"n.h\"\n" KERNEL, .options = "-I."};
    int hit = 0;
    assert_int_equal(chdir("one"), 0);
    assert_int_equal(compile(&s, &hit), 1);
    assert_int_equal(compile(&s, &hit), 1);
    assert_true(hit);
    assert_int_equal(chdir("../two"), 0);
    assert_int_equal(compile(&s, &hit), 2);
}

/** Include folders from the environment. */
static void test_environment(void **state)
{
    (void)state;
    char path[4200];
    int hit = 0;
    const struct source s = {.text = "#include <n.h>\n" KERNEL};
    put("one/n.h", "#define N 1\n");
    put("two/n.h", "#define N 2\n");
    snprintf(path, sizeof path, "%s/one", directory);
    setenv("CPATH", path, 1);
    assert_int_equal(compile(&s, &hit), 1);
    snprintf(path, sizeof path, "%s/two", directory);
    setenv("CPATH", path, 1);
    assert_int_equal(compile(&s, &hit), 2);
}

/** Options that clang reads from the environment. */
static void test_edited_options(void **state)
{
    (void)state;
    int hit = 0;
    const struct source s = {.text = "#ifndef N\n#define N 1\n#endif\n" KERNEL};
    assert_int_equal(compile(&s, &hit), 1);
    setenv("CCC_OVERRIDE_OPTIONS", "#+-DN=2", 1);
    const int edited = compile(&s, &hit);
    unsetenv("CCC_OVERRIDE_OPTIONS");
    assert_int_equal(edited, 2);
    assert_int_equal(compile(&s, &hit), 1);
}

/** File names that a makefile must quote. */
static void test_odd_names(void **state)
{
    (void)state;
    put("two/a b#c$d.h", "#define N 1\n");
    const struct source s = {.text = "#include <a b#c$d.h>\n" KERNEL, .options = "-I two"};
    expect(&s, 1, "two/a b#c$d.h", "#define N 2\n", 2, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_include), TEST(test_spliced), TEST(test_embed), TEST(test_shadow), TEST(test_shadow_beside),
        TEST(test_shadow_here), TEST(test_include_next), TEST(test_has_include), TEST(test_has_embed), TEST(test_time),
        TEST(test_given), TEST(test_given_and_here), TEST(test_relative), TEST(test_environment),
        TEST(test_edited_options), TEST(test_odd_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
