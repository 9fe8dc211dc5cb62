/* SPDX-License-Identifier: Apache-2.0 */
#include "open_device.h"

#include "check.h"

void ok_or_skip(int r)
{
    if (r == -ENOENT) {
        print_message("skipped: %s\n", tern_last_error());
        exit(77);
    }
    ok(r);
}

const char *of_geometry(const char *config)
{
    static char text[200];
    const char *name = getenv("TERN_TEST_GEOMETRY");
    if (!name || strncmp(config, "small,", 6) != 0) {
        return config;
    }
    assert_true((size_t)snprintf(text, sizeof text, "%s%s", name, config + 5) < sizeof text);
    return text;
}

struct tern_device *open_or_skip(const char *config)
{
    struct tern_device *d;
    ok_or_skip(tern_device_open(NULL, of_geometry(config), &d));
    return d;
}
