/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Private memory that a kernel needs: the largest sum of frames along a chain of calls, an upper bound.
 *
 * The code generator reports the size of each frame if it is asked to warn about all frames. Calls are found by the
 * relocations of the object, in which each function has its own section, because the code generator adds calls of the
 * run-time library that the IR does not show. The bounds of that library's functions come from a table that was made
 * with it. Recursion, which OpenCL C forbids, has no bound and is refused.
 *
 * Accesses of entries to their frames are counted for launchers that put frames into local memory (compiler.h). A frame
 * can move if only loads and stores at sp and a constant use it. Then nothing sees its address, and it needs no larger
 * alignment than a word: it has values for which there was no register, and private variables at known places. Private
 * arrays at computed indices stay in private memory, where the hardware finds accesses beyond its end.
 */
#include "cc1.h"

#include "../tc_code.h"
#include "../tc_elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8.0    /* assumed rounds of a loop */
#define MOST 1000000u /* largest number of accesses that is told */

struct function {
    const char *name;
    uint32_t section; /**< 0: a function of the run-time library, whose bound is known. */
    uint32_t frame;
    uint32_t bound;
    enum { NEW, ACTIVE, DONE } state;
    uint32_t *calls;
    size_t n_calls;
};

struct frame {
    char *name;
    uint32_t size;
    struct frame *next;
};

static struct frame *frames;

/** Name of a function in the source. */
static const char *plain(const char *name)
{
    return strncmp(name, CC1_USER_PREFIX, strlen(CC1_USER_PREFIX)) ? name : name + strlen(CC1_USER_PREFIX);
}

static struct frame *frame_of(const char *name)
{
    for (struct frame *f = frames; f; f = f->next) {
        if (!strcmp(f->name, name)) {
            return f;
        }
    }
    struct frame *f = cc1_alloc(1, sizeof *f);
    f->name = strdup(name);
    f->next = frames;
    return frames = f;
}

/** As "<unknown>:0:0: stack frame size (48) exceeds limit (0) in function 'f'". */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user)
{
    (void)user;
    char *text = LLVMGetDiagInfoDescription(info);
    unsigned size;
    const char *report = strstr(text, "stack frame size");
    int at = 0;
    if (report && sscanf(report, "stack frame size (%u) exceeds limit (%*u) in function '%n", &size, &at) == 1 && at) {
        frame_of(cc1_text("%.*s", (int)strcspn(report + at, "'"), report + at))->size += size;
    } else if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
        cc1_die(CC1_BAD_INPUT, "%s", text);
    }
    LLVMDisposeMessage(text);
}

/** Refuses variables without a static size, and recursive calls of a function by itself, which leave no relocation.
 *  An overaligned variable may add its alignment to the frame. */
static void check_function(LLVMValueRef f)
{
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);
    uint32_t slack = 0;
    LLVMBasicBlockRef first = LLVMGetFirstBasicBlock(f);
    for (LLVMBasicBlockRef b = first; b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsACallInst(i) && LLVMGetCalledValue(i) == f) {
                cc1_die(CC1_BAD_INPUT, "function '%s' is recursive, which OpenCL C does not allow", plain(name));
            }
            if (!LLVMIsAAllocaInst(i)) {
                continue;
            }
            if (b != first || !LLVMIsAConstantInt(LLVMGetOperand(i, 0))) {
                cc1_die(CC1_BAD_INPUT, "function '%s' has a variable of variable size", plain(name));
            }
            uint32_t align = LLVMGetAlignment(i);
            if (align > 16 && align > slack) {
                slack = align;
            }
        }
    }
    if (slack) {
        frame_of(name)->size += slack;
    }
}

void cc1_stack_watch(struct cc1 *cc)
{
    LLVMAttributeRef warn = LLVMCreateStringAttribute(cc->context, "warn-stack-size", 15, "0", 1);
    LLVMContextSetDiagnosticHandler(cc->context, on_diagnostic, NULL);
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f)) {
            LLVMAddAttributeAtIndex(f, CC1_FUNCTION, warn);
            check_function(f);
        }
    }
}

