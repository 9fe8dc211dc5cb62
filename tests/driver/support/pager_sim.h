/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs whose memory does not fit at once, under the driver's pager and scheduler, on mock engines. The device is
 * the model while the programs are created. After that the device thread and the pager's thread are stopped, and
 * simulate() makes their steps, the same in each run. Moves are counted, and take device time in which other programs
 * run. One simulation at a time; one thread.
 */
#ifndef PAGER_SIM_H
#define PAGER_SIM_H

#include "dut.h"
#include "mock_engine.h"

#define PROGRAMS 17
#define BUFFERS 12
#define LEASE 20000u /* cycles; also the quantum */

enum kind { NAMES, ASKS, ALL }; /* the memory that a job needs: a named set; pages on request; all memory */

struct program {
    struct mock_context mock;
    struct mock_work work;
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *buffer[BUFFERS];
    enum kind kind;
    uint32_t buffers, uses, packets; /* buffers of a job; a job with page requests uses one more in each packet */
    uint32_t stride;                 /* buffers from the first one of a job to the first one of the next job */
    uint64_t think, until;           /* cycles between its jobs */
    uint64_t jobs, began;            /* began: submission of its last job; 0: none */
    uint64_t worst;                  /* cycles of its longest job */
    uint32_t missing;                /* address of a page that it needs */
};

/** Changes of the rule that decides which process keeps memory from which: no process does, or all do. */
enum mutant { NONE, NOBODY_KEEPS, ALL_KEEP, MUTANTS };

extern struct program programs[PROGRAMS];
extern uint32_t program_count;  /* programs in use; set before programs_open */
extern uint64_t move_cycles;    /* cycles to move a page */
extern uint64_t moved, longest; /* blocks moved in the last simulation: in all, and the most between two ends of jobs */
extern const char *wrong;       /* the first thing that was wrong in it, or NULL */
extern enum mutant mutant;
extern uint64_t pick_state;     /* state of the random numbers of pick */

/** Returns a random number below n. */
uint32_t pick(uint32_t n);
/** Sets `wrong` to `what`, unless it is good or something else was wrong before. */
void expect(bool good, const char *what);
/** Opens a device with a process and a context for each program. */
void programs_open(const char *config);
/** Makes the n buffers of a program; bytes NULL: of 1.9 MiB each. */
void program_buffers(struct program *p, uint32_t n, const uint32_t *bytes);
/** Lets programs submit jobs for so many cycles, and runs until all have ended. */
void simulate(uint64_t cycles);
void programs_close(void);
/** Closes the device that a failed test has left open. */
int programs_teardown(void **unused);
/** Returns the i-th buffer that a job of the program uses. */
struct tern_allocation *used(const struct program *p, uint64_t job, uint32_t i);
/** Returns the pages that can be on the device at once. */
uint32_t capacity(void);
/** Returns the pages that a job of the program uses at most. */
uint32_t most_used(const struct program *p);
/** Returns the blocks of the program's buffers. */
uint32_t blocks_of(const struct program *p);

#endif
