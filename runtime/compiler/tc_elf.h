/* SPDX-License-Identifier: Apache-2.0 */
/** Reads 32-bit little-endian RISC-V ELF files that may be damaged; every access is checked. */
#ifndef TC_ELF_H
#define TC_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/** Symbol of an object whose kernels may call printf. */
#define TC_PRINTF_USED "__tern_printf_used"
#define TC_FRAMES "__tern_frames" /* the function of runtime/device/rt_frames.c */
/** Symbol of the table of locks, of a program that has atomics of 64 bits (device/workitem.c). */
#define TC_LOCKS "__tern_locks"

struct tc_elf {
    const uint8_t *data;
    size_t size;
    Elf32_Ehdr header;
};

/** Opens a file in memory, which must outlive *elf. 0, or -EINVAL: it is no such ELF file. */
int tc_elf_open(struct tc_elf *elf, const void *data, size_t size);

/** Section header by index. 0, or -EINVAL: there is none, or it exceeds the file. */
int tc_elf_section(const struct tc_elf *elf, size_t index, Elf32_Shdr *out);

/** String at an offset of string table `index`; "" if out of bounds. */
const char *tc_elf_string(const struct tc_elf *elf, size_t index, size_t offset);

const char *tc_elf_section_name(const struct tc_elf *elf, const Elf32_Shdr *section);

/** Bytes of the first section with this name. 0, or -ENOENT. */
int tc_elf_find(const struct tc_elf *elf, const char *name, const uint8_t **data, size_t *size);

/** Header of the symbol table and number of symbols. 0, or -ENOENT. */
int tc_elf_symbols(const struct tc_elf *elf, Elf32_Shdr *table, size_t *n);
Elf32_Sym tc_elf_symbol(const struct tc_elf *elf, const Elf32_Shdr *table, size_t index);

#endif
