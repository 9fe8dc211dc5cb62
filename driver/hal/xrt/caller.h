/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls of libtern_xrt.so in bounded time: XRT's calls are made in a thread of their own, and who waits for one gives
 * up after a while. XRT waits for ever if its emulation dies in a call, and there is no way to end such a thread; it is
 * left behind, with the lowest priority, and with it all that it may still touch.
 */
#ifndef TERN_HAL_XRT_CALLER_H
#define TERN_HAL_XRT_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hal/xrt/tern_xrt.h"

#define TERN_CALL_WRITES 64u

enum tern_call_op {
    TERN_CALL_OPEN,   /**< device, xclbin; fills bank. */
    TERN_CALL_READ,   /**< count registers, of at[i].offset, into at[i].value. */
    TERN_CALL_WRITE,  /**< count registers, in order. */
    TERN_CALL_MEMORY, /**< bytes; fills address and map. */
    TERN_CALL_SYNC,   /**< to_device, address: offset in the buffer, bytes. */
    TERN_CALL_CLOSE
};

/** A call and its results: copied in and out, as the thread may use its own for ever. */
struct tern_call {
    enum tern_call_op op;
    bool to_device;
    uint64_t address, bytes;
    void *map;
    struct tern_xrt_bank bank;
    size_t count;
    struct {
        uint32_t offset, value;
    } at[TERN_CALL_WRITES];
    const char *device, *xclbin; /**< Copied. */
    char why[TERN_XRT_WHY];      /**< If it failed. */
};

struct tern_caller;

/** Starts the thread. -ENOMEM, -EAGAIN; without a sentence. */
int tern_caller_start(const struct tern_xrt_api *api, struct tern_caller **out);
/**
 * Makes a call; from any thread, one after the other. What the functions of tern_xrt_api give, or -ETIMEDOUT: `ms` have
 * passed. After that, all calls give -EIO at once.
 */
int tern_caller_call(struct tern_caller *c, struct tern_call *call, int64_t ms);
/** The card that the thread has opened, for what is not called by it: until it is closed. */
struct tern_xrt *tern_caller_card(struct tern_caller *c);
/** Ends the thread. false: it cannot be ended, and the library stays in use. */
bool tern_caller_stop(struct tern_caller *c);

#endif
