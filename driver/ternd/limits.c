/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The limits file has sections `[default]`, `[user NAME]` and `[group NAME]`, or numbers for names, with lines `KEY =
 * VALUE`. `#` begins a comment. The order of precedence is: the user's own section, sections of its groups in the order
 * of the file, the default section, built-in defaults. The file is read once, when ternd starts.
 */
#include "ternd/limits.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "wire/wire.h"

enum which { DEFAULT, USER, GROUP };

struct section {
    enum which which;
    uint32_t id;
    uint32_t set; /* bit mask of the keys that the section sets */
    uint64_t value[11];
    char partition[TERN_PARTITION_NAME];
};

struct ternd_limits_file {
    struct section *section;
    size_t count;
};

#define KEY_PARTITION 10 /* index of the key whose value is a name */

static const struct {
    const char *name;
    bool suffix, yes_no;
    uint64_t low, high;
} keys[] = {
    {"memory", true, false, 0, UINT64_MAX >> 1},
    {"queue", true, false, 2u << 20, 1ull << 40},
    {"contexts", false, false, 0, UINT32_MAX},
    {"connections", false, false, 0, UINT32_MAX},
    {"calls", false, false, 1, TERN_WIRE_CONNECTIONS_MAX},
    {"focus", false, true, 0, 1},
    {"realtime", false, true, 0, 1},
    {"share", false, false, 1, TERN_WEIGHT_MAX},
    {"partitions", false, true, 0, 1},
    {"pinned", true, false, 0, UINT64_MAX >> 1},
    [KEY_PARTITION] = {"partition", false, false, 0, 0},
};
#define KEY_COUNT (sizeof keys / sizeof *keys)

/* ------------------------------------------------------------------ reading */

struct reader {
    const char *path, *line;
    const char *at;
    unsigned number;
};

__attribute__((format(printf, 3, 4))) static int bad(const struct reader *r, const char *at, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tern_error(-EINVAL, "%s:%u:%u: %s", r->path, r->number, (unsigned)(at - r->line) + 1, text);
}

static void skip(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t') {
        r->at++;
    }
}

/** Reads a word of the characters of names, keys and values; empty: none comes next. */
static void word(struct reader *r, char *out, size_t size)
{
    size_t n = 0;
    skip(r);
    while (isalnum((unsigned char)*r->at) || (*r->at && strchr("._-+$", *r->at))) {
        if (n + 1 < size) {
            out[n++] = *r->at;
        }
        r->at++;
    }
    out[n] = '\0';
}

/** Reads up to a space or a comment. */
static void token(struct reader *r, char *out, size_t size)
{
    skip(r);
    const size_t all = strcspn(r->at, " \t\n#"), n = all < size ? all : size - 1;
    memcpy(out, r->at, n);
    out[n] = '\0';
    r->at += all;
}

static int end_of_line(struct reader *r)
{
    skip(r);
    return *r->at && *r->at != '#' && *r->at != '\n' ? bad(r, r->at, "nothing may follow here, but '%c' does", *r->at)
                                                     : 0;
}

static int find_id(struct reader *r, const char *at, struct section *s, const char *name)
{
    char *end;
    const unsigned long number = strtoul(name, &end, 10);
    if (isdigit((unsigned char)*name) && !*end && number <= UINT32_MAX) {
        s->id = (uint32_t)number;
        return 0;
    }
    const struct passwd *u = s->which == USER ? getpwnam(name) : NULL;
    const struct group *g = s->which == GROUP ? getgrnam(name) : NULL;
    if (!u && !g) {
        return bad(r, at, "there is no %s '%s'", s->which == USER ? "user" : "group", name);
    }
    s->id = u ? u->pw_uid : g->gr_gid;
    return 0;
}

static int read_section(struct reader *r, struct section *s)
{
    char kind[32], name[64];
    const char *at = ++r->at;
    memset(s, 0, sizeof *s);
    word(r, kind, sizeof kind);
    s->which = !strcmp(kind, "user") ? USER : !strcmp(kind, "group") ? GROUP : DEFAULT;
    if (s->which == DEFAULT && strcmp(kind, "default")) {
        return bad(r, at, "a section is [default], [user NAME] or [group NAME]");
    }
    if (s->which != DEFAULT) {
        skip(r);
        at = r->at;
        word(r, name, sizeof name);
        const int e = *name ? find_id(r, at, s, name) : bad(r, at, "a name is missing");
        if (e) {
            return e;
        }
    }
    skip(r);
    if (*r->at != ']') {
        return bad(r, r->at, "']' is missing");
    }
    r->at++;
    return end_of_line(r);
}

static int number(struct reader *r, const char *at, const char *text, size_t key, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    const char *unit = end && *end && keys[key].suffix ? strchr("KMG", *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - "KMG" + 1) : 0;
    if (!end || end[unit != NULL]) {
        return bad(r, at, "'%s' is not a number%s", text, keys[key].suffix ? " (bytes, or with K, M or G)" : "");
    }
    if (errno || v > UINT64_MAX >> shift || v << shift < keys[key].low || v << shift > keys[key].high) {
        return bad(r, at, "%s is out of range: %" PRIu64 " to %" PRIu64, text, keys[key].low, keys[key].high);
    }
    *out = (uint64_t)v << shift;
    return 0;
}

static int read_partition(struct reader *r, struct section *s)
{
    char value[sizeof s->partition + 1];
    const char *at = r->at;
    token(r, value, sizeof value);
    if (tern_name_check(value, sizeof s->partition)) {
        return bad(r, at, "%s", tern_last_error());
    }
    memcpy(s->partition, value, sizeof s->partition);
    return 0;
}

