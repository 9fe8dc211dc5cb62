/* SPDX-License-Identifier: Apache-2.0 */
/** The command line of tern run. */
#include "run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void help(void)
{
    puts("usage: tern run FILE [options] [--] ARG...\n\n"
         "Builds FILE, OpenCL C, SPIR-V or a program binary, runs a kernel of it on the device (TERN_BACKEND,\n"
         "TERN_CONFIG), and prints what is then in the buffers that the kernel can write.\n\n"
         "  --kernel NAME        which kernel (needed if the file has several); --list prints them\n"
         "  --global X[,Y[,Z]]   work-items\n"
         "  --local X[,Y[,Z]]    work-items of a group (default: the runtime's choice)\n"
         "  --offset X[,Y[,Z]]   of the global ids\n"
         "  --print ARG[:COUNT]  print this buffer, all or COUNT elements (ARG: name or number)\n"
         "  --save ARG=FILE      write this buffer's bytes to a file (-: standard output)\n"
         "  --time               also print device cycles and counters\n"
         "  --repeat N           run N times; buffers keep what the run before left\n"
         "  --json               print everything as JSON\n"
         "  --quiet              print no buffer but those of --print\n"
         "  --type NAME=TYPE     what a type name of the kernel stands for (--type real=float)\n"
         "  --save-binary FILE   write the program binary\n"
         "  --asm                print the instructions of all functions, or of --kernel and what it calls, and "
         "run nothing\n"
         "  --explain            say how the kernels run and why, show their inner loops, and run nothing\n"
         "  -D... -I... -g -w -Werror -cl-...    options of the build; --build-options STRING: others\n\n"
         "An ARG for each argument of the kernel, in order:\n"
         "  3  -0.5  0x10        a number; numbers with commas are a vector, or a buffer: 1,2,3,4\n"
         "  zeros:N  iota:N  fill:VALUE:N  random:N[:SEED]    a buffer of N elements\n"
         "  @FILE  hex:DIGITS  bytes:N    raw bytes (@-: standard input; N zero bytes)\n"
         "  local:BYTES  null    local memory; a null pointer\n"
         "  image:WxH:ORDER:TYPE[:CONTENTS]    an image (RGBA:UNORM_INT8:random[:SEED], ...:@FILE)\n"
         "  sampler:WORD,...     normalized; nearest or linear; edge, clamp, repeat, mirror or none\n\n"
         "Exit: 0 done; 1 the file, the build, the kernel or the device failed; 2 wrong usage. More: tern help run.");
}

static bool append(struct run_options *o, const char *text, bool quote)
{
    const size_t old = o->build ? strlen(o->build) : 0;
    char *grown = realloc(o->build, old + 2 * strlen(text) + 4);
    if (!grown) {
        fprintf(stderr, "tern run: out of memory\n");
        return false;
    }
    o->build = grown;
    char *p = grown + old;
    *p++ = ' ';
    *p = '\0';
    if (!quote) {
        strcpy(p, text);
        return true;
    }
    *p++ = '"';
    for (; *text; *p++ = *text++) {
        if (*text == '"' || *text == '\\') {
            *p++ = '\\';
        }
    }
    *p++ = '"';
    *p = '\0';
    return true;
}

static int read_extent(const char *option, const char *text, struct extent *out)
{
    const char *p = text;
    for (out->dims = 0; out->dims < 3; p++) {
        const size_t length = strcspn(p, ",");
        if (!value_count(p, length, &out->n[out->dims])) {
            break;
        }
        out->dims++;
        p += length;
        if (*p == '\0') {
            return -1;
        }
    }
    return usage_error("run", "%s takes one to three sizes, X[,Y[,Z]]; got '%s'", option, text);
}

static int read_repeat(const char *text, size_t *out)
{
    if (!value_count(text, strlen(text), out) || *out == 0 || *out > 1000000) {
        return usage_error("run", "--repeat takes a number from 1 to 1000000; got '%s'", text);
    }
    return -1;
}

