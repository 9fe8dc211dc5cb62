/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The migration stream (M1, M3): records, and fields with bounds, over memory, files, pipes and sockets. A stream ends
 * with an error if nobody reads it, at a time limit, or when it is cancelled.
 */
#include "check.h"
#include "stream_bytes.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "migration/format/internal.h"
#include "tern/tern_spec.h"

enum { MANY = 20000 };

static uint64_t many[MANY];

/** Writes two records with a field of each kind. */
static void write_sample(struct tern_stream *s)
{
    tern_record_begin(s, TERN_RECORD_DEVICE);
    tern_put_u64(s, "engines", 2);
    tern_put_u64(s, "bytes", UINT64_MAX);
    tern_put_text(s, "name", "small \xe2\x82\xac");
    tern_put_text(s, "nothing", "");
    ok(tern_record_end(s));
    tern_record_begin(s, TERN_RECORD_CONTEXT);
    tern_put_bytes(s, "area", many, sizeof many);
    tern_put_bytes(s, "none", NULL, 0);
    tern_put_u64s(s, "fences", many, MANY);
    tern_put_u64s(s, "jobs", NULL, 0);
    ok(tern_record_end(s));
}

static void read_sample(struct tern_stream *s)
{
    size_t n;
    stream_next(s, TERN_RECORD_DEVICE);
    assert_true(tern_has(s, "engines"));
    assert_false(tern_has(s, "engine"));
    assert_int_equal(tern_get_u64(s, "engines", 1, 8), 2);
    assert_true(tern_get_u64(s, "bytes", 0, UINT64_MAX) == UINT64_MAX);
    assert_string_equal(tern_get_text(s, "name", 9), "small \xe2\x82\xac");
    assert_string_equal(tern_get_text(s, "nothing", 0), "");
    ok(tern_record_bad(s));
    stream_next(s, TERN_RECORD_CONTEXT);
    assert_memory_equal(tern_get_bytes(s, "area", sizeof many, &n), many, sizeof many);
    assert_int_equal(n, sizeof many);
    tern_get_bytes(s, "none", 0, &n);
    assert_int_equal(n, 0);
    assert_memory_equal(tern_get_u64s(s, "fences", MANY, &n), many, sizeof many);
    assert_int_equal(n, MANY);
    tern_get_u64s(s, "jobs", 0, &n);
    assert_int_equal(n, 0);
    ok(tern_record_bad(s));
}

static void read_to_end(struct tern_stream *s)
{
    enum tern_record_type type;
    read_sample(s);
    ok(tern_record_next(s, &type));
    ok(tern_record_next(s, &type));
}

static struct bytes sample(void)
{
    struct tern_stream *s = stream_writer();
    write_sample(s);
    ok(tern_stream_end(s));
    return stream_take(s);
}

static void test_memory(void **state)
{
    (void)state;
    struct tern_stream *w = stream_writer();
    tern_stream_identify(w, 77);
    write_sample(w);
    ok(tern_stream_end(w));
    const struct tern_stream_counts c = tern_stream_counts(w);
    struct bytes b = stream_take(w);
    assert_int_equal(c.records, 3);
    assert_int_equal(c.bytes, b.n);
    struct tern_stream *r = stream_reader(b);
    read_to_end(r);
    assert_int_equal(tern_stream_id(r), 77);
    assert_int_equal(tern_stream_spec(r), TERN_SPEC_HASH);
    assert_int_equal(tern_stream_counts(r).records, 3);
    assert_int_equal(tern_stream_counts(r).bytes, b.n);
    tern_stream_close(r);
    free(b.data);
}

static void *write_thread(void *fd)
{
    struct tern_stream *s;
    ok(tern_stream_write_fd(*(int *)fd, &s));
    for (int i = 0; i < 20; i++) {
        write_sample(s);
    }
    ok(tern_stream_end(s));
    tern_stream_close(s);
    return NULL;
}

