/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Measures the tests: each mutant is the RTL with one seeded bug, which the seeds must catch. The case that catches it
 * is repeated with the bug off, where both devices must agree. A mutant that is not caught shows a gap in the cases,
 * not a bug in the RTL.
 *
 * libtern_sim_rtl_mutants.so, and for the default geometry libtern_sim_rtl_mutants_default.so, have all mutants
 * (tests/verify/mutate makes them). tern_sim_config.mutant selects one; 0 is the unchanged RTL. The array
 * tern_sim_mutants has their names, that of mutant N at N - 1, and NULL after the last. tern_sim_mutant_tests, if it
 * exists, has "KERNEL N" for mutants that a run of the signature test catches and the seeds do not (preempt.h: that
 * kernel, every Nth cycle, stopped by the RTL).
 *
 * A run of several mutants first tries on each what caught it the last time (mutants.h).
 */
#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mutants.h"

/* ------------------------------------------------------------ the library */

static time_t newest;

static int look_at(const char *path, const struct stat *st, int type)
{
    (void)path;
    newest = type == FTW_F && st->st_mtime > newest ? st->st_mtime : newest;
    return 0;
}

static const char *library_of(const struct options *o)
{
    return strcmp(o->geometry, "small") == 0 ? "rtl_mutants" : "rtl_mutants_default";
}

/** Finds the build tree of this program, and its sources. Returns false if the program is installed. */
static bool find_tree(char tree[1024], char source[1024])
{
    char path[1100], line[1200];
    bool found = false;
    backend_beside("../..", tree, 1024);
    snprintf(path, sizeof path, "%s/CMakeCache.txt", tree);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        found = sscanf(line, "CMAKE_HOME_DIRECTORY:INTERNAL=%1023[^\n]", source) == 1;
    }
    if (f) {
        fclose(f);
    }
    return found;
}

/** Builds a library if it is missing or older than its sources. Without sources the library is used as it is. */
static int build(const char *name)
{
    struct stat st;
    char tree[1024], source[1024], library[1200], target[64];
    static const char *const made_of[] = {"rtl", "sim/rtl", "tests/verify/mutants.list"};
    if (!find_tree(tree, source)) {
        return 0;
    }
    snprintf(library, sizeof library, "%s/lib/libtern_sim_%s.so", tree, name);
    snprintf(target, sizeof target, "tern_sim_%s", name);
    newest = 0;
    for (size_t i = 0; i < sizeof made_of / sizeof *made_of; i++) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s", source, made_of[i]);
        ftw(path, look_at, 16);
    }
    if (newest == 0 || (stat(library, &st) == 0 && st.st_mtime >= newest)) {
        return 0;
    }
    fprintf(stderr, "tern verify: %s is %s; building it takes some minutes (cmake --build %s --target %s)\n", library,
            access(library, F_OK) ? "missing" : "older than the RTL", tree, target);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execlp("cmake", "cmake", "--build", tree, "--target", target, (char *)NULL);
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

static void print_trial(const struct list *l, const struct trial *t)
{
    const struct campaign *c = &t->campaign;
    const char *clean = t->slow ? "TOO SLOW" : t->mutant ? "NOT CAUGHT" : t->caught ? "DIFFERS" : "clean";
    printf("%-32s ", mutant_name(l, t->mutant));
    if (t->slow) {
        printf("%s\n", clean);
    } else if (t->preempt && t->caught) {
        printf("%-8s %-8llu %8llu %12s  %s\n", "preempt", (unsigned long long)t->end.at,
               (unsigned long long)t->end.stops, "", t->end.kernel);
    } else if (t->preempt) {
        printf("%-17s %8llu\n", clean, (unsigned long long)t->end.stops);
    } else if (t->caught) {
        printf("%-8s %-8llu %8llu %12llu\n", kind_names[c->failure[0].kind], (unsigned long long)c->failure[0].seed,
               (unsigned long long)c->cases, (unsigned long long)c->instructions);
    } else {
        printf("%-17s %8llu %12llu\n", clean, (unsigned long long)c->cases, (unsigned long long)c->instructions);
    }
    fflush(stdout);
}

