/* SPDX-License-Identifier: Apache-2.0 */
/** The report of a case in which model and RTL differ. The case is shrunk to the items that are needed for the
 *  difference, the first instruction that differs is found, and both are written out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "command.h"

#define SHRINK_RUNS 3000u
#define SHRINK_CYCLES (24 * CASE_CYCLES) /* maximum cycles of the RTL, of all runs together */

/* Results of the functions *_apart, which run in processes of their own (apart()). */
enum { APART_SAME, APART_DIFFERS, APART_CANNOT };

/* -------------------------------------------------------------- the study */

/** Shared by the processes of a study, which may crash. */
struct findings {
    struct study study;
    uint64_t cycles;         /* simulated while shrinking */
    struct slow slow;        /* seconds not 0: the guard's report on the last run, which was too slow */
};

/** Arguments of the steps of a study. */
struct steps {
    const struct pair *p;
    const char *path;        /* file for the waveform */
    uint32_t patience;       /* seconds of processor time of a run */
    bool slow;               /* a run took longer: no other run is started */
    struct findings *f;
    struct study *study;     /* f->study */
};

static int differs_apart(void *user)
{
    const struct steps *d = user;
    struct verdict v = {0};
    int r = case_compare(&d->study->c, d->p, NULL, &v);
    d->f->cycles += v.cycles;
    return r ? APART_CANNOT : v.difference.kind != DIFF_NONE ? APART_DIFFERS : APART_SAME;
}

/** A case that kills a simulator differs. One that is too slow gives no answer. */
static bool differs(void *user)
{
    struct steps *d = user;
    if (d->slow || d->f->cycles > SHRINK_CYCLES) {
        return false; /* the case is small enough */
    }
    int r = apart(differs_apart, user, d->patience, &d->f->slow);
    d->slow = r == -ETIME;
    return r == APART_DIFFERS || r == -EIO;
}

static int explain_apart(void *user)
{
    const struct steps *d = user;
    return explain(d->p, d->path, d->study) ? APART_CANNOT : APART_SAME;
}

static int make_directories(const char *path)
{
    char copy[1024];
    if ((size_t)snprintf(copy, sizeof copy, "%s", path) >= sizeof copy) {
        return -ENAMETOOLONG;
    }
    for (char *p = copy + 1;; p++) {
        if (*p == '/' || !*p) {
            char was = *p;
            *p = '\0';
            if (mkdir(copy, 0777) && errno != EEXIST) {
                return -errno;
            }
            *p = was;
            if (!was) {
                return 0;
            }
        }
    }
}

/** DIR/KIND-SEED.suffix; that of a mutant has its number. */
static void file_name(const struct options *o, const struct pair *p, const struct failure *f, const char *suffix,
                      char *out, size_t size)
{
    char mutant[24] = "";
    if (p->mutant) {
        snprintf(mutant, sizeof mutant, "-mutant%u", p->mutant);
    }
    snprintf(out, size, "%s/%s-%llu%s.%s", o->output, kind_names[f->kind], (unsigned long long)f->seed, mutant, suffix);
}

static void write_report(const struct options *o, const struct pair *p, const struct failure *f, struct study *s)
{
    char path[1024];
    file_name(o, p, f, "txt", path, sizeof path);
    FILE *file = fopen(path, "w");
    if (file) {
        failure_print(file, o, p, f, s);
    }
    if (!file || fclose(file)) {
        snprintf(s->note, sizeof s->note, "the report could not be written: %s", strerror(errno));
    }
}

