/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/uart/port.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.h"

static const struct {
    uint32_t baud;
    speed_t code;
} rates[] = {{115200, B115200}, {230400, B230400}, {460800, B460800}, {921600, B921600},
             {1000000, B1000000}, {1500000, B1500000}, {2000000, B2000000}, {3000000, B3000000}};

static int refused(const char *path)
{
    const int e = errno;
    switch (e) {
    case ENOENT:
    case ENXIO:
    case ENODEV:
        return tern_error(-ENOENT, "there is no serial port '%s': connect the board, and set TERN_UART to its port",
                          path);
    case EACCES:
    case EPERM:
        return tern_error(-EACCES, "the serial port '%s' may not be opened by this user: it needs the group that owns "
                          "the port (often dialout)", path);
    case EBUSY:
    case EWOULDBLOCK:
        return tern_error(-EBUSY, "another program has the serial port '%s': share a board by ternd", path);
    default:
        return tern_error(-EIO, "the serial port '%s' cannot be opened: %s", path, strerror(e));
    }
}

int tern_port_open(const char *path, uint32_t baud, int *out)
{
    struct termios t;
    size_t i = 0;
    while (i < sizeof rates / sizeof *rates && rates[i].baud != baud) {
        i++;
    }
    if (i == sizeof rates / sizeof *rates) {
        return tern_error(-EINVAL, "TERN_UART_BAUD: %u is none of 115200, 230400, 460800, 921600, 1000000, 1500000, "
                          "2000000 and 3000000", baud);
    }
    const int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return refused(path);
    }
    int r = 0;
    bool own = false;
    if (!isatty(fd)) {
        r = tern_error(-ENOTTY, "TERN_UART: '%s' is no serial port", path);
    } else if (flock(fd, LOCK_EX | LOCK_NB)) { /* TIOCEXCL does not keep out privileged programs; this does, of Tern */
        r = refused(path);
    } else if (own = true, ioctl(fd, TIOCEXCL) || tcgetattr(fd, &t)) {
        r = refused(path);
    } else {
        cfmakeraw(&t);
        t.c_cflag |= CLOCAL | CREAD;
        t.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
        t.c_cc[VMIN] = 0;
        t.c_cc[VTIME] = 0;
        if (cfsetispeed(&t, rates[i].code) || cfsetospeed(&t, rates[i].code) || tcsetattr(fd, TCSANOW, &t)) {
            r = tern_error(-EINVAL, "the serial port '%s' cannot be set to %u baud: %s", path, baud, strerror(errno));
        } else {
            tcflush(fd, TCIOFLUSH);
        }
    }
    if (r && own) {
        tern_port_close(fd);
    } else if (r) {
        close(fd);
    } else {
        *out = fd;
    }
    return r;
}

void tern_port_close(int fd)
{
    ioctl(fd, TIOCNXCL);
    close(fd);
}
