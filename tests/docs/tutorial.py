# SPDX-License-Identifier: Apache-2.0
"""Runs the blocks of a tutorial in order, as a reader types them, and compares what they print with the page.

    tutorial.py PAGE BUILD [--copy]

The blocks run in one bash, in a folder of their own, which ends with them. In it the folder `tern` stands for the tree,
and tern/build for BUILD; the page begins there. With --copy the tree is a copy without a build, which the page may
change. Blocks of a page are fenced:

  console   commands, each after `$ ` (a line that `> ` begins continues it), and behind each what it prints. A command
            whose output is not shown may print anything. In what is shown `...` stands for any characters, and a line
            that is `...` alone for any lines; the number of blanks does not matter. Commands must end with status 0.
  diff      a change of a file, which the paragraph before names
  text      an illustration, which is not used
  others    a file, likewise: the paragraph has "Write `NAME`" and ends with a colon, or it ends with `NAME`:

Prints what differs, as PAGE:LINE. Exit: 0 all is as shown, 1 not, 2 wrong usage.
"""
import argparse
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ["docs", "driver", "rtl", "runtime", "scripts", "sim", "tests", "CMakeLists.txt", "LICENSE"]
LIMIT = 900  # Seconds for a command.
FENCE = re.compile(r"^(`{3,})(\S*)[^\n]*\n(.*?)^\1[ \t]*$", re.M | re.S)


class Differs(Exception):
    """A fault of the page: its line, and what is wrong there."""

    def __init__(self, line, what):
        super().__init__(what)
        self.line = line


class Command:
    def __init__(self, line, text):
        self.line, self.text, self.shown = line, text, []  # shown: (line, text)


def commands(first, body):
    """The commands of a console block that begins in this line."""
    found = []
    for n, text in enumerate(body.splitlines(), first):
        if text.startswith("$ "):
            found.append(Command(n, text[2:]))
        elif not found:
            raise Differs(n, "a console block begins with a command: $ ...")
        elif text.startswith("> ") and not found[-1].shown:
            found[-1].text += "\n" + text[2:]
        else:
            found[-1].shown.append((n, text))
    return found


def steps(text):
    """Yields (line, kind, what) of the blocks: command and Command, file and (name, text), diff and (name, text)."""
    fences = list(FENCE.finditer(text))
    inside = [m.span() for m in fences]
    for m in re.finditer(r"(?:^|\n)\n    \S", text):
        if not any(a <= m.end() < b for a, b in inside):
            raise Differs(text.count("\n", 0, m.end()) + 1, "a block without a fence, which nothing runs")
    for m in fences:
        line = text.count("\n", 0, m.start()) + 1
        before = text[:m.start()].rstrip().rsplit("\n\n", 1)[-1]
        name = re.search(r"\bWrite\s+`([^`\n]+)`.*:$|`([^`\n]+)`:$", before, re.S)
        if m[2] == "console":
            for c in commands(line + 1, m[3]):
                yield c.line, "command", c
        elif m[2] != "text" and not name:
            raise Differs(line, f"the block of kind '{m[2]}' has no name: the paragraph before it ends with `NAME`:")
        elif m[2] != "text":
            yield line, "diff" if m[2] == "diff" else "file", (name[1] or name[2], m[3])


def pattern(lines):
    parts = []
    for text in lines:
        words = " ".join(text.split())
        parts.append(r"(?:.*\n)*" if words == "..." else re.escape(words).replace(r"\.\.\.", ".*") + r"\n")
    return "".join(parts)


def compare(shown, got):
    """Raises Differs with the first line that is shown and not printed, or for what is printed behind all of them."""
    text = "".join(" ".join(line.split()) + "\n" for line in got.rstrip("\n").split("\n"))
    lines = [t for _, t in shown]
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines or re.fullmatch(pattern(lines), text):
        return
    for n in range(1, len(lines) + 1):
        if not re.match(pattern(lines[:n]), text):
            raise Differs(shown[n - 1][0], f"shown, and not printed: {lines[n - 1].strip()}")
    raise Differs(shown[len(lines) - 1][0], "more is printed than is shown up to here")


