/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Removes the saving of registers from entries. An entry never returns, but the code generator saves the registers of
 * its caller: up to 13 stores in each work-item. The stores follow the first "addi sp, sp, -n", since cc1_kernels_end
 * keeps the frame there. That instruction is moved behind them, or removed if no other one uses the frame, and the
 * entry's symbol moves behind what is removed. No other code moves, so no offset changes. The skipped code becomes
 * zero.
 */
#include "cc1.h"

#include "../tc_elf.h"

#include <stdio.h>
#include <string.h>

/** True: addi sp, sp, with a negative immediate. */
static int opens_frame(uint32_t word)
{
    return (word & 0xfffffu) == 0x10113u && word >> 31;
}

/** True: sw r, offset(sp) with r = ra or s0..s11. */
static int saves_register(uint32_t word)
{
    uint32_t r = word >> 20 & 31;
    return (word & 0x000ff07fu) == 0x00012023u && (r == 1 || r == 8 || r == 9 || (r >= 18 && r <= 27));
}

void cc1_trim(void *object, size_t size)
{
    struct tc_elf elf;
    Elf32_Shdr table, section;
    size_t n;
    if (tc_elf_open(&elf, object, size) || tc_elf_symbols(&elf, &table, &n)) {
        cc1_die(CC1_INTERNAL, "not an object");
    }
    for (size_t i = 0; i < n; i++) {
        Elf32_Sym s = tc_elf_symbol(&elf, &table, i);
        const char *name = tc_elf_string(&elf, table.sh_link, s.st_name);
        if (ELF32_ST_TYPE(s.st_info) != STT_FUNC || strncmp(name, CC1_ENTRY_PREFIX, strlen(CC1_ENTRY_PREFIX)) ||
            tc_elf_section(&elf, s.st_shndx, &section) || s.st_value != 0) {
            continue;
        }
        uint8_t *code = (uint8_t *)object + section.sh_offset;
        uint32_t words = section.sh_size / 4, saves = 0;
        while (saves + 2 < words && saves_register(cc1_code_word(code, saves + 1))) {
            saves++;
        }
        if (saves == 0 || !opens_frame(cc1_code_word(code, 0))) {
            continue;
        }
        uint32_t removed = saves + 1; /* the frame too, unless it is used */
        for (uint32_t w = removed; w < words && removed > saves; w++) {
            removed -= cc1_code_reads_sp(cc1_code_word(code, w)) ? 1 : 0;
        }
        if (removed == saves) {
            memcpy(code + 4 * (size_t)saves, code, 4);
        }
        memset(code, 0, 4 * (size_t)removed);
        s.st_value = 4 * removed;
        s.st_size -= 4 * removed;
        memcpy((uint8_t *)object + table.sh_offset + i * sizeof s, &s, sizeof s);
    }
}
