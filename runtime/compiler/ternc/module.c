/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Modules: parse, retarget from nvptx64 to riscv32, link, add built-ins, internalize, optimize.
 *
 * The front end compiles for nvptx64, because its address spaces, vector ABI and mangling are those of the built-in
 * library, and its pointers have the size of a host's (pointers.c). Alternative dropped: riscv32, which has one address
 * space; the optimizer then turns a scalar __local variable into a register.
 */
#include "cc1.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Support.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIPLE "riscv32-unknown-unknown-elf"
#define FEATURES "+32bit,+m,+a,+zicsr,+zmmul,+zfinx,+zba,+zbb"
/* LLVM's numbers of calling conventions, which LLVM-C does not name */
#define CC_PTX_DEVICE 72u
#define CC_SPIR_FUNC 75u

static char message[4096]; /* LLVM's last error */

/** Keeps an error's text, for the cc1_die of the function whose call of LLVM fails. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user)
{
    (void)user;
    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
        char *text = LLVMGetDiagInfoDescription(info);
        snprintf(message, sizeof message, "%s", text);
        LLVMDisposeMessage(text);
    }
}

/** Reports a fatal error of LLVM as an error of this program; LLVM would exit as if the input were invalid. */
static void on_fatal_error(const char *reason)
{
    cc1_die(CC1_INTERNAL, "%s", reason);
}

void cc1_module_init(struct cc1 *cc)
{
    /* Flags of LLVM. Block placement would undo cc1_order. A loop that fills memory stays a loop, in which all lanes
     * store, instead of a call. Calls and branches cost more than on a CPU, so the inlining threshold is higher, loops
     * of unknown length are unrolled (sgemm-128: a third fewer instructions), and longer loops are unrolled
     * completely. Strength reduction keeps the addresses of cc1_addresses unless its own need fewer instructions;
     * otherwise it makes a pointer of each of them, more than there are registers. */
    static const char *const flags[] = {"tern-cc1", "-disable-block-placement", "-disable-loop-idiom-memcpy",
                                        "-disable-loop-idiom-memset", "-riscv-lower-fpimm-cost=3",
                                        "-inline-threshold=600", "-unroll-runtime", "-unroll-threshold=600",
                                        "-lsr-drop-solution"};
    LLVMInstallFatalErrorHandler(on_fatal_error);
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter();
    LLVMInitializeRISCVAsmParser();
    LLVMParseCommandLineOptions(sizeof flags / sizeof *flags, flags, NULL);

    LLVMTargetRef target;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(TRIPLE, &target, &error)) {
        cc1_die(CC1_INTERNAL, "%s", error);
    }
    LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetCPU(options, "generic-rv32");
    LLVMTargetMachineOptionsSetFeatures(options, FEATURES);
    LLVMTargetMachineOptionsSetABI(options, "ilp32");
    LLVMTargetMachineOptionsSetCodeGenOptLevel(options, LLVMCodeGenLevelDefault);
    LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocStatic);
    LLVMTargetMachineOptionsSetCodeModel(options, LLVMCodeModelMedium);
    cc->machine = LLVMCreateTargetMachineWithOptions(target, TRIPLE, options);
    cc->layout = LLVMCreateTargetDataLayout(cc->machine);
    cc->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(cc->context, on_diagnostic, NULL);
}

LLVMModuleRef cc1_module_parse(struct cc1 *cc, const void *data, size_t size, const char *what)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(data, size, what, 0);
    LLVMModuleRef module;
    if (LLVMParseBitcodeInContext2(cc->context, buffer, &module)) {
        cc1_die(CC1_BAD_INPUT, "not a module: %s", message);
    }
    module = cc1_spir(cc, module);
    if (strcmp(LLVMGetTarget(module), TRIPLE) != 0) { /* a module of a library has been through this */
        cc1_pointers(cc, module);
    }
    cc1_module_retarget(cc, module);
    return module;
}

/** Parses a file. lazy: only functions that linking takes are read. A module that is not linked into another must be
 *  read completely. */
