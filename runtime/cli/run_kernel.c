/* SPDX-License-Identifier: Apache-2.0 */
/** tern run: from the file to the kernel, with its statistics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define MAX_FILE ((size_t)256 << 20)

int run_build(struct run *r)
{
    struct run_options *o = &r->options;
    static const char elf[] = "\177ELF"; /* first bytes of a program binary */
    static const char spirv[] = "\x03\x02\x23\x07";
    void *code;
    size_t size;
    int status = file_read("run", o->file, MAX_FILE, "256 MiB, the most that a program may have", &code, &size);
    if (status != EXIT_OK) {
        return status;
    }
    const char *nul = memchr(code, '\0', size);
    const bool binary = size >= sizeof elf - 1 && !memcmp(code, elf, sizeof elf - 1);
    const bool il = size >= sizeof spirv - 1 && !memcmp(code, spirv, sizeof spirv - 1);
    if (binary && o->build_given) {
        status = usage_error("run", "%s is a program binary, which is built already: options of the build "
                             "have no meaning", o->file);
    } else if (il) {
        r->program = session_build(&r->session, code, size, SESSION_SPIRV, o->build);
    } else if (nul && !binary) {
        unsigned line = 1;
        for (const char *p = code; (p = memchr(p, '\n', (size_t)(nul - p))); p++) {
            line++;
        }
        fprintf(stderr, "tern run: %s:%u: there is a NUL byte, which no source text has; and it is neither SPIR-V nor "
                "a program binary of this version of Tern, which begins as an ELF file\n", o->file, line);
    } else if (binary) {
        r->program = session_build(&r->session, code, size, SESSION_BINARY, "");
    } else if (size == 0) {
        fprintf(stderr, "tern run: %s: is empty\n", o->file);
    } else {
        char *text = malloc(size + 2 * strlen(o->file) + 32), *p = text;
        if (text) {
            p = stpcpy(p, "#line 1 \"");
            for (const char *f = o->file; *f; *p++ = *f++) {
                if (*f == '"' || *f == '\\') {
                    *p++ = '\\';
                }
            }
            p = stpcpy(p, "\"\n");
            memcpy(p, code, size);
            r->program = session_build(&r->session, text, (size_t)(p - text) + size, SESSION_SOURCE, o->build);
        }
        free(text);
    }
    free(code);
    return r->program ? EXIT_OK : status == EXIT_OK ? EXIT_FAILED : status;
}

void *run_binary(struct run *r, size_t *size)
{
    if (session_failed(&r->session, clGetProgramInfo(r->program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL),
                       "binary size")) {
        return NULL;
    }
    unsigned char *bytes = malloc(*size);
    if (!bytes) {
        fprintf(stderr, "tern run: out of memory\n");
    } else if (session_failed(&r->session, clGetProgramInfo(r->program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes,
                                                            NULL), "binary")) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

int run_save_binary(struct run *r)
{
    size_t size;
    void *bytes = run_binary(r, &size);
    const int status = bytes ? file_write("run", r->options.save_binary, bytes, size) : EXIT_FAILED;
    free(bytes);
    return status;
}

/** Asks the kernel about an argument. */
static int ask_argument(struct run *r, cl_uint i)
{
    struct run_arg *a = &r->args[i];
    a->number = i + 1;
    cl_int err = clGetKernelArgInfo(r->kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof a->type_name, a->type_name, NULL);
    if (err == CL_SUCCESS) {
        err = clGetKernelArgInfo(r->kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof a->space, &a->space, NULL);
    }
    if (err == CL_SUCCESS) {
        err = clGetKernelArgInfo(r->kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof a->qualifier, &a->qualifier, NULL);
    }
    if (err == CL_SUCCESS) {
        err = clGetKernelArgInfo(r->kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof a->access, &a->access, NULL);
    }
    if (err == CL_SUCCESS) {
        err = clGetKernelArgInfo(r->kernel, i, CL_KERNEL_ARG_NAME, sizeof a->name, a->name, NULL);
        if (err == CL_KERNEL_ARG_INFO_NOT_AVAILABLE || (err == CL_SUCCESS && !*a->name)) {
            snprintf(a->name, sizeof a->name, "%u", a->number); /* SPIR-V need not have names */
            err = CL_SUCCESS;
        }
    }
    if (session_failed(&r->session, err, "asking what an argument of the kernel is")) {
        return EXIT_FAILED;
    }
    char base[128];
    const size_t n = strlen(a->type_name);
    a->pointer = n > 0 && a->type_name[n - 1] == '*';
    snprintf(base, sizeof base, "%.*s", (int)(n - a->pointer), a->type_name);
    a->type = type_of(base);
    run_image_find(a);
    for (unsigned k = 0; k < r->options.n_types; k++) {
        const char *equal = strchr(r->options.types[k], '=');
        if (strlen(base) == (size_t)(equal - r->options.types[k]) &&
            strncmp(base, r->options.types[k], strlen(base)) == 0) {
            a->type = type_of(equal + 1);
        }
    }
    return EXIT_OK;
}

int run_take_kernel(struct run *r, cl_kernel k)
{
    cl_uint n = 0;
    r->kernel = k;
    cl_int err = clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof r->kernel_name, r->kernel_name, NULL);
    if (err == CL_SUCCESS) {
        err = clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
    }
    if (session_failed(&r->session, err, "asking what the kernel is")) {
        return EXIT_FAILED;
    }
    if (n > MAX_RUN_ARGS) {
        fprintf(stderr, "tern run: kernel '%s' takes %u arguments; at most %d can be given\n", r->kernel_name, n,
                MAX_RUN_ARGS);
        return EXIT_FAILED;
    }
    int status = EXIT_OK;
    for (r->n_args = 0; status == EXIT_OK && r->n_args < n; r->n_args++) {
        status = ask_argument(r, r->n_args);
    }
    return status;
}

