/* SPDX-License-Identifier: Apache-2.0 */
/** Build options, and the search for words by which a program's result depends on more than its text. */
#include "tc_internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tc_options options = {0};
    struct tc_text log = {0};
    char *text = malloc(size + 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    if (tc_options_parse(text, &options, &log) == 0) {
        if (tc_options_from_here(&options) != 0) {
            abort();
        }
        tc_options_free(&options);
    } else if (!log.data || log.data[log.size - 1] != '\n') {
        abort(); /* a refusal has a reason */
    }
    (void)tc_depend_text(text, size);
    free(log.data);
    free(text);
    return 0;
}
