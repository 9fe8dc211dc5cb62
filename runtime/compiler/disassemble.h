/* SPDX-License-Identifier: Apache-2.0 */
/** Instructions of the SIMT executor as text (docs/isa.md). Not for several threads at once. */
#ifndef TERN_DISASSEMBLE_H
#define TERN_DISASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

/**
 * Text of one instruction: stock RISC-V by LLVM, Tern's own two by name, CSRs of Tern by name. Targets of branches and
 * jumps are relative, as LLVM prints them. At most `size` bytes with the NUL.
 */
void disassemble(uint32_t word, uint32_t pc, char *out, size_t size);

/** "a0" for 10. */
const char *register_name(uint32_t x);

#endif
