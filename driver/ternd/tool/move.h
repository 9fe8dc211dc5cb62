/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of tern migrate --from: move.c, far.c. */
#ifndef TERND_TOOL_MOVE_H
#define TERND_TOOL_MOVE_H

#include "stream/tool/tls.h"
#include "ternd/tool/report.h"

struct move_options {
    const char *from, *to, *partition;
    const char *report; /* file; NULL: none */
    bool json, foreground;
    struct tls_options tls;
    struct tern_wire_migrate how;
};

/** Says what went wrong where; FAILED. */
int move_say(const char *where, const char *why);
/** Keeps a round for the report, and shows it. */
void move_round(struct move_report *report, const struct tern_wire_progress *p, bool show);

/** Is this another machine? */
bool move_is_far(const char *to);
/** The options that belong to it are there: DONE, USAGE. */
int move_far_check(const struct move_options *o);
struct far_source;
/** Moves, and fills the report's end: DONE, and *out is to be served; FAILED. */
int move_far(const struct move_options *o, struct move_report *report, struct far_source **out);
/** Carries what the programs say, in the background unless the options say otherwise: exit status. */
int move_far_stay(const struct move_options *o, struct far_source *s);
/** The option's place, if it is one of TLS; else NULL. */
const char **move_tls_option(struct tls_options *o, const char *name);

#endif