/** Sends more than fits in a pipe or a socket. Each side blocks, or polls a descriptor that does not block. */
static void through(int from, int to)
{
    pthread_t thread;
    struct tern_stream *s;
    enum tern_record_type type;
    char after = 0;
    ok(pthread_create(&thread, NULL, write_thread, &to));
    ok(tern_stream_read_fd(from, &s));
    for (int i = 0; i < 20; i++) {
        read_sample(s);
    }
    ok(tern_record_next(s, &type));
    ok(pthread_join(thread, NULL));
    tern_stream_close(s);
    assert_int_equal(write(to, "x", 1), 1); /* the reader has taken no byte beyond the end */
    assert_int_equal(read(from, &after, 1), 1);
    assert_int_equal(after, 'x');
    close(from);
    close(to);
}

static void test_pipe_and_socket(void **state)
{
    (void)state;
    for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
        int fds[2];
        ok(pipe2(fds, flags));
        through(fds[0], fds[1]);
        ok(socketpair(AF_UNIX, SOCK_STREAM | (flags ? SOCK_NONBLOCK : 0), 0, fds));
        through(fds[0], fds[1]);
    }
}

static void test_file(void **state)
{
    (void)state;
    char path[] = "/tmp/tern-stream-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    write_thread(&fd);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    struct tern_stream *s;
    ok(tern_stream_read_fd(fd, &s));
    for (int i = 0; i < 20; i++) {
        read_sample(s);
    }
    tern_stream_close(s);
    close(fd);
}

/** If nobody reads, the writer gets an error and no signal. A SIGPIPE that was pending before stays pending. */
static void test_nobody_reads(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        int fds[2];
        sigset_t pipes, pending;
        sigemptyset(&pipes);
        sigaddset(&pipes, SIGPIPE);
        if (kind == 2) {
            sigprocmask(SIG_BLOCK, &pipes, NULL);
            raise(SIGPIPE);
        }
        ok(kind == 1 ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds) : pipe(fds));
        close(fds[0]);
        struct tern_stream *s;
        ok(tern_stream_write_fd(fds[1], &s));
        tern_record_begin(s, TERN_RECORD_ROUND);
        assert_int_equal(tern_record_end(s), -EPIPE);
        assert_string_equal(tern_last_error(),
                            "migration stream: record 0 (round): cannot be written: Broken pipe");
        assert_int_equal(tern_record_begin(s, TERN_RECORD_ROUND), -EPIPE);
        assert_int_equal(tern_stream_end(s), -EPIPE);
        assert_string_equal(tern_last_error(),
                            "migration stream: record 0 (round): cannot be written: Broken pipe");
        tern_stream_close(s);
        close(fds[1]);
        sigpending(&pending);
        assert_int_equal(sigismember(&pending, SIGPIPE), kind == 2);
    }
    signal(SIGPIPE, SIG_IGN); /* discards the pending signal */
    signal(SIGPIPE, SIG_DFL);
}

static void test_full_file(void **state)
{
    (void)state;
    const int fd = open("/dev/full", O_WRONLY);
    assert_true(fd >= 0);
    struct tern_stream *s;
    ok(tern_stream_write_fd(fd, &s));
    tern_record_begin(s, TERN_RECORD_ROUND);
    assert_int_equal(tern_record_end(s), -EIO);
    assert_non_null(strstr(tern_last_error(), "No space left"));
    tern_stream_close(s);
    close(fd);
    assert_int_equal(tern_stream_read_fd(-1, &s), -EBADF);
}

