/* SPDX-License-Identifier: Apache-2.0 */
/** Kernel metadata, the JSON of an object. Accepted metadata fulfil the guarantees of compiler.h. */
#include "tc_internal.h"

#include <stdlib.h>
#include <string.h>

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tc_kernels kernels;
    if (tc_kernels_parse((const char *)data, size, &kernels)) {
        return 0;
    }
    for (size_t i = 0; i < kernels.n; i++) {
        const struct tc_kernel *k = &kernels.kernels[i];
        uint64_t end = 0;
        must(*k->name && k->attributes && k->args_size % 16 == 0 && k->args_size <= TC_MAX_ARGS_SIZE &&
             k->n_args <= TC_MAX_ARGS && k->stack <= INT32_MAX &&
             !k->required_size[0] == !k->required_size[1] && !k->required_size[0] == !k->required_size[2]);
        for (uint32_t a = 0; a < k->n_args; a++) {
            const struct tc_arg *arg = &k->args[a];
            must(arg->type && arg->space <= TC_LOCAL && arg->access_qualifier <= 3 && arg->type_qualifier <= 7);
            must(arg->kind <= TC_SAMPLER && arg->image <= TC_IMAGE_3D && (arg->image != 0) == (arg->kind == TC_IMAGE));
            must(arg->kind == TC_POINTER   ? arg->space != TC_PRIVATE && arg->size == 4 && arg->offset % 4 == 0
                 : arg->kind == TC_IMAGE   ? arg->space == TC_GLOBAL && arg->size == 64 && arg->offset % 16 == 0
                 : arg->kind == TC_SAMPLER ? arg->space == TC_PRIVATE && arg->size == 4 && arg->offset % 4 == 0
                                           : arg->space == TC_PRIVATE);
            must(arg->offset >= end);
            end = (uint64_t)arg->offset + arg->size;
            must(end <= k->args_size);
        }
        for (size_t other = 0; other < i; other++) {
            must(strcmp(k->name, kernels.kernels[other].name) != 0);
        }
    }
    tc_kernels_free(&kernels);
    return 0;
}
