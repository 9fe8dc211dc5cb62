# SPDX-License-Identifier: Apache-2.0
"""User executors (docs/spec/executors/*.yaml): checked, and as C, RTL and reference page. Keys: docs/executors.md."""
import re
import string
import textwrap

import yaml

from spec_model import NAME, Item, SpecError, _compose, _int, _name

WORDS = 16      # Words of the payload, and of the state.
MOST = 16
SCALARS = {"int": 1, "uint": 1, "float": 1, "long": 2, "ulong": 2, "double": 2}
ELEMENTS = ["char", "uchar", "short", "ushort", "half", *SCALARS]
POINTER = re.compile(rf"^(const )?((?:{'|'.join(ELEMENTS)})(?:2|3|4|8|16)?)\*$")
SOURCES = ["global_x", "global_y", "global_z", "offset_x", "offset_y", "offset_z"]
KEYS = ["id", "name", "version", "doc", "arguments", "range", "state"]  # The key `example` may be absent.
NAME_MOST = 24  # Longer names exceed the line length of docs/executors.
EXECUTORS = ["simt", "mover"]  # Every device has these executors.


def name_problem(name, packets):
    """Returns why no executor can have this name, or None."""
    if not NAME.match(name) or len(name) > NAME_MOST or not isinstance(yaml.safe_load(name), str):
        return (f"'{name}' is no name: it is a lower-case letter, then up to {NAME_MOST - 1} of these, digits and _, "
                "and no word of YAML such as true")
    if name in packets or name in EXECUTORS:
        return f"'{name}' is the name of a packet or an executor that every device has; choose another one"
    if name == "executors":  # This name is taken by rtl/gen/user_executors.sv.
        return "'executors' is the name of what holds them all; choose another one"
    return None


def _items(top, key, required, optional=()):
    node = top.node(key)
    if not isinstance(top.get(key), list):
        raise SpecError(node, f"{top.name}: {key} must be a list")
    return [Item(n, {*required, *optional}, required, f"{top.name} {key}") for n in node.value]


def _claim(item, words, used, what):
    """Assigns an item its words, which no other item may have."""
    _int(item, "word", 0, WORDS - words, what)
    item.words_ = words
    for w in range(item.word, item.word + words):
        if w in used:
            raise SpecError(item.node("word"), f"{what}: word {w} already belongs to {used[w]}")
        used[w] = item.name


def _load(path, packets):
    x = Item(_compose(path), {*KEYS, "example"}, KEYS, path.name)
    if problem := name_problem(str(x.name), packets):
        raise SpecError(x.node("name"), f"executor: {problem}")
    if x.name != path.stem:
        raise SpecError(x.node("name"), f"{x.name}: the file is to be called {x.name}.yaml")
    _int(x, "id", 0, MOST - 1, x.name)
    x.example_ = x.get("example")
    if x.example_ is not None and not isinstance(x.example_, bool):
        raise SpecError(x.node("example"), f"{x.name}: example must be true or false, not '{x.example_}'")
    if not re.match(r"^\d{1,3}\.\d{1,3}\.\d{1,3}$", str(x.version)):
        raise SpecError(x.node("version"), f"{x.name}: version must be major.minor.patch, not '{x.version}'")
    x.version_ = [int(n) for n in x.version.split(".")]
    names, used = set(), {}
    x.args = _items(x, "arguments", ["name", "type", "word", "doc"])
    for a in x.args:
        _name(a, names, f"{x.name} argument")
        pointer = POINTER.match(str(a.type))
        if not pointer and a.type not in SCALARS:
            raise SpecError(a.node("type"), f"{x.name}.{a.name}: type must be {', '.join(SCALARS)}, or a pointer to "
                            f"elements such as \"const float*\", not '{a.type}'")
        a.pointer, a.constant = bool(pointer), bool(pointer and pointer[1])
        a.plain = f"{pointer[2]}*" if pointer else a.type
        _claim(a, 1 if pointer else SCALARS[a.type], used, f"{x.name}.{a.name}")
    x.ranges, sources = _items(x, "range", ["name", "word", "from", "doc"], ["max"]), set()
    for r in x.ranges:
        _name(r, names, f"{x.name} range")
        r.source = r.get("from")
        if r.source not in SOURCES or r.source in sources:
            raise SpecError(r.node("from"), f"{x.name}.{r.name}: from must be one of {', '.join(SOURCES)}, each once")
        sources.add(r.source)
        r.most = _int(r, "max", 1, 2**32 - 1, f"{x.name}.{r.name}") if r.get("max") is not None else 2**32 - 1
        _claim(r, 1, used, f"{x.name}.{r.name}")
    if "global_x" not in sources:
        raise SpecError(x.node("range"), f"{x.name}: range must have an entry with from: global_x")
    x.state_, used = _items(x, "state", ["name", "word", "doc"]), {}
    names = set()
    for s in x.state_:
        _name(s, names, f"{x.name} state")
        _claim(s, 1, used, f"{x.name}.{s.name}")
    return x


