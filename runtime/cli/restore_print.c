/* SPDX-License-Identifier: Apache-2.0 */
/** The result of a restored checkpoint: digests, text, JSON. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <xxhash.h>

#include "cli.h"
#include "json.h"
#include "restore.h"

#define PIECE (1u << 20)

static FILE *dump_file(const char *folder, uint32_t number, uint32_t address, char path[PATH_MAX])
{
    if ((size_t)snprintf(path, PATH_MAX, "%s/%" PRIu32 "-%08" PRIx32 ".bin", folder, number, address) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return fopen(path, "wbe");
}

/** Closes the file. False, after a message: not all bytes were written. */
static bool close_dump(FILE *out, const char *path, int error)
{
    error = out && fclose(out) && !error ? errno : error;
    if (error) {
        fprintf(stderr, "tern restore: %s: %s\n", path, strerror(error));
    }
    return !error;
}

int restore_digest(const struct restored *r, uint32_t process, uint32_t number, uint32_t memory,
                   const struct tern_checkpoint_memory *info, const char *folder, uint64_t *digest, bool *read)
{
    char path[PATH_MAX] = "";
    XXH3_state_t *hash = XXH3_createState();
    void *data = malloc(PIECE);
    FILE *out = folder ? dump_file(folder, number, info->address, path) : NULL;
    int wrong = folder && !out ? errno : 0; /* error of the file, without which there still is a digest */
    *read = hash && data;
    if (*read) {
        XXH3_64bits_reset(hash);
    } else {
        fprintf(stderr, "tern restore: %s\n", strerror(ENOMEM));
    }
    for (uint64_t at = 0; *read && at < info->bytes; at += PIECE) {
        const size_t n = info->bytes - at < PIECE ? (size_t)(info->bytes - at) : PIECE;
        *read = tern_checkpoint_read(r->checkpoint, process, memory, at, data, n) == 0;
        if (!*read) {
            fprintf(stderr, "tern restore: %s\n", tern_last_error());
            break;
        }
        XXH3_64bits_update(hash, data, n);
        wrong = out && !wrong && fwrite(data, 1, n, out) != n ? errno : wrong;
    }
    *digest = *read ? XXH3_64bits_digest(hash) : 0;
    XXH3_freeState(hash);
    free(data);
    return close_dump(out, path, wrong) && *read ? EXIT_OK : EXIT_FAILED;
}

static const char *end_text(enum tern_checkpoint_end end)
{
    return end == TERN_CHECKPOINT_STOPPED ? "stopped" : end == TERN_CHECKPOINT_WAITS ? "waits" : "ended";
}

/** As "r-x". */
static const char *rights(uint32_t flags, char text[8])
{
    snprintf(text, 8, "%c%c%c%s", flags & (TERN_MEM_READ | TERN_MEM_WRITE) ? 'r' : '-',
             flags & TERN_MEM_WRITE ? 'w' : '-', flags & TERN_MEM_EXEC ? 'x' : '-',
             flags & TERN_MEM_SPARSE ? "s" : "");
    return text;
}

static void add_hex(cJSON *o, const char *name, const char *format, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, format, value);
    cJSON_AddStringToObject(o, name, text);
}

/* ------------------------------------------------------------------------- parts */

static void show_context(const struct tern_checkpoint_context *c, cJSON *to)
{
    if (!to) {
        printf("  context %" PRIu32 " '%s': of %" PRIu64 " buffers %" PRIu64 " are left%s%s; in all %" PRIu64
               " completed, %" PRIu64 " aborted, %" PRIu64 " cycles\n",
               c->number, c->name, c->saved, c->left, *c->label ? ", the next of them " : "", c->label, c->completed,
               c->aborted, c->cycles);
        return;
    }
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "number", c->number);
    cJSON_AddStringToObject(o, "name", c->name);
    cJSON_AddNumberToObject(o, "saved", (double)c->saved);
    cJSON_AddNumberToObject(o, "left", (double)c->left);
    cJSON_AddStringToObject(o, "label", c->label);
    cJSON_AddNumberToObject(o, "completed", (double)c->completed);
    cJSON_AddNumberToObject(o, "aborted", (double)c->aborted);
    cJSON_AddNumberToObject(o, "cycles", (double)c->cycles);
    cJSON_AddItemToArray(to, o);
}

