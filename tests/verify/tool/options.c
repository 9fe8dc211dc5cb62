/* SPDX-License-Identifier: Apache-2.0 */
/** The command line of tern-verify. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

#define PATIENCE 600u /* seconds: a hundred times what a case takes if CASE_CYCLES take five */

static const char help[] =
"NAME\n"
"    tern verify - run the RTL and the functional model on the same random work, and compare\n"
"\n"
"SYNOPSIS\n"
"    tern verify [options]\n"
"    tern verify --mutants [NAME...] [options]\n"
"    tern verify --kind preempt [--kernel NAME] [options]\n"
"\n"
"DESCRIPTION\n"
"    Makes random cases from seeds, runs each on the model and on the RTL, and compares everything that a program\n"
"    can see: indications and faults in all their fields, memory, dirty bits. A case of kind program is up to three\n"
"    kernels of random instructions; one of kind stream is random packets in many buffers for both engines, some of\n"
"    them preempted and resumed.\n"
"\n"
"    At the first difference it stops, leaves out of the case whatever is not needed for it, finds the first warp\n"
"    instruction whose result differs, writes a report and a waveform of the time around that instruction, and\n"
"    prints the command that runs the case again. The same seed gives the same case on every machine.\n"
"\n"
"    docs/verification.md says what is compared, what the architecture leaves open, and how to read a report.\n"
"\n"
"    Kind preempt is another test: it stops each of some kernels at every cycle of a short run and resumes it, on\n"
"    the same device and on one of the other library; all of memory must be what an uninterrupted run leaves. Then\n"
"    it stops long runs again and again.\n"
"\n"
"WHAT TO RUN\n"
"    --seeds N           cases of each kind (200)\n"
"    --minutes N         run so long instead, however many cases that is (fractions allowed)\n"
"    --seed S            first seed (1)\n"
"    --kind KIND         program, stream or all, which is both (all); or preempt\n"
"    --instructions N    run until so many warp instructions have been compared; with --seeds, at most that many\n"
"                        cases\n"
"    --jobs N            worker processes (the cores of this machine)\n"
"    --keep-going        do not stop at a difference; the first 8 are studied, the others listed\n"
"    --patience S        seconds of processor time that a case, or a stop, may take (600). What takes longer is too\n"
"                        slow, or loops: it has not been compared, and does not differ. Without --keep-going it ends\n"
"                        the run like a difference.\n"
"\n"
"    Of kind preempt:\n"
"    --kernel NAME       that one only; --kernel list prints the names\n"
"    --every N           stop at every Nth cycle of the short runs (1)\n"
"    --cycle C           stop at cycle C after the doorbell only\n"
"    --stop WHO          who makes the short runs and is stopped: rtl, model, all or none (all)\n"
"    --granularity NAME  instruction, group or all: where it may be cut (all: every eighth stop is group)\n"
"    --seeds N           long runs of each kernel, with random stops (4); 0: none\n"
"    --seed S            first seed of those\n"
"\n"
"ON WHAT\n"
"    --geometry NAME     tiny (4 lanes x 4 warps, one engine), small (8 x 8) or default (16 x 16) (small)\n"
"    --rtl NAME          device library libtern_sim_NAME.so that is tested (rtl_GEOMETRY)\n"
"    --model NAME        library that says what is expected (model_GEOMETRY)\n"
"    --mutants [NAME...] test the test: run on RTL with seeded bugs, all of them or those named. Each must be caught\n"
"                        by the seeds, by a case on which the unchanged RTL is clean. Builds the library if it is\n"
"                        missing or out of date.\n"
"                        With one NAME the difference is reported like any other. --mutants list prints the names.\n"
"                        More: each first on the case that caught it last, as tests/verify/mutants.hints says; on\n"
"                        the seeds if that does not.\n"
"                        Some are for a kernel of kind preempt, as tests/verify/mutants.list says; with --kind it is\n"
"                        that kind for all of them.\n"
"    --hints FILE        another file of hints, or none: it may be missing\n"
"    --record            write to it what caught each\n"
"\n"
"WHAT IS WRITTEN\n"
"    --output DIR        reports and waveforms: DIR/KIND-SEED.txt, DIR/KIND-SEED.fst (build/verify)\n"
"    --json              one JSON object on standard output instead of text\n"
"    --coverage DIR      what was covered, a file or two for each worker; scripts/coverage makes a report of them\n"
"    -h, --help          this page\n"
"    Progress goes to standard error.\n"
"\n"
"EXIT STATUS\n"
"    0 no difference (--mutants: every mutant caught); 1 differences (a mutant not caught); 2 wrong usage;\n"
"    3 could not run: what is missing is said; 4 no difference, but something was too slow to be compared;\n"
"    130 interrupted\n"
"\n"
"ENVIRONMENT\n"
"    TERN_LIB_DIR        directory of the device libraries\n"
"\n"
"EXAMPLES\n"
"    tern verify --minutes 60                      an hour of both kinds\n"
"    tern verify --kind stream --seed 17 --seeds 1 one case again\n"
"    tern verify --mutants --seeds 500             is the test itself any good?\n"
"    tern verify --kind preempt --kernel barriers --stop rtl --cycle 423 --granularity instruction    one stop again\n";

