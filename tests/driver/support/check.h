/* SPDX-License-Identifier: Apache-2.0 */
/** Checks of results. Includes what cmocka and most tests need. */
#ifndef SUPPORT_CHECK_H
#define SUPPORT_CHECK_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tern/tern.h"

/** Fails the test with the driver's last error unless the call returns 0. */
#define ok(call) ok_at((call), #call, __FILE__, __LINE__)
void ok_at(int r, const char *what, const char *file, int line);
void expect_says(const char *text, const char *part);
/** Checks that each of these bytes of the allocation has the value. */
void expect_bytes(struct tern_allocation *a, uint64_t offset, size_t size, uint8_t value);
/** The same for all bytes of the allocation. */
void expect_filled(struct tern_allocation *a, uint8_t value);

#endif
