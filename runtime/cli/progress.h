/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How far a command is that takes a while, on stderr. A command is a number of steps, each with its share of the work;
 * the time that is left is estimated from how long the work took that is done. On a terminal this is one line, written
 * anew all the time; otherwise a line when a step begins, and one every ten seconds while it lasts.
 *
 * A thread writes the line while a step lasts. The thread ends with the step, so that a program that forks between
 * steps has one thread then: the thread sanitizer asks for that.
 */
#ifndef TERN_CLI_PROGRESS_H
#define TERN_CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

struct progress {
    const char *command; /**< "bench sched": begins each line. */
    unsigned steps, step; /**< How many there are; the number of the one that runs, from 1. */
    double all;           /**< The work of all steps, in a unit of the command's own. */
    /* the rest: progress.c */
    double begun, work, done, mark_work, mark_time, told;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool terminal, running, stop, shown;
    char what[48];
};

void progress_begin(struct progress *p, const char *command, unsigned steps, double all);
/** The next step begins, with its share of the work; the one before it has ended. */
void progress_step(struct progress *p, double work, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** The part of the step that is done, 0 to 1. */
void progress_part(struct progress *p, double part);
/** The step has ended, and no line is on the terminal: results can be printed. */
void progress_hide(struct progress *p);
/** Frees what progress_begin made; also after a failure in a step. */
void progress_end(struct progress *p);

#endif
