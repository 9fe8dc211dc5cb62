/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The guard against a simulator that does not return from a call. Only device cycles decide whether a case is right.
 * The guard ends a process that has used far more processor time than a case needs, and reports only that the case was
 * too slow. Processor time, unlike the time of day, does not depend on other processes.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "verify.h"

/* state of this process, read by the signal handler */
static struct slow *volatile report;
static const struct backend *volatile device;
static struct tern_sim *volatile simulated;

/** Reads the device's cycles and ends the process. */
static void too_slow(int number)
{
    if (report && device) {
        report->cycles = device->api->cycles(simulated);
        memcpy(report->device, device->name, strnlen(device->name, sizeof report->device - 1));
    }
    signal(number, SIG_DFL);
    raise(number);
}

void guard_start(unsigned seconds, struct slow *out)
{
    report = out;
    *out = (struct slow){.seconds = seconds};
    signal(SIGPROF, too_slow);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = (time_t)seconds}, NULL);
}

void guard_device(const struct backend *b, struct tern_sim *sim)
{
    device = NULL; /* never one device's name with the other one's simulation */
    simulated = sim;
    device = sim ? b : NULL;
}

bool guard_ended(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
}
