/* SPDX-License-Identifier: Apache-2.0 */
/**
 * libtern_xrt.so: the only part of Tern that is linked with XRT, whose functions for kernels that a user manages are
 * C++. The hal loads it when a card is opened: programs that open none need no XRT.
 *
 * All functions give 0 or -errno, with a sentence in `why` (of TERN_XRT_WHY bytes). One thread at a time, but for
 * `interrupt`, which a second thread calls between open and close. XRT is known
 * to wait for ever, when its emulation dies: the caller bounds the time (caller.h).
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

/** What the xclbin says of the kernel's memory: the bank that its memory port is connected to. */
struct tern_xrt_bank {
    uint64_t address, bytes; /**< In the card's address map. */
    uint32_t group;          /**< XRT's number for it. */
};

struct tern_xrt_api {
    uint32_t version; /**< TERN_XRT_API_VERSION. */
    /** Loads the xclbin into the card and opens its kernel for this process alone. device: number or PCI address.
     *  -ENOENT: the xclbin cannot be read; -EPROTO: it is no xclbin, or of something else; -ENODEV: no such card;
     *  -EBUSY: another program has it. */
    int (*open)(const char *device, const char *xclbin, struct tern_xrt **out, struct tern_xrt_bank *bank, char *why);
    int (*read32)(struct tern_xrt *x, uint32_t offset, uint32_t *value, char *why);
    int (*write32)(struct tern_xrt *x, uint32_t offset, uint32_t value, char *why);
    /** Takes one buffer of the bank; once. *address: where it lies in the card; *map: the host's copy of it, which
     *  `sync` moves. Both are there until close. */
    int (*memory)(struct tern_xrt *x, uint64_t bytes, uint64_t *address, void **map, char *why);
    /** Moves a range of the buffer between card and host's copy; when it returns, it has been moved. */
    int (*sync)(struct tern_xrt *x, bool to_device, uint64_t offset, uint64_t bytes, char *why);
    /** Waits for the kernel's interrupt, `ms` at most. 1: it has come; it comes again while it is raised. 0: it has
     *  not. -ENOTSUP: XRT has none for this kernel. */
    int (*interrupt)(struct tern_xrt *x, uint32_t ms, char *why);
    void (*close)(struct tern_xrt *x);
};

#ifdef __cplusplus
}
#endif

#endif
