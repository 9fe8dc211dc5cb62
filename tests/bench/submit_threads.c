/* SPDX-License-Identifier: Apache-2.0 */
#include "submit_threads.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Returns the context switches of one thread, voluntary and involuntary, or 0 if it has ended. */
static uint64_t switches_of(const char *path)
{
    char line[256];
    uint64_t sum = 0;
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        const char *value = strstr(line, "voluntary_ctxt_switches:");
        sum += value ? strtoull(strchr(value, ':') + 1, NULL, 10) : 0;
    }
    if (f) {
        fclose(f);
    }
    return sum;
}

bool submit_threads_add(struct submit_threads *t, pid_t process, bool waits)
{
    char path[320];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
    DIR *threads = opendir(path);
    if (!threads) {
        fprintf(stderr, "tern bench submit: %s: %s\n", path, strerror(errno));
        return false;
    }
    for (const struct dirent *d; t->n < SUBMIT_THREADS && (d = readdir(threads)) != NULL;) {
        const long id = strtol(d->d_name, NULL, 10);
        if (id && !(waits && id == process)) {
            snprintf(path, sizeof path, "/proc/%ld/task/%s/status", (long)process, d->d_name);
            t->thread[t->n].id = id;
            t->thread[t->n++].switches = switches_of(path);
        }
    }
    closedir(threads);
    return true;
}

unsigned submit_threads_ran(const struct submit_threads *before, const struct submit_threads *after, unsigned times)
{
    unsigned ran = 0;
    for (unsigned i = 0; i < after->n; i++) {
        uint64_t more = after->thread[i].switches;
        for (unsigned k = 0; k < before->n; k++) {
            more -= before->thread[k].id == after->thread[i].id ? before->thread[k].switches : 0;
        }
        ran += 2 * more >= times;
    }
    return ran;
}
