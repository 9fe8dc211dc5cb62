/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tc_compile: runs clang's front end, which writes unoptimized bitcode. Headers of the application are memory files,
 * which a virtual file system maps to paths. Files that are read from disk are dependences of a cached result
 * (tc_depend.c). Programs with unknown dependences are not cached, but the link, which takes longer, still is.
 */
#include "guard.h"
#include "tc_digest.h"
#include "tc_internal.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXTENSION(name) " " #name
#define FEATURE(name)
static const char extension_names[] =
#include "tc_extensions.def"
    ;
#undef EXTENSION
#undef FEATURE
#define EXTENSION(name)
#define FEATURE(name) " " #name
static const char feature_names[] =
#include "tc_extensions.def"
    ;
#undef EXTENSION
#undef FEATURE
#define EXTENSION(name) ",+" #name
#define FEATURE(name)
static const char enable[] = "-cl-ext=-all"
#include "tc_extensions.def"
    ;
#undef FEATURE
#define FEATURE(name) EXTENSION(name)
static const char enable_3[] = "-cl-ext=-all"
#include "tc_extensions.def"
    ;
#undef EXTENSION
#undef FEATURE
#define EXTENSION(name)
#define FEATURE(name)
#define MACRO(name) "-D" #name "=1",
#define NAMED(name)
static const char *const macros_3[] = {
#include "tc_extensions.def"
};
#define MACRO(name)
#define NAMED(name) "-D" #name "=1",
static const char *const macros[] = {
#include "tc_extensions.def"
};
#define NAMED(name)
#define LATER(name) "-D" #name "=1",
static const char *const macros_2[] = {
#include "tc_extensions.def"
};

const char *tc_version(void)
{
    return TC_DIGEST;
}

const char *tc_extensions(void)
{
    return extension_names + 1;
}

const char *tc_features(void)
{
    return feature_names + 1;
}

struct arguments {
    const char **list;
    size_t n, room;
    int failed;
};

static void add(struct arguments *a, const char *argument)
{
    if (a->n + 1 >= a->room) {
        size_t room = a->room ? 2 * a->room : 64;
        const char **grown = realloc(a->list, room * sizeof *grown);
        if (!grown) {
            a->failed = 1;
            return;
        }
        a->list = grown;
        a->room = room;
    }
    a->list[a->n++] = argument;
    a->list[a->n] = NULL;
}

/** Arguments of the front end. The target is nvptx64, see ternc/module.c; its macros are undefined, so that a program
 *  does not take this for NVIDIA's compiler. Headers are clang's own and those in folders that the application
 *  names, not the host's. declarations: a file that is included first. */
static void front_end_arguments(struct arguments *a, const struct tc_options *o, int given, const char *declarations)
{
    static const char *const fixed[] = {
        "clang-19", "--no-default-config", "-nostdlibinc", "--target=nvptx64-unknown-unknown", "-U__NVPTX__",
        "-U__PTX__", "-D__OPENCL_VERSION__=300", "-D__IMAGE_SUPPORT__=1",
        "-DFP_FAST_FMAF", "-x", "cl", "-O2", "-Xclang", "-disable-llvm-passes", "-fno-math-errno",
        "-fomit-frame-pointer", "-fno-ident", "-fno-crash-diagnostics", "-fno-color-diagnostics", "-cl-kernel-arg-info",
        "-Wno-format", /* records of printf describe their arguments; clang expects %v4hlf for a float4 */
        "-Wno-unused-command-line-argument", "-emit-llvm", "-c", "-o", "-", "-Xclang"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        add(a, fixed[i]);
    }
    add(a, o->version >= 300 ? enable_3 : enable);
    add(a, "-include");
    add(a, declarations);
    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++) {
        add(a, macros[i]);
    }
    if (o->version >= 200) {
        for (size_t i = 0; i < sizeof macros_2 / sizeof *macros_2; i++) {
            add(a, macros_2[i]);
        }
    }
    if (o->version >= 300) {
        for (size_t i = 0; i < sizeof macros_3 / sizeof *macros_3; i++) {
            add(a, macros_3[i]);
        }
    }
    add(a, o->version == 100   ? "-cl-std=CL1.0"
           : o->version == 110 ? "-cl-std=CL1.1"
           : o->version == 120 ? "-cl-std=CL1.2"
           : o->version == 200 ? "-cl-std=CL2.0"
                               : "-cl-std=CL3.0");
    if (o->lines || o->explain) { /* explanations name lines */
        add(a, "-gline-tables-only");
        add(a, "-fdebug-compilation-dir=."); /* the object does not depend on the application's folder */
    }
    if (given) { /* descriptor 3 is the overlay; the program counts as a file in the folder of the headers */
        static const char *const overlaid[] = {"-Xclang", "-ivfsoverlay", "-Xclang", "/proc/self/fd/3", "-Xclang",
                                               "-working-directory", "-Xclang", TC_HEADER_ROOT, "-I" TC_HEADER_ROOT};
        for (size_t i = 0; i < sizeof overlaid / sizeof *overlaid; i++) {
            add(a, overlaid[i]);
        }
    }
    for (size_t i = 0; i < o->n; i++) {
        add(a, o->arguments[i]);
    }
}

