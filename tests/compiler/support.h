/* SPDX-License-Identifier: Apache-2.0 */
/** Common functions of the compiler's tests. */
#ifndef TERN_COMPILER_TEST_SUPPORT_H
#define TERN_COMPILER_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Returns the number of files in a folder, temporary files included. */
__attribute__((unused)) static int entries(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        n += e->d_name[0] != '.';
    }
    if (d) {
        closedir(d);
    }
    return n;
}

__attribute__((unused)) static struct tc_blob module_of(const char *source, const char *options)
{
    struct tc_blob module = {0};
    char *log = NULL;
    int result = tc_compile(source, strlen(source), options, NULL, 0, &module, &log);
    if (result) {
        fail_msg("tc_compile gave %d: %s", result, log ? log : "");
    }
    free(log);
    return module;
}

__attribute__((unused)) static struct tc_blob object_of(const char *source, const char *options)
{
    struct tc_blob module = module_of(source, options), object = {0};
    char *log = NULL;
    int result = tc_link(&module, 1, options, 0, &object, &log);
    if (result) {
        fail_msg("tc_link gave %d: %s", result, log ? log : "");
    }
    free(log);
    free(module.data);
    return object;
}

__attribute__((unused)) static struct tc_image image_of(const char *source, const char *options, uint32_t base)
{
    struct tc_blob object = object_of(source, options);
    struct tc_image image = {0};
    char *log = NULL;
    int result = tc_load(&object, base, 16, &image, &log);
    if (result) {
        fail_msg("tc_load gave %d: %s", result, log ? log : "");
    }
    free(log);
    free(object.data);
    return image;
}

/** Compiles and links a program that must fail. The log must contain `message`. */
__attribute__((unused)) static void expect_failure(const char *source, const char *options, int expected,
                                                   const char *message)
{
    struct tc_blob module = {0}, object = {0};
    char *log = NULL;
    int result = tc_compile(source, strlen(source), options, NULL, 0, &module, &log);
    if (!result) {
        free(log);
        log = NULL;
        result = tc_link(&module, 1, options, 0, &object, &log);
    }
    if (result != expected || !log || !strstr(log, message)) {
        fail_msg("got %d, expected %d with '%s': %s", result, expected, message, log ? log : "(no log)");
    }
    assert_null(object.data);
    free(log);
    free(module.data);
}

#endif
