/* SPDX-License-Identifier: Apache-2.0 */
/** The directory of libraries in the build tree. Only programs that stay in the build tree define it. */
#ifndef TERN_BASE_BUILD_TREE_H
#define TERN_BASE_BUILD_TREE_H

extern const char *const tern_build_lib_dir __attribute__((weak));

/** The directory, or "" for a program that is not of the build tree. */
static inline const char *tern_build_tree(void)
{
    return &tern_build_lib_dir ? tern_build_lib_dir : "";
}

#endif