void run_declare(const struct run *r, FILE *out)
{
    fprintf(out, "%s(", r->kernel_name);
    for (unsigned i = 0; i < r->n_args; i++) {
        char text[320];
        run_arg_declare(&r->args[i], text, sizeof text);
        fprintf(out, "%s%s", i ? ", " : "", text);
    }
    fprintf(out, ")\n");
}

static int list(struct run *r, cl_kernel *kernels, cl_uint n)
{
    int status = r->options.json ? run_list_json(r, kernels, n) : EXIT_OK;
    for (cl_uint i = 0; !r->options.json && status == EXIT_OK && i < n; i++) {
        status = run_take_kernel(r, kernels[i]);
        if (status == EXIT_OK) {
            run_declare(r, stdout);
        }
    }
    r->kernel = NULL;
    return status;
}

static int no_kernel(const struct run *r, const char *names)
{
    if (r->options.kernel) {
        fprintf(stderr, "tern run: %s has no kernel '%s'; it has: ", r->options.file, r->options.kernel);
    } else {
        fprintf(stderr, "tern run: %s has several kernels; choose one with --kernel: ", r->options.file);
    }
    for (; *names; names++) {
        fputs(*names == ';' ? ", " : (char[]){*names, '\0'}, stderr);
    }
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int run_choose_kernel(struct run *r)
{
    cl_kernel kernels[4096];
    char name[128];
    cl_uint n = 0;
    int status = EXIT_USAGE;
    if (session_failed(&r->session, clCreateKernelsInProgram(r->program, sizeof kernels / sizeof *kernels, kernels, &n),
                       "kernels")) {
        return EXIT_FAILED;
    }
    cl_kernel found = !r->options.kernel && n == 1 ? kernels[0] : NULL;
    for (cl_uint i = 0; r->options.kernel && i < n; i++) {
        if (clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
            strcmp(name, r->options.kernel) == 0) {
            found = kernels[i];
        }
    }
    if (n == 0) {
        fprintf(stderr, "tern run: %s has no kernels\n", r->options.file);
        status = EXIT_FAILED;
    } else if (r->options.list) {
        status = list(r, kernels, n);
    } else if (found) {
        clRetainKernel(found);
        status = run_take_kernel(r, found);
    } else {
        size_t size = 0;
        clGetProgramInfo(r->program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size);
        char *names = calloc(1, size + 1);
        if (names && clGetProgramInfo(r->program, CL_PROGRAM_KERNEL_NAMES, size, names, NULL) == CL_SUCCESS) {
            no_kernel(r, names);
        }
        free(names);
    }
    for (cl_uint i = 0; i < n; i++) {
        clReleaseKernel(kernels[i]);
    }
    return status;
}
