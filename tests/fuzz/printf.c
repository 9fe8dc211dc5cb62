/* SPDX-License-Identifier: Apache-2.0 */
/** printf records. The first 256 bytes are the program's image, at its base; the rest is the buffer that a kernel
 *  wrote. */
#include "compiler.h"

#include <stdlib.h>
#include <string.h>

#define IMAGE_BYTES 256u
#define BASE 0x1000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void emit(void *user, const char *text, size_t length)
{
    *(size_t *)user += length == 0 ? 0 : length + (unsigned char)text[length - 1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < IMAGE_BYTES) {
        return 0;
    }
    /* copies of exactly these sizes, so that a read behind either is noticed */
    const size_t rest = (size - IMAGE_BYTES) / 4 * 4;
    uint8_t *strings = malloc(IMAGE_BYTES), *buffer = malloc(rest ? rest : 1);
    if (strings && buffer) {
        memcpy(strings, data, IMAGE_BYTES);
        memcpy(buffer, data + IMAGE_BYTES, rest);
        const struct tc_image image = {.base = BASE, .size = 2 * IMAGE_BYTES, .filled = IMAGE_BYTES, .data = strings};
        size_t sum = 0;
        tc_printf_format(&image, buffer, rest, emit, &sum);
    }
    free(strings);
    free(buffer);
    return 0;
}
