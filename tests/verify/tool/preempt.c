/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All stops of all kernels. A task is one kernel: its short run, stopped on one side, or its long runs. Tasks run in
 * processes of their own, several at a time. A short run is made once, cycle by cycle. At each cycle the process forks:
 * the child stops the run there and resumes it, and the parent goes on. A simulator that dies therefore costs only one
 * stop.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "preempt.h"

#define GROUP_EVERY 8u  /* one stop in so many lets groups end */
#define CROSS_EVERY 16u /* one of the model's states in so many is resumed by the RTL, which takes long */
#define MAX_TASKS 256u

struct task {
    uint32_t kernel;
    uint32_t side;          /* side that is stopped; SIDES: the long runs */
    pid_t pid;
    bool begun, ended;
    _Atomic uint64_t at;    /* current cycle or seed */
    uint64_t cycles;        /* cycles of the uninterrupted short run */
    uint32_t granularity;   /* granularity of the stop that differs */
    struct tally tally;
};

struct crew {
    const struct options *o;
    struct pair *pair;
    struct task *task;      /* shared with the processes */
    uint32_t tasks;
};

/** The work of a forked child. */
struct stop {
    struct arena *arena;
    struct machine *machine;
    struct task *task;
    uint64_t cycle;
    uint32_t granularity, resume_on;
};

static bool is_long(const struct task *t)
{
    return t->side == SIDES;
}

static int one_stop(void *user)
{
    struct stop *s = user;
    if (s->machine) {
        stop_at(s->arena, s->machine, s->task->side, s->cycle, s->granularity, s->resume_on, &s->task->tally);
    } else {
        stop_often(s->arena, s->cycle, &s->task->tally);
    }
    return s->task->tally.text[0] != '\0';
}

/** Makes a stop. Returns true if nothing differs and it was not too slow. */
static bool stop(const struct crew *w, struct stop s)
{
    struct task *t = s.task;
    int r = apart(one_stop, &s, w->o->patience, &t->tally.slow);
    t->tally.too_slow = r == -ETIME && !t->tally.text[0];
    if (r == -EIO && !t->tally.text[0]) {
        snprintf(t->tally.text, sizeof t->tally.text, "stop at %llu: a simulator died\n", (unsigned long long)s.cycle);
    }
    t->granularity = s.granularity;
    return !t->tally.text[0] && !t->tally.too_slow;
}

/** Makes the stops of one cycle. */
static bool stops(const struct crew *w, struct arena *a, struct machine *m, struct task *t, uint64_t cycle)
{
    const struct options *o = w->o;
    uint64_t n = cycle / o->every;
    uint32_t own = 1u << t->side, both = 3u, wanted = o->granularity;
    bool one = o->cycle != 0;
    uint32_t resume_on = t->side == 0 || one || n % CROSS_EVERY == 0 ? both : own;
    struct stop s = {.arena = a, .machine = m, .task = t, .cycle = cycle, .resume_on = resume_on};
    bool ok = true;
    if (wanted & 1u) {
        s.granularity = TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION;
        ok = stop(w, s);
    }
    if (ok && (wanted & 2u) && (wanted == 2u || one || n % GROUP_EVERY == 0)) {
        s.granularity = TERN_ENGINE_COMMAND_GRANULARITY_GROUP;
        ok = stop(w, s);
    }
    return ok;
}

static void short_run(const struct crew *w, struct arena *a, struct task *t)
{
    struct machine m;
    bool ok = arena_open(a, t->side, &a->work, NULL, &m) == 0, ended = !ok;
    if (!ok) {
        snprintf(t->tally.text, sizeof t->tally.text, "no device can be created\n");
        return;
    }
    machine_submit(&m, 0, false);
    for (uint64_t cycle = 1; ok && !ended; cycle++) {
        guard_start(w->o->patience, &t->tally.slow);
        ended = machine_step(&m, 1);
        t->cycles = cycle;
        atomic_store(&t->at, cycle);
        if (w->o->cycle ? cycle == w->o->cycle : cycle % w->o->every == t->kernel % w->o->every) {
            ok = stops(w, a, &m, t, cycle);
        }
        ended = ended || cycle == w->o->cycle;
    }
    machine_close(&m);
}

