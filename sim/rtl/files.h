// SPDX-License-Identifier: Apache-2.0
// The files that this object has open. The FST writer keeps its own to itself, so the linker puts the functions of
// files.cpp before fopen, tmpfile and fclose (--wrap).
//
// The child of a fork shares these files with its parent, and has a copy of what the parent has not yet written to
// them. That copy is dropped in the child, or the C library would write it at the end of the child.
#pragma once

/** From now on the child of a fork drops what is not yet written: 0 or an errno. */
int tern_files_watch();
/** A number that changes in the child of a fork. */
unsigned tern_files_process();
/** The errno of the first file that this thread has closed since the last call and that is not whole; 0: all are. */
int tern_files_error();
