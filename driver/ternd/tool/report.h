/* SPDX-License-Identifier: Apache-2.0 */
/** What became of a migration between two ternd, kept to be told as JSON and as a page of HTML. */
#ifndef TERND_TOOL_REPORT_H
#define TERND_TOOL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "wire/wire.h"

#define MOVE_PAGE 4096.0 /* bytes of a page */

/** Texts are the caller's, and live as long. */
struct move_report {
    const char *from, *to, *partition;
    uint64_t downtime_ns;              /**< What was allowed. */
    struct tern_wire_progress *rounds; /**< n of them, in order; freed by move_report_free. */
    size_t n;
    uint32_t mended;                   /**< How often lost links were made again. */
    bool moved;
    struct tern_wire_progress end;     /**< What the source said at last. */
    const char *why;                   /**< Not moved: the sentence that says why; never NULL then. */
};

/** Keeps a round. false: there is no memory for it. */
bool move_report_round(struct move_report *r, const struct tern_wire_progress *round);
void move_report_free(struct move_report *r);

/** How fast the programs wrote to new pages while the round was sent, in bytes a second. */
double move_report_rate(const struct tern_wire_progress *round);
/** Bytes of the stream that were sent while nothing ran. 0: it has not moved. */
uint64_t move_report_last_bytes(const struct move_report *r);

/** One JSON object and a newline. false: no memory, or f has an error. */
bool move_report_json(const struct move_report *r, FILE *f);
/** One page of HTML that needs no other file. false: f has an error. */
bool move_report_html(const struct move_report *r, FILE *f);

#endif
