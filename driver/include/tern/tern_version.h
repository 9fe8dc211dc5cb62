/* SPDX-License-Identifier: Apache-2.0 */
/** The version of Tern, from which CMake takes that of the library, of pkg-config and of the programs. */
#ifndef TERN_VERSION_H
#define TERN_VERSION_H

/** Grows with a change that programs of before do not survive; while it is 0, TERN_VERSION_MINOR does. */
#define TERN_VERSION_MAJOR 0
#define TERN_VERSION_MINOR 2
#define TERN_VERSION_PATCH 0

#endif
