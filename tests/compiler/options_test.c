/* SPDX-License-Identifier: Apache-2.0 */
/** Options of clBuildProgram: each is accepted and has its effect, or is refused with a message that names it. */
#include "support.h"

/* A program that compiles only if the condition holds. */
#define ONLY_IF(condition) "#if !(" condition ")\n#error no\n#endif\nkernel void k(void) {}\n"

static void takes(const char *options, const char *source)
{
    struct tc_blob module = module_of(source, options);
    assert_int_equal(tc_kind(module.data, module.size), TC_MODULE);
    free(module.data);
}

static void test_definitions(void **state)
{
    (void)state;
    takes("-DA=3", ONLY_IF("A == 3"));
    takes("-D A=3 -DB", ONLY_IF("A == 3 && B == 1"));
    takes("  -DA=1\t-D\nB=2  ", ONLY_IF("A == 1 && B == 2"));
    takes("-D \"A=(1 + 2)\"", ONLY_IF("A == 3"));
    takes("\"-DA=1 == 1\"", ONLY_IF("A"));
    takes("-DS=\"\\\"x y\\\"\"", "constant char s[] = S; "
          "kernel void k(global char *o) { *o = s[sizeof(s) == 4 ? 1 : -1]; }");
}

static void test_standards(void **state)
{
    (void)state;
    takes("", ONLY_IF("__OPENCL_C_VERSION__ == 120"));
    takes(NULL, ONLY_IF("__OPENCL_C_VERSION__ == 120"));
    takes("-cl-std=CL1.1", ONLY_IF("__OPENCL_C_VERSION__ == 110"));
    takes("-cl-std=CL2.0", ONLY_IF("__OPENCL_C_VERSION__ == 200 && __OPENCL_VERSION__ == 300"));
    takes("-cl-std=CL3.0", ONLY_IF("__OPENCL_C_VERSION__ == 300 && __OPENCL_VERSION__ == 300"));
    takes("-cl-std=CL1.0", "kernel void k(global int *a) { a[0] = get_global_id(0); }");
    static const char *const others[] = {"-cl-std=CLC++", "-cl-std=CLC++1.0", "-cl-std=CLC++2021"};
    /* These are valid options, but not for this device. */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        expect_failure("kernel void k(void) {}", others[i], -EBADMSG, others[i]);
    }
    expect_failure("kernel void k(void) {}", "-cl-std=CL2.5", -EINVAL, "CL2.5");
}

static void test_device_macros(void **state)
{
    (void)state;
    takes("", ONLY_IF("defined(__IMAGE_SUPPORT__) && !defined(__NVPTX__) && !defined(__PTX__) && "
                      "!defined(cl_khr_subgroups)"));
    takes("", ONLY_IF("defined(cl_khr_int64_base_atomics) && defined(cl_khr_int64_extended_atomics)"));
    takes("", ONLY_IF("defined(cl_khr_fp16) && defined(cl_khr_fp64)"));
    takes("", ONLY_IF("defined(cl_khr_byte_addressable_store) && defined(__ENDIAN_LITTLE__)"));
    takes("", ONLY_IF("defined(cl_khr_global_int32_base_atomics) && defined(cl_khr_local_int32_extended_atomics)"));
    takes("-cl-fast-relaxed-math", ONLY_IF("defined(__FAST_RELAXED_MATH__)"));
}

/** Each name of tc_extensions and tc_features is a predefined macro, and no other name is. */
static void test_claims(void **state)
{
    (void)state;
    const char *const lists[2] = {tc_extensions(), tc_features()};
    for (int i = 0; i < 2; i++) {
        char *copy = strdup(lists[i]), *save = NULL;
        for (char *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
            char source[256];
            snprintf(source, sizeof source, "#ifndef %s\n#error %s\n#endif\nkernel void k(void) {}\n", name, name);
            takes("-cl-std=CL3.0", source);
        }
        free(copy);
    }
    takes("-cl-std=CL3.0", ONLY_IF("defined(__opencl_c_images) && !defined(__opencl_c_pipes) && "
                                   "!defined(__opencl_c_device_enqueue)"));
    takes("-cl-std=CL2.0", ONLY_IF("defined(cl_khr_subgroups) && defined(cl_khr_subgroup_rotate)"));
    takes("-cl-std=CL1.2", ONLY_IF("!defined(cl_khr_subgroups) && !defined(cl_khr_subgroup_rotate)"));
}

static void test_accepted(void **state)
{
    (void)state;
    static const char *const options[] = {
        "-cl-single-precision-constant", "-cl-denorms-are-zero", "-cl-fp32-correctly-rounded-divide-sqrt",
        "-cl-opt-disable", "-cl-strict-aliasing", "-cl-mad-enable", "-cl-no-signed-zeros",
        "-cl-unsafe-math-optimizations", "-cl-finite-math-only", "-cl-fast-relaxed-math", "-w", "-Werror", "-g",
        "-cl-kernel-arg-info", "-cl-uniform-work-group-size"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct tc_blob object = object_of("kernel void k(global float *a) { a[0] = a[1] / a[2] + a[3]; }", options[i]);
        assert_int_equal(tc_kind(object.data, object.size), TC_OBJECT);
        free(object.data);
    }
}

static void test_refused(void **state)
{
    (void)state;
    const char *source = "kernel void k(void) {}";
    expect_failure(source, "-cl-nonsense", -EINVAL, "-cl-nonsense");
    expect_failure(source, "-DA -Wl,x", -EINVAL, "-Wl,x");
    expect_failure(source, "-o/tmp/x", -EINVAL, "-o/tmp/x");
    expect_failure(source, "-D", -EINVAL, "-D");
    expect_failure(source, "-D \"A=1", -EINVAL, "-D");
    expect_failure(source, "\"-DA", -EINVAL, "quote");
    expect_failure(source, "file.cl", -EINVAL, "file.cl");
}

static void test_warnings(void **state)
{
    (void)state;
    const char *source = "kernel void k(global int *a) { int x = 3.7f; int *p = 0; a[0] = x == 3 ? 1 : *a; "
                         "if (a[1] = 2) a[2] = 1; }";
    struct tc_blob module = {0};
    char *log = NULL;
    assert_int_equal(tc_compile(source, strlen(source), "", NULL, 0, &module, &log), 0);
    assert_non_null(log);
    assert_non_null(strstr(log, "program.cl:1:"));
    assert_non_null(strstr(log, "warning"));
    free(log);
    free(module.data);
    log = NULL;
    module = (struct tc_blob){0};
    assert_int_equal(tc_compile(source, strlen(source), "-w", NULL, 0, &module, &log), 0);
    assert_null(log);
    free(module.data);
    expect_failure(source, "-Werror", -EBADMSG, "error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definitions), cmocka_unit_test(test_standards), cmocka_unit_test(test_device_macros),
        cmocka_unit_test(test_claims),      cmocka_unit_test(test_accepted),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
