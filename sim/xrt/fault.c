/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emulation.pb-c.h"
#include "tern/tern_hw.h"

#define HEAD 9u
#define PROMISED 64u /* bytes that a header announces and that do not follow; XRT has room for them (calls.h) */
#define LATE_S 2

enum what { NONE, KILL, STOP, CLOSE, CUT, PROMISE, SHORT, EMPTY, GARBAGE, LATE, WHATS };
static const char *const whats[WHATS] = {"", "kill", "stop", "close", "cut", "promise", "short", "empty", "garbage",
                                         "late"};
enum call { ANY, ALLOC, TO, FROM, WRITE, READ, DOORBELL, POLLING, CALLS };
static const char *const calls[CALLS] = {"any", "alloc", "to", "from", "write", "read", "doorbell", "polling"};

static enum what what;
static enum call call;
static unsigned long left;   /* number of calls until the fault; 0: it has happened */
static bool rung;            /* a doorbell was written */

/** Returns the index of the name that equals the `size` characters of `text`, or n. */
static unsigned find(const char *const *names, unsigned n, const char *text, size_t size)
{
    unsigned i = 0;
    while (i < n && (strlen(names[i]) != size || strncmp(names[i], text, size) != 0)) {
        i++;
    }
    return i;
}

bool fault_begin(void)
{
    const char *text = getenv("TERN_HW_EMU_FAULT");
    if (!text || !*text) {
        return true;
    }
    const char *at = strchr(text, '@'), *colon = at ? strchr(at, ':') : NULL;
    char *end = NULL;
    left = colon ? strtoul(colon + 1, &end, 10) : 1;
    what = at ? (enum what)find(whats, WHATS, text, (size_t)(at - text)) : WHATS;
    call = at ? (enum call)find(calls, CALLS, at + 1, colon ? (size_t)(colon - at - 1) : strlen(at + 1)) : CALLS;
    if (what == NONE || what == WHATS || call == CALLS || !left || (end && *end)) {
        fprintf(stderr, "tern-hw-emu: TERN_HW_EMU_FAULT: '%s' is no WHAT@CALL[:N] (sim/xrt/fault.h)\n", text);
        return false;
    }
    return true;
}

static bool is_doorbell(const uint8_t *request, size_t size, uint64_t registers)
{
    const uint64_t first = TERN_REG_ENGINE_SUB_DOORBELL(0), stride = TERN_REG_ENGINE_SUB_DOORBELL(1) - first;
    TernEmulation__Registers *m = tern_emulation__registers__unpack(NULL, size, request);
    const bool is = m && m->address >= registers + first && (m->address - registers - first) % stride == 0;
    tern_emulation__registers__free_unpacked(m, NULL);
    return is;
}

static bool is_call(uint32_t api, const uint8_t *request, size_t size, uint64_t registers)
{
    const bool rings = api == TERN_EMULATION__API__WRITE_REGISTERS && is_doorbell(request, size, registers);
    const bool after = rung;
    rung = rung || rings;
    switch (call) {
    case ANY:
        return true;
    case ALLOC:
        return api == TERN_EMULATION__API__ALLOC;
    case TO:
        return api == TERN_EMULATION__API__TO_DEVICE;
    case FROM:
        return api == TERN_EMULATION__API__FROM_DEVICE;
    case WRITE:
        return api == TERN_EMULATION__API__WRITE_REGISTERS;
    case DOORBELL:
        return rings;
    case READ:
        return api == TERN_EMULATION__API__READ_REGISTERS;
    case POLLING:
        return after && api == TERN_EMULATION__API__READ_REGISTERS;
    case CALLS:
        break;
    }
    return false;
}

/** Replaces the message by one with half of its data, or by an empty one if it has none. Returns its size. */
static size_t halved(uint32_t api, uint8_t *message, size_t size)
{
    size_t n = 0;
    if (api == TERN_EMULATION__API__FROM_DEVICE) {
        TernEmulation__Moved *m = tern_emulation__moved__unpack(NULL, size, message);
        if (m) {
            m->data.len /= 2;
            n = tern_emulation__moved__pack(m, message);
        }
        tern_emulation__moved__free_unpacked(m, NULL);
    } else if (api == TERN_EMULATION__API__READ_REGISTERS) {
        TernEmulation__Values *m = tern_emulation__values__unpack(NULL, size, message);
        if (m) {
            m->data.len /= 2;
            n = tern_emulation__values__pack(m, message);
        }
        tern_emulation__values__free_unpacked(m, NULL);
    }
    return n;
}

static struct fault sized(uint8_t *answer, uint64_t size)
{
    memcpy(answer + 1, &size, sizeof size);
    return (struct fault){.bytes = HEAD + size, .ends = false};
}

struct fault fault_answer(uint32_t api, const uint8_t *request, size_t request_size, uint64_t registers,
                          uint8_t *answer, size_t size)
{
    const struct fault none = {.bytes = HEAD + size, .ends = false};
    if (what == NONE || !left || !is_call(api, request, request_size, registers) || --left) {
        return none;
    }
    switch (what) {
    case KILL:
        raise(SIGKILL);
        return none;
    case STOP:
        raise(SIGSTOP);
        return none;
    case CLOSE:
        return (struct fault){.bytes = 0, .ends = true};
    case CUT:
        return (struct fault){.bytes = (HEAD + size) / 2, .ends = true};
    case PROMISE:
        sized(answer, size + PROMISED);
        return none;
    case SHORT:
        return sized(answer, halved(api, answer + HEAD, size));
    case EMPTY:
        return sized(answer, 0);
    case GARBAGE:
        memset(answer + HEAD, 0xff, size); /* a varint without an end */
        return none;
    case LATE:
        nanosleep(&(struct timespec){.tv_sec = LATE_S, .tv_nsec = 0}, NULL);
        return none;
    case NONE:
    case WHATS:
        break;
    }
    return none;
}
