/* SPDX-License-Identifier: Apache-2.0 */
/** Calls of XRT's hardware emulation (calls.h). Functions return the bytes of the answer in `out`, or -EPROTO. */
#include "calls.h"

#include <errno.h>
#include <string.h>

#include "emulation.pb-c.h"

static long pack(const ProtobufCMessage *message, uint8_t *out)
{
    return protobuf_c_message_get_packed_size(message) <= CALLS_ANSWER
               ? (long)protobuf_c_message_pack(message, out) : -EPROTO;
}

static long acknowledged(uint8_t *out)
{
    TernEmulation__Ack a = TERN_EMULATION__ACK__INIT;
    a.has_ack = 1;
    a.ack = 1;
    return pack(&a.base, out);
}

static long moved(uint64_t size, const uint8_t *data, uint8_t *out)
{
    TernEmulation__Moved a = TERN_EMULATION__MOVED__INIT;
    a.has_size = 1;
    a.size = size;
    a.has_data = data != NULL;
    a.data = (ProtobufCBinaryData){data ? size : 0, (uint8_t *)(uintptr_t)data};
    return pack(&a.base, out);
}

static long values(bool valid, const uint8_t *data, size_t size, uint8_t *out)
{
    TernEmulation__Values a = TERN_EMULATION__VALUES__INIT;
    a.has_valid = 1;
    a.valid = valid;
    a.has_data = data != NULL;
    a.data = (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)data};
    return pack(&a.base, out);
}

static long to_device(struct device *d, const uint8_t *request, size_t size, uint8_t *out)
{
    TernEmulation__ToDevice *m = tern_emulation__to_device__unpack(NULL, size, request);
    if (!m) {
        return -EPROTO;
    }
    device_write(d, m->address + m->offset, m->data.data, m->data.len); /* outside of memory, a write is lost */
    const long r = moved(m->data.len, NULL, out);
    tern_emulation__to_device__free_unpacked(m, NULL);
    return r;
}

static long from_device(struct device *d, const uint8_t *request, size_t size, uint8_t *out)
{
    static uint8_t data[CALLS_DATA];
    TernEmulation__FromDevice *m = tern_emulation__from_device__unpack(NULL, size, request);
    if (!m) {
        return -EPROTO;
    }
    const uint64_t n = m->size, from = m->address + m->offset;
    tern_emulation__from_device__free_unpacked(m, NULL);
    if (n > CALLS_DATA) {
        return -EPROTO;
    }
    memset(data, 0xff, n); /* outside of memory, a card reads ones */
    return moved(n, device_read(d, from, data, n) ? data : memset(data, 0xff, n), out);
}

static long registers(struct device *d, bool writes, const uint8_t *request, size_t size, uint8_t *out)
{
    static uint8_t data[CALLS_DATA];
    TernEmulation__Registers *m = tern_emulation__registers__unpack(NULL, size, request);
    if (!m) {
        return -EPROTO;
    }
    const uint64_t n = writes ? m->data.len : m->size, at = m->address;
    bool good = n <= CALLS_DATA && n % 4 == 0;
    for (uint64_t i = 0; i < n && good; i += 4) {
        uint32_t v;
        if (writes) {
            memcpy(&v, m->data.data + i, 4);
            device_write32(d, at + i, v);
        } else {
            device_read32(d, at + i, &v);
            memcpy(data + i, &v, 4);
        }
    }
    tern_emulation__registers__free_unpacked(m, NULL);
    return good ? values(true, writes ? NULL : data, n, out) : -EPROTO;
}

long calls_serve(struct device *d, uint32_t api, const uint8_t *request, size_t size, uint8_t *out)
{
    switch (api) {
    case TERN_EMULATION__API__TO_DEVICE:
        return to_device(d, request, size, out);
    case TERN_EMULATION__API__FROM_DEVICE:
        return from_device(d, request, size, out);
    case TERN_EMULATION__API__WRITE_REGISTERS:
        return registers(d, true, request, size, out);
    case TERN_EMULATION__API__READ_REGISTERS:
        return registers(d, false, request, size, out);
    case TERN_EMULATION__API__MESSAGES:
    case TERN_EMULATION__API__BUS_STATUS:
        return 0;
    case TERN_EMULATION__API__TIMESTAMP: {
        TernEmulation__Ack a = TERN_EMULATION__ACK__INIT;
        a.has_ack = 1;
        a.ack = device_time(d);
        return pack(&a.base, out);
    }
    default: /* for buffers, the environment and the end, and those of later versions */
        return acknowledged(out);
    }
}
