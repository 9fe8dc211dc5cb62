/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tc_load: lld links the object, and the parts of the run-time library that it needs, for one device address. Sections
 * are sorted by name, which puts callees first (ternc/order.c). Gaps are zero, which is an illegal instruction.
 * Constants have pages of their own, which are read only. Line tables stay in the file and take no device memory.
 * The table of locks is at one address in all programs; only a program that uses it has its symbol.
 */
#include "tc_elf.h"
#include "tc_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u

static const char script[] =
    "PROVIDE(" TC_LOCKS " = 0x%x);\n"
    "SECTIONS {\n"
    "  . = 0x%x;\n"
    "  .text : { *runtime.o(.text .text.*) *(SORT(.text.*)) *(.text) KEEP(*(SORT(.entry.*))) . = ALIGN(%u); } =0\n"
    "  .rodata : { *(.rodata .rodata.* .srodata .srodata.*) . = ALIGN(%u); }\n"
    "  .data : { *(.data .data.* .sdata .sdata.*) *(.bss .bss.* .sbss .sbss.* COMMON) . = ALIGN(64); }\n"
    "  /DISCARD/ : { *(.tern.* .comment .riscv.attributes .eh_frame* .note*) }\n"
    "}\n";

static int run_linker(const struct tc_blob *object, uint32_t base, uint32_t lanes, const char *directory,
                      struct tc_blob *linked, struct tc_text *log)
{
    char text[1024], runtime[4200], width[32];
    snprintf(runtime, sizeof runtime, "%s/runtime.o", directory);
    snprintf(width, sizeof width, "__tern_lanes=%u", lanes); /* for device/subgroup.c */
    int n = snprintf(text, sizeof text, script, TC_LOCKS_ADDRESS, base, PAGE, PAGE);
    const struct tc_blob inputs[] = {{NULL, 0}, {text, (size_t)n}, *object};
    const char *const argv[] = {"ld.lld-19", "-m", "elf32lriscv", "-e", "0", "--gc-sections", "-z", "noexecstack",
                                "--no-relax", "--discard-locals", "--defsym", width,
                                "-T", "/proc/self/fd/3", "-o", "-", "/proc/self/fd/4", runtime, NULL};
    struct tc_child child = {.argv = argv, .inputs = inputs, .n_inputs = 3};
    int code = 0;
    int result = tc_child_run(&child, &code, linked, log);
    if (!result && code != 0) {
        free(linked->data);
        *linked = (struct tc_blob){0};
        if (code == 1) {
            return -EBADMSG;
        }
        tc_text_print(log, "error: the linker failed (exit code %d)\n", code);
        return -EIO;
    }
    return result;
}

static int load(const struct tc_blob *object, uint32_t base, uint32_t lanes, struct tc_image *image,
                struct tc_text *log)
{
    char directory[4096];
    struct tc_blob *linked = &image->linked;
    struct tc_key key;
    const uint32_t locks = TC_LOCKS_ADDRESS;
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
    tc_key_add(&key, &locks, sizeof locks);
    tc_key_add(&key, &base, sizeof base);
    tc_key_add(&key, &lanes, sizeof lanes);
    tc_key_add(&key, object->data, object->size);
    if (!tc_cache_get(&key, linked, log) && !tc_image_read(base, image)) {
        return 0;
    }
    free(linked->data);
    *linked = (struct tc_blob){0};
    result = run_linker(object, base, lanes, directory, linked, log);
    if (result == 0) {
        result = tc_image_read(base, image);
    }
    if (result == -EINVAL) {
        tc_text_print(log, "error: the linked program is not as expected\n");
        return -EIO;
    }
    if (!result) {
        tc_cache_put(&key, linked, log);
    }
    return result;
}

int tc_load(const struct tc_blob *object, uint32_t base, uint32_t lanes, struct tc_image *out, char **log)
{
    struct tc_text text = {0};
    struct tc_image image = {0};
    int result = tc_finish(load(object, base, lanes, &image, &text), &text, log);
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
