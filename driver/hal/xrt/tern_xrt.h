/* SPDX-License-Identifier: Apache-2.0 */
/**
 * libtern_xrt.so: the only part of Tern that is linked with XRT, whose API for user-managed kernels is C++. The hal
 * loads it when a card is opened, so programs that open no card need no XRT.
 *
 * All functions return 0 or -errno, with a sentence in `why`, which has TERN_XRT_WHY bytes. The caller serialises all
 * calls, with one exception: between open and close a second thread may be in `interrupt`. A call never returns if
 * XRT's emulation dies during it, so the caller must limit the time (caller.h).
 */
#ifndef TERN_XRT_H
#define TERN_XRT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TERN_XRT_API_VERSION 2u
#define TERN_XRT_API_SYMBOL "tern_xrt_api"
#define TERN_XRT_KERNEL "tern_kernel" /**< The kernel's name in an xclbin (scripts/xclbin). */
#define TERN_XRT_WHY 512u

struct tern_xrt;

/** The bank of the card's memory to which the xclbin connects the kernel. */
struct tern_xrt_bank {
    uint64_t address, bytes; /**< Range in the card's address map. */
    uint32_t group;          /**< XRT's number of the bank. */
};

struct tern_xrt_api {
    uint32_t version; /**< TERN_XRT_API_VERSION. */
    /** Loads the xclbin into the card and opens its kernel for this process alone. device is a number or PCI address.
     *  -ENOENT: the xclbin cannot be read; -EPROTO: it is no xclbin, or one of something else; -ENODEV: there is no
     *  such card; -EBUSY: another program has the kernel. */
    int (*open)(const char *device, const char *xclbin, struct tern_xrt **out, struct tern_xrt_bank *bank, char *why);
    int (*read32)(struct tern_xrt *x, uint32_t offset, uint32_t *value, char *why);
    int (*write32)(struct tern_xrt *x, uint32_t offset, uint32_t value, char *why);
    /** Allocates the buffer of the bank. Called once. *address is its address in the card, *map the host's copy, which
     *  `sync` moves. Both are valid until close. */
    int (*memory)(struct tern_xrt *x, uint64_t bytes, uint64_t *address, void **map, char *why);
    /** Copies a range of the buffer between the card and the host's copy. Returns when the range has been copied. */
    int (*sync)(struct tern_xrt *x, bool to_device, uint64_t offset, uint64_t bytes, char *why);
    /** Waits for the kernel's interrupt, for at most `ms` milliseconds. 1: it has arrived, and it arrives again while
     *  it is raised. 0: it has not arrived. -ENOTSUP: XRT has no interrupt for this kernel. */
    int (*interrupt)(struct tern_xrt *x, uint32_t ms, char *why);
    void (*close)(struct tern_xrt *x);
};

#ifdef __cplusplus
}
#endif

#endif
