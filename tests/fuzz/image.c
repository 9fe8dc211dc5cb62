/* SPDX-License-Identifier: Apache-2.0 */
/** Linked programs, which tc_load takes from a linker or from the cache, of an object with the kernels "k" and
 *  "plain". */
#include "tc_internal.h"

#include <stdlib.h>
#include <string.h>

#define BASE 0x10000000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char names[2][8] = {"k", "plain"};
    struct tc_kernel kernels[2] = {{.name = names[0]}, {.name = names[1]}};
    struct tc_image image = {.kernels = {.kernels = kernels, .n = 2}, .linked = {malloc(size ? size : 1), size}};
    if (!image.linked.data) {
        return 0;
    }
    memcpy(image.linked.data, data, size);
    if (tc_image_read(BASE, &image) == 0) {
        char text[64];
        must(image.base == BASE && image.code_size <= image.size && image.constant_size <= image.size -
             image.code_size && image.code_size % 4096 == 0 && image.constant_size % 4096 == 0 &&
             image.filled <= image.size && image.filled / 3 <= size); /* parts may overlap in the file */
        unsigned sum = 0;
        for (uint32_t i = 0; i < image.filled; i++) {
            sum += image.data[i];
        }
        for (int i = 0; i < 2; i++) {
            must(kernels[i].entry >= BASE && kernels[i].entry - BASE < image.code_size);
            tc_locate(&image, kernels[i].entry + (sum & 4), text, sizeof text);
        }
    }
    free(image.data);
    free(image.linked.data);
    return 0;
}