static void long_runs(const struct crew *w, struct arena *a, struct task *t)
{
    bool ok = true;
    for (uint64_t seed = w->o->first_seed; ok && seed < w->o->first_seed + w->o->seeds; seed++) {
        atomic_store(&t->at, seed);
        ok = stop(w, (struct stop){.arena = a, .task = t, .cycle = seed});
    }
}

static int run_task(const struct crew *w, struct task *t)
{
    struct arena a = {.pair = w->pair};
    guard_start(w->o->patience, &t->tally.slow);
    if (arena_make(&a, t->kernel, is_long(t), &t->tally)) {
        if (is_long(t)) {
            long_runs(w, &a, t);
        } else {
            short_run(w, &a, t);
        }
    }
    arena_free(&a);
    return 0;
}

/* ------------------------------------------------------------------ report */

static void rerun(const struct crew *w, const struct task *t, char *out, size_t size)
{
    const struct options *o = w->o;
    int n = snprintf(out, size, "tern verify --kind preempt --geometry %s", o->geometry);
    if (o->rtl && n > 0 && (size_t)n < size) {
        n += snprintf(out + n, size - (size_t)n, " --rtl %s", o->rtl);
    }
    if (o->model && n > 0 && (size_t)n < size) {
        n += snprintf(out + n, size - (size_t)n, " --model %s", o->model);
    }
    if (w->pair->mutant && n > 0 && (size_t)n < size) {
        n += snprintf(out + n, size - (size_t)n, " --mutants %s", w->pair->mutant_name);
    }
    if (n < 0 || (size_t)n >= size) {
        return;
    }
    unsigned long long at = atomic_load(&t->at);
    if (is_long(t)) {
        snprintf(out + n, size - (size_t)n, " --kernel %s --stop none --seed %llu --seeds 1", work_name(t->kernel), at);
    } else {
        snprintf(out + n, size - (size_t)n, " --kernel %s --stop %s --cycle %llu --granularity %s --seeds 0",
                 work_name(t->kernel), t->side ? "model" : "rtl", at,
                 t->granularity == TERN_ENGINE_COMMAND_GRANULARITY_GROUP ? "group" : "instruction");
    }
}

static const char *side_name(const struct crew *w, const struct task *t)
{
    return is_long(t) ? "long runs" : t->side ? w->pair->model.name : w->pair->rtl.name;
}

/** Counts the runs that differ and those that were too slow. */
static void count(const struct crew *w, uint32_t *failures, uint32_t *slows)
{
    *failures = *slows = 0;
    for (uint32_t i = 0; i < w->tasks; i++) {
        *failures += w->task[i].tally.text[0] != '\0';
        *slows += w->task[i].tally.too_slow;
    }
}

static void tell_text(const struct crew *w, double seconds)
{
    uint64_t all = 0, cuts = 0;
    printf("%-12s %-16s %8s %8s %8s %6s %8s\n", "kernel", "stopped on", "cycles", "stops", "cuts", "lines", "longest");
    for (uint32_t i = 0; i < w->tasks; i++) {
        const struct task *t = &w->task[i];
        const char *end = t->tally.text[0] ? "  differs" : t->tally.too_slow ? "  too slow" : "";
        if (t->begun) {
            printf("%-12s %-16s %8llu %8llu %8llu %6u %8llu%s\n", work_name(t->kernel), side_name(w, t),
                   (unsigned long long)t->cycles, (unsigned long long)t->tally.stops, (unsigned long long)t->tally.cuts,
                   t->tally.most_lines, (unsigned long long)t->tally.longest, end);
        }
        all += t->tally.stops;
        cuts += t->tally.cuts;
    }
    for (uint32_t i = 0; i < w->tasks; i++) {
        const struct task *t = &w->task[i];
        char again[512];
        if (t->tally.text[0]) {
            rerun(w, t, again, sizeof again);
            printf("\n%s, %s\n    again: %s\n", work_name(t->kernel), t->tally.text, again);
        } else if (t->tally.too_slow) {
            rerun(w, t, again, sizeof again);
            printf("\n%s, too slow: no end in %u s of processor time; %s had come to cycle %llu\n    again: %s\n",
                   work_name(t->kernel), t->tally.slow.seconds, t->tally.slow.device,
                   (unsigned long long)t->tally.slow.cycles, again);
        }
    }
    uint32_t failures, slows;
    count(w, &failures, &slows);
    printf("%llu stops, %llu of them in the middle of a packet, in %.1f s: ", (unsigned long long)all,
           (unsigned long long)cuts, seconds);
    printf(failures ? "%u differ%s" : "no bit differs", failures, failures == 1 ? "s" : "");
    printf(slows ? ", %u too slow\n" : "\n", slows);
}

