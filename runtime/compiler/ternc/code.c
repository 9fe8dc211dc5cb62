/* SPDX-License-Identifier: Apache-2.0 */
/** Machine code of the functions of an object. */
#include "cc1.h"

#include "../tc_elf.h"
#include "../tc_loops.h"

#include <stdlib.h>
#include <string.h>

const uint8_t *cc1_code_find(const struct tc_elf *elf, const char *name, uint32_t *words)
{
    Elf32_Shdr table, section;
    size_t n;
    if (tc_elf_symbols(elf, &table, &n)) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const Elf32_Sym s = tc_elf_symbol(elf, &table, i);
        if (!strcmp(tc_elf_string(elf, table.sh_link, s.st_name), name) && !tc_elf_section(elf, s.st_shndx, &section) &&
            s.st_value % 4 == 0 && s.st_value <= section.sh_size && s.st_size <= section.sh_size - s.st_value) {
            *words = s.st_size / 4;
            return elf->data + section.sh_offset + s.st_value;
        }
    }
    return NULL;
}

uint32_t cc1_code_word(const uint8_t *code, uint32_t index)
{
    uint32_t word;
    memcpy(&word, code + 4 * (size_t)index, sizeof word);
    return word;
}

double *cc1_code_weights(const uint8_t *bytes, uint32_t words, double rounds)
{
    double *weight = cc1_alloc(words, sizeof *weight);
    struct tc_loop *loops = cc1_alloc(words, sizeof *loops);
    uint32_t *code = cc1_alloc(words, sizeof *code);
    uint8_t *scratch = cc1_alloc(words, 1);
    memcpy(code, bytes, words * sizeof *code);
    const uint32_t n = tc_find_loops(code, words, loops, scratch);
    for (uint32_t i = 0; i < words; i++) {
        weight[i] = 1;
        for (uint32_t k = 0; k < n; k++) {
            weight[i] *= i >= loops[k].from && i <= loops[k].to ? rounds : 1;
        }
    }
    free(scratch);
    free(code);
    free(loops);
    return weight;
}

/** True: the instruction reads sp, or may do so: all formats but U and J have rs1, and R, S and B have rs2. */
int cc1_code_reads_sp(uint32_t word)
{
    const uint32_t opcode = word & 0x7f;
    const int none = opcode == 0x37 || opcode == 0x17 || opcode == 0x6f;                 /* lui, auipc, jal */
    const int one = opcode == 0x03 || opcode == 0x13 || opcode == 0x67 || opcode == 0x73; /* I: load, addi, jalr, csr */
    return !none && ((word >> 15 & 31) == 2 || (!one && (word >> 20 & 31) == 2));
}
