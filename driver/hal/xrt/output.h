/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Diverts standard output while XRT's emulation opens a card. XRT prints lines there, which would spoil output that
 * other programs read, such as that of `tern info --json`. A descriptor belongs to the process and not to a thread, so
 * all output of the process goes to standard error meanwhile. On a real card XRT prints nothing, and nothing is
 * diverted.
 */
#ifndef TERN_HAL_XRT_OUTPUT_H
#define TERN_HAL_XRT_OUTPUT_H

/** Returns the argument for tern_output_restore. -1: standard output or error is closed, or no descriptor is free; then
 *  nothing is diverted. */
int tern_output_divert(void);
void tern_output_restore(int kept);

#endif
