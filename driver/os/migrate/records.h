/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An image as records of a migration stream, in this order:
 *
 *     device
 *     memory ...                              numbered from 0, in this order
 *     process, of each:
 *         mapping ...                         lowest address first
 *         context, of each: [state] job ...   oldest first
 */
#ifndef TERN_OS_MIGRATE_RECORDS_H
#define TERN_OS_MIGRATE_RECORDS_H

#include "os/migrate/image.h"
#include "stream/stream.h"

int tern_image_write(const struct tern_image *image, struct tern_stream *s);
/** Reads the first record of all, and whether the device can take what follows. -EPROTO, -ENOSPC. */
int tern_image_read_device(struct tern_stream *s, struct tern_device *dev, const char *partition,
                           struct tern_image **out);
/** The same of a later image, whose first record was just read. */
int tern_image_read_again(struct tern_stream *s, struct tern_device *dev, const char *partition,
                          const struct tern_image *before, struct tern_image **out);
/** Reads the rest, up to the first record that is none of an image: *next, or 0 for the stream's end. On failure too
 *  the image is the caller's. */
int tern_image_read(struct tern_image *image, struct tern_stream *s, const struct tern_device *dev, uint32_t *next);

#endif
