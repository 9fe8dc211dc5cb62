/* SPDX-License-Identifier: Apache-2.0 */
/**
 * User executors in the functional model (docs/executors.md). The executor NAME, which docs/spec/executors/NAME.yaml
 * describes, is one C function, user_NAME in user/NAME.c.
 *
 * The function does the work of a packet. The model calls it until it returns true, and the function keeps its position
 * in state[]. Results before the position are in memory, results behind it are not. Between two calls the packet may be
 * preempted, and resumed with the same state[] on another engine or another device, RTL or model. Therefore the
 * function must not keep state elsewhere.
 */
#ifndef MODEL_EXECUTOR_H
#define MODEL_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "tern/tern_spec.h"

struct engine;
struct fault;

struct executor_call {
    const uint32_t *args;  /**< The payload: 16 words, indexed by TERN_USER_NAME_*. */
    uint32_t *state;       /**< 16 words, indexed by TERN_USER_NAME_STATE_*; all 0 when the packet begins. */
    struct engine *engine; /**< The function must not use this field and the ones below. */
    struct fault *fault;
    uint64_t cycles, budget;
};

/**
 * The function of an executor. The function first checks the arguments, whatever the state is, and then does pieces of
 * work while executor_may_go_on returns true. Returns true when all is done, also in further calls; false when it may
 * not go on or there was a fault.
 */
typedef bool executor_function(struct executor_call *call);

/** To be called before each piece of work, which takes about `cycles`. If the result is false, the function returns
 *  false, and the packet may be preempted there. */
bool executor_may_go_on(struct executor_call *call, uint32_t cycles);
/** Access memory of the packet's process by virtual address. A page that is written becomes dirty. If there is a fault,
 *  it is recorded and the result is false; the function then returns false. */
bool executor_read(struct executor_call *call, uint32_t address, void *data, uint32_t bytes);
bool executor_write(struct executor_call *call, uint32_t address, const void *data, uint32_t bytes);
/** Records the fault FAULT_EXECUTOR of the executor, about an address or 0. The result is always false, for the
 *  function to return. */
bool executor_fault(struct executor_call *call, uint32_t address);
/** Records that the restored state is invalid (FAULT_CONTEXT_INVALID). The result is always false, for the function to
 *  return. */
bool executor_state_invalid(struct executor_call *call);
/** Returns a * b + c as the hardware computes it: rounded once, to nearest even, with canonical NaNs. */
uint32_t executor_fma(uint32_t a, uint32_t b, uint32_t c);

#endif
