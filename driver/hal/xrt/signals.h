/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The process's signals beside XRT's emulation. That takes SIGABRT, SIGSEGV and SIGFPE when it opens a card, and sends
 * what comes to the whole process group: a shell's other programs would end with this one. So the actions that were
 * there before are put back.
 *
 * And XRT's emulation checks answers of its simulator by assert(). A thread of XRT's calls (caller.c) that fails one
 * stays in the signal handler for ever, as any call that does not come back: the card is given up, and the process goes
 * on. In other threads SIGABRT does what it did before.
 */
#ifndef TERN_HAL_XRT_SIGNALS_H
#define TERN_HAL_XRT_SIGNALS_H

/** Before XRT opens a card in emulation, and after. In between, one may open at a time. */
void tern_xrt_signals_keep(void);
void tern_xrt_signals_restore(void);
/** This thread makes XRT's calls, from now on. */
void tern_xrt_signals_caller(void);

#endif
