/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Line tables (-g). The front end makes them, and later steps keep them. An entry, however, has no place in the source,
 * and functions that are inlined into it would lose theirs. Therefore the entry becomes a function of the source at the
 * kernel's line, into which the kernel is inlined. Line tables do not change code, because they have no variables.
 */
#include "cc1.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

static LLVMDIBuilderRef begin(struct cc1 *cc, LLVMMetadataRef file)
{
    LLVMDIBuilderRef b = LLVMCreateDIBuilder(cc->module);
    LLVMDIBuilderCreateCompileUnit(b, LLVMDWARFSourceLanguageC99, file, "tern-cc1", 8, 1, "", 0, 0, "", 0,
                                   LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0, "", 0);
    return b;
}

void cc1_lines_entry(struct cc1 *cc, LLVMBuilderRef builder, LLVMValueRef entry, LLVMValueRef kernel)
{
    LLVMMetadataRef of = LLVMGetSubprogram(kernel);
    if (!of) {
        return;
    }
    LLVMMetadataRef file = LLVMDIScopeGetFile(of);
    unsigned line = LLVMDISubprogramGetLine(of);
    if (!cc->lines) {
        cc->lines = begin(cc, file);
    }
    LLVMDIBuilderRef b = cc->lines;
    size_t n;
    const char *name = LLVMGetValueName2(entry, &n);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(b, file, NULL, 0, LLVMDIFlagZero);
    LLVMMetadataRef scope = LLVMDIBuilderCreateFunction(b, file, name, n, "", 0, file, line, type, 0, 1, line,
                                                        LLVMDIFlagArtificial, 1);
    LLVMSetSubprogram(entry, scope);
    LLVMSetCurrentDebugLocation2(builder, LLVMDIBuilderCreateDebugLocation(cc->context, line, 0, scope, NULL));
}

void cc1_lines_end(struct cc1 *cc)
{
    if (cc->lines) {
        LLVMDIBuilderFinalize(cc->lines);
    }
}