static int push(const char **list, unsigned *n, const char *what, const char *text)
{
    if (*n == MAX_RUN_ARGS) {
        return usage_error("run", "more than %u %s", MAX_RUN_ARGS, what);
    }
    list[(*n)++] = text;
    return -1;
}

/** Stores an option with a value. */
static int take(struct run_options *o, const char *name, const char *v)
{
    if (strcmp(name, "--kernel") == 0) {
        o->kernel = v;
    } else if (strcmp(name, "--global") == 0) {
        return read_extent(name, v, &o->global);
    } else if (strcmp(name, "--local") == 0) {
        return read_extent(name, v, &o->local);
    } else if (strcmp(name, "--offset") == 0) {
        return read_extent(name, v, &o->offset);
    } else if (strcmp(name, "--repeat") == 0) {
        return read_repeat(v, &o->repeat);
    } else if (strcmp(name, "--print") == 0) {
        return push(o->prints, &o->n_prints, "--print", v);
    } else if (strcmp(name, "--save") == 0) {
        return strchr(v, '=') ? push(o->saves, &o->n_saves, "--save", v)
                              : usage_error("run", "--save takes ARG=FILE; got '%s'", v);
    } else if (strcmp(name, "--type") == 0) {
        const char *equal = strchr(v, '=');
        return equal && type_of(equal + 1).kind != OPAQUE ? push(o->types, &o->n_types, "--type", v)
                              : usage_error("run", "--type takes NAME=TYPE, TYPE a scalar or vector; got '%s'", v);
    } else if (strcmp(name, "--save-binary") == 0) {
        o->save_binary = v;
    } else { /* the remaining option is --build-options */
        o->build_given = true;
        return append(o, v, false) ? -1 : EXIT_FAILED;
    }
    return -1;
}

/** The value of argv[*i] if it is an option with a value, "--name=value" or "--name" and the next argument. */
static const char *value_of(int argc, char **argv, int *i, const char **name)
{
    static const char *const names[] = {"--kernel", "--global", "--local", "--offset", "--repeat", "--print",
                                        "--save", "--type", "--save-binary", "--build-options"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const size_t n = strlen(names[k]);
        if (strncmp(argv[*i], names[k], n) == 0 && (argv[*i][n] == '=' || argv[*i][n] == '\0')) {
            *name = names[k];
            return argv[*i][n] ? argv[*i] + n + 1 : ++*i < argc ? argv[*i] : NULL;
        }
    }
    *name = NULL;
    return NULL;
}

/** Appends an option of the build. */
static int pass_on(int argc, char **argv, int *i, struct run_options *o)
{
    const char *a = argv[*i];
    o->build_given = true;
    const bool joined = (a[1] == 'D' || a[1] == 'I') && a[2] == '\0';
    if (joined && *i + 1 == argc) {
        return usage_error("run", "%s needs a value", a);
    }
    if (!append(o, a, true) || (joined && !append(o, argv[++*i], true))) {
        return EXIT_FAILED;
    }
    return -1;
}

static bool is_option(const char *a)
{
    return a[0] == '-' && a[1] != '\0' && a[1] != '.' && !isdigit((unsigned char)a[1]) && strncmp(a, "-inf", 4) != 0 &&
           strncmp(a, "-nan", 4) != 0;
}

