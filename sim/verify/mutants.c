/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Is the test any good? Each mutant is the RTL with one seeded bug; the seeds on which the unchanged RTL is clean must catch
 * it. One that is not caught is a hole in what the cases do, not in the RTL.
 *
 * libtern_sim_rtl_mutants.so holds all of them (tests/verify/mutate makes it): tern_sim_config.mutant picks one, 0 is the
 * unchanged RTL. The array tern_sim_mutants has their names, that of mutant N at N - 1, and NULL after the last.
 */
#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

#define LIBRARY "rtl_mutants"
#define TARGET "tern_sim_rtl_mutants"

/* ------------------------------------------------------------ the library */

static time_t newest;

static int look_at(const char *path, const struct stat *st, int type)
{
    (void)path;
    newest = type == FTW_F && st->st_mtime > newest ? st->st_mtime : newest;
    return 0;
}

/** Builds the library if it is missing or older than what it is made of. Where there are no sources it is what it is. */
static int build(void)
{
    struct stat st;
    const char *library = TERN_BUILD_LIB_DIR "/libtern_sim_" LIBRARY ".so";
    newest = 0;
    ftw(TERN_SOURCE_DIR "/rtl", look_at, 16);
    ftw(TERN_SOURCE_DIR "/sim/rtl", look_at, 16);
    ftw(TERN_SOURCE_DIR "/tests/verify/mutants.list", look_at, 16);
    if (newest == 0 || (stat(library, &st) == 0 && st.st_mtime >= newest)) {
        return 0;
    }
    fprintf(stderr, "tern verify: %s is %s; building it takes some minutes (cmake --build %s --target " TARGET ")\n", library,
            access(library, F_OK) ? "missing" : "older than the RTL", TERN_BUILD_DIR);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execlp("cmake", "cmake", "--build", TERN_BUILD_DIR, "--target", TARGET, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status) {
        fprintf(stderr, "tern verify: the mutants could not be built\n");
        return -EIO;
    }
    return 0;
}

/* -------------------------------------------------------------- one mutant */

struct trial {
    uint32_t mutant;
    bool caught;
    struct campaign campaign;
    struct study study;
};

/** Of mutant 0 too, in the table. */
static const char *name_of(const char *const *names, uint32_t mutant)
{
    return mutant ? names[mutant - 1] : "(unchanged)";
}

static int try_mutant(const struct options *o, struct pair *p, const char *const *names, uint32_t mutant, struct trial *out)
{
    char title[128];
    out->mutant = p->mutant = mutant;
    p->mutant_name = name_of(names, mutant);
    snprintf(title, sizeof title, "mutant %u %s", mutant, p->mutant_name);
    int r = campaign_run(o, p, title, &out->campaign);
    out->caught = r == 0 && out->campaign.failures > 0;
    if (out->caught) {
        failure_study(o, p, &out->campaign.failure[0], &out->study);
    }
    return r;
}

static void print_trial(const char *const *names, const struct trial *t)
{
    const struct campaign *c = &t->campaign;
    printf("%-32s ", name_of(names, t->mutant));
    if (t->caught) {
        printf("%-8s %-8llu %8llu %12llu  %u of %u\n", kind_names[c->failure[0].kind], (unsigned long long)c->failure[0].seed,
               (unsigned long long)c->cases, (unsigned long long)c->instructions, t->study.kept, t->study.c.items);
    } else {
        printf("%-17s %8llu %12llu\n", t->mutant ? "NOT CAUGHT" : "clean", (unsigned long long)c->cases, (unsigned long long)c->instructions);
    }
    fflush(stdout);
}

static void add_json(cJSON *list, const struct options *o, const struct pair *p, const char *const *names, const struct trial *t)
{
    cJSON *j = cJSON_CreateObject();
    cJSON_AddNumberToObject(j, "mutant", t->mutant);
    cJSON_AddStringToObject(j, "name", name_of(names, t->mutant));
    cJSON_AddBoolToObject(j, "caught", t->caught);
    campaign_json(j, &t->campaign);
    cJSON_AddItemToObject(j, "difference", t->caught ? failure_json(o, p, &t->campaign.failure[0], &t->study) : cJSON_CreateNull());
    cJSON_AddItemToArray(list, j);
}

