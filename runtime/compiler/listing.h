/* SPDX-License-Identifier: Apache-2.0 */
/** The functions of a program binary, and their code as text. */
#ifndef TERN_LISTING_H
#define TERN_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tc_elf.h"

#define ENTRY "__entry_"    /* CC1_ENTRY_PREFIX: entry of a kernel */
#define COARSE ".coarse"    /* CC1_COARSE_SUFFIX */
#define USER "u."           /* CC1_USER_PREFIX: a function of the program */

struct function {
    const char *name;
    uint32_t section, at, size;
    bool shown;
};

struct listing {
    struct tc_elf elf;
    Elf32_Shdr symbols;
    size_t n_symbols, n_functions;
    struct function *functions; /**< In the order of their addresses; the caller frees them. */
};

/** Finds the functions. False: the binary is none, or memory is out. */
bool listing_read(struct listing *l);
/** Marks the functions of a kernel; NULL: all functions. False: there is no such kernel. */
bool listing_choose(struct listing *l, const char *kernel);

/** An instruction: offset in the function, word, and text with the symbol or target that it names. */
typedef void (*listing_line)(void *user, uint32_t at, uint32_t word, const char *text);
/** Calls `line` for each instruction of a function. */
void listing_code(const struct listing *l, const struct function *f, listing_line line, void *user);

#endif
