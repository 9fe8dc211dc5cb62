/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions of images. Their library (device/image_*.cl) is read only for programs that use images. It inlines small
 * functions; its functions __tern_image_..., which know all formats, are called, or are inlined if there is one call.
 * The calls are counted when all that must be inlined is, since the optimizer inlines callees before it sees callers.
 */
#include "cc1.h"

#include <string.h>

static const char called[] = "__tern_image_";

static int is_image_function(const char *name)
{
    static const char *const prefixes[] = {"read_image", "write_image", "get_image_"};
    name += !strncmp(name, "_Z", 2) ? 2 + strspn(name + 2, "0123456789") : 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) {
            return 1;
        }
    }
    return 0;
}

void cc1_images_link(struct cc1 *cc, const char *path)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        if (LLVMIsDeclaration(f) && LLVMGetFirstUse(f) && is_image_function(LLVMGetValueName2(f, &length))) {
            cc1_module_link(cc, cc1_module_parse_file(cc, path, 1));
            cc->images = 1;
            return;
        }
    }
}

void cc1_images_share(struct cc1 *cc)
{
    static const char name[] = "noinline";
    LLVMAttributeRef noinline =
        LLVMCreateEnumAttribute(cc->context, LLVMGetEnumAttributeKindForName(name, sizeof name - 1), 0);
    if (!cc->images) {
        return;
    }
    cc1_module_optimize(cc, "always-inline,globaldce");
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        LLVMUseRef use = LLVMGetFirstUse(f);
        if (!strncmp(LLVMGetValueName2(f, &length), called, sizeof called - 1) && use && LLVMGetNextUse(use)) {
            LLVMAddAttributeAtIndex(f, CC1_FUNCTION, noinline);
        }
    }
}
