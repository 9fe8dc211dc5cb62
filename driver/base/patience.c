/* SPDX-License-Identifier: Apache-2.0 */
#include "base/patience.h"

#include <stdlib.h>

#include "base/keys.h"

#define MOST 3600u

int tern_patience(int otherwise)
{
    const char *text = secure_getenv("TERND_PATIENCE");
    uint64_t seconds = 0;
    const int r = text && *text ? tern_key_number("TERND_PATIENCE, seconds", text, false, 1, MOST, &seconds) : 0;
    return r ? r : seconds ? (int)seconds : otherwise;
}
