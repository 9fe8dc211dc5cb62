/* SPDX-License-Identifier: Apache-2.0 */
/** Counts descriptors of this process, to see what is open and what was closed. */
#ifndef SUPPORT_DESCRIPTORS_H
#define SUPPORT_DESCRIPTORS_H

/** Returns the number of descriptors whose links in /proc/self/fd contain `text`, which is part of a path or "socket:".
 *  "" counts all, and three more: the two folders and the descriptor that reads them. */
unsigned open_descriptors(const char *text);

#endif
