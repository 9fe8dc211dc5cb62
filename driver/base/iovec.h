/* SPDX-License-Identifier: Apache-2.0 */
/** A piece of host memory that is to be written to device memory. */
#ifndef TERN_BASE_IOVEC_H
#define TERN_BASE_IOVEC_H

#include <stddef.h>
#include <stdint.h>

struct tern_iovec {
    uint64_t address; /**< Physical address in device memory. */
    const void *data;
    size_t size;      /**< Bytes. */
};

#endif
