/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern-cc1: the back end of the compiler as a program (cc1.h).
 *
 *   tern-cc1 object <lib dir> [-O1 | -plain] [-explain] [-lines]
 *                                         modules on standard input -> relocatable object on standard output; -lines:
 *                                         with -explain, keep the line tables
 *   tern-cc1 object <lib dir> -special <kernel> <local size> <n> <axis> <joined> <apart> <lanes> [-must]
 *                                         the same for one kernel and local size (special.c)
 *   tern-cc1 library                      modules on standard input -> one module on standard output
 *   tern-cc1 runtime <in.bc> <out.stack>  the run-time library -> object on standard output, and its stack bounds
 *
 * On standard input, each module is preceded by its length and flags, two little-endian 32-bit words. Messages go to
 * standard error. Exit: 0; 1: the input is invalid (message); 3: an error of this program; others and signals: LLVM
 * crashed.
 */
#include "cc1.h"

#include "tile.h"

#include <llvm-c/BitWriter.h>
#include <llvm-c/DebugInfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LESS "default<O1>" /* passes for -cl-opt-disable */

_Noreturn void cc1_die(enum cc1_exit code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    fflush(stderr);
    _exit((int)code);
}

void *cc1_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        cc1_die(CC1_INTERNAL, "out of memory");
    }
    return p;
}

char *cc1_text(const char *format, ...)
{
    char *text;
    va_list ap;
    va_start(ap, format);
    if (vasprintf(&text, format, ap) < 0) {
        cc1_die(CC1_INTERNAL, "out of memory");
    }
    va_end(ap);
    return text;
}

static void write_all(const void *data, size_t size)
{
    const char *p = data;
    while (size > 0) {
        ssize_t n = write(STDOUT_FILENO, p, size);
        if (n <= 0) {
            cc1_die(CC1_INTERNAL, "cannot write the result");
        }
        p += n;
        size -= (size_t)n;
    }
}

/** Links the modules. Returns the flags of the last one. */
static uint32_t link_stdin(struct cc1 *cc)
{
    uint32_t front[2] = {0}; /* length and flags */
    while (fread(front, sizeof front, 1, stdin) == 1) {
        void *data = cc1_alloc(front[0], 1);
        if (fread(data, 1, front[0], stdin) != front[0]) {
            cc1_die(CC1_INTERNAL, "truncated input");
        }
        LLVMModuleRef module = cc1_module_parse(cc, data, front[0], "module");
        if (!(front[1] & CC1_ARG_INFO)) {
            cc1_kernels_hide(cc, module);
        }
        cc1_narrow(cc, module);
        cc1_module_link(cc, module);
    }
    if (!cc->module) {
        cc1_die(CC1_BAD_INPUT, "nothing to link");
    }
    return front[1];
}

LLVMMemoryBufferRef cc1_emit(struct cc1 *cc)
{
    char *message = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(cc->machine, cc->module, LLVMObjectFile, &message, &buffer)) {
        cc1_die(CC1_INTERNAL, "%s", message);
    }
    return buffer;
}

/** Makes an object. less: for -cl-opt-disable; plain: the option by which there are no second entries, or NULL; s: how
 *  a kernel is specialised, or NULL. */
static void make_object(struct cc1 *cc, const char *directory, int less, const char *plain, const struct cc1_special *s)
{
    char path[5][4096];
    static const char *const files[] = {"half.bc", "builtins.bc", "images.bc", "clc.bc", "runtime.stack"};
    for (int i = 0; i < 5; i++) {
        if ((size_t)snprintf(path[i], sizeof path[i], "%s/%s", directory, files[i]) >= sizeof path[i]) {
            cc1_die(CC1_INTERNAL, "path too long");
        }
    }
    less |= (link_stdin(cc) & CC1_LESS) != 0;
    LLVMMemoryBufferRef modules = s ? NULL : cc1_special_keep(cc);
    cc1_kernels(cc);
    if (s) {
        cc1_special_select(cc, s);
    }
    cc1_sub_begin(cc);
    cc1_printf_lower(cc);
    cc1_module_rename(cc);
    cc1_module_builtins(cc, path[0], path[1], path[2], path[3]);
    cc1_module_check_undefined(cc);
    cc1_local_detach(cc);
    cc1_module_internalize(cc, 0);
    cc1_converge(cc);
    cc1_ids(cc);
    cc1_images_share(cc);
    cc1_sub_teams(cc);
    if (s) {
        cc1_special_sizes(cc, s);
    }
    if (!less) {
        cc1_counters(cc);
    }
    cc1_module_optimize(cc, less ? LESS : "default<O2>");
    cc1_half(cc);
    if (s) {
        cc1_special_groups(cc);
    } else {
        cc1_groups(cc, modules, less, plain != NULL);
    }
    if (!less) {
        cc1_strides(cc);
    }
    if (s && s->n > 1) {
        cc1_special_merge(cc, s);
    } else if (plain) {
        cc1_refuse_all(cc, plain);
    } else {
        cc1_coarsen(cc);
    }
    if (cc->explain && !cc->keep_lines) {
        LLVMStripModuleDebugInfo(cc->module);
    }
    cc1_addresses(cc);
    cc1_tiles_load_rows(cc);
    cc1_tiles_order(cc);
    cc1_kernels_end(cc);
    cc1_local_place(cc);
    cc1_kernels_emit(cc);
    cc1_order(cc);
    cc1_stack_watch(cc);
    LLVMMemoryBufferRef buffer = cc1_emit(cc);
    size_t size = LLVMGetBufferSize(buffer);
    char *object = cc1_alloc(size, 1);
    memcpy(object, LLVMGetBufferStart(buffer), size);
    cc1_trim(object, size);
    cc1_stack_patch(cc, object, size, path[4]);
    write_all(object, size);
}

