/* SPDX-License-Identifier: Apache-2.0 */
/** The table of functions of the driver in this process (api/api.h). */
#include "api/api.h"

#define FUNCTION(type, name, parameters, handle, arguments) .name = tern_os_##name,
const struct tern_api tern_os_api = {TERN_API_FUNCTIONS(FUNCTION, FUNCTION)};