static void show_memory(const struct tern_checkpoint_memory *m, uint64_t digest, cJSON *to)
{
    char text[8];
    if (!to) {
        printf("  0x%08" PRIx32 "  %10" PRIu64 " bytes  %-4s %s  %016" PRIx64 "\n", m->address, m->bytes,
               rights(m->flags, text), m->fence ? "fence" : "     ", digest);
        return;
    }
    cJSON *o = cJSON_CreateObject();
    add_hex(o, "address", "0x%08" PRIx64, m->address);
    cJSON_AddNumberToObject(o, "bytes", (double)m->bytes);
    cJSON_AddStringToObject(o, "rights", rights(m->flags, text));
    cJSON_AddBoolToObject(o, "fence", m->fence);
    add_hex(o, "digest", "%016" PRIx64, digest);
    cJSON_AddItemToArray(to, o);
}

static int show_process(const struct restored *r, uint32_t i, const char *folder, cJSON *to)
{
    struct tern_checkpoint_process p = {.size = sizeof p};
    struct tern_checkpoint_context c = {.size = sizeof c};
    struct tern_checkpoint_memory m = {.size = sizeof m};
    bool read = true;
    int status = EXIT_OK;
    tern_checkpoint_process(r->checkpoint, i, &p);
    cJSON *o = to ? cJSON_CreateObject() : NULL;
    cJSON *contexts = to ? cJSON_AddArrayToObject(o, "contexts") : NULL;
    cJSON *memories = to ? cJSON_AddArrayToObject(o, "memories") : NULL;
    if (to) {
        cJSON_AddItemToArray(to, o);
        cJSON_AddNumberToObject(o, "number", p.number);
        cJSON_AddStringToObject(o, "name", p.name);
        cJSON_AddItemToObject(o, "fault", p.fault.code ? cJSON_CreateString(p.fault.message) : cJSON_CreateNull());
    } else {
        printf("process %" PRIu32 " '%s'%s%s\n", p.number, p.name, p.fault.code ? " is in error: " : "",
               p.fault.code ? p.fault.message : "");
    }
    for (uint32_t k = 0; k < p.contexts; k++) {
        tern_checkpoint_context(r->checkpoint, i, k, &c);
        show_context(&c, contexts);
    }
    for (uint32_t k = 0; k < p.memories && read; k++) {
        uint64_t digest = 0;
        tern_checkpoint_memory(r->checkpoint, i, k, &m);
        if (restore_digest(r, i, p.number, k, &m, folder, &digest, &read)) {
            status = EXIT_FAILED;
        }
        if (read) {
            show_memory(&m, digest, memories);
        }
    }
    return p.fault.code ? EXIT_FAILED : status;
}

int restore_print(const struct restored *r, const char *folder, bool json)
{
    static const char *const said[] = {
        [TERN_CHECKPOINT_ENDED] = "all work has ended", [TERN_CHECKPOINT_STOPPED] = "stopped",
        [TERN_CHECKPOINT_WAITS] = "what is left waits for what the program did on the host"};
    struct tern_checkpoint_process p = {.size = sizeof p};
    cJSON *o = json ? cJSON_CreateObject() : NULL;
    int status = EXIT_OK;
    if (json) {
        cJSON_AddStringToObject(o, "backend", r->device.backend);
        cJSON_AddStringToObject(o, "config", r->device.config);
        cJSON_AddStringToObject(o, "end", end_text(r->end));
        cJSON_AddNumberToObject(o, "began", (double)r->began);
        cJSON_AddNumberToObject(o, "cycles", (double)(r->ended - r->began));
        cJSON_AddItemToObject(o, "asked_cycles", r->asked ? cJSON_CreateNumber((double)r->asked) : cJSON_CreateNull());
    } else {
        char asked[100] = "";
        if (r->end == TERN_CHECKPOINT_STOPPED) {
            snprintf(asked, sizeof asked, " (%" PRIu64 " as asked, and those until what ran was saved)", r->asked);
        }
        printf("%s, %s: %s after %" PRIu64 " cycles%s, which began at cycle %" PRIu64 "\n", r->device.backend,
               r->device.config, said[r->end], r->ended - r->began, asked, r->began);
    }
    cJSON *processes = json ? cJSON_AddArrayToObject(o, "processes") : NULL;
    for (uint32_t i = 0; !tern_checkpoint_process(r->checkpoint, i, &p); i++) {
        const int one = show_process(r, i, folder, processes);
        status = status == EXIT_OK ? one : status;
    }
    const int printed = json ? json_print("restore", o) : EXIT_OK;
    return status == EXIT_OK ? printed : status;
}
