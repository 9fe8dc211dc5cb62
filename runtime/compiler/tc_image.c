/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The layout of a linked program: its parts, and the entries of its kernels. The file comes from a linker or from the
 * cache, and is checked.
 */
#include "tc_elf.h"
#include "tc_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define ENTRY_PREFIX "__entry_"

/** Address and size of a section. 0; -EINVAL: it exceeds 32-bit addresses. */
static int place(const struct tc_elf *elf, const char *name, Elf32_Shdr *out)
{
    *out = (Elf32_Shdr){0};
    for (size_t i = 0; i < elf->header.e_shnum; i++) {
        Elf32_Shdr s;
        if (!tc_elf_section(elf, i, &s) && !strcmp(tc_elf_section_name(elf, &s), name)) {
            *out = s;
            return s.sh_addr > UINT32_MAX - s.sh_size ? -EINVAL : 0;
        }
    }
    return 0;
}

static int fill_image(const struct tc_elf *elf, struct tc_image *image)
{
    Elf32_Shdr text, constants, data;
    if (place(elf, ".text", &text) || place(elf, ".rodata", &constants) || place(elf, ".data", &data)) {
        return -EINVAL;
    }
    const uint32_t behind = image->base + text.sh_size;
    if (text.sh_size % PAGE || constants.sh_size % PAGE || constants.sh_size > UINT32_MAX - behind ||
        (text.sh_size && (text.sh_addr != image->base || text.sh_type == SHT_NOBITS)) ||
        (constants.sh_size && (constants.sh_addr != behind || constants.sh_type == SHT_NOBITS)) ||
        (data.sh_size && data.sh_addr != behind + constants.sh_size)) {
        return -EINVAL;
    }
    image->size = text.sh_size + constants.sh_size + data.sh_size;
    image->code_size = text.sh_size;
    image->constant_size = constants.sh_size;
    image->filled = data.sh_type == SHT_NOBITS ? text.sh_size + constants.sh_size : image->size;
    image->data = calloc(image->filled ? image->filled : 1, 1);
    if (!image->data) {
        return -ENOMEM;
    }
    if (text.sh_size) {
        memcpy(image->data, elf->data + text.sh_offset, text.sh_size);
    }
    if (constants.sh_size) {
        memcpy(image->data + text.sh_size, elf->data + constants.sh_offset, constants.sh_size);
    }
    if (data.sh_size && data.sh_type != SHT_NOBITS) {
        memcpy(image->data + (data.sh_addr - image->base), elf->data + data.sh_offset, data.sh_size);
    }
    return 0;
}

/** The address of a symbol that the program defines; 0: it does not. */
static uint32_t find_symbol(const struct tc_elf *elf, const char *name)
{
    Elf32_Shdr table;
    size_t n;
    if (tc_elf_symbols(elf, &table, &n)) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        Elf32_Sym s = tc_elf_symbol(elf, &table, i);
        if (s.st_shndx != SHN_UNDEF && !strcmp(tc_elf_string(elf, table.sh_link, s.st_name), name)) {
            return s.st_value;
        }
    }
    return 0;
}

/** Address of the entry of a kernel with this suffix, which must be in the image's code. */
static int find_entry(const struct tc_elf *elf, const struct tc_image *image, const char *kernel, const char *suffix,
                      uint32_t *entry)
{
    const size_t length = strlen(kernel);
    Elf32_Shdr table;
    size_t n;
    if (tc_elf_symbols(elf, &table, &n)) {
        return -EINVAL;
    }
    for (size_t i = 0; i < n; i++) {
        Elf32_Sym s = tc_elf_symbol(elf, &table, i);
        const char *name = tc_elf_string(elf, table.sh_link, s.st_name);
        const char *rest = strncmp(name, ENTRY_PREFIX, strlen(ENTRY_PREFIX)) ? "" : name + strlen(ENTRY_PREFIX);
        if (!strncmp(rest, kernel, length) && !strcmp(rest + length, suffix)) {
            if (s.st_value % 4 || s.st_value < image->base || s.st_value - image->base >= image->code_size) {
                return -EINVAL;
            }
            *entry = s.st_value;
            return 0;
        }
    }
    return -EINVAL;
}

static int find_entries(const struct tc_elf *elf, struct tc_image *image)
{
    int result = 0;
    for (size_t i = 0; !result && i < image->kernels.n; i++) {
        struct tc_kernel *k = &image->kernels.kernels[i];
        result = find_entry(elf, image, k->name, "", &k->entry);
        if (!result && k->coarse) {
            result = find_entry(elf, image, k->name, TC_COARSE_SUFFIX, &k->coarse_entry);
        }
    }
    return result;
}

int tc_image_read(uint32_t base, struct tc_image *image)
{
    struct tc_elf elf;
    image->base = base;
    int result = tc_elf_open(&elf, image->linked.data, image->linked.size);
    if (result == 0) {
        result = fill_image(&elf, image);
    }
    if (result == 0) {
        result = find_entries(&elf, image);
    }
    if (result) {
        free(image->data);
        image->data = NULL;
        return result;
    }
    image->prints = find_symbol(&elf, TC_PRINTF_USED) != 0;
    const uint32_t frames = find_symbol(&elf, TC_FRAMES);
    image->frames_entry = frames % 4 || frames - base >= image->code_size ? 0 : frames;
    image->locks = find_symbol(&elf, TC_LOCKS) != 0;
    return 0;
}
