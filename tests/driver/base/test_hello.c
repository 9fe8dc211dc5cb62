/* SPDX-License-Identifier: Apache-2.0 */
/** Welcomes of ternd, as a client reads them (wire/hello.h): of other versions, longer or shorter than this version's,
 *  refusals, and bytes that are none. Each gives its error, and a sentence that says what is wrong. */
#include "check.h"
#include "wire/hello.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "tern/tern_spec.h"

#define WHOLE sizeof(struct tern_wire_welcome)
#define REFUSAL offsetof(struct tern_wire_welcome, token)

static struct tern_wire_welcome good(void)
{
    return (struct tern_wire_welcome){.magic = TERN_WIRE_MAGIC, .version = TERN_WIRE_VERSION, .spec = TERN_SPEC_HASH,
                                      .connections = 1};
}

/** Sends `size` bytes of the welcome, followed by zeros; 0: ends the connection. Returns the client's result. */
static int welcomed(const struct tern_wire_welcome *w, size_t size)
{
    uint8_t sent[2 * WHOLE] = {0};
    struct tern_wire_welcome got;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    memcpy(sent, w, WHOLE);
    if (size) {
        assert_int_equal(send(ends[0], sent, size, 0), (ssize_t)size);
    }
    close(ends[0]);
    const int r = tern_hello_welcome(ends[1], &got, NULL, "PATH", 60, -1);
    close(ends[1]);
    return r;
}

static void refused(const struct tern_wire_welcome *w, size_t size, int error, const char *sentence)
{
    const int r = welcomed(w, size);
    if (r != error || !strstr(tern_last_error(), sentence)) {
        fail_msg("%zu bytes: %d, '%s'; expected %d, '%s'", size, r, tern_last_error(), error, sentence);
    }
}

static void test_accepted(void **state)
{
    (void)state;
    struct tern_wire_welcome w = good();
    assert_int_equal(welcomed(&w, WHOLE), 0);
    w.connections = TERN_WIRE_CONNECTIONS_MAX;
    assert_int_equal(welcomed(&w, WHOLE), 0);
    w.connections++;
    refused(&w, WHOLE, -EPROTO, "the welcome of ternd at PATH is not what this library expects");
}

/** The first members are the same in all versions, whose welcomes may be longer or shorter. */
static void test_other_versions(void **state)
{
    (void)state;
    static const size_t sizes[] = {REFUSAL, WHOLE - 1, WHOLE, WHOLE + 1, 2 * WHOLE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct tern_wire_welcome w = good();
        char sentence[128];
        w.version++;
        snprintf(sentence, sizeof sentence, "ternd at PATH speaks version %u of its protocol, and this library "
                 "version %u", w.version, TERN_WIRE_VERSION);
        refused(&w, sizes[i], -EPROTO, sentence);
        w = good();
        w.spec ^= 1;
        refused(&w, sizes[i], -EPROTO, "ternd at PATH was built from interface description");
        w = good();
        if (sizes[i] != WHOLE) {
            refused(&w, sizes[i], -EPROTO, "the welcome of ternd at PATH is not what this library expects");
        }
    }
}

static void test_refusals(void **state)
{
    (void)state;
    struct tern_wire_welcome w = good();
    w.status = -EBUSY;
    strcpy(w.text, "all places are taken");
    refused(&w, REFUSAL, -EBUSY, "ternd at PATH: all places are taken");
    memset(w.text, 'x', sizeof w.text); /* without an end */
    w.token[0] = 'y';
    refused(&w, WHOLE, -EBUSY, "ternd at PATH: xxx");
    assert_null(strchr(tern_last_error(), 'y'));
    w.status = 7; /* no error */
    refused(&w, REFUSAL, -EPROTO, "ternd at PATH: xxx");
}

static void test_not_ternd(void **state)
{
    (void)state;
    struct tern_wire_welcome w = good();
    refused(&w, 0, -EIO, "ternd at PATH ended the connection");
    refused(&w, 4, -EPROTO, "what listens at PATH is not ternd");
    refused(&w, REFUSAL - 1, -EPROTO, "what listens at PATH is not ternd");
    w.magic ^= 0x100;
    refused(&w, WHOLE, -EPROTO, "what listens at PATH is not ternd");
    refused(&w, 2 * WHOLE, -EPROTO, "what listens at PATH is not ternd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_not_ternd),
    };
    return cmocka_run_group_tests_name("hello", tests, NULL, NULL);
}
