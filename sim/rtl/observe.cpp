// SPDX-License-Identifier: Apache-2.0
// The observer of observe.h. The build writes signals.inc, which lists ENGINE(number, path) and LANE(engine, lane,
// registers), because Verilator's names of instances depend on the geometry.
#include "observe.h"

#include <cstring>
#include <deque>

#include "Vtern_top.h"
#include "Vtern_top___024root.h"

namespace {

constexpr unsigned engine_count = 2, warp_count = 32, lane_count = 32, registers = 32;
constexpr uint32_t executor_checks = 1;  // simt_executor.state_q: a dispatch begins

/** A register or memory of the design, of any type that Verilator gives it. */
class signal {
public:
    signal() = default;
    template <typename T>
    explicit signal(const T &t) : at_(reinterpret_cast<const uint8_t *>(&t)), bytes_(sizeof t)
    {
    }
    template <typename T, size_t N>
    explicit signal(const VlUnpacked<T, N> &t) : at_(reinterpret_cast<const uint8_t *>(&t[0])), bytes_(sizeof(T)),
    elements_(N)
    {
    }
    /** Returns word `word` of element `index`. */
    uint32_t get(size_t index = 0, size_t word = 0) const
    {
        uint32_t v = 0;
        std::memcpy(&v, at_ + index * bytes_ + word * 4, bytes_ < 4 ? bytes_ : 4);
        return v;
    }
    size_t elements() const { return elements_; }

private:
    const uint8_t *at_ = nullptr;
    size_t bytes_ = 0, elements_ = 1;
};

/** Returns whether the instruction writes the register in its rd field. */
bool writes(uint32_t word)
{
    switch (word & 0x7f) {
    case 0x0b:  // barrier, exit
    case 0x0f:  // fence
    case 0x23:  // store
    case 0x63:  // branch
        return false;
    default:
        return (word >> 7 & 31) != 0;
    }
}

}  // namespace

struct observer::warp {
    struct pending {
        tern_sim_retired what;
        bool done;
    };
    std::deque<pending> queue;
};

struct observer::engine {
    signal executor, r_instr, x_valid, x_warp, x_pc, x_mask, freed, freed_warp, freed_rd, group, member, generation;
    signal lane[lane_count];
    uint32_t number = 0, r_word = 0;
    warp warps[warp_count];

    void issued(uint64_t now)
    {
        const uint32_t w = x_warp.get();
        const size_t entry = w + (generation.get() >> w & 1 ? member.elements() / 2 : 0);  // in simt_groups
        tern_sim_retired r = {};
        r.time = now;
        r.engine = number;
        for (unsigned d = 0; d < 3; d++) {
            r.group[d] = group.get(entry, d);
        }
        r.warp = member.get(entry);
        r.pc = x_pc.get();
        r.word = r_word;
        r.mask = x_mask.get();
        r.rd = writes(r_word) ? r_word >> 7 & 31 : 0;
        warps[w].queue.push_back({r, r.rd == 0});
    }

    void written(uint32_t w, uint32_t rd)
    {
        for (warp::pending &p : warps[w].queue) {
            if (!p.done && p.what.rd == rd) {
                for (uint32_t m = p.what.mask; m; m &= m - 1) {
                    const int l = __builtin_ctz(m);
                    p.what.value[l] = lane[l].get(w * registers + rd);
                }
                p.done = true;
                return;
            }
        }
    }
};

observer::observer(const Vtern_top &top, tern_sim_observer f, void *user) : engines_(new engine[engine_count]), f_(f),
    user_(user)
{
    [[maybe_unused]] const Vtern_top___024root &root = *top.rootp;  // without a SIMT executor nothing is listed
#define ENGINE(n, path)                                                             \
    {                                                                               \
        engine &e = engines_[n];                                                    \
        e.number = n;                                                               \
        e.executor = signal(root.path##__DOT__state_q);                             \
        e.group = signal(root.path##__DOT__u_groups__DOT__group_q);                 \
        e.member = signal(root.path##__DOT__u_groups__DOT__member_q);               \
        e.generation = signal(root.path##__DOT__u_groups__DOT__gen_q);              \
        e.r_instr = signal(root.path##__DOT__u_core__DOT__r_instr_q);               \
        e.x_valid = signal(root.path##__DOT__u_core__DOT__x_valid_q);               \
        e.x_warp = signal(root.path##__DOT__u_core__DOT__x_warp_q);                 \
        e.x_pc = signal(root.path##__DOT__u_core__DOT__x_pc_q);                     \
        e.x_mask = signal(root.path##__DOT__u_core__DOT__x_mask_q);                 \
        e.freed = signal(root.path##__DOT__u_core__DOT__u_scoreboard__DOT__clear_q); \
        e.freed_warp = signal(root.path##__DOT__u_core__DOT__u_scoreboard__DOT__clear_warp_q); \
        e.freed_rd = signal(root.path##__DOT__u_core__DOT__u_scoreboard__DOT__clear_rd_q); \
    }
#define LANE(n, l, name) engines_[n].lane[l] = signal(root.name);
#include "signals.inc"
}

observer::~observer() = default;

void observer::clock(uint64_t now)
{
    for (unsigned n = 0; n < engine_count; n++) {
        engine &e = engines_[n];
        if (e.executor.get() == executor_checks) {
            for (warp &w : e.warps) {
                w.queue.clear();  // drop what a faulted dispatch or a reset has left
            }
        }
        if (e.freed.get()) {
            const uint32_t w = e.freed_warp.get();
            e.written(w, e.freed_rd.get());
            for (auto &q = e.warps[w].queue; !q.empty() && q.front().done; q.pop_front()) {
                f_(user_, &q.front().what);
            }
        }
        if (e.x_valid.get()) {
            e.issued(now);
            auto &q = e.warps[e.x_warp.get()].queue;
            if (q.size() == 1 && q.front().done) {
                f_(user_, &q.front().what);
                q.pop_front();
            }
        }
        e.r_word = e.r_instr.get();
    }
}