def _macros(executors):
    """Checks that no two macros are equal, which may happen since names are joined with _. Two equal macros are an
    error at the second."""
    of = {}
    for x in executors:
        for item, name in [(i, i.name) for i in x.args + x.ranges] + [(i, f"state_{i.name}") for i in x.state_]:
            macro = f"{x.name}_{name}".upper()
            if macro in of:
                raise SpecError(item.node("name"), f"{x.name}.{item.name}: TERN_USER_{macro} is already that of "
                                f"{of[macro]}; choose another name")
            of[macro] = f"{x.name}.{item.name}"


def load(directory, packets):
    out = sorted((_load(p, packets) for p in directory.glob("*.yaml")), key=lambda x: x.id)
    if not out:
        raise SystemExit(f"specgen: {directory}: no executor is described; run it from a complete checkout")
    for i, x in enumerate(out):
        if x.id != i:
            raise SpecError(x.node("id"), f"{x.name}: ids must be 0 to {len(out) - 1}, each once; {i} is missing")
        if i and out[i - 1].example_ and not x.example_:
            raise SpecError(x.node("id"), f"{x.name}: its id must be lower than that of {out[i - 1].name}, which is an "
                            "example: a device without examples has the first ids")
    _macros(out)
    return out


def _dims(x):
    return 1 + max("xyz".index(r.source[-1]) for r in x.ranges if r.source.startswith("global"))


def _limits(x, kind, default):
    by = {r.source: r.most for r in x.ranges}
    return [by.get(f"{kind}_{d}", default) for d in "xyz"]


# ------------------------------------------------------------------------ C

def c_public(s):
    o = ["\n/* User executors, which packet user_call runs. Numbers of words: in its payload, and in the state. */",
         f"#define TERN_EXECUTORS {len(s.executors)}u",
         "/** Of these the last ones are examples, which not every device has. */",
         f"#define TERN_EXECUTOR_EXAMPLES {sum(bool(x.example_) for x in s.executors)}u",
         "/** X(id, name) for each. */",
         "#define TERN_EXECUTOR_LIST(X) " + " ".join(f"X({x.id}, {x.name})" for x in s.executors)]
    for x in s.executors:
        o.append("#define " + f"TERN_EXECUTOR_ID_{x.name}".upper() + f" {x.id}u")
        for i in x.args + x.ranges:
            o.append("#define " + f"TERN_USER_{x.name}_{i.name}".upper() + f" {i.word}u")
        for i in x.state_:
            o.append("#define " + f"TERN_USER_{x.name}_STATE_{i.name}".upper() + f" {i.word}u")
    o.append("""
struct tern_executor_arg {
    const char *name, *type; /**< type: as OpenCL gives it, "float*": without qualifiers. */
    uint8_t word, words;     /**< Place in the payload. Of a pointer: its address. */
    uint8_t pointer;         /**< To global memory. */
    uint8_t constant;        /**< The executor only reads the memory of this pointer. */
};

/** A word of the payload that the NDRange gives. */
struct tern_executor_range {
    uint8_t word;
    uint8_t offset; /**< 1: the global offset, 0: the global size. */
    uint8_t dim;    /**< 0 to 2. */
    uint32_t max;
};

struct tern_executor {
    const char *name;        /**< Also of the built-in kernel. */
    uint32_t version;        /**< major << 22 | minor << 12 | patch: CL_MAKE_VERSION. */
    uint32_t dims;           /**< Dimensions of its NDRange, at most. */
    uint32_t n_args, n_ranges;
    const struct tern_executor_arg *args;
    const struct tern_executor_range *ranges;
    uint32_t global_max[3], offset_max[3];
    uint32_t state_words;    /**< Bit w: word w of the line of state means something; the others are zero. */
};

/** The executor of this id, or NULL if there is none. */
const struct tern_executor *tern_executor_find(uint32_t id);
""")
    return "\n".join(o)


