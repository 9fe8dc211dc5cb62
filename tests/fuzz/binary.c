/* SPDX-License-Identifier: Apache-2.0 */
/** Program binaries as an application returns them: the input bytes, and the same bytes with a valid seal. */
#include "tc_internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Checks that a binary is accepted as an object exactly if its kernels can be read. */
static void try(const void *data, size_t size)
{
    const struct tc_blob blob = {(void *)(uintptr_t)data, size};
    struct tc_kernels kernels;
    const enum tc_kind kind = tc_kind(data, size);
    const int result = tc_kernels_read(&blob, &kernels);
    if (kind == TC_OBJECT ? result != 0 : result == 0 && kind != TC_UNKNOWN) {
        abort();
    }
    if (result == 0) {
        tc_kernels_free(&kernels);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tc_blob sealed = {malloc(size ? size : 1), size};
    if (!sealed.data) {
        return 0;
    }
    memcpy(sealed.data, data, size);
    try(data, size);
    (void)tc_bitcode_whole(data, size);
    if (tc_seal(&sealed) == 0) {
        try(sealed.data, sealed.size);
    }
    free(sealed.data);
    return 0;
}