/** Path of a header with this name: below TC_HEADER_ROOT, or the absolute name. malloc'ed; NULL: the name is
 *  invalid. */
static char *header_path(const char *name)
{
    struct tc_text path = {0};
    size_t depth = 0; /* bytes that ".." cannot remove, so that no name leaves TC_HEADER_TOP */
    if (*name != '/') {
        tc_text_print(&path, "%s", TC_HEADER_ROOT);
        depth = strlen(TC_HEADER_TOP);
    }
    int good = 1, named = 0; /* named: the last part is a file name */
    for (size_t n; good && *name; name += n + (name[n] == '/')) {
        n = strcspn(name, "/");
        named = 0;
        if (n == 2 && !memcmp(name, "..", 2)) {
            while (path.size > depth && path.data[--path.size] != '/') {
            }
            good = path.size > depth;
        } else if (n > 0 && !(n == 1 && *name == '.')) {
            tc_text_add(&path, "/", 1);
            tc_text_add(&path, name, n);
            named = !name[n];
        }
    }
    if (!good || !named || path.failed) {
        free(path.data);
        return NULL;
    }
    path.data[path.size] = '\0';
    return path.data;
}

/** The overlay that maps paths to the memory files from descriptor `first` on; of equal paths the last counts.
 *  malloc'ed, or NULL. */
static char *overlay(char *const *paths, size_t n, size_t first)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "version", 0);
    cJSON_AddStringToObject(root, "use-external-names", "false");
    cJSON *roots = cJSON_AddArrayToObject(root, "roots");
    for (size_t i = 0; i < n; i++) {
        char contents[64];
        size_t same = i + 1;
        while (same < n && strcmp(paths[i], paths[same])) {
            same++;
        }
        if (same < n) {
            continue;
        }
        cJSON *file = cJSON_CreateObject();
        snprintf(contents, sizeof contents, "/proc/self/fd/%zu", first + i);
        cJSON_AddStringToObject(file, "type", "file");
        cJSON_AddStringToObject(file, "name", paths[i]);
        cJSON_AddStringToObject(file, "external-contents", contents);
        cJSON_AddItemToArray(roots, file);
    }
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    return text;
}

/** Replaces clang's "<stdin>" by "program.cl" in messages, and paths of headers by the application's names. */
static void rename_source(struct tc_text *log, const struct tc_text *raw)
{
    static const char stdin_name[] = "<stdin>", root[] = TC_HEADER_ROOT "/";
    const char *p = raw->data;
    while (p && *p) {
        const char *source = strstr(p, stdin_name), *header = strstr(p, root);
        const char *at = !source || (header && header < source) ? header : source;
        if (!at) {
            break;
        }
        tc_text_add(log, p, (size_t)(at - p));
        if (at == source) {
            tc_text_add(log, "program.cl", 10);
        }
        p = at + strlen(at == source ? stdin_name : root);
    }
    if (p) {
        tc_text_add(log, p, strlen(p));
    }
}

