/* SPDX-License-Identifier: Apache-2.0 */
/** The command tern-verify: options, campaigns of many cases, mutants, and reports. */
#ifndef COMMAND_H
#define COMMAND_H

#include <cjson/cJSON.h>
#include <stdio.h>
#include <sys/types.h>

#include "explain.h"
#include "verify.h"

enum { EXIT_CLEAN = 0, EXIT_DIFFERENCES = 1, EXIT_USAGE = 2, EXIT_CANNOT = 3, EXIT_TOO_SLOW = 4,
       EXIT_INTERRUPTED = 130 };

#define MAX_JOBS 256u

#define MANY_SEEDS (1ull << 40)

struct options {
    uint64_t seeds;          /**< Cases of each kind; MANY_SEEDS: `instructions` limits them. */
    uint64_t first_seed;
    double minutes;          /**< Run for so many minutes, however many cases these are; 0: no. */
    uint64_t instructions;   /**< Stop after so many instructions; 0: no. */
    bool kind[KINDS];
    bool kind_given;         /**< Mutants with a test of their own are then run by this kind too. */
    uint32_t jobs;
    uint32_t patience;       /**< Seconds of processor time that a case, or a stop, may take. */
    const char *geometry;
    const char *rtl, *model; /**< Device libraries; NULL: those of the geometry. */
    bool mutants;            /**< Run on mutants: those named, or all. */
    char **mutant_name;
    int mutant_names;
    const char *hints;       /**< File with the case that caught each mutant last; NULL: that of the source tree. */
    bool record;             /**< Write that file anew. */
    const char *output, *coverage;
    bool keep_going, json;
    bool quiet;              /**< No progress: several of these run at a time. */
    /* Options of kind preempt, which cannot be combined with other kinds. */
    bool preempt, seeds_given, seed_given;
    uint32_t given;          /**< Given options, as bits of options.c. */
    const char *kernel;      /**< NULL: all kernels. */
    uint64_t every, cycle;   /**< cycle not 0: stop at that cycle only. */
    uint32_t stop;           /**< Masks. stop: 1 the RTL, 2 the model; granularity: 1 instruction, 2 group. */
    uint32_t granularity;
};

/* -------------------------------------------------------------- options.c */
/** Parses the options and fills in defaults. Returns 0; -EINVAL with a message; -ECANCELED if help or version was
 * printed. */
int options_parse(int argc, char **argv, struct options *out);

/* ------------------------------------------------------------- campaign.c */

#define MAX_FAILURES 256u

/** A case that differs or was too slow. */
struct failure {
    uint64_t index;          /**< Index of the case in the campaign. */
    enum kind kind;
    uint64_t seed;
    struct difference difference;
    struct slow slow;        /**< seconds 0: the case differs. */
};

struct campaign {
    uint64_t cases, instructions, indications, faults, requests, taken;
    uint64_t cycles;         /**< Simulated cycles of the RTL. */
    double seconds, cpu_seconds; /**< cpu_seconds: of all workers together. */
    bool interrupted;
    /** Cases that differ, by index; without keep_going only the first. more: those beyond MAX_FAILURES. */
    struct failure *failure;
    uint32_t failures, more;
    struct failure *slow;    /**< Cases that were too slow, by index; likewise. */
    uint32_t slows, more_slow;
};

/**
 * Runs cases in worker processes until none are left, the time is over, or one differs or is too slow. A worker that
 * dies fails its case. The first case that differs is the same for any number of jobs, unless an earlier one is too
 * slow. title: for the progress.
 */
int campaign_run(const struct options *o, const struct pair *p, const char *title, struct campaign *out);
void campaign_free(struct campaign *c);
/** Frees only the lists. */
void campaign_free_lists(struct campaign *c);

/** fork() of a child that dies with its parent. interrupt: what the child does at SIGINT, as for signal(). */
pid_t child_fork(void (*interrupt)(int));

/** Runs f in a process of its own, with the guard. Returns the result of f (0 to 127), -EIO if the process died, or
 *  -ETIME if it was too slow. */
int apart(int (*f)(void *user), void *user, uint32_t seconds, struct slow *slow);

/* --------------------------------------------------------------- report.c */

/** Shrinks a case that differs and explains it. Reports its progress on stderr. */
void failure_study(const struct options *o, const struct pair *p, const struct failure *f, struct study *out);
/** Writes the report as text. */
void failure_print(FILE *out, const struct options *o, const struct pair *p, const struct failure *f,
                   const struct study *s);
cJSON *failure_json(const struct options *o, const struct pair *p, const struct failure *f, const struct study *s);
/** Reports that a case was too slow. */
void slow_print(FILE *out, const struct options *o, const struct pair *p, const struct failure *f);
cJSON *slow_case_json(const struct options *o, const struct pair *p, const struct failure *f);
/** Adds the guard's report to an object. */
void slow_json(cJSON *o, const struct slow *s);
/** Writes the command that runs a failed case again. */
void rerun_text(const struct options *o, const struct pair *p, const struct failure *f, char *out, size_t size);
double seconds_now(void);
/** Adds the sums of a campaign to an object. */
void campaign_json(cJSON *j, const struct campaign *c);
/** Prints the object and deletes it. Returns 0 or -EIO. */
int json_print(cJSON *j);

/* -------------------------------------------------------------- mutants.c */
/** Runs the seeds on the unchanged RTL, then on each mutant. Returns the exit status. */
int mutants_run(const struct options *o);

#endif
