/* SPDX-License-Identifier: Apache-2.0 */
/** The functions of tern_xrt.h, by XRT's native API. Exceptions become an errno and a sentence. */
#include "tern_xrt.h"

#include <experimental/xrt_ip.h>
#include <experimental/xrt_xclbin.h>
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <unistd.h>

struct tern_xrt {
    xrt::device device;
    xrt::ip ip;
    std::optional<xrt::ip::interrupt> irq;
    xrt::bo memory; /* after device and ip: members are destroyed in reverse order, and it is to be the first */
    uint32_t group = 0;
};

namespace {

int told(int code, char *why, const std::string &what)
{
    snprintf(why, TERN_XRT_WHY, "%s", what.c_str());
    return code;
}

/** Calls f. After an exception it returns the errno of the exception, or `code` if it has none, and the sentence is
 *  `what` followed by XRT's words. */
template <class F> int tried(int code, char *why, const std::string &what, F f)
{
    try {
        f();
        return 0;
    } catch (const std::system_error &e) {
        const int n = e.code().value();
        return told(n > 0 && n < 4096 ? -n : code, why, what + ": " + e.what());
    } catch (const std::exception &e) {
        return told(code, why, what + ": " + e.what());
    }
}

/** Finds the kernel's instance, named NAME:INSTANCE, and the bank of its first memory argument. */
int find_kernel(const xrt::xclbin &xclbin, std::string &name, tern_xrt_bank &bank, char *why)
{
    const std::string kernel = std::string(TERN_XRT_KERNEL) + ":";
    for (const auto &ip : xclbin.get_ips()) {
        if (ip.get_name().rfind(kernel, 0) != 0) {
            continue;
        }
        name = ip.get_name();
        for (const auto &arg : ip.get_args()) {
            for (const auto &mem : arg.get_mems()) {
                bank = {mem.get_base_address(), mem.get_size_kb() * 1024, static_cast<uint32_t>(mem.get_index())};
                return 0;
            }
        }
        return told(-EPROTO, why, "the xclbin connects the kernel " + name + " to no memory");
    }
    return told(-EPROTO, why, "the xclbin has no kernel " TERN_XRT_KERNEL ": it is the xclbin of something else");
}

int open_card(const char *device, const char *file, tern_xrt **out, tern_xrt_bank *bank, char *why)
{
    auto x = std::make_unique<tern_xrt>();
    xrt::xclbin xclbin;
    std::string name;
    if (access(file, R_OK)) {
        return told(-errno, why, std::string("the xclbin '") + file + "' cannot be read");
    }
    int r = tried(-EPROTO, why, std::string("'") + file + "' is no xclbin", [&] { xclbin = xrt::xclbin(file); });
    if (!r) {
        r = tried(-EPROTO, why, "the xclbin cannot be understood", [&] {
            const int found = find_kernel(xclbin, name, *bank, why);
            if (found) {
                throw std::system_error(-found, std::generic_category(), why);
            }
        });
    }
    if (!r) {
        r = tried(-ENODEV, why, std::string("there is no card '") + device + "'", [&] {
            x->device = xrt::device(std::string(device));
        });
        r = r ? -ENODEV : 0;
    }
    if (!r) {
        r = tried(-EPROTO, why, std::string("the card does not take the xclbin '") + file + "'",
                  [&] { x->device.load_xclbin(xclbin); });
    }
    if (!r) {
        r = tried(-EBUSY, why, "the kernel " + name + " cannot be had alone",
                  [&] { x->ip = xrt::ip(x->device, xclbin.get_uuid(), TERN_XRT_KERNEL); });
    }
    if (!r) {
        x->group = bank->group;
        *out = x.release();
    }
    return r;
}

int read32(tern_xrt *x, uint32_t offset, uint32_t *value, char *why)
{
    return tried(-EIO, why, "a register cannot be read", [&] { *value = x->ip.read_register(offset); });
}

int write32(tern_xrt *x, uint32_t offset, uint32_t value, char *why)
{
    return tried(-EIO, why, "a register cannot be written", [&] { x->ip.write_register(offset, value); });
}

int memory(tern_xrt *x, uint64_t bytes, uint64_t *address, void **map, char *why)
{
    return tried(-ENOMEM, why, "XRT gives no buffer of " + std::to_string(bytes) + " bytes of the card's memory", [&] {
        x->memory = xrt::bo(x->device, bytes, xrt::bo::flags::normal, x->group);
        *address = x->memory.address();
        *map = x->memory.map();
    });
}

int sync(tern_xrt *x, bool to_device, uint64_t offset, uint64_t bytes, char *why)
{
    return tried(-EIO, why, "the card's memory cannot be reached", [&] {
        x->memory.sync(to_device ? XCL_BO_SYNC_BO_TO_DEVICE : XCL_BO_SYNC_BO_FROM_DEVICE, bytes, offset);
    });
}

/** Waits for the interrupt. XRT's driver disables the interrupt when it arrives; a wait without a time enables it. */
int interrupt(tern_xrt *x, uint32_t ms, char *why)
{
    bool come = false;
    if (!x->irq) {
        const int r = tried(-ENOTSUP, why, "the kernel has no interrupt",
                            [&] { x->irq = x->ip.create_interrupt_notify(); });
        if (r) {
            return -ENOTSUP;
        }
    }
    const int r = tried(-EIO, why, "the interrupt cannot be waited for", [&] {
        come = x->irq->wait(std::chrono::milliseconds(ms)) == std::cv_status::no_timeout;
        if (come) {
            x->irq->wait();
        }
    });
    return r ? r : come;
}

void close_card(tern_xrt *x)
{
    try {
        delete x;
    } catch (...) { /* nothing can be done about an error at the end */
    }
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct tern_xrt_api tern_xrt_api;
const struct tern_xrt_api tern_xrt_api = {TERN_XRT_API_VERSION, open_card, read32, write32, memory, sync,
                                         interrupt, close_card};
