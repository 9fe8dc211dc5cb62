/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls of libtern_xrt.so in bounded time. A thread of its own makes XRT's calls, and the caller waits for a limited
 * time. XRT waits for ever if its emulation dies during a call, and such a thread cannot be ended. It is abandoned: it
 * gets the lowest priority, and the memory that it may still use is not freed.
 */
#ifndef TERN_HAL_XRT_CALLER_H
#define TERN_HAL_XRT_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hal/xrt/tern_xrt.h"

#define TERN_CALL_WRITES 64u

enum tern_call_op {
    TERN_CALL_OPEN,   /**< Takes device and xclbin; fills bank. */
    TERN_CALL_READ,   /**< Reads `count` registers, at[i].offset into at[i].value. */
    TERN_CALL_WRITE,  /**< Writes `count` registers, in order. */
    TERN_CALL_MEMORY, /**< Takes bytes; fills address and map. */
    TERN_CALL_SYNC,   /**< Takes to_device, address (the offset in the buffer) and bytes. */
    TERN_CALL_CLOSE
};

/** A call and its results, which are copied in and out, because an abandoned thread may use its copy for ever. */
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
    const char *device, *xclbin; /**< Strings, which the call copies. */
    char why[TERN_XRT_WHY];      /**< Sentence of a failed call. */
};

struct tern_caller;

/** Starts the thread. -ENOMEM, -EAGAIN; without a sentence. */
int tern_caller_start(const struct tern_xrt_api *api, struct tern_caller **out);
/**
 * Makes a call. Any thread may do so; calls are made one after the other. Returns the result of the function of
 * tern_xrt_api, or -ETIMEDOUT: `ms` milliseconds have passed. After a timeout all calls return -EIO at once.
 */
int tern_caller_call(struct tern_caller *c, struct tern_call *call, int64_t ms);
/** The card that the thread has opened, valid until it is closed, for calls that other threads make. NULL: none, or a
 *  call is under way. */
struct tern_xrt *tern_caller_card(struct tern_caller *c);
/** Ends the thread. False: the thread was abandoned, and the library stays in use. */
bool tern_caller_stop(struct tern_caller *c);

#endif
