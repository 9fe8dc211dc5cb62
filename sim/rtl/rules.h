// SPDX-License-Identifier: Apache-2.0
// Records failed assertions of the RTL. Without this, Verilator would end the process (VL_USER_STOP, VL_PRINTF).
#pragma once

/** Verilator's print function. The text printed before a stop is the message of the assertion. */
int tern_rules_print(const char *format, ...);

struct tern_sim_violation;

/** Takes the first assertion that has failed on this thread since the last call. Returns whether there is one; *out is
 *  then set, except the cycle. */
bool tern_rules_take(tern_sim_violation *out);
