/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tc_load: lld links the object and what it needs of the run-time library for one device address. Sections sort by name:
 * callees first, the order that ternc/order.c gave. Gaps are zero, an illegal instruction. Constants have pages of their
 * own, so that nobody writes them. Line tables, if there are any, stay in the file and take no device memory.
 */
#include "tc_elf.h"
#include "tc_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define ENTRY_PREFIX "__entry_"

static const char script[] =
    "SECTIONS {\n"
    "  . = 0x%x;\n"
    "  .text : { *runtime.o(.text .text.*) *(SORT(.text.*)) *(.text) KEEP(*(SORT(.entry.*))) . = ALIGN(%u); } =0\n"
    "  .rodata : { *(.rodata .rodata.* .srodata .srodata.*) . = ALIGN(%u); }\n"
    "  .data : { *(.data .data.* .sdata .sdata.*) *(.bss .bss.* .sbss .sbss.* COMMON) . = ALIGN(64); }\n"
    "  /DISCARD/ : { *(.tern.* .comment .riscv.attributes .eh_frame* .note*) }\n"
    "}\n";

static int run_linker(const struct tc_blob *object, uint32_t base, const char *directory, struct tc_blob *linked,
                      struct tc_text *log)
{
    char text[1024], runtime[4200];
    snprintf(runtime, sizeof runtime, "%s/runtime.o", directory);
    int n = snprintf(text, sizeof text, script, base, PAGE, PAGE);
    const struct tc_blob inputs[] = {{NULL, 0}, {text, (size_t)n}, *object};
    const char *const argv[] = {"ld.lld-19", "-m", "elf32lriscv", "-e", "0", "--gc-sections", "-z", "noexecstack", "--no-relax",
                                "--discard-locals", "-T", "/proc/self/fd/3", "-o", "-", "/proc/self/fd/4", runtime, NULL};
    struct tc_child child = {.argv = argv, .inputs = inputs, .n_inputs = 3};
    int code = 0;
    int result = tc_child_run(&child, &code, linked, log);
    if (!result && code != 0) {
        free(linked->data);
        *linked = (struct tc_blob){0};
        return code == 1 ? -EBADMSG : -EIO;
    }
    return result;
}

/** Where a section lies in the image. 0; -EINVAL: it does not fit into 32 bits of address. */
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
    image->data = calloc(image->size ? image->size : 1, 1);
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

/** Did ternc/printf.c leave its mark? */
static int has_printf(const struct tc_elf *elf)
{
    Elf32_Shdr table;
    size_t n;
    if (tc_elf_symbols(elf, &table, &n)) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        Elf32_Sym s = tc_elf_symbol(elf, &table, i);
        if (s.st_shndx != SHN_UNDEF && !strcmp(tc_elf_string(elf, table.sh_link, s.st_name), TC_PRINTF_USED)) {
            return 1;
        }
    }
    return 0;
}

/** Where each kernel begins: an instruction of the image's code. */
static int find_entries(const struct tc_elf *elf, struct tc_image *image)
{
    const struct tc_kernels *kernels = &image->kernels;
    Elf32_Shdr table;
    size_t n;
    if (tc_elf_symbols(elf, &table, &n)) {
        return -EINVAL;
    }
    for (size_t k = 0; k < kernels->n; k++) {
        size_t i = 0;
        for (; i < n; i++) {
            Elf32_Sym s = tc_elf_symbol(elf, &table, i);
            const char *name = tc_elf_string(elf, table.sh_link, s.st_name);
            if (!strncmp(name, ENTRY_PREFIX, strlen(ENTRY_PREFIX)) &&
                !strcmp(name + strlen(ENTRY_PREFIX), kernels->kernels[k].name)) {
                if (s.st_value % 4 || s.st_value < image->base || s.st_value - image->base >= image->code_size) {
                    return -EINVAL;
                }
                kernels->kernels[k].entry = s.st_value;
                break;
            }
        }
        if (i == n) {
            return -EINVAL;
        }
    }
    return 0;
}

static int load(const struct tc_blob *object, uint32_t base, struct tc_image *image, struct tc_text *log)
{
    char directory[4096];
    struct tc_blob *linked = &image->linked;
    struct tc_elf elf;
    struct tc_key key;
    if (base % PAGE) {
        tc_text_print(log, "error: base address 0x%x is not a multiple of %u\n", base, PAGE);
        return -EINVAL;
    }
    int result = tc_kernels_read(object, &image->kernels);
    if (result) {
        tc_text_print(log, "error: not an object\n");
        return result;
    }
    result = tc_lib_dir(directory, sizeof directory, log);
    if (result) {
        return result;
    }
    tc_key_init(&key, "load", directory);
    tc_key_add(&key, script, sizeof script);
    tc_key_add(&key, &base, sizeof base);
    tc_key_add(&key, object->data, object->size);
    if (tc_cache_get(&key, linked, log)) {
        result = run_linker(object, base, directory, linked, log);
        if (result) {
            return result;
        }
        tc_cache_put(&key, linked, log);
    }
    image->base = base;
    result = tc_elf_open(&elf, linked->data, linked->size);
    result = result ? result : fill_image(&elf, image);
    result = result ? result : find_entries(&elf, image);
    image->prints = !result && has_printf(&elf);
    if (result == -EINVAL) {
        tc_text_print(log, "error: the linked program is not as expected\n");
        result = -EIO;
    }
    return result;
}

int tc_load(const struct tc_blob *object, uint32_t base, struct tc_image *out, char **log)
{
    struct tc_text text = {0};
    struct tc_image image = {0};
    int result = tc_finish(load(object, base, &image, &text), &text, log);
    if (result) {
        tc_image_free(&image);
    } else {
        *out = image;
    }
    return result;
}

void tc_image_free(struct tc_image *image)
{
    tc_kernels_free(&image->kernels);
    free(image->data);
    free(image->linked.data);
    *image = (struct tc_image){0};
}
