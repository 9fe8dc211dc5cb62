/* SPDX-License-Identifier: Apache-2.0 */
/** The driver in this process as a table of functions (api/api.h). */
#include "api/api.h"

#define FUNCTION(type, name, parameters, handle, arguments) .name = tern_os_##name,
const struct tern_api tern_os_api = {TERN_API_FUNCTIONS(FUNCTION, FUNCTION)};
