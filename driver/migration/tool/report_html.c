/* SPDX-License-Identifier: Apache-2.0 */
/** A migration report as one page of HTML (tool.h): the result, three charts, and all numbers. */
#include <inttypes.h>
#include <math.h>

#include "migration/tool/tool.h"

#define MIB 1048576.0
#define LEFT 64.0    /* left end of the axes of each chart, and its sizes */
#define WIDTH 640.0
#define HEIGHT 160.0
#define TOP 12.0
#define AXIS_MIN (MIB / 1000)
#define LABELLED_COLUMNS_MAX 10u /* largest number of columns that show their values */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>Migration report</title>\n<style>\n"
    ":root { color-scheme: light dark; --line: #1f77b4; --stop: #d62728; --soft: #8888; }\n"
    "body { font: 15px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2em auto; padding: 0 1em; }\n"
    "svg { width: 100%; height: auto; }\n"
    "svg text { fill: currentColor; font-size: 11px; }\n"
    ".axis { stroke: var(--soft); } .left { stroke: var(--line); fill: none; stroke-width: 2; }\n"
    ".sent { fill: var(--line); } .stopped { fill: var(--stop); } .limit { stroke: var(--stop); "
    "stroke-dasharray: 4 3; }\n.throttled { opacity: 0.6; }\n"
    "table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }\n"
    "th, td { text-align: right; padding: 0.2em 0.5em; border-bottom: 1px solid var(--soft); }\n"
    ".failed { color: var(--stop); }\n</style>\n</head>\n<body>\n";

/** Prints text with HTML's special characters escaped. */
static void text(FILE *f, const char *t)
{
    for (; *t; t++) {
        switch (*t) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '"': fputs("&quot;", f); break;
        default: fputc((unsigned char)*t < ' ' || *t == 127 ? '?' : *t, f);
        }
    }
}

