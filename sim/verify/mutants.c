/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Is the test any good? Each mutant is the RTL with one seeded bug, which the seeds must catch. The case that catches it is
 * run again with the bug off: there the RTL must be clean. A mutant that is not caught is a hole in what the cases do, not in
 * the RTL.
 *
 * libtern_sim_rtl_mutants.so, and for the default geometry libtern_sim_rtl_mutants_default.so, hold all of them
 * (tests/verify/mutate makes it): tern_sim_config.mutant picks one, 0 is the unchanged RTL. The array tern_sim_mutants has their names, that of mutant N at N - 1, and NULL after the last;
 * tern_sim_mutant_tests, if there is one, "KERNEL N" for those that a run of the signature test catches (preempt.h: that
 * kernel, every Nth cycle, stopped by the RTL) and not the seeds. On these runs too the unchanged RTL must be clean.
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
#include "preempt.h"

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

/** The build tree that this program lies in, and its sources. False: it is installed, and there are none. */
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

/** Builds a library if it is missing or older than what it is made of. Where there are no sources it is what it is. */
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

/* -------------------------------------------------------------- one mutant */

/** The mutants of a library. */
struct list {
    const char *const *names, *const *tests;
};

struct trial {
    uint32_t mutant;
    bool preempt;             /**< By the signature test. */
    bool caught, interrupted;
    bool false_alarm;         /**< The case that caught it differs without the bug, too. */
    struct campaign campaign; /**< By seeds. */
    bool studied;
    struct study study;
    struct preempt_end end;
};

/** Of mutant 0 too, in the table. */
static const char *name_of(const struct list *l, uint32_t mutant)
{
    return mutant ? l->names[mutant - 1] : "(unchanged)";
}

static void begin(struct pair *p, const struct list *l, uint32_t mutant, struct trial *out)
{
    *out = (struct trial){.mutant = mutant};
    p->mutant = mutant;
    p->mutant_name = name_of(l, mutant);
}

/** Runs the case that caught a mutant on the unchanged RTL. What that gave is added to sum. */
static int try_unchanged(const struct options *o, struct pair *p, const struct failure *f, struct trial *t, struct campaign *sum)
{
    struct options of = *o;
    struct campaign c;
    uint32_t mutant = p->mutant;
    of.first_seed = f->seed;
    of.seeds = of.jobs = 1;
    of.minutes = 0;
    of.instructions = 0;
    for (enum kind k = 0; k < KINDS; k++) {
        of.kind[k] = k == f->kind;
    }
    p->mutant = 0;
    int r = campaign_run(&of, p, "the same, unchanged", &c);
    p->mutant = mutant;
    t->false_alarm = r == 0 && c.failures > 0;
    t->interrupted |= c.interrupted;
    sum->cases += c.cases;
    sum->instructions += c.instructions;
    campaign_free(&c);
    return r;
}

static int try_seeds(const struct options *o, struct pair *p, const struct list *l, uint32_t mutant, struct campaign *unchanged,
                     struct trial *out)
{
    char title[128];
    begin(p, l, mutant, out);
    snprintf(title, sizeof title, "mutant %u %s", mutant, p->mutant_name);
    int r = campaign_run(o, p, title, &out->campaign);
    out->caught = r == 0 && out->campaign.failures > 0;
    out->interrupted = out->campaign.interrupted;
    if (out->caught) {
        r = try_unchanged(o, p, &out->campaign.failure[0], out, unchanged);
    }
    out->studied = out->caught && o->mutant_names == 1;
    if (out->studied) {
        failure_study(o, p, &out->campaign.failure[0], &out->study);
    }
    return r;
}

/** test: as in the list; NULL: what the options say. */
static int try_preempt(const struct options *o, struct pair *p, const struct list *l, uint32_t mutant, const char *test,
                       struct trial *out)
{
    struct options of = *o;
    char kernel[32];
    unsigned every;
    begin(p, l, mutant, out);
    out->preempt = true;
    if (test && sscanf(test, "%31s %u", kernel, &every) != 2) {
        return -EINVAL;
    }
    if (test) {
        of.kernel = kernel;
        of.every = every;
        of.cycle = 0;
        of.stop = 1;
        of.granularity = 3;
        of.seeds = 0;
    }
    int r = preempt_try(&of, p, &out->end);
    out->caught = r == 0 && out->end.failures > 0;
    out->interrupted = out->end.interrupted;
    return r;
}

