# SPDX-License-Identifier: Apache-2.0
"""JSON files in git that only a command writes. A digest in the file shows an edit by hand, or a merge."""
import contextlib
import hashlib
import io
import json
import os
import re
import sys
import threading
import tokenize

COMMENTED = (".sv", ".svh", ".v", ".vlt", ".c", ".h", ".cpp", ".cl", ".ld")
# A string, which may have the signs of a comment in it, a character, which may be a quotation mark, or a comment.
LITERAL_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', re.S)
# Comments that tools obey: "verilator lint_off", "synthesis translate_off".
OBEYED = re.compile(r"(?://|/\*)\s*(?:verilator|synthesis|synopsys|yosys|pragma)\b")


class Error(Exception):
    """The file cannot be used; the text says why, and which command makes it."""


def python(text):
    """Returns Python source without comments, docstrings and blank lines."""
    lines, statement, held = text.splitlines(), True, None
    drop = []  # tokens that are comments or docstrings
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            drop.append(token)
        elif token.type != tokenize.NL:
            if held and token.type == tokenize.NEWLINE:
                drop.append(held)
            held = token if statement and token.type == tokenize.STRING else None
            statement = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    for token in reversed(drop):
        (first, begin), (last, end) = token.start, token.end
        lines[first - 1:last] = [lines[first - 1][:begin] + lines[last - 1][end:]]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def code(file):
    """Returns what a tool reads of a source file: no comments, docstrings, blank lines or indentation, so that a record
    stays valid when a comment is rewritten. Python keeps its indentation. Of other languages it returns the whole text.
    """
    text = file.read_text()
    if file.suffix == ".py":
        return python(text)
    if file.suffix == ".f":
        text = re.sub(r"(^|\s)(//|#).*", "", text, flags=re.M)
    elif file.suffix in COMMENTED:
        text = LITERAL_OR_COMMENT.sub(lambda m: m[0] if m[0][0] != "/" or OBEYED.match(m[0]) else " ", text)
    else:
        return text
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def digest(content):
    """Returns a hash of the content without its digest."""
    rest = {k: v for k, v in content.items() if k != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:20]


def write(file, content):
    """Replaces the file atomically: a reader, also after an interruption, finds the old or the new content."""
    part = file.with_name(file.name + ".part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps({**content, "digest": digest(content)}, indent=1) + "\n")
        os.replace(part, file)
    except OSError as e:
        with contextlib.suppress(OSError):  # this may fail for the same reason
            part.unlink()
        raise Error(f"{file}: cannot be written: {e.strerror}; it is as it was before") from e


def read(file, kind, keys, command):
    """Returns the content of a file that `command` wrote. kind: name of such files in messages; keys: required keys."""
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError) as e:
        raise Error(f"{file}: not a {kind}: {e}; {command} makes one") from e
    missing = {*keys, "digest"} - set(found if isinstance(found, dict) else {})
    if missing:
        raise Error(f"{file}: not a {kind}: it has no {' or '.join(sorted(missing))}; {command} makes one")
    if found["digest"] != digest(found):
        raise Error(f"{file}: changed by hand, or merged: it is not as {command.split()[0]} wrote it; {command} makes "
                    "it again")
    return found


class Passed:
    """A record of checks that passed: by kind and name, a hash of all dependencies. Parallel checks write to it."""

    def __init__(self, file, what, kinds, command, again):
        """what: name of such files in messages; again: the record is written now, so an unusable one counts as empty.
        """
        self.file, self.lock, self.found = file, threading.Lock(), {k: {} for k in kinds}
        try:
            if file.exists():
                self.found = read(file, what, kinds, command)
        except Error as e:
            if not again:
                raise
            print(f"{command.split()[0]}: {e}", file=sys.stderr)

    def has(self, kind, name, now):
        """Returns whether the check passed with this hash. now: None if its dependencies cannot be read."""
        return now is not None and self.found[kind].get(name) == now

    def write(self, results, known):
        """Adds results, {(kind, name): hash, or None if it has not passed}. known: all existing names."""
        with self.lock:
            for kind in self.found.keys() - {"digest"}:
                new = self.found[kind] | {name: h for (k, name), h in results.items() if k == kind}
                self.found[kind] = {name: h for name, h in sorted(new.items()) if h is not None and name in known}
            write(self.file, {k: v for k, v in self.found.items() if k != "digest"})
