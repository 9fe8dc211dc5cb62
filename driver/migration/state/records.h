/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An image as records of a migration stream, in this order:
 *
 *   device
 *   memory ...                              in ascending order of slot
 *   process, of each:
 *       mapping ...                         in ascending order of address
 *       context, of each: [state] job ...   in order of submission
 */
#ifndef TERN_OS_MIGRATE_RECORDS_H
#define TERN_OS_MIGRATE_RECORDS_H

#include "migration/format/stream.h"
#include "migration/state/image.h"

/** Writes all records of an image. Errors of the stream; -ENOMEM. */
int tern_image_write(const struct tern_image *image, struct tern_stream *s);
/** Reads the first record of a stream into a new image, and checks that the device can take the image. The caller
 *  owns *out, also on failure if it is set. -EPROTO, -ENOENT, -ENOSPC, -ENOMEM. */
int tern_image_read_device(struct tern_stream *s, struct tern_device *dev, const char *partition,
                           struct tern_image **out);
/** As tern_image_read_device for a later image, whose device record was just read. before: the earlier image. */
int tern_image_read_again(struct tern_stream *s, struct tern_device *dev, const char *partition,
                          const struct tern_image *before, struct tern_image **out);
/** Reads the other records, up to the first record that belongs to no image: *next is its type, or 0 at the end of
 *  the stream. The image stays the caller's on failure. */
int tern_image_read(struct tern_image *image, struct tern_stream *s, const struct tern_device *dev, uint32_t *next);

#endif
