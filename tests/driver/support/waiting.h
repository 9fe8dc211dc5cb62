/* SPDX-License-Identifier: Apache-2.0 */
/** Waits for a condition. A test that waits in vain names it. */
#ifndef SUPPORT_WAITING_H
#define SUPPORT_WAITING_H

#include "check.h"

/** Sleeps for 0.2 ms. */
void nap(void);
#define PATIENCE 600000 /* ms, enough for a busy host and a slow device */
#define until(condition)                                             \
    do {                                                             \
        for (int naps_ = 0; !(condition); naps_++, nap()) {          \
            if (naps_ == PATIENCE * 2) {                             \
                fail_msg("waited in vain for %s", #condition);       \
            }                                                        \
        }                                                            \
    } while (0)

#endif
