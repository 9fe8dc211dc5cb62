/* SPDX-License-Identifier: Apache-2.0 */
#include "base/patience.h"

#include "base/keys.h"

#define SECONDS_MAX 3600u

int tern_patience(int otherwise)
{
    uint64_t seconds = (uint64_t)otherwise;
    const int r = tern_key_environment("TERND_PATIENCE", "seconds", false, 1, SECONDS_MAX, &seconds);
    return r ? r : (int)seconds;
}
