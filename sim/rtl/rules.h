// SPDX-License-Identifier: Apache-2.0
// What an assertion of the RTL says when it fails, instead of Verilator's end of the process (VL_USER_STOP, VL_PRINTF).
#pragma once

/** Where Verilator prints to: the text before a stop is the message of the assertion. */
int tern_rules_print(const char *format, ...);

struct tern_sim_violation;

/** The assertion that has failed on this thread since the last call, the first of them: true, and
 * all of *out but the cycle. */
bool tern_rules_take(tern_sim_violation *out);