/** Prints the difference in full. */
static void print_difference(const struct options *o, const struct pair *p, const struct trial *t)
{
    if (t->preempt) {
        printf("\n%s, %s\n    again: %s\n", t->end.kernel, t->end.text, t->end.again);
    } else {
        printf("\n");
        failure_print(stdout, o, p, &t->campaign.failure[0], &t->study);
    }
}

static cJSON *preempt_json(const struct preempt_end *e)
{
    cJSON *j = cJSON_CreateObject();
    cJSON_AddStringToObject(j, "kernel", e->kernel);
    cJSON_AddStringToObject(j, "differs", e->text);
    cJSON_AddStringToObject(j, "again", e->again);
    return j;
}

static void add_json(cJSON *list, const struct options *o, const struct pair *p, const struct list *l,
                     const struct trial *t)
{
    cJSON *j = cJSON_CreateObject(), *difference = NULL;
    cJSON_AddNumberToObject(j, "mutant", t->mutant);
    cJSON_AddStringToObject(j, "name", mutant_name(l, t->mutant));
    cJSON_AddBoolToObject(j, "caught", t->caught && !t->slow);
    cJSON_AddBoolToObject(j, "too_slow", t->slow);
    cJSON_AddBoolToObject(j, "hinted", t->hinted);
    if (t->preempt) {
        cJSON_AddNumberToObject(j, "stops", (double)t->end.stops);
        cJSON_AddNumberToObject(j, "seconds", t->end.seconds);
        difference = t->caught ? preempt_json(&t->end) : NULL;
    } else {
        campaign_json(j, &t->campaign);
        difference = t->caught ? failure_json(o, p, &t->campaign.failure[0], t->studied ? &t->study : NULL) : NULL;
    }
    cJSON_AddItemToObject(j, "difference", difference ? difference : cJSON_CreateNull());
    cJSON_AddItemToArray(list, j);
}

/* ------------------------------------------------------------ all of them */

static int check_names(const struct options *o, const struct list *l)
{
    for (int i = 0; i < o->mutant_names; i++) {
        uint32_t m = 0;
        while (l->names[m] && strcmp(l->names[m], o->mutant_name[i])) {
            m++;
        }
        if (!l->names[m]) {
            fprintf(stderr, "tern verify: there is no mutant '%s'; see tern verify --mutants list\n",
                    o->mutant_name[i]);
            return -EINVAL;
        }
    }
    return 0;
}

/** The whole run. */
struct sums {
    const struct options *o;
    struct pair *pair;
    const struct list *list;
    cJSON *trials;
    uint32_t tried, missed, hinted, slow;
    struct campaign unchanged; /* the cases that caught mutants, without the bug */
    uint64_t unchanged_stops;
    char path[1200];           /* path of the hints */
    struct hints hints;
    int status;
};

static int remember(struct sums *s, const struct trial *t)
{
    struct hint h = {.at = t->preempt ? t->end.at : t->campaign.failure[0].seed};
    snprintf(h.geometry, sizeof h.geometry, "%s", s->o->geometry);
    snprintf(h.name, sizeof h.name, "%s", mutant_name(s->list, t->mutant));
    snprintf(h.kind, sizeof h.kind, "%s", t->preempt ? "preempt" : kind_names[t->campaign.failure[0].kind]);
    snprintf(h.kernel, sizeof h.kernel, "%s", t->preempt ? t->end.kernel : "");
    return hints_put(&s->hints, &h);
}

