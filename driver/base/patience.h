/* SPDX-License-Identifier: Apache-2.0 */
/** How long the other side of a connection, mostly a ternd, is waited for. */
#ifndef TERN_BASE_PATIENCE_H
#define TERN_BASE_PATIENCE_H

#define TERN_PATIENCE_SESSION 60 /* of a program for its welcome: ternd may be opening its device */
#define TERN_PATIENCE_HELLO 10   /* of whoever moves programs for its welcome: ternd runs */
#define TERN_PATIENCE_HANDSHAKE 10 /* of both sides of a TLS connection for all of its handshake */
#define TERN_PATIENCE_MOVE 30    /* of a ternd for the other one, while programs move */

/** Seconds: TERND_PATIENCE, 1 to 3600, else `otherwise`. -EINVAL, with a sentence: it is no such number. */
int tern_patience(int otherwise);

#endif
