/* SPDX-License-Identifier: Apache-2.0 */
#include "thread_signals.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Signals that a thread can block. KILL and STOP cannot be blocked, and the C library reserves 32 and 33. */
static uint64_t all_signals(void)
{
    uint64_t all = UINT64_MAX;
    const int never[] = {SIGKILL, SIGSTOP, 32, 33};
    for (unsigned i = 0; i < sizeof never / sizeof *never; i++) {
        all &= ~(1ull << (never[i] - 1));
    }
    return all;
}

uint64_t blocked_signals(const char *thread)
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

unsigned other_threads(unsigned *open)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/task");
    *open = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || atol(e->d_name) == (long)getpid()) {
            continue;
        }
        const uint64_t blocked = blocked_signals(e->d_name);
        n++;
        if ((blocked & all_signals()) != all_signals()) {
            fprintf(stderr, "thread %s blocks only %016" PRIx64 "\n", e->d_name, blocked);
            ++*open;
        }
    }
    if (d) {
        closedir(d);
    }
    return n;
}
