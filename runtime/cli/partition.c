/* SPDX-License-Identifier: Apache-2.0 */
/** tern partition: partitions of a ternd's device. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "tern/tern.h"
#include "value.h"

static const char usage[] =
    "usage: tern partition [list] [--json]\n"
    "       tern partition create NAME --memory SIZE [--host SIZE] [--share N]\n"
    "       tern partition resize NAME --memory SIZE\n"
    "       tern partition share NAME --share N\n"
    "       tern partition destroy NAME\n\n"
    "Lists, makes and changes partitions of the device of a ternd: parts with memory and a\n"
    "share of the engines of their own. Programs use one by TERN_PARTITION=NAME.\n"
    "  NAME           1 to 23 characters: letters, digits, '.', '_', '-'\n"
    "  --memory SIZE  device memory in bytes, with suffix K, M or G\n"
    "  --host SIZE    host memory for evicted memory; default: in proportion to --memory\n"
    "  --share N      weight among the partitions on each engine, 1 to 1000; default 100\n"
    "  --json         one JSON object\n"
    "Exit: 0 success; 1 failure; 2 wrong usage.\n";

/** The parsed arguments. */
struct request {
    const char *verb, *name;
    bool json, has_memory, has_host, has_share;
    size_t memory, host, share;
};

static const struct verb {
    const char *name;
    /* options of the verb; `share` and `memory` are required, except for create, which requires only `memory` */
    bool named, memory, host, share;
} verbs[] = {
    {"list", false, false, false, false}, {"create", true, true, true, true}, {"resize", true, true, false, false},
    {"share", true, false, false, true},  {"destroy", true, false, false, false},
};

static const struct verb *find(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(name, verbs[i].name) == 0) {
            return &verbs[i];
        }
    }
    return NULL;
}

/** Parses the number after an option. */
static int take(int argc, char **argv, int *i, size_t *out, bool *has)
{
    const char *option = argv[*i];
    if (*i + 1 == argc || !value_count(argv[*i + 1], strlen(argv[*i + 1]), out)) {
        const char *what = strcmp(option, "--share") == 0 ? "a number from 1 to 1000"
                                                          : "bytes: a number, with no suffix or with K, M or G";
        return *i + 1 == argc ? usage_error("partition", "%s takes %s", option, what)
                              : usage_error("partition", "%s takes %s; got '%s'", option, what, argv[*i + 1]);
    }
    *has = true;
    ++*i;
    return EXIT_OK;
}

static int check(const struct request *r)
{
    const struct verb *v = find(r->verb);
    const bool create = strcmp(r->verb, "create") == 0;
    if (!v) {
        return usage_error("partition", "'%s' is none of list, create, resize, share and destroy", r->verb);
    }
    if (v->named != (r->name != NULL)) {
        return usage_error("partition", v->named ? "%s takes a name" : "%s takes no name", r->verb);
    }
    if ((r->has_memory && !v->memory) || (r->has_host && !v->host) || (r->has_share && !v->share) ||
        (r->json && v->named)) {
        return usage_error("partition", "%s does not take this option", r->verb);
    }
    if ((v->memory && !r->has_memory) || (v->share && !create && !r->has_share)) {
        return usage_error("partition", "%s needs %s", r->verb, v->memory ? "--memory" : "--share");
    }
    if (r->has_share && (r->share < 1 || r->share > TERN_WEIGHT_MAX)) {
        return usage_error("partition", "a share is 1 to %u", TERN_WEIGHT_MAX);
    }
    return EXIT_OK;
}

/** EXIT_OK; EXIT_USAGE; or -1: help was printed. */
static int read_arguments(int argc, char **argv, struct request *r)
{
    for (int i = 1; i < argc; i++) {
        int status = EXIT_OK;
        if (strcmp(argv[i], "--help") == 0) {
            return -1;
        } else if (strcmp(argv[i], "--json") == 0) {
            r->json = true;
        } else if (strcmp(argv[i], "--memory") == 0) {
            status = take(argc, argv, &i, &r->memory, &r->has_memory);
        } else if (strcmp(argv[i], "--host") == 0) {
            status = take(argc, argv, &i, &r->host, &r->has_host);
        } else if (strcmp(argv[i], "--share") == 0) {
            status = take(argc, argv, &i, &r->share, &r->has_share);
        } else if (argv[i][0] == '-' || r->name) {
            status = usage_error("partition", "unknown argument '%s'", argv[i]);
        } else if (!r->verb) {
            r->verb = argv[i];
        } else {
            r->name = argv[i];
        }
        if (status) {
            return status;
        }
    }
    r->verb = r->verb ? r->verb : "list";
    return check(r);
}

