// SPDX-License-Identifier: Apache-2.0
// Parses messages like `[time] %Error: FILE:LINE: Assertion failed in DEVICE.tern_top.INSTANCE.RULE: 'assert' failed.`
#include "rules.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "tern_sim/tern_sim.h"
#include "verilated.h"

namespace {

thread_local char message[1024];  // the last message printed
thread_local tern_sim_violation first;
thread_local bool failed;

void copy(char *out, size_t size, const char *from, const char *to)
{
    const size_t n = static_cast<size_t>(to - from) < size ? static_cast<size_t>(to - from) : size - 1;
    std::memcpy(out, from, n);
    out[n] = '\0';
}

}  // namespace

int tern_rules_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!std::strstr(message, "Assertion failed in ")) {
        std::fputs(message, stderr);
    }
    return n;
}

bool tern_rules_take(tern_sim_violation *out)
{
    if (!failed) {
        return false;
    }
    failed = false;
    *out = first;
    return true;
}

// Verilator calls this function to stop a simulation, here because of a failed assertion. The simulation goes on to the
// end of the cycle.
void vl_stop(const char *file, int line, const char *)
{
    if (failed) {
        return;
    }
    failed = true;
    const char *path = std::strstr(message, "Assertion failed in ");
    path = path ? path + std::strlen("Assertion failed in ") : "?.?";
    const char *end = path + std::strcspn(path, ": ");
    const char *rule = end;
    while (rule > path && rule[-1] != '.') {
        rule--;
    }
    const char *device = std::strchr(path, '.');  // the name of the device has no meaning
    path = device && device < rule ? device + 1 : path;
    copy(first.rule, sizeof first.rule, rule, end);
    copy(first.module, sizeof first.module, path, rule > path ? rule - 1 : path);
    const char *name = std::strrchr(file, '/');
    std::snprintf(first.place, sizeof first.place, "%s:%d", name ? name + 1 : file, line);
}