static void make_library(struct cc1 *cc)
{
    link_stdin(cc);
    LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(cc->module);
    write_all(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
}

static void make_runtime(struct cc1 *cc, const char *input, const char *stack_path)
{
    cc1_module_link(cc, cc1_module_parse_file(cc, input, 0));
    cc1_module_internalize(cc, 1);
    cc1_module_optimize(cc, "default<O2>");
    cc1_order(cc);
    cc1_stack_watch(cc);
    LLVMMemoryBufferRef buffer = cc1_emit(cc);
    cc1_stack_table(cc, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer), stack_path);
    write_all(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
}

/** Reads the arguments from -special on. */
static struct cc1_special read_special(int argc, char **argv)
{
    struct cc1_special s = {0};
    if (argc < 8 || sscanf(argv[2], "%u,%u,%u", &s.local[0], &s.local[1], &s.local[2]) != 3 ||
        sscanf(argv[3], "%u", &s.n) != 1 || sscanf(argv[4], "%u", &s.axis) != 1 || s.axis > 2 || s.n == 0 ||
        sscanf(argv[5], "%u", &s.joined) != 1 || sscanf(argv[6], "%u", &s.apart) != 1 ||
        sscanf(argv[7], "%u", &s.lanes) != 1 || s.n > TILE_COPIES || s.local[0] == 0 || s.local[1] == 0 ||
        s.local[2] == 0 || s.local[s.axis] % s.n) {
        cc1_die(CC1_INTERNAL, "bad arguments of -special");
    }
    s.name = argv[1];
    s.must = argc > 8 && !strcmp(argv[8], "-must");
    return s;
}

int main(int argc, char **argv)
{
    struct cc1 cc = {0};
    cc1_module_init(&cc);
    if (argc > 3 && !strcmp(argv[1], "object") && !strcmp(argv[3], "-special")) {
        const struct cc1_special s = read_special(argc - 3, argv + 3);
        make_object(&cc, argv[2], 0, NULL, &s);
    } else if (argc >= 3 && !strcmp(argv[1], "object")) {
        const char *plain = NULL;
        int less = 0;
        for (int i = 3; i < argc; i++) {
            cc.explain |= !strcmp(argv[i], "-explain");
            cc.keep_lines |= !strcmp(argv[i], "-lines");
            plain = !strcmp(argv[i], "-O1") ? "-cl-opt-disable"
                    : !strcmp(argv[i], "-plain") ? "-tern-no-coarsen" : plain;
            less |= !strcmp(argv[i], "-O1");
        }
        make_object(&cc, argv[2], less, plain, NULL);
    } else if (argc == 2 && !strcmp(argv[1], "library")) {
        make_library(&cc);
    } else if (argc == 4 && !strcmp(argv[1], "runtime")) {
        make_runtime(&cc, argv[2], argv[3]);
    } else {
        cc1_die(CC1_INTERNAL,
                "usage: tern-cc1 object <lib dir> [-O1 | -plain] [-explain] [-lines] | object <lib dir> -special ... | "
                "library | runtime <in.bc> <out.stack>");
    }
    fflush(stderr);
    _exit(CC1_OK); /* without destructors: LLVM's take milliseconds, and the kernel frees the memory anyway */
}
