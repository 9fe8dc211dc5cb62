/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The backend of boards at a serial port (docs/board.md).
 *
 *   variable           default       meaning
 *   TERN_UART          /dev/ttyUSB0  serial port
 *   TERN_UART_BAUD     3000000       rate
 *   TERN_UART_TIMEOUT  5             seconds after which a board that does not answer is given up
 *
 * Order. Memory writes are sent and not waited for; every other call waits for its answer. The board executes requests
 * in order, so flush does nothing: memory and doorbells travel on the same line.
 *
 * Interrupts. Each answer contains the state of the interrupt. `wait` polls by reading dev.time_lo, which latches
 * time_hi. A poll between a caller's reads of both halves would spoil them. Therefore a read of time_lo reads both, and
 * a read of time_hi returns the half that was read then.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/polled.h"
#include "hal/uart/frame.h"
#include "hal/uart/hal_uart.h"
#include "hal/uart/port.h"
#include "hal/uart/requests.h"
#include "tern/tern_hw.h"
#include "tern/tern_spec.h"

#define PORT_DEFAULT "/dev/ttyUSB0"
#define BAUD_DEFAULT 3000000u
#define TIMEOUT_DEFAULT_S 5u
#define PAGE_BYTES 4096u
#define LINE_BYTES 64u /* transfers end at lines, so that no aligned value of 8 bytes is in two of them */
#define ADDRESSABLE_BYTES ((uint64_t)1 << 32) /* bytes of memory that addresses of the link can name */
#define POLL_NS_MIN 50000u
#define POLL_NS_MAX 2000000u

struct hal_uart {
    struct tern_hal hal;
    int port;                       /* Descriptor of the serial port. Constant once open. */
    uint64_t bytes;                 /* Size of device memory, in bytes. Constant once open. */
    pthread_mutex_t lock;           /* Taken after the caller's lock (hal.h); `wait` takes it alone. */
    struct tern_requests *requests; /* Requests to the board. Guarded by `lock`. */
    uint32_t time_hi;               /* Value of dev.time_hi, in 2^32 cycles, at the last read. Guarded by `lock`. */
    bool told;                      /* stderr has said why the board was given up. Guarded by `lock`. */
    struct tern_polled polled;      /* Guarded by a lock of its own. */
};

static struct hal_uart *of(struct tern_hal *hal)
{
    return (struct hal_uart *)(void *)hal;
}

/** The error of a lost board. stderr says once why it was given up. Requires h->lock. */
static int given_up(struct hal_uart *h, const char *why)
{
    tern_assert_held(&h->lock);
    if (!h->told) {
        h->told = true;
        fprintf(stderr, "tern: the board is given up: %s\n", why);
    }
    return tern_error(-EIO, "the board is given up: %s", why);
}

/** Turns the result of a request into that of the hal. Requires h->lock. */
static int checked(struct hal_uart *h, int r)
{
    tern_assert_held(&h->lock);
    return r ? given_up(h, tern_requests_why(h->requests)) : 0;
}

/** Reads consecutive registers with one request. Requires h->lock. -EIO also if one of them and the id register read
 *  all ones. */
static int read_registers(struct hal_uart *h, uint32_t offset, uint32_t *value, size_t n)
{
    tern_assert_held(&h->lock);
    uint8_t data[32], id[4];
    bool ones = false;
    int r = tern_requests_read(h->requests, TERN_UART_READ_REGISTERS, offset, data, n * 4);
    if (r == 0) {
        r = tern_requests_wait(h->requests);
    }
    for (size_t i = 0; i < n && !r; i++) {
        value[i] = tern_frame_get32(data + 4 * i);
        ones = ones || value[i] == UINT32_MAX;
    }
    if (!r && ones) {
        r = tern_requests_read(h->requests, TERN_UART_READ_REGISTERS, TERN_REG_DEV_ID, id, sizeof id);
        if (r == 0) {
            r = tern_requests_wait(h->requests);
        }
        if (!r && tern_frame_get32(id) == UINT32_MAX) {
            return given_up(h, "its registers read all ones");
        }
    }
    return checked(h, r);
}

