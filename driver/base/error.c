/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "tern/tern.h"

static _Thread_local char last[512] = "no error";

int tern_error(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last, sizeof last, format, args);
    va_end(args);
    return code;
}

int tern_error_memory(const char *what)
{
    return tern_error(-ENOMEM, "the host is out of memory for %s", what);
}

const char *tern_error_sentence(void)
{
    return last;
}

const char *tern_last_error(void)
{
    return last;
}
