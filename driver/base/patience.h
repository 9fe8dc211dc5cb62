/* SPDX-License-Identifier: Apache-2.0 */
/** Seconds to wait for the other side of a connection, mostly a ternd. */
#ifndef TERN_BASE_PATIENCE_H
#define TERN_BASE_PATIENCE_H

#define TERN_PATIENCE_SESSION 60 /* a program waits for the welcome: ternd may still open its device */
#define TERN_PATIENCE_HELLO 10   /* a tool that migrates programs waits for the welcome: ternd already runs */
#define TERN_PATIENCE_CLIENT 5   /* ternd waits for the hello of a program */
#define TERN_PATIENCE_HANDSHAKE 10 /* both sides of a TLS connection wait for the end of the whole handshake */
#define TERN_PATIENCE_MOVE 30    /* a ternd waits for the other one during a migration */

/** The value of TERND_PATIENCE, 1 to 3600 seconds, or `otherwise` if it is not set. -EINVAL, with a sentence: it is no
 *  such number. */
int tern_patience(int otherwise);

#endif