/** Functions of the object, indexed by symbol; other symbols have no name. */
static struct function *read_functions(const struct tc_elf *elf, size_t *n)
{
    Elf32_Shdr table;
    if (tc_elf_symbols(elf, &table, n)) {
        cc1_die(CC1_INTERNAL, "object without symbols");
    }
    struct function *list = cc1_alloc(*n, sizeof *list);
    uint32_t *by_section = cc1_alloc(elf->header.e_shnum, sizeof *by_section);
    for (size_t i = 0; i < *n; i++) {
        Elf32_Sym s = tc_elf_symbol(elf, &table, i);
        const char *name = tc_elf_string(elf, table.sh_link, s.st_name);
        if (ELF32_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx < elf->header.e_shnum) {
            list[i] = (struct function){.name = name, .section = s.st_shndx, .frame = frame_of(name)->size};
            by_section[s.st_shndx] = (uint32_t)i;
        } else if (s.st_shndx == SHN_UNDEF && *name) {
            list[i] = (struct function){.name = name};
        }
    }
    for (size_t i = 0; i < elf->header.e_shnum; i++) {
        Elf32_Shdr rela;
        if (tc_elf_section(elf, i, &rela) || rela.sh_type != SHT_RELA || rela.sh_info >= elf->header.e_shnum ||
            !by_section[rela.sh_info]) {
            continue;
        }
        struct function *f = &list[by_section[rela.sh_info]];
        size_t entries = rela.sh_size / sizeof(Elf32_Rela);
        f->calls = cc1_alloc(entries, sizeof *f->calls);
        for (size_t k = 0; k < entries; k++) {
            Elf32_Rela r;
            memcpy(&r, elf->data + rela.sh_offset + k * sizeof r, sizeof r);
            uint32_t type = ELF32_R_TYPE(r.r_info);
            uint32_t symbol = ELF32_R_SYM(r.r_info);
            if ((type == R_RISCV_CALL || type == R_RISCV_CALL_PLT || type == R_RISCV_JAL) && symbol < *n) {
                Elf32_Sym s = tc_elf_symbol(elf, &table, symbol);
                f->calls[f->n_calls++] = ELF32_ST_TYPE(s.st_info) == STT_SECTION ? by_section[s.st_shndx] : symbol;
            }
        }
    }
    return list;
}

/** Reads the bounds of the run-time library, for the functions that the object calls. */
static void read_table(struct function *list, size_t n, const char *path)
{
    FILE *file = fopen(path, "r");
    char name[128];
    unsigned bound;
    if (!file) {
        cc1_die(CC1_INTERNAL, "cannot read %s", path);
    }
    while (fscanf(file, "%127s %u", name, &bound) == 2) {
        for (size_t i = 0; i < n; i++) {
            if (list[i].name && !list[i].section && !strcmp(list[i].name, name)) {
                list[i].bound = bound;
                list[i].state = DONE;
            }
        }
    }
    fclose(file);
}

static uint32_t bound_of(struct function *list, uint32_t index)
{
    struct function *f = &list[index];
    if (f->state == DONE) {
        return f->bound;
    }
    if (f->state == ACTIVE) {
        cc1_die(CC1_BAD_INPUT, "function '%s' is recursive, which OpenCL C does not allow", plain(f->name));
    }
    if (!f->name || !f->section) {
        cc1_die(CC1_BAD_INPUT, "undefined function '%s'", f->name ? f->name : "?");
    }
    f->state = ACTIVE;
    uint64_t deepest = 0;
    for (size_t i = 0; i < f->n_calls; i++) {
        uint32_t b = bound_of(list, f->calls[i]);
        deepest = b > deepest ? b : deepest;
    }
    deepest += f->frame;
    if (deepest > INT32_MAX) {
        cc1_die(CC1_BAD_INPUT, "function '%s' needs more than 2 GiB of private memory", plain(f->name));
    }
    f->state = DONE;
    return f->bound = (uint32_t)deepest;
}

/** Index of a kernel's entry with this suffix. */
static uint32_t find_entry(const struct function *list, size_t n, const struct cc1_kernel *k, const char *suffix)
{
    const char *entry = cc1_text(CC1_ENTRY_PREFIX "%s%s", k->name, suffix);
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].section && !strcmp(list[i].name, entry)) {
            return i;
        }
    }
    cc1_die(CC1_INTERNAL, "kernel '%s' is lost", k->name);
}