/** Prints a number and a noun, as "1 page" or "2 pages"; for nouns and verbs whose plural or third person adds an s. */
static void counted(FILE *f, uint64_t n, const char *noun)
{
    fprintf(f, "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

static void what(const struct migrate_report *r, FILE *f)
{
    fputs("<h1>Partition ", f);
    text(f, r->partition);
    fputs(r->moved ? " has moved</h1>\n<p>From <code>" : " has not moved</h1>\n<p>From <code>", f);
    text(f, r->from);
    fputs("</code> to <code>", f);
    text(f, r->to);
    fputs("</code>.", f);
    if (r->moved) {
        fputc(' ', f);
        counted(f, r->end.programs, "program");
        fprintf(f, " with %" PRIu32 " process%s; ", r->end.processes, r->end.processes == 1 ? "" : "es");
        counted(f, r->n, "round");
        fprintf(f, " and the rest: %.1f MiB. Nothing ran for <b>%.1f ms</b>, in which %.2f MiB were sent.</p>\n",
                (double)r->end.bytes / MIB, (double)r->end.stopped_ns / 1e6,
                (double)migrate_report_last_bytes(r) / MIB);
    } else {
        fputs(" They go on where they were.</p>\n<p class=\"failed\">", f);
        text(f, r->why);
        fputs("</p>\n", f);
    }
}

static void chart_begin(FILE *f, const char *title, const char *sentence)
{
    fprintf(f, "<h2>%s</h2>\n<p>%s</p>\n<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n", title,
            sentence, LEFT + WIDTH + 16, TOP + HEIGHT + 36, title);
    fprintf(f, "<path class=\"axis\" fill=\"none\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", LEFT, TOP, TOP + HEIGHT,
            LEFT + WIDTH);
}

static void label(FILE *f, double x, double y, const char *anchor, const char *format, double value)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    fprintf(f, format, value);
    fputs("</text>\n", f);
}

/** The middle of column i; the last column is the downtime. */
static double slot(const struct migrate_report *r, size_t i)
{
    return LEFT + WIDTH * ((double)i + 0.5) / (double)(r->n + 1);
}

/** Height on a logarithmic axis that begins at AXIS_MIN bytes. */
static double height_of(double bytes, double decades)
{
    const double v = bytes > AXIS_MIN ? log10(bytes / AXIS_MIN) : 0;
    return TOP + HEIGHT * (1 - v / decades);
}

static void column_numbers(const struct migrate_report *r, FILE *f)
{
    const size_t step = (r->n + 20) / 20;
    for (size_t i = 0; i < r->n; i += step) {
        label(f, slot(r, i), TOP + HEIGHT + 16, "middle", "%.0f", r->rounds[i].number);
    }
}

/** True: the remaining pages make a curve, of two points at least with one above the axis. Otherwise words describe
 *  them. */
static bool curve(const struct migrate_report *r)
{
    bool any = false;
    for (size_t i = 0; i < r->n; i++) {
        any = any || r->rounds[i].left;
    }
    return any && r->n > 1;
}

/** Describes the pages that the rounds sent and left, if there is no curve. */
static void say_convergence(const struct migrate_report *r, FILE *f)
{
    uint64_t pages = 0, bytes = 0;
    for (size_t i = 0; i < r->n; i++) {
        pages += r->rounds[i].pages;
        bytes += r->rounds[i].bytes;
    }
    const uint64_t left = r->rounds[r->n - 1].left;
    fputs("<h2>Convergence</h2>\n<p>There is no curve to draw: ", f);
    counted(f, r->n, "round");
    fputs(" sent ", f);
    counted(f, pages, "page");
    fprintf(f, " as %.2f MiB, and the programs wrote ", (double)bytes / MIB);
    if (left) {
        counted(f, left, "page");
        fprintf(f, " (%.2f MiB)", (double)left * MIGRATE_PAGE_BYTES / MIB);
    } else {
        fputs("nothing", f);
    }
    fputs(" meanwhile.</p>\n", f);
}

/** Draws the pages that each round left, and the pages that the limit allows at the speed of that round. */
static void convergence(const struct migrate_report *r, FILE *f)
{
    double most = MIB;
    if (!curve(r)) {
        say_convergence(r, f);
        return;
    }
    for (size_t i = 0; i < r->n; i++) {
        most = fmax(most, (double)r->rounds[i].left * MIGRATE_PAGE_BYTES);
    }
    const double decades = ceil(log10(most / AXIS_MIN));
    chart_begin(f, "Convergence", "MiB that the programs have written while a round was sent, after each round. "
                                  "Dashed: what the last round's speed sends within the limit of the blackout.");
    for (double d = 0; d <= decades; d++) {
        const double bytes = AXIS_MIN * pow(10, d);
        label(f, LEFT - 6, height_of(bytes, decades) + 4, "end", "%g", bytes / MIB);
    }
    column_numbers(r, f);
    fputs("<polyline class=\"left\" points=\"", f);
    for (size_t i = 0; i < r->n; i++) {
        fprintf(f, "%.1f,%.1f ", slot(r, i), height_of((double)r->rounds[i].left * MIGRATE_PAGE_BYTES, decades));
    }
    fputs("\"/>\n", f);
    const struct tern_wire_progress *last = r->n ? &r->rounds[r->n - 1] : NULL;
    if (last && last->left && last->expected_ns) {
        const double may = (double)last->left * MIGRATE_PAGE_BYTES * (double)r->downtime_ns / (double)last->expected_ns;
        const double y = fmax(height_of(may, decades), TOP);
        fprintf(f, "<path class=\"limit\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT, y, LEFT + WIDTH);
    }
    fputs("</svg>\n", f);
}

static void bytes_a_round(const struct migrate_report *r, FILE *f)
{
    double most = (double)migrate_report_last_bytes(r);
    for (size_t i = 0; i < r->n; i++) {
        most = fmax(most, (double)r->rounds[i].bytes);
    }
    if (most == 0) {
        return;
    }
    chart_begin(f, "Bytes a round", "MiB of the stream that each round has sent; red: while nothing ran.");
    label(f, LEFT - 6, TOP + 4, "end", "%.3g", most / MIB);
    label(f, LEFT - 6, TOP + HEIGHT + 4, "end", "%.0f", 0);
    column_numbers(r, f);
    for (size_t i = 0; i < r->n + r->moved; i++) {
        const double bytes = i < r->n ? (double)r->rounds[i].bytes : (double)migrate_report_last_bytes(r);
        const double w = 0.7 * WIDTH / (double)(r->n + 1), h = HEIGHT * bytes / most;
        if (r->n <= LABELLED_COLUMNS_MAX) { /* a column may be too low to be visible */
            label(f, slot(r, i), fmax(TOP + HEIGHT - h - 4, TOP - 2), "middle", "%.3g", bytes / MIB);
        }
        fprintf(f, "<rect class=\"%s\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\"/>\n",
                i < r->n ? "sent" : "stopped", slot(r, i) - w / 2, TOP + HEIGHT - h, w, h);
    }
    fputs("</svg>\n", f);
}

static void timeline(const struct migrate_report *r, FILE *f)
{
    double all = r->moved ? (double)r->end.stopped_ns : 0, at = 0;
    for (size_t i = 0; i < r->n; i++) {
        all += (double)r->rounds[i].ns;
    }
    if (all == 0) {
        return;
    }
    chart_begin(f, "Timeline", "When the rounds were sent, in ms from the first one's begin; paler: the programs were "
                               "slowed down; red: nothing ran.");
    label(f, LEFT, TOP + HEIGHT + 16, "middle", "%.0f", 0);
    label(f, LEFT + WIDTH, TOP + HEIGHT + 16, "middle", "%.1f", all / 1e6);
    for (size_t i = 0; i < r->n + r->moved; i++) {
        const bool stopped = i == r->n;
        const double ns = (double)(stopped ? r->end.stopped_ns : r->rounds[i].ns);
        fprintf(f, "<rect class=\"%s%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>\n",
                stopped ? "stopped" : "sent", !stopped && r->rounds[i].throttle ? " throttled" : "",
                LEFT + WIDTH * at / all, TOP + HEIGHT * (stopped || i % 2 ? 0.55 : 0.25), WIDTH * ns / all,
                HEIGHT * 0.25);
        at += ns;
    }
    fputs("</svg>\n", f);
}

static void numbers(const struct migrate_report *r, FILE *f)
{
    fputs("<h2>Numbers</h2>\n<table>\n<tr><th>round</th><th>pages</th><th>MiB sent</th><th>ms</th><th>pages left</th>"
          "<th>written, MiB/s</th><th>expected blackout, ms</th><th>throttle</th></tr>\n", f);
    for (size_t i = 0; i < r->n; i++) {
        const struct tern_wire_progress *p = &r->rounds[i];
        fprintf(f, "<tr><td>%" PRIu32 "</td><td>%" PRIu64 "</td><td>%.2f</td><td>%.1f</td><td>%" PRIu64
                "</td><td>%.1f</td><td>%.1f</td><td>%" PRIu32 "/8</td></tr>\n", p->number, p->pages,
                (double)p->bytes / MIB, (double)p->ns / 1e6, p->left, migrate_report_rate(p) / MIB,
                (double)p->expected_ns / 1e6, p->throttle);
    }
    if (r->moved) {
        fprintf(f, "<tr><td>rest</td><td></td><td>%.2f</td><td>%.1f</td><td>0</td><td></td><td></td><td></td></tr>\n",
                (double)migrate_report_last_bytes(r) / MIB, (double)r->end.stopped_ns / 1e6);
    }
    fputs("</table>\n", f);
}

bool migrate_report_html(const struct migrate_report *r, FILE *f)
{
    fputs(head, f);
    what(r, f);
    if (r->n) {
        convergence(r, f);
        bytes_a_round(r, f);
        timeline(r, f);
        numbers(r, f);
    }
    fputs("</body>\n</html>\n", f);
    return !ferror(f);
}