class Shell:
    """A bash that runs one command after the other."""

    def __init__(self, folder, env, limit):
        self.folder, self.limit, self.n = folder, limit, 0
        self.child = subprocess.Popen(["bash", "--norc"], cwd=folder / "tern", env=env, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, command):
        """Returns status and output; the status is None if the command did not end in time."""
        self.n += 1
        script, mark = self.folder / f".{self.n}", f"----{self.n} "
        script.write_text(command + "\n")
        self.child.stdin.write(f". {script} </dev/null\nprintf '\\n%s\\n' \"{mark}$?\"\n".encode())
        self.child.stdin.flush()
        got, end, until = b"", re.compile(rf"\n{mark}(\d+)\n".encode()), time.monotonic() + self.limit
        while True:
            ready, _, _ = select.select([self.child.stdout], [], [], max(0, until - time.monotonic()))
            more = os.read(self.child.stdout.fileno(), 65536) if ready else b""
            got += more
            m = end.search(got)
            if m or not more:
                text = (got[:m.start()] + got[m.end():] if m else got).decode(errors="replace")
                return (int(m[1]) if m else None), text

    def end(self):
        for s in signal.SIGTERM, signal.SIGKILL:
            try:
                os.killpg(self.child.pid, s)  # The group exists until wait, below.
            except ProcessLookupError:
                break
            if s == signal.SIGTERM:
                time.sleep(0.2)
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()


def command(shell, c):
    status, got = shell.run(c.text)
    if status is None:
        raise Differs(c.line, f"$ {c.text}\ndid not end within {shell.limit} s, or the shell ended; it printed:\n{got}")
    if status:
        raise Differs(c.line, f"$ {c.text}\nended with status {status}; it printed:\n{got}")
    try:
        compare(c.shown, got)
    except Differs as e:
        raise Differs(e.line, f"{e}\n$ {c.text}\nprinted:\n{got}") from e


def write(shell, kind, name, text, line):
    status, got = shell.run("pwd")
    path = pathlib.Path(got.strip()) / name
    if kind == "file":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return
    r = subprocess.run(["patch", "-s", "-F0", path], input=text, capture_output=True, text=True, check=False)
    if status or r.returncode:
        raise Differs(line, f"the change does not fit {name}: {r.stdout}{r.stderr}")


def tree(folder, build, copy):
    """The folder `tern`, in which the page begins."""
    (folder / "tern").mkdir()
    for p in (ROOT / n for n in PARTS) if copy else (p for p in ROOT.iterdir() if p.name != "build"):
        if not copy:
            (folder / "tern" / p.name).symlink_to(p)
        else:
            (shutil.copytree if p.is_dir() else shutil.copy)(p, folder / "tern" / p.name)
    if not copy:
        (folder / "tern/build").symlink_to(build)


def environment(folder):
    env = {k: v for k, v in os.environ.items() if not re.match(r"TERN|OCL_|CL_", k)}
    for name in "home", "run", "tmp":
        (folder / name).mkdir(mode=0o700)
    return {**env, "HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder / "run"), "LC_ALL": "C.UTF-8",
            "TMPDIR": str(folder / "tmp"), "TERN_CACHE_DIR": str(folder / "home/cache")}


def run(text, build, copy=False, limit=LIMIT):
    """Runs the page. Returns the number of commands. Raises Differs."""
    ran = 0
    with tempfile.TemporaryDirectory(prefix="tutorial-") as d:
        folder = pathlib.Path(d)
        tree(folder, build, copy)
        shell = Shell(folder, environment(folder), limit)
        try:
            for line, kind, what in list(steps(text)):
                if kind == "command":
                    command(shell, what)
                    ran += 1
                else:
                    write(shell, kind, *what, line)
        finally:
            shell.end()
    return ran


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--copy", action="store_true", help="the tree is a copy without a build")
    opts = parser.parse_args()
    page = opts.page.resolve()
    name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
    try:
        ran = run(page.read_text(), opts.build.resolve(), opts.copy)
    except Differs as e:
        print(f"{name}:{e.line}: {e}", file=sys.stderr)
        return 1
    print(f"{name}: {ran} commands, all as shown")
    return 0


if __name__ == "__main__":
    sys.exit(main())
