/* SPDX-License-Identifier: Apache-2.0 */
/** Helpers of tests that run inside a program: signal masks of the threads that a library starts in it, from /proc. */
#ifndef APP_H
#define APP_H

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Signals that a thread can block. KILL and STOP cannot be blocked, and the C library reserves 32 and 33. */
static inline uint64_t app_all_signals(void)
{
    uint64_t all = UINT64_MAX;
    const int never[] = {SIGKILL, SIGSTOP, 32, 33};
    for (unsigned i = 0; i < sizeof never / sizeof *never; i++) {
        all &= ~(1ull << (never[i] - 1));
    }
    return all;
}

/** Returns the mask of the field SigBlk in a thread's status; UINT64_MAX if the thread has ended. */
static inline uint64_t app_blocked(const char *thread)
{
    char path[300], line[256];
    uint64_t mask = UINT64_MAX;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "SigBlk: %" SCNx64, &mask);
    }
    if (f) {
        fclose(f);
    }
    return mask;
}

/** Returns the number of threads but the first. *open: how many of these have a signal unblocked, each reported on
 * stderr. */
static inline unsigned app_threads(unsigned *open)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/task");
    *open = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || atol(e->d_name) == (long)getpid()) {
            continue;
        }
        const uint64_t blocked = app_blocked(e->d_name);
        n++;
        if ((blocked & app_all_signals()) != app_all_signals()) {
            fprintf(stderr, "thread %s blocks only %016" PRIx64 "\n", e->d_name, blocked);
            ++*open;
        }
    }
    if (d) {
        closedir(d);
    }
    return n;
}

#endif
