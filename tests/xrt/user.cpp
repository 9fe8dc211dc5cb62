/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program that uses XRT without Tern's driver: it opens Tern's card, loads the xclbin, reads registers, and copies
 * buffers and parts of them.
 *
 * usage: xrt_user XCLBIN MEMORY-BYTES
 *
 * Exit 1, with a sentence, at the first error. The program uses XRT's native API only (XRT 2.13, "XRT Native APIs").
 */
#include <experimental/xrt_ip.h>
#include <experimental/xrt_xclbin.h>
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "user.h"

namespace {

constexpr size_t PAGE = 4096, REGISTERS = 16384; /* bytes */
constexpr uint32_t ID = 0x5445524e;              /* "TERN" */
const struct user_registers &reg = user_registers;

void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "not so: %s\n", what);
        exit(1);
    }
}

/** Checks that f is refused by an exception with a text. */
template <class F> void refused(const char *what, F f)
{
    try {
        f();
    } catch (const std::exception &e) {
        must(*e.what() != '\0', what);
        return;
    }
    must(false, what);
}

/** The queries of `xbutil examine` that the emulation answers. Debian has no xbutil: its package is a script for a
 *  program that it does not contain. */
void queries(const xrt::device &device, const xrt::xclbin &xclbin)
{
    must(!device.get_info<xrt::info::device::name>().empty(), "the device has a name");
    must(!device.get_info<xrt::info::device::bdf>().empty(), "the device has an address");
    must(!device.get_info<xrt::info::device::nodma>(), "memory is reached by DMA");
    must(device.get_info<xrt::info::device::host>().find("\"version\"") != std::string::npos, "XRT's version is known");
    must(device.get_xclbin_uuid() == xclbin.get_uuid(), "what is loaded is what was given");
    std::string id = xclbin.get_uuid().to_string();
    for (auto &c : id) {
        c = static_cast<char>(toupper(c));
    }
    must(device.get_info<xrt::info::device::dynamic_regions>().find(id) != std::string::npos, "and so listed");
}

/** Checks the contents of the xclbin: a kernel, its registers and its memory. */
xrt::xclbin::mem contents(const xrt::xclbin &xclbin, uint64_t bytes)
{
    const auto kernels = xclbin.get_kernels();
    must(kernels.size() == 1 && kernels[0].get_name() == "tern_kernel", "one kernel, tern_kernel");
    const auto ips = xclbin.get_ips();
    must(ips.size() == 1 && ips[0].get_name() == "tern_kernel:tern_kernel_1", "one instance of it");
    must(ips[0].get_control_type() == xrt::xclbin::ip::control_type::none, "its user manages it");
    must(ips[0].get_size() == REGISTERS, "all of its registers are within reach");
    const auto mems = xclbin.get_mems();
    must(mems.size() == 1 && mems[0].get_used() && mems[0].get_size_kb() * 1024 == bytes, "one bank, of this size");
    return mems[0];
}

void registers(const xrt::device &device, const xrt::uuid &loaded, uint64_t bytes)
{
    xrt::ip ip(device, loaded, "tern_kernel");
    must(ip.read_register(reg.id) == ID, "dev.id");
    must(ip.read_register(reg.hash) == reg.is_hash, "dev.spec_hash");
    must(uint64_t{ip.read_register(reg.mem_pages)} * PAGE == bytes, "dev.mem_pages");
    for (const uint32_t v : {0x1u, 0x0u}) {
        ip.write_register(reg.irq_enable, v);
        must(ip.read_register(reg.irq_enable) == v, "dev.irq_enable is what was written");
    }
    const uint32_t begin = ip.read_register(reg.time_lo);
    must(ip.read_register(reg.time_lo) - begin - 1 < 1u << 30, "time passes");
    refused("a register beyond the last one", [&] { ip.read_register(1u << 20); });
    refused("a kernel that there is not", [&] { xrt::ip(device, loaded, "other_kernel"); });
}