enum { OPT_SEEDS = 256, OPT_MINUTES, OPT_SEED, OPT_KIND, OPT_INSTRUCTIONS, OPT_JOBS, OPT_GEOMETRY, OPT_RTL, OPT_MODEL,
       OPT_MUTANTS, OPT_HINTS, OPT_RECORD, OPT_OUTPUT, OPT_KEEP_GOING, OPT_JSON, OPT_COVERAGE,
       OPT_KERNEL, OPT_EVERY, OPT_CYCLE, OPT_STOP, OPT_GRANULARITY, OPT_PATIENCE };

static const struct option long_options[] = {
    {"seeds", required_argument, NULL, OPT_SEEDS},       {"minutes", required_argument, NULL, OPT_MINUTES},
    {"seed", required_argument, NULL, OPT_SEED},         {"kind", required_argument, NULL, OPT_KIND},
    {"instructions", required_argument, NULL, OPT_INSTRUCTIONS}, {"jobs", required_argument, NULL, OPT_JOBS},
    {"geometry", required_argument, NULL, OPT_GEOMETRY}, {"rtl", required_argument, NULL, OPT_RTL},
    {"model", required_argument, NULL, OPT_MODEL},       {"mutants", no_argument, NULL, OPT_MUTANTS},
    {"hints", required_argument, NULL, OPT_HINTS},       {"record", no_argument, NULL, OPT_RECORD},
    {"output", required_argument, NULL, OPT_OUTPUT},     {"keep-going", no_argument, NULL, OPT_KEEP_GOING},
    {"json", no_argument, NULL, OPT_JSON},               {"coverage", required_argument, NULL, OPT_COVERAGE},
    {"kernel", required_argument, NULL, OPT_KERNEL},     {"every", required_argument, NULL, OPT_EVERY},
    {"cycle", required_argument, NULL, OPT_CYCLE},       {"stop", required_argument, NULL, OPT_STOP},
    {"granularity", required_argument, NULL, OPT_GRANULARITY}, {"patience", required_argument, NULL, OPT_PATIENCE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

#define BIT(option) (1u << ((option) - OPT_SEEDS))

static int wrong(const char *what, const char *text)
{
    fprintf(stderr, "tern verify: %s '%s'; see tern verify --help\n", what, text);
    return -EINVAL;
}

static int number(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (errno || end == text || *end || strchr(text, '-') || v < least || v > most) {
        return wrong("not a possible number:", text);
    }
    *out = v;
    return 0;
}

static int minutes(const char *text, double *out)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v) || v <= 0) {
        return wrong("not a time in minutes:", text);
    }
    *out = v;
    return 0;
}

static int kind(const char *text, bool *out, bool *preempt)
{
    *preempt = strcmp(text, "preempt") == 0;
    if (*preempt) {
        return 0;
    }
    bool all = strcmp(text, "all") == 0, any = false;
    for (enum kind k = 0; k < KINDS; k++) {
        out[k] = all || strcmp(text, kind_names[k]) == 0;
        any |= out[k];
    }
    return any ? 0 : wrong("there is no kind", text);
}

/** Parses a name of two, which can be combined, to a mask. */
static int one_of(const char *text, const char *first, const char *second, uint32_t *mask)
{
    const char *const names[] = {"none", first, second, "all"};
    for (*mask = 0; *mask < 4 && strcmp(text, names[*mask]) != 0; ++*mask) {
    }
    return *mask < 4 ? 0 : wrong("not one of them:", text);
}

/** Takes an option of the kind preempt. */
static int take_preempt(int option, struct options *o)
{
    switch (option) {
    case OPT_KERNEL:
        o->kernel = optarg;
        return 0;
    case OPT_EVERY:
        return number(optarg, 1, 1u << 20, &o->every);
    case OPT_CYCLE:
        return number(optarg, 1, 1ull << 32, &o->cycle);
    case OPT_STOP:
        return one_of(optarg, "rtl", "model", &o->stop);
    case OPT_GRANULARITY:
        return one_of(optarg, "instruction", "group", &o->granularity);
    default: /* getopt has printed a message */
        fprintf(stderr, "see tern verify --help\n");
        return -EINVAL;
    }
}

