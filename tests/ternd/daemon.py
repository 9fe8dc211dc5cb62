# SPDX-License-Identifier: Apache-2.0
"""A ternd for a test: started, listening, and ended as it should."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

PATIENCE = 500  # seconds; only what fails waits so long


class Ternd:
    """Runs `ternd --socket SOCKET ARGS`; more: what subprocess.Popen takes. It listens, or has ended (`listens`)."""

    def __init__(self, ternd, socket, *args, **more):
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen([ternd, "--socket", str(socket), *args], stderr=self.log, **more)
        while f"at {socket}\n" not in self.said() and self.process.poll() is None:
            time.sleep(0.01)

    @property
    def listens(self):
        return self.process.poll() is None

    @property
    def pid(self):
        return self.process.pid

    def said(self):
        """Its messages so far."""
        self.log.flush()
        with open(f"/proc/self/fd/{self.log.fileno()}", encoding="utf-8") as log:  # at its beginning
            return log.read()

    def holds(self, tern, environment):
        """What clients may not leave behind, or take away, once it publishes that. The environment is its own:
        XDG_RUNTIME_DIR is where it has its statistics. The thread that moves memory does not count: it begins when it
        is needed first, and stays."""
        proc = pathlib.Path(f"/proc/{self.pid}")
        end = time.monotonic() + PATIENCE
        while True:
            top = subprocess.run([tern, "top", "--once", "--json"], check=True, env=environment,
                                 stdout=subprocess.PIPE, text=True)
            devices = json.loads(top.stdout)["devices"]
            if devices:
                return {"descriptors": len(list((proc / "fd").iterdir())),
                        "threads": self.threads(), "processes": devices[0]["processes"],
                        "contexts": devices[0]["contexts_alive"], "free memory": devices[0]["memory_free"]}
            if not self.listens or time.monotonic() > end:
                raise AssertionError(f"ternd publishes no statistics: {self.said()}")
            time.sleep(0.01)

    def names(self):
        """Of its threads."""
        names = []
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            try:
                names.append((task / "comm").read_text().strip())
            except OSError:  # it has just ended
                pass
        return names

    def threads(self):
        names = self.names()
        return len(names) - names.count("tern-pager")

    def stop(self):
        """Returns when none of its threads runs any more: SIGSTOP is told to one, and the others go on until it has
        run."""
        self.process.send_signal(signal.SIGSTOP)
        if os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code != os.CLD_STOPPED:
            raise AssertionError(f"ternd has ended: {self.said()}")

    def waiting(self, socket):
        """How many connections it has not accepted."""
        lines = [x.split() for x in pathlib.Path("/proc/net/unix").read_text().splitlines()]
        return sum(x[5:6] == ["02"] and x[-1].startswith(str(socket)) for x in lines)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def end(self, how=signal.SIGTERM, patience=PATIENCE):
        """Its status; None: it does not end by this, and was killed."""
        self.process.send_signal(how)
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self):
        self.process.kill()
        self.process.wait()
