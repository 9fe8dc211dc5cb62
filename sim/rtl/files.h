// SPDX-License-Identifier: Apache-2.0
// The files that this object has open. The FST writer does not give access to its files, so the linker puts the
// functions of files.cpp in the place of fopen, tmpfile and fclose (--wrap).
//
// The child of a fork shares these files with its parent, and has a copy of the parent's unwritten buffers. The child
// drops that copy; otherwise the C library would write it at the end of the child.
#pragma once

/** Makes the child of a fork drop unwritten buffers from now on. Returns 0 or an errno. */
int tern_files_watch();
/** Returns a number that differs in the child of a fork. */
unsigned tern_files_process();
/** Returns the errno of the first file that this thread has closed since the last call and that is not whole, or 0. */
int tern_files_error();
