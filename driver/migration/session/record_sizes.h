/* SPDX-License-Identifier: Apache-2.0 */
/** Sizes of the records of sessions (docs/migration-stream.md) that other files than writer and reader need. */
#ifndef TERND_MOVE_RECORD_SIZES_H
#define TERND_MOVE_RECORD_SIZES_H

#define TERND_MOVE_SENT_WORDS 3u /* numbers of a submission: fence, cost, flag that it was refused */
#define TERND_MOVE_TOLD_WORDS 8u /* numbers of a completion, as in struct tern_wire_completion */
#define TERND_MOVE_CONTEXT 2u    /* kind of a context, as in enum ternd_kind */

#endif
