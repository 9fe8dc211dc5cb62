/* SPDX-License-Identifier: Apache-2.0 */
/** The report of a migration between two ternd, printed as JSON or as a page of HTML. */
#ifndef TERND_TOOL_REPORT_H
#define TERND_TOOL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "wire/wire.h"

#define MOVE_PAGE 4096.0 /* bytes of a page */

/** The report. The caller owns all texts, which must live as long as the report. */
struct move_report {
    const char *from, *to, *partition;
    uint64_t downtime_ns;              /**< Allowed downtime, in ns. */
    struct tern_wire_progress *rounds; /**< Array of n rounds, in order; freed by move_report_free. */
    size_t n;
    uint32_t mended;                   /**< Number of times that lost links were replaced. */
    bool moved;
    struct tern_wire_progress end;     /**< The last message of the source. */
    const char *why;                   /**< The reason if `moved` is false, never NULL then. */
};

/** Adds a round. False: no memory. */
bool move_report_round(struct move_report *r, const struct tern_wire_progress *round);
void move_report_free(struct move_report *r);

/** Rate at which the programs wrote to new pages during the round, in bytes a second. */
double move_report_rate(const struct tern_wire_progress *round);
/** Bytes of the stream that were sent during the downtime; 0: the programs have not moved. */
uint64_t move_report_last_bytes(const struct move_report *r);

/** Prints one JSON object and a newline. False: no memory, or f has an error. */
bool move_report_json(const struct move_report *r, FILE *f);
/** Prints one page of HTML that needs no other file. False: f has an error. */
bool move_report_html(const struct move_report *r, FILE *f);

#endif
