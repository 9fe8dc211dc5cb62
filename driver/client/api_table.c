/* SPDX-License-Identifier: Apache-2.0 */
/** The table of functions of a client of ternd (api/api.h). */
#include "api/api.h"

#define FUNCTION(type, name, parameters, handle, arguments) .name = tern_client_##name,
const struct tern_api tern_client_api = {TERN_API_FUNCTIONS(FUNCTION, FUNCTION)};
