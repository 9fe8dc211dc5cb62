/* SPDX-License-Identifier: Apache-2.0 */
/** Instructions of the SIMT executor as text (docs/isa.md). Not thread-safe. */
#ifndef TERN_DISASSEMBLE_H
#define TERN_DISASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

/** Text of one instruction, at most `size` bytes with the NUL. LLVM prints stock RISC-V instructions; Tern's two
 *  instructions and its CSRs are printed by name. Targets of branches and jumps are relative. */
void disassemble(uint32_t word, uint32_t pc, char *out, size_t size);

/** Name of an integer register: "a0" for 10. */
const char *register_name(uint32_t x);

#endif