LLVMModuleRef cc1_module_parse_file(struct cc1 *cc, const char *path, int lazy)
{
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef module;
    char *error = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &error)) {
        cc1_die(CC1_INTERNAL, "%s: %s", path, error);
    }
    if (lazy ? LLVMGetBitcodeModuleInContext2(cc->context, buffer, &module)
             : LLVMParseBitcodeInContext2(cc->context, buffer, &module)) {
        cc1_die(CC1_INTERNAL, "%s: %s", path, message);
    }
    LLVMSetTarget(module, TRIPLE);
    char *layout = LLVMCopyStringRepOfTargetData(cc->layout);
    LLVMSetDataLayout(module, layout);
    LLVMDisposeMessage(layout);
    return module;
}

static void drop_attributes(LLVMValueRef f)
{
    static const char *const strings[] = {"target-features", "target-cpu", "frame-pointer", "no-builtins",
                                          "stack-protector-buffer-size", "denormal-fp-math", "denormal-fp-math-f32"};
    static const char *const enums[] = {"optnone", "noinline"};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        LLVMRemoveStringAttributeAtIndex(f, CC1_FUNCTION, strings[i], (unsigned)strlen(strings[i]));
    }
    for (size_t i = 0; i < sizeof enums / sizeof *enums; i++) {
        LLVMRemoveEnumAttributeAtIndex(f, CC1_FUNCTION,
                                       LLVMGetEnumAttributeKindForName(enums[i], strlen(enums[i])));
    }
}

void cc1_module_retarget(struct cc1 *cc, LLVMModuleRef module)
{
    LLVMSetTarget(module, TRIPLE);
    char *layout = LLVMCopyStringRepOfTargetData(cc->layout);
    LLVMSetDataLayout(module, layout);
    LLVMDisposeMessage(layout);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        unsigned convention = LLVMGetFunctionCallConv(f);
        if (convention == CC_SPIR_FUNC || convention == CC_PTX_DEVICE) {
            LLVMSetFunctionCallConv(f, LLVMCCallConv);
        }
        drop_attributes(f);
        /* a C99 `inline` function without `extern`, which other implementations of OpenCL link as well */
        if (LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage) {
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
        }
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (LLVMIsACallInst(i) && (LLVMGetInstructionCallConv(i) == CC_SPIR_FUNC ||
                                           LLVMGetInstructionCallConv(i) == CC_PTX_DEVICE)) {
                    LLVMSetInstructionCallConv(i, LLVMCCallConv);
                }
            }
        }
    }
}

/** Gives the program's functions names that the run-time library cannot have: a function memcpy of the program must
 *  not replace the one that the code generator calls. */
void cc1_module_rename(struct cc1 *cc)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (!LLVMIsDeclaration(f) && strncmp(name, CC1_ENTRY_PREFIX, strlen(CC1_ENTRY_PREFIX))) {
            const char *renamed = cc1_text(CC1_USER_PREFIX "%s", name);
            LLVMSetValueName2(f, renamed, strlen(renamed));
        }
    }
}

void cc1_module_link(struct cc1 *cc, LLVMModuleRef other)
{
    if (!cc->module) {
        cc->module = other;
    } else if (LLVMLinkModules2(cc->module, other)) {
        cc1_die(CC1_BAD_INPUT, "%s", message);
    }
}

/** The first function from f on that is used, not defined, and no intrinsic of LLVM; NULL: none. */
static LLVMValueRef next_undefined(LLVMValueRef f)
{
    while (f && (!LLVMIsDeclaration(f) || LLVMGetIntrinsicID(f) != 0 || !LLVMGetFirstUse(f))) {
        f = LLVMGetNextFunction(f);
    }
    return f;
}

/** True: a built-in function of half is used. Functions that only load and store halves are in the generic library. */
static int uses_half(const struct cc1 *cc)
{
    for (LLVMValueRef f = next_undefined(LLVMGetFirstFunction(cc->module)); f;
         f = next_undefined(LLVMGetNextFunction(f))) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if ((strstr(name, "Dh") && !strstr(name, "load_half") && !strstr(name, "loada_half") &&
             !strstr(name, "store_half") && !strstr(name, "storea_half")) ||
            strstr(name, "convert_half") || (!strncmp(name, "_Z3nan", 6) && name[length - 1] == 't')) {
            return 1;
        }
    }
    return 0;
}

/** Links the built-ins. Functions of half come first, because they call others. Tern's own come next, so the generic
 *  library does not define what they define. */