def c_table(s):
    o = []
    for x in s.executors:
        if x.args:
            o.append(f"static const struct tern_executor_arg {x.name}_args[] = {{")
            o += [f'    {{"{a.name}", "{a.plain}", {a.word}, {a.words_}, {int(a.pointer)}, {int(a.constant)}}},'
                  for a in x.args]
            o.append("};\n")
        o.append(f"static const struct tern_executor_range {x.name}_ranges[] = {{")
        o += [f"    {{{r.word}, {int(r.source.startswith('offset'))}, {'xyz'.index(r.source[-1])}, {r.most}u}},"
              for r in x.ranges]
        o.append("};\n")
    o.append("static const struct tern_executor executors[] = {")
    for x in s.executors:
        version = x.version_[0] << 22 | x.version_[1] << 12 | x.version_[2]
        words = sum(1 << i.word for i in x.state_)
        numbers = [", ".join(f"{v}u" for v in _limits(x, kind, default))
                   for kind, default in (("global", 1), ("offset", 0))]
        o.append(f'    {{"{x.name}", {version}u, {_dims(x)}, {len(x.args)}, {len(x.ranges)}, '
                 f"{x.name + '_args' if x.args else 'NULL'}, {x.name}_ranges,\n"
                 f"     {{{numbers[0]}}}, {{{numbers[1]}}}, 0x{words:x}u}},")
    o.append("""};

const struct tern_executor *tern_executor_find(uint32_t id)
{
    return id < TERN_EXECUTORS ? &executors[id] : NULL;
}
""")
    return "\n".join(o)


# ---------------------------------------------------------------------- RTL

def sv_constants(s):
    o = ["\n  // user executors: words of the packet, and of the state",
         f"  localparam int USER_EXECUTORS = {len(s.executors)};",
         f"  localparam int USER_EXAMPLES = {sum(bool(x.example_) for x in s.executors)};  // Of these, the last ones."]
    for x in s.executors:
        for i in x.args + x.ranges:
            o.append("  localparam int " + f"USER_{x.name}_{i.name}_LSB".upper() + f" = {512 + 32 * i.word};")
        for i in x.state_:
            o.append("  localparam int " + f"USER_{x.name}_STATE_{i.name}_LSB".upper() + f" = {32 * i.word};")
    return o


