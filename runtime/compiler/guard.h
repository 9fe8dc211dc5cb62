/* SPDX-License-Identifier: Apache-2.0 */
/** Limits of the front end, which guard.c sets in its process and tc_tools.c names in the log. */
#ifndef TERN_COMPILER_GUARD_H
#define TERN_COMPILER_GUARD_H

#define GUARD_FILE_MIB 64    /**< Size of a file that a program includes or embeds. */
#define GUARD_OUTPUT_MIB 256 /**< Size of the bitcode, and of the messages. */
#define GUARD_MEMORY_MIB 4096
#define GUARD_SECONDS 600    /**< Processor time. */

#endif