static int tell_json(const struct crew *w, double seconds)
{
    cJSON *j = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(j, "runs");
    cJSON_AddNumberToObject(j, "seconds", seconds);
    for (uint32_t i = 0; i < w->tasks; i++) {
        const struct task *t = &w->task[i];
        cJSON *r = cJSON_CreateObject();
        char again[512];
        cJSON_AddStringToObject(r, "kernel", work_name(t->kernel));
        cJSON_AddStringToObject(r, "stopped_on", side_name(w, t));
        cJSON_AddNumberToObject(r, "cycles", (double)t->cycles);
        cJSON_AddNumberToObject(r, "stops", (double)t->tally.stops);
        cJSON_AddNumberToObject(r, "cuts", (double)t->tally.cuts);
        cJSON_AddNumberToObject(r, "lines", t->tally.most_lines);
        cJSON_AddNumberToObject(r, "longest", (double)t->tally.longest);
        if (t->tally.text[0]) {
            rerun(w, t, again, sizeof again);
            cJSON_AddStringToObject(r, "differs", t->tally.text);
            cJSON_AddStringToObject(r, "again", again);
        } else if (t->tally.too_slow) {
            rerun(w, t, again, sizeof again);
            slow_json(cJSON_AddObjectToObject(r, "too_slow"), &t->tally.slow);
            cJSON_AddStringToObject(r, "again", again);
        }
        cJSON_AddItemToArray(list, r);
    }
    return json_print(j);
}

/* -------------------------------------------------------------------- crew */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void begin(struct crew *w, struct task *t)
{
    pid_t pid = child_fork(SIG_IGN);
    if (pid == 0) {
        _exit(run_task(w, t));
    }
    t->begun = true;
    t->pid = pid;
    if (pid < 0) {
        t->ended = true;
        snprintf(t->tally.text, sizeof t->tally.text, "%s\n", strerror(errno));
    }
}

/** Takes the end of a process. */
static void end(struct crew *w)
{
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    for (uint32_t i = 0; pid > 0 && i < w->tasks; i++) {
        struct task *t = &w->task[i];
        if (t->pid == pid) {
            t->ended = true;
            t->tally.too_slow |= guard_ended(status);
            if (!(WIFEXITED(status) && WEXITSTATUS(status) == 0) && !interrupted && !t->tally.text[0] &&
                !t->tally.too_slow) {
                snprintf(t->tally.text, sizeof t->tally.text, "a simulator died\n");
            }
        }
    }
}

static void progress(const struct crew *w, uint32_t ended, double seconds)
{
    bool terminal = isatty(STDERR_FILENO);
    if (w->o->quiet) {
        return;
    }
    fprintf(stderr, "%stern verify: preempt: %u of %u runs, %.0f s", terminal ? "\r\033[K" : "", ended,
            w->tasks, seconds);
    for (uint32_t i = 0; i < w->tasks; i++) {
        struct task *t = &w->task[i];
        if (t->begun && !t->ended) {
            fprintf(stderr, "; %s on %s at %llu", work_name(t->kernel), side_name(w, t),
                    (unsigned long long)atomic_load(&t->at));
        }
    }
    fprintf(stderr, "%s", terminal && ended < w->tasks ? "" : "\n");
}

static void run_all(struct crew *w)
{
    double start = seconds_now(), told = start, every = isatty(STDERR_FILENO) ? 0.2 : 5.0;
    bool failed = false, all = false;
    while (!all) {
        uint32_t running = 0, ended = 0;
        end(w);
        for (uint32_t i = 0; i < w->tasks; i++) {
            struct task *t = &w->task[i];
            failed |= t->ended && (t->tally.text[0] || t->tally.too_slow) && !w->o->keep_going;
            running += t->begun && !t->ended;
            ended += t->ended;
            if (!t->begun && running < w->o->jobs && !failed && !interrupted) {
                begin(w, t);
                running++;
            }
        }
        all = !running && (ended == w->tasks || failed || interrupted);
        if (seconds_now() - told >= every || all) {
            told = seconds_now();
            progress(w, ended, told - start);
        }
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        for (uint32_t i = 0; interrupted && i < w->tasks; i++) {
            if (w->task[i].begun && !w->task[i].ended) {
                kill(w->task[i].pid, SIGKILL);
            }
        }
    }
}