/** Counts and reports a trial; r not 0: it could not be made. Returns true if the run may go on. */
static bool take(void *user, struct trial *t, int r)
{
    struct sums *s = user;
    const struct options *o = s->o;
    if (r) {
        s->status = EXIT_CANNOT;
        return false;
    }
    if (t->interrupted) {
        s->status = EXIT_INTERRUPTED;
    } else if ((t->mutant == 0 && t->caught) || t->false_alarm) {
        fprintf(stderr, "tern verify: the unchanged RTL differs%s%s; first find out why: tern verify --rtl %s ...\n",
                t->mutant ? " in what catches " : "", t->mutant ? mutant_name(s->list, t->mutant) : "",
                o->rtl ? o->rtl : library_of(o));
        s->status = EXIT_DIFFERENCES;
    } else if (t->mutant == 0 && t->slow) {
        fprintf(stderr, "tern verify: the unchanged RTL is too slow: see --patience\n");
        s->status = EXIT_TOO_SLOW;
    }
    s->pair->mutant = t->mutant; /* for messages about it */
    s->pair->mutant_name = mutant_name(s->list, t->mutant);
    s->tried += t->mutant != 0;
    s->missed += t->mutant != 0 && !t->caught && !t->slow;
    s->slow += t->mutant != 0 && t->slow;
    s->hinted += t->hinted;
    s->unchanged.cases += t->unchanged.cases;
    s->unchanged.instructions += t->unchanged.instructions;
    s->unchanged_stops += t->unchanged_stops;
    if (o->record && t->mutant && t->caught && !t->false_alarm && !t->slow && !t->interrupted && remember(s, t)) {
        s->status = EXIT_CANNOT;
    }
    add_json(s->trials, o, s->pair, s->list, t);
    if (!o->json) {
        print_trial(s->list, t);
        if (t->caught && (t->mutant == 0 || t->preempt || t->studied) && (t->mutant == 0 || o->mutant_names == 1)) {
            print_difference(o, s->pair, t);
        } else if (t->slow && t->campaign.slow && o->mutant_names == 1) {
            slow_print(stdout, o, s->pair, &t->campaign.slow[0]);
        }
    }
    return s->status == EXIT_CLEAN;
}

static void try_one(struct sums *s, uint32_t mutant)
{
    struct trial t;
    int r = mutant_try(s->o, s->pair, s->list, mutant, NULL, &t);
    take(s, &t, r);
    if (r == 0) {
        campaign_free(&t.campaign);
    }
}

/** Tries all mutants that were asked for. A single one may use all jobs, and is studied. */
static void try_all(struct sums *s)
{
    const struct list *l = s->list;
    const bool ask = s->o->mutant_names != 1 && !s->o->kind_given && !s->o->seed_given;
    uint32_t all = 0, n = 0, *mutant;
    const struct hint **hint;
    while (l->names[all]) {
        all++;
    }
    mutant = calloc(all + 1, sizeof *mutant);
    hint = calloc(all + 1, sizeof *hint);
    for (uint32_t m = 1; mutant && hint && m <= all; m++) {
        if (mutant_wanted(s->o, l->names[m - 1])) {
            mutant[n] = m;
            hint[n++] = ask ? hints_find(&s->hints, s->o->geometry, l->names[m - 1]) : NULL;
        }
    }
    struct hints old = s->hints; /* the elements of `hint` point into it */
    s->hints = (struct hints){0};
    for (uint32_t i = 0; i < old.count && s->status == EXIT_CLEAN; i++) {
        s->status = hints_put(&s->hints, &old.hint[i]) ? EXIT_CANNOT : EXIT_CLEAN;
    }
    if (!mutant || !hint) {
        s->status = EXIT_CANNOT;
    } else if (n == 1) {
        try_one(s, mutant[0]);
    } else if (s->status == EXIT_CLEAN) {
        int r = mutants_pool(s->o, s->pair, l, mutant, hint, n, take, s);
        s->status = r == -EINTR ? EXIT_INTERRUPTED : r ? EXIT_CANNOT : s->status;
    }
    hints_free(&old);
    free(mutant);
    free(hint);
}

/** Reports the runs of the unchanged RTL, which had no difference. A difference has been reported before. */
static void tell_unchanged(struct sums *s)
{
    struct trial seeds = {.campaign = s->unchanged}, stops = {.preempt = true, .end.stops = s->unchanged_stops};
    if (s->unchanged.cases && s->status == EXIT_CLEAN) {
        take(s, &seeds, 0);
    }
    if (s->unchanged_stops && s->status == EXIT_CLEAN) {
        take(s, &stops, 0);
    }
}

