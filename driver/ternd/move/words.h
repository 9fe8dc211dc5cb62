/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers of the records of sessions (docs/migration-stream.md) that more than their writer and reader know. */
#ifndef TERND_MOVE_WORDS_H
#define TERND_MOVE_WORDS_H

#define TERND_MOVE_SENT_WORDS 3u /* of a submission: fence, cost, flag: it was refused */
#define TERND_MOVE_TOLD_WORDS 8u /* of a completion, as struct tern_wire_completion */
#define TERND_MOVE_CONTEXT 2u    /* kind of an object: enum ternd_kind */

#endif
