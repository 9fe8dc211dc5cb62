/* SPDX-License-Identifier: Apache-2.0 */
/** The data of a migration report, and its JSON (tool.h). */
#include "migration/tool/tool.h"

#include <stdlib.h>

#include <cjson/cJSON.h>

bool migrate_report_round(struct migrate_report *r, const struct tern_wire_progress *round)
{
    struct tern_wire_progress *more = realloc(r->rounds, (r->n + 1) * sizeof *more);
    if (!more) {
        return false;
    }
    r->rounds = more;
    r->rounds[r->n++] = *round;
    return true;
}

void migrate_report_free(struct migrate_report *r)
{
    free(r->rounds);
    r->rounds = NULL;
    r->n = 0;
}

double migrate_report_rate(const struct tern_wire_progress *round)
{
    return round->ns ? (double)round->left * MIGRATE_PAGE_BYTES * 1e9 / (double)round->ns : 0;
}

uint64_t migrate_report_last_bytes(const struct migrate_report *r)
{
    uint64_t before = 0;
    for (size_t i = 0; i < r->n; i++) {
        before += r->rounds[i].bytes;
    }
    return r->moved && r->end.bytes > before ? r->end.bytes - before : 0;
}

static void number(cJSON *to, const char *name, uint64_t value)
{
    cJSON_AddNumberToObject(to, name, (double)value); /* exact below 2^53, which are 2,500 hours in ns */
}

static cJSON *round_json(const struct tern_wire_progress *p)
{
    cJSON *o = cJSON_CreateObject();
    number(o, "number", p->number);
    number(o, "pages", p->pages);
    number(o, "pages_zero", p->zero);
    number(o, "pages_unchanged", p->same);
    number(o, "content_bytes", p->content);
    number(o, "bytes", p->bytes);
    number(o, "ns", p->ns);
    number(o, "pages_left", p->left);
    cJSON_AddNumberToObject(o, "dirty_bytes_per_second", (double)(uint64_t)migrate_report_rate(p));
    number(o, "expected_blackout_ns", p->expected_ns);
    number(o, "throttle", p->throttle);
    return o;
}

bool migrate_report_json(const struct migrate_report *r, FILE *f)
{
    cJSON *o = cJSON_CreateObject(), *rounds;
    cJSON_AddStringToObject(o, "from", r->from);
    cJSON_AddStringToObject(o, "to", r->to);
    cJSON_AddStringToObject(o, "partition", r->partition);
    cJSON_AddBoolToObject(o, "moved", r->moved);
    if (!r->moved) {
        cJSON_AddStringToObject(o, "error", r->why);
    }
    number(o, "programs", r->end.programs);
    number(o, "processes", r->end.processes);
    number(o, "pages", r->end.pages);
    number(o, "pages_zero", r->end.zero);
    number(o, "pages_unchanged", r->end.same);
    number(o, "content_bytes", r->end.content);
    number(o, "bytes", r->end.bytes);
    number(o, "links_made_again", r->mended);
    number(o, "blackout_bytes", migrate_report_last_bytes(r));
    number(o, "blackout_ns", r->moved ? r->end.stopped_ns : 0);
    number(o, "downtime_limit_ns", r->downtime_ns);
    rounds = cJSON_AddArrayToObject(o, "rounds");
    for (size_t i = 0; i < r->n; i++) {
        cJSON_AddItemToArray(rounds, round_json(&r->rounds[i]));
    }
    char *text = cJSON_Print(o);
    const bool written = text && fprintf(f, "%s\n", text) > 0;
    cJSON_free(text);
    cJSON_Delete(o);
    return written;
}