/* --------------------------------------------------------------------- list */

static void print_text(const struct tern_partition_info *all, int n)
{
    printf("%-24s %12s %12s %12s %12s %9s %6s %14s\n", "name", "memory K", "free K", "host K", "committed K",
           "processes", "share", "cycles");
    for (int i = 0; i < n; i++) {
        const struct tern_partition_info *p = &all[i];
        printf("%-24s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %9u %6u %14" PRIu64 "\n", p->name,
               p->memory_bytes >> 10, p->free_bytes >> 10, p->host_bytes >> 10, p->committed_bytes >> 10, p->processes,
               p->share, p->cycles);
    }
}

static int print_json(const struct tern_partition_info *all, int n)
{
    cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "partitions");
    for (int i = 0; i < n; i++) {
        cJSON *p = cJSON_CreateObject();
        cJSON_AddStringToObject(p, "name", all[i].name);
        cJSON_AddNumberToObject(p, "memory_bytes", (double)all[i].memory_bytes);
        cJSON_AddNumberToObject(p, "free_bytes", (double)all[i].free_bytes);
        cJSON_AddNumberToObject(p, "host_bytes", (double)all[i].host_bytes);
        cJSON_AddNumberToObject(p, "committed_bytes", (double)all[i].committed_bytes);
        cJSON_AddNumberToObject(p, "ranges", all[i].ranges);
        cJSON_AddNumberToObject(p, "processes", all[i].processes);
        cJSON_AddNumberToObject(p, "owner", all[i].owner);
        cJSON_AddNumberToObject(p, "share", all[i].share);
        cJSON_AddNumberToObject(p, "cycles", (double)all[i].cycles);
        cJSON_AddItemToArray(list, p);
    }
    return json_print("partition", o);
}

static int list(struct tern_device *dev, bool json)
{
    struct tern_partition_info *all = NULL;
    int n = tern_partition_list(dev, NULL, 0), room = 0, status = EXIT_FAILED;
    while (n > room) { /* partitions may have been added meanwhile */
        free(all);
        room = n;
        all = calloc((size_t)room, sizeof *all);
        if (!all) {
            fprintf(stderr, "tern partition: no memory\n");
            return EXIT_FAILED;
        }
        all->size = sizeof *all;
        n = tern_partition_list(dev, all, (uint32_t)room);
    }
    if (n < 0) {
        fprintf(stderr, "tern partition: %s\n", tern_last_error());
    } else if (json) {
        status = print_json(all, n);
    } else {
        print_text(all, n);
        status = EXIT_OK;
    }
    free(all);
    return status;
}

/* ------------------------------------------------------------------- change */

static int change(struct tern_device *dev, const struct request *r)
{
    struct tern_device_info info = {.size = sizeof info};
    int e = tern_device_query(dev, &info);
    if (!e && !info.service[0]) {
        fprintf(stderr, "tern partition: the device is this program's own and ends with it: name a ternd's by "
                "TERND_SOCKET\n");
        return EXIT_FAILED;
    }
    if (strcmp(r->verb, "create") == 0) {
        struct tern_partition_desc d = {.size = sizeof d, .memory_bytes = r->memory, .share = (uint32_t)r->share,
                                        .host_bytes = r->has_host ? r->host : TERN_PARTITION_HOST};
        const size_t n = strlen(r->name);
        /* the driver refuses a name that does not fit */
        memcpy(d.name, r->name, n < sizeof d.name ? n : sizeof d.name);
        e = tern_partition_create(dev, &d);
    } else if (strcmp(r->verb, "resize") == 0) {
        e = tern_partition_resize(dev, r->name, r->memory);
    } else if (strcmp(r->verb, "share") == 0) {
        e = tern_partition_set_share(dev, r->name, (uint32_t)r->share);
    } else {
        e = tern_partition_destroy(dev, r->name);
    }
    if (e) {
        fprintf(stderr, "tern partition: %s\n", tern_last_error());
    }
    return e ? EXIT_FAILED : EXIT_OK;
}

int cmd_partition(int argc, char **argv)
{
    struct request r = {0};
    int status = read_arguments(argc, argv, &r);
    if (status) {
        if (status < 0) {
            fputs(usage, stdout);
        }
        return status < 0 ? EXIT_OK : status;
    }
    struct tern_device *dev;
    if (tern_device_open(NULL, NULL, &dev)) {
        fprintf(stderr, "tern partition: %s\n", tern_last_error());
        return EXIT_FAILED;
    }
    status = strcmp(r.verb, "list") == 0 ? list(dev, r.json) : change(dev, &r);
    tern_device_close(dev);
    return status;
}