/** Plans the runs. Returns -EINVAL if there is no such kernel. */
static int plan(struct crew *w)
{
    const struct options *o = w->o;
    bool known = false;
    for (uint32_t side = 0; side <= SIDES; side++) { /* the longest tasks first */
        for (uint32_t k = 0; k < work_count(); k++) {
            bool named = !o->kernel || strcmp(o->kernel, work_name(k)) == 0;
            known |= named;
            if (named && (side == SIDES ? o->seeds && !o->cycle : (o->stop >> side & 1u))) {
                w->task[w->tasks++] = (struct task){.kernel = k, .side = side};
            }
        }
    }
    if (!known) {
        fprintf(stderr, "tern verify: there is no kernel '%s' (--kernel list prints them)\n", o->kernel);
    }
    return known ? 0 : -EINVAL;
}

/** Plans and runs all tasks. Returns 0, after which w->task must be unmapped, -EINVAL or -ENOMEM. */
static int run(struct crew *w)
{
    struct sigaction old, action = {.sa_handler = on_interrupt};
    w->task = mmap(NULL, MAX_TASKS * sizeof *w->task, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w->task == MAP_FAILED) {
        return -ENOMEM;
    }
    int r = plan(w);
    if (r) {
        munmap(w->task, MAX_TASKS * sizeof *w->task);
        return r;
    }
    sigaction(SIGINT, &action, &old);
    run_all(w);
    sigaction(SIGINT, &old, NULL);
    return 0;
}

int preempt_try(const struct options *o, struct pair *p, struct preempt_end *out)
{
    struct crew w = {.o = o, .pair = p};
    double begun = seconds_now();
    *out = (struct preempt_end){0};
    int r = run(&w);
    if (r) {
        return r;
    }
    for (uint32_t i = w.tasks; i-- > 0;) { /* backwards, so that the first failure remains */
        const struct task *t = &w.task[i];
        out->stops += t->tally.stops;
        out->cuts += t->tally.cuts;
        if (t->tally.text[0]) {
            out->kernel = work_name(t->kernel);
            out->at = atomic_load(&t->at);
            memcpy(out->text, t->tally.text, sizeof out->text);
            rerun(&w, t, out->again, sizeof out->again);
        }
    }
    count(&w, &out->failures, &out->slows);
    out->seconds = seconds_now() - begun;
    out->interrupted = interrupted;
    munmap(w.task, MAX_TASKS * sizeof *w.task);
    return 0;
}

static int print_names(bool json)
{
    cJSON *j = json ? cJSON_CreateObject() : NULL, *all = json ? cJSON_AddArrayToObject(j, "kernels") : NULL;
    for (uint32_t k = 0; k < work_count(); k++) {
        if (json) {
            cJSON_AddItemToArray(all, cJSON_CreateString(work_name(k)));
        } else {
            printf("%s\n", work_name(k));
        }
    }
    return json && json_print(j) ? EXIT_CANNOT : EXIT_CLEAN;
}

int preempt_run(const struct options *o, struct pair *p)
{
    struct crew w = {.o = o, .pair = p};
    double begun = seconds_now();
    uint32_t failures, slows;
    if (o->kernel && strcmp(o->kernel, "list") == 0) {
        return print_names(o->json);
    }
    int told = run(&w);
    if (told) {
        return told == -EINVAL ? EXIT_USAGE : EXIT_CANNOT;
    }
    count(&w, &failures, &slows);
    if (o->json) {
        told = tell_json(&w, seconds_now() - begun);
    } else {
        tell_text(&w, seconds_now() - begun);
        told = fflush(stdout);
    }
    munmap(w.task, MAX_TASKS * sizeof *w.task);
    return told          ? EXIT_CANNOT
           : failures    ? EXIT_DIFFERENCES
           : interrupted ? EXIT_INTERRUPTED
           : slows       ? EXIT_TOO_SLOW
                         : EXIT_CLEAN;
}