static void test_timeout_and_cancel(void **state)
{
    (void)state;
    enum tern_record_type type;
    for (int kind = 0; kind < 4; kind++) {
        int fds[2];
        struct tern_stream *r, *w;
        const int cancel = eventfd(kind & 1, 0);
        ok(kind & 2 ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds) : pipe(fds));
        ok(tern_stream_read_fd(fds[0], &r));
        ok(tern_stream_write_fd(fds[1], &w));
        struct tern_stream *both[] = {r, w};
        for (int i = 0; i < 2; i++) {
            tern_stream_timeout(both[i], kind & 1 ? -1 : 1);
            tern_stream_cancel_fd(both[i], cancel);
        }
        assert_int_equal(tern_record_next(r, &type), kind & 1 ? -ECANCELED : -ETIMEDOUT);
        int result = 0;
        for (int i = 0; i < 1000 && !result; i++) { /* until the pipe is full */
            tern_record_begin(w, TERN_RECORD_STATE);
            tern_put_bytes(w, "area", many, sizeof many);
            result = tern_record_end(w);
        }
        assert_int_equal(result, kind & 1 ? -ECANCELED : -ETIMEDOUT);
        tern_stream_close(r);
        tern_stream_close(w);
        close(fds[0]);
        close(fds[1]);
        close(cancel);
    }
}

/** A field that the reader does not accept gives this sentence, also in later calls. */
static void refused(const char *sentence, void (*get)(struct tern_stream *s))
{
    char want[256];
    enum tern_record_type type;
    struct bytes b = sample();
    struct tern_stream *s = stream_reader(b);
    stream_next(s, TERN_RECORD_DEVICE);
    get(s);
    snprintf(want, sizeof want, "migration stream: record 0 (device): %s", sentence);
    assert_int_equal(tern_record_bad(s), -EPROTO);
    assert_string_equal(tern_last_error(), want);
    assert_int_equal(tern_get_u64(s, "engines", 1, 8), 1); /* the lower bound: no more fields are read */
    assert_int_equal(tern_record_next(s, &type), -EPROTO);
    assert_string_equal(tern_last_error(), want);
    tern_stream_close(s);
    free(b.data);
}

static void get_missing(struct tern_stream *s)
{
    assert_int_equal(tern_get_u64(s, "engine", 3, 8), 3);
}

static void get_high(struct tern_stream *s)
{
    assert_int_equal(tern_get_u64(s, "engines", 0, 1), 0);
}

static void get_low(struct tern_stream *s)
{
    assert_int_equal(tern_get_u64(s, "engines", 3, 8), 3);
}

static void get_kind(struct tern_stream *s)
{
    size_t n = 9;
    assert_non_null(tern_get_bytes(s, "name", 100, &n));
    assert_int_equal(n, 0);
}

static void get_long(struct tern_stream *s)
{
    assert_string_equal(tern_get_text(s, "name", 8), "");
}

static void get_refused(struct tern_stream *s)
{
    assert_int_equal(tern_record_refuse(s, "engine %d is taken", 4), -EPROTO);
}

static void test_bounds(void **state)
{
    (void)state;
    refused("field engine is missing", get_missing);
    refused("field engines is 2, at most 1", get_high);
    refused("field engines is 2, at least 3", get_low);
    refused("field name is a text, not bytes", get_kind);
    refused("field name has 9 bytes, at most 8", get_long);
    refused("engine 4 is taken", get_refused);
}

static void test_texts(void **state)
{
    (void)state;
    static const char *const bad[] = {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                      "\xe2\x82", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tern_stream *s = stream_writer();
        tern_record_begin(s, TERN_RECORD_PROCESS);
        tern_put_text(s, "name", bad[i]);
        ok(tern_record_end(s));
        struct bytes b = stream_take(s);
        s = stream_reader(b);
        stream_next(s, TERN_RECORD_PROCESS);
        assert_string_equal(tern_get_text(s, "name", 100), "");
        assert_int_equal(tern_record_bad(s), -EPROTO);
        tern_stream_close(s);
        free(b.data);
    }
}

