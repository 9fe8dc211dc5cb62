/* SPDX-License-Identifier: Apache-2.0 */
/** Statistics that the driver publishes of the first device of this process, and waits for a condition on them. */
#ifndef SUPPORT_PUBLISHED_STATS_H
#define SUPPORT_PUBLISHED_STATS_H

#include <stdbool.h>

#include "tern/tern_stats.h"

#define PUBLISHED_PATIENCE 200000 /* ms: the driver publishes ten times a second if the host has time for it */

/** The last copy of the statistics. */
extern struct tern_stats published;
/** Reads until the condition holds of the published statistics. false: it never did, and `published` is the last
 * copy. */
bool published_until(bool (*condition)(void));

#endif
