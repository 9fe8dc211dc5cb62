# SPDX-License-Identifier: Apache-2.0
"""Every option and variable whose file is read, with paths that are no such file. The tool says in one message what the
path is, and neither waits nor reads without end. Arguments: TERN TERND TERN-MIGRATE."""
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import sys
import unittest

from cli import TERN, Case

TERND, MIGRATE = (str(pathlib.Path(x).resolve()) for x in sys.argv[1:3])
del sys.argv[1:3]
TOOLS = pathlib.Path(MIGRATE).parent
PATIENCE = 500    # Seconds. Only a failing test waits this long.
# Bytes of address space, so that a read without end does not exhaust the host's memory. The address sanitizer reserves
# more than any limit, so its build has none.
MOST = resource.RLIM_INFINITY if os.environ.get("SANITIZED") else 8 << 30
NOBODY = 65534

KERNEL = "kernel void f(global int *x) { x[get_global_id(0)] = 1; }\n"
# The kinds of files, and the expected message for each. "large" has the maximum size of a file and no blocks.
KINDS = {"zero": "is a device", "random": "is a device", "full": "is a device", "fifo": "is a named pipe",
         "folder": "is a directory", "socket": "No such device or address", "missing": "No such file or directory",
         "dangling": "No such file or directory", "loop": "Too many levels", "large": "is larger than",
         "secret": "Permission denied"}