void failure_study(const struct options *o, const struct pair *p, const struct failure *f, struct study *out)
{
    char waves[1024];
    struct steps steps = {.p = p, .path = waves, .patience = o->patience};
    steps.f = mmap(NULL, sizeof *steps.f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *out = (struct study){.c = {.kind = f->kind, .seed = f->seed}, .difference = f->difference};
    case_size(&out->c, &p->geometry);
    out->kept = out->c.items;
    if (steps.f == MAP_FAILED) {
        snprintf(out->note, sizeof out->note, "not shrunk: %s", strerror(ENOMEM));
        return;
    }
    struct study *s = steps.study = &steps.f->study;
    *s = *out;
    fprintf(stderr, "%s seed %llu differs; shrinking its %u items\n", kind_names[f->kind],
            (unsigned long long)f->seed, s->kept);
    const bool again = differs(&steps);
    if (!again) {
        snprintf(s->note, sizeof s->note, steps.slow ? "when it was run again, it took more than %u s of processor time"
                                                    : "it did not differ when it was run again", o->patience);
    } else {
        s->kept = shrink(s->c.keep, s->c.items, SHRINK_RUNS, differs, &steps);
        fprintf(stderr, "%u items are left; looking for the instruction\n", s->kept);
        int r = make_directories(o->output);
        file_name(o, p, f, "fst", waves, sizeof waves);
        int explained = r ? r : apart(explain_apart, &steps, o->patience, &steps.f->slow);
        if (r) {
            snprintf(s->note, sizeof s->note, "%s: %s", o->output, strerror(-r));
        } else if (explained == -ETIME && !s->note[0]) {
            snprintf(s->note, sizeof s->note, "to explain it took more than %u s of processor time", o->patience);
        } else if (explained != APART_SAME && !s->note[0]) {
            snprintf(s->note, sizeof s->note, "a device crashed when the case was run again to explain it");
        }
    }
    *out = *s;
    if (again && steps.slow) {
        snprintf(out->note, sizeof out->note, "shrinking ended early: without some items it took more than %u s of "
                 "processor time%s%.300s", o->patience, s->note[0] ? "; " : "", s->note);
    }
    munmap(steps.f, sizeof *steps.f);
    write_report(o, p, f, out);
}

/* -------------------------------------------------------------- as text */

void rerun_text(const struct options *o, const struct pair *p, const struct failure *f, char *out, size_t size)
{
    char more[256] = "";
    size_t n = 0;
    if (strcmp(o->geometry, "small")) {
        n += (size_t)snprintf(more + n, sizeof more - n, " --geometry %s", o->geometry);
    }
    if (o->rtl && n < sizeof more) {
        n += (size_t)snprintf(more + n, sizeof more - n, " --rtl %s", o->rtl);
    }
    if (o->model && n < sizeof more) {
        n += (size_t)snprintf(more + n, sizeof more - n, " --model %s", o->model);
    }
    if (p->mutant && n < sizeof more) {
        snprintf(more + n, sizeof more - n, " --mutants %s", p->mutant_name);
    }
    snprintf(out, size, "tern verify --kind %s --seed %llu --seeds 1%s", kind_names[f->kind],
             (unsigned long long)f->seed, more);
}

static const char *const parting_texts[] = {
    [PART_NONE] = "",
    [PART_VALUE] = "gives another value",
    [PART_FLOW] = "another instruction runs",
    [PART_NOT_RUN] = "is not run: the work-item stopped before it",
    [PART_EXTRA] = "is run, but the work-item should have stopped before it",
};

static void print_instruction(FILE *out, uint32_t pc, uint32_t word)
{
    char text[128];
    disassemble(word, pc, text, sizeof text);
    fprintf(out, "%08x: %08x  %s\n", pc, word, text);
}

static void print_parting(FILE *out, const struct pair *p, const struct study *s)
{
    const struct parting *q = &s->parting;
    int side = q->kind == PART_EXTRA || q->kind == PART_FLOW;
    fprintf(out, "\nthe first warp instruction that differs %s\n  ", parting_texts[q->kind]);
    if (q->kind == PART_FLOW) {
        fprintf(out, "expected ");
        print_instruction(out, q->pc[0], q->word[0]);
        fprintf(out, "  got      ");
    }
    print_instruction(out, q->pc[side], q->word[side]);
    fprintf(out, "  engine %u, submission %u, group %u,%u,%u, warp %u, lane %u (work-item %u of the group)\n",
            q->engine, q->submit, q->group[0], q->group[1], q->group[2], q->warp, q->lane,
            q->warp * p->geometry.lanes + q->lane);
    fprintf(out, "  issued at device time %llu (%s), %llu (%s)\n", (unsigned long long)q->time[1], p->rtl.name,
            (unsigned long long)q->time[0], p->model.name);
    if (q->kind == PART_VALUE) {
        fprintf(out, "  register %s by lane, of lanes %08x\n    lane  expected  got\n", register_name(q->rd), q->mask);
        for (uint32_t l = 0; l < p->geometry.lanes; l++) {
            if (q->lanes >> l & 1) {
                fprintf(out, "    %4u  %08x  %08x\n", l, q->expected[l], q->got[l]);
            }
        }
    }
    fprintf(out, "  registers of the work-item before it, as far as they were written\n");
    uint32_t column = 0;
    for (uint32_t x = 1; x < 32; x++) {
        if (q->known >> x & 1) {
            bool equal = q->before[0][x] == q->before[1][x];
            fprintf(out, "%s%4s %08x", column++ % 4 ? "  " : column > 1 ? "\n    " : "    ", register_name(x),
                    q->before[0][x]);
            if (!equal) {
                fprintf(out, " (got %08x)", q->before[1][x]);
            }
        }
    }
    fprintf(out, "%s\n", column ? "" : "    none");
    if (s->code_count) {
        fprintf(out, "\ncode around it\n");
    }
    for (uint32_t i = 0; i < s->code_count; i++) {
        uint32_t pc = s->code_first + 4 * i;
        fprintf(out, "%s", pc == q->pc[side] ? "  > " : "    ");
        print_instruction(out, pc, s->code[i]);
    }
}

void failure_print(FILE *out, const struct options *o, const struct pair *p, const struct failure *f,
                   const struct study *s)
{
    char text[512];
    fprintf(out, "%s seed %llu differs: %s", kind_names[f->kind], (unsigned long long)f->seed,
            difference_names[s->difference.kind]);
    if (p->mutant) {
        fprintf(out, " (mutant %s)", p->mutant_name);
    }
    fprintf(out, "\nexpected: %s, got: %s\n\n%s", p->model.path, p->rtl.path, s->difference.text);
    fprintf(out, "\n%u of %u items are needed for it\n", s->kept, s->c.items);
    for (uint32_t i = 0; i < s->c.items; i++) {
        if (s->c.keep[i]) {
            case_item_text(&s->c, &p->geometry, i, text, sizeof text);
            fprintf(out, "  %3u  %s\n", i, text);
        }
    }
    if (s->parting.kind) {
        print_parting(out, p, s);
    } else if (s->observed) {
        fprintf(out, "\nno instruction differs: look at the packets, or at what stores write\n");
    }
    if (s->waves[0]) {
        fprintf(out, "\nwaveform: %s, device time %llu to %llu\n", s->waves, (unsigned long long)s->waves_from,
                (unsigned long long)s->waves_to);
    }
    if (s->note[0]) {
        fprintf(out, "\nnote: %s\n", s->note);
    }
    rerun_text(o, p, f, text, sizeof text);
    fprintf(out, "\nagain: %s\n", text);
}

void slow_print(FILE *out, const struct options *o, const struct pair *p, const struct failure *f)
{
    char text[512];
    rerun_text(o, p, f, text, sizeof text);
    fprintf(out, "%s seed %llu too slow: no end in %u s of processor time; %s had come to cycle %llu\n    again: %s\n",
            kind_names[f->kind], (unsigned long long)f->seed, f->slow.seconds, f->slow.device,
            (unsigned long long)f->slow.cycles, text);
}

/* -------------------------------------------------------------- as JSON */

static void add_hex(cJSON *o, const char *name, uint32_t v)
{
    char text[16];
    snprintf(text, sizeof text, "0x%08x", v);
    cJSON_AddStringToObject(o, name, text);
}

static cJSON *parting_json(const struct parting *q)
{
    static const char *const names[] = {"none", "value", "flow", "not_run", "extra"};
    int side = q->kind == PART_EXTRA || q->kind == PART_FLOW;
    char text[128];
    cJSON *o = cJSON_CreateObject();
    disassemble(q->word[side], q->pc[side], text, sizeof text);
    cJSON_AddStringToObject(o, "what", names[q->kind]);
    cJSON_AddNumberToObject(o, "time", (double)q->time[1]);
    cJSON_AddNumberToObject(o, "engine", q->engine);
    cJSON_AddNumberToObject(o, "submission", q->submit);
    cJSON *group = cJSON_AddArrayToObject(o, "group");
    for (int i = 0; i < 3; i++) {
        cJSON_AddItemToArray(group, cJSON_CreateNumber(q->group[i]));
    }
    cJSON_AddNumberToObject(o, "warp", q->warp);
    cJSON_AddNumberToObject(o, "lane", q->lane);
    add_hex(o, "pc", q->pc[side]);
    add_hex(o, "word", q->word[side]);
    cJSON_AddStringToObject(o, "text", text);
    if (q->kind == PART_VALUE) {
        cJSON_AddStringToObject(o, "register", register_name(q->rd));
        add_hex(o, "expected", q->value[0]);
        add_hex(o, "got", q->value[1]);
    } else if (q->kind == PART_FLOW) {
        add_hex(o, "expected_pc", q->pc[0]);
    }
    return o;
}

cJSON *failure_json(const struct options *o, const struct pair *p, const struct failure *f, const struct study *s)
{
    char text[1024];
    cJSON *j = cJSON_CreateObject();
    cJSON_AddStringToObject(j, "kind", kind_names[f->kind]);
    cJSON_AddNumberToObject(j, "seed", (double)f->seed);
    cJSON_AddStringToObject(j, "what", difference_names[(s ? &s->difference : &f->difference)->kind]);
    cJSON_AddStringToObject(j, "text", (s ? &s->difference : &f->difference)->text);
    rerun_text(o, p, f, text, sizeof text);
    cJSON_AddStringToObject(j, "again", text);
    if (!s) {
        return j;
    }
    cJSON_AddNumberToObject(j, "items", s->c.items);
    cJSON_AddNumberToObject(j, "shrunk_items", s->kept);
    cJSON *items = cJSON_AddArrayToObject(j, "kept");
    for (uint32_t i = 0; i < s->c.items; i++) {
        if (s->c.keep[i]) {
            cJSON_AddItemToArray(items, cJSON_CreateNumber(i));
        }
    }
    cJSON_AddItemToObject(j, "first_instruction", s->parting.kind ? parting_json(&s->parting) : cJSON_CreateNull());
    cJSON *files = cJSON_AddArrayToObject(j, "files");
    file_name(o, p, f, "txt", text, sizeof text);
    cJSON_AddItemToArray(files, cJSON_CreateString(text));
    if (s->waves[0]) {
        cJSON_AddItemToArray(files, cJSON_CreateString(s->waves));
    }
    if (s->note[0]) {
        cJSON_AddStringToObject(j, "note", s->note);
    }
    return j;
}

void slow_json(cJSON *o, const struct slow *s)
{
    cJSON_AddNumberToObject(o, "cpu_seconds", s->seconds);
    cJSON_AddStringToObject(o, "device", s->device);
    cJSON_AddNumberToObject(o, "cycles", (double)s->cycles);
}

cJSON *slow_case_json(const struct options *o, const struct pair *p, const struct failure *f)
{
    char text[512];
    cJSON *j = cJSON_CreateObject();
    cJSON_AddStringToObject(j, "kind", kind_names[f->kind]);
    cJSON_AddNumberToObject(j, "seed", (double)f->seed);
    slow_json(j, &f->slow);
    rerun_text(o, p, f, text, sizeof text);
    cJSON_AddStringToObject(j, "again", text);
    return j;
}

void campaign_json(cJSON *j, const struct campaign *c)
{
    cJSON_AddNumberToObject(j, "cases", (double)c->cases);
    cJSON_AddNumberToObject(j, "warp_instructions", (double)c->instructions);
    cJSON_AddNumberToObject(j, "indications", (double)c->indications);
    cJSON_AddNumberToObject(j, "faults", (double)c->faults);
    cJSON_AddNumberToObject(j, "page_requests", (double)c->requests);
    cJSON_AddNumberToObject(j, "pages_taken", (double)c->taken);
    cJSON_AddNumberToObject(j, "cycles", (double)c->cycles);
    cJSON_AddNumberToObject(j, "seconds", c->seconds);
    cJSON_AddNumberToObject(j, "cpu_seconds", c->cpu_seconds);
    cJSON_AddBoolToObject(j, "interrupted", c->interrupted);
}

int json_print(cJSON *j)
{
    char *text = cJSON_Print(j);
    int r = text && puts(text) >= 0 && fflush(stdout) == 0 ? 0 : -EIO;
    cJSON_free(text);
    cJSON_Delete(j);
    return r;
}
