/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checkpoints of a client are refused: they need a device in the process that uses it. A part of the state of ternd's
 * programs is in the programs themselves.
 */
#include <errno.h>

#include "base/error.h"
#include "client/client.h"
#include "tern/tern_checkpoint.h"

static int refuse(struct tern_device *dev)
{
    const int r = tern_client_check(dev);
    return r ? r : tern_error(-ENOTSUP, "the device is ternd's: checkpoints are of devices that are opened in the "
                              "program itself; tern migrate moves programs of ternd");
}

int tern_client_checkpoint_save(struct tern_device *dev, const char *file)
{
    (void)file;
    return refuse(dev);
}

int tern_client_checkpoint_load(struct tern_device *dev, const char *file, struct tern_checkpoint **out)
{
    (void)file;
    (void)out;
    return refuse(dev);
}
