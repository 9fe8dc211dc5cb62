# SPDX-License-Identifier: Apache-2.0
"""How tests/formal/run reads a proof, what it asks Yosys and the solver, and what passes. A change of this file makes
all proofs new: what does not matter for them is in run.
"""
import hashlib
import inspect
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in "tests/lib", "scripts/lib":
    sys.path.insert(0, str(ROOT / folder))
import jobs  # noqa: E402
import record  # noqa: E402

CHANNEL = "rtl/check/check_channel.sv"  # the rules of a channel, which any module may have


class BadProof(Exception):
    """The .proof file or one of its mutants cannot be used."""


def statements(name):
    return ROOT / "tests/formal" / f"{name}.proof"


def parse(path):
    proof = {"files": [], "checks": [], "inside": [], "param": [], "cut": [], "mutant": [], "step": [], "slow": []}
    for line in path.read_text().splitlines():
        key, _, rest = line.partition("#")[0].strip().partition(" ")
        rest = rest.strip()
        if key in ("files", "checks", "param", "cut"):
            proof[key] += rest.split()
        elif key in ("inside", "mutant", "step", "slow"):
            proof[key].append(rest.split(None, 2))
        elif key in ("top", "bmc", "induction"):
            proof[key] = rest
        elif key:
            raise BadProof(f"unknown statement {key}")
    missing = {"top", "bmc", "induction"} - set(proof)
    if missing or not proof["files"] or not proof["mutant"] + proof["step"]:
        raise BadProof("needs top, files, bmc, induction and at least one mutant or step")
    if int(proof["bmc"]) < int(proof["induction"]):
        raise BadProof("bmc must not look at fewer cycles than induction")
    return proof


def tools():
    """What proves: the versions of Yosys and the solver, and this file. BadProof if one of them is not there."""
    found = [pathlib.Path(__file__).read_text(), inspect.getsource(jobs.call)]
    for argv in ["yosys", "-V"], ["z3", "--version"]:
        try:
            found.append(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
        except (OSError, subprocess.CalledProcessError) as e:
            raise BadProof(f"{argv[0]} cannot be run ({e}); scripts/setup test installs it") from e
    return found


def digest(name, tools_used):
    """A hash of all that a proof depends on, or None if a file of it cannot be read or includes others."""
    try:
        proof = parse(statements(name))
        paths = [statements(name).relative_to(ROOT), CHANNEL, *proof["files"], *[p for _, p in proof["inside"]]]
        texts = [(str(p), record.code(ROOT / p)) for p in paths]
    except (BadProof, OSError, ValueError):
        return None
    if any(re.search(r"`include|\$readmem", text) for _, text in texts):
        return None
    return hashlib.sha256(json.dumps([tools_used, texts]).encode()).hexdigest()[:20]


def prove(proof, files, stem, log, timeout, calls, explain=True):
    """Returns for each of the solver's calls whether it passes; none is made after one that fails. files: the sources
    that are read as the proof's files, one for each. explain: say what failed, and how, which costs as much again."""
    chparam = "".join(f" -chparam {p.replace('=', ' ')}" for p in proof["param"])
    script = stem.with_suffix(".ys")
    without = ["" if path in proof["checks"] else "-D SYNTHESIS " for path in proof["files"]]
    script.write_text(f"read_verilog -sv -formal {CHANNEL}\n"
                      + "".join(f"read_verilog -sv -formal {w}{f}\n" for w, f in zip(without, files))
                      + f"hierarchy -check -top {proof['top']}{chparam}\nproc\n"
                      + "".join(f"select -assert-any {m}\ncutpoint {m}\n" for m in proof["cut"]) + "prep -flatten\n"
                      "select -assert-none a:hierconn\n"
                      "memory_map -formal\nasync2sync\ndffunmap\n"
                      f"write_smt2 -wires {stem.with_suffix('.smt2')}\n")
    if jobs.call(["yosys", "-q", str(script)], ROOT, log, timeout) != 0:
        raise BadProof("yosys refuses the sources")
    solve = ["yosys-smtbmc", "-s", "z3", "--unroll", "--noprogress"] + ([] if explain else ["--noinfo"])
    smt2 = str(stem.with_suffix(".smt2"))
    results = [False] * len(calls)
    for i, arguments in enumerate(calls):
        start = log.tell()
        code = jobs.call(solve + arguments + [smt2], ROOT, log, timeout)
        log.seek(start)
        text = log.read()
        if code != 0 and "status: failed" not in text.lower():
            raise BadProof("the solver gave no answer")
        results[i] = code == 0
        if code != 0:
            break
    return results


def complete(proof, path, text, out):
    """Writes text, of the file path, with the properties that stand inside it."""
    for file, properties in proof["inside"]:
        if file == path:
            before, end, after = text.rpartition("endmodule")
            text = before + (ROOT / properties).read_text() + end + after
    out.write_text(text)
    return str(out)


def mutate(path, sed):
    changed = subprocess.run(["sed", "-E", sed, str(ROOT / path)], capture_output=True, text=True, check=False)
    if changed.returncode != 0:
        raise BadProof("sed: " + changed.stderr.strip())
    if changed.stdout == (ROOT / path).read_text():
        raise BadProof("the mutant changes nothing")
    return changed.stdout


def check(name, timeout, ordinary, slow):
    """What jobs.run_all wants of a proof. ordinary: the proof, with its mutants; slow: its slow mutants."""
    build = ROOT / "build/tests/formal" / name
    build.mkdir(parents=True, exist_ok=True)
    path = build / "log"
    passed = True
    with path.open("w+") as log:
        try:
            proof = parse(statements(name))
            k = proof["induction"]
            files = list(proof["files"])
            for file in proof["checks"] + [f for f, _ in proof["inside"]]:
                if file not in proof["files"]:
                    raise BadProof(f"checks or inside: {file} is not among the files")
                at = proof["files"].index(file)
                files[at] = complete(proof, file, (ROOT / file).read_text(), build / pathlib.Path(file).name)
            if ordinary:
                start, later = prove(proof, files, build / "proof", log, timeout, [["-t", k], ["-i", "-t", k]])
                if not (start and later):
                    passed = False
                    log.write(f"{name}: {'induction' if start else 'the start'} failed\n")
            from_start, one_step = ["-t", proof["bmc"]], ["-i", "-t", k]
            mutants = [(from_start, *m) for m in proof["mutant"]] + [(one_step, *m) for m in proof["step"]]
            mutants = (mutants if ordinary else []) + ([(from_start, *m) for m in proof["slow"]] if slow else [])
            for call, mutant, file, sed in mutants:
                if file not in proof["files"]:
                    raise BadProof(f"mutant {mutant}: {file} is not among the files")
                try:
                    copy = complete(proof, file, mutate(file, sed), build / f"{mutant}.sv")
                    mutated = [copy if f == file else g for f, g in zip(proof["files"], files)]
                    survived, = prove(proof, mutated, build / mutant, log, timeout, [call], False)
                except BadProof as bad:
                    raise BadProof(f"mutant {mutant}: {bad}") from bad
                if survived:
                    passed = False
                    log.write(f"{name}: mutant {mutant} was not noticed\n")
        except (BadProof, OSError, ValueError) as bad:
            passed = False
            log.write(f"{name}: {bad}\n")
    return passed, path, f"tests/formal/run {name}"
