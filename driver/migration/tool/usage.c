/* SPDX-License-Identifier: Apache-2.0 */
/** Errors in the arguments of tern-migrate. */
#include <stdarg.h>
#include <stdio.h>

#include "migration/tool/tool.h"

int usage_error(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "tern migrate: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "; see tern migrate --help\n");
    return USAGE;
}
