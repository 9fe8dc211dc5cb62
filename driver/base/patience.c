/* SPDX-License-Identifier: Apache-2.0 */
#include "base/patience.h"

#include "base/keys.h"

#define MOST 3600u

int tern_patience(int otherwise)
{
    uint64_t seconds = (uint64_t)otherwise;
    const int r = tern_key_environment("TERND_PATIENCE", "seconds", false, 1, MOST, &seconds);
    return r ? r : (int)seconds;
}
