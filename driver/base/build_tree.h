/* SPDX-License-Identifier: Apache-2.0 */
/** Where libraries lie in the build tree, for programs that stay there. It is NULL in all others: nothing
 * that is installed has it. */
#ifndef TERN_BASE_BUILD_TREE_H
#define TERN_BASE_BUILD_TREE_H

extern const char *const tern_build_lib_dir __attribute__((weak));

/** "" outside the build tree. */
static inline const char *tern_build_tree(void)
{
    return &tern_build_lib_dir ? tern_build_lib_dir : "";
}

#endif
