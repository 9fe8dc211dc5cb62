/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Options of clBuildProgram, clCompileProgram and clLinkProgram (OpenCL 3.0, 5.8.6 and 5.8.7), separated by white
 * space. "..." protects white space, and a backslash protects a quote or backslash. Both stages accept all options,
 * because clBuildProgram gives one string to both; options of the other stage have no effect.
 */
#include "tc_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum action { PASS, IGNORE, NO_OPTIMIZE, NO_COARSEN, EXPLAIN, LINES, ARG_INFO };

static const struct {
    const char *name;
    enum action action;
} flags[] = {
    {"-cl-single-precision-constant", PASS},
    {"-cl-denorms-are-zero", IGNORE}, /* only a permission: the hardware computes with subnormals at full speed */
    {"-cl-fp32-correctly-rounded-divide-sqrt", PASS},
    {"-cl-opt-disable", NO_OPTIMIZE},
    {"-cl-strict-aliasing", IGNORE},
    {"-cl-mad-enable", PASS},
    {"-cl-no-signed-zeros", PASS},
    {"-cl-no-signed-zeroes", IGNORE}, /* the spelling of the link option */
    {"-cl-unsafe-math-optimizations", PASS},
    {"-cl-finite-math-only", PASS},
    {"-cl-fast-relaxed-math", PASS},
    {"-cl-uniform-work-group-size", PASS},
    {"-cl-no-subgroup-ifp", IGNORE},
    {"-cl-kernel-arg-info", ARG_INFO},
    {"-w", PASS},
    {"-Werror", PASS},
    {"-g", LINES}, /* there is no debugger, but faults name lines */
    /* an option of Tern: each hardware work-item runs one work-item (docs/compiler.md) */
    {"-tern-no-coarsen", NO_COARSEN},
    {"-tern-explain", EXPLAIN}, /* for tern run --explain */
    {"-create-library", IGNORE},
    {"-enable-link-options", IGNORE},
};

static const struct {
    const char *name;
    int version;
} standards[] = {{"CL1.0", 100}, {"CL1.1", 110}, {"CL1.2", 120}, {"CL2.0", 200}, {"CL3.0", 300}};

/** Valid versions of the language that a device need not support: the option is valid, and the build fails. */
static const char *const other_standards[] = {"CLC++", "CLC++1.0", "CLC++2021"};

/** The next token, malloc'ed; advances *text. 0; -ENOENT: there is none; -EINVAL: an open quote; -ENOMEM. */
static int next_token(const char **text, char **out)
{
    const char *p = *text + strspn(*text, " \t\r\n\v\f");
    if (!*p) {
        return -ENOENT;
    }
    char *token = malloc(strlen(p) + 1);
    if (!token) {
        return -ENOMEM;
    }
    size_t n = 0;
    int quoted = 0;
    for (; *p && (quoted || !strchr(" \t\r\n\v\f", *p)); p++) {
        if (*p == '"') {
            quoted = !quoted;
        } else if (*p == '\\' && (p[1] == '"' || p[1] == '\\')) {
            token[n++] = *++p;
        } else {
            token[n++] = *p;
        }
    }
    token[n] = '\0';
    if (quoted) {
        free(token);
        return -EINVAL;
    }
    *text = p;
    *out = token;
    return 0;
}

/** Appends an argument, which it takes, also on failure. */
static int push(struct tc_options *o, char *argument)
{
    char **grown = argument ? realloc(o->arguments, (o->n + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(argument);
        return -ENOMEM;
    }
    o->arguments = grown;
    o->arguments[o->n++] = argument;
    return 0;
}

static int set_standard(struct tc_options *o, const char *name, struct tc_text *log)
{
    for (size_t i = 0; i < sizeof standards / sizeof *standards; i++) {
        if (!strcmp(name, standards[i].name)) {
            o->version = standards[i].version;
            return 0;
        }
    }
    tc_text_print(log, "error: -cl-std=%s is not supported; CL1.0, CL1.1, CL1.2, CL2.0 and CL3.0 are\n", name);
    for (size_t i = 0; i < sizeof other_standards / sizeof *other_standards; i++) {
        if (!strcmp(name, other_standards[i])) {
            return -EBADMSG;
        }
    }
    return -EINVAL;
}

static int take_flag(struct tc_options *o, char *token, struct tc_text *log)
{
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!strcmp(token, flags[i].name)) {
            o->optimize = flags[i].action == NO_OPTIMIZE ? 0 : o->optimize;
            o->coarsen = flags[i].action == NO_COARSEN ? 0 : o->coarsen;
            o->explain = flags[i].action == EXPLAIN ? 1 : o->explain;
            o->lines = flags[i].action == LINES ? 1 : o->lines;
            o->arg_info = flags[i].action == ARG_INFO ? 1 : o->arg_info;
            if (flags[i].action == PASS) {
                return push(o, token);
            }
            free(token);
            return 0;
        }
    }
    tc_text_print(log, "error: unknown option '%s'\n", token);
    free(token);
    return -EINVAL;
}

static int take(struct tc_options *o, char *token, const char **text, struct tc_text *log)
{
    int result;
    if (!strncmp(token, "-cl-std=", 8)) {
        result = set_standard(o, token + 8, log);
        free(token);
        return result;
    }
    if (strncmp(token, "-D", 2) && strncmp(token, "-I", 2)) {
        return take_flag(o, token, log);
    }
    if (!token[2]) { /* the value is the next token */
        char *value;
        char *joined = NULL;
        result = next_token(text, &value);
        if (result) {
            tc_text_print(log, "error: option '%s' needs a value\n", token);
            free(token);
            return result == -ENOENT ? -EINVAL : result;
        }
        if (asprintf(&joined, "%s%s", token, value) < 0) {
            joined = NULL;
        }
        free(value);
        free(token);
        return push(o, joined);
    }
    return push(o, token);
}

int tc_options_parse(const char *text, struct tc_options *out, struct tc_text *log)
{
    struct tc_options o = {.version = 120, .optimize = 1, .coarsen = 1};
    char *token;
    int result;
    text = text ? text : "";
    while ((result = next_token(&text, &token)) == 0) {
        result = take(&o, token, &text, log);
        if (result) {
            break;
        }
    }
    if (result == -ENOENT) {
        *out = o;
        return 0;
    }
    if (result == -EINVAL && log->size == 0) {
        tc_text_print(log, "error: a quote is not closed in the options\n");
    }
    tc_options_free(&o);
    return result;
}

int tc_options_from_here(struct tc_options *options)
{
    char here[4096], *made = NULL;
    if (!getcwd(here, sizeof here)) {
        return 0; /* the current folder was removed, so nothing can be found from there */
    }
    for (size_t i = 0; i < options->n; i++) {
        const char *o = options->arguments[i];
        if (!strncmp(o, "-I", 2) && o[2] != '/') {
            if (asprintf(&made, "-I%s/%s", here, o + 2) < 0) {
                return -ENOMEM;
            }
            free(options->arguments[i]);
            options->arguments[i] = made;
        }
    }
    static const char *const searches[] = {"-iquote", "--embed-dir="};
    int result = 0;
    for (size_t i = 0; !result && i < sizeof searches / sizeof *searches; i++) {
        result = asprintf(&made, "%s%s", searches[i], here) < 0 ? -ENOMEM : push(options, made);
    }
    return result;
}

void tc_options_free(struct tc_options *options)
{
    for (size_t i = 0; i < options->n; i++) {
        free(options->arguments[i]);
    }
    free(options->arguments);
    *options = (struct tc_options){0};
}
