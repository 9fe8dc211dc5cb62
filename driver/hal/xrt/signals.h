/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Protects the process's signal actions from XRT's emulation. When it opens a card, the emulation installs handlers for
 * SIGABRT, SIGSEGV and SIGFPE that send the signal to the whole process group: other programs of the same shell would
 * end as well. Therefore the earlier actions are restored.
 *
 * XRT's emulation checks answers of its simulator by assert(). A thread of caller.c in which an assertion fails stays
 * in the signal handler for ever. That is treated like any call that does not return: the card is given up, and the
 * process goes on. In other threads SIGABRT has its earlier action.
 */
#ifndef TERN_HAL_XRT_SIGNALS_H
#define TERN_HAL_XRT_SIGNALS_H

/** Called before and after XRT opens a card in emulation. A lock is held in between: cards are opened one at a time. */
void tern_xrt_signals_keep(void);
void tern_xrt_signals_restore(void);
/** Marks this thread as one that makes XRT's calls. */
void tern_xrt_signals_caller(void);

#endif