static int take(int option, struct options *o)
{
    uint64_t jobs, patience;
    int r = 0;
    o->given |= option >= OPT_SEEDS ? BIT(option) : 0;
    switch (option) {
    case OPT_SEEDS:
        o->seeds_given = true;
        return number(optarg, 0, MANY_SEEDS - 1, &o->seeds);
    case OPT_MINUTES:
        return minutes(optarg, &o->minutes);
    case OPT_SEED:
        o->seed_given = true;
        return number(optarg, 0, 1ull << 62, &o->first_seed);
    case OPT_KIND:
        o->kind_given = true;
        return kind(optarg, o->kind, &o->preempt);
    case OPT_INSTRUCTIONS:
        return number(optarg, 1, UINT64_MAX, &o->instructions);
    case OPT_JOBS:
        r = number(optarg, 1, MAX_JOBS, &jobs);
        o->jobs = r ? o->jobs : (uint32_t)jobs;
        return r;
    case OPT_PATIENCE:
        r = number(optarg, 1, 1u << 20, &patience);
        o->patience = r ? o->patience : (uint32_t)patience;
        return r;
    case OPT_GEOMETRY:
        o->geometry = optarg;
        return strcmp(optarg, "tiny") && strcmp(optarg, "small") && strcmp(optarg, "default")
                   ? wrong("there is no geometry", optarg) : 0;
    case OPT_RTL:
        o->rtl = optarg;
        return 0;
    case OPT_MODEL:
        o->model = optarg;
        return 0;
    case OPT_MUTANTS:
        o->mutants = true;
        return 0;
    case OPT_HINTS:
        o->hints = optarg;
        return 0;
    case OPT_RECORD:
        o->record = true;
        return 0;
    case OPT_OUTPUT:
        o->output = optarg;
        return 0;
    case OPT_KEEP_GOING:
        o->keep_going = true;
        return 0;
    case OPT_JSON:
        o->json = true;
        return 0;
    case OPT_COVERAGE:
        o->coverage = optarg;
        return 0;
    case 'h':
        fputs(help, stdout);
        return -ECANCELED;
    default:
        return take_preempt(option, o);
    }
}

static const char *name_of(int option)
{
    const struct option *o = long_options;
    while (o->val != option) {
        o++;
    }
    return o->name;
}

/** Refuses options that would be ignored, so that a run tests what its options say. */
static int check_together(const struct options *o)
{
    const uint32_t of_preempt = BIT(OPT_KERNEL) | BIT(OPT_EVERY) | BIT(OPT_CYCLE) | BIT(OPT_STOP) |
                                BIT(OPT_GRANULARITY);
    const bool one_stop = o->cycle != 0, long_runs = one_stop && o->seeds_given && o->seeds != 0;
    const struct {
        bool when;
        uint32_t never;
        const char *because;
    } rules[] = {
        {!o->preempt, of_preempt, "is for --kind preempt"},
        {o->preempt, BIT(OPT_MINUTES) | BIT(OPT_INSTRUCTIONS) | BIT(OPT_COVERAGE), "has no meaning for --kind preempt"},
        {o->minutes > 0, BIT(OPT_SEEDS), "has no meaning with --minutes"},
        {one_stop, BIT(OPT_EVERY) | BIT(OPT_SEED), "has no meaning with --cycle, which is one stop"},
        {long_runs, BIT(OPT_SEEDS), "has no meaning with --cycle, which is one stop"},
        {!o->mutants, BIT(OPT_HINTS) | BIT(OPT_RECORD), "is for --mutants"},
        {o->rtl && !o->hints, BIT(OPT_RECORD), "needs --hints with --rtl"},
        {o->mutants, BIT(OPT_COVERAGE), "has no meaning with --mutants: what they cover says nothing of the RTL"},
        {o->mutants, BIT(OPT_KEEP_GOING), "has no meaning with --mutants: one difference catches a mutant"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const uint32_t vain = rules[i].when ? o->given & rules[i].never : 0;
        if (vain) {
            fprintf(stderr, "tern verify: --%s %s; see tern verify --help\n", name_of(OPT_SEEDS + __builtin_ctz(vain)),
                    rules[i].because);
            return -EINVAL;
        }
    }
    return 0;
}

int options_parse(int argc, char **argv, struct options *out)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct options o = {.first_seed = 1, .jobs = cores < 1 ? 1 : cores > (long)MAX_JOBS ? MAX_JOBS : (uint32_t)cores,
                        .geometry = "small", .output = "build/verify", .kind = {true, true}, .every = 1, .stop = 3,
                        .granularity = 3, .patience = PATIENCE};
    static char name[] = "tern verify"; /* in getopt's messages */
    argv[0] = name;
    int c, r = 0;
    while (r == 0 && (c = getopt_long(argc, argv, "h", long_options, NULL)) >= 0) {
        r = take(c, &o);
    }
    if (r) {
        return r;
    }
    if (optind < argc && !o.mutants) {
        return wrong("unknown argument", argv[optind]);
    }
    o.preempt = o.preempt || (o.kernel && strcmp(o.kernel, "list") == 0);
    r = check_together(&o);
    if (r) {
        return r;
    }
    if (o.seeds_given && !o.seeds && !o.preempt) {
        return wrong("not a possible number:", "0");
    }
    if (!o.seeds_given) {
        o.seeds = o.preempt ? 4 : o.instructions ? MANY_SEEDS : 200;
    }
    o.mutant_name = argv + optind;
    o.mutant_names = argc - optind;
    *out = o;
    return 0;
}