class Paths(Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        os.mkfifo(self.folder / "fifo")
        (self.folder / "folder").mkdir()
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(self.folder / "socket"))
        (self.folder / "dangling").symlink_to("nowhere")
        (self.folder / "loop").symlink_to("loop")
        self.file("large", b"")
        os.truncate(self.folder / "large", 1 << 42)
        self.file("secret", b"x").chmod(0)
        self.file("k.cl", KERNEL)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-keyout", "key", "-out", "cert"], cwd=self.folder,
                       check=True, capture_output=True)
        (self.folder / "key").chmod(0o644)

    def path(self, kind):
        return f"/dev/{kind}" if kind in ("zero", "random", "full") else str(self.folder / kind)

    def run_tool(self, args, user=None, stdin=subprocess.DEVNULL, **env):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
        plain = {k: v for k, v in os.environ.items() if not k.startswith("TERN")}
        more = {"user": user, "group": user} if user else {}
        return subprocess.run([str(x) for x in args], cwd=self.folder, stdin=stdin, capture_output=True, text=True,
                              check=False, timeout=PATIENCE, preexec_fn=limit,
                              env={**plain, "TERN_BACKEND": "model", "TERN_CONFIG": "small,mem=16M", **env}, **more)

    def options(self):
        """Returns for each option how its tool is called, its environment, and messages that differ for a kind of
        path."""
        tls = {"--cert": "cert", "--key": "key", "--ca": "cert"}

        def pem(option, *first):
            return lambda p: [*first, *(x for k, v in tls.items() for x in (k, p if k == option else v))]

        wrong = {"large": "migration stream|no checkpoint|signature|header|begin"}
        many = {
            "ternd --limits": (lambda p: [TERND, "--socket", "sock", "--limits", p], {}, {}),
            "tern run": (lambda p: [TERN, "run", p, "--list"], {}, {}),
            "tern run @": (lambda p: [TERN, "run", "k.cl", "--global", "1", f"@{p}"], {}, {}),
            "tern restore": (lambda p: [TERN, "restore", p], {}, wrong),
            "tern migrate inspect": (lambda p: [MIGRATE, "inspect", p], {}, {"large": "^$"}),
        }
        for option in tls:
            many[f"relay {option}"] = pem(option, MIGRATE, "relay", "--connect", "127.0.0.1:1"), {}, {}
            many[f"relay listens {option}"] = pem(option, MIGRATE, "relay", "--listen", "127.0.0.1:0"), {}, {}
            many[f"serve {option}"] = pem(option, MIGRATE, "serve", "--to", "sock", "--listen", "127.0.0.1:0"), {}, {}
            many[f"migrate {option}"] = pem(option, MIGRATE, "--from", "a", "--to", "tls://127.0.0.1:1"), {}, {}
        for name, more in ("tern-hw-emu", ["--registers", "0:65536", "--memory", "0x10000000:16777216"]), \
                ("tern-board", []):
            if (TOOLS / name).exists():
                special = "zero", "random", "full", "fifo", "folder", "socket"
                many[name] = (lambda p, n=name, m=more: [TOOLS / n, "--library", p, *m], {},
                              {k: "is no file" if k in special else "is no simulator" for k in KINDS})
        return many

    def refused(self, what, kind, r, path, reason):
        self.assertEqual((r.returncode, r.stdout if "inspect" not in what else ""), (1, ""), r.stderr)
        self.assertRegex(r.stderr, reason)
        if "inspect" in what and not r.stderr:
            self.assertIn("WRONG", r.stdout)
        else:
            self.assertIn(path, r.stderr)
            said = [x for x in r.stderr.splitlines() if not x.startswith("listening on")]
            self.assertEqual(len(said), 1, r.stderr)

    def test_each(self):
        nobody = os.geteuid() == 0 and shutil.which("setpriv") and subprocess.run(
            ["setpriv", f"--reuid={NOBODY}", "--clear-groups", TERN, "--version"], check=False,
            capture_output=True).returncode == 0
        for what, (args, env, other) in self.options().items():
            for kind, reason in KINDS.items():
                if kind == "secret" and os.geteuid() == 0 and not nobody:
                    continue
                with self.subTest(what=what, kind=kind):
                    path = self.path(kind)
                    user = NOBODY if kind == "secret" and nobody else None
                    self.refused(what, kind, self.run_tool(args(path), user, **env), path, other.get(kind, reason))

    def test_a_descriptor_of_its_own(self):
        """Standard input may be a pipe. An endless one is read up to the option's limit."""
        for what, args, reason in (
                ("ternd --limits", lambda p: [TERND, "--socket", "sock", "--limits", p], "is larger than 1 MiB"),
                ("tern run", lambda p: [TERN, "run", p, "--list"], "is larger than 256 MiB"),
                ("tern run @", lambda p: [TERN, "run", "k.cl", "--global", "1", f"@{p}"],
                 "is larger than the largest buffer of the device"),
                ("tern restore", lambda p: [TERN, "restore", p], "migration stream|no checkpoint|signature"),
                ("tern migrate inspect", lambda p: [MIGRATE, "inspect", p], "^$"),
                ("relay --key", lambda p: [MIGRATE, "relay", "--connect", "a:1", "--cert", "cert", "--key", p, "--ca",
                                           "cert"], "is larger than 1 MiB")):
            for path in "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
                with self.subTest(what=what, path=path):
                    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
                        r = self.run_tool(args(path), stdin=endless.stdout)
                        endless.kill()
                    self.refused(what, "", r, path, reason)

    def test_pipes_that_end_are_read(self):
        with subprocess.Popen(["cat", "k.cl"], cwd=self.folder, stdout=subprocess.PIPE) as p:
            r = self.run_tool([TERN, "run", "/dev/stdin", "--list"], stdin=p.stdout,
                              OCL_ICD_VENDORS=str(TOOLS.parents[1] / "tern.icd"))
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertIn("f(global int *x)", r.stdout)
        self.file("limits", "[default]\nshare = 0\n")
        with subprocess.Popen(["cat", "limits"], cwd=self.folder, stdout=subprocess.PIPE) as p:
            r = self.run_tool([TERND, "--socket", "sock", "--limits", "/dev/stdin"], stdin=p.stdout)
        self.assertEqual(r.returncode, 1)
        self.assertIn("/dev/stdin:2:9: 0 is out of range: 1 to 1000", r.stderr)

    def test_libraries(self):
        """TERN_LIB_DIR contains something else than a simulator, and TERN_XCLBIN names something else than an
        xclbin."""
        for kind, reason in KINDS.items():
            if kind == "secret":
                continue
            with self.subTest(kind=kind):
                libraries = self.folder / f"lib-{kind}"
                libraries.mkdir()
                (libraries / "libtern_sim_model_small.so").symlink_to(self.path(kind))
                r = self.run_tool([TERND, "--socket", "sock"], TERN_LIB_DIR=str(libraries))
                self.assertEqual(r.returncode, 1)
                self.assertRegex(r.stderr, {"large": "cannot be loaded", "socket": "cannot be|No such device"}.get(
                    kind, "is not in" if "No such file" in reason or kind == "loop" else reason))
                r = self.run_tool([TERND, "--socket", "sock", "--backend", "xrt"], TERN_XCLBIN=self.path(kind))
                self.assertEqual(r.returncode, 1)
                if not re.search("XRT cannot be loaded|tern/libtern_xrt.so is not in|unknown backend", r.stderr):
                    self.assertRegex(r.stderr, reason)


if __name__ == "__main__":
    unittest.main()
