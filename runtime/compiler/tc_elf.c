/* SPDX-License-Identifier: Apache-2.0 */
#include "tc_elf.h"

#include <errno.h>
#include <string.h>

int tc_elf_open(struct tc_elf *elf, const void *data, size_t size)
{
    Elf32_Ehdr h;
    if (size < sizeof h) {
        return -EINVAL;
    }
    memcpy(&h, data, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS32 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
        h.e_machine != EM_RISCV || (h.e_shnum && h.e_shentsize != sizeof(Elf32_Shdr)) || h.e_shoff > size ||
        (size - h.e_shoff) / sizeof(Elf32_Shdr) < h.e_shnum) {
        return -EINVAL;
    }
    *elf = (struct tc_elf){data, size, h};
    return 0;
}

int tc_elf_section(const struct tc_elf *elf, size_t index, Elf32_Shdr *out)
{
    Elf32_Shdr s;
    if (index >= elf->header.e_shnum) {
        return -EINVAL;
    }
    memcpy(&s, elf->data + elf->header.e_shoff + index * sizeof s, sizeof s);
    if (s.sh_type != SHT_NOBITS && (s.sh_offset > elf->size || elf->size - s.sh_offset < s.sh_size)) {
        return -EINVAL;
    }
    *out = s;
    return 0;
}

const char *tc_elf_string(const struct tc_elf *elf, size_t index, size_t offset)
{
    Elf32_Shdr s;
    if (tc_elf_section(elf, index, &s) || s.sh_type != SHT_STRTAB || offset >= s.sh_size) {
        return "";
    }
    const char *text = (const char *)elf->data + s.sh_offset;
    return text[s.sh_size - 1] ? "" : text + offset;
}

const char *tc_elf_section_name(const struct tc_elf *elf, const Elf32_Shdr *section)
{
    return tc_elf_string(elf, elf->header.e_shstrndx, section->sh_name);
}

int tc_elf_find(const struct tc_elf *elf, const char *name, const uint8_t **data, size_t *size)
{
    Elf32_Shdr s;
    for (size_t i = 0; i < elf->header.e_shnum; i++) {
        if (!tc_elf_section(elf, i, &s) && s.sh_type != SHT_NOBITS && !strcmp(tc_elf_section_name(elf, &s), name)) {
            *data = elf->data + s.sh_offset;
            *size = s.sh_size;
            return 0;
        }
    }
    return -ENOENT;
}

int tc_elf_symbols(const struct tc_elf *elf, Elf32_Shdr *table, size_t *n)
{
    for (size_t i = 0; i < elf->header.e_shnum; i++) {
        if (!tc_elf_section(elf, i, table) && table->sh_type == SHT_SYMTAB) {
            *n = table->sh_size / sizeof(Elf32_Sym);
            return 0;
        }
    }
    return -ENOENT;
}

Elf32_Sym tc_elf_symbol(const struct tc_elf *elf, const Elf32_Shdr *table, size_t index)
{
    Elf32_Sym s;
    memcpy(&s, elf->data + table->sh_offset + index * sizeof s, sizeof s);
    return s;
}