static int uart_read32(struct tern_hal *hal, uint32_t offset, uint32_t *value)
{
    tern_hal_assert_held(hal);
    struct hal_uart *h = of(hal);
    uint32_t v[2] = {0, 0};
    int r = 0;
    pthread_mutex_lock(&h->lock);
    if (offset == TERN_REG_DEV_TIME_HI) {
        v[0] = h->time_hi;
    } else if (offset == TERN_REG_DEV_TIME_LO) {
        r = read_registers(h, offset, v, 2);
        h->time_hi = r ? h->time_hi : v[1];
    } else {
        r = read_registers(h, offset, v, 1);
    }
    pthread_mutex_unlock(&h->lock);
    if (!r) {
        *value = v[0];
    }
    return r;
}

static int uart_write32(struct tern_hal *hal, const struct tern_hal_write *writes, size_t n)
{
    tern_hal_assert_held(hal);
    struct hal_uart *h = of(hal);
    int r = 0;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0, k; i < n && !r; i += k) {
        uint8_t data[128];
        for (k = 0; i + k < n && 4 * k < sizeof data && writes[i + k].offset == writes[i].offset + 4 * k; k++) {
            for (unsigned b = 0; b < 4; b++) {
                data[4 * k + b] = (uint8_t)(writes[i + k].value >> 8 * b);
            }
        }
        r = tern_requests_write(h->requests, TERN_UART_WRITE_REGISTERS, writes[i].offset, data, 4 * k);
    }
    r = checked(h, r ? r : tern_requests_wait(h->requests));
    pthread_mutex_unlock(&h->lock);
    return r;
}

static bool there(const struct hal_uart *h, uint64_t address, size_t size)
{
    return address <= h->bytes && size <= h->bytes - address;
}

/** Size of the request that begins at `address`. All but the last one end at the end of a line. */
static size_t part(uint64_t address, size_t size)
{
    const size_t most = TERN_UART_LIMIT - (size_t)(address % LINE_BYTES);
    return size < most ? size : most;
}

static int uart_mem_read(struct tern_hal *hal, uint64_t address, void *data, size_t size)
{
    tern_hal_assert_held(hal);
    struct hal_uart *h = of(hal);
    int r = 0;
    if (!there(h, address, size)) {
        return -EFAULT;
    }
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < size && !r;) {
        const size_t n = part(address + i, size - i);
        r = tern_requests_read(h->requests, TERN_UART_READ_MEMORY, (uint32_t)(address + i), (uint8_t *)data + i, n);
        i += n;
    }
    r = checked(h, r ? r : tern_requests_wait(h->requests));
    pthread_mutex_unlock(&h->lock);
    return r;
}

/** Bytes for consecutive addresses that have not been sent yet. Small pieces are gathered into one request. */
struct gathered {
    uint64_t address;
    size_t size;
    uint8_t bytes[TERN_UART_LIMIT];
};

/** Sends the gathered bytes, if there are any. Requires h->lock. */
static int send_gathered(struct hal_uart *h, struct gathered *g)
{
    tern_assert_held(&h->lock);
    const size_t n = g->size;
    g->size = 0;
    return n ? tern_requests_write(h->requests, TERN_UART_WRITE_MEMORY, (uint32_t)g->address, g->bytes, n) : 0;
}

/** Gathers bytes, and sends what fills a request. Requires h->lock. */
static int gather(struct hal_uart *h, struct gathered *g, uint64_t address, const uint8_t *data, size_t size)
{
    tern_assert_held(&h->lock);
    int r = g->size && g->address + g->size != address ? send_gathered(h, g) : 0;
    while (size && !r) {
        g->address = g->size ? g->address : address;
        const size_t room = part(g->address, TERN_UART_LIMIT) - g->size, n = size < room ? size : room;
        memcpy(g->bytes + g->size, data, n);
        g->size += n;
        address += n;
        data += n;
        size -= n;
        r = n == room ? send_gathered(h, g) : 0;
    }
    return r;
}

static int uart_mem_write(struct tern_hal *hal, const struct tern_iovec *pieces, size_t n)
{
    tern_hal_assert_held(hal);
    struct hal_uart *h = of(hal);
    struct gathered g = {.size = 0};
    bool all = true;
    int r = 0;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < n && !r && all; i++) {
        all = there(h, pieces[i].address, pieces[i].size);
        r = all ? gather(h, &g, pieces[i].address, pieces[i].data, pieces[i].size) : 0;
    }
    r = checked(h, r ? r : send_gathered(h, &g));
    pthread_mutex_unlock(&h->lock);
    return r || all ? r : -EFAULT;
}