static void print_trial(const struct list *l, const struct trial *t)
{
    const struct campaign *c = &t->campaign;
    const char *clean = t->mutant ? "NOT CAUGHT" : t->caught ? "DIFFERS" : "clean";
    printf("%-32s ", name_of(l, t->mutant));
    if (t->preempt && t->caught) {
        printf("%-8s %-8llu %8llu %12s  %s\n", "preempt", (unsigned long long)t->end.at, (unsigned long long)t->end.stops, "",
               t->end.kernel);
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

/** What differs, in full. */
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

static void add_json(cJSON *list, const struct options *o, const struct pair *p, const struct list *l, const struct trial *t)
{
    cJSON *j = cJSON_CreateObject(), *difference = NULL;
    cJSON_AddNumberToObject(j, "mutant", t->mutant);
    cJSON_AddStringToObject(j, "name", name_of(l, t->mutant));
    cJSON_AddBoolToObject(j, "caught", t->caught);
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

static int check_names(const struct options *o, const struct list *l)
{
    for (int i = 0; i < o->mutant_names; i++) {
        uint32_t m = 0;
        while (l->names[m] && strcmp(l->names[m], o->mutant_name[i])) {
            m++;
        }
        if (!l->names[m]) {
            fprintf(stderr, "tern verify: there is no mutant '%s'; see tern verify --mutants list\n", o->mutant_name[i]);
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
    uint32_t tried, missed;
    struct campaign unchanged; /* the cases that caught something, without the bug */
    int status;
};

/** Counts and tells a trial that has been made, or has not: r. */
static void take(struct sums *s, struct trial *t, int r)
{
    const struct options *o = s->o;
    if (r) {
        s->status = EXIT_CANNOT;
        return;
    }
    if (t->interrupted) {
        s->status = EXIT_INTERRUPTED;
    } else if ((t->mutant == 0 && t->caught) || t->false_alarm) {
        fprintf(stderr, "tern verify: the unchanged RTL differs; first find out why: tern verify --rtl %s ...\n",
                o->rtl ? o->rtl : library_of(o));
        s->status = EXIT_DIFFERENCES;
    }
    s->tried += t->mutant != 0;
    s->missed += t->mutant != 0 && !t->caught;
    add_json(s->trials, o, s->pair, s->list, t);
    if (!o->json) {
        print_trial(s->list, t);
        if (t->caught && (t->mutant == 0 || t->preempt || t->studied) && (t->mutant == 0 || o->mutant_names == 1)) {
            print_difference(o, s->pair, t);
        }
    }
    campaign_free(&t->campaign);
}

/** The test of a mutant in the list; NULL: it has none, or is not asked for, or the kind is given. */
static const char *test_of(const struct options *o, const struct list *l, uint32_t mutant)
{
    bool listed = l->tests && !o->kind_given && wanted(o, l->names[mutant - 1]);
    return listed ? l->tests[mutant - 1] : NULL;
}

static bool tested_before(const struct options *o, const struct list *l, uint32_t mutant)
{
    const char *test = test_of(o, l, mutant), *other;
    for (uint32_t m = 1; m < mutant; m++) {
        if ((other = test_of(o, l, m)) && strcmp(other, test) == 0) {
            return true;
        }
    }
    return false;
}

static bool going_on(const struct sums *s, uint32_t mutant)
{
    return s->status == EXIT_CLEAN && s->list->names[mutant - 1];
}

/** The runs of the signature test that are to catch a mutant find nothing in the unchanged RTL. */
static void run_unchanged(struct sums *s)
{
    const struct options *o = s->o;
    struct trial t;
    if (o->preempt) {
        take(s, &t, try_preempt(o, s->pair, s->list, 0, NULL, &t));
    }
    for (uint32_t m = 1; going_on(s, m); m++) {
        const char *test = test_of(o, s->list, m);
        if (test && !tested_before(o, s->list, m)) {
            take(s, &t, try_preempt(o, s->pair, s->list, 0, test, &t));
        }
    }
}

static int run_all(const struct options *o, struct pair *p, const struct list *l)
{
    cJSON *j = cJSON_CreateObject();
    struct sums s = {.o = o, .pair = p, .list = l, .trials = cJSON_AddArrayToObject(j, "mutants"), .status = EXIT_CLEAN};
    struct trial t;
    if (!o->json) {
        printf("%-32s %-8s %-8s %8s %12s  %s\n", "mutant", "kind", "seed", "cases", "instructions", "kernel");
    }
    run_unchanged(&s);
    for (uint32_t m = 1; going_on(&s, m); m++) {
        const char *test = test_of(o, l, m);
        if (wanted(o, l->names[m - 1])) {
            take(&s, &t, o->preempt || test ? try_preempt(o, p, l, m, test, &t) : try_seeds(o, p, l, m, &s.unchanged, &t));
        }
    }
    if (s.unchanged.cases && s.status == EXIT_CLEAN) {
        t = (struct trial){.campaign = s.unchanged};
        take(&s, &t, 0);
    }
    if (o->json) {
        s.status = json_print(j) ? EXIT_CANNOT : s.status;
    } else {
        cJSON_Delete(j);
        printf("%u mutants, %u caught, %u not\n", s.tried, s.tried - s.missed, s.missed);
    }
    return s.status == EXIT_CLEAN && s.missed ? EXIT_DIFFERENCES : s.status;
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
    const struct list l = {.names = dlsym(p.rtl.object, "tern_sim_mutants"), .tests = dlsym(p.rtl.object, "tern_sim_mutant_tests")};
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
