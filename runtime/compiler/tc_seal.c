/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Blobs end with a seal, the SHA-256 of the bytes before it, so that a damaged blob is refused: neither LLVM nor the
 * linker promises to notice damage. The seal is no protection against malice; child processes and the device's address
 * spaces confine a hostile blob.
 */
#include "tc_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct seal {
    char magic[8];
    uint8_t digest[32];
};

static struct seal seal_of(const void *data, size_t size)
{
    struct seal s = {.magic = "TERNSEAL"};
    struct tc_sha256 hash;
    tc_sha256_init(&hash);
    tc_sha256_add(&hash, data, size);
    tc_sha256_end(&hash, s.digest);
    return s;
}

/** Walks the blocks of the bitstream: abbreviation id, block id and width, then the length in words. */
int tc_bitcode_whole(const void *data, size_t size)
{
    const uint8_t *p = data;
    size_t at = 4;
    if (size < at || size % 4 || memcmp(p, "BC\xc0\xde", 4)) {
        return 0;
    }
    while (at < size) {
        uint32_t words;
        if ((p[at] & 3) != 1 || size - at < 8) {
            return 0;
        }
        memcpy(&words, p + at + 4, sizeof words);
        if (words > (size - at - 8) / 4) {
            return 0;
        }
        at += 8 + (size_t)words * 4;
    }
    return at > 4;
}

int tc_seal(struct tc_blob *blob)
{
    const struct seal s = seal_of(blob->data, blob->size);
    char *grown = realloc(blob->data, blob->size + sizeof s);
    if (!grown) {
        return -ENOMEM;
    }
    memcpy(grown + blob->size, &s, sizeof s);
    *blob = (struct tc_blob){grown, blob->size + sizeof s};
    return 0;
}

size_t tc_sealed_size(const void *data, size_t size)
{
    if (!data || size < sizeof(struct seal)) {
        return 0;
    }
    const size_t content = size - sizeof(struct seal);
    const struct seal s = seal_of(data, content);
    return memcmp((const char *)data + content, &s, sizeof s) ? 0 : content;
}
