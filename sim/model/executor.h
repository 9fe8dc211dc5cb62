/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a user executor is in the functional model: one C function, user_NAME in user/NAME.c, of the executor NAME that
 * docs/spec/executors/NAME.yaml describes (docs/executors.md).
 *
 * The function does the work of a packet. It is called again and again until it says that the work is done, and keeps
 * in state[] where it stands: all before that place is in memory, nothing behind it is. Between two calls the packet
 * may be preempted, and go on with the same state[] on another engine or another device, RTL or model. So nothing
 * may be kept anywhere else.
 */
#ifndef MODEL_EXECUTOR_H
#define MODEL_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "tern/tern_spec.h"

struct engine;
struct fault;

struct executor_call {
    const uint32_t *args;  /**< The payload: 16 words, by TERN_USER_NAME_*. */
    uint32_t *state;       /**< 16 words, by TERN_USER_NAME_STATE_*; zeros when the packet begins. */
    struct engine *engine; /**< These three are not the function's. */
    struct fault *fault;
    uint64_t cycles, budget;
};

/**
 * Checks the arguments first, whatever state says: then, while executor_may_go_on, a piece of work after the other.
 * True: all is done (and it stays so, if it is called again). False: it may not go on, or there was a fault.
 */
typedef bool executor_function(struct executor_call *call);

/** Before each piece of work, which takes about so many cycles. False: return false; here it may be preempted. */
bool executor_may_go_on(struct executor_call *call, uint32_t cycles);
/** Memory of the packet's process, by virtual address; a page that is written becomes dirty. False: a fault, which has
 *  been noted: return false. */
bool executor_read(struct executor_call *call, uint32_t address, void *data, uint32_t bytes);
bool executor_write(struct executor_call *call, uint32_t address, const void *data, uint32_t bytes);
/** A fault of the executor's own (FAULT_EXECUTOR), about an address or 0. False: return it. */
bool executor_fault(struct executor_call *call, uint32_t address);
/** The state that was restored cannot be (FAULT_CONTEXT_INVALID). False: return it. */
bool executor_state_invalid(struct executor_call *call);
/** a * b + c as the hardware does it: rounded once, to nearest even, NaNs canonical. */
uint32_t executor_fma(uint32_t a, uint32_t b, uint32_t c);

#endif
