# SPDX-License-Identifier: Apache-2.0
"""ternd as a program: its arguments, its socket, a second ternd, stale sockets, sockets of systemd, valid and damaged
limits, partitions, and its end."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from daemon import PATIENCE, Ternd

TERND, TERN = (str(pathlib.Path(x).resolve()) for x in sys.argv[1:3])
del sys.argv[1:3]
ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = ROOT / "driver/ternd/systemd"


class Life(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.socket = self.folder / "sock"

    def environment(self, **more):
        plain = {k: v for k, v in os.environ.items() if not k.startswith("TERN") and k != "XDG_RUNTIME_DIR"}
        return {**plain, "TERN_BACKEND": "model", **more}

    def start(self, *args, **env):
        """Starts a ternd and waits until it listens."""
        daemon = Ternd(TERND, self.socket, *args, env=self.environment(**env))
        self.addCleanup(daemon.log.close)
        self.addCleanup(daemon.kill)
        self.assertTrue(daemon.listens, daemon.said())
        return daemon

    def fails(self, status, *args, **env):
        r = subprocess.run([TERND, *args], env=self.environment(**env), capture_output=True, text=True, check=False,
                           timeout=PATIENCE)
        self.assertEqual((r.returncode, r.stdout), (status, ""), r.stderr)
        return r.stderr

    def info(self, **env):
        """Returns the output of `tern info` without TERN_BACKEND."""
        environment = self.environment(**env)
        del environment["TERN_BACKEND"]
        return subprocess.run([TERN, "info", "--json"], env=environment, capture_output=True, text=True, check=False)

    def end(self, daemon, how=signal.SIGTERM):
        self.assertEqual(daemon.end(how), 0, daemon.said())
        self.assertEqual(list(self.folder.glob("sock*")), [])
        return daemon.said()

    def test_arguments(self):
        for args in ["--socket"], ["--nonsense"], ["more"], ["--limits"]:
            self.assertIn("see ternd --help", self.fails(2, *args))
        for args in ["--help"], ["--version"]:
            r = subprocess.run([TERND, *args], capture_output=True, text=True, check=False)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertIn("ternd", r.stdout)
        self.assertIn("unknown backend 'none'", self.fails(1, "--socket", self.socket, "--backend", "none"))
        self.assertIn("where to listen?", self.fails(1)) if os.geteuid() else None
        self.assertIn("1 to 103 bytes", self.fails(1, "--socket", "x" * 200))
        self.assertEqual(list(self.folder.glob("*")), [])

    def test_manual_page(self):
        page = UNITS.parents[2] / "docs/man/ternd.8"
        r = subprocess.run(["mandoc", "-T", "lint", "-W", "style", page], capture_output=True, text=True, check=False)
        said = [x for x in (r.stdout + r.stderr).splitlines() if "referenced manual not found" not in x and
                "mandoc.db" not in x]
        self.assertEqual(said, [])
        told = subprocess.run([TERND, "--help"], capture_output=True, text=True, check=True).stdout
        paged = {f"-{x}" for x in re.findall(r"Fl (-[a-z]+)", page.read_text())}
        self.assertEqual(paged, set(re.findall(r"(?<![\w-])--[a-z]+", told)))

    def test_serves_and_ends(self):
        for how in signal.SIGTERM, signal.SIGINT:
            daemon = self.start("--config", "small")
            said = json.loads(self.info(TERND_SOCKET=str(self.socket)).stdout)
            self.assertEqual((said["service"], said["backend"], said["config"]), (str(self.socket), "model", "small"))
            self.assertIn("ends on", self.end(daemon, how))

    def test_holds_what_it_held_after_it_has_moved_memory(self):
        """ternd holds as much as before a client, after it has moved memory. The thread that moves memory starts with
        the first move and does not count."""
        daemon = self.start("--config", "small,mem=16M", XDG_RUNTIME_DIR=str(self.folder))
        env = self.environment(TERND_SOCKET=str(self.socket), XDG_RUNTIME_DIR=str(self.folder))
        del env["TERN_BACKEND"]
        before = daemon.holds(TERN, env)
        r = subprocess.run([TERN, "run", ROOT / "tests/bench/kernels.cl", "--kernel", "vecadd", "--global", "64",
                            "iota:2000000", "fill:1:2000000", "zeros:2000000"], env=env, capture_output=True,
                           text=True, check=False, timeout=PATIENCE)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("tern-pager", daemon.names())
        end = time.monotonic() + PATIENCE
        while (has := daemon.holds(TERN, env)) != before:
            self.assertLess(time.monotonic(), end, f"{has}, not {before}")
            time.sleep(0.02)
        self.end(daemon)

    def test_partitions(self):
        """`tern partition`, and a program in a partition."""
        def run(status, *args, **more):
            r = subprocess.run([TERN, *args], env=self.environment(TERND_SOCKET=str(self.socket), **more),
                               capture_output=True, text=True, check=False, timeout=PATIENCE)
            self.assertEqual(r.returncode, status, r.stderr)
            return r.stdout if status == 0 else r.stderr

        def partitions():
            return {p["name"]: p for p in json.loads(run(0, "partition", "--json"))["partitions"]}

        daemon = self.start("--config", "small,mem=64M")
        before = partitions()
        self.assertEqual((list(before), before["default"]["processes"]), (["default"], 0))
        run(0, "partition", "create", "video", "--memory", "16M", "--host", "8M", "--share", "300")
        made = partitions()["video"]
        self.assertEqual([made[k] for k in ("memory_bytes", "free_bytes", "host_bytes", "share", "owner")],
                         [16 << 20, 16 << 20, 8 << 20, 300, os.getuid()])
        self.assertRegex(run(0, "partition"),
                         r"name +memory K .*\ndefault .*\nvideo +16384 +16384 +8192 +0 +0 +300 +0\n")
        code = self.folder / "a.cl"
        code.write_text("kernel void f(global int *x) { x[get_global_id(0)] = 7; }\n")
        icd = {"OCL_ICD_VENDORS": str(pathlib.Path(TERN).parents[1] / "tern.icd")}
        run(0, "run", str(code), "--global", "64", "zeros:64", TERN_PARTITION="video", **icd)
        self.assertGreater(partitions()["video"]["cycles"], 0)
        self.assertEqual(json.loads(run(0, "info", "--json", TERN_PARTITION="video"))["memory_bytes"], 16 << 20)
        self.assertIn("no partition 'none'", run(1, "run", str(code), "--global", "64", "zeros:64",
                                                 TERN_PARTITION="none", **icd))
        run(0, "partition", "share", "video", "--share", "7")
        run(0, "partition", "resize", "video", "--memory", "4M")
        now = partitions()["video"]
        self.assertEqual([now[k] for k in ("memory_bytes", "share")], [4 << 20, 7])
        for args, why in ((["create", "video", "--memory", "4M"], "there is a partition"),
                          (["create", "v" * 24, "--memory", "4M"], "1 to 23 characters: letters, digits,"),
                          (["create", "more", "--memory", "1G"], "of which"),
                          (["resize", "none", "--memory", "4M"], "no partition 'none'"),
                          (["destroy", "default"], "cannot be changed")):
            self.assertIn(why, run(1, "partition", *args))
        for args in (["create"], ["create", "a"], ["create", "a", "--memory", "x"], ["create", "a", "--share", "5"],
                     ["resize", "a"], ["resize", "a", "--memory", "4M", "--share", "5"], ["share", "a"],
                     ["share", "a", "--share", "0"], ["share", "a", "--share", "1001"], ["destroy"], ["list", "a"],
                     ["destroy", "a", "b"], ["destroy", "a", "--json"], ["nonsense"], ["--nonsense"]):
            self.assertIn("see tern partition --help", run(2, "partition", *args))
        self.assertIn("--memory takes bytes: a number, with no suffix or with K, M or G; got '100T'",
                      run(2, "partition", "create", "a", "--memory", "100T"))
        self.assertIn("--share takes a number from 1 to 1000; got 'x'",
                      run(2, "partition", "share", "a", "--share", "x"))
        run(0, "partition", "destroy", "video")
        self.assertEqual(partitions()["default"]["free_bytes"], before["default"]["free_bytes"])
        self.end(daemon)
        own = subprocess.run([TERN, "partition", "destroy", "a"], env=self.environment(), capture_output=True,
                             text=True, check=False)
        self.assertEqual(own.returncode, 1)
        self.assertIn("this program's own", own.stderr)

    def test_is_found_at_its_standard_place(self):
        (self.folder / "tern").mkdir()
        self.socket = self.folder / "tern" / "ternd.sock"
        daemon = self.start()
        run = {"XDG_RUNTIME_DIR": str(self.folder)}
        if not pathlib.Path("/run/tern/ternd.sock").exists():
            self.assertEqual(json.loads(self.info(**run).stdout)["service"], str(self.socket))
        for own in {"TERN_BACKEND": "model"}, {"TERN_BACKEND": "model", "TERN_CONFIG": "small"}:
            r = subprocess.run([TERN, "info", "--json"], env=self.environment(**run, **own), capture_output=True,
                               text=True, check=False)
            self.assertIsNone(json.loads(r.stdout)["service"])
        self.end(daemon)

    def run_tern(self, *args, **env):
        return subprocess.run([TERN, *args], env={k: v for k, v in self.environment(**env).items() if v},
                              cwd=self.folder, capture_output=True, text=True, check=False, timeout=PATIENCE)

    def test_commands_with_a_device_of_their_own(self):
        """Commands that open their own device say so if a ternd is named by TERND_SOCKET or listens at the standard
        path."""
        (self.folder / "tern").mkdir()
        self.socket = self.folder / "tern" / "ternd.sock"
        daemon = self.start("--config", "small,mem=16M")
        named, found = {"TERND_SOCKET": str(self.socket)}, {"XDG_RUNTIME_DIR": str(self.folder)}
        (self.folder / "k.cl").write_text("kernel void f(global int *x) { x[0] = 1; }\n")
        icd = {"OCL_ICD_VENDORS": str(pathlib.Path(TERN).parents[1] / "tern.icd")}
        for where in named, found if not pathlib.Path("/run/tern/ternd.sock").exists() else named:
            r = self.run_tern("trace", "-o", "t.json", "tern", "info", TERN_BACKEND="", **where)
            self.assertEqual(r.returncode, 1)
            self.assertIn(f"the device of the ternd at {self.socket}, which traces it if it is started with TERN_TRACE",
                          r.stderr)
            self.assertIn("opened no Tern device of its own", r.stderr)
            r = self.run_tern("checkpoint", "--at-kernel", "f", "tern", "run", "k.cl", "--global", "1", "zeros:1",
                              "--quiet", TERN_BACKEND="model" if where is named else "",
                              TERN_LIB_DIR=str(self.folder) if where is found else "", **where, **icd)
            self.assertIn(f"tern checkpoint: the ternd at {self.socket} is not used", r.stderr)
            self.assertIn(f"here {'backend model' if where is named else 'the default backend'}, configuration default",
                          r.stderr)
            self.assertEqual(r.returncode, 0 if where is named else 1, r.stderr)
            file = self.folder / "tern-checkpoint.tck"
            if where is named:
                r = self.run_tern("restore", file.name, **where)
                self.assertEqual(r.returncode, 0, r.stderr)
                self.assertIn(f"tern restore: the ternd at {self.socket} is not used", r.stderr)
        r = self.run_tern("restore", file.name, "--backend", "model", "--config", "default", **named)
        # The backend and the configuration are given, so there is no message.
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        r = self.run_tern("bench", "submit", "--count", "20", "--json", TERN_BACKEND="", **named, **icd)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn(f"backend model, device small,mem=16M, as of the ternd at {self.socket}", r.stderr)
        said = json.loads(r.stdout)["config"]
        self.assertEqual((said["backend"], said["name"]), ("model", "small,mem=16M"))
        self.end(daemon)

    @unittest.skipIf(pathlib.Path("/run/tern/ternd.sock").exists(), "a ternd of the system is at the first place")
    def test_what_takes_a_program_past_it(self):
        """A variable of the environment keeps a program from the ternd at the standard path. One message says this and
        what to do."""
        (self.folder / "tern").mkdir()
        self.socket = self.folder / "tern" / "ternd.sock"
        daemon = self.start("--config", "small")
        for more in {"TERN_BACKEND": "model"}, {"TERN_BACKEND": "model", "TERN_CONFIG": "small"}:
            r = self.run_tern("info", XDG_RUNTIME_DIR=str(self.folder), **more)
            self.assertEqual(r.returncode, 0)
            self.assertEqual(r.stderr, "tern: TERN_BACKEND is set, so the program has a device of its own; the ternd "
                                       f"at {self.socket} is not used: unset TERN_BACKEND for that\n")
        r = self.run_tern("info", "--json", XDG_RUNTIME_DIR=str(self.folder), TERN_BACKEND="")
        self.assertEqual((json.loads(r.stdout)["service"], r.stderr), (str(self.socket), ""))
        self.assertEqual(daemon.end(), 0)
        for stale in False, True:  # Nobody listens there.
            if stale:
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
                    s.bind(str(self.socket))
            r = self.run_tern("info", XDG_RUNTIME_DIR=str(self.folder))
            self.assertEqual((r.returncode, r.stderr), (0, ""))

    def test_one_that_is_named_must_be_there(self):
        r = self.info(TERND_SOCKET=str(self.socket))
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertIn(f"ternd at {self.socket} cannot be reached: No such file", r.stderr)

    def test_second_is_refused(self):
        daemon = self.start()
        said = self.fails(1, "--socket", str(self.socket))
        self.assertIn(f"another ternd, process {daemon.pid}, listens at {self.socket}", said)
        self.assertEqual(self.info(TERND_SOCKET=str(self.socket)).returncode, 0)
        self.end(daemon)

    def test_stale_socket_is_replaced(self):
        daemon = self.start()
        daemon.kill()
        self.assertTrue(self.socket.exists())
        r = self.info(TERND_SOCKET=str(self.socket))
        self.assertIn("cannot be reached: Connection refused", r.stderr)
        daemon = self.start()
        self.assertEqual(self.info(TERND_SOCKET=str(self.socket)).returncode, 0)
        self.end(daemon)

    def test_a_file_is_not_replaced(self):
        self.socket.write_text("mine")
        self.assertIn("exists, and is no socket", self.fails(1, "--socket", str(self.socket)))
        self.assertEqual(self.socket.read_text(), "mine")

    def test_socket_of_systemd(self):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(listener.close)
        listener.bind(str(self.socket))
        listener.listen()
        run = f'export LISTEN_PID=$$ LISTEN_FDS=1; exec {TERND} 3<&{listener.fileno()}'
        daemon = subprocess.Popen(["bash", "-c", run], env=self.environment(JOURNAL_STREAM="1:1"),
                                  pass_fds=[listener.fileno()], stderr=subprocess.PIPE, text=True)
        self.addCleanup(daemon.communicate)
        self.addCleanup(daemon.kill)
        self.assertEqual(self.info(TERND_SOCKET=str(self.socket)).returncode, 0)
        daemon.terminate()
        _, said = daemon.communicate(timeout=PATIENCE)
        self.assertEqual(daemon.returncode, 0)
        self.assertTrue(all(line.startswith("<6>ternd: ") for line in said.splitlines()), said)
        self.assertTrue(self.socket.exists())  # The socket belongs to systemd.
        r = subprocess.run(["bash", "-c", f'export LISTEN_PID=$$ LISTEN_FDS=1; exec {TERND} 3</dev/null'],
                           env=self.environment(), capture_output=True, text=True, check=False)
        self.assertIn("no listening Unix socket", r.stderr)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_units(self):
        """systemd accepts each line of the units and rates the sandbox as tight."""
        for name in "ternd.socket", "ternd.service":
            text = (UNITS / f"{name}.in").read_text().replace("@CMAKE_INSTALL_FULL_BINDIR@/ternd", TERND)
            self.assertNotIn("@CMAKE", text)
            (self.folder / name).write_text(text)
        r = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
                            *map(str, self.folder.glob("ternd.*"))], capture_output=True, text=True, check=False)
        ours = [x for x in r.stderr.splitlines() if "ternd." in x]
        self.assertEqual((r.returncode, ours), (0, []), r.stderr)
        r = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--threshold=25", "--no-pager",
                            str(self.folder / "ternd.service")], capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)

    def test_damaged_limits(self):
        limits = self.folder / "limits"
        for text, where, why in [
                ("[default]\nmemory = 1X\n", "2:10", "'1X' is not a number"),
                ("memory = 1\n", "1:1", "a section must come first"),
                ("# so\n\n[default\n", "3:9", "']' is missing"),
                ("[everybody]\n", "1:2", "a section is [default]"),
                ("[user]\n", "1:6", "a name is missing"),
                ("[user no-such-user-here]\n", "1:7", "there is no user 'no-such-user-here'"),
                ("[group no-such-group]\n", "1:8", "there is no group 'no-such-group'"),
                ("[default]\n  speed = 3\n", "2:3", "'speed' is none of memory"),
                ("[default]\nfocus = maybe\n", "2:9", "focus is yes or no"),
                ("[default]\nfocus yes\n", "2:7", "'=' is missing"),
                ("[default]\nfocus = yes no\n", "2:13", "nothing may follow here"),
                ("[default]\ncalls = 257\n", "2:9", "257 is out of range: 1 to 256"),
                *((f"[default]\npartition = {wrong}\n", "2:13", "a partition's name has 1 to 23 characters: letters, "
                   "digits, '.', '_', '-'\n") for wrong in ("", "a+b", "vi/deo", "a" * 24, "a" * 99, "$x")),
                ("[default]\npartition = video more\n", "2:19", "nothing may follow here"),
                ("[default]\nshare = 0\n", "2:9", "0 is out of range: 1 to 1000"),
                ("[default]\nmemory = 99999999999G\n", "2:10", "99999999999G is out of range"),
                ("[default]\ncontexts = 1\ncontexts = 2\n", "3:1", "contexts is there twice"),
                ("[user 1]\n[user 1]\n", "2:1", "this section is there twice"),
                ("[default]\nmem\0ory = 1\n", "2:4", "a NUL byte")]:
            limits.write_text(text)
            said = self.fails(1, "--socket", str(self.socket), "--limits", str(limits))
            self.assertIn(f"{limits}:{where}: {why}", said)
        self.assertIn("No such file", self.fails(1, "--socket", str(self.socket), "--limits", "/nowhere"))
        self.assertFalse(self.socket.exists())

    def test_limits_hold(self):
        limits = self.folder / "limits"
        limits.write_text(f"[default]\nconnections = 0\n[group {os.getegid()}]\nconnections = 1\n"
                          f"[user {os.geteuid()}] # me\nconnections = 2\n")
        daemon = self.start("--limits", str(limits))
        holds = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
        for s in holds:
            s.connect(str(self.socket))
            self.addCleanup(s.close)
        deadline = time.monotonic() + PATIENCE
        info = self.info(TERND_SOCKET=str(self.socket))
        # This waits until both connections have been accepted.
        while info.returncode == 0 and time.monotonic() < deadline:
            info = self.info(TERND_SOCKET=str(self.socket))
        self.assertIn("has 2 connections, and may have no more", info.stderr)
        self.end(daemon)  # ternd ends although connections have sent nothing.


if __name__ == "__main__":
    unittest.main()
