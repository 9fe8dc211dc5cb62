/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern run: runs a kernel from the shell.
 *
 *   run.c          sequence of steps               run_options.c  command line, and --help
 *   run_kernel.c   from the file to the kernel     run_args.c     meaning of an ARG
 *   run_report.c   buffers, counters and JSON      value.c        numbers and vectors as text
 *   run_image.c    images and samplers             file.c         whole files
 *   session.c      the OpenCL device
 *   run_asm.c      code as text, and its explanation
 *
 * Functions that return a status return EXIT_OK, or another one after a message on stderr.
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
    unsigned dims; /**< Number of sizes; 0: not given. */
    size_t n[3];
};

struct run_options {
    const char *file, *kernel, *save_binary;
    struct extent global, local, offset;
    char *build;                  /**< Options for clBuildProgram; owned. */
    bool build_given;             /**< The user has given options of the build. */
    size_t repeat;                /**< Number of runs; 0 while the options are read: not given. */
    bool json, quiet, time, list, print_asm, explain;
    unsigned n_args, n_types, n_prints, n_saves;
    const char *args[MAX_RUN_ARGS];
    const char *types[MAX_RUN_ARGS];  /**< NAME=TYPE. */
    const char *prints[MAX_RUN_ARGS]; /**< ARG[:COUNT]. */
    const char *saves[MAX_RUN_ARGS];  /**< ARG=FILE. */
};

/** An argument of the kernel: its declaration, and its value. */
struct run_arg {
    unsigned number;              /**< Number from 1, as in messages. */
    char name[128], type_name[128];
    cl_kernel_arg_address_qualifier space;
    cl_kernel_arg_type_qualifier qualifier;
    bool pointer;
    struct type type;             /**< Type of the value, or of the elements of the buffer. */
    /** The value, or the contents of the buffer; NULL for local memory and null pointers. Owned. */
    void *data;
    size_t size;                  /**< Bytes of the value, the buffer or the local memory. */
    cl_mem buffer;                /**< The buffer or image, owned; NULL: none. */
    cl_kernel_arg_access_qualifier access;
    cl_mem_object_type image;     /**< Kind of image; 0: the argument is none. */
    unsigned image_sizes;         /**< Numbers that say how large an image of this kind is: 1 to 3. */
    size_t extent[3];             /**< Sizes of the image in pixels, rows, slices or layers; 1: none there. */
    cl_image_format format;
    const char *contents;         /**< First contents of the image, as text; empty: zeros. */
    bool sampler;                 /**< The argument is a sampler, of the next three members. */
    cl_uint normalized, address, filter;
    bool print;
    size_t print_count;           /**< Largest number of elements to print. */
    const char *save;             /**< Name of the file to which the buffer is saved; NULL: none. */
};

/** One run of the kernel. */
struct run_time {
    /** Device cycles and ns from start to end; host seconds from enqueue to completion. */
    double cycles, ns, seconds;
    cl_tern_counters counters;    /**< Increase of the counters during the run. */
};

struct run {
    struct session session;
    struct run_options options;
    cl_program program;
    cl_kernel kernel;
    char kernel_name[128];
    unsigned n_args;
    struct run_arg args[MAX_RUN_ARGS];
    struct run_time *times;       /**< Array of options.repeat elements; owned. */
    size_t n_times;
};

/** Parses the command line. -1: go on; else the exit status: help was printed, or the usage is wrong. */
int run_options_read(int argc, char **argv, struct run_options *o);

/** Builds the file. Messages of the compiler name the file as the user did. */
int run_build(struct run *r);
/** The program binary, which the caller frees; NULL, after a message. */
void *run_binary(struct run *r, size_t *size);
int run_save_binary(struct run *r);
/** Prints the code of the chosen kernel, or of the whole program, or explains it, on standard output. */
int run_print_asm(struct run *r);
/** Chooses the kernel to run, with its arguments. With --list, prints all kernels and chooses none. */
int run_choose_kernel(struct run *r);
/** With --list --json: prints all kernels with their arguments. */
int run_list_json(struct run *r, cl_kernel *kernels, cl_uint n);
/** Reads the name and the arguments of a kernel. */
int run_take_kernel(struct run *r, cl_kernel k);
/** Prints as "saxpy(global float *y, global const float *x, float a)", with a newline. */
void run_declare(const struct run *r, FILE *out);

/** Parses one ARG. most: bytes of the largest buffer. */
int run_arg_read(struct run_arg *a, const char *text, size_t most);
/** Finds whether the argument is an image or a sampler. */
void run_image_find(struct run_arg *a);
/** Parse the ARG of an image or of a sampler. */
int run_image_read(struct run_arg *a, const char *text);
int run_sampler_read(struct run_arg *a, const char *text);
/** Makes the image with its contents, as a->buffer. */
int run_image_make(struct session *s, struct run_arg *a);
/** Copies the image's pixels to a->data. */
int run_image_read_back(struct session *s, struct run_arg *a);
/** The next of a sequence of random numbers. */
uint64_t run_random(uint64_t *state);
/** As "global const float *x". */
void run_arg_declare(const struct run_arg *a, char *out, size_t size);
/** The argument with this name or number; NULL, after a message: there is none. */
struct run_arg *run_arg_find(struct run *r, const char *option, const char *name, size_t length);

/** Reads a file ("-": standard input) of at most `most` bytes, which `what` names in a message, and appends a NUL.
 *  The caller frees *data. */
int file_read(const char *command, const char *path, size_t most, const char *what, void **data, size_t *size);
int file_write(const char *command, const char *path, const void *data, size_t size);

/** Prints buffers and times as text or JSON. */
int run_report(struct run *r);

#endif
