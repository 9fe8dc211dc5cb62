/* SPDX-License-Identifier: Apache-2.0 */
#include "waiting.h"

#include <time.h>

void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}