static int read_key(struct reader *r, struct section *s)
{
    char name[32], value[32];
    size_t key = 0;
    const char *at = r->at;
    word(r, name, sizeof name);
    while (key < KEY_COUNT && strcmp(name, keys[key].name)) {
        key++;
    }
    if (key == KEY_COUNT) {
        return bad(r, at, "'%s' is none of memory, pinned, queue, contexts, connections, calls, focus, realtime, "
                   "share, partitions and partition", name);
    }
    if (!s) {
        return bad(r, at, "a section must come first: [default], [user NAME] or [group NAME]");
    }
    if (s->set >> key & 1) {
        return bad(r, at, "%s is there twice", name);
    }
    skip(r);
    if (*r->at != '=') {
        return bad(r, r->at, "'=' is missing");
    }
    r->at++;
    skip(r);
    at = r->at;
    int e = 0;
    if (key == KEY_PARTITION) {
        e = read_partition(r, s);
    } else {
        word(r, value, sizeof value);
        e = !keys[key].yes_no ? number(r, at, value, key, &s->value[key])
            : strcmp(value, "yes") && strcmp(value, "no") ? bad(r, at, "%s is yes or no", name) : 0;
        if (!e && keys[key].yes_no) {
            s->value[key] = *value == 'y';
        }
    }
    s->set |= 1u << key;
    return e ? e : end_of_line(r);
}

static int read_line(struct reader *r, struct ternd_limits_file *f)
{
    r->at = r->line;
    skip(r);
    if (*r->at == '\0' || *r->at == '\n' || *r->at == '#') {
        return 0;
    }
    if (*r->at != '[') {
        return read_key(r, f->count ? &f->section[f->count - 1] : NULL);
    }
    struct section s, *more = realloc(f->section, (f->count + 1) * sizeof *more);
    if (!more) {
        return tern_error_memory("limits");
    }
    f->section = more;
    const char *at = r->at;
    const int e = read_section(r, &s);
    for (size_t i = 0; !e && i < f->count; i++) {
        if (more[i].which == s.which && more[i].id == s.id) {
            return bad(r, at, "this section is there twice");
        }
    }
    if (!e) {
        more[f->count++] = s;
    }
    return e;
}

int ternd_limits_read(const char *path, struct ternd_limits_file **out)
{
    struct reader r = {.path = path};
    struct ternd_limits_file *f = calloc(1, sizeof *f);
    char *text = NULL, *end = NULL;
    size_t size = 0;
    int e = f ? 0 : tern_error_memory("limits");
    if (e == 0 && path) {
        e = tern_file_read(path, TERND_LIMITS_BYTES, &text, &size);
    }
    for (char *next = text; !e && size && next < text + size; next = end + 1) {
        r.line = next;
        r.number++;
        end = memchr(next, '\n', (size_t)(text + size - next));
        end = end ? end : text + size;
        *end = '\0';
        e = strlen(next) != (size_t)(end - next) ? bad(&r, next + strlen(next), "a NUL byte") : read_line(&r, f);
    }
    free(text);
    if (e) {
        ternd_limits_free(f);
        return e;
    }
    *out = f;
    return 0;
}

/* ------------------------------------------------------------------ what holds */

static bool member(const gid_t *groups, int n, uint32_t gid)
{
    for (int i = 0; i < n; i++) {
        if (groups[i] == gid) {
            return true;
        }
    }
    return false;
}

void ternd_limits_of(const struct ternd_limits_file *f, uid_t uid, struct ternd_limits *out)
{
    uint64_t value[KEY_COUNT] = {UINT64_MAX >> 1, 64u << 20, 4096, 1024, 64, 1, uid == 0, TERN_WEIGHT_NORMAL, 0,
                                 TERND_PINNED_DEFAULT, 0};
    const char *partition = "";
    gid_t groups[256];
    int n = 0;
    struct passwd entry, *u = NULL;
    char text[4096];
    if (getpwuid_r(uid, &entry, text, sizeof text, &u) == 0 && u) {
        n = 256;
        n = getgrouplist(u->pw_name, u->pw_gid, groups, &n) < 0 ? 256 : n;
    }
    static const enum which order[] = {DEFAULT, GROUP, USER}; /* a later one replaces the values of earlier ones */
    for (size_t o = 0; o < sizeof order / sizeof *order; o++) {
        const enum which w = order[o];
        for (size_t i = f->count; i-- > 0;) {
            const struct section *s = &f->section[i];
            const bool is = s->which == w &&
                (w == DEFAULT || (w == USER && s->id == uid) || (w == GROUP && member(groups, n, s->id)));
            for (size_t k = 0; is && k < KEY_COUNT; k++) {
                value[k] = s->set >> k & 1 ? s->value[k] : value[k];
            }
            partition = is && s->set >> KEY_PARTITION & 1 ? s->partition : partition;
        }
    }
    *out = (struct ternd_limits){
        .memory = value[0], .queue = value[1], .contexts = (uint32_t)value[2], .connections = (uint32_t)value[3],
        .calls = (uint32_t)value[4], .focus = value[5], .realtime = value[6], .share = (uint32_t)value[7],
        .partitions = value[8], .pinned = value[9]};
    memcpy(out->partition, partition, strlen(partition));
}

void ternd_limits_free(struct ternd_limits_file *f)
{
    if (f) {
        free(f->section);
        free(f);
    }
}