/** True: addi sp, sp. */
static int moves_sp(uint32_t word)
{
    return (word & 0xfffffu) == 0x10113u;
}

/** Counts the accesses of a function to its frame, without those of functions that it calls. Negative: its frame, or
 *  that of a function that it calls, cannot move. */
static double count_spills(const struct tc_elf *elf, const struct function *list, uint32_t index)
{
    const uint32_t ret = TC_JALR | 1u << 15; /* jalr zero, 0(ra) */
    uint32_t words;
    const struct function *f = &list[index];
    const uint8_t *code = f->section ? cc1_code_find(elf, f->name, &words) : NULL;
    if (!code) {
        return -1;
    }
    double *weight = cc1_code_weights(code, words, ROUNDS), sum = 0;
    size_t calls = 0;
    for (uint32_t i = 0; i < words && sum >= 0; i++) {
        const uint32_t word = cc1_code_word(code, i);
        const int stores_sp = tc_code_opcode(word) == TC_STORE && (word >> 20 & 31) == 2;
        calls += tc_code_is_call(word) && word != ret;
        if (tc_code_is_on_stack(word) && !stores_sp) {
            sum += weight[i];
        } else if (cc1_code_reads_sp(word) && !moves_sp(word)) {
            sum = -1;
        }
    }
    free(weight);
    for (size_t i = 0; i < f->n_calls && sum >= 0; i++) {
        sum = count_spills(elf, list, f->calls[i]) < 0 ? -1 : sum;
    }
    return calls == f->n_calls ? sum : -1; /* else it calls by a pointer */
}

/** Replaces the next mark in the text, which ends at `end`. Returns the text behind it. */
static char *patch(char *text, const char *end, const char *mark, uint32_t number)
{
    char digits[16];
    const size_t length = strlen(mark);
    text = memmem(text, (size_t)(end - text), mark, length);
    if (!text) {
        cc1_die(CC1_INTERNAL, "%s is lost", mark);
    }
    snprintf(digits, sizeof digits, "%*u", (int)length, number);
    memcpy(text, digits, length);
    return text + length;
}

void cc1_stack_patch(struct cc1 *cc, void *object, size_t size, const char *runtime)
{
    struct tc_elf elf;
    const uint8_t *json;
    size_t length, n;
    if (tc_elf_open(&elf, object, size) || tc_elf_find(&elf, ".tern.kernels", &json, &length)) {
        cc1_die(CC1_INTERNAL, "object without kernels");
    }
    struct function *list = read_functions(&elf, &n);
    read_table(list, n, runtime);
    char *text = (char *)object + (json - (const uint8_t *)object);
    const char *end = text + length;
    for (size_t k = 0; k < cc->n_kernels; k++) {
        const struct cc1_kernel *kernel = &cc->kernels[k];
        const uint32_t entry[2] = {find_entry(list, n, kernel, ""),
                                   kernel->coarse ? find_entry(list, n, kernel, CC1_COARSE_SUFFIX) : 0};
        const int entries = kernel->coarse ? 2 : 1;
        uint32_t bound = 0;
        for (int i = 0; i < entries; i++) {
            const uint32_t b = bound_of(list, entry[i]);
            bound = b > bound ? b : bound;
        }
        text = patch(text, end, CC1_STACK_MARK, bound);
        for (int i = 0; i < entries; i++) {
            const double spills = count_spills(&elf, list, entry[i]);
            text = patch(text, end, CC1_SPILLS_MARK, spills < 0 ? 0 : spills < MOST ? (uint32_t)spills : MOST);
        }
    }
}

void cc1_stack_table(struct cc1 *cc, const void *object, size_t size, const char *path)
{
    (void)cc;
    struct tc_elf elf;
    size_t n;
    if (tc_elf_open(&elf, object, size)) {
        cc1_die(CC1_INTERNAL, "not an object");
    }
    struct function *list = read_functions(&elf, &n);
    FILE *file = fopen(path, "w");
    if (!file) {
        cc1_die(CC1_INTERNAL, "cannot write %s", path);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].section) {
            fprintf(file, "%s %u\n", list[i].name, bound_of(list, i));
        }
    }
    if (fclose(file)) {
        cc1_die(CC1_INTERNAL, "cannot write %s", path);
    }
}
