/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Progress of a long command, on stderr. A command has a number of steps, each with a share of the work. The remaining
 * time is estimated from the time that the finished work took. On a terminal there is one line, which is overwritten;
 * otherwise a line at the begin of each step, and one every ten seconds.
 *
 * A thread writes the line during a step. The thread ends with the step, so that a program which forks between steps
 * has one thread then, as the thread sanitizer requires.
 */
#ifndef TERN_CLI_PROGRESS_H
#define TERN_CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

struct progress {
    const char *command; /**< First words of each line, as "bench sched". */
    unsigned steps, step; /**< Number of steps; and number of the current one, from 1. */
    double all;           /**< Work of all steps, in a unit that the command chooses. */
    /* used by progress.c only; guarded by `lock` while a step runs */
    double begun, work, done, mark_work, mark_time, told;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool terminal, running, stop, shown;
    char what[48];
};

void progress_begin(struct progress *p, const char *command, unsigned steps, double all);
/** Begins the next step with its share of the work, and ends the one before. */
void progress_step(struct progress *p, double work, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Sets the part of the step that is done, 0 to 1. */
void progress_part(struct progress *p, double part);
/** Ends the step and clears the line, so that results can be printed. */
void progress_hide(struct progress *p);
/** Frees what progress_begin made, also after a failed step. */
void progress_end(struct progress *p);

#endif