static int uart_flush(struct tern_hal *hal)
{
    tern_hal_assert_held(hal);
    (void)hal; /* the line keeps the order */
    return 0;
}

static int look(void *user, bool timed, uint32_t *now)
{
    struct hal_uart *h = user;
    (void)timed; /* every answer contains the interrupt, so one read gives both */
    pthread_mutex_lock(&h->lock);
    const int r = read_registers(h, TERN_REG_DEV_TIME_LO, now, 1);
    const bool raised = !r && tern_requests_interrupt(h->requests);
    pthread_mutex_unlock(&h->lock);
    return r ? r : raised;
}

static int uart_wait(struct tern_hal *hal, uint64_t cycles)
{
    tern_hal_assert_waits(hal);
    struct hal_uart *h = of(hal);
    return tern_polled_wait(&h->polled, cycles, POLL_NS_MIN, POLL_NS_MAX, look, h);
}

static void uart_wake(struct tern_hal *hal)
{
    tern_polled_wake(&of(hal)->polled);
}

static void uart_close(struct tern_hal *hal)
{
    struct hal_uart *h = of(hal);
    tern_requests_close(h->requests);
    if (h->port >= 0) {
        tern_port_close(h->port);
    }
    tern_polled_end(&h->polled);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static const struct tern_hal_ops ops = {.read32 = uart_read32, .write32 = uart_write32, .mem_read = uart_mem_read,
                                        .mem_write = uart_mem_write, .flush = uart_flush, .wait = uart_wait,
                                        .wake = uart_wake, .close = uart_close};

/** Sets the size of device memory. A device with another interface is accepted here: the probe refuses it with a
 *  sentence that says what it is. */
static int memory(struct hal_uart *h, const struct tern_config *config)
{
    uint32_t id[3] = {0}, pages = 0;
    pthread_mutex_lock(&h->lock);
    int r = read_registers(h, TERN_REG_DEV_ID, id, 3);
    if (r == 0) {
        r = read_registers(h, TERN_REG_DEV_MEM_PAGES, &pages, 1);
    }
    pthread_mutex_unlock(&h->lock);
    if (r || id[2] != TERN_SPEC_HASH) {
        return r;
    }
    const uint64_t bytes = (uint64_t)pages * PAGE_BYTES;
    if (!bytes || bytes > ADDRESSABLE_BYTES) {
        return tern_error(-EPROTO, "the device says that it has %" PRIu64 " bytes of memory, and the link reaches %"
                          PRIu64, bytes, ADDRESSABLE_BYTES);
    }
    if (config->mem_bytes && config->mem_bytes != bytes) {
        return tern_error(-EINVAL, "configuration key 'mem': the device has %" PRIu64 " bytes, as its board was built: "
                          "leave the key out", bytes);
    }
    h->bytes = bytes;
    return 0;
}

static int open_board(struct hal_uart *h, const struct tern_config *config)
{
    const char *path = secure_getenv("TERN_UART");
    uint64_t baud = BAUD_DEFAULT, seconds = TIMEOUT_DEFAULT_S;
    int r = tern_polled_config(config, "board");
    if (r == 0) {
        r = tern_key_environment("TERN_UART_BAUD", NULL, false, 1, UINT32_MAX, &baud);
    }
    if (r == 0) {
        r = tern_key_environment("TERN_UART_TIMEOUT", "seconds", false, 1, 3600, &seconds);
    }
    if (r == 0) {
        r = tern_port_open(path && *path ? path : PORT_DEFAULT, (uint32_t)baud, &h->port);
    }
    if (r == 0) {
        r = tern_requests_open(h->port, (int64_t)seconds * 1000, &h->requests);
    }
    if (r) {
        return r;
    }
    h->hal.slow = tern_requests_simulated(h->requests);
    return memory(h, config);
}

static int open_uart(const struct tern_config *config, struct tern_hal **out)
{
    struct hal_uart *h = calloc(1, sizeof *h);
    if (!h) {
        return tern_error_memory("a board");
    }
    pthread_mutex_init(&h->lock, NULL);
    tern_polled_begin(&h->polled);
    h->port = -1;
    h->hal.ops = &ops;
    h->hal.concurrent = true;
    const int r = open_board(h, config);
    if (r) {
        uart_close(&h->hal);
        return r;
    }
    *out = &h->hal;
    return 0;
}

const struct tern_hal_backend tern_hal_uart = {"uart", open_uart};