/** Records of unknown types are skipped if the writer allows it, and refused otherwise. */
static void test_unknown_types(void **state)
{
    (void)state;
    enum tern_record_type type;
    for (int skippable = 0; skippable < 2; skippable++) {
        struct tern_stream *s = stream_writer();
        ok(skippable ? tern_record_begin_skippable(s, 999) : tern_record_begin(s, (enum tern_record_type)999));
        tern_put_u64(s, "future", 1);
        ok(tern_record_end(s));
        write_sample(s);
        ok(tern_stream_end(s));
        struct bytes b = stream_take(s);
        s = stream_reader(b);
        if (skippable) {
            read_to_end(s);
        } else {
            assert_int_equal(tern_record_next(s, &type), -EPROTO);
            assert_string_equal(tern_last_error(), "migration stream: record 0: type 999 is unknown, and the record "
                                                   "may not be left out");
        }
        tern_stream_close(s);
        free(b.data);
    }
}

/** Errors of a writer have codes of their own, and are not reported as a damaged stream. */
static void test_misuse(void **state)
{
    (void)state;
    static const unsigned char large[1 << 20];
    for (int kind = 0; kind < 6; kind++) {
        struct tern_stream *s = stream_writer();
        char name[16];
        int want = -EINVAL;
        if (kind == 0) {
            tern_put_u64(s, "early", 1);
        } else if (kind == 1) {
            assert_int_equal(tern_record_end(s), -EINVAL);
        } else {
            ok(tern_record_begin(s, TERN_RECORD_STATE));
        }
        if (kind == 2) {
            assert_int_equal(tern_record_begin(s, TERN_RECORD_STATE), -EINVAL);
        } else if (kind == 3) {
            tern_put_u64(s, "a_name_that_is_longer_than_forty_characters", 1);
        } else if (kind == 4) {
            for (unsigned i = 0; i <= TERN_RECORD_FIELDS; i++) {
                snprintf(name, sizeof name, "f%u", i);
                tern_put_u64(s, name, i);
            }
        } else if (kind == 5) {
            for (unsigned i = 0; i < 16; i++) {
                snprintf(name, sizeof name, "f%u", i);
                tern_put_bytes(s, name, large, sizeof large);
            }
            want = -EMSGSIZE;
        }
        assert_int_equal(tern_record_end(s), want);
        size_t n;
        tern_stream_memory(s, &n);
        assert_int_equal(n, 0);
        tern_stream_close(s);
    }
}

/** A length that no data follow takes no memory. */
static void test_memory_grows_with_what_comes(void **state)
{
    (void)state;
    int fds[2];
    enum tern_record_type type;
    struct bytes b = sample();
    struct tern_record_head h = {.type = TERN_RECORD_STATE, .length = TERN_RECORD_BYTES};
    unsigned char head[TERN_HEAD_BYTES];
    struct tern_stream *s;
    void *all = malloc(TERN_RECORD_BYTES);
    tern_head_pack(&h, all, head);
    free(all);
    ok(pipe(fds));
    assert_int_equal(write(fds[1], b.data, TERN_HEADER_BYTES), TERN_HEADER_BYTES);
    assert_int_equal(write(fds[1], head, sizeof head), sizeof head);
    assert_int_equal(write(fds[1], head, sizeof head), sizeof head);
    close(fds[1]);
    ok(tern_stream_read_fd(fds[0], &s));
    assert_int_equal(tern_record_next(s, &type), -EIO);
    assert_string_equal(tern_last_error(),
                        "migration stream: record 0 (state): the stream is cut off here, after 104 bytes");
    assert_in_range(s->room, 1, 65536);
    tern_stream_close(s);
    close(fds[0]);
    free(b.data);
}

int main(void)
{
    for (int i = 0; i < MANY; i++) {
        many[i] = (uint64_t)i * 0x9e3779b97f4a7c15u >> (i % 64);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory), cmocka_unit_test(test_pipe_and_socket), cmocka_unit_test(test_file),
        cmocka_unit_test(test_nobody_reads), cmocka_unit_test(test_full_file),
        cmocka_unit_test(test_timeout_and_cancel), cmocka_unit_test(test_bounds), cmocka_unit_test(test_texts),
        cmocka_unit_test(test_unknown_types), cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_memory_grows_with_what_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