int tc_module_make(const struct tc_blob *bitcode, uint32_t flags, struct tc_blob *module)
{
    struct tc_module_header header = {.version = TC_MODULE_VERSION, .flags = flags, .size = bitcode->size};
    memcpy(header.magic, "TERN.MOD", sizeof header.magic);
    char *data = malloc(sizeof header + bitcode->size);
    if (!data) {
        return -ENOMEM;
    }
    memcpy(data, &header, sizeof header);
    memcpy(data + sizeof header, bitcode->data, bitcode->size);
    struct tc_blob made = {data, sizeof header + bitcode->size};
    int result = tc_seal(&made);
    if (result) {
        free(made.data);
    } else {
        *module = made;
    }
    return result;
}

/** Input of the front end: source, overlay, headers, and a file for the list of opened files. */
struct front_end {
    struct arguments arguments;
    struct tc_blob *inputs;
    size_t n_inputs;
    char *overlay;
    char rule_option[32];
    char declarations[4200], guard[4200];
};

/** Runs the front end. *rule: the files that it opened, in the format of clang -MD. */
static int run_front_end(const struct front_end *f, uint32_t flags, struct tc_blob *module, struct tc_blob *rule,
                         struct tc_text *log)
{
    struct tc_child child = {.argv = f->arguments.list, .inputs = f->inputs, .n_inputs = f->n_inputs, .back = rule,
                             .guard = f->guard};
    struct tc_blob bitcode = {0};
    struct tc_text raw = {0};
    int code = 0;
    int result = tc_child_run(&child, &code, &bitcode, &raw);
    rename_source(log, &raw);
    if (!result && code == 1) {
        result = -EBADMSG;
    } else if (!result && code != 0 && raw.data && strstr(raw.data, "LLVM ERROR: out of memory")) {
        tc_text_print(log, "error: the front end needs more memory than it may have, which is %u MiB, or less by the "
                      "limit of the application (ulimit -v)\n", GUARD_MEMORY_MIB);
        result = -EIO;
    } else if (!result && code != 0) {
        tc_text_print(log, "error: the front end crashed (exit code %d)\n", code);
        result = -EIO;
    } else if (!result && !tc_bitcode_whole(bitcode.data, bitcode.size)) {
        tc_text_print(log, "error: the front end's output is not complete\n");
        result = -EIO;
    }
    if (!result) {
        result = tc_module_make(&bitcode, flags, module);
    }
    free(bitcode.data);
    free(raw.data);
    return result;
}

static int prepare(struct front_end *f, const char *directory, const char *source, size_t size,
                   const struct tc_options *options, const struct tc_header *headers, char *const *paths,
                   size_t n_headers)
{
    struct arguments *a = &f->arguments;
    f->n_inputs = n_headers + 3;
    f->inputs = calloc(f->n_inputs, sizeof *f->inputs);
    /* input i is descriptor i + 2: 3 is the overlay, then the headers, then the file for the list */
    f->overlay = overlay(paths, n_headers, 4);
    if (!f->inputs || !f->overlay) {
        return -ENOMEM;
    }
    f->inputs[0] = (struct tc_blob){(void *)(uintptr_t)source, size};
    f->inputs[1] = (struct tc_blob){f->overlay, strlen(f->overlay)};
    for (size_t i = 0; i < n_headers; i++) {
        f->inputs[i + 2] = (struct tc_blob){(void *)(uintptr_t)headers[i].source, headers[i].size};
    }
    snprintf(f->declarations, sizeof f->declarations, "%s/atomics.h", directory);
    snprintf(f->guard, sizeof f->guard, "%s/tern-guard.so", directory);
    front_end_arguments(a, options, n_headers > 0, f->declarations);
    snprintf(f->rule_option, sizeof f->rule_option, "/proc/self/fd/%zu", f->n_inputs + 1);
    add(a, "-MD");
    add(a, "-MT");
    add(a, "x");
    add(a, "-MF");
    add(a, f->rule_option);
    add(a, "-");
    return a->failed ? -ENOMEM : 0;
}

