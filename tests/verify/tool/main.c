/* SPDX-License-Identifier: Apache-2.0 */
/** tern-verify, which `tern verify` starts: runs a campaign and reports its result. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "preempt.h"

#define STUDIED_MAX 8u /* failures that are shrunk, explained and printed in full */

/** Prints the result of a campaign. */
static int print_result(const struct options *o, const struct pair *p, const struct campaign *c)
{
    cJSON *j = cJSON_CreateObject(), *list;
    campaign_json(j, c);
    cJSON_AddStringToObject(j, "rtl", p->rtl.path);
    cJSON_AddStringToObject(j, "model", p->model.path);
    list = cJSON_AddArrayToObject(j, "differences");
    for (uint32_t i = 0; i < c->failures; i++) {
        struct study s;
        bool full = i < STUDIED_MAX;
        if (full) {
            failure_study(o, p, &c->failure[i], &s);
        }
        cJSON_AddItemToArray(list, failure_json(o, p, &c->failure[i], full ? &s : NULL));
        if (!o->json && full) {
            failure_print(stdout, o, p, &c->failure[i], &s);
            printf("\n");
        } else if (!o->json) {
            char text[512];
            rerun_text(o, p, &c->failure[i], text, sizeof text);
            printf("differs too: %s\n", text);
        }
    }
    list = cJSON_AddArrayToObject(j, "too_slow");
    for (uint32_t i = 0; i < c->slows; i++) {
        cJSON_AddItemToArray(list, slow_case_json(o, p, &c->slow[i]));
        if (!o->json) {
            slow_print(stdout, o, p, &c->slow[i]);
            printf("\n");
        }
    }
    if (!o->json) {
        printf("%llu cases, %llu warp instructions, %llu indications, %llu of them faults, "
               "%llu page requests, compared in %.1f s: ",
               (unsigned long long)c->cases, (unsigned long long)c->instructions, (unsigned long long)c->indications,
               (unsigned long long)c->faults, (unsigned long long)c->requests, c->seconds);
        printf("%s", c->interrupted ? "interrupted: " : "");
        printf(c->failures ? "%u differ%s" : "no difference", c->failures + c->more,
               c->failures + c->more == 1 ? "s" : "");
        printf(c->slows ? ", %u too slow\n" : "\n", c->slows + c->more_slow);
        cJSON_Delete(j);
        return fflush(stdout) ? -EIO : 0;
    }
    return json_print(j);
}

static int verify(const struct options *o)
{
    char model[64], rtl[64];
    struct pair p;
    struct campaign c;
    snprintf(model, sizeof model, "model_%s", o->geometry);
    snprintf(rtl, sizeof rtl, "rtl_%s", o->geometry);
    if (pair_open(o->model ? o->model : model, o->rtl ? o->rtl : rtl, &p)) {
        return EXIT_CANNOT;
    }
    if (o->preempt) {
        int done = preempt_run(o, &p);
        pair_close(&p);
        return done;
    }
    int status = EXIT_CANNOT, r = campaign_run(o, &p, "tern verify", &c);
    if (r) {
        fprintf(stderr, "tern verify: %s\n", strerror(-r));
    } else if (print_result(o, &p, &c) == 0) {
        status = c.failures      ? EXIT_DIFFERENCES
                 : c.interrupted ? EXIT_INTERRUPTED
                 : c.slows       ? EXIT_TOO_SLOW
                                 : EXIT_CLEAN;
    }
    campaign_free(&c);
    pair_close(&p);
    return status;
}

int main(int argc, char **argv)
{
    struct options o;
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of file sizes is then an error */
    int r = options_parse(argc, argv, &o);
    if (r) {
        return r == -ECANCELED ? EXIT_CLEAN : EXIT_USAGE;
    }
    return o.mutants ? mutants_run(&o) : verify(&o);
}