/* ------------------------------------------------------------ all of them */

/** True if it was asked for. */
static bool wanted(const struct options *o, const char *name)
{
    for (int i = 0; i < o->mutant_names; i++) {
        if (strcmp(o->mutant_name[i], name) == 0) {
            return true;
        }
    }
    return o->mutant_names == 0;
}

static int check_names(const struct options *o, const char *const *names)
{
    for (int i = 0; i < o->mutant_names; i++) {
        uint32_t m = 0;
        while (names[m] && strcmp(names[m], o->mutant_name[i])) {
            m++;
        }
        if (!names[m]) {
            fprintf(stderr, "tern verify: there is no mutant '%s'; see tern verify --mutants list\n", o->mutant_name[i]);
            return -EINVAL;
        }
    }
    return 0;
}

static int run_all(const struct options *o, struct pair *p, const char *const *names)
{
    cJSON *j = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(j, "mutants");
    uint32_t missed = 0, tried = 0;
    int status = EXIT_CLEAN;
    if (!o->json) {
        printf("%-32s %-8s %-8s %8s %12s  %s\n", "mutant", "kind", "seed", "cases", "instructions", "items needed");
    }
    for (uint32_t m = 0; status == EXIT_CLEAN && (m == 0 || names[m - 1]); m++) {
        struct trial t = {0};
        if (m && !wanted(o, names[m - 1])) {
            continue;
        }
        if (try_mutant(o, p, names, m, &t)) {
            status = EXIT_CANNOT;
        } else if (t.campaign.interrupted) {
            status = EXIT_INTERRUPTED;
        } else if (m == 0 && t.caught) {
            fprintf(stderr, "tern verify: the unchanged RTL differs; first find out why: tern verify --rtl " LIBRARY " ...\n");
            status = EXIT_DIFFERENCES;
        }
        tried += m != 0;
        missed += m != 0 && !t.caught;
        if (status != EXIT_CANNOT) {
            add_json(list, o, p, names, &t);
        }
        if (!o->json && status != EXIT_CANNOT) {
            print_trial(names, &t);
            if (t.caught && (m == 0 || o->mutant_names == 1)) {
                printf("\n");
                failure_print(stdout, o, p, &t.campaign.failure[0], &t.study);
            }
        }
        campaign_free(&t.campaign);
    }
    if (o->json) {
        status = json_print(j) ? EXIT_CANNOT : status;
    } else {
        cJSON_Delete(j);
        printf("%u mutants, %u caught, %u not\n", tried, tried - missed, missed);
    }
    return status == EXIT_CLEAN && missed ? EXIT_DIFFERENCES : status;
}

int mutants_run(const struct options *o)
{
    struct pair p;
    struct options each = *o;
    each.keep_going = false;
    if (!o->rtl && build()) {
        return EXIT_CANNOT;
    }
    if (pair_open(o->model ? o->model : "model_small", o->rtl ? o->rtl : LIBRARY, &p)) {
        return EXIT_CANNOT;
    }
    int status = EXIT_CANNOT;
    const char *const *names = dlsym(p.rtl.object, "tern_sim_mutants");
    if (!names) {
        fprintf(stderr, "tern verify: %s has no mutants\n", p.rtl.path);
    } else if (o->mutant_names == 1 && strcmp(o->mutant_name[0], "list") == 0) {
        for (uint32_t m = 0; names[m]; m++) {
            puts(names[m]);
        }
        status = EXIT_CLEAN;
    } else {
        status = check_names(o, names) ? EXIT_USAGE : run_all(&each, &p, names);
    }
    pair_close(&p);
    return status;
}
