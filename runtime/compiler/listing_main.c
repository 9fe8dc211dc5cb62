/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern-disassemble [KERNEL]: prints the code of the program binary on standard input, for `tern run --asm`: all
 * functions, or a kernel and the functions that it calls. tern-disassemble --explain [--json] [--threads=N] [KERNEL]
 * explains the kernels, for `tern run --explain`, as text or JSON (explain.h). N: work-items of an engine. Exit: 0; 1:
 * no program binary, no such kernel, or out of memory.
 *
 * Like the compilers it is a process of its own: applications do not load LLVM, and a damaged program binary cannot
 * crash them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "listing.h"

#define BINARY_BYTES_MAX ((size_t)256 << 20) /* largest size of a program binary in bytes, as in `tern run` */

static void print_head(const struct function *f, bool first)
{
    const char *name = f->name;
    const char *what = "function", *how = "";
    int n = (int)strlen(name);
    if (strncmp(name, ENTRY, strlen(ENTRY)) == 0) {
        const int suffix = (int)strlen(COARSE);
        name += strlen(ENTRY);
        n = (int)strlen(name);
        what = "kernel";
        if (n > suffix && strcmp(name + n - suffix, COARSE) == 0) {
            n -= suffix;
            how = ", several work-items at once";
        }
    } else if (strncmp(name, USER, strlen(USER)) == 0) {
        name += strlen(USER);
        n -= (int)strlen(USER);
    }
    printf("%s%s %.*s%s:\n", first ? "" : "\n", what, n, name, how);
}

/** Reads the whole input. NULL: no memory, or more than BINARY_BYTES_MAX bytes. */
static void *read_all(FILE *in, size_t *size)
{
    char *data = NULL;
    for (size_t room = 0, n = 1; n > 0; *size += n) {
        if (*size > BINARY_BYTES_MAX) {
            free(data);
            return NULL;
        }
        if (*size == room) {
            room = room ? 2 * room : 65536;
            char *grown = realloc(data, room);
            if (!grown) {
                free(data);
                return NULL;
            }
            data = grown;
        }
        n = fread(data + *size, 1, room - *size, in);
    }
    return data;
}

static void print_line(void *user, uint32_t at, uint32_t word, const char *text)
{
    (void)user;
    printf("%8x  %08x  %s\n", at, word, text);
}

static void print_all(const struct listing *l)
{
    bool first = true;
    for (size_t i = 0; i < l->n_functions; i++) {
        if (l->functions[i].shown) {
            print_head(&l->functions[i], first);
            listing_code(l, &l->functions[i], print_line, NULL);
            first = false;
        }
    }
}

int main(int argc, char **argv)
{
    struct listing l = {0};
    struct explain_options how = {0};
    bool explain = false;
    const char *kernel = NULL;
    size_t size = 0;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--threads=", 10) == 0) {
            how.threads = (uint32_t)strtoul(argv[i] + 10, NULL, 10);
        } else if (strcmp(argv[i], "--explain") == 0 || strcmp(argv[i], "--json") == 0) {
            explain = true;
            how.json = how.json || strcmp(argv[i], "--json") == 0;
        } else {
            kernel = argv[i];
        }
    }
    void *data = read_all(stdin, &size);
    const char *wrong = !data || tc_elf_open(&l.elf, data, size) || !listing_read(&l) ? "no program binary"
                        : !listing_choose(&l, kernel)                                ? "no such kernel"
                                                                                      : NULL;
    if (!wrong && explain) {
        wrong = explain_print(&l, data, size, kernel, &how);
    } else if (!wrong) {
        print_all(&l);
    }
    if (wrong) {
        fprintf(stderr, "tern-disassemble: standard input: %s\n", wrong);
    }
    free(l.functions);
    free(data);
    return wrong || fflush(stdout) || ferror(stdout) ? 1 : 0;
}
