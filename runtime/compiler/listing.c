/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern-disassemble [KERNEL]: prints the code of the program binary on standard input, for `tern run --asm`: all
 * functions, or a kernel and the functions that it calls. Exit: 0; 1: no program binary, no such kernel, or out of
 * memory.
 *
 * Like the compilers it is a process of its own: applications do not load LLVM, and a damaged program binary cannot
 * crash them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disassemble.h"
#include "tc_elf.h"

#define MOST ((size_t)256 << 20) /* largest size of a program binary in bytes, as in `tern run` */
#define ENTRY "__entry_"    /* CC1_ENTRY_PREFIX: entry of a kernel */
#define COARSE ".coarse"    /* CC1_COARSE_SUFFIX */
#define USER "u."           /* CC1_USER_PREFIX: a function of the program */
#define BRANCH 0x63u
#define JAL 0x6fu

struct function {
    const char *name;
    uint32_t section, at, size;
    bool shown;
};

struct listing {
    struct tc_elf elf;
    Elf32_Shdr symbols;
    size_t n_symbols, n_functions;
    struct function *functions; /**< In the order of their addresses. */
};

static int by_place(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    return x->section != y->section ? (x->section > y->section) - (x->section < y->section)
                                    : (x->at > y->at) - (x->at < y->at);
}

static const char *symbol_name(const struct listing *l, const Elf32_Sym *s)
{
    return tc_elf_string(&l->elf, l->symbols.sh_link, s->st_name);
}

/** False: the input is no program binary. */
static bool find_functions(struct listing *l)
{
    if (tc_elf_symbols(&l->elf, &l->symbols, &l->n_symbols)) {
        return false;
    }
    l->functions = calloc(l->n_symbols + 1, sizeof *l->functions);
    for (size_t i = 0; l->functions && i < l->n_symbols; i++) {
        const Elf32_Sym s = tc_elf_symbol(&l->elf, &l->symbols, i);
        Elf32_Shdr section;
        if (ELF32_ST_TYPE(s.st_info) == STT_FUNC && !tc_elf_section(&l->elf, s.st_shndx, &section) &&
            section.sh_type == SHT_PROGBITS && s.st_value <= section.sh_size &&
            s.st_size <= section.sh_size - s.st_value) {
            l->functions[l->n_functions++] = (struct function){symbol_name(l, &s), s.st_shndx, s.st_value, s.st_size,
                                                               false};
        }
    }
    if (l->functions) {
        qsort(l->functions, l->n_functions, sizeof *l->functions, by_place);
    }
    return l->functions != NULL;
}

/** The next relocation, from number *i on, of a place in [from, to) of a section, with the name of its symbol. */
static bool relocation(const struct listing *l, uint32_t section, uint32_t from, uint32_t to, size_t *i,
                       Elf32_Rela *out, const char **name)
{
    for (size_t seen = 0, k = 0; k < l->elf.header.e_shnum; k++) {
        Elf32_Shdr s;
        if (tc_elf_section(&l->elf, k, &s) || s.sh_type != SHT_RELA || s.sh_info != section) {
            continue;
        }
        const size_t n = s.sh_size / sizeof *out;
        for (size_t r = *i > seen ? *i - seen : 0; r < n; r++) {
            memcpy(out, l->elf.data + s.sh_offset + r * sizeof *out, sizeof *out);
            if (out->r_offset >= from && out->r_offset < to && ELF32_R_SYM(out->r_info) < l->n_symbols) {
                const Elf32_Sym symbol = tc_elf_symbol(&l->elf, &l->symbols, ELF32_R_SYM(out->r_info));
                *i = seen + r + 1;
                *name = symbol_name(l, &symbol);
                return true;
            }
        }
        seen += n;
    }
    return false;
}

/** Marks the function, and functions that it calls or whose address it takes. */
static void show(struct listing *l, struct function *f)
{
    Elf32_Rela r;
    const char *name;
    f->shown = true;
    for (size_t i = 0; relocation(l, f->section, f->at, f->at + f->size, &i, &r, &name);) {
        for (size_t k = 0; k < l->n_functions; k++) {
            if (!l->functions[k].shown && *name && strcmp(l->functions[k].name, name) == 0) {
                show(l, &l->functions[k]);
            }
        }
    }
}

