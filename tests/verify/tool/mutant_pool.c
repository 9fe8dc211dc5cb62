/* SPDX-License-Identifier: Apache-2.0 */
/** Runs many mutants at a time. Each needs only a few cases, too few to share among processes. Each mutant therefore
 *  has one process with one worker, which writes its result to shared memory. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mutants.h"

struct slot {
    pid_t pid;               /* 0: not started, or finished and taken */
    bool ended;
    int result;
    /* campaign.failure points to memory of the process; the first one is copied to `failure` */
    struct trial trial;
    struct failure failure;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static int begin(const struct options *o, struct pair *p, const struct list *l, uint32_t mutant,
                 const struct hint *hint, struct slot *s)
{
    struct options one = *o;
    one.jobs = 1;
    one.quiet = true;
    pid_t pid = child_fork(SIG_DFL);
    if (pid == 0) {
        static struct trial t; /* not in shared memory: it has pointers to memory of this process */
        int r = mutant_try(&one, p, l, mutant, hint, &t);
        if (r == 0 && t.campaign.failures) {
            s->failure = t.campaign.failure[0];
        }
        campaign_free_lists(&t.campaign);
        s->trial = t;
        s->result = r;
        _exit(0);
    }
    s->pid = pid > 0 ? pid : 0;
    return pid > 0 ? 0 : -errno;
}

/** Takes the result of a slot's process, or the fact that it died. */
static void take_over(struct slot *s, int status)
{
    s->ended = true;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        s->result = -EIO;
    }
    s->trial.campaign.failure = &s->failure;
}

static void progress(uint32_t ended, uint32_t count, double begun, double *told)
{
    bool terminal = isatty(STDERR_FILENO);
    double now = seconds_now();
    if (now - *told >= (terminal ? 0.2 : 10.0) || ended == count) {
        *told = now;
        fprintf(stderr, "%stern verify: %u of %u mutants, %.0f s%s", terminal ? "\r\033[K" : "", ended, count,
                now - begun, terminal && ended < count ? "" : "\n");
    }
}

static void kill_all(struct slot *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i].pid && !slots[i].ended) {
            kill(slots[i].pid, SIGKILL);
            waitpid(slots[i].pid, NULL, 0);
        }
    }
}

int mutants_pool(const struct options *o, struct pair *p, const struct list *l, const uint32_t *mutant,
                 const struct hint *const *hint, uint32_t count, bool (*take)(void *user, struct trial *t, int r),
                 void *user)
{
    const size_t bytes = (count + 1) * sizeof(struct slot);
    struct sigaction old, action = {.sa_handler = on_interrupt};
    struct slot *slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double begun = seconds_now(), told = begun;
    uint32_t started = 0, running = 0, taken = 0;
    bool more = true;
    int r = 0;
    if (slots == MAP_FAILED) {
        return -ENOMEM;
    }
    interrupted = 0;
    sigaction(SIGINT, &action, &old);
    while (taken < count && more && r == 0) {
        int status = 0;
        while (running < o->jobs && started < count && !interrupted && r == 0) {
            r = begin(o, p, l, mutant[started], hint[started], &slots[started]);
            started++;
            running++;
        }
        pid_t pid = r ? -1 : waitpid(-1, &status, 0);
        for (uint32_t i = 0; i < started && pid > 0; i++) {
            if (slots[i].pid == pid && !slots[i].ended) {
                take_over(&slots[i], status);
                running--;
            }
        }
        r = pid < 0 && errno != EINTR && !r ? -errno : r;
        for (; r == 0 && more && taken < started && slots[taken].ended; taken++) {
            more = take(user, &slots[taken].trial, slots[taken].result);
        }
        r = interrupted ? -EINTR : r;
        progress(started - running, count, begun, &told);
    }
    kill_all(slots, started);
    sigaction(SIGINT, &old, NULL);
    munmap(slots, bytes);
    return r;
}
