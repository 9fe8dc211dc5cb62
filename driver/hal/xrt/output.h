/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Standard output while XRT's emulation opens a card: XRT prints lines there, where a program may write what others
 * read, such as `tern info --json`. Meanwhile all that the process prints there goes to standard error, as a descriptor
 * is the process's and not a thread's. On a card XRT prints nothing there, and nothing is diverted.
 */
#ifndef TERN_HAL_XRT_OUTPUT_H
#define TERN_HAL_XRT_OUTPUT_H

/** What tern_output_restore wants; -1: one of the two is closed, or no descriptor is free, and nothing is diverted. */
int tern_output_divert(void);
void tern_output_restore(int kept);

#endif
