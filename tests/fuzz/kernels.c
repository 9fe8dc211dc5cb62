/* SPDX-License-Identifier: Apache-2.0 */
/** Kernel metadata: the JSON of an object. What is accepted keeps the promises of compiler.h. */
#include "tc_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tc_kernels kernels;
    if (tc_kernels_parse((const char *)data, size, &kernels)) {
        return 0;
    }
    for (size_t i = 0; i < kernels.n; i++) {
        const struct tc_kernel *k = &kernels.kernels[i];
        for (uint32_t a = 0; a < k->n_args; a++) {
            const struct tc_arg *arg = &k->args[a];
            if (!arg->type || arg->space > TC_LOCAL || (uint64_t)arg->offset + arg->size > k->args_size) {
                abort();
            }
        }
    }
    tc_kernels_free(&kernels);
    return 0;
}
