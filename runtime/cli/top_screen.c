/* SPDX-License-Identifier: Apache-2.0 */
/** The terminal of `tern top` (top_screen.h). */
#include "top_screen.h"

#include <curses.h>
#include <string.h>
#include <time.h>

static SCREEN *screen;
static int scrolled; /* number of lines above the screen */

bool top_screen_open(void)
{
    screen = newterm(NULL, stdout, stdin);
    if (!screen) {
        return false;
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    return true;
}

struct place {
    int line;
};

static void put(void *user, bool head, const char *text)
{
    struct place *p = user;
    for (;; text++) { /* a text may begin with an empty line */
        const int row = 1 + p->line++ - scrolled;
        const int n = (int)strcspn(text, "\n");
        if (row >= 1 && row < LINES) {
            attrset(head ? A_BOLD : A_NORMAL);
            mvaddnstr(row, 0, text, n < COLS ? n : COLS);
        }
        text += n;
        if (!*text) {
            return;
        }
    }
}

void top_screen_show(const struct top_view *v, double seconds)
{
    char text[120], clock[32];
    const time_t now = time(NULL);
    struct tm tm;
    struct place at = {0};
    strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&now, &tm));
    erase();
    snprintf(text, sizeof text, "tern top  %s  every %.1f s  %u device%s  (q leaves, arrows scroll)", clock, seconds,
             v->now->n, v->now->n == 1 ? "" : "s");
    attrset(A_REVERSE);
    mvaddnstr(0, 0, text, COLS);
    top_view_text(v, put, &at);
    refresh();
}

bool top_screen_wait(double seconds)
{
    timeout((int)(seconds * 1000));
    switch (getch()) {
    case 'q':
    case 'Q':
        return true;
    case KEY_DOWN:
        scrolled++;
        return false;
    case KEY_NPAGE:
        scrolled += LINES / 2;
        return false;
    case KEY_UP:
        scrolled -= scrolled > 0;
        return false;
    case KEY_PPAGE:
        scrolled = scrolled > LINES / 2 ? scrolled - LINES / 2 : 0;
        return false;
    default:
        return false;
    }
}

void top_screen_close(void)
{
    endwin();
    delscreen(screen);
    screen = NULL;
}