/** The key of all inputs. The key is usable unless a text depends on something that clang's list of files does not
 *  show. */
static void make_key(struct tc_key *key, const struct front_end *f, const char *directory, size_t n_headers)
{
    int plain = 1;
    const char *edits = getenv("CCC_OVERRIDE_OPTIONS"); /* clang edits its arguments by this variable */
    tc_key_init(key, "compile", directory);
    tc_key_add(key, edits ? edits : "", edits ? strlen(edits) : 0);
    for (size_t i = 0; i < f->arguments.n; i++) {
        tc_key_add(key, f->arguments.list[i], strlen(f->arguments.list[i]));
        plain = plain && tc_depend_text(f->arguments.list[i], strlen(f->arguments.list[i]));
    }
    for (size_t i = 0; i < n_headers + 2; i++) {
        tc_key_add(key, f->inputs[i].data, f->inputs[i].size);
        plain = plain && (i == 1 || tc_depend_text(f->inputs[i].data, f->inputs[i].size));
    }
    key->usable = key->usable && plain;
}

static int compile(const char *source, size_t size, const struct tc_options *options, const struct tc_header *headers,
                   char *const *paths, size_t n_headers, struct tc_blob *module, struct tc_text *log)
{
    char directory[4096];
    struct front_end f = {0};
    struct tc_key key = {0};
    struct tc_blob stored = {0}, rule = {0};
    struct tc_text old_log = {0};
    struct timespec start;
    int result = tc_lib_dir(directory, sizeof directory, log);
    if (result == 0) {
        result = prepare(&f, directory, source, size, options, headers, paths, n_headers);
    }
    if (result) {
        goto out;
    }
    make_key(&key, &f, directory, n_headers);
    const uint32_t flags = options->arg_info ? TC_MODULE_ARG_INFO : 0;
    tc_key_add(&key, &flags, sizeof flags);
    if (!tc_cache_get(&key, &stored, &old_log) && !tc_depend_check(&stored, module)) {
        tc_text_add(log, old_log.data ? old_log.data : "", old_log.size);
        goto out;
    }
    free(stored.data);
    stored = (struct tc_blob){0};
    clock_gettime(CLOCK_REALTIME, &start);
    result = run_front_end(&f, flags, module, &rule, log);
    if (!result && key.usable && !tc_depend_store(&rule, f.declarations, options, n_headers > 0, &start, module,
                                                        &stored)) {
        tc_cache_put(&key, &stored, log);
    }
out:
    cJSON_free(f.overlay);
    free(f.arguments.list);
    free(f.inputs);
    free(stored.data);
    free(rule.data);
    free(old_log.data);
    return result;
}

int tc_compile(const char *source, size_t size, const char *options, const struct tc_header *headers, size_t n_headers,
               struct tc_blob *module, char **log)
{
    struct tc_text text = {0};
    struct tc_options parsed = {0};
    struct tc_blob made = {0};
    char **paths = calloc(n_headers + 1, sizeof *paths);
    int result = paths ? tc_options_parse(options, &parsed, &text) : -ENOMEM;
    for (size_t i = 0; !result && i < n_headers; i++) {
        paths[i] = headers[i].name ? header_path(headers[i].name) : NULL;
        if (!paths[i]) {
            tc_text_print(&text, "error: '%s' cannot name a header\n", headers[i].name ? headers[i].name : "");
            result = -EINVAL;
        }
    }
    if (!result && n_headers > 0) {
        result = tc_options_from_here(&parsed);
    }
    if (!result) {
        result = compile(source, size, &parsed, headers, paths, n_headers, &made, &text);
    }
    for (size_t i = 0; paths && i < n_headers; i++) {
        free(paths[i]);
    }
    free(paths);
    tc_options_free(&parsed);
    result = tc_finish(result, &text, log);
    if (result) {
        free(made.data);
    } else {
        *module = made;
    }
    return result;
}