/** Marks the functions of a kernel; NULL: all functions. False: there is no such kernel. */
static bool choose(struct listing *l, const char *kernel)
{
    bool found = !kernel;
    for (size_t i = 0; i < l->n_functions; i++) {
        struct function *f = &l->functions[i];
        const char *entry = strncmp(f->name, ENTRY, strlen(ENTRY)) == 0 ? f->name + strlen(ENTRY) : NULL;
        const size_t n = kernel && entry ? strlen(kernel) : 0;
        if (!kernel) {
            f->shown = true;
        } else if (entry && strncmp(entry, kernel, n) == 0 && (!entry[n] || strcmp(entry + n, COARSE) == 0)) {
            found = true;
            show(l, f);
        }
    }
    return found;
}

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

/** Distance, in bytes, to the target of a branch or jump without relocation; 0: the instruction is neither. */
static int32_t target(uint32_t w)
{
    if ((w & 0x7f) == BRANCH) {
        return (int32_t)((w >> 31 ? 0xfffff000u : 0) | (w << 4 & 0x800) | (w >> 20 & 0x7e0) | (w >> 7 & 0x1e));
    }
    if ((w & 0x7f) == JAL) {
        return (int32_t)((w >> 31 ? 0xfff00000u : 0) | (w & 0xff000) | (w >> 9 & 0x800) | (w >> 20 & 0x7fe));
    }
    return 0;
}

static void print_code(const struct listing *l, const struct function *f)
{
    Elf32_Shdr section;
    Elf32_Rela r;
    size_t i = 0;
    const char *name;
    tc_elf_section(&l->elf, f->section, &section); /* find_functions has checked the section */
    bool more = relocation(l, f->section, f->at, f->at + f->size, &i, &r, &name);
    for (uint32_t at = 0; f->size - at >= 4; at += 4) {
        uint32_t word;
        char text[128];
        memcpy(&word, l->elf.data + section.sh_offset + f->at + at, sizeof word);
        disassemble(word, at, text, sizeof text);
        printf("%8x  %08x  %s", at, word, text);
        const bool named = more && r.r_offset < f->at + at + 4; /* relocations are in the order of their places */
        while (more && r.r_offset < f->at + at + 4) {
            if (*name && strncmp(name, ".L", 2) != 0) { /* labels ".L..." are the assembler's own */
                printf("  # %s", strncmp(name, USER, strlen(USER)) == 0 ? name + strlen(USER) : name);
                if (r.r_addend) {
                    printf("%+d", r.r_addend);
                }
            }
            more = relocation(l, f->section, f->at, f->at + f->size, &i, &r, &name);
        }
        if (!named && target(word)) {
            printf("  # to %x", at + (uint32_t)target(word));
        }
        putchar('\n');
    }
}

/** Reads the whole input. NULL: no memory, or more than MOST bytes. */
static void *read_all(FILE *in, size_t *size)
{
    char *data = NULL;
    for (size_t room = 0, n = 1; n > 0; *size += n) {
        if (*size > MOST) {
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

int main(int argc, char **argv)
{
    struct listing l = {0};
    size_t size = 0;
    void *data = read_all(stdin, &size);
    const char *wrong = !data || tc_elf_open(&l.elf, data, size) || !find_functions(&l) ? "no program binary"
                        : !choose(&l, argc > 1 ? argv[1] : NULL)                        ? "no such kernel"
                                                                                        : NULL;
    if (wrong) {
        fprintf(stderr, "tern-disassemble: standard input: %s\n", wrong);
        return 1;
    }
    bool first = true;
    for (size_t i = 0; i < l.n_functions; i++) {
        if (l.functions[i].shown) {
            print_head(&l.functions[i], first);
            print_code(&l, &l.functions[i]);
            first = false;
        }
    }
    free(l.functions);
    free(data);
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