void fill(uint8_t *to, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = static_cast<uint8_t>(seed >> 24);
    }
}

/** Copies a whole buffer, parts of it at any offsets, and a part as a buffer of its own. */
void buffers(const xrt::device &device, const xrt::xclbin::mem &bank)
{
    constexpr size_t n = (1u << 20) + 3 * PAGE; /* more than the emulation copies at once */
    const auto group = static_cast<uint32_t>(bank.get_index());
    xrt::bo a(device, n, xrt::bo::flags::normal, group), b(device, PAGE, xrt::bo::flags::normal, group);
    const uint64_t base = bank.get_base_address(), end = base + bank.get_size_kb() * 1024;
    must(a.size() == n && a.address() >= base && a.address() + n <= end, "a buffer lies in its bank");
    must(b.address() >= a.address() + n || b.address() + PAGE <= a.address(), "two buffers lie apart");

    auto *map = a.map<uint8_t *>(), *other = b.map<uint8_t *>();
    std::vector<uint8_t> want(n), two(PAGE);
    fill(want.data(), n, 1);
    fill(two.data(), PAGE, 2);
    memcpy(map, want.data(), n);
    memcpy(other, two.data(), PAGE);
    a.sync(XCL_BO_SYNC_BO_TO_DEVICE);
    b.sync(XCL_BO_SYNC_BO_TO_DEVICE);
    memset(map, 0, n);
    memset(other, 0, PAGE);
    a.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
    b.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
    must(!memcmp(map, want.data(), n), "what comes back is what went");
    must(!memcmp(other, two.data(), PAGE), "also of a second buffer");

    for (const auto &[at, size] : {std::pair<size_t, size_t>{4096, 8192}, {1, 1}, {65535, 65538}, {n - 5, 5}}) {
        memset(map, 0x11, n);
        fill(map + at, size, static_cast<uint32_t>(at));
        memcpy(want.data() + at, map + at, size);
        a.sync(XCL_BO_SYNC_BO_TO_DEVICE, size, at); /* and no other bytes */
        a.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
        must(!memcmp(map, want.data(), n), "a part has gone");
        memset(map, 0, n);
        a.sync(XCL_BO_SYNC_BO_FROM_DEVICE, size, at);
        must(!memcmp(map + at, want.data() + at, size), "a part has come");
        must((!at || !map[at - 1]) && (at + size == n || !map[at + size]), "and nothing beside it");
    }

    xrt::bo part(a, 2 * PAGE, PAGE);
    must(part.address() == a.address() + PAGE && part.size() == 2 * PAGE, "a part of a buffer lies in it");
    std::vector<uint8_t> got(2 * PAGE);
    fill(got.data(), PAGE, 3);
    part.write(got.data(), PAGE, 0);
    part.sync(XCL_BO_SYNC_BO_TO_DEVICE, PAGE, 0);
    memcpy(want.data() + PAGE, got.data(), PAGE);
    a.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
    a.read(map, n, 0);
    must(!memcmp(map, want.data(), n), "what is written to the part is in the buffer");
    refused("more memory than the bank has",
            [&] { xrt::bo(device, end - base + PAGE, xrt::bo::flags::normal, group).map(); });
}

} // namespace

int main(int argc, char **argv)
{
    must(argc == 3, "usage: xrt_user XCLBIN MEMORY-BYTES");
    try {
        const uint64_t bytes = strtoull(argv[2], nullptr, 0);
        const xrt::xclbin xclbin{std::string(argv[1])};
        const auto bank = contents(xclbin, bytes);
        xrt::device device(0);
        const auto loaded = device.load_xclbin(xclbin);
        must(loaded == xclbin.get_uuid(), "what is loaded has the file's name");
        queries(device, xclbin);
        registers(device, loaded, bytes);
        buffers(device, bank);
    } catch (const std::exception &e) {
        fprintf(stderr, "XRT says: %s\n", e.what());
        return 1;
    }
    puts("all so");
    return 0;
}