static int take_option(int argc, char **argv, int *i, struct run_options *o)
{
    static const struct {
        const char *name;
        size_t at;
    } flags[] = {
        {"--json", offsetof(struct run_options, json)},
        {"--quiet", offsetof(struct run_options, quiet)},
        {"--time", offsetof(struct run_options, time)},
        {"--list", offsetof(struct run_options, list)},
        {"--asm", offsetof(struct run_options, print_asm)},
        {"--explain", offsetof(struct run_options, explain)},
    };
    const char *a = argv[*i], *name;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        if (strcmp(a, flags[k].name) == 0) {
            *(bool *)((char *)o + flags[k].at) = true;
            return -1;
        }
    }
    if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0) {
        help();
        return EXIT_OK;
    }
    const char *value = value_of(argc, argv, i, &name);
    if (name) {
        return value ? take(o, name, value) : usage_error("run", "%s needs a value", name);
    }
    if (a[1] == 'D' || a[1] == 'I' || strncmp(a, "-cl-", 4) == 0 || !strcmp(a, "-g") || !strcmp(a, "-w") ||
        !strcmp(a, "-Werror")) {
        return pass_on(argc, argv, i, o);
    }
    return usage_error("run", "unknown option '%s'", a);
}

/** Adds the file's folder to the include path. */
static bool add_folder(struct run_options *o)
{
    const char *slash = strrchr(o->file, '/');
    char *folder = strndup(o->file, slash ? (size_t)(slash - o->file) + 1 : 0);
    const bool ok = folder && append(o, "-I", true) && append(o, *folder ? folder : ".", true);
    free(folder);
    return ok;
}

/** The first given option that concerns the run or its results; NULL: none. */
static const char *for_running(const struct run_options *o)
{
    return o->n_args        ? "an ARG"
           : o->global.dims ? "--global"
           : o->local.dims  ? "--local"
           : o->offset.dims ? "--offset"
           : o->repeat      ? "--repeat"
           : o->n_prints    ? "--print"
           : o->n_saves     ? "--save"
           : o->time        ? "--time"
           : o->quiet       ? "--quiet"
           : o->n_types     ? "--type"
                            : NULL;
}

/** Refuses combinations of options of which one would have no effect. */
static int check_together(const struct run_options *o)
{
    unsigned outputs = o->json;
    const char *vain = for_running(o);
    for (unsigned i = 0; i < o->n_saves; i++) {
        outputs += strcmp(strchr(o->saves[i], '=') + 1, "-") == 0;
    }
    if (outputs > 1) {
        return usage_error("run", "standard output takes one thing: --json, or one --save ARG=-");
    }
    if (o->print_asm) {
        vain = o->explain ? "--explain" : o->list ? "--list" : o->json ? "--json" : vain;
        return vain ? usage_error("run", "--asm prints instructions and runs nothing; %s has no meaning with it", vain)
                    : -1;
    }
    if (o->explain) {
        vain = o->list ? "--list" : vain;
        return vain ? usage_error("run", "--explain describes kernels and runs nothing; %s has no meaning with it",
                                  vain)
                    : -1;
    }
    if (o->list) {
        vain = o->kernel ? "--kernel" : vain;
        return vain ? usage_error("run", "--list prints all kernels and runs none; %s has no meaning with it", vain)
                    : -1;
    }
    if (o->save_binary && o->n_args == 0 && o->global.dims == 0) {
        vain = o->kernel ? "--kernel" : o->json ? "--json" : vain;
        return vain ? usage_error("run", "with --save-binary, but neither --global nor an ARG, nothing runs; %s has "
                                  "no meaning then", vain)
                    : -1;
    }
    return -1;
}

int run_options_read(int argc, char **argv, struct run_options *o)
{
    bool options = true;
    for (int i = 1; i < argc; i++) {
        int status = -1;
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && is_option(argv[i])) {
            status = take_option(argc, argv, &i, o);
        } else if (!o->file) {
            o->file = argv[i];
        } else {
            status = push(o->args, &o->n_args, "arguments", argv[i]);
        }
        if (status != -1) {
            return status;
        }
    }
    if (!o->file) {
        return usage_error("run", "no FILE is given");
    }
    const int status = check_together(o);
    o->repeat = o->repeat ? o->repeat : 1;
    if (status != -1) {
        return status;
    }
    if (!append(o, "-cl-kernel-arg-info", false) || (o->explain && !append(o, "-tern-explain", false)) ||
        !add_folder(o)) {
        return EXIT_FAILED;
    }
    return -1;
}
