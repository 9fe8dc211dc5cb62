/* SPDX-License-Identifier: Apache-2.0 */
/** The HTML page of a migration's report, made from invented rounds. Every chart shows something, and a text says why
 * if there is none. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <cmocka.h>

#include "migration/tool/tool.h"

#define MANY 40u
#define AXIS 172.0 /* Distance of a chart's axis from its top. */

static uint32_t random_state = 1;

static uint32_t below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)n * random_state >> 32);
}

static char *page(const struct migrate_report *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    assert_true(migrate_report_html(r, f));
    assert_int_equal(fclose(f), 0);
    return text;
}

static double attribute(const char *from, const char *name)
{
    const char *at = strstr(from, name);
    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

/** Reads the heights of a curve's points above the axis, in order, MANY at most. Returns their number. */
static size_t read_curve(const char *chart, const char *end, double heights[MANY])
{
    size_t n = 0;
    const char *at = strstr(chart, "<polyline ");
    if (!at || at > end) {
        return 0;
    }
    at = strstr(at, "points=\"") + strlen("points=\"");
    while (*at != '"' && n < MANY) {
        char *rest;
        strtod(at, &rest);
        heights[n++] = AXIS - strtod(rest + 1, &rest);
        at = rest + 1;
    }
    return n;
}

/** Returns whether the chart has a bar with a width and a height, or a curve that leaves the axis. */
static bool shows(const char *chart, const char *end)
{
    double heights[MANY];
    const size_t n = read_curve(chart, end, heights);
    for (const char *bar = strstr(chart, "<rect "); bar && bar < end; bar = strstr(bar + 1, "<rect ")) {
        if (attribute(bar, " width=\"") > 0 && attribute(bar, " height=\"") > 0) {
            return true;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (heights[i] > 0) {
            return n > 1;
        }
    }
    return false;
}

/** A round with more pages left has a higher point. */
static void check_curve(const struct migrate_report *r, const char *chart)
{
    double heights[MANY];
    assert_int_equal(read_curve(chart, strstr(chart, "</svg>"), heights), r->n);
    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = 0; k < r->n; k++) {
            assert_true(r->rounds[i].left > r->rounds[k].left || heights[i] <= heights[k]);
        }
    }
}

static void check_charts(const struct migrate_report *r, const char *text, bool curve)
{
    unsigned charts = 0;
    for (const char *chart = strstr(text, "<svg"); chart; chart = strstr(chart + 1, "<svg")) {
        const char *end = strstr(chart, "</svg>");
        assert_non_null(end);
        if (!shows(chart, end)) {
            fail_msg("a chart of %zu rounds shows nothing: %.*s", r->n, (int)(end - chart), chart);
        }
        charts++;
    }
    if (curve) {
        check_curve(r, strstr(text, "<svg"));
    }
    assert_int_equal(charts, r->n == 0 ? 0 : curve ? 3 : 2);
    assert_int_equal(strstr(text, "There is no curve to draw") != NULL, r->n && !curve);
}

static void fill(struct migrate_report *r, size_t n, bool moved, uint32_t most_left)
{
    static struct tern_wire_progress rounds[MANY];
    uint64_t sent = 0;
    memset(rounds, 0, sizeof rounds);
    for (size_t i = 0; i < n; i++) {
        rounds[i].number = (uint32_t)i + 1;
        rounds[i].pages = 1 + below(1u << 20);
        rounds[i].bytes = 1 + below(1u << 30);
        rounds[i].ns = 1 + below(1u << 30);
        rounds[i].left = most_left ? below(most_left + 1) : 0;
        rounds[i].expected_ns = rounds[i].left ? 1 + below(1u << 30) : 0;
        sent += rounds[i].bytes;
    }
    *r = (struct migrate_report){.from = "a", .to = "b", .partition = "p", .downtime_ns = 300000000, .rounds = rounds,
                                 .n = n, .moved = moved, .why = moved ? NULL : "because"};
    r->end.programs = 1 + below(3);
    r->end.processes = 1 + below(3);
    r->end.bytes = sent + 1 + below(1000000);
    r->end.stopped_ns = 1 + below(1u << 30);
}

static void test_every_chart_shows_something(void **state)
{
    (void)state;
    static const uint32_t left[] = {0, 1, 48, 1u << 20};
    for (size_t n = 0; n <= MANY; n++) {
        for (size_t k = 0; k < 8 * sizeof left / sizeof *left; k++) {
            struct migrate_report r;
            bool any = false;
            fill(&r, n, k % 2, left[k / 8]);
            for (size_t i = 0; i < n; i++) {
                any = any || r.rounds[i].left;
            }
            char *text = page(&r);
            check_charts(&r, text, any && n > 1);
            free(text);
        }
    }
}

static void expect(const struct migrate_report *r, const char *sentence)
{
    char *text = page(r);
    if (!strstr(text, sentence)) {
        fail_msg("no '%s' in %s", sentence, strstr(text, "<body>"));
    }
    free(text);
}

static void test_what_is_said_instead(void **state)
{
    (void)state;
    struct tern_wire_progress rounds[2] = {{.number = 1, .pages = 48, .bytes = 20000, .ns = 5000000, .left = 3}};
    struct migrate_report r = {.from = "a", .to = "b", .partition = "p", .rounds = rounds, .n = 1, .moved = true,
                               .end = {.programs = 1, .processes = 1, .bytes = 22000, .stopped_ns = 1600000}};
    expect(&r, "There is no curve to draw: 1 round sent 48 pages as 0.02 MiB, and the programs wrote 3 pages (0.01 "
               "MiB) meanwhile.");
    expect(&r, " 1 program with 1 process; 1 round and the rest: 0.0 MiB. Nothing ran for <b>1.6 ms</b>, in which 0.00 "
               "MiB were sent.");
    rounds[0].left = 1;
    expect(&r, "the programs wrote 1 page (0.00 MiB) meanwhile.");
    rounds[0].left = 0;
    rounds[1] = (struct tern_wire_progress){.number = 2, .pages = 1, .bytes = 1048576, .ns = 1};
    r.n = 2;
    r.end.programs = 2;
    r.end.processes = 3;
    expect(&r, "2 rounds sent 49 pages as 1.02 MiB, and the programs wrote nothing meanwhile.");
    expect(&r, " 2 programs with 3 processes; 2 rounds and the rest: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_chart_shows_something),
        cmocka_unit_test(test_what_is_said_instead),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
