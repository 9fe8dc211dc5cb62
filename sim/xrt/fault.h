/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Injection of faults into this simulator, for tests of the code above XRT. TERN_HW_EMU_FAULT=WHAT@CALL[:N] in the
 * environment injects a fault at the Nth call of that kind, the first by default.
 *
 * CALL:
 *   any       any call.
 *   alloc     an allocation.
 *   to, from  a write, a read of memory.
 *   write     a write of registers.
 *   read      a read of registers.
 *   doorbell  a write of an engine's doorbell.
 *   polling   a read of registers after a doorbell.
 *
 * WHAT, in place of the answer:
 *   kill      the process ends by SIGKILL.
 *   stop      the process stops by SIGSTOP.
 *   close     the connection and the process end.
 *   cut       half of the answer, then as close.
 *   promise   a header that announces more bytes than follow.
 *   short     a message with half of the requested data; other messages are empty.
 *   empty     a message of no bytes.
 *   garbage   as many bytes as the answer has, which are no message.
 *   late      the answer, after two seconds.
 */
#ifndef TERN_EMULATION_FAULT_H
#define TERN_EMULATION_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Reads the environment. Returns false after a message on stderr if the text there is no fault. */
bool fault_begin(void);

/** How to send an answer. A wrong answer has been changed in place. */
struct fault {
    size_t bytes; /**< Number of bytes to send, with the header of 9 bytes. */
    bool ends;    /**< The connection is to be closed after these bytes. */
};

/** Injects the fault, if its time has come; called with each answer before it is sent. size: bytes behind the header.
 *  registers: address of the device's registers. For `kill` the function does not return. */
struct fault fault_answer(uint32_t api, const uint8_t *request, size_t request_size, uint64_t registers,
                          uint8_t *answer, size_t size);

#endif
