/* SPDX-License-Identifier: Apache-2.0 */
/** The disk cache: a hit gives the same bytes and log, damaged entries are ignored, and the size stays within its
 * bound. */
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[4096];

static int setup(void **state)
{
    (void)state;
    const char *base = getenv("TERN_TEST_DIR");
    snprintf(directory, sizeof directory, "%s/cache.XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(directory));
    setenv("TERN_CACHE", "1", 1);
    setenv("TERN_CACHE_DIR", directory, 1);
    unsetenv("TERN_CACHE_BYTES");
    return 0;
}

/** Calls f for each file, and returns the number of files. */
static int each(void (*f)(const char *path))
{
    int n = 0;
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char path[8192];
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
            n++;
            if (f) {
                f(path);
            }
        }
    }
    if (d) {
        closedir(d);
    }
    return n;
}

static void remove_file(const char *path)
{
    unlink(path);
}

static int teardown(void **state)
{
    (void)state;
    each(remove_file);
    rmdir(directory);
    return 0;
}

static const char program[] = "kernel void k(global int *a) { int unused; a[0] = 1; if (a[1] = 2) a[2] = 3; }";

static struct tc_blob compile(char **log)
{
    struct tc_blob module = {0};
    assert_int_equal(tc_compile(program, strlen(program), "", NULL, 0, &module, log), 0);
    return module;
}

static void test_hit(void **state)
{
    (void)state;
    char *log1 = NULL, *log2 = NULL;
    struct tc_blob a = compile(&log1);
    assert_int_equal(each(NULL), 1);
    struct tc_blob b = compile(&log2);
    assert_int_equal(each(NULL), 1);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    assert_non_null(log1);
    assert_string_equal(log1, log2);
    free(a.data);
    free(b.data);
    free(log1);
    free(log2);
}

/** Everything that a result depends on is part of the entry's key. */
static void test_key(void **state)
{
    (void)state;
    char *log = NULL;
    struct tc_blob a = compile(&log), b = {0};
    free(log);
    assert_int_equal(tc_compile(program, strlen(program), "-DX", NULL, 0, &b, &log), 0);
    free(log);
    free(b.data);
    assert_int_equal(each(NULL), 2);
    assert_int_equal(tc_compile(program, strlen(program) - 1, "", NULL, 0, &b, &log), -EBADMSG);
    free(log);
    assert_int_equal(each(NULL), 2); /* Failures are not cached. */
    struct tc_blob object = {0};
    assert_int_equal(tc_link(&a, 1, "", 0, &object, NULL), 0);
    assert_int_equal(each(NULL), 3);
    struct tc_image image;
    assert_int_equal(tc_load(&object, 0x1000, 16, &image, NULL), 0);
    tc_image_free(&image);
    assert_int_equal(tc_load(&object, 0x2000, 16, &image, NULL), 0);
    assert_int_equal(image.kernels.kernels[0].entry & ~0xfffu, 0x2000);
    tc_image_free(&image);
    assert_int_equal(each(NULL), 5);
    free(a.data);
    free(object.data);
}

static void damage_middle(const char *path)
{
    int fd = open(path, O_RDWR);
    uint8_t byte = 0;
    assert_true(fd >= 0 && pread(fd, &byte, 1, 1000) == 1);
    byte ^= 4;
    assert_int_equal(pwrite(fd, &byte, 1, 1000), 1);
    close(fd);
}

static void truncate_file(const char *path)
{
    assert_int_equal(truncate(path, 20), 0);
}

static void empty_file(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void test_corruption(void **state)
{
    (void)state;
    void (*const damages[])(const char *) = {damage_middle, truncate_file, empty_file};
    char *log = NULL;
    struct tc_blob good = compile(&log);
    free(log);
    for (size_t i = 0; i < 3; i++) {
        each(damages[i]);
        struct tc_blob again = compile(&log);
        assert_int_equal(again.size, good.size);
        assert_memory_equal(again.data, good.data, good.size);
        free(again.data);
        free(log);
    }
    free(good.data);
}

static void test_disk_headers(void **state)
{
    (void)state;
    char path[8192], options[9000];
    snprintf(path, sizeof path, "%s/.value.h", directory);
    snprintf(options, sizeof options, "\"-I%s\" -Werror", directory);
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "#define VALUE %d\n", i);
        fclose(f);
        char source[128];
        snprintf(source, sizeof source, "#include \".value.h\"\n#if VALUE\nkernel void b(void) {}\n"
                 "#else\nkernel void a(void) {}\n#endif\n");
        struct tc_blob object = object_of(source, options);
        struct tc_kernels kernels;
        assert_int_equal(tc_kernels_read(&object, &kernels), 0);
        /* The key contains the header's content, not only its name. */
        assert_string_equal(kernels.kernels[0].name, i ? "b" : "a");
        tc_kernels_free(&kernels);
        free(object.data);
    }
    unlink(path);
}

static uint64_t total;

static void add_size(const char *path)
{
    struct stat st;
    total += stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

static void test_bound(void **state)
{
    (void)state;
    setenv("TERN_CACHE_BYTES", "20000", 1);
    for (int i = 0; i < 12; i++) {
        char options[32];
        snprintf(options, sizeof options, "-DN=%d", i);
        struct tc_blob module = module_of(program, options);
        free(module.data);
        total = 0;
        int n = each(add_size);
        assert_true(total <= 20000);
        assert_true(n > 0);
    }
    /* The newest entry is still there. */
    char *log = NULL;
    int before = each(NULL);
    struct tc_blob last = {0};
    assert_int_equal(tc_compile(program, strlen(program), "-DN=11", NULL, 0, &last, &log), 0);
    assert_int_equal(each(NULL), before);
    free(last.data);
    free(log);
}

static void test_off(void **state)
{
    (void)state;
    char *log = NULL;
    setenv("TERN_CACHE", "0", 1);
    struct tc_blob a = compile(&log);
    assert_int_equal(each(NULL), 0);
    free(a.data);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_key, setup, teardown),
        cmocka_unit_test_setup_teardown(test_corruption, setup, teardown),
        cmocka_unit_test_setup_teardown(test_disk_headers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(test_off, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
