/* SPDX-License-Identifier: Apache-2.0 */
/** Input whose bytes can be read without taking them (tool.h). Memory grows as requested bytes arrive. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "migration/tool/tool.h"

#define READ_BYTES 65536u

const unsigned char *input_peek(struct input *in, size_t n, size_t *got)
{
    while (in->size - in->start < n && !in->error) {
        if (in->start && in->room - in->size < READ_BYTES) {
            memmove(in->data, in->data + in->start, in->size - in->start);
            in->offset += in->start;
            in->size -= in->start;
            in->start = 0;
        }
        if (in->room - in->size < READ_BYTES) {
            const size_t room = in->room * 2 + READ_BYTES;
            unsigned char *grown = realloc(in->data, room);
            if (!grown) {
                in->error = ENOMEM;
                break;
            }
            in->data = grown;
            in->room = room;
        }
        const ssize_t r = read(in->fd, in->data + in->size, READ_BYTES);
        if (r == 0) {
            break;
        }
        if (r > 0) {
            in->size += (size_t)r;
        } else if (errno != EINTR) {
            in->error = errno;
        }
    }
    *got = in->size - in->start < n ? in->size - in->start : n;
    return in->data + in->start;
}

void input_advance(struct input *in, size_t n)
{
    in->start += n;
}

uint64_t input_offset(const struct input *in)
{
    return in->offset + in->start;
}