void cc1_module_builtins(struct cc1 *cc, const char *half, const char *builtins, const char *images, const char *clc)
{
    if (uses_half(cc)) {
        cc1_module_link(cc, cc1_module_parse_file(cc, half, 1));
    }
    if (next_undefined(LLVMGetFirstFunction(cc->module))) {
        cc1_module_link(cc, cc1_module_parse_file(cc, builtins, 1));
    }
    cc1_images_link(cc, images);
    if (next_undefined(LLVMGetFirstFunction(cc->module))) {
        cc1_module_link(cc, cc1_module_parse_file(cc, clc, 1));
    }
}

/** Name in the source: foo for "_Z3fooi". */
static void print_name(char *out, size_t size, const char *symbol)
{
    char *end;
    unsigned long n = strncmp(symbol, "_Z", 2) ? 0 : strtoul(symbol + 2, &end, 10);
    if (n > 0 && n <= strlen(end)) {
        snprintf(out, size, "%.*s", (int)n, end);
    } else {
        snprintf(out, size, "%s", symbol);
    }
}

/** The feature that the device does not have and an undefined function belongs to; NULL: the program should define the
 *  function. */
static const char *absent(const char *name)
{
    static const struct {
        const char *prefix, *what;
    } features[] = {
        {"__read_pipe", "pipes"},         {"__write_pipe", "pipes"},         {"__reserve_", "pipes"},
        {"__commit_", "pipes"},           {"__get_pipe_", "pipes"},          {"__work_group_reserve_", "pipes"},
        {"__work_group_commit_", "pipes"}, {"__sub_group_", "pipes"},        {"ndrange_", "enqueue_kernel"},
        {"get_default_queue", "enqueue_kernel"},
        {"__enqueue_kernel", "enqueue_kernel"}, {"__get_kernel_", "enqueue_kernel"},
        {"enqueue_marker", "enqueue_kernel"},   {"create_user_event", "enqueue_kernel"},
    };
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        if (!strncmp(name, features[i].prefix, strlen(features[i].prefix))) {
            return features[i].what;
        }
    }
    return NULL;
}

void cc1_module_check_undefined(struct cc1 *cc)
{
    int errors = 0;
    for (LLVMValueRef f = next_undefined(LLVMGetFirstFunction(cc->module)); f;
         f = next_undefined(LLVMGetNextFunction(f))) {
        size_t length;
        char name[256];
        print_name(name, sizeof name, LLVMGetValueName2(f, &length));
        const char *what = absent(name);
        fprintf(stderr, "error: undefined function '%s'%s%s\n", name, what ? ": the device has no " : "",
                what ? what : "");
        errors++;
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(cc->module); g; g = LLVMGetNextGlobal(g)) {
        if (LLVMIsDeclaration(g) && LLVMGetFirstUse(g)) {
            size_t length;
            fprintf(stderr, "error: undefined variable '%s'\n", LLVMGetValueName2(g, &length));
            errors++;
        }
    }
    if (errors) {
        cc1_die(CC1_BAD_INPUT, "%d undefined symbol%s", errors, errors == 1 ? "" : "s");
    }
}

/** Makes variables, and all functions but the kernels' entries, local to the module. keep_functions: functions stay
 *  visible to a linker. */
void cc1_module_internalize(struct cc1 *cc, int keep_functions)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) {
            continue;
        }
        size_t length;
        int entry = !strncmp(LLVMGetValueName2(f, &length), CC1_ENTRY_PREFIX, strlen(CC1_ENTRY_PREFIX));
        if (!entry && !keep_functions) {
            LLVMSetLinkage(f, LLVMInternalLinkage);
        }
        drop_attributes(f);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(cc->module); g; g = LLVMGetNextGlobal(g)) {
        if (!LLVMIsDeclaration(g) && LLVMGetLinkage(g) != LLVMAppendingLinkage) {
            LLVMSetLinkage(g, LLVMInternalLinkage);
        }
    }
}

/** Runs the optimizer. Vectorizers are off: each lane executes scalar instructions. */
void cc1_module_optimize(struct cc1 *cc, const char *pipeline)
{
    char *error = NULL;
    if (LLVMVerifyModule(cc->module, LLVMReturnStatusAction, &error)) {
        cc1_die(CC1_INTERNAL, "broken module: %s", error);
    }
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
    LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
    LLVMErrorRef failure = LLVMRunPasses(cc->module, pipeline, cc->machine, options);
    if (failure) {
        cc1_die(CC1_INTERNAL, "%s", LLVMGetErrorMessage(failure));
    }
}
