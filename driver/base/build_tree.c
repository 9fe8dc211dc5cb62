/* SPDX-License-Identifier: Apache-2.0 */
#include "base/build_tree.h"

const char *const tern_build_lib_dir = TERN_BUILD_LIB_DIR;
