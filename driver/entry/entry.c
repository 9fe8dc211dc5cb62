/* SPDX-License-Identifier: Apache-2.0 */
/** The public functions: each calls the function of the table to which its handle points (api.h). */
#include "api/api.h"

static const struct tern_api *of(const void *handle)
{
    return *(const struct tern_api *const *)handle;
}

#define DEFINE(type, name, parameters, handle, arguments) \
    type tern_##name parameters \
    { \
        return of(handle)->name arguments; \
    }
#define DEFINE_END(type, name, parameters, handle, arguments) \
    type tern_##name parameters \
    { \
        return handle ? of(handle)->name arguments : (type)0; \
    }
TERN_API_FUNCTIONS(DEFINE, DEFINE_END)

int tern_device_open(const char *backend, const char *config, struct tern_device **out)
{
    const int r = tern_client_device_open(backend, config, out);
    return r <= 0 ? r : tern_os_device_open(backend, config, out);
}
