/* SPDX-License-Identifier: Apache-2.0 */
/** `tern migrate --from` and `tern migrate serve`: move.c, far.c. */
#ifndef TERND_TOOL_MOVE_H
#define TERND_TOOL_MOVE_H

#include "migration/tool/report.h"
#include "migration/tool/tls.h"

struct move_options {
    const char *from, *to, *partition;
    const char *report; /* name of the report's file; NULL: none */
    bool json, foreground;
    struct tls_options tls;
    struct tern_wire_migrate how;
};

/** tern migrate --from, which is the first argument. */
int move_command(int argc, char **argv);
/** tern migrate serve */
int serve_command(int argc, char **argv);

/** Prints an error with its place. Returns FAILED. */
int move_say(const char *where, const char *why);
/** Adds a round to the report, and prints it if `show`. */
void move_round(struct move_report *report, const struct tern_wire_progress *p, bool show);

/** True: the address is that of another machine. */
bool move_is_far(const char *to);
/** Checks that the options for another machine are complete. DONE or USAGE. */
int move_far_check(const struct move_options *o);
struct far_source;
/** Migrates to another machine, and completes the report. DONE: the caller serves *out with move_far_stay. FAILED. */
int move_far(const struct move_options *o, struct move_report *report, struct far_source **out);
/** Serves the programs that have moved, in the background unless the options say otherwise. Returns the exit status. */
int move_far_stay(const struct move_options *o, struct far_source *s);
/** Where the value of a TLS option is stored; NULL: it is no TLS option. */
const char **move_tls_option(struct tls_options *o, const char *name);

#endif
