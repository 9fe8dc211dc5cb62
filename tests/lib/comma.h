/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sets a locale whose decimal point is a comma, as in German. localedef, which every Debian has (libc-bin), makes the
 * locale, so no locale data needs to be installed. comma_locale() returns 0, and the process uses the locale until
 * setlocale is called again, or returns -1 if localedef fails.
 */
#ifndef TERN_TEST_COMMA_H
#define TERN_TEST_COMMA_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int comma_locale(void)
{
    static const char source[] = "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n";
    const char *base = getenv("TERN_TEST_DIR");
    char folder[3000], command[10000], number[16];
    snprintf(folder, sizeof folder, "%s/locale.XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(command, sizeof command, "%s/source", folder);
    FILE *f = fopen(command, "w");
    if (!f || fputs(source, f) < 0 || fclose(f)) {
        return -1;
    }
    snprintf(command, sizeof command, "localedef -c --no-archive -i '%s/source' -f ANSI_X3.4-1968 '%s/xx_COMMA' "
             ">'%s/log' 2>&1", folder, folder, folder);
    const int made = system(command); /* The status is not 0, since localedef warns of the missing categories. */
    setenv("LOCPATH", folder, 1);
    const char *set = made < 0 ? NULL : setlocale(LC_ALL, "xx_COMMA");
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    const int left = system(command);
    unsetenv("LOCPATH");
    snprintf(number, sizeof number, "%.1f", 1.5);
    return set && !left && !strcmp(number, "1,5") ? 0 : -1;
}

#endif
