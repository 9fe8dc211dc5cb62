/* SPDX-License-Identifier: Apache-2.0 */
/** Functions of a program binary as text (listing.h). */
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disassemble.h"
#include "tc_code.h"

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

bool listing_read(struct listing *l)
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

bool listing_choose(struct listing *l, const char *kernel)
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

void listing_code(const struct listing *l, const struct function *f, listing_line line, void *user)
{
    Elf32_Shdr section;
    Elf32_Rela r;
    size_t i = 0;
    const char *name;
    tc_elf_section(&l->elf, f->section, &section); /* listing_read has checked the section */
    bool more = relocation(l, f->section, f->at, f->at + f->size, &i, &r, &name);
    for (uint32_t at = 0; f->size - at >= 4; at += 4) {
        uint32_t word;
        char text[128], *symbols = NULL;
        size_t size = 0;
        memcpy(&word, l->elf.data + section.sh_offset + f->at + at, sizeof word);
        disassemble(word, at, text, sizeof text);
        FILE *out = open_memstream(&symbols, &size);
        if (!out) {
            return;
        }
        fputs(text, out);
        const bool named = more && r.r_offset < f->at + at + 4; /* relocations are in the order of their places */
        while (more && r.r_offset < f->at + at + 4) {
            if (*name && strncmp(name, ".L", 2) != 0) { /* labels ".L..." are the assembler's own */
                fprintf(out, "  # %s", strncmp(name, USER, strlen(USER)) == 0 ? name + strlen(USER) : name);
                if (r.r_addend) {
                    fprintf(out, "%+d", r.r_addend);
                }
            }
            more = relocation(l, f->section, f->at, f->at + f->size, &i, &r, &name);
        }
        if (!named && tc_code_target(word)) {
            fprintf(out, "  # to %x", at + (uint32_t)tc_code_target(word));
        }
        if (fclose(out) == 0) {
            line(user, at, word, symbols);
        }
        free(symbols);
    }
}
