/* SPDX-License-Identifier: Apache-2.0 */
#include "tc_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void tc_text_add(struct tc_text *text, const char *data, size_t size)
{
    char *grown = text->failed ? NULL : realloc(text->data, text->size + size + 1);
    if (!grown) {
        text->failed = 1;
        return;
    }
    text->data = grown;
    memcpy(grown + text->size, data, size);
    text->size += size;
    grown[text->size] = '\0';
}

void tc_text_print(struct tc_text *text, const char *format, ...)
{
    char *line = NULL;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&line, format, ap);
    va_end(ap);
    if (n < 0) {
        text->failed = 1;
        return;
    }
    tc_text_add(text, line, (size_t)n);
    free(line);
}

int tc_finish(int result, struct tc_text *text, char **log)
{
    if (text->failed && !result) {
        result = -ENOMEM;
    }
    if (log && text->size > 0) {
        *log = text->data;
    } else {
        free(text->data);
        if (log) {
            *log = NULL;
        }
    }
    return result;
}
