/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Faults of this simulator on purpose, for tests of what is behind XRT: TERN_HW_EMU_FAULT=WHAT@CALL[:N] in the
 * environment, at the Nth call (1: the first) of that kind. Without it there are none.
 *
 * CALL: any, alloc, to (memory), from (memory), write (registers), read (registers), doorbell (a write of an engine's),
 * polling (a read of registers after that).
 *
 * WHAT, in place of the answer:
 *   kill      the process ends by SIGKILL
 *   stop      the process stops by SIGSTOP
 *   close     the connection ends, and the process with it
 *   cut       half of the answer, then as close
 *   promise   the header tells more bytes than come
 *   short     a message whose data is half as long as was asked for; other messages are empty
 *   empty     a message of no bytes
 *   garbage   as many bytes as the answer has, that are no message
 *   late      the answer, after two seconds
 */
#ifndef TERN_EMULATION_FAULT_H
#define TERN_EMULATION_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** false: the text in the environment is no fault, and a sentence on stderr says so. */
bool fault_begin(void);

/** What to do with an answer of `size` bytes behind its header of 9, which has been changed if it is to be wrong. */
struct fault {
    size_t bytes; /**< To be sent, the header included. */
    bool ends;    /**< Then the connection is closed. */
};

/** Called with each answer before it is sent; does not return from kill. registers: the address of the device's. */
struct fault fault_answer(uint32_t api, const uint8_t *request, size_t request_size, uint64_t registers,
                          uint8_t *answer, size_t size);

#endif
