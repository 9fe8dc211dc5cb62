/* SPDX-License-Identifier: Apache-2.0 */
/** tc_locate: the source place of an address, by line tables (read by tern-where, where.c), else by symbols. */
#include "tc_elf.h"
#include "tc_internal.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_PREFIX "__entry_"
#define USER_PREFIX "u."

/** Name of a function in the source: k for "__entry_k" and "__entry_k.coarse", f for "u.f", sin for "_Z3sinf". */
static void print_name(struct tc_text *out, const char *symbol)
{
    if (!strncmp(symbol, ENTRY_PREFIX, strlen(ENTRY_PREFIX))) {
        symbol += strlen(ENTRY_PREFIX);
    } else if (!strncmp(symbol, USER_PREFIX, strlen(USER_PREFIX))) {
        symbol += strlen(USER_PREFIX);
    }
    char *end = NULL;
    const unsigned long n = strncmp(symbol, "_Z", 2) ? 0 : strtoul(symbol + 2, &end, 10);
    const size_t length = strlen(symbol), suffix = strlen(TC_COARSE_SUFFIX);
    if (n > 0 && n <= strlen(end)) {
        tc_text_add(out, end, n);
    } else if (length > suffix && !strcmp(symbol + length - suffix, TC_COARSE_SUFFIX)) {
        tc_text_add(out, symbol, length - suffix);
    } else {
        tc_text_print(out, "%s", symbol);
    }
}

/** As "in vecadd+0x10". */
static void by_symbol(const struct tc_elf *elf, uint32_t address, struct tc_text *out)
{
    Elf32_Shdr table;
    size_t n;
    if (tc_elf_symbols(elf, &table, &n)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const Elf32_Sym s = tc_elf_symbol(elf, &table, i);
        if (ELF32_ST_TYPE(s.st_info) == STT_FUNC && address >= s.st_value && address - s.st_value < s.st_size) {
            tc_text_print(out, "in ");
            print_name(out, tc_elf_string(elf, table.sh_link, s.st_name));
            tc_text_print(out, "+0x%x", address - s.st_value);
            return;
        }
    }
}

/** The next field of a line of tern-where's output; advances *at. */
static char *field(char **at)
{
    char *start = *at;
    *at += strcspn(start, "\t\n");
    if (**at) {
        *(*at)++ = '\0';
    }
    return start;
}

/** Name of a file as the application knows it. The front end calls the program's text "<stdin>", build logs
 *  "program.cl". */
static const char *file_name(const char *file)
{
    static const char *const roots[] = {"./", TC_HEADER_ROOT "/"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        file += strncmp(file, roots[i], strlen(roots[i])) ? 0 : strlen(roots[i]);
    }
    return strcmp(file, "<stdin>") ? file : "program.cl";
}

/** Prints one function of the output. */
static void print_frame(struct tc_text *out, char **at)
{
    const char *function = field(at), *file = field(at);
    const unsigned long line = strtoul(field(at), NULL, 10), column = strtoul(field(at), NULL, 10);
    const int entry = !strncmp(function, ENTRY_PREFIX, strlen(ENTRY_PREFIX));
    if (!line || (entry && out->size)) {
        return; /* the generated entry around the kernel comes last, and is not shown */
    }
    function += entry ? strlen(ENTRY_PREFIX) : 0;
    tc_text_print(out, "%s%s at %s:%lu", out->size ? ", called from " : "in ", function,
                  file_name(file), line);
    if (column) {
        tc_text_print(out, ":%lu", column);
    }
}

static void by_lines(const struct tc_blob *linked, uint32_t address, struct tc_text *out)
{
    char directory[4096], tool[4200], number[16];
    struct tc_text log = {0};
    struct tc_blob answer = {0};
    int code = 0;
    if (!tc_lib_dir(directory, sizeof directory, &log)) {
        snprintf(tool, sizeof tool, "%s/tern-where", directory);
        snprintf(number, sizeof number, "0x%08x", address);
        const char *const argv[] = {tool, number, NULL};
        struct tc_child child = {.argv = argv, .inputs = linked, .n_inputs = 1};
        if (!tc_child_run(&child, &code, &answer, &log) && code == 0 && answer.size) {
            char *text = strndup(answer.data, answer.size), *at = text;
            while (at && *at) {
                print_frame(out, &at);
            }
            free(text);
        }
    }
    free(answer.data);
    free(log.data);
}

int tc_locate(const struct tc_image *image, uint32_t address, char *text, size_t size)
{
    struct tc_text out = {0};
    struct tc_elf elf;
    const uint8_t *table;
    size_t n;
    const int opened = !tc_elf_open(&elf, image->linked.data, image->linked.size);
    const int lines = opened && !tc_elf_find(&elf, ".debug_line", &table, &n);
    if (opened && address >= image->base && address - image->base < image->code_size) {
        if (lines) {
            by_lines(&image->linked, address, &out);
        }
        if (!out.size) {
            by_symbol(&elf, address, &out);
        }
    }
    snprintf(text, size, "%s", out.data && !out.failed ? out.data : "");
    free(out.data);
    return lines;
}
