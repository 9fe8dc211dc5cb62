/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Instructions as text, by LLVM's C interface. Alternative dropped: a table of 200 encodings of our own, in which an
 * error of the RTL could be repeated.
 */
#include "disassemble.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>

#include "tern/tern_spec.h"

#define FEATURES "+m,+a,+zfinx,+zba,+zbb,+experimental-zacas"
#define CUSTOM_0 0x0bu
#define SYSTEM 0x73u

const char *register_name(uint32_t x)
{
    static const char *const name[32] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                         "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                         "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
    return name[x & 31];
}

void disassemble(uint32_t word, uint32_t pc, char *out, size_t size)
{
    static LLVMDisasmContextRef context;
    if (word == (CUSTOM_0 | TERN_CUSTOM_BARRIER << 12) || word == (CUSTOM_0 | TERN_CUSTOM_EXIT << 12)) {
        snprintf(out, size, "%s", word >> 12 == TERN_CUSTOM_BARRIER ? "tern.barrier" : "tern.exit");
        return;
    }
    if (!context) {
        LLVMInitializeRISCVTargetInfo();
        LLVMInitializeRISCVTargetMC();
        LLVMInitializeRISCVDisassembler();
        context = LLVMCreateDisasmCPUFeatures("riscv32-unknown-elf", "generic-rv32", FEATURES, NULL, 0, NULL, NULL);
        if (context) {
            LLVMSetDisasmOptions(context, LLVMDisassembler_Option_PrintImmHex);
        }
    }
    char text[128];
    uint8_t bytes[4];
    memcpy(bytes, &word, sizeof bytes);
    if (!context || LLVMDisasmInstruction(context, bytes, sizeof bytes, pc, text, sizeof text) != sizeof bytes) {
        snprintf(out, size, "(no instruction)");
        return;
    }
    char *p = text + strspn(text, "\t ");
    for (char *q = p; *q; q++) {
        *q = *q == '\t' ? ' ' : *q;
    }
    char number[16];
    snprintf(number, sizeof number, "0x%x", (unsigned)(word >> 20));
    char *csr = (word & 0x7f) == SYSTEM && tern_csr_name(word >> 20) ? strstr(p, number) : NULL;
    if (csr) { /* LLVM has no name for Tern's CSRs */
        snprintf(out, size, "%.*s%s%s", (int)(csr - p), p, tern_csr_name(word >> 20), csr + strlen(number));
    } else {
        snprintf(out, size, "%s", p);
    }
}
