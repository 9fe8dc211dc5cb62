/* SPDX-License-Identifier: Apache-2.0 */
/** The terminal of `tern top`, by ncurses. */
#ifndef TERN_CLI_TOP_SCREEN_H
#define TERN_CLI_TOP_SCREEN_H

#include "top_view.h"

/** False: ncurses does not know the terminal. */
bool top_screen_open(void);
void top_screen_show(const struct top_view *v, double seconds);
/** Waits for this time, or until a key is pressed. True: the user wants to leave. */
bool top_screen_wait(double seconds);
void top_screen_close(void);

#endif