_SV = string.Template("""\
// Generated by scripts/specgen from docs/spec/executors; do not edit.
// SPDX-License-Identifier: Apache-2.0
// The user executors of an engine, behind one executor interface, so that the engine sees one executor.
//
// Contract: the executor interface. The packet's field `executor` selects one; the command processor refuses an absent
// one. One executor runs at a time: at_q selects it from its start on.
module user_executors #(
    parameter int N = tern_spec_pkg::USER_EXECUTORS  // The executors of the first N ids; at least 1.
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               start_valid_i,
    output logic               start_ready_o,
    input  tern_pkg::exec_cmd_t start_i,
    output tern_pkg::exec_status_t status_o,
    input  logic               stop_req_i,
    input  logic [1:0]         stop_gran_i,
    output logic               save_valid_o,
    input  logic               save_ready_i,
    output tern_pkg::exec_line_t save_o,
    input  logic               restore_valid_i,
    output logic               restore_ready_o,
    input  tern_pkg::exec_line_t restore_i,
    output logic               req_valid_o,
    input  logic               req_ready_i,
    output tern_pkg::mem_req_t req_o,
    output logic [7:0]         req_tag_o,
    input  logic               rsp_valid_i,
    input  logic [7:0]         rsp_tag_i,
    input  tern_pkg::mem_rsp_t rsp_i
);
  tern_spec_pkg::pkt_user_call_t packet;
  logic unused;
  localparam int STATUS_W = $$bits(status_o), LINE_W = $$bits(save_o);
  logic [N-1:0] chosen, at_q, ready, save_valid, restore_ready, req_valid;
  logic [STATUS_W*N-1:0] status;
  logic [LINE_W*N-1:0] save;
  logic [8*N-1:0] tag;
  logic [tern_pkg::MEM_REQ_W*N-1:0] req;

  assign packet = start_i.packet;
  assign unused = &{1'b0, packet};
  for (genvar i = 0; i < N; i++) begin : g_chosen
    assign chosen[i] = packet.executor == 8'(i);
  end

  always_ff @(posedge clk_i) begin
    if (start_valid_i && start_ready_o) at_q <= chosen;
    if (rst_i) at_q <= '0;
  end

  assign start_ready_o = &ready;
  assign save_valid_o = |save_valid;
  assign restore_ready_o = |(restore_ready & at_q);
  assign req_valid_o = |req_valid;

  always_comb begin
    status_o = '0;
    save_o = '0;
    req_o = '0;
    req_tag_o = '0;
    for (int i = 0; i < N; i++)
      if (N == 1 || at_q[i]) begin
        status_o = status[STATUS_W*i+:STATUS_W];
        save_o = save[LINE_W*i+:LINE_W];
        req_o = req[tern_pkg::MEM_REQ_W*i+:tern_pkg::MEM_REQ_W];
        req_tag_o = tag[8*i+:8];
      end
  end

$instances
endmodule
""")

_INSTANCE = string.Template("""\
  if (N > $id) begin : g_$name
    user_$name u_$name (
        .clk_i,
        .rst_i,
        .start_valid_i(start_valid_i && chosen[$id]),
        .start_ready_o(ready[$id]),
        .start_i,
        .status_o(status[${id}*STATUS_W+:STATUS_W]),
        .stop_req_i(stop_req_i && at_q[$id]),
        .stop_gran_i,
        .save_valid_o(save_valid[$id]),
        .save_ready_i,
        .save_o(save[${id}*LINE_W+:LINE_W]),
        .restore_valid_i(restore_valid_i && at_q[$id]),
        .restore_ready_o(restore_ready[$id]),
        .restore_i,
        .req_valid_o(req_valid[$id]),
        .req_ready_i,
        .req_o(req[${id}*tern_pkg::MEM_REQ_W+:tern_pkg::MEM_REQ_W]),
        .req_tag_o(tag[${id}*8+:8]),
        .rsp_valid_i(rsp_valid_i && at_q[$id]),
        .rsp_tag_i,
        .rsp_i
    );
  end""")


def sv_module(s):
    return _SV.substitute(instances="\n".join(_INSTANCE.substitute(id=x.id, name=x.name) for x in s.executors))


# --------------------------------------------------------------------- page

def page(s):
    o = ["", "## User executors", ""]
    for x in s.executors:
        o += [f"### {x.name} (executor {x.id}, version {x.version})", "", textwrap.fill(x.doc, 120), "",
              "| word of the payload | type | name | meaning |", "|---|---|---|---|"]
        rows = [(a.word, a.words_, a.type, a.name, a.doc) for a in x.args]
        rows += [(r.word, 1, f"uint, {r.source}", r.name, r.doc + (f" At most {r.most}." if r.most < 2**32 - 1 else ""))
                 for r in x.ranges]
        for word, words, kind, name, doc in sorted(rows):
            o.append(f"| {word}{f'-{word + words - 1}' if words > 1 else ''} | {kind} | `{name}` | {doc} |")
        o += ["", "| word of the state | name | meaning |", "|---|---|---|"]
        o += [f"| {i.word} | `{i.name}` | {i.doc} |" for i in x.state_] + [""]
    return o[:-1]