/** Finds the file of hints: that of the options or of the sources. A device given by --rtl has none. */
static int find_hints(struct sums *s)
{
    char tree[1024], source[1024];
    if (s->o->hints) {
        snprintf(s->path, sizeof s->path, "%s", s->o->hints);
    } else if (!s->o->rtl && find_tree(tree, source)) {
        snprintf(s->path, sizeof s->path, "%s/tests/verify/mutants.hints", source);
    }
    if (s->o->record && !s->path[0]) {
        fprintf(stderr, "tern verify: there is no source tree to record in; see --hints\n");
        return -ENOENT;
    }
    return s->path[0] ? hints_read(s->path, &s->hints) : 0;
}

static int keep_hints(struct sums *s)
{
    int r = s->o->record && s->path[0] ? hints_write(s->path, &s->hints) : 0;
    if (r) {
        fprintf(stderr, "tern verify: %s: %s\n", s->path, strerror(-r));
    }
    return r;
}

static int run_all(const struct options *o, struct pair *p, const struct list *l)
{
    cJSON *j = cJSON_CreateObject();
    struct sums s = {.o = o, .pair = p, .list = l, .trials = cJSON_AddArrayToObject(j, "mutants"),
                     .status = EXIT_CLEAN};
    s.status = find_hints(&s) ? EXIT_CANNOT : s.status;
    if (!o->json) {
        printf("%-32s %-8s %-8s %8s %12s  %s\n", "mutant", "kind", "seed", "cases", "instructions", "kernel");
    }
    if (o->preempt && s.status == EXIT_CLEAN) {
        try_one(&s, 0);
    }
    if (s.status == EXIT_CLEAN) {
        try_all(&s);
    }
    tell_unchanged(&s);
    if (keep_hints(&s)) {
        s.status = EXIT_CANNOT;
    }
    hints_free(&s.hints);
    if (o->json) {
        s.status = json_print(j) ? EXIT_CANNOT : s.status;
    } else {
        cJSON_Delete(j);
        printf("%u mutants, %u caught, %u not", s.tried, s.tried - s.missed - s.slow, s.missed);
        if (s.slow) {
            printf(", %u too slow", s.slow);
        }
        if (s.hinted) {
            printf("; %u by what caught them the last time", s.hinted);
        }
        putchar('\n');
    }
    return s.status != EXIT_CLEAN ? s.status : s.missed ? EXIT_DIFFERENCES : s.slow ? EXIT_TOO_SLOW : EXIT_CLEAN;
}

static int print_names(const char *const *names, bool json)
{
    cJSON *j = json ? cJSON_CreateObject() : NULL, *all = json ? cJSON_AddArrayToObject(j, "mutants") : NULL;
    for (uint32_t m = 0; names[m]; m++) {
        if (json) {
            cJSON_AddItemToArray(all, cJSON_CreateString(names[m]));
        } else {
            puts(names[m]);
        }
    }
    return json && json_print(j) ? EXIT_CANNOT : EXIT_CLEAN;
}

int mutants_run(const struct options *o)
{
    struct pair p;
    struct options each = *o;
    each.keep_going = false;
    char model[64];
    snprintf(model, sizeof model, "model_%s", o->geometry);
    if (!o->rtl && build(library_of(o))) {
        return EXIT_CANNOT;
    }
    if (pair_open(o->model ? o->model : model, o->rtl ? o->rtl : library_of(o), &p)) {
        return EXIT_CANNOT;
    }
    int status = EXIT_CANNOT;
    const struct list l = {.names = dlsym(p.rtl.object, "tern_sim_mutants"),
                           .tests = dlsym(p.rtl.object, "tern_sim_mutant_tests")};
    if (!l.names) {
        fprintf(stderr, "tern verify: %s has no mutants\n", p.rtl.path);
    } else if (o->mutant_names == 1 && strcmp(o->mutant_name[0], "list") == 0) {
        status = print_names(l.names, o->json);
    } else {
        status = check_names(o, &l) ? EXIT_USAGE : run_all(&each, &p, &l);
    }
    pair_close(&p);
    return status;
}
