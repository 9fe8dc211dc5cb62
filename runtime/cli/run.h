/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern run: a kernel from the shell.
 *
 *   run.c          the order of things             run_options.c  the command line, and --help
 *   run_kernel.c   from the file to the kernel     run_args.c     what an ARG means
 *   run_report.c   buffers, counters and JSON      value.c        numbers and vectors as text
 *   session.c      the OpenCL device               file.c         whole files
 *   run_asm.c      the code as text
 *
 * Functions that return a status return EXIT_OK, or another after a message on stderr.
 */
#ifndef TERN_CLI_RUN_H
#define TERN_CLI_RUN_H

#include <stdio.h>

#include "cli.h"
#include "session.h"
#include "value.h"

#define MAX_RUN_ARGS 256

/** Up to three sizes, X[,Y[,Z]]. */
struct extent {
    unsigned dims; /**< 0: not given. */
    size_t n[3];
};

struct run_options {
    const char *file, *kernel, *save_binary;
    struct extent global, local, offset;
    char *build;                  /**< Options for clBuildProgram; owned. */
    bool build_given;             /**< Some are the user's. */
    size_t repeat;                /**< 0 while reading: not given. */
    bool json, quiet, time, list, print_asm;
    unsigned n_args, n_types, n_prints, n_saves;
    const char *args[MAX_RUN_ARGS];
    const char *types[MAX_RUN_ARGS];  /**< NAME=TYPE */
    const char *prints[MAX_RUN_ARGS]; /**< ARG[:COUNT] */
    const char *saves[MAX_RUN_ARGS];  /**< ARG=FILE */
};

/** An argument of the kernel: what it is (from the kernel), and what it was given. */
struct run_arg {
    unsigned number;              /**< From 1, as a person counts. */
    char name[128], type_name[128];
    cl_kernel_arg_address_qualifier space;
    cl_kernel_arg_type_qualifier qualifier;
    bool pointer;
    struct type type;             /**< Of the value, or of what the pointer points to. */
    /** The value, or the contents of the buffer; NULL for local memory and null. Owned. */
    void *data;
    size_t size;                  /**< Bytes. */
    cl_mem buffer;                /**< NULL: null, or no buffer. Owned. */
    bool print;
    size_t print_count;           /**< Elements, at most. */
    const char *save;             /**< NULL: no file. */
};

/** One execution. */
struct run_time {
    /** Device cycles and time from start to end; host seconds from enqueue to completion. */
    double cycles, ns, seconds;
    cl_tern_counters counters;    /**< What it added. */
};

struct run {
    struct session session;
    struct run_options options;
    cl_program program;
    cl_kernel kernel;
    char kernel_name[128];
    unsigned n_args;
    struct run_arg args[MAX_RUN_ARGS];
    struct run_time *times;       /**< options.repeat of them; owned. */
    size_t n_times;
};

/** -1: go on; else the status to exit with (help was printed, or usage is wrong). */
int run_options_read(int argc, char **argv, struct run_options *o);

/** Builds the file. Messages of the compiler name it as it was given. */
int run_build(struct run *r);
/** The program binary, the caller's to free; NULL, after a message. */
void *run_binary(struct run *r, size_t *size);
int run_save_binary(struct run *r);
/** The code of the kernel that was taken, or of the whole program, as text on standard output. */
int run_print_asm(struct run *r);
/** Takes the kernel that is to run, with its arguments; with --list, prints all and takes none. */
int run_choose_kernel(struct run *r);
/** With --list --json: all kernels with their arguments. */
int run_list_json(struct run *r, cl_kernel *kernels, cl_uint n);
/** Takes up a kernel: its name and arguments. */
int run_take_kernel(struct run *r, cl_kernel k);
/** "saxpy(global float *y, global const float *x, float a)", and a newline. */
void run_declare(const struct run *r, FILE *out);

/** What one ARG says. `most`: the size in bytes of the largest buffer. */
int run_arg_read(struct run_arg *a, const char *text, size_t most);
/** "global const float *x" */
void run_arg_declare(const struct run_arg *a, char *out, size_t size);
/** The argument of this name or number; NULL, with a message, if there is none. */
struct run_arg *run_arg_find(struct run *r, const char *option, const char *name, size_t length);

/** A file's bytes ("-": standard input), with a NUL behind them; at most `most`, which is the size of `what`. */
int file_read(const char *command, const char *path, size_t most, const char *what, void **data, size_t *size);
int file_write(const char *command, const char *path, const void *data, size_t size);

/** Buffers and times as text or JSON. */
int run_report(struct run *r);

#endif
